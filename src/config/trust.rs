//! Which files of projects the user has seen and trusts, by the hash of their content: an edit ends it.
//! The content itself is kept too, so that a later one can be compared with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::store::hash;
use crate::store::lock::{self, Lock};
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};
use crate::sys::passwd;

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

/// Trust in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The hash of the content that was shown.
    pub hash: String,
    /// When it was trusted, to the second.
    pub when: String,
    /// Who did.
    pub who: String,
}

/// How a trusted file stands now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// As it was trusted.
    AsTrusted,
    /// It was edited, which ended the trust.
    Changed,
    /// It is not there, or cannot be read.
    Missing,
}

/// The trusted files by their paths.
type Trusted = BTreeMap<String, Entry>;

/// Whether the user trusts this content of this file.
///
/// # Errors
/// When the list exists and cannot be used; nothing is trusted then.
pub fn is_trusted(folders: &Folders, file: &Path, hash: &str) -> Result<bool, TrustError> {
    Ok(entry(folders, file)?.is_some_and(|known| known.hash == hash))
}

/// What is remembered of a file, if it was ever trusted and nobody took that back.
///
/// # Errors
/// When the list exists and cannot be used.
pub fn entry(folders: &Folders, file: &Path) -> Result<Option<Entry>, TrustError> {
    Ok(list(folders)?.remove(&*file.to_string_lossy()))
}

/// The trusted files in the order of their paths, with how they stand now.
///
/// # Errors
/// When the list exists and cannot be used.
pub fn entries(folders: &Folders) -> Result<Vec<(PathBuf, Entry, Standing)>, TrustError> {
    let stands = |path: &Path, entry: &Entry| match safe::read(path, Owner::Anyone) {
        Ok((content, _)) if hash(&content) == entry.hash => Standing::AsTrusted,
        Ok(_) => Standing::Changed,
        Err(_) => Standing::Missing,
    };
    let entries = list(folders)?.into_iter().map(|(path, entry)| (PathBuf::from(path), entry));
    Ok(entries.map(|(path, entry)| (path.clone(), entry.clone(), stands(&path, &entry))).collect())
}

/// The content that was trusted, as it was then. None where it is not kept any more, or not as it was.
#[must_use]
pub fn content(folders: &Folders, entry: &Entry) -> Option<Vec<u8>> {
    let (content, _) = safe::read(&kept(folders, &entry.hash), Owner::User).ok()?;
    (hash(&content) == entry.hash).then_some(content)
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
    record(&held, folders, file, Some(shown)).map(drop)
}

/// Ends the trust in a file; says whether there was any.
///
/// # Errors
/// When the list cannot be written.
pub fn untrust(folders: &Folders, file: &Path) -> Result<bool, TrustError> {
    record(&lock::take(folders)?, folders, file, None)
}

/// Says under a lock that is held which content of a file is trusted; None for no content. Whether it was
/// trusted before.
///
/// # Errors
/// When the list cannot be written.
pub(super) fn record(
    _held: &Lock,
    folders: &Folders,
    file: &Path,
    content: Option<&[u8]>,
) -> Result<bool, TrustError> {
    let name = file.to_string_lossy();
    let entry = content.map(|content| Entry { hash: hash(content), when: now(), who: passwd::own_name() });
    if let (Some(entry), Some(content)) = (&entry, content) {
        safe::make_folder(&folders.trusted_contents())?;
        safe::replace(&kept(folders, &entry.hash), content)?;
    }
    let mut before = None;
    change(folders, |trusted| {
        before = match entry {
            Some(entry) => trusted.insert(name.into_owned(), entry),
            None => trusted.remove(&*name),
        };
    })?;
    Ok(before.is_some())
}

fn now() -> String {
    let now = jiff::Timestamp::now();
    jiff::Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

/// The person whose process this is.
fn kept(folders: &Folders, hash: &str) -> PathBuf {
    // The hash comes from a file; it must not lead anywhere else.
    let name: String = hash.chars().filter(char::is_ascii_hexdigit).collect();
    folders.trusted_contents().join(name)
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
    safe::replace(&folders.trusted_file(), &text)?;
    sweep(folders, &trusted);
    Ok(())
}

/// Removes contents that no entry means any more. One that stays by mistake is only of no use.
fn sweep(folders: &Folders, trusted: &Trusted) {
    let kept = std::fs::read_dir(folders.trusted_contents()).into_iter().flatten().flatten();
    for file in kept {
        let name = file.file_name();
        if !trusted.values().any(|entry| name.to_str() == Some(&entry.hash)) {
            let _ = std::fs::remove_file(file.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn folders(home: &tempfile::TempDir) -> Folders {
        Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home")
    }

    #[test]
    fn an_edit_ends_the_trust() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = folders(&home);
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
        assert!(untrust(&folders, &file).expect("untrusted"));
        assert!(!trusted("one"));
        assert!(!untrust(&folders, &file).expect("nothing to take back"));
    }

    #[test]
    fn what_was_trusted_is_kept_and_told() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = folders(&home);
        let file = home.path().join("config.toml");
        let standing =
            || entries(&folders).expect("a list").into_iter().map(|(_, _, how)| how).collect::<Vec<_>>();
        std::fs::write(&file, "one").expect("written");
        trust(&folders, &file, b"one").expect("trusted");
        assert_eq!(standing(), [Standing::AsTrusted]);
        let before = entry(&folders, &file).expect("a list").expect("an entry");
        assert!(!before.who.is_empty());
        std::fs::write(&file, "two").expect("written");
        assert_eq!(standing(), [Standing::Changed]);
        assert_eq!(content(&folders, &before).as_deref(), Some(&b"one"[..]));
        let mode = |path: PathBuf| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(kept(&folders, &before.hash)), 0o600);
        assert_eq!(mode(folders.trusted_contents()), 0o700);

        std::fs::write(kept(&folders, &before.hash), "other").expect("written");
        assert_eq!(content(&folders, &before), None, "another content is not what was trusted");
        trust(&folders, &file, b"two").expect("trusted");
        assert!(!kept(&folders, &before.hash).exists(), "only what is trusted is kept");
        std::fs::remove_file(&file).expect("removed");
        assert_eq!(standing(), [Standing::Missing]);
    }

    #[test]
    fn a_damaged_list_trusts_nothing() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = folders(&home);
        safe::make_folder(&folders.state).expect("made");
        safe::replace(&folders.trusted_file(), b"{").expect("written");
        assert!(matches!(is_trusted(&folders, "/f".as_ref(), "0"), Err(TrustError::Damaged(_))));
    }
}
