//! The story: from a text to its end.

use crate::decision::{Case, Decision, decide};
use crate::facts::{Facts, gather};
use crate::host::Host;

use crate::policy::{Policy, plain};
use crate::request::Request;
use crate::syntax::{self, Limits, Script};

/// A request with all that was found on the way to its decision.
#[derive(Debug)]
pub struct Checked {
    /// The text, read.
    pub script: Script,
    /// What it would do.
    pub facts: Facts,
    /// What is to happen.
    pub decision: Decision,
}

/// Decides, and runs nothing.
#[must_use]
pub fn check(request: &Request, policy: &Policy, host: &dyn Host) -> Checked {
    let script = syntax::parse(&request.text, &Limits::default());
    let facts = gather(&script, request, host);
    let plain = if script.problems.is_empty() { Vec::new() } else { plain::hits(request, host) };
    let text = std::str::from_utf8(&request.text).unwrap_or_default();
    let decision = decide(Case { text, facts: &facts, plain: &plain, policy }, host);
    Checked { script, facts, decision }
}
