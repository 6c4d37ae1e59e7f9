//! Cursor: an event for each kind of tool, and `permission` at the top. Only before a command and before a tool of a
//! server does it ask where it is told to.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, first, input, kind, needs_tool, text};
use super::reply::{BLOCKED, Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("beforeShellExecution", Kind::BeforeTool),
    ("beforeMCPExecution", Kind::BeforeTool),
    ("beforeReadFile", Kind::BeforeTool),
    ("beforeTabFileRead", Kind::BeforeTool),
    ("preToolUse", Kind::BeforeTool),
    ("subagentStart", Kind::BeforeTool),
    ("afterShellExecution", Kind::AfterTool),
    ("afterMCPExecution", Kind::AfterTool),
    ("afterFileEdit", Kind::AfterTool),
    ("afterTabFileEdit", Kind::AfterTool),
    ("postToolUse", Kind::AfterTool),
    ("postToolUseFailure", Kind::AfterTool),
    ("beforeSubmitPrompt", Kind::Prompt),
    ("afterAgentResponse", Kind::Other),
    ("afterAgentThought", Kind::Other),
    ("subagentStop", Kind::Other),
    ("sessionStart", Kind::Other),
    ("sessionEnd", Kind::Other),
    ("preCompact", Kind::Other),
    ("stop", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let name = text(value, "hook_event_name").ok_or(Odd::Without("hook_event_name"))?;
    let kind = kind(&name, EVENTS)?;
    let (tool, given) = match name.as_str() {
        "beforeShellExecution" => (Some("Shell".to_owned()), value.clone()),
        "beforeReadFile" | "beforeTabFileRead" => (Some("Read".to_owned()), path_of(value)),
        "beforeMCPExecution" => (text(value, "tool_name").map(server), input(value, "tool_input")),
        "subagentStart" => (Some("Task".to_owned()), value.clone()),
        _ => (text(value, "tool_name").map(of_server), input(value, "tool_input")),
    };
    needs_tool(kind, tool.as_ref(), "tool_name")?;
    let root = value.get("workspace_roots").and_then(|roots| roots.get(0)).and_then(Value::as_str);
    Ok(Event {
        transcript: None,
        kind,
        session: text(value, "conversation_id"),
        call: first(value, &["tool_use_id", "generation_id"]),
        cwd: text(value, "cwd").or_else(|| root.map(str::to_owned)),
        tool: tool.unwrap_or_default(),
        input: given,
        asks: matches!(name.as_str(), "beforeShellExecution" | "beforeMCPExecution"),
        name,
        replaces: None,
    })
}

/// The path alone: the content of what is read is nobody's here.
fn path_of(value: &Value) -> Value {
    json!({ "file_path": value.get("file_path") })
}

/// The same where a name says that it is one.
fn of_server(tool: String) -> String {
    if tool.starts_with("MCP:") { server(tool) } else { tool }
}

/// A tool of a server, by the name that rules have for such.
fn server(tool: String) -> String {
    let tool = tool.strip_prefix("MCP:").map(str::to_owned).unwrap_or(tool);
    if tool.starts_with("mcp__") { tool } else { format!("mcp__cursor__{tool}") }
}

/// Says a reply.
#[must_use]
pub(super) fn say(_event: &Event, reply: &Reply) -> Said {
    let said = |word: &str, text: &str| {
        Said::json(&json!({ "permission": word, "user_message": text, "agent_message": text }))
    };
    match reply {
        Reply::Silent => Said::default(),
        Reply::Allow(_) => Said::json(&json!({ "permission": "allow" })),
        Reply::Ask(text) => said("ask", text),
        Reply::Deny { text, .. } => said("deny", text),
        Reply::Failed(text) => Said { stderr: format!("{text}\n"), status: BLOCKED, ..said("deny", text) },
    }
}
