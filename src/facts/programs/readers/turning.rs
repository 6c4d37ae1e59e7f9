//! Builtins that set how the shell works with a person: what of it is harmless.

use crate::facts::programs::Reading;
use crate::facts::programs::scan::Scan;
use crate::facts::programs::table::Doing;
use crate::syntax::Cause;

/// Options that change neither what a text means nor which files it finds.
const HARMLESS: &[&str] = &[
    "autocd",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "force_fignore",
    "globasciiranges",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "lithist",
    "mailwarn",
    "no_empty_cmd_completion",
    "progcomp",
    "shift_verbose",
];

/// `shopt -s NAME`.
pub(super) fn shopt(scan: &Scan, reading: &mut Reading) {
    let sets = scan.has("-s") || scan.has("-u");
    let harmless = |text: &str| HARMLESS.contains(&text);
    if sets && !scan.operands.iter().all(|(_, arg)| arg.text().is_some_and(harmless)) {
        reading.act(Doing::ShellState);
    }
}

/// Words to choose from are expanded when they are needed.
pub(super) fn completion(scan: &Scan, reading: &mut Reading) {
    let texts = scan.given("-W").filter_map(|found| found.value.as_ref());
    let runs = |text: &str| text.contains(['$', '`']);
    if texts.map(|arg| arg.text()).any(|text| text.is_none_or(runs)) {
        reading.unexplained(Cause::OpaqueCode, "its words are expanded at every key", None);
    }
}

/// Functions of the line editor that hand a line to the shell, or read what other keys do: a key of a guard that
/// looks at each line first would be passed by.
const TAKES_LINES: &[&str] = &[
    "accept-line",
    "edit-and-execute-command",
    "insert-comment",
    "operate-and-get-next",
    "re-read-init-file",
    "vi-edit-and-execute-command",
];

/// A key that calls a function of the line editor, or a setting of it. Any other types a text, perhaps with an
/// Enter in it.
pub(super) fn binding(scan: &Scan, reading: &mut Reading) {
    for (index, arg) in &scan.operands {
        let plain = arg.text().is_some_and(|text| {
            let names = |name: &str| name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            let harmless = |name: &str| names(name) && !TAKES_LINES.contains(&name);
            let called = text.rsplit_once(':').is_some_and(|(_, name)| harmless(name.trim()));
            called || text.starts_with("set ") && !text.contains('\n')
        });
        if !plain {
            reading.unexplained(Cause::OpaqueCode, "the key types a text, or takes a line", Some(*index));
        }
    }
}
