//! `gsh audit …`: what the records tell.

pub mod export;
mod follow;
mod list;
pub mod look;
mod page;
mod replayed;
pub mod tally;

use std::fmt::Display;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Serialize;

pub use self::follow::follow;
pub use self::look::Look;
use crate::audit::chain;
use crate::audit::query::{self, Entry, Filter};
use crate::entry::world::Surrounds;

/// What is wanted of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// The last ones, and what comes.
    Tail {
        /// Go on as records come.
        follow: bool,
        /// So many.
        count: usize,
    },
    /// All of one, or the time line of a session.
    Show {
        /// A name, or its beginning; or a session.
        what: String,
    },
    /// Those that fit.
    Search {
        /// At most so many, the newest.
        count: usize,
    },
    /// Counts.
    Stats,
    /// Whether the chain holds.
    Verify {
        /// A hash that must be in it.
        expect: Option<String>,
    },
    /// What another configuration would have said.
    Replay {
        /// That configuration.
        config: PathBuf,
    },
    /// All as data for others.
    Export {
        /// In which form.
        format: export::Format,
        /// Where they are sent; None to print them.
        to: Option<export::Place>,
    },
    /// A page with charts.
    Report {
        /// Where it goes.
        html: PathBuf,
    },
}

/// How it is wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manner {
    /// Which records.
    pub filter: Filter,
    /// As data.
    pub json: bool,
}

/// What is printed, and the exit status.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    /// For standard output.
    pub bytes: Vec<u8>,
    /// 0; 1 where the answer is no.
    pub status: u8,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { bytes: text.into_bytes(), status: 0 }
    }
}

/// Answers from the records of whoever calls.
///
/// # Errors
/// When they cannot be read, or beneath gsh when they are not the caller's own.
pub fn run(call: &Call, manner: &Manner, look: Look) -> Result<Said, String> {
    let surrounds = Surrounds::of_process();
    let own = surrounds.above.as_ref().map(|_| surrounds.session.id.clone());
    if own.is_some() && !matches!(call, Call::Show { .. }) {
        return Err("beneath gsh only `gsh audit show` of one's own session is open".to_owned());
    }
    let folder = folder(&surrounds)?;
    let read = |filter: &Filter| query::read(&folder, filter).map_err(|error| told(&folder, &error));
    let Manner { filter, json } = manner;
    match call {
        Call::Tail { count, .. } | Call::Search { count } => {
            let mut entries = read(filter)?;
            entries.drain(..entries.len().saturating_sub(*count));
            Ok(if *json { lines(&entries) } else { list::text(&entries, look) }.into())
        }
        Call::Show { what } => {
            let wanted = Filter { session: own, ..filter.clone() };
            show(read(&wanted)?, what, *json, look).map(Said::from)
        }
        Call::Stats => {
            let zone = if *json { TimeZone::UTC } else { TimeZone::system() };
            let tally = tally::Tally::of(&read(filter)?, &zone);
            Ok(if *json { pretty(&tally) } else { tally.text(look) }.into())
        }
        Call::Verify { expect } => verify(&folder, expect.as_deref(), *json),
        Call::Replay { config } => replayed::run((&surrounds, &folder), config, manner, look).map(Said::from),
        Call::Export { format, to } => {
            export::run(&read(filter)?, *format, to.as_ref()).map(|bytes| Said { bytes, status: 0 })
        }
        Call::Report { html } => {
            let entries = read(filter)?;
            std::fs::write(html, page::html(&entries, &TimeZone::system()))
                .map_err(|error| told(html, &error))?;
            Ok(format!("{} records in {}\n", entries.len(), html.display()).into())
        }
    }
}

/// Where the records lie.
///
/// # Errors
/// Without a home.
pub fn folder(surrounds: &Surrounds) -> Result<PathBuf, String> {
    let folders = surrounds.folders.as_ref().ok_or("there is no home folder, so there are no records")?;
    Ok(folders.state.join("audit"))
}

fn told(path: &Path, error: &dyn Display) -> String {
    format!("{}: {error}", path.display())
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).map(|text| text + "\n").unwrap_or_default()
}

fn lines(entries: &[Entry]) -> String {
    let lines = entries.iter().filter_map(|entry| serde_json::to_string(entry).ok());
    lines.map(|line| line + "\n").collect()
}

fn show(entries: Vec<Entry>, what: &str, json: bool, look: Look) -> Result<String, String> {
    let of_session = |entry: &&Entry| entry.session.as_deref() == Some(what);
    let session: Vec<Entry> = entries.iter().filter(of_session).cloned().collect();
    if !session.is_empty() {
        return Ok(if json { lines(&session) } else { list::time_line(&session, look) });
    }
    let mut named = entries.iter().filter(|entry| entry.id.starts_with(what));
    match (named.next(), named.next()) {
        (Some(entry), None) if json => Ok(pretty(entry)),
        (Some(entry), None) => Ok(list::whole(entry, look)),
        (Some(_), Some(_)) => Err(format!("{what}: more than one record begins so")),
        (None, _) => {
            Err(format!("{what}: no record and no session of this name (`gsh audit tail` lists them)"))
        }
    }
}

fn verify(folder: &Path, expect: Option<&str>, json: bool) -> Result<Said, String> {
    let (files, has_expected) = chain::verify(folder, expect).map_err(|error| told(folder, &error))?;
    let holds = has_expected && files.iter().all(|file| file.wrong.is_empty());
    let status = u8::from(!holds);
    if json {
        let files: Vec<_> = files
            .iter()
            .map(|file| {
                serde_json::json!({ "file": file.path, "lines": file.lines, "torn": file.torn, "head": file.head, "wrong": file.wrong })
            })
            .collect();
        let text = pretty(&serde_json::json!({ "holds": holds, "files": files }));
        return Ok(Said { bytes: text.into_bytes(), status });
    }
    let mut text = String::new();
    for file in &files {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        text.push_str(&format!("{name}  {} lines  {}\n", file.lines, file.head));
        for (line, why) in &file.wrong {
            text.push_str(&format!("  line {line}: {why}\n"));
        }
        if file.torn {
            text.push_str("  the last line has no end: its writer was stopped; the next one sets it aside\n");
        }
    }
    if !has_expected {
        text.push_str("the expected hash is in none of these files\n");
    }
    text.push_str(if holds { "the chain holds\n" } else { "the chain is broken\n" });
    Ok(Said { bytes: text.into_bytes(), status })
}
