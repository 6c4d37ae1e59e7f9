//! `gsh grants …` and `gsh mode …` as typed, and as meant.

use clap::{Args, Subcommand};

/// What is to be done with the grants of this session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantsCall {
    /// List them.
    List {
        /// As JSON.
        json: bool,
    },
    /// Take one back.
    Revoke(String),
    /// Take all back.
    Clear,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Grants {
    #[command(subcommand)]
    what: Option<Verb>,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// What was granted and refused for this session, and until when
    List,
    /// Take back one grant
    Revoke {
        /// Its name, as listed
        id: String,
    },
    /// Take back all grants of this session
    Clear,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct ModeVerb {
    #[command(subcommand)]
    what: Option<ModeChange>,
}

#[derive(Debug, Subcommand)]
enum ModeChange {
    /// Forget how often this session was refused
    Reset,
}

impl Grants {
    /// What it means.
    pub(super) fn into_call(self) -> GrantsCall {
        match self.what.unwrap_or(Verb::List) {
            Verb::List => GrantsCall::List { json: self.json },
            Verb::Revoke { id } => GrantsCall::Revoke(id),
            Verb::Clear => GrantsCall::Clear,
        }
    }
}

impl ModeVerb {
    /// Whether the counts are to be forgotten.
    pub(super) fn resets(&self) -> bool {
        self.what.is_some()
    }
}
