//! Which processes run commands that gsh let through, so that a gsh beneath one of them knows it, with
//! the mode, configuration and rules that it must not be laxer than.
//!
//! The environment cannot tell: a command can start a program with any other. So each call leaves an
//! entry under its process number and start time, which a program that takes the process over keeps. The
//! folder depends on the user alone, not on variables. A process that leaves its ancestors (a daemon) is
//! not found; what it could change by verbs needs a person's terminal all the same.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use nix::fcntl::OFlag;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};

use super::places::Folders;
use super::safe::{self, Owner};
use crate::policy::Mode;
use crate::policy::Verdict;
use crate::sys::proc::{Lineage, Process};

/// One call of gsh, as those beneath it must know it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The mode it ran in.
    pub mode: Mode,
    /// Its session.
    pub session: String,
    /// The sessions that it is nested in, nearest first.
    #[serde(default)]
    pub parents: Vec<String>,
    /// Where its files lay; None without a home.
    pub folders: Option<Folders>,
    /// The configuration that was given in the place of the user's.
    pub config: Option<PathBuf>,
    /// The rules of its command line.
    pub rules: Vec<(Verdict, String)>,
    /// The text that it starts gsh anew for, in its own place, as a hash with its words: it was let through.
    #[serde(default)]
    pub passed: Option<String>,
    /// The name of its record.
    #[serde(default)]
    pub record: Option<String>,
    /// Its command is the agent that a wrapped program launches.
    #[serde(default)]
    pub launches: bool,
}

/// A program that `gsh wrap` became, whatever its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wrapped {
    /// The agent, where it is one that gsh knows.
    pub agent: Option<String>,
    /// The name that its session was given.
    pub session: String,
    /// It only starts the agent, by a shell: what that shell runs is the agent itself.
    pub launches: bool,
}

/// A call that this process runs beneath.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Above {
    /// The call.
    pub call: Call,
    /// How many processes up it is; 0 for this process's own.
    pub distance: usize,
}

/// The entries of one user's calls.
#[derive(Debug, Clone)]
pub struct Calls {
    folder: PathBuf,
}

/// Every so many calls the entries of processes that are gone are taken away.
const SWEEP: i32 = 64;

impl Calls {
    /// Those of the user this process runs as.
    #[must_use]
    pub fn of_user() -> Self {
        let user = geteuid();
        let login = PathBuf::from(format!("/run/user/{user}"));
        let folder =
            if login.is_dir() { login.join("gsh-calls") } else { format!("/tmp/gsh-calls-{user}").into() };
        Self { folder }
    }

    /// Where they lie.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The nearest call that this process runs beneath, itself included: a program may have taken over
    /// the process of a call. What cannot be read counts as the strictest call.
    #[must_use]
    pub fn above(&self, lineage: &Lineage) -> Option<Above> {
        if !self.folder.is_dir() {
            return None;
        }
        let mut all = lineage.all().enumerate();
        all.find_map(|(distance, process)| self.of(process).map(|call| Above { call, distance }))
    }

    fn of(&self, process: &Process) -> Option<Call> {
        match safe::read(&self.entry(process), Owner::User) {
            Ok((content, _)) => Some(serde_json::from_slice(&content).unwrap_or_else(|_| Call::strictest())),
            Err(safe::SafeError::Missing(_)) => None,
            Err(_) => Some(Call::strictest()),
        }
    }

    /// Says that this process runs a command from now on.
    ///
    /// # Errors
    /// When the folder is not the user's own or cannot be written.
    pub fn enter(&self, own: &Process, call: &Call) -> Result<(), safe::SafeError> {
        safe::make_folder(&self.folder)?;
        if own.pid % SWEEP == 0 {
            self.sweep();
        }
        let path = self.entry(own);
        let text = serde_json::to_vec(call).unwrap_or_default();
        let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
        let mut options = fs::OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(flags.bits());
        let written = options.open(&path).and_then(|mut file| file.write_all(&text));
        written.map_err(|source| safe::SafeError::Io { path, source })
    }

    /// Says that this process runs none any more.
    pub fn leave(&self, own: &Process) {
        // What stays is taken away by a later call.
        let _ = fs::remove_file(self.entry(own));
    }

    /// Says that this process becomes a wrapped program.
    ///
    /// # Errors
    /// As [`Calls::enter`].
    pub fn wrap(&self, own: &Process, wrapped: &Wrapped) -> Result<(), safe::SafeError> {
        safe::make_folder(&self.folder)?;
        let text = serde_json::to_vec(wrapped).unwrap_or_default();
        safe::replace_until_restart(&self.wrapped_entry(own), &text)
    }

    /// What a process was wrapped as, if it was.
    #[must_use]
    pub fn wrapped(&self, process: &Process) -> Option<Wrapped> {
        let (content, _) = safe::read(&self.wrapped_entry(process), Owner::User).ok()?;
        serde_json::from_slice(&content).ok()
    }

    /// Every wrapped program that runs, by its process number.
    #[must_use]
    pub fn all_wrapped(&self) -> Vec<(i32, Wrapped)> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return vec![] };
        let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
        let processes = names.filter_map(|name| alive(name.strip_prefix(WRAPPED)?));
        processes.filter_map(|process| Some((process.pid, self.wrapped(&process)?))).collect()
    }

    fn entry(&self, process: &Process) -> PathBuf {
        self.folder.join(format!("{}-{}", process.pid, process.started))
    }

    fn wrapped_entry(&self, process: &Process) -> PathBuf {
        self.folder.join(format!("{WRAPPED}{}-{}", process.pid, process.started))
    }

    fn sweep(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if !lives(&entry.file_name()) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

/// What the entries of wrapped programs begin with.
const WRAPPED: &str = "wrap-";

/// Whether the process of an entry still is the one that left it.
fn lives(name: &OsString) -> bool {
    name.to_str().and_then(|name| alive(name.strip_prefix(WRAPPED).unwrap_or(name))).is_some()
}

/// The process of this number and start time, if it still is.
fn alive(name: &str) -> Option<Process> {
    let (pid, started) = name.split_once('-')?;
    let started: u64 = started.parse().ok()?;
    Process::read(pid.parse().ok()?).filter(|now| now.started == started)
}

impl Call {
    /// For an entry that nobody can read.
    fn strictest() -> Self {
        let session = "unreadable".to_owned();
        Self {
            mode: Mode::DontAsk,
            session,
            parents: vec![],
            folders: None,
            config: None,
            rules: vec![],
            passed: None,
            record: None,
            launches: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32, started: u64) -> Process {
        Process {
            pid,
            parent: 1,
            name: "x".to_owned(),
            leader: pid,
            started,
            terminal: 0,
            state: 'S',
            computed: 0,
        }
    }

    #[test]
    fn a_call_is_found_from_beneath() {
        let folder = tempfile::tempdir().expect("a folder");
        let calls = Calls { folder: folder.path().join("calls") };
        let (parent, own) = (process(70, 5), process(71, 6));
        let lineage = Lineage { own: own.clone(), above: vec![process(60, 3), parent.clone()] };
        assert_eq!(calls.above(&lineage), None);
        let rules = vec![(Verdict::Deny, "make *".to_owned())];
        let call = Call { mode: Mode::Plan, session: "s".into(), rules, ..Call::strictest() };
        calls.enter(&parent, &call).expect("entered");
        assert_eq!(calls.above(&lineage), Some(Above { call: call.clone(), distance: 2 }));
        let nearer = Call { mode: Mode::Default, ..call.clone() };
        calls.enter(&own, &nearer).expect("entered");
        let found = calls.above(&lineage);
        assert_eq!(found, Some(Above { call: nearer, distance: 0 }), "the process that it took over");
        calls.leave(&own);
        assert_eq!(calls.above(&lineage).map(|above| above.call), Some(call));
        let later = Lineage { own, above: vec![process(70, 99)] };
        assert_eq!(calls.above(&later), None, "a later process of the same number");
    }

    #[test]
    fn what_cannot_be_read_is_strict_and_what_is_gone_is_swept() {
        let folder = tempfile::tempdir().expect("a folder");
        let calls = Calls { folder: folder.path().join("calls") };
        let alive = Process::own().expect("/proc");
        let (gone, call) = (process(64, 1), Call { mode: Mode::Default, ..Call::strictest() });
        calls.enter(&process(63, 1), &call).expect("entered");
        calls.enter(&alive, &call).expect("entered");
        calls.enter(&gone, &call).expect("entered");
        let wrapped = Wrapped { agent: None, session: "s".into(), launches: true };
        calls.wrap(&alive, &wrapped).expect("entered");
        calls.wrap(&gone, &wrapped).expect("entered");
        calls.sweep();
        assert_eq!(fs::read_dir(&calls.folder).expect("listed").count(), 2, "only the living one stays");
        assert_eq!(calls.all_wrapped(), [(alive.pid, wrapped.clone())]);
        assert_eq!((calls.wrapped(&alive), calls.wrapped(&gone)), (Some(wrapped), None));
        fs::write(calls.entry(&alive), "{").expect("written");
        let lineage = Lineage { own: alive.clone(), above: vec![] };
        assert_eq!(calls.above(&lineage).map(|above| above.call.mode), Some(Mode::DontAsk));
    }
}
