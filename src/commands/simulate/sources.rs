//! Where commands are found: transcripts of agents, histories of shells, plain texts.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// One command that somebody ran or wanted to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The text.
    pub(super) command: String,
    /// Where, if that is told.
    pub(super) directory: Option<PathBuf>,
}

/// A longer file is no transcript that anybody wants to wait for.
const LONGEST: u64 = 1 << 30;

/// The tools that take a text for a shell, as agents name them (lower case).
const TOOLS: &[&str] = &[
    "bash",
    "shell",
    "local_shell",
    "exec_command",
    "run_shell_command",
    "execute_command",
    "run_terminal_cmd",
    "run_terminal_command",
    "run_command",
    "container.exec",
    "shell_command",
    "terminal",
];

/// Below the home: agents' folders of transcripts.
const PLACES: &[&str] =
    &[".claude/projects", ".codex/sessions", ".gemini/tmp", ".local/share/opencode/storage/part"];

/// The transcripts that agents left below a home.
pub(super) fn transcripts(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in PLACES {
        below(&home.join(place), 0, &mut found);
    }
    found.sort();
    found
}

fn below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() && depth < 6 {
            below(&path, depth + 1, found);
        } else if kind.is_file() && path.extension().is_some_and(|kind| kind == "jsonl" || kind == "json") {
            found.push(path);
        }
    }
}

/// The commands of a file, in order.
///
/// # Errors
/// When it cannot be read.
pub(super) fn read(path: &Path) -> Result<Vec<Found>, String> {
    let told = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    if fs::metadata(path).map_err(|error| told(&error))?.len() > LONGEST {
        return Err(told(&"larger than a gigabyte"));
    }
    let bytes = fs::read(path).map_err(|error| told(&error))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(of_text(&name, &String::from_utf8_lossy(&bytes)))
}

/// The commands of a file's text; its name helps to tell histories apart.
pub(super) fn of_text(name: &str, text: &str) -> Vec<Found> {
    let head = text.trim_start();
    if head.starts_with('{') || head.starts_with('[') {
        return of_json(text);
    }
    if name.contains("fish_history") || head.starts_with("- cmd: ") {
        return plain(of_fish(text));
    }
    if text.lines().any(is_zsh) {
        return plain(of_zsh(text));
    }
    plain(of_lines(text))
}

fn plain(commands: Vec<String>) -> Vec<Found> {
    commands.into_iter().map(|command| Found { command, directory: None }).collect()
}

/// Lines of JSON, or one value.
fn of_json(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if let Ok(whole) = serde_json::from_str::<Value>(text) {
        walk(&whole, None, &mut found);
        return found;
    }
    let mut directory = None;
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        // A session's first line names its directory, or each line does.
        let named = [&value["cwd"], &value["payload"]["cwd"]].into_iter().find_map(Value::as_str);
        directory = named.map(PathBuf::from).or(directory);
        walk(&value, directory.as_deref(), &mut found);
    }
    found
}

/// Every call of a shell tool in a value.
fn walk(value: &Value, directory: Option<&Path>, found: &mut Vec<Found>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| walk(item, directory, found)),
        Value::Object(object) => {
            let directory = object.get("cwd").and_then(Value::as_str).map(Path::new).or(directory);
            match call(value) {
                Some((command, own)) => {
                    let directory = own.or(directory.map(Path::to_owned));
                    found.push(Found { command, directory });
                }
                None => object.values().for_each(|item| walk(item, directory, found)),
            }
        }
        _ => {}
    }
}

/// A call of a shell tool: its text and its directory.
fn call(value: &Value) -> Option<(String, Option<PathBuf>)> {
    let names = ["name", "tool", "tool_name", "toolName"];
    let named = names.iter().find_map(|key| value[*key].as_str()).map(str::to_ascii_lowercase);
    let action = (value["type"] == "local_shell_call").then(|| &value["action"]);
    if action.is_none() && !named.is_some_and(|name| TOOLS.contains(&name.as_str())) {
        return None;
    }
    let inputs = ["input", "arguments", "args", "tool_input", "parameters"];
    let input = action.or_else(|| inputs.iter().map(|key| &value[*key]).find(|input| !input.is_null()));
    let input = input.unwrap_or(&value["state"]["input"]);
    // Some write the arguments as a text of JSON.
    let parsed = input.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let input = parsed.as_ref().unwrap_or(input);
    let command = ["command", "cmd", "script"].iter().find_map(|key| text(&input[*key]))?;
    let directory = ["workdir", "cwd", "directory", "working_directory", "dir_path"]
        .iter()
        .find_map(|key| input[*key].as_str());
    Some((command, directory.map(PathBuf::from)))
}

/// A command as a text, or as the words of one; of `bash -lc TEXT` the text.
fn text(value: &Value) -> Option<String> {
    if let Some(text) = value.as_str() {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = value.as_array()?.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [shell, option, text]
            if matches!(shell.rsplit('/').next(), Some("bash" | "sh" | "zsh"))
                && option.starts_with('-')
                && option.ends_with('c') =>
        {
            Some((*text).to_owned())
        }
        [] => None,
        words => Some(words.iter().map(|word| crate::syntax::quote(word)).collect::<Vec<_>>().join(" ")),
    }
}

/// Commands of bash's history, or a list of lines. With times each command may have several lines.
fn of_lines(text: &str) -> Vec<String> {
    let is_time = |line: &str| {
        line.strip_prefix('#')
            .is_some_and(|time| time.len() >= 9 && time.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let timed = text.lines().next().is_some_and(is_time);
    let mut found: Vec<String> = Vec::new();
    let mut fresh = true;
    for line in text.lines() {
        if is_time(line) {
            fresh = true;
        } else if timed && !fresh {
            if let Some(last) = found.last_mut() {
                last.push('\n');
                last.push_str(line);
            }
        } else if !line.trim().is_empty() && (timed || !line.starts_with('#')) {
            found.push(line.to_owned());
            fresh = false;
        }
    }
    found
}

/// `: TIME:DURATION;COMMAND`
fn is_zsh(line: &str) -> bool {
    let time = line.strip_prefix(": ").and_then(|rest| rest.split_once(';')).map(|(time, _)| time);
    time.is_some_and(|time| {
        time.contains(':') && time.bytes().all(|byte| byte.is_ascii_digit() || byte == b':')
    })
}

fn of_zsh(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let (body, more) = match line.strip_suffix('\\') {
            Some(body) => (body, true),
            None => (line, false),
        };
        match found.last_mut().filter(|_| goes_on) {
            Some(last) => {
                last.push('\n');
                last.push_str(body);
            }
            None => {
                let command = if is_zsh(line) {
                    body.split_once(';').map_or(body, |(_, command)| command)
                } else {
                    body
                };
                found.push(command.to_owned());
            }
        }
        goes_on = more;
    }
    found.retain(|command| !command.trim().is_empty());
    found
}

fn of_fish(text: &str) -> Vec<String> {
    let commands = text.lines().filter_map(|line| line.strip_prefix("- cmd: "));
    commands
        .map(|command| {
            let mut plain = String::new();
            let mut letters = command.chars();
            while let Some(letter) = letters.next() {
                match (letter, letter == '\\') {
                    (_, true) => match letters.next() {
                        Some('n') => plain.push('\n'),
                        Some(other) => plain.push(other),
                        None => plain.push('\\'),
                    },
                    (other, false) => plain.push(other),
                }
            }
            plain
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(name: &str, text: &str) -> Vec<(String, Option<String>)> {
        let found = of_text(name, text).into_iter();
        found.map(|found| (found.command, found.directory.map(|path| path.display().to_string()))).collect()
    }

    #[test]
    fn transcripts_of_agents() {
        let claude = r#"{"type":"user","cwd":"/p","message":{"role":"user","content":"name it bash"}}
{"type":"assistant","cwd":"/p","message":{"content":[{"type":"text","text":"I run ls"},{"type":"tool_use","name":"Bash","input":{"command":"ls src","description":"List"}},{"type":"tool_use","name":"Read","input":{"file_path":"/p/a"}}]}}
not a line of JSON
{"type":"user","cwd":"/p","message":{"content":[{"type":"tool_result","content":"a.rs"}]}}"#;
        let codex = r#"{"type":"session_meta","payload":{"id":"x","cwd":"/q"}}
{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"rg foo | head\"],\"workdir\":\"/q/sub\"}"}}
{"type":"response_item","payload":{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"make test\"}"}}
{"type":"response_item","payload":{"type":"local_shell_call","action":{"type":"exec","command":["git","commit","-m","a b"]}}}
{"type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{}"}}"#;
        let other = r#"[{"role":"model","parts":[{"functionCall":{"name":"run_shell_command","args":{"command":"npm test"}}}]}]"#;
        let owned = |rows: &[(&str, Option<&str>)]| -> Vec<(String, Option<String>)> {
            rows.iter().map(|(text, place)| ((*text).to_owned(), place.map(str::to_owned))).collect()
        };
        assert_eq!(commands("x.jsonl", claude), owned(&[("ls src", Some("/p"))]));
        let expected = [
            ("rg foo | head", Some("/q/sub")),
            ("make test", Some("/q")),
            ("git commit -m 'a b'", Some("/q")),
        ];
        assert_eq!(commands("x.jsonl", codex), owned(&expected));
        assert_eq!(commands("x.json", other), owned(&[("npm test", None)]));
        let gemini = r#"{"sessionId":"x","messages":[{"type":"gemini","toolCalls":[{"name":"run_shell_command","args":{"command":"ls docs","dir_path":"/r"}}]}]}"#;
        assert_eq!(commands("session-1.json", gemini), owned(&[("ls docs", Some("/r"))]));
        let opencode = r#"{"type":"tool","tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"make all","workdir":"/s"}}}"#;
        assert_eq!(commands("prt_1.json", opencode), owned(&[("make all", Some("/s"))]));
    }

    #[test]
    fn histories_of_shells() {
        for (name, text, expected) in [
            (".bash_history", "ls\n\ngit log\n", &["ls", "git log"][..]),
            (
                ".bash_history",
                "#1700000000\nfor i in 1; do\necho $i\ndone\n#1700000009\nls\n",
                &["for i in 1; do\necho $i\ndone", "ls"],
            ),
            (
                ".zsh_history",
                ": 1700000000:0;ls -la\n: 1700000001:2;echo a\\\nb\nplain\n",
                &["ls -la", "echo a\nb", "plain"],
            ),
            (
                "fish_history",
                "- cmd: echo a\\nb\n  when: 1700000000\n- cmd: ls\n  when: 1\n  paths:\n    - x\n",
                &["echo a\nb", "ls"],
            ),
            ("list.txt", "# a list\nls\nmake\n", &["ls", "make"]),
        ] {
            let found: Vec<String> = of_text(name, text).into_iter().map(|found| found.command).collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
