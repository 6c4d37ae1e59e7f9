//! Paths as the kernel resolves them, also of files that do not exist yet.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows.
const MOST_LINKS: usize = 40;

/// The path with every link resolved. Below the deepest directory that exists the rest is taken as
/// it stands. None for a loop, for what may not be looked at, and for a path that is not absolute.
#[must_use]
pub fn real(path: &Path) -> Option<PathBuf> {
    RealPaths::default().real(path)
}

/// What was seen on the way to real paths. Paths of one decision share most of their folders, so each
/// is looked at once.
#[derive(Debug, Default)]
pub struct RealPaths {
    seen: RefCell<HashMap<PathBuf, Seen>>,
}

/// What stands at a path.
#[derive(Debug, Clone)]
enum Seen {
    /// A link, to there.
    Link(PathBuf),
    /// Something else.
    Plain,
    Missing,
    /// It may not be looked at.
    Hidden,
}

impl RealPaths {
    /// See [`real`].
    #[must_use]
    pub fn real(&self, path: &Path) -> Option<PathBuf> {
        path.is_absolute().then(|| Resolution::new(path, self).finish()).flatten()
    }

    fn look(&self, path: &Path) -> Seen {
        if let Some(seen) = self.seen.borrow().get(path) {
            return seen.clone();
        }
        let seen = match fs::read_link(path) {
            Ok(target) => Seen::Link(target),
            // What is there and no link is refused so.
            Err(error) if error.raw_os_error() == Some(nix::libc::EINVAL) => Seen::Plain,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Seen::Missing
            }
            Err(_) => Seen::Hidden,
        };
        self.seen.borrow_mut().insert(path.to_owned(), seen.clone());
        seen
    }
}

struct Resolution<'s> {
    paths: &'s RealPaths,
    done: PathBuf,
    left: VecDeque<OsString>,
    links: usize,
    /// What `done` names does not exist: nothing below it can be a link.
    missing: bool,
}

impl<'s> Resolution<'s> {
    fn new(path: &Path, paths: &'s RealPaths) -> Self {
        let (done, left) = (PathBuf::from("/"), VecDeque::new());
        let mut resolution = Self { paths, done, left, links: 0, missing: false };
        resolution.put_first(path);
        resolution
    }

    fn put_first(&mut self, path: &Path) {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.left.push_front(name.to_owned()),
                Component::ParentDir => self.left.push_front("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }

    fn finish(mut self) -> Option<PathBuf> {
        while let Some(name) = self.left.pop_front() {
            if name == ".." {
                // Above something that does not exist, existing things begin again.
                self.done.pop();
                self.missing = self.missing && fs::symlink_metadata(&self.done).is_err();
                continue;
            }
            let next = self.done.join(&name);
            if self.missing {
                self.done = next;
                continue;
            }
            match self.paths.look(&next) {
                Seen::Link(target) => self.follow(&target)?,
                Seen::Plain => self.done = next,
                Seen::Missing => {
                    self.missing = true;
                    self.done = next;
                }
                Seen::Hidden => return None,
            }
        }
        Some(self.done)
    }

    fn follow(&mut self, target: &Path) -> Option<()> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return None;
        }
        if target.is_absolute() {
            self.done = PathBuf::from("/");
        }
        self.put_first(target);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn paths_resolve_as_the_kernel_does() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let Some(root) = real(folder.path()) else { return };
        let made = [
            fs::create_dir_all(root.join("a/b")),
            fs::write(root.join("a/file"), ""),
            symlink("a/b", root.join("to-b")),
            symlink("nowhere/x", root.join("dangling")),
            symlink("loop", root.join("loop")),
            symlink(root.join("a"), root.join("absolute")),
        ];
        assert!(made.iter().all(Result::is_ok));
        let table = [
            ("a/file", Some("a/file")),
            ("to-b", Some("a/b")),
            ("to-b/..", Some("a")),
            ("to-b/../file", Some("a/file")),
            ("to-b/new/deep", Some("a/b/new/deep")),
            ("dangling", Some("nowhere/x")),
            ("dangling/y", Some("nowhere/x/y")),
            ("absolute/new", Some("a/new")),
            ("missing/../to-b/new", Some("a/b/new")),
            ("a/file/below", Some("a/file/below")),
            ("loop", None),
            ("loop/x", None),
        ];
        for (given, expected) in table {
            assert_eq!(real(&root.join(given)), expected.map(|path| root.join(path)), "{given}");
        }
        assert_eq!(real(Path::new("relative")), None);
        assert_eq!(real(Path::new("/..")), Some("/".into()));
        assert_eq!(real(Path::new("/a\0b")), None);
    }
}
