//! The reading of a gate that trusts the grammar: every `command` node, its children without their quotes.

use std::collections::BTreeSet;

use tree_sitter::{Node, Parser};

use super::super::items::{ARITHMETIC, Items, PARAMETER, PROCESS_INPUT, PROCESS_OUTPUT, SUBSTITUTION};

/// A text of `tests/cases/misparse.txt` with what bash runs.
#[derive(Default)]
pub(super) struct Case {
    pub(super) text: String,
    pub(super) runs: BTreeSet<String>,
    pub(super) error: bool,
}

pub(super) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("../../../../tests/cases/misparse.txt").lines() {
        if let Some(text) = line.strip_prefix("> ") {
            cases.push(Case { text: decoded(text), ..Case::default() });
        } else if let (Some(item), Some(case)) = (line.strip_prefix("  "), cases.last_mut()) {
            match item {
                "error" => case.error = true,
                "[]" => {}
                _ => {
                    case.runs.insert(decoded(item));
                }
            }
        }
    }
    cases
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        let (kind, after) = after.split_at(1);
        let digits = match kind {
            "x" => 2,
            "u" => 4,
            _ => 0,
        };
        let (code, after) = after.split_at(digits);
        rest = after;
        match kind {
            "n" => bytes.push(b'\n'),
            "t" => bytes.push(b'\t'),
            "r" => bytes.push(b'\r'),
            "v" => bytes.push(11),
            "f" => bytes.push(12),
            "x" => bytes.push(u8::from_str_radix(code, 16).expect("two digits")),
            "u" => {
                let c = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).expect("a character");
                bytes.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
            _ => bytes.push(b'\\'),
        }
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What such a gate sees, in the notation of the case file.
pub(super) fn commands(text: &str) -> BTreeSet<String> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).expect("the grammar fits the parser");
    let tree = parser.parse(text, None).expect("no limit is set");
    let (mut items, mut open) = (Items::default(), vec![tree.root_node()]);
    while let Some(node) = open.pop() {
        let (mut assignments, mut words) = (Vec::new(), Vec::new());
        for child in children(node) {
            match child.kind() {
                "file_redirect" | "heredoc_redirect" | "herestring_redirect" | "comment" => {}
                "variable_assignment" if words.is_empty() => assignments.push(word(child, text)),
                _ => words.push(word(child, text)),
            }
        }
        match node.kind() {
            "command" => items.command(&assignments, &words),
            "declaration_command" | "unset_command" => {
                let name = text[node.start_byte()..node.end_byte()].split_whitespace().next().unwrap_or("");
                words = [vec![name.to_owned()], assignments, words].concat();
                items.command(&[], &words);
            }
            "variable_assignment" => {
                let inside = node.parent().is_some_and(|parent| parent.kind().ends_with("command"));
                if !inside {
                    items.command(&[word(node, text)], &[]);
                }
            }
            _ => {}
        }
        open.extend(children(node));
    }
    shown(&items)
}

fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).collect()
}

fn word(node: Node<'_>, text: &str) -> String {
    let raw = &text[node.start_byte()..node.end_byte()];
    match node.kind() {
        "raw_string" => raw.trim_matches('\'').to_owned(),
        "string" if node.named_child_count() == 0 => raw.trim_matches('"').to_owned(),
        "simple_expansion" | "expansion" => PARAMETER.to_owned(),
        "command_substitution" => SUBSTITUTION.to_owned(),
        "process_substitution" if raw.starts_with('<') => PROCESS_INPUT.to_owned(),
        "process_substitution" => PROCESS_OUTPUT.to_owned(),
        "arithmetic_expansion" => ARITHMETIC.to_owned(),
        "word" | "variable_name" | "number" | "string_content" => raw.replace('\\', ""),
        "variable_assignment" => {
            let value = node.child_by_field_name("value").map(|value| word(value, text));
            let (name, _) = raw.split_once('=').unwrap_or((raw, ""));
            format!("{name}={}", value.unwrap_or_default())
        }
        _ => children(node).into_iter().map(|child| word(child, text)).collect(),
    }
}

/// The simple commands in the notation of the case file.
pub(super) fn shown(items: &Items) -> BTreeSet<String> {
    items.commands().map(|words| format!("[{}]", words.map(notation).collect::<Vec<_>>().join(" "))).collect()
}

fn notation(word: &str) -> String {
    let mut text = word.to_owned();
    for (placeholder, shown) in [
        (PARAMETER, "<VAR>"),
        (SUBSTITUTION, "<CMDSUB>"),
        (PROCESS_INPUT, "<PROCSUB>"),
        (PROCESS_OUTPUT, "<PROCSUB>"),
        (ARITHMETIC, "<ARITH>"),
    ] {
        text = text.replace(placeholder, shown);
    }
    if text.is_empty() || text.contains(' ') { format!("'{text}'") } else { text }
}
