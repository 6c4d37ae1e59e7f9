//! tar: the old form of its options, and what its mode makes of archive and operands.

use super::super::apply::{only_help, settle};
use super::super::scan::{Scan, scan};
use super::super::table::{ANYTHING, Command};
use crate::facts::arg::Arg;
use crate::facts::programs::{Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// Letters that take a value.
const VALUED: &str = "bCFfgHIKLNTVX";

/// Reads the words of `tar`.
pub(super) fn read(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    if only_help(command, argv, start) {
        return;
    }
    let argv = modern(argv, start);
    let scan = scan(command, &argv, start);
    settle(command, &scan, ANYTHING, &argv, reading);
    // `--checkpoint-action=exec=TEXT`
    for text in reading.glances.iter_mut().flatten() {
        if text.head().starts_with("exec=") {
            *text = text.after(5);
        }
    }
    mode(&scan, reading);
}

/// `tar xfC a.tar dir` as `tar -x -f a.tar -C dir`.
fn modern(argv: &[Arg], start: usize) -> Vec<Arg> {
    let mut words = argv.get(..start).unwrap_or_default().to_vec();
    let mut rest = argv.get(start..).unwrap_or_default().iter();
    if let Some(letters) = rest.clone().next().and_then(Arg::text).filter(|text| !text.starts_with('-')) {
        let span = rest.next().map(|word| word.span).unwrap_or_default();
        for letter in letters.chars() {
            words.push(Arg::literal(format!("-{letter}"), span));
            if VALUED.contains(letter) {
                words.extend(rest.next().cloned());
            }
        }
    }
    words.extend(rest.cloned());
    words
}

fn mode(scan: &Scan, reading: &mut Reading) {
    let has = |name: &str| scan.has(name);
    let values = |name: &'static str| scan.given(name).filter_map(|found| found.value.as_ref());
    let lists = has("-t") || has("-d") || has("--test-label");
    let changes = has("-r") || has("-u") || has("-A") || has("--delete");
    let role = match () {
        () if has("-c") => Role::Write,
        () if changes => Role::Edit,
        () => Role::Read,
    };
    for archive in values("-f").filter(|archive| archive.text() != Some("-")) {
        reading.uses(role, archive);
        if archive.text().is_none_or(|text| text.contains(':')) {
            reading.unexplained(Cause::OpaqueCode, "an archive on another machine", None);
        }
    }
    let operands = if has("-c") || has("-r") || has("-u") { Some(Role::ReadTree) } else { None };
    for (_, operand) in &scan.operands {
        if let Some(role) = operands {
            reading.uses(role, operand);
        }
        // A member's name tells as much as a file's.
        if has("-x") && has("-O") {
            reading.uses(Role::Read, operand);
        }
        if has("--remove-files") {
            reading.uses(Role::DeleteTree, operand);
        }
    }
    if has("-x") && !has("-O") {
        let here = Arg::literal(".", Span::default());
        reading.uses(Role::PutTo, values("-C").last().unwrap_or(&here));
        reading.unexplained(Cause::OpaqueCode, "what the archive holds is not known", None);
    }
    if !(lists || changes || has("-c") || has("-x")) {
        reading.unexplained(Cause::UnknownOption, "no mode", None);
    }
}
