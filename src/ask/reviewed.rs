//! The verdict `review`: a reviewer's answer, or what becomes of it where there is none.

use super::sanitize::line;
use super::{
    Answer, DecidedBy, Ledger, Manner, Question, Refusal, Settled, Unavailable, by_dialogue, by_person,
};
use crate::policy::{Mode, Verdict};
use crate::review::{Failed, Judgement, Matter, Reviewer};

/// What a reviewer makes of it.
enum Opinion {
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
            let settled = by_person(&Question { decision: &decision, ..*question }, ledger, manner);
            // Whoever is asked sees it with the question.
            if let (Some(why), Err(Refusal::NobodyToAsk(_))) = (why, &settled.outcome) {
                eprintln!("gsh: {}", line(&why));
            }
            after(review, settled)
        }
    }
}

/// Settles it by the reviewer alone; None where somebody must be asked.
pub(super) fn settle_alone(
    question: &Question<'_>,
    ledger: Option<&Ledger>,
    manner: Option<&Manner>,
) -> Option<Settled> {
    match opinion(question, ledger, manner) {
        Opinion::Settled(settled) => Some(settled),
        Opinion::Asks(..) => None,
    }
}

fn opinion(question: &Question<'_>, ledger: Option<&Ledger>, manner: Option<&Manner>) -> Opinion {
    let decision = question.decision;
    let asks = |why: Option<String>, review| match decision.mode {
        // What asks is refused there.
        Mode::DontAsk => Opinion::Settled(after(review, refused(DecidedBy::Policy, Refusal::Policy))),
        _ => Opinion::Asks(why, review),
    };
    let reviewer = manner.and_then(|manner| manner.reviewer.as_ref());
    // What no mode may silence no reviewer may either.
    let Some(reviewer) = reviewer.filter(|_| decision.verdict == Verdict::Review && !decision.firm) else {
        return asks(None, None);
    };
    let memory = ledger.map(|ledger| &ledger.memory);
    if reviewer.rests(memory) {
        let many = reviewer.rests_after;
        return asks(Some(format!("{many} refusals in a row, so a person answers and no reviewer")), None);
    }
    let Question { request, facts, record, .. } = *question;
    let matter = Matter { request, decision, facts, record };
    let reviewed = reviewer.judge(&matter, memory);
    let review = reviewed.told();
    match reviewed.outcome {
        Ok(judged) if !judged.allows => {
            Opinion::Settled(refused(DecidedBy::Reviewer { review }, Refusal::Reviewer(said(&judged))))
        }
        Ok(judged) if judged.risk > reviewer.set.max_allow_risk => {
            let most = reviewer.set.max_allow_risk.word();
            let why =
                format!("the reviewer would allow it, yet above max_allow_risk ({most}): {}", said(&judged));
            asks(Some(why), Some(review))
        }
        Ok(_) => Opinion::Settled(Settled::new(DecidedBy::Reviewer { review }, Ok(Some(Answer::Once)))),
        Err(failed) => unavailable(reviewer, failed, review, asks),
    }
}

/// What becomes of it where the reviewer failed: that is no finding against it.
fn unavailable(
    reviewer: &Reviewer,
    failed: Failed,
    review: serde_json::Value,
    asks: impl Fn(Option<String>, Option<serde_json::Value>) -> Opinion,
) -> Opinion {
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
            asks(Some(why), Some(review))
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
