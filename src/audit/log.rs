//! The files that hold the records: one per day, private, appended to in single writes.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use thiserror::Error;

use super::record::{Closing, Record};
use crate::sys::file::{append_line, open_append, private_folder};

/// Where a record went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The user's state folder.
    State(PathBuf),
    /// A private folder for temporary files, because the state folder cannot be written; the record
    /// is marked. Whether that is enough is not for this stage to say.
    Fallback(PathBuf),
    /// Nowhere, and the user said that this is no reason to stop.
    Nowhere,
}

impl Place {
    /// The file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::State(path) | Self::Fallback(path) => Some(path),
            Self::Nowhere => None,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path() {
            Some(path) => path.display().fmt(formatter),
            None => formatter.write_str("no file"),
        }
    }
}

/// Why there is no record.
#[derive(Debug, Error)]
pub enum LogError {
    /// Neither place takes it.
    #[error("cannot write the record to {} ({state}), nor to {} ({fallback})", state_path.display(), fallback_path.display())]
    Nowhere {
        /// The file in the state folder.
        state_path: PathBuf,
        /// What is wrong with it.
        state: io::Error,
        /// The file in the folder for temporary files.
        fallback_path: PathBuf,
        /// What is wrong with it.
        fallback: io::Error,
    },
    /// The closing record could not be written.
    #[error("cannot write the record to {}: {source}", path.display())]
    Closing {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: io::Error,
    },
}

/// A record that is on disk and waits to be closed.
#[derive(Debug)]
pub struct Opened {
    id: String,
    place: Place,
    /// Held, so that the closing line lands beside the opening one, also after midnight.
    file: Option<File>,
}

impl Opened {
    /// The decision's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Where the record is.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Writes what became of it, beside its opening, also after midnight.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(self, closing: &Closing) -> Result<(), LogError> {
        let (Some(path), Some(file)) = (self.place.path(), &self.file) else { return Ok(()) };
        append(file, &closing.to_json(&self.id))
            .map_err(|source| LogError::Closing { path: path.to_owned(), source })
    }

    /// Stands for a record that could not be written, where none is required.
    #[must_use]
    fn unwritten() -> Self {
        Self { id: String::new(), place: Place::Nowhere, file: None }
    }
}

/// Writes the record to today's file below `state/audit`, or, marked, to one below `temporary` in a
/// folder of this user's own.
///
/// # Errors
/// When neither can be written.
pub fn open(state: Option<&Path>, temporary: &Path, record: Record) -> Result<Opened, LogError> {
    let name = format!("{}.jsonl", Timestamp::now().strftime("%Y-%m-%d"));
    let (state_path, state_error) = match state {
        None => (PathBuf::from("~"), io::Error::new(io::ErrorKind::NotFound, "there is no home folder")),
        Some(state) => {
            let path = state.join("audit").join(&name);
            match begin(&path, record.json()) {
                Ok(file) => {
                    return Ok(Opened { id: record.into_id(), place: Place::State(path), file: Some(file) });
                }
                Err(error) => (path, error),
            }
        }
    };
    let folder = temporary.join(format!("gsh-audit-{}", nix::unistd::geteuid()));
    let fallback_path = folder.join(&name);
    let marked = record.marked_as_fallback(&state_error.to_string());
    match begin(&fallback_path, marked.json()) {
        Ok(file) => {
            Ok(Opened { id: marked.into_id(), place: Place::Fallback(fallback_path), file: Some(file) })
        }
        Err(fallback) => Err(LogError::Nowhere { state_path, state: state_error, fallback_path, fallback }),
    }
}

/// Whether the record that could be had is enough for what is to run.
///
/// # Errors
/// When nothing may run: why, for a person. What was opened is closed then.
pub fn enough(opened: Result<Opened, LogError>, required: bool, reads_only: bool) -> Result<Opened, String> {
    match opened {
        Ok(record) if required && !reads_only && matches!(record.place(), Place::Fallback(_)) => {
            let place = record.place().clone();
            // Its own record says so; that closing it may fail as well changes nothing.
            let _ = record.close(&Closing::NotRun { why: "the record is not in its proper place" });
            Err(format!("the state folder cannot be written (a marked record is in {place})"))
        }
        Ok(record) => Ok(record),
        Err(_) if !required => Ok(Opened::unwritten()),
        Err(error) => Err(error.to_string()),
    }
}

/// Opens the day's file and writes the first line of a record.
fn begin(path: &Path, record: &Value) -> io::Result<File> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    private_folder(folder)?;
    let file = open_append(path)?;
    append(&file, record)?;
    Ok(file)
}

/// The only place where a record is written.
fn append(file: &File, record: &Value) -> io::Result<()> {
    append_line(file, record.to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn lines(place: &Place) -> Vec<Value> {
        let text = place.path().and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    #[test]
    fn a_record_is_opened_and_closed_in_a_private_file() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let opened = open(Some(folder.path()), Path::new("/nonexistent"), Record::for_tests());
        let Ok(opened) = opened else { panic!("{opened:?}") };
        let (id, place) = (opened.id().to_owned(), opened.place().clone());
        assert!(matches!(place, Place::State(_)));
        assert!(opened.close(&Closing::NotRun { why: "refused" }).is_ok());
        let events: Vec<_> =
            lines(&place).iter().map(|line| (line["event"].clone(), line["id"].clone())).collect();
        assert_eq!(events, [("opened".into(), id.clone().into()), ("closed".into(), id.into())]);
        let mode = |path: &Path| fs::metadata(path).map(|data| data.permissions().mode() & 0o777).ok();
        assert_eq!(place.path().and_then(mode), Some(0o600));
        assert_eq!(place.path().and_then(Path::parent).and_then(mode), Some(0o700));
    }

    #[test]
    fn the_fallback_is_marked_and_its_failure_is_an_error() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let blocked = folder.path().join("file");
        assert!(fs::write(&blocked, "").is_ok());
        let opened = open(Some(&blocked), folder.path(), Record::for_tests());
        let Ok(opened) = opened else { panic!("{opened:?}") };
        assert!(matches!(opened.place(), Place::Fallback(_)));
        assert!(lines(opened.place()).iter().all(|line| line["fallback"].is_string()));
        let failed = open(Some(&blocked), &blocked, Record::for_tests());
        assert!(matches!(failed, Err(LogError::Nowhere { .. })));
    }

    /// Somebody else made the folder's name a link before.
    #[test]
    fn nothing_is_written_through_a_planted_link() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let (blocked, victim) = (folder.path().join("file"), folder.path().join("victim"));
        assert!(fs::write(&blocked, "").is_ok() && fs::create_dir(&victim).is_ok());
        let name = format!("gsh-audit-{}", nix::unistd::geteuid());
        assert!(std::os::unix::fs::symlink(&victim, folder.path().join(name)).is_ok());
        let failed = open(Some(&blocked), folder.path(), Record::for_tests());
        assert!(matches!(failed, Err(LogError::Nowhere { .. })), "{failed:?}");
        assert_eq!(fs::read_dir(&victim).map(Iterator::count).ok(), Some(0));
    }
}
