//! Zed: `(COMMAND) </dev/null`.

use super::{Inside, View, is_whole};

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    let command = view.text.strip_prefix('(')?.strip_suffix(") </dev/null")?;
    // `((` is arithmetic, whatever comes after it.
    let plain = !command.starts_with('(') && !command.trim_end().ends_with('\\');
    (plain && is_whole(command, view)).then(|| Inside::command(command))
}
