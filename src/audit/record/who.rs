//! Who made a decision final, and how long their answer lasts.

use serde_json::{Map, Value, json};

use super::map;
use crate::decision::{Decision, INTERNAL_ERROR};
use crate::policy::{Layer, Verdict};
use crate::sys::passwd;

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
    Cache {
        /// The record that has it.
        record: String,
    },
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
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Policy => json!("policy"),
            Self::Person { .. } => json!("person"),
            Self::PersonElsewhere { question, pid, terminal } => {
                json!({ "person": { "question": question, "pid": pid, "terminal": terminal } })
            }
            Self::Cache { .. } => json!("cache"),
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
    pub(super) fn place(&self) -> Map<String, Value> {
        let (panel, terminal) = match self {
            Self::Person { terminal } => ("terminal", terminal.as_deref()),
            Self::PersonElsewhere { terminal, .. } => ("queue", Some(terminal.as_str())),
            Self::Dialogue { .. } => ("dialogue", None),
            _ => return Map::new(),
        };
        map(json!({ "panel": panel, "terminal": terminal, "who": passwd::own_name() }))
    }

    /// Of what was said before: who said it, and in which record.
    pub(super) fn first(&self) -> Value {
        match self {
            Self::Cache { record } => json!({ "record": record }),
            Self::Reviewer { review } if review["remembered"] == true => {
                json!({ "by": "reviewer", "record": review["record"] })
            }
            Self::AfterReview { by, .. } => by.first(),
            _ => Value::Null,
        }
    }

    /// What a reviewer said, or how it failed; nothing where none was asked.
    pub(super) fn review(&self) -> Value {
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

/// The knob that refuses all once too much was refused.
const TOO_MANY: &str = "refusals.in_all";

/// What of the policy decided: `floor`, `breaker`, `rule`, `builtin`, `failure-knob` or `grant`.
pub(super) fn decided_by(decision: &Decision) -> &'static str {
    if decision.floor.is_some() {
        return "floor";
    }
    if decision.knob == Some(TOO_MANY) {
        return "breaker";
    }
    // None of them lets anything pass: what they would ask about was allowed by the mode.
    let by_knob = decision.knob.is_some() && decision.verdict != Verdict::Allow;
    if by_knob || decision.reason == INTERNAL_ERROR {
        return "failure-knob";
    }
    let deciding = decision.requests.iter().filter(|each| each.verdict == decision.verdict);
    match deciding.filter_map(|each| each.matched.rule.as_ref()).map(|rule| rule.layer).max() {
        Some(Layer::Session) => "grant",
        Some(layer) if layer > Layer::Builtin => "rule",
        _ => "builtin",
    }
}
