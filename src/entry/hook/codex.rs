//! Codex: Claude Code's form, but an `ask` runs the command, and an `allow` without another input is an error.

use serde_json::Value;

use super::claude;
use super::event::{Event, Kind, Odd};
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
        Reply::Allow(_) if event.kind == Kind::BeforeTool => Said::default(),
        // Nothing asks here; what would must not run.
        Reply::Ask(text) if event.kind == Kind::BeforeTool => {
            claude::say(event, &Reply::Deny { text: text.clone(), floor: false })
        }
        reply => claude::say(event, reply),
    }
}
