//! swe-rex (SWE-agent): a line that sets the prompts up; each command with a line behind it that tells its
//! exit status.

use super::scan::Scan;
use super::{Inside, View, is_whole};

/// What tells the exit status.
const TOLD: &str = "\necho EXITCODESTART$?EXITCODEEND";

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    let text = view.text.trim_end_matches('\n');
    if let Some(command) = text.strip_suffix(TOLD) {
        return is_whole(command, view).then(|| Inside::command(command));
    }
    let mut scan = Scan::new(text);
    for (name, next) in [("PS1", " ; "), ("PS2", " ; "), ("PS0", "")] {
        scan.literal("export ")?;
        scan.literal(name)?;
        scan.literal("=")?;
        let plain = scan.quoted()?.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then_some(())?;
        scan.literal(next)?;
    }
    scan.end()?;
    Some(Inside::start())
}
