//! Secrets are taken out before anything is written. What is found in one text of a record is taken out
//! of every other: a command's words stand again in its requests and reasons.

mod named;
mod names;
mod shapes;
mod words;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

/// What stands in a secret's place.
pub const REDACTED: &str = "[redacted]";

/// A shorter value is not looked for elsewhere: it would be found in the middle of everything.
const SHORTEST: usize = 4;
/// A shorter one only where it stands by itself.
const SURE: usize = 8;

/// The secrets of one record.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
}

impl Secrets {
    /// Whether a text holds a secret.
    #[must_use]
    pub fn are_in(text: &str) -> bool {
        let mut secrets = Self::default();
        secrets.learn_text(text);
        secrets.redact(text).1 > 0
    }

    /// A text without its own secrets.
    #[must_use]
    pub fn taken_out_of(text: &str) -> Cow<'_, str> {
        let mut secrets = Self::default();
        secrets.learn_text(text);
        secrets.redact(text).0
    }

    /// Learns a secret.
    pub fn learn(&mut self, value: &str) {
        let value = value.trim();
        let plain = value.bytes().all(|byte| byte.is_ascii_digit()) && value.len() < 6;
        if value.len() >= SHORTEST && !plain && !self.values.iter().any(|known| known == value) {
            self.values.push(value.to_owned());
            // The longest first: one may be part of another.
            self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Learns what a variable holds, if its name says that it is a secret.
    pub fn learn_variable(&mut self, name: &str, value: &str) {
        let strong = names::strength(name) == Some(names::Strength::Strong);
        if strong && !names::is_harmless(value, names::Strength::Strong) {
            self.learn(value);
        }
    }

    /// Learns the secrets of a text.
    pub fn learn_text(&mut self, text: &str) {
        for range in found(text) {
            let raw = text.get(range).unwrap_or_default();
            self.learn(&unquoted(raw));
            self.learn(raw);
        }
    }

    /// Learns the secrets among the words of a command, quotes removed.
    pub fn learn_words(&mut self, texts: &[String]) {
        let mut at = 0;
        let mut words = Vec::new();
        for text in texts {
            words.push(words::Word { text: text.clone(), place: at..at + text.len() });
            at += text.len() + 1;
        }
        let line = texts.join(" ");
        for range in words::of_words(&words) {
            self.learn(line.get(range).unwrap_or_default());
        }
        for text in texts {
            self.learn_text(text);
        }
    }

    /// A text without secrets, and how many were taken out.
    #[must_use]
    pub fn redact<'t>(&self, text: &'t str) -> (Cow<'t, str>, usize) {
        let mut ranges = found(text);
        for value in &self.values {
            let places = text.match_indices(value.as_str()).map(|(at, value)| at..at + value.len());
            ranges.extend(places.filter(|place| value.len() >= SURE || stands_alone(text, place)));
        }
        let ranges = joined(ranges, text);
        if ranges.is_empty() {
            return (Cow::Borrowed(text), 0);
        }
        let mut kept = String::with_capacity(text.len());
        let mut from = 0;
        for range in &ranges {
            kept.push_str(text.get(from..range.start).unwrap_or_default());
            kept.push_str(REDACTED);
            from = range.end;
        }
        kept.push_str(text.get(from..).unwrap_or_default());
        (Cow::Owned(kept), ranges.len())
    }

    /// Takes them out of every text of a value; how many there were. The keys stay.
    pub fn redact_value(&self, value: &mut Value) -> usize {
        match value {
            Value::String(text) => self.redact_string(text),
            Value::Array(items) => items.iter_mut().map(|item| self.redact_value(item)).sum(),
            Value::Object(object) => object.values_mut().map(|item| self.redact_value(item)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    /// The same for a map whose keys are texts of the command.
    pub fn redact_map(&self, object: &mut Map<String, Value>) -> usize {
        let mut count = 0;
        if object.keys().any(|key| self.redact(key).1 > 0) {
            for (key, item) in std::mem::take(object) {
                let (key, more) = self.redact(&key);
                count += more;
                object.insert(key.into_owned(), item);
            }
        }
        count + object.values_mut().map(|item| self.redact_value(item)).sum::<usize>()
    }

    fn redact_string(&self, text: &mut String) -> usize {
        let (kept, count) = self.redact(text);
        if count > 0 {
            *text = kept.into_owned();
        }
        count
    }
}

/// Where a text holds secrets by itself.
fn found(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // Whatever is shorter than this has no room for a name or a form and a secret.
    if text.len() < 6 || is_plain(text) {
        return found;
    }
    shapes::find(text, &mut found);
    named::find(text, &mut found);
    words::find(text, &mut found);
    found
}

/// One lower-case word or path without a sign that could lead to a secret: most texts of a record.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'/' | b'.' | b' ' | b','))
        && !text.contains(' ')
}

fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let edge = |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let bytes = text.as_bytes();
    edge(place.start.checked_sub(1).and_then(|at| bytes.get(at))) && edge(bytes.get(place.end))
}

/// In order, without overlaps, cut at whole characters.
fn joined(mut ranges: Vec<Range<usize>>, text: &str) -> Vec<Range<usize>> {
    ranges.retain(|range| range.start < range.end && range.end <= text.len());
    ranges.sort_by_key(|range| range.start);
    let mut kept: Vec<Range<usize>> = Vec::new();
    for mut range in ranges {
        while !text.is_char_boundary(range.start) {
            range.start -= 1;
        }
        while !text.is_char_boundary(range.end) {
            range.end += 1;
        }
        match kept.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => kept.push(range),
        }
    }
    kept
}

/// A piece of shell text without its quotes.
fn unquoted(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut escaped = false;
    for letter in raw.chars() {
        match letter {
            _ if escaped => {
                text.push(letter);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' | '\'' => {}
            other => text.push(other),
        }
    }
    text
}
