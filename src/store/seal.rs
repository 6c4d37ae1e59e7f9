//! A seal under what gsh wrote for itself and reads back without looking twice: HMAC-SHA-256 with a key
//! that lies among the user's own files.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::hash;
use super::safe::{self, Owner, SafeError};

/// The length of a key.
const KEY: usize = 32;

/// The block of SHA-256.
const BLOCK: usize = 64;

/// A key.
#[derive(Clone)]
pub struct Key([u8; KEY]);

impl Key {
    /// The key of a file that is nobody else's to read or write. None where there is none.
    #[must_use]
    pub fn find(path: &Path) -> Option<Self> {
        let (content, metadata) = safe::read(path, Owner::User).ok()?;
        let is_private = metadata.mode() & 0o077 == 0 && metadata.nlink() == 1;
        content.try_into().ok().map(Self).filter(|_| is_private)
    }

    /// A new key, kept in this file. Whatever the old one sealed is no longer believed.
    ///
    /// # Errors
    /// When the machine gives no random bytes or the folder cannot be written.
    pub fn make(path: &Path) -> Result<Self, SafeError> {
        let source = Path::new("/dev/urandom");
        let mut key = [0; KEY];
        let filled = File::open(source).and_then(|mut file| file.read_exact(&mut key));
        filled.map_err(|error| SafeError::Io { path: source.into(), source: error })?;
        safe::replace(path, &key)?;
        Ok(Self(key))
    }

    /// The content under its seal.
    #[must_use]
    pub fn seal(&self, content: &[u8]) -> Vec<u8> {
        let mut sealed = self.code(content).into_bytes();
        sealed.push(b'\n');
        sealed.extend_from_slice(content);
        sealed
    }

    /// The content of what this key sealed, if nobody has changed it since.
    #[must_use]
    pub fn open<'c>(&self, sealed: &'c [u8]) -> Option<&'c [u8]> {
        let at = sealed.iter().position(|byte| *byte == b'\n')?;
        let (code, content) = (sealed.get(..at)?, sealed.get(at + 1..)?);
        let own = self.code(content);
        // Nobody learns anything from the time this takes: who can write the file can read the key.
        (own.as_bytes() == code).then_some(content)
    }

    fn code(&self, content: &[u8]) -> String {
        let block = |pad: u8| {
            let mut block = [pad; BLOCK];
            block.iter_mut().zip(self.0).for_each(|(byte, key)| *byte ^= key);
            block
        };
        let inner = Sha256::new().chain_update(block(0x36)).chain_update(content).finalize();
        hash(&[&block(0x5c)[..], &inner[..]].concat())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The second test case of RFC 4231, its key padded with the zeros that HMAC pads it with.
    #[test]
    fn the_code_is_that_of_the_standard() {
        let mut key = [0; KEY];
        key[..4].copy_from_slice(b"Jefe");
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(Key(key).code(b"what do ya want for nothing?"), expected);
    }

    #[test]
    fn only_what_was_sealed_is_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.key");
        assert!(Key::find(&path).is_none());
        let key = Key::make(&path).expect("made");
        let sealed = key.seal(b"one\ntwo");
        let again = Key::find(&path).expect("kept");
        assert_eq!(again.open(&sealed), Some(&b"one\ntwo"[..]));
        for at in 0..sealed.len() {
            let mut other = sealed.clone();
            other[at] ^= 1;
            assert_eq!(key.open(&other), None, "byte {at}");
            assert_eq!(key.open(&sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(Key::make(&path).expect("another").open(&sealed), None);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("mode");
        assert!(Key::find(&path).is_none(), "others may read it");
    }
}
