//! Opening our files so that nobody else can have put words into them, and writing them whole.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
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
    /// Another process holds it for longer than any change takes.
    #[error("{} is held by another process; try again", .0.display())]
    Busy(PathBuf),
    /// It was made by somebody else meanwhile.
    #[error("{} has just been made by another process", .0.display())]
    Exists(PathBuf),
}

/// Who may own a file that is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// The user or root.
    User,
    /// Root alone, as every folder above it.
    Root,
    /// Anyone: its content is judged by itself.
    Anyone,
}

/// The largest file that is read.
pub const MOST: u64 = 16 << 20;

/// Opens a regular file for reading. The last part of the path is not followed if it is a link, unless
/// root alone could have made it; what was opened is what is looked at.
///
/// # Errors
/// When it is missing, is no regular file, or others could have written it.
pub fn open(path: &Path, owner: Owner) -> Result<(File, Metadata), SafeError> {
    // Non-blocking, so that a pipe in its place cannot stop us.
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let real = if owner == Owner::Root { followed(path) } else { None };
    let opened =
        OpenOptions::new().read(true).custom_flags(flags.bits()).open(real.as_deref().unwrap_or(path));
    let file = opened.map_err(|source| failed(path, source))?;
    let metadata = file.metadata().map_err(|source| failed(path, source))?;
    check_file(path, &metadata, owner)?;
    if owner == Owner::Root {
        check_above(path, 0)?;
    }
    Ok((file, metadata))
}

/// Reads a regular file that others cannot have written.
///
/// # Errors
/// As [`open`], and when it is larger than anything written by hand.
pub fn read(path: &Path, owner: Owner) -> Result<(Vec<u8>, Metadata), SafeError> {
    let (mut file, metadata) = open(path, owner)?;
    // In one go, and one more to see the end.
    let mut content = Vec::with_capacity(usize::try_from(metadata.len().min(MOST)).unwrap_or(0) + 1);
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

/// Whose a written file is, and who may do what with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum As {
    /// A new file with this mode, whether there is one or not.
    New(u32),
    /// As `New`, and only if there is none yet.
    First(u32),
    /// With the owner, group and mode of the file that it replaces.
    Old {
        /// Its owner.
        owner: u32,
        /// Its group.
        group: u32,
        /// Its mode.
        mode: u32,
    },
}

impl As {
    /// As the file that is there.
    #[must_use]
    pub fn old(metadata: &Metadata) -> Self {
        Self::Old { owner: metadata.uid(), group: metadata.gid(), mode: metadata.mode() & 0o7777 }
    }
}

/// Puts new content in a file's place, whole or not at all; private to the user.
///
/// # Errors
/// When the folder cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), SafeError> {
    put(path, bytes, As::New(0o600))
}

/// Puts content in a file's place, whole or not at all: whoever is killed at it leaves what was there.
///
/// # Errors
/// When the folder cannot be written, or the owner, group and mode cannot be kept.
pub fn put(path: &Path, bytes: &[u8], kind: As) -> Result<(), SafeError> {
    put_for(path, bytes, kind, Until::Always)?;
    // The name outlives a crash too, where the file system can promise that.
    if let Some(folder) = path.parent().and_then(|folder| File::open(folder).ok()) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Writes over a file that is there, which keeps its other names and all that belongs to it. Whoever is killed at it
/// leaves half of it: only for what can be put back.
///
/// # Errors
/// When it is a link or no regular file, or cannot be written.
pub fn overwrite(path: &Path, bytes: &[u8]) -> Result<(), SafeError> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let opened = OpenOptions::new().write(true).custom_flags(flags.bits()).open(path);
    let mut file = opened.map_err(|source| failed(path, source))?;
    let metadata = file.metadata().map_err(|source| failed(path, source))?;
    check_file(path, &metadata, Owner::Anyone)?;
    let written = file.write_all(bytes).and_then(|()| file.set_len(bytes.len() as u64));
    written.and_then(|()| file.sync_all()).map_err(|source| failed(path, source))
}

/// As [`replace`], for what means nothing once the machine was started anew, or can be made again: nothing
/// waits for the disk.
///
/// # Errors
/// When the folder cannot be written.
pub fn replace_until_restart(path: &Path, bytes: &[u8]) -> Result<(), SafeError> {
    put_for(path, bytes, As::New(0o600), Until::Restart)
}

/// How long content has to last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Always,
    Restart,
}

fn put_for(path: &Path, bytes: &[u8], kind: As, until: Until) -> Result<(), SafeError> {
    let (beside, mut file) = new_beside(path).map_err(|source| failed(path, source))?;
    let synced = |file: File| if until == Until::Always { file.sync_all() } else { Ok(()) };
    let done = write(&mut file, bytes, kind).and_then(|()| synced(file)).and_then(|()| match kind {
        As::First(_) => rename_new(&beside, path),
        As::New(_) | As::Old { .. } => std::fs::rename(&beside, path),
    });
    done.map_err(|source| {
        // What is half written is of no use; that it cannot be removed changes nothing.
        let _ = std::fs::remove_file(&beside);
        match source.kind() {
            io::ErrorKind::AlreadyExists => SafeError::Exists(path.into()),
            _ => failed(path, source),
        }
    })
}

/// Writes the whole content of a file that nobody else has opened.
fn write(file: &mut File, bytes: &[u8], kind: As) -> io::Result<()> {
    file.write_all(bytes)?;
    let mode = match kind {
        As::New(mode) | As::First(mode) => mode,
        As::Old { owner, group, mode } => {
            let now = file.metadata()?;
            if (now.uid(), now.gid()) != (owner, group) {
                std::os::unix::fs::fchown(&file, Some(owner), Some(group))?;
            }
            mode
        }
    };
    // After the owner: changing that takes special bits away.
    file.set_permissions(Permissions::from_mode(mode))
}

/// Gives a file its name only if nothing has it.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has second names.
        Err(_) if std::fs::symlink_metadata(to).is_err() => std::fs::rename(from, to),
        Err(error) => Err(error),
    }
}

/// How many names that somebody else has taken are passed over.
const TRIES: usize = 64;

/// A new, private file in the same folder. What already has the name, planted or left behind, is neither
/// followed nor touched.
fn new_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let flags = OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).custom_flags(flags.bits());
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for _ in 0..TRIES {
        let beside = beside(path);
        match options.open(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// A name in the same folder that no other writer uses.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}-{number}.new", std::process::id()))
}

pub(super) fn failed(path: &Path, source: io::Error) -> SafeError {
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

/// Where a link leads; None for one that leads nowhere and for what is none.
fn followed(path: &Path) -> Option<PathBuf> {
    path.is_symlink().then(|| std::fs::canonicalize(path).ok()).flatten()
}

/// Whether nobody but this owner can put another file in the place of this one: every folder above it, as
/// spelled and as it really is, is theirs alone. In a folder like `/tmp` others cannot replace what is not
/// theirs.
fn check_above(path: &Path, owner: u32) -> Result<(), SafeError> {
    const STICKY: u32 = 0o1000;
    let real = std::fs::canonicalize(path).map_err(|source| failed(path, source))?;
    let link = path.is_symlink().then_some(path);
    for folder in link.into_iter().chain(path.ancestors().skip(1)).chain(real.ancestors().skip(1)) {
        if folder.as_os_str().is_empty() {
            continue;
        }
        let metadata = std::fs::symlink_metadata(folder).map_err(|source| failed(folder, source))?;
        if metadata.uid() != owner {
            return Err(SafeError::Owner { path: folder.into(), owner: metadata.uid() });
        }
        let mode = metadata.mode();
        if metadata.is_dir() && mode & 0o022 != 0 && mode & STICKY == 0 {
            return Err(SafeError::Writable { path: folder.into(), mode });
        }
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
    use std::fs;
    use std::os::unix::fs::symlink;

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
    fn folders_above_must_be_the_owners_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("real");
        let me = geteuid().as_raw();
        let (inner, path) = (folder.join("a/b"), folder.join("a/b/file"));
        fs::create_dir_all(&inner).expect("made");
        fs::write(&path, "x").expect("written");
        let above = |path: &Path| {
            // What lies above the test's own folder is the machine's affair: as another user than root it
            // is not one's own.
            match check_above(path, me) {
                Err(SafeError::Owner { path, .. }) if folder.starts_with(&path) && me != 0 => Ok(()),
                other => other,
            }
        };
        assert!(above(&path).is_ok(), "{:?}", above(&path));
        let mode = |mode| fs::set_permissions(folder.join("a"), Permissions::from_mode(mode)).expect("mode");
        mode(0o775);
        assert!(matches!(above(&path), Err(SafeError::Writable { path, .. }) if path == folder.join("a")));
        symlink(&inner, folder.join("link")).expect("linked");
        assert!(check_above(&folder.join("link/file"), me).is_err(), "as it really is");
        mode(0o1777);
        assert!(above(&path).is_ok(), "a file of one's own there stays");
        mode(0o755);
        assert!(matches!(check_above(&path, me.wrapping_add(1)), Err(SafeError::Owner { .. })));
        if std::os::unix::fs::chown(folder.join("a"), Some(12345), None).is_ok() {
            assert!(matches!(above(&path), Err(SafeError::Owner { owner: 12345, .. })));
        }
    }

    #[test]
    fn what_is_written_is_private_and_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a/b/state");
        make_folder(&folder.path().join("a/b")).expect("made");
        replace(&path, b"one").expect("replaced");
        replace(&path, b"two").expect("replaced");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        let victim = folder.path().join("victim");
        fs::write(&victim, b"mine").expect("written");
        fs::remove_file(&path).expect("removed");
        symlink(&victim, &path).expect("planted");
        replace(&path, b"two").expect("replaced");
        assert_eq!(
            (fs::read(&victim).expect("read"), fs::read(&path).expect("read")),
            (b"mine".to_vec(), b"two".to_vec())
        );
        assert!(!path.is_symlink());
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path().join("a/b")).expect("read").count(), 1);
        assert_eq!(fs::metadata(folder.path().join("a")).expect("there").mode() & 0o777, 0o700);
    }

    #[test]
    fn what_replaces_a_file_has_its_mode_and_a_first_one_replaces_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("config.toml");
        put(&path, b"one", As::First(0o644)).expect("made");
        assert!(matches!(put(&path, b"two", As::First(0o644)), Err(SafeError::Exists(_))));
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("mode");
        let old = As::old(&fs::metadata(&path).expect("there"));
        put(&path, b"three", old).expect("replaced");
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o7777, 0o640);
        assert_eq!(fs::read(&path).expect("read"), b"three");
        assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1, "nothing is left beside it");
    }

    #[test]
    fn planted_names_are_passed_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, victim) = (folder.path().join("state"), folder.path().join("victim"));
        fs::write(&victim, "precious").expect("written");
        // The names that come next, as far as other tests leave them to us.
        let name = beside(&path).file_name().expect("a name").to_string_lossy().into_owned();
        let number: u32 = name
            .split_once('-')
            .and_then(|(_, rest)| rest.strip_suffix(".new")?.parse().ok())
            .expect("a number");
        for next in number..number + 40 {
            let planted = format!(".state.{}-{next}.new", std::process::id());
            symlink(&victim, folder.path().join(planted)).expect("linked");
        }
        replace(&path, b"ours").expect("replaced");
        assert_eq!(fs::read(&path).expect("read"), b"ours");
        assert_eq!(fs::read(&victim).expect("read"), b"precious");
        assert!(fs::symlink_metadata(&path).expect("there").is_file());
    }
}
