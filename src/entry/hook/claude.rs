//! Claude Code, and the agents that took over its form: Qwen Code, Codex, Continue.

use serde_json::{Value, json};

use super::event::{Event, Kind, Odd, input, kind, needs_tool, text};
use super::reply::{Reply, Said};

/// The events of this family.
const EVENTS: &[(&str, Kind)] = &[
    ("PreToolUse", Kind::BeforeTool),
    ("PermissionRequest", Kind::Permission),
    ("PostToolUse", Kind::AfterTool),
    ("PostToolUseFailure", Kind::AfterTool),
    ("PermissionDenied", Kind::AfterTool),
    ("UserPromptSubmit", Kind::Prompt),
    ("SessionStart", Kind::Other),
    ("SessionEnd", Kind::Other),
    ("Stop", Kind::Other),
    ("StopFailure", Kind::Other),
    ("SubagentStart", Kind::Other),
    ("SubagentStop", Kind::Other),
    ("Notification", Kind::Other),
    ("PreCompact", Kind::Other),
    ("PostCompact", Kind::Other),
];

/// Modes in which nobody is sure to be asked, whatever a hook says, each with what happens to a question in it. Every
/// other mode asks a person, and so does one that is not known: it is the agent's dialogue then, as its user set it.
const UNASKED: [&str; 4] = [
    // Claude Code: a model answers.
    "auto",
    // Claude Code: its user wants no questions, and may not sit there.
    "bypassPermissions",
    // Claude Code: refused without a word to anybody, while gsh's queue could still reach a person.
    "dontAsk",
    // Qwen Code: as bypassPermissions.
    "yolo",
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
    let unasked = text(value, "permission_mode").is_some_and(|mode| UNASKED.contains(&mode.as_str()));
    Ok(Event {
        transcript: None,
        asks: !unasked,
        kind,
        name,
        session: text(value, "session_id"),
        call: text(value, "tool_use_id").or_else(|| text(value, "tool_call_id")),
        cwd: text(value, "cwd"),
        tool: tool.unwrap_or_default(),
        input: input(value, "tool_input"),
        replaces: None,
    })
}

/// Says a reply.
#[must_use]
pub(super) fn say(event: &Event, reply: &Reply) -> Said {
    let decision = match reply {
        Reply::Silent => return Said::default(),
        Reply::Failed(text) => return Said::blocked(text),
        Reply::Ask(_) if event.kind == Kind::Permission => return Said::default(),
        Reply::Allow(text) => ("allow", text),
        Reply::Ask(text) => ("ask", text),
        Reply::Deny { text, .. } => ("deny", text),
    };
    match (event.kind, decision) {
        (Kind::Permission, (behavior, text)) => permission(behavior, text),
        (_, (word, text)) => Said::json(&json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": word,
            "permissionDecisionReason": text,
        } })),
    }
}

/// The reply to an agent that is about to ask its user.
pub(super) fn permission(behavior: &str, text: &str) -> Said {
    let decision = match behavior {
        "allow" => json!({ "behavior": "allow" }),
        _ => json!({ "behavior": "deny", "message": text }),
    };
    Said::json(
        &json!({ "hookSpecificOutput": { "hookEventName": "PermissionRequest", "decision": decision } }),
    )
}
