//! What was set up for an agent, and how it was before. It lies in the state folder, private to the user: a
//! settings file may hold secrets.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::NotSetUp;
use super::own::is_own;
use crate::config::agent_settings::{Before, Edit};
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};

/// One file that was changed, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) what: Was,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Was {
    /// It is a link of ours.
    Link { to: PathBuf },
    /// It is a file of ours, with this hash.
    Text { hash: String },
    /// Marked lines were put into it.
    Block {
        /// Its text before; None where there was none.
        before: Option<String>,
        /// The hash of its text after.
        hash: String,
    },
    /// Places of it were edited.
    Edited {
        /// Its text before; None where there was none.
        before: Option<String>,
        /// The hash of its text after.
        hash: String,
        /// The places, and what was there.
        edits: Vec<(Edit, Before)>,
    },
}

/// What is remembered of an agent; nothing where nothing was set up.
pub(super) fn read(folders: &Folders, agent: &str) -> Result<Vec<Entry>, NotSetUp> {
    let path = folders.setup_file(agent);
    match safe::read(&path, Owner::User) {
        Ok((bytes, _)) => {
            serde_json::from_slice(&bytes).map_err(|error| NotSetUp::Journal { path, why: error.to_string() })
        }
        Err(SafeError::Missing(_)) => Ok(vec![]),
        Err(error) => Err(error.into()),
    }
}

pub(super) fn write(folders: &Folders, agent: &str, entries: &[Entry]) -> Result<(), NotSetUp> {
    let path = folders.setup_file(agent);
    if entries.is_empty() {
        // One that is gone already is what was wanted.
        let _ = std::fs::remove_file(&path);
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        safe::make_folder(folder)?;
    }
    let text = serde_json::to_vec_pretty(entries)
        .map_err(|error| NotSetUp::Journal { path: path.clone(), why: error.to_string() })?;
    Ok(safe::replace(&path, &text)?)
}

/// Whether another agent is set up.
pub(super) fn others(folders: &Folders, agent: &str) -> bool {
    let own = folders.setup_file(agent);
    let Some(entries) = own.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else { return false };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        let is_agents = path.file_stem().and_then(|name| name.to_str()).is_some_and(|name| !is_own(name));
        path != own && is_agents && path.extension().is_some_and(|end| end == "json")
    })
}
