//! Whether a file that an envelope names is the agent's own.

use std::path::{Path, PathBuf};

use super::View;
use crate::host::{Node, OwnFile};

/// How long an agent may take from naming a file to its last change of it.
const MAKING: i64 = 60_000;
/// How far the clocks that are compared may be apart.
const SLACK: i64 = 10_000;

impl View<'_> {
    /// The folders that may be an agent's own: the one that its variable names, and those in the homes.
    pub(super) fn folders(&self, variable: &str, name: &str) -> Vec<PathBuf> {
        let named = self.host.var(variable).filter(|folder| folder.starts_with('/')).map(PathBuf::from);
        let homes = self.host.homes().into_iter().map(|home| home.join(name));
        named.into_iter().chain(homes).collect()
    }

    /// What a file in one of these folders holds, if it is where it seems to be, is the user's own, and was made
    /// by the process that started us at the moment that its name tells (in milliseconds since 1970), and never
    /// changed since.
    pub(super) fn made_here(&self, path: &str, folders: &[PathBuf], moment: i64) -> Option<OwnFile> {
        let path = Path::new(path);
        let (folder, name) = (path.parent()?, path.file_name()?);
        if !folders.iter().any(|own| own == folder) || self.host.is_link(path) {
            return None;
        }
        let real = self.host.real(folder)?;
        // The agent's own folder may be a link that the user made; what is in it may not.
        if real != self.host.real(folder.parent()?)?.join(folder.file_name()?) {
            return None;
        }
        let stays = self.host.real(path)? == real.join(name) && !self.host.in_project(&real);
        let file = self.host.own_file(path).filter(|_| stays)?;
        let after = file.changed - moment;
        let in_time = (-SLACK..=MAKING).contains(&after) && self.starter.started <= moment + SLACK;
        in_time.then_some(file)
    }

    /// Whether a path lies in a folder for temporary files, and nothing there leads the writing elsewhere.
    pub(super) fn is_temporary(&self, path: &str) -> bool {
        let path = Path::new(path);
        let set = self.host.var("TMPDIR").map(PathBuf::from);
        let mut bases = self.host.temporary().into_iter().chain(set).chain([PathBuf::from("/tmp")]);
        let below = bases.any(|base| path.starts_with(&base) && path != base);
        let plain = !path.components().any(|part| matches!(part, std::path::Component::ParentDir));
        below
            && plain
            && !self.host.is_link(path)
            && matches!(self.host.node(path), Node::Missing | Node::File)
            && self.host.real(path).is_some_and(|real| {
                let mut bases = self.host.temporary().into_iter();
                bases.any(|base| real.starts_with(base)) && !self.host.is_ours(&real)
            })
    }
}
