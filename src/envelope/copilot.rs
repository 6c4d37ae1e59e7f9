//! Copilot CLI: commands as they are; once, at its start, a login shell that prints its environment.

use super::scan::Scan;
use super::{Inside, View, starting};

/// What it prints first, with a number behind it.
const MARK: &str = "__copilot_login_env_snapshot_";

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    // Commands of the model come with `--norc`.
    let login = view.options.contains(&"-l") && !view.options.contains(&"--norc");
    let mut scan = Scan::new(view.text);
    scan.literal("printf %s ")?;
    let mark = scan.quoted()?;
    let plain = mark.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    let probes = login && plain && mark.starts_with(MARK);
    let rules = starting::Rules { writes: &[], prints_secrets: true };
    (probes && (prints(scan).is_some() || starting::is_plain(view.text, view, &rules))).then(Inside::start)
}

/// Whether it looks like the probe, whatever became of its text.
pub(super) fn seems(view: &View<'_>) -> bool {
    view.options.contains(&"-l") && view.text.contains("__copilot_")
}

/// Behind the mark: the environment by `env`, else name by name. That a value is found by its name's value is doubted
/// everywhere else; here the names are those of variables, from `compgen -e`.
fn prints(mut scan: Scan<'_>) -> Option<()> {
    scan.literal("; if ! command env -0 2>/dev/null; then for ")?;
    let name = scan.name()?;
    name.starts_with("__copilot_").then_some(())?;
    scan.literal(" in $(compgen -e); do printf '%s=%s\\0' \"$")?;
    scan.literal(name)?;
    scan.literal("\" \"${!")?;
    scan.literal(name)?;
    scan.literal("}\"; done; fi")?;
    scan.end()
}
