//! A decision as data: what `check --json`, `check --batch` and records print. Kept stable.

use serde::Serialize;

use super::Judged;
use crate::facts::{Facts, Invocation};
use crate::policy::{Capability, Rule, Subject, Verdict};
use crate::report::Span;
use crate::syntax::{Cause, Problem};

/// The answer to one request.
#[derive(Debug, Serialize)]
pub struct Answer<'a> {
    /// What is to happen.
    pub verdict: Verdict,
    /// The floor's entry.
    pub floor: Option<&'a str>,
    /// Why, in one sentence.
    pub reason: &'a str,
    /// What the command asks for.
    pub requests: Vec<Requested<'a>>,
    /// What it runs.
    pub invocations: Vec<Invoked>,
    /// What could not be told.
    pub not_understood: Vec<NotUnderstood>,
    /// "Always" patterns.
    pub suggestions: &'a [String],
}

/// One request with the rule that decided it.
#[derive(Debug, Serialize)]
pub struct Requested<'a> {
    /// What it asks for.
    pub capability: Capability,
    /// The path or command text; the real path where it differs from the one written.
    pub subject: &'a str,
    /// What holds.
    pub verdict: Verdict,
    /// The rule that decided; null for a builtin default that is no rule.
    pub rule: Option<RuleOrigin<'a>>,
}

/// Where a rule stands.
#[derive(Debug, Serialize)]
pub struct RuleOrigin<'a> {
    /// Its layer.
    pub layer: crate::policy::Layer,
    /// Its file; null for builtin rules.
    pub file: Option<&'a str>,
    /// Its line; 0 for builtin rules.
    pub line: usize,
    /// Its pattern.
    pub pattern: &'a str,
}

/// One program with its words.
#[derive(Debug, Serialize)]
pub struct Invoked {
    /// Its words; an unknown stretch is `…`.
    pub argv: Vec<String>,
    /// The directory it runs in; null when that cannot be told.
    pub cwd: Option<String>,
    /// Every word and the directory are known.
    pub certain: bool,
}

/// What could not be told.
#[derive(Debug, Serialize)]
pub struct NotUnderstood {
    /// Why.
    pub cause: Cause,
    /// Where.
    pub span: Span,
}

impl<'a> Answer<'a> {
    /// The answer that a decision is.
    #[must_use]
    pub fn new(decision: &'a super::Decision, facts: &Facts) -> Self {
        Self {
            verdict: decision.verdict,
            floor: decision.floor.as_deref(),
            reason: &decision.reason,
            requests: requested(&decision.requests),
            invocations: facts.invocations.iter().map(invoked).collect(),
            not_understood: decision.not_understood.iter().map(not_understood).collect(),
            suggestions: &decision.suggestions,
        }
    }
}

/// The requests that a person is told of: mentions only where a rule answered them.
pub fn requested(judged: &[Judged]) -> Vec<Requested<'_>> {
    judged
        .iter()
        .filter(|each| each.is_told())
        .map(|each| Requested {
            capability: each.request.capability,
            subject: subject(&each.request.subject),
            verdict: each.verdict,
            rule: each.matched.rule.as_deref().map(origin),
        })
        .collect()
}

fn origin(rule: &Rule) -> RuleOrigin<'_> {
    RuleOrigin { layer: rule.layer, file: rule.file.as_deref(), line: rule.line, pattern: &rule.pattern }
}

/// The text of a subject that is shown.
#[must_use]
pub fn subject(subject: &Subject) -> &str {
    match subject {
        Subject::Path(forms) => forms.last().map_or("", String::as_str),
        Subject::Command { written, .. } => written,
        Subject::Mention(text) => text,
    }
}

fn invoked(invocation: &Invocation) -> Invoked {
    Invoked {
        argv: invocation.words.iter().map(crate::facts::arg::Arg::display).collect(),
        cwd: invocation.cwd.clone(),
        certain: invocation.certain() && invocation.cwd.is_some(),
    }
}

fn not_understood(problem: &Problem) -> NotUnderstood {
    NotUnderstood { cause: problem.cause, span: problem.span }
}
