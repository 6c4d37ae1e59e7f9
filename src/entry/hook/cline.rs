//! Cline: its exit statuses do not block, and `cancel` ends the whole run. Its command line client takes another
//! input instead: then a refused command becomes one that only says so.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, input, kind, needs_tool, text};
use super::reply::{Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("tool_call", Kind::BeforeTool),
    ("PreToolUse", Kind::BeforeTool),
    ("tool_result", Kind::AfterTool),
    ("PostToolUse", Kind::AfterTool),
    ("UserPromptSubmit", Kind::Prompt),
    ("prompt_submit", Kind::Prompt),
    ("TaskStart", Kind::Other),
    ("TaskResume", Kind::Other),
    ("TaskCancel", Kind::Other),
    ("TaskComplete", Kind::Other),
    ("PreCompact", Kind::Other),
    ("agent_start", Kind::Other),
    ("agent_end", Kind::Other),
    ("agent_abort", Kind::Other),
    ("agent_error", Kind::Other),
    ("session_shutdown", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "hookName").ok_or(Odd::Without("hookName"))?;
    let kind = kind(&name, EVENTS)?;
    let call = value.get("tool_call").cloned().unwrap_or_default();
    let before = value.get("preToolUse").cloned().unwrap_or_default();
    let of_client = text(&call, "name").is_some();
    let (tool, given) = match text(&call, "name") {
        Some(tool) => (Some(tool), input(&call, "input")),
        None => (text(&before, "toolName"), input(&before, "parameters")),
    };
    needs_tool(kind, tool.as_ref(), "tool_call")?;
    let root = value.get("workspaceRoots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    Ok(Event {
        transcript: None,
        kind,
        name,
        session: text(value, "taskId"),
        call: text(&call, "id"),
        cwd: root.map(str::to_owned),
        replaces: (of_client && given.get("commands").is_some()).then_some("commands"),
        tool: tool.unwrap_or_default(),
        input: given,
        asks: false,
    })
}

/// Says a reply.
#[must_use]
pub(super) fn say(event: &Event, reply: &Reply) -> Said {
    match reply {
        Reply::Silent | Reply::Allow(_) => Said::json(&json!({ "cancel": false })),
        Reply::Deny { text, floor: false } | Reply::Ask(text) if event.replaces.is_some() => {
            let key = event.replaces.unwrap_or_default();
            Said::json(&json!({ "cancel": false, "overrideInput": { key: [instead(text)] } }))
        }
        Reply::Deny { text, .. } | Reply::Ask(text) | Reply::Failed(text) => {
            Said::json(&json!({ "cancel": true, "errorMessage": text }))
        }
    }
}

/// A command that says the refusal where the refused one would have run, and ends as a refused one does.
fn instead(text: &str) -> String {
    format!("printf '%s\\n' {} >&2; exit 126", crate::syntax::quote(text))
}
