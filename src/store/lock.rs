//! One writer at a time: whoever changes a file of ours reads, changes and writes it under this lock.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};

use super::places::Folders;
use super::safe::{self, SafeError};
use crate::sys::file::open_append;

/// Whoever holds it longer is stuck: a change takes milliseconds.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(3);

/// The right to change files of ours; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct Lock {
    _file: Flock<File>,
    _folder: Option<Flock<File>>,
}

/// Waits for the user's lock. It is a file of its own: the files that are changed are replaced, and a
/// lock on what was replaced would keep nobody out.
///
/// # Errors
/// When the state folder cannot be used, or somebody holds the lock for very long.
pub fn take(folders: &Folders) -> Result<Lock, SafeError> {
    safe::make_folder(&folders.state)?;
    at(&folders.lock_file(), PATIENCE)
}

/// Waits so long for the lock that is this file.
///
/// # Errors
/// When the file is not plainly the user's own, or somebody holds the lock for longer.
pub(super) fn at(path: &Path, patience: Duration) -> Result<Lock, SafeError> {
    let file = open_append(path).map_err(|source| safe::failed(path, source))?;
    match wait(file, patience) {
        Ok(file) => Ok(Lock { _file: file, _folder: None }),
        Err(Errno::EWOULDBLOCK) => Err(SafeError::Busy(path.into())),
        Err(errno) => Err(SafeError::Io { path: path.into(), source: errno.into() }),
    }
}

impl Lock {
    /// Keeps other users out of a folder as well, where its file system can do that: their locks are
    /// others.
    ///
    /// # Errors
    /// When one of them holds it for very long.
    pub fn with_folder(mut self, folder: &Path) -> Result<Self, SafeError> {
        let flags = OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
        let Ok(opened) = OpenOptions::new().read(true).custom_flags(flags.bits()).open(folder) else {
            return Ok(self);
        };
        match wait(opened, PATIENCE) {
            Err(Errno::EWOULDBLOCK) => return Err(SafeError::Busy(folder.into())),
            locked => self._folder = locked.ok(),
        }
        Ok(self)
    }
}

/// Asks again and again rather than waiting in the kernel, where nothing would end the wait.
fn wait(mut file: File, patience: Duration) -> Result<Flock<File>, Errno> {
    let begun = Instant::now();
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(locked) => return Ok(locked),
            Err((back, Errno::EWOULDBLOCK)) if begun.elapsed() < patience => file = back,
            Err((back, Errno::EINTR)) => file = back,
            Err((_, errno)) => return Err(errno),
        }
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn one_at_a_time() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        let inside = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let held = take(&folders).and_then(|lock| lock.with_folder(home.path())).expect("a lock");
                    assert!(!inside.swap(true, Ordering::SeqCst), "somebody else is inside");
                    std::thread::yield_now();
                    inside.store(false, Ordering::SeqCst);
                    drop(held);
                });
            }
        });
        std::fs::remove_file(folders.lock_file()).expect("removed");
        std::os::unix::fs::symlink("/dev/null", folders.lock_file()).expect("linked");
        assert!(matches!(take(&folders), Err(SafeError::NotAFile(_))));
    }
}
