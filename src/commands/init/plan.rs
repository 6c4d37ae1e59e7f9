//! What is to be done for an agent, from what is known of it.

use std::path::PathBuf;

use serde_json::Value;

use super::{Call, Door, NotSetUp, Place, hook};
use crate::config::agent_settings::{Edit, Kind, value_at};
use crate::entry::hook::of as hook_dialect;
use crate::policy::agents::{Format, Hook, Known, Layer, Names, Settings, Source};
use crate::store::places::Folders;

/// What is to be done, and what a person should know of it.
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) notes: Vec<String>,
}

/// One file as it is to be.
#[derive(Debug, Clone)]
pub(super) enum Step {
    /// A link.
    Link { at: PathBuf, to: PathBuf },
    /// A file of ours as a whole; `mark` tells an older one of ours.
    Text { at: PathBuf, text: String, mode: u32, mark: &'static str },
    /// Marked lines in a file of the person's own.
    Block { at: PathBuf, block: String },
    /// Places in a settings file.
    Edit { at: PathBuf, format: Format, edits: Vec<Edit>, project: bool },
}

pub(super) fn plan(agent: &Known, call: &Call, place: &Place<'_>) -> Result<Plan, NotSetUp> {
    let mut plan = Plan { steps: vec![], notes: vec![] };
    let by_file = key(agent).is_some();
    let (shell, hook) = match call.door {
        Some(Door::Shell) => (true, false),
        Some(Door::Hook) => (false, true),
        Some(Door::Both) => (true, true),
        None => (by_file, !by_file),
    };
    if shell {
        plan.shell(agent, call, place)?;
    }
    if hook {
        plan.hook(agent, call, place)?;
    }
    if !by_file && !agent.shell.order.is_empty() {
        plan.notes.push(by_start(agent, place.folders));
    }
    plan.notes.extend(agent.silent.iter().map(|silent| format!("know of {}: {silent}", agent.title)));
    plan.notes.push(format!("`gsh doctor {}` proves that it holds", agent.name));
    plan.notes.extend(place.unasked.clone());
    Ok(plan)
}

/// The key of the settings that names the shell.
fn key(agent: &Known) -> Option<&'static [&'static str]> {
    agent.shell.order.iter().find_map(|source| match source {
        Source::Setting(key) => Some(*key),
        _ => None,
    })
}

impl Plan {
    fn shell(&mut self, agent: &Known, call: &Call, place: &Place<'_>) -> Result<(), NotSetUp> {
        let Some(key) = key(agent) else {
            return Err(NotSetUp::NoDoor(match agent.shell.order {
                [] => format!("{} can be given no shell that is known{}", agent.title, else_hook(agent)),
                _ => by_start(agent, place.folders),
            }));
        };
        let file = settings_file(agent, call, place)?;
        let link = place.folders.shell_link();
        let value = Value::from(link.to_string_lossy().into_owned());
        self.shadowed(agent, key, &file, place);
        self.steps.push(Step::Link { at: link, to: place.program.clone() });
        let key = key.iter().map(|part| (*part).to_owned()).collect();
        let edits = vec![Edit { key, value, kind: Kind::Set }];
        let format = file.0.format;
        self.steps.push(Step::Edit { at: file.1, format, edits, project: call.project });
        Ok(())
    }

    /// Says which file holds over the one that is written.
    fn shadowed(&mut self, agent: &Known, key: &[&str], file: &(Settings, PathBuf), place: &Place<'_>) {
        let above = agent.settings.iter().take_while(|settings| **settings != file.0);
        for settings in above {
            let Some(path) = at(settings, place) else { continue };
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            if let Some(value) = value_at(settings.format, &text, key) {
                self.notes.push(format!(
                    "{} says {value} there, and holds over this file: change it as well",
                    path.display()
                ));
            }
        }
    }

    fn hook(&mut self, agent: &Known, call: &Call, place: &Place<'_>) -> Result<(), NotSetUp> {
        let Some(hook) = agent.asked_hook() else {
            return Err(NotSetUp::NoDoor(match agent.shell.order {
                [] if hook_dialect(agent.name).is_some() => format!(
                    "{} is asked by a plugin that gsh does not put into place: see shell-integration/README.md of gsh's source",
                    agent.title
                ),
                [] => format!("{} has no hook or shell setting that is known", agent.title),
                _ if key(agent).is_some() => {
                    format!("{} has no hook that is known; its shell can be set: --door shell", agent.title)
                }
                _ => format!("{}{}", ignored(agent), by_start(agent, place.folders)),
            }));
        };
        let own = if call.project { hook.project } else { hook.user };
        let at = match own {
            Some(path) => resolved(path, place)?,
            None if hook.user.is_none() && hook.project.is_none() => settings_file(agent, call, place)?.1,
            None => {
                let other = if call.project { "--user" } else { "--project" };
                return Err(NotSetUp::NoDoor(format!("{} has that hook with {other} only", agent.title)));
            }
        };
        self.steps.push(hook::step(agent, hook, at, (place, call.project))?);
        self.noted(agent, hook);
        Ok(())
    }

    /// What a person should know of a hook.
    fn noted(&mut self, agent: &Known, hook: &Hook) {
        self.notes.extend(hook.trust.map(|trust| format!("not done yet: {trust}")));
        if hook.matcher.is_some() {
            self.notes.push(
                "it is asked about every tool; [hook] of gsh's configuration says what of that is left to the agent"
                    .to_owned(),
            );
        }
        if !hook.more.is_empty() {
            let other: Vec<&str> = hook.more.iter().filter_map(|(key, _)| key.last().copied()).collect();
            self.notes.push(format!(
                "it has an event for each kind of tool; beside commands it is asked at {}",
                other.join(", ")
            ));
        }
        if hook.block.is_none() {
            let note = format!("a hook of {} that fails or is too slow lets the command run", agent.title);
            self.notes.push(note);
        }
    }
}

/// Why a hook that the agent has is none that helps.
fn ignored(agent: &Known) -> String {
    let why = agent.hook.and_then(|hook| hook.ignored);
    why.map(|why| format!("{why}: a hook would be no door. ")).unwrap_or_default()
}

fn else_hook(agent: &Known) -> &'static str {
    if agent.asked_hook().is_some() { "; its hook can be set: --door hook" } else { "" }
}

/// The settings file of the wanted layer: the one that is there, else the last that is known.
fn settings_file(agent: &Known, call: &Call, place: &Place<'_>) -> Result<(Settings, PathBuf), NotSetUp> {
    let layer = if call.project { Layer::Project } else { Layer::User };
    let mut found = vec![];
    for settings in agent.settings.iter().filter(|settings| settings.layer == layer) {
        found.push((*settings, resolved(settings.path, place)?));
    }
    let there = found.iter().find(|(_, path)| path.exists()).cloned();
    let none = || NotSetUp::NoDoor(format!("{} has no settings file of that kind", agent.title));
    there.or_else(|| found.pop()).ok_or_else(none)
}

fn resolved(path: &str, place: &Place<'_>) -> Result<PathBuf, NotSetUp> {
    if let Some(below) = path.strip_prefix("~/") {
        return Ok(place.folders.home.join(below));
    }
    match place.project {
        Some(root) => Ok(root.join(path)),
        None => Err(NotSetUp::NoDoor("this directory is in no project".to_owned())),
    }
}

/// Where a settings file of an agent is; None for a project's where there is no project.
fn at(settings: &Settings, place: &Place<'_>) -> Option<PathBuf> {
    match settings.layer {
        Layer::Managed => Some(settings.path.into()),
        _ => resolved(settings.path, place).ok(),
    }
}

/// How an agent that no file tells of its shell is pointed at gsh.
fn by_start(agent: &Known, folders: &Folders) -> String {
    let link = folders.shell_link();
    let named = match agent.shell.names {
        Names::Any | Names::NoneOf(_) => "",
        Names::Contains(_) | Names::Stem(_) => " (the name matters)",
    };
    let first = agent.shell.order.first();
    let how = match first {
        Some(Source::Variable(name)) => format!("from ${name} of its own environment{named}"),
        Some(Source::Path(name)) => format!("as `{name}` from PATH"),
        Some(Source::Passwd) => {
            "from your entry in /etc/passwd (gsh is no login shell yet: leave that as it is)".to_owned()
        }
        Some(Source::File(path)) => format!("as {path}, which is built in"),
        Some(Source::Setting(_)) | None => format!("elsewhere than in {}", link.display()),
    };
    let program = agent.programs.first().unwrap_or(&agent.name);
    format!(
        "{} takes its shell {how}; no file of its own changes that. Start it with `gsh wrap -- {program}`, or for good: \
         alias {program}='gsh wrap -- {program}'",
        agent.title
    )
}
