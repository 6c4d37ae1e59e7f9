//! A refusal that steers: what was refused, by which rule of which file, and what to do instead.

use serde_json::json;

use crate::ask::{Refusal, Unavailable, panel::name, sanitize};
use crate::decision::{Decision, Judged};
use crate::policy::Verdict;

/// The exit status of what policy or a person refused.
pub const REFUSED: u8 = 126;
/// The exit status of gsh's own failure.
pub const FAILED: u8 = 125;

/// How much of a command a refusal repeats; the caller has the rest.
const SHOWN: usize = 200;

/// The text for the caller's standard error, ended by a newline; one JSON object if `as_json`.
#[must_use]
pub fn refusal(text: &[u8], decision: &Decision, refusal: &Refusal, as_json: bool) -> String {
    let command = shorten(&sanitize::lines(text).join("\\n"));
    let lines = match (refusal, decision.floor) {
        (_, Some(floor)) => by_floor(&command, floor, decision),
        (Refusal::Policy, None) => by_policy(&command, decision),
        (Refusal::Person(reason), None) => by_person(&command, reason.as_deref()),
        (Refusal::NobodyToAsk(why), None) => unanswered(&command, decision, why),
    };
    if as_json { object(&lines, decision, refusal) } else { lines.join("\n") + "\n" }
}

fn by_floor(command: &str, floor: &str, decision: &Decision) -> Vec<String> {
    // The reason of a floor verdict begins with the entry's name.
    let reason = if decision.reason.starts_with(floor) { decision.reason.as_str() } else { floor };
    vec![
        format!("gsh: refused: {command} ({})", sanitize::line(reason)),
        "This is never done: no rule, mode or approval can allow it.".to_owned(),
        "Do not look for another way to the same effect. Choose a narrower target, or ask the user to do it \
         themselves."
            .to_owned(),
    ]
}

fn by_policy(command: &str, decision: &Decision) -> Vec<String> {
    let denied = decisive(decision);
    let what = denied.map_or_else(String::new, |judged| {
        format!(
            " needs {} for \"{}\", which is denied",
            name(judged.request.capability),
            shown(&judged.request.display)
        )
    });
    let mut lines = vec![format!("gsh: refused by policy: {command}{what}")];
    lines.extend(because(decision));
    lines.push(
        "Do not retry it or reach the same effect another way. Take a different approach, or ask the user to \
         change the rule."
            .to_owned(),
    );
    lines
}

fn by_person(command: &str, reason: Option<&str>) -> Vec<String> {
    match reason.map(sanitize::line).filter(|reason| !reason.is_empty()) {
        Some(reason) => vec![
            format!("gsh: the user declined: {command}"),
            format!("Their reason: {reason}"),
            "Adapt your approach to that.".to_owned(),
        ],
        None => vec![
            format!("gsh: the user declined: {command}"),
            "Go on without it, or propose an alternative.".to_owned(),
        ],
    }
}

fn unanswered(command: &str, decision: &Decision, why: &Unavailable) -> Vec<String> {
    let mut lines =
        vec![format!("gsh: not run: {command} needs the user's approval, and nobody could be asked")];
    lines.push(format!("Why nobody: {}.", sanitize::line(&why.to_string())));
    lines.extend(because(decision));
    let rules: Vec<String> = decision
        .suggestions
        .iter()
        .take(3)
        .map(|pattern| format!("\"{}\" = \"allow\"", shown(pattern)))
        .collect();
    if rules.is_empty() {
        lines.push(
            "Nothing was decided against it: ask the user to run it themselves at their terminal, or go on \
             without it."
                .to_owned(),
        );
    } else {
        lines.push(format!(
            "The user can allow it with a rule in their configuration: {}. Until then go on without it.",
            rules.join(" or ")
        ));
    }
    lines
}

/// The request that decided: the first of the strictest.
fn decisive(decision: &Decision) -> Option<&Judged> {
    let strictest = decision.requests.iter().map(|judged| judged.verdict).max()?;
    decision.requests.iter().find(|judged| judged.verdict == strictest && strictest > Verdict::Allow)
}

/// The rule, file and line, then the words of whoever wrote it.
fn because(decision: &Decision) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rule) = decisive(decision).and_then(|judged| judged.matched.rule.as_deref()) {
        let place = rule
            .file
            .as_deref()
            .map_or_else(|| "built in".to_owned(), |file| format!("{file}:{}", rule.line));
        lines.push(format!(
            "Rule: {} \"{}\" ({}).",
            rule.capability,
            shown(&rule.pattern),
            sanitize::line(&place)
        ));
    }
    if let Some(knob) = decision.knob {
        lines.push(format!("Setting: {knob}."));
    }
    if !decision.reason.is_empty() {
        lines.push(format!("Reason: {}", sanitize::line(&decision.reason)));
    }
    lines
}

fn shown(text: &str) -> String {
    shorten(&sanitize::line(text))
}

fn shorten(text: &str) -> String {
    let mut letters = text.chars();
    let head: String = letters.by_ref().take(SHOWN).collect();
    match letters.count() {
        0 => head,
        more => format!("{head}… (and {more} more characters)"),
    }
}

fn object(lines: &[String], decision: &Decision, refusal: &Refusal) -> String {
    let by = match (refusal, decision.floor) {
        (_, Some(_)) => "floor",
        (Refusal::Policy, None) => "policy",
        (Refusal::Person(_), None) => "person",
        (Refusal::NobodyToAsk(_), None) => "unavailable",
    };
    let rule = decisive(decision).and_then(|judged| judged.matched.rule.as_deref()).map(|rule| {
        json!({ "layer": rule.layer, "file": rule.file.as_deref(), "line": rule.line, "pattern": rule.pattern })
    });
    let value = json!({
        "gsh": "refused",
        "by": by,
        "message": lines.join("\n"),
        "verdict": decision.verdict,
        "floor": decision.floor,
        "reason": decision.reason,
        "rule": rule,
        "suggestions": decision.suggestions,
        "status": REFUSED,
    });
    format!("{value}\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::policy::{Capability, CapabilityRequest, Layer, Match, Mode, Rule, Subject};
    use crate::report::Span;

    fn decision(verdict: Verdict, floor: Option<&'static str>) -> Decision {
        let rule = Rule {
            capability: "process.execute".to_owned(),
            pattern: "make *".to_owned(),
            action: verdict,
            destroys: false,
            lifts: false,
            layer: Layer::Project,
            file: Some("/p/.gsh/config.toml".into()),
            line: 7,
            reason: None,
            expires: None,
        };
        let request = CapabilityRequest {
            capability: Capability::ProcessExecute,
            subject: Subject::Mention("make x".to_owned()),
            destroys: None,
            query: false,
            escalates: false,
            display: "make x".to_owned(),
            suggestions: vec![],
            risks: vec![],
            span: Span::default(),
        };
        let matched = Match { verdict, rule: Some(Arc::new(rule)), reason: None, protected: false };
        Decision {
            verdict,
            floor,
            reason: "use just".to_owned(),
            requests: vec![Judged { request, matched, verdict }],
            not_understood: vec![],
            knob: None,
            mode: Mode::Default,
            firm: false,
            suggestions: vec!["make *".to_owned()],
            reads_only: false,
        }
    }

    #[test]
    fn each_refusal_says_what_why_and_what_instead() {
        let nobody = Refusal::NobodyToAsk(Unavailable::NoTerminal);
        let table: [(Refusal, Option<&'static str>, &[&str]); 5] = [
            (
                Refusal::Policy,
                None,
                &["refused by policy: make x", "/p/.gsh/config.toml:7", "use just", "another way"],
            ),
            (Refusal::Policy, Some("canary"), &["refused: make x (canary", "no rule, mode or approval"]),
            (Refusal::Person(None), None, &["declined: make x", "alternative"]),
            (Refusal::Person(Some("use\x1b[2J just".to_owned())), None, &["reason: use\\e[2J just", "Adapt"]),
            (nobody, None, &["nobody could be asked", "no terminal", "\"make *\" = \"allow\""]),
        ];
        for (who, floor, expected) in table {
            let text = refusal(b"make x", &decision(Verdict::Deny, floor), &who, false);
            assert!(text.starts_with("gsh: ") && text.ends_with('\n'), "{text}");
            for part in expected {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }

    #[test]
    fn the_first_line_is_one_line_whatever_the_command() {
        let long = format!("make x\n\x1b[2J{}", "y".repeat(1000));
        let text = refusal(long.as_bytes(), &decision(Verdict::Deny, None), &Refusal::Policy, false);
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.contains("make x\\n\\e[2J")
                && first.contains("more characters")
                && !first.contains('\u{1b}')
        );
    }

    #[test]
    fn json_is_one_object_on_one_line() {
        let text = refusal(b"make x", &decision(Verdict::Deny, None), &Refusal::Person(None), true);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(
            (&value["by"], &value["status"], text.lines().count()),
            (&json!("person"), &json!(126), 1)
        );
        assert_eq!(value["rule"]["line"], json!(7));
    }
}
