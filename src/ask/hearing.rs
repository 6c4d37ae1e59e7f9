//! What an agent's hook asks: whether its agent may do something, which the agent then does itself.

use std::path::PathBuf;

use serde_json::Value;

use super::reviewed::{Opinion, opinion};
use super::{Ledger, Manner, Question, Refusal, Settled, settle};
use crate::audit::{Context, DecidedBy};
use crate::policy::Verdict;

/// How a hook's question is answered.
pub struct Hearing<'a> {
    /// How a person may be asked by us; None when nobody may.
    pub asks: Option<Manner>,
    /// The agent asks in its own dialogue what we would ask.
    pub dialogue: bool,
    /// Called before a person is asked by us.
    pub before_asking: &'a dyn Fn(),
    /// Where the session's answers and refusals are remembered; None without a home.
    pub ledger: Option<Ledger>,
    /// The folder of the records; None without a home.
    pub state: Option<PathBuf>,
    /// The folder for temporary files, where a record goes that finds no other place.
    pub temporary: PathBuf,
    /// Where the request comes from, for its record.
    pub context: Context,
}

/// What the agent may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It may; whether a person said so.
    Allowed {
        /// A person was asked by us, and said yes.
        answered: bool,
    },
    /// It is to ask its user.
    Asks {
        /// What a reviewer said that did not settle it.
        why: Option<String>,
    },
    /// It may not.
    Refused(Refusal),
}

/// What came of a question.
#[derive(Debug, Default)]
pub struct Heard {
    /// How it was settled; None where the agent asks.
    pub settled: Option<Settled>,
    /// What a reviewer said that did not settle it, for the record.
    pub review: Option<Value>,
    /// The same for who is asked.
    pub why: Option<String>,
}

impl Hearing<'_> {
    /// Settles a question: by asking, unless the agent does that.
    #[must_use]
    pub fn settle(&self, question: &Question<'_>) -> Heard {
        let asks = matches!(question.decision.verdict, Verdict::Ask | Verdict::Review);
        let (ledger, manner) = (self.ledger.as_ref(), self.asks.as_ref());
        let reviewed = question.decision.verdict == Verdict::Review
            && manner.is_some_and(|manner| manner.reviewer.is_some());
        if asks && (reviewed || !self.dialogue) {
            (self.before_asking)();
        }
        if asks && self.dialogue {
            let heard = if reviewed { alone(question, ledger, manner) } else { Heard::default() };
            if let (Some(ledger), Some(settled)) = (ledger, &heard.settled) {
                ledger.count(question.decision, settled);
            }
            return heard;
        }
        Heard { settled: Some(settle(question, ledger, manner)), ..Heard::default() }
    }
}

/// By the reviewer alone.
fn alone(question: &Question<'_>, ledger: Option<&Ledger>, manner: Option<&Manner>) -> Heard {
    match opinion(question, ledger, manner) {
        Opinion::Settled(settled) => Heard { settled: Some(settled), ..Heard::default() },
        Opinion::Asks(why, review) => Heard { settled: None, review, why },
    }
}

impl Outcome {
    /// From what was heard.
    #[must_use]
    pub fn of(heard: Heard) -> Self {
        match heard.settled {
            None => Self::Asks { why: heard.why },
            Some(Settled { outcome: Err(refusal), .. }) => Self::Refused(refusal),
            Some(Settled {
                by:
                    DecidedBy::Policy
                    | DecidedBy::Reviewer { .. }
                    | DecidedBy::Unreviewed { .. }
                    | DecidedBy::Classifier,
                ..
            }) => Self::Allowed { answered: false },
            Some(_) => Self::Allowed { answered: true },
        }
    }

    /// What the record says of how it was left to the agent, or why it is not done.
    ///
    /// # Errors
    /// For a refusal: why.
    pub fn closing(&self) -> Result<&'static str, &'static str> {
        match self {
            Self::Allowed { .. } => Ok("agent"),
            Self::Asks { .. } => Ok("agent's dialogue"),
            Self::Refused(refusal) => Err(refusal.why()),
        }
    }
}
