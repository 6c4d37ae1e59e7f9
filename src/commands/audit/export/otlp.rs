//! Records as an OpenTelemetry collector takes them: log records in OTLP's JSON form, which is the body of a
//! request to its HTTP receiver, and a line of what its receiver of files reads.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Level, told};
use crate::audit::query::Entry;

/// One request with these records.
#[must_use]
pub(super) fn request(entries: &[Entry], host: &str) -> Value {
    let own = [("service.name", "gsh"), ("service.version", env!("CARGO_PKG_VERSION")), ("host.name", host)];
    let records: Vec<Value> = entries.iter().map(record).collect();
    json!({
        "resourceLogs": [{
            "resource": { "attributes": own.map(|(key, value)| text(key, value)) },
            "scopeLogs": [{ "scope": { "name": "gsh.audit" }, "logRecords": records }],
        }]
    })
}

fn record(entry: &Entry) -> Value {
    let moment = |time: &str| {
        // Numbers of 64 bits are texts in this form.
        time.parse::<Timestamp>().map_or(0, Timestamp::as_nanosecond).to_string()
    };
    let closed = entry.closed.as_ref().and_then(|closed| closed["time"].as_str());
    let (number, word) = match Level::of(entry) {
        Level::Usual => (9, "INFO"),
        Level::Asked => (10, "INFO2"),
        Level::Refused => (13, "WARN"),
        Level::Floor => (17, "ERROR"),
    };
    let mut attributes: Vec<Value> = told(entry)
        .into_iter()
        .filter(|(name, _)| *name != "command")
        .map(|(name, value)| text(&format!("gsh.{name}"), &value))
        .collect();
    attributes.push(text("process.command_line", entry.command.shown()));
    attributes.push(text("process.working_directory", &entry.directory));
    json!({
        "timeUnixNano": moment(&entry.time),
        "observedTimeUnixNano": moment(closed.unwrap_or(&entry.time)),
        "severityNumber": number,
        "severityText": word,
        "eventName": "gsh.decision",
        "body": { "stringValue": entry.command.shown() },
        "attributes": attributes,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
