//! Windsurf: an action for each kind of tool, and a refusal by status alone.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, first, kind, text};
use super::reply::{Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("pre_run_command", Kind::BeforeTool),
    ("pre_read_code", Kind::BeforeTool),
    ("pre_write_code", Kind::BeforeTool),
    ("pre_mcp_tool_use", Kind::BeforeTool),
    ("pre_user_prompt", Kind::Prompt),
    ("post_run_command", Kind::AfterTool),
    ("post_read_code", Kind::AfterTool),
    ("post_write_code", Kind::AfterTool),
    ("post_mcp_tool_use", Kind::AfterTool),
    ("post_cascade_response", Kind::Other),
    ("post_setup_worktree", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "agent_action_name").ok_or(Odd::Without("agent_action_name"))?;
    let kind = kind(&name, EVENTS)?;
    let info = value.get("tool_info").cloned().unwrap_or_default();
    let server = || {
        let (server, tool) = text(&info, "mcp_server_name").zip(text(&info, "mcp_tool_name"))?;
        Some(format!("mcp__{server}__{tool}"))
    };
    let (tool, given) = match name.as_str() {
        "pre_run_command" => (Some("run_command".to_owned()), json!({ "command": info.get("command_line") })),
        "pre_read_code" => (Some("read".to_owned()), info.clone()),
        "pre_write_code" => (Some("edit".to_owned()), info.clone()),
        "pre_mcp_tool_use" => (server(), info.get("mcp_tool_arguments").cloned().unwrap_or_default()),
        _ => (None, Value::Null),
    };
    if kind.decides() && (tool.is_none() || !info.is_object()) {
        return Err(Odd::Without("tool_info"));
    }
    Ok(Event {
        kind,
        name,
        session: text(value, "trajectory_id"),
        call: first(value, &["execution_id"]),
        cwd: text(&info, "cwd"),
        tool: tool.unwrap_or_default(),
        input: given,
        ..Event::default()
    })
}

/// Says a reply.
#[must_use]
pub(super) fn say(_event: &Event, reply: &Reply) -> Said {
    match reply {
        Reply::Silent | Reply::Allow(_) => Said::default(),
        Reply::Deny { text, .. } | Reply::Ask(text) | Reply::Failed(text) => Said::blocked(text),
    }
}
