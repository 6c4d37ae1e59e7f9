//! opencode and Amp, through the plugins of `shell-integration/`: a form of our own.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, input, kind, needs_tool, text};
use super::reply::{Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("tool.execute.before", Kind::BeforeTool),
    ("tool.call", Kind::BeforeTool),
    ("tool.execute.after", Kind::AfterTool),
    ("chat.message", Kind::Prompt),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "event").ok_or(Odd::Without("event"))?;
    let kind = kind(&name, EVENTS)?;
    let tool = text(value, "tool");
    needs_tool(kind, tool.as_ref(), "tool")?;
    Ok(Event {
        kind,
        name,
        session: text(value, "session"),
        call: text(value, "call"),
        cwd: text(value, "directory"),
        tool: tool.unwrap_or_default(),
        input: input(value, "args"),
        ..Event::default()
    })
}

/// Says a reply. Whatever is not exactly an allow, the plugin takes for a refusal.
#[must_use]
pub(super) fn say(_event: &Event, reply: &Reply) -> Said {
    match reply {
        Reply::Silent | Reply::Allow(_) => Said::json(&json!({ "decision": "allow" })),
        Reply::Deny { text, .. } | Reply::Ask(text) | Reply::Failed(text) => {
            Said::blocked_with(text, &json!({ "decision": "deny", "reason": text }))
        }
    }
}
