//! A project's rule becomes the user's own.

use std::path::Path;

use super::file::{Edited, Editor};
use super::{Change, EditError, Which};
use crate::policy::Layer;
use crate::store::places::Folders;

/// What became of a rule that was promoted.
#[derive(Debug)]
pub struct Promoted {
    /// The user's file with it.
    pub to: Edited,
    /// The file without it, or why it stands there still.
    pub from: Result<Edited, EditError>,
}

/// Writes a rule of a project's file, or of the user's own for the project, into the user's file, and then
/// takes it away where it was: whoever is killed between the two leaves it in both. It lifts a question
/// and never a refusal: nobody wrote it for everywhere.
///
/// # Errors
/// When there is no such rule, or the user's file cannot take it; nothing is changed then.
pub fn promote(
    folders: &Folders,
    project: Option<&Path>,
    layer: Layer,
    which: &Which,
    dry_run: bool,
) -> Result<Promoted, EditError> {
    let from = Editor::new(folders, project, layer)?;
    let mut rules = from.chosen(which)?;
    rules.iter_mut().for_each(|rule| rule.lifts = true);
    let to = Editor::new(folders, project, Layer::User)?;
    let (add, remove) = (Change::Ensure(&rules), Change::Remove(which));
    if dry_run {
        return Ok(Promoted { to: to.draft(add)?, from: from.draft(remove) });
    }
    // Before anything is written: a line may be another rule's once the file has changed.
    from.draft(remove)?;
    let to = to.apply(add)?;
    let is_the_same =
        |_: &super::Found| match from.chosen(which)?.into_iter().zip(&rules).all(|(mut now, then)| {
            now.lifts = true;
            now == *then
        }) {
            true => Ok(()),
            false => Err(EditError::Restless(from.path().into())),
        };
    let from = from.apply_if(remove, &is_the_same);
    Ok(Promoted { to, from })
}
