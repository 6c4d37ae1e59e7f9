//! The findings, for a person and as data.

use std::fmt::Write as _;

use serde_json::json;

use super::{Door, Finding, State};
use crate::ask::sanitize::line as visible;

pub(super) fn json(findings: &[Finding]) -> String {
    let open: Vec<&str> =
        findings.iter().filter(|finding| finding.open).map(|finding| finding.agent).collect();
    format!("{}\n", json!({ "schema": 1, "agents": findings, "open": open }))
}

pub(super) fn text(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "no agent that gsh knows is found here; name one: gsh doctor AGENT\n".to_owned();
    }
    let mut text = String::new();
    for finding in findings {
        let _ = writeln!(text, "{}: {}", finding.title, state(finding));
        for door in &finding.doors {
            put(&mut text, door);
        }
        for warning in &finding.warnings {
            let _ = writeln!(text, "  ! {warning}");
        }
        if finding.open {
            let _ = writeln!(text, "  to close it: {}", finding.help);
        }
    }
    text
}

/// How an agent stands, in words.
fn state(finding: &Finding) -> String {
    let closed = |wrap: bool| {
        let mut doors = finding.doors.iter().filter(|door| (door.door == "wrap") == wrap);
        doors.any(|door| door.state == State::Closed)
    };
    if closed(false) {
        return "closed".to_owned();
    }
    if !closed(true) {
        return "OPEN".to_owned();
    }
    if finding.wrapped.is_empty() {
        return "OPEN as it would start from here, closed where `gsh wrap` starts it".to_owned();
    }
    let pids: Vec<String> = finding.wrapped.iter().map(ToString::to_string).collect();
    format!(
        "closed where it runs now, by `gsh wrap` (process {}); OPEN when started without",
        pids.join(", ")
    )
}

fn put(text: &mut String, door: &Door) {
    let state = match door.state {
        State::Closed => "closed",
        State::Open => "open",
        State::Unknown => "not known",
    };
    let _ = writeln!(text, "  {} {state}: {}", door.door, visible(&door.by));
    if let Some(asked) = &door.asked {
        let _ = writeln!(text, "    on record: it asked last at {asked}");
    }
    let Some(proof) = &door.proof else { return };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let recorded = proof.recorded.map_or("nowhere", yes);
    let _ = writeln!(
        text,
        "    tried: the refused word was refused: {}; the plain one ran: {}; on record: {recorded}",
        yes(proof.denied),
        yes(proof.ran)
    );
    if let Some(other) = &door.other {
        let how = other.tried.last().map_or("", String::as_str);
        let (how, denied) = (visible(how.split(" -c ").next().unwrap_or_default()), yes(other.denied));
        let _ =
            writeln!(text, "    tried: from another shell ({how}) the refused word was refused: {denied}");
    }
    if door.state == State::Open && !proof.said.is_empty() {
        let _ = writeln!(text, "    it said: {}", proof.said);
    }
}
