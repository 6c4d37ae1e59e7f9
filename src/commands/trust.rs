//! `gsh trust` and `gsh untrust`: a project's file holds as its owner's only after a person saw it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::ask::sanitize::lines;
use crate::config::read::{Origin, read};
use crate::config::trust::{self, TrustError};
use crate::policy::Layer;
use crate::store::places::Folders;

/// Why nothing was trusted.
#[derive(Debug, Error)]
pub enum NotTrusted {
    /// There is no home to keep it in.
    #[error("there is no home folder to remember the trust in")]
    NoHome,
    /// The directory is in no project.
    #[error("this directory is in no project")]
    NoProject,
    /// The project has no file.
    #[error("cannot read {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
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

/// Shows the project's file and trusts exactly that content.
///
/// # Errors
/// When there is none, nobody confirms, or it cannot be remembered.
pub fn trust(folders: Option<&Folders>, project: Option<&Path>, yes: bool) -> Result<String, NotTrusted> {
    let folders = folders.ok_or(NotTrusted::NoHome)?;
    let path = file(project)?;
    let content = std::fs::read(&path).map_err(|source| NotTrusted::File { path: path.clone(), source })?;
    println!("{}", path.display());
    for line in lines(&content) {
        println!("  {line}");
    }
    let project = path.parent().and_then(Path::parent);
    let origin = Origin {
        layer: Layer::Project,
        path: &path,
        root: project.and_then(Path::to_str),
        home: folders.home.to_str(),
    };
    if let Some(report) = read(&String::from_utf8_lossy(&content), &origin).layer.damage.first() {
        return Err(NotTrusted::Damaged(report.to_string()));
    }
    if !yes && !confirmed(&path) {
        return Err(NotTrusted::NotConfirmed);
    }
    trust::trust(folders, &path, &content)?;
    Ok(format!("trusted as it stands: {}\n", path.display()))
}

/// Ends the trust.
///
/// # Errors
/// When there is no project, or it cannot be remembered.
pub fn untrust(folders: Option<&Folders>, project: Option<&Path>) -> Result<String, NotTrusted> {
    let folders = folders.ok_or(NotTrusted::NoHome)?;
    let path = file(project)?;
    trust::untrust(folders, &path)?;
    Ok(format!("no longer trusted: {}\n", path.display()))
}

fn file(project: Option<&Path>) -> Result<PathBuf, NotTrusted> {
    Ok(project.ok_or(NotTrusted::NoProject)?.join(".gsh/config.toml"))
}

fn confirmed(path: &Path) -> bool {
    if !io::stdin().is_terminal() {
        return false;
    }
    eprint!("Trust {} as shown? Type yes: ", path.display());
    let mut word = String::new();
    io::stderr().flush().is_ok() && io::stdin().lock().read_line(&mut word).is_ok() && word.trim() == "yes"
}
