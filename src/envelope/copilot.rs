//! Copilot CLI: commands as they are; once, at its start, a login shell that prints its environment.

use super::scan::Scan;
use super::{Inside, View, starting};

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    // Commands of the model come with `--norc`.
    let login = view.options.contains(&"-l") && !view.options.contains(&"--norc");
    let mut scan = Scan::new(view.text);
    scan.literal("printf %s ")?;
    let mark = scan.quoted()?;
    let plain = mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let probes = login && plain && mark.starts_with("__copilot_login_env_snapshot_");
    let rules = starting::Rules { writes: &[], prints_secrets: true };
    (probes && starting::is_plain(view.text, view, &rules)).then(Inside::start)
}
