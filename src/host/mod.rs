//! What the pure stages may know of the machine. The real answers are in [`crate::sys::machine`];
//! tests answer from a table, so a verdict needs no machine.

pub mod recorded;
pub mod table;
pub mod witness;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The machine, as far as a decision may look at it. Every answer is about *now*, before the text
/// runs; whoever asks must first make sure that no earlier part of the same text could change it.
pub trait Host {
    /// A variable of the environment the text would start with.
    fn var(&self, name: &str) -> Option<String>;
    /// The home of a user of the machine, by name.
    fn home_of(&self, user: &str) -> Option<PathBuf>;
    /// Every home folder that is known: `$HOME` and those of the user table. Lexical and real forms.
    fn homes(&self) -> Vec<PathBuf>;
    /// The real path of the project root, if this directory is in a project.
    fn project(&self) -> Option<PathBuf>;
    /// Whether a real path lies in the project, or in a folder that the user counts as the project.
    fn in_project(&self, real: &Path) -> bool {
        self.project().is_some_and(|root| real.starts_with(root))
    }
    /// Real paths of the folders for temporary files.
    fn temporary(&self) -> Vec<PathBuf>;
    /// What is at a path, links followed.
    fn node(&self, path: &Path) -> Node;
    /// Whether the path itself is a symbolic link.
    fn is_link(&self, path: &Path) -> bool;
    /// The path with every link resolved as the kernel would; of what does not exist yet, the
    /// deepest existing ancestor is resolved. None when that cannot be told (a loop, no access).
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// The names in a directory, sorted, without `.` and `..`. None when it cannot be read.
    fn list(&self, dir: &Path) -> Option<Vec<String>>;
    /// The file that `PATH` finds for a name without a slash.
    fn program(&self, name: &str) -> Option<Program>;
    /// What is known of the git repository that `dir` is in.
    fn git(&self, dir: &Path) -> Option<GitState>;
    /// The agent that started the process which asks, where nothing stands between them and the text is no part
    /// of a command that gsh let through.
    fn starter(&self) -> Option<Starter> {
        None
    }
    /// What a file holds that plainly is the user's own: a regular file of one name, no link, that nobody else
    /// may write, in a folder of the same kind. None for any other, and for one that is too long.
    fn own_file(&self, _path: &Path) -> Option<OwnFile> {
        None
    }
    /// Whether the files gsh itself lives on (configuration, state, the binary) lie at or below this
    /// real path, or it lies below one of them.
    fn is_ours(&self, real: &Path) -> bool;
}

/// The kind of thing at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Node {
    /// Nothing is there.
    Missing,
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block device.
    BlockDevice,
    /// A character device, a pipe or a socket.
    Special,
    /// It could not be looked at.
    Unknown,
}

/// A program as `PATH` finds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Where it is, links resolved.
    pub path: PathBuf,
    /// Whether it is what its name says: outside the project, and writable by nobody else.
    pub trusted: bool,
}

/// An agent that started a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Starter {
    /// The word for it in rules and records.
    pub agent: String,
    /// The file it runs, as far as it may be looked at.
    pub program: Option<PathBuf>,
    /// When it started, in milliseconds since 1970.
    pub started: i64,
}

/// A file of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// What it holds.
    pub content: String,
    /// When it was last changed in any way (also renamed), in milliseconds since 1970.
    pub changed: i64,
}

/// A repository's state, as far as verdicts need it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GitState {
    /// The branch `HEAD` is on; None when detached or unreadable.
    pub head: Option<String>,
    /// The remote's default branch, where `refs/remotes/*/HEAD` tells.
    pub default_branch: Option<String>,
    /// Settings of the repository and the user that name a program or change what a command does,
    /// lower-case keys (`core.fsmonitor`, `diff.external`, `alias.st`, `filter.x.clean` …).
    pub settings: Vec<(String, String)>,
    /// Names of the hooks that would run.
    pub hooks: Vec<String>,
}
