//! A request with all that was found on the way to its decision.

use super::{Decision, failed};
use crate::facts::Facts;
use crate::policy::Mode;
use crate::syntax::Script;

/// A request, read and decided.
#[derive(Debug)]
pub struct Checked {
    /// The text, read.
    pub script: Script,
    /// What it would do.
    pub facts: Facts,
    /// What is to happen.
    pub decision: Decision,
}

impl Checked {
    /// Where deciding failed: nothing is known, and nothing may run.
    #[must_use]
    pub fn failed(mode: Mode) -> Self {
        Self { script: Script::default(), facts: Facts::default(), decision: failed(mode) }
    }
}
