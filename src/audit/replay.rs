//! A record's request and machine, made anew, to be decided once more.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::query::{self, Filter};
use crate::host::recorded::Recorded;
use crate::host::witness::Answers;
use crate::policy::{Agent, Caller, Mode, Verdict};
use crate::request::{Entry, ReadingOptions, Request, Setting, Tool};

/// An opening line, as far as a replay needs it.
#[derive(Debug, Clone, Deserialize)]
pub struct Played {
    /// The decision's name.
    pub id: String,
    /// What was decided then.
    pub verdict: Verdict,
    /// Why, then.
    #[serde(default)]
    pub reason: String,
    /// The mode then.
    pub mode: Mode,
    /// Where it came from.
    #[serde(default)]
    pub mode_from: String,
    /// The rules of the command line.
    #[serde(default)]
    pub rules: Vec<(Verdict, String)>,
    /// The session.
    pub session: Option<String>,
    /// Why this replay is no proof.
    #[serde(default)]
    pub inexact: Vec<String>,
    command: query::Text,
    directory: String,
    entry: Entry,
    name: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    options: ReadingOptions,
    #[serde(default)]
    setting: Setting,
    tool: Option<Tool>,
    agent: Option<String>,
    #[serde(default)]
    interactive: bool,
    #[serde(default)]
    nested: bool,
    /// What decided then.
    #[serde(default)]
    pub decided_by: String,
    host: Option<Answers>,
}

impl Played {
    /// From a line; None for one that opens nothing.
    #[must_use]
    pub fn of_line(line: &str) -> Option<Self> {
        line.starts_with("{\"event\":\"opened\"").then(|| serde_json::from_str(line).ok()).flatten()
    }

    /// What was asked.
    #[must_use]
    pub fn request(&self) -> Request {
        Request {
            setting: self.setting.clone(),
            text: self.command.shown().as_bytes().to_vec(),
            cwd: self.directory.clone().into(),
            name: self.name.clone(),
            args: self.args.clone(),
            options: self.options,
            entry: self.entry,
            tool: self.tool.clone(),
        }
    }

    /// The text, for a person.
    #[must_use]
    pub fn command(&self) -> &str {
        self.command.shown()
    }

    /// The machine as it answered then.
    #[must_use]
    pub fn machine(&self) -> Recorded {
        Recorded::new(self.host.clone().unwrap_or_default())
    }

    /// Who asked.
    #[must_use]
    pub fn caller(&self) -> Caller {
        let agent = match self.agent.as_deref() {
            None => Agent::Unknown,
            Some("none") => Agent::None,
            Some(name) => Agent::Named(name.to_owned()),
        };
        Caller { entry: self.entry, agent, interactive: self.interactive, nested: self.nested }
    }

    /// The mode, where no file of the configuration chose it.
    #[must_use]
    pub fn given_mode(&self) -> Option<(Mode, String)> {
        let given = ["the command line", "GSH_MODE", "the gsh above"].contains(&self.mode_from.as_str());
        given.then(|| (self.mode, self.mode_from.clone()))
    }
}

/// The records to replay, oldest first: those that fit, by the same measure as all others.
///
/// # Errors
/// When a file cannot be read.
pub fn read(folder: &Path, filter: &Filter) -> io::Result<Vec<Played>> {
    let wanted: HashSet<String> =
        query::openings(folder, filter)?.into_iter().map(|entry| entry.id).collect();
    let mut all = Vec::new();
    for path in query::days(folder, filter) {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        all.extend(text.lines().filter_map(Played::of_line).filter(|played| wanted.contains(&played.id)));
    }
    Ok(all)
}
