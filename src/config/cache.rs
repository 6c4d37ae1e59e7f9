//! Files as they were read last, so that the next command need not read TOML again. A cached reading
//! counts only for the very same file state, and only when nobody else can have written it; whatever is
//! off, the file is read anew.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::policy::{LayerRule, LayerRules, Rule};
use crate::store::hash;
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};

/// What changes whenever a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of an open file.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether a further change could still leave this stamp as it is: the clock of file systems ticks
    /// in milliseconds.
    fn is_fresh(&self, now: SystemTime) -> bool {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let changed = u64::try_from(self.changed.0.max(self.modified.0)).unwrap_or(u64::MAX);
        now.as_secs() <= changed.saturating_add(1)
    }
}

/// One reading of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cached {
    version: String,
    path: PathBuf,
    stamp: Stamp,
    /// The hash of its content.
    pub hash: String,
    /// What it says; on disk without its rules.
    pub layer: LayerRules,
    runs: Vec<Run>,
}

/// Rules in a row that differ only in pattern and line, as most do: kept and read together.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Run {
    /// What they have in common.
    like: LayerRule,
    /// The pattern and line of each.
    each: Vec<(String, usize)>,
}

/// The program's version and the form of what it keeps: a reading in another form is none.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " in runs, with tables and the queue");

/// The last reading of a file, if it is of this very state.
#[must_use]
pub fn find(folders: &Folders, path: &Path, stamp: &Stamp) -> Option<Cached> {
    let (content, _) = safe::read(&file(folders, path), Owner::User).ok()?;
    let mut cached: Cached = serde_json::from_str(std::str::from_utf8(&content).ok()?).ok()?;
    if cached.version != VERSION || cached.path != path || cached.stamp != *stamp {
        return None;
    }
    let runs = std::mem::take(&mut cached.runs);
    cached.layer.rules = runs.into_iter().flat_map(|run| run.rules(cached.layer.path.as_ref())).collect();
    Some(cached)
}

impl Cached {
    /// A reading of a file in the state of the stamp.
    #[must_use]
    pub fn new(path: &Path, stamp: Stamp, hash: &str, layer: &LayerRules) -> Self {
        let (path, hash, mut layer) = (path.to_owned(), hash.to_owned(), layer.clone());
        let mut runs: Vec<Run> = vec![];
        for rule in std::mem::take(&mut layer.rules) {
            let (like, of_one) = Run::take_apart(rule);
            match runs.last_mut().filter(|run| run.like == like) {
                Some(run) => run.each.push(of_one),
                None => runs.push(Run { like, each: vec![of_one] }),
            }
        }
        Self { version: VERSION.to_owned(), path, stamp, hash, layer, runs }
    }
}

impl Run {
    fn take_apart(mut like: LayerRule) -> (LayerRule, (String, usize)) {
        let of_one = (std::mem::take(&mut like.rule.pattern), std::mem::take(&mut like.rule.line));
        // The same for all rules of a layer.
        like.rule.file = None;
        (like, of_one)
    }

    fn rules(self, file: Option<&Arc<str>>) -> impl Iterator<Item = LayerRule> {
        let Self { mut like, each } = self;
        like.rule.file = file.cloned();
        each.into_iter().map(move |(pattern, line)| {
            let LayerRule { rule, shorthand } = like.clone();
            LayerRule { rule: Rule { pattern, line, ..rule }, shorthand }
        })
    }
}

/// Keeps a reading. Damaged files are not kept, so that their reports are always whole; nor is what
/// could still change unseen.
///
/// # Errors
/// When the state folder cannot be written; the next command then reads the file again.
pub fn keep(folders: &Folders, cached: &Cached, now: SystemTime) -> Result<(), SafeError> {
    if !cached.layer.damage.is_empty() || cached.stamp.is_fresh(now) {
        return Ok(());
    }
    let Ok(text) = serde_json::to_vec(cached) else { return Ok(()) };
    safe::make_folder(&folders.layers())?;
    safe::replace(&file(folders, &cached.path), &text)
}

fn file(folders: &Folders, path: &Path) -> PathBuf {
    let name = hash(path.as_os_str().as_encoded_bytes());
    folders.layers().join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::policy::{Layer, Verdict};

    fn stamp(path: &Path) -> Stamp {
        Stamp::of(&fs::metadata(path).expect("there"))
    }

    #[test]
    fn only_the_very_same_state_counts() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        let path = home.path().join("config.toml");
        fs::write(&path, "mode = 'plan'").expect("written");
        let rules = [("*", Verdict::Ask), ("/a", Verdict::Ask), ("/b", Verdict::Allow), ("/c", Verdict::Ask)];
        let rules = rules.map(|(pattern, action)| Rule::new(Layer::User, "file.read", pattern, action));
        let layer = LayerRules::of_rules(Layer::User, rules.into());
        let now = SystemTime::now();
        let aged = stamp(&path);
        let reading = Cached::new(&path, aged, "h", &layer);

        keep(&folders, &reading, now).expect("kept");
        assert!(find(&folders, &path, &aged).is_none(), "just changed: not kept");
        keep(&folders, &reading, now + Duration::from_secs(60)).expect("kept");
        let found = find(&folders, &path, &aged).expect("found");
        assert_eq!((found.hash.as_str(), &found.layer), ("h", &layer));
        for other in [
            Stamp { size: aged.size + 1, ..aged },
            Stamp { inode: aged.inode + 1, ..aged },
            Stamp { modified: (aged.modified.0, aged.modified.1 + 1), ..aged },
            Stamp { changed: (1, 1), ..aged },
        ] {
            assert!(find(&folders, &path, &other).is_none(), "{other:?}");
        }
        fs::set_permissions(file(&folders, &path), fs::Permissions::from_mode(0o666)).expect("mode");
        assert!(find(&folders, &path, &aged).is_none(), "others could have written it");
    }
}
