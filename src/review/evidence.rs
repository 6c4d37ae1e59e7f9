//! What a reviewer may look at before it answers: names and contents inside the project, answered by gsh itself. Nothing
//! is started, written or followed out of the project, and files that hold secrets are not shown.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::prompt::shortened;
use crate::audit::redact::Secrets;
use crate::policy::defaults::is_secret;

/// How many letters one answer may have.
const SHOWN: usize = 4_000;
/// So much of one file is read.
const FILE: u64 = 256 * 1024;
/// So many files a search looks into, and so many lines it shows.
const FILES: usize = 2_000;
const LINES: usize = 60;

/// Where a reviewer may look.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The project's real root.
    pub(super) root: PathBuf,
    /// What is not shown.
    pub(super) secrets: Secrets,
}

/// The tools with their parameters, as JSON Schemas.
#[must_use]
pub(super) fn tools() -> Vec<(&'static str, &'static str, Value)> {
    let path = json!({ "type": "string", "description": "below the project's root" });
    let only_path = json!({ "type": "object", "properties": { "path": path }, "required": ["path"] });
    vec![
        ("read_file", "Show a file of the project.", only_path.clone()),
        ("list_folder", "List a folder of the project.", only_path),
        (
            "search",
            "Show the lines of the project's files that hold exactly this text.",
            json!({
                "type": "object",
                "properties": { "text": { "type": "string" }, "path": path },
                "required": ["text"],
            }),
        ),
    ]
}

impl Place {
    /// The answer to a tool's use; what cannot be shown is said, in words.
    #[must_use]
    pub(super) fn answer(&self, tool: &str, arguments: &Value) -> String {
        let text = |key: &str| arguments.get(key).and_then(Value::as_str);
        let shown = match tool {
            "read_file" => self.read(text("path").unwrap_or_default()),
            "list_folder" => self.list(text("path").unwrap_or_default()),
            "search" => self.search(text("text").unwrap_or_default(), text("path").unwrap_or(".")),
            other => Err(format!("there is no tool {other}")),
        };
        let shown = shown.unwrap_or_else(|why| format!("not shown: {why}"));
        shortened(&self.secrets.redact(&shown).0, SHOWN)
    }

    /// The real path, if it is inside and holds no secrets.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let real = fs::canonicalize(self.root.join(path)).map_err(|error| error.to_string())?;
        if !real.starts_with(&self.root) {
            return Err("it is outside the project".to_owned());
        }
        if is_kept_back(&real) {
            return Err("files of this kind hold secrets".to_owned());
        }
        Ok(real)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let real = self.inside(path)?;
        content(&real).ok_or_else(|| "it is no text file".to_owned())
    }

    fn list(&self, path: &str) -> Result<String, String> {
        let real = self.inside(path)?;
        let entries = fs::read_dir(real).map_err(|error| error.to_string())?;
        let mut names: Vec<String> = entries
            .flatten()
            .take(FILES)
            .map(|entry| {
                let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                format!("{}{}", entry.file_name().to_string_lossy(), if folder { "/" } else { "" })
            })
            .collect();
        names.sort();
        Ok(names.join("\n"))
    }

    fn search(&self, text: &str, path: &str) -> Result<String, String> {
        if text.trim().len() < 2 {
            return Err("the text is too short".to_owned());
        }
        let mut folders = vec![self.inside(path)?];
        let (mut looked, mut lines) = (0, Vec::new());
        while let Some(next) = folders.pop().filter(|_| looked < FILES && lines.len() < LINES) {
            looked += 1;
            match fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_dir() => folders.extend(below(&next)),
                Ok(metadata) if metadata.is_file() && !is_kept_back(&next) => {
                    lines.extend(self.matches(&next, text));
                }
                _ => {}
            }
        }
        lines.truncate(LINES);
        Ok(if lines.is_empty() { "no such text".to_owned() } else { lines.join("\n") })
    }

    fn matches(&self, file: &Path, text: &str) -> Vec<String> {
        let name = file.strip_prefix(&self.root).unwrap_or(file).display();
        let content = content(file).unwrap_or_default();
        let numbered = content.lines().enumerate().filter(|(_, line)| line.contains(text));
        numbered
            .take(LINES)
            .map(|(at, line)| format!("{name}:{}: {}", at + 1, shortened(line, 300)))
            .collect()
    }
}

/// Whether nobody is shown what is there: it holds secrets, or is git's own.
fn is_kept_back(real: &Path) -> bool {
    real.components().any(|part| part.as_os_str() == ".git") || real.to_str().is_none_or(is_secret)
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(FILES);
    entries.filter(|entry| entry.file_name() != ".git").map(|entry| entry.path()).collect()
}

/// The text of a regular file, as far as it is read; a pipe or device is not opened.
fn content(real: &Path) -> Option<String> {
    fs::symlink_metadata(real).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    File::open(real).ok()?.take(FILE).read_to_end(&mut bytes).ok()?;
    if bytes.contains(&0) {
        return None;
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_project_is_shown_and_no_secrets() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("real").join("p");
        fs::create_dir_all(root.join("src")).expect("made");
        fs::create_dir_all(root.join(".git")).expect("made");
        for (name, text) in [
            ("src/a.rs", "fn main() {}\nlet needle = 1;"),
            (".env", "needle=1"),
            (".git/config", "needle"),
            ("../outside", "needle"),
            ("long", &"y".repeat(9_000)),
        ] {
            fs::write(root.join(name), text).expect("written");
        }
        std::os::unix::fs::symlink(root.join("../outside"), root.join("link")).expect("linked");
        std::os::unix::fs::symlink(root.join(".env"), root.join("innocent")).expect("linked");
        nix::unistd::mkfifo(&root.join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        let mut secrets = Secrets::default();
        secrets.learn_variable("A_TOKEN", "fn-main-token-value");
        let place = Place { root, secrets };
        let path = |path: &str| json!({ "path": path });
        for (tool, arguments, expected) in [
            ("read_file", path("src/a.rs"), "fn main() {}\nlet needle = 1;"),
            ("list_folder", path("src"), "a.rs"),
            ("search", json!({"text": "needle"}), "src/a.rs:2: let needle = 1;"),
            ("search", json!({"text": "n"}), "not shown: the text is too short"),
            ("read_file", path("../outside"), "not shown: it is outside the project"),
            ("read_file", path("/etc/hostname"), "not shown: "),
            ("read_file", path("link"), "not shown: it is outside the project"),
            ("read_file", path(".env"), "not shown: files of this kind hold secrets"),
            ("read_file", path("innocent"), "not shown: files of this kind hold secrets"),
            ("read_file", path(".git/config"), "not shown: files of this kind hold secrets"),
            ("read_file", path("pipe"), "not shown: it is no text file"),
            ("run", json!({"command": "x"}), "not shown: there is no tool run"),
            ("read_file", json!([]), "not shown: it is no text file"),
        ] {
            let shown = place.answer(tool, &arguments);
            assert!(shown.starts_with(expected), "{tool} {arguments}: {shown}");
        }
        assert!(place.answer("read_file", &path("long")).chars().count() < SHOWN + 20);
    }
}
