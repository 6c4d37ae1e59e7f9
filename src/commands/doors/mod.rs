//! The doors by which an agent's commands can come to gsh: which shell an agent would start here, and the folder
//! that closes what can be closed from outside.

pub mod folder;

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::config::agent_settings::value_at;
use crate::policy::agents::{Known, Layer, Source};

/// What an agent sees when it looks for its shell.
pub struct View<'a> {
    /// Its environment.
    pub var: &'a dyn Fn(&str) -> Option<String>,
    /// The user's home.
    pub home: &'a Path,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// The login shell of the user's entry in `/etc/passwd`.
    pub passwd: Option<String>,
}

/// The shell that an agent would start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// By what it was found, in words.
    pub by: String,
    /// Which place of the agent's order that is.
    pub source: Source,
    /// What was looked at before and passed over, with the reason.
    pub passed: Vec<String>,
}

/// A value of an agent's settings, and the file that holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The file.
    pub file: PathBuf,
    /// For whom it speaks.
    pub layer: Layer,
    /// The value.
    pub value: Value,
}

impl View<'_> {
    /// The shell that this agent would start; None where it starts none that is known, or finds none.
    #[must_use]
    pub fn shell(&self, agent: &Known) -> Option<Found> {
        let mut passed = vec![];
        for source in agent.shell.order {
            let Some((path, by)) = self.look(agent, *source) else { continue };
            let text = path.to_string_lossy();
            if !agent.shell.names.take(&text) {
                passed.push(format!("{by} is {text}, whose name {} does not take for a shell", agent.title));
            } else if !is_program(&path) {
                passed.push(format!("{by} is {text}, which is no program"));
            } else {
                return Some(Found { path, by, source: *source, passed });
            }
        }
        None
    }

    fn look(&self, agent: &Known, source: Source) -> Option<(PathBuf, String)> {
        let full = |text: String| (!text.is_empty()).then(|| PathBuf::from(text));
        Some(match source {
            Source::Setting(key) => {
                let setting = self.settings(agent, key).into_iter().next()?;
                let path = full(setting.value.as_str()?.to_owned())?;
                (path, format!("{} of {}", key.join("."), setting.file.display()))
            }
            Source::Variable(name) => (full((self.var)(name)?)?, format!("${name}")),
            Source::Passwd => (full(self.passwd.clone()?)?, "the shell in /etc/passwd".to_owned()),
            Source::Path(name) => (self.on_path(name)?, format!("`{name}` on PATH")),
            Source::File(path) => (path.into(), "built into it".to_owned()),
        })
    }

    /// The values that the agent's settings have for a key, those first that hold.
    #[must_use]
    pub fn settings(&self, agent: &Known, key: &[&str]) -> Vec<Setting> {
        let found = agent.settings.iter().filter_map(|settings| {
            let file = self.file(settings.path)?;
            let value = value_at(settings.format, &fs::read_to_string(&file).ok()?, key)?;
            Some(Setting { file, layer: settings.layer, value })
        });
        found.collect()
    }

    /// Where a file of the table is; None for a project's where there is no project.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        match path.strip_prefix("~/") {
            Some(below) => Some(self.home.join(below)),
            None if path.starts_with('/') => Some(path.into()),
            None => Some(self.project?.join(path)),
        }
    }

    /// The first program of this name in the folders of `PATH`.
    #[must_use]
    pub fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = (self.var)("PATH")?;
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| is_program(file))
    }
}

/// Whether this is a file that may be executed.
#[must_use]
pub fn is_program(path: &Path) -> bool {
    path.is_file() && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

/// What a path is to a gsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// This very gsh.
    This,
    /// Another one.
    Other,
    /// None.
    No,
}

/// Whether a path leads to gsh.
#[must_use]
pub fn leads_to_gsh(path: &Path, program: &Path) -> Which {
    let same =
        |one: &fs::Metadata, other: &fs::Metadata| (one.dev(), one.ino()) == (other.dev(), other.ino());
    match (fs::metadata(path), fs::metadata(program)) {
        (Ok(one), Ok(other)) if same(&one, &other) => return Which::This,
        _ => {}
    }
    let real = fs::canonicalize(path).unwrap_or_default();
    if real.file_name() == Some(OsStr::new("gsh")) { Which::Other } else { Which::No }
}
