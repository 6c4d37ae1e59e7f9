//! `gsh jobs …` as typed, and as meant.

mod done;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::time::Duration;

use clap::{Args, Subcommand};

pub(super) use self::done::with_jobs;
use crate::policy::duration;
use crate::run::supervise::Start;

/// What is to be done with jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobsCall {
    /// What.
    pub what: JobsVerb,
    /// As JSON.
    pub json: bool,
}

/// One thing that is done with jobs. Each is named by its number, or by the name that it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobsVerb {
    /// List them.
    List,
    /// Start one.
    Start {
        /// How.
        start: Start,
        /// The text for the shell.
        text: OsString,
    },
    /// Print what one has written.
    Log {
        /// Which.
        id: String,
        /// On and on, until it ends.
        follow: bool,
    },
    /// Give one a text to read.
    Send {
        /// Which.
        id: String,
        /// The text; None for standard input.
        text: Option<Vec<u8>>,
        /// Nothing more comes afterwards.
        ends: bool,
    },
    /// End all of these.
    Stop {
        /// Which.
        ids: Vec<String>,
        /// How long each may take before it is killed.
        grace: Option<Duration>,
    },
    /// Wait for one's end, and end as it did.
    Wait {
        /// Which.
        id: String,
        /// No longer than this.
        timeout: Option<Duration>,
    },
    /// Sit down at one's terminal.
    Attach {
        /// Which.
        id: String,
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
    /// Start a command as a job, and print its number
    Start(Started),
    /// What a job has written since its caller went on
    Log {
        /// Its number or name
        id: String,
        /// On and on, until it ends
        #[arg(short, long)]
        follow: bool,
    },
    /// Give a job a line to read, or all of standard input
    Send {
        /// Its number or name
        id: String,
        /// The line's words
        #[arg(allow_hyphen_values = true)]
        text: Vec<OsString>,
        /// Without the line's end
        #[arg(long)]
        no_newline: bool,
        /// Nothing more comes afterwards
        #[arg(long)]
        end: bool,
    },
    /// End everything that belongs to a job
    Stop {
        /// Their numbers or names
        #[arg(required = true)]
        ids: Vec<String>,
        /// How long it may take to end by itself (default: 5s)
        #[arg(long, value_name = "TIME", value_parser = time)]
        grace: Option<Duration>,
    },
    /// Wait until nothing of a job is left, and end as its command did
    Wait {
        /// Its number or name
        id: String,
        /// No longer than this; the status is 124 then
        #[arg(long, value_name = "TIME", value_parser = time)]
        timeout: Option<Duration>,
    },
    /// Sit down at a job's terminal; ^] leaves it again
    Attach {
        /// Its number or name
        id: String,
    },
    /// Forget the jobs that are over, with their logs
    Clean,
}

#[derive(Debug, Args)]
struct Started {
    /// With a terminal that one can sit down at
    #[arg(long)]
    pty: bool,
    /// A name for it
    #[arg(long, value_parser = name)]
    name: Option<String>,
    /// A text for the shell, instead of a command's words
    #[arg(short = 'c', value_name = "TEXT", conflicts_with = "command", required_unless_present = "command")]
    text: Option<OsString>,
    /// The command
    #[arg(last = true)]
    command: Vec<OsString>,
}

impl Started {
    fn into_verb(self) -> JobsVerb {
        let Self { pty, name, text, command } = self;
        let text = text.unwrap_or_else(|| {
            command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(OsStr::new(" "))
        });
        JobsVerb::Start { start: Start { pty, name }, text }
    }
}

/// A word as bash reads it back.
fn quoted(word: &OsStr) -> OsString {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_%+=:,./@-".contains(byte);
    let bytes = word.as_bytes();
    // An assignment in front would be none of its words.
    if !bytes.is_empty() && bytes.iter().all(plain) && !bytes.contains(&b'=') {
        return word.to_owned();
    }
    let mut quoted = vec![b'\''];
    for byte in bytes {
        match byte {
            b'\'' => quoted.extend(b"'\\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    OsString::from_vec(quoted)
}

fn time(text: &str) -> Result<Duration, String> {
    duration::parse(text).ok_or_else(|| format!("{text}: not a time like 90, 90s, 5m or 2h"))
}

fn name(text: &str) -> Result<String, String> {
    let fits = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.len() <= 32
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter));
    if fits { Ok(text.to_owned()) } else { Err(format!("{text}: not a name like web or web-2")) }
}

/// A line of these words, or without its end. None where there are no words.
fn line(words: &[OsString], ends: bool) -> Option<Vec<u8>> {
    let mut line = words.join(OsStr::new(" ")).into_vec();
    if ends {
        line.push(b'\n');
    }
    (!words.is_empty()).then_some(line)
}

impl Jobs {
    /// What it means.
    pub(super) fn into_call(self) -> JobsCall {
        let what = match self.what.unwrap_or(Verb::List) {
            Verb::List => JobsVerb::List,
            Verb::Start(started) => started.into_verb(),
            Verb::Log { id, follow } => JobsVerb::Log { id, follow },
            Verb::Send { id, text, no_newline, end } => {
                // Whoever only ends the input has no text.
                let text = line(&text, !no_newline).or_else(|| end.then(Vec::new));
                JobsVerb::Send { id, text, ends: end }
            }
            Verb::Stop { ids, grace } => JobsVerb::Stop { ids, grace },
            Verb::Wait { id, timeout } => JobsVerb::Wait { id, timeout },
            Verb::Attach { id } => JobsVerb::Attach { id },
            Verb::Clean => JobsVerb::Clean,
        };
        JobsCall { what, json: self.json }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_back_as_they_were() {
        let table: [(&[&str], &str); 5] = [
            (&["npm", "run", "dev"], "npm run dev"),
            (&["echo", "a b", ""], "echo 'a b' ''"),
            (&["echo", "it's"], "echo 'it'\\''s'"),
            (&["A=1", "x"], "'A=1' x"),
            (&["x", "$HOME", ";", "~"], "x '$HOME' ';' '~'"),
        ];
        for (words, expected) in table {
            let words: Vec<_> = words.iter().map(|word| quoted(OsStr::new(word))).collect();
            assert_eq!(words.join(OsStr::new(" ")), expected);
        }
    }
}
