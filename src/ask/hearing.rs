//! What an agent's hook asks: whether its agent may do something, which the agent then does itself.

use std::path::PathBuf;

use super::{Ledger, Manner, Question, Refusal, Settled, reviewed, settle};
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
    Asks,
    /// It may not.
    Refused(Refusal),
}

impl Hearing<'_> {
    /// Settles a question: by asking, unless the agent does that.
    #[must_use]
    pub fn settle(&self, question: &Question<'_>) -> Option<Settled> {
        let asks = matches!(question.decision.verdict, Verdict::Ask | Verdict::Review);
        let (ledger, manner) = (self.ledger.as_ref(), self.asks.as_ref());
        let reviewed = question.decision.verdict == Verdict::Review
            && manner.is_some_and(|manner| manner.reviewer.is_some());
        if asks && (reviewed || !self.dialogue) {
            (self.before_asking)();
        }
        if asks && self.dialogue {
            let settled = if reviewed { reviewed::settle_alone(question, ledger, manner) } else { None };
            if let (Some(ledger), Some(settled)) = (ledger, &settled) {
                ledger.count(question.decision, &settled.outcome);
            }
            return settled;
        }
        Some(settle(question, ledger, manner))
    }
}

impl Outcome {
    /// From what was settled; None where the agent asks.
    #[must_use]
    pub fn of(settled: Option<Settled>) -> Self {
        match settled {
            None => Self::Asks,
            Some(Settled { outcome: Err(refusal), .. }) => Self::Refused(refusal),
            Some(Settled {
                by: DecidedBy::Policy | DecidedBy::Reviewer { .. } | DecidedBy::Unreviewed { .. },
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
            Self::Asks => Ok("agent's dialogue"),
            Self::Refused(refusal) => Err(refusal.why()),
        }
    }
}
