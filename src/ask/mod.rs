//! A person's answer, from a terminal that is known to be a person's.

pub mod keys;
pub mod ledger;
pub mod panel;
pub mod sanitize;
pub mod terminal;

use std::path::Path;

use thiserror::Error;

pub use self::ledger::Ledger;
pub use self::panel::Panel;
use crate::audit::DecidedBy;
use crate::decision::Decision;
use crate::policy::Verdict;
use crate::request::Request;

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This text, here, this once.
    Once,
    /// No.
    Denied {
        /// Why, in the person's words.
        reason: Option<String>,
    },
}

/// Why nobody could be asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// The process has no terminal.
    #[error("there is no terminal to ask at")]
    NoTerminal,
    /// Questions were switched off (`--non-interactive`).
    #[error("questions are switched off")]
    NonInteractive,
    /// Somebody else is in front of the terminal: its keys are not meant for us.
    #[error("gsh runs in the background of this terminal")]
    Background,
    /// The terminal may be an agent's, and no person vouched for its kind: the word to do so.
    #[error("the terminal may not be a person's: {0} holds it")]
    NotAPersons(String),
    /// A signal that ends gsh came while the question was open.
    #[error("question abandoned (signal {0})")]
    Abandoned(i32),
    /// The terminal went away or failed.
    #[error("the terminal failed: {0}")]
    Failed(String),
}

impl From<std::io::Error> for Unavailable {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Who refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Rules, floor or mode.
    Policy,
    /// A person, with their reason.
    Person(Option<String>),
    /// A person would have had to say, and none could be asked.
    NobodyToAsk(Unavailable),
}

impl Refusal {
    /// Why nothing ran, for the closing record.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self {
            Self::NobodyToAsk(Unavailable::Abandoned(_)) => "question abandoned",
            _ => "refused",
        }
    }
}

/// What a decision comes to when whoever may be asked was asked.
#[derive(Debug)]
pub struct Settled {
    /// Who made it final.
    pub by: DecidedBy,
    /// The answer that lets it run (none was needed for an allow), or who refused.
    pub outcome: Result<Option<Answer>, Refusal>,
}

/// Asks a person where the decision says so. Without a `manner` nobody may be asked.
#[must_use]
pub fn settle(request: &Request, decision: &Decision, manner: Option<&Manner>) -> Settled {
    let (by, outcome) = match decision.verdict {
        Verdict::Allow => (DecidedBy::Policy, Ok(None)),
        Verdict::Deny => (DecidedBy::Policy, Err(Refusal::Policy)),
        Verdict::Ask | Verdict::Review => {
            let answer = manner.ok_or(Unavailable::NonInteractive);
            match answer.and_then(|manner| ask(&Panel::new(request, decision), manner)) {
                Ok(Answer::Once) => (DecidedBy::Person, Ok(Some(Answer::Once))),
                Ok(Answer::Denied { reason }) => (DecidedBy::Person, Err(Refusal::Person(reason))),
                Err(why) => (DecidedBy::Nobody { why: why.to_string() }, Err(Refusal::NobodyToAsk(why))),
            }
        }
    };
    Settled { by, outcome }
}

/// How to ask (`[ask]`).
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Plain lines and a typed word, for screen readers.
    pub plain: bool,
    /// Kinds of terminals, and absolute paths of programs holding one, that the user vouched for.
    pub terminals: Vec<String>,
}

/// Asks, if there is a person's terminal.
///
/// # Errors
/// When nobody could be asked.
pub fn ask(panel: &Panel, manner: &Manner) -> Result<Answer, Unavailable> {
    let place = terminal::persons(&manner.terminals)?;
    ask_at(&place, panel, manner.plain)
}

fn ask_at(place: &Path, panel: &Panel, plain: bool) -> Result<Answer, Unavailable> {
    let terminal = crate::sys::tty::open(place)?;
    if plain { keys::ask_plainly(&terminal, panel) } else { keys::ask(&terminal, panel) }
}
