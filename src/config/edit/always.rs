//! The answer "always": a rule that holds from now on, in the nearest file where it can have an effect.

use std::path::Path;

use super::file::{Edited, Editor, Found};
use super::{Change, EditError};
use crate::config::new_rule::NewRule;
use crate::policy::Layer;
use crate::store::places::Folders;

/// For what an answer is to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// This project.
    Project,
    /// The user, wherever they are.
    User,
}

/// Whose files they are.
#[derive(Debug, Clone, Copy)]
pub struct Setting<'a> {
    /// The user's.
    pub folders: &'a Folders,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// Some layer forbids trust, so that a project's file never allows anything.
    pub forbids_trust: bool,
}

/// What became of it.
#[derive(Debug)]
pub enum Outcome {
    /// It is written.
    Written {
        /// Where.
        edited: Edited,
        /// Why not in the project's file, where that was wanted.
        instead: Option<EditError>,
    },
    /// No file takes it: it holds for the session only.
    Session(EditError),
}

/// Writes what a person answered: into the project's file, which stays trusted if it was (or is new); where
/// nobody trusts that, where it is malformed or cannot be written, into the user's own for this project. An
/// answer lifts a question and never a refusal, and the rules say so.
#[must_use]
pub fn always(setting: Setting<'_>, rules: &[NewRule], scope: Scope) -> Outcome {
    let rules: Vec<_> = rules.iter().map(|rule| NewRule { lifts: true, ..rule.clone() }).collect();
    let write = |layer| {
        let editor = Editor::new(setting.folders, setting.project, layer)?;
        editor.apply_if(Change::Ensure(&rules), &|found| has_effect(found, layer, setting.forbids_trust))
    };
    let written = |edited, instead| Outcome::Written { edited, instead };
    match scope {
        Scope::User => match write(Layer::User) {
            Ok(edited) => written(edited, None),
            Err(error) => Outcome::Session(error),
        },
        Scope::Project => match write(Layer::Project) {
            Ok(edited) => written(edited, None),
            Err(EditError::NoProject) => Outcome::Session(EditError::NoProject),
            Err(instead) => match write(Layer::UserProject) {
                Ok(edited) => written(edited, Some(instead)),
                Err(error) => Outcome::Session(error),
            },
        },
    }
}

/// Whether an allow in the file would count.
fn has_effect(found: &Found, layer: Layer, forbids_trust: bool) -> Result<(), EditError> {
    if !found.trusted || forbids_trust && layer == Layer::Project {
        return Err(EditError::Untrusted(found.path.clone()));
    }
    found.damage.clone().map_or(Ok(()), |report| Err(EditError::Damaged(report.into())))
}
