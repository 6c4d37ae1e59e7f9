//! tar: the old form of its options, and what its mode makes of archive and operands.

use super::super::apply::{only_help, settle};
use super::super::scan::{Scan, scan};
use super::super::table::{ANYTHING, Command};
use crate::facts::arg::{Arg, Part};
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
    for (place, operand) in &scan.operands {
        let file = below(scan, *place, operand);
        if file.is_none() && (operands.is_some() || has("--remove-files")) {
            reading.unexplained(Cause::DynamicPath, "a folder to change to that is not known", None);
        }
        let file = file.as_ref().unwrap_or(operand);
        if let Some(role) = operands {
            reading.uses(role, file);
        }
        // A member's name tells as much as a file's.
        if has("-x") && has("-O") {
            reading.uses(Role::Read, operand);
        }
        if has("--remove-files") {
            reading.uses(Role::DeleteTree, file);
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

/// An operand as `-C` before it makes it: tar changes to each of these folders in turn.
fn below(scan: &Scan, place: usize, operand: &Arg) -> Option<Arg> {
    let mut path = operand.clone();
    for folder in scan.given("-C").filter(|found| found.index < place).collect::<Vec<_>>().into_iter().rev() {
        if path.head().starts_with('/') {
            break;
        }
        // A first part that is not known may be absolute.
        if !matches!(path.parts.first(), None | Some(Part::Text(_))) {
            return None;
        }
        let mut whole = folder.value.clone().filter(|value| value.text().is_some())?;
        whole.push_text("/");
        for part in path.parts {
            match part {
                Part::Text(text) => whole.push_text(&text),
                Part::Hole(hole) => whole.push_hole(hole),
            }
        }
        whole.span = operand.span;
        path = whole;
    }
    Some(path)
}
