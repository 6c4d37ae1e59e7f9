//! What is tried: a word that the floor always refuses and that does nothing where it is not, and a plain one.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::{Place, State, TRIALS};
use crate::audit::query::{self, Entry, Filter};
use crate::policy::agents::Known;
use crate::run::environment::Variable;
use crate::syntax::quote;
use crate::sys::child::{Captured, capture};
use crate::sys::process::{Ended, Program, nameless_file};
use crate::sys::random;

/// A shell that takes longer to print a word does not work.
const PATIENCE: Duration = Duration::from_secs(20);

/// What was tried, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// How the word that must be refused was started.
    pub tried: Vec<String>,
    /// It was refused by gsh.
    pub denied: bool,
    /// The plain word ran.
    pub ran: bool,
    /// gsh's record says so too; None where none could be read.
    pub recorded: Option<bool>,
    /// What stood on standard error, in short.
    pub said: String,
}

impl Proof {
    /// What the refusal proves.
    pub(super) fn state(&self) -> State {
        if self.denied { State::Closed } else { State::Open }
    }

    /// What is wrong with a closed door.
    pub(super) fn fault(&self, door: &str) -> Option<String> {
        match (self.denied, self.ran, self.recorded) {
            (true, false, _) => Some(format!("by its {door} nothing runs: a plain `echo` did not either")),
            (true, true, None | Some(false)) => Some(format!("the refusal by its {door} is not on record")),
            _ => None,
        }
    }
}

/// One command that is tried, with the session that its record is found by.
pub(super) struct Trial<'a> {
    pub(super) place: &'a Place<'a>,
    pub(super) session: String,
    agent: &'static str,
}

impl<'a> Trial<'a> {
    pub(super) fn new(agent: &Known, place: &'a Place<'a>) -> Self {
        Self { place, session: format!("{TRIALS}{}", nonce()), agent: agent.name }
    }

    /// The inert word that must be refused.
    pub(super) fn refused(&self) -> String {
        format!("gsh-canary-deny {}", self.session)
    }

    fn plain(&self) -> String {
        format!("echo {}", self.session)
    }

    /// Runs a program with what an agent would have; its session tells its records from others.
    pub(super) fn run(&self, path: PathBuf, argv: Vec<OsString>, stdin: Option<&str>) -> Option<Captured> {
        let stdin = match stdin {
            Some(text) => nameless_file(text.as_bytes()),
            None => File::open("/dev/null"),
        };
        self.with(path, argv, stdin.ok()?.into())
    }

    /// The same, with a socket as its standard input, on which nothing comes.
    fn run_on_socket(&self, path: PathBuf, argv: Vec<OsString>) -> Option<Captured> {
        let (_held_open, theirs) = UnixStream::pair().ok()?;
        self.with(path, argv, theirs.into())
    }

    fn with(&self, path: PathBuf, argv: Vec<OsString>, stdin: OwnedFd) -> Option<Captured> {
        let mut environment: Vec<Variable> = self.place.environment.clone();
        for (name, value) in [("GSH_SESSION", self.session.as_str()), ("GSH_AGENT", self.agent)] {
            environment.retain(|(known, _)| known != name);
            environment.push((name.into(), value.into()));
        }
        capture(Program { path, argv, environment, stdin: Some(stdin), script: None }, PATIENCE).ok()
    }

    /// The records of this trial.
    pub(super) fn records(&self) -> Option<Vec<Entry>> {
        let folder = self.place.folders.state.join("audit");
        let filter = Filter { session: Some(self.session.clone()), ..Filter::default() };
        query::read(&folder, &filter).ok().filter(|entries| !entries.is_empty())
    }
}

/// Starts a shell as the agent does. `before` is put before the word that must be refused: another shell that the
/// model may name.
pub(super) fn of_shell(agent: &Known, shell: &Path, before: Option<&str>, place: &Place<'_>) -> Proof {
    let trial = Trial::new(agent, place);
    let start = |command: &str| {
        let words = argv(agent, shell, command);
        let stdin = agent.shell.typed.then(|| format!("{command}\n"));
        let run = match stdin {
            None if agent.shell.socket => trial.run_on_socket(shell.to_owned(), words.clone()),
            stdin => trial.run(shell.to_owned(), words.clone(), stdin.as_deref()),
        };
        (words, run)
    };
    let refused = before.map_or_else(
        || trial.refused(),
        |other| format!("exec {} -c {}", quote(other), quote(&trial.refused())),
    );
    let (tried, refused) = start(&refused);
    let (_, plain) = start(&trial.plain());
    let recorded = trial.records().map(|entries| {
        entries.iter().any(|entry| entry.verdict == "deny" && entry.floor.as_deref() == Some("canary"))
    });
    let said = refused.as_ref().map(|run| first_line(&run.stderr)).unwrap_or_default();
    let denied = refused.is_some_and(|run| {
        run.ended == Some(Ended::Status(126)) && String::from_utf8_lossy(&run.stderr).contains("gsh:")
    });
    let ran = plain.is_some_and(|run| {
        run.ended == Some(Ended::Status(0))
            && String::from_utf8_lossy(&run.stdout).lines().any(|line| line == trial.session)
    });
    let tried = tried.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    Proof { tried, denied, ran, recorded, said }
}

/// The words that the agent would start it with.
fn argv(agent: &Known, shell: &Path, command: &str) -> Vec<OsString> {
    let words = agent.shell.argv.first().copied().unwrap_or_default();
    let words = words.iter().filter(|word| !(agent.shell.typed && **word == "-i"));
    let real = |word: &&str| match *word {
        "SH" => shell.as_os_str().to_owned(),
        "CMD" => command.into(),
        word => word.into(),
    };
    words.map(real).collect()
}

pub(super) fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    crate::ask::sanitize::line(text.lines().next().unwrap_or_default())
}

/// A word that no other run has.
fn nonce() -> String {
    let otherwise = |_| format!("{}-{}", std::process::id(), jiff::Timestamp::now().as_nanosecond());
    random::word::<6>().unwrap_or_else(otherwise)
}
