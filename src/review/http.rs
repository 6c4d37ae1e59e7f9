//! A review by an endpoint: asked in a process of its own, which is ended at the deadline whatever it waits for. No
//! redirect is followed, no proxy of the environment is used, and an answer has its longest length.

use std::io::Write;
use std::time::Instant;

use serde_json::Value;
use ureq::Agent;

use super::dialect::{self, Reply};
use super::evidence::Place;
use super::program::heard;
use super::verdict::{of_call, of_text};
use super::{Cause, Failed, Spoken};
use crate::policy::reviewing::Reviewing;
use crate::sys::answer::{self, Bounds};

/// The longest answer that is read.
const ANSWER: u64 = 512 * 1024;

/// So many looks at files are answered in one round.
const LOOKS: usize = 8;

/// All that is needed to ask.
pub(super) struct Call<'a> {
    /// Whom.
    pub(super) set: &'a Reviewing,
    /// With which key.
    pub(super) key: Option<String>,
    /// The instructions.
    pub(super) system: String,
    /// The matter.
    pub(super) message: String,
    /// All that an answer might merely repeat.
    pub(super) sent: String,
    /// Where it may look; None where it may not.
    pub(super) place: Option<Place>,
    /// How long.
    pub(super) bounds: Bounds,
}

/// Asks, and writes the outcome for the process that waits.
pub(super) fn ask_and_tell(call: &Call<'_>, mut out: impl Write) {
    let outcome = ask(call);
    let bytes = serde_json::to_vec(&outcome).unwrap_or_default();
    // Who waits takes a broken word for a failure.
    let _ = out.write_all(&bytes);
}

/// Asks for a word, in a process of its own.
///
/// # Errors
/// When nothing usable was said.
pub(super) fn word(call: &Call<'_>) -> Result<String, Failed> {
    let asked = answer::of_own(
        |mut pipe| {
            let outcome = spoken(call).map(|reply| reply.text);
            let _ = pipe.write_all(&serde_json::to_vec(&outcome).unwrap_or_default());
        },
        call.bounds,
    );
    let died = || Failed::new(Cause::ProviderError, "the process that asks it died");
    let (said, _) = heard(asked.map_err(|error| Failed::new(Cause::ProviderError, &error.to_string()))?)?;
    serde_json::from_slice::<Result<String, Failed>>(&said).map_err(|_| died())?
}

/// A single answer, without tools and without a structure.
fn spoken(call: &Call<'_>) -> Result<Reply, Failed> {
    let messages = [dialect::user(&call.message)];
    let body = dialect::body((call.set, &call.system), &messages, (false, false));
    read(call, send(call, &body)?)
}

/// Asks until there is a verdict: at most so many rounds with tools, then one without.
fn ask(call: &Call<'_>) -> Result<Spoken, Failed> {
    let mut messages = vec![dialect::user(&call.message)];
    let mut sent = call.sent.clone();
    let rounds = if call.place.is_some() { call.set.evidence_rounds } else { 0 };
    for round in 0..=rounds {
        let last = round == rounds;
        let reply = exchange(call, &messages, last)?;
        let place = call.place.as_ref().filter(|_| !last && !reply.calls.is_empty());
        let given = reply.calls.iter().find(|call| call.name == dialect::SUBMIT);
        let judged = match (given, place) {
            (Some(given), _) => of_call(&given.arguments, &sent),
            (None, Some(place)) => {
                let looks = reply.calls.iter().enumerate().map(|(number, call)| match number {
                    ..LOOKS => place.answer(&call.name, &call.arguments),
                    _ => "not shown: too many looks at once".to_owned(),
                });
                let shown: Vec<String> = looks.collect();
                // A file may hold a verdict as well as the command.
                shown.iter().for_each(|shown| sent.push_str(shown));
                messages.extend(dialect::looked(call.set.style, &reply, &shown));
                continue;
            }
            (None, None) => of_text(&reply.text, &sent),
        };
        let missing = || Failed::new(Cause::InvalidOutput, "the answer holds no verdict");
        return judged.map(|judged| Spoken { judged, rounds: round }).ok_or_else(missing);
    }
    Err(Failed::new(Cause::InvalidOutput, "it never came to a verdict"))
}

/// One request and its answer. A server that does not know structured output is asked once more without it.
fn exchange(call: &Call<'_>, messages: &[Value], last: bool) -> Result<Reply, Failed> {
    let looks = call.place.is_some() && call.set.evidence_rounds > 0 && !last;
    let body = |structured| dialect::body((call.set, &call.system), messages, (looks, structured));
    let (status, answer) = match send(call, &body(true))? {
        (400 | 422, _) if !looks => send(call, &body(false))?,
        other => other,
    };
    read(call, (status, answer))
}

fn read(call: &Call<'_>, (status, answer): (u16, Vec<u8>)) -> Result<Reply, Failed> {
    if !(200..300).contains(&status) {
        let told = if (300..400).contains(&status) { ", a redirect, which is not followed" } else { "" };
        return Err(Failed::new(
            Cause::ProviderError,
            &format!("the server answered with status {status}{told}"),
        ));
    }
    let value: Value = serde_json::from_slice(&answer)
        .map_err(|_| Failed::new(Cause::InvalidOutput, "the server's answer is no JSON"))?;
    dialect::reply(call.set.style, &value)
        .ok_or_else(|| Failed::new(Cause::InvalidOutput, "the server's answer has no message"))
}

fn send(call: &Call<'_>, body: &Value) -> Result<(u16, Vec<u8>), Failed> {
    let left = call.bounds.until.saturating_duration_since(Instant::now());
    let agent: Agent = Agent::config_builder()
        .timeout_global(Some(left))
        .max_redirects(0)
        .http_status_as_error(false)
        .proxy(None)
        .user_agent(concat!("gsh/", env!("CARGO_PKG_VERSION")))
        .build()
        .into();
    let url = dialect::address(call.set);
    let mut request = agent.post(&url).header("content-type", "application/json");
    for (name, value) in dialect::headers(call.set.style, call.key.as_deref()) {
        request = request.header(name, value);
    }
    let mut response = request.send(body.to_string().as_bytes()).map_err(|error| failed(&error))?;
    let status = response.status().as_u16();
    let answer =
        response.body_mut().with_config().limit(ANSWER).read_to_vec().map_err(|error| failed(&error))?;
    Ok((status, answer))
}

fn failed(error: &ureq::Error) -> Failed {
    match error {
        ureq::Error::Timeout(_) => Failed::new(Cause::Timeout, "it took too long"),
        ureq::Error::BodyExceedsLimit(_) => Failed::new(Cause::ProviderError, "the answer is too long"),
        other => Failed::new(Cause::ProviderError, &other.to_string()),
    }
}
