//! `gsh audit …`: what the records tell.

pub mod export;
mod follow;
mod list;
pub mod look;
mod page;
mod replayed;
pub mod tally;

use std::fmt::Display;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use jiff::tz::TimeZone;
use serde::Serialize;

pub use self::follow::follow;
pub use self::look::Look;
use crate::audit::chain;
use crate::audit::query::{self, Day, Entry, Filter};
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
        /// A name, or its beginning; or a session. None for the newest record.
        what: Option<String>,
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
    /// Lists with the records' names.
    pub names: bool,
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
    let folder = &folder(&surrounds)?;
    let Manner { filter, json, names } = manner;
    let look = Look { names: *names, ..look };
    match call {
        Call::Tail { count, .. } | Call::Search { count } => {
            let entries = query::newest(folder, filter, *count).map_err(|error| told(folder, &error))?;
            if entries.is_empty() && !matches!(call, Call::Tail { follow: true, .. }) {
                let none =
                    if filter == &Filter::default() { "there are no records yet" } else { "no record fits" };
                eprintln!("gsh: {none} ({})", folder.display());
            }
            Ok(if *json { lines(&entries) } else { list::text(&entries, look) }.into())
        }
        Call::Show { what: None } => {
            let wanted = Filter { session: own, ..filter.clone() };
            let newest = query::newest(folder, &wanted, 1).map_err(|error| told(folder, &error))?;
            match newest.as_slice() {
                [entry, ..] if *json => Ok(pretty(entry).into()),
                [entry, ..] => Ok(list::whole(entry, look).into()),
                [] => Err(format!("no record fits ({})", folder.display())),
            }
        }
        Call::Show { what: Some(what) } => {
            let job = what.strip_prefix("job:").and_then(|number| number.parse::<u64>().ok());
            let named = Some(what.clone()).filter(|_| job.is_none());
            let wanted = Filter { session: own, named, ..filter.clone() };
            match job {
                Some(job) => show_job(folder, &wanted, job, (*json, look)),
                None => show(&read(folder, &wanted)?, what, *json, look),
            }
            .map(Said::from)
        }
        Call::Stats => {
            let zone = if *json { TimeZone::UTC } else { TimeZone::system() };
            let mut counting = tally::Counting::by(&zone);
            each(folder, filter, &mut |entries| entries.iter().for_each(|entry| counting.add(entry)))?;
            let tally = counting.end();
            Ok(if *json { pretty(&tally) } else { tally.text(look) }.into())
        }
        Call::Verify { expect } => verify(folder, expect.as_deref(), *json),
        Call::Replay { config } => replayed::run((&surrounds, folder), config, manner, look).map(Said::from),
        Call::Export { format, to: None } => {
            let mut bytes = export::head(*format).as_bytes().to_vec();
            each(folder, filter, &mut |entries| bytes.extend(export::bytes(&entries, *format)))?;
            Ok(Said { bytes, status: 0 })
        }
        Call::Export { format, to: Some(place) } => {
            export::send(&read(folder, filter)?, *format, place).map(Said::from)
        }
        Call::Report { html } => report(folder, filter, html).map(Said::from),
    }
}

/// The records that fit, a day at a time. Lines that are none are told of.
fn each(folder: &Path, filter: &Filter, take: &mut dyn FnMut(Vec<Entry>)) -> Result<(), String> {
    let mut day = |path: &Path, day: Day| {
        if day.broken > 0 {
            let (path, lines) = (path.display(), if day.broken == 1 { "line is" } else { "lines are" });
            eprintln!("gsh: {path}: {} {lines} no record (`gsh audit verify` says which)", day.broken);
        }
        take(day.entries);
    };
    query::each_day(folder, filter, &mut day).map_err(|error| told(folder, &error))
}

fn read(folder: &Path, filter: &Filter) -> Result<Vec<Entry>, String> {
    let mut all = Vec::new();
    each(folder, filter, &mut |entries| all.extend(entries)).map(|()| all)
}

fn report(folder: &Path, filter: &Filter, html: &Path) -> Result<String, String> {
    let zone = TimeZone::system();
    let mut page = page::Page::by(&zone);
    each(folder, filter, &mut |entries| page.add(entries))?;
    let (text, count) = page.end();
    // It has what the records have: nobody else's either.
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let written = options.open(html).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| told(html, &error))?;
    Ok(format!("{count} records in {}\n", html.display()))
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

fn lines<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> String {
    let lines = entries.into_iter().filter_map(|entry| serde_json::to_string(entry).ok());
    lines.map(|line| line + "\n").collect()
}

fn show(entries: &[Entry], what: &str, json: bool, look: Look) -> Result<String, String> {
    let is_of = |entry: &Entry| {
        entry.session.as_deref() == Some(what) || entry.parents.iter().any(|parent| parent == what)
    };
    let session: Vec<&Entry> = entries.iter().filter(|entry| is_of(entry)).collect();
    if !session.is_empty() {
        return Ok(if json {
            lines(session)
        } else {
            list::time_line(&format!("session {what}"), &session, look)
        });
    }
    match entries {
        [entry] if json => Ok(pretty(entry)),
        [entry] => Ok(list::whole(entry, look)),
        [] => Err(format!(
            "{what}: no record and no session of this name (`gsh audit tail --names` lists them)"
        )),
        [_, ..] => match entries.iter().find(|entry| entry.id == what) {
            Some(entry) if json => Ok(pretty(entry)),
            Some(entry) => Ok(list::whole(entry, look)),
            None => {
                let names = entries.iter().map(|entry| entry.id.as_str()).take(5).collect::<Vec<_>>();
                let more = if entries.len() > names.len() { ", …" } else { "" };
                Err(format!("{what}: more than one record begins so: {}{more}", names.join(", ")))
            }
        },
    }
}

/// What went on as a job. Numbers are given anew once a job is cleaned away, so there may be several.
fn show_job(folder: &Path, filter: &Filter, job: u64, (json, look): (bool, Look)) -> Result<String, String> {
    let mut found = Vec::new();
    let is_of = |entry: &Entry| entry.closed.as_ref().is_some_and(|closed| closed["job"] == job);
    each(folder, filter, &mut |entries| found.extend(entries.into_iter().filter(is_of)))?;
    match found.as_slice() {
        [] => Err(format!("job:{job}: no record of this job (`gsh jobs list` shows those that are kept)")),
        found if json => Ok(lines(found)),
        [entry] => Ok(list::whole(entry, look)),
        found => Ok(list::time_line(&format!("job {job}"), &found.iter().collect::<Vec<_>>(), look)),
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
    text.push_str(match holds {
        true if files.is_empty() => "there are no records yet\n",
        true => "the chain holds\n",
        false => "the chain is broken\n",
    });
    Ok(Said { bytes: text.into_bytes(), status })
}
