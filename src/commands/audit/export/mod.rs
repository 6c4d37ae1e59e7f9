//! Records for other programs: CSV, JSON lines, events in the shape of the Open Cybersecurity Schema; and, as
//! text or sent away, what OpenTelemetry, syslog and systemd's journal take.

mod journal;
mod otlp;
mod send;
mod syslog;

use jiff::Timestamp;
use serde_json::{Value, json};

pub use self::send::Place;
use crate::audit::query::Entry;

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One line each, with a head.
    Csv,
    /// One object a line, with all that is known.
    Json,
    /// One object a line, in the shape of a process activity.
    Ocsf,
    /// Requests of OpenTelemetry's protocol, in JSON.
    Otlp,
    /// Messages of syslog.
    Syslog,
    /// Entries of systemd's journal.
    Journal,
}

/// How much attention a record deserves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// It was allowed.
    Usual,
    /// A person was to be asked.
    Asked,
    /// It was refused.
    Refused,
    /// It was refused by the floor.
    Floor,
}

impl Level {
    fn of(entry: &Entry) -> Self {
        match entry.verdict.as_str() {
            _ if entry.floor.is_some() => Self::Floor,
            "deny" => Self::Refused,
            "ask" | "review" => Self::Asked,
            _ => Self::Usual,
        }
    }
}

impl Format {
    /// From its word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "ocsf" => Self::Ocsf,
            "otlp" => Self::Otlp,
            "syslog" => Self::Syslog,
            "journal" => Self::Journal,
            _ => return None,
        })
    }
}

/// The columns of CSV.
const COLUMNS: &str = "id,time,session,agent,entry,directory,command,verdict,decided_by,ran,outcome,status,milliseconds,reason,rule";

/// All of them, sent to a place.
///
/// # Errors
/// When the place does not take them: why, and how many it took.
pub(super) fn send(entries: &[Entry], format: Format, place: &Place) -> Result<String, String> {
    send::send(entries, format, place).map(|count| format!("{count} records sent\n"))
}

/// What stands before all records.
pub(super) fn head(format: Format) -> String {
    if format == Format::Csv { format!("{COLUMNS}\r\n") } else { String::new() }
}

/// These records in a form.
pub(super) fn bytes(entries: &[Entry], format: Format) -> Vec<u8> {
    match format {
        Format::Csv | Format::Json | Format::Ocsf => text(entries, format).into_bytes(),
        Format::Otlp => entries
            .chunks(TOGETHER)
            .flat_map(|part| (otlp::request(part, &host()).to_string() + "\n").into_bytes())
            .collect(),
        Format::Syslog => {
            entries.iter().flat_map(|entry| (syslog::message(entry, &host()) + "\n").into_bytes()).collect()
        }
        Format::Journal => entries.iter().flat_map(journal::in_a_file).collect(),
    }
}

/// What is told of a record by name; what is not known is left out.
fn told(entry: &Entry) -> Vec<(&'static str, String)> {
    let closed = entry.closed.as_ref();
    let of = |key: &str| closed.map(|closed| plain(&closed[key])).unwrap_or_default();
    let all = [
        ("id", entry.id.clone()),
        ("session", entry.session.clone().unwrap_or_default()),
        ("agent", entry.agent.clone().unwrap_or_default()),
        ("entry", entry.entry.clone()),
        ("directory", entry.directory.clone()),
        ("command", entry.command.shown().to_owned()),
        ("verdict", entry.verdict.clone()),
        ("floor", entry.floor.clone().unwrap_or_default()),
        ("mode", entry.mode.clone()),
        ("decided_by", entry.by()),
        ("ran", entry.ran().map(|ran| ran.to_string()).unwrap_or_default()),
        ("outcome", of("outcome")),
        ("status", of("status")),
        ("signal", of("signal")),
        ("milliseconds", of("milliseconds")),
        ("reason", entry.reason.clone()),
        ("rule", entry.rule().map(|rule| rule.shown()).unwrap_or_default()),
    ];
    all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// The name of this machine.
fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// So many records are one line of OpenTelemetry's.
const TOGETHER: usize = 200;

/// Those forms that are lines of text.
fn text(entries: &[Entry], format: Format) -> String {
    let mut text = String::new();
    for entry in entries {
        match format {
            Format::Csv => text.push_str(&csv(entry)),
            Format::Ocsf => text.push_str(&(ocsf(entry).to_string() + "\n")),
            _ => text.push_str(&(serde_json::to_string(entry).unwrap_or_default() + "\n")),
        }
    }
    text
}

fn csv(entry: &Entry) -> String {
    let closed = entry.closed.as_ref();
    let of = |key: &str| closed.map(|closed| plain(&closed[key])).unwrap_or_default();
    let fields = [
        entry.id.clone(),
        entry.time.clone(),
        entry.session.clone().unwrap_or_default(),
        entry.agent.clone().unwrap_or_default(),
        entry.entry.clone(),
        entry.directory.clone(),
        entry.command.shown().to_owned(),
        entry.verdict.clone(),
        entry.by(),
        entry.ran().map(|ran| ran.to_string()).unwrap_or_default(),
        of("outcome"),
        of("status"),
        of("milliseconds"),
        entry.reason.clone(),
        entry.rule().map(|rule| rule.shown()).unwrap_or_default(),
    ];
    fields.map(|field| quoted(&field)).join(",") + "\r\n"
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// In quotes where need be. A table program takes a field that begins like a formula for one.
fn quoted(field: &str) -> String {
    let field = if field.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        format!("'{field}")
    } else {
        field.to_owned()
    };
    if field.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field }
}

/// A launch of a process, allowed or blocked.
fn ocsf(entry: &Entry) -> Value {
    let ran = entry.ran().unwrap_or(false);
    let moment = entry.time.parse::<Timestamp>().map_or(0, Timestamp::as_millisecond);
    let (severity_id, severity) = match (entry.floor.is_some(), entry.verdict.as_str()) {
        (true, _) => (4, "High"),
        (_, "deny") => (3, "Medium"),
        (_, "ask" | "review") => (2, "Low"),
        _ => (1, "Informational"),
    };
    json!({
        "class_uid": 1007,
        "class_name": "Process Activity",
        "category_uid": 1,
        "category_name": "System Activity",
        "activity_id": 1,
        "activity_name": "Launch",
        "type_uid": 100_701,
        "time": moment,
        "severity_id": severity_id,
        "severity": severity,
        "action_id": if ran { 1 } else { 2 },
        "action": if ran { "Allowed" } else { "Denied" },
        "disposition_id": if ran { 1 } else { 2 },
        "disposition": if ran { "Allowed" } else { "Blocked" },
        "status_detail": entry.reason,
        "message": entry.command.shown(),
        "metadata": {
            "version": "1.3.0",
            "uid": entry.id,
            "product": { "name": "gsh", "version": env!("CARGO_PKG_VERSION") },
        },
        "actor": { "session": { "uid": entry.session }, "app_name": entry.agent },
        "process": { "cmd_line": entry.command.shown(), "working_directory": entry.directory },
        "exit_code": entry.closed.as_ref().map(|closed| closed["status"].clone()),
        "firewall_rule": entry.rule().map(|rule| json!({ "name": rule.pattern, "desc": rule.shown() })),
        "unmapped": { "verdict": entry.verdict, "decided_by": entry.by(), "mode": entry.mode, "entry": entry.entry },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::query::Text;

    #[test]
    fn fields_are_quoted_and_no_formulas() {
        for (field, expected) in [
            ("a", "a"),
            ("a,b", "\"a,b\""),
            ("say \"x\"", "\"say \"\"x\"\"\""),
            ("=1+2", "'=1+2"),
            ("a\nb", "\"a\nb\""),
        ] {
            assert_eq!(quoted(field), expected);
        }
    }

    #[test]
    fn an_event_says_whether_it_was_blocked() {
        let entry = Entry {
            time: "2026-01-01T00:00:00Z".into(),
            command: Text::Whole("ls".into()),
            verdict: "deny".into(),
            runs: Some(false),
            floor: Some("canary".into()),
            ..Entry::default()
        };
        let event = ocsf(&entry);
        assert_eq!((&event["disposition"], &event["severity"]), (&json!("Blocked"), &json!("High")));
        assert_eq!((&event["type_uid"], &event["time"]), (&json!(100_701), &json!(1_767_225_600_000_i64)));
    }
}
