//! The door that a hook is: found in the agent's files, and asked as the agent asks.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::matching::{self, Gap};
use super::proof::{Proof, Trial, first_line};
use super::{Door, Place, State, plugin};
use crate::commands::doors::View;
use crate::config::agent_settings::{is_ours, value_at};
use crate::policy::agents::{Form, Format, Hook, Known};
use crate::syntax::quote;
use crate::sys::child::Captured;
use crate::sys::process::Ended;

/// The hook's door; None for an agent without one.
pub(super) fn door(agent: &Known, view: &View<'_>, place: &Place<'_>) -> Option<Door> {
    let hook = agent.hook.as_ref()?;
    let found = installed(agent, hook, view);
    if hook.ignored.is_some() && found.is_none() {
        return None;
    }
    let Some(Installed { file, command, holds, gap }) = found else {
        let by = "no hook of gsh's in its files".to_owned();
        return Some(Door { door: "hook", state: State::Open, by, holds: None, proof: None });
    };
    let (by, holds) = (file.display().to_string(), Some(holds));
    let ignored = hook.ignored.map(|why| (State::Open, why.to_owned()));
    if let Some((state, why)) = ignored.or_else(|| off(agent, hook, view)).or(gap) {
        return Some(Door { door: "hook", state, by: format!("{by}: {why}"), holds, proof: None });
    }
    let proof = proof(agent, hook, &command, place);
    let state = proof.state();
    Some(Door { door: "hook", state, by, holds, proof: Some(proof) })
}

/// A hook of ours in an agent's files.
struct Installed {
    file: PathBuf,
    command: String,
    /// It says that a failure refuses.
    holds: bool,
    /// Why it is not asked about every command, though it is there.
    gap: Option<Gap>,
}

/// The one that is asked about every command, if there is one, else the first.
fn installed(agent: &Known, hook: &Hook, view: &View<'_>) -> Option<Installed> {
    let settings = agent.settings.iter().map(|settings| settings.path);
    let own: Vec<&str> = hook.project.into_iter().chain(hook.user).collect();
    let files: Vec<&str> = if own.is_empty() { settings.collect() } else { own };
    let end = format!(" hook {}", hook.dialect);
    let files = files.into_iter().filter_map(|path| view.file(path));
    let mut all = files.flat_map(|file| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        held(hook, &file, (&text, view), &end)
    });
    let first = all.next()?;
    if first.gap.is_none() { Some(first) } else { all.find(|found| found.gap.is_none()).or(Some(first)) }
}

/// The hooks of ours that a file holds.
fn held(hook: &Hook, file: &Path, (text, view): (&str, &View<'_>), end: &str) -> Vec<Installed> {
    let whole = |command: String, holds| vec![Installed { file: file.into(), command, holds, gap: None }];
    match hook.form {
        Form::Program if text.contains(end) => return whole(file.display().to_string(), false),
        Form::Plugin if text.contains("gsh") => return vec![of_plugin(file, (text, view), end)],
        Form::Program | Form::Plugin => return vec![],
        _ => {}
    }
    let value = value_at(Format::Json, text, hook.key).unwrap_or_default();
    let block = hook.block.and_then(|block| block.split_once(" = "));
    let mut all = vec![];
    for group in value.as_array().into_iter().flatten() {
        for own in matching::of(group, end) {
            let Some(command) = command(own, end) else { continue };
            let holds = block.is_some_and(|(name, word)| is_word(own.get(name), word));
            all.push(Installed { file: file.into(), command, holds, gap: matching::gap(hook, group, own) });
        }
    }
    all
}

/// A plugin of ours asks as a command would, and throws whatever happens.
fn of_plugin(file: &Path, (text, view): (&str, &View<'_>), end: &str) -> Installed {
    let program = plugin::program(text);
    let edited = "it is not the plugin that this gsh writes: set it up again with `gsh init`";
    let gap = program.is_none().then(|| (State::Unknown, edited.to_owned()));
    let program = (view.var)("GSH_PROGRAM").filter(|own| !own.is_empty()).or(program);
    let command = format!("{}{end}", quote(&program.unwrap_or_default()));
    Installed { file: file.into(), command, holds: gap.is_none(), gap }
}

/// What in its settings, or its environment (`$NAME`), switches its hooks off.
fn off(agent: &Known, hook: &Hook, view: &View<'_>) -> Option<Gap> {
    let variables = hook.off.iter().filter_map(|off| off.strip_prefix('$'));
    let set = |name: &&str| (view.var)(name).is_some_and(|value| !value.is_empty());
    if let Some(name) = variables.into_iter().find(set) {
        return Some((State::Open, format!("${name} switches it off")));
    }
    hook.off.iter().filter_map(|off| off.split_once(" = ")).find_map(|(key, word)| {
        let key: Vec<&str> = key.split('/').collect();
        let found = view.settings(agent, &key).into_iter().find(|found| is_word(Some(&found.value), word))?;
        Some((
            State::Open,
            format!("{} = {word} in {} switches hooks off", key.join("."), found.file.display()),
        ))
    })
}

fn is_word(value: Option<&Value>, word: &str) -> bool {
    value.map(Value::to_string).as_deref() == Some(word)
}

/// The text in an entry of ours that ends so.
fn command(value: &Value, end: &str) -> Option<String> {
    match value {
        Value::String(text) => is_ours(value, end).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(|item| command(item, end)),
        Value::Object(entries) => entries.values().find_map(|item| command(item, end)),
        _ => None,
    }
}

fn proof(agent: &Known, hook: &Hook, command: &str, place: &Place<'_>) -> Proof {
    let trial = Trial::new(agent, place);
    let argv = || ["sh", "-c", command].map(Into::into).to_vec();
    let ask = |text: &str| {
        let event = event(hook, text, &trial.session, place).to_string();
        trial.run("/bin/sh".into(), argv(), Some(&event))
    };
    let (refused, plain) = (ask(&trial.refused()), ask(&format!("echo {}", trial.session)));
    let said =
        refused.as_ref().map(|run| first_line(if run.stdout.is_empty() { &run.stderr } else { &run.stdout }));
    let recorded = trial.records().map(|entries| entries.iter().any(|entry| entry.verdict == "deny"));
    Proof {
        tried: vec!["/bin/sh".to_owned(), "-c".to_owned(), command.to_owned()],
        denied: refused.as_ref().is_some_and(refuses),
        ran: plain.as_ref().is_some_and(|run| run.ended == Some(Ended::Status(0)) && !refuses(run)),
        recorded,
        said: said.unwrap_or_default(),
    }
}

/// Whether an agent would take this answer for a refusal: status 2, or one of the words for it.
fn refuses(run: &Captured) -> bool {
    if run.ended == Some(Ended::Status(2)) {
        return true;
    }
    let answer: Value = serde_json::from_slice(&run.stdout).unwrap_or_default();
    let at = |path: &str| answer.pointer(path).and_then(Value::as_str);
    let words = ["/hookSpecificOutput/permissionDecision", "/permissionDecision", "/permission", "/decision"];
    words.iter().any(|path| matches!(at(path), Some("deny" | "block")))
        || answer.pointer("/cancel").and_then(Value::as_bool) == Some(true)
}

/// What the agent would tell its hook.
fn event(hook: &Hook, command: &str, session: &str, place: &Place<'_>) -> Value {
    let cwd = place.project.map_or_else(|| "/".to_owned(), |root| root.display().to_string());
    let tool = hook.tool.unwrap_or("Bash");
    match hook.form {
        Form::Copilot => json!({
            "sessionId": session, "timestamp": 0, "cwd": cwd, "toolName": tool, "toolArgs": { "command": command },
        }),
        Form::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": session, "generation_id": session,
            "workspace_roots": [cwd], "command": command, "cwd": cwd,
        }),
        Form::Windsurf => json!({
            "agent_action_name": "pre_run_command", "trajectory_id": session,
            "tool_info": { "command_line": command, "cwd": cwd },
        }),
        Form::Program => json!({
            "clineVersion": "0", "timestamp": "0", "taskId": session, "hookName": "tool_call", "iteration": 1,
            "workspaceRoots": [cwd],
            "tool_call": { "id": "doctor", "name": "run_commands", "input": { "commands": [command] } },
            "preToolUse": { "toolName": "run_commands", "parameters": { "commands": [command] } },
        }),
        Form::Crush => json!({
            "event": "PreToolUse", "session_id": session, "cwd": cwd, "tool_name": tool,
            "tool_input": { "command": command },
        }),
        Form::Plugin => json!({
            "event": "tool.execute.before", "tool": tool, "session": session, "call": "doctor",
            "args": { "command": command }, "directory": cwd,
        }),
        Form::Matched | Form::Listed => json!({
            "session_id": session, "transcript_path": "", "cwd": cwd, "turn_id": session,
            "permission_mode": "default", "hook_event_name": hook.key.last().copied().unwrap_or("PreToolUse"),
            "tool_name": tool, "tool_input": { "command": command }, "tool_use_id": "doctor",
        }),
    }
}
