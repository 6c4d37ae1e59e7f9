//! What reviewers said of a session's commands, for a while, and how the last review failed: shared by the many short
//! processes of a session.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lock;
use super::places::Folders;
use super::safe::{self, Owner, SafeError};

/// So many verdicts are kept of one session.
const MOST: usize = 200;

/// A kept verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    until: Timestamp,
    verdict: Value,
}

/// A review that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// When.
    pub time: Timestamp,
    /// Who was to judge.
    pub reviewer: String,
    /// The kind of failure, in a word.
    pub cause: String,
    /// In words.
    pub detail: String,
}

/// The reviews of one user.
#[derive(Debug, Clone)]
pub struct Reviews {
    folder: PathBuf,
}

impl Reviews {
    /// Those in these folders.
    #[must_use]
    pub fn of(folders: &Folders) -> Self {
        Self { folder: folders.sessions().with_file_name("reviews") }
    }

    /// The verdict that is kept under this key; nothing once its time is over.
    #[must_use]
    pub fn kept(&self, session: &str, key: &str) -> Option<Value> {
        let kept = self.read(session).remove(key)?;
        (Timestamp::now() < kept.until).then_some(kept.verdict)
    }

    /// Keeps a verdict for so long.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(
        &self,
        session: &str,
        key: &str,
        verdict: Value,
        long: SignedDuration,
    ) -> Result<(), SafeError> {
        safe::make_folder(&self.folder)?;
        let _turn = lock::at(&self.folder.join(format!("{session}.lock")), lock::PATIENCE)?;
        let now = Timestamp::now();
        let mut all = self.read(session);
        all.retain(|_, kept| now < kept.until);
        while all.len() >= MOST {
            let first = all.iter().min_by_key(|(_, kept)| kept.until).map(|(key, _)| key.clone());
            first.and_then(|key| all.remove(&key));
        }
        all.insert(key.to_owned(), Kept { until: now + long, verdict });
        let text = serde_json::to_vec(&all).unwrap_or_default();
        safe::replace_until_restart(&self.file(session), &text)
    }

    /// How many verdicts are kept of a session now.
    #[must_use]
    pub fn count(&self, session: &str) -> usize {
        let now = Timestamp::now();
        self.read(session).values().filter(|kept| now < kept.until).count()
    }

    /// The last review that failed.
    #[must_use]
    pub fn last_failure(&self) -> Option<Failure> {
        let (content, _) = safe::read(&self.failure(), Owner::User).ok()?;
        serde_json::from_slice(&content).ok()
    }

    /// Notes a review that failed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn failed(&self, failure: &Failure) -> Result<(), SafeError> {
        safe::make_folder(&self.folder)?;
        let text = serde_json::to_vec(failure).unwrap_or_default();
        safe::replace_until_restart(&self.failure(), &text)
    }

    fn read(&self, session: &str) -> BTreeMap<String, Kept> {
        let content = safe::read(&self.file(session), Owner::User).map(|(content, _)| content);
        content.ok().and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_default()
    }

    fn file(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{session}.json"))
    }

    /// No session has this name.
    fn failure(&self) -> PathBuf {
        self.folder.join("last failure")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn verdicts_are_kept_for_their_time_and_session() {
        let folder = tempfile::tempdir().expect("a folder");
        let reviews = Reviews { folder: folder.path().join("reviews") };
        let minute = SignedDuration::from_mins(1);
        reviews.keep("s", "a", json!(1), minute).expect("kept");
        reviews.keep("s", "b", json!(2), -minute).expect("kept");
        assert_eq!(reviews.kept("s", "a"), Some(json!(1)));
        assert_eq!(reviews.kept("s", "b"), None, "its time is over");
        assert_eq!(reviews.kept("t", "a"), None);
        for number in 0..MOST + 5 {
            reviews.keep("s", &number.to_string(), json!(number), minute).expect("kept");
        }
        assert_eq!(reviews.count("s"), MOST);
    }

    #[test]
    fn many_processes_at_once_lose_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let reviews = Reviews { folder: folder.path().join("reviews") };
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let reviews = &reviews;
                scope.spawn(move || {
                    for number in 0..5 {
                        let key = format!("{thread}-{number}");
                        reviews.keep("s", &key, json!(1), SignedDuration::from_mins(1)).expect("kept");
                    }
                });
            }
        });
        assert_eq!(reviews.count("s"), 40);
    }
}
