//! A machine that is only a table: verdicts for tests and for the replay of a record need no other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{GitState, Host, Node, OwnFile, Program, Starter};

/// The answers of [`Host`], written down.
#[derive(Debug, Clone, Default)]
pub struct TableHost {
    /// The environment.
    pub vars: BTreeMap<String, String>,
    /// Homes by user name.
    pub users: BTreeMap<String, PathBuf>,
    /// The project root.
    pub project: Option<PathBuf>,
    /// Folders for temporary files.
    pub temporary: Vec<PathBuf>,
    /// What is where; parents of an entry are directories by themselves.
    pub nodes: BTreeMap<PathBuf, Node>,
    /// Symbolic links and what they hold.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Programs that PATH finds.
    pub programs: BTreeMap<String, Program>,
    /// The repository, at the project root.
    pub git: Option<GitState>,
    /// gsh's own files.
    pub ours: BTreeSet<PathBuf>,
    /// The agent that started us.
    pub starter: Option<Starter>,
    /// Files of the user's own.
    pub own_files: BTreeMap<PathBuf, OwnFile>,
}

impl TableHost {
    /// Adds files, and the folders they are in. A trailing slash makes a folder.
    #[must_use]
    pub fn with_files(mut self, paths: &[&str]) -> Self {
        for path in paths {
            let node = if path.ends_with('/') { Node::Directory } else { Node::File };
            self.add(Path::new(path), node);
        }
        self
    }

    /// Adds one thing, and the folders it is in.
    pub fn add(&mut self, path: &Path, node: Node) {
        for folder in path.ancestors().skip(1) {
            self.nodes.entry(folder.to_owned()).or_insert(Node::Directory);
        }
        self.nodes.insert(path.to_owned(), node);
    }

    /// Follows every link as the kernel does.
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        let mut waiting: Vec<PathBuf> =
            path.components().rev().map(|part| PathBuf::from(part.as_os_str())).collect();
        let mut done = PathBuf::from("/");
        let mut followed = 0;
        while let Some(part) = waiting.pop() {
            match part.components().next()? {
                Component::RootDir => done = PathBuf::from("/"),
                Component::ParentDir => {
                    done.pop();
                }
                Component::CurDir | Component::Prefix(_) => {}
                Component::Normal(name) => {
                    let next = done.join(name);
                    let Some(link) = self.links.get(&next) else {
                        done = next;
                        continue;
                    };
                    followed += 1;
                    if followed > 40 {
                        return None;
                    }
                    waiting.extend(link.components().rev().map(|part| PathBuf::from(part.as_os_str())));
                }
            }
        }
        Some(done)
    }
}

impl Host for TableHost {
    fn var(&self, name: &str) -> Option<String> {
        self.vars.get(name).cloned()
    }

    fn home_of(&self, user: &str) -> Option<PathBuf> {
        self.users.get(user).cloned()
    }

    fn homes(&self) -> Vec<PathBuf> {
        let own = self.vars.get("HOME").map(PathBuf::from);
        own.into_iter().chain(self.users.values().cloned()).collect()
    }

    fn project(&self) -> Option<PathBuf> {
        self.project.clone()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        self.temporary.clone()
    }

    fn node(&self, path: &Path) -> Node {
        let Some(real) = self.resolve(path) else { return Node::Unknown };
        self.nodes.get(&real).copied().unwrap_or(Node::Missing)
    }

    fn is_link(&self, path: &Path) -> bool {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        self.resolve(folder).is_some_and(|folder| self.links.contains_key(&folder.join(name)))
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.resolve(path)
    }

    fn list(&self, dir: &Path) -> Option<Vec<String>> {
        let dir = self.resolve(dir)?;
        (self.nodes.get(&dir) == Some(&Node::Directory)).then_some(())?;
        let names = self.nodes.keys().chain(self.links.keys());
        let mut names: Vec<String> = names
            .filter(|path| path.parent() == Some(&dir))
            .filter_map(|path| path.file_name()?.to_str().map(str::to_owned))
            .collect();
        names.sort();
        names.dedup();
        Some(names)
    }

    fn program(&self, name: &str) -> Option<Program> {
        self.programs.get(name).cloned()
    }

    fn git(&self, dir: &Path) -> Option<GitState> {
        let root = self.project.as_ref()?;
        dir.starts_with(root).then(|| self.git.clone()).flatten()
    }

    fn starter(&self) -> Option<Starter> {
        self.starter.clone()
    }

    fn own_file(&self, path: &Path) -> Option<OwnFile> {
        self.own_files.get(path).filter(|_| !self.is_link(path)).cloned()
    }

    fn is_ours(&self, real: &Path) -> bool {
        self.ours.iter().any(|ours| real.starts_with(ours) || ours.starts_with(real))
    }
}
