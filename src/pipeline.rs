//! The story, from a text to its end. The only file that names every stage, and the sole writer of records.

mod hear;

pub use crate::decision::Checked;
pub use hear::hear;

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ask::{self, Question, Refusal};
use crate::audit::{self, Closing, Opened, Opening};
use crate::decision::{Case, Decision, decide};
use crate::facts::{Past, gather_after};
use crate::host::{Host, witness::Witness};
use crate::policy::{Policy, plain};
use crate::request::Request;
use crate::run::{self, Approved, Ending, How, Means, Runner};
use crate::syntax;

/// Decides, and runs nothing. A panic on the way is a refusal.
#[must_use]
pub fn check(request: &Request, policy: &Policy, host: &dyn Host) -> Checked {
    check_after(&Past::default(), request, policy, host)
}

/// The same for the next text of a shell that has run others.
#[must_use]
pub fn check_after(past: &Past, request: &Request, policy: &Policy, host: &dyn Host) -> Checked {
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let script = syntax::parse(request.script(), &policy.knobs.limits.of_reading());
        let facts = gather_after(past, &script, request, host, &policy.programs);
        let plain = plain::hits(request, &script, host);
        let decision = decide(Case { text: request.as_text(), facts: &facts, plain: &plain, policy }, host);
        Checked { script, facts, decision }
    }));
    decided.unwrap_or_else(|_| Checked::failed(policy.mode))
}

/// Decides, asks if need be, records, and runs what may run.
#[must_use]
pub fn run(request: &Request, policy: &Policy, host: &dyn Host, means: Means) -> Ending {
    let (Ok(ending) | Err(ending)) = story(request, policy, host, means);
    ending
}

fn story(request: &Request, policy: &Policy, host: &dyn Host, means: Means) -> Result<Ending, Ending> {
    let witness = Witness::new(host);
    let Checked { script, facts, decision } = check_after(&means.plan.past(), request, policy, &witness);
    means.runner.looked(&script, &decision)?;
    let (facts, answers, context) = (&facts, witness.into_answers(), &means.context);
    let opening = Opening { request, policy, decision: &decision, facts, answers, context };
    let record = audit::begin(means.state.as_deref(), &means.temporary, &opening)?;
    let question = Question { request, decision: &decision, script: &script, facts, record: record.id() };
    let settled = ask::settle(&question, means.ledger.as_ref(), means.asks.as_ref());
    record.settled(&settled.by, settled.told())?;
    let answer = match settled.outcome {
        Ok(answer) => answer,
        Err(refusal) => return Ok(refused(record, decision, refusal)),
    };
    if means.runner != Runner::Own {
        return Ok(record.close(&run::LEFT).map(|()| Ending::Left)?);
    }
    let (plan, way) = run::completed(means.plan, &script, facts, record.id());
    match Approved::new(&decision, answer.as_ref(), &record, plan) {
        Some(approved) => execute(approved, record, way),
        None => Ok(refused(record, decision, Refusal::Policy)),
    }
}

fn refused(record: Opened, decision: Decision, refusal: Refusal) -> Ending {
    // The refusal stands whether or not its closing line could be written.
    let _ = record.close(&Closing::NotRun { why: refusal.why() });
    Ending::Refused(Box::new(decision), refusal)
}

fn execute(approved: Approved, record: Opened, (way, stays): (How, bool)) -> Result<Ending, Ending> {
    if stays {
        let ran = run::run(approved);
        // What ran has run; a lost closing line must not change its status.
        let _ = record.close(&run::closing(&ran));
        return Ok(Ending::Ran(ran?));
    }
    // gsh becomes the command, so nothing can be written later.
    record.close(&Closing::Becomes { how: way.word() })?;
    Ok(Ending::Ran(run::run(approved)?))
}
