//! Lines of a text, and the spelling of what is written into it.

use std::fmt::Write;

use toml_edit::RawString;

use crate::config::new_rule::NewRule;
use crate::config::schema::names_capability;
use crate::policy::agent_form::translate;

/// The line of a byte, from 1.
pub(super) fn line(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// Where the line of a byte begins.
pub(super) fn start_of_line(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)
}

/// Where the next line begins.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |length| at + length + 1)
}

/// Whether nothing but blanks stand in the first line.
pub(super) fn begins_blank(text: &str) -> bool {
    text.lines().next().is_none_or(|line| line.trim().is_empty())
}

/// Whether no further `key = value` follows at once.
pub(super) fn is_end_of_run(rest: &str) -> bool {
    begins_blank(rest) || rest.trim_start().starts_with(['[', '#'])
}

/// Where the comments begin that stand right above a line, within what the parser knows to lie between
/// it and what precedes it: a text over many lines may hold `#` too.
pub(super) fn with_comments(text: &str, above: Option<&RawString>, at: usize) -> usize {
    let from = above.and_then(RawString::span).map_or(at, |span| span.start.min(at));
    let mut start = at;
    while start > from {
        let before = start_of_line(text, start - 1);
        if before < from || !text.get(before..start).is_some_and(|line| line.trim_start().starts_with('#')) {
            break;
        }
        start = before;
    }
    start
}

/// Where the comments end that stand right below a line. What a header follows is that one's.
pub(super) fn comments_below(text: &str, at: usize) -> usize {
    let mut end = at;
    while text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('#')) {
        end = end_of_line(text, end);
    }
    if text.get(end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('[')) {
        at
    } else {
        end
    }
}

/// How lines end here.
pub(super) fn newline(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A string in one line. What would not show, or would lead a reader astray, is spelled out; a string
/// over several lines could hold what looks like a header to whoever salvages a broken file.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        // Writing to a string cannot fail.
        let _ = match c {
            '"' | '\\' => write!(out, "\\{c}"),
            '\n' => write!(out, "\\n"),
            '\r' => write!(out, "\\r"),
            '\t' => write!(out, "\\t"),
            c if is_hidden(c) => write!(out, "\\u{:04X}", u32::from(c)),
            c => write!(out, "{c}"),
        };
    }
    out.push('"');
    out
}

/// A control character, or one that reorders or hides what stands beside it.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

fn quoted_all(texts: &[String]) -> String {
    listed(texts.iter().map(String::as_str))
}

fn listed<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    format!("[{}]", texts.map(quoted).collect::<Vec<_>>().join(", "))
}

/// The text of a file that holds these rules and nothing else.
#[must_use]
pub fn text_of(rules: &[NewRule]) -> String {
    rules.iter().map(|rule| Written::new(rule).block("\n")).collect()
}

/// A rule as it is written into a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// Its capability, or a rule in an agent's form.
    pub(super) capability: String,
    /// Its pattern; a rule in an agent's form has none beside it.
    pub(super) pattern: Option<String>,
    /// The rest: keys, and values as they are spelled.
    pub(super) terms: Vec<(String, String)>,
    /// Comments above it.
    pub(super) comments: Vec<String>,
}

impl Written {
    /// Of a new rule.
    pub(super) fn new(rule: &NewRule) -> Self {
        let in_agents_form = !names_capability(&rule.capability) && translate(&rule.capability).is_some();
        let pattern = (!(in_agents_form && rule.pattern == "*")).then(|| rule.pattern.clone());
        let mut terms = vec![("action", quoted(rule.action.word()))];
        let mut add = |is_set: bool, key, value: &dyn Fn() -> String| {
            if is_set {
                terms.push((key, value()));
            }
        };
        let when = &rule.when;
        add(rule.destroys, "destroys", &|| "true".to_owned());
        add(rule.lifts, "lifts", &|| quoted("ask"));
        add(rule.reason.is_some(), "reason", &|| quoted(rule.reason.as_deref().unwrap_or_default()));
        add(!rule.matches.is_empty(), "match", &|| quoted_all(&rule.matches));
        add(!rule.not_matches.is_empty(), "not_match", &|| quoted_all(&rule.not_matches));
        add(rule.expires.is_some(), "expires", &|| quoted(rule.expires.as_deref().unwrap_or_default()));
        add(!when.modes.is_empty(), "modes", &|| listed(when.modes.iter().map(|mode| mode.word())));
        add(!when.entries.is_empty(), "entry", &|| listed(when.entries.iter().map(|entry| entry.word())));
        add(!when.agents.is_empty(), "agent", &|| quoted_all(&when.agents));
        add(when.interactive.is_some(), "interactive", &|| when.interactive.unwrap_or_default().to_string());
        let terms = terms.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Self { capability: rule.capability.clone(), pattern, terms, comments: vec![] }
    }

    /// Whether it says an action and nothing else.
    pub(super) fn is_plain(&self) -> bool {
        matches!(&self.terms[..], [(key, _)] if key == "action") && self.pattern.is_some()
    }

    fn keys(&self) -> impl Iterator<Item = String> {
        let of_rule = [("capability", Some(&self.capability)), ("pattern", self.pattern.as_ref())];
        let named = of_rule.into_iter().filter_map(|(key, text)| Some(format!("{key} = {}", quoted(text?))));
        named.chain(self.terms.iter().map(|(key, value)| format!("{key} = {value}")))
    }

    /// As a block.
    pub(super) fn block(&self, newline: &str) -> String {
        let header = ["[[permissions.rules]]".to_owned()];
        let lines = self.comments.iter().cloned().chain(header).chain(self.keys());
        lines.map(|line| line + newline).collect()
    }

    /// As a line of its capability's table.
    pub(super) fn nested(&self, newline: &str) -> String {
        let pattern = quoted(self.pattern.as_deref().unwrap_or("*"));
        let line = match &self.terms[..] {
            [(key, value)] if key == "action" => format!("{pattern} = {value}"),
            terms => {
                let terms: Vec<_> = terms.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                format!("{pattern} = {{ {} }}", terms.join(", "))
            }
        };
        self.comments.iter().chain([&line]).map(|line| format!("{line}{newline}")).collect()
    }

    /// As an element of an array.
    pub(super) fn element(&self) -> String {
        format!("{{ {} }}", self.keys().collect::<Vec<_>>().join(", "))
    }
}
