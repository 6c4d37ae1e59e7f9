//! What a hook says, and the bytes that say it.

use std::io::Write;
use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a hook says of a tool's use. Every text is one or two plain lines, and never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing: the agent goes on by its own rules.
    Silent,
    /// It may, for this reason.
    Allow(String),
    /// The agent is to ask its user, with this text.
    Ask(String),
    /// It may not.
    Deny {
        /// What, why, and what to do instead.
        text: String,
        /// The floor refused, which nothing lifts.
        floor: bool,
    },
    /// gsh could not decide, so it may not.
    Failed(String),
}

/// The bytes of a reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: String,
    /// The exit status.
    pub status: u8,
}

/// The status by which most agents are told no.
pub const BLOCKED: u8 = 2;

impl Said {
    /// One JSON object, and success.
    #[must_use]
    pub fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::default() }
    }

    /// A refusal by status, with its words on standard error.
    #[must_use]
    pub fn blocked(text: &str) -> Self {
        Self { stderr: format!("{text}\n"), status: BLOCKED, ..Self::default() }
    }

    /// The same, and an object for agents that read it all the same.
    #[must_use]
    pub fn blocked_with(text: &str, value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), ..Self::blocked(text) }
    }

    /// Prints it; the status to end with.
    #[must_use]
    pub fn print(&self) -> ExitCode {
        let out = std::io::stdout().lock().write_all(self.stdout.as_bytes());
        let err = std::io::stderr().lock().write_all(self.stderr.as_bytes());
        // A refusal that nobody hears is one by its status.
        let lost = out.is_err() || err.is_err();
        ExitCode::from(if lost && self.status == 0 { BLOCKED } else { self.status })
    }
}
