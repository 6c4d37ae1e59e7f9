//! Jobs: commands that go on without their caller. One record and one log each, private to the user.

mod log;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use self::log::{LONGEST, next};
pub use self::log::{Log, old};
use super::calls::Call;
use super::safe::{self, Owner as Whose, SafeError};
use crate::sys::file::private_folder;
use crate::sys::proc::Process;
use crate::sys::process::Ended;
use crate::sys::tree;

/// How much of a command a record repeats.
const SHOWN: usize = 4096;

/// A process that was seen: the start time tells it from a later one with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Its number.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did.
    pub started: u64,
    /// Its name.
    pub name: String,
}

impl Seen {
    /// Whether it is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        tree::is_alive(self.pid, self.started)
    }
}

impl From<Process> for Seen {
    fn from(process: Process) -> Self {
        Self { pid: process.pid, started: process.started, name: process.name }
    }
}

/// Why a command became a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It outlived its time limit.
    Limit,
    /// It left processes behind.
    LeftBehind,
    /// It was started as one.
    Started,
    /// Its caller's terminal was closed, and it did not mind.
    HungUp,
}

/// How a job can be reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reach {
    /// It has a terminal that one can sit down at.
    pub terminal: bool,
    /// What is sent to it is what it reads.
    pub input: bool,
}

/// How the command itself ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    /// Its exit status, unless it died of a signal.
    pub status: Option<i32>,
    /// The signal it died of.
    pub signal: Option<i32>,
    /// When, as far as was seen.
    pub time: String,
}

impl Ending {
    /// As it ended just now.
    #[must_use]
    pub fn now(ended: Ended) -> Self {
        let (status, signal) = match ended {
            Ended::Status(status) => (Some(status), None),
            Ended::Signal(signal) => (None, Some(signal)),
        };
        Self { status, signal, time: Timestamp::now().to_string() }
    }
}

/// What is known of a command before it becomes a job.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The text that was decided, cut where it is very long.
    pub command: String,
    /// Where it started.
    pub directory: String,
    /// The decision's id in the records.
    pub decision: String,
    /// The session that it belongs to.
    pub session: String,
    /// The sessions that that one is nested in.
    pub parents: Vec<String>,
    /// A name that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Origin {
    /// Of a text that this process was asked to run.
    #[must_use]
    pub fn new(text: &[u8], directory: &Path, decision: &str, call: Option<&Call>) -> Self {
        let whole = String::from_utf8_lossy(text);
        Self {
            command: whole.chars().take(SHOWN).collect(),
            directory: directory.to_string_lossy().into_owned(),
            decision: decision.to_owned(),
            session: call.map(|call| call.session.clone()).unwrap_or_default(),
            parents: call.map(|call| call.parents.clone()).unwrap_or_default(),
            name: None,
        }
    }
}

/// The record of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub id: u32,
    /// What it is.
    #[serde(flatten)]
    pub origin: Origin,
    /// Why it is one.
    pub reason: Reason,
    /// How it can be reached.
    #[serde(flatten, default)]
    pub reach: Reach,
    /// When it became one.
    pub begun: String,
    /// The machine's start it belongs to.
    pub boot: String,
    /// The process that looks after it.
    pub supervisor: Seen,
    /// Its processes when that was last written down.
    pub processes: Vec<Seen>,
    /// How the command itself ended, where processes of it may go on.
    pub ended: Option<Ending>,
    /// When nothing of it was left.
    pub over: Option<String>,
}

/// A command that becomes a job.
#[derive(Debug, Default)]
pub struct Beginning {
    /// What it is.
    pub origin: Origin,
    /// How it can be reached.
    pub reach: Reach,
    /// Its processes.
    pub processes: Vec<Seen>,
    /// How the command itself ended, if it has.
    pub ended: Option<Ending>,
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Processes of it run.
    Running,
    /// They run, and nobody looks after them: their supervisor was killed.
    Unsupervised,
    /// Nothing of it is left.
    Ended,
    /// Its end was not seen: the machine was restarted, or all of it was killed together.
    Lost,
}

impl State {
    /// The word for a person.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Unsupervised => "unsupervised",
            Self::Ended => "ended",
            Self::Lost => "lost",
        }
    }
}

impl Job {
    /// How it stands now.
    #[must_use]
    pub fn state(&self) -> State {
        if self.over.is_some() {
            State::Ended
        } else if self.boot != boot() {
            State::Lost
        } else if self.supervisor.is_alive() {
            State::Running
        } else if self.processes.iter().any(Seen::is_alive) {
            State::Unsupervised
        } else {
            State::Lost
        }
    }

    /// Its processes now.
    #[must_use]
    pub fn alive(&self) -> Vec<Process> {
        match self.state() {
            State::Running => {
                tree::below(self.supervisor.pid).into_iter().filter(|process| !process.is_dead()).collect()
            }
            State::Unsupervised => {
                let known = self.processes.iter().filter(|seen| seen.is_alive());
                known
                    .flat_map(|seen| Process::read(seen.pid).into_iter().chain(tree::below(seen.pid)))
                    .collect()
            }
            State::Ended | State::Lost => Vec::new(),
        }
    }

    /// Whether it is this session's, or one's that is nested in it.
    #[must_use]
    pub fn is_of(&self, session: &str) -> bool {
        self.origin.session == session || self.origin.parents.iter().any(|parent| parent == session)
    }
}

/// This start of the machine.
#[must_use]
pub fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

/// The folder of the records and logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jobs(PathBuf);

impl Jobs {
    /// Below the user's state folder.
    #[must_use]
    pub fn in_state(state: &Path) -> Self {
        Self(state.join("jobs"))
    }

    fn record(&self, id: u32) -> PathBuf {
        self.0.join(format!("{id}.json"))
    }

    /// The log of a job; the part before it, where it began anew, ends in `.old`.
    #[must_use]
    pub fn log(&self, id: u32) -> PathBuf {
        self.0.join(format!("{id}.log"))
    }

    /// The numbers in use, in order.
    #[must_use]
    pub fn ids(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(&self.0) else { return Vec::new() };
        let mut ids: Vec<u32> = entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.parse().ok())
            .collect();
        ids.sort_unstable();
        ids
    }

    /// The record of one job.
    ///
    /// # Errors
    /// When there is none, or it is not ours.
    pub fn read(&self, id: u32) -> Result<Job, SafeError> {
        let job = self.read_now(id)?;
        // A supervisor that is gone may have written its last word after we looked.
        if job.over.is_none() && !job.supervisor.is_alive() { self.read_now(id) } else { Ok(job) }
    }

    fn read_now(&self, id: u32) -> Result<Job, SafeError> {
        let path = self.record(id);
        let (bytes, _) = safe::read(&path, Whose::User)?;
        serde_json::from_slice(&bytes).map_err(|error| SafeError::Io { path, source: error.into() })
    }

    /// Every job that can be read, in the order of the numbers.
    #[must_use]
    pub fn all(&self) -> Vec<Job> {
        self.ids().into_iter().filter_map(|id| self.read(id).ok()).collect()
    }

    /// The door behind which a job's supervisor hands out its terminal and input.
    #[must_use]
    pub fn door(&self, id: u32) -> PathBuf {
        self.0.join(format!("{id}.door"))
    }

    /// Takes the next free number, and opens the job's log.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn begin(&self, reason: Reason, beginning: Beginning) -> io::Result<(Job, Log)> {
        private_folder(&self.0)?;
        let supervisor = Process::own().ok_or(io::ErrorKind::NotFound)?.into();
        let mut id = self.ids().last().map_or(1, |last| last + 1);
        let file = loop {
            match create(&self.record(id)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => id += 1,
                result => break result?,
            }
        };
        let begun = Timestamp::now().to_string();
        let (boot, over) = (boot(), None);
        let Beginning { origin, reach, processes, ended } = beginning;
        let job = Job { id, origin, reason, reach, begun, boot, supervisor, processes, ended, over };
        // What an earlier job of this number may have left.
        let _none = fs::remove_file(old(&self.log(id)));
        let _none = fs::remove_file(self.log(id));
        let log = write(&file, &job).and_then(|()| self.reopen(id));
        // A number without a job would stay in use for ever.
        let log = log.inspect_err(|_| drop(self.remove(id)))?;
        Ok((job, log))
    }

    /// Opens a job's log to add to it; whoever added to it before may have begun it anew.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn reopen(&self, id: u32) -> io::Result<Log> {
        Log::open(self.log(id), LONGEST)
    }

    /// Puts a changed record in its place; on a full disk, into the room that the record has.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn update(&self, job: &Job) -> io::Result<()> {
        let beside = self.0.join(format!(".{}.{}", job.id, std::process::id()));
        let _left_by_a_crash = fs::remove_file(&beside);
        let put = create(&beside).and_then(|file| write(&file, job));
        put.and_then(|()| fs::rename(&beside, self.record(job.id))).or_else(|_| {
            let _unfinished = fs::remove_file(&beside);
            overwrite(&self.record(job.id), job)
        })
    }

    /// Removes what is kept of a job.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn remove(&self, id: u32) -> io::Result<()> {
        let log = self.log(id);
        let paths = [self.door(id), next(&log), old(&log), log, self.record(id)];
        // Each is tried: what stands in the way of one is no reason to keep the others.
        let removed = paths.map(|path| match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        });
        removed.into_iter().collect()
    }
}

fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    File::options().write(true).create_new(true).mode(0o600).open(path)
}

fn write(mut file: &File, job: &Job) -> io::Result<()> {
    file.write_all(&line(job, 0)?)
}

/// Over the record that is there: in one write that needs no room, since nothing of it is cut off first.
fn overwrite(record: &Path, job: &Job) -> io::Result<()> {
    use std::os::unix::fs::FileExt;
    let file = File::options().write(true).open(record)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    file.write_all_at(&line(job, length)?, 0)
}

/// A record as it is written, filled up with blanks to at least this length.
fn line(job: &Job, length: usize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(job)?;
    line.resize(line.len().max(length.saturating_sub(1)), b' ');
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(folder: &Path) -> (Jobs, Job, Log) {
        let jobs = Jobs::in_state(folder);
        let origin = Origin::new(b"make all", Path::new("/p"), "d1", None);
        let own = Process::own().expect("this process").into();
        let beginning = Beginning { origin, processes: vec![own], ..Beginning::default() };
        let (job, log) = jobs.begin(Reason::Limit, beginning).expect("a job");
        (jobs, job, log)
    }

    #[test]
    fn jobs_are_numbered_kept_and_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (jobs, first, _) = begun(folder.path());
        let (_, mut second, _) = begun(folder.path());
        assert_eq!((first.id, second.id, jobs.ids()), (1, 2, vec![1, 2]));
        assert_eq!(jobs.read(1).expect("the record"), first);
        assert_eq!(first.state(), State::Running, "its supervisor is this very process");
        second.ended = Some(Ending::now(Ended::Signal(15)));
        second.over = Some("now".to_owned());
        jobs.update(&second).expect("written");
        assert_eq!(jobs.all().iter().map(Job::state).collect::<Vec<_>>(), [State::Running, State::Ended]);
        jobs.remove(2).expect("removed");
        assert_eq!(jobs.ids(), [1]);
        assert_eq!(fs::read_dir(folder.path().join("jobs")).expect("the folder").count(), 2);
    }

    #[test]
    fn an_end_is_written_down_where_there_is_no_room_for_a_second_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (jobs, mut job, _) = begun(folder.path());
        let in_the_way = folder.path().join("jobs").join(format!(".1.{}", std::process::id())).join("full");
        fs::create_dir_all(&in_the_way).expect("a folder");
        for (over, processes) in [(Some("now".to_owned()), vec![]), (None, job.processes.clone())] {
            job = Job { over, processes, ..job };
            jobs.update(&job).expect("written");
            assert_eq!(jobs.read(1).expect("the record"), job);
        }
    }

    #[test]
    fn a_job_that_cannot_be_kept_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let jobs = Jobs::in_state(folder.path());
        fs::create_dir_all(jobs.log(1).join("in the way")).expect("a folder");
        assert!(jobs.begin(Reason::Limit, Beginning::default()).is_err());
        assert_eq!(jobs.ids(), Vec::<u32>::new());
    }

    #[test]
    fn a_job_of_another_start_of_the_machine_is_lost() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_, job, _) = begun(folder.path());
        let nobody = Seen { pid: 1, started: u64::MAX, name: String::new() };
        let table = [
            (Job { boot: "earlier".to_owned(), ..job.clone() }, State::Lost),
            (Job { supervisor: nobody.clone(), ..job.clone() }, State::Unsupervised),
            (Job { supervisor: nobody.clone(), processes: vec![nobody], ..job }, State::Lost),
        ];
        for (job, state) in table {
            assert_eq!(job.state(), state);
        }
    }
}
