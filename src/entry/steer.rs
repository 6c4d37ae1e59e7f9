//! A refusal that steers: what was refused, by which rule of which file, and what to do instead.

use serde_json::json;

use crate::ask::{Refusal, Unavailable, panel::name, sanitize};
use crate::decision::{Decision, INTERNAL_ERROR, Judged};
use crate::policy::{Capability, Layer, Mode, Verdict};
use crate::review::Failed;
use crate::syntax::Cause;

/// The exit status of what policy or a person refused.
pub const REFUSED: u8 = 126;
/// The exit status of gsh's own failure.
pub const FAILED: u8 = 125;

/// The user's own file, as a person writes it.
const CONFIGURATION: &str = "~/.config/gsh/config.toml";

/// How much of a command a refusal repeats; the caller has the rest.
const SHOWN: usize = 200;

/// What a refusal is about.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    /// The text that does not run.
    pub text: &'a [u8],
    /// What was decided.
    pub decision: &'a Decision,
    /// Who refused.
    pub by: &'a Refusal,
    /// Where the configuration is damaged.
    pub damage: Option<&'a str>,
}

/// The text for the caller's standard error, ended by a newline; one JSON object if `as_json`.
#[must_use]
pub fn refusal(refused: Refused<'_>, as_json: bool) -> String {
    let Refused { text, decision, by: refusal, damage } = refused;
    let command = shorten(&sanitize::lines(text).join("\\n"));
    let mut lines = match (refusal, decision.floor.as_deref()) {
        (_, Some(floor)) => by_floor(&command, floor, decision),
        (Refusal::Policy, None) => by_policy(&command, decision, damage),
        (Refusal::Person(reason), None) => by_person(&command, reason.as_deref()),
        (Refusal::Reviewer(reason), None) => by_reviewer(&command, reason),
        (Refusal::Unreviewed(failed), None) => unreviewed(&command, failed),
        (Refusal::NobodyToAsk(why), None) => unanswered(&command, decision, why, damage),
    };
    if decision.not_understood.iter().any(|problem| problem.cause == Cause::ParseError) {
        lines.push(
            "bash may not accept this text either: look for a slip in it. Correcting it needs nobody's approval."
                .to_owned(),
        );
    }
    if as_json { object(&lines, decision, refusal) } else { lines.join("\n") + "\n" }
}

fn by_floor(command: &str, floor: &str, decision: &Decision) -> Vec<String> {
    // The reason of a floor verdict begins with the entry's name.
    let reason = if decision.reason.starts_with(floor) { decision.reason.as_str() } else { floor };
    vec![
        format!("gsh: refused: {command} ({})", without_repeating(command, &sanitize::line(reason))),
        "This is never done: no rule, mode or approval can allow it.".to_owned(),
        "Do not look for another way to the same effect. Choose a narrower target, or ask the user to do it \
         themselves."
            .to_owned(),
    ]
}

/// A floor's reason ends with what it found, which for a plain command is the command itself.
fn without_repeating(command: &str, reason: &str) -> String {
    let kept = reason.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match kept {
        Some((kept, found)) if command.starts_with(found) => kept.to_owned(),
        _ => reason.to_owned(),
    }
}

fn by_policy(command: &str, decision: &Decision, damage: Option<&str>) -> Vec<String> {
    let decided = decisive(decision);
    let declined = decided.and_then(|judged| judged.matched.rule.as_deref());
    if let Some(rule) = declined.filter(|rule| rule.layer == Layer::Session && rule.action == Verdict::Deny) {
        let grant = rule.place();
        let id = grant.strip_prefix("grant ").unwrap_or(&grant);
        return vec![
            format!("gsh: the user declined this for the whole session: {command}"),
            format!("Go on without it. The user can take that back: gsh grants revoke {id}"),
        ];
    }
    let needs = decided.map_or_else(String::new, |judged| {
        format!(" needs {} for \"{}\"", name(judged.request.capability), shown(&judged.request.display))
    });
    let by_rule = decided.is_some_and(|judged| judged.matched.verdict == Verdict::Deny);
    let (how, whom) = match decision.mode {
        _ if decision.reason == INTERNAL_ERROR => ("", "look at it"),
        _ if by_rule => (", which is denied", "change the rule"),
        Mode::DontAsk => (": it would ask, and mode dont-ask refuses what asks", "allow it"),
        Mode::Plan => (", which mode plan refuses", "leave that mode"),
        _ => ("", "allow it"),
    };
    let mut lines = vec![format!("gsh: refused by policy: {command}{needs}{how}")];
    lines.extend(because(decision));
    lines.extend(damage.filter(|_| !by_rule).map(mend));
    lines.push(format!(
        "Do not retry it or reach the same effect another way. Take a different approach, or ask the user to \
         {whom}."
    ));
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

fn by_reviewer(command: &str, reason: &str) -> Vec<String> {
    vec![
        format!("gsh: refused by the reviewer: {command}"),
        format!("Its finding: {}", sanitize::line(reason)),
        "Do not retry it or reach the same effect another way. Take a safer approach, or ask the user: they can run \
         it themselves."
            .to_owned(),
    ]
}

/// A failure of ours is no finding: what it is, and how to go on.
fn unreviewed(command: &str, failed: &Failed) -> Vec<String> {
    vec![
        format!("gsh: not run: {command} needs a review, and the reviewer gave no answer"),
        format!("Cause: {} ({}).", failed.cause.word(), sanitize::line(&failed.detail)),
        "Nothing was found against it: it was not refused for a risk.".to_owned(),
        format!(
            "Split off the parts that need no review, ask the user to run it themselves, or have them set \
             on_review_unavailable = \"ask\" in {CONFIGURATION}. `gsh status` shows the last failure."
        ),
    ]
}

fn unanswered(command: &str, decision: &Decision, why: &Unavailable, damage: Option<&str>) -> Vec<String> {
    let mut lines =
        vec![format!("gsh: not run: {command} needs the user's approval, and nobody could be asked")];
    let (here, kept) = match why {
        Unavailable::Kept { here, .. } | Unavailable::NoQueue { here, .. } => (&**here, why.elsewhere()),
        other => (other, None),
    };
    lines.push(format!("Why nobody: {}.", sanitize::line(&here.to_string())));
    lines.extend(because(decision));
    if *why == Unavailable::Changed {
        lines.push("Run it again as it is now: the question is then put anew.".to_owned());
        return lines;
    }
    lines.extend(kept.iter().map(|kept| format!("Elsewhere: {}.", sanitize::line(kept))));
    let question = match why {
        Unavailable::Kept { question, .. } => Some(question),
        _ => None,
    };
    lines.extend(question.into_iter().flat_map(|question| still_pending(question)));
    if let Unavailable::NotAPersons(kind) = here {
        lines.push(format!(
            "If only people sit behind that terminal, the user can say so, in {CONFIGURATION}:"
        ));
        lines.push("[ask]".to_owned());
        lines.push(format!("terminals = [{}]", quoted(kind)));
    }
    if let Some(place) = damage {
        lines.push(mend(place));
    } else if let Some(rules) = rules_to_allow(decision) {
        let which = if rules.len() == 1 { "this line" } else { "these lines, which are all needed" };
        lines.push(format!("The user can allow it in {CONFIGURATION}, under [permissions], with {which}:"));
        lines.extend(rules);
        lines.push("Until then go on without it.".to_owned());
    } else if question.is_some() {
        lines.push("Until then go on without it.".to_owned());
    } else {
        lines.push(
            "Nothing was decided against it: ask the user to run it themselves at their terminal, or go on \
             without it."
                .to_owned(),
        );
    }
    lines
}

/// A question that goes on without its caller.
fn still_pending(question: &str) -> [String; 2] {
    [
        format!(
            "The question is still pending as {question}: the user can answer it in a terminal of their own, by `gsh \
             approve {question}`, `gsh refuse {question}`, or in the list of `gsh approvals`."
        ),
        "Once approved, the same command, run again unchanged in this session and directory, passes once without \
         another question."
            .to_owned(),
    ]
}

/// What to do first where a damaged file takes the silence from everything, whatever its rules say.
fn mend(place: &str) -> String {
    let place = sanitize::line(place);
    format!(
        "The user has to put {place} right first: it is damaged, and `gsh status` shows what is wrong. Until \
         then go on without it."
    )
}

/// The lines of configuration that together would allow it. None where such lines would not do: for
/// files, for what stays running, where a person's own rule asks, where no mode silences the question.
fn rules_to_allow(decision: &Decision) -> Option<Vec<String>> {
    if decision.suggestions.is_empty() || decision.firm || decision.knob.is_some() {
        return None;
    }
    let asking: Vec<&Judged> =
        decision.requests.iter().filter(|judged| judged.verdict > Verdict::Allow).collect();
    let mut lines: Vec<String> = Vec::new();
    for judged in &asking {
        let of_command = matches!(
            judged.request.capability,
            Capability::ProcessExecute | Capability::NetworkAccess | Capability::GitModify
        );
        if !of_command || judged.matched.rule.as_ref().is_some_and(|rule| rule.layer != Layer::Builtin) {
            return None;
        }
        // What one command asks for under several capabilities one line covers.
        let same = asking.iter().filter(|other| other.request.subject == judged.request.subject);
        let mut offers =
            [*judged].into_iter().chain(same.copied()).filter_map(|each| each.request.suggestions.last());
        let pattern = offers.next().filter(|pattern| shown(pattern) == **pattern)?;
        let line = format!("{} = \"allow\"", quoted(&format!("Bash({pattern})")));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    Some(lines)
}

/// As a string or a key of a configuration file.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The request that decided: the first of the strictest, those that a rule denied before those that a
/// mode did.
fn decisive(decision: &Decision) -> Option<&Judged> {
    let rank = |judged: &Judged| (judged.verdict, judged.matched.verdict);
    let strictest = decision.requests.iter().map(rank).max()?;
    decision.requests.iter().find(|judged| rank(judged) == strictest && judged.verdict > Verdict::Allow)
}

/// The rule, file and line, then the words of whoever wrote it.
fn because(decision: &Decision) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(rule) = decisive(decision).and_then(|judged| judged.matched.rule.as_deref()) {
        let place = rule.file.as_deref().map_or_else(
            || if rule.layer == Layer::Builtin { "built in" } else { rule.layer.word() }.to_owned(),
            |file| match rule.line {
                0 => file.to_string(),
                line => format!("{file}:{line}"),
            },
        );
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
    lines.extend(decision.preferred().iter().map(|prefer| format!("Instead: {prefer}.")));
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
    let by = match (refusal, decision.floor.as_deref()) {
        (_, Some(_)) => "floor",
        (Refusal::Policy, None) => "policy",
        (Refusal::Person(_), None) => "person",
        (Refusal::Reviewer(_), None) => "reviewer",
        (Refusal::Unreviewed(_), None) => "review-unavailable",
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
        "prefer": decision.preferred(),
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
            code: Vec::new(),
            layer: Layer::Project,
            file: Some("/p/.gsh/config.toml".into()),
            line: 7,
            reason: None,
            expires: None,
            when: None,
            floor: None,
            within: None,
        };
        let make = Subject::Mention("make x".to_owned());
        let request =
            CapabilityRequest::new(Capability::ProcessExecute, make, "make x".to_owned(), Span::default());
        let matched =
            Match { verdict, rule: Some(Arc::new(rule)), reason: None, protected: false, held: false };
        Decision {
            floor: floor.map(Into::into),
            requests: vec![Judged { request, matched, verdict }],
            suggestions: vec!["make *".to_owned()],
            ..Decision::bare(verdict, "use just", Mode::Default)
        }
    }

    fn said(text: &[u8], decision: &Decision, by: &Refusal, as_json: bool) -> String {
        refusal(Refused { text, decision, by, damage: None }, as_json)
    }

    #[test]
    fn each_refusal_says_what_why_and_what_instead() {
        let nobody = Refusal::NobodyToAsk(Unavailable::NoTerminal);
        let kept =
            |here| Unavailable::Kept { here: Box::new(here), question: "abc12".into(), waited: Some(100) };
        let tmux = || Unavailable::NotAPersons("tmux".to_owned());
        let table: [(Refusal, Option<&'static str>, &[&str]); 9] = [
            (
                Refusal::NobodyToAsk(kept(tmux())),
                None,
                &["tmux holds it.", "nobody answered within 100 s", "terminals = ["],
            ),
            (
                Refusal::NobodyToAsk(kept(Unavailable::NoTerminal)),
                None,
                &[
                    "nobody could be asked",
                    "within 100 s",
                    "pending as abc12",
                    "gsh approve abc12",
                    "run again",
                ],
            ),
            (Refusal::NobodyToAsk(Unavailable::Changed), None, &["changed", "Run it again"]),
            (
                Refusal::Policy,
                None,
                &["refused by policy: make x", "/p/.gsh/config.toml:7", "use just", "another way"],
            ),
            (Refusal::Policy, Some("canary"), &["refused: make x (canary", "no rule, mode or approval"]),
            (Refusal::Person(None), None, &["declined: make x", "alternative"]),
            (Refusal::Person(Some("use\x1b[2J just".to_owned())), None, &["reason: use\\e[2J just", "Adapt"]),
            (nobody, None, &["nobody could be asked", "no terminal", "run it themselves"]),
            (
                Refusal::NobodyToAsk(tmux()),
                None,
                &["tmux holds it", "config.toml:\n[ask]\nterminals = [\"tmux\"]\n"],
            ),
        ];
        for (who, floor, expected) in table {
            let text = said(b"make x", &decision(Verdict::Deny, floor), &who, false);
            assert!(text.starts_with("gsh: ") && text.ends_with('\n'), "{text}");
            for part in expected {
                assert!(text.contains(part), "{part} in {text}");
            }
        }
    }

    #[test]
    fn a_mode_that_refuses_is_told_from_a_rule_that_denies() {
        let asks = |mode| {
            let mut decision = Decision { mode, ..decision(Verdict::Deny, None) };
            decision.requests.iter_mut().for_each(|judged| judged.matched.verdict = Verdict::Ask);
            decision
        };
        let table = [
            (decision(Verdict::Deny, None), "\"make x\", which is denied"),
            (asks(Mode::DontAsk), "\"make x\": it would ask, and mode dont-ask refuses what asks"),
            (asks(Mode::Plan), "\"make x\", which mode plan refuses"),
        ];
        for (decision, expected) in table {
            let text = said(b"make x", &decision, &Refusal::Policy, false);
            assert!(text.lines().next().is_some_and(|line| line.ends_with(expected)), "{text}");
        }
    }

    #[test]
    fn a_floors_reason_does_not_repeat_the_command() {
        let table = [
            ("x-word --a", "canary: it is inert (x-word)", "canary: it is inert"),
            ("cd / && x-word", "canary: it is inert (x-word)", "canary: it is inert (x-word)"),
            ("x", "canary", "canary"),
        ];
        for (command, reason, expected) in table {
            assert_eq!(without_repeating(command, reason), expected);
        }
    }

    #[test]
    fn the_first_line_is_one_line_whatever_the_command() {
        let long = format!("make x\n\x1b[2J{}", "y".repeat(1000));
        let text = said(long.as_bytes(), &decision(Verdict::Deny, None), &Refusal::Policy, false);
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.contains("make x\\n\\e[2J")
                && first.contains("more characters")
                && !first.contains('\u{1b}')
        );
    }

    #[test]
    fn json_is_one_object_on_one_line() {
        let text = said(b"make x", &decision(Verdict::Deny, None), &Refusal::Person(None), true);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        assert_eq!(
            (&value["by"], &value["status"], text.lines().count()),
            (&json!("person"), &json!(126), 1)
        );
        assert_eq!(value["rule"]["line"], json!(7));
    }
}
