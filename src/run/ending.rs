//! What a run needs, and how it can end.

use std::path::PathBuf;

use super::approved::Plan;
use super::{Outcome, RunError};
use crate::ask::{Ledger, Manner, Refusal};
use crate::audit::{Closing, Context, LogError};
use crate::decision::Decision;
use crate::policy::Verdict;
use crate::syntax::Script;

/// What running needs beside the decision.
#[derive(Debug)]
pub struct Means {
    /// How it would be run.
    pub plan: Plan,
    /// How a person may be asked; None when nobody may.
    pub asks: Option<Manner>,
    /// Where the session's answers and refusals are remembered; None without a home.
    pub ledger: Option<Ledger>,
    /// The folder of the records; None without a home.
    pub state: Option<PathBuf>,
    /// The folder for temporary files, where a record goes that finds no other place.
    pub temporary: PathBuf,
    /// Where the request comes from, for its record.
    pub context: Context,
    /// Who runs what may run.
    pub runner: Runner,
}

/// Who runs what may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Runner {
    /// gsh.
    #[default]
    Own,
    /// The caller's own shell.
    Caller,
    /// The caller's own shell, and only what is understood and allowed: of the rest nothing is asked, said or
    /// recorded yet.
    CallerIfPlain,
}

impl Runner {
    /// Nothing where the story goes on.
    ///
    /// # Errors
    /// Where the caller has to look first: at what.
    pub fn looked(self, script: &Script, decision: &Decision) -> Result<(), Ending> {
        match self {
            Self::Own | Self::Caller => Ok(()),
            Self::CallerIfPlain if !script.problems.is_empty() => Err(Ending::Unclear),
            Self::CallerIfPlain if decision.verdict > Verdict::Allow => Err(Ending::Unsaid),
            Self::CallerIfPlain => Ok(()),
        }
    }
}

/// What the record says where the caller's own shell runs it.
pub const LEFT: Closing = Closing::NotObserved { how: "the caller's own shell" };

/// How it ended.
#[derive(Debug)]
pub enum Ending {
    /// It ran.
    Ran(Outcome),
    /// It may run, and the caller's own shell runs it.
    Left,
    /// Nothing came of it yet: the text may not be whole.
    Unclear,
    /// Nothing came of it yet: there is something to show or to ask.
    Unsaid,
    /// It was not to run.
    Refused(Box<Decision>, Refusal),
    /// gsh itself could not do its part; nothing ran, or its end is not known.
    Failed(Failure),
}

/// What gsh could not do.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Nothing runs without a record.
    #[error("nothing ran, since its record could not be written: {0}")]
    Record(#[from] LogError),
    /// Starting or waiting failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl From<LogError> for Ending {
    fn from(error: LogError) -> Self {
        Self::Failed(error.into())
    }
}

impl From<RunError> for Ending {
    fn from(error: RunError) -> Self {
        Self::Failed(error.into())
    }
}
