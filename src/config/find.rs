//! Which files speak here.

use std::path::{Path, PathBuf};

use crate::policy::Layer;
use crate::store::places::Folders;
use crate::store::safe::Owner;

/// The machine owner's file.
pub const MANAGED: &str = "/etc/gsh/managed.toml";

/// Where a project's file lies below its root.
pub const PROJECT: &str = ".gsh/config.toml";

/// A file that may speak, whether it exists or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// For which layer.
    pub layer: Layer,
    /// Its path, links resolved for the user's own.
    pub path: PathBuf,
    /// Who may own it.
    pub owner: Owner,
    /// Its content counts in full only where the user trusted it.
    pub needs_trust: bool,
    /// Where its relative patterns start.
    pub root: Option<String>,
}

/// The files for a user and a project, lowest layer first. `config` is a file given in the place of the
/// user's.
#[must_use]
pub fn sources(
    folders: Option<&Folders>,
    project: Option<&str>,
    config: Option<&Path>,
    managed: &Path,
) -> Vec<Source> {
    let mut sources = vec![];
    match (config, folders) {
        (Some(file), _) => sources.push(Source::plain(Layer::User, file.to_owned())),
        (None, Some(folders)) => sources.push(user(folders, project)),
        (None, None) => {}
    }
    if let Some(root) = project {
        let path = Path::new(root).join(PROJECT);
        let owner = Owner::Anyone;
        let plain = Source::plain(Layer::Project, path);
        sources.push(Source { owner, needs_trust: true, root: Some(root.to_owned()), ..plain });
        if let Some(folders) = folders {
            let own = Source::plain(Layer::UserProject, folders.user_project_file(Path::new(root)));
            sources.push(Source { root: Some(root.to_owned()), ..own });
        }
    }
    sources.push(Source { owner: Owner::Root, ..Source::plain(Layer::Managed, managed.to_owned()) });
    sources
}

/// The user's file. Where it leads into a project, whoever changes the project changes it, so it counts
/// as the project's.
fn user(folders: &Folders, project: Option<&str>) -> Source {
    let spelled = folders.user_file();
    // What is not there, or leads nowhere, says nothing that could be trusted.
    let Ok(path) = std::fs::canonicalize(&spelled) else { return Source::plain(Layer::User, spelled) };
    let in_this = project.is_some_and(|root| path.starts_with(root));
    let needs_trust = in_this || lies_in_project(&path, &folders.home);
    Source { needs_trust, ..Source::plain(Layer::User, path) }
}

/// Whether a folder above the file is marked as a project's root. A home is never one.
fn lies_in_project(path: &Path, home: &Path) -> bool {
    let above = path.ancestors().skip(1).filter(|folder| folder.parent().is_some() && *folder != home);
    let mut marked = above.filter(|folder| folder.join(".git").exists() || folder.join(".gsh").exists());
    let real_home = || std::fs::canonicalize(home).unwrap_or_else(|_| home.to_owned());
    marked.any(|folder| folder != real_home())
}

impl Source {
    fn plain(layer: Layer, path: PathBuf) -> Self {
        Self { layer, path, owner: Owner::User, needs_trust: false, root: None }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_user_file_that_leads_into_a_project_is_the_projects() {
        let home = tempfile::tempdir().expect("a folder");
        let home = home.path().canonicalize().expect("real");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.clone().into())).expect("a home");
        fs::create_dir_all(&folders.config).expect("made");
        fs::create_dir_all(home.join(".git")).expect("made");
        fs::write(folders.user_file(), "").expect("written");
        let user = |folders: &Folders| sources(Some(folders), None, None, MANAGED.as_ref()).remove(0);
        assert!(!user(&folders).needs_trust, "a home is no project");

        let repository = home.join("dotfiles");
        fs::create_dir_all(repository.join(".git")).expect("made");
        fs::write(repository.join("config.toml"), "").expect("written");
        fs::remove_file(folders.user_file()).expect("removed");
        symlink(repository.join("config.toml"), folders.user_file()).expect("linked");
        let found = user(&folders);
        assert!(found.needs_trust);
        assert_eq!(found.path, repository.join("config.toml"));
    }

    #[test]
    fn order_and_owners() {
        let folders = Folders::new(&|name| (name == "HOME").then(|| "/h".into()));
        let found = sources(folders.as_ref(), Some("/p"), Some("/c.toml".as_ref()), MANAGED.as_ref());
        let layers: Vec<_> =
            found.iter().map(|source| (source.layer, source.owner, source.needs_trust)).collect();
        let expected = [
            (Layer::User, Owner::User, false),
            (Layer::Project, Owner::Anyone, true),
            (Layer::UserProject, Owner::User, false),
            (Layer::Managed, Owner::Root, false),
        ];
        assert_eq!(layers, expected);
        assert_eq!(found[0].path, Path::new("/c.toml"));
        assert_eq!(sources(None, None, None, MANAGED.as_ref()).len(), 1);
    }
}
