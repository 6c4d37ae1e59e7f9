//! Codex: `*.rules` files of literal calls. `prefix_rule` names the first words of a command; of what matches
//! the strictest holds.

use super::carry::{Lost, Meaning, Shadow};
use super::starlark::{Call, Statement, Value, statements};
use super::words::CommandPattern;
use super::{Page, ReadError, Weighed, verdict};
use crate::config::new_rule::NewRule;
use crate::policy::Verdict;
use crate::policy::pattern::matches;
use crate::syntax::quote;

/// How many commands one rule may name by its alternatives.
const MOST: usize = 64;

pub(super) fn read(page: &Page<'_>) -> Result<Vec<Weighed>, ReadError> {
    Ok(statements(page.text()).iter().map(|statement| one(page, statement)).collect())
}

fn one(page: &Page<'_>, statement: &Statement) -> Weighed {
    let (line, text) = (statement.line, statement.text.clone());
    let Some(call) = &statement.call else {
        // Without a call no rule is made.
        let shadow = if text.contains('(') { Shadow::Commands(String::new()) } else { Shadow::Nothing };
        return page.unread(line, text, "not a literal call", shadow);
    };
    match call.name.as_str() {
        "prefix_rule" => {
            let word = call.get("decision").map_or(Some("allow"), Value::text);
            match word.and_then(verdict) {
                Some(action) => page.rule(line, text, action, prefix_rule(page, call, action)),
                None => page.unread(line, text, "its decision is unknown", Shadow::Commands(String::new())),
            }
        }
        "host_executable" => {
            let why = "gsh calls a program by its name only where PATH finds that very file";
            page.unread(line, text, why, Shadow::Nothing)
        }
        "network_rule" => {
            page.unread(line, text, "gsh judges commands that connect, not hosts", Shadow::Nothing)
        }
        _ => page.unread(line, text, "this call is unknown", Shadow::Commands(String::new())),
    }
}

fn prefix_rule(page: &Page<'_>, call: &Call, action: Verdict) -> Result<Meaning, Lost> {
    let known = ["pattern", "decision", "justification", "match", "not_match"];
    let odd = call.plain > 0 || call.named.iter().any(|(key, _)| !known.contains(&key.as_str()));
    if odd && action == Verdict::Allow {
        return Err(Lost::command("it has arguments that are unknown"));
    }
    let pattern = call.get("pattern").and_then(Value::items).unwrap_or_default();
    let Some(commands) = commands(pattern, action).filter(|_| !pattern.is_empty()) else {
        return Err(Lost::command("its pattern is no list of words"));
    };
    let mut whole = Meaning::default();
    for words in commands {
        let text = words.join(" ");
        let meaning = CommandPattern::prefix(&text).meaning(action, page.home())?;
        whole.rules.extend(meaning.rules);
        whole = meaning.stricter.into_iter().fold(whole, Meaning::stricter);
    }
    if action == Verdict::Allow && pattern.iter().any(is_replaced) {
        whole = whole.stricter("only where the shell does not put names of files in");
    }
    let reason = call.get("justification").and_then(Value::text);
    for rule in &mut whole.rules {
        rule.reason = reason.map(str::to_owned);
        examples(call, rule);
    }
    Ok(whole)
}

/// Every command that the alternatives make, its words spelled.
fn commands(pattern: &[Value], action: Verdict) -> Option<Vec<Vec<String>>> {
    let mut found: Vec<Vec<String>> = vec![vec![]];
    for place in pattern {
        let words: Vec<&str> = match place {
            Value::List(words) => words.iter().map(Value::text).collect::<Option<_>>()?,
            word => vec![word.text()?],
        };
        let words: Vec<String> = words.into_iter().flat_map(|word| spelled(word, action)).collect();
        if words.is_empty() || found.len() * words.len() > MOST {
            return None;
        }
        let heads = found.iter();
        found = heads
            .flat_map(|head| words.iter().map(|word| [head.as_slice(), std::slice::from_ref(word)].concat()))
            .collect();
    }
    Some(found)
}

/// A word as it may be typed. The agent compares words before the shell puts a home or names of files in.
fn spelled(word: &str, action: Verdict) -> Vec<String> {
    let plain = |c: char| c.is_alphanumeric() || "_@%+=:,./-~*?[]".contains(c);
    let as_it_is = !word.is_empty() && word.chars().all(plain);
    match as_it_is {
        true if word.starts_with('~') => vec![word.to_owned(), quote(word)],
        true if action != Verdict::Allow => vec![word.to_owned()],
        _ => vec![quote(word)],
    }
}

/// Whether the shell puts names of files in the place of a word.
fn is_replaced(place: &Value) -> bool {
    match place {
        Value::Text(word) => word.contains(['*', '?', '[']),
        Value::List(words) => words.iter().any(is_replaced),
        Value::Word(_) => false,
    }
}

/// The examples that this one of the rule's patterns has to meet.
fn examples(call: &Call, rule: &mut NewRule) {
    let all = |key| {
        let texts = call.get(key).and_then(Value::items).unwrap_or_default().iter();
        texts.filter_map(|example| match example {
            Value::Text(text) => Some(text.clone()),
            Value::List(words) => {
                let words: Option<Vec<_>> = words.iter().map(|word| word.text().map(quote)).collect();
                words.map(|words| words.join(" "))
            }
            Value::Word(_) => None,
        })
    };
    rule.matches = all("match").filter(|example| matches(&rule.pattern, example)).collect();
    rule.not_matches = all("not_match").filter(|example| !matches(&rule.pattern, example)).collect();
}
