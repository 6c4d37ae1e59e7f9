//! What an answer leaves behind, as rules: they lift a question and never a refusal, and each is for one
//! capability.

use super::{Decision, Judged};
use crate::policy::pattern::{self, escape};
use crate::policy::{Destroys, Layer, Policy, Rule, Subject, Verdict};

/// Whether an answer to these requests may outlive the call.
pub(super) fn may_last(judged: &[Judged], verdict: Verdict, policy: &Policy) -> bool {
    // What may only tighten asks on, whatever was answered.
    let held = |rule: &Rule| rule.layer == Layer::Managed || policy.is_untrusted(rule);
    let mut asking = judged.iter().filter(|each| each.verdict > Verdict::Allow).peekable();
    matches!(verdict, Verdict::Ask | Verdict::Review)
        && asking.peek().is_some()
        && asking.all(|each| {
            !each.matched.protected
                && !each.request.escalates
                && each.request.destroys != Some(Destroys::Recursive)
                && !each.matched.rule.as_ref().is_some_and(|rule| held(rule))
        })
}

/// The requests that ask.
pub fn asking(decision: &Decision) -> impl Iterator<Item = &Judged> {
    decision.requests.iter().filter(|each| each.verdict > Verdict::Allow)
}

/// The rules that let exactly the asking parts of a decision pass, for a grant. None where an answer must
/// not outlive the call.
#[must_use]
pub fn exact(decision: &Decision) -> Option<Vec<Rule>> {
    decision.lasting.then(|| asking(decision).flat_map(|each| of(each, Verdict::Allow)).collect())
}

/// Whether rules of answers cover every asking part of a decision.
#[must_use]
pub fn covers(rules: &[Rule], decision: &Decision) -> bool {
    asking(decision).all(|each| {
        let covered = |text: &str| {
            rules.iter().any(|rule| {
                rule.action == Verdict::Allow
                    && rule.capability == each.request.capability.word()
                    && (rule.destroys || each.request.destroys.is_none())
                    && rule.may_cover(&each.request)
                    && pattern::matches(&rule.pattern, text)
            })
        };
        texts(&each.request.subject).into_iter().all(covered)
    })
}

/// The rules that refuse what a decision asks about.
#[must_use]
pub fn refusing(decision: &Decision) -> Vec<Rule> {
    asking(decision).flat_map(|each| of(each, Verdict::Deny)).collect()
}

/// The programs that a decision asks about, by the first words of their commands.
#[must_use]
pub fn programs(decision: &Decision) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for each in asking(decision) {
        for text in texts(&each.request.subject) {
            let program = text.split(' ').next().unwrap_or_default().to_owned();
            if !matches!(each.request.subject, Subject::Path(_)) && !found.contains(&program) {
                found.push(program);
            }
        }
    }
    found
}

fn of(each: &Judged, action: Verdict) -> Vec<Rule> {
    let capability = each.request.capability.word();
    let lifts = action == Verdict::Allow;
    let code = if lifts { each.request.code.clone() } else { Vec::new() };
    let make = |text: &str| Rule {
        within: each.request.directory.clone(),
        destroys: each.request.destroys.is_some(),
        code: code.clone(),
        lifts,
        ..Rule::new(Layer::Session, capability, &escape(text), action)
    };
    texts(&each.request.subject).into_iter().map(make).collect()
}

/// The texts that rules must match for the whole subject to be covered.
fn texts(subject: &Subject) -> Vec<&str> {
    match subject {
        Subject::Path(forms) => forms.iter().map(String::as_str).collect(),
        Subject::Command { written, inner, allow_needs_all: true } => {
            std::iter::once(written).chain(inner).map(String::as_str).collect()
        }
        Subject::Command { written, .. } => vec![written],
        Subject::Mention(text) => vec![text],
    }
}
