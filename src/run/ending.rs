//! What a run needs, and how it can end.

use std::path::PathBuf;

use super::approved::Plan;
use super::{Outcome, RunError};
use crate::ask::{Ledger, Manner, Refusal};
use crate::audit::{Context, LogError};
use crate::decision::Decision;

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
    /// The caller's own shell runs what may run.
    pub elsewhere: bool,
}

/// How it ended.
#[derive(Debug)]
pub enum Ending {
    /// It ran.
    Ran(Outcome),
    /// It may run, and the caller's own shell runs it.
    Left,
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
