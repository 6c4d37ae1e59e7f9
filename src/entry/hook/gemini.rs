//! Gemini CLI: `decision` at the top. An `ask` makes it wait without end where nobody sits at it, which it does not
//! tell, so it is never told to.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, input, kind, needs_tool, text};
use super::reply::{Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("BeforeTool", Kind::BeforeTool),
    ("AfterTool", Kind::AfterTool),
    ("BeforeAgent", Kind::Prompt),
    ("AfterAgent", Kind::Other),
    ("BeforeModel", Kind::Other),
    ("AfterModel", Kind::Other),
    ("BeforeToolSelection", Kind::Other),
    ("SessionStart", Kind::Other),
    ("SessionEnd", Kind::Other),
    ("PreCompress", Kind::Other),
    ("Notification", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "hook_event_name").ok_or(Odd::Without("hook_event_name"))?;
    let kind = kind(&name, EVENTS)?;
    let tool = text(value, "tool_name");
    needs_tool(kind, tool.as_ref(), "tool_name")?;
    let context = value.get("mcp_context").cloned().unwrap_or_default();
    let server = text(&context, "server_name").zip(text(&context, "tool_name"));
    let tool = server.map(|(server, tool)| format!("mcp__{server}__{tool}")).or(tool);
    Ok(Event {
        kind,
        name,
        session: text(value, "session_id"),
        cwd: text(value, "cwd"),
        tool: tool.unwrap_or_default(),
        input: input(value, "tool_input"),
        ..Event::default()
    })
}

/// Says a reply.
#[must_use]
pub(super) fn say(_event: &Event, reply: &Reply) -> Said {
    match reply {
        Reply::Silent => Said::default(),
        Reply::Failed(text) => Said::blocked(text),
        Reply::Allow(text) => Said::json(&json!({ "decision": "allow", "reason": text })),
        Reply::Deny { text, .. } | Reply::Ask(text) => {
            Said::json(&json!({ "decision": "deny", "reason": text }))
        }
    }
}
