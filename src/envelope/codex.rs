//! Codex: a text that reads its snapshot of the user's shell, puts back the variables of the call, and ends in
//! `exec 'SHELL' -c 'COMMAND'`; and what makes and checks that snapshot.

use std::collections::BTreeMap;
use std::path::Path;

use super::scan::Scan;
use super::{Again, Inside, View, starting};
use crate::syntax::quote;

/// Names that the text itself calls: a function of one of these names in the snapshot would take its place.
const CALLED: [&str; 9] = [".", ":", "[", "builtin", "command", "exec", "export", "shift", "unset"];

/// Variables of the snapshot that change how the command is read or what is loaded before it.
const STEERING: [&str; 6] = ["BASHOPTS", "BASH_ENV", "ENV", "IFS", "PS4", "SHELLOPTS"];

pub(super) fn read(view: &View<'_>) -> Option<Inside> {
    command(view).or_else(|| start(view)).or_else(|| older(view))
}

fn command(view: &View<'_>) -> Option<Inside> {
    let mut scan = Scan::new(view.text);
    let captured = captures(&mut scan)?;
    scan.literal("if . ")?;
    let snapshot = Snapshot::of(view, &scan.quoted()?, true)?;
    scan.literal(" >/dev/null 2>&1; then :; fi")?;
    scan.gap()?;
    let mut restored = Vec::new();
    restore(&mut scan, &captured, &mut restored)?;
    let front = path_in_front(&mut scan)?;
    let tail = scan.rest();
    scan.literal("exec ")?;
    let shell = scan.quoted()?;
    scan.literal(" -c ")?;
    let command = scan.quoted()?;
    let words = words(&mut scan)?;
    let own = restored.iter().any(|name| name == "PATH").then(|| view.host.var("PATH")).flatten();
    let path = own.or(snapshot.path).or_else(|| view.host.var("PATH"));
    let path = match (front, path) {
        (Some(front), Some(path)) if !path.is_empty() => Some(format!("{front}:{path}")),
        (Some(front), _) => Some(front),
        (None, path) => path,
    };
    // Another shell reads another language: what it is given is judged as what starts it.
    if !is_bash(view, &shell) {
        return Some(Inside { path, ..Inside::command(tail) });
    }
    let given = std::iter::once(&command).chain(&words).cloned().collect();
    Some(Inside {
        path,
        again: Some(Again { shell: shell.into(), given }),
        words,
        ..Inside::command(command)
    })
}

/// The words behind the command, each in quotes, to the end.
fn words(scan: &mut Scan<'_>) -> Option<Vec<String>> {
    let mut words = Vec::new();
    while scan.takes(" ") {
        words.push(scan.quoted()?);
    }
    scan.end()?;
    Some(words)
}

/// What was kept of the call's variables: the two names that hold each, by number and kind.
type Captured = BTreeMap<String, String>;

/// `KEPT_SET_0="${NAME+x}"`, `KEPT_0="${NAME-}"`, a line each.
fn captures(scan: &mut Scan<'_>) -> Option<Captured> {
    let mut captured = Captured::new();
    while scan.rest().starts_with("__CODEX_SNAPSHOT_") {
        let kept = scan.name()?;
        scan.literal("=\"${")?;
        let name = scan.name()?;
        scan.any_of(&["+x}\"", "-}\""])?;
        scan.gap()?;
        captured.insert(kept.to_owned(), name.to_owned());
    }
    let _ = scan.gap();
    Some(captured)
}

/// `if [ -n "${KEPT_SET_0}" ]; then export NAME="${KEPT_0}"; else unset NAME; fi` for each of them.
fn restore(scan: &mut Scan<'_>, captured: &Captured, done: &mut Vec<String>) -> Option<()> {
    loop {
        let before = *scan;
        if group(scan, captured, done).is_some() || one(scan, captured, done).is_some() {
            continue;
        }
        *scan = before;
        return Some(());
    }
}

/// Those that are only put back where the agent's proxy runs.
fn group(scan: &mut Scan<'_>, captured: &Captured, done: &mut Vec<String>) -> Option<()> {
    let mut ahead = *scan;
    ahead.literal("if [ -n \"$__CODEX_SNAPSHOT_PROXY_ENV_SET\" ] || [ -n \"${")?;
    (captured.get("__CODEX_SNAPSHOT_PROXY_ENV_SET")? == ahead.name()?).then_some(())?;
    ahead.literal("+x}\" ]")?;
    ahead.gap()?;
    ahead.literal("then")?;
    ahead.blanks()?;
    while one(&mut ahead, captured, done).is_some() {}
    ahead.literal("fi")?;
    ahead.gap()?;
    *scan = ahead;
    Some(())
}

fn one(scan: &mut Scan<'_>, captured: &Captured, done: &mut Vec<String>) -> Option<()> {
    let before = *scan;
    for form in [forgotten, plainly, compared] {
        *scan = before;
        if form(scan, captured, done).is_some() {
            return Some(());
        }
    }
    *scan = before;
    None
}

/// What was kept is taken away: `unset KEPT_SET_0 KEPT_0`, or by `builtin` and, failing that, by `command`.
fn forgotten(scan: &mut Scan<'_>, _: &Captured, _: &mut Vec<String>) -> Option<()> {
    const KEPT: &str = "unset __CODEX_SNAPSHOT_";
    let twice = scan.takes("builtin ");
    scan.literal(KEPT)?;
    let names = scan.run(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ' '))?;
    if twice {
        // The descriptor of the redirection was read as one more name.
        scan.literal(">/dev/null || command ")?;
        scan.literal(KEPT)?;
        scan.literal(names.strip_suffix(" 2")?)?;
    }
    scan.gap()
}

/// Put back only where the snapshot changed it.
fn compared(scan: &mut Scan<'_>, captured: &Captured, done: &mut Vec<String>) -> Option<()> {
    scan.literal("if [ -n \"${")?;
    let name = captured.get(scan.name()?)?;
    scan.literal("}\" ]; then")?;
    scan.blanks()?;
    scan.literal(&format!("if [ -z \"${{{name}+x}}\" ] || [ \"${{{name}-}}\" != \"${{"))?;
    let kept = scan.name()?;
    (captured.get(kept)? == name).then_some(())?;
    scan.literal(&format!("}}\" ]; then export {name}=\"${{{kept}}}\"; else export {name}; fi"))?;
    scan.gap()?;
    scan.literal(&format!("else builtin unset {name} 2>/dev/null || command unset {name}; fi"))?;
    scan.gap()?;
    done.push(name.clone());
    Some(())
}

fn plainly(scan: &mut Scan<'_>, captured: &Captured, done: &mut Vec<String>) -> Option<()> {
    scan.literal("if [ -n \"${")?;
    let name = captured.get(scan.name()?)?;
    scan.literal("}\" ]")?;
    scan.gap()?;
    scan.literal("then")?;
    scan.blanks()?;
    scan.literal("export ")?;
    scan.literal(name)?;
    scan.literal("=\"${")?;
    (captured.get(scan.name()?)? == name).then_some(())?;
    scan.literal("}\"")?;
    scan.gap()?;
    scan.literal("else")?;
    scan.blanks()?;
    scan.literal("unset ")?;
    scan.literal(name)?;
    scan.gap()?;
    scan.literal("fi")?;
    scan.gap()?;
    done.push(name.clone());
    Some(())
}

/// The folder that the agent puts in front of `PATH`; None inside where it puts none there.
#[expect(clippy::option_option, reason = "that it is not there is no error")]
fn path_in_front(scan: &mut Scan<'_>) -> Option<Option<String>> {
    if !scan.takes("if [ -n \"${PATH:-}\" ]") {
        return Some(None);
    }
    scan.gap()?;
    scan.literal("then")?;
    scan.blanks()?;
    scan.literal("export PATH=")?;
    let front = scan.quoted()?;
    scan.literal(":\"$PATH\"")?;
    scan.gap()?;
    scan.literal("else")?;
    scan.blanks()?;
    scan.literal("export PATH=")?;
    (scan.quoted()? == front).then_some(())?;
    scan.apart(&["", "fi", ""])?;
    let whole = front.split(':').all(|folder| folder.starts_with('/'));
    whole.then_some(Some(front))
}

/// The bash that the machine has, or the link to gsh that stands for it.
fn is_bash(view: &View<'_>, shell: &str) -> bool {
    let path = Path::new(shell);
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let system = ["/bin", "/usr/bin", "/usr/local/bin"].iter().any(|own| folder == Path::new(own));
    name == "bash" && (system || view.host.real(path).is_some_and(|real| view.host.is_ours(&real)))
}

/// A snapshot, as far as it changes a command that is run anew.
struct Snapshot {
    path: Option<String>,
}

impl Snapshot {
    fn of(view: &View<'_>, path: &str, is_done: bool) -> Option<Self> {
        let folders = view.folders("CODEX_HOME", ".codex");
        let folders: Vec<_> = folders.into_iter().map(|own| own.join("shell_snapshots")).collect();
        let file = view.made_here(path, &folders, moment(path, is_done)?)?;
        let mut found = Self { path: None };
        for line in file.content.lines() {
            found.line(line, view)?;
        }
        Some(found)
    }

    fn line(&mut self, line: &str, view: &View<'_>) -> Option<()> {
        let defined = line.strip_prefix("function ").unwrap_or(line);
        let called = |name: &str| {
            let rest = defined.strip_prefix(name).map(str::trim_start);
            rest.is_some_and(|rest| {
                rest.starts_with("()") || line.starts_with("function ") && rest.starts_with('{')
            })
        };
        if CALLED.iter().any(|name| called(name)) {
            return None;
        }
        let exported =
            ["declare -x ", "export ", "typeset -x "].iter().find_map(|head| line.strip_prefix(head));
        let Some((name, value)) = exported.and_then(|rest| rest.split_once('=')) else { return Some(()) };
        let value = value.trim_matches(['"', '\'']);
        if name == "PATH" {
            value.bytes().all(|byte| !b"\\$`".contains(&byte)).then_some(())?;
            self.path = Some(value.to_owned());
        }
        let steers = STEERING.contains(&name) || name.starts_with("LD_") || name.starts_with("BASH_FUNC");
        (!steers || view.host.var(name).as_deref() == Some(value)).then_some(())
    }
}

/// When a snapshot was made, by its name: `UUID.NANOSECONDS.sh`, or `UUID.tmp-NANOSECONDS` while it is checked.
fn moment(path: &str, is_done: bool) -> Option<i64> {
    let (_, name) = path.rsplit_once('/')?;
    let (id, rest) = name.split_once('.')?;
    let is_id = id.len() == 36 && id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let digits = if is_done { rest.strip_suffix(".sh")? } else { rest.strip_prefix("tmp-")? };
    let plain = is_id && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse::<i64>().ok().filter(|_| plain).map(|nanoseconds| nanoseconds / 1_000_000)
}

/// What makes and checks the snapshot. A command of the model has a number, and is none of these.
fn start(view: &View<'_>) -> Option<Inside> {
    if view.host.var("CODEX_TOOL_CALL_ID").is_some() {
        return None;
    }
    let mut scan = Scan::new(view.text);
    if scan.takes("set -e; . \"") {
        let path = scan.run(|c| c != '"' && !"$`\\".contains(c))?;
        scan.literal("\"")?;
        scan.end()?;
        Snapshot::of(view, path, false)?;
        return Some(Inside::start());
    }
    let tells = view.text.contains("'# Snapshot file'");
    let rules = starting::Rules { writes: &[], prints_secrets: true };
    (tells && starting::is_plain(view.text, view, &rules)).then(Inside::start)
}

/// `. "$0" && exec "$@"`, with the snapshot, a shell, its option and the command as its words.
fn older(view: &View<'_>) -> Option<Inside> {
    let args = view.request.args.as_slice();
    let (snapshot, rest) = match (view.text, view.request.name.as_deref(), args) {
        (". \"$0\" && exec \"$@\"", Some(snapshot), rest) => (snapshot, rest),
        (". \"$1\" && shift && exec \"$@\"", Some(_), [snapshot, rest @ ..]) => (snapshot.as_str(), rest),
        _ => return None,
    };
    let [shell, option, command] = rest else { return None };
    let snapshot = Snapshot::of(view, snapshot, true)?;
    matches!(option.as_str(), "-c" | "-lc").then_some(())?;
    if !is_bash(view, shell) {
        let text = format!("{} {option} {}", quote(shell), quote(command));
        return Some(Inside { path: snapshot.path, ..Inside::command(text) });
    }
    let again = (option == "-c").then(|| Again { shell: shell.into(), given: vec![command.clone()] });
    Some(Inside { path: snapshot.path, again, ..Inside::command(command.as_str()) })
}
