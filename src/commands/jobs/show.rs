//! How jobs are shown: as a list for a person, and as JSON.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Desk;
use crate::ask::sanitize;
use crate::store::jobs::{Ending, Job, State, old};

/// So much of a command is shown in a list.
const SHOWN: usize = 60;

impl Desk {
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

    /// Jobs as JSON objects.
    #[must_use]
    pub fn objects(&self, jobs: &[Job]) -> Value {
        jobs.iter().map(|job| self.object(job)).collect()
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

pub(super) fn one_line(command: &str) -> String {
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
