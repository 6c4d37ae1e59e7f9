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

/// Settings of the line editor by what their names begin with; others change which keys do what, or how a paste
/// arrives.
const SHOWING: &[&str] = &[
    "bell-style",
    "blink-",
    "colored-",
    "completion-",
    "expand-tilde",
    "history-preserve-point",
    "mark-",
    "match-hidden-files",
    "menu-complete-",
    "page-completions",
    "print-completions-horizontally",
    "show-",
    "skip-completed-text",
    "visible-stats",
];

/// A key that calls a function of the line editor, or a setting of it. Any other types a text, perhaps with an
/// Enter in it; and Enter itself is a guard's, where one looks at lines before they run.
pub(super) fn binding(scan: &Scan, reading: &mut Reading) {
    for (index, arg) in &scan.operands {
        if !arg.text().is_some_and(|text| calls_function(text) || shows(text)) {
            reading.unexplained(Cause::OpaqueCode, "the key may be Enter, or type a text", Some(*index));
        }
    }
}

/// `"\e[A": history-search-backward`: what begins with an escape is never Enter.
fn calls_function(text: &str) -> bool {
    let Some((keys, name)) = text.rsplit_once(':') else { return false };
    let sequence = keys.trim().strip_prefix("\"\\e").and_then(|rest| rest.strip_suffix('"'));
    let plain = |keys: &str| keys.chars().all(|c| c.is_ascii_alphanumeric() || "[;~".contains(c));
    let name = name.trim();
    let enters = name.contains("accept") || name.contains("execute") || name.contains("operate");
    let named = !name.is_empty() && name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    sequence.is_some_and(|keys| !keys.is_empty() && plain(keys)) && named && !enters
}

fn shows(text: &str) -> bool {
    let setting = text.strip_prefix("set ").map(str::trim_start);
    let plain = |setting: &str| setting.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == ' ');
    setting.is_some_and(|setting| plain(setting) && SHOWING.iter().any(|each| setting.starts_with(each)))
}
