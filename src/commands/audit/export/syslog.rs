//! Records as syslog messages (RFC 5424): the values as structured data, the command as the message.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::{Level, told};
use crate::audit::query::Entry;
use crate::commands::audit::look::visible;

/// Messages about authorisation that not everybody may read.
const FACILITY: u8 = 10;
/// The name of the values; the number is the one kept for examples, since gsh has none of its own.
const ID: &str = "gsh@32473";

/// One message, without an end of line.
#[must_use]
pub(super) fn message(entry: &Entry, host: &str) -> String {
    let severity = match Level::of(entry) {
        Level::Usual => 6,
        Level::Asked => 5,
        Level::Refused => 4,
        Level::Floor => 3,
    };
    let time = entry.time.parse::<Timestamp>().map_or("-".to_owned(), |time| {
        TimeZone::UTC.to_datetime(time).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
    });
    let values = told(entry).into_iter().filter(|(name, _)| *name != "command");
    let data: String = values.map(|(name, value)| format!(" {name}=\"{}\"", escaped(&value))).collect();
    let (priority, host, kind) = (FACILITY * 8 + severity, header(host, 255), header(&entry.verdict, 32));
    let command = visible(entry.command.shown());
    format!("<{priority}>1 {time} {host} gsh - {kind} [{ID}{data}] \u{feff}{command}")
}

/// A field of the head: letters that are seen, or `-`.
fn header(text: &str, most: usize) -> String {
    let kept: String = text.chars().filter(char::is_ascii_graphic).take(most).collect();
    if kept.is_empty() { "-".to_owned() } else { kept }
}

fn escaped(value: &str) -> String {
    visible(value).replace('\\', "\\\\").replace('"', "\\\"").replace(']', "\\]")
}
