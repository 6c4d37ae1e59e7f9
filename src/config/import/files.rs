//! Where agents keep their rules.

use std::path::{Path, PathBuf};

use super::{AgentFile, Client, Level};
use crate::store::safe::{self, Owner, SafeError};

/// The files of an agent that are there, lowest first.
///
/// # Errors
/// When one is there and cannot be read.
pub fn find(client: Client, home: Option<&Path>, root: Option<&Path>) -> Result<Vec<AgentFile>, SafeError> {
    let mut found = vec![];
    let places = own(client).iter().filter_map(|path| Some((home?.join(path), Level::User)));
    let machine = machine(client).iter().map(|path| (PathBuf::from(path), Level::User));
    let project = projects(client).iter().filter_map(|(path, level)| Some((root?.join(path), *level)));
    for (path, level) in places.chain(machine).chain(project) {
        for path in expanded(&path) {
            match read(&path, level) {
                Ok(file) => found.push(file),
                Err(SafeError::Missing(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(found)
}

/// The files that were named. What lies in the project speaks for it.
///
/// # Errors
/// When one cannot be read.
pub fn named(files: &[PathBuf], root: Option<&Path>) -> Result<Vec<AgentFile>, SafeError> {
    let level = |path: &Path| match root {
        Some(root) if path.starts_with(root) && path.ends_with(".claude/settings.local.json") => Level::Local,
        Some(root) if path.starts_with(root) => Level::Project,
        _ => Level::User,
    };
    let real = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    files.iter().map(real).map(|path| read(&path, level(&path))).collect()
}

fn read(path: &Path, level: Level) -> Result<AgentFile, SafeError> {
    // A link to one's settings elsewhere is followed, as the agent does.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (content, _) = safe::read(&real, Owner::Anyone)?;
    let text = String::from_utf8_lossy(&content).into_owned();
    Ok(AgentFile { path: path.to_string_lossy().into_owned(), text, level })
}

/// The path itself, or what a star at its end stands for, in order.
fn expanded(path: &Path) -> Vec<PathBuf> {
    let ending = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix('*'));
    let (Some(ending), Some(folder)) = (ending, path.parent()) else { return vec![path.to_owned()] };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    found.sort();
    found
}

/// Below the home.
fn own(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &[".claude/settings.json"],
        Client::Codex => &[".codex/rules/*.rules"],
        Client::Gemini => &[".gemini/policies/*.toml"],
        Client::Opencode => &[".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"],
        Client::Cursor => &[".cursor/cli-config.json", ".cursor/permissions.json"],
    }
}

/// The machine owner's.
fn machine(client: Client) -> &'static [&'static str] {
    match client {
        Client::Claude => &["/etc/claude-code/managed-settings.json"],
        Client::Gemini => &["/etc/gemini-cli/policies/*.toml"],
        _ => &[],
    }
}

/// Below the project root.
fn projects(client: Client) -> &'static [(&'static str, Level)] {
    match client {
        Client::Claude => {
            &[(".claude/settings.json", Level::Project), (".claude/settings.local.json", Level::Local)]
        }
        Client::Codex => &[(".codex/rules/*.rules", Level::Project)],
        Client::Gemini => &[],
        Client::Opencode => &[("opencode.json", Level::Project), ("opencode.jsonc", Level::Project)],
        Client::Cursor => {
            &[(".cursor/cli.json", Level::Project), (".cursor/permissions.json", Level::Project)]
        }
    }
}
