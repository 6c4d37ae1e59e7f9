//! Opening our files so that nobody else can have put words into them, and writing them whole.

use std::fs::{DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::OFlag;
use nix::unistd::geteuid;

/// Why a file of ours was not used.
#[derive(Debug, thiserror::Error)]
pub enum SafeError {
    /// There is none.
    #[error("{} does not exist", .0.display())]
    Missing(PathBuf),
    /// The system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is a link, a folder, a pipe or a device.
    #[error("{} is not a regular file", .0.display())]
    NotAFile(PathBuf),
    /// It is not a folder of one's own.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// Somebody else owns it.
    #[error("{} belongs to another user (uid {owner})", .path.display())]
    Owner {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// Somebody else could write it.
    #[error("{} can be written by others (mode {:03o}); chmod go-w it", .path.display(), .mode & 0o777)]
    Writable {
        /// The file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Nobody writes this much by hand.
    #[error("{} is larger than {MOST} bytes", .0.display())]
    TooLarge(PathBuf),
}

/// Who may own a file that is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user or root.
    User,
    /// Root alone.
    Root,
    /// Anyone: its content is judged by itself.
    Anyone,
}

/// The largest file that is read.
const MOST: u64 = 16 << 20;

/// Opens a regular file for reading. The last part of the path is not followed if it is a link, and
/// what was opened is what is looked at.
///
/// # Errors
/// When it is missing, is no regular file, or others could have written it.
pub fn open(path: &Path, owner: Owner) -> Result<(File, Metadata), SafeError> {
    // Non-blocking, so that a pipe in its place cannot stop us.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = OpenOptions::new().read(true).custom_flags(flags.bits()).open(path);
    let file = opened.map_err(|source| failed(path, source))?;
    let metadata = file.metadata().map_err(|source| failed(path, source))?;
    check_file(path, &metadata, owner)?;
    Ok((file, metadata))
}

/// Reads a regular file that others cannot have written.
///
/// # Errors
/// As [`open`], and when it is larger than anything written by hand.
pub fn read(path: &Path, owner: Owner) -> Result<(Vec<u8>, Metadata), SafeError> {
    let (mut file, metadata) = open(path, owner)?;
    let mut content = vec![];
    let read = Read::by_ref(&mut file).take(MOST + 1).read_to_end(&mut content);
    read.map_err(|source| failed(path, source))?;
    if content.len() as u64 > MOST {
        return Err(SafeError::TooLarge(path.into()));
    }
    Ok((content, metadata))
}

/// Makes a folder that is the user's alone, with those above it. One that exists must be so already.
///
/// # Errors
/// When it cannot be made or is not the user's own.
pub fn make_folder(path: &Path) -> Result<(), SafeError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|source| failed(path, source))?;
    check_folder(path)
}

/// Puts new content in a file's place, whole or not at all; private to the user.
///
/// # Errors
/// When the folder cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), SafeError> {
    let beside = beside(path);
    let done = write_new(&beside, bytes).and_then(|()| std::fs::rename(&beside, path));
    done.map_err(|source| {
        // What is half written is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
        failed(path, source)
    })
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).custom_flags(flags.bits()).open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}

/// A name in the same folder that no other writer uses.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{number}.new", std::process::id()))
}

fn failed(path: &Path, source: io::Error) -> SafeError {
    match source.kind() {
        // Below something that is no folder there is no file either.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => SafeError::Missing(path.into()),
        // What O_NOFOLLOW says of a link.
        _ if source.raw_os_error() == Some(nix::errno::Errno::ELOOP as i32) => {
            SafeError::NotAFile(path.into())
        }
        _ => SafeError::Io { path: path.into(), source },
    }
}

fn check_file(path: &Path, metadata: &Metadata, owner: Owner) -> Result<(), SafeError> {
    if !metadata.is_file() {
        return Err(SafeError::NotAFile(path.into()));
    }
    let owner_fits = match owner {
        Owner::Anyone => return Ok(()),
        Owner::Root => metadata.uid() == 0,
        Owner::User => metadata.uid() == 0 || metadata.uid() == geteuid().as_raw(),
    };
    if !owner_fits {
        return Err(SafeError::Owner { path: path.into(), owner: metadata.uid() });
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(SafeError::Writable { path: path.into(), mode: metadata.mode() });
    }
    Ok(())
}

fn check_folder(path: &Path) -> Result<(), SafeError> {
    let metadata = std::fs::symlink_metadata(path).map_err(|source| failed(path, source))?;
    if !metadata.is_dir() {
        return Err(SafeError::NotAFolder(path.into()));
    }
    if metadata.uid() != geteuid().as_raw() {
        return Err(SafeError::Owner { path: path.into(), owner: metadata.uid() });
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(SafeError::Writable { path: path.into(), mode: metadata.mode() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn what_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plain"), "x").expect("written");
        fs::set_permissions(at("plain"), Permissions::from_mode(0o644)).expect("mode");
        fs::write(at("open"), "x").expect("written");
        fs::set_permissions(at("open"), Permissions::from_mode(0o666)).expect("mode");
        symlink(at("plain"), at("link")).expect("linked");
        nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        assert!(matches!(read(&at("plain"), Owner::User), Ok((content, _)) if content == b"x"));
        assert!(matches!(read(&at("open"), Owner::User), Err(SafeError::Writable { .. })));
        assert!(read(&at("open"), Owner::Anyone).is_ok());
        assert!(matches!(read(&at("link"), Owner::User), Err(SafeError::NotAFile(_))));
        assert!(matches!(read(&at("pipe"), Owner::Anyone), Err(SafeError::NotAFile(_))));
        assert!(matches!(read(folder.path(), Owner::Anyone), Err(SafeError::NotAFile(_))));
        assert!(matches!(read(&at("none"), Owner::User), Err(SafeError::Missing(_))));
    }

    #[test]
    fn what_is_written_is_private_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/state");
        make_folder(&folder.path().join("a/b")).expect("made");
        replace(&path, b"one").expect("replaced");
        replace(&path, b"two").expect("replaced");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).expect("read").count(), 1);
        assert_eq!(fs::metadata(folder.path().join("a")).expect("there").mode() & 0o777, 0o700);
    }
}
