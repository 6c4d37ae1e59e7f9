//! What agents tell their hooks before a command.

use serde_json::{Value, json};

use super::Place;
use crate::policy::agents::{Form, Hook};

/// What the agent would tell its hook.
pub(super) fn event(hook: &Hook, command: &str, session: &str, place: &Place<'_>) -> Value {
    let cwd = place.project.map_or_else(|| "/".to_owned(), |root| root.display().to_string());
    let tool = hook.tool.unwrap_or("Bash");
    match hook.form {
        Form::Copilot => json!({
            "sessionId": session, "timestamp": 0, "cwd": cwd, "toolName": tool, "toolArgs": { "command": command },
        }),
        Form::Cursor => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": session, "generation_id": session,
            "workspace_roots": [cwd], "command": command, "cwd": cwd,
        }),
        Form::Windsurf => json!({
            "agent_action_name": "pre_run_command", "trajectory_id": session,
            "tool_info": { "command_line": command, "cwd": cwd },
        }),
        Form::Program => json!({
            "clineVersion": "0", "timestamp": "0", "taskId": session, "hookName": "tool_call", "iteration": 1,
            "workspaceRoots": [cwd],
            "tool_call": { "id": "doctor", "name": "run_commands", "input": { "commands": [command] } },
            "preToolUse": { "toolName": "run_commands", "parameters": { "commands": [command] } },
        }),
        Form::Crush => json!({
            "event": "PreToolUse", "session_id": session, "cwd": cwd, "tool_name": tool,
            "tool_input": { "command": command },
        }),
        Form::Matched | Form::Listed | Form::Plugin => json!({
            "session_id": session, "transcript_path": "", "cwd": cwd, "turn_id": session,
            "permission_mode": "default", "hook_event_name": hook.key.last().copied().unwrap_or("PreToolUse"),
            "tool_name": tool, "tool_input": { "command": command }, "tool_use_id": "doctor",
        }),
    }
}
