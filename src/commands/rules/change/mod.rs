//! `gsh rules add`, `remove`, `move` and `promote`: the files that hold the rules are changed, and what
//! stands around the rules stays.

mod effect;
mod spelled;

use std::path::Path;

use similar::TextDiff;
use thiserror::Error;

use super::list::visible;
use crate::config::edit::{Change, EditError, Edited, Editor, Place, Which, promote};
use crate::config::new_rule::NewRule;
use crate::policy::{Layer, Policy, Rule};
use crate::store::places::Folders;

pub use spelled::new_rule;

/// A change as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// What.
    pub wanted: Wanted,
    /// In which layer's file; None for the one where the rule stands, or the user's for a new one.
    pub layer: Option<Layer>,
    /// Only show what would change.
    pub dry_run: bool,
}

/// What is to be changed. Rules are named as `FILE:LINE` or by what they say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// A new rule.
    Add(NewRule),
    /// One less.
    Remove(String),
    /// Another order.
    Move(String, Spot),
    /// Out of the project into the user's file.
    Promote(String),
}

/// Where a rule is moved to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// Right before this rule.
    Before(String),
    /// Right behind it.
    After(String),
    /// Before all that could decide in its place.
    Top,
    /// Behind all that could.
    Bottom,
}

/// What was done.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Each rule with its place.
    pub text: String,
    /// What the caller may not expect.
    pub warnings: Vec<String>,
}

/// Why nothing was changed.
#[derive(Debug, Error)]
pub enum Unchanged {
    /// There is nowhere to keep rules.
    #[error("there is no home folder to keep rules in")]
    NoHome,
    /// The file could not be changed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// No file has the rule.
    #[error("no rule of a file here is `{}`; `gsh rules list` shows each with its file and line", visible(.0))]
    NoSuchRule(String),
    /// Several files have it.
    #[error("`{}` stands in {}; say --user, --project, --own or FILE:LINE", visible(.rule), .files.join(" and "))]
    InSeveral {
        /// As given.
        rule: String,
        /// Where.
        files: Vec<String>,
    },
    /// The place is in a file of no layer.
    #[error("{} holds no rules that count here; `gsh status` lists the files that do", visible(.0))]
    NoSuchFile(String),
    /// The two rules are in different files.
    #[error("a rule is moved within its file; the order between files is that of their layers")]
    AcrossFiles,
}

/// Where changes are made.
pub struct Here<'a> {
    /// The user's folders.
    pub folders: Option<&'a Folders>,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// What relative paths start from.
    pub cwd: &'a Path,
    /// Loads the policy as it is by then.
    pub policy: &'a dyn Fn() -> Policy,
}

/// Makes a change.
///
/// # Errors
/// When it cannot be made; every file is left as it is then.
pub fn run(call: &Call, here: &Here<'_>) -> Result<Said, Unchanged> {
    let folders = here.folders.ok_or(Unchanged::NoHome)?;
    match &call.wanted {
        Wanted::Add(rule) => {
            let editor = Editor::new(folders, here.project, call.layer.unwrap_or(Layer::User))?;
            let edited = make(&editor, Change::Add(std::slice::from_ref(rule)), call.dry_run)?;
            Ok(told("added", &edited, call, here, &rule.matches))
        }
        Wanted::Remove(rule) => {
            let (editor, which) = find(rule, call, here, folders)?;
            let edited = make(&editor, Change::Remove(&which), call.dry_run)?;
            Ok(said("removed", &edited, call.dry_run))
        }
        Wanted::Move(rule, spot) => {
            let (editor, which) = find(rule, call, here, folders)?;
            let place = place(spot, &editor, here)?;
            let edited = make(&editor, Change::Move(&which, &place), call.dry_run)?;
            let word = if edited.before == edited.after { "stands there already:" } else { "moved" };
            Ok(told(word, &edited, call, here, &[]))
        }
        Wanted::Promote(rule) => promoted(rule, call, here, folders),
    }
}

fn promoted(rule: &str, call: &Call, here: &Here<'_>, folders: &Folders) -> Result<Said, Unchanged> {
    let (editor, which) = find(rule, call, here, folders)?;
    let done = promote(folders, here.project, editor.layer(), &which, call.dry_run)?;
    let mut all = told("promoted to", &done.to, call, here, &[]);
    match done.from {
        Ok(from) => all.text.push_str(&said("removed", &from, call.dry_run).text),
        Err(error) => all.warnings.push(format!("it still stands in {}: {error}", shown(editor.path()))),
    }
    Ok(all)
}

fn make(editor: &Editor<'_>, change: Change<'_>, dry_run: bool) -> Result<Edited, EditError> {
    if dry_run { editor.draft(change) } else { editor.apply(change) }
}

/// The file and the rule that are meant.
fn find<'a>(
    rule: &str,
    call: &Call,
    here: &Here<'_>,
    folders: &'a Folders,
) -> Result<(Editor<'a>, Which), Unchanged> {
    let promotes = matches!(call.wanted, Wanted::Promote(_));
    let layers = match call.layer {
        Some(layer) => vec![layer],
        None if promotes => vec![Layer::Project, Layer::UserProject],
        None => vec![Layer::User, Layer::Project, Layer::UserProject],
    };
    let editors = layers.into_iter().map(|layer| Editor::new(folders, here.project, layer));
    let editors: Vec<_> = match call.layer {
        Some(_) => editors.collect::<Result<_, _>>()?,
        None => editors.filter_map(Result::ok).collect(),
    };
    if let Some((file, line)) = spelled::place(rule) {
        let mut found = editors.into_iter().filter(|editor| spelled::is_file(file, editor.path(), here.cwd));
        if let Some(editor) = found.next() {
            return Ok((editor, Which::Line(line)));
        }
        if file.ends_with(".toml") {
            return Err(Unchanged::NoSuchFile(file.to_owned()));
        }
        return Err(Unchanged::NoSuchRule(rule.to_owned()));
    }
    let which = spelled::which(rule);
    let found = editors.into_iter().map(|editor| (editor.lines(&which), editor));
    let mut found: Vec<_> = found.filter(|(lines, _)| !lines.as_ref().is_ok_and(Vec::is_empty)).collect();
    if found.iter().any(|(lines, _)| lines.is_ok()) {
        // What cannot be read has no part in it while another file has the rule.
        found.retain(|(lines, _)| lines.is_ok());
    }
    match found.len() {
        0 => Err(Unchanged::NoSuchRule(rule.to_owned())),
        1 => {
            let (lines, editor) = found.remove(0);
            lines?;
            Ok((editor, which))
        }
        _ => {
            let files = found.iter().map(|(_, editor)| shown(editor.path())).collect();
            Err(Unchanged::InSeveral { rule: rule.to_owned(), files })
        }
    }
}

fn place(spot: &Spot, editor: &Editor<'_>, here: &Here<'_>) -> Result<Place, Unchanged> {
    let which = |text: &str| match spelled::place(text) {
        Some((file, line)) if spelled::is_file(file, editor.path(), here.cwd) => Ok(Which::Line(line)),
        Some(_) => Err(Unchanged::AcrossFiles),
        None => Ok(spelled::which(text)),
    };
    Ok(match spot {
        Spot::Before(other) => Place::Before(which(other)?),
        Spot::After(other) => Place::Behind(which(other)?),
        Spot::Top => Place::Top,
        Spot::Bottom => Place::Bottom,
    })
}

/// What was done, and what it does not do.
fn told(word: &str, edited: &Edited, call: &Call, here: &Here<'_>, examples: &[String]) -> Said {
    let mut said = said(word, edited, call.dry_run);
    if !call.dry_run {
        said.warnings = effect::warnings(&(here.policy)(), edited, examples);
    }
    said
}

fn said(word: &str, edited: &Edited, dry_run: bool) -> Said {
    let mut text = String::new();
    if dry_run {
        let diff = TextDiff::from_lines(edited.before.as_str(), edited.after.as_str());
        let name = shown(&edited.file);
        let diff = diff.unified_diff().context_radius(2).header(&name, &name).to_string();
        text.extend(diff.lines().map(|line| visible(line) + "\n"));
        return Said { text, warnings: vec![] };
    }
    let line = |rule: &Rule| {
        let (place, action) = (visible(&rule.place()), rule.action.word());
        format!("{word} {place}  {action} {} {}\n", visible(&rule.capability), visible(&rule.pattern))
    };
    if edited.rules.is_empty() {
        text = format!("{word} a rule without effect in {}\n", shown(&edited.file));
    }
    text.extend(edited.rules.iter().map(line));
    Said { text, warnings: vec![] }
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}
