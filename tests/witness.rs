//! Every named check of the reading is needed: for each there is a text that no other check refuses and that
//! would be taken for understood without it, although bash reads something else or nothing at all.
//!
//! The names are taken from the source of `src/syntax`, so that no new check can go without a witness. What
//! bash does with the texts of `checks.txt` is held against real bash by the oracle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::misparse::{self, Case, decode, listed};
use gsh::syntax::{Limits, Problem, cross_check_is_on, parse};

/// Checks that no text can reach, and what they guard against.
const GUARDS: &[(&str, &str)] =
    &[("grammar", "a build whose grammar was made for another version of the parser")];

/// Texts that cannot stand in a file of lines: most are limits, with a command behind what reaches them.
pub(crate) fn large_witnesses() -> Vec<(&'static str, Vec<u8>)> {
    let behind = |padding: String| format!("{padding}\nrm x");
    let texts = [
        ("text-length", behind(format!(": {}", "a".repeat(129 * 1024)))),
        ("code-length", behind(format!(": {}", "a".repeat(33 * 1024)))),
        ("nodes", format!("{}: `rm x`", ": `:`\n".repeat(1_000))),
        ("list-length", format!("{}rm x", ": && ".repeat(520))),
        ("bar-count", behind(format!(": '{}'", "|".repeat(1_281)))),
        ("document-count", behind(format!(": '{}'", "<<".repeat(513)))),
        ("pattern-count", behind(format!(": '{}'", "@()".repeat(1_025)))),
        ("arith-count", behind(format!(": '{}'", "$[".repeat(1_025)))),
        ("bracket-count", behind(format!(": '{}'", "][".repeat(513)))),
        ("nesting", format!("{}rm x{}", "{ ".repeat(70), "; }".repeat(70))),
        // The grammar fails at once, and after that each of its steps counts a hundred times.
        ("parse-steps", behind(format!("((:) | (:))\n{}", ": a\n".repeat(3_000)))),
    ];
    let not_text = ("odd-char", b"ls \xff; rm x".to_vec());
    texts.into_iter().map(|(check, text)| (check, text.into_bytes())).chain([not_text]).collect()
}

/// The rows of `checks.txt` and the large texts, each with the check that it is for.
pub(crate) fn own_witnesses() -> Vec<(String, Case)> {
    let lines = include_str!("cases/checks.txt").lines().filter(|line| !line.starts_with("## "));
    let mut found: Vec<(String, Case)> = lines
        .map(|line| {
            let mut columns = line.split('\t');
            let mut column = || columns.next().expect("a check, a text, and what bash does");
            let (check, text) = (column().to_owned(), decode(column()));
            let (error, runs): (Vec<&str>, Vec<&str>) = columns.partition(|item| *item == "error");
            let runs = runs.into_iter().map(|item| String::from_utf8_lossy(&decode(item)).into_owned());
            (check, Case { text, runs: runs.collect(), error: !error.is_empty() })
        })
        .collect();
    found.extend(large_witnesses().into_iter().map(|(check, text)| {
        let runs = BTreeSet::from(["[rm x]".to_owned()]);
        (check.to_owned(), Case { text, runs, error: false })
    }));
    found
}

/// The name of the check that a detail begins with.
fn name_of(detail: &str) -> &str {
    detail.split(": ").next().unwrap_or(detail)
}

/// The names of all checks, and those of the lexer of here-documents among them.
#[derive(Default)]
struct Checks {
    all: BTreeSet<String>,
    lexer: BTreeSet<String>,
}

impl Checks {
    fn of_source() -> Self {
        let mut checks = Self::default();
        checks.folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/syntax"));
        checks
    }

    fn folder(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).expect("a folder of the source") {
            let path = entry.expect("an entry").path();
            let is_test = path.file_name().is_some_and(|name| name == "tests" || name == "tests.rs");
            if is_test {
                continue;
            }
            if path.is_dir() {
                self.folder(&path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("a source file");
            let names = names_in(&text);
            if path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("heredoc")) {
                self.lexer.extend(names.iter().cloned());
            }
            self.all.extend(names);
        }
    }

    /// Whether nothing but `check` refuses a text with these problems. The lexer refuses a text as a whole:
    /// the rest of the reading then sees what it was not to see, and what it says of that is no reason.
    fn is_sole(&self, check: &str, problems: &[Problem]) -> bool {
        let mut names = problems.iter().map(|problem| name_of(&problem.detail));
        if self.lexer.contains(check) && problems.first().is_some_and(|first| first.detail == check) {
            return true;
        }
        !problems.is_empty() && names.all(|name| name == check)
    }
}

/// The checks that a source file names: what is handed to `doubt` or `problem`, and every text of the form
/// `name: what a person reads`.
fn names_in(source: &str) -> BTreeSet<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source);
    let code: String = source
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| line.trim().to_owned() + " ")
        .collect();
    let mut found = BTreeSet::new();
    let mut before = String::new();
    for (index, part) in code.replace("'\"'", "").replace("\\\"", "").split('"').enumerate() {
        // Between two quotes is a text, outside of them is code.
        if index % 2 == 0 {
            part.clone_into(&mut before);
            continue;
        }
        let name = name_of(part);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let handed = before.trim_end().ends_with("doubt(")
            || before.rsplit_once("problem(").is_some_and(|(_, between)| !between.contains([')', ';']));
        if is_name && (handed || part.contains(": ")) {
            found.insert(name.to_owned());
        }
    }
    found
}

/// Whether taking the check away would make a misreading of this text.
fn is_witness(checks: &Checks, check: &str, case: &Case) -> bool {
    let script = parse(&case.text, &Limits::default());
    let differs = case.error || !case.runs.is_subset(&listed(&script));
    differs && checks.is_sole(check, &script.problems)
}

#[test]
fn every_check_has_a_witness() {
    let checks = Checks::of_source();
    let mut witnesses: BTreeMap<&str, usize> = BTreeMap::new();
    let own = own_witnesses();
    for (check, case) in &own {
        let shown: String = String::from_utf8_lossy(&case.text).chars().take(60).collect();
        let problems = || parse(&case.text, &Limits::default()).problems;
        assert!(checks.all.contains(check), "no check is named {check}");
        assert!(is_witness(&checks, check, case), "{check}: {shown:?} is no witness: {:?}", problems());
        *witnesses.entry(check).or_default() += 1;
    }
    let misread = misparse::cases();
    for check in &checks.all {
        let count = misread.iter().filter(|case| is_witness(&checks, check, case)).count();
        *witnesses.entry(check).or_default() += count;
    }
    let guards: BTreeSet<&str> = GUARDS.iter().map(|(check, _)| *check).collect();
    let is_on = |check: &str| check != "second-reading" || cross_check_is_on();
    let without: Vec<_> = witnesses
        .iter()
        .filter(|(check, count)| **count == 0 && !guards.contains(*check) && is_on(check))
        .collect();
    println!("{witnesses:?}");
    println!(
        "{} checks, {} with a witness of their own, {} guards",
        checks.all.len(),
        own.len(),
        guards.len()
    );
    assert!(without.is_empty(), "checks without a witness: {without:?}");
    for guard in guards {
        assert_eq!(witnesses.get(guard), Some(&0), "{guard} is no guard: there is a check and a witness");
    }
}

/// A refusal whose name the source does not show would escape the test above.
#[test]
fn every_refusal_names_a_check() {
    let checks = Checks::of_source();
    let own = own_witnesses().into_iter().map(|(_, case)| case);
    for case in misparse::cases().into_iter().chain(own) {
        for problem in parse(&case.text, &Limits::default()).problems {
            assert!(checks.all.contains(name_of(&problem.detail)), "{problem:?}");
        }
    }
}

#[test]
fn names_are_found_in_the_source() {
    let source = "self.doubt(\"a-b\"); problem(Cause::X, \"c\", span); problem(Cause::X, format!(\"d: {}\", x));\n\
        // doubt(\"no\")\nlet x = \"e-f: why\"; g(\"h\");\nself.doubt(\n    \"i\",\n)";
    let found: Vec<String> = names_in(source).into_iter().collect();
    assert_eq!(found, ["a-b", "c", "d", "e-f", "i"]);
}
