//! All files that speak here, joined to one policy. Nothing here fails: what cannot be used is a damaged
//! layer, which the policy turns into questions.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::cache::{self, Cached, Stamp};
use super::find::{MANAGED, PROJECT, Source, sources};
use super::read::{Origin, Reading, read};
use super::trust;
use crate::policy::compose::{Composition, compose};
use crate::policy::{Caller, Forbidden, Layer, LayerRules, Mode, Places, Policy, Refused};
use crate::report::Report;
use crate::store::places::Folders;
use crate::store::safe::{self, Owner, SafeError};

/// What comes with the call.
#[derive(Debug, Clone)]
pub struct Options {
    /// A file in the place of the user's.
    pub config: Option<PathBuf>,
    /// A mode, and where it was given.
    pub mode: Option<(Mode, String)>,
    /// Layers that are no files: the command line's rules, the session's grants.
    pub layers: Vec<LayerRules>,
    /// Who asks.
    pub caller: Caller,
    /// The session, whose plan may be written in plan mode.
    pub session: Option<String>,
    /// How often it was refused.
    pub refused: Refused,
    /// The machine owner's file.
    pub managed: PathBuf,
    /// The day it is judged on, `YYYY-MM-DD`.
    pub today: String,
}

impl Options {
    /// Nothing special, today.
    #[must_use]
    pub fn new() -> Self {
        let today = jiff::tz::TimeZone::UTC.to_datetime(jiff::Timestamp::now()).date().to_string();
        Self {
            config: None,
            mode: None,
            layers: vec![],
            caller: Caller::default(),
            session: None,
            refused: Refused::default(),
            managed: MANAGED.into(),
            today,
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// Loads the policy for a user (None without a home) in the places given.
#[must_use]
pub fn load(folders: Option<&Folders>, places: Places, options: Options) -> Policy {
    let Options { config, mode, layers, caller, session, refused, managed, today } = options;
    let found = sources(folders, places.project.as_deref(), config.as_deref(), &managed);
    let home = places.home.clone();
    let mut read: Vec<LayerRules> =
        found.iter().map(|source| layer(source, folders, home.as_deref(), config.is_some())).collect();
    if read.iter().any(|layer| layer.forbids.contains(&Forbidden::Trust)) {
        // Also a user's file that leads into a project is the project's.
        let projects = read.iter_mut().zip(&found).filter(|(_, source)| source.needs_trust);
        projects.for_each(|(layer, _)| layer.trusted = false);
    }
    // Behind the file of the same layer.
    read.extend(layers);
    let plan = folders.zip(session).map(|(folders, session)| folders.plan_file(&session));
    let plan = plan.and_then(|plan| plan.into_os_string().into_string().ok());
    compose(read, Composition { places, today, mode, caller, plan, refused, resolve: &real })
}

/// Every file that speaks here, read anew, with the examples of its rules. What is not there is left out.
#[must_use]
pub fn readings(folders: Option<&Folders>, places: &Places, options: &Options) -> Vec<Reading> {
    let found = sources(folders, places.project.as_deref(), options.config.as_deref(), &options.managed);
    let home = places.home.as_deref();
    let is_given = options.config.is_some();
    let of = |source: &Source| {
        let layer = layer(source, folders, home, is_given);
        let content = safe::read(&source.path, Owner::Anyone).map(|(content, _)| content).unwrap_or_default();
        let examples = read(&String::from_utf8_lossy(&content), &origin(source, home)).examples;
        Reading { layer, examples }
    };
    found.iter().map(of).filter(|reading| reading.layer.present).collect()
}

/// One file that need not be in force, as if it were a layer's. Which, its place tells where nobody says.
///
/// # Errors
/// When it cannot be read.
pub fn reading_of(path: &Path, layer: Option<Layer>, places: &Places) -> std::io::Result<Reading> {
    let text = std::fs::read_to_string(path)?;
    let path = std::fs::canonicalize(path)?;
    let layer = layer.unwrap_or_else(|| match path.file_name() {
        _ if path.ends_with(PROJECT) => Layer::Project,
        Some(name) if name == "managed.toml" => Layer::Managed,
        _ => Layer::User,
    });
    let own = path.ends_with(PROJECT).then(|| path.ancestors().nth(2)?.to_str()).flatten();
    let root = own.or(places.project.as_deref()).filter(|_| layer == Layer::Project);
    Ok(read(&text, &Origin { layer, path: &path, root, home: places.home.as_deref() }))
}

/// The policy that readings make.
#[must_use]
pub fn composed(readings: &[Reading], places: Places, options: &Options) -> Policy {
    let layers = readings.iter().map(|reading| reading.layer.clone()).collect();
    let Options { mode, caller, today, .. } = options.clone();
    compose(layers, Composition { mode, caller, resolve: &real, ..Composition::new(places, &today) })
}

fn origin<'a>(source: &'a Source, home: Option<&'a str>) -> Origin<'a> {
    Origin { layer: source.layer, path: &source.path, root: source.root.as_deref(), home }
}

/// What one file says.
fn layer(source: &Source, folders: Option<&Folders>, home: Option<&str>, is_given: bool) -> LayerRules {
    let untrusted = LayerRules { trusted: !source.needs_trust, ..LayerRules::empty(source.layer) };
    let unread = LayerRules { path: Some(source.path.to_string_lossy().into()), ..untrusted };
    match look(source, folders, home) {
        Ok(layer) => layer,
        // Named by hand, it must be there.
        Err(SafeError::Missing(_)) if !(is_given && source.layer == Layer::User) => unread,
        Err(error) => match suspect(source, home, &error) {
            Some(layer) => layer,
            None => LayerRules { present: true, damage: vec![of_error(source, &error)], ..unread },
        },
    }
}

/// The file's reading, cached or new, with its trust.
fn look(source: &Source, folders: Option<&Folders>, home: Option<&str>) -> Result<LayerRules, SafeError> {
    let (_, metadata) = safe::open(&source.path, source.owner)?;
    let cached =
        folders.and_then(|folders| cache::find(folders, &source.path, source.layer, &Stamp::of(&metadata)));
    let (hash, mut layer) = match cached {
        Some(cached) => (cached.hash, cached.layer),
        None => {
            let (content, metadata) = safe::read(&source.path, source.owner)?;
            let (hash, layer) = (crate::store::hash(&content), reading(source, home, &content));
            if let Some(folders) = folders {
                // What is not kept is read again next time.
                let cached = Cached::new(&source.path, Stamp::of(&metadata), &hash, &layer);
                let _ = cache::keep(folders, &cached, SystemTime::now());
            }
            (hash, layer)
        }
    };
    layer.layer = source.layer;
    layer.hash = Some(hash.as_str().into());
    let trusted = |folders| trust::is_trusted(folders, &source.path, &hash).unwrap_or(false);
    layer.trusted = !source.needs_trust || folders.is_some_and(trusted);
    Ok(layer)
}

fn reading(source: &Source, home: Option<&str>, content: &[u8]) -> LayerRules {
    let origin = origin(source, home);
    match std::str::from_utf8(content) {
        // Whoever has nothing to say has no file: this one was cut, and what it refused is lost.
        Ok("") => {
            let mut layer = read("", &origin).layer;
            let report = Report::of_file("the file is empty", &source.path.to_string_lossy());
            layer.damage.push(report.help("put it back as it was, delete it, or write a comment into it"));
            layer
        }
        Ok(text) => read(text, &origin).layer,
        Err(error) => {
            // What comes before the stray byte can still refuse.
            let text = content.get(..error.valid_up_to()).unwrap_or_default();
            let mut layer = read(&String::from_utf8_lossy(text), &origin).layer;
            let title = format!("byte {} is no UTF-8", error.valid_up_to());
            layer.damage.insert(0, Report::of_file(title, &source.path.to_string_lossy()));
            layer
        }
    }
}

/// A file that others could have written: what it refuses holds, what it allows does not.
fn suspect(source: &Source, home: Option<&str>, error: &SafeError) -> Option<LayerRules> {
    if !matches!(error, SafeError::Owner { .. } | SafeError::Writable { .. }) {
        return None;
    }
    let (content, _) = safe::read(&source.path, Owner::Anyone).ok()?;
    let mut layer = reading(source, home, &content);
    layer.damage.insert(0, of_error(source, error));
    layer.trusted = !source.needs_trust;
    Some(layer)
}

fn of_error(source: &Source, error: &SafeError) -> Report {
    Report::of_file(error.to_string(), &source.path.to_string_lossy())
}

/// The real path of a folder; of what does not exist yet, with its deepest existing part resolved.
fn real(folder: &str) -> Option<String> {
    let folder = Path::new(folder);
    let existing = folder.ancestors().find_map(|above| {
        let real = std::fs::canonicalize(above).ok()?;
        Some(real.join(folder.strip_prefix(above).ok()?))
    })?;
    // Joining nothing leaves a slash at the end.
    existing.to_str().map(|path| path.trim_end_matches('/').to_owned())
}
