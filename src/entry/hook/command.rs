//! The commands that a shell tool is given: one text, a list of them, or the words of one program.
//!
//! Which of the keys an agent reads is known to the agent alone, and whoever wrote the input may have put in others
//! beside it. So whatever stands behind any of them counts.

use serde_json::Value;

use super::event::every;
use crate::syntax::quote;

const COMMANDS: &[&str] = &["command", "cmd", "command_line", "CommandLine", "commandLine", "script"];
const FOLDERS: &[&str] =
    &["workdir", "working_dir", "working_directory", "workingDirectory", "dir_path", "directory", "cwd"];

/// The folders that the tool may be told to run them in, of which the agent reads those behind its `own` keys; an
/// empty one stands for the event's.
pub(super) fn folders(input: &Value, own: &[&str]) -> Vec<String> {
    let mut found = every(input, own);
    if found.is_empty() {
        found.push(String::new());
    }
    for other in every(input, FOLDERS) {
        if !found.contains(&other) {
            found.push(other);
        }
    }
    found
}

/// The texts for a shell: one, a list of them, or the words of one program. None where there is no text. What is
/// neither stands as it is beside the others, and is no command that anybody knows.
pub(super) fn commands(input: &Value) -> Option<Vec<String>> {
    let mut given: Vec<&Value> = Vec::new();
    match input.get("commands") {
        Some(Value::Array(list)) => given.extend(list),
        other => given.extend(other),
    }
    given.extend(COMMANDS.iter().filter_map(|key| input.get(key)));
    let is_text = |value: &&Value| value.is_string() || words_of(value).is_some() || program(value).is_some();
    if !given.iter().any(is_text) {
        return None;
    }
    let mut texts: Vec<String> = Vec::new();
    for text in given.into_iter().flat_map(one_command) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    Some(texts)
}

/// The program of an object that names one.
fn program(value: &Value) -> Option<&str> {
    value.get("command")?.as_str()
}

/// A text, or a program with its words under `command` and `args`.
fn one_command(value: &Value) -> Vec<String> {
    let Some(program) = program(value) else { return text(value).into_iter().collect() };
    match value.get("args") {
        // Without words it is a text of its own.
        None | Some(Value::Null) => vec![program.to_owned()],
        Some(Value::Array(words)) if words.is_empty() => vec![program.to_owned()],
        Some(Value::String(rest)) => vec![format!("{program} {rest}")],
        Some(words) => match words_of(words) {
            Some(words) => vec![format!("{} {words}", quote(program))],
            None => [Some(program.to_owned()), text(words)].into_iter().flatten().collect(),
        },
    }
}

/// A text, or the words of a program; None where nothing is given. Anything else is the word of a program of no name.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(words_of(other).unwrap_or_else(|| format!("'' {}", quote(&other.to_string())))),
    }
}

fn words_of(value: &Value) -> Option<String> {
    let words: Option<Vec<String>> =
        value.as_array()?.iter().map(|word| Some(quote(word.as_str()?))).collect();
    words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
}
