//! `gsh jobs`: commands that go on without their caller.

use std::fs::File;
use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::{Value, json};

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
/// So much of a command is shown in a list.
const SHOWN: usize = 60;

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

    /// The list for a person.
    #[must_use]
    pub fn text(&self) -> String {
        let jobs = self.all();
        if jobs.is_empty() {
            return "no jobs\n".to_owned();
        }
        let mut text = format!(
            "{:>4}  {:<12} {:>5} {:>8} {:>8}  {:<4} command\n",
            "job", "state", "procs", "age", "log", "tty"
        );
        for job in jobs {
            let age = age(&job).map_or_else(String::new, |age| short(age.unsigned_abs()));
            let log = size(self.log_length(job.id));
            let state = state_text(&job);
            let named = job.origin.name.iter().map(|name| format!("{name}: "));
            let command: String = named.chain([one_line(&job.origin.command)]).collect();
            let tty = if job.reach.terminal { "yes" } else { "" };
            text += &format!(
                "{:>4}  {state:<12} {:>5} {age:>8} {log:>8}  {tty:<4} {command}\n",
                job.id,
                job.alive().len()
            );
        }
        text
    }

    /// The list as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        self.all().iter().map(|job| self.object(job)).collect()
    }

    /// A job as a JSON object.
    #[must_use]
    pub fn object(&self, job: &Job) -> Value {
        let alive = job.alive();
        let computed: u64 = alive.iter().map(|process| process.computed).sum();
        json!({
            "id": job.id,
            "name": job.origin.name,
            "command": job.origin.command,
            "directory": job.origin.directory,
            "state": job.state(),
            "reason": job.reason,
            "terminal": job.reach.terminal,
            "input": job.reach.input,
            "status": job.ended.as_ref().and_then(|ended| ended.status),
            "signal": job.ended.as_ref().and_then(|ended| ended.signal),
            "pids": alive.iter().map(|process| process.pid).collect::<Vec<_>>(),
            "cpu_seconds": seconds(computed),
            "begun": job.begun,
            "age_seconds": age(job).map(|age| age.as_secs()),
            "over": job.over,
            "log": self.jobs.log(job.id),
            "log_bytes": self.log_length(job.id),
            "session": job.origin.session,
            "decision": job.origin.decision,
        })
    }

    fn log_length(&self, id: u32) -> u64 {
        let log = self.jobs.log(id);
        [old(&log), log].iter().filter_map(|path| path.metadata().ok()).map(|data| data.len()).sum()
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

    /// Jobs as JSON objects.
    #[must_use]
    pub fn objects(&self, jobs: &[Job]) -> Value {
        jobs.iter().map(|job| self.object(job)).collect()
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

fn state_text(job: &Job) -> String {
    let state = job.state();
    match (&job.ended, state) {
        (Some(Ending { status: Some(status), .. }), State::Ended) => format!("ended ({status})"),
        (Some(Ending { signal: Some(signal), .. }), State::Ended) => format!("killed ({signal})"),
        _ => state.word().to_owned(),
    }
}

fn age(job: &Job) -> Option<jiff::SignedDuration> {
    let begun: Timestamp = job.begun.parse().ok()?;
    let end = job.over.as_ref().and_then(|over| over.parse().ok()).unwrap_or_else(Timestamp::now);
    Some(end.duration_since(begun))
}

fn short(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds}s"),
        seconds @ 120..7_200 => format!("{}m", seconds / 60),
        seconds @ 7_200..172_800 => format!("{}h", seconds / 3_600),
        seconds => format!("{}d", seconds / 86_400),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes}B"),
        10_000..10_000_000 => format!("{}K", bytes / 1_000),
        _ => format!("{}M", bytes / 1_000_000),
    }
}

/// Clock ticks of processes; the kernel has told 100 of them a second to everybody for decades.
fn seconds(ticks: u64) -> f64 {
    std::time::Duration::from_millis(ticks.saturating_mul(10)).as_secs_f64()
}

fn one_line(command: &str) -> String {
    let line = sanitize::lines(command.as_bytes()).join("; ");
    if line.chars().count() <= SHOWN { line } else { line.chars().take(SHOWN - 1).chain(['…']).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_short() {
        let times = [(5, "5s"), (119, "119s"), (120, "2m"), (7_200, "2h"), (200_000, "2d")];
        for (seconds, expected) in times {
            assert_eq!(short(Duration::from_secs(seconds)), expected);
        }
        for (bytes, expected) in [(0, "0B"), (9_999, "9999B"), (10_000, "10K"), (12_000_000, "12M")] {
            assert_eq!(size(bytes), expected);
        }
    }
}
