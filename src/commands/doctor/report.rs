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
        let state = if finding.open { "OPEN" } else { "closed" };
        let _ = writeln!(text, "{}: {state}", finding.title);
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

fn put(text: &mut String, door: &Door) {
    let state = match door.state {
        State::Closed => "closed",
        State::Open => "open",
        State::Unknown => "not known",
    };
    let _ = writeln!(text, "  {} {state}: {}", door.door, visible(&door.by));
    let Some(proof) = &door.proof else { return };
    let yes = |is: bool| if is { "yes" } else { "no" };
    let recorded = proof.recorded.map_or("nowhere", yes);
    let _ = writeln!(
        text,
        "    tried: the refused word was refused: {}; the plain one ran: {}; on record: {recorded}",
        yes(proof.denied),
        yes(proof.ran)
    );
    if door.state == State::Open && !proof.said.is_empty() {
        let _ = writeln!(text, "    it said: {}", proof.said);
    }
}
