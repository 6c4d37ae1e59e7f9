//! How a hook of an agent is written down.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::plan::Step;
use super::{NotSetUp, Place};
use crate::config::agent_settings::{Edit, Kind};
use crate::policy::agents::{Form, Format, Hook, Known, PLUGIN, Unit};

/// What a hook waits for beyond what a question may keep the agent waiting: the rest is quick.
const SPARE: u64 = 20;
/// What a question may take where the agent's own limit is not known.
const UNKNOWN: u64 = 100;

/// The file of the hook as it is to be.
pub(super) fn step(
    agent: &Known,
    hook: &Hook,
    at: PathBuf,
    (place, project): (&Place<'_>, bool),
) -> Result<Step, NotSetUp> {
    let end = format!(" hook {}", hook.dialect);
    let command = format!("{}{end}", quoted(&place.program.to_string_lossy()));
    Ok(match hook.form {
        Form::Program => {
            let text = format!("#!/bin/sh\n# Made by gsh init {}.\nexec {command}\n", agent.name);
            Step::Text { at, text, mode: 0o755, mark: "Made by gsh init" }
        }
        Form::Plugin => {
            let text = PLUGIN.ok_or_else(|| NotSetUp::NoDoor("this gsh holds no plugin".to_owned()))?;
            // The gsh that wrote it, where it would look for one on PATH.
            let own = format!("|| {:?}", place.program.to_string_lossy());
            Step::Text { at, text: text.replace("|| \"gsh\"", &own), mode: 0o644, mark: "gsh" }
        }
        _ => {
            let edits = edits(agent, hook, &command, end);
            Step::Edit { at, format: Format::Json, edits, project }
        }
    })
}

fn edits(agent: &Known, hook: &Hook, command: &str, end: String) -> Vec<Edit> {
    let owned = |key: &[&str]| key.iter().map(|part| (*part).to_owned()).collect::<Vec<String>>();
    let version = Edit { key: vec!["version".to_owned()], value: json!(1), kind: Kind::Default };
    let at = |key: &[&str], matcher: Option<&str>| {
        let mut value = entry(agent, hook, command);
        if let (Some(own), Some(matcher)) = (value.as_object_mut(), matcher) {
            own.insert("matcher".to_owned(), matcher.into());
        }
        Edit { key: owned(key), value, kind: Kind::Entry(end.clone()) }
    };
    let first = matches!(hook.form, Form::Copilot | Form::Cursor).then_some(version);
    let more = hook.more.iter().map(|(key, matcher)| at(key, *matcher));
    first.into_iter().chain([at(hook.key, None)]).chain(more).collect()
}

fn entry(agent: &Known, hook: &Hook, command: &str) -> Value {
    let seconds = agent.seconds.unwrap_or(UNKNOWN) + SPARE;
    let time = match hook.unit {
        Some(Unit::Milliseconds) => Some(seconds * 1000),
        Some(Unit::Seconds) => Some(seconds),
        None => None,
    };
    let mut own = Map::new();
    match hook.form {
        Form::Crush => {
            own.insert("name".to_owned(), "gsh".into());
            own.extend(hook.matcher.map(|matcher| ("matcher".to_owned(), matcher.into())));
        }
        Form::Matched | Form::Copilot | Form::Listed => {
            own.insert("type".to_owned(), "command".into());
        }
        _ => {}
    }
    let (word, limit) =
        if hook.form == Form::Copilot { ("bash", "timeoutSec") } else { ("command", "timeout") };
    own.insert(word.to_owned(), command.into());
    own.extend(time.map(|time| (limit.to_owned(), time.into())));
    if hook.form == Form::Windsurf {
        own.insert("show_output".to_owned(), true.into());
    }
    if let Some((name, value)) = hook.block.and_then(|block| block.split_once(" = ")) {
        own.insert(name.to_owned(), serde_json::from_str(value).unwrap_or_default());
    }
    match hook.form {
        Form::Matched => json!({ "matcher": hook.matcher, "hooks": [own] }),
        _ => Value::Object(own),
    }
}

/// A path as one word of a shell.
pub(super) fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '@');
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}
