//! The house: who may import whom, who may make what.

use std::fs;
use std::path::{Path, PathBuf};

/// The ladder: a room may import only from rooms above it.
const LADDER: &[&str] = &[
    "report", "request", "host", "syntax", "facts", "envelope", "policy", "decision", "sys", "store",
    "config", "audit", "review", "ask", "run", "pipeline", "entry", "commands", "cli",
];

/// Rooms that see the machine only through `Host`.
const PURE: &[&str] = &["syntax", "facts", "envelope", "policy", "decision"];

/// One broken rule of the house.
#[derive(Debug, PartialEq, Eq)]
struct Violation(String);

fn room(path: &str) -> &str {
    let inside = path.strip_prefix("src/").unwrap_or(path);
    inside.split(['/', '.']).next().unwrap_or("")
}

fn rank(room: &str) -> Option<usize> {
    LADDER.iter().position(|each| *each == room)
}

/// The text without comments, and without the tests at its end.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or("");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Names after every `crate::` of a text, also those in braces.
fn imports(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for piece in code.split("crate::").skip(1) {
        if let Some(list) = piece.strip_prefix('{') {
            let mut depth = 0;
            let mut name = String::new();
            for character in list.chars() {
                match character {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => found.push(std::mem::take(&mut name)),
                    _ if depth == 0 && !character.is_whitespace() => name.push(character),
                    _ => {}
                }
            }
            found.push(name);
        } else {
            found.push(piece.to_owned());
        }
    }
    let word =
        |text: String| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    found.into_iter().map(word).filter(|name| !name.is_empty()).collect()
}

fn violations(files: &[(String, String)]) -> Vec<Violation> {
    let mut found = Vec::new();
    for (path, text) in files {
        let (own, code) = (room(path), code(text));
        if matches!(own, "lib" | "main") || path.ends_with("/tests.rs") {
            continue;
        }
        let Some(own_rank) = rank(own) else {
            found.push(Violation(format!("{path}: the room {own} is not on the ladder")));
            continue;
        };
        for name in imports(&code) {
            if rank(&name).is_some_and(|rank| rank > own_rank) {
                found.push(Violation(format!("{path}: imports {name}, which is below it")));
            }
        }
        let starts = ["Command::new(", "execv(", "execve(", "execvp(", "posix_spawn", "fork("];
        if !matches!(own, "run" | "sys") && starts.iter().any(|start| code.contains(start)) {
            found.push(Violation(format!("{path}: starts a program; only run and sys do")));
        }
        if code.contains("unsafe ") && own != "sys" {
            found.push(Violation(format!("{path}: unsafe code lives in sys")));
        }
        if code.contains("Decision {")
            && !code.contains("struct Decision {")
            && path != "src/decision/decide.rs"
        {
            found.push(Violation(format!("{path}: makes a decision; only decision/decide.rs does")));
        }
        if code.contains("Approved::") && !matches!(own, "run" | "pipeline") {
            found.push(Violation(format!("{path}: approves; only the pipeline does")));
        }
        if ["tree_sitter", "brush_parser"].iter().any(|parser| code.contains(parser)) && own != "syntax" {
            found.push(Violation(format!("{path}: a parser's nodes do not leave syntax")));
        }
    }
    found
}

fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(dir).expect("a folder").map(|e| e.expect("an entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            let name = path.strip_prefix(root).expect("inside").to_string_lossy().into_owned();
            found.push((name, fs::read_to_string(&path).expect("a source")));
        }
    }
}

fn all() -> Vec<(String, String)> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found
}

#[test]
fn the_house_is_in_order() {
    let found = violations(&all());
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_seeded_violation_is_caught() {
    for (path, text) in [
        ("src/facts/x.rs", "use crate::decision::Decision;"),
        ("src/policy/x.rs", "use crate::{report::Span, run::Outcome};"),
        ("src/commands/x.rs", "fn f() { std::process::Command::new(\"x\"); }"),
        ("src/entry/x.rs", "fn f() -> Decision { Decision { verdict } }"),
        ("src/commands/x.rs", "fn f() { Approved::new(); }"),
        ("src/run/x.rs", "fn f() { unsafe { g() } }"),
        ("src/facts/x.rs", "use tree_sitter::Node;"),
        ("src/facts/x.rs", "use brush_parser::ast::Word;"),
        ("src/shed/x.rs", ""),
    ] {
        let found = violations(&[(path.to_owned(), text.to_owned())]);
        assert_eq!(found.len(), 1, "{path}: {text}: {found:?}");
    }
    let fine =
        [("src/commands/x.rs".to_owned(), "use crate::decision::Decision;\n// Command::new(".to_owned())];
    assert_eq!(violations(&fine), []);
}

#[test]
fn pure_rooms_forbid_the_machine() {
    for room in PURE {
        let path = format!("src/{room}/mod.rs");
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path))
            .expect("a room has a mod.rs");
        assert!(text.contains("#![forbid(clippy::disallowed_methods)]"), "{path}");
    }
}

#[test]
fn the_story_is_short() {
    let (_, text) = all().into_iter().find(|(path, _)| path == "src/pipeline.rs").expect("there is a story");
    let told = code(&text);
    let lines = told.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("use ")).count();
    assert!(lines < 60, "pipeline.rs has {lines} lines of code");
}
