//! `gsh trust` and `gsh untrust`: a project's file holds as its owner's only after a person saw it.

pub(super) mod diff;
mod shown;

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde_json::json;
use thiserror::Error;

use crate::ask::sanitize::line as visible;
use crate::config::find::{MANAGED, PROJECT, Source, sources};
use crate::config::trust::{self, Standing, TrustError};
use crate::entry::guard;
use crate::host::Host;
use crate::policy::{Forbidden, Layer, Policy};
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};
use crate::sys::machine::Machine;

/// Why nothing was trusted.
#[derive(Debug, Error)]
pub enum NotTrusted {
    /// This gsh may not change what it obeys.
    #[error("{0}")]
    NotHere(String),
    /// A file forbids all trust.
    #[error("nothing was trusted: {0} forbids trust in project files (forbid = [\"trust\"])")]
    Forbidden(String),
    /// There is no home to keep it in.
    #[error("there is no home folder to remember the trust in")]
    NoHome,
    /// No file here needs trust.
    #[error("nothing here needs trust: this directory is in no project that has a {PROJECT}")]
    NoFile,
    /// The file is none that counts anywhere.
    #[error("{} is not the {PROJECT} of a project, so trust in it would mean nothing", .0.display())]
    NotAProjectFile(PathBuf),
    /// The file cannot be read.
    #[error("nothing was trusted: {0}")]
    File(#[from] SafeError),
    /// It could not be remembered.
    #[error(transparent)]
    Store(#[from] TrustError),
    /// It has errors.
    #[error("nothing was trusted, since the file has an error:\n{0}")]
    Damaged(String),
    /// Nobody said yes.
    #[error("nothing was trusted: type the word yes at a terminal, or give --yes")]
    NotConfirmed,
}

/// Where and for whom trust is given or taken back.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// Where the user's files lie.
    pub folders: Option<&'a Folders>,
    /// The machine as seen from the directory.
    pub machine: &'a Machine,
    /// What holds there.
    pub policy: &'a Policy,
}

/// Shows a project's file, as it differs from what was trusted before and in words, and trusts exactly
/// that content.
///
/// # Errors
/// When there is none, something forbids it, nobody confirms, or it cannot be remembered.
pub fn trust(place: Place<'_>, file: Option<&Path>, yes: bool) -> Result<String, NotTrusted> {
    guard::may_change().map_err(NotTrusted::NotHere)?;
    if let Some(file) = place.policy.forbidden_by(Forbidden::Trust) {
        return Err(NotTrusted::Forbidden(visible(file)));
    }
    let folders = place.folders.ok_or(NotTrusted::NoHome)?;
    let source = found(place, folders, file)?;
    let (content, _) = safe::read(&source.path, Owner::Anyone)?;
    let layer = shown::layer(&source, folders, &content);
    // The list may be damaged: then nothing was trusted before, and it is written anew.
    let before = trust::entry(folders, &source.path).unwrap_or_default();
    let name = visible(&source.path.to_string_lossy());
    if let Some(entry) = before.as_ref().filter(|entry| entry.hash == crate::store::hash(&content)) {
        return Ok(format!(
            "trusted already, as it stands: {name} ({} by {})\n",
            entry.when,
            visible(&entry.who)
        ));
    }
    let old = before.as_ref().map(|entry| (entry, trust::content(folders, entry)));
    let colours = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    print!("{}", shown::page(&name, &layer, (old, &content), colours));
    if let Some(report) = layer.damage.first() {
        return Err(NotTrusted::Damaged(report.to_string()));
    }
    if !yes && !confirmed(&name) {
        return Err(NotTrusted::NotConfirmed);
    }
    trust::trust(folders, &source.path, &content)?;
    Ok(format!("trusted as it stands: {name}\n"))
}

/// Ends the trust.
///
/// # Errors
/// When there is no such file, or it cannot be remembered.
pub fn untrust(place: Place<'_>, file: Option<&Path>) -> Result<String, NotTrusted> {
    guard::may_change().map_err(NotTrusted::NotHere)?;
    let folders = place.folders.ok_or(NotTrusted::NoHome)?;
    let path = match file {
        // It may be gone, or be none that would be trusted now.
        Some(file) => absolute(file)?,
        None => found(place, folders, None)?.path,
    };
    let known = [path.clone(), std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone())];
    let mut was = false;
    for path in &known {
        was |= trust::untrust(folders, path)?;
    }
    let name = visible(&path.to_string_lossy());
    Ok(if was { format!("no longer trusted: {name}\n") } else { format!("it was not trusted: {name}\n") })
}

/// The trusted files, when and by whom, and whether they still are as they were.
///
/// # Errors
/// When the list cannot be used.
pub fn list(folders: Option<&Folders>, as_json: bool) -> Result<String, NotTrusted> {
    let entries = trust::entries(folders.ok_or(NotTrusted::NoHome)?)?;
    if as_json {
        let entries: Vec<_> = entries
            .iter()
            .map(|(path, entry, standing)| {
                json!({"path": path, "hash": entry.hash, "when": entry.when, "who": entry.who, "state": standing})
            })
            .collect();
        return Ok(format!("{}\n", json!({"schema": 1, "trusted": entries})));
    }
    if entries.is_empty() {
        return Ok("no file is trusted\n".to_owned());
    }
    let lines = entries.iter().map(|(path, entry, standing)| {
        let state = match standing {
            Standing::AsTrusted => "as trusted",
            Standing::Changed => "changed: trusted no more",
            Standing::Missing => "missing",
        };
        let (name, who) = (visible(&path.to_string_lossy()), visible(&entry.who));
        format!("{state:<24}  {}  {who}  {name}\n", entry.when)
    });
    Ok(lines.collect())
}

/// The file that is meant: the one given, else the project's, else the user's where it leads into a project.
fn found(place: Place<'_>, folders: &Folders, file: Option<&Path>) -> Result<Source, NotTrusted> {
    let project = |root: Option<PathBuf>| {
        let root = root.and_then(|root| root.into_os_string().into_string().ok());
        let all = sources(Some(folders), root.as_deref(), None, MANAGED.as_ref());
        all.into_iter().filter(|source| source.needs_trust && source.path.exists()).collect::<Vec<_>>()
    };
    let Some(file) = file else {
        let mut here = project(place.machine.project());
        here.sort_by_key(|source| source.layer != Layer::Project);
        return here.into_iter().next().ok_or(NotTrusted::NoFile);
    };
    let file = absolute(file)?;
    let same = |source: &Source| {
        source.path == file
            || std::fs::canonicalize(&file)
                .is_ok_and(|real| std::fs::canonicalize(&source.path).is_ok_and(|known| known == real))
    };
    let root = file
        .parent()
        .and_then(Path::parent)
        .map(|root| std::fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()));
    let mut meant = project(root);
    meant.extend(project(place.machine.project()));
    meant.into_iter().find(same).ok_or(NotTrusted::NotAProjectFile(file))
}

fn absolute(file: &Path) -> Result<PathBuf, NotTrusted> {
    let failed = |source| NotTrusted::File(SafeError::Io { path: file.into(), source });
    std::path::absolute(file).map_err(failed)
}

fn confirmed(name: &str) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    eprint!("Trust {name} as shown? Type yes: ");
    let mut word = String::new();
    io::stderr().flush().is_ok() && io::stdin().lock().read_line(&mut word).is_ok() && word.trim() == "yes"
}
