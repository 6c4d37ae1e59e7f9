//! `gsh simulate`: what would have been asked of the commands that agents and people ran. Nothing runs.

mod sources;
mod suggest;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::sources::Found;
use self::suggest::Proposal;
use super::audit::Look;
use super::audit::look::{cut, visible};
use super::audit::tally::rate;
use super::check::request;
use super::rules::import;
use crate::audit::redact::Secrets;
use crate::config::import::Client;
use crate::config::load::Options;
use crate::decision::Decision;
use crate::entry::world::Surrounds;
use crate::pipeline::check;
use crate::policy::{Layer, Policy, Verdict};
use crate::sys::machine::Machine;

/// What is to be decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The files; none for the agents' own places.
    pub files: Vec<PathBuf>,
    /// Propose rules.
    pub suggest: bool,
    /// A person chooses among them, and what they chose is added to their rules.
    pub add: bool,
    /// A configuration to compare with.
    pub config: Option<PathBuf>,
    /// An agent whose own rules are compared with.
    pub import: Option<Client>,
    /// The directory where the file names none.
    pub cwd: Option<PathBuf>,
    /// As JSON.
    pub json: bool,
}

/// What came of all commands.
#[derive(Debug, Default, Serialize)]
struct Outcome {
    files: usize,
    commands: usize,
    different: usize,
    allowed: usize,
    asked: usize,
    refused: usize,
    /// With the other configuration, or the agent's rules beside one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked_then: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused_then: Option<usize>,
    programs: Vec<(String, usize)>,
    rules: Vec<(String, usize)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    proposals: Vec<Proposal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_read: Vec<String>,
}

/// A command that was found, and how often.
#[derive(Debug)]
pub(super) struct Case {
    /// What and where.
    found: Found,
    /// How often.
    count: usize,
    /// What was decided.
    decision: Decision,
    /// The names of its programs.
    programs: Vec<String>,
}

impl Case {
    fn asks(&self) -> bool {
        matches!(self.decision.verdict, Verdict::Ask | Verdict::Review)
    }
}

/// Decides with one configuration, keeping what belongs to one directory.
pub(super) struct Judge<'a> {
    surrounds: &'a Surrounds,
    options: Options,
    here: PathBuf,
    machines: HashMap<PathBuf, Machine>,
    policies: HashMap<Option<PathBuf>, Policy>,
}

impl<'a> Judge<'a> {
    fn new(surrounds: &'a Surrounds, options: Options, here: PathBuf) -> Self {
        Self { surrounds, options, here, machines: HashMap::new(), policies: HashMap::new() }
    }

    fn decide(&mut self, found: &Found) -> (Decision, Vec<String>) {
        use crate::host::Host;
        // A directory that is gone says nothing any more.
        let directory = found.directory.clone().filter(|directory| directory.is_dir());
        let directory = directory.unwrap_or_else(|| self.here.clone());
        let machine =
            self.machines.entry(directory.clone()).or_insert_with(|| self.surrounds.machine(&directory));
        let (surrounds, options) = (self.surrounds, &self.options);
        let policy = self
            .policies
            .entry(machine.project())
            .or_insert_with(|| surrounds.policy(machine, options.clone()));
        let checked = check(&request(found.command.clone().into_bytes(), directory), policy, machine);
        let words = checked.facts.invocations.iter().filter_map(|invocation| invocation.words.first());
        let mut programs: Vec<String> =
            words.map(|word| word.display().rsplit('/').next().unwrap_or_default().to_owned()).collect();
        programs.sort();
        programs.dedup();
        (checked.decision, programs)
    }
}

/// Decides all commands of the files.
///
/// # Errors
/// When there are no files, or none can be read.
pub fn run(call: &Call, look: Look) -> Result<Simulated, String> {
    let surrounds = Surrounds::of_process();
    if surrounds.above.is_some() {
        return Err(
            "beneath gsh transcripts and histories are not read: a person can, outside of it".to_owned()
        );
    }
    let home = surrounds.folders.as_ref().map(|folders| folders.home.clone());
    let files = match (&call.files, home) {
        (files, _) if !files.is_empty() => files.clone(),
        (_, Some(home)) => sources::transcripts(&home),
        _ => Vec::new(),
    };
    if files.is_empty() {
        return Err("no transcripts in ~/.claude/projects, ~/.codex/sessions, ~/.gemini/tmp or opencode's storage; name \
                    files, or a shell's history"
            .to_owned());
    }
    let (found, not_read) = gathered(&files, !call.files.is_empty());
    if found.is_empty() && !not_read.is_empty() {
        return Err(not_read.join("\n"));
    }
    let current = std::env::current_dir().unwrap_or_default();
    let here = call.cwd.as_ref().map_or_else(|| current.clone(), |cwd| current.join(cwd));
    let mut judge = Judge::new(&surrounds, Options::new(), here.clone());
    let cases: Vec<Case> = found
        .into_iter()
        .map(|(found, count)| {
            let (decision, programs) = judge.decide(&found);
            Case { found, count, decision, programs }
        })
        .collect();
    let mut outcome = outcome(&cases, files.len(), not_read);
    if let Some(options) = other(call, &surrounds, &here)? {
        let mut other = Judge::new(&surrounds, options, here.clone());
        let (mut asked, mut refused) = (0, 0);
        for case in &cases {
            match other.decide(&case.found).0.verdict {
                Verdict::Ask | Verdict::Review => asked += case.count,
                Verdict::Deny => refused += case.count,
                Verdict::Allow => {}
            }
        }
        (outcome.asked_then, outcome.refused_then) = (Some(asked), Some(refused));
    }
    if call.suggest {
        let new = |options| Judge::new(&surrounds, options, here.clone());
        outcome.proposals = suggest::proposals(&cases, &new);
    }
    let text = if call.json {
        serde_json::to_string_pretty(&outcome).map(|text| text + "\n").map_err(|error| error.to_string())?
    } else {
        text(&outcome, look)
    };
    let proposed = outcome.proposals.into_iter().map(|each| each.pattern).collect();
    Ok(Simulated { text, proposed, files })
}

/// What a simulation says.
#[derive(Debug, PartialEq, Eq)]
pub struct Simulated {
    /// For standard output.
    pub text: String,
    /// The patterns that it proposes, in the order of their numbers.
    pub proposed: Vec<String>,
    /// The files that it read.
    pub files: Vec<PathBuf>,
}

/// What is compared with: another configuration, or an agent's rules behind those of one's own files.
fn other(call: &Call, surrounds: &Surrounds, here: &Path) -> Result<Option<Options>, String> {
    use crate::host::Host;
    if let Some(config) = call.config.as_ref().filter(|config| !config.is_file()) {
        return Err(format!("--config: {}: no such file", config.display()));
    }
    let layers = match call.import {
        None => Vec::new(),
        Some(client) => {
            let home = surrounds.folders.as_ref().map(|folders| folders.home.clone());
            import::layers(client, &import::Here { home, root: surrounds.machine(here).project() })?
        }
    };
    let is_other = call.config.is_some() || call.import.is_some();
    Ok(is_other.then(|| Options { config: call.config.clone(), layers, ..Options::new() }))
}

/// Every different command with its number, in the order of their first appearance, and what is wrong with files: of
/// those that somebody named also that there is nothing in them.
fn gathered(files: &[PathBuf], named: bool) -> (Vec<(Found, usize)>, Vec<String>) {
    let (mut all, mut places, mut not_read) = (Vec::<(Found, usize)>::new(), HashMap::new(), Vec::new());
    for file in files {
        match sources::read(file) {
            Ok(found) if named && found.is_empty() => {
                let known = "no commands are found in it: it is no transcript or history that gsh knows";
                not_read.push(format!("{}: {known}", file.display()));
            }
            Ok(found) => {
                for found in found {
                    let key = (found.command.clone(), found.directory.clone());
                    let place = *places.entry(key).or_insert(all.len());
                    match all.get_mut(place) {
                        Some((_, count)) => *count += 1,
                        None => all.push((found, 1)),
                    }
                }
            }
            Err(error) => not_read.push(error),
        }
    }
    (all, not_read)
}

fn outcome(cases: &[Case], files: usize, not_read: Vec<String>) -> Outcome {
    let sum = |test: fn(&Case) -> bool| cases.iter().filter(|case| test(case)).map(|case| case.count).sum();
    let (mut programs, mut rules) = (HashMap::<String, usize>::new(), HashMap::<String, usize>::new());
    for case in cases.iter().filter(|case| case.asks()) {
        for program in &case.programs {
            *programs.entry(program.clone()).or_default() += case.count;
        }
        let rule = case.decision.requests.iter().filter(|each| each.verdict == case.decision.verdict);
        let rule = rule.filter_map(|each| Some((each, each.matched.rule.as_ref()?))).next();
        let name = match rule {
            Some((each, rule)) if rule.layer == Layer::Builtin => {
                format!("builtin: {} {}", each.request.capability.word(), rule.pattern)
            }
            Some((_, rule)) => format!("{} {}", rule.place(), rule.pattern),
            None => "builtin".to_owned(),
        };
        *rules.entry(name).or_default() += case.count;
    }
    Outcome {
        files,
        commands: cases.iter().map(|case| case.count).sum(),
        different: cases.len(),
        allowed: sum(|case| case.decision.verdict == Verdict::Allow),
        asked: sum(Case::asks),
        refused: sum(|case| case.decision.verdict == Verdict::Deny),
        programs: ranked(programs),
        rules: ranked(rules),
        not_read,
        ..Outcome::default()
    }
}

fn ranked(counts: HashMap<String, usize>) -> Vec<(String, usize)> {
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    rows.truncate(10);
    rows
}

fn text(outcome: &Outcome, look: Look) -> String {
    let Outcome { files, commands, different, asked, .. } = outcome;
    let (files_word, word) =
        (if *files == 1 { "file" } else { "files" }, if *commands == 1 { "command" } else { "commands" });
    let mut text = format!("{commands} {word} ({different} different) in {files} {files_word}\n");
    let verdicts = [
        ("allow".to_owned(), outcome.allowed),
        ("ask".to_owned(), *asked),
        ("deny".to_owned(), outcome.refused),
    ];
    text.push_str(&look.bars(&verdicts));
    text.push_str(&format!("it would ask at {} of them\n", rate(*asked, *commands)));
    if let (Some(then), Some(refused)) = (outcome.asked_then, outcome.refused_then) {
        let rate = rate(then, *commands);
        text.push_str(&format!(
            "and compared with that at {rate} ({asked} → {then} asked, {} → {refused} refused)\n",
            outcome.refused
        ));
    }
    for (name, rows) in [("programs that ask", &outcome.programs), ("rules that ask", &outcome.rules)] {
        if !rows.is_empty() {
            text.push_str(&format!("\n{}\n{}", look.heading(name), look.bars(rows)));
        }
    }
    if !outcome.proposals.is_empty() {
        text.push_str(&format!("\n{}\n", look.heading("rules that would leave the fewest questions")));
    }
    for (index, proposal) in outcome.proposals.iter().enumerate() {
        text.push_str(&proposal.text(index + 1, look.width));
    }
    for error in &outcome.not_read {
        text.push_str(&format!("not read: {}\n", visible(error)));
    }
    text
}

/// A command for a list: no secrets, one line, cut.
pub(super) fn shown(command: &str, room: usize) -> String {
    let mut secrets = Secrets::default();
    secrets.learn_text(command);
    cut(&visible(&secrets.redact(command).0), room)
}
