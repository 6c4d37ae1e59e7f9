//! Questions that wait for a person elsewhere, and the answers to them: one file each, in folders that are
//! the user's alone.
//!
//! | file | holds | written by |
//! |---|---|---|
//! | `pending/ID.json` | a question ([`Pending`]) | whoever asks |
//! | `pending/ID.answer` | a signed answer ([`Answer`]) | an approver, under the lock |
//! | `pending/spent/ID.answer` | the same, once it was picked up | the one rename that picks it up |
//! | `approvers/KEY.json` | a public key ([`Approver`]) | the approver, while it runs |
//!
//! Every file is put in its place whole, by a rename. What is missing, half written, unreadable, for another
//! question, or not signed by a registered key is no answer; and no answer is never an allow.

mod answer;
mod approver;
mod question;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};

pub use self::answer::{Answer, Reply};
pub use self::approver::{Approver, Author};
pub use self::question::{Asker, Bound, BoundFile, Bytes, Lasting, Pending, Waiter};
use super::lock::{self, Lock};
use super::safe::{self, Owner, SafeError};
use crate::sys::fault;

/// Nobody holds the lock for longer than a moment; whoever waits longer than this gives up.
const LONGEST_LOCK: Duration = Duration::from_secs(10);
/// More open questions than this are not kept.
const MOST: usize = 1000;
/// A longer question cannot be kept.
const LONGEST: usize = 4 << 20;
/// What comes after a question's last moment still belongs to whoever waits.
const GRACE: i64 = 1000;

/// Why a question was not kept.
#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    /// A file of ours could not be used.
    #[error(transparent)]
    File(#[from] SafeError),
    /// The system refused.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// Too many are open.
    #[error("{MOST} questions wait already")]
    Full,
    /// It is too long.
    #[error("the question is longer than {} MiB", LONGEST >> 20)]
    TooLong,
}

/// Why an answer did not count.
#[derive(Debug, thiserror::Error)]
pub enum NotAnswered {
    /// There is no such question, or none any more.
    #[error("no question {0} waits for an answer")]
    NoQuestion(String),
    /// The question is not the one that was shown.
    #[error("the question {0} changed after it was shown: look at it again")]
    Changed(String),
    /// Somebody was first.
    #[error("{id} was answered already: {}", .reply.word())]
    First {
        /// The question.
        id: String,
        /// Their answer.
        reply: Reply,
    },
    /// No answer to this question outlives the call.
    #[error("{id} can be {} this once only: say it without --session and --minutes", .reply.once())]
    OnceOnly {
        /// The question.
        id: String,
        /// The answer that was given.
        reply: Reply,
    },
    /// The queue could not be used.
    #[error(transparent)]
    Queue(#[from] QueueError),
}

/// What became of a question that was brought to the queue.
#[derive(Debug)]
pub enum Filed {
    /// It was asked before and answered meanwhile: the answer is spent by this.
    Answered(Answer),
    /// It waits under this name, which is a new one.
    Waits(String),
    /// It waits under the name that it had before.
    WaitsAgain(String),
}

/// A question and how it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The question.
    pub pending: Pending,
    /// How it stands.
    pub state: State,
}

/// How a question stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Its asker waits.
    Waiting,
    /// Nobody waits any more: an answer lets the same command pass later.
    Kept,
    /// Answered, and not picked up yet.
    Answered(Reply),
}

/// The questions of one user.
#[derive(Debug, Clone)]
pub struct Queue {
    folder: PathBuf,
    approvers: PathBuf,
}

/// Milliseconds since 1970.
#[must_use]
pub fn now() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

impl Queue {
    /// Those below a state folder.
    #[must_use]
    pub fn below(state: &Path) -> Self {
        Self { folder: state.join("pending"), approvers: state.join("approvers") }
    }

    /// Where they lie, for a watch.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the folders.
    ///
    /// # Errors
    /// When they are not the user's own or cannot be made.
    pub fn prepare(&self) -> Result<(), QueueError> {
        for folder in [&self.folder, &self.spent_folder(), &self.approvers] {
            safe::make_folder(folder)?;
        }
        Ok(())
    }

    fn spent_folder(&self) -> PathBuf {
        self.folder.join("spent")
    }

    fn question(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn answer_to(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.answer"))
    }

    fn spent(&self, id: &str) -> PathBuf {
        self.spent_folder().join(format!("{id}.answer"))
    }

    /// Held while the queue is changed.
    fn lock(&self) -> Result<Lock, QueueError> {
        Ok(lock::at(&self.folder.join(".lock"), LONGEST_LOCK)?)
    }

    /// Brings a question. One that was asked in just this way before is taken up again: with its answer, or
    /// under its old name when nobody waits for it any more.
    ///
    /// # Errors
    /// When it cannot be kept.
    pub fn file(&self, asker: Asker, bound: Bound, keep: Duration) -> Result<Filed, QueueError> {
        self.prepare()?;
        let _held = self.lock()?;
        self.sweep(keep);
        let digest = bound.digest();
        let open = self.questions();
        for known in open.iter().filter(|known| known.bound == bound && !known.is_waited_for()) {
            if let Some(answer) = self.take(&known.id, &digest) {
                return Ok(Filed::Answered(answer));
            }
            if !self.answer_to(&known.id).exists() {
                let again = Pending { asker, ..known.clone() };
                self.write(&again)?;
                return Ok(Filed::WaitsAgain(again.id));
            }
        }
        if open.len() >= MOST {
            return Err(QueueError::Full);
        }
        let pending = Pending::new(self.new_id()?, asker, bound, keep);
        self.write(&pending)?;
        Ok(Filed::Waits(pending.id))
    }

    fn write(&self, pending: &Pending) -> Result<(), QueueError> {
        let text = serde_json::to_vec(pending).unwrap_or_default();
        if text.len() > LONGEST {
            return Err(QueueError::TooLong);
        }
        fault::point("before-question");
        safe::replace(&self.question(&pending.id), &text)?;
        fault::point("after-question");
        Ok(())
    }

    /// Short enough to be typed, without letters that look alike, and never used before.
    fn new_id(&self) -> Result<String, QueueError> {
        const LETTERS: &[u8; 31] = b"abcdefghjkmnpqrstuvwxyz23456789";
        loop {
            let mut bytes = [0; 5];
            crate::sys::random::fill(&mut bytes)
                .map_err(|source| QueueError::Io { path: self.folder.clone(), source })?;
            let letter = |byte: &u8| LETTERS.get(usize::from(byte % 31)).copied().map(char::from);
            let id: String = bytes.iter().filter_map(letter).collect();
            if !self.question(&id).exists() && !self.spent(&id).exists() {
                return Ok(id);
            }
        }
    }

    /// Picks up the answer to a question, if there is one. It can be had once: the rename that takes it away
    /// is one step, and whoever dies after it has asked for nothing.
    #[must_use]
    pub fn take(&self, id: &str, digest: &str) -> Option<Answer> {
        let seen = self.read_answer(&self.answer_to(id), id, digest)?;
        fault::point("before-take");
        let (from, to) = (self.answer_to(id), self.spent(id));
        renameat2(AT_FDCWD, &from, AT_FDCWD, &to, RenameFlags::RENAME_NOREPLACE).ok()?;
        fault::point("after-take");
        // What was taken may be another file than what was looked at.
        let taken = self.read_answer(&to, id, digest).filter(|taken| *taken == seen)?;
        // The question is over. That its file could not be removed only shows it until it expires.
        let _ = fs::remove_file(self.question(id));
        fault::point("after-removal");
        Some(taken)
    }

    fn read_answer(&self, path: &Path, id: &str, digest: &str) -> Option<Answer> {
        let (content, _) = safe::read(path, Owner::User).ok()?;
        let answer: Answer = serde_json::from_slice(&content).ok()?;
        let fits = answer.is_to(id, digest) && !answer.is_expired(now());
        (fits && approver::signed(&self.approvers, &answer)).then_some(answer)
    }

    /// Says that nobody waits for a question any more. It stays, for a later answer.
    pub fn leave(&self, id: &str) {
        let Ok(_held) = self.lock() else { return };
        if let Some(pending) = self.read(id) {
            // Where it cannot be written the last moment of the wait tells the same.
            let _ = self.write(&Pending { asker: Asker { waiter: None, ..pending.asker }, ..pending });
        }
    }

    /// Answers a question as it was shown. The first answer holds.
    ///
    /// # Errors
    /// When it is no longer open, was answered before, does not offer this answer, or the answer cannot be written.
    pub fn answer(&self, shown: &Pending, reply: Reply, by: &Approver) -> Result<(), NotAnswered> {
        let id = &shown.id;
        let _held = self.lock()?;
        let digest = shown.bound.digest();
        let Some(pending) = self.read(id).filter(|pending| pending.expires > now()) else {
            return Err(self.first(id, &digest));
        };
        if pending.bound != shown.bound {
            return Err(NotAnswered::Changed(id.clone()));
        }
        if self.spent(id).exists() || self.read_answer(&self.answer_to(id), id, &digest).is_some() {
            return Err(self.first(id, &digest));
        }
        if !pending.bound.lasting.takes(&reply) {
            return Err(NotAnswered::OnceOnly { id: id.clone(), reply });
        }
        by.register(&self.approvers)?;
        let answer = by.sign(&pending, reply);
        let text = serde_json::to_vec(&answer).unwrap_or_default();
        fault::point("before-answer");
        safe::replace(&self.answer_to(id), &text).map_err(QueueError::from)?;
        fault::point("after-answer");
        Ok(())
    }

    /// Whose answer was first, as far as it can be told.
    fn first(&self, id: &str, digest: &str) -> NotAnswered {
        let found = [self.answer_to(id), self.spent(id)];
        let found = found.iter().find_map(|path| self.read_answer(path, id, digest));
        match found {
            Some(answer) => NotAnswered::First { id: id.to_owned(), reply: answer.body.reply },
            None => NotAnswered::NoQuestion(id.to_owned()),
        }
    }

    /// The questions that are open, the oldest first, with how they stand.
    #[must_use]
    pub fn list(&self) -> Vec<Entry> {
        let entry = |pending: Pending| {
            let answer = self.read_answer(&self.answer_to(&pending.id), &pending.id, &pending.bound.digest());
            let state = match answer {
                Some(answer) => State::Answered(answer.body.reply),
                None if pending.is_waited_for() => State::Waiting,
                None => State::Kept,
            };
            Entry { pending, state }
        };
        self.questions().into_iter().map(entry).collect()
    }

    /// One of them.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<Entry> {
        self.list().into_iter().find(|entry| entry.pending.id == id)
    }

    fn questions(&self) -> Vec<Pending> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return vec![] };
        let ids = entries.flatten().filter_map(|entry| {
            entry.file_name().to_str().and_then(|name| name.strip_suffix(".json")).map(str::to_owned)
        });
        let open = |pending: &Pending| pending.expires > now() && !self.spent(&pending.id).exists();
        let mut found: Vec<_> = ids.filter_map(|id| self.read(&id)).filter(open).collect();
        found.sort_by(|one, other| (one.asked, &one.id).cmp(&(other.asked, &other.id)));
        found
    }

    fn read(&self, id: &str) -> Option<Pending> {
        let (content, _) = safe::read(&self.question(id), Owner::User).ok()?;
        let pending: Pending = serde_json::from_slice(&content).ok()?;
        (pending.id == id).then_some(pending)
    }

    /// Whether somebody listens for questions now.
    #[must_use]
    pub fn has_listener(&self) -> bool {
        approver::listens(&self.approvers)
    }

    /// Takes away what is over. Only files that are older than anything that still counts.
    fn sweep(&self, keep: Duration) {
        let old = |path: &Path| {
            let changed = fs::symlink_metadata(path).and_then(|data| data.modified());
            let age = changed.ok().and_then(|changed| SystemTime::now().duration_since(changed).ok());
            age.is_some_and(|age| age > keep + Duration::from_secs(60))
        };
        for folder in [&self.folder, &self.spent_folder()] {
            let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            for path in files.filter(|path| path.is_file() && path.file_name() != Some(".lock".as_ref())) {
                if old(&path) {
                    let _ = fs::remove_file(path);
                }
            }
        }
        approver::sweep(&self.approvers, &old);
    }
}

#[cfg(test)]
mod tests;
