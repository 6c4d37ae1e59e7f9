//! `gsh simulate` as typed, and as meant.

use std::path::PathBuf;

use clap::Args;

use crate::commands::simulate::Call;

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Simulate {
    /// Transcripts of agents, shell histories or plain texts; without any, the agents' own places
    files: Vec<PathBuf>,
    /// Propose the few rules that would leave the fewest questions
    #[arg(long)]
    suggest: bool,
    /// Compare with this configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The directory where the file names none
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl Simulate {
    /// What it means.
    pub(super) fn into_call(self) -> Call {
        let Self { files, suggest, config, cwd, json } = self;
        Call { files, suggest, config, cwd, json }
    }
}
