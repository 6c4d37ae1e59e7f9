//! Who answers: a key in the memory of a running gsh, whose public half lies in the user's state folder.
//!
//! What a signature proves is this: whoever answered could write to the user's state folder while the key was
//! registered, and answered this very question. A command in a sandbox that may write the project and `/tmp` only
//! cannot forge that. Another process of the same user outside of every sandbox can, since it can do all that the
//! user can; a signature does not prove a person.

use std::fs;
use std::path::{Path, PathBuf};

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

use super::answer::{Answer, Body, Reply};
use super::{Pending, QueueError, now};
use crate::store::safe::{self, Owner};
use crate::sys::proc::Process;

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Author {
    /// The public key, in hexadecimal.
    pub key: String,
    /// The process.
    pub pid: i32,
    /// When it started.
    pub started: u64,
    /// The terminal that the person sat at.
    pub terminal: String,
}

/// A public key in the state folder.
#[derive(Debug, Serialize, Deserialize)]
struct Registered {
    author: Author,
    /// Whether it shows new questions as they come.
    listens: bool,
}

/// A running gsh that a person answers with.
pub struct Approver {
    key: SigningKey,
    author: Author,
    listens: bool,
    /// Where it is registered.
    file: Option<PathBuf>,
}

impl std::fmt::Debug for Approver {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Approver").field("author", &self.author).finish_non_exhaustive()
    }
}

impl Approver {
    /// This process, at a person's terminal.
    ///
    /// # Errors
    /// When the system gives no random bytes, or `/proc` cannot be read.
    pub fn new(terminal: &Path) -> std::io::Result<Self> {
        let mut secret = [0; 32];
        crate::sys::random::fill(&mut secret)?;
        let key = SigningKey::from_bytes(&secret);
        let own = Process::own().ok_or(std::io::ErrorKind::NotFound)?;
        let terminal = terminal.to_string_lossy().into_owned();
        let author =
            Author { key: hex(key.verifying_key().as_bytes()), pid: own.pid, started: own.started, terminal };
        Ok(Self { key, author, listens: false, file: None })
    }

    /// From now on it shows new questions as they come, until it ends.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn listen(&mut self, queue: &super::Queue) -> Result<(), QueueError> {
        queue.prepare()?;
        self.listens = true;
        self.file = Some(file(&queue.approvers, &self.author.key));
        self.register(&queue.approvers)
    }

    /// Puts the public key where those who ask look for it.
    pub(super) fn register(&self, folder: &Path) -> Result<(), QueueError> {
        let registered = Registered { author: self.author.clone(), listens: self.listens };
        let text = serde_json::to_vec(&registered).unwrap_or_default();
        Ok(safe::replace(&file(folder, &self.author.key), &text)?)
    }

    /// The same key under another process's number.
    #[cfg(test)]
    pub(super) fn pretend(&mut self, pid: i32) {
        self.author.pid = pid;
    }

    pub(super) fn sign(&self, pending: &Pending, reply: Reply) -> Answer {
        let body = Body {
            question: pending.id.clone(),
            digest: pending.bound.digest(),
            reply,
            answered: now(),
            expires: pending.expires,
            by: self.author.clone(),
        };
        let signature = hex(&self.key.sign(&body.to_sign()).to_bytes());
        Answer { body, signature }
    }
}

impl Drop for Approver {
    fn drop(&mut self) {
        if let Some(folder) = self.file.as_deref().and_then(Path::parent) {
            self.listens = false;
            // A process that is gone does not listen either way.
            let _ = self.register(folder);
        }
    }
}

/// Whether a registered approver signed this answer.
pub(super) fn signed(folder: &Path, answer: &Answer) -> bool {
    let by = &answer.body.by;
    let verified = || {
        let key: [u8; 32] = unhex(&by.key)?.try_into().ok()?;
        let signature: [u8; 64] = unhex(&answer.signature)?.try_into().ok()?;
        let registered = read(&file(folder, &hex(&key)))?;
        let key = VerifyingKey::from_bytes(&key).ok()?;
        let fits = key.verify_strict(&answer.body.to_sign(), &Signature::from_bytes(&signature)).is_ok();
        Some(fits && registered.author == *by)
    };
    verified().unwrap_or(false)
}

/// Whether a living approver shows new questions.
pub(super) fn listens(folder: &Path) -> bool {
    all(folder).iter().filter_map(|path| read(path)).any(|each| each.listens && lives(&each.author))
}

/// Takes away the keys of processes that are gone and whose answers are over.
pub(super) fn sweep(folder: &Path, old: &dyn Fn(&Path) -> bool) {
    for path in all(folder) {
        if old(&path) && !read(&path).is_some_and(|each| lives(&each.author)) {
            let _ = fs::remove_file(path);
        }
    }
}

fn lives(author: &Author) -> bool {
    Process::read(author.pid).is_some_and(|process| process.started == author.started)
}

fn all(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

fn read(path: &Path) -> Option<Registered> {
    let (content, _) = safe::read(path, Owner::User).ok()?;
    serde_json::from_slice(&content).ok()
}

fn file(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.json"))
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    let pairs = digits.chunks_exact(2);
    pairs
        .remainder()
        .is_empty()
        .then(|| pairs.map(|pair| pair.iter().fold(0, |all, d| all << 4 | d)).collect())
}
