//! `gsh rules import`: what an agent's rules become here, listed, and written where they belong.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::list::visible;
use crate::config::edit::text_of;
use crate::config::import::targets::{Target, targets};
use crate::config::import::{Around, Client, Fate, Imported, Level, SourceRule, files, import};
use crate::config::new_rule::NewRule;
use crate::config::read::{Origin, read};
use crate::policy::{Layer, LayerRules};

/// What is to be carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Whose rules.
    pub client: Client,
    /// These files instead of those that the agent reads.
    pub from: Vec<PathBuf>,
    /// The rules hold for this agent alone.
    pub only_agent: bool,
    /// As JSON.
    pub json: bool,
}

/// Where that is asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Here {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The project root.
    pub root: Option<PathBuf>,
}

/// Adds rules to the file of a layer; says which file that is.
pub type Writer<'w> = &'w dyn Fn(Layer, &[NewRule]) -> Result<PathBuf, String>;

/// Lists what the rules become; without a writer nothing is written.
///
/// # Errors
/// When the agent's files, or gsh's, cannot be used.
pub fn run(wanted: &Wanted, here: &Here, writer: Option<Writer<'_>>) -> Result<String, String> {
    let (imported, targets) = found(wanted, here)?;
    let mut written = vec![];
    // The strictest file first: should a later one fail, nothing is let pass by halves.
    for target in targets.iter().rev() {
        if let Some(write) = writer {
            written.push((write(layer(target.level), &target.rules)?, target.rules.len()));
        }
    }
    Ok(if wanted.json {
        json(&imported, &targets)
    } else {
        listing(&imported, &targets, &written, writer.is_some())
    })
}

/// The layers that the rules of an agent would be, lowest first.
///
/// # Errors
/// When the agent's files cannot be used, or there are none.
pub fn layers(client: Client, here: &Here) -> Result<Vec<LayerRules>, String> {
    let wanted = Wanted { client, from: Vec::new(), only_agent: false, json: false };
    let (_, targets) = found(&wanted, here)?;
    let path = PathBuf::from(format!("imported from {}", client.word()));
    let [home, root] = [&here.home, &here.root].map(|path| path.as_ref().and_then(|path| path.to_str()));
    let of = |target: &Target| {
        let layer = layer(target.level);
        let root = root.filter(|_| layer != Layer::User);
        let rules = read(&text_of(&target.rules), &Origin { layer, path: &path, root, home }).layer;
        LayerRules { trusted: true, ..rules }
    };
    Ok(targets.iter().map(of).collect())
}

fn found(wanted: &Wanted, here: &Here) -> Result<(Imported, Vec<Target>), String> {
    let found = match wanted.from.as_slice() {
        [] => files::find(wanted.client, here.home.as_deref(), here.root.as_deref()),
        named => files::named(named, here.root.as_deref()),
    };
    let found = found.map_err(|error| error.to_string())?;
    if found.is_empty() {
        return Err(format!(
            "no rules of {} are found here; name their file with --from",
            wanted.client.word()
        ));
    }
    let text = |path: &PathBuf| path.to_str().map(str::to_owned);
    let around = Around {
        home: here.home.as_ref().and_then(text),
        root: here.root.as_ref().and_then(text),
        only_agent: wanted.only_agent,
    };
    let imported = import(wanted.client, &found, &around).map_err(|error| error.to_string())?;
    let targets = targets(&imported);
    Ok((imported, targets))
}

fn layer(level: Level) -> Layer {
    match level {
        Level::User => Layer::User,
        Level::Project => Layer::Project,
        Level::Local => Layer::UserProject,
    }
}

fn fate(rule: &SourceRule) -> (&'static str, Option<&str>) {
    match &rule.fate {
        Fate::Carried => ("carried", None),
        Fate::Tightened(why) => ("tightened", Some(why)),
        Fate::NotCarried(why) => ("not carried", Some(why)),
    }
}

/// A line for each rule, first what is not carried.
fn listing(imported: &Imported, targets: &[Target], written: &[(PathBuf, usize)], writes: bool) -> String {
    let mut rules: Vec<&SourceRule> = imported.rules.iter().collect();
    rules.sort_by_key(|rule| !matches!(rule.fate, Fate::NotCarried(_)));
    let mut text = String::new();
    for rule in &rules {
        let (word, why) = fate(rule);
        let _ = write!(text, "{}:{}  {}  {word}", visible(&rule.file), rule.line, visible(&rule.rule));
        if let Some(why) = why {
            let _ = write!(text, ": {}", visible(why));
        }
        if !rule.rules.is_empty() {
            let _ = write!(text, "  => {}", visible(&became(&rule.rules)));
        }
        text.push('\n');
    }
    let count = |word| rules.iter().filter(|rule| fate(rule).0 == word).count();
    let _ = writeln!(
        text,
        "\n{} carried, {} tightened, {} not carried. What a command reads, writes, destroys, leaves \
         running or runs in turn is judged by gsh's own rules beside these.",
        count("carried"),
        count("tightened"),
        count("not carried")
    );
    for target in targets.iter().filter(|_| !writes) {
        let _ = writeln!(text, "{} rules are for {}.", target.rules.len(), whose(target.level));
    }
    for (file, count) in written {
        let _ = writeln!(text, "{count} rules written to {}.", visible(&file.to_string_lossy()));
    }
    text
}

fn whose(level: Level) -> &'static str {
    match level {
        Level::User => "your own file",
        Level::Project => "the project's file",
        Level::Local => "your own file for this project",
    }
}

/// The rules on one line: those that differ in their capability alone are told together.
fn became(rules: &[NewRule]) -> String {
    let mut told: Vec<(&NewRule, Vec<&str>)> = vec![];
    for rule in rules {
        let same = |known: &NewRule| (&known.pattern, known.action) == (&rule.pattern, rule.action);
        match told.iter_mut().find(|(known, _)| same(known)) {
            Some((_, capabilities)) => capabilities.push(&rule.capability),
            None => told.push((rule, vec![&rule.capability])),
        }
    }
    let each = told.iter().map(|(rule, capabilities)| {
        format!(
            "{} \"{}\" ({}){}",
            rule.action.word(),
            rule.pattern,
            capabilities.join(", "),
            conditions(rule)
        )
    });
    each.collect::<Vec<_>>().join(", ")
}

fn conditions(rule: &NewRule) -> String {
    let mut told = vec![];
    if !rule.when.modes.is_empty() {
        let modes: Vec<_> = rule.when.modes.iter().map(|mode| mode.word()).collect();
        told.push(format!("in mode {}", modes.join(", ")));
    }
    if let Some(interactive) = rule.when.interactive {
        told.push(format!("{} a terminal", if interactive { "with" } else { "without" }));
    }
    if !rule.when.agents.is_empty() {
        told.push(format!("for {} alone", rule.when.agents.join(", ")));
    }
    if told.is_empty() { String::new() } else { format!(" {}", told.join(", ")) }
}

/// A rule of an agent as data.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    file: &'a str,
    line: usize,
    rule: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
    fate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a str>,
    layer: &'static str,
    rules: Vec<Made<'a>>,
}

/// A rule of gsh as data, with the keys of a file.
#[derive(Debug, Serialize)]
struct Made<'a> {
    capability: &'a str,
    pattern: &'a str,
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    modes: Vec<&'static str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    agent: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    interactive: Option<bool>,
}

/// What one of gsh's files gets.
#[derive(Debug, Serialize)]
struct Filed<'a> {
    layer: &'static str,
    rules: Vec<Made<'a>>,
}

fn json(imported: &Imported, targets: &[Target]) -> String {
    let listed: Vec<_> = imported
        .rules
        .iter()
        .map(|rule| {
            let (word, why) = fate(rule);
            Listed {
                file: &rule.file,
                line: rule.line,
                rule: &rule.rule,
                action: rule.action.map(crate::policy::Verdict::word),
                fate: word,
                why,
                layer: layer(rule.level).word(),
                rules: rule.rules.iter().map(Made::of).collect(),
            }
        })
        .collect();
    let filed: Vec<_> = targets
        .iter()
        .map(|target| Filed {
            layer: layer(target.level).word(),
            rules: target.rules.iter().map(Made::of).collect(),
        })
        .collect();
    let whole =
        serde_json::json!({ "schema": 1, "agent": imported.client.word(), "rules": listed, "files": filed });
    format!("{whole:#}\n")
}

impl<'a> Made<'a> {
    fn of(rule: &'a NewRule) -> Self {
        Self {
            capability: &rule.capability,
            pattern: &rule.pattern,
            action: rule.action.word(),
            reason: rule.reason.as_deref(),
            modes: rule.when.modes.iter().map(|mode| mode.word()).collect(),
            agent: &rule.when.agents,
            interactive: rule.when.interactive,
        }
    }
}
