//! The files that hold the records: one per day, private, appended to in single writes.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde_json::Value;
use thiserror::Error;

use super::record::{Closing, DecidedBy, Event, Lasting, Opening, Record};
use super::redact::Secrets;
use super::{chain, debug};
use crate::policy::Verdict;
use crate::sys::file::{open_append, private_folder};

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
    /// It is not where it should be, and that is required.
    #[error("the state folder cannot be written (a marked record is in {0})")]
    Elsewhere(Place),
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
    asks: bool,
    secrets: Secrets,
    place: Place,
    keep_days: usize,
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
        self.add(&closing.to_json(&self.id))
    }

    /// Writes how a question was settled; nothing where there was none. `told` is how long an answer lasts,
    /// or a refusal with what the person said.
    ///
    /// # Errors
    /// When it may run and that cannot be written.
    pub fn settled(&self, by: &DecidedBy, told: Result<Lasting, Option<&str>>) -> Result<(), LogError> {
        match told {
            _ if !self.asks => Ok(()),
            Ok(mut lasting) => {
                for kept in &mut lasting.kept {
                    *kept = self.secrets.redact(kept).0.into_owned();
                }
                self.add(&self.clean(Event::Granted { by, lasting: &lasting }.to_json(&self.id)))
            }
            Err(said) => {
                let said = said.map(|said| self.secrets.redact(said).0);
                let denied = Event::Denied { by, feedback: said.as_deref() }.to_json(&self.id);
                // The refusal stands, written or not.
                let _ = self.add(&self.clean(denied));
                Ok(())
            }
        }
    }

    /// Writes what a reviewer said that settled nothing.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn reviewed(&self, review: &Value) -> Result<(), LogError> {
        self.add(&self.clean(Event::Reviewed { review }.to_json(&self.id)))
    }

    /// Without secrets in what a reviewer said: it may repeat them.
    fn clean(&self, mut line: Value) -> Value {
        if let Some(review) = line.get_mut("review") {
            self.secrets.redact_value(review);
        }
        line
    }

    fn add(&self, line: &Value) -> Result<(), LogError> {
        let (Some(path), Some(file)) = (self.place.path(), &self.file) else { return Ok(()) };
        chain::append(file, path, line, self.keep_days)
            .map_err(|source| LogError::Closing { path: path.to_owned(), source })
    }

    /// Stands for a record that could not be written, where none is required.
    #[must_use]
    fn unwritten() -> Self {
        Self {
            id: String::new(),
            asks: false,
            secrets: Secrets::default(),
            place: Place::Nowhere,
            keep_days: 0,
            file: None,
        }
    }
}

/// Opens a record of a decision, and says that a person is to be asked where that is so.
///
/// # Errors
/// When nothing may run for want of a record.
pub fn begin(state: Option<&Path>, temporary: &Path, opening: &Opening<'_>) -> Result<Opened, LogError> {
    let knobs = &opening.policy.knobs;
    let required = knobs.audit_required && opening.decision.verdict != Verdict::Deny;
    let opened = open(state, temporary, Record::new(opening), knobs.audit_keep_days);
    let opened = enough(opened, required, opening.decision.reads_only)?;
    if let Some(state) = state.filter(|_| knobs.audit_debug) {
        // Nothing waits for it and nothing depends on it.
        let _ = debug::add(state, opening, (&opened.id, &opened.secrets));
    }
    if opened.asks {
        opened.add(&Event::Asked.to_json(&opened.id))?;
    }
    Ok(opened)
}

/// Writes the record to today's file below `state/audit`, or, marked, to one below `temporary` in a
/// folder of this user's own.
///
/// # Errors
/// When neither can be written.
pub fn open(
    state: Option<&Path>,
    temporary: &Path,
    record: Record,
    keep_days: usize,
) -> Result<Opened, LogError> {
    let name = format!("{}.jsonl", Timestamp::now().strftime("%Y-%m-%d"));
    let opened = |record: Record, place, file| {
        let (id, asks, secrets) = record.into_parts();
        Opened { id, asks, secrets, place, keep_days, file: Some(file) }
    };
    let (state_path, state_error) = match state {
        None => (PathBuf::from("~"), io::Error::new(io::ErrorKind::NotFound, "there is no home folder")),
        Some(state) => {
            let path = state.join("audit").join(&name);
            match first_line(&path, record.json(), keep_days) {
                Ok(file) => return Ok(opened(record, Place::State(path), file)),
                Err(error) => (path, error),
            }
        }
    };
    let folder = temporary.join(format!("gsh-audit-{}", nix::unistd::geteuid()));
    let fallback_path = folder.join(&name);
    let marked = record.marked_as_fallback(&state_error.to_string());
    match first_line(&fallback_path, marked.json(), keep_days) {
        Ok(file) => Ok(opened(marked, Place::Fallback(fallback_path), file)),
        Err(fallback) => Err(LogError::Nowhere { state_path, state: state_error, fallback_path, fallback }),
    }
}

/// Whether the record that could be had is enough for what is to run. What was opened and is not enough
/// is closed.
fn enough(opened: Result<Opened, LogError>, required: bool, reads_only: bool) -> Result<Opened, LogError> {
    match opened {
        Ok(record) if required && !reads_only && matches!(record.place(), Place::Fallback(_)) => {
            let place = record.place().clone();
            // Its own record says so; that closing it may fail as well changes nothing.
            let _ = record.close(&Closing::NotRun { why: "the record is not in its proper place" });
            Err(LogError::Elsewhere(place))
        }
        Err(_) if !required => Ok(Opened::unwritten()),
        opened => opened,
    }
}

/// Opens the day's file and writes the first line of a record.
fn first_line(path: &Path, record: &Value, keep_days: usize) -> io::Result<File> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    private_folder(folder)?;
    let file = open_append(path)?;
    chain::append(&file, path, record, keep_days)?;
    Ok(file)
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
        let opened = open(Some(folder.path()), Path::new("/nonexistent"), Record::for_tests(), 14);
        let Ok(opened) = opened else { panic!("{opened:?}") };
        let (id, place) = (opened.id().to_owned(), opened.place().clone());
        assert!(matches!(place, Place::State(_)));
        assert!(opened.settled(&DecidedBy::Person { terminal: None }, Err(Some("use rg"))).is_ok());
        assert!(opened.close(&Closing::NotRun { why: "refused" }).is_ok());
        let events: Vec<_> =
            lines(&place).iter().map(|line| (line["event"].clone(), line["id"].clone())).collect();
        let expected = ["opened", "PermissionDenied", "closed"];
        assert_eq!(events, expected.map(|event| (Value::from(event), Value::from(id.as_str()))));
        let mode = |path: &Path| fs::metadata(path).map(|data| data.permissions().mode() & 0o777).ok();
        assert_eq!(place.path().and_then(mode), Some(0o600));
        assert_eq!(place.path().and_then(Path::parent).and_then(mode), Some(0o700));
    }

    #[test]
    fn the_fallback_is_marked_and_its_failure_is_an_error() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let blocked = folder.path().join("file");
        assert!(fs::write(&blocked, "").is_ok());
        let opened = open(Some(&blocked), folder.path(), Record::for_tests(), 14);
        let Ok(opened) = opened else { panic!("{opened:?}") };
        assert!(matches!(opened.place(), Place::Fallback(_)));
        assert!(lines(opened.place()).iter().all(|line| line["fallback"].is_string()));
        let failed = open(Some(&blocked), &blocked, Record::for_tests(), 14);
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
        let failed = open(Some(&blocked), folder.path(), Record::for_tests(), 14);
        assert!(matches!(failed, Err(LogError::Nowhere { .. })), "{failed:?}");
        assert_eq!(fs::read_dir(&victim).map(Iterator::count).ok(), Some(0));
    }
}
