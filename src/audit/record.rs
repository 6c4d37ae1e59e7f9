//! What a record says.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::decision::{Decision, Judged};
use crate::policy::Subject;
use crate::request::Request;
use crate::sys::proc::Process;

/// A text up to this length is kept whole; of a longer one its head, its length and its hash.
const WHOLE_TEXT: usize = 8 * 1024;
/// So many processes above us are named.
const ANCESTORS: usize = 4;

/// Who made the decision final.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecidedBy {
    /// Rules, floor and mode.
    Policy,
    /// A person.
    Person,
    /// A person elsewhere, through the queue.
    PersonElsewhere {
        /// The question's name.
        question: String,
        /// The process they answered with.
        pid: i32,
        /// The terminal they sat at.
        terminal: String,
    },
    /// Nobody could be asked.
    Nobody {
        /// Why.
        why: String,
    },
}

impl DecidedBy {
    fn to_json(&self) -> Value {
        match self {
            Self::Policy => json!("policy"),
            Self::Person => json!("person"),
            Self::PersonElsewhere { question, pid, terminal } => {
                json!({ "person": { "question": question, "pid": pid, "terminal": terminal } })
            }
            Self::Nobody { why } => json!({ "nobody": why }),
        }
    }
}

/// What is known when a record is opened.
#[derive(Debug, Clone, Copy)]
pub struct Opening<'a> {
    /// What was asked.
    pub request: &'a Request,
    /// What was decided.
    pub decision: &'a Decision,
    /// Who made it final.
    pub decided_by: &'a DecidedBy,
    /// Whether it is to run.
    pub runs: bool,
    /// Variables that were kept from the shell.
    pub removed: &'a [&'static str],
}

/// One line to write.
#[derive(Debug, Clone)]
pub struct Record {
    id: String,
    value: Value,
}

impl Record {
    /// The opening record.
    #[must_use]
    pub fn new(opening: &Opening<'_>) -> Self {
        let Opening { request, decision, decided_by, runs, removed } = opening;
        let id = new_id();
        let value = json!({
            "event": "opened",
            "id": id,
            "time": Timestamp::now().to_string(),
            "entry": request.entry.word(),
            "process": ancestry(),
            "directory": request.cwd.to_string_lossy(),
            "command": text(&request.text),
            "name": request.name,
            "args": request.args,
            "verdict": decision.verdict,
            "floor": decision.floor,
            "reason": decision.reason,
            "knob": decision.knob,
            "mode": decision.mode,
            "decided_by": decided_by.to_json(),
            "runs": runs,
            "requests": decision.requests.iter().filter(|each| each.is_told()).map(judged).collect::<Vec<_>>(),
            "not_understood": decision.not_understood,
            "environment_removed": removed,
        });
        Self { id, value }
    }

    /// The line's content.
    #[must_use]
    pub fn json(&self) -> &Value {
        &self.value
    }

    pub(super) fn into_id(self) -> String {
        self.id
    }

    /// The same record, saying why it is not in its proper place.
    pub(super) fn marked_as_fallback(mut self, why: &str) -> Self {
        if let Some(object) = self.value.as_object_mut() {
            object.insert("fallback".to_owned(), why.into());
        }
        self
    }

    #[cfg(test)]
    pub(super) fn for_tests() -> Self {
        let id = new_id();
        Self { value: json!({ "event": "opened", "id": id }), id }
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
    /// It did not run.
    NotRun {
        /// Why.
        why: &'static str,
    },
}

impl Closing {
    pub(super) fn to_json(self, id: &str) -> Value {
        let mut object = Map::from_iter([
            ("event".to_owned(), "closed".into()),
            ("id".to_owned(), id.into()),
            ("time".to_owned(), Timestamp::now().to_string().into()),
        ]);
        let more = match self {
            Self::Ended { how, status, signal, milliseconds, watched } => {
                let outcome = if watched.is_some_and(|seen| seen.limited) { "limited" } else { "ended" };
                let mut more = json!({ "outcome": outcome, "how": how, "status": status, "signal": signal, "milliseconds": milliseconds });
                if let (Some(seen), Some(object)) = (watched, more.as_object_mut()) {
                    object.insert("bytes".to_owned(), json!(seen.bytes));
                    object.insert("job".to_owned(), json!(seen.job));
                }
                more
            }
            Self::NotObserved { how } => json!({ "outcome": "not observed", "how": how }),
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
    let hash: String = Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "head": head, "length": bytes.len(), "sha256": hash })
}

fn ancestry() -> Value {
    let Some(own) = Process::own() else { return Value::Null };
    let above: Vec<Value> = own.ancestors(ANCESTORS).iter().map(process).collect();
    json!({ "pid": own.pid, "started": own.started, "ancestors": above })
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
mod tests {
    use super::*;
    use crate::policy::{Mode, Verdict};
    use crate::request::{Entry, ReadingOptions};

    #[test]
    fn a_record_names_what_was_asked_and_decided() {
        let request = Request {
            text: b"make all".to_vec(),
            cwd: "/p".into(),
            name: None,
            args: vec!["x".to_owned()],
            options: ReadingOptions::default(),
            entry: Entry::Command,
        };
        let decision = Decision::bare(Verdict::Ask, "why", Mode::Default);
        let opening = Opening {
            request: &request,
            decision: &decision,
            decided_by: &DecidedBy::Person,
            runs: true,
            removed: &["BASH_ENV"],
        };
        let record = Record::new(&opening);
        let table = [
            ("/event", json!("opened")),
            ("/entry", json!("command")),
            ("/command", json!("make all")),
            ("/directory", json!("/p")),
            ("/verdict", json!("ask")),
            ("/decided_by", json!("person")),
            ("/mode", json!("default")),
            ("/runs", json!(true)),
            ("/environment_removed/0", json!("BASH_ENV")),
        ];
        for (pointer, expected) in table {
            assert_eq!(record.json().pointer(pointer), Some(&expected), "{pointer}");
        }
        assert!(record.json().pointer("/process/ancestors/0/started").is_some_and(Value::is_u64));
    }

    #[test]
    fn long_and_broken_texts_keep_head_length_and_hash() {
        let long = text("é".repeat(WHOLE_TEXT).as_bytes());
        assert_eq!(long["length"], json!(2 * WHOLE_TEXT));
        assert_eq!(long["head"].as_str().map(str::len), Some(WHOLE_TEXT));
        let broken = text(b"a\xff");
        assert_eq!(broken["sha256"].as_str().map(str::len), Some(64));
        assert_eq!(broken["length"], json!(2));
        assert_eq!(text(b"plain"), json!("plain"));
    }

    #[test]
    fn endings_are_told_apart() {
        let ended =
            Closing::Ended { how: "direct", status: None, signal: Some(15), milliseconds: 3, watched: None };
        let seen = Supervised { bytes: [5, 0], limited: true, job: Some(7) };
        let limited = Closing::Ended {
            how: "shell",
            status: Some(124),
            signal: None,
            milliseconds: 3,
            watched: Some(seen),
        };
        let table = [
            (limited, "/outcome", json!("limited")),
            (limited, "/job", json!(7)),
            (limited, "/bytes", json!([5, 0])),
            (ended, "/signal", json!(15)),
            (Closing::NotObserved { how: "shell" }, "/outcome", json!("not observed")),
            (Closing::NotRun { why: "denied" }, "/why", json!("denied")),
        ];
        for (closing, pointer, expected) in table {
            assert_eq!(closing.to_json("i").pointer(pointer), Some(&expected), "{pointer}");
        }
    }
}
