//! Files that only their owner may read, and appends that are whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use nix::libc;

/// Makes sure that a folder is there, is the caller's and nobody else may look into it.
///
/// # Errors
/// When it cannot be made, is something else, or belongs to somebody else.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let data = match fs::symlink_metadata(path) {
        // The rule, and then nothing need be made.
        Ok(data) => data,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            DirBuilder::new().mode(0o700).recursive(true).create(path)?;
            fs::symlink_metadata(path)?
        }
        Err(error) => return Err(error),
    };
    if !data.is_dir() || data.uid() != nix::unistd::geteuid().as_raw() {
        return Err(not_ours(path));
    }
    if data.mode() & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Opens a private file for appending, and makes it if need be. A link, a file with a second name
/// and somebody else's file are refused: each could lead the text elsewhere.
///
/// # Errors
/// As `open`, and for a file that is not plainly the caller's own.
pub fn open_append(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        // To see whether the last line is whole.
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK)
        .open(path)?;
    let data = file.metadata()?;
    let own = data.uid() == nix::unistd::geteuid().as_raw();
    if !data.is_file() || data.nlink() != 1 || !own {
        return Err(not_ours(path));
    }
    if data.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// A file that no other writer of ours changes while this lives.
#[derive(Debug)]
pub struct Locked<'f>(&'f File);

/// So often and so long apart is a lock tried: five seconds in all.
const TRIES: u32 = 2500;
const PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

impl<'f> Locked<'f> {
    /// Waits for the file, but not for ever: whoever can read it could hold it.
    ///
    /// # Errors
    /// When another process holds it for seconds, or the file system knows no locks.
    pub fn new(file: &'f File) -> io::Result<Self> {
        for _ in 0..TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(fs::TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(fs::TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::TimedOut, "another process holds the file"))
    }

    /// The end of the file, at most so many bytes, and its length.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn tail(&self, most: usize) -> io::Result<(Vec<u8>, u64)> {
        let length = self.0.metadata()?.len();
        let start = length.saturating_sub(most as u64);
        let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
        self.0.read_exact_at(&mut bytes, start)?;
        Ok((bytes, length))
    }

    /// Takes away what stands behind this length, and returns it.
    ///
    /// # Errors
    /// When it cannot be read or cut.
    pub fn cut(&self, length: u64) -> io::Result<Vec<u8>> {
        let whole = self.0.metadata()?.len();
        let mut bytes = vec![0; usize::try_from(whole.saturating_sub(length)).unwrap_or(0)];
        self.0.read_exact_at(&mut bytes, length)?;
        self.0.set_len(length)?;
        Ok(bytes)
    }

    /// Appends in one write: all of it, or nothing stays (a full disk).
    ///
    /// # Errors
    /// When it fails or is cut short.
    pub fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0;
        loop {
            match file.write(bytes) {
                Ok(written) if written == bytes.len() => return Ok(()),
                Ok(written) => {
                    let length = self.0.metadata()?.len().saturating_sub(written as u64);
                    self.0.set_len(length)?;
                    let why = "only a part of it could be written: the disk, a quota or `ulimit -f`";
                    return Err(io::Error::new(io::ErrorKind::StorageFull, why));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // Closing the file unlocks it too.
        let _ = self.0.unlock();
    }
}

fn not_ours(path: &Path) -> io::Error {
    let text = format!("{} is not a private file or folder of this user", path.display());
    io::Error::new(io::ErrorKind::PermissionDenied, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_locked_is_seen_and_cut() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let (file, other) = (open_append(&path).expect("opened"), open_append(&path).expect("opened"));
        let locked = Locked::new(&file).expect("locked");
        locked.append(b"one\ntwo").expect("appended");
        assert_eq!(locked.tail(5).expect("read"), (b"e\ntwo".to_vec(), 7));
        assert_eq!(locked.cut(4).expect("cut"), b"two");
        assert!(matches!(other.try_lock(), Err(fs::TryLockError::WouldBlock)));
        drop(locked);
        Locked::new(&other).expect("free again").append(b"three\n").expect("appended");
        assert_eq!(fs::read_to_string(&path).expect("read"), "one\nthree\n");
    }

    #[test]
    fn only_private_files_are_opened() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let (log, at) = (folder.path().join("deep/log"), |name: &str| folder.path().join(name));
        assert!(private_folder(&log).is_ok());
        assert_eq!(fs::metadata(&log).map(|data| data.mode() & 0o777).ok(), Some(0o700));
        let file = open_append(&log.join("a"));
        assert_eq!(file.as_ref().ok().and_then(|f| f.metadata().ok()).map(|d| d.mode() & 0o777), Some(0o600));
        let written = file.and_then(|file| Locked::new(&file)?.append(b"one\ntwo\n"));
        assert!(written.is_ok());
        assert_eq!(fs::read_to_string(log.join("a")).ok().as_deref(), Some("one\ntwo\n"));

        let made = [
            symlink(log.join("a"), at("link")),
            fs::hard_link(log.join("a"), at("second")),
            symlink(&log, at("folder-link")),
            fs::write(at("plain"), ""),
        ];
        assert!(made.iter().all(Result::is_ok));
        assert!(open_append(&at("link")).is_err());
        assert!(open_append(&at("second")).is_err());
        assert!(open_append(folder.path()).is_err());
        assert!(private_folder(&at("folder-link")).is_err());
        assert!(private_folder(&at("plain")).is_err());
    }
}
