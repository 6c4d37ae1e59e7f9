//! Facts and policy to a decision. The only maker of verdicts for a request.
#![forbid(clippy::disallowed_methods)]

pub mod answer;
mod checked;
pub mod decide;
pub mod grant;
mod mode;
pub mod requests;

pub use checked::Checked;
pub use decide::{Case, INTERNAL_ERROR, decide, failed};

use std::sync::Arc;

use crate::policy::{CapabilityRequest, Match, Mode, Subject, Verdict};
use crate::syntax::Problem;

/// What is to happen to a request, and all that led there.
#[derive(Debug, Clone)]
pub struct Decision {
    /// What is to happen.
    pub verdict: Verdict,
    /// The floor's entry that was hit.
    pub floor: Option<Arc<str>>,
    /// One sentence for the model and the person.
    pub reason: String,
    /// Every request with what was said of it.
    pub requests: Vec<Judged>,
    /// What was not understood.
    pub not_understood: Vec<Problem>,
    /// A knob that decided, by name.
    pub knob: Option<&'static str>,
    /// The mode it was decided in.
    pub mode: Mode,
    /// No mode and no grant may silence this ask.
    pub firm: bool,
    /// "Always" patterns for the asking parts; empty when none may be offered.
    pub suggestions: Vec<String>,
    /// Fully understood, and only reads.
    pub reads_only: bool,
    /// An answer may outlive the call: every part that asks is understood, and none is protected, takes
    /// other rights or loses a whole tree.
    pub lasting: bool,
}

impl Decision {
    /// A verdict with its reason and nothing else.
    pub(crate) fn bare(verdict: Verdict, reason: &str, mode: Mode) -> Self {
        Self {
            verdict,
            floor: None,
            reason: reason.to_owned(),
            requests: Vec::new(),
            not_understood: Vec::new(),
            knob: None,
            mode,
            firm: false,
            suggestions: Vec::new(),
            reads_only: false,
            lasting: false,
        }
    }

    /// What to do instead of what is asked about or refused, each once.
    #[must_use]
    pub fn preferred(&self) -> Vec<&'static str> {
        let mut found = Vec::new();
        for each in self.requests.iter().filter(|each| each.verdict != Verdict::Allow) {
            if !each.request.prefer.is_empty() && !found.contains(&each.request.prefer) {
                found.push(each.request.prefer);
            }
        }
        found
    }
}

/// One request with what the policy said of it.
#[derive(Debug, Clone)]
pub struct Judged {
    /// What was asked.
    pub request: CapabilityRequest,
    /// What the rules said.
    pub matched: Match,
    /// What holds after the mode.
    pub verdict: Verdict,
}

impl Judged {
    /// Whether a person is told of it: a text that is only looked at by rules that name it is worth a
    /// word when one of them answered.
    #[must_use]
    pub fn is_told(&self) -> bool {
        self.matched.rule.is_some() || !matches!(self.request.subject, Subject::Mention(_))
    }
}
