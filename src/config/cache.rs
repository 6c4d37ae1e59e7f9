//! Files as they were read last, so that the next command need not read TOML again.
//!
//! A kept reading is believed only for the very same file state (device, inode, size, both times), for the
//! same path and layer, by the same version of the program, and under gsh's own seal, in a private file with
//! one name. Whatever is off, the file is read anew.
//!
//! Why a seal and no hash of the file: to hash the file it must be read, which is what the cache is to save,
//! and a hash would say which content the reading is of, not that it is its reading. The seal says that gsh
//! made it and that nothing changed it: no cut or mixed-up write, no entry of another user or machine, and no
//! edit by who has not read the key. It is no wall against who can do that: the same folder holds trust and
//! the user's own rules for projects, so whoever writes there needs no cache. What keeps commands away from
//! all of it is the floor (`disarm`); reading the key asks, as for any `*.key`. The code of a reading of
//! ordinary size takes some microseconds.
//!
//! Trust is no part of a reading: it is looked up each time by the hash that the reading holds.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::policy::{Layer, LayerRule, LayerRules, Rule};
use crate::store::hash;
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};
use crate::store::seal::Key;

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
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " in runs, with tables and the queue, as said");

/// The last reading of a file for a layer, if it is of this very state.
#[must_use]
pub fn find(folders: &Folders, path: &Path, layer: Layer, stamp: &Stamp) -> Option<Cached> {
    let (sealed, metadata) = safe::read(&file(folders, path), Owner::User).ok()?;
    // A second name may be a way to write it that nobody sees.
    if metadata.nlink() != 1 {
        return None;
    }
    let key = Key::find(&folders.layers_key())?;
    let content = std::str::from_utf8(key.open(&sealed)?).ok()?;
    let mut cached: Cached = serde_json::from_str(content).ok()?;
    // The same file given for another layer reads otherwise.
    let is_of_this = cached.version == VERSION && cached.path == path && cached.layer.layer == layer;
    if !is_of_this || cached.stamp != *stamp {
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
    let path = folders.layers_key();
    let key = Key::find(&path).map_or_else(|| Key::make(&path), Ok)?;
    // What a crash leaves half of it has no sound seal, and is read anew.
    safe::replace_until_restart(&file(folders, &cached.path), &key.seal(&text))
}

fn file(folders: &Folders, path: &Path) -> PathBuf {
    let name = hash(path.as_os_str().as_encoded_bytes());
    folders.layers().join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::policy::Verdict;
    use crate::report::Report;

    /// A home with a file and its reading, kept.
    struct Kept {
        home: tempfile::TempDir,
        folders: Folders,
        path: PathBuf,
        stamp: Stamp,
        layer: LayerRules,
    }

    impl Kept {
        fn new() -> Self {
            let home = tempfile::tempdir().expect("a folder");
            let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
            let path = home.path().join("config.toml");
            fs::write(&path, "mode = 'plan'").expect("written");
            let rules =
                [("*", Verdict::Ask), ("/a", Verdict::Ask), ("/b", Verdict::Allow), ("/c", Verdict::Ask)];
            let rules = rules.map(|(pattern, action)| Rule::new(Layer::User, "file.read", pattern, action));
            let layer = LayerRules::of_rules(Layer::User, rules.into());
            let stamp = Stamp::of(&fs::metadata(&path).expect("there"));
            let kept = Self { home, folders, path, stamp, layer };
            kept.keep(&kept.reading());
            kept
        }

        fn reading(&self) -> Cached {
            Cached::new(&self.path, self.stamp, "h", &self.layer)
        }

        fn keep(&self, reading: &Cached) {
            let later = SystemTime::now() + Duration::from_secs(60);
            keep(&self.folders, reading, later).expect("kept");
        }

        fn file(&self) -> PathBuf {
            file(&self.folders, &self.path)
        }

        fn find(&self) -> Option<Cached> {
            find(&self.folders, &self.path, Layer::User, &self.stamp)
        }

        /// Puts another content under a sound seal.
        fn forge(&self, change: impl FnOnce(&str) -> String) {
            let key = Key::find(&self.folders.layers_key()).expect("a key");
            let sealed = fs::read(self.file()).expect("read");
            let text = std::str::from_utf8(key.open(&sealed).expect("sealed")).expect("text");
            let changed = change(text);
            assert_ne!(changed, text, "the row changes something");
            safe::replace(&self.file(), &key.seal(changed.as_bytes())).expect("written");
        }
    }

    #[test]
    fn what_was_kept_is_found_as_it_was() {
        let kept = Kept::new();
        let found = kept.find().expect("found");
        assert_eq!((found.hash.as_str(), &found.layer), ("h", &kept.layer));
        let mode = |path: PathBuf| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(kept.file()), mode(kept.folders.layers())), (0o600, 0o700));
    }

    #[test]
    fn a_stale_reading_is_none() {
        let kept = Kept::new();
        let aged = kept.stamp;
        for other in [
            Stamp { size: aged.size + 1, ..aged },
            Stamp { inode: aged.inode + 1, ..aged },
            Stamp { device: aged.device + 1, ..aged },
            Stamp { modified: (aged.modified.0, aged.modified.1 + 1), ..aged },
            Stamp { changed: (1, 1), ..aged },
        ] {
            assert!(find(&kept.folders, &kept.path, Layer::User, &other).is_none(), "{other:?}");
        }
        assert!(find(&kept.folders, &kept.path, Layer::Project, &aged).is_none(), "for another layer");
        fs::remove_file(kept.file()).expect("removed");
        keep(&kept.folders, &kept.reading(), SystemTime::now()).expect("no error");
        assert!(kept.find().is_none(), "just changed: not kept");
    }

    #[test]
    fn a_damaged_layer_is_not_kept() {
        let kept = Kept::new();
        fs::remove_file(kept.file()).expect("removed");
        let layer = LayerRules { damage: vec![Report::of_file("broken", "f")], ..kept.layer.clone() };
        kept.keep(&Cached::new(&kept.path, kept.stamp, "h", &layer));
        assert!(kept.find().is_none());
    }

    /// What others, or accidents, do to the file.
    #[test]
    fn what_is_not_as_it_was_written_is_none() {
        type Change = fn(&Kept);
        let table: &[(&str, Change)] = &[
            ("others can write it", |kept| {
                fs::set_permissions(kept.file(), Permissions::from_mode(0o666)).expect("mode");
            }),
            ("it has a second name", |kept| {
                fs::hard_link(kept.file(), kept.home.path().join("other")).expect("linked");
            }),
            ("it is a link", |kept| {
                let real = kept.home.path().join("real");
                fs::rename(kept.file(), &real).expect("moved");
                symlink(real, kept.file()).expect("linked");
            }),
            ("it is a folder", |kept| {
                fs::remove_file(kept.file()).expect("removed");
                fs::create_dir(kept.file()).expect("made");
            }),
            ("it is empty", |kept| fs::write(kept.file(), "").expect("written")),
            ("it is cut", |kept| {
                let text = fs::read(kept.file()).expect("read");
                fs::write(kept.file(), &text[..text.len() - 1]).expect("written");
            }),
            ("a byte was changed", |kept| {
                let text = fs::read_to_string(kept.file()).expect("read");
                fs::write(kept.file(), text.replace("/b", "/x")).expect("written");
            }),
            ("its stamp was changed", |kept| {
                let text = fs::read_to_string(kept.file()).expect("read");
                let size = format!("\"size\":{}", kept.stamp.size);
                assert!(text.contains(&size));
                fs::write(kept.file(), text.replace(&size, "\"size\":1")).expect("written");
            }),
            ("it has no seal", |kept| {
                let text = fs::read_to_string(kept.file()).expect("read");
                fs::write(kept.file(), text.split_once('\n').expect("a seal").1).expect("written");
            }),
            ("another key sealed it", |kept| {
                Key::make(&kept.folders.layers_key()).expect("made");
            }),
            ("the key is gone", |kept| fs::remove_file(kept.folders.layers_key()).expect("removed")),
            ("others can read the key", |kept| {
                fs::set_permissions(kept.folders.layers_key(), Permissions::from_mode(0o644)).expect("mode");
            }),
            ("another version wrote it", |kept| kept.forge(|text| text.replacen(VERSION, "0.0.9", 1))),
            ("it is another file's", |kept| kept.forge(|text| text.replacen("config.toml", "c.toml", 1))),
            ("it is no JSON", |kept| kept.forge(|text| text[..text.len() / 2].to_owned())),
        ];
        for (what, change) in table {
            let kept = Kept::new();
            assert!(kept.find().is_some());
            change(&kept);
            assert!(kept.find().is_none(), "{what}");
        }
    }

    /// Another file's entry, sealed as it should be, in this one's place.
    #[test]
    fn an_entry_in_anothers_place_is_none() {
        let kept = Kept::new();
        let other = kept.home.path().join("other.toml");
        kept.keep(&Cached::new(&other, kept.stamp, "h", &kept.layer));
        assert!(find(&kept.folders, &other, Layer::User, &kept.stamp).is_some());
        fs::copy(file(&kept.folders, &other), kept.file()).expect("copied");
        assert!(kept.find().is_none());
    }

    /// Only root can give files away, so elsewhere there is nothing to try.
    #[test]
    fn another_users_entry_is_none() {
        let kept = Kept::new();
        if std::os::unix::fs::chown(kept.file(), Some(12345), None).is_ok() {
            assert!(kept.find().is_none());
        }
    }
}
