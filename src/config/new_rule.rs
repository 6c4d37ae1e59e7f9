//! A rule that is to be written into a file: by `gsh rules add`, by an answer "always", by an import.

use crate::policy::{Verdict, When};

/// A rule as a person would write it, without a place yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRule {
    /// Which capabilities; `*` is any run of characters.
    pub capability: String,
    /// Which subjects.
    pub pattern: String,
    /// What it says.
    pub action: Verdict,
    /// It also covers requests that destroy.
    pub destroys: bool,
    /// It lifts an ask and never a deny: an answer wrote it, not a person's own hand.
    pub lifts: bool,
    /// Why, shown when it decides.
    pub reason: Option<String>,
    /// Subjects it must match, checked when the file loads.
    pub matches: Vec<String>,
    /// Subjects it must not match.
    pub not_matches: Vec<String>,
    /// The last day it holds, `YYYY-MM-DD`.
    pub expires: Option<String>,
    /// When it counts.
    pub when: When,
}

impl NewRule {
    /// A rule that says one thing and nothing else.
    #[must_use]
    pub fn new(capability: &str, pattern: &str, action: Verdict) -> Self {
        Self {
            capability: capability.to_owned(),
            pattern: pattern.to_owned(),
            action,
            destroys: false,
            lifts: false,
            reason: None,
            matches: vec![],
            not_matches: vec![],
            expires: None,
            when: When::default(),
        }
    }
}
