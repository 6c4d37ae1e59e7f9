//! The door that a hook is: found in the agent's files, and asked as the agent asks.

use serde_json::Value;

use super::event::event;
use super::installed::{Installed, installed};
use super::proof::{Proof, Trial, first_line};
use super::{Door, Place, State, active, plugin};
use crate::commands::doors::View;
use crate::policy::agents::{Form, Hook, Known};
use crate::sys::child::Captured;
use crate::sys::process::Ended;

/// The hook's door; None for an agent without one.
pub(super) fn door(agent: &Known, view: &View<'_>, place: &Place<'_>) -> Option<Door> {
    let hook = agent.hook.as_ref()?;
    let found = installed(agent, hook, view);
    if hook.ignored.is_some() && found.is_none() {
        return None;
    }
    let Some(found) = found else {
        let by = "no hook of gsh's in its files".to_owned();
        return Some(Door { by, ..Door::new("hook", State::Open) });
    };
    let (mut by, holds) = (found.file.display().to_string(), Some(found.holds));
    let asked = active::last_asked(agent, &found, place);
    let ignored = hook.ignored.filter(|_| asked.is_none()).map(|why| (State::Open, why.to_owned()));
    let gap = ignored.or_else(|| active::off(agent, hook, (view, &found))).or_else(|| found.gap.clone());
    // What it did is worth more than what stands in its files.
    let gap = gap.or_else(|| active::untrusted(agent, hook, (view, &found)).filter(|_| asked.is_none()));
    if let Some((state, why)) = gap {
        return Some(Door { by: format!("{by}: {why}"), holds, asked, ..Door::new("hook", state) });
    }
    let proof = tried(agent, hook, &found, place);
    let state = match (&proof, hook.form) {
        (Some(proof), Form::Plugin) if proof.denied && asked.is_none() => State::Unknown,
        (Some(proof), _) => proof.state(),
        (None, _) if asked.is_some() => State::Closed,
        (None, _) => State::Unknown,
    };
    if hook.form == Form::Plugin && asked.is_none() {
        by.push_str(&plugin::unseen(agent, proof.is_some()));
    }
    Some(Door { by, holds, asked, proof, ..Door::new("hook", state) })
}

fn tried(agent: &Known, hook: &Hook, found: &Installed, place: &Place<'_>) -> Option<Proof> {
    match hook.form {
        Form::Plugin => plugin::proof(agent, &found.file, place),
        _ => Some(proof(agent, hook, &found.command, place)),
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
