//! Whether a hook that stands in an agent's files is asked at all: what switches hooks off, who has to trust them, and
//! what the record says of the last time.

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use serde_json::Value;

use super::installed::{Installed, is_word};
use super::matching::Gap;
use super::{Place, State, TRIALS};
use crate::audit::query::{self, Filter};
use crate::commands::doors::{Setting, View};
use crate::policy::agents::{Hook, Known, Layer};

/// What in its settings or its environment switches its hooks off.
pub(super) fn off(agent: &Known, hook: &Hook, (view, found): (&View<'_>, &Installed)) -> Option<Gap> {
    let variable =
        hook.off_variables.iter().find(|name| (view.var)(name).is_some_and(|value| is_set(&value)));
    if let Some(name) = variable {
        return Some((State::Open, format!("${name} switches hooks off")));
    }
    hook.off.iter().find_map(|off| {
        let (key, word) = off.split_once(" = ")?;
        let (owners, key) = key.strip_prefix("managed ").map_or((false, key), |key| (true, key));
        let key: Vec<&str> = key.split('/').collect();
        let managed = found.layer == Some(Layer::Managed);
        let counts = |setting: &Setting| {
            let theirs = setting.layer == Layer::Managed;
            // What only leaves the hooks of the machine's owner leaves one of ours in his file.
            let reaches = if owners { theirs && !managed } else { theirs || !managed };
            reaches && (is_word(Some(&setting.value), word) || names_hooks(&setting.value))
        };
        let setting = view.settings(agent, &key).into_iter().find(counts)?;
        let (key, file) = (key.join("."), setting.file.display());
        Some((State::Open, format!("{key} = {} in {file} switches hooks off", setting.value)))
    })
}

fn is_set(value: &str) -> bool {
    !matches!(value, "" | "0" | "false")
}

/// A list of what is limited, with hooks in it.
fn names_hooks(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().any(|item| item == "hooks"))
}

/// Why the agent would not run a hook that it asks its user to trust first.
pub(super) fn untrusted(agent: &Known, hook: &Hook, (view, found): (&View<'_>, &Installed)) -> Option<Gap> {
    if hook.trusted.is_empty() {
        return None;
    }
    let names = names(hook, found);
    let settings = view.settings(agent, hook.trusted);
    let states = settings.iter().flat_map(|setting| {
        names.iter().filter_map(|name| Some((setting.file.as_path(), setting.value.get(name)?)))
    });
    let mut open = format!("nobody trusted it yet ({})", hook.trust.unwrap_or_default());
    for (file, state) in states {
        let hash = state.get("trusted_hash").and_then(Value::as_str).unwrap_or_default();
        if state.get("enabled").and_then(Value::as_bool) == Some(false) {
            open = format!("it is switched off in {}", file.display());
        } else if !hash.is_empty() {
            let later = changed(&found.file).zip(changed(file)).is_some_and(|(own, trust)| own > trust);
            let why = "it changed after it was trusted, and may have to be trusted again".to_owned();
            return later.then_some((State::Unknown, why));
        }
    }
    Some((State::Open, open))
}

/// What the agent calls this hook: the file, the event, and its places.
fn names(hook: &Hook, found: &Installed) -> Vec<String> {
    let event = hook.key.last().copied().unwrap_or_default();
    let mut snake = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    let (group, own) = found.place;
    let real = fs::canonicalize(&found.file).unwrap_or_else(|_| found.file.clone());
    let name = |file: &Path| format!("{}:{snake}:{group}:{own}", file.display());
    vec![name(&found.file), name(&real)]
}

fn changed(file: &Path) -> Option<Timestamp> {
    Timestamp::try_from(fs::metadata(file).ok()?.modified().ok()?).ok()
}

/// When the agent asked its hook last since the hook's file was written, by the record. What a doctor tried is left
/// out.
pub(super) fn last_asked(agent: &Known, found: &Installed, place: &Place<'_>) -> Option<String> {
    let since = changed(&found.file)?.to_string();
    let filter = Filter { since: Some(since), agent: Some(agent.name.to_owned()), ..Filter::default() };
    let entries = query::read(&place.folders.state.join("audit"), &filter).ok()?;
    let tried = |session: Option<&str>| session.is_some_and(|session| session.starts_with(TRIALS));
    let asked = |entry: &&query::Entry| entry.entry == "hook" && !tried(entry.session.as_deref());
    entries.iter().rev().find(asked).map(|entry| entry.time.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::agents::{Format, Settings, named};

    /// Claude Code, with its files in a folder of ours.
    fn claude(folder: &Path) -> Known {
        let place = |layer, name: &str| Settings {
            layer,
            path: Box::leak(folder.join(name).display().to_string().into_boxed_str()),
            format: Format::Json,
        };
        let settings = [place(Layer::Managed, "managed.json"), place(Layer::User, "user.json")];
        Known { settings: Box::leak(Box::new(settings)), ..*named("claude").expect("known") }
    }

    #[test]
    fn what_switches_hooks_off() {
        let own = Some(Layer::User);
        let owners = Some(Layer::Managed);
        for (managed, user, variable, layer, is_off) in [
            ("{}", "{}", None, own, false),
            ("{}", "{\"disableAllHooks\":true}", None, own, true),
            ("{}", "{\"disableAllHooks\":false}", None, own, false),
            ("{\"disableAllHooks\":true}", "{}", None, own, true),
            ("{\"disableAllHooks\":true}", "{}", None, owners, true),
            ("{}", "{\"disableAllHooks\":true}", None, owners, false),
            ("{\"allowManagedHooksOnly\":true}", "{}", None, own, true),
            ("{\"allowManagedHooksOnly\":true}", "{}", None, owners, false),
            // Only the machine's owner can say that.
            ("{}", "{\"allowManagedHooksOnly\":true}", None, own, false),
            ("{\"strictPluginOnlyCustomization\":true}", "{}", None, own, true),
            ("{\"strictPluginOnlyCustomization\":[\"hooks\"]}", "{}", None, own, true),
            ("{\"strictPluginOnlyCustomization\":[\"skills\"]}", "{}", None, own, false),
            ("{}", "{}", Some("CLAUDE_CODE_SIMPLE"), own, true),
            ("{}", "{}", Some("CLAUDE_CODE_SAFE_MODE"), own, true),
            ("{}", "{}", Some("CLAUDE_CODE_OTHER"), own, false),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            fs::write(folder.path().join("managed.json"), managed).expect("written");
            fs::write(folder.path().join("user.json"), user).expect("written");
            let agent = claude(folder.path());
            let var = |name: &str| (Some(name) == variable).then(|| "1".to_owned());
            let view = View { var: &var, home: folder.path(), project: None, passwd: None };
            let found = Installed {
                file: folder.path().join("user.json"),
                layer,
                command: String::new(),
                holds: true,
                place: (0, 0),
                gap: None,
            };
            let hook = agent.hook.expect("a hook");
            let off = off(&agent, &hook, (&view, &found));
            assert_eq!(off.is_some(), is_off, "{managed} {user} {variable:?} {layer:?}: {off:?}");
        }
    }
}
