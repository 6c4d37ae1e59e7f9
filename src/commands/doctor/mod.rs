//! `gsh doctor`: proves, by starting a shell as the agent would, that its commands come to gsh.

mod active;
mod event;
mod hook;
mod installed;
mod matching;
mod plugin;
mod proof;
mod report;
mod warnings;
mod wrapped;

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use serde::Serialize;

use super::doors::{Found, View, Which, is_program, leads_to_gsh};
use crate::policy::agents::{AGENTS, Known, Source, named};
use crate::run::environment::Variable;
use crate::store::places::Folders;
use crate::sys::passwd;

pub use proof::Proof;

/// What is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The agent; None looks at those that are here.
    pub agent: Option<String>,
    /// As JSON.
    pub json: bool,
}

/// Where it is looked.
#[derive(Debug)]
pub struct Place<'a> {
    /// The user's folders.
    pub folders: &'a Folders,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// gsh's own file.
    pub program: PathBuf,
    /// The environment that the agent would be started from.
    pub environment: Vec<Variable>,
}

/// What was found, as text, and whether a door is open.
#[derive(Debug)]
pub struct Said {
    /// The text.
    pub text: String,
    /// An agent's commands do not come to gsh.
    pub open: bool,
}

/// Whether a door lets commands pass by gsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// They come to gsh: it was seen.
    Closed,
    /// They pass by: it was seen, or nothing is set up.
    Open,
    /// Nothing that could be tried is known.
    Unknown,
}

/// One way by which commands come to gsh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Door {
    /// `shell`, `hook`, or `wrap`: the shell of one that `gsh wrap` starts.
    pub door: &'static str,
    /// What was seen.
    pub state: State,
    /// By what: the setting, the variable, the file.
    pub by: String,
    /// A failure of it refuses; None for a shell, which has no such gap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds: Option<bool>,
    /// When the agent asked it last, by the record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// What was tried, and what came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The same by way of another shell that the model may name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<Proof>,
}

impl Door {
    fn new(door: &'static str, state: State) -> Self {
        Self { door, state, by: String::new(), holds: None, asked: None, proof: None, other: None }
    }
}

/// What the sessions of trials begin with.
const TRIALS: &str = "doctor-";

/// What was found of one agent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its word.
    pub agent: &'static str,
    /// Its name.
    pub title: &'static str,
    /// None of its doors is closed, and none that runs now was started by `gsh wrap`.
    pub open: bool,
    /// The processes of it that were started by `gsh wrap` and still run.
    pub wrapped: Vec<i32>,
    /// Its doors.
    pub doors: Vec<Door>,
    /// What is wrong, or easily goes wrong.
    pub warnings: Vec<String>,
    /// What closes a door.
    pub help: String,
}

/// Looks at the agents.
///
/// # Errors
/// When there is no such agent.
pub fn run(call: &Call, place: &Place<'_>) -> Result<Said, String> {
    let agents: Vec<&Known> = match &call.agent {
        Some(word) => {
            vec![named(word).ok_or_else(|| format!("gsh knows no agent `{word}`; `gsh init` lists them"))?]
        }
        None => AGENTS.iter().filter(|agent| is_here(agent, place)).collect(),
    };
    let findings: Vec<Finding> = agents.into_iter().map(|agent| finding(agent, place)).collect();
    let open = findings.iter().any(|finding| finding.open);
    let text = if call.json { report::json(&findings) } else { report::text(&findings) };
    Ok(Said { text, open })
}

/// Whether the agent is used here: its program is on `PATH`, or it was set up.
fn is_here(agent: &Known, place: &Place<'_>) -> bool {
    let path = place.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.unwrap_or_default();
    let mut files = std::env::split_paths(&path)
        .flat_map(|folder| agent.programs.iter().map(move |program| folder.join(program)));
    files.any(|file| is_program(&file)) || place.folders.setup_file(agent.name).exists()
}

fn finding(agent: &'static Known, place: &Place<'_>) -> Finding {
    let text = |name: &str| {
        let found = place.environment.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.clone().into_string().ok())
    };
    let passwd = passwd::shell_of(geteuid().as_raw());
    let view = View { var: &text, home: &place.folders.home, project: place.project, passwd };
    let found = view.shell(agent);
    let mut doors = vec![shell(agent, found.as_ref(), place)];
    doors.extend(hook::door(agent, &view, place));
    let plainly = doors.iter().all(|door| door.state != State::Closed);
    let mut warnings = warnings::of(agent, &view, (found.as_ref(), place));
    warnings.extend(doors.iter().filter_map(|door| door.proof.as_ref()?.fault(door.door)));
    if let [shell, hook] = doors.as_slice()
        && shell.state != State::Closed
        && hook.state == State::Closed
    {
        warnings.push(match (hook.holds, agent.hook.and_then(|hook| hook.block)) {
            (Some(true), _) => "only the hook is closed; a failure of it refuses".to_owned(),
            (_, Some(block)) => {
                format!("only the hook is closed, and its failure lets the command run: say {block}")
            }
            _ => "only the hook is closed, and when it fails or is too slow the command runs".to_owned(),
        });
    }
    let wrap = plainly.then(|| wrapped::door(agent, place)).flatten();
    let wrapped = wrapped::running(agent);
    let is_safe = wrap.as_ref().is_some_and(|door| door.state == State::Closed) && !wrapped.is_empty();
    let open = plainly && !is_safe;
    let help = help(agent, doors.get(1));
    doors.extend(wrap);
    Finding { agent: agent.name, title: agent.title, open, wrapped, doors, warnings, help }
}

/// What closes a door of this agent. A hook that stands in its files and waits for trust is not set up anew.
fn help(agent: &Known, hook: Option<&Door>) -> String {
    let asked = agent.asked_hook();
    let by_shell = agent.shell.order.iter().any(|source| matches!(source, Source::Setting(_)));
    let program = agent.programs.first().unwrap_or(&agent.name);
    let waits = asked.is_some_and(|hook| hook.trust.is_some())
        && hook.is_some_and(|door| door.state == State::Open && door.holds.is_some());
    let only_project = asked.is_some_and(|hook| hook.user.is_none() && hook.project.is_some());
    let init = match (waits, only_project && !by_shell) {
        (true, _) => "what is said of its hook".to_owned(),
        (false, true) => format!("gsh init {} --project", agent.name),
        (false, false) => format!("gsh init {}", agent.name),
    };
    let ways = [
        (asked.is_some() || by_shell).then_some(init),
        (!agent.shell.order.is_empty()).then(|| format!("gsh wrap -- {program}")),
    ];
    let ways: Vec<String> = ways.into_iter().flatten().collect();
    if ways.is_empty() { "nothing that is known".to_owned() } else { ways.join(", or ") }
}

/// The door that a shell is: started as the agent does, with a word that must be refused and one that must run.
fn shell(agent: &Known, found: Option<&Found>, place: &Place<'_>) -> Door {
    let Some(found) = found else {
        let by = match agent.shell.order {
            [] => format!("how {} starts a shell is not known, or it starts none", agent.title),
            _ => "no shell is found that it would take".to_owned(),
        };
        return Door { by, ..Door::new("shell", State::Unknown) };
    };
    let proof = proof::of_shell(agent, &found.path, None, place);
    let by = match leads_to_gsh(&found.path, &place.program) {
        Which::This | Which::Other => format!("{}: {}", found.by, found.path.display()),
        Which::No if proof.denied => {
            format!("{}: {}, which BASH_ENV turns into gsh", found.by, found.path.display())
        }
        Which::No => format!("{}: {}, which is not gsh", found.by, found.path.display()),
    };
    let other = proof.denied.then(|| other_shell(agent)).flatten();
    let other = other.map(|other| proof::of_shell(agent, &found.path, Some(other), place));
    let state = other.as_ref().map_or(proof.state(), Proof::state);
    Door { by, proof: Some(proof), other, ..Door::new("shell", state) }
}

/// Another shell of this machine that the agent's model may name.
fn other_shell(agent: &Known) -> Option<&'static str> {
    const OTHERS: [&str; 6] =
        ["/bin/zsh", "/usr/bin/zsh", "/usr/bin/fish", "/bin/dash", "/usr/bin/dash", "/bin/sh"];
    OTHERS.into_iter().find(|path| agent.shell.others && is_program(path.as_ref()))
}
