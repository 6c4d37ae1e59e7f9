//! What holds for every text on every machine. None of it is a time: slowness is found by the fuzzer.

use gsh::commands::{check, explain};
use gsh::decision::INTERNAL_ERROR;
use gsh::facts::path::Target;
use gsh::facts::{EffectKind, Facts};
use gsh::pipeline::{self, Checked};
use gsh::policy::{Policy, Verdict};
use gsh::report::Span;
use gsh::request::Request;

use super::input::Input;

/// Above this length a text is judged twice and not shown to a person or wrapped as well.
const SHORT: usize = 2048;

/// The most of each kind of fact that the counted budgets leave room for.
const MOST_FACTS: usize = 100_000;

/// Panics where an invariant is broken. Nothing of the text runs: it is read, and decided.
pub(crate) fn hold(input: &Input, policy: &Policy) {
    let (request, host) = (&input.request, &input.host);
    let first = pipeline::check(request, policy, host);
    assert_ne!(first.decision.reason, INTERNAL_ERROR, "deciding panicked");
    is_asked_where_it_is_not_understood(&first);
    spans_lie_in_the_text(request, &first);
    facts_are_bounded(&first.facts);

    let second = pipeline::check(request, policy, host);
    assert_eq!(answer(&first), answer(&second), "the same request has one answer");

    if request.text.len() <= SHORT {
        is_shown(request, &first, policy);
        wrapping_does_not_weaken(input, policy, &first);
    }
}

/// A part that is not understood, not explained or not located is never silent without a rule.
fn is_asked_where_it_is_not_understood(checked: &Checked) {
    let Checked { script, facts, decision } = checked;
    if decision.verdict >= Verdict::Ask {
        return;
    }
    assert!(script.problems.is_empty(), "silent about {:?}", script.problems);
    assert!(facts.problems.is_empty(), "silent about {:?}", facts.problems);
    assert!(decision.floor.is_none() && decision.not_understood.is_empty());
    for each in &facts.invocations {
        assert!(each.explained, "silent about {}", each.text());
    }
    for effect in &facts.effects {
        let unknown = matches!(&effect.kind, EffectKind::Write { target: Target::Unknown { .. }, .. });
        assert!(!unknown, "silent about {effect:?}");
    }
}

/// What is shown to a person is cut out of the text by these.
fn spans_lie_in_the_text(request: &Request, checked: &Checked) {
    let Checked { script, facts, decision } = checked;
    let is_inside = |span: Span| match std::str::from_utf8(&request.text) {
        Ok(text) => text.get(span.start..span.end).is_some(),
        Err(_) => request.text.get(span.start..span.end).is_some(),
    };
    let problems = script.problems.iter().chain(facts.problems.iter().map(|doubt| &doubt.problem));
    for problem in problems.chain(&decision.not_understood) {
        assert!(is_inside(problem.span), "{problem:?}");
    }
    for each in &facts.invocations {
        assert!(is_inside(each.span), "{} {:?}", each.text(), each.span);
    }
    for effect in &facts.effects {
        assert!(is_inside(effect.span), "{effect:?}");
    }
    for each in &decision.requests {
        assert!(is_inside(each.request.span), "{:?}", each.request);
    }
}

fn facts_are_bounded(facts: &Facts) {
    let counts = [
        facts.invocations.len(),
        facts.effects.len(),
        facts.problems.len(),
        facts.mentions.len(),
        facts.carried.len(),
    ];
    assert!(counts.iter().all(|count| *count <= MOST_FACTS), "{counts:?}");
}

fn answer(checked: &Checked) -> String {
    check::json(checked, 0).expect("an answer is JSON")
}

/// Making the texts for a person does not fail.
fn is_shown(request: &Request, checked: &Checked, policy: &Policy) {
    assert!(!check::text(checked, true).is_empty());
    assert!(!explain::text(checked, request.as_text(), policy).is_empty());
}

/// A text that was understood is judged no milder in a group of its own. A deny may become an ask: around
/// the text the reading may be lost.
fn wrapping_does_not_weaken(input: &Input, policy: &Policy, plain: &Checked) {
    if !plain.script.problems.is_empty() || plain.script.body.is_empty() {
        return;
    }
    let inner = input.request.as_text();
    for (head, tail) in [("{\n", "\n}"), ("(\n", "\n)"), ("if true; then\n", "\nfi")] {
        let text = format!("{head}{inner}{tail}").into_bytes();
        let wrapped = pipeline::check(&Request { text, ..input.request.clone() }, policy, &input.host);
        let least = plain.decision.verdict.min(Verdict::Ask);
        let now = wrapped.decision.verdict;
        assert!(now >= least, "in {head:?} it is {now:?}, alone {:?}", plain.decision.verdict);
    }
}
