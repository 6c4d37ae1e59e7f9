//! Everything behind a question: each request with its rule, what runs, what was not understood.

use super::layout::{Line, Mark};
use super::{Question, sanitize};
use crate::decision::Judged;
use crate::facts::{Doubt, Invocation};
use crate::policy::{Layer, Subject, Verdict};

/// The details of a question.
pub(super) fn details(question: &Question<'_>) -> Vec<Line> {
    let decision = question.decision;
    let mut lines = Vec::new();
    for judged in decision.requests.iter().filter(|judged| judged.is_told()) {
        lines.extend(of_request(judged));
    }
    lines.extend(question.facts.problems.iter().map(|doubt| of_doubt(doubt, question.request.as_text())));
    lines.push(Line::plain(format!("mode: {}", decision.mode.word())));
    lines.extend(decision.knob.map(|knob| Line::plain(format!("setting: {knob}"))));
    if decision.firm {
        lines.push(Line::plain("no mode and no kept answer silences this question"));
    }
    lines.extend(question.facts.invocations.iter().map(of_invocation));
    lines.push(Line::plain(format!("reason: {}", sanitize::line(&decision.reason))));
    lines
}

fn of_request(judged: &Judged) -> Vec<Line> {
    let request = &judged.request;
    let mark = if judged.verdict == Verdict::Allow { Mark::Plain } else { Mark::Asks };
    let head = format!("{} {}: {}", judged.verdict.word(), request.capability.word(), request.display);
    let mut lines = vec![Line::new(mark, sanitize::line(&head))];
    let mut add = |text: String| lines.push(Line::plain(format!("  {}", sanitize::line(&text))));
    match &request.subject {
        Subject::Path(forms) => {
            if let [_, real] = forms.as_slice() {
                add(format!("real path: {real}"));
            }
        }
        Subject::Command { written, inner, .. } => {
            add(format!("command: {written}"));
            inner.iter().for_each(|text| add(format!("inside it: {text}")));
        }
        Subject::Mention(text) => add(format!("text: {text}")),
    }
    add(format!("rule: {}", rule(judged)));
    let own = judged.matched.rule.as_ref().and_then(|rule| rule.reason.as_deref());
    if let Some(why) = own.or(judged.matched.reason.as_deref()) {
        add(format!("why: {why}"));
    }
    if judged.matched.verdict != judged.verdict {
        add(format!(
            "the rules say {}, the mode makes it {}",
            judged.matched.verdict.word(),
            judged.verdict.word()
        ));
    }
    if judged.matched.protected {
        add("a protected path: it asks in every mode".to_owned());
    }
    lines
}

/// The rule that decided, and where it stands.
pub(super) fn rule(judged: &Judged) -> String {
    let Some(rule) = &judged.matched.rule else {
        return "the default".to_owned();
    };
    let place = match (&rule.file, rule.layer) {
        (Some(file), layer) => format!("{file}:{}, {}", rule.line, layer.word()),
        (None, Layer::Builtin) => "built in".to_owned(),
        (None, layer) => layer.word().to_owned(),
    };
    format!("{} \"{}\" ({place})", rule.capability, rule.pattern)
}

fn of_doubt(doubt: &Doubt, text: &str) -> Line {
    let problem = &doubt.problem;
    let before = text.get(..problem.span.start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let detail = sanitize::line(&problem.detail);
    let detail = if detail.is_empty() { detail } else { format!(": {detail}") };
    let grave = if doubt.grave { "; it may hide anything" } else { "" };
    let cause = problem.cause.word();
    Line::new(Mark::Asks, format!("not understood ({cause}){detail}, line {line}, column {column}{grave}"))
}

fn of_invocation(invocation: &Invocation) -> Line {
    let known = if invocation.explained { "fully explained" } else { "not fully explained" };
    let place = invocation.cwd.as_deref().unwrap_or("a folder that is not known");
    Line::plain(format!(
        "runs: {} in {} ({known})",
        sanitize::line(&invocation.text()),
        sanitize::line(place)
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::shown;
    use super::*;

    #[test]
    fn nothing_behind_a_question_is_left_out() {
        let table: [(&str, &[&str]); 5] = [
            (
                "frobnicate x",
                &[
                    "ask process.execute: Run frobnicate x",
                    "command: frobnicate x",
                    "rule: process.execute \"*\" (built in)",
                    "why: what this program does is not fully explained",
                    "mode: default",
                    "runs: frobnicate x in /home/dev/proj (not fully explained)",
                    "not understood (unknown-program): gsh has no table for frobnicate, line 1, column 1",
                ],
            ),
            // A cause that says it all has no more to say.
            ("make x", &["not understood (opaque-code), line 1, column 1"]),
            ("ls\nfrobnicate \\\n $(cat x)", &["line 2, column 1", "line 3, column 2"]),
            ("echo x > .git/config", &["a protected path"]),
            ("timeout 5 frobnicate x", &["command: timeout 5 frobnicate x", "inside it: frobnicate x"]),
        ];
        for (text, expected) in table {
            let lines: Vec<String> = shown(text, details).into_iter().map(|line| line.text).collect();
            for part in expected {
                assert!(lines.iter().any(|line| line.contains(part)), "{part:?} for {text:?} in {lines:#?}");
            }
        }
    }
}
