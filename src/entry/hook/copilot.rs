//! Copilot CLI: camel case, and `permissionDecision` at the top. Its events before a tool have no name in them.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, first, input, kind, needs_tool, text};
use super::reply::{BLOCKED, Reply, Said};

const EVENTS: &[(&str, Kind)] = &[
    ("preToolUse", Kind::BeforeTool),
    ("permissionRequest", Kind::Permission),
    ("postToolUse", Kind::AfterTool),
    ("postToolUseFailure", Kind::AfterTool),
    ("userPromptSubmitted", Kind::Prompt),
    ("sessionStart", Kind::Other),
    ("sessionEnd", Kind::Other),
    ("agentStop", Kind::Other),
    ("subagentStart", Kind::Other),
    ("subagentStop", Kind::Other),
    ("errorOccurred", Kind::Other),
    ("preCompact", Kind::Other),
    ("notification", Kind::Other),
];

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    let tool = text(value, "toolName");
    let has = |key: &str| value.get(key).is_some_and(|value| !value.is_null());
    let (name, kind) = match first(value, &["hookName", "hookEventName", "eventName", "event"]) {
        Some(name) => {
            let kind = kind(&name, EVENTS)?;
            (name, kind)
        }
        None if tool.is_some() && (has("toolResult") || has("error")) => {
            ("postToolUse".into(), Kind::AfterTool)
        }
        None if tool.is_some() => ("preToolUse".into(), Kind::BeforeTool),
        None if has("prompt") => ("userPromptSubmitted".into(), Kind::Prompt),
        None if ["source", "reason", "error", "stopReason", "agentName", "trigger"].into_iter().any(has) => {
            ("another".into(), Kind::Other)
        }
        None => return Err(Odd::Without("toolName")),
    };
    needs_tool(kind, tool.as_ref(), "toolName")?;
    Ok(Event {
        transcript: None,
        kind,
        name,
        session: text(value, "sessionId"),
        call: first(value, &["toolCallId", "toolUseId"]),
        cwd: text(value, "cwd"),
        tool: tool.unwrap_or_default(),
        input: input(value, "toolArgs"),
        asks: true,
        replaces: None,
    })
}

/// Says a reply.
#[must_use]
pub(super) fn say(event: &Event, reply: &Reply) -> Said {
    if event.kind == Kind::Permission {
        return match reply {
            Reply::Allow(_) => Said::json(&json!({ "behavior": "allow" })),
            Reply::Silent | Reply::Ask(_) => Said::default(),
            Reply::Deny { text, .. } | Reply::Failed(text) => {
                Said::json(&json!({ "behavior": "deny", "message": text }))
            }
        };
    }
    let said = |word: &str, text: &str| {
        Said::json(&json!({ "permissionDecision": word, "permissionDecisionReason": text }))
    };
    match reply {
        Reply::Silent => Said::default(),
        Reply::Allow(text) => said("allow", text),
        Reply::Ask(text) => said("ask", text),
        Reply::Deny { text, .. } => said("deny", text),
        // The model is not shown what stands on standard error; the status refuses whatever is read.
        Reply::Failed(text) => Said { stderr: format!("{text}\n"), status: BLOCKED, ..said("deny", text) },
    }
}
