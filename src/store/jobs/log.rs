//! What a job writes: bounded, and the user's alone.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

use crate::sys::file::open_append;

/// A log that is longer begins anew; the part before is kept, once.
pub(super) const LONGEST: u64 = 8 << 20;

/// Where the earlier part of a log is kept.
#[must_use]
pub fn old(log: &Path) -> PathBuf {
    log.with_extension("log.old")
}

/// Where a log is begun before it takes the earlier part's place.
pub(super) fn next(log: &Path) -> PathBuf {
    log.with_extension("log.next")
}

/// A job's log while it is written.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    length: u64,
    longest: u64,
}

impl Log {
    pub(super) fn open(path: PathBuf, longest: u64) -> io::Result<Self> {
        let file = open_append(&path)?;
        let length = file.metadata()?.len();
        Ok(Self { path, file, length, longest })
    }

    /// Adds to it. It never takes more than twice its longest length.
    ///
    /// # Errors
    /// When the disk is full.
    pub fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.length >= self.longest {
            self.file = begin_anew(&self.path)?;
            self.length = 0;
        }
        self.file.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}

/// Puts an empty log in the place of this one, which is kept. Whoever looks always finds a log.
fn begin_anew(log: &Path) -> io::Result<File> {
    let next = next(log);
    let file = open_append(&next)?;
    // The kernel or the file system may know no exchange; then there is none for a moment.
    if renameat2(AT_FDCWD, &next, AT_FDCWD, log, RenameFlags::RENAME_EXCHANGE).is_ok() {
        fs::rename(&next, old(log))?;
    } else {
        fs::rename(log, old(log))?;
        fs::rename(&next, log)?;
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_private_and_bounded() {
        use std::os::unix::fs::MetadataExt;
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("1.log");
        let mut log = Log::open(path.clone(), 100).expect("a log");
        for round in 0..50 {
            log.add(format!("line {round:04}\n").as_bytes()).expect("added");
        }
        let length = |path: &Path| fs::metadata(path).expect("there").len();
        assert!(length(&path) <= 110 && length(&old(&path)) <= 110);
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert!(fs::read_to_string(&path).expect("text").ends_with("line 0049\n"));
    }
}
