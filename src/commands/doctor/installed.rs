//! The hooks of ours in an agent's files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::matching::{self, Gap};
use crate::commands::doors::View;
use crate::config::agent_settings::{is_ours, value_at};
use crate::policy::agents::{Form, Format, Hook, Known, Layer};

/// A hook of ours in an agent's files.
#[derive(Debug)]
pub(super) struct Installed {
    pub(super) file: PathBuf,
    /// For whom the file speaks; None for one that only holds hooks.
    pub(super) layer: Option<Layer>,
    pub(super) command: String,
    /// It says that a failure refuses.
    pub(super) holds: bool,
    /// The place of its entry among those of its event, and its own place in that.
    pub(super) place: (usize, usize),
    /// Why it is not asked about every command, though it is there.
    pub(super) gap: Option<Gap>,
}

/// The one that is asked about every command, if there is one, else the first.
pub(super) fn installed(agent: &Known, hook: &Hook, view: &View<'_>) -> Option<Installed> {
    let own: Vec<(&str, Option<Layer>)> =
        hook.project.into_iter().chain(hook.user).map(|path| (path, None)).collect();
    let settings = agent.settings.iter().map(|settings| (settings.path, Some(settings.layer)));
    let files = if own.is_empty() { settings.collect() } else { own };
    let end = format!(" hook {}", hook.dialect);
    let files = files.into_iter().filter_map(|(path, layer)| Some((view.file(path)?, layer)));
    let mut all = files.flat_map(|(file, layer)| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let held = held(hook, &file, &text, &end).into_iter();
        held.map(|found| Installed { layer, ..found }).collect::<Vec<_>>()
    });
    let first = all.next()?;
    if first.gap.is_none() { Some(first) } else { all.find(|found| found.gap.is_none()).or(Some(first)) }
}

/// The hooks of ours that a file holds.
fn held(hook: &Hook, file: &Path, text: &str, end: &str) -> Vec<Installed> {
    let own = |command: String, holds| Installed {
        file: file.into(),
        layer: None,
        command,
        holds,
        place: (0, 0),
        gap: None,
    };
    match hook.form {
        Form::Program if text.contains(end) => return vec![own(file.display().to_string(), false)],
        // A plugin of ours throws whatever happens.
        Form::Plugin if text.contains("gsh") => return vec![own(String::new(), true)],
        Form::Program | Form::Plugin => return vec![],
        _ => {}
    }
    let value = value_at(Format::Json, text, hook.key).unwrap_or_default();
    let block = hook.block.and_then(|block| block.split_once(" = "));
    let mut all = vec![];
    for (at, group) in value.as_array().into_iter().flatten().enumerate() {
        for entry in matching::of(group, end) {
            let Some(command) = command(entry, end) else { continue };
            let holds = block.is_some_and(|(name, word)| is_word(entry.get(name), word));
            let gap = matching::gap(hook, group, entry);
            all.push(Installed { place: (at, place_in(group, entry)), gap, ..own(command, holds) });
        }
    }
    all
}

/// At which place of a group's hooks an entry stands.
fn place_in(group: &Value, entry: &Value) -> usize {
    let hooks = group.get("hooks").and_then(Value::as_array);
    hooks.and_then(|hooks| hooks.iter().position(|hook| hook == entry)).unwrap_or_default()
}

/// Whether a value is this word of JSON.
pub(super) fn is_word(value: Option<&Value>, word: &str) -> bool {
    value.map(Value::to_string).as_deref() == Some(word)
}

/// The text in an entry of ours that ends so.
fn command(value: &Value, end: &str) -> Option<String> {
    match value {
        Value::String(text) => is_ours(value, end).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(|item| command(item, end)),
        Value::Object(entries) => entries.values().find_map(|item| command(item, end)),
        _ => None,
    }
}
