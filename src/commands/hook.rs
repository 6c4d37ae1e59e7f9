//! `gsh hook`: which agents it answers, and the answer.

use std::process::ExitCode;

use crate::entry::hook::{self, DIALECTS, of};

/// The word for an agent whose hook gsh speaks.
///
/// # Errors
/// When it speaks none of this agent.
pub fn agent(word: &str) -> Result<&'static str, String> {
    let found = of(word).map(|dialect| dialect.agent);
    found.ok_or_else(|| format!("gsh speaks no hook of this agent; it does of {}", agents()))
}

/// Answers one event.
#[must_use]
pub fn run(agent: &str) -> ExitCode {
    // The command line takes no other word; were one to come, nothing is let through.
    of(agent).map_or_else(|| ExitCode::from(hook::reply::BLOCKED), hook::run)
}

/// What `--help` says beside the options.
#[must_use]
pub fn help() -> String {
    format!(
        "Agents: {}.\n\nOne event as JSON on standard input; the reply on standard output or standard error, with the \
         exit status that the agent expects. What cannot be read or decided is refused.",
        agents()
    )
}

fn agents() -> String {
    DIALECTS.iter().map(|dialect| dialect.agent).collect::<Vec<_>>().join(", ")
}
