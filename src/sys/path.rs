//! Paths as the kernel resolves them, also of files that do not exist yet.

use std::collections::VecDeque;
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
    if !path.is_absolute() {
        return None;
    }
    match fs::canonicalize(path) {
        Ok(real) => Some(real),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Resolution::new(path).finish()
        }
        Err(_) => None,
    }
}

struct Resolution {
    done: PathBuf,
    left: VecDeque<OsString>,
    links: usize,
    /// What `done` names does not exist: nothing below it can be a link.
    missing: bool,
}

impl Resolution {
    fn new(path: &Path) -> Self {
        let mut resolution =
            Self { done: PathBuf::from("/"), left: VecDeque::new(), links: 0, missing: false };
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
            match fs::symlink_metadata(&next) {
                Ok(data) if data.is_symlink() => self.follow(&next)?,
                Ok(_) => self.done = next,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                    self.missing = true;
                    self.done = next;
                }
                Err(_) => return None,
            }
        }
        Some(self.done)
    }

    fn follow(&mut self, link: &Path) -> Option<()> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return None;
        }
        let target = fs::read_link(link).ok()?;
        if target.is_absolute() {
            self.done = PathBuf::from("/");
        }
        self.put_first(&target);
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
    }
}
