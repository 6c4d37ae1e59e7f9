//! Patterns that look like others, and names that nobody has.

use super::{Finding, Severity, named};
use crate::config::schema::closest;
use crate::policy::agents::AGENTS;
use crate::policy::pattern::Pattern;
use crate::policy::{Capability, Rule, Verdict};

/// What is odd about a rule by itself.
pub(super) fn findings(rule: &Rule) -> Vec<Finding> {
    let of_agents =
        rule.when.iter().flat_map(|when| &when.agents).filter_map(|agent| agent_name(rule, agent));
    character(rule).into_iter().chain(boundary(rule)).chain(literal_glob(rule)).chain(of_agents).collect()
}

fn agent_name(rule: &Rule, agent: &str) -> Option<Finding> {
    let known: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
    if known.contains(&agent) {
        return None;
    }
    let help = match closest(agent, &known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("known: {}", known.join(", ")),
    };
    let message = format!("{} is for an agent `{agent}`, which gsh does not know", named(rule));
    Some(Finding::new(Severity::Warning, "unknown-agent", rule, message, &help))
}

/// A character that is not seen, or looks like another.
fn character(rule: &Rule) -> Option<Finding> {
    let code = |c: char| format!("U+{:04X}", u32::from(c));
    if let Some(c) = rule.pattern.chars().find(|c| is_unseen(*c)) {
        let message = format!("{} holds the character {}, which is not seen", named(rule), code(c));
        let help = "type the pattern anew; a command that holds such a character is asked about in any case";
        return Some(Finding::new(Severity::Warning, "odd-character", rule, message, help));
    }
    let word = rule.pattern.split(|c: char| !c.is_alphanumeric()).find(|word| is_mixed(word))?;
    let c = word.chars().find(|c| imitates(*c))?;
    let message =
        format!("{}: in `{word}` stands {}, which looks like a letter of ASCII", named(rule), code(c));
    Some(Finding::new(Severity::Warning, "odd-character", rule, message, "type the word anew"))
}

fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{a0}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{1680}' | '\u{17b4}'
            | '\u{17b5}' | '\u{180e}' | '\u{2000}'..='\u{200f}' | '\u{2028}'..='\u{202f}' | '\u{205f}'..='\u{206f}'
            | '\u{3000}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e0fff}')
}

/// A letter of a script, or of a set, whose letters are taken for those of ASCII.
fn imitates(c: char) -> bool {
    c.is_alphanumeric()
        && matches!(c,
            '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{2c80}'..='\u{2cff}' | '\u{ff00}'..='\u{ffef}'
            | '\u{1d400}'..='\u{1d7ff}' | '\u{131}' | '\u{237}' | '\u{251}' | '\u{261}')
}

/// A word of one script is a word; one that only looks like ASCII in parts is not. The wide and the
/// mathematical letters are letters of nothing else.
fn is_mixed(word: &str) -> bool {
    let ascii = word.chars().any(|c| c.is_ascii_alphabetic());
    let set = |c: char| matches!(c, '\u{ff00}'..='\u{ffef}' | '\u{1d400}'..='\u{1d7ff}');
    word.chars().any(|c| imitates(c) && (ascii || set(c)))
}

/// `ls*` is `lsof` too.
fn boundary(rule: &Rule) -> Option<Finding> {
    let is_command = Capability::ALL
        .iter()
        .any(|of| !of.is_file() && *of != Capability::ToolUse && super::covers(rule, *of));
    let head = rule.pattern.strip_suffix('*')?;
    let word_end = head.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    if !is_command || !word_end || head.contains(['*', '?', '/']) {
        return None;
    }
    let words: Vec<&str> = head.split(' ').collect();
    let is_name = match words.as_slice() {
        [_] => true,
        [program, _] => crate::facts::programs::abilities(program).is_some_and(|able| able.has_subcommands),
        _ => false,
    };
    let more = Pattern::new(&rule.pattern).matches(&format!("{head}x"));
    let severity = if rule.action == Verdict::Allow { Severity::Warning } else { Severity::Note };
    let message = format!("{} is also for every name that begins with `{head}`", named(rule));
    let help = format!("write `{head} *` for `{head}` with whatever follows");
    (is_name && more).then(|| Finding::new(severity, "no-boundary", rule, message, &help))
}

/// `*.{js,ts}` and `[ab].txt` are plain characters here.
fn literal_glob(rule: &Rule) -> Option<Finding> {
    let held = |open: char, inside: &str, close: char| {
        let rest = rule.pattern.split_once(open).map(|(_, rest)| rest);
        rest.and_then(|rest| rest.split_once(close)).is_some_and(|(within, _)| within.contains(inside))
    };
    let is_path = rule.capability.starts_with("file.");
    let found = is_path && (held('{', ",", '}') || held('[', "", ']'));
    let message = format!("{}: braces and brackets stand for themselves in a pattern", named(rule));
    let help = "write a rule for each, or use `*` and `?`";
    found.then(|| Finding::new(Severity::Warning, "literal-glob", rule, message, help))
}
