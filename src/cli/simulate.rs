//! `gsh simulate` as typed, and as meant.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::dispatch::{failed, print};
use super::rules::client;
use crate::commands::audit::Look;
use crate::commands::rules::change::new_rule;
use crate::commands::simulate::{self, Call, Simulated};
use crate::config::edit::{Change, Editor};
use crate::config::import::Client;
use crate::config::new_rule::NewRule;
use crate::entry::guard;
use crate::entry::world::Surrounds;
use crate::policy::{Layer, Verdict};

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Simulate {
    /// Transcripts of agents, shell histories or plain texts; without any, the agents' own places
    files: Vec<PathBuf>,
    /// Propose the few rules that would leave the fewest questions
    #[arg(long)]
    suggest: bool,
    /// Choose among them, at a terminal: what is chosen is added to your rules
    #[arg(long, requires = "suggest", conflicts_with = "json")]
    add: bool,
    /// Compare with this configuration
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Compare with the rules of an agent beside yours, as `rules import` would write them
    #[arg(long, value_name = "AGENT", value_parser = client, conflicts_with = "config")]
    import: Option<Client>,
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
        let Self { files, suggest, add, config, import, cwd, json } = self;
        Call { files, suggest, add, config, import, cwd, json }
    }
}

/// Simulates, and adds what a person chooses.
pub(super) fn run(call: &Call) -> ExitCode {
    if let Some(why) = call.add.then(guard::may_change).and_then(Result::err) {
        return failed(&why);
    }
    let Simulated { text, proposed, files } = match simulate::run(call, Look::of_stdout()) {
        Ok(simulated) => simulated,
        Err(why) => return failed(&why),
    };
    let printed = print(&text);
    if !call.add || proposed.is_empty() {
        return printed;
    }
    match chosen(&proposed).and_then(|rules| added(&rules)) {
        Ok(None) => print("nothing is added\n"),
        Ok(Some(file)) => {
            let again =
                Call { files, suggest: false, add: false, import: None, config: None, ..call.clone() };
            let after = simulate::run(&again, Look::of_stdout()).map(|after| after.text).unwrap_or_default();
            print(&format!("\nadded to {file}; now:\n{after}"))
        }
        Err(why) => failed(&why),
    }
}

/// What a person chooses, by the numbers of the list.
fn chosen(proposed: &[String]) -> Result<Vec<NewRule>, String> {
    if !io::stdin().is_terminal() {
        return Err("choosing takes a person at a terminal".to_owned());
    }
    eprint!("Which of them are added to your rules? Numbers, like 1 3, or nothing: ");
    let mut line = String::new();
    io::stderr()
        .flush()
        .and_then(|()| io::stdin().lock().read_line(&mut line))
        .map_err(|error| error.to_string())?;
    let mut numbers = Vec::new();
    for word in line.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()) {
        let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let known = number.filter(|number| *number < proposed.len());
        numbers.push(known.ok_or_else(|| format!("{word}: no number of the list; nothing is added"))?);
    }
    numbers.sort_unstable();
    numbers.dedup();
    let patterns = numbers.into_iter().filter_map(|number| proposed.get(number));
    // It lifts questions and never a refusal, as an answer does.
    patterns
        .map(|pattern| new_rule(pattern, None, Verdict::Allow).map(|rule| NewRule { lifts: true, ..rule }))
        .collect()
}

/// Adds them to the user's file: its name.
fn added(rules: &[NewRule]) -> Result<Option<String>, String> {
    if rules.is_empty() {
        return Ok(None);
    }
    let surrounds = Surrounds::of_process();
    let folders = surrounds.folders.as_ref().ok_or("there is no home folder to write to")?;
    let editor = Editor::new(folders, None, Layer::User).map_err(|error| error.to_string())?;
    let edited = editor.apply(Change::Ensure(rules)).map_err(|error| error.to_string())?;
    Ok(Some(edited.file.display().to_string()))
}
