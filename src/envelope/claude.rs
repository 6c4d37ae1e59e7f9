//! Claude Code: `source SNAPSHOT … && eval 'COMMAND' < /dev/null && pwd -P >| FILE`, and what it runs when it
//! starts.

use std::fmt::Write as _;
use std::path::Path;

use super::scan::Scan;
use super::snapshot::Definitions;
use super::{Again, Inside, View, starting};
use crate::facts::is_obeyed;
use crate::syntax::quote;

/// How the extended patterns are switched off, in each version: whatever the snapshot set, what follows is read
/// as gsh reads it.
const PATTERNS_OFF: [&str; 4] = [
    "\\builtin shopt -u extglob 2>/dev/null || true && ",
    "shopt -u extglob 2>/dev/null || true && ",
    "{ shopt -u extglob || setopt NO_EXTENDED_GLOB; } 2>/dev/null || true && ",
    "{ shopt -u extglob || setopt NO_EXTENDED_GLOB; } >/dev/null 2>&1 || true && ",
];

/// Variables that it sets for its commands.
const SETS: [&str; 4] = ["BUN_OPTIONS", "PATH", "TMPDIR", "TMPPREFIX"];

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    if view.text == "env" {
        return Some(Inside::start());
    }
    snapshot_script(view).or_else(|| command(view)).or_else(|| prefixed(view))
}

/// `'PREFIX' -c 'TEXT'`: its user put gsh in front of every command (`CLAUDE_CODE_SHELL_PREFIX`), and gsh is its shell
/// as well. The text is one of the others.
fn prefixed(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text);
    let program = scan.word()?;
    scan.literal(" -c ")?;
    let text = scan.quoted()?;
    scan.end()?;
    let ours = view.host.real(Path::new(&program)).is_some_and(|real| view.host.is_ours(&real));
    (program.starts_with('/') && ours).then_some(())?;
    let inside = command(&View { text: &text, ..*view })?;
    Some(Inside { again: Some(Again { shell: program.into(), given: vec![text] }), ..inside })
}

fn command(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text);
    let mut known = Definitions::default();
    if scan.takes("source ") {
        known = snapshot(view, &scan.word()?)?;
        scan.any_of(&[" 2>/dev/null || true && ", " && "])?;
    }
    let mut set = Vec::new();
    environment_file(&mut scan, &mut set)?;
    exports(&mut scan, &mut set)?;
    let off = patterns_off(&mut scan)?;
    while scan.takes("{ \\builtin unalias -- ") {
        let name = scan.quoted()?;
        scan.literal("; \\builtin unset -f -- ")?;
        (scan.quoted()? == name).then_some(())?;
        scan.literal("; } >/dev/null 2>&1 || true && ")?;
        known.forget(&name);
    }
    exports(&mut scan, &mut set)?;
    scan.literal("eval ")?;
    let command = scan.word()?;
    scan.takes(" < /dev/null");
    scan.literal(" && pwd -P >| ")?;
    let file = scan.word()?;
    scan.end()?;
    is_note(view, &file).then_some(())?;
    let path = set.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let mut prelude = known.prelude(&command);
    for (name, value) in set.iter().filter(|(name, _)| name != "PATH") {
        let _ = writeln!(prelude, "export {name}={}", quote(value));
    }
    let path = path.or_else(|| known.path.take());
    let shopt = known.odd || known.extended && !off;
    Some(Inside { command: Some(command), prelude, shopt, path, ..Inside::default() })
}

type Variables = Vec<(String, String)>;

/// What hooks of the user left for every command: lines that export plain values.
fn environment_file(scan: &mut Scan<'_>, set: &mut Variables) -> Option<()> {
    let mut ahead = *scan;
    let mut found = Vec::new();
    while ahead.takes("export ") {
        let name = ahead.name()?.to_owned();
        ahead.literal("=")?;
        let value = ahead.word()?;
        if ahead.literal("\n").is_none() {
            // It is no line of that file.
            return Some(());
        }
        if name != "PATH" && is_obeyed(&name) {
            return None;
        }
        found.push((name, value));
    }
    if ahead.takes(": && ") || ahead.takes(":\n && ") {
        set.append(&mut found);
        *scan = ahead;
    }
    Some(())
}

fn exports(scan: &mut Scan<'_>, set: &mut Variables) -> Option<()> {
    while scan.any_of(&["export ", "\\builtin export "]).is_some() {
        let name = scan.name()?;
        SETS.contains(&name).then_some(())?;
        scan.literal("=")?;
        set.push((name.to_owned(), scan.word()?));
        scan.literal(" && ")?;
    }
    Some(())
}

/// Whether bash's patterns are off behind it: a gsh that was taken for a zsh is told to switch off those of zsh.
fn patterns_off(scan: &mut Scan<'_>) -> Option<bool> {
    if scan.any_of(&PATTERNS_OFF).is_some() {
        return Some(true);
    }
    let (off, end) = if scan.takes("\\builtin setopt ") {
        (false, "2>/dev/null || true && ")
    } else {
        scan.literal("{ \\builtin shopt -u extglob || \\builtin setopt ")?;
        (true, "; } >/dev/null 2>&1 || true && ")
    };
    let options = scan.run(|c| c.is_ascii_uppercase() || matches!(c, '_' | ' '))?;
    options.split_whitespace().all(|option| option.starts_with("NO_")).then_some(())?;
    scan.literal(end)?;
    Some(off)
}

/// The file that it notes the directory in.
fn is_note(view: &View<'_>, file: &str) -> bool {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mark = name.strip_prefix("claude-").and_then(|rest| rest.strip_suffix("-cwd")).unwrap_or_default();
    let hex = (4..=16).contains(&mark.len()) && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    hex && view.is_temporary(file)
}

/// What its snapshot of the user's shell defines.
fn snapshot(view: &View<'_>, path: &str) -> Option<Definitions> {
    let file = view.made_here(path, &folders(view), moment(path)?)?;
    Definitions::of(&file.content)
}

fn folders(view: &View<'_>) -> Vec<std::path::PathBuf> {
    view.folders("CLAUDE_CONFIG_DIR", ".claude").into_iter().map(|own| own.join("shell-snapshots")).collect()
}

/// When a snapshot was made, by its name: `snapshot-bash-MILLISECONDS-LETTERS.sh`, or of a zsh.
fn moment(path: &str) -> Option<i64> {
    let (_, name) = path.rsplit_once('/')?;
    let rest = ["snapshot-bash-", "snapshot-zsh-"].iter().find_map(|head| name.strip_prefix(head))?;
    let rest = rest.strip_suffix(".sh")?;
    let (moment, letters) = rest.split_once('-')?;
    let plain = !letters.is_empty() && letters.bytes().all(|byte| byte.is_ascii_alphanumeric());
    moment.parse().ok().filter(|_| plain && moment.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The script that makes a snapshot: it reads the user's start-up file and writes nothing but the snapshot.
fn snapshot_script(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text);
    scan.literal("SNAPSHOT_FILE=")?;
    let path = scan.word()?;
    moment(&path)?;
    let parent = Path::new(&path).parent()?;
    folders(view).iter().any(|folder| folder == parent).then_some(())?;
    let rules = starting::Rules { writes: &["$SNAPSHOT_FILE", path.as_str()], prints_secrets: false };
    (!view.host.is_link(Path::new(&path)) && starting::is_plain(view.text, view, &rules)).then(Inside::start)
}
