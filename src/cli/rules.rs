//! `gsh rules …` as typed, and as meant.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use super::verbs::Usage;
use crate::commands::rules::change::{Call, Spot, Wanted, new_rule};
use crate::commands::rules::import;
use crate::config::import::Client;
use crate::config::new_rule::NewRule;
use crate::policy::{Layer, Verdict};

/// What is to be done with the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesCall {
    /// List them as they hold.
    List {
        /// As JSON.
        json: bool,
    },
    /// Change them.
    Change(Box<Call>),
    /// Carry over those of an agent.
    Import {
        /// What.
        wanted: import::Wanted,
        /// Only list what they become.
        dry_run: bool,
    },
    /// Look for mistakes in them.
    Lint {
        /// As JSON.
        json: bool,
        /// These instead of the ones in force.
        files: Files,
    },
    /// Run their examples.
    Test(Files),
    /// Print the JSON Schema of the configuration.
    Schema,
}

/// Files that are looked at by themselves.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub struct Files {
    /// Look at these files alone, instead of those in force
    #[arg(value_name = "FILE")]
    pub paths: Vec<PathBuf>,
    /// Whose the files are: user, project or managed; else told by their place
    #[arg(long = "as", value_name = "LAYER", value_parser = layer, requires = "paths")]
    pub layer: Option<Layer>,
}

fn layer(word: &str) -> Result<Layer, String> {
    let layers = [Layer::User, Layer::Project, Layer::Managed];
    let found = layers.into_iter().find(|layer| layer.word() == word);
    found.ok_or_else(|| "not one of user, project, managed".to_owned())
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
    /// Write a rule into a file, where it comes last
    Add(Add),
    /// Take a rule out of its file
    Remove(Chosen),
    /// Change the order of a file: the last rule that matches decides
    Move(Moved),
    /// Take a rule of the project into your own file, for everywhere; it lifts a question, never a refusal
    Promote(Chosen),
    /// Carry over the rules of an agent: claude, codex, gemini, opencode or cursor
    Import(Import),
    /// Damage, rules that never decide or never match, duplicates, too broad ones: 0 nothing or notes only,
    /// 1 warnings, 2 errors
    Lint(Files),
    /// Run every rule's examples, alone and against all rules: 0 all pass, 1 one does not
    Test(Files),
    /// The JSON Schema of the configuration, for editors
    Schema,
}

#[derive(Debug, Args)]
struct Import {
    /// Whose rules
    #[arg(value_name = "AGENT", value_parser = client)]
    client: Client,
    /// Only list what they become
    #[arg(long)]
    dry_run: bool,
    /// These files instead of those that the agent reads
    #[arg(long, value_name = "FILE", num_args = 1..)]
    from: Vec<PathBuf>,
    /// The rules hold for this agent alone
    #[arg(long)]
    only_agent: bool,
}

pub(super) fn client(word: &str) -> Result<Client, String> {
    let known = Client::ALL.into_iter().find(|client| client.word() == word);
    known.ok_or_else(|| "not one of claude, codex, gemini, opencode, cursor".to_owned())
}

#[derive(Debug, Args)]
struct Add {
    /// A pattern for commands (`npm test *`), a rule in an agent's form (`Bash(npm test:*)`, `Read(~/x/**)`), or
    /// `CAPABILITY PATTERN`; with --capability, its pattern
    rule: String,
    /// allow, review, ask or deny
    #[arg(value_parser = verdict)]
    action: Verdict,
    /// For paths, and whatever is no command: file.read, file.write.*, tool.use … (without it a pattern covers
    /// process.execute, network.access and git.modify, since a command may need each)
    #[arg(long, value_name = "C")]
    capability: Option<String>,
    /// Why, shown when the rule decides
    #[arg(long, value_name = "R")]
    reason: Option<String>,
    /// The last day it holds, YYYY-MM-DD
    #[arg(long, value_name = "DAY")]
    expires: Option<String>,
    /// It also covers writes that destroy
    #[arg(long)]
    destroys: bool,
    /// A text that it must match; may be given more than once
    #[arg(long = "match", value_name = "TEXT")]
    matches: Vec<String>,
    /// A text that it must not match
    #[arg(long = "not-match", value_name = "TEXT")]
    not_matches: Vec<String>,
    #[command(flatten)]
    file: File,
}

#[derive(Debug, Args)]
struct Chosen {
    /// FILE:LINE as `gsh rules list` shows it, or what the rule says: its pattern, its whole text in an agent's
    /// form, or `CAPABILITY PATTERN`
    rule: String,
    #[command(flatten)]
    file: File,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("spot").required(true))]
struct Moved {
    #[command(flatten)]
    chosen: Chosen,
    /// Right before this rule of the same file
    #[arg(long, value_name = "RULE", group = "spot")]
    before: Option<String>,
    /// Right behind this rule
    #[arg(long, value_name = "RULE", group = "spot")]
    after: Option<String>,
    /// Before every rule for the same requests
    #[arg(long, group = "spot")]
    top: bool,
    /// Behind every rule for the same requests
    #[arg(long, group = "spot")]
    bottom: bool,
}

/// Which file, and whether to change it.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("layer"))]
struct File {
    /// Your own file (of `add` the default)
    #[arg(long, group = "layer")]
    user: bool,
    /// The project's file; it stays trusted if it was
    #[arg(long, group = "layer")]
    project: bool,
    /// Your own file for this project, outside of it
    #[arg(long, group = "layer")]
    own: bool,
    /// Show the change and write nothing
    #[arg(long)]
    dry_run: bool,
}

fn verdict(word: &str) -> Result<Verdict, String> {
    Verdict::from_word(word).ok_or_else(|| format!("{word}: not one of allow, review, ask, deny"))
}

impl Rules {
    /// What it means.
    pub(super) fn into_call(self) -> Result<RulesCall, Usage> {
        let verb = self.what.unwrap_or(Verb::List);
        if self.json && !matches!(verb, Verb::List | Verb::Import(_) | Verb::Lint(_)) {
            return Err(Usage("--json is for `rules list`, `rules lint` and `rules import`".to_owned()));
        }
        Ok(match verb {
            Verb::List => RulesCall::List { json: self.json },
            Verb::Lint(files) => RulesCall::Lint { json: self.json, files },
            Verb::Test(files) => RulesCall::Test(files),
            Verb::Schema => RulesCall::Schema,
            Verb::Add(add) => add.into_call()?,
            Verb::Import(Import { client, dry_run, from, only_agent }) => {
                let wanted = import::Wanted { client, from, only_agent, json: self.json };
                RulesCall::Import { wanted, dry_run }
            }
            Verb::Remove(Chosen { rule, file }) => file.into_call(Wanted::Remove(rule)),
            Verb::Promote(Chosen { rule, file }) => {
                if file.user {
                    return Err(Usage("promote: a rule of your own file is yours already".to_owned()));
                }
                file.into_call(Wanted::Promote(rule))
            }
            Verb::Move(Moved { chosen: Chosen { rule, file }, before, after, top, .. }) => {
                let spot = match (before, after) {
                    (Some(other), _) => Spot::Before(other),
                    (None, Some(other)) => Spot::After(other),
                    (None, None) if top => Spot::Top,
                    (None, None) => Spot::Bottom,
                };
                file.into_call(Wanted::Move(rule, spot))
            }
        })
    }
}

impl Add {
    fn into_call(self) -> Result<RulesCall, Usage> {
        let plain = new_rule(&self.rule, self.capability.as_deref(), self.action).map_err(Usage)?;
        let Self { reason, expires, destroys, matches, not_matches, file, .. } = self;
        Ok(file.into_call(Wanted::Add(NewRule { reason, expires, destroys, matches, not_matches, ..plain })))
    }
}

impl File {
    fn into_call(self, wanted: Wanted) -> RulesCall {
        let layers =
            [(self.user, Layer::User), (self.project, Layer::Project), (self.own, Layer::UserProject)];
        let layer = layers.into_iter().find(|(given, _)| *given).map(|(_, layer)| layer);
        RulesCall::Change(Box::new(Call { wanted, layer, dry_run: self.dry_run }))
    }
}
