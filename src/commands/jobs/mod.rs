//! `gsh jobs`: commands that go on without their caller.

mod show;

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

use self::show::one_line;
use crate::ask::sanitize;
use crate::run::pty::{self, Left, NotSeated};
use crate::store::jobs::{Ending, Job, Jobs, State, old};
use crate::store::safe::SafeError;
use crate::sys::process::{Ended, is_terminal};
use crate::sys::{child, tree};

/// How often one looks whether there is more of a log.
const LOOK: Duration = Duration::from_millis(100);
/// How long a job that is to stop may take to end by itself.
const GRACE: Duration = Duration::from_secs(5);
/// How long after that its supervisor may take to end it.
const PATIENCE: Duration = Duration::from_secs(5);
/// What could not be done.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// Without a home there are no jobs.
    #[error("there is no home folder, so there are no jobs")]
    NoFolder,
    /// There is none of that number.
    #[error("there is no job {0}; `gsh jobs` lists them")]
    None(u32),
    /// There is none of that name.
    #[error("there is no job of the name {0}; `gsh jobs` lists them")]
    NoName(String),
    /// Nothing of it runs any more.
    #[error("job {0} is over")]
    Over(u32),
    /// Its supervisor was killed.
    #[error(
        "job {0} has lost its supervisor, and with it its terminal and input; `gsh jobs stop {0}` ends it"
    )]
    Alone(u32),
    /// Nobody who could sit down.
    #[error(
        "sitting down at a job takes a person at a terminal of their own; `gsh jobs log` and `send` do not"
    )]
    NoPerson,
    /// One cannot sit down there now.
    #[error("job {0}'s terminal: {1}")]
    NotSeated(u32, NotSeated),
    /// More than is sent at once.
    #[error("more than {} MiB are not sent at once", .0 >> 20)]
    TooMuch(u64),
    /// Its record is not ours or is damaged.
    #[error("job {0}: {1}")]
    Record(u32, SafeError),
    /// It belongs to another session.
    #[error("job {0} is not this session's: a person at a terminal of their own can do this")]
    NotYours(u32),
    /// It has no terminal.
    #[error("job {0} has no terminal to sit down at; `gsh jobs log -f {0}` shows what it writes")]
    NoTerminal(u32),
    /// It does not read from us.
    #[error("job {0} reads what its caller gave it, and takes no text")]
    NoInput(u32),
    /// It could not be ended.
    #[error("job {0} could not be ended: {1} of its processes are left")]
    Left(u32, usize),
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The jobs, as the one who asks may see them.
#[derive(Debug)]
pub struct Desk {
    jobs: Jobs,
    /// The one session whose jobs are seen: that of who asks, beneath a gated command.
    only: Option<String>,
}

impl Desk {
    /// For all jobs, or those of one session.
    #[must_use]
    pub fn new(jobs: Jobs, only: Option<String>) -> Self {
        Self { jobs, only }
    }

    fn shows(&self, job: &Job) -> bool {
        self.only.as_ref().is_none_or(|session| job.is_of(session))
    }

    fn all(&self) -> Vec<Job> {
        self.jobs.all().into_iter().filter(|job| self.shows(job)).collect()
    }

    fn one(&self, id: u32) -> Result<Job, JobError> {
        let job = self.jobs.read(id).map_err(|error| match error {
            SafeError::Missing(_) => JobError::None(id),
            error => JobError::Record(id, error),
        })?;
        if !self.shows(&job) {
            return Err(JobError::NotYours(id));
        }
        Ok(job)
    }

    /// Prints what a job has written.
    ///
    /// # Errors
    /// When there is no such job, or the log cannot be read.
    pub fn log(&self, id: u32, follow: bool, mut to: impl Write) -> Result<(), JobError> {
        let job = self.one(id)?;
        let log = self.jobs.log(id);
        if let Ok(mut before) = File::open(old(&log)) {
            io::copy(&mut before, &mut to)?;
        }
        let mut file = File::open(&log)?;
        loop {
            // Asked first: what is written before the end is then read for certain.
            let goes_on = follow && job.supervisor.is_alive();
            io::copy(&mut file, &mut to)?;
            to.flush()?;
            if !goes_on {
                return Ok(());
            }
            wait_for_end(&job, LOOK);
            file = same_or_next(file, &log)?;
        }
    }

    /// Ends jobs with all that belongs to them.
    ///
    /// # Errors
    /// When one is not there, not the asker's, or cannot be ended.
    pub fn stop(&self, ids: &[u32], grace: Option<Duration>) -> Result<Vec<Job>, JobError> {
        let jobs = ids.iter().map(|id| self.one(*id)).collect::<Result<Vec<_>, _>>()?;
        for job in &jobs {
            match job.state() {
                State::Running => stop_supervised(job, grace.unwrap_or(GRACE))?,
                State::Unsupervised => self.stop_unsupervised(job, grace.unwrap_or(GRACE))?,
                State::Ended | State::Lost => {}
            }
        }
        ids.iter().map(|id| self.one(*id)).collect()
    }

    fn stop_unsupervised(&self, job: &Job, grace: Duration) -> Result<(), JobError> {
        let roots = || -> Vec<i32> {
            job.processes.iter().filter(|seen| seen.is_alive()).map(|seen| seen.pid).collect()
        };
        tree::ask_to_end_with(&roots());
        let begun = Instant::now();
        while !roots().is_empty() {
            if begun.elapsed() > grace + PATIENCE {
                return Err(JobError::Left(job.id, roots().len()));
            }
            if begun.elapsed() > grace {
                tree::kill_with(&roots());
            }
            std::thread::sleep(LOOK / 4);
        }
        let mut job = job.clone();
        job.over = Some(Timestamp::now().to_string());
        Ok(self.jobs.update(&job)?)
    }

    /// Waits until nothing of a job is left. None when that took too long.
    ///
    /// # Errors
    /// When there is no such job.
    pub fn wait(&self, id: u32, timeout: Option<Duration>) -> Result<Option<Job>, JobError> {
        let begun = Instant::now();
        loop {
            let job = self.one(id)?;
            match job.state() {
                State::Running | State::Unsupervised => {}
                State::Ended => return Ok(Some(job)),
                // Its supervisor may have written its last word and gone after we read.
                State::Lost => return self.one(id).map(Some),
            }
            let left = timeout.map(|timeout| timeout.saturating_sub(begun.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(None);
            }
            wait_for_end(&job, left.unwrap_or(Duration::MAX).min(Duration::from_secs(1)));
        }
    }

    /// A job that reads what is sent to it, whoever's it is.
    ///
    /// # Errors
    /// When there is none, it is over, or it reads what its caller gave it.
    pub fn reader(&self, id: u32) -> Result<Job, JobError> {
        let job = self.one(id)?;
        match job.state() {
            State::Ended | State::Lost => Err(JobError::Over(id)),
            State::Running | State::Unsupervised if !job.reach.input => Err(JobError::NoInput(id)),
            State::Unsupervised => Err(JobError::Alone(id)),
            State::Running => Ok(job),
        }
    }

    /// Sits down at a job's terminal until one leaves it.
    ///
    /// # Errors
    /// When it has none, somebody sits there, or we have none ourselves.
    pub fn attach(&self, id: u32) -> Result<Left, JobError> {
        let job = self.one(id)?;
        match job.state() {
            State::Ended | State::Lost => return Err(JobError::Over(id)),
            State::Running | State::Unsupervised if !job.reach.terminal => {
                return Err(JobError::NoTerminal(id));
            }
            State::Unsupervised => return Err(JobError::Alone(id)),
            State::Running => {}
        }
        if ![0, 1].into_iter().all(is_terminal) {
            return Err(JobError::NoPerson);
        }
        let command = one_line(&job.origin.command);
        let greeting = format!("gsh: this is job {id}, {command}; ^] leaves it, and it goes on");
        pty::attach(&self.jobs, id, &greeting).map_err(|why| JobError::NotSeated(id, why))
    }

    /// What is told when one has left a job's terminal.
    #[must_use]
    pub fn said(&self, id: u32, left: Left) -> String {
        match left {
            Left::Key | Left::Signal(_) => format!("job {id} goes on (gsh jobs attach {id})"),
            Left::Stopped => format!("job {id} is stopped; `gsh jobs attach {id}` continues it"),
            Left::Over => match self.one(id) {
                Ok(job) if job.state() == State::Unsupervised => format!("job {id} has lost its supervisor"),
                _ => format!("job {id} is over"),
            },
        }
    }

    /// The number of a job that is named by it, or by the name that it was given: the newest of that name.
    ///
    /// # Errors
    /// When there is none.
    pub fn number(&self, id: &str) -> Result<u32, JobError> {
        if let Ok(number) = id.parse() {
            return Ok(number);
        }
        let mut named = self.all().into_iter().filter(|job| job.origin.name.as_deref() == Some(id));
        let newest = named.next_back().ok_or_else(|| JobError::NoName(sanitize::line(id)))?;
        Ok(newest.id)
    }

    /// What a job has written, as JSON.
    ///
    /// # Errors
    /// As [`Desk::log`].
    pub fn log_json(&self, id: u32) -> Result<Value, JobError> {
        let mut text = Vec::new();
        self.log(id, false, &mut text)?;
        Ok(json!({ "id": id, "log": String::from_utf8_lossy(&text) }))
    }

    /// Forgets the jobs that are over. Their numbers.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn clean(&self) -> Result<Vec<u32>, JobError> {
        let mut gone = Vec::new();
        for job in self.all() {
            if matches!(job.state(), State::Ended | State::Lost) {
                self.jobs.remove(job.id)?;
                gone.push(job.id);
            }
        }
        Ok(gone)
    }
}

/// The supervisor ends its tree when it is asked to; it is told when the time for that is over.
fn stop_supervised(job: &Job, grace: Duration) -> Result<(), JobError> {
    use nix::sys::signal::Signal;
    let tell = |signal| {
        if job.supervisor.is_alive() {
            tree::signal_one(job.supervisor.pid, signal);
        }
    };
    tell(Signal::SIGTERM);
    wait_for_end(job, grace);
    if !job.supervisor.is_alive() {
        return Ok(());
    }
    tell(Signal::SIGQUIT);
    wait_for_end(job, PATIENCE);
    match job.alive().len() {
        0 => Ok(()),
        left => Err(JobError::Left(job.id, left)),
    }
}

/// Waits for the end of a job's supervisor, but no longer than so.
fn wait_for_end(job: &Job, longest: Duration) {
    let begun = Instant::now();
    if job.state() == State::Running && child::wait_for_stranger(job.supervisor.pid, longest).is_ok() {
        return;
    }
    // A kernel that cannot tell, or nobody to wait for.
    while job.supervisor.is_alive() && begun.elapsed() < longest {
        std::thread::sleep(LOOK.min(longest));
    }
    if job.state() == State::Unsupervised {
        std::thread::sleep(LOOK.min(longest.saturating_sub(begun.elapsed())));
    }
}

/// The log goes on in another file when this one was long enough.
fn same_or_next(mut file: File, path: &std::path::Path) -> io::Result<File> {
    use std::os::unix::fs::MetadataExt;
    let now = std::fs::metadata(path)?;
    let before = file.metadata()?;
    if now.ino() == before.ino() {
        return Ok(file);
    }
    // What came between our last look and the change.
    let mut rest = Vec::new();
    file.read_to_end(&mut rest)?;
    io::stdout().write_all(&rest)?;
    File::open(path)
}

/// The status that tells how a job's command ended; 1 when that was not seen.
#[must_use]
pub fn ended(job: &Job) -> Ended {
    match &job.ended {
        Some(Ending { status: Some(status), .. }) => Ended::Status(*status),
        Some(Ending { signal: Some(signal), .. }) => Ended::Signal(*signal),
        _ => Ended::Status(1),
    }
}
