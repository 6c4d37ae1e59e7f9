//! `gsh jobs …` as typed, and as meant.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};

use crate::policy::duration;

/// What is to be done with jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsCall {
    /// What.
    pub what: JobsVerb,
    /// As JSON.
    pub json: bool,
}

/// One thing that is done with jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobsVerb {
    /// List them.
    List,
    /// Print what one has written.
    Log {
        /// Which.
        id: u32,
        /// On and on, until it ends.
        follow: bool,
    },
    /// Give one a text to read.
    Send {
        /// Which.
        id: u32,
        /// The text.
        text: OsString,
    },
    /// End all of these.
    Stop {
        /// Which.
        ids: Vec<u32>,
        /// How long each may take before it is killed.
        grace: Option<Duration>,
    },
    /// Wait for one's end, and end as it did.
    Wait {
        /// Which.
        id: u32,
        /// No longer than this.
        timeout: Option<Duration>,
    },
    /// Sit down at one's terminal.
    Attach {
        /// Which.
        id: u32,
    },
    /// Forget those that are over.
    Clean,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Jobs {
    #[command(subcommand)]
    what: Option<Verb>,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every job: its number, state, processes, age and command
    List,
    /// What a job has written since its caller went on
    Log {
        /// Its number
        id: u32,
        /// On and on, until it ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Give a job a line to read
    Send {
        /// Its number
        id: u32,
        /// The line
        text: OsString,
    },
    /// End everything that belongs to a job
    Stop {
        /// Their numbers
        #[arg(required = true)]
        ids: Vec<u32>,
        /// How long it may take to end by itself (default: 5s)
        #[arg(long, value_name = "TIME", value_parser = time)]
        grace: Option<Duration>,
    },
    /// Wait until nothing of a job is left, and end as its command did
    Wait {
        /// Its number
        id: u32,
        /// No longer than this; the status is 124 then
        #[arg(long, value_name = "TIME", value_parser = time)]
        timeout: Option<Duration>,
    },
    /// Sit down at a job's terminal
    Attach {
        /// Its number
        id: u32,
    },
    /// Forget the jobs that are over, with their logs
    Clean,
}

fn time(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("{text}: not a time like 90, 90s, 5m or 2h"))
}

impl Jobs {
    /// What it means.
    pub(super) fn into_call(self) -> JobsCall {
        let what = match self.what.unwrap_or(Verb::List) {
            Verb::List => JobsVerb::List,
            Verb::Log { id, follow } => JobsVerb::Log { id, follow },
            Verb::Send { id, text } => JobsVerb::Send { id, text },
            Verb::Stop { ids, grace } => JobsVerb::Stop { ids, grace },
            Verb::Wait { id, timeout } => JobsVerb::Wait { id, timeout },
            Verb::Attach { id } => JobsVerb::Attach { id },
            Verb::Clean => JobsVerb::Clean,
        };
        JobsCall { what, json: self.json }
    }
}
