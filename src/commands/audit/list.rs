//! Records as lines, as a time line, and one of them whole.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::look::{Look, cut, visible, width};
use crate::audit::query::Entry;
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

/// One line: when, what was decided, by whom, how it ended, what it was.
#[must_use]
pub(super) fn line(entry: &Entry, look: Look) -> String {
    let by = visible(&entry.by());
    let ran = match entry.ran() {
        Some(true) => visible(&entry.end()),
        Some(false) => "not run".to_owned(),
        None => "open".to_owned(),
    };
    let agent = visible(entry.agent.as_deref().unwrap_or("-"));
    let head = format!("{}  ", moment(&entry.time));
    let verdict = look.verdict(&entry.verdict, &format!("{:<6}", visible(&entry.verdict)));
    let middle = format!(" {:<12} {:<12} {:<8} ", cut(&by, 12), cut(&ran, 12), cut(&agent, 8));
    let room = look.width.saturating_sub(width(&head) + 6 + width(&middle)).max(20);
    format!("{}{verdict}{middle}{}\n", look.faint(&head), cut(&visible(entry.command.shown()), room))
}

/// A moment as people write it, in their zone.
fn moment(time: &str) -> String {
    visible(&moment::of_text(time, &TimeZone::system()))
}

/// What happened in a session, with the pauses between.
#[must_use]
pub(super) fn time_line(session: &str, entries: &[&Entry], look: Look) -> String {
    let asked = entries.iter().filter(|entry| entry.asked()).count();
    let denied = entries.iter().filter(|entry| entry.verdict == "deny").count();
    let commands = if entries.len() == 1 { "command" } else { "commands" };
    let title = format!(
        "session {}: {} {commands}, {asked} asked, {denied} refused",
        visible(session),
        entries.len()
    );
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
                text.push_str(&format!("{:>21}said: {}\n", "", visible(said)));
            }
        }
    }
    text
}

/// All of one record.
#[must_use]
pub(super) fn whole(entry: &Entry, look: Look) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "{} {}", look.heading(&format!("{name:<11}")), visible(value));
    };
    row("record", &entry.id);
    row("opened", &moment(&entry.time));
    row("command", entry.command.shown());
    row("directory", &entry.directory);
    row("entry", &entry.entry);
    row("session", entry.session.as_deref().unwrap_or("unknown"));
    row("agent", entry.agent.as_deref().unwrap_or("unknown"));
    row("mode", &entry.mode);
    row("verdict", &entry.verdict);
    row("reason", &entry.reason);
    row("decided by", &entry.by());
    for each in &entry.requests {
        let rule = each.rule.as_ref().map_or("builtin".to_owned(), |rule| rule.shown());
        let subject = match &each.subject {
            Value::String(subject) => subject.clone(),
            Value::Array(forms) => forms.last().and_then(Value::as_str).unwrap_or_default().to_owned(),
            other => other["head"].as_str().unwrap_or_default().to_owned(),
        };
        row("request", &format!("{} {} {subject}  [{rule}]", each.verdict, each.capability));
    }
    for event in &entry.events {
        let (name, by) = (event["event"].as_str().unwrap_or_default(), &event["by"]);
        let by = by
            .as_str()
            .map(str::to_owned)
            .unwrap_or_else(|| if by.is_null() { String::new() } else { by.to_string() });
        let said = event["feedback"].as_str().map(|said| format!(": {said}")).unwrap_or_default();
        row("event", &format!("{} {name} {by}{said}", moment(event["time"].as_str().unwrap_or_default())));
    }
    match &entry.closed {
        Some(closed) => {
            let took =
                closed["milliseconds"].as_u64().map(|ms| format!(" after {ms} ms")).unwrap_or_default();
            row(
                "closed",
                &format!("{}: {}{took}", moment(closed["time"].as_str().unwrap_or_default()), entry.end()),
            );
        }
        None => row("closed", "not yet, or its writer was stopped"),
    }
    if !entry.inexact.is_empty() {
        row("replay", &format!("inexact: {}", entry.inexact.join(", ")));
    }
    text
}
