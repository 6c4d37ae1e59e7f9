//! What `gsh doctor` says of the agent, with its door and without.

use serde_json::Value;

use super::inside::{GSH, Stage};
use super::table::Door;

/// With the door every one of the agent's is closed; a hook that it never asks closes nothing.
pub(crate) fn with(stage: &Stage) -> Result<(), String> {
    let name = stage.client.name.as_str();
    let unasked = stage.door == Door::Hook && !stage.client.unasked.is_empty();
    let found = match stage.door {
        Door::Wrap => stage.json(&["wrap", "--agent", name, "--", GSH, "doctor", name, "--json"]),
        _ => stage.json(&["doctor", name, "--json"]),
    };
    is(found, unasked)
}

/// Without it the agent's commands pass by.
pub(crate) fn without(stage: &Stage) -> Result<(), String> {
    let name = stage.client.name.as_str();
    if stage.door != Door::Wrap && stage.client.unasked.is_empty() {
        stage.person(&["init", name, "--undo", "--yes"])?;
    }
    is(stage.json(&["doctor", name, "--json"]), true)
}

fn is(found: Option<Value>, open: bool) -> Result<(), String> {
    let found = found.ok_or("doctor says nothing")?;
    let agent = &found["agents"][0];
    // That opencode loads its plugin shows once it ran a command.
    let stands = |door: &Value| door["state"] == "unknown" && door["holds"] == true;
    let unknown = !open && agent["doors"].as_array().is_some_and(|doors| doors.iter().any(stands));
    if agent["open"] == open || unknown { Ok(()) } else { Err(format!("not what is so: {agent}")) }
}
