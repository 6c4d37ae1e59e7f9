//! Secrets that a name before them gives away: assignments, keys of data, headers.

use std::ops::Range;

use super::names::{Strength, is_expansion, is_harmless, is_random, strength};

/// What a walk along a text knows of the quotes around it.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    /// The quote that is open.
    open: Option<u8>,
    /// Where it was opened.
    at: usize,
}

/// Where they stand.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (mut quotes, mut at) = (Quotes::default(), 0);
    while let Some(byte) = bytes.get(at) {
        match (*byte, quotes.open) {
            (b'\\', None | Some(b'"')) => at += 1,
            (b'"' | b'\'', None) => quotes = Quotes { open: Some(*byte), at },
            (quote, Some(open)) if quote == open => quotes.open = None,
            (b'=' | b':', _) => {
                if let Some(range) = value(text, at, quotes) {
                    // The quotes of the value itself are walked through as well: the state stays right.
                    found.push(range);
                }
            }
            (b'b' | b'B', _) => found.extend(bearer(text, at)),
            (b'i' | b'I', _) => found.extend(identified(text, at)),
            _ => {}
        }
        at += 1;
    }
}

/// The name that ends before this sign, and where it begins.
fn name_before(text: &str, sign: usize) -> Option<(&str, usize)> {
    let head = text.get(..sign)?.trim_end_matches(' ');
    let head = head.trim_end_matches(['"', '\'', '\\', ']', ':']);
    let from = head
        .rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .map_or(0, |at| at + head.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8));
    let name = head.get(from..)?;
    (!name.is_empty()).then_some((name, from))
}

/// The value behind the sign at `sign`, if its name says that it is a secret.
fn value(text: &str, sign: usize, quotes: Quotes) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let colon = bytes.get(sign) == Some(&b':');
    let next = bytes.get(sign + 1).copied();
    let fallback = colon && matches!(next, Some(b'-' | b'='));
    if matches!((colon, next), (false, Some(b'=' | b'~')) | (true, Some(b'/' | b':'))) {
        return None;
    }
    let (name, from) = name_before(text, sign)?;
    let strength = strength(name)?;
    let arrow = !colon && next == Some(b'>');
    let mut start = sign + 1 + usize::from(fallback || arrow);
    let blanks = text.get(start..)?.len() - text.get(start..)?.trim_start_matches(' ').len();
    start += blanks;
    let quoted = matches!(bytes.get(start), Some(b'"' | b'\'')) || text.get(start..)?.starts_with("\\\"");
    // `name = value` is code or data only where the value is quoted; a shell would see three words.
    let apart = bytes.get(sign.wrapping_sub(1)) == Some(&b' ') || blanks > 0;
    if !colon && !arrow && apart && !quoted {
        return None;
    }
    let heads_quote = quotes.open.is_some() && quotes.at + 1 == from;
    let end = if colon && !fallback && heads_quote && !quoted {
        header_end(text, start, quotes)
    } else if !colon && heads_quote && !quoted && follows_option(text, quotes.at) {
        close(text, start, quotes.open)
    } else {
        word_end(text, start, quotes.open, fallback)
    };
    let mut range = inside(text, start..end);
    let told = fallback || closes_name(text, sign) || is_line_head(text, from);
    let header = heads_quote && (follows_header_option(text, quotes.at) || is_header(name));
    let alone = heads_quote && text.get(range.clone()).is_some_and(|value| !value.contains(' '));
    // In prose a colon says little.
    let strength = if !colon || told || header || alone { strength } else { Strength::Weak };
    if colon && is_scheme_name(name) {
        range = after_scheme(text, range);
    }
    let value = text.get(range.clone())?;
    (!is_harmless(value, strength)).then_some(range)
}

/// `"password": `: the name is a key of data.
fn closes_name(text: &str, sign: usize) -> bool {
    text.get(..sign).is_some_and(|head| head.trim_end().ends_with(['"', '\'']))
}

fn is_line_head(text: &str, from: usize) -> bool {
    text.get(..from).is_some_and(|head| head.trim_end_matches([' ', '-']).ends_with('\n'))
}

/// Whether the word before the quote at `at` is an option that takes a text which is no script.
fn follows_option(text: &str, at: usize) -> bool {
    let word = text.get(..at).and_then(|head| head.trim_end().rsplit([' ', '\n']).next()).unwrap_or_default();
    word.starts_with('-') && !word.ends_with('c')
}

fn follows_header_option(text: &str, at: usize) -> bool {
    let word = text.get(..at).and_then(|head| head.trim_end().rsplit([' ', '\n']).next()).unwrap_or_default();
    word.starts_with("-H") || word.starts_with('-') && word.contains("header")
}

fn is_header(name: &str) -> bool {
    is_scheme_name(name) || name.eq_ignore_ascii_case("cookie") || name.eq_ignore_ascii_case("set-cookie")
}

fn is_scheme_name(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with("authorization")
}

/// Without the word of the scheme (`Bearer`, `Basic`), where a value follows it.
fn after_scheme(text: &str, range: Range<usize>) -> Range<usize> {
    let value = text.get(range.clone()).unwrap_or_default();
    match value.find(' ') {
        Some(at) if value.get(..at).is_some_and(|word| word.bytes().all(|b| b.is_ascii_alphabetic())) => {
            range.start + at + 1..range.end
        }
        _ => range,
    }
}

/// The end of a header: of its quote or line.
fn header_end(text: &str, start: usize, quotes: Quotes) -> usize {
    let end = close(text, start, quotes.open);
    text.get(start..end).and_then(|value| value.find(['\n', '\r'])).map_or(end, |at| start + at)
}

/// Where the open quote closes.
fn close(text: &str, start: usize, open: Option<u8>) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if open == Some(b'"') => at += 1,
            _ if Some(*byte) == open => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Where the word ends, of which the value is a part: quotes of its own belong to it, the quote around it
/// ends it.
fn word_end(text: &str, start: usize, around: Option<u8>, fallback: bool) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        let byte = *byte;
        if byte == b'\\' && around != Some(b'\'') {
            if bytes.get(at + 1) == around.as_ref() {
                // A quote within the quote: up to the next such.
                let rest = text.get(at + 2..).unwrap_or_default();
                at = rest.find("\\\"").map_or(text.len(), |length| at + 2 + length + 2);
                continue;
            }
            at += 2;
            continue;
        }
        if Some(byte) == around {
            return at;
        }
        match byte {
            b'"' | b'\'' => at = close(text, at + 1, Some(byte)),
            b'$' if matches!(bytes.get(at + 1), Some(b'{' | b'(')) => {
                let rest = text.get(at..).unwrap_or_default();
                at += rest.find(['}', ')']).unwrap_or(rest.len());
            }
            b'}' if fallback => return at,
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b'&' | b'(' | b')' | b'<' | b'>' | b'`' | b',' => {
                return at;
            }
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Without the quotes, where one pair holds the whole value.
fn inside(text: &str, range: Range<usize>) -> Range<usize> {
    let end = range.end.min(text.len());
    let value = text.get(range.start..end).unwrap_or_default();
    for quote in ["\\\"", "\"", "'"] {
        let inner = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote));
        if let Some(inner) = inner.filter(|inner| !inner.contains(quote)) {
            let start = range.start + quote.len();
            return start..start + inner.len();
        }
    }
    // The brackets of data that stands around it.
    let kept = value.trim_end_matches(['}', ']']);
    let kept = if value.contains(['{', '[']) { value } else { kept };
    range.start..range.start + kept.len()
}

/// `Bearer VALUE`, wherever it stands.
fn bearer(text: &str, at: usize) -> Option<Range<usize>> {
    let word = text.get(at..at + 7)?;
    word.eq_ignore_ascii_case("bearer ").then_some(())?;
    let start = at + 7;
    let rest = text.get(start..)?;
    let length = rest.find(|c: char| c.is_whitespace() || "\"'`;|&)\\".contains(c)).unwrap_or(rest.len());
    let value = rest.get(..length)?;
    (is_random(value) && !is_expansion(value)).then_some(start..start + length)
}

/// SQL's `IDENTIFIED BY 'VALUE'`.
fn identified(text: &str, at: usize) -> Option<Range<usize>> {
    let word = text.get(at..at + 14)?;
    word.eq_ignore_ascii_case("identified by ").then_some(())?;
    let rest = text.get(at + 14..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let length = rest.get(1..)?.find(quote)?;
    Some(at + 15..at + 15 + length)
}
