//! What is known of each agent: one file of this folder says all of one (`NAME.toml`), and the build makes this
//! table of them. To add an agent, add its file.

include!(concat!(env!("OUT_DIR"), "/agents.rs"));

/// What is known of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The word for it in rules, records and listings.
    pub name: &'static str,
    /// Its name as its makers write it.
    pub title: &'static str,
    /// The names of its programs, processes and scripts.
    pub programs: &'static [&'static str],
    /// The version that what stands here was seen of or read in; None where it is told from documentation.
    pub checked: Option<&'static str>,
    /// For so many seconds a question may keep it waiting: less than it gives a command. None where its own limit
    /// is not known.
    pub seconds: Option<u64>,
    /// The file of a project that it reads instructions from.
    pub instructions: Option<&'static str>,
    /// What it does wrong without saying so, each a sentence without its full stop.
    pub silent: &'static [&'static str],
    /// What it sets in the environment of its commands.
    pub environment: Environment,
    /// How it finds and starts a shell.
    pub shell: Shell,
    /// Its settings files, those first that hold over the others.
    pub settings: &'static [Settings],
    /// Its hook before a command; None where it has none, or none that is known.
    pub hook: Option<Hook>,
}

/// What an agent sets in the environment of its commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Environment {
    /// `NAME` where it is set at all, `NAME=VALUE` where it is set to this; a `*` at the end of a value is any rest.
    pub markers: &'static [&'static str],
    /// The variable that names its session.
    pub session: Option<&'static str>,
    /// The variable that tells its version.
    pub version: Option<&'static str>,
}

/// How an agent finds and starts a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shell {
    /// What the shell's file must be named.
    pub names: Names,
    /// Where it looks, in its order. Empty where it starts none, or that is not known.
    pub order: &'static [Source],
    /// How it starts a command, with `SH` for the shell's path and `CMD` for the command; the usual one first.
    pub argv: &'static [&'static [&'static str]],
    /// Whether it types commands into a shell that stays.
    pub typed: bool,
    /// Whether the shell's standard input is a socket, as clients on Node make it. A bash that takes itself for one of
    /// rshd then reads `~/.bashrc` in the place of `BASH_ENV`.
    pub socket: bool,
    /// Whether its model may name another shell, which the agent's own shell then starts by `exec SHELL -c`.
    pub others: bool,
}

/// Which files an agent takes for a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Names {
    /// Every one.
    Any,
    /// Those with one of these in their path.
    Contains(&'static [&'static str]),
    /// Those whose name without its ending is one of these.
    Stem(&'static [&'static str]),
    /// Those whose name is none of these.
    NoneOf(&'static [&'static str]),
}

/// A place where an agent looks for its shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The value of this key of its settings.
    Setting(&'static [&'static str]),
    /// This variable of its environment.
    Variable(&'static str),
    /// The user's entry in `/etc/passwd`.
    Passwd,
    /// The first program of this name in the folders of `PATH`.
    Path(&'static str),
    /// This very file.
    File(&'static str),
}

/// One settings file of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// For whom it speaks.
    pub layer: Layer,
    /// Where it is: from the root, from the home (`~/`), or from the project.
    pub path: &'static str,
    /// How it is written.
    pub format: Format,
}

/// For whom a settings file speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The machine's owner, over everybody.
    Managed,
    /// The user, in one project.
    Local,
    /// Everybody in one project.
    Project,
    /// The user, everywhere.
    User,
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON, which may hold comments.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// The hook of an agent that is asked before a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hook {
    /// Which form its questions and answers have: the word of `gsh hook`.
    pub dialect: &'static str,
    /// How it is written down.
    pub form: Form,
    /// Where in its file; empty for a file that is the hook.
    pub key: &'static [&'static str],
    /// Where else it is written down, for events of their own, and with which matcher.
    pub more: &'static [(&'static [&'static str], Option<&'static str>)],
    /// The agent's word for its shell tool. None where the event is for commands alone.
    pub tool: Option<&'static str>,
    /// What is written down to be asked about every tool. None where nothing needs to be.
    pub matcher: Option<&'static str>,
    /// What in its settings switches hooks off (`key/key = value`), but those of the machine's owner where a file of
    /// his does not say so. With `managed` before it, it counts in the files of the machine's owner alone.
    pub off: &'static [&'static str],
    /// Variables that switch them off wherever they are set.
    pub off_variables: &'static [&'static str],
    /// The unit of its time; None where it takes none.
    pub unit: Option<Unit>,
    /// How many seconds it is given where nothing is said, as far as that is known.
    pub limit: Option<u64>,
    /// What makes it refuse when it fails (`key = value`); None where a hook that fails lets the command run.
    pub block: Option<&'static str>,
    /// Whether the agent asks its user when the hook says so.
    pub asks: bool,
    /// Words with which the agent is started when nobody is to be asked. Where there are some, it asks at a terminal
    /// only, so that without one on its input nobody can be asked either.
    pub alone: &'static [&'static str],
    /// Why the agent does not ask it, though it reads where it stands; None where it does.
    pub ignored: Option<&'static str>,
    /// What a person has to do before it runs.
    pub trust: Option<&'static str>,
    /// The key of its settings behind which stands what a person trusted; empty where there is no such.
    pub trusted: &'static [&'static str],
    /// The user's file that holds it, where that is none of the settings.
    pub user: Option<&'static str>,
    /// The project's.
    pub project: Option<&'static str>,
}

/// How a hook is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A list of `{matcher, hooks: [{type, command, timeout}]}`.
    Matched,
    /// A list of `{type, command, timeout}`.
    Listed,
    /// A list of `{type, bash, timeoutSec}` in a file with `version`.
    Copilot,
    /// A list of `{command, timeout}` in a file with `version`.
    Cursor,
    /// A list of `{matcher, command, timeout}`.
    Crush,
    /// A list of `{command, show_output}`.
    Windsurf,
    /// A program that is the hook.
    Program,
    /// A plugin in JavaScript.
    Plugin,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Thousandths of them.
    Milliseconds,
}

/// The agent that this word means.
#[must_use]
pub fn named(word: &str) -> Option<&'static Known> {
    AGENTS.iter().find(|agent| agent.name == word)
}

/// The agent that a program, process or script of this name is.
#[must_use]
pub fn of_program(name: &str) -> Option<&'static Known> {
    let name = [".js", ".mjs", ".cjs", ".py"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    AGENTS.iter().find(|agent| agent.programs.contains(&name))
}

impl Known {
    /// Its hook, where it is one that is asked.
    #[must_use]
    pub fn asked_hook(&self) -> Option<&Hook> {
        self.hook.as_ref().filter(|hook| hook.ignored.is_none())
    }
}

impl Hook {
    /// Whether the words that an agent was started with say that nobody is to be asked.
    #[must_use]
    pub fn is_alone(&self, words: &[String]) -> bool {
        let same = |word: &str, alone: &str| {
            let rest = word.strip_prefix(alone);
            // `--prompt=TEXT`, `-pTEXT`.
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('=') || !alone.starts_with("--"))
        };
        words.iter().any(|word| self.alone.iter().any(|alone| same(word, alone)))
    }
}

impl Names {
    /// Whether the agent takes this path for a shell.
    #[must_use]
    pub fn take(self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        match self {
            Self::Any => true,
            Self::Contains(words) => words.iter().any(|word| path.contains(word)),
            Self::Stem(words) => words.contains(&name.split('.').next().unwrap_or(name)),
            Self::NoneOf(words) => !words.contains(&name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_program_means_one_agent() {
        for (index, agent) in AGENTS.iter().enumerate() {
            assert_eq!(named(agent.name), Some(agent));
            for program in agent.programs {
                let found = AGENTS.iter().position(|other| other.programs.contains(program));
                assert_eq!(found, Some(index), "{program}");
            }
        }
        let found = |name| of_program(name).map(|agent| agent.name);
        assert_eq!(
            (found("cn"), found("qwen.js"), found("claudette")),
            (Some("continue"), Some("qwen"), None)
        );
    }

    #[test]
    fn what_stands_in_the_table_can_be_used() {
        for agent in AGENTS {
            let name = agent.name;
            assert_eq!(agent.shell.argv.is_empty(), agent.shell.order.is_empty(), "{name}");
            for argv in agent.shell.argv {
                assert_eq!(argv.contains(&"CMD"), !agent.shell.typed, "{name}: {argv:?}");
            }
            let keyed = agent.shell.order.iter().any(|source| matches!(source, Source::Setting(_)));
            assert!(!keyed || !agent.settings.is_empty(), "{name}: a key of no file");
            for Settings { layer, path, .. } in agent.settings {
                let expected = match layer {
                    Layer::Managed => path.starts_with('/'),
                    Layer::User => path.starts_with("~/"),
                    Layer::Local | Layer::Project => !path.starts_with(['/', '~']),
                };
                assert!(expected, "{name}: {path}");
            }
            let Some(hook) = agent.hook else { continue };
            let file = hook.user.is_some() || hook.project.is_some() || !agent.settings.is_empty();
            assert!(file, "{name}: a hook of no file");
            let whole = matches!(hook.form, Form::Program | Form::Plugin);
            assert_eq!(hook.key.is_empty(), whole, "{name}");
        }
    }

    #[test]
    fn which_words_say_that_nobody_is_to_be_asked() {
        let hook = named("copilot").and_then(|known| known.hook).expect("a hook");
        for (line, alone) in [
            ("copilot", false),
            ("copilot --allow-all-tools", false),
            ("copilot -p x", true),
            ("copilot -px", true),
            ("copilot --prompt x", true),
            ("copilot --prompt=x", true),
            ("copilot --prompts", false),
            ("copilot --plain", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(hook.is_alone(&words), alone, "{line}");
        }
    }

    #[test]
    fn which_paths_are_taken_for_a_shell() {
        for (names, path, taken) in [
            (Names::Any, "/x/gsh", true),
            (Names::Contains(&["bash", "zsh"]), "/opt/gsh/bin/gsh", false),
            (Names::Contains(&["bash", "zsh"]), "/opt/gsh/bin/bash", true),
            (Names::Stem(&["bash", "sh"]), "/opt/gsh-bash", false),
            (Names::Stem(&["bash", "sh"]), "/opt/bash.static", true),
            (Names::NoneOf(&["fish"]), "/usr/bin/fish", false),
            (Names::NoneOf(&["fish"]), "/usr/bin/gsh", true),
        ] {
            assert_eq!(names.take(path), taken, "{names:?} {path}");
        }
    }
}
