//! `gsh rules …` as typed, and as meant.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::policy::Layer;

/// What is to be done with the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesCall {
    /// List them as they hold.
    List {
        /// As JSON.
        json: bool,
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
    /// Damage, rules that never decide or never match, duplicates, too broad ones: 0 nothing or notes only,
    /// 1 warnings, 2 errors
    Lint(Files),
    /// Run every rule's examples, alone and against all rules: 0 all pass, 1 one does not
    Test(Files),
    /// The JSON Schema of the configuration, for editors
    Schema,
}

impl Rules {
    /// What it means.
    pub(super) fn into_call(self) -> RulesCall {
        match self.what.unwrap_or(Verb::List) {
            Verb::List => RulesCall::List { json: self.json },
            Verb::Lint(files) => RulesCall::Lint { json: self.json, files },
            Verb::Test(files) => RulesCall::Test(files),
            Verb::Schema => RulesCall::Schema,
        }
    }
}
