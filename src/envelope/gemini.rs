//! Gemini CLI: the command in a subshell that notes what it left running, and its exit status passed on.

use super::scan::Scan;
use super::{Inside, View, is_whole};

/// Switched off first: options whose default is off, and one of prompts.
const PATTERNS_OFF: &str = "shopt -u promptvars nullglob extglob nocaseglob dotglob;";

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text);
    if scan.takes(PATTERNS_OFF) {
        scan.blanks()?;
    }
    let command = current(&scan, view).or_else(|| older(&scan, view))?;
    is_whole(command, view).then(|| Inside::command(command))
}

/// The subshell's lines: each ends with a newline, so that a comment or a here-document ends before the next.
fn current<'a>(scan: &Scan<'a>, view: &View<'_>) -> Option<&'a str> {
    let mut scan = *scan;
    scan.literal("_bgpids_file=")?;
    let file = scan.word()?;
    is_note(view, &file, "gemini-shell-", "/bgpids.tmp").then_some(())?;
    scan.literal("\n(\n  trap 'jobs -p > \"$_bgpids_file\"' EXIT\n")?;
    scan.rest().strip_suffix("\n)\n__code=$?\nexit $__code")
}

fn older<'a>(scan: &Scan<'a>, view: &View<'_>) -> Option<&'a str> {
    let mut scan = *scan;
    scan.literal("{ ")?;
    let rest = scan.rest().strip_suffix(" 2>&1; exit $__code;")?;
    let (command, file) = rest.rsplit_once(" }; __code=$?; pgrep -g 0 >")?;
    let mut file = Scan::new(file);
    let path = file.word()?;
    file.end()?;
    let ends = command.ends_with([';', '&']);
    (ends && is_note(view, &path, "shell_pgrep_", ".tmp")).then_some(command)
}

/// The file that it notes processes in, below a folder for temporary files.
fn is_note(view: &View<'_>, file: &str, head: &str, tail: &str) -> bool {
    let named = || {
        let (_, rest) = file.rsplit_once(head)?;
        let mark = rest.strip_suffix(tail)?;
        Some(!mark.is_empty() && mark.bytes().all(|byte| byte.is_ascii_alphanumeric()))
    };
    named().unwrap_or_default() && view.is_temporary(file)
}
