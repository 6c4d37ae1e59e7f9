//! Settings files of agents: changed in single places, with all else left as it stands, and put back.

mod json;
mod yaml;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::policy::agents::Format;

/// One place of a settings file, and what is to stand there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edit {
    /// The keys that lead there.
    pub key: Vec<String>,
    /// What is to stand there.
    pub value: Value,
    /// How.
    pub kind: Kind,
}

/// How a value stands at a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is the value.
    Set,
    /// It is the value where there is none yet.
    Default,
    /// It is one of a list; an entry that holds a text with this end is an older one of ours.
    Entry(String),
}

/// What was at an edit's place before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Before {
    /// The value that was replaced.
    pub old: Option<Value>,
    /// How many of the keys were there.
    pub depth: usize,
}

/// A text after edits, and what is needed to take them back from it even when it has changed since.
#[derive(Debug, Clone, PartialEq)]
pub struct Edited {
    /// The text.
    pub text: String,
    /// For each edit, what was there.
    pub before: Vec<Before>,
}

/// Why a file is left as it is.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CannotEdit {
    /// It cannot be read as its agent reads it.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Something else than expected stands at a key.
    #[error("at `{0}` stands something else than expected")]
    Unexpected(String),
    /// It is written in a way that is not changed by machine.
    #[error("it is written in a way that gsh does not change ({0})")]
    Unsure(&'static str),
}

/// Makes the edits; without a text, in a new one.
///
/// # Errors
/// When the text is not understood, or something else stands in the way.
pub fn apply(format: Format, text: Option<&str>, edits: &[Edit]) -> Result<Edited, CannotEdit> {
    match format {
        Format::Json => json::apply(text, edits),
        Format::Yaml => yaml::apply(text, edits),
        Format::Toml => Err(CannotEdit::Unsure("no setting of ours stands in TOML")),
    }
}

/// Takes the edits back from a text that has changed since; what is no longer as it was set stays.
///
/// # Errors
/// As [`apply`].
pub fn revert(format: Format, text: &str, edits: &[(Edit, Before)]) -> Result<String, CannotEdit> {
    match format {
        Format::Json => json::revert(text, edits),
        Format::Yaml => yaml::revert(text, edits),
        Format::Toml => Err(CannotEdit::Unsure("no setting of ours stands in TOML")),
    }
}

/// The value at a key; None where there is none, or the text is not understood.
#[must_use]
pub fn value_at(format: Format, text: &str, key: &[&str]) -> Option<Value> {
    match format {
        Format::Json => json::value_at(text, key),
        Format::Yaml => yaml::value_at(text, key),
        Format::Toml => toml_at(text, key),
    }
}

fn toml_at(text: &str, key: &[&str]) -> Option<Value> {
    let whole: Value = toml::from_str(text).ok()?;
    key.iter().try_fold(&whole, |value, part| value.get(part)).cloned()
}

/// The lines that a person would add.
#[must_use]
pub fn lines(format: Format, edits: &[Edit]) -> String {
    apply(format, None, edits).map(|edited| edited.text).unwrap_or_default()
}

/// Whether a value is an entry of ours: some text in it ends so, and names gsh.
#[must_use]
pub fn is_ours(value: &Value, end: &str) -> bool {
    match value {
        Value::String(text) => text.ends_with(end) && text.contains("gsh"),
        Value::Array(items) => items.iter().any(|item| is_ours(item, end)),
        Value::Object(entries) => entries.values().any(|item| is_ours(item, end)),
        _ => false,
    }
}
