//! What reviewers said of a session's commands, for a while, and how the last review failed: shared by the many short
//! processes of a session.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::lock::{self, Lock};
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

/// How a session looked at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Nothing to worry about.
    Low,
    /// Something to worry about.
    High,
    /// Nobody could say.
    Failure,
}

/// A glance at a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Score {
    /// How it looked.
    pub level: Level,
    /// After how many calls.
    pub call: u64,
    /// What it leans on.
    pub basis: String,
    /// When it says nothing any more.
    pub until: Timestamp,
}

/// The commands of a session that came to the reviewer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Track {
    /// How many.
    pub calls: u64,
    /// The last of them, a line each.
    pub recent: Vec<String>,
    /// The newest glance.
    pub score: Option<Score>,
}

/// So many commands are remembered.
const RECENT: usize = 10;

impl Track {
    /// Whether the newest glance was a good one and is fresh: it leans on the same, not too many calls came since, and
    /// its time is not over.
    #[must_use]
    pub fn is_low(&self, basis: &str, max_lag: u32, now: Timestamp) -> bool {
        self.score.as_ref().is_some_and(|score| {
            // The call that asks is the next one.
            let lag = (self.calls + 1).checked_sub(score.call);
            score.level == Level::Low
                && score.basis == basis
                && now < score.until
                && lag.is_some_and(|lag| lag <= u64::from(max_lag))
        })
    }
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

    /// The commands of a session that came to the reviewer.
    #[must_use]
    pub fn track(&self, session: &str) -> Track {
        let content = safe::read(&self.track_file(session), Owner::User).map(|(content, _)| content);
        content.ok().and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_default()
    }

    /// Notes one more.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn called(&self, session: &str, line: String) -> Result<Track, SafeError> {
        self.change(session, |track| {
            track.calls += 1;
            track.recent.push(line);
            let old = track.recent.len().saturating_sub(RECENT);
            track.recent.drain(..old);
        })
    }

    /// Notes a glance; an older one than is known is none.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn scored(&self, session: &str, score: Score) -> Result<Track, SafeError> {
        self.change(session, |track| {
            if track.score.as_ref().is_none_or(|known| known.call <= score.call) {
                track.score = Some(score);
            }
        })
    }

    /// The right to look at a session, unless somebody does.
    #[must_use]
    pub fn alone(&self, session: &str) -> Option<Lock> {
        lock::at(&self.folder.join(format!("{session}.glance.lock")), Duration::ZERO).ok()
    }

    fn change(&self, session: &str, change: impl FnOnce(&mut Track)) -> Result<Track, SafeError> {
        safe::make_folder(&self.folder)?;
        let _turn = lock::at(&self.folder.join(format!("{session}.track.lock")), lock::PATIENCE)?;
        let mut track = self.track(session);
        change(&mut track);
        let text = serde_json::to_vec(&track).unwrap_or_default();
        safe::replace_until_restart(&self.track_file(session), &text).map(|()| track)
    }

    fn track_file(&self, session: &str) -> PathBuf {
        self.folder.join(format!("{session}.track.json"))
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
