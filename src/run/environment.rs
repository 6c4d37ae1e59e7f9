//! Variables that change how bash reads the same text. What was decided must be what runs, so they
//! do not reach the shell; the programs it starts would have had them only by way of the shell.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// A variable's name and value.
pub type Variable = (OsString, OsString);

/// What happens to a variable before the shell starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// It never reaches the shell.
    Removed,
    /// It reaches the shell only when its value is plain text that nothing is expanded in.
    IfLiteral,
}

/// A variable that changes the reading, what happens to it, and why.
#[derive(Debug, Clone, Copy)]
pub struct Special {
    /// Its name.
    pub name: &'static str,
    /// What happens to it.
    pub treatment: Treatment,
    /// Why, for `gsh status`.
    pub why: &'static str,
}

/// Every such variable. Exported functions (`BASH_FUNC_name%%`) are none of them: they reach the
/// shell, because a caller may need them, and a text that uses such a name is not understood.
pub const SPECIAL: [Special; 8] = [
    Special {
        name: "BASH_ENV",
        treatment: Treatment::Removed,
        why: "a file that would run first, undecided",
    },
    Special { name: "ENV", treatment: Treatment::Removed, why: "a file that would run first, undecided" },
    Special {
        name: "BASHOPTS",
        treatment: Treatment::Removed,
        why: "switches on aliases and other patterns",
    },
    Special {
        name: "SHELLOPTS",
        treatment: Treatment::Removed,
        why: "switches on options that were not given",
    },
    Special { name: "POSIXLY_CORRECT", treatment: Treatment::Removed, why: "makes bash read by other rules" },
    Special { name: "BASH_COMPAT", treatment: Treatment::Removed, why: "makes bash read as an older one" },
    Special { name: "PS4", treatment: Treatment::IfLiteral, why: "is expanded before each traced command" },
    Special {
        name: "PROMPT_COMMAND",
        treatment: Treatment::Removed,
        why: "runs before each prompt, undecided",
    },
];

/// The environment for the shell, and the names that were taken out of it.
#[must_use]
pub fn for_shell(given: Vec<Variable>) -> (Vec<Variable>, Vec<String>) {
    let mut removed = Vec::new();
    let kept = given
        .into_iter()
        .filter(|(name, value)| match SPECIAL.iter().find(|special| name == special.name) {
            Some(special) if special.treatment == Treatment::Removed || !is_literal(value) => {
                removed.push(special.name.to_owned());
                false
            }
            _ => true,
        })
        .collect();
    (kept, removed)
}

fn is_literal(value: &OsStr) -> bool {
    !value.as_bytes().iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\'))
}

/// The names of the functions that this environment hands to bash.
#[must_use]
pub fn exported_functions(environment: &[Variable]) -> Vec<String> {
    environment
        .iter()
        .filter_map(|(name, _)| name.to_str()?.strip_prefix("BASH_FUNC_")?.strip_suffix("%%"))
        .map(str::to_owned)
        .collect()
}

/// The environment that a program gets which bash would have started as its only command: bash sets
/// some variables, and a program may look at them.
#[must_use]
pub fn for_program(shell: Vec<Variable>, program: &OsStr, directory: &OsStr) -> Vec<Variable> {
    let level = shell
        .iter()
        .find(|(name, _)| name == "SHLVL")
        .and_then(|(_, value)| value.to_str()?.trim().parse::<i32>().ok())
        .filter(|level| (0..1000).contains(level))
        .unwrap_or(0);
    let keeps_old = |value: &OsStr| std::path::Path::new(value).is_dir();
    let mut own: Vec<Variable> = shell
        .into_iter()
        .filter(|(name, value)| match name.to_str() {
            Some("SHLVL" | "_" | "PWD") => false,
            Some("OLDPWD") => keeps_old(value),
            _ => true,
        })
        .collect();
    own.push(("SHLVL".into(), level.to_string().into()));
    own.push(("PWD".into(), directory.to_owned()));
    own.push(("_".into(), program.to_owned()));
    own
}

/// The environment for a command that may begin an editor, where nobody can press a key: none begins but one that
/// was chosen, for it would wait for ever. bash would have begun `vi`.
#[must_use]
pub fn without_keys(mut given: Vec<Variable>) -> Vec<Variable> {
    if !["GIT_EDITOR", "VISUAL", "EDITOR"].iter().any(|name| has(&given, name)) {
        given.push(("EDITOR".into(), "false".into()));
    }
    given
}

/// The same on a terminal of ours that nobody sits at, for any command: no pager begins there either, for it could
/// never be left.
#[must_use]
pub fn for_nobody(given: Vec<Variable>) -> Vec<Variable> {
    let mut own = without_keys(given);
    own.retain(|(name, _)| name != "PAGER" && name != "GIT_PAGER");
    own.extend(["PAGER", "GIT_PAGER"].map(|name| (name.into(), "cat".into())));
    if !has(&own, "TERM") {
        own.push(("TERM".into(), "dumb".into()));
    }
    own
}

fn has(variables: &[Variable], name: &str) -> bool {
    variables.iter().any(|(known, _)| known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<Variable> {
        pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    #[test]
    fn what_changes_the_reading_stays_outside() {
        let given = variables(&[
            ("HOME", "/h"),
            ("BASH_ENV", "/x"),
            ("ENV", ""),
            ("BASHOPTS", "extglob"),
            ("SHELLOPTS", "xtrace"),
            ("POSIXLY_CORRECT", "1"),
            ("BASH_COMPAT", "4.2"),
            ("PS4", "$(x)"),
            ("BASH_FUNC_ls%%", "() { :; }"),
            ("PATH", "/bin"),
        ]);
        let (kept, removed) = for_shell(given);
        assert_eq!(
            removed,
            ["BASH_ENV", "ENV", "BASHOPTS", "SHELLOPTS", "POSIXLY_CORRECT", "BASH_COMPAT", "PS4"]
        );
        assert_eq!(kept, variables(&[("HOME", "/h"), ("BASH_FUNC_ls%%", "() { :; }"), ("PATH", "/bin")]));
        assert_eq!(exported_functions(&kept), ["ls"]);
        let plain = variables(&[("PS4", "+ ")]);
        assert_eq!(for_shell(plain.clone()).0, plain);
    }

    #[test]
    fn where_nobody_sits_nothing_waits_for_keys() {
        let given = variables(&[("PAGER", "less"), ("A", "1")]);
        let own = [("A", "1"), ("EDITOR", "false"), ("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb")];
        assert_eq!(for_nobody(given), variables(&own));
        let chosen = variables(&[("TERM", "xterm"), ("VISUAL", "sed -i 1d")]);
        let kept = [("TERM", "xterm"), ("VISUAL", "sed -i 1d"), ("PAGER", "cat"), ("GIT_PAGER", "cat")];
        assert_eq!(for_nobody(chosen), variables(&kept));
    }

    #[test]
    fn a_program_sees_what_bash_would_have_set() {
        let table = [(None, "0"), (Some("3"), "3"), (Some("x"), "0"), (Some("-1"), "0")];
        for (given, expected) in table {
            let mut shell = variables(&[("A", "1"), ("_", "old"), ("OLDPWD", "/nonexistent")]);
            shell.extend(given.map(|level| ("SHLVL".into(), level.into())));
            let own = for_program(shell, OsStr::new("/bin/x"), OsStr::new("/d"));
            assert_eq!(own, variables(&[("A", "1"), ("SHLVL", expected), ("PWD", "/d"), ("_", "/bin/x")]));
        }
    }
}
