//! What a record says: the opening line here, what follows it in `events`.

mod events;
mod texts;
mod told;
mod who;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use self::events::{Closing, Event, Ran, Supervised};
pub use self::texts::content_of;
pub(super) use self::told::writes_secrets;
pub use self::who::{DecidedBy, Lasting};
use super::redact::Secrets;
use crate::decision::Decision;
use crate::envelope::Mark;
use crate::facts::Facts;
use crate::host::witness::Answers;
use crate::policy::{Policy, Verdict};
use crate::request::Request;
use crate::store::sessions::Grant;
use crate::sys::proc::Lineage;

/// So many of a kind are told of; of more only how many.
const MOST: usize = 200;
/// So much of a text is searched for secrets that stand elsewhere again; no more of it is written anyway.
const LEARNT: usize = 64 * 1024;

/// Where a request comes from, as far as a record tells.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// The name that its record is to have; None for a new one.
    pub id: Option<String>,
    /// The record of the call of gsh above, whose command this one came from.
    pub above: Option<String>,
    /// Its session.
    pub session: Option<String>,
    /// The sessions that one is nested in, nearest first.
    pub parents: Vec<String>,
    /// This process and those above it.
    pub lineage: Option<Lineage>,
    /// It came from beneath another gsh.
    pub beneath: bool,
    /// The rules of the command line.
    pub rules: Vec<(Verdict, String)>,
    /// The answers that the session remembers.
    pub grants: Vec<Grant>,
    /// Variables that were kept from the shell.
    pub removed: Vec<String>,
    /// What an agent put around the command.
    pub envelope: Mark,
    /// The hook's event, by the agent's own names.
    pub hook: Option<Hooked>,
    /// What must not be written: secrets of the environment.
    pub secrets: Secrets,
    /// It stands on what earlier texts left in its shell, which no record holds.
    pub follows: bool,
}

/// An event that a hook was told of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Hooked {
    /// Its name.
    pub event: String,
    /// The agent's session.
    pub session: Option<String>,
    /// The agent's name for the call.
    pub call: Option<String>,
    /// The tool.
    pub tool: String,
}

/// What is known when a record is opened.
#[derive(Debug)]
pub struct Opening<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// By which policy it was decided.
    pub policy: &'a Policy,
    /// What was decided.
    pub decision: &'a Decision,
    /// What it would do.
    pub facts: &'a Facts,
    /// What the machine answered; None when it was too much to keep.
    pub answers: Option<Answers>,
    /// Where it comes from.
    pub context: &'a Context,
}

/// One line to write.
#[derive(Debug, Clone)]
pub struct Record {
    id: String,
    asks: bool,
    secrets: Secrets,
    value: Value,
}

impl Record {
    /// The opening record.
    #[must_use]
    pub fn new(opening: &Opening<'_>) -> Self {
        let id = opening.context.id.clone().unwrap_or_else(new_id);
        let secrets = secrets(opening);
        let mut inexact = Vec::new();
        let mut object = map(json!({
            "event": "opened",
            "id": id,
            "time": Timestamp::now().to_string(),
            "gsh": env!("CARGO_PKG_VERSION"),
        }));
        object.extend(told::origin(opening));
        let mut free = told::request(opening, &mut inexact);
        free.extend(told::decided(opening));
        let mut redacted = redact(&mut free, &secrets);
        object.extend(free);
        match told::host(opening.answers.as_ref(), &secrets) {
            Some((host, more)) => {
                redacted += more;
                object.insert("host".to_owned(), host);
            }
            None => inexact.push("answers"),
        }
        if redacted > 0 {
            inexact.push("redacted");
            object.insert("redacted".to_owned(), redacted.into());
        }
        object.insert("inexact".to_owned(), inexact.into());
        // No reviewer judged; the key stands in every record, so that its readers need not know since when.
        object.entry("review").or_insert(Value::Null);
        object.retain(|key, value| {
            key == "review" || !value.is_null() && value.as_array().is_none_or(|items| !items.is_empty())
        });
        let asks = matches!(opening.decision.verdict, Verdict::Ask | Verdict::Review);
        Self { id, asks, secrets, value: Value::Object(object) }
    }

    /// The line's content.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.value
    }

    /// Its id, whether it asks, and what must not be written of it.
    pub(super) fn into_parts(self) -> (String, bool, Secrets) {
        (self.id, self.asks, self.secrets)
    }

    /// The same record, saying why it is not in its proper place.
    pub(super) fn marked_as_fallback(mut self, why: &str) -> Self {
        if let Some(object) = self.value.as_object_mut() {
            object.insert("fallback".to_owned(), why.into());
        }
        self
    }

    /// One that says nothing.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let id = new_id();
        Self { value: json!({ "event": "opened", "id": id }), id, asks: true, secrets: Secrets::default() }
    }
}

/// All secrets that are known of a request.
fn secrets(opening: &Opening<'_>) -> Secrets {
    let mut secrets = opening.context.secrets.clone();
    let text = String::from_utf8_lossy(&opening.request.text);
    secrets.learn_text(text.get(..text.floor_char_boundary(LEARNT)).unwrap_or_default());
    secrets.learn_words(&opening.request.args);
    for (name, value) in opening.answers.iter().flat_map(|answers| &answers.vars) {
        secrets.learn_variable(name, value.as_deref().unwrap_or_default());
    }
    // What is printed where a file of secrets is written may be one of them.
    let prints = writes_secrets(opening.decision);
    for invocation in opening.facts.invocations.iter().take(MOST) {
        let words: Vec<String> = invocation.words.iter().map(crate::facts::arg::Arg::display).collect();
        secrets.learn_words(&words);
        if prints && matches!(words.first().map(String::as_str), Some("echo" | "printf")) {
            words.iter().skip(1).for_each(|word| secrets.learn(word));
        }
    }
    secrets
}

/// Takes the secrets out of all that is not in our own words; how many there were.
fn redact(told: &mut Map<String, Value>, secrets: &Secrets) -> usize {
    const OURS: [&str; 6] = ["verdict", "floor", "mode", "decided_by", "configuration", "here_documents"];
    let free = told.iter_mut().filter(|(key, _)| !OURS.contains(&key.as_str()));
    free.map(|(key, value)| match (key.as_str(), value) {
        ("requests", Value::Array(requests)) => {
            requests.iter_mut().map(|each| of_request(secrets, each)).sum::<usize>()
        }
        ("not_understood", Value::Array(problems)) => problems
            .iter_mut()
            .filter_map(|each| each.get_mut("detail"))
            .map(|each| secrets.redact_value(each))
            .sum(),
        (_, value) => secrets.redact_value(value),
    })
    .sum()
}

fn of_request(secrets: &Secrets, request: &mut Value) -> usize {
    let texts = ["subject", "inner", "reason", "display"];
    texts.iter().filter_map(|key| request.get_mut(*key).map(|text| secrets.redact_value(text))).sum()
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// A name for a record, unique on this machine: the moment, and the process, which decides one thing at a time.
#[must_use]
pub fn new_id() -> String {
    let now = Timestamp::now();
    format!("{}-{}", now.strftime("%Y%m%dT%H%M%S.%6f"), std::process::id())
}

#[cfg(test)]
mod tests;
