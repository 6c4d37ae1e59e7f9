//! A second opinion on what is neither clearly safe nor worth a person's time: only ever on the verdict `review`. Off
//! until it is configured.
//!
//! A reviewer is a program of the user's own or an endpoint. It gets the facts, and says allow or deny with a risk. That
//! it could not say anything is no deny and is told as what it is.

mod begun;
pub mod classifier;
pub mod conversation;
mod dialect;
mod evidence;
mod http;
mod memory;
mod program;
pub mod prompt;
#[cfg(test)]
mod testing;
pub mod verdict;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::begun::{Begun, Look};
use self::conversation::Conversation;
use self::evidence::Place;
pub use self::verdict::Judgement;
use crate::audit::redact::Secrets;
use crate::decision::Decision;
use crate::facts::Facts;
use crate::policy::reviewing::Reviewing;
use crate::policy::{Forbidden, Policy, Verdict};
use crate::request::Request;
use crate::store::places::Folders;
use crate::store::sessions::Memory;
use crate::sys::answer::{self, Bounds};
use crate::sys::process::Ended;
use crate::sys::random;

/// A longer piece of the instructions is no chance.
const PHRASE: usize = 20;

/// What is to be judged.
#[derive(Debug, Clone, Copy)]
pub struct Matter<'a> {
    /// What was requested.
    pub request: &'a Request,
    /// What was decided.
    pub decision: &'a Decision,
    /// What it would do.
    pub facts: &'a Facts,
    /// The name of its record.
    pub record: &'a str,
}

/// A reviewer, with all that it is asked with.
#[derive(Debug, Clone)]
pub struct Reviewer {
    /// As configured.
    pub set: Reviewing,
    /// What becomes of a command when it fails: deny, ask or allow.
    pub on_unavailable: Verdict,
    /// After so many refusals in a row a person is asked instead; 0 for never.
    pub rests_after: u32,
    /// The version of the configuration.
    pub configuration: String,
    /// The project.
    pub project: Option<PathBuf>,
    /// Whose rules say what it may look at; None where it may look at nothing.
    pub policy: Option<Arc<Policy>>,
    /// The user's folders.
    pub folders: Option<Folders>,
    /// The session.
    pub session: String,
    /// An agent's transcript of the session.
    pub transcript: Option<PathBuf>,
    /// The environment that gsh was started with.
    pub environment: Vec<(OsString, OsString)>,
    /// What is told to nobody.
    pub secrets: Secrets,
}

/// Why there is no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Something that it needs is not there.
    NotConfigured,
    /// It took too long.
    Timeout,
    /// gsh was told to end.
    Cancelled,
    /// It could not be reached, or failed.
    ProviderError,
    /// What it said is no verdict.
    InvalidOutput,
}

impl Cause {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::NotConfigured => "not-configured",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::ProviderError => "provider-error",
            Self::InvalidOutput => "invalid-output",
        }
    }
}

/// A review without a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Its kind.
    pub cause: Cause,
    /// In words.
    pub detail: String,
    /// The signal that was meant to end us.
    pub signal: Option<i32>,
}

impl Failed {
    fn new(cause: Cause, detail: &str) -> Self {
        Self { cause, detail: detail.chars().take(300).collect(), signal: None }
    }
}

/// A verdict, and how often the reviewer looked at files for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Spoken {
    judged: Judgement,
    rounds: u32,
}

/// A review.
#[derive(Debug, Clone)]
pub struct Reviewed {
    /// The verdict, or why there is none.
    pub outcome: Result<Judgement, Failed>,
    /// It was given before, to the same command.
    pub remembered: bool,
    /// The record of the command that it was given for first.
    first: Option<String>,
    rounds: u32,
    reviewer: String,
    took: Duration,
}

impl Reviewed {
    /// Whether nobody waited for it any more.
    #[must_use]
    pub fn was_dropped(&self) -> bool {
        self.outcome.as_ref().is_err_and(|failed| failed.cause == Cause::Cancelled && failed.signal.is_none())
    }

    /// For the record.
    #[must_use]
    pub fn told(&self) -> Value {
        let mut told = match &self.outcome {
            Ok(judged) => json!({
                "verdict": if judged.allows { "allow" } else { "deny" },
                "risk": judged.risk,
                "authorization": judged.authorization,
                "reversible": judged.reversible,
                "rationale": judged.rationale,
            }),
            Err(failed) => {
                json!({ "verdict": "unavailable", "cause": failed.cause, "detail": failed.detail })
            }
        };
        if let Some(object) = told.as_object_mut() {
            object.insert("reviewer".to_owned(), json!(self.reviewer));
            object.insert("remembered".to_owned(), json!(self.remembered));
            if self.remembered {
                object.insert("record".to_owned(), json!(self.first));
            }
            object.insert("evidence_rounds".to_owned(), json!(self.rounds));
            let took = u64::try_from(self.took.as_millis()).unwrap_or(u64::MAX);
            object.insert("milliseconds".to_owned(), json!(took));
        }
        told
    }
}

impl Reviewer {
    /// The one that a policy names; None where it names none or forbids it.
    #[must_use]
    pub fn of(policy: &Policy, folders: Option<&Folders>, session: &str) -> Option<Self> {
        let knobs = &policy.knobs;
        if !knobs.reviewer.is_configured() || policy.forbids.contains(&Forbidden::Review) {
            return None;
        }
        let hashes = policy.layers.iter().filter_map(|layer| layer.hash.as_deref());
        Some(Self {
            set: knobs.reviewer.clone(),
            on_unavailable: knobs.on_review_unavailable,
            rests_after: knobs.refusals.in_a_row,
            configuration: hashes.collect::<Vec<_>>().join("\0"),
            project: policy.places.project.as_ref().map(PathBuf::from),
            policy: (knobs.reviewer.evidence_rounds > 0).then(|| Arc::new(policy.clone())),
            folders: folders.cloned(),
            session: session.to_owned(),
            transcript: None,
            environment: Vec::new(),
            secrets: Secrets::default(),
        })
    }

    /// Whether so much was refused in a row that a person must answer.
    #[must_use]
    pub fn rests(&self, memory: Option<&Memory>) -> bool {
        self.rests_after > 0 && memory.is_some_and(|memory| memory.streak >= self.rests_after)
    }

    fn ask(&self, matter: &Matter<'_>, said: &Conversation, until: Instant) -> Result<Spoken, Failed> {
        let spoken = self.asked(matter, said, until)?;
        // Who fills in the form with the form's own words has judged nothing.
        let said = &spoken.judged.rationale;
        if spoken.judged.allows && said.len() > PHRASE && prompt::INSTRUCTIONS.contains(said) {
            return Err(Failed::new(Cause::InvalidOutput, "the answer repeats its instructions"));
        }
        Ok(spoken)
    }

    fn asked(&self, matter: &Matter<'_>, said: &Conversation, until: Instant) -> Result<Spoken, Failed> {
        let unset = |why: String| Failed::new(Cause::NotConfigured, &why);
        let bounds = Bounds { until, most: 64 * 1024 };
        let by_program = !self.set.program.is_empty();
        let place = self.place(until).filter(|_| !by_program && self.set.evidence_rounds > 0);
        let system = prompt::instructions(self.set.prompt.as_deref(), place.is_some()).map_err(unset)?;
        let mut secrets = self.secrets.clone();
        secrets.learn_text(matter.request.as_text());
        let told = prompt::tell(matter, said, &secrets, &mark().map_err(unset)?);
        // With the command as it is: what is redacted in the message may still be repeated.
        let sent = format!("{}\n{}", told.message, matter.request.as_text());
        let environment = program::environment(&self.environment, &self.set.environment);
        if by_program {
            let input = program::input(&system, &told);
            return program::ask(&self.set.program, environment, (&input, &sent), bounds);
        }
        let key = self.api_key(environment, bounds)?;
        let call = http::Call { set: &self.set, key, system, message: told.message, sent, place, bounds };
        let asked = answer::of_own(|pipe| http::ask_and_tell(&call, pipe), bounds);
        let asked = asked.map_err(|error| Failed::new(Cause::ProviderError, &error.to_string()))?;
        let died = || Failed::new(Cause::ProviderError, "the process that asks it died");
        match program::heard(asked)? {
            (said, Some(Ended::Status(0))) => {
                serde_json::from_slice::<Result<Spoken, Failed>>(&said).map_err(|_| died())?
            }
            _ => Err(died()),
        }
    }

    /// Where it may look: the real root of the project.
    fn place(&self, until: Instant) -> Option<Place> {
        let root = std::fs::canonicalize(self.project.as_ref()?).ok()?;
        let policy = Arc::clone(self.policy.as_ref()?);
        // What is left of the time is the reviewer's.
        let half = until.saturating_duration_since(Instant::now()) / 2;
        Some(Place::new(root, self.secrets.clone(), policy, Instant::now() + half))
    }

    /// The endpoint's key, if it needs one.
    fn api_key(
        &self,
        environment: Vec<(OsString, OsString)>,
        bounds: Bounds,
    ) -> Result<Option<String>, Failed> {
        if !self.set.key_command.is_empty() {
            let said = program::run(&self.set.key_command, environment, b"", bounds)?;
            return Ok(Some(String::from_utf8_lossy(&said).trim().to_owned()));
        }
        let Some(name) = &self.set.key_env else { return Ok(None) };
        let found = self.environment.iter().find(|(known, _)| known == name.as_str());
        let value =
            found.and_then(|(_, value)| value.to_str()).map(str::trim).filter(|value| !value.is_empty());
        let missing = || Failed::new(Cause::NotConfigured, &format!("reviewer.key_env: {name} is not set"));
        value.map(|value| Some(value.to_owned())).ok_or_else(missing)
    }
}

/// A word that nobody could foresee.
fn mark() -> Result<String, String> {
    random::word::<8>().map(|word| format!("data-{word}")).map_err(|error| error.to_string())
}
