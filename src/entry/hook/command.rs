//! The commands that a shell tool is given: one text, a list of them, or the words of one program.

use serde_json::Value;

use super::event::first;
use crate::syntax::quote;

const COMMANDS: &[&str] = &["command", "cmd", "command_line", "CommandLine", "commandLine", "script"];
const FOLDERS: &[&str] =
    &["workdir", "working_dir", "working_directory", "workingDirectory", "dir_path", "directory", "cwd"];

/// The folder that the tool is told to run them in.
pub(super) fn folder(input: &Value) -> Option<String> {
    first(input, FOLDERS)
}

/// The texts for a shell: one, a list of them, or the words of one program.
pub(super) fn commands(input: &Value) -> Option<Vec<String>> {
    if let Some(list) = input.get("commands").and_then(Value::as_array) {
        let texts: Option<Vec<String>> = list.iter().map(one_command).collect();
        return texts.filter(|texts| !texts.is_empty());
    }
    if let Some(text) = input.get("commands").and_then(Value::as_str) {
        return Some(vec![text.to_owned()]);
    }
    let found: Vec<String> =
        COMMANDS.iter().filter_map(|key| input.get(key)).filter_map(words_or_text).collect();
    (!found.is_empty()).then_some(found)
}

/// A text, or a program with its words under `command` and `args`.
fn one_command(value: &Value) -> Option<String> {
    if value.is_object() {
        let words = value.get("args").and_then(Value::as_array).cloned().unwrap_or_default();
        let program = value.get("command")?.as_str()?;
        let words: Option<Vec<String>> = words.iter().map(|word| Some(quote(word.as_str()?))).collect();
        let words = words?;
        // Without words it is a text of its own.
        return Some(if words.is_empty() {
            program.to_owned()
        } else {
            format!("{} {}", quote(program), words.join(" "))
        });
    }
    words_or_text(value)
}

fn words_or_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.iter().map(|word| Some(quote(word.as_str()?))).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}
