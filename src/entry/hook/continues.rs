//! Continue: Claude Code's events, and a refusal by status or by `decision`; it cannot be told to ask.

use serde_json::{Value, json};

use super::claude;
use super::event::{Event, Odd};
use super::reply::{Reply, Said};

/// Reads an event.
///
/// # Errors
/// When it is not of this form.
pub(super) fn read(value: &Value) -> Result<Event, Odd> {
    claude::read(value).map(|event| Event { asks: false, ..event })
}

/// Says a reply.
#[must_use]
pub(super) fn say(event: &Event, reply: &Reply) -> Said {
    match reply {
        Reply::Deny { text, .. } | Reply::Ask(text) if event.kind == super::event::Kind::BeforeTool => {
            Said::blocked_with(text, &json!({ "decision": "block", "reason": text }))
        }
        reply => claude::say(event, reply),
    }
}
