//! Files that plainly are the user's own.

use std::fs::{self, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::libc;
use nix::unistd::{getegid, geteuid};

use crate::host::OwnFile;

/// A longer file is not looked at.
const LONGEST: u64 = 1 << 20;

/// What a file of the user's own holds; None for any other (see [`crate::host::Host::own_file`]).
#[must_use]
pub fn read(path: &Path) -> Option<OwnFile> {
    let folder = fs::symlink_metadata(path.parent()?).ok()?;
    if !folder.is_dir() || !is_own(&folder) {
        return None;
    }
    // A pipe must not make us wait, and a link must not lead elsewhere.
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
    let data = file.metadata().ok()?;
    if !data.is_file() || data.nlink() != 1 || data.len() > LONGEST || !is_own(&data) {
        return None;
    }
    let mut content = String::new();
    file.take(LONGEST).read_to_string(&mut content).ok()?;
    Some(OwnFile { content, changed: data.ctime() * 1000 + data.ctime_nsec() / 1_000_000 })
}

/// Whether it is the user's, and nobody else may write it. A group of the user's own is the user.
fn is_own(data: &Metadata) -> bool {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let alone = group == user && data.gid() == group;
    let others = if alone { 0o002 } else { 0o022 };
    data.uid() == user && data.mode() & others == 0
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn only_what_plainly_is_ones_own_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("f");
        fs::write(&path, "x").expect("written");
        assert_eq!(read(&path).map(|file| file.content), Some("x".to_owned()));
        let link = folder.path().join("l");
        symlink(&path, &link).expect("linked");
        assert_eq!(read(&link), None, "a link");
        fs::set_permissions(&path, Permissions::from_mode(0o646)).expect("set");
        assert_eq!(read(&path), None, "anybody may write it");
        fs::set_permissions(&path, Permissions::from_mode(0o644)).expect("set");
        let second = folder.path().join("s");
        fs::hard_link(&path, &second).expect("linked");
        assert_eq!(read(&path), None, "it has a second name");
        fs::remove_file(&second).expect("gone");
        assert!(read(&path).is_some());
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("set");
        assert_eq!(read(&path), None, "anybody may put another file here");
    }
}
