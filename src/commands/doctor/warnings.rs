//! What is wrong with an agent's doors, or easily goes wrong.

use std::fs;
use std::path::Path;

use super::Place;
use crate::ask::sanitize::line as visible;
use crate::commands::doors::{Found, View, Which, is_program, leads_to_gsh};
use crate::commands::wrap::value;
use crate::config::agent_settings::{CannotEdit, apply};
use crate::policy::agents::{Known, Settings, Source};

/// All of them.
pub(super) fn of(
    agent: &Known,
    view: &View<'_>,
    (found, place): (Option<&Found>, &Place<'_>),
) -> Vec<String> {
    let mut all: Vec<String> = vec![];
    if let Some(found) = found {
        all.extend(found.passed.iter().map(|passed| format!("passed over without a word: {passed}")));
        all.extend(version(found, place));
    }
    all.extend(unreadable(agent, view));
    all.extend(shadowed(agent, view));
    all.extend(on_path(agent, view, place));
    all.extend(link(place));
    all.extend(socket(agent, found, place));
    all.extend(other_shells(agent));
    all.extend(sandbox(&fs::read_to_string("/proc/self/status").unwrap_or_default()));
    all.extend(envelopes(agent, place));
    all.iter().map(|warning| visible(warning)).collect()
}

/// The shell is a gsh, but another one.
fn version(found: &Found, place: &Place<'_>) -> Option<String> {
    (leads_to_gsh(&found.path, &place.program) == Which::Other).then(|| {
        let real = fs::canonicalize(&found.path).unwrap_or_default();
        format!("{} leads to another gsh, {}: perhaps an older one", found.path.display(), real.display())
    })
}

/// A file of the agent's settings that is damaged: what it says of a door is not seen here, nor by the agent.
fn unreadable(agent: &Known, view: &View<'_>) -> Vec<String> {
    let told = |settings: &Settings| {
        let file = view.file(settings.path)?;
        let text = fs::read_to_string(&file).ok()?;
        match apply(settings.format, Some(&text), &[]) {
            Err(CannotEdit::Unreadable(why)) => Some(format!("{} cannot be read: {why}", file.display())),
            _ => None,
        }
    };
    agent.settings.iter().filter_map(told).collect()
}

/// A file holds over another that says something else.
fn shadowed(agent: &Known, view: &View<'_>) -> Vec<String> {
    let keys = agent.shell.order.iter().filter_map(|source| match source {
        Source::Setting(key) => Some(*key),
        _ => None,
    });
    let mut all = vec![];
    for key in keys {
        let settings = view.settings(agent, key);
        let Some((first, rest)) = settings.split_first() else { continue };
        for other in rest.iter().filter(|other| other.value != first.value) {
            all.push(format!(
                "{} of {} holds over that of {}, which says {}",
                key.join("."),
                first.file.display(),
                other.file.display(),
                other.value
            ));
        }
    }
    all
}

/// A link to gsh lies on `PATH`, behind another program of its name.
fn on_path(agent: &Known, view: &View<'_>, place: &Place<'_>) -> Option<String> {
    let name = agent.shell.order.iter().find_map(|source| match source {
        Source::Path(name) => Some(*name),
        _ => None,
    })?;
    let path = (view.var)("PATH")?;
    let mut files =
        std::env::split_paths(&path).map(|folder| folder.join(name)).filter(|file| is_program(file));
    let first = files.next().filter(|first| leads_to_gsh(first, &place.program) == Which::No)?;
    let behind = files.find(|file| leads_to_gsh(file, &place.program) != Which::No)?;
    Some(format!("on PATH {} stands before {}, which leads to gsh", first.display(), behind.display()))
}

/// The link that `gsh init` made leads elsewhere by now, or nowhere.
fn link(place: &Place<'_>) -> Option<String> {
    let link = place.folders.shell_link();
    let to = fs::read_link(&link).ok()?;
    let lost = format!("{} leads to {}", link.display(), to.display());
    match leads_to_gsh(&link, &place.program) {
        Which::This => None,
        Which::Other => Some(format!("{lost}, another gsh: set up again with `gsh init`")),
        Which::No => Some(format!("{lost}, which is no gsh any more: set up again with `gsh init`")),
    }
}

/// A bash whose standard input is a socket takes itself for one of rshd where no shell is above it.
fn socket(agent: &Known, found: Option<&Found>, place: &Place<'_>) -> Option<String> {
    let level = value(&place.environment, "SHLVL").and_then(|level| level.parse::<u32>().ok());
    let by_file = found.is_some_and(|found| leads_to_gsh(&found.path, &place.program) == Which::No)
        && value(&place.environment, "BASH_ENV").is_some();
    (agent.shell.socket && by_file && level.unwrap_or_default() == 0).then(|| {
        format!(
            "{} gives bash a socket as standard input: without SHLVL in its environment bash reads ~/.bashrc and not \
             BASH_ENV; gsh wrap sets it",
            agent.title
        )
    })
}

/// A model that may name another shell.
fn other_shells(agent: &Known) -> Option<String> {
    let others = ["/bin/zsh", "/usr/bin/zsh", "/usr/bin/fish"];
    let there = others.iter().find(|path| is_program(path.as_ref()))?;
    agent.shell.others.then(|| {
        format!(
            "the model can ask for {there}: behind a snapshot it is started from gsh, which asks about it; without \
             snapshots it passes by"
        )
    })
}

/// This process is itself shut in.
fn sandbox(status: &str) -> Option<String> {
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let shut = field("Seccomp:") == Some("2") && field("NoNewPrivs:") == Some("1");
    let keeper = fs::read_to_string("/proc/1/comm").unwrap_or_default();
    let own_namespace =
        matches!(keeper.trim(), "bwrap" | "codex" | "codex-linux-san" | "landrun" | "firejail");
    (shut || own_namespace).then(|| {
        "this runs inside a sandbox: sockets, the home and other processes may be out of gsh's reach, so that \
         nobody can be asked from there and records may be lost; look from outside as well"
            .to_owned()
    })
}

/// How many days of records are looked through, of those that have any: today's holds at least what was just tried.
const DAYS: usize = 2;

/// What is built on the editor whose probe is recorded as that of `editor`.
const EDITORS: [&str; 3] = ["cursor", "vscode", "windsurf"];

/// The last records hold a text that this agent puts around a command, and that gsh does not know.
fn envelopes(agent: &Known, place: &Place<'_>) -> Option<String> {
    let folder = place.folders.state.join("audit");
    let files = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort_unstable();
    let last = files.iter().rev().take(DAYS).find_map(|file| last_unknown(agent, file))?;
    let known = agent.checked.map(|version| format!(" (known is that of {version})")).unwrap_or_default();
    Some(format!(
        "{} puts its commands into a text that this gsh does not know{known}, last at {last}: an update may have \
         changed it. gsh judges that text as it stands, and so asks more often; a newer gsh may know it",
        agent.title
    ))
}

/// When the last of a day's records was opened whose text is none that gsh knows of this agent.
fn last_unknown(agent: &Known, file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let own = |name: &str| name == agent.name || name == "editor" && EDITORS.contains(&agent.name);
    let lines = text.lines().rev().filter(|line| line.contains("unrecognised"));
    let mut records = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let last = records.find(|record| {
        let envelope = &record["envelope"];
        envelope["part"] == "unrecognised" && envelope["agent"].as_str().is_some_and(own)
    })?;
    Some(last["time"].as_str().unwrap_or("an unknown time").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sandbox_is_told_by_what_the_kernel_says() {
        assert!(sandbox("NoNewPrivs:\t1\nSeccomp:\t2\n").is_some());
        assert!(sandbox("NoNewPrivs:\t0\nSeccomp:\t2\n").is_none());
    }
}
