//! What a record says.

use std::ops::Range;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::redact::Secrets;
use crate::decision::{Decision, INTERNAL_ERROR, Judged};
use crate::envelope::Mark;
use crate::facts::{EffectKind, Facts};
use crate::host::witness::Answers;
use crate::policy::{Agent, Layer, Policy, Subject, Verdict};
use crate::request::{Entry, ReadingOptions, Request, Setting};
use crate::store::sessions::Grant;
use crate::syntax::document_bodies;
use crate::sys::passwd;
use crate::sys::proc::{Lineage, Process};

/// A text up to this length is kept whole; of a longer one its head, its length and its hash.
const WHOLE_TEXT: usize = 8 * 1024;
/// So many processes above us are named.
const ANCESTORS: usize = 4;
/// So many of a kind are told of; of more only how many.
const MOST: usize = 200;

/// Who made the decision final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// Rules, floor and mode.
    Policy,
    /// A person at the terminal here.
    Person {
        /// Its name.
        terminal: Option<String>,
    },
    /// A person elsewhere, through the queue.
    PersonElsewhere {
        /// The question's name.
        question: String,
        /// The process they answered with.
        pid: i32,
        /// The terminal they sat at.
        terminal: String,
    },
    /// An earlier answer to the same text.
    Cache,
    /// The reviewer.
    Reviewer {
        /// What it said.
        review: Value,
    },
    /// The setting for a reviewer that failed.
    Unreviewed {
        /// How it failed.
        review: Value,
    },
    /// Somebody else, after the reviewer had not decided.
    AfterReview {
        /// What it said, or how it failed.
        review: Value,
        /// Who then did.
        by: Box<DecidedBy>,
    },
    /// The reviewer's first, quick look.
    Classifier,
    /// Too many refusals before.
    Breaker,
    /// A person, in the agent's own dialogue.
    Dialogue {
        /// The agent.
        agent: String,
        /// Its name for the call.
        call: Option<String>,
    },
    /// Nobody could be asked.
    Nobody {
        /// Why.
        why: String,
    },
}

impl DecidedBy {
    /// The word for it, where it is no policy's decision.
    fn to_json(&self) -> Value {
        match self {
            Self::Policy => json!("policy"),
            Self::Person { .. } => json!("person"),
            Self::PersonElsewhere { question, pid, terminal } => {
                json!({ "person": { "question": question, "pid": pid, "terminal": terminal } })
            }
            Self::Cache => json!("cache"),
            // A verdict that was given before is told as what it is.
            Self::Reviewer { review } if review["remembered"] == true => json!("cache"),
            Self::Reviewer { .. } => json!("reviewer"),
            Self::Unreviewed { .. } => json!("failure-knob"),
            Self::AfterReview { by, .. } => by.to_json(),
            Self::Classifier => json!("classifier"),
            Self::Breaker => json!("breaker"),
            Self::Dialogue { agent, call } => json!({ "dialogue": { "agent": agent, "call": call } }),
            Self::Nobody { why } => json!({ "nobody": why }),
        }
    }

    /// Where a person answered: in which panel, at which terminal, under which name.
    fn place(&self) -> Map<String, Value> {
        let (panel, terminal) = match self {
            Self::Person { terminal } => ("terminal", terminal.as_deref()),
            Self::PersonElsewhere { terminal, .. } => ("queue", Some(terminal.as_str())),
            Self::Dialogue { .. } => ("dialogue", None),
            _ => return Map::new(),
        };
        map(json!({ "panel": panel, "terminal": terminal, "who": passwd::own_name() }))
    }

    /// What a reviewer said, or how it failed; nothing where none was asked.
    fn review(&self) -> Value {
        match self {
            Self::Reviewer { review } | Self::Unreviewed { review } | Self::AfterReview { review, .. } => {
                review.clone()
            }
            _ => Value::Null,
        }
    }
}

/// How long an answer lasts, and what it keeps.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lasting {
    /// `once`, `minutes`, `session` or `always`.
    pub scope: &'static str,
    /// How many minutes.
    pub minutes: Option<u32>,
    /// The rules of an "always", as they are shown.
    pub kept: Vec<String>,
}

/// What of the policy decided: `floor`, `rule`, `builtin`, `failure-knob` or `grant`.
fn decided_by(decision: &Decision) -> &'static str {
    if decision.floor.is_some() {
        return "floor";
    }
    if decision.knob.is_some() || decision.reason == INTERNAL_ERROR {
        return "failure-knob";
    }
    let deciding = decision.requests.iter().filter(|each| each.verdict == decision.verdict);
    match deciding.filter_map(|each| each.matched.rule.as_ref()).map(|rule| rule.layer).max() {
        Some(Layer::Session) => "grant",
        Some(layer) if layer > Layer::Builtin => "rule",
        _ => "builtin",
    }
}

/// Where a request comes from, as far as a record tells.
#[derive(Debug, Clone, Default)]
pub struct Context {
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
        let id = new_id();
        let secrets = secrets(opening);
        let (mut inexact, mut redacted) = (Vec::new(), 0);
        let mut object = Map::new();
        object.insert("event".to_owned(), "opened".into());
        object.insert("id".to_owned(), id.as_str().into());
        object.insert("time".to_owned(), Timestamp::now().to_string().into());
        object.extend(origin(opening));
        let (said, documents) = request(opening.request, &mut inexact);
        if opening.context.follows {
            inexact.push("follows");
        }
        let mut free = said;
        if !documents.is_empty() {
            free.insert("here_documents".to_owned(), documents.into());
        }
        free.extend(decided(opening));
        for (key, value) in &mut free {
            // These are our own words.
            if !matches!(
                key.as_str(),
                "verdict" | "floor" | "mode" | "decided_by" | "configuration" | "here_documents"
            ) {
                redacted += match (key.as_str(), value) {
                    ("requests", Value::Array(requests)) => {
                        requests.iter_mut().map(|each| of_request(&secrets, each)).sum()
                    }
                    ("not_understood", Value::Array(problems)) => problems
                        .iter_mut()
                        .filter_map(|each| each.get_mut("detail"))
                        .map(|each| secrets.redact_value(each))
                        .sum(),
                    (_, value) => secrets.redact_value(value),
                };
            }
        }
        object.extend(free);
        match host(opening.answers.as_ref(), &secrets) {
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
        if !inexact.is_empty() {
            object.insert("inexact".to_owned(), inexact.into());
        }
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
    for invocation in opening.facts.invocations.iter().take(MOST) {
        let words: Vec<String> = invocation.words.iter().map(crate::facts::arg::Arg::display).collect();
        secrets.learn_words(&words);
    }
    secrets
}

/// So much of a text is searched for secrets that stand elsewhere again; no more of it is written anyway.
const LEARNT: usize = 64 * 1024;

fn of_request(secrets: &Secrets, request: &mut Value) -> usize {
    let texts = ["subject", "inner", "reason", "display"];
    texts.iter().filter_map(|key| request.get_mut(*key).map(|text| secrets.redact_value(text))).sum()
}

/// Where it comes from.
fn origin(opening: &Opening<'_>) -> Map<String, Value> {
    let Opening { request, policy, context, .. } = opening;
    let agent = match &policy.caller.agent {
        Agent::Unknown => Value::Null,
        Agent::None => json!("none"),
        Agent::Named(name) => json!(name),
    };
    let value = json!({
        "entry": request.entry.word(),
        "origin": whose(request.entry, &policy.caller.agent),
        "session": context.session,
        "parents": context.parents,
        "agent": agent,
        "envelope": envelope(&context.envelope),
        "interactive": policy.caller.interactive.then_some(true),
        "nested": policy.caller.nested.then_some(true),
        "beneath": context.beneath.then_some(true),
        "hook": context.hook,
        "process": context.lineage.as_ref().map(process_and_those_above),
    });
    map(value)
}

/// Whether a person or an agent asks, where that can be told.
fn whose(entry: Entry, agent: &Agent) -> Value {
    match (entry, agent) {
        (_, Agent::Named(_)) => json!("agent"),
        (Entry::Typed | Entry::Interactive, _) => json!("person"),
        _ => Value::Null,
    }
}

/// What an agent put around the command: nothing, its own text, or one that is not known.
fn envelope(mark: &Mark) -> Value {
    match mark {
        Mark::None => Value::Null,
        Mark::Known { agent, version, part, whole } => json!({
            "agent": agent,
            "version": version,
            "part": part.word(),
            "length": whole.len(),
            "sha256": crate::store::hash(whole),
        }),
        Mark::Unrecognised { agent, version } => {
            json!({ "agent": agent, "version": version, "part": "unrecognised" })
        }
    }
}

/// What was asked, without the bodies of here-documents.
fn request(request: &Request, inexact: &mut Vec<&'static str>) -> (Map<String, Value>, Vec<Value>) {
    // What tells of a tool is no shell text.
    let (text, documents) = match request.tool {
        Some(_) => (request.text.clone(), Vec::new()),
        None => without_documents(&request.text),
    };
    if !documents.is_empty() {
        inexact.push("here-document");
    }
    let command = self::text(&text);
    if command.is_object() {
        inexact.push("long");
    }
    let options = (request.options != ReadingOptions::default()).then_some(request.options);
    let setting = (request.setting != Setting::default()).then_some(&request.setting);
    if setting.is_some_and(|setting| setting.prelude.len() > WHOLE_TEXT) {
        inexact.push("setting");
    }
    let setting = setting.filter(|setting| setting.prelude.len() <= WHOLE_TEXT);
    let value = json!({
        "setting": setting,
        "directory": request.cwd.to_string_lossy(),
        "command": command,
        "name": request.name,
        "args": request.args,
        "options": options,
        "tool": request.tool,
    });
    (map(value), documents)
}

/// What was decided, and by what.
fn decided(opening: &Opening<'_>) -> Map<String, Value> {
    let Opening { policy, decision, facts, context, .. } = opening;
    let told: Vec<&Judged> = decision.requests.iter().filter(|each| each.is_told()).collect();
    let runs = match decision.verdict {
        Verdict::Allow => Some(true),
        Verdict::Deny => Some(false),
        Verdict::Ask | Verdict::Review => None,
    };
    let rules = context.rules.iter().map(|(action, text)| json!([action, text]));
    let value = json!({
        "facts": summary(facts, decision),
        "requests": told.iter().take(MOST).map(|each| judged(each)).collect::<Vec<_>>(),
        "requests_left_out": told.len().checked_sub(MOST).filter(|more| *more > 0),
        "not_understood": decision.not_understood.iter().take(MOST).collect::<Vec<_>>(),
        "verdict": decision.verdict,
        "floor": decision.floor,
        "reason": decision.reason,
        "knob": decision.knob,
        "mode": decision.mode,
        "mode_from": policy.mode_origin,
        "suggestions": decision.suggestions,
        "configuration": configuration(policy),
        "rules": rules.collect::<Vec<_>>(),
        "decided_by": decided_by(decision),
        "grants": grants(&told, &context.grants),
        "runs": runs,
        "environment_removed": context.removed,
    });
    map(value)
}

/// The answers by which something passes or is refused: who gave them, when, where, about which record.
fn grants(told: &[&Judged], known: &[Grant]) -> Vec<Value> {
    let rules = told.iter().filter_map(|each| each.matched.rule.as_ref());
    let names: Vec<_> =
        rules.filter(|rule| rule.layer == Layer::Session).filter_map(|rule| rule.file.clone()).collect();
    let used = known.iter().filter(|grant| names.iter().any(|name| **name == grant.name()));
    used.map(|grant| {
        json!({
            "id": grant.id, "made": grant.made, "until": grant.until, "who": grant.who,
            "terminal": grant.terminal, "panel": grant.panel, "record": grant.record,
        })
    })
    .collect()
}

/// The programs, and how many effects of which kind.
fn summary(facts: &Facts, decision: &Decision) -> Value {
    let mut programs: Vec<String> = Vec::new();
    for invocation in &facts.invocations {
        let name = invocation.words.first().map(crate::facts::arg::Arg::display).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        if !name.is_empty() && programs.len() < MOST && !programs.contains(&name) {
            programs.push(name);
        }
    }
    let count =
        |test: fn(&EffectKind) -> bool| facts.effects.iter().filter(|effect| test(&effect.kind)).count();
    let some = |count: usize| (count > 0).then_some(count);
    let mut value = map(json!({
        "programs": programs,
        "reads": some(count(|kind| matches!(kind, EffectKind::Read(_) | EffectKind::ReadTree { .. }))),
        "writes": some(count(|kind| matches!(kind, EffectKind::Write { .. }))),
        "network": some(count(|kind| matches!(kind, EffectKind::Network { .. } | EffectKind::Push { .. }))),
        "reads_only": decision.reads_only.then_some(true),
    }));
    value.retain(|_, value| !value.is_null());
    Value::Object(value)
}

/// The version of the configuration: a hash over those of its files. None where no file speaks.
fn configuration(policy: &Policy) -> Option<String> {
    let hashes: Vec<&[u8]> =
        policy.layers.iter().filter_map(|layer| layer.hash.as_deref().map(str::as_bytes)).collect();
    (!hashes.is_empty()).then(|| crate::store::hash_of(&hashes).chars().take(16).collect())
}

/// What the machine answered, without secrets, and how many there were.
fn host(answers: Option<&Answers>, secrets: &Secrets) -> Option<(Value, usize)> {
    let mut value = serde_json::to_value(answers?).ok()?;
    let mut redacted = 0;
    for item in value.as_object_mut()?.values_mut() {
        redacted += match item {
            Value::Object(object) => secrets.redact_map(object),
            other => secrets.redact_value(other),
        };
    }
    Some((value, redacted))
}

/// A text with a mark in the place of each here-document's body; the length and hash of each.
fn without_documents(bytes: &[u8]) -> (Vec<u8>, Vec<Value>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return (bytes.to_vec(), Vec::new()) };
    let bodies: Vec<Range<usize>> =
        document_bodies(text).into_iter().filter(|body| !body.is_empty()).collect();
    let (mut kept, mut from) = (String::new(), 0);
    let mut told = Vec::new();
    for body in bodies {
        let content = text.get(body.clone()).unwrap_or_default();
        kept.push_str(text.get(from..body.start).unwrap_or_default());
        kept.push_str(&format!("[here-document {}]\n", told.len() + 1));
        told.push(content_of(content.as_bytes()));
        from = body.end;
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    (kept.into_bytes(), told)
}

/// What is told of a content that is not written: how long it is, and its hash.
#[must_use]
pub fn content_of(bytes: &[u8]) -> Value {
    json!({ "length": bytes.len(), "sha256": crate::store::hash(bytes) })
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

fn json_of(parts: [Map<String, Value>; 3]) -> Value {
    Value::Object(parts.into_iter().flatten().collect())
}

/// What happened between: the names are those of an agent's own events.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A person is to be asked.
    Asked,
    /// A reviewer was asked, and somebody else is to say.
    Reviewed {
        /// What it said, or how it failed.
        review: &'a Value,
    },
    /// It may run.
    Granted {
        /// Who said so.
        by: &'a DecidedBy,
        /// How long that lasts.
        lasting: &'a Lasting,
    },
    /// It may not.
    Denied {
        /// Who said so.
        by: &'a DecidedBy,
        /// What to do instead, in their words.
        feedback: Option<&'a str>,
    },
}

impl Event<'_> {
    pub(super) fn to_json(self, id: &str) -> Value {
        let (event, more) = match self {
            Self::Asked => ("PermissionRequested", json!({})),
            Self::Reviewed { review } => ("PermissionReviewed", json!({ "review": review })),
            Self::Granted { by, lasting: Lasting { scope, minutes, kept } } => {
                let kept = (!kept.is_empty()).then_some(kept);
                let told = json!({ "by": by.to_json(), "review": by.review(), "scope": scope, "minutes": minutes, "kept": kept });
                ("PermissionGranted", json_of([map(told), by.place(), map(json!({ "runs": true }))]))
            }
            Self::Denied { by, feedback } => {
                let told = json!({ "by": by.to_json(), "review": by.review(), "feedback": feedback });
                ("PermissionDenied", json_of([map(told), by.place(), map(json!({ "runs": false }))]))
            }
        };
        let mut object = map(json!({ "event": event, "id": id, "time": Timestamp::now().to_string() }));
        object.extend(map(more).into_iter().filter(|(_, value)| !value.is_null()));
        Value::Object(object)
    }
}

/// What a supervisor saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Supervised {
    /// How much was relayed of standard output and error; what went to a file is not counted.
    pub bytes: [u64; 2],
    /// The command outlived its time limit: the status is what its caller was told.
    pub limited: bool,
    /// The job that goes on.
    pub job: Option<u32>,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Closing {
    /// It ended.
    Ended {
        /// The way it was run.
        how: &'static str,
        /// Its exit status, unless it died of a signal.
        status: Option<i32>,
        /// The signal it died of.
        signal: Option<i32>,
        /// How long it took.
        milliseconds: u64,
        /// What its supervisor saw, where it had one.
        watched: Option<Supervised>,
    },
    /// gsh became the command: its end is not observed.
    NotObserved {
        /// The way it was run.
        how: &'static str,
    },
    /// What looked after it was killed: all of it was ended.
    Orphaned,
    /// It did not run.
    NotRun {
        /// Why.
        why: &'static str,
    },
}

impl Closing {
    /// What was left to an agent, and how; or why it is not done.
    #[must_use]
    pub fn of_hook(left: Result<&'static str, &'static str>) -> Self {
        left.map_or_else(|why| Self::NotRun { why }, |how| Self::NotObserved { how })
    }

    pub(super) fn to_json(self, id: &str) -> Value {
        let mut object = Map::from_iter([
            ("event".to_owned(), "closed".into()),
            ("id".to_owned(), id.into()),
            ("time".to_owned(), Timestamp::now().to_string().into()),
        ]);
        let more = match self {
            Self::Ended { how, status, signal, milliseconds, watched } => {
                let outcome = match watched {
                    Some(Supervised { limited: true, .. }) => "limited",
                    Some(Supervised { job: Some(_), .. }) => "adopted",
                    _ => "ended",
                };
                let mut more = json!({ "outcome": outcome, "how": how, "status": status, "signal": signal, "milliseconds": milliseconds });
                if let (Some(seen), Some(object)) = (watched, more.as_object_mut()) {
                    object.insert("bytes".to_owned(), json!(seen.bytes));
                    object.insert("job".to_owned(), json!(seen.job));
                }
                more
            }
            Self::NotObserved { how } => json!({ "outcome": "not observed", "how": how }),
            Self::Orphaned => json!({ "outcome": "orphaned", "how": "supervised" }),
            Self::NotRun { why } => json!({ "outcome": "not run", "why": why }),
        };
        if let Value::Object(more) = more {
            object.extend(more);
        }
        Value::Object(object)
    }
}

/// Unique on this machine: the moment, and the process, which decides one thing at a time.
fn new_id() -> String {
    let now = Timestamp::now();
    format!("{}-{}", now.strftime("%Y%m%dT%H%M%S.%6f"), std::process::id())
}

fn text(bytes: &[u8]) -> Value {
    if bytes.len() <= WHOLE_TEXT
        && let Ok(whole) = std::str::from_utf8(bytes)
    {
        return whole.into();
    }
    let mut cut = bytes.len().min(WHOLE_TEXT);
    // Not in the middle of a letter.
    while cut > 0 && bytes.get(cut).is_some_and(|byte| byte & 0xc0 == 0x80) {
        cut -= 1;
    }
    let head = String::from_utf8_lossy(bytes.get(..cut).unwrap_or_default());
    let hash = crate::store::hash(bytes);
    json!({ "head": head, "length": bytes.len(), "sha256": hash })
}

fn process_and_those_above(lineage: &Lineage) -> Value {
    let above: Vec<Value> = lineage.above.iter().take(ANCESTORS).map(process).collect();
    let own = &lineage.own;
    json!({ "pid": own.pid, "group": nix::unistd::getpgrp().as_raw(), "started": own.started, "ancestors": above })
}

fn process(process: &Process) -> Value {
    json!({ "pid": process.pid, "name": process.name, "started": process.started })
}

fn judged(judged: &Judged) -> Value {
    let rule = judged.matched.rule.as_ref().map(|rule| {
        json!({ "layer": rule.layer, "file": rule.file.as_deref(), "line": rule.line, "pattern": rule.pattern })
    });
    json!({
        "capability": judged.request.capability,
        "subject": subject(&judged.request.subject),
        "destroys": judged.request.destroys,
        "verdict": judged.verdict,
        "rule": rule,
        "reason": judged.matched.reason,
    })
}

fn subject(subject: &Subject) -> Value {
    match subject {
        Subject::Path(forms) => json!(forms),
        Subject::Command { written, .. } => text(written.as_bytes()),
        Subject::Mention(mentioned) => text(mentioned.as_bytes()),
    }
}

#[cfg(test)]
mod tests;
