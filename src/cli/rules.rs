//! `gsh rules …` as typed, and as meant.

use clap::{Args, Subcommand};

/// What is to be done with the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesCall {
    /// List them as they hold.
    List {
        /// As JSON.
        json: bool,
    },
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Rules {
    #[command(subcommand)]
    what: Option<Verb>,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Every rule in the order of its weight, with its layer, file and line
    List,
}

impl Rules {
    /// What it means.
    pub(super) fn into_call(self) -> RulesCall {
        match self.what.unwrap_or(Verb::List) {
            Verb::List => RulesCall::List { json: self.json },
        }
    }
}
