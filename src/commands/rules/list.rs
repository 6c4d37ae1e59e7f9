//! `gsh rules list`: the rules as they hold, lowest first.

use std::fmt::Write;

use serde::Serialize;

use crate::policy::rules::{Bounded, Reach};
use crate::policy::{Idle, Policy, When};

/// Why an allow of a file that nobody trusted does not count.
const UNTRUSTED: &str = "untrusted: no effect";

/// One rule as it is listed.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    layer: &'static str,
    file: Option<&'a str>,
    line: Option<usize>,
    capability: &'a str,
    pattern: &'a str,
    action: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    destroys: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lifts: bool,
    /// It is folded in by strictness and can only raise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    tightens: bool,
    /// Why it does not count now.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle: Option<&'static str>,
    /// When it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<&'a When>,
    /// The entry of a floor that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    floor: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limited_to: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<&'a str>,
}

/// The rules for a person, a line each: action, capability, pattern, place, and what is special.
#[must_use]
pub fn text(policy: &Policy) -> String {
    let builtins: Vec<Bounded> = policy.builtins().collect();
    let listed = list(policy, &builtins);
    let width = |of: fn(&Listed<'_>) -> usize| listed.iter().map(of).max().unwrap_or_default().min(40);
    let (capability, pattern) =
        (width(|rule| rule.capability.chars().count()), width(|rule| visible(rule.pattern).chars().count()));
    let mut text = String::new();
    for rule in &listed {
        let place = match (rule.file, rule.line) {
            (Some(file), Some(line)) => format!("{}  {}:{line}", rule.layer, visible(file)),
            _ => rule.layer.to_owned(),
        };
        let (name, of) = (rule.capability, visible(rule.pattern));
        // Writing to a string cannot fail.
        let _ = write!(text, "{:<6}  {name:<capability$}  {of:<pattern$}  {place}", rule.action);
        for special in specials(rule) {
            let _ = write!(text, "  [{special}]");
        }
        text.push('\n');
    }
    text
}

/// The rules as data: one JSON array.
#[must_use]
pub fn json(policy: &Policy) -> String {
    let builtins: Vec<Bounded> = policy.builtins().collect();
    serde_json::to_string_pretty(&list(policy, &builtins)).unwrap_or_default()
}

fn list<'a>(policy: &'a Policy, builtins: &'a [Bounded]) -> Vec<Listed<'a>> {
    let composed = builtins.iter().chain(policy.rules.iter()).map(|each| (each, false));
    let tighten = policy.tighten.iter().flat_map(|set| set.iter()).map(|each| (each, true));
    let in_force = composed.chain(tighten).map(|(each, tightens)| entry(each, tightens));
    // What nobody trusted is shown too, or it would look as if the file did not say it.
    let unheard = policy.unheard.iter().map(|each| Listed { idle: Some(UNTRUSTED), ..entry(each, false) });
    in_force.chain(unheard).collect()
}

fn entry<'a>(each: &'a Bounded, tightens: bool) -> Listed<'a> {
    let rule = &*each.rule;
    let limited_to = match each.bounds.reach {
        Reach::Any => None,
        Reach::Query => Some("queries"),
        Reach::Overwrite => Some("new files and overwriting"),
    };
    Listed {
        layer: rule.layer.word(),
        file: rule.file.as_deref(),
        line: (rule.line > 0).then_some(rule.line),
        capability: &rule.capability,
        pattern: &rule.pattern,
        action: rule.action.word(),
        destroys: rule.destroys,
        lifts: rule.lifts,
        tightens,
        idle: each.idle.map(Idle::word),
        floor: rule.floor.as_deref(),
        when: rule.when.as_deref(),
        limited_to,
        reason: rule.reason.as_deref(),
        expires: rule.expires.as_deref(),
    }
}

fn specials(rule: &Listed<'_>) -> Vec<String> {
    let flags =
        [(rule.destroys, "destroys"), (rule.lifts, "lifts ask only"), (rule.tightens, "tightens only")];
    let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned());
    let conditions = rule.when.map(conditions).unwrap_or_default();
    let until = rule.expires.filter(|_| rule.idle != Some(Idle::Expired.word()));
    let until = until.map(|day| format!("until {day}"));
    let flags =
        flags.chain(rule.idle.map(str::to_owned)).chain(rule.floor.map(|name| format!("floor {name}")));
    flags.chain(rule.limited_to.map(str::to_owned)).chain(until).chain(conditions).collect()
}

/// When a rule counts, in words.
fn conditions(when: &When) -> Vec<String> {
    let list =
        |name: &str, words: Vec<&str>| (!words.is_empty()).then(|| format!("{name} {}", words.join(", ")));
    let found = [
        list("modes", when.modes.iter().map(|mode| mode.word()).collect()),
        list("entry", when.entries.iter().map(|entry| entry.word()).collect()),
        list("agent", when.agents.iter().map(String::as_str).collect()),
        when.interactive
            .map(|wanted| if wanted { "with a terminal" } else { "without a terminal" }.to_owned()),
    ];
    found.into_iter().flatten().collect()
}

/// A text of a file with its control characters made visible, so that it cannot paint the terminal.
pub(in crate::commands) fn visible(text: &str) -> String {
    text.chars().flat_map(|c| if is_plain(c) { vec![c] } else { c.escape_unicode().collect() }).collect()
}

/// Neither a control character nor one that reorders or hides what stands beside it.
fn is_plain(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::compose::{Composition, compose};
    use crate::policy::{Layer, LayerRules, Places, Rule, Verdict};

    fn policy() -> Policy {
        let mut odd = Rule::new(Layer::User, "process.execute", "x\u{1b}[2J\u{202e}", Verdict::Deny);
        (odd.file, odd.line, odd.expires) = (Some("/u/config.toml".into()), 3, Some("2020-01-01".into()));
        let spans = Rule::new(Layer::User, "*", "*secret*", Verdict::Ask);
        let managed = Rule::new(Layer::Managed, "git.modify", "git push *", Verdict::Deny);
        let layers = vec![
            LayerRules::of_rules(Layer::User, vec![odd, spans]),
            LayerRules::of_rules(Layer::Managed, vec![managed]),
        ];
        let today = "2030-01-01".to_owned();
        compose(layers, Composition::new(Places::default(), &today))
    }

    #[test]
    fn a_line_for_each_rule() {
        let text = text(&policy());
        assert!(!text.contains(['\u{1b}', '\u{202e}']));
        assert_eq!(text.matches("*secret*").count(), 1);
        for words in [
            &["deny", "user  /u/config.toml:3", "[expired]"][..],
            &["git push *", "managed", "[tightens only]"],
        ] {
            let found = text.lines().any(|line| words.iter().all(|word| line.contains(word)));
            assert!(found, "{words:?} in\n{text}");
        }
    }

    #[test]
    fn the_same_as_data() {
        let data: serde_json::Value = serde_json::from_str(&json(&policy())).expect("JSON");
        let rules = data.as_array().expect("an array");
        assert_eq!(rules.len(), text(&policy()).lines().count());
        let odd = rules.iter().find(|rule| rule["line"] == 3).expect("listed");
        assert_eq!(
            (&odd["layer"], &odd["action"], &odd["idle"]),
            (&"user".into(), &"deny".into(), &"expired".into())
        );
        let first = rules.first().expect("builtin rules");
        assert_eq!((&first["layer"], &first["file"]), (&"builtin".into(), &serde_json::Value::Null));
    }
}
