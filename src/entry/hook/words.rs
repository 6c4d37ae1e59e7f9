//! The words of a reply: one or two plain lines, what, why, and what to do instead.

use crate::ask::{Refusal, Unavailable, sanitize};
use crate::decision::{Decision, INTERNAL_ERROR, Judged};
use crate::policy::{Layer, Mode, Verdict};

/// How much of a command a reply repeats.
const SHOWN: usize = 160;

/// Why it may.
#[must_use]
pub(super) fn allowed(decision: &Decision) -> String {
    format!("gsh: {}", line(&decision.reason))
}

/// What the agent's user is asked.
#[must_use]
pub(super) fn asking(what: &str, decision: &Decision, reviewer: Option<&str>) -> String {
    let what = line(what);
    let reviewer = reviewer.map(|said| format!(" ({})", line(said))).unwrap_or_default();
    format!("gsh asks about {what}: {}{reviewer}", why(&what, decision))
}

/// What is refused, by whom, why, and what to do instead.
#[must_use]
pub(super) fn refused(what: &str, decision: &Decision, by: &Refusal, damage: Option<&str>) -> String {
    let what = line(what);
    if decision.floor.is_some() {
        return format!(
            "gsh: refused: {what}: {}. No rule, mode or approval can allow this.\nDo not look for another way to \
             the same effect: choose a narrower target, or ask the user to do it themselves.",
            line(&decision.reason)
        );
    }
    match by {
        Refusal::Policy => by_policy(&what, decision),
        Refusal::Person(Some(reason)) if !reason.trim().is_empty() => {
            format!("gsh: the user declined: {what}: {}\nAdapt your approach to that.", line(reason))
        }
        Refusal::Person(_) => {
            format!("gsh: the user declined: {what}\nGo on without it, or propose an alternative.")
        }
        Refusal::Reviewer(reason) => format!(
            "gsh: refused by the reviewer: {what}: {}\nDo not retry it or reach the same effect another way: take a \
             safer approach, or ask the user.",
            line(reason)
        ),
        Refusal::Unreviewed(failed) => format!(
            "gsh: not done: {what} needs a review, and the reviewer gave no answer ({}: {}). Nothing was found \
             against it.\nDo a part that needs no review, or ask the user; on_review_unavailable = \"ask\" would \
             have them asked.",
            failed.cause.word(),
            line(&failed.detail)
        ),
        Refusal::NobodyToAsk(nobody) => unanswered(&what, decision, nobody, damage),
    }
}

/// What could not be decided.
#[must_use]
pub(super) fn failed(why: &str) -> String {
    format!(
        "gsh: refused, since it could not be decided: {}.\nDo not retry it as it is; tell the user what gsh said.",
        line(why)
    )
}

fn by_policy(what: &str, decision: &Decision) -> String {
    if decision.reason == INTERNAL_ERROR {
        return failed("internal error");
    }
    let session = decisive(decision)
        .and_then(|judged| judged.matched.rule.as_ref())
        .is_some_and(|rule| rule.layer == Layer::Session && rule.action == Verdict::Deny);
    if session {
        return format!("gsh: the user declined this for the whole session: {what}\nGo on without it.");
    }
    let mode = match decision.mode {
        Mode::DontAsk if asks(decision) => " Mode dont-ask refuses what would ask.",
        Mode::Plan if asks(decision) => " Mode plan refuses it.",
        _ => "",
    };
    format!(
        "gsh: refused by policy: {what}: {}.{mode}\nDo not retry it or reach the same effect another way: {}.",
        why(what, decision),
        instead(decision)
    )
}

/// Whether no rule denied, so that a mode did.
fn asks(decision: &Decision) -> bool {
    !decision.requests.iter().any(|judged| judged.matched.verdict == Verdict::Deny)
}

fn unanswered(what: &str, decision: &Decision, nobody: &Unavailable, damage: Option<&str>) -> String {
    let first = format!("gsh: not run: {what} needs the user's approval: {}.", why(what, decision));
    let damage =
        damage.map(|place| format!(" {} is damaged, and the user has to put it right first.", line(place)));
    let then = match nobody {
        Unavailable::Kept { question, waited, .. } => format!(
            "{} It is pending as {question}: the user can say `gsh approve {question}` in a terminal of their own, \
             and then the same again passes once. Until then go on without it.",
            match waited {
                Some(seconds) => format!("Nobody answered within {seconds} s."),
                None => "Nobody was there to ask.".to_owned(),
            }
        ),
        Unavailable::Changed => {
            "What it runs changed while it was asked about: try it again as it is now.".to_owned()
        }
        other => format!(
            "Nobody could be asked ({}): ask the user to allow it, or go on without it.",
            line(&other.to_string())
        ),
    };
    format!("{first}{}\n{then}", damage.unwrap_or_default())
}

/// The reason, with the rule's file and line where a file's rule decided.
fn why(what: &str, decision: &Decision) -> String {
    let reason = line(&decision.reason);
    // What is asked about stands before it already.
    let display = decisive(decision).map(|judged| format!("{}: ", line(&judged.request.display)));
    let known = display.filter(|display| display.ends_with(&format!("{what}: ")));
    let reason = known.and_then(|known| reason.strip_prefix(&known)).unwrap_or(&reason).trim_end_matches('.');
    let rule = decisive(decision).and_then(|judged| judged.matched.rule.as_deref());
    match rule.and_then(|rule| Some((rule, rule.file.as_deref()?))) {
        Some((rule, file)) => {
            format!("{reason} (rule \"{}\" at {}:{})", line(&rule.pattern), line(file), rule.line)
        }
        None => reason.to_owned(),
    }
}

fn instead(decision: &Decision) -> String {
    match decision.preferred().first() {
        Some(better) => format!("{}, or ask the user", line(better)),
        None => "take a different approach, or ask the user to change that".to_owned(),
    }
}

/// The first of the strictest requests.
fn decisive(decision: &Decision) -> Option<&Judged> {
    let rank = |judged: &Judged| (judged.verdict, judged.matched.verdict);
    let strictest = decision.requests.iter().map(rank).max()?;
    decision.requests.iter().find(|judged| rank(judged) == strictest && judged.verdict > Verdict::Allow)
}

/// One line, with nothing in it that moves a cursor or hides, and not too long.
fn line(text: &str) -> String {
    let text = sanitize::lines(text.as_bytes()).join("\\n");
    let mut letters = text.chars();
    let head: String = letters.by_ref().take(SHOWN).collect();
    if letters.next().is_some() { format!("{head}…") } else { head }
}
