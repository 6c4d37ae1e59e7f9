//! The story, from a text to its end. The only file that names every stage, and the sole writer of records.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::ask::{self, Question, Refusal, Settled};
use crate::audit::{self, Closing, Opened, Opening, Record};
use crate::decision::{Case, Decision, decide, failed};
use crate::facts::{Facts, gather};
use crate::host::Host;
use crate::policy::{Policy, plain};
use crate::request::Request;
use crate::run::{self, Approved, Ending, Failure, How, Means};
use crate::syntax::{self, Script};

/// A request with all that was found on the way to its decision.
#[derive(Debug)]
pub struct Checked {
    /// The text, read.
    pub script: Script,
    /// What it would do.
    pub facts: Facts,
    /// What is to happen.
    pub decision: Decision,
}

/// Decides, and runs nothing. A panic on the way is a refusal.
#[must_use]
pub fn check(request: &Request, policy: &Policy, host: &dyn Host) -> Checked {
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let script = syntax::parse(&request.text, &policy.knobs.limits.of_reading());
        let facts = gather(&script, request, host, &policy.programs);
        let plain = plain::hits(request, &script, host);
        let decision = decide(Case { text: request.as_text(), facts: &facts, plain: &plain, policy }, host);
        Checked { script, facts, decision }
    }));
    let (script, facts) = (Script::default(), Facts::default());
    decided.unwrap_or_else(|_| Checked { script, facts, decision: failed(policy.mode) })
}

/// Decides, asks if need be, records, and runs what may run.
#[must_use]
pub fn run(request: &Request, policy: &Policy, host: &dyn Host, means: Means) -> Ending {
    let Checked { script, facts, decision } = check(request, policy, host);
    let question = Question { request, decision: &decision, script: &script, facts: &facts };
    let Settled { by, outcome, .. } = ask::settle(&question, means.ledger.as_ref(), means.asks.as_ref());
    let (decided_by, runs, removed) = (&by, outcome.is_ok(), means.removed.as_slice());
    let record = Record::new(&Opening { request, decision: &decision, decided_by, runs, removed });
    let opened = audit::open(means.state.as_deref(), &means.temporary, record);
    let record = match audit::enough(opened, runs && policy.knobs.audit_required, decision.reads_only) {
        Ok(record) => record,
        Err(why) => return Ending::Failed(Failure::Record(why)),
    };
    let answer = match outcome {
        Ok(answer) => answer,
        Err(refusal) => return refused(record, decision, refusal),
    };
    let (plan, way) = run::completed(means.plan, &script, &facts, record.id());
    match Approved::new(&decision, answer.as_ref(), &record, plan) {
        Some(approved) => execute(approved, record, way),
        None => refused(record, decision, Refusal::Policy),
    }
}

fn refused(record: Opened, decision: Decision, refusal: Refusal) -> Ending {
    // The refusal stands whether or not its closing line could be written.
    let _ = record.close(&Closing::NotRun { why: refusal.why() });
    Ending::Refused(Box::new(decision), refusal)
}

fn execute(approved: Approved, record: Opened, (way, stays): (How, bool)) -> Ending {
    if stays {
        let ran = run::run(approved);
        // What ran has run; a lost closing line must not change its status.
        let _ = record.close(&run::closing(&ran));
        return ran.map_or_else(|error| Ending::Failed(error.into()), Ending::Ran);
    }
    // gsh becomes the command, so nothing can be written later.
    if let Err(error) = record.close(&Closing::NotObserved { how: way.word() }) {
        return Ending::Failed(Failure::Record(error.to_string()));
    }
    run::run(approved).map_or_else(|error| Ending::Failed(error.into()), Ending::Ran)
}
