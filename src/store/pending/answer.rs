//! An answer as it is kept.

use serde::{Deserialize, Serialize};

use super::Author;

/// An answer with its signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What is signed.
    pub body: Body,
    /// The signature, in hexadecimal.
    pub(super) signature: String,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The question's name.
    pub(super) question: String,
    /// All that the question was bound to.
    pub(super) digest: String,
    /// What was answered.
    pub reply: Reply,
    /// When, in milliseconds since 1970.
    pub answered: i64,
    /// Until when it can be picked up.
    pub(super) expires: i64,
    /// Who answered.
    pub by: Author,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// This, here, once.
    Once,
    /// Exactly what was asked about, until the session ends.
    Session,
    /// The same, for so many minutes from the answer on.
    Minutes(u32),
    /// No.
    Refused {
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// No, and not again in this session.
    RefusedSession {
        /// Why, in the person's words.
        reason: Option<String>,
    },
}

impl Reply {
    /// In a word, for a person.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Once => "allowed once",
            Self::Session => "allowed for the session",
            Self::Minutes(_) => "allowed for minutes",
            Self::Refused { .. } => "refused",
            Self::RefusedSession { .. } => "refused for the session",
        }
    }

    /// What it comes to where it cannot last.
    pub(super) fn once(&self) -> &'static str {
        if self.lets_run() { "allowed" } else { "refused" }
    }

    /// Whether what was asked about may run.
    #[must_use]
    pub fn lets_run(&self) -> bool {
        match self {
            Self::Once | Self::Session | Self::Minutes(_) => true,
            Self::Refused { .. } | Self::RefusedSession { .. } => false,
        }
    }
}

impl Body {
    /// The bytes that are signed. They begin with what they are, so that no signature for something else fits.
    pub(super) fn to_sign(&self) -> Vec<u8> {
        let mut bytes = b"gsh answer 1\n".to_vec();
        bytes.extend(serde_json::to_vec(self).unwrap_or_default());
        bytes
    }
}

impl Answer {
    /// The name of its question.
    #[must_use]
    pub fn question(&self) -> &str {
        &self.body.question
    }

    pub(super) fn is_to(&self, question: &str, digest: &str) -> bool {
        self.body.question == question && self.body.digest == digest
    }

    pub(super) fn is_expired(&self, now: i64) -> bool {
        self.body.expires <= now
    }
}
