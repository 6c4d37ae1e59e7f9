//! Records for other programs: CSV, JSON lines, and events in the shape of the Open Cybersecurity Schema.

use jiff::Timestamp;
use serde_json::{Value, json};

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
}

impl Format {
    /// From its word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "csv" => Self::Csv,
            "json" => Self::Json,
            "ocsf" => Self::Ocsf,
            _ => return None,
        })
    }
}

/// The columns of CSV.
const COLUMNS: &str = "id,time,session,agent,entry,directory,command,verdict,decided_by,ran,outcome,status,milliseconds,reason,rule";

/// All of them.
#[must_use]
pub fn text(entries: &[Entry], format: Format) -> String {
    let mut text = String::new();
    if format == Format::Csv {
        text.push_str(COLUMNS);
        text.push_str("\r\n");
    }
    for entry in entries {
        match format {
            Format::Csv => text.push_str(&csv(entry)),
            Format::Json => text.push_str(&(serde_json::to_string(entry).unwrap_or_default() + "\n")),
            Format::Ocsf => text.push_str(&(ocsf(entry).to_string() + "\n")),
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
