//! The story of what an agent's hook asks: decided, asked about and recorded as a command is, and then done by the
//! agent itself.

use super::{Checked, check};
use crate::ask::{Hearing, Outcome, Question};
use crate::audit::{Closing, Opening, begin};
use crate::decision::Decision;
use crate::host::Host;
use crate::host::witness::Witness;
use crate::policy::Policy;
use crate::request::Request;
use crate::run::Failure;

/// Decides what an agent's hook asks, asks if the agent does not, and records. What may be done the agent does.
///
/// # Errors
/// When there is no record: then nothing may be done.
pub fn hear(
    request: &Request,
    policy: &Policy,
    host: &dyn Host,
    hearing: &Hearing<'_>,
) -> Result<(Decision, Outcome), Failure> {
    let witness = Witness::new(host);
    let Checked { script, facts, decision } = check(request, policy, &witness);
    let (facts, answers, context) = (&facts, witness.into_answers(), &hearing.context);
    let opening = Opening { request, policy, decision: &decision, facts, answers, context };
    let record = begin(hearing.state.as_deref(), &hearing.temporary, &opening)?;
    let (script, record_id) = (&script, record.id());
    let question = Question { request, decision: &decision, script, facts, record: record_id };
    let heard = hearing.settle(&question);
    heard.review.as_ref().map_or(Ok(()), |review| record.reviewed(review))?;
    heard.settled.as_ref().map_or(Ok(()), |settled| record.settled(&settled.by, settled.told()))?;
    let outcome = Outcome::of(heard);
    // Both stand whether or not the closing line could be written.
    let _ = record.close(&Closing::of_hook(outcome.closing()));
    Ok((decision, outcome))
}
