//! Programs with an option grammar of their own.

use crate::facts::arg::Arg;
use crate::facts::programs::table::Doing;
use crate::facts::programs::{Inner, Reading, Role, read_builtin};
use crate::syntax::Cause;

/// Operands of `dd` that name no file.
const DD: &[&str] = &[
    "bs", "cbs", "ibs", "obs", "conv", "count", "skip", "seek", "iseek", "oseek", "iflag", "oflag", "status",
];

/// `dd if=FILE of=FILE`.
pub(super) fn dd(words: &[Arg], start: usize, reading: &mut Reading) {
    if matches!(words, [only] if matches!(only.text(), Some("--help" | "--version"))) {
        return;
    }
    let keeps = words.iter().any(|word| word.head().starts_with("conv=") && word.head().contains("notrunc"));
    for (index, word) in words.iter().enumerate() {
        let Some((key, _)) = word.head().split_once('=') else {
            let cause = if word.text().is_some() { Cause::UnknownOption } else { Cause::DynamicWord };
            reading.unexplained(cause, word.display(), Some(start + index));
            continue;
        };
        let value = word.after(key.len() + 1);
        match key {
            "if" => reading.uses(Role::Read, &value),
            "of" => reading.uses(if keeps { Role::Edit } else { Role::Write }, &value),
            _ if DD.contains(&key) => {}
            _ => reading.unexplained(Cause::UnknownOption, word.display(), Some(start + index)),
        }
        if crate::facts::programs::scan::splits(word) {
            reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index));
        }
    }
}

/// `kill -SIGNAL PID…`.
pub(super) fn kill(words: &[Arg], start: usize, reading: &mut Reading) {
    let (signal, from) = match words.first().and_then(Arg::text) {
        Some("-l" | "-L" | "--list" | "--table" | "--help" | "--version") => return,
        Some("-s" | "-n" | "--signal") => (words.get(1).and_then(Arg::text).unwrap_or("?"), 2),
        Some("--") => ("TERM", 0),
        Some(text) if text.starts_with("--signal=") => (text.get(9..).unwrap_or("?"), 1),
        Some(text) if text.starts_with('-') && text.len() > 1 => (text.get(1..).unwrap_or("?"), 1),
        _ => ("TERM", 0),
    };
    let probes = signal == "0";
    for (index, word) in words.iter().enumerate().skip(from) {
        match word.text() {
            Some("--") => {}
            Some("-1") if !probes => reading.act(Doing::KillAll),
            Some(_) if probes => {}
            // A job of this shell.
            Some(text) if text.starts_with('%') => {}
            Some(_) => reading.unexplained(Cause::UnknownOption, "signals a process", Some(start + index)),
            None => reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index)),
        }
    }
    let is_job = |word: &Arg| word.text().is_some_and(|text| text.starts_with('%'));
    let jobs = words.get(from..).is_some_and(|rest| !rest.is_empty() && rest.iter().all(is_job));
    if !probes && !jobs {
        reading.unexplained(Cause::UnknownOption, format!("signal {signal}"), Some(start));
    }
}

/// `busybox APPLET WORDS`: the applet's own table holds.
pub(super) fn busybox(argv: &[Arg], start: usize, reading: &mut Reading) {
    let words = argv.get(start..).unwrap_or_default();
    let Some(applet) = words.first() else { return };
    if matches!(applet.text(), Some("--list" | "--list-full" | "--help")) && words.len() == 1 {
        return;
    }
    let nested = matches!(applet.text(), Some("busybox" | "toybox"));
    match if nested { None } else { read_builtin(words) } {
        Some(mut inner) => {
            // Its places are those among all the words; what offers no pattern offers none here.
            inner.names.iter_mut().for_each(|at| *at += start);
            inner.arity = if inner.arity == 0 { 0 } else { inner.arity + start };
            *reading = inner;
        }
        None => reading.unexplained(Cause::UnknownProgram, applet.display(), Some(start)),
    }
    reading.applet = Some(start);
}

/// `ps`: lists processes; the letter `e` without a dash shows their environment.
pub(super) fn ps(words: &[Arg], start: usize, reading: &mut Reading) {
    for (index, word) in words.iter().enumerate() {
        match word.text() {
            Some(text) if !text.starts_with('-') && is_letters(text) && text.contains('e') => {
                // The value of an option (`-C name`, `-u name`) is a name as well: no claim is made.
                let before = index.checked_sub(1).and_then(|before| words.get(before)).and_then(Arg::text);
                if !before.is_some_and(takes_value) {
                    reading.act(Doing::RevealSecrets);
                }
            }
            Some(text) if text.strip_prefix("--").is_some_and(|name| !is_long(name)) => {
                reading.unexplained(Cause::UnknownOption, text, Some(start + index));
            }
            Some(_) => {}
            None => reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index)),
        }
    }
}

/// Whether `ps` has this long option (ps(1) of procps 4.0).
fn is_long(option: &str) -> bool {
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    matches!(
        name,
        "cols"
            | "columns"
            | "context"
            | "cumulative"
            | "delimiter"
            | "deselect"
            | "forest"
            | "format"
            | "group"
            | "Group"
            | "headers"
            | "help"
            | "info"
            | "lines"
            | "no-headers"
            | "no-heading"
            | "pid"
            | "ppid"
            | "quick-pid"
            | "rows"
            | "sid"
            | "signames"
            | "sort"
            | "tty"
            | "user"
            | "User"
            | "version"
            | "width"
    )
}

fn is_letters(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether an option word of `ps` ends in a letter whose value is the next word.
fn takes_value(word: &str) -> bool {
    let dashed = word.starts_with('-') && !word.contains('=');
    let long = matches!(
        word,
        "--format" | "--user" | "--User" | "--group" | "--Group" | "--pid" | "--sort" | "--tty"
    );
    long || dashed
        && !word.starts_with("--")
        && word.ends_with(['o', 'O', 'C', 'u', 'U', 'g', 'G', 'p', 't', 'q', 's'])
        || matches!(word, "o" | "axo" | "O" | "k" | "U" | "p" | "t" | "q" | "xo" | "auxo")
}

/// `gsh`: verbs that look are explained, every other one changes gsh.
pub(super) fn gsh(words: &[Arg], reading: &mut Reading) {
    reading.arity = 2;
    let text = |index: usize| words.get(index).and_then(Arg::text);
    // They reach the session's own jobs alone, whichever number is given; what is started or sent is decided
    // by the gsh that does it.
    let of_jobs = text(0) == Some("jobs")
        && matches!(text(1), Some("list" | "log" | "wait" | "stop" | "clean" | "start" | "send" | "--json"));
    if words.iter().any(|word| word.text().is_none()) && text(0) != Some("-c") && !of_jobs {
        reading.act(Doing::Disarm);
        return reading.unexplained(Cause::DynamicWord, "gsh", None);
    }
    match (text(0), text(1)) {
        (Some("check" | "explain" | "status" | "brief" | "hook" | "--help" | "--version" | "help"), _) => {}
        (Some("rules"), None | Some("list" | "lint" | "test" | "schema")) => {}
        (Some("mode" | "jobs"), None) => {}
        (Some("jobs"), _) if of_jobs => {}
        (Some("jobs"), _) => reading.unexplained(Cause::UnknownOption, "it sits down at a job", None),
        (Some("grants"), None | Some("list")) | (Some("audit"), Some("show")) => {}
        (Some("-c"), _) => match words.get(1) {
            Some(text) => {
                let args = words.get(2..).unwrap_or_default().to_vec();
                reading.inner.push(Inner::Shell { text: text.clone(), args, posix: true });
            }
            None => reading.unexplained(Cause::UnknownOption, "-c without a text", None),
        },
        _ => {
            reading.act(Doing::Disarm);
            reading.unexplained(Cause::UnknownOption, "a verb that changes gsh", None);
        }
    }
}
