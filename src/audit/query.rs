//! Records as they are read again: the lines of each brought together.

mod read;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::read::{Day, days, each_day, newest, of_text, openings, read};

/// One request's record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Entry {
    /// The decision's name.
    pub id: String,
    /// When it was opened.
    pub time: String,
    /// How it came in.
    pub entry: String,
    /// Its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The sessions that one is nested in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parents: Vec<String>,
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `agent`, `person` or `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The record of the gsh above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<String>,
    /// Where it started.
    pub directory: String,
    /// The text, without secrets.
    pub command: Text,
    /// What was decided.
    pub verdict: String,
    /// The floor's entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<String>,
    /// Why.
    pub reason: String,
    /// The mode.
    pub mode: String,
    /// By what: `floor`, `rule`, `builtin` …
    pub decided_by: Value,
    /// Whether it was to run; None where a question was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<bool>,
    /// The programs in it.
    pub facts: Summary,
    /// What it asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Requested>,
    /// The answers by which it passed or was refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Value>,
    /// How many secrets were taken out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redacted: Option<usize>,
    /// Why a replay is no proof.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inexact: Vec<String>,
    /// What a person was asked and said.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Value>,
    /// What became of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub closed: Option<Value>,
}

/// A text, or what is kept of a long one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// All of it.
    Whole(String),
    /// Its head.
    Long {
        /// How it begins.
        head: String,
        /// How long it is.
        length: usize,
    },
}

impl Default for Text {
    fn default() -> Self {
        Self::Whole(String::new())
    }
}

impl Text {
    /// What there is of it.
    #[must_use]
    pub fn shown(&self) -> &str {
        match self {
            Self::Whole(text) | Self::Long { head: text, .. } => text,
        }
    }
}

/// What a command would do, in short.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Summary {
    /// Its programs.
    pub programs: Vec<String>,
}

/// One thing it asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requested {
    /// The capability.
    pub capability: String,
    /// The path or command.
    pub subject: Value,
    /// What holds.
    pub verdict: String,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<Origin>,
}

/// Where a rule stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// Its layer.
    pub layer: String,
    /// Its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line.
    pub line: usize,
    /// Its pattern.
    pub pattern: String,
}

impl Origin {
    /// For a person: where, and the pattern.
    #[must_use]
    pub fn shown(&self) -> String {
        match &self.file {
            Some(file) => format!("{file}:{} {}", self.line, self.pattern),
            None => format!("{} {}", self.layer, self.pattern),
        }
    }
}

impl Entry {
    /// Whether a person was to be asked.
    #[must_use]
    pub fn asked(&self) -> bool {
        matches!(self.verdict.as_str(), "ask" | "review")
    }

    /// Whether it ran, as far as the record tells.
    #[must_use]
    pub fn ran(&self) -> Option<bool> {
        let said = self.events.iter().rev().find_map(|event| event["runs"].as_bool());
        said.or(self.runs)
    }

    /// Who made it final: `person`, `nobody`, or what of the policy did.
    #[must_use]
    pub fn by(&self) -> String {
        let said = self.events.iter().rev().find(|event| !event["by"].is_null()).map(|event| &event["by"]);
        let by = said.unwrap_or(&self.decided_by);
        match by {
            Value::String(word) => word.clone(),
            Value::Object(object) => object.keys().next().cloned().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// How it ended, in a word or two.
    #[must_use]
    pub fn end(&self) -> String {
        let Some(closed) = &self.closed else { return "open".to_owned() };
        if let Some(signal) = closed["signal"].as_i64() {
            return format!("signal {signal}");
        }
        match (closed["status"].as_i64(), closed["outcome"].as_str()) {
            (Some(status), _) => format!("status {status}"),
            (None, outcome) => outcome.unwrap_or("closed").to_owned(),
        }
    }

    /// What decided, for a list: an entry of the floor, a rule with its place, or the builtin rules for a capability.
    #[must_use]
    pub fn decided_by_rule(&self) -> String {
        if let Some(floor) = &self.floor {
            return format!("floor: {floor}");
        }
        let decisive = self.requests.iter().find(|each| each.verdict == self.verdict && each.rule.is_some());
        match decisive.and_then(|each| Some((each, each.rule.as_ref()?))) {
            Some((each, rule)) if rule.layer == "builtin" => {
                format!("builtin: {} {}", each.capability, rule.pattern)
            }
            Some((_, rule)) => rule.shown(),
            None => "builtin".to_owned(),
        }
    }

    /// The rule that decided: the first of the strictest requests that has one.
    #[must_use]
    pub fn rule(&self) -> Option<&Origin> {
        self.requests.iter().filter(|each| each.verdict == self.verdict).find_map(|each| each.rule.as_ref())
    }
}

/// Which records are wanted. What is None or empty is no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Not before this moment, as records write it.
    pub since: Option<String>,
    /// Of this session.
    pub session: Option<String>,
    /// Of this agent.
    pub agent: Option<String>,
    /// With this verdict.
    pub verdict: Option<String>,
    /// With this program.
    pub program: Option<String>,
    /// With this text in command, directory, reason or rule.
    pub text: Option<String>,
    /// Of this name or with one that begins so; or of the session of this name, or nested in it.
    pub named: Option<String>,
}

impl Filter {
    /// Whether a record fits.
    #[must_use]
    pub fn fits(&self, entry: &Entry) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| found == Some(wanted))
        };
        let nested =
            |wanted: &String| entry.session.as_ref() == Some(wanted) || entry.parents.contains(wanted);
        self.since.as_ref().is_none_or(|since| entry.time >= *since)
            && self.session.as_ref().is_none_or(nested)
            && is(&self.agent, entry.agent.as_deref())
            && is(&self.verdict, Some(&entry.verdict))
            && self.program.as_ref().is_none_or(|program| entry.facts.programs.contains(program))
            && self.text.as_ref().is_none_or(|text| mentions(entry, text))
            && self.named.as_ref().is_none_or(|name| entry.id.starts_with(name) || nested(name))
    }
}

/// A text that stands in a line of JSON as it is.
fn is_verbatim(text: &str) -> bool {
    text.chars().all(|letter| !letter.is_control() && !matches!(letter, '"' | '\\'))
}

impl Filter {
    /// Whether a line may be the opening of a record that fits; what it says for certain is [`Filter::fits`]. Most
    /// lines of a search are left unread by it.
    fn may_fit(&self, line: &str) -> bool {
        let texts =
            [&self.session, &self.agent, &self.program, &self.text, &self.named].into_iter().flatten();
        texts.filter(|text| is_verbatim(text)).all(|text| line.contains(text.as_str()))
    }
}

fn mentions(entry: &Entry, text: &str) -> bool {
    let rules = || entry.requests.iter().filter_map(|each| each.rule.as_ref());
    entry.command.shown().contains(text)
        || entry.directory.contains(text)
        || entry.reason.contains(text)
        || rules()
            .any(|rule| rule.pattern.contains(text) || rule.file.as_ref().is_some_and(|f| f.contains(text)))
}
