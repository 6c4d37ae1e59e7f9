//! A question as it is kept: what is asked, all that its answer is bound to, and who waits.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{GRACE, Reply, now};
use crate::policy::Mode;
use crate::sys::proc::Process;

/// A question that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pending {
    /// Its name: short, to be typed.
    pub id: String,
    /// When it was asked first, in milliseconds since 1970.
    pub asked: i64,
    /// When it is over, whether or not it was answered.
    pub expires: i64,
    /// Who asks.
    pub asker: Asker,
    /// What is asked.
    pub bound: Bound,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// The process that waits; None when none does.
    pub waiter: Option<Waiter>,
}

/// A process that waits for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// Its number.
    pub pid: i32,
    /// When it started, which tells it from a later process of the same number.
    pub started: u64,
    /// Until when, in milliseconds since 1970.
    pub until: i64,
}

/// All that an answer is bound to. An answer holds for a question that is equal in every part of this, and for
/// no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The exact bytes.
    pub text: Bytes,
    /// `$0`, where the caller named it.
    pub name: Option<String>,
    /// `$1` and on.
    pub args: Vec<String>,
    /// How the text came in, and the options that change its reading.
    pub manner: String,
    /// The directory.
    pub directory: String,
    /// The session.
    pub session: String,
    /// The mode it was decided in.
    pub mode: Mode,
    /// The programs it runs and the files it names, as they were.
    pub files: Vec<BoundFile>,
    /// The hash of what in the environment changes what it does.
    pub environment: String,
    /// What the person is shown.
    pub panel: serde_json::Value,
    /// A word that only one process knows, where the answer must hold for that process alone.
    pub only: Option<String>,
    /// Which answers that outlive the call are offered.
    #[serde(default, skip_serializing_if = "Lasting::is_none")]
    pub lasting: Lasting,
}

/// The answers that outlive a call, as far as a question offers them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lasting {
    /// An approval for minutes or the session.
    pub approval: bool,
    /// A refusal for the session.
    pub refusal: bool,
}

impl Lasting {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an answer is among those that may be given.
    #[must_use]
    pub fn takes(self, reply: &Reply) -> bool {
        match reply {
            Reply::Once | Reply::Refused { .. } => true,
            Reply::Session | Reply::Minutes(_) => self.approval,
            Reply::RefusedSession { .. } => self.refusal,
        }
    }
}

impl Bound {
    /// What an answer names it by.
    #[must_use]
    pub fn digest(&self) -> String {
        crate::store::hash(&serde_json::to_vec(self).unwrap_or_default())
    }
}

/// A file in the state in which it was asked about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BoundFile {
    /// Its path.
    pub path: String,
    /// The hash of its content, or what changes with it.
    pub state: String,
}

/// Bytes, as text where they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Bytes(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Kept {
    Text(String),
    Bytes { bytes: Vec<u8> },
}

impl From<Kept> for Bytes {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Text(text) => Self(text.into_bytes()),
            Kept::Bytes { bytes } => Self(bytes),
        }
    }
}

impl From<Bytes> for Kept {
    fn from(Bytes(bytes): Bytes) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes { bytes: error.into_bytes() }, Self::Text)
    }
}

impl Pending {
    pub(super) fn new(id: String, asker: Asker, bound: Bound, keep: Duration) -> Self {
        let asked = now();
        let keep = i64::try_from(keep.as_millis()).unwrap_or(i64::MAX);
        Self { id, asked, expires: asked.saturating_add(keep), asker, bound }
    }

    /// Whether its asker still waits.
    #[must_use]
    pub fn is_waited_for(&self) -> bool {
        self.asker.waiter.as_ref().is_some_and(|waiter| {
            let lives = Process::read(waiter.pid).is_some_and(|process| process.started == waiter.started);
            lives && now() < waiter.until.saturating_add(GRACE)
        })
    }
}
