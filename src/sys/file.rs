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

/// Appends one line in one write, so that lines of several writers never mix. After a line that was
/// left without its end (a crash, a full disk) it begins one of its own.
///
/// # Errors
/// When the write fails or is cut short (a full disk).
pub fn append_line(mut file: &File, line: &[u8]) -> io::Result<()> {
    let mut whole = Vec::with_capacity(line.len() + 2);
    if is_torn(file)? {
        whole.push(b'\n');
    }
    whole.extend_from_slice(line);
    whole.push(b'\n');
    loop {
        match file.write(&whole) {
            Ok(written) if written == whole.len() => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether the last line has no end.
fn is_torn(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [0];
    // A file that was cut meanwhile has no such byte: nothing is torn there.
    Ok(file.read_at(&mut byte, last)? == 1 && byte != *b"\n")
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
    fn a_line_without_end_is_left_alone() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let path = folder.path().join("log");
        for (before, expected) in
            [("", "new\n"), ("whole\n", "whole\nnew\n"), ("{\"torn", "{\"torn\nnew\n"), ("x", "x\nnew\n")]
        {
            assert!(fs::write(&path, before).is_ok());
            let appended = open_append(&path).and_then(|file| append_line(&file, b"new"));
            assert!(appended.is_ok(), "{appended:?}");
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(expected));
        }
    }

    #[test]
    fn only_private_files_are_opened() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let (log, at) = (folder.path().join("deep/log"), |name: &str| folder.path().join(name));
        assert!(private_folder(&log).is_ok());
        assert_eq!(fs::metadata(&log).map(|data| data.mode() & 0o777).ok(), Some(0o700));
        let file = open_append(&log.join("a"));
        assert_eq!(file.as_ref().ok().and_then(|f| f.metadata().ok()).map(|d| d.mode() & 0o777), Some(0o600));
        let written = file.and_then(|file| append_line(&file, b"one").and(append_line(&file, b"two")));
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
