//! Which project files the user has seen and trusts, by the hash of their content: an edit ends it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::store::hash;
use crate::store::lock::{self, Lock};
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};

/// Why trust could not be told or changed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// The list of trusted files cannot be used.
    #[error(transparent)]
    List(#[from] SafeError),
    /// The list is not what gsh wrote.
    #[error("{} is damaged, so nothing is trusted; `gsh trust` writes it anew", .0.display())]
    Damaged(PathBuf),
    /// It is not what the user saw.
    #[error("{} has changed since it was shown", .0.display())]
    Changed(PathBuf),
}

/// The trusted files: path to hash of content.
type Trusted = BTreeMap<String, String>;

/// Whether the user trusts this content of this file.
///
/// # Errors
/// When the list exists and cannot be used; nothing is trusted then.
pub fn is_trusted(folders: &Folders, file: &Path, hash: &str) -> Result<bool, TrustError> {
    let trusted = list(folders)?;
    Ok(trusted.get(&*file.to_string_lossy()).is_some_and(|known| known == hash))
}

/// Trusts the content a file has now, which the user has just been shown.
///
/// # Errors
/// When the file has another content than was shown, or the list cannot be written.
pub fn trust(folders: &Folders, file: &Path, shown: &[u8]) -> Result<(), TrustError> {
    let held = lock::take(folders)?;
    let (content, _) = safe::read(file, Owner::Anyone)?;
    if content != shown {
        return Err(TrustError::Changed(file.into()));
    }
    record(&held, folders, file, Some(hash(shown)))
}

/// Ends the trust in a file.
///
/// # Errors
/// When the list cannot be written.
pub fn untrust(folders: &Folders, file: &Path) -> Result<(), TrustError> {
    record(&lock::take(folders)?, folders, file, None)
}

/// Says under a lock that is held which content of a file is trusted; None for no content.
///
/// # Errors
/// When the list cannot be written.
pub(super) fn record(
    _held: &Lock,
    folders: &Folders,
    file: &Path,
    hash: Option<String>,
) -> Result<(), TrustError> {
    let name = file.to_string_lossy();
    change(folders, |trusted| {
        match hash {
            Some(hash) => trusted.insert(name.into_owned(), hash),
            None => trusted.remove(&*name),
        };
    })
}

fn list(folders: &Folders) -> Result<Trusted, TrustError> {
    let path = folders.trusted_file();
    match safe::read(&path, Owner::User) {
        Ok((content, _)) => serde_json::from_slice(&content).map_err(|_| TrustError::Damaged(path)),
        Err(SafeError::Missing(_)) => Ok(Trusted::new()),
        Err(error) => Err(error.into()),
    }
}

fn change(folders: &Folders, change: impl FnOnce(&mut Trusted)) -> Result<(), TrustError> {
    let mut trusted = match list(folders) {
        Err(TrustError::Damaged(_)) => Trusted::new(),
        known => known?,
    };
    change(&mut trusted);
    safe::make_folder(&folders.state)?;
    let text = serde_json::to_vec_pretty(&trusted).unwrap_or_default();
    Ok(safe::replace(&folders.trusted_file(), &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_ends_the_trust() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        let file = home.path().join("config.toml");
        std::fs::write(&file, "one").expect("written");
        let trusted = |content: &str| is_trusted(&folders, &file, &hash(content.as_bytes())).expect("a list");
        assert!(!trusted("one"));
        trust(&folders, &file, b"one").expect("trusted");
        assert!(trusted("one") && !trusted("two"));
        assert!(
            matches!(trust(&folders, &file, b"other"), Err(TrustError::Changed(_))),
            "not what was shown"
        );
        untrust(&folders, &file).expect("untrusted");
        assert!(!trusted("one"));
    }

    #[test]
    fn a_damaged_list_trusts_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        safe::make_folder(&folders.state).expect("made");
        safe::replace(&folders.trusted_file(), b"{").expect("written");
        assert!(matches!(is_trusted(&folders, "/f".as_ref(), "0"), Err(TrustError::Damaged(_))));
    }
}
