//! The verdict `review`: a reviewer's answer, or what becomes of it where there is none.

use super::rival::RacingReview;
use super::sanitize::line;
use super::{
    Answer, DecidedBy, Ledger, Manner, Question, Refusal, Settled, Unavailable, by_dialogue, by_person,
};
use crate::policy::{Mode, Verdict};
use crate::review::{Failed, Judgement, Look, Matter, Reviewed, Reviewer};

/// What a reviewer makes of it.
pub(super) enum Opinion {
    /// It is settled.
    Settled(Settled),
    /// A person is to say, and why; with what the reviewer said, if it was asked.
    Asks(Option<String>, Option<serde_json::Value>),
}

/// Settles it: by the reviewer, if it can, else by a person.
pub(super) fn settle(question: &Question<'_>, ledger: Option<&Ledger>, manner: Option<&Manner>) -> Settled {
    if let Some(settled) = by_dialogue(question, ledger) {
        return settled;
    }
    match opinion(question, ledger, manner) {
        Opinion::Settled(settled) => settled,
        Opinion::Asks(why, review) => {
            let mut decision = question.decision.clone();
            if let Some(why) = &why {
                decision.reason = format!("{why}; {}", decision.reason);
            }
            let settled = by_person(&Question { decision: &decision, ..*question }, ledger, manner, None);
            // Whoever is asked sees it with the question.
            if let (Some(why), Err(Refusal::NobodyToAsk(_))) = (why, &settled.outcome) {
                eprintln!("gsh: {}", line(&why));
            }
            after(review, settled)
        }
    }
}

/// What the reviewer alone makes of it.
pub(super) fn opinion(question: &Question<'_>, ledger: Option<&Ledger>, manner: Option<&Manner>) -> Opinion {
    let decision = question.decision;
    let reviewer = manner.and_then(|manner| manner.reviewer.as_ref());
    // What no mode may silence no reviewer may either.
    let Some(reviewer) = reviewer.filter(|_| decision.verdict == Verdict::Review && !decision.firm) else {
        return asks(decision.mode, None, None);
    };
    let memory = ledger.map(|ledger| &ledger.memory);
    if reviewer.rests(memory) {
        let many = reviewer.rests_after;
        let why = format!("{many} refusals in a row, so a person answers and no reviewer");
        return asks(decision.mode, Some(why), None);
    }
    let Question { request, facts, record, .. } = *question;
    let matter = Matter { request, decision, facts, record };
    let look = reviewer.look(matter, memory);
    let opinion = if !look.is_remembered() && look.is_sped(memory) {
        Opinion::Settled(Settled::new(DecidedBy::Classifier, Ok(Some(Answer::Once))))
    } else {
        ask(question, (ledger, manner), reviewer, look)
    };
    reviewer.score_later(&matter, opinion.word());
    opinion
}

/// Asks the reviewer, and at the same time a person where that is wanted and one sits here.
fn ask(
    question: &Question<'_>,
    (ledger, manner): (Option<&Ledger>, Option<&Manner>),
    reviewer: &Reviewer,
    look: Look<'_>,
) -> Opinion {
    let mode = question.decision.mode;
    let races = reviewer.set.race && !look.is_remembered() && mode != Mode::DontAsk;
    let begun = look.begin();
    if !races || !manner.is_some_and(Manner::has_person) {
        return weigh(reviewer, mode, begun.finish());
    }
    let rival = RacingReview::new(reviewer, mode, begun);
    let settled = by_person(question, ledger, manner, Some(&rival));
    let reviewed = rival.into_reviewed(|| match &settled.outcome {
        Err(Refusal::NobodyToAsk(Unavailable::Abandoned(_))) => Some("the question was abandoned"),
        Err(Refusal::NobodyToAsk(why)) if why.leaves_elsewhere() => None,
        _ => Some("a person answered"),
    });
    let Some(reviewed) = reviewed else { return Opinion::Settled(settled) };
    match &settled.outcome {
        Err(Refusal::NobodyToAsk(Unavailable::Overtaken)) => weigh(reviewer, mode, reviewed),
        // There was no question here after all.
        Err(Refusal::NobodyToAsk(why)) if why.leaves_elsewhere() => weigh(reviewer, mode, reviewed),
        _ => Opinion::Settled(after(Some(reviewed.told()), settled)),
    }
}

/// What a review comes to.
pub(super) fn weigh(reviewer: &Reviewer, mode: Mode, reviewed: Reviewed) -> Opinion {
    let review = reviewed.told();
    match reviewed.outcome {
        Ok(judged) if !judged.allows => {
            Opinion::Settled(refused(DecidedBy::Reviewer { review }, Refusal::Reviewer(said(&judged))))
        }
        Ok(judged) if judged.risk > reviewer.set.max_allow_risk => {
            let most = reviewer.set.max_allow_risk.word();
            let why =
                format!("the reviewer would allow it, yet above max_allow_risk ({most}): {}", said(&judged));
            asks(mode, Some(why), Some(review))
        }
        Ok(_) => Opinion::Settled(Settled::new(DecidedBy::Reviewer { review }, Ok(Some(Answer::Once)))),
        Err(failed) => unavailable(reviewer, mode, (failed, review)),
    }
}

/// A person is to say; in the mode that asks nobody it is refused.
fn asks(mode: Mode, why: Option<String>, review: Option<serde_json::Value>) -> Opinion {
    match mode {
        Mode::DontAsk => Opinion::Settled(after(review, refused(DecidedBy::Policy, Refusal::Policy))),
        _ => Opinion::Asks(why, review),
    }
}

impl Opinion {
    /// What became of it, in a word.
    fn word(&self) -> &'static str {
        match self {
            Self::Settled(Settled { outcome: Ok(_), .. }) => "allowed",
            Self::Settled(Settled { outcome: Err(_), .. }) => "refused",
            Self::Asks(..) => "asked",
        }
    }
}

/// What becomes of it where the reviewer failed: that is no finding against it.
fn unavailable(reviewer: &Reviewer, mode: Mode, (failed, review): (Failed, serde_json::Value)) -> Opinion {
    if let Some(signal) = failed.signal {
        let abandoned = Refusal::NobodyToAsk(Unavailable::Abandoned(signal));
        return Opinion::Settled(refused(DecidedBy::Unreviewed { review }, abandoned));
    }
    match reviewer.on_unavailable {
        Verdict::Allow => {
            Opinion::Settled(Settled::new(DecidedBy::Unreviewed { review }, Ok(Some(Answer::Once))))
        }
        Verdict::Ask => {
            let why = format!("the reviewer gave no answer ({}: {})", failed.cause.word(), failed.detail);
            asks(mode, Some(why), Some(review))
        }
        Verdict::Review | Verdict::Deny => {
            Opinion::Settled(refused(DecidedBy::Unreviewed { review }, Refusal::Unreviewed(failed)))
        }
    }
}

fn refused(by: DecidedBy, refusal: Refusal) -> Settled {
    Settled::new(by, Err(refusal))
}

/// The same, with what a reviewer said before.
fn after(review: Option<serde_json::Value>, settled: Settled) -> Settled {
    match review {
        Some(review) => {
            Settled { by: DecidedBy::AfterReview { review, by: Box::new(settled.by) }, ..settled }
        }
        None => settled,
    }
}

fn said(judged: &Judgement) -> String {
    format!("risk {}, {}", judged.risk.word(), judged.rationale)
}
