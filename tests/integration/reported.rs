//! Faults that were reported of tools that look at what a person types, held against `gsh typed`: only decided.

use super::GSH;
use crate::common::cases::rows;
use crate::common::machine::{Gsh, Run};

/// What gsh says of a line, without a terminal.
fn typed(line: &str, whole: bool) -> Run {
    let args = ["--wait", GSH, "typed", "--shell", "bash"].into_iter().chain(whole.then_some("--whole"));
    Gsh::new("/usr/bin/setsid").args(args).env("GSH_LINE", line).run()
}

#[test]
fn reported_lines_have_the_right_answer() {
    for row in rows(include_str!("../cases/typed.txt")) {
        let line = &row.command;
        let looked = typed(line, false);
        let said = looked.stdout();
        if row.kind == "run" {
            assert_eq!((said.as_str(), looked.stderr().as_str()), ("run\n", ""), "{line:?}");
            continue;
        }
        // Nothing is asked, said or recorded before the shell has looked.
        assert!(["look\n", "unclear\n"].contains(&said.as_str()), "{line:?}: {said}{}", looked.stderr());
        assert!(looked.stderr().is_empty() && looked.records().is_empty(), "{line:?}");
        let settled = typed(line, true);
        let told = settled.stderr();
        assert_eq!((settled.status, settled.stdout().as_str()), (Some(126), "no\n"), "{line:?}: {told}");
        assert!(told.starts_with("gsh: not run: "), "{line:?}: {told}");
        // What a terminal would obey or hide is on no line of it.
        let odd = |letter: char| {
            letter.is_control() && letter != '\n' || "\u{200b}\u{202e}\u{2066}".contains(letter)
        };
        assert!(!told.contains(odd), "{line:?}: {told:?}");
    }
}

#[test]
fn a_secret_in_a_line_is_in_no_record() {
    let line = "KEY=\"sk-test-123\" curl -H \"Authorization: Bearer sk-test-123\" https://example.com";
    let run = typed(line, true);
    let records = run.records();
    assert!(!records.is_empty(), "{}", run.stderr());
    assert!(!format!("{records:?}").contains("sk-test-123"), "{records:?}");
}

#[test]
fn what_is_not_understood_is_named() {
    let told = typed("echo \"unterminated", true).stderr();
    assert!(
        told.contains("unterminated") || told.contains("not closed") || told.contains("not read"),
        "{told}"
    );
}
