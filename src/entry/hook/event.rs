//! One event of an agent's hook, whatever the agent calls its parts.

use std::path::PathBuf;

use serde_json::Value;

use super::json;

/// What kind of moment an event tells of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    /// A tool is about to be used: the reply counts.
    #[default]
    BeforeTool,
    /// The agent is about to ask its user about a tool: the reply counts.
    Permission,
    /// A tool was used.
    AfterTool,
    /// Its user said something: a turn begins.
    Prompt,
    /// Anything else that it tells of.
    Other,
}

impl Kind {
    /// Whether the reply decides about a tool.
    #[must_use]
    pub fn decides(self) -> bool {
        matches!(self, Self::BeforeTool | Self::Permission)
    }
}

/// An event as read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// What kind of moment it is.
    pub kind: Kind,
    /// The agent's name for it.
    pub name: String,
    /// The agent's name for its session.
    pub session: Option<String>,
    /// The agent's name for the call.
    pub call: Option<String>,
    /// The directory, as given; None where the agent tells none.
    pub cwd: Option<String>,
    /// The tool.
    pub tool: String,
    /// What it is given.
    pub input: Value,
    /// What was said in the session so far: a file of the agent's.
    pub transcript: Option<String>,
    /// The agent asks its user where the reply says so.
    pub asks: bool,
    /// Where the tool's input can be replaced, so that a refusal need not end the run: by what key.
    pub replaces: Option<&'static str>,
}

/// Why an event is not understood. Then nothing is let through.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Odd {
    /// The bytes are no JSON object, or one in which a key stands twice.
    #[error("the hook's input is not a JSON object")]
    NotJson,
    /// It is longer than anything that could be decided.
    #[error("the hook's input is longer than 16 MiB")]
    TooLong,
    /// It could not be read.
    #[error("the hook's input could not be read")]
    Unread,
    /// A part is missing, or of another type.
    #[error("the hook's input has no `{0}`")]
    Without(&'static str),
    /// An event that gsh does not know.
    #[error("gsh does not know the hook event `{0}`")]
    Unknown(String),
    /// The directory is none that can be looked at.
    #[error("the directory {0} cannot be looked at")]
    Directory(String),
}

impl Event {
    /// The directory it is about: as given, else ours.
    ///
    /// # Errors
    /// When that is no directory that can be looked at.
    pub fn directory(&self) -> Result<PathBuf, Odd> {
        usable(match &self.cwd {
            Some(given) => PathBuf::from(given),
            None => std::env::current_dir().map_err(|_| Odd::Directory("it was started in".to_owned()))?,
        })
    }
}

/// A directory, if it can be looked at.
///
/// # Errors
/// When it cannot.
pub fn usable(path: PathBuf) -> Result<PathBuf, Odd> {
    let usable = path.is_absolute() && path.to_str().is_some() && std::fs::read_dir(&path).is_ok();
    if usable { Ok(path) } else { Err(Odd::Directory(path.to_string_lossy().into_owned())) }
}

/// What is to be decided must name its tool.
///
/// # Errors
/// Where nothing stands behind that key.
pub fn needs_tool<T>(kind: Kind, tool: Option<&T>, key: &'static str) -> Result<(), Odd> {
    if kind.decides() && tool.is_none() { Err(Odd::Without(key)) } else { Ok(()) }
}

/// A text behind a key; None where there is none, or an empty one.
#[must_use]
pub fn text(value: &Value, key: &str) -> Option<String> {
    value.get(key)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// The first text behind one of these keys.
#[must_use]
pub fn first(value: &Value, keys: &[&str]) -> Option<String> {
    keys.iter().find_map(|key| text(value, key))
}

/// Every text behind these keys, each once.
#[must_use]
pub fn every(value: &Value, keys: &[&str]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for text in keys.iter().filter_map(|key| text(value, key)) {
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// What a tool is given. Some agents send it as a text that holds JSON.
#[must_use]
pub fn input(value: &Value, key: &str) -> Value {
    match value.get(key) {
        Some(Value::String(packed)) => {
            json::value(packed.as_bytes()).unwrap_or_else(|| packed.clone().into())
        }
        Some(other) => other.clone(),
        None => Value::Null,
    }
}

/// The kind of an event, by the names that this agent has for them.
///
/// # Errors
/// When it has none of this name.
pub fn kind(name: &str, known: &[(&str, Kind)]) -> Result<Kind, Odd> {
    let found = known.iter().find(|(word, _)| *word == name).map(|(_, kind)| *kind);
    found.ok_or_else(|| Odd::Unknown(name.chars().take(80).collect()))
}
