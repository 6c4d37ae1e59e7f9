//! Crush: Claude Code's fields under `event`, and `decision` at the top. What its sub-agents do it tells no hook.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, input, kind, needs_tool, text};
use super::reply::{Reply, Said};

/// In small letters, without underscores: it takes any spelling.
const EVENTS: &[(&str, Kind)] = &[
    ("pretooluse", Kind::BeforeTool),
    ("posttooluse", Kind::AfterTool),
    ("posttoolusefailure", Kind::AfterTool),
    ("permissionrequest", Kind::Other),
    ("permissionresult", Kind::Other),
    ("sessionstart", Kind::Other),
    ("sessionend", Kind::Other),
    ("turnstart", Kind::Prompt),
    ("turnend", Kind::Other),
    ("stopfailure", Kind::Other),
    ("interrupt", Kind::Other),
    ("precompact", Kind::Other),
    ("postcompact", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "event").ok_or(Odd::Without("event"))?;
    let kind = kind(&name.replace('_', "").to_ascii_lowercase(), EVENTS)?;
    let tool = text(value, "tool_name");
    needs_tool(kind, tool.as_ref(), "tool_name")?;
    Ok(Event {
        kind,
        name,
        session: text(value, "session_id"),
        call: text(value, "tool_call_id"),
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
        Reply::Allow(_) => Said::json(&json!({ "decision": "allow" })),
        Reply::Deny { text, .. } | Reply::Ask(text) => {
            Said::json(&json!({ "decision": "deny", "reason": text }))
        }
    }
}
