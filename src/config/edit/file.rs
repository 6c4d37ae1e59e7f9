//! A file of rules and its change on disk: one writer at a time, whole or not at all.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::check::Draft;
use super::{Change, EditError, Which};
use crate::config::cache::Stamp;
use crate::config::find::{MANAGED, Source, sources};
use crate::config::new_rule::NewRule;
use crate::config::read::Origin;
use crate::config::trust;
use crate::policy::{Layer, Rule};
use crate::report::Report;
use crate::store::hash;
use crate::store::lock::{self, Lock};
use crate::store::places::Folders;
use crate::store::safe::{self, As, SafeError};

/// How often a file may change under the hands of a writer without the lock.
const ATTEMPTS: usize = 5;

/// Changes the rules of one file.
#[derive(Debug, Clone)]
pub struct Editor<'a> {
    folders: &'a Folders,
    source: Source,
}

/// A file as it was found.
#[derive(Debug)]
pub struct Found {
    /// Its path.
    pub path: PathBuf,
    /// It is there.
    pub exists: bool,
    /// It needs no trust, or has it.
    pub trusted: bool,
    /// What is wrong with it.
    pub damage: Option<Report>,
}

/// What a change did, or would do.
#[derive(Debug, Clone)]
pub struct Edited {
    /// The file.
    pub file: PathBuf,
    /// Its layer.
    pub layer: Layer,
    /// The rules that were added, moved or taken away, with their lines.
    pub rules: Vec<Rule>,
    /// The text before.
    pub before: String,
    /// The text after.
    pub after: String,
    /// The file counts in full: it needs no trust, or has it.
    pub trusted: bool,
}

/// The content of a file, and what tells whether it is still that.
struct Content {
    text: String,
    metadata: Option<Metadata>,
    trusted: bool,
}

impl<'a> Editor<'a> {
    /// For the file of a layer.
    ///
    /// # Errors
    /// When the layer has no file here.
    pub fn new(folders: &'a Folders, project: Option<&Path>, layer: Layer) -> Result<Self, EditError> {
        let root = project.and_then(Path::to_str);
        let found = sources(Some(folders), root, None, MANAGED.as_ref());
        let source = found.into_iter().find(|source| source.layer == layer);
        Ok(Self { folders, source: source.ok_or(EditError::NoProject)? })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// Its layer.
    #[must_use]
    pub fn layer(&self) -> Layer {
        self.source.layer
    }

    /// The lines of the rules that fit.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn lines(&self, which: &Which) -> Result<Vec<usize>, EditError> {
        Draft::new(self.read()?.text, self.origin())?.lines(which)
    }

    /// What one of its rules means.
    ///
    /// # Errors
    /// When there is no such rule, or it means something only where it stands.
    pub fn chosen(&self, which: &Which) -> Result<Vec<NewRule>, EditError> {
        Draft::new(self.read()?.text, self.origin())?.chosen(which)
    }

    /// What a change would do. Nothing is written.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn draft(&self, change: Change<'_>) -> Result<Edited, EditError> {
        self.edited(&self.read()?, change)
    }

    /// Makes a change.
    ///
    /// # Errors
    /// When it cannot be made; the file is left as it is then.
    pub fn apply(&self, change: Change<'_>) -> Result<Edited, EditError> {
        self.apply_if(change, &|_| Ok(()))
    }

    /// Makes a change where the file, as it is under the lock, allows for it.
    ///
    /// # Errors
    /// As [`Editor::apply`], and what the condition says.
    pub fn apply_if(
        &self,
        change: Change<'_>,
        condition: &dyn Fn(&Found) -> Result<(), EditError>,
    ) -> Result<Edited, EditError> {
        let mut lock = lock::take(self.folders)?;
        let folder = self.source.path.parent().unwrap_or(&self.source.path);
        for attempt in 0..ATTEMPTS {
            let content = self.read()?;
            condition(&self.found(&content)?)?;
            let edited = self.edited(&content, change)?;
            if edited.before == edited.after {
                return Ok(edited);
            }
            if attempt == 0 {
                // Before this the folder need not be there; what was read is looked at again below.
                self.make_folder(folder)?;
                lock = lock.with_folder(folder)?;
            }
            if self.put(&lock, &content, &edited)? {
                return Ok(edited);
            }
        }
        Err(EditError::Restless(self.source.path.clone()))
    }

    fn read(&self) -> Result<Content, EditError> {
        let path = &self.source.path;
        if self.source.layer == Layer::Project {
            // A link in its place would let the project choose which file is changed.
            let folder = path.parent().unwrap_or(path);
            if std::fs::symlink_metadata(folder).is_ok_and(|data| !data.is_dir()) {
                return Err(SafeError::NotAFolder(folder.into()).into());
            }
        }
        let (bytes, metadata) = match safe::read(path, self.source.owner) {
            Ok((bytes, metadata)) => (bytes, Some(metadata)),
            Err(SafeError::Missing(_)) => (vec![], None),
            Err(error) => return Err(error.into()),
        };
        let is_trusted = || trust::is_trusted(self.folders, path, &hash(&bytes)).unwrap_or(false);
        let trusted = !self.source.needs_trust || metadata.is_none() || is_trusted();
        let text = String::from_utf8(bytes).map_err(|error| {
            let title = format!("byte {} is no UTF-8", error.utf8_error().valid_up_to());
            EditError::Malformed(Report::of_file(title, &path.to_string_lossy()).into())
        })?;
        Ok(Content { text, metadata, trusted })
    }

    fn origin(&self) -> Origin<'_> {
        Origin {
            layer: self.source.layer,
            path: &self.source.path,
            root: self.source.root.as_deref(),
            home: self.folders.home.to_str(),
        }
    }

    fn found(&self, content: &Content) -> Result<Found, EditError> {
        let draft = Draft::new(content.text.clone(), self.origin())?;
        Ok(Found {
            path: self.source.path.clone(),
            exists: content.metadata.is_some(),
            trusted: content.trusted,
            damage: draft.layer.damage.into_iter().next(),
        })
    }

    fn edited(&self, content: &Content, change: Change<'_>) -> Result<Edited, EditError> {
        let before = content.text.clone();
        let (draft, rules) = Draft::new(before.clone(), self.origin())?.changed(change)?;
        if draft.text.len() as u64 > safe::MOST {
            return Err(SafeError::TooLarge(self.source.path.clone()).into());
        }
        let (file, layer) = (self.source.path.clone(), self.source.layer);
        Ok(Edited { file, layer, rules, before, after: draft.text, trusted: content.trusted })
    }

    /// Puts the new text in the file's place. False when the file is no longer what was read.
    fn put(&self, lock: &Lock, content: &Content, edited: &Edited) -> Result<bool, EditError> {
        let path = &self.source.path;
        let now = std::fs::symlink_metadata(path).ok();
        if now.as_ref().map(Stamp::of) != content.metadata.as_ref().map(Stamp::of) {
            return Ok(false);
        }
        let kind = match (&content.metadata, self.source.layer) {
            (Some(metadata), _) => As::old(metadata),
            (None, Layer::Project) => As::First(0o644),
            (None, _) => As::First(0o600),
        };
        // Trust first: were it lost between the two, the file would only ask. What was trusted stays so
        // when the file cannot be written after all.
        let trusts = self.source.needs_trust && content.trusted;
        let record = |content| trust::record(lock, self.folders, path, content).map(drop);
        if trusts {
            record(Some(edited.after.as_bytes()))?;
        }
        let put = safe::put(path, edited.after.as_bytes(), kind);
        if put.is_err() && trusts {
            let before = content.metadata.is_some().then_some(content.text.as_bytes());
            record(before)?;
        }
        match put {
            Ok(()) => Ok(true),
            Err(SafeError::Exists(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn make_folder(&self, folder: &Path) -> Result<(), EditError> {
        if folder.is_dir() {
            return Ok(());
        }
        let mode = if self.source.layer == Layer::Project { 0o755 } else { 0o700 };
        let made = DirBuilder::new().recursive(true).mode(mode).create(folder);
        made.map_err(|source| SafeError::Io { path: folder.into(), source }.into())
    }
}
