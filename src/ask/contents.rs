//! What files hold now, for showing what a write would change.

use std::fs::OpenOptions;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

use crate::policy::defaults::is_secret;

/// Longer files are not read: a person could not look through their difference.
pub const LONGEST: u64 = 64 << 10;

/// Where the text of a file comes from.
pub trait Contents {
    /// The text of the file at this path, links resolved. None where it is not to be shown: no regular
    /// file, too long, no text, or of a kind that holds secrets.
    fn text(&self, path: &str) -> Option<String>;
}

/// Nobody knows any file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unknown;

impl Contents for Unknown {
    fn text(&self, _path: &str) -> Option<String> {
        None
    }
}

/// This machine's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct OnDisk;

impl Contents for OnDisk {
    fn text(&self, path: &str) -> Option<String> {
        if is_secret(path) {
            return None;
        }
        // Nothing that waits, and nothing that a link was put in the place of.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let data = file.metadata().ok()?;
        if !data.is_file() || data.len() > LONGEST {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
        let fits = u64::try_from(bytes.len()).is_ok_and(|length| length <= LONGEST);
        String::from_utf8(bytes).ok().filter(|_| fits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_small_regular_texts_that_are_no_secrets_are_shown() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let at = |name: &str| folder.path().join(name);
        let files: [(&str, &[u8]); 5] = [
            ("small", b"text\n"),
            ("id_rsa", b"key\n"),
            (".env", b"TOKEN=x\n"),
            ("bytes", b"\xff"),
            ("large", &[b'a'; 65 << 10]),
        ];
        for (name, bytes) in files {
            assert!(std::fs::write(at(name), bytes).is_ok());
        }
        assert!(std::os::unix::fs::symlink(at("small"), at("link")).is_ok());
        assert!(nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).is_ok());
        for name in ["small", "id_rsa", ".env", "bytes", "large", "link", "pipe", "absent", "."] {
            let expected = (name == "small").then(|| "text\n".to_owned());
            assert_eq!(OnDisk.text(&at(name).to_string_lossy()), expected, "{name}");
        }
    }
}
