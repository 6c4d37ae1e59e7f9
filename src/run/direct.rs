//! Direct execution: one simple command of literal words needs no shell, and no second reading.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::approved::Plan;
use super::environment::Variable;
use crate::facts::Facts;
use crate::syntax::{Command, Piece, Script};

/// One simple command of literal words that needs no shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direct {
    /// The program's file as PATH finds it.
    pub path: PathBuf,
    /// Its words, the name first.
    pub argv: Vec<String>,
}

/// [`direct`], where the shell's own options do not ask for more than running the text.
#[must_use]
pub fn of_plan(plan: &Plan, script: &Script, facts: &Facts) -> Option<Direct> {
    plan.takes_direct().then(|| direct(script, facts, &plan.environment)).flatten()
}

/// The program and words of a text that is one literal simple command; None when in any doubt, for the
/// shell then does what it does.
#[must_use]
pub fn direct(script: &Script, facts: &Facts, environment: &[Variable]) -> Option<Direct> {
    let [statement] = script.body.as_slice() else { return None };
    let Command::Simple(simple) = &statement.command else { return None };
    let [invocation] = facts.invocations.as_slice() else { return None };
    let plain = !statement.background && simple.assignments.is_empty() && simple.redirections.is_empty();
    if !plain
        || invocation.builtin
        || invocation.words.len() != simple.words.len()
        || !script.problems.is_empty()
    {
        return None;
    }
    // Every word is what it was before any expansion.
    let mut argv = Vec::new();
    for (word, arg) in simple.words.iter().zip(&invocation.words) {
        let mut written = String::new();
        for piece in &word.pieces {
            let Piece::Text { text, .. } = piece else { return None };
            written.push_str(text);
        }
        if arg.text() != Some(&written) || arg.glob.is_some() || written.contains('\0') {
            return None;
        }
        argv.push(written);
    }
    let name = argv.first().filter(|name| !name.is_empty() && name.as_str() != "time")?;
    let path = if name.contains('/') { PathBuf::from(name) } else { on_path(name, environment)? };
    Some(Direct { path, argv })
}

/// The first executable file of that name on PATH, as bash would find it.
fn on_path(name: &str, environment: &[Variable]) -> Option<PathBuf> {
    let folders = environment.iter().find(|(variable, _)| variable == OsStr::new("PATH"))?.1.to_str()?;
    for folder in folders.split(':') {
        // A relative folder means another file in another directory; the shell knows its rules.
        if !folder.starts_with('/') {
            return None;
        }
        let path = Path::new(folder).join(name);
        let found = std::fs::metadata(&path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
        if found {
            return Some(path);
        }
    }
    None
}
