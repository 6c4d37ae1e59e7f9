//! Records as lines, as a time line, and one of them whole.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::look::{Look, cut, visible, width};
use crate::audit::query::{Entry, Requested};
use crate::commands::moment;

/// One line for each, in columns.
#[must_use]
pub(super) fn text(entries: &[Entry], look: Look) -> String {
    let mut text = String::new();
    for entry in entries {
        text.push_str(&line(entry, look));
    }
    text
}

/// Narrower than this a line has no room for all of its columns.
const ROOMY: usize = 90;

/// One line: when, what was decided, by whom, how it ended, what it was. On a narrow screen without the year, the
/// seconds, who decided and the agent.
#[must_use]
pub(super) fn line(entry: &Entry, look: Look) -> String {
    let narrow = look.width < ROOMY;
    let by = visible(&entry.by());
    let ran = match entry.ran() {
        Some(true) => visible(&entry.end()),
        Some(false) => "not run".to_owned(),
        None => "open".to_owned(),
    };
    let agent = visible(entry.agent.as_deref().unwrap_or("-"));
    let time = moment(&entry.time);
    let name = format!("{:<30} ", visible(&entry.id));
    let head = match (look.names, narrow) {
        // It begins with the moment, in UTC.
        (true, true) => name,
        (true, false) => format!("{time}  {name}"),
        (false, true) => format!("{} ", time.get(5..16).unwrap_or(&time)),
        (false, false) => format!("{time}  "),
    };
    let verdict = look.verdict(&entry.verdict, &format!("{:<6}", visible(&entry.verdict)));
    let middle = match narrow {
        true => format!(" {:<8} ", cut(&ran, 8)),
        false => format!(" {:<12} {:<12} {:<8} ", cut(&by, 12), cut(&ran, 12), cut(&agent, 8)),
    };
    let room = look.width.saturating_sub(width(&head) + 6 + width(&middle)).max(20);
    format!("{}{verdict}{middle}{}\n", look.faint(&head), cut(&visible(entry.command.shown()), room))
}

/// A moment as people write it, in their zone.
fn moment(time: &str) -> String {
    visible(&moment::of_text(time, &TimeZone::system()))
}

/// What happened in a session or a job, with the pauses between.
#[must_use]
pub(super) fn time_line(of: &str, entries: &[&Entry], look: Look) -> String {
    let asked = entries.iter().filter(|entry| entry.asked()).count();
    let denied = entries.iter().filter(|entry| entry.verdict == "deny").count();
    let commands = if entries.len() == 1 { "command" } else { "commands" };
    let title = format!("{}: {} {commands}, {asked} asked, {denied} refused", visible(of), entries.len());
    let mut text = format!("{}\n", look.heading(&title));
    let mut before: Option<Timestamp> = None;
    for entry in entries {
        let now = entry.time.parse::<Timestamp>().ok();
        if let (Some(before), Some(now)) = (before, now) {
            let seconds = now.duration_since(before).as_secs();
            if seconds >= 60 {
                text.push_str(&format!("{}\n", look.faint(&format!("  … {} min", seconds / 60))));
            }
        }
        before = now.or(before);
        text.push_str(&line(entry, look));
        for event in &entry.events {
            if let Some(said) = event["feedback"].as_str() {
                let indent = if look.width < ROOMY { 12 } else { 21 };
                let room = look.width.saturating_sub(indent + 6);
                text.push_str(&format!("{:indent$}said: {}\n", "", cut(&visible(said), room)));
            }
        }
    }
    text
}

/// All of one record.
#[must_use]
pub(super) fn whole(entry: &Entry, look: Look) -> String {
    let mut rows = Rows { text: String::new(), look };
    let unknown = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    rows.add("record", &entry.id);
    rows.add("opened", &moment(&entry.time));
    rows.add("command", entry.command.shown());
    rows.add("directory", &entry.directory);
    rows.add("entry", &entry.entry);
    rows.add("asked by", &unknown(&entry.origin));
    rows.add("agent", &unknown(&entry.agent));
    rows.add("session", &unknown(&entry.session));
    if let Some(above) = &entry.above {
        rows.add("beneath", above);
    }
    rows.add("mode", &entry.mode);
    rows.add("verdict", &entry.verdict);
    rows.add("reason", &entry.reason);
    rows.add("decided by", &entry.by());
    entry.requests.iter().for_each(|each| rows.add_request(each));
    for grant in &entry.grants {
        let of = |key: &str| plainly(&grant[key]);
        let (made, place) = (moment(&of("made")), format!("at {} ({})", of("terminal"), of("panel")));
        rows.add("answer", &format!("{}, given {made} by {} {place}", of("id"), of("who")));
    }
    entry.events.iter().for_each(|event| rows.add_event(event));
    rows.add_end(entry);
    if !entry.inexact.is_empty() {
        rows.add("replay", &format!("inexact: {}", entry.inexact.join(", ")));
    }
    rows.text
}

/// Names in one column, what they stand for in another.
struct Rows {
    text: String,
    look: Look,
}

impl Rows {
    fn add(&mut self, name: &str, value: &str) {
        let room = self.look.width.saturating_sub(12).max(20);
        let mut name = self.look.heading(&format!("{name:<11}"));
        for part in wrapped(&visible(value), room) {
            self.text.push_str(&format!("{name} {part}\n"));
            name = " ".repeat(11);
        }
    }

    fn add_request(&mut self, each: &Requested) {
        let rule = each.rule.as_ref().map_or("builtin".to_owned(), |rule| rule.shown());
        let subject = match &each.subject {
            Value::String(subject) => subject.clone(),
            Value::Array(forms) => forms.last().and_then(Value::as_str).unwrap_or_default().to_owned(),
            other => other["head"].as_str().unwrap_or_default().to_owned(),
        };
        self.add("request", &format!("{} {} {subject}  [{rule}]", each.verdict, each.capability));
    }

    fn add_event(&mut self, event: &Value) {
        let of = |key: &str| event[key].as_str().unwrap_or_default();
        let said = event["feedback"].as_str().map(|said| format!(": {said}")).unwrap_or_default();
        let (time, name, by) = (moment(of("time")), of("event"), plainly(&event["by"]));
        self.add("event", format!("{time} {name} {by}{said}").trim_end());
        self.add_review(&event["review"]);
    }

    /// What the reviewer said, or why it said nothing.
    fn add_review(&mut self, review: &Value) {
        let of = |key: &str| review[key].as_str().filter(|text| !text.is_empty());
        let Some(verdict) = of("verdict") else { return };
        let mut parts = vec![verdict.to_owned()];
        parts.extend(of("cause").map(str::to_owned));
        parts.extend(of("risk").map(|risk| format!("risk {risk}")));
        parts.extend((review["remembered"] == true).then(|| "remembered".to_owned()));
        let said = of("rationale").or(of("detail")).map(|said| format!(": {said}")).unwrap_or_default();
        let by = of("reviewer").map(|by| format!(" ({by})")).unwrap_or_default();
        self.add("review", &format!("{}{said}{by}", parts.join(", ")));
    }

    fn add_end(&mut self, entry: &Entry) {
        let Some(closed) = &entry.closed else {
            return self.add("closed", "not yet, or its writer was stopped");
        };
        if let Some(pid) = closed["process"]["pid"].as_i64() {
            self.add("process", &format!("{pid}, group {}", closed["process"]["group"]));
        }
        let took = closed["milliseconds"].as_u64().map(|ms| format!(" after {ms} ms")).unwrap_or_default();
        let time = moment(closed["time"].as_str().unwrap_or_default());
        self.add("closed", &format!("{time}: {}{took}", entry.end()));
    }
}

/// A value as people read it: a name with its parts behind it.
fn plainly(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Object(object) => {
            let parts = object.iter().map(|(name, part)| match part {
                Value::Object(_) => format!("{name} ({})", plainly(part)),
                Value::Null => name.clone(),
                part => format!("{name}: {}", plainly(part)),
            });
            parts.collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

/// A text in parts that fit into so many columns, cut at blanks where there are any.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let (mut parts, mut part) = (Vec::new(), String::new());
    for word in text.split_inclusive(' ') {
        if !part.is_empty() && width(&part) + width(word.trim_end()) > room {
            parts.push(std::mem::take(&mut part).trim_end().to_owned());
        }
        for letter in word.chars() {
            // A word that is longer than a line.
            if width(&part) + width(letter.encode_utf8(&mut [0; 4])) > room && letter != ' ' {
                parts.push(std::mem::take(&mut part));
            }
            part.push(letter);
        }
    }
    parts.push(part.trim_end().to_owned());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_go_on_below() {
        for (text, expected) in [
            ("", &[""][..]),
            ("short", &["short"]),
            ("one two three", &["one two", "three"]),
            ("abcdefghijkl", &["abcdefgh", "ijkl"]),
            ("日本語の長い文", &["日本語の", "長い文"]),
            ("a  b", &["a  b"]),
        ] {
            assert_eq!(wrapped(text, 8), expected, "{text}");
        }
    }

    #[test]
    fn values_are_plain() {
        let table = [
            (serde_json::json!("person"), "person"),
            (serde_json::json!({ "nobody": "there is no terminal" }), "nobody: there is no terminal"),
            (
                serde_json::json!({ "person": { "question": "ab", "pid": 7 } }),
                "person (question: ab, pid: 7)",
            ),
            (Value::Null, ""),
        ];
        for (value, expected) in table {
            assert_eq!(plainly(&value), expected);
        }
    }

    #[test]
    fn a_review_is_shown_with_its_cause() {
        let table = [
            (
                serde_json::json!({ "verdict": "deny", "risk": "high", "rationale": "it smells", "reviewer": "/bin/judge" }),
                "review      deny, risk high: it smells (/bin/judge)\n",
            ),
            (
                serde_json::json!({ "verdict": "unavailable", "cause": "timeout", "detail": "it took too long" }),
                "review      unavailable, timeout: it took too long\n",
            ),
            (
                serde_json::json!({ "verdict": "allow", "risk": "low", "rationale": "", "remembered": true }),
                "review      allow, risk low, remembered\n",
            ),
            (Value::Null, ""),
        ];
        for (review, expected) in table {
            let mut rows = Rows { text: String::new(), look: Look::plain(120) };
            rows.add_review(&review);
            assert_eq!(rows.text, expected, "{review}");
        }
    }

    #[test]
    fn a_list_shows_names_where_they_are_asked_for() {
        let id = "20260101T000000.000001-4194303";
        let (time, verdict) = ("2026-01-01T00:00:00Z".into(), "ask".into());
        let entry = Entry { id: id.into(), time, verdict, ..Entry::default() };
        for columns in [60, 120] {
            let look = Look::plain(columns);
            assert!(!line(&entry, look).contains(id));
            assert!(line(&entry, Look { names: true, ..look }).contains(&format!("{id} ")));
        }
    }

    #[test]
    fn a_line_fits_a_narrow_screen() {
        let command = crate::audit::query::Text::Whole("make all ".repeat(30));
        let (time, verdict) = ("2026-01-01T00:00:00Z".into(), "ask".into());
        let entry = Entry { time, verdict, command, agent: Some("claude".into()), ..Entry::default() };
        for columns in [60, 80, 90, 120] {
            let line = line(&entry, Look::plain(columns));
            assert_eq!(width(line.trim_end_matches('\n')), columns, "{line}");
            let all = whole(&entry, Look::plain(columns));
            assert!(all.lines().all(|line| width(line) <= columns), "{all}");
        }
    }
}
