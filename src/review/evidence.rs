//! What a reviewer may look at before it answers: names and contents inside the project, answered by gsh itself. Nothing
//! is started, written or followed out of the project, and files that hold secrets are not shown.

use std::cell::Cell;
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use nix::fcntl::OFlag;

use serde_json::{Value, json};

use super::prompt::shortened;
use crate::audit::redact::Secrets;
use crate::policy::defaults::is_secret;
use crate::policy::{Capability, CapabilityRequest, Policy, Subject, Verdict};
use crate::report::Span;

/// How many letters one answer may have.
const SHOWN: usize = 4_000;
/// So much of one file is read.
const FILE: u64 = 256 * 1024;
/// So many files a search looks into, and so many lines it shows.
const FILES: usize = 2_000;
const LINES: usize = 60;
/// So much is read for all the answers of one review.
const ALL: u64 = 32 * 1024 * 1024;

/// Where a reviewer may look.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The project's real root.
    pub(super) root: PathBuf,
    /// What is not shown.
    pub(super) secrets: Secrets,
    /// Whose rules say what may be read.
    pub(super) policy: Arc<Policy>,
    /// When a search stops, whatever it has found.
    pub(super) until: Instant,
    /// How much may still be read.
    pub(super) left: Cell<u64>,
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
    /// Below this root.
    pub(super) fn new(root: PathBuf, secrets: Secrets, policy: Arc<Policy>, until: Instant) -> Self {
        Self { root, secrets, policy, until, left: Cell::new(ALL) }
    }

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
        let asked = self.root.join(path);
        let real = fs::canonicalize(&asked).map_err(|error| error.to_string())?;
        if !real.starts_with(&self.root) {
            return Err("it is outside the project".to_owned());
        }
        if is_kept_back(&real) {
            return Err("files of this kind hold secrets".to_owned());
        }
        if !self.may_be_read(&asked, &real) {
            return Err("the rules keep it from being read unasked".to_owned());
        }
        Ok(real)
    }

    /// Whether reading it is allowed without a question, and a write there would be nothing special: what a person
    /// keeps from an agent no reviewer is shown either.
    fn may_be_read(&self, asked: &Path, real: &Path) -> bool {
        let forms: Option<Vec<String>> =
            [asked, real].map(|path| path.to_str().map(str::to_owned)).into_iter().collect();
        let Some(forms) = forms else { return false };
        let judged = |capability| {
            let subject = Subject::Path(forms.clone());
            self.policy.evaluate(&CapabilityRequest::new(capability, subject, String::new(), Span::default()))
        };
        judged(Capability::FileRead).verdict == Verdict::Allow
            && !judged(Capability::FileWriteProject).protected
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let real = self.inside(path)?;
        self.content(&real).ok_or_else(|| "it is no text file".to_owned())
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
        while let Some(next) = folders.pop() {
            if looked == FILES || lines.len() >= LINES || self.left.get() == 0 || Instant::now() >= self.until
            {
                lines.truncate(LINES - 1);
                lines.push("<truncated/> not everything was searched".to_owned());
                break;
            }
            looked += 1;
            match fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_dir() => folders.extend(below(&next)),
                Ok(metadata)
                    if metadata.is_file() && !is_kept_back(&next) && self.may_be_read(&next, &next) =>
                {
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
        let content = self.content(file).unwrap_or_default();
        let numbered = content.lines().enumerate().filter(|(_, line)| line.contains(text));
        numbered
            .take(LINES)
            .map(|(at, line)| format!("{name}:{}: {}", at + 1, shortened(line, 300)))
            .collect()
    }

    /// The text of a regular file, as far as it is read; a pipe or device is not waited for. What stands at this path
    /// by now, behind a link that was not there a moment ago, is not read.
    fn content(&self, real: &Path) -> Option<String> {
        let flags = OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits()).open(real).ok()?;
        file.metadata().ok().filter(fs::Metadata::is_file)?;
        let opened = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()?;
        if opened != real {
            return None;
        }
        let bytes = self.taken(file)?;
        (!bytes.contains(&0)).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn taken(&self, file: File) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        file.take(FILE.min(self.left.get())).read_to_end(&mut bytes).ok()?;
        let count = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left.set(self.left.get().saturating_sub(count));
        Some(bytes)
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::policy::compose::{Composition, compose};
    use crate::policy::{Layer, LayerRules, Places, Rule};

    fn place(root: PathBuf, rules: Vec<Rule>, secrets: Secrets) -> Place {
        let places = Places { project: root.to_str().map(str::to_owned), ..Places::default() };
        let layers = vec![LayerRules::of_rules(Layer::User, rules)];
        let policy = compose(layers, Composition::new(places, "2026-01-01"));
        Place::new(root, secrets, Arc::new(policy), Instant::now() + Duration::from_secs(60))
    }

    fn project() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = fs::canonicalize(folder.path()).expect("real").join("p");
        fs::create_dir_all(&root).expect("made");
        (folder, root)
    }

    #[test]
    fn what_rules_keep_back_is_kept_back_here_too() {
        let (_folder, root) = project();
        for name in [
            "src/a.rs",
            "private/x.txt",
            "asked/x.txt",
            ".envrc",
            ".github/workflows/ci.yml",
            ".gsh/config.toml",
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("its folder")).expect("made");
            fs::write(path, "a needle in it").expect("written");
        }
        std::os::unix::fs::symlink(root.join("private/x.txt"), root.join("src/innocent")).expect("linked");
        std::os::unix::fs::symlink(root.join("src/a.rs"), root.join("private/link")).expect("linked");
        let below = |name: &str| format!("{}/{name}/*", root.display());
        let rules = vec![
            Rule::new(Layer::User, "file.read", &below("private"), Verdict::Deny),
            Rule::new(Layer::User, "file.read", &below("asked"), Verdict::Ask),
        ];
        let place = place(root, rules, Secrets::default());
        for (path, shown) in [
            ("src/a.rs", true),
            ("private/x.txt", false),
            ("./src/../private/x.txt", false),
            ("src/innocent", false),
            ("private/link", false),
            ("asked/x.txt", false),
            (".envrc", false),
            (".github/workflows/ci.yml", false),
            (".gsh/config.toml", false),
        ] {
            let answer = place.answer("read_file", &json!({ "path": path }));
            assert_eq!(answer.contains("needle"), shown, "{path}: {answer}");
        }
        let found = place.answer("search", &json!({ "text": "needle" }));
        assert_eq!(found, "src/a.rs:1: a needle in it");
    }

    #[test]
    fn no_search_outlasts_its_time_or_its_room() {
        let (_folder, root) = project();
        for number in 0..10 {
            fs::write(root.join(format!("f{number}")), "a needle").expect("written");
        }
        let mut place = place(root, vec![], Secrets::default());
        let search = |place: &Place| place.answer("search", &json!({ "text": "needle" }));
        assert_eq!(search(&place).lines().count(), 10);
        place.left = Cell::new(20);
        let found = search(&place);
        assert!(found.contains("not everything was searched") && found.lines().count() < 5, "{found}");
        place.left = Cell::new(ALL);
        place.until = Instant::now();
        assert_eq!(search(&place), "<truncated/> not everything was searched");
    }

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
        let place = place(root, vec![], secrets);
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
