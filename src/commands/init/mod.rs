//! `gsh init`: points an agent at gsh by its own settings, and puts them back.

mod hook;
mod journal;
mod own;
mod plan;
mod terminal;
mod write;

use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ask::sanitize::line as visible;
use crate::commands::trust::diff::unified;
use crate::config::agent_settings::CannotEdit;
use crate::config::schema::closest;
use crate::entry::guard;
use crate::entry::hook::of as hook_dialect;
use crate::policy::agents::{AGENTS, Form, Known, Source, named};
use crate::store::places::Folders;
use crate::store::safe::SafeError;

use plan::Plan;
use write::Change;

pub use terminal::{text as terminal, unasked};

/// What is to be set up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The agent; None lists those that are known.
    pub agent: Option<String>,
    /// Only show it.
    pub print: bool,
    /// Put everything back.
    pub undo: bool,
    /// Do not ask back.
    pub yes: bool,
    /// In this project's files instead of the user's.
    pub project: bool,
    /// By which doors; None takes the shell where a file can name it, else the hook.
    pub door: Option<Door>,
}

/// Ways by which an agent's commands come to gsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// gsh is its shell.
    Shell,
    /// Its hook asks gsh.
    Hook,
    /// Both.
    Both,
}

/// Where and with what it is set up.
#[derive(Debug)]
pub struct Place<'a> {
    /// The user's folders.
    pub folders: &'a Folders,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// gsh's own file.
    pub program: PathBuf,
    /// What is said where questions could not be asked at this terminal.
    pub unasked: Option<String>,
}

/// Why nothing was set up.
#[derive(Debug, Error)]
pub enum NotSetUp {
    /// This gsh may not change what points at it.
    #[error("{0}")]
    NotHere(String),
    /// Nobody of this name is known.
    #[error("gsh knows no agent `{name}`{help}")]
    Unknown {
        /// The word that was given.
        name: String,
        /// What may have been meant.
        help: String,
    },
    /// No file can do it.
    #[error("{0}")]
    NoDoor(String),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] SafeError),
    /// A file is left as it is.
    #[error("{}: {why}. Nothing was changed; add this yourself:\n{lines}", .path.display())]
    Left {
        /// The file.
        path: PathBuf,
        /// Why.
        why: CannotEdit,
        /// What is to be added.
        lines: String,
    },
    /// What stands there is somebody else's.
    #[error("{} is there already and is not gsh's: nothing was changed", .0.display())]
    Theirs(PathBuf),
    /// A file is read-only.
    #[error(
        "{} is read-only, so nothing was changed. If it is yours to change: chmod u+w it first; if something else makes it (a \
         manager of settings, an administrator), make the change there: --print shows it",
        .0.display()
    )]
    ReadOnly(PathBuf),
    /// What is remembered cannot be read.
    #[error("{}: {why}; what was set up cannot be told from it", .path.display())]
    Journal {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// Nobody said yes.
    #[error("nothing was changed: type the word yes at a terminal, or give --yes")]
    NotConfirmed,
}

/// Sets an agent up, or puts it back, after it was shown.
///
/// # Errors
/// When there is no way, something stands in it, or nobody confirms.
pub fn run(call: &Call, place: &Place<'_>) -> Result<String, NotSetUp> {
    let Some(word) = &call.agent else { return Ok(list()) };
    let agent = if own::is_own(word) { None } else { Some(known(word)?) };
    if !call.print {
        let may = if call.undo { guard::may_change() } else { guard::may_set_up() };
        may.map_err(|why| not_here(why, call))?;
    }
    let Some(agent) = agent else { return own::run(call, place) };
    if call.undo {
        return undone(agent, call, place);
    }
    let plan = plan::plan(agent, call, place)?;
    let changes = write::changes(&plan.steps)?;
    if changes.is_empty() {
        return Ok(format!("{} is set up already\n{}", agent.title, notes(&plan)));
    }
    show(&changes);
    if call.print {
        return Ok(notes(&plan));
    }
    confirm(call, &format!("Set up {}", agent.title))?;
    write::write(place.folders, agent.name, &changes)?;
    Ok(format!("{} is set up; `gsh init {} --undo` puts it back\n{}", agent.title, agent.name, notes(&plan)))
}

/// Why it is not done here, and how it is done all the same.
fn not_here(why: String, call: &Call) -> NotSetUp {
    let word = call.agent.as_deref().map(visible).unwrap_or_default();
    let undo = if call.undo { " --undo" } else { "" };
    NotSetUp::NotHere(format!(
        "{why}. `gsh init {word}{undo} --print` shows what would change, for whoever changes it by hand; `gsh init terminal` \
         says what this terminal counts as"
    ))
}

fn undone(agent: &Known, call: &Call, place: &Place<'_>) -> Result<String, NotSetUp> {
    let back = write::backward(place.folders, agent.name)?;
    if back.is_empty() {
        return Ok(format!("nothing is set up for {}\n", agent.title));
    }
    show(&back);
    if call.print {
        return Ok(String::new());
    }
    confirm(call, &format!("Put {} back", agent.title))?;
    write::put_back(place.folders, agent.name, &back)?;
    Ok(format!("{} is as it was before\n", agent.title))
}

fn known(word: &str) -> Result<&'static Known, NotSetUp> {
    let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    named(word).ok_or_else(|| {
        let help = closest(word, &names).map(|meant| format!("; did you mean `{meant}`?"));
        let all = || format!("; known: {}", names.join(", "));
        NotSetUp::Unknown { name: visible(word), help: help.unwrap_or_else(all) }
    })
}

fn show(changes: &[Change]) {
    let colours = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for change in changes.iter().filter(|change| change.differs()) {
        let (path, old, new) = change.shown();
        let name = visible(&path.to_string_lossy());
        println!("--- {name}{}", if old.is_none() { " (none yet)" } else { "" });
        println!("+++ {name}{}", if new.is_none() { " (removed)" } else { "" });
        print!(
            "{}",
            unified(old.unwrap_or_default().as_bytes(), new.unwrap_or_default().as_bytes(), colours)
        );
    }
}

fn notes(plan: &Plan) -> String {
    plan.notes.iter().fold(String::new(), |mut text, note| {
        let _ = writeln!(text, "- {note}");
        text
    })
}

fn confirm(call: &Call, what: &str) -> Result<(), NotSetUp> {
    if call.yes {
        return Ok(());
    }
    if !io::stdin().is_terminal() {
        return Err(NotSetUp::NotConfirmed);
    }
    eprint!("{what} as shown? Type yes: ");
    let mut word = String::new();
    let read = io::stderr().flush().is_ok() && io::stdin().lock().read_line(&mut word).is_ok();
    if read && word.trim() == "yes" { Ok(()) } else { Err(NotSetUp::NotConfirmed) }
}

/// Which agents are known, and by what they can be set up.
fn list() -> String {
    let mut text = String::from("agent            set up by\n");
    for agent in AGENTS {
        let shell = agent.shell.order.iter().any(|source| matches!(source, Source::Setting(_)));
        let hook = agent.asked_hook().map(|hook| if hook.form == Form::Plugin { "plugin" } else { "hook" });
        let mut ways: Vec<&str> = shell.then_some("shell").into_iter().chain(hook).collect();
        if !shell && !agent.shell.order.is_empty() {
            ways.push("gsh wrap, each time it is started");
        }
        if ways.is_empty() && hook_dialect(agent.name).is_some() {
            ways.push("its plugin, by hand (shell-integration/README.md)");
        }
        if ways.is_empty() {
            ways.push("nothing that is known");
        }
        let _ = writeln!(text, "{:<16} {}", agent.name, ways.join(", "));
    }
    text.push_str("\nyour own:        bash, zsh, fish (the lines you type), tmux, terminal\n");
    text
}
