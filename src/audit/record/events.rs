//! The lines behind an opening one: what was asked and answered, and what became of it.

use jiff::Timestamp;
use nix::unistd::{getpgrp, getpid};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::map;
use super::who::{DecidedBy, Lasting};

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
    pub(in crate::audit) fn to_json(self, id: &str) -> Value {
        let (event, more) = match self {
            Self::Asked => ("PermissionRequested", json!({})),
            Self::Reviewed { review } => ("PermissionReviewed", json!({ "review": review })),
            Self::Granted { by, lasting: Lasting { scope, minutes, kept } } => {
                let kept = (!kept.is_empty()).then_some(kept);
                let told = json!({
                    "by": by.to_json(), "first": by.first(), "review": by.review(),
                    "scope": scope, "minutes": minutes, "kept": kept,
                });
                ("PermissionGranted", json_of([map(told), by.place(), map(json!({ "runs": true }))]))
            }
            Self::Denied { by, feedback } => {
                let told = json!({
                    "by": by.to_json(), "first": by.first(), "review": by.review(), "feedback": feedback,
                });
                ("PermissionDenied", json_of([map(told), by.place(), map(json!({ "runs": false }))]))
            }
        };
        let mut object = map(json!({ "event": event, "id": id, "time": Timestamp::now().to_string() }));
        object.extend(map(more).into_iter().filter(|(_, value)| !value.is_null()));
        Value::Object(object)
    }
}

/// The process that a command ran as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Ran {
    /// Its number; its start time is that of the record, or a moment later.
    pub pid: i32,
    /// Its process group.
    pub group: i32,
}

impl Ran {
    /// This very process, which becomes the command.
    #[must_use]
    pub fn own() -> Self {
        Self { pid: getpid().as_raw(), group: getpgrp().as_raw() }
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
    /// The command's first process.
    pub process: Ran,
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
    /// gsh becomes the command: its end is not observed.
    Becomes {
        /// The way it is run.
        how: &'static str,
    },
    /// Somebody else runs it: its end is not observed.
    NotObserved {
        /// Who, or the way.
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

    pub(in crate::audit) fn to_json(self, id: &str) -> Value {
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
                    object.insert("process".to_owned(), json!(seen.process));
                }
                more
            }
            Self::Becomes { how } => json!({ "outcome": "not observed", "how": how, "process": Ran::own() }),
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

fn json_of(parts: [Map<String, Value>; 3]) -> Value {
    Value::Object(parts.into_iter().flatten().collect())
}
