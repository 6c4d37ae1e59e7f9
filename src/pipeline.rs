//! The story: from a text to its end. The only file that names every stage, and the sole writer of
//! records.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::ask::{self, Answer, Manner, Panel, Unavailable};
use crate::audit::{self, Closing, DecidedBy, LogError, Opened, Opening, Place, Record};
use crate::decision::{Case, Decision, decide, failed};
use crate::facts::{Facts, gather};
use crate::host::Host;
use crate::policy::{Policy, Verdict, plain};
use crate::request::Request;
use crate::run::direct::direct;
use crate::run::{self, Approved, How, Outcome, Plan, RunError};
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

/// What running needs beside the decision.
#[derive(Debug)]
pub struct Means {
    /// How it would be run.
    pub plan: Plan,
    /// How a person may be asked; None when nobody may.
    pub asks: Option<Manner>,
    /// The folder of the records; None without a home.
    pub state: Option<PathBuf>,
    /// The folder for temporary files, where a record goes that finds no other place.
    pub temporary: PathBuf,
    /// Variables that were kept from the shell.
    pub removed: Vec<&'static str>,
}

/// How it ended.
#[derive(Debug)]
pub enum Ending {
    /// It ran.
    Ran(Outcome),
    /// It was not to run.
    Refused(Box<Decision>, Refusal),
    /// gsh itself could not do its part; nothing ran, or its end is not known.
    Failed(Failure),
}

/// Who refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Rules, floor or mode.
    Policy,
    /// A person, with their reason.
    Person(Option<String>),
    /// A person would have had to say, and none could be asked.
    NobodyToAsk(Unavailable),
}

/// What gsh could not do.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Nothing runs without a record.
    #[error("nothing ran, since its record could not be written: {0}")]
    Record(String),
    /// Starting or waiting failed.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Decides, and runs nothing. A panic on the way is a refusal.
#[must_use]
pub fn check(request: &Request, policy: &Policy, host: &dyn Host) -> Checked {
    let decided = catch_unwind(AssertUnwindSafe(|| {
        let script = syntax::parse(&request.text, &policy.knobs.limits.of_reading());
        let facts = gather(&script, request, host);
        let plain = if script.problems.is_empty() { Vec::new() } else { plain::hits(request, host) };
        let text = std::str::from_utf8(&request.text).unwrap_or_default();
        let decision = decide(Case { text, facts: &facts, plain: &plain, policy }, host);
        Checked { script, facts, decision }
    }));
    decided.unwrap_or_else(|_| Checked {
        script: Script::default(),
        facts: Facts::default(),
        decision: failed(policy.mode),
    })
}

/// Decides, asks if need be, records, and runs what may run.
#[must_use]
pub fn run(request: &Request, policy: &Policy, host: &dyn Host, means: Means) -> Ending {
    let Checked { script, facts, decision } = check(request, policy, host);
    let (decided_by, settled) = settle(request, &decision, means.asks.as_ref());
    let opening =
        Opening { request, decision: &decision, decided_by: &decided_by, runs: settled.is_ok(), removed: &means.removed };
    let opened = audit::open(means.state.as_deref(), &means.temporary, Record::new(&opening));
    let needs = policy.knobs.audit_required && settled.is_ok();
    let record = match on_record(opened, needs, decision.reads_only) {
        Ok(record) => record,
        Err(why) => return Ending::Failed(Failure::Record(why)),
    };
    let answer = match settled {
        Ok(answer) => answer,
        Err(refusal) => return refused(record, decision, refusal),
    };
    let plan = Plan { direct: direct_if_plain(&means.plan, &script, &facts), ..means.plan };
    let way = run::way(&plan);
    let Some(approved) = Approved::new(&decision, answer.as_ref(), &record, plan) else {
        return refused(record, decision, Refusal::Policy);
    };
    execute(approved, record, way)
}

/// What the decision and the person come to: the answer that lets it run, or who refused.
fn settle(
    request: &Request,
    decision: &Decision,
    asks: Option<&Manner>,
) -> (DecidedBy, Result<Option<Answer>, Refusal>) {
    match decision.verdict {
        Verdict::Allow => return (DecidedBy::Policy, Ok(None)),
        Verdict::Deny => return (DecidedBy::Policy, Err(Refusal::Policy)),
        Verdict::Ask | Verdict::Review => {}
    }
    let answer = asks
        .ok_or(Unavailable::NonInteractive)
        .and_then(|manner| ask::ask(&Panel::new(request, decision), manner));
    match answer {
        Ok(Answer::Once) => (DecidedBy::Person, Ok(Some(Answer::Once))),
        Ok(Answer::Denied { reason }) => (DecidedBy::Person, Err(Refusal::Person(reason))),
        Err(why) => (DecidedBy::Nobody { why: why.to_string() }, Err(Refusal::NobodyToAsk(why))),
    }
}

/// Whether the record that could be had is enough for what is to run.
fn on_record(opened: Result<Opened, LogError>, needs: bool, reads_only: bool) -> Result<Opened, String> {
    match opened {
        Ok(record) if needs && !reads_only && matches!(record.place(), Place::Fallback(_)) => {
            let place = record.place().clone();
            // Its own record says so; that closing it may fail as well changes nothing.
            let _ = record.close(&Closing::NotRun { why: "the record is not in its proper place" });
            Err(format!("the state folder cannot be written (a marked record is in {place})"))
        }
        Ok(record) => Ok(record),
        Err(_) if !needs => Ok(Opened::unwritten()),
        Err(error) => Err(error.to_string()),
    }
}

fn refused(record: Opened, decision: Decision, refusal: Refusal) -> Ending {
    // The refusal stands whether or not its closing line could be written.
    let _ = record.close(&Closing::NotRun { why: "refused" });
    Ending::Refused(Box::new(decision), refusal)
}

/// Direct execution where no option of the shell asks for more than running the text.
fn direct_if_plain(plan: &Plan, script: &Script, facts: &Facts) -> Option<run::direct::Direct> {
    plan.takes_direct().then(|| direct(script, facts, &plan.environment)).flatten()
}

fn execute(approved: Approved, record: Opened, way: How) -> Ending {
    if way != How::Terminal {
        // gsh becomes the command, so nothing can be written later.
        if let Err(error) = record.close(&Closing::NotObserved { how: way.word() }) {
            return Ending::Failed(Failure::Record(error.to_string()));
        }
        return match run::run(approved) {
            Ok(outcome) => Ending::Ran(outcome),
            Err(error) => Ending::Failed(error.into()),
        };
    }
    match run::run(approved) {
        Ok(outcome) => {
            // What ran has run; a lost closing line must not change its status.
            let _ = record.close(&outcome.closing());
            Ending::Ran(outcome)
        }
        Err(error) => {
            let _ = record.close(&Closing::NotRun { why: "it could not be started" });
            Ending::Failed(error.into())
        }
    }
}
