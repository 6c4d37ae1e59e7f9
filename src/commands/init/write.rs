//! Changes of files: worked out first, shown, then made.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use super::journal::{self, Entry, Was};
use super::plan::Step;
use super::{NotSetUp, own};
use crate::config::agent_settings::{self, CannotEdit};
use crate::policy::agents::Format;
use crate::store::places::Folders;
use crate::store::safe::{self, As, Owner, SafeError};
use crate::store::{hash, lock};

/// One file that changes.
pub(super) struct Change {
    path: PathBuf,
    old: Content,
    new: Content,
    mode: u32,
    /// What is remembered of it.
    was: Option<Was>,
}

/// What a link that is named as a shell is, for a person.
const BY_NAME: &str = "(gsh by the name of a shell: several agents start nothing that is named otherwise; by this name it is \
                       nothing but a shell)\n";

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Nothing,
    Text(String),
    Link(PathBuf),
}

impl Content {
    fn of(path: &Path) -> Result<Self, NotSetUp> {
        if let Ok(to) = fs::read_link(path) {
            return Ok(Self::Link(to));
        }
        match safe::read(path, Owner::Anyone) {
            Ok((bytes, _)) => {
                let odd = |_| NotSetUp::Left {
                    path: path.into(),
                    why: CannotEdit::Unsure("it is no text in UTF-8"),
                    lines: String::new(),
                };
                String::from_utf8(bytes).map(Self::Text).map_err(odd)
            }
            Err(SafeError::Missing(_)) => Ok(Self::Nothing),
            Err(error) => Err(error.into()),
        }
    }

    fn shown(&self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Text(text) => Some(text.clone()),
            Self::Link(to) => Some(format!("(a link to {})\n{BY_NAME}", to.display())),
        }
    }
}

impl Change {
    /// Whether anything changes.
    pub(super) fn differs(&self) -> bool {
        self.old != self.new
    }

    /// A file that its owner made read-only is not written, though its folder would let us replace it.
    fn writable(&self) -> Result<(), NotSetUp> {
        let (Content::Text(_), true) = (&self.old, self.differs()) else { return Ok(()) };
        let mode = fs::metadata(&self.path).map_or(0o200, |metadata| metadata.mode());
        let refused = mode & 0o222 == 0 || access(&self.path, AccessFlags::W_OK).is_err();
        if refused { Err(NotSetUp::ReadOnly(self.path.clone())) } else { Ok(()) }
    }

    /// The file, and its text before and after as it is shown.
    pub(super) fn shown(&self) -> (&Path, Option<String>, Option<String>) {
        (&self.path, self.old.shown(), self.new.shown())
    }
}

/// What the steps change; steps that change nothing are left out.
pub(super) fn changes(steps: &[Step]) -> Result<Vec<Change>, NotSetUp> {
    let mut changes: Vec<Change> = vec![];
    for step in steps {
        let change = match step {
            Step::Link { at, to } => link(at, to)?,
            Step::Text { at, text, mode, mark } => whole(at, text, (*mode, mark))?,
            Step::Block { at, block } => {
                with_lines(fs::canonicalize(at).unwrap_or_else(|_| at.clone()), block)?
            }
            Step::Edit { at, format, edits, project } => {
                // A link to one's settings elsewhere stays one; a project's could lead anywhere.
                let real =
                    if *project { at.clone() } else { fs::canonicalize(at).unwrap_or_else(|_| at.clone()) };
                edited(real, *format, edits, *project, &mut changes)?
            }
        };
        changes.extend(change);
    }
    if changes.iter().all(|change| !change.differs()) {
        return Ok(vec![]);
    }
    changes.iter().try_for_each(|change| change.writable())?;
    // A link that is there already is needed by one more: whoever is put back last takes it away.
    changes.retain(|change| change.differs() || matches!(change.new, Content::Link(_)));
    Ok(changes)
}

fn link(at: &Path, to: &Path) -> Result<Option<Change>, NotSetUp> {
    let old = Content::of(at)?;
    if matches!(old, Content::Text(_)) {
        return Err(NotSetUp::Theirs(at.into()));
    }
    let was = Some(Was::Link { to: to.into() });
    Ok(Some(Change { path: at.into(), old, new: Content::Link(to.into()), mode: 0o700, was }))
}

fn whole(at: &Path, text: &str, (mode, mark): (u32, &str)) -> Result<Option<Change>, NotSetUp> {
    let old = Content::of(at)?;
    let is_ours = match &old {
        Content::Nothing => true,
        Content::Text(old) => old == text || old.contains(mark),
        Content::Link(_) => false,
    };
    if !is_ours {
        return Err(NotSetUp::Theirs(at.into()));
    }
    let was = Some(Was::Text { hash: hash(text.as_bytes()) });
    Ok(Some(Change { path: at.into(), old, new: Content::Text(text.to_owned()), mode, was }))
}

fn with_lines(path: PathBuf, block: &str) -> Result<Option<Change>, NotSetUp> {
    let old = Content::of(&path)?;
    let before = match &old {
        Content::Nothing => None,
        Content::Text(text) => Some(text.clone()),
        Content::Link(_) => return Err(NotSetUp::Theirs(path)),
    };
    let new = own::with_block(before.as_deref().unwrap_or_default(), block);
    let was = Some(Was::Block { before, hash: hash(new.as_bytes()) });
    Ok(Some(Change { path, old, new: Content::Text(new), mode: 0o600, was }))
}

/// The change of a settings file; one that an earlier step changes is changed on.
fn edited(
    path: PathBuf,
    format: Format,
    edits: &[agent_settings::Edit],
    project: bool,
    earlier: &mut [Change],
) -> Result<Option<Change>, NotSetUp> {
    let left = |why| NotSetUp::Left { path: path.clone(), why, lines: agent_settings::lines(format, edits) };
    let before = earlier.iter().position(|change| change.path == path);
    let old = match before.and_then(|at| earlier.get(at)) {
        Some(change) => change.new.clone(),
        None => Content::of(&path)?,
    };
    let text = match &old {
        Content::Nothing => None,
        Content::Text(text) => Some(text.as_str()),
        Content::Link(_) => return Err(left(CannotEdit::Unsure("it is a link"))),
    };
    let edited = agent_settings::apply(format, text, edits).map_err(left)?;
    let pairs: Vec<_> = edits.iter().cloned().zip(edited.before).collect();
    let (new, hash) = (Content::Text(edited.text.clone()), hash(edited.text.as_bytes()));
    if let Some(change) = before.and_then(|at| earlier.get_mut(at)) {
        change.new = new;
        if let Some(Was::Edited { edits, hash: known, .. }) = &mut change.was {
            edits.extend(pairs);
            *known = hash;
        }
        return Ok(None);
    }
    let was = Some(Was::Edited { before: text.map(str::to_owned), hash, edits: pairs });
    let mode = if project { 0o644 } else { 0o600 };
    Ok(Some(Change { path, old, new, mode, was }))
}

/// Makes the changes, and remembers them first.
pub(super) fn write(folders: &Folders, agent: &str, changes: &[Change]) -> Result<(), NotSetUp> {
    let _lock = lock::take(folders)?;
    let mut entries = journal::read(folders, agent)?;
    entries.extend(
        changes
            .iter()
            .filter_map(|change| Some(Entry { path: change.path.clone(), what: change.was.clone()? })),
    );
    journal::write(folders, agent, &entries)?;
    changes.iter().filter(|change| change.differs()).try_for_each(make)
}

/// What puts an agent back as it was, newest first.
pub(super) fn backward(folders: &Folders, agent: &str) -> Result<Vec<Change>, NotSetUp> {
    let shared = journal::others(folders, agent);
    let mut changes: Vec<Change> = vec![];
    for Entry { path, what } in journal::read(folders, agent)?.into_iter().rev() {
        let earlier = changes.iter().position(|change| change.path == path);
        let old = match earlier.and_then(|at| changes.get(at)) {
            Some(change) => change.new.clone(),
            None => Content::of(&path)?,
        };
        let new = back(&path, &old, what, shared)?;
        match earlier.and_then(|at| changes.get_mut(at)) {
            Some(change) => change.new = new,
            None => changes.push(Change { path, old, new, mode: 0o600, was: None }),
        }
    }
    changes.retain(Change::differs);
    changes.iter().try_for_each(Change::writable)?;
    Ok(changes)
}

fn back(path: &Path, now: &Content, what: Was, shared: bool) -> Result<Content, NotSetUp> {
    Ok(match (what, now) {
        (Was::Link { to }, Content::Link(now)) if *now == to && !shared => Content::Nothing,
        (Was::Text { hash: known }, Content::Text(text)) if hash(text.as_bytes()) == known => {
            Content::Nothing
        }
        (Was::Edited { before, hash: known, edits }, Content::Text(text)) => {
            if hash(text.as_bytes()) == known {
                return Ok(before.map_or(Content::Nothing, Content::Text));
            }
            let format = if path.extension().is_some_and(|end| end == "yml" || end == "yaml") {
                Format::Yaml
            } else {
                Format::Json
            };
            let left = |why| NotSetUp::Left { path: path.into(), why, lines: String::new() };
            Content::Text(agent_settings::revert(format, text, &edits).map_err(left)?)
        }
        (Was::Block { before, hash: known }, Content::Text(text)) => {
            if hash(text.as_bytes()) == known {
                before.map_or(Content::Nothing, Content::Text)
            } else {
                Content::Text(own::without_block(text))
            }
        }
        // It is gone, or somebody else's by now.
        (_, now) => now.clone(),
    })
}

/// Puts an agent back, and forgets it.
pub(super) fn put_back(folders: &Folders, agent: &str, changes: &[Change]) -> Result<(), NotSetUp> {
    let _lock = lock::take(folders)?;
    changes.iter().try_for_each(make)?;
    journal::write(folders, agent, &[])
}

fn make(change: &Change) -> Result<(), NotSetUp> {
    let path = &change.path;
    let failed = |source| SafeError::Io { path: path.clone(), source };
    // Whoever changed it meanwhile is not written over.
    if Content::of(path)? != change.old {
        return Err(SafeError::Exists(path.clone()).into());
    }
    if let Some(folder) = path.parent() {
        let mode = if change.mode & 0o077 == 0 { 0o700 } else { 0o755 };
        DirBuilder::new().recursive(true).mode(mode).create(folder).map_err(failed)?;
    }
    match &change.new {
        Content::Nothing => fs::remove_file(path).map_err(failed)?,
        Content::Link(to) => {
            if change.old != Content::Nothing {
                fs::remove_file(path).map_err(failed)?;
            }
            symlink(to, path).map_err(failed)?;
        }
        Content::Text(text) => {
            match fs::symlink_metadata(path) {
                // Its other names lead to the same text afterwards; what was before is remembered already.
                Ok(metadata) if metadata.nlink() > 1 => safe::overwrite(path, text.as_bytes())?,
                Ok(metadata) => safe::put(path, text.as_bytes(), As::old(&metadata))?,
                Err(_) => safe::put(path, text.as_bytes(), As::First(change.mode))?,
            }
        }
    }
    Ok(())
}
