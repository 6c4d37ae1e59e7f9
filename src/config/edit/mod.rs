//! Changes of the rules in a file, so that a person's own text around them stays as it is.
//!
//! `entries` finds where each rule stands, `change` makes another text of one, `check` reads that again
//! and holds it against what was meant, `file` puts it in the file's place under a lock, `always` chooses
//! the file for an answer, and `promote` takes a rule from one file to another.

mod always;
mod change;
mod check;
mod entries;
mod file;
#[cfg(test)]
mod files;
mod lines;
mod promote;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use always::{Outcome, Scope, Setting, always};
pub use file::{Edited, Editor, Found};
pub use lines::text_of;
pub use promote::{Promoted, promote};

use super::new_rule::NewRule;
use super::trust::TrustError;
use crate::report::Report;
use crate::store::safe::SafeError;

/// What is to become of a file's rules.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// These come last.
    Add(&'a [NewRule]),
    /// These come last, where they do not hold already.
    Ensure(&'a [NewRule]),
    /// This one goes.
    Remove(&'a Which),
    /// This one comes earlier or later.
    Move(&'a Which, &'a Place),
}

/// Which rule of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// The one that is listed with this line.
    Line(usize),
    /// The one that says this.
    Says {
        /// Its capability; None where the pattern tells it apart.
        capability: Option<String>,
        /// Its pattern, or the whole rule in an agent's form.
        pattern: String,
    },
}

/// Where a rule is moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Right before this one.
    Before(Which),
    /// Right behind this one.
    Behind(Which),
    /// Before all that could decide in its place.
    Top,
    /// Behind all that could.
    Bottom,
}

/// Why a file was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// The directory is in no project.
    #[error("this directory is in no project")]
    NoProject,
    /// It is no TOML: where.
    #[error("the file is malformed and was left as it is; put it right first\n{0}")]
    Malformed(Box<Report>),
    /// Something in it is wrong, so no allow in it has an effect.
    #[error("the file has an error, so nothing in it allows anything; put it right first\n{0}")]
    Damaged(Box<Report>),
    /// The new rule is none: why.
    #[error("nothing was written: {}{}", .0.title, .0.help.as_deref().map(|help| format!("; {help}")).unwrap_or_default())]
    Rule(Box<Report>),
    /// No rule fits.
    #[error("{} has no such rule; `gsh rules list` shows each with its file and line", .0.display())]
    NoSuchRule(PathBuf),
    /// Several do.
    #[error("several rules of {} fit (lines {}); name one as FILE:LINE", .file.display(), .lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))]
    Several {
        /// The file.
        file: PathBuf,
        /// Where they stand.
        lines: Vec<usize>,
    },
    /// The rule is written in a form that is left to a person.
    #[error("{}: the rules are written in a form that gsh does not change; write them as lines of [permissions.\"…\"] or as [[permissions.rules]]", .0.display())]
    Form(PathBuf),
    /// The order of the two is that of their tables.
    #[error("{}: the two stand in different tables, whose order decides; move one table by hand", .0.display())]
    Apart(PathBuf),
    /// A catch-all gives way to all rules of all files, which is its file's affair.
    #[error("{}: a catch-all `capability = action` is not promoted; write the rule that is meant", .0.display())]
    CatchAll(PathBuf),
    /// The change would have done more than was meant.
    #[error("{}: this change cannot be made safely; edit the file by hand", .0.display())]
    Unsure(PathBuf),
    /// Nobody trusts the file, so an allow in it has no effect.
    #[error("{} is not trusted, so an allow in it has no effect (`gsh trust` shows it)", .0.display())]
    Untrusted(PathBuf),
    /// Somebody else kept changing it.
    #[error("{} keeps changing; try again", .0.display())]
    Restless(PathBuf),
    /// The system refused.
    #[error(transparent)]
    Safe(#[from] SafeError),
    /// The trust in the file could not be kept.
    #[error(transparent)]
    Trust(#[from] TrustError),
}
