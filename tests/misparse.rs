//! Texts that the grammar of tree-sitter misreads. For each one either the reading says that it did
//! not understand, or it found exactly the commands that bash runs.

use std::collections::BTreeSet;

use gsh::syntax::visit::{Visit, walk_simple};
use gsh::syntax::{AssignedValue, Limits, Piece, Script, Simple, Word, parse};

/// A text, and what bash reads in it.
#[derive(Default)]
pub(crate) struct Case {
    pub(crate) text: Vec<u8>,
    /// The simple commands, in the notation of the case file.
    pub(crate) runs: BTreeSet<String>,
    /// Bash stops with an error.
    pub(crate) error: bool,
}

/// The cases of the file.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in include_str!("cases/misparse.txt").lines() {
        if let Some(text) = line.strip_prefix("> ") {
            cases.push(Case { text: decode(text), ..Case::default() });
        } else if let (Some(item), Some(case)) = (line.strip_prefix("  "), cases.last_mut()) {
            if item == "error" {
                case.error = true;
            } else {
                case.runs.insert(String::from_utf8_lossy(&decode(item)).into_owned());
            }
        }
    }
    cases
}

/// A text of a case file without its escapes.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.extend(before.bytes());
        let (kind, after) = after.split_at(1);
        rest = after;
        match kind {
            "x" => {
                out.push(u8::from_str_radix(&rest[..2], 16).expect("two hexadecimal digits"));
                rest = &rest[2..];
            }
            "u" => {
                let code = u32::from_str_radix(&rest[..4], 16).expect("four hexadecimal digits");
                let c = char::from_u32(code).expect("a character");
                out.extend(c.encode_utf8(&mut [0; 4]).bytes());
                rest = &rest[4..];
            }
            "n" => out.push(b'\n'),
            "t" => out.push(b'\t'),
            "r" => out.push(b'\r'),
            "v" => out.push(11),
            "f" => out.push(12),
            "\\" => out.push(b'\\'),
            other => panic!("unknown escape \\{other} in the case file"),
        }
    }
    out.extend(rest.bytes());
    out
}

/// Every simple command of a script, in the notation of the case file.
#[derive(Default)]
struct Commands(BTreeSet<String>);

/// Every simple command that the reading lists, in the notation of the case file.
pub(crate) fn listed(script: &Script) -> BTreeSet<String> {
    let mut found = Commands::default();
    found.script(script);
    found.0.remove("[]");
    found.0
}

impl Visit for Commands {
    fn simple(&mut self, simple: &Simple) {
        let mut shown: Vec<String> = Vec::new();
        for assignment in &simple.assignments {
            let subscript = assignment.subscript.as_ref().map_or(String::new(), |text| format!("[{text}]"));
            let value = match &assignment.value {
                AssignedValue::Word(word) => text(word),
                AssignedValue::Array(words) => {
                    let words: Vec<String> = words.iter().map(text).collect();
                    format!("({})", words.join(" "))
                }
            };
            let plus = if assignment.append { "+" } else { "" };
            shown.push(format!("{}{subscript}{plus}={value}", assignment.name));
        }
        let mut words: Vec<String> = simple.words.iter().map(text).collect();
        if simple.assignments.is_empty() && words.first().is_some_and(|name| name == "time") {
            words.remove(0);
            for option in ["-p", "--"] {
                if words.first().is_some_and(|word| word == option) {
                    words.remove(0);
                }
            }
        }
        shown.extend(words);
        let quoted: Vec<String> = shown.iter().map(|word| quoted(word)).collect();
        self.0.insert(format!("[{}]", quoted.join(" ")));
        walk_simple(self, simple);
    }
}

/// A word as the case file has it.
fn text(word: &Word) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text { text, .. } | Piece::Tilde(text) => text.clone(),
        Piece::Parameter { .. } => "<VAR>".to_owned(),
        Piece::Substitution { .. } => "<CMDSUB>".to_owned(),
        Piece::Process { .. } => "<PROCSUB>".to_owned(),
        Piece::Arithmetic(_) => "<ARITH>".to_owned(),
    };
    word.pieces.iter().map(piece).collect()
}

fn quoted(word: &str) -> String {
    if word.is_empty() || word.contains(' ') { format!("'{word}'") } else { word.to_owned() }
}

#[test]
fn nothing_is_misread() {
    let cases = cases();
    assert_eq!(cases.len(), 442, "cases in the file");
    let (mut refused, mut right, mut wrong) = (0, 0, Vec::new());
    for case in &cases {
        let script = parse(&case.text, &Limits::default());
        if !script.problems.is_empty() {
            refused += 1;
            continue;
        }
        let found = listed(&script);
        let mut expected = case.runs.clone();
        expected.remove("[]");
        if found == expected && !case.error {
            right += 1;
        } else {
            let text = String::from_utf8_lossy(&case.text);
            wrong.push(format!("{text:?}\n  found    {:?}\n  expected {expected:?}", found));
        }
    }
    println!("{refused} not understood, {right} right, {} wrong", wrong.len());
    assert!(wrong.is_empty(), "misread:\n{}", wrong.join("\n"));
}
