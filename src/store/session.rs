//! Whose commands belong together: the session of an agent, or of a person's terminal.
//!
//! A session is named by whoever starts the agent (`GSH_SESSION`), else it is the nearest known agent
//! above, else the nearest process above that is no shell, by number and start time. Beneath a call of gsh it is that call's session, whatever
//! the environment says.

use super::calls::Call;
use crate::policy::Agent;
use crate::sys::proc::{self, Lineage, Process};

/// One session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its name: letters, digits, `-`, `_` and `.` only, so that it can name files.
    pub id: String,
    /// How it was found, for a person.
    pub found: Found,
    /// The agent it is of.
    pub agent: Agent,
}

/// How a session was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is the session of the gsh above.
    Above,
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
            Self::Named => "GSH_SESSION",
            Self::Process => "the nearest process above that is no shell",
            Self::Nothing => "nothing above could be looked at",
        }
    }
}

/// What is looked through on the way up.
const SHELLS: [&str; 12] =
    ["bash", "sh", "dash", "zsh", "fish", "ksh", "mksh", "ash", "busybox", "gsh", "gsh-bash", "su"];

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

/// The agents that are known, by the names of their programs, and how rules call them.
const AGENTS: [(&str, &str); 17] = [
    ("aider", "aider"),
    ("amp", "amp"),
    ("claude", "claude"),
    ("cline", "cline"),
    ("cn", "continue"),
    ("codex", "codex"),
    ("copilot", "copilot"),
    ("crush", "crush"),
    ("cursor-agent", "cursor"),
    ("gemini", "gemini"),
    ("goose", "goose"),
    ("mini", "mini-swe-agent"),
    ("opencode", "opencode"),
    ("openhands", "openhands"),
    ("pi", "pi"),
    ("qwen", "qwen"),
    ("zed", "zed"),
];

/// Programs that run an agent's script.
const HOSTS: [&str; 8] = ["node", "bun", "deno", "python", "python3", "MainThread", "node-MainThread", "uv"];

/// The longest name a session may be given.
const LONGEST: usize = 64;

impl Session {
    /// The session of a process with this environment, beneath this call.
    #[must_use]
    pub fn find(
        lineage: Option<&Lineage>,
        var: &dyn Fn(&str) -> Option<String>,
        above: Option<&Call>,
    ) -> Self {
        let agent = agent(lineage, var, above.is_some());
        if let Some(call) = above {
            return Self { id: call.session.clone(), found: Found::Above, agent };
        }
        if let Some(id) = var("GSH_SESSION").and_then(|name| plain(&name)) {
            return Self { id, found: Found::Named, agent };
        }
        match lineage.and_then(root) {
            Some(process) => {
                let name = plain(&process.name).unwrap_or_else(|| "process".to_owned());
                let id = format!("{name}-{}-{}", process.pid, process.started);
                Self { id, found: Found::Process, agent }
            }
            None => Self { id: "unknown".to_owned(), found: Found::Nothing, agent },
        }
    }
}

/// The process that a session is named after: the nearest agent above, else the nearest that is no shell;
/// but of a terminal the shell that was started in it, since one emulator may serve many.
fn root(lineage: &Lineage) -> Option<&Process> {
    if let Some(agent) = lineage.above.iter().find(|process| agent_of(process).is_some()) {
        return Some(agent);
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
fn agent(lineage: Option<&Lineage>, var: &dyn Fn(&str) -> Option<String>, beneath: bool) -> Agent {
    let named = var("GSH_AGENT").filter(|_| !beneath).and_then(|name| plain(&name));
    if let Some(name) = named {
        return Agent::Named(name);
    }
    let Some(lineage) = lineage else { return Agent::Unknown };
    for process in &lineage.above {
        if let Some(name) = agent_of(process) {
            return Agent::Named(name.to_owned());
        }
        let name = process.name.trim_start_matches('-');
        if NO_AGENTS.contains(&name) {
            return Agent::None;
        }
    }
    Agent::Unknown
}

fn agent_of(process: &Process) -> Option<&'static str> {
    let known = |name: &str| AGENTS.iter().find(|(program, _)| *program == name).map(|(_, agent)| *agent);
    if !HOSTS.contains(&process.name.as_str()) {
        return known(&process.name);
    }
    let words = proc::words(process.pid);
    words.iter().take(3).find_map(|word| {
        let file = word.rsplit('/').next().unwrap_or_default();
        known(file.strip_suffix(".js").or_else(|| file.strip_suffix(".mjs")).unwrap_or(file))
    })
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

    fn lineage(names: &[&str]) -> Lineage {
        let process = |(index, name): (usize, &&str)| {
            let pid = 100 - i32::try_from(index).expect("small");
            Process { pid, parent: pid - 1, name: (*name).to_owned(), leader: pid, started: 7, terminal: 0 }
        };
        let mut all: Vec<_> = names.iter().enumerate().map(process).collect();
        Lineage { own: all.remove(0), above: all }
    }

    #[test]
    fn sessions() {
        let call =
            Call { mode: Mode::Default, session: "outer".into(), folders: None, config: None, rules: vec![] };
        let given = |name: &str| (name == "GSH_SESSION").then(|| "../my session".to_owned());
        let none = |_: &str| None;
        let named = |name: &str| Agent::Named(name.to_owned());
        type Var<'a> = &'a dyn Fn(&str) -> Option<String>;
        type Row<'a> = (&'a [&'a str], Var<'a>, Option<&'a Call>, &'a str, Agent);
        let table: [Row<'_>; 8] = [
            (&["gsh", "bash", "claude", "bash", "xterm"], &none, None, "claude-98-7", named("claude")),
            (&["gsh", "make", "bash", "codex"], &none, None, "codex-97-7", named("codex")),
            (&["gsh", "bash", "-zsh", "tmux: server"], &none, None, "-zsh-98-7", Agent::None),
            (&["gsh", "xterm"], &none, None, "gsh-100-7", Agent::None),
            (&["gsh", "mystery", "systemd"], &none, None, "mystery-99-7", Agent::None),
            (&["gsh", "mystery"], &none, None, "mystery-99-7", Agent::Unknown),
            (&["gsh", "mystery"], &given, None, "mysession", Agent::Unknown),
            (&["gsh", "claude"], &given, Some(&call), "outer", named("claude")),
        ];
        for (names, var, above, id, agent) in table {
            let found = Session::find(Some(&lineage(names)), var, above);
            assert_eq!((found.id.as_str(), found.agent), (id, agent), "{names:?}");
        }
        assert_eq!(Session::find(None, &none, None).found, Found::Nothing);
    }

    #[test]
    fn what_the_environment_says_of_the_agent_counts_only_at_the_top() {
        let var = |name: &str| (name == "GSH_AGENT").then(|| "codex".to_owned());
        let lineage = lineage(&["gsh", "mystery"]);
        assert_eq!(Session::find(Some(&lineage), &var, None).agent, Agent::Named("codex".into()));
        let call =
            Call { mode: Mode::Default, session: "outer".into(), folders: None, config: None, rules: vec![] };
        assert_eq!(Session::find(Some(&lineage), &var, Some(&call)).agent, Agent::Unknown);
    }
}
