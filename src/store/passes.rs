//! Passes: what a person approved in an agent's own dialogue, so that the shell does not ask again.
//!
//! A hook that answers "ask" leaves a pass, for the exact text, the directory, the agent's session and its call.
//! Whether the person then says yes is not told to us, but only after a yes does the agent itself start that text.
//! So a pass counts once, for a caller that the very process of the agent started, and it is dead when the next
//! event of that session comes in, which there is one of before every further command.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::lock;
use super::places::Folders;
use super::safe::{self, Owner, SafeError};
use crate::sys::proc::Process;

/// One pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pass {
    /// The agent, by the word for it.
    pub agent: String,
    /// The agent's own name for its session, where it told one.
    pub session: Option<String>,
    /// The agent's name for the call.
    pub call: Option<String>,
    /// The hash of the exact text.
    pub text: String,
    /// The directory, links resolved.
    pub directory: PathBuf,
}

/// The passes of one user.
#[derive(Debug, Clone)]
pub struct Passes {
    folder: PathBuf,
}

/// Who comes with a command: the process that started us, and the session that its environment names.
#[derive(Debug, Clone)]
pub struct Bearer {
    /// Where passes lie.
    pub passes: Passes,
    /// Our parent.
    pub caller: Process,
    /// The agent's own name for its session, where the environment tells one.
    pub session: Option<String>,
}

impl Passes {
    /// Those in these folders. They end with the login where the system has a folder for that.
    #[must_use]
    pub fn of(folders: &Folders) -> Self {
        Self { folder: folders.runtime.as_ref().unwrap_or(&folders.state).join("passes") }
    }

    /// Leaves a pass for what this process of an agent may start.
    ///
    /// # Errors
    /// When it cannot be kept: the shell then asks once more.
    pub fn give(&self, agent: &Process, pass: Pass) -> Result<(), SafeError> {
        safe::make_folder(&self.folder)?;
        self.change(agent, |all| {
            all.push(pass);
        })
    }

    /// An event of this session of the agent came in: what was asked before is over.
    ///
    /// # Errors
    /// When a pass is there and cannot be taken away.
    pub fn end(&self, agent: &Process, session: Option<&str>) -> Result<(), SafeError> {
        if !self.file(agent).exists() {
            return Ok(());
        }
        // Where one of the two tells no session they may be the same.
        let other =
            |pass: &Pass| pass.session.as_deref().zip(session).is_some_and(|(theirs, ours)| theirs != ours);
        self.change(agent, |all| all.retain(other))
    }

    fn change<T>(&self, agent: &Process, change: impl FnOnce(&mut Vec<Pass>) -> T) -> Result<T, SafeError> {
        let path = self.file(agent);
        let _turn = lock::at(&path.with_extension("lock"), lock::PATIENCE)?;
        let mut all = self.read(agent);
        let outcome = change(&mut all);
        if all.is_empty() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    return Err(SafeError::Io { path, source: error });
                }
                _ => return Ok(outcome),
            }
        }
        safe::replace(&path, &serde_json::to_vec(&all).unwrap_or_default()).map(|()| outcome)
    }

    fn read(&self, agent: &Process) -> Vec<Pass> {
        let content = safe::read(&self.file(agent), Owner::User).map(|(content, _)| content);
        content.ok().and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_default()
    }

    /// A process is named by its number and start time, and the machine's start by the folder or its id.
    fn file(&self, agent: &Process) -> PathBuf {
        let boot = super::sessions::boot();
        let boot: String = boot.chars().filter(char::is_ascii_alphanumeric).take(8).collect();
        self.folder.join(format!("{}-{}-{boot}.json", agent.pid, agent.started))
    }
}

impl Bearer {
    /// Takes the pass for one of these texts in this directory: nobody gets it a second time.
    #[must_use]
    pub fn take(&self, texts: &[&[u8]], directory: &std::path::Path) -> Option<Pass> {
        if !self.passes.file(&self.caller).exists() {
            return None;
        }
        let hashes: Vec<String> = texts.iter().map(|text| super::hash(text)).collect();
        let directory = std::fs::canonicalize(directory).ok()?;
        let fits = |pass: &Pass| {
            let session = pass.session.as_ref().zip(self.session.as_ref());
            hashes.contains(&pass.text)
                && pass.directory == directory
                && session.is_none_or(|(theirs, ours)| theirs == ours)
        };
        let taken = self.passes.change(&self.caller, |all| {
            let index = all.iter().position(fits)?;
            Some(all.remove(index))
        });
        // What could not be taken away could be used again.
        taken.ok().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: i32) -> Process {
        Process {
            pid,
            parent: 1,
            name: "claude".to_owned(),
            leader: pid,
            started: 7,
            terminal: 0,
            state: 'S',
            computed: 0,
        }
    }

    fn pass(session: &str, text: &str, directory: &std::path::Path) -> Pass {
        Pass {
            agent: "claude".into(),
            session: Some(session.into()),
            call: Some("c1".into()),
            text: crate::store::hash(text.as_bytes()),
            directory: directory.canonicalize().expect("a folder"),
        }
    }

    #[test]
    fn a_pass_is_for_one_text_one_place_one_session_and_one_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let passes = Passes { folder: folder.path().join("passes") };
        let other = tempfile::tempdir().expect("a folder");
        let bearer = |pid, session: Option<&str>| Bearer {
            passes: passes.clone(),
            caller: process(pid),
            session: session.map(str::to_owned),
        };
        let table = [
            // Process, session, text, in the same directory, whether it passes.
            (5, Some("s"), "make x", true, true),
            (5, None, "make x", true, true),
            (6, Some("s"), "make x", true, false),
            (5, Some("t"), "make x", true, false),
            (5, Some("s"), "make x ", true, false),
            (5, Some("s"), "make x", false, false),
        ];
        for (pid, session, text, here, expected) in table {
            passes.give(&process(5), pass("s", "make x", folder.path())).expect("kept");
            let at = if here { folder.path() } else { other.path() };
            let bearer = bearer(pid, session);
            assert_eq!(bearer.take(&[text.as_bytes()], at).is_some(), expected, "{pid} {session:?} {text:?}");
            assert_eq!(bearer.take(&[text.as_bytes()], at), None, "a second time");
            passes.end(&process(5), Some("s")).expect("ended");
        }
    }

    #[test]
    fn the_next_event_of_the_session_ends_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let passes = Passes { folder: folder.path().join("passes") };
        let bearer = Bearer { passes: passes.clone(), caller: process(5), session: None };
        for (session, over) in [(Some("s"), true), (None, true), (Some("other"), false)] {
            passes.give(&process(5), pass("s", "make x", folder.path())).expect("kept");
            passes.end(&process(5), session).expect("ended");
            assert_eq!(bearer.take(&[b"make x"], folder.path()).is_none(), over, "{session:?}");
        }
        passes.end(&process(9), None).expect("nothing is there");
    }
}
