//! Whose commands belong together: the session of an agent, or of a person's terminal.
//!
//! A session is named by whoever starts the agent (`GSH_SESSION`), else it is the nearest known agent
//! above, else the nearest process above that is no shell, by number and start time. Beneath a call of gsh it is that call's session, whatever
//! the environment says.

use super::calls::Above;
use crate::policy::Agent;
use crate::policy::agents::Known;
use crate::sys::agents;
use crate::sys::proc::{Lineage, Process};

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name: letters, digits, `-`, `_` and `.` only, so that it can name files.
    pub id: String,
    /// How it was found, for a person.
    pub found: Found,
    /// The agent it is of.
    pub agent: Agent,
    /// The sessions that it is nested in, nearest first: those of the agents that started this one.
    pub parents: Vec<String>,
}

/// How a session was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is the session of the gsh above.
    Above,
    /// An agent was started beneath gsh.
    Nested,
    /// `GSH_SESSION` names it.
    Named,
    /// It is the nearest process above that is no shell, or a terminal's first shell.
    Process,
    /// Nothing is above: `/proc` cannot be read.
    Nothing,
}

impl Found {
    /// In words.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Above => "the gsh above",
            Self::Nested => "an agent beneath gsh",
            Self::Named => "GSH_SESSION",
            Self::Process => "the nearest process above that is no shell",
            Self::Nothing => "nothing above could be looked at",
        }
    }
}

/// What is looked through on the way up.
const SHELLS: [&str; 13] = [
    "bash",
    "sh",
    "dash",
    "zsh",
    "fish",
    "ksh",
    "mksh",
    "ash",
    "busybox",
    "gsh",
    "gsh-bash",
    "gsh-supervisor",
    "su",
];

/// What people sit before, and what starts jobs by itself: no agent is between it and the shell.
const NO_AGENTS: [&str; 31] = [
    "alacritty",
    "blackbox",
    "contour",
    "cosmic-term",
    "cron",
    "crond",
    "foot",
    "footserver",
    "ghostty",
    "gnome-terminal-",
    "init",
    "kgx",
    "kitty",
    "konsole",
    "login",
    "mosh-server",
    "ptyxis-agent",
    "rio",
    "screen",
    "sshd",
    "sshd-session",
    "st",
    "systemd",
    "tilix",
    "tmux: server",
    "urxvt",
    "wezterm-gui",
    "xfce4-terminal",
    "xterm",
    "zellij",
    "SCREEN",
];

/// The longest name a session may be given.
const LONGEST: usize = 64;

impl Session {
    /// The session of a process with this environment, beneath this call.
    #[must_use]
    pub fn find(
        lineage: Option<&Lineage>,
        var: &dyn Fn(&str) -> Option<String>,
        above: Option<&Above>,
    ) -> Self {
        let nearest = lineage.and_then(nearest);
        let agent = agent(lineage, var, (above.is_some(), nearest));
        let make = |id, found, parents| Self { id, found, agent, parents };
        if let Some(Above { call, distance }) = above {
            let between = nearest.filter(|(index, _)| index + 1 < *distance);
            let nested = between.and_then(|(index, _)| lineage?.above.get(index));
            return match nested {
                Some(agent) => {
                    let parents = std::iter::once(&call.session).chain(&call.parents).cloned().collect();
                    make(named_after(agent), Found::Nested, parents)
                }
                None => make(call.session.clone(), Found::Above, call.parents.clone()),
            };
        }
        if let Some(id) = var("GSH_SESSION").and_then(|name| plain(&name)) {
            return make(id, Found::Named, vec![]);
        }
        match lineage.and_then(|lineage| root(lineage, nearest)) {
            Some(process) => make(named_after(process), Found::Process, vec![]),
            None => make("unknown".to_owned(), Found::Nothing, vec![]),
        }
    }

    /// Whether an agent beneath gsh started it.
    #[must_use]
    pub fn is_nested(&self) -> bool {
        !self.parents.is_empty()
    }
}

fn named_after(process: &Process) -> String {
    let name = plain(&process.name).unwrap_or_else(|| "process".to_owned());
    format!("{name}-{}-{}", process.pid, process.started)
}

/// The nearest agent above, and at which place.
type Nearest = Option<(usize, &'static Known)>;

fn nearest(lineage: &Lineage) -> Nearest {
    let mut above = lineage.above.iter().enumerate();
    above.find_map(|(index, process)| Some((index, agents::agent(process)?)))
}

/// The process that a session is named after: the nearest agent above, else the nearest that is no shell;
/// but of a terminal the shell that was started in it, since one emulator may serve many.
fn root(lineage: &Lineage, nearest: Nearest) -> Option<&Process> {
    if let Some((index, _)) = nearest {
        return lineage.above.get(index);
    }
    let mut below = &lineage.own;
    for process in &lineage.above {
        if !SHELLS.contains(&process.name.trim_start_matches('-')) {
            return Some(if NO_AGENTS.contains(&process.name.as_str()) { below } else { process });
        }
        below = process;
    }
    Some(below)
}

/// The agent above. What the environment says counts only where no gsh is above, since what is beneath
/// one chooses its environment itself.
fn agent(
    lineage: Option<&Lineage>,
    var: &dyn Fn(&str) -> Option<String>,
    (beneath, nearest): (bool, Nearest),
) -> Agent {
    let named = var("GSH_AGENT").filter(|_| !beneath).and_then(|name| plain(&name));
    if let Some(name) = named {
        return Agent::Named(name);
    }
    let Some(lineage) = lineage else { return Agent::Unknown };
    for (index, process) in lineage.above.iter().enumerate() {
        if let Some((_, known)) = nearest.filter(|(place, _)| *place == index) {
            return Agent::Named(known.name.to_owned());
        }
        let name = process.name.trim_start_matches('-');
        if NO_AGENTS.contains(&name) {
            return Agent::None;
        }
    }
    Agent::Unknown
}

/// Whether this is one of the programs that people type commands into.
#[must_use]
pub fn is_shell(process: &Process) -> bool {
    SHELLS.contains(&process.name.trim_start_matches('-'))
}

/// A name that can be part of a file's name; None when nothing of it can.
fn plain(name: &str) -> Option<String> {
    let kept = name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    let kept: String = kept.take(LONGEST).collect();
    let kept = kept.trim_start_matches('.').to_owned();
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Mode;
    use crate::store::calls::Call;

    fn lineage(names: &[&str]) -> Lineage {
        let process = |(index, name): (usize, &&str)| {
            let pid = 100 - i32::try_from(index).expect("small");
            Process {
                pid,
                parent: pid - 1,
                name: (*name).to_owned(),
                leader: pid,
                started: 7,
                terminal: 0,
                state: 'S',
                computed: 0,
            }
        };
        let mut all: Vec<_> = names.iter().enumerate().map(process).collect();
        Lineage { own: all.remove(0), above: all }
    }

    fn above(distance: usize) -> Above {
        let (session, parents) = ("outer".to_owned(), vec!["first".to_owned()]);
        let (mode, rules, launches) = (Mode::Default, vec![], false);
        Above {
            call: Call {
                mode,
                session,
                parents,
                folders: None,
                config: None,
                rules,
                passed: None,
                record: None,
                launches,
            },
            distance,
        }
    }

    #[test]
    fn sessions() {
        let call = above(4);
        let given = |name: &str| (name == "GSH_SESSION").then(|| "../my session".to_owned());
        let none = |_: &str| None;
        let named = |name: &str| Agent::Named(name.to_owned());
        type Var<'a> = &'a dyn Fn(&str) -> Option<String>;
        type Row<'a> = (&'a [&'a str], Var<'a>, Option<&'a Above>, &'a str, Agent);
        let table: [Row<'_>; 9] = [
            (&["gsh", "bash", "claude", "bash", "xterm"], &none, None, "claude-98-7", named("claude")),
            (&["gsh", "make", "bash", "codex"], &none, None, "codex-97-7", named("codex")),
            (&["gsh", "bash", "-zsh", "tmux: server"], &none, None, "-zsh-98-7", Agent::None),
            (&["gsh", "xterm"], &none, None, "gsh-100-7", Agent::None),
            (&["gsh", "mystery", "systemd"], &none, None, "mystery-99-7", Agent::None),
            (&["gsh", "mystery"], &none, None, "mystery-99-7", Agent::Unknown),
            (&["gsh", "mystery"], &given, None, "mysession", Agent::Unknown),
            (&["gsh", "make", "bash", "bash", "claude"], &given, Some(&call), "outer", named("claude")),
            (&["gsh", "bash", "codex", "make", "bash"], &given, Some(&call), "codex-98-7", named("codex")),
        ];
        for (names, var, above, id, agent) in table {
            let found = Session::find(Some(&lineage(names)), var, above);
            assert_eq!((found.id.as_str(), found.agent), (id, agent), "{names:?}");
            let parents = match found.found {
                Found::Nested => &["outer", "first"][..],
                Found::Above => &["first"],
                _ => &[],
            };
            assert_eq!(found.parents, parents, "{names:?}");
        }
        assert_eq!(Session::find(None, &none, None).found, Found::Nothing);
    }

    #[test]
    fn what_the_environment_says_of_the_agent_counts_only_at_the_top() {
        let var = |name: &str| (name == "GSH_AGENT").then(|| "codex".to_owned());
        let lineage = lineage(&["gsh", "mystery"]);
        assert_eq!(Session::find(Some(&lineage), &var, None).agent, Agent::Named("codex".into()));
        let call = above(1);
        assert_eq!(Session::find(Some(&lineage), &var, Some(&call)).agent, Agent::Unknown);
    }
}
