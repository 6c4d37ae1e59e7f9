//! The notation of the program tables (README.md beside this file), read into an owned model.
//!
//! `build.rs` includes this file too: a table that breaks the notation does not compile.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// The roles a word can have (kebab-case names of `Role`).
pub(crate) const ROLES: &[&str] = &[
    "read",
    "open",
    "read-tree",
    "search-tree",
    "list",
    "create",
    "append",
    "write",
    "edit",
    "delete",
    "delete-tree",
    "move-from",
    "put-to",
    "mode",
    "mode-tree",
    "device",
    "pattern",
    "load",
];
/// What else a word can be for.
pub(crate) const SPECIAL: &[&str] = &[
    "data",
    "out",
    "directory",
    "shell",
    "code",
    "shell-code",
    "command",
    "shell-words",
    "shell-file",
    "assignment",
    "plain",
    "package",
    "remote",
    "local",
    "setting",
    "unexplained",
];
/// Small languages with a reader of their own.
pub(crate) const LANGUAGES: &[&str] = &[
    "sed-script",
    "awk-program",
    "jq-program",
    "git-setting",
    "git-format",
    "declaration",
    "env-split",
    "sql-postgres",
    "sql-mysql",
    "sql-sqlite",
    "sql-duckdb",
    "sql-plain",
    "host",
    "database",
    "url",
    "path-or-url",
    "at-file",
    "pipe-file",
    "yq-program",
    "image",
    "forge",
];
/// Effects that are no file's.
pub(crate) const ACTS: &[&str] = &[
    "network",
    "query",
    "git-modify",
    "background",
    "power",
    "kill-all",
    "delete-user",
    "reveal-secrets",
    "shell-state",
    "canary",
    "disarm",
    "destroy-remote",
    "interactive",
];
/// Why something is not explained.
pub(crate) const CAUSES: &[&str] = &[
    "unknown-option",
    "opaque-code",
    "executing-environment",
    "dynamic-word",
    "dynamic-path",
    "unsupported-shell",
];
/// Kinds of output.
pub(crate) const OUTPUTS: &[&str] = &[
    "any",
    "nothing",
    "input-lines",
    "input",
    "number",
    "name",
    "git-ref",
    "paths",
    "listing",
    "current-directory",
];
/// Words of `style`.
const STYLES: &[&str] = &["first", "exact", "words", "raw", "equals"];
/// Words of `wrapper`.
pub(crate) const WRAPPERS: &[&str] = &["transparent", "escalating", "multiplying"];
/// Roles by which nothing is changed and nothing runs.
const HARMLESS: &[&str] = &["read", "read-tree", "search-tree", "list", "pattern", "data"];

/// One program or subcommand, as it stands in a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Source {
    options: String,
    common: String,
    subs: String,
    source: String,
    prefer: String,
    housekeeping: String,
    operands: String,
    effects: String,
    alone: String,
    bare: String,
    style: String,
    arity: Option<usize>,
    wrapper: Option<String>,
    reader: Option<String>,
    check: Option<String>,
    help: Option<String>,
    sub: BTreeMap<String, Source>,
}

/// One program or subcommand, read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Model {
    pub(crate) options: Vec<OptionModel>,
    pub(crate) slots: Vec<SlotModel>,
    pub(crate) effects: Vec<EffectModel>,
    pub(crate) alone: Vec<EffectModel>,
    pub(crate) bare: Vec<EffectModel>,
    pub(crate) style: Vec<String>,
    pub(crate) arity: usize,
    pub(crate) wrapper: Option<String>,
    pub(crate) reader: Option<String>,
    pub(crate) check: Option<String>,
    pub(crate) help: Vec<String>,
    pub(crate) source: String,
    pub(crate) prefer: String,
    pub(crate) housekeeping: Vec<String>,
    /// Names, or patterns of names, with one `*`.
    pub(crate) subcommands: Vec<Named>,
}

/// A subcommand by its name, or a pattern of names.
pub(crate) type Named = (String, Rc<Model>);

/// Names that mean the same, the value they take, and what they do.
#[derive(Debug, Clone)]
pub(crate) struct OptionModel {
    pub(crate) names: Vec<String>,
    pub(crate) value: Option<WhatModel>,
    pub(crate) second: Option<WhatModel>,
    pub(crate) optional: bool,
    pub(crate) effects: Vec<EffectModel>,
}

/// An operand's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlotModel {
    pub(crate) what: WhatModel,
    pub(crate) repeated: bool,
    pub(crate) default: Option<String>,
}

/// What a word is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WhatModel {
    Role(String),
    Special(String),
    Language(String),
    Act(String),
    OneOf(Vec<String>),
}

/// What an option or a program does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EffectModel {
    Recast(String, String),
    NoFirst,
    Operands(Vec<SlotModel>),
    Act(String),
    Unexplained(String),
    Output(String),
    Runs(String),
    Spares(String),
    Loads(String),
    Use(String, String),
    Code,
    ShellInput,
    Dry,
}

/// What tables share (`%name`), by name: a set of options, and of subcommands.
pub(crate) type Shared = BTreeMap<String, Source>;

impl Model {
    /// Reads one table; `inherited` is the option text of the programs above it.
    pub(crate) fn read(source: &Source, shared: &Shared, inherited: &str) -> Result<Self, String> {
        Self::at(1, source, shared, inherited)
    }

    /// The same of a table whose words that name it are so many, where it says nothing else.
    fn at(arity: usize, source: &Source, shared: &Shared, inherited: &str) -> Result<Self, String> {
        let common = format!("{inherited}\n{}", source.common);
        let text = format!("{}\n{common}", source.options);
        let mut model = Self {
            slots: slots(&source.operands, ' ')?,
            effects: effects(&source.effects)?,
            alone: effects(&source.alone)?,
            bare: effects(&source.bare)?,
            style: words(&source.style),
            arity: source.arity.unwrap_or(arity),
            wrapper: source.wrapper.clone(),
            reader: source.reader.clone(),
            check: source.check.clone(),
            help: words(source.help.as_deref().unwrap_or("--help --version")),
            source: source.source.clone(),
            prefer: source.prefer.clone(),
            housekeeping: words(&source.housekeeping),
            ..Self::default()
        };
        options(&text, shared, &mut model.options)?;
        for style in &model.style {
            known(style, STYLES)?;
        }
        if let Some(wrapper) = &model.wrapper {
            known(wrapper, WRAPPERS)?;
        }
        let sets = words(&source.subs);
        let mut sets: Vec<&Source> = sets
            .iter()
            .map(|name| shared.get(name).ok_or(format!("no set `{name}`")))
            .collect::<Result<_, _>>()?;
        // Of two subcommands with one name the later holds: the table's own come last.
        sets.reverse();
        sets.push(source);
        let mut found = BTreeMap::new();
        for (names, sub) in sets.into_iter().flat_map(|set| &set.sub) {
            let deeper = if model.arity > 0 { model.arity + 1 } else { 1 };
            let read = Self::at(deeper, sub, shared, &common).map_err(|error| format!("{names}: {error}"))?;
            let read = Rc::new(read);
            for name in names.split_whitespace() {
                if name.matches('*').count() > 1 {
                    return Err(format!("`{name}` has more than one `*`"));
                }
                found.insert(name.to_owned(), Rc::clone(&read));
            }
        }
        model.subcommands = found.into_iter().collect();
        Ok(model)
    }

    /// Subcommands that a name alone finds, sorted; and those behind a pattern, the most particular first.
    pub(crate) fn named_and_patterns(&self) -> (Vec<&Named>, Vec<&Named>) {
        let (mut patterns, named): (Vec<_>, Vec<_>) =
            self.subcommands.iter().partition(|(name, _)| name.contains('*'));
        patterns.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        (named, patterns)
    }

    /// Option names with the place of their option, sorted. An earlier entry wins over a later one.
    pub(crate) fn names(&self) -> Vec<(String, usize)> {
        let mut names = BTreeMap::new();
        for (index, option) in self.options.iter().enumerate() {
            for name in &option.names {
                names.entry(name.clone()).or_insert(index);
            }
        }
        names.into_iter().collect()
    }

    /// Whether no option and no operand can do more than read.
    pub(crate) fn is_pure(&self) -> bool {
        let effect = |effect: &EffectModel| match effect {
            EffectModel::Recast(_, to) | EffectModel::Use(to, _) => HARMLESS.contains(&to.as_str()),
            EffectModel::Operands(slots) => slots.iter().all(|slot| slot.what.is_harmless()),
            EffectModel::NoFirst | EffectModel::Output(_) | EffectModel::Spares(_) => true,
            _ => false,
        };
        self.subcommands.is_empty()
            && self.wrapper.is_none()
            && self.check.is_none()
            && self.slots.iter().all(|slot| slot.what.is_harmless())
            && self.options.iter().all(|option| {
                option.value.as_ref().is_none_or(WhatModel::is_harmless)
                    && option.second.as_ref().is_none_or(WhatModel::is_harmless)
                    && option.effects.iter().all(effect)
            })
    }
}

impl WhatModel {
    fn read(word: &str) -> Result<Self, String> {
        if let Some(list) = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            return Ok(Self::OneOf(list.split('|').map(str::to_owned).collect()));
        }
        let owned = word.to_owned();
        match word {
            _ if ROLES.contains(&word) => Ok(Self::Role(owned)),
            _ if SPECIAL.contains(&word) => Ok(Self::Special(owned)),
            _ if LANGUAGES.contains(&word) => Ok(Self::Language(owned)),
            _ if ACTS.contains(&word) => Ok(Self::Act(owned)),
            _ => Err(format!("`{word}` is no role")),
        }
    }

    fn is_harmless(&self) -> bool {
        match self {
            Self::Role(word) | Self::Special(word) => HARMLESS.contains(&word.as_str()),
            Self::OneOf(_) => true,
            Self::Language(_) | Self::Act(_) => false,
        }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn known(word: &str, list: &[&str]) -> Result<String, String> {
    if list.contains(&word) { Ok(word.to_owned()) } else { Err(format!("unknown word `{word}`")) }
}

/// `pattern read*`, `read* put-to`, `search-tree*(.)`.
fn slots(text: &str, separator: char) -> Result<Vec<SlotModel>, String> {
    text.split(separator).map(str::trim).filter(|word| !word.is_empty()).map(slot).collect()
}

fn slot(word: &str) -> Result<SlotModel, String> {
    let (word, default) = match word.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        Some((word, default)) => (word, Some(default.to_owned())),
        None => (word, None),
    };
    let (word, repeated) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
    Ok(SlotModel { what: WhatModel::read(word)?, repeated, default })
}

/// `read>edit act=git-modify runs=diff.external`.
fn effects(text: &str) -> Result<Vec<EffectModel>, String> {
    text.split_whitespace().map(effect).collect()
}

fn effect(word: &str) -> Result<EffectModel, String> {
    if let Some((from, to)) = word.split_once('>') {
        return Ok(EffectModel::Recast(known(from, ROLES)?, known(to, ROLES)?));
    }
    let (key, value) = word.split_once('=').unwrap_or((word, ""));
    match key {
        "no-first" => Ok(EffectModel::NoFirst),
        "dry" => Ok(EffectModel::Dry),
        "operands" => Ok(EffectModel::Operands(slots(value, ',')?)),
        "act" => Ok(EffectModel::Act(known(value, ACTS)?)),
        "unexplained" => Ok(EffectModel::Unexplained(known(value, CAUSES)?)),
        "output" => Ok(EffectModel::Output(known(value, OUTPUTS)?)),
        "runs" => Ok(EffectModel::Runs(value.to_owned())),
        "spares" => Ok(EffectModel::Spares(value.to_owned())),
        "loads" => Ok(EffectModel::Loads(value.to_owned())),
        "input" if value == "code" => Ok(EffectModel::Code),
        "input" if value == "shell" => Ok(EffectModel::ShellInput),
        "use" => {
            let slot = slot(value)?;
            match (slot.what, slot.default) {
                (WhatModel::Role(role), Some(path)) => Ok(EffectModel::Use(role, path)),
                _ => Err(format!("`{word}` needs a role and a path")),
            }
        }
        _ => Err(format!("unknown effect `{word}`")),
    }
}

/// One entry a line; `%name` puts a shared set in.
fn options(text: &str, shared: &Shared, found: &mut Vec<OptionModel>) -> Result<(), String> {
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if line.starts_with('%') {
            let set = shared.get(line).ok_or_else(|| format!("no option set `{line}`"))?;
            options(&set.options, shared, found)?;
        } else {
            found.push(option(line)?);
        }
    }
    Ok(())
}

fn option(line: &str) -> Result<OptionModel, String> {
    let (left, right) = line.split_once(" : ").unwrap_or((line, ""));
    let (then, right): (Vec<&str>, Vec<&str>) =
        right.split_whitespace().partition(|word| word.starts_with("then="));
    let second = then.first().and_then(|word| word.strip_prefix("then=")).map(WhatModel::read).transpose()?;
    let effects = effects(&right.join(" "))?;
    let mut option = OptionModel { names: words(left), value: None, second, optional: false, effects };
    if let Some(last) = option.names.last_mut() {
        let plain = last.trim_end_matches(']');
        if let Some((name, what)) = plain.split_once('=') {
            option.optional = name.ends_with('[');
            option.value = Some(WhatModel::read(what)?);
            *last = name.trim_end_matches('[').to_owned();
        }
    }
    let odd = |name: &&String| {
        !name.starts_with(['-', '+']) || name.matches('*').count() > usize::from(name.starts_with("--"))
    };
    match option.names.iter().find(odd) {
        Some(name) => Err(format!("`{name}` is no option name in `{line}`")),
        None => Ok(option),
    }
}
