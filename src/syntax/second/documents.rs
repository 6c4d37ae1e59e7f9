//! Where here-documents mislead the other parser, and stand-ins that keep them from it.
//!
//! Its tokenizer knows here-documents, and tells by itself where their bodies begin and end. But its
//! reading of words does not: a quote or a parenthesis in a commit message inside of `"$( … )"` would end
//! the substitution. And on the line of an operator its tokenizer takes the parts of `${ … }` and `$( … )`
//! for words of their own. There the characters that mislead it are replaced until that stage is over;
//! every command inside is still read by the other parser itself, and as it stands.

use std::borrow::Cow;

use super::super::heredoc::{self, HereDocument};

/// Characters that mean something in a word, each with its stand-in.
const STAND_INS: [(char, char); 8] = [
    ('\'', '\u{F0000}'),
    ('"', '\u{F0001}'),
    ('$', '\u{F0002}'),
    ('`', '\u{F0003}'),
    ('\\', '\u{F0004}'),
    ('(', '\u{F0005}'),
    (')', '\u{F0006}'),
    ('}', '\u{F0007}'),
];

/// A word without what the bodies in it could mean. None: it is fine as it is.
pub(super) fn without_bodies(raw: &str) -> Option<String> {
    let real = |document: &HereDocument| (document.start, document.end);
    raw.contains('\n').then(|| replaced(raw, real, |_, c| stand_in(c))).flatten()
}

/// A text whose operator lines hold no expansion. None: it is fine as it is.
pub(super) fn without_expansions(text: &str) -> Option<String> {
    if !text.contains("${") && !text.contains("$(") {
        return None;
    }
    let line = |document: &HereDocument| {
        let rest = text.get(document.operator_end..).unwrap_or_default();
        (document.operator_end, document.operator_end + rest.find('\n').unwrap_or(rest.len()))
    };
    let expansion = |rest: &str, c| match rest.as_bytes() {
        [b'$', b'{' | b'(', ..] => stand_in(c),
        _ => c,
    };
    replaced(text, line, expansion)
}

/// The text without stand-ins.
pub(super) fn restored(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let real = |c: char| STAND_INS.iter().find(|(_, with)| *with == c).map_or(c, |(real, _)| *real);
    text.chars().map(real).collect()
}

/// Replaces characters in one range of each here-document; `with` sees the rest of the text too.
fn replaced(
    text: &str,
    range: impl Fn(&HereDocument) -> (usize, usize),
    with: impl Fn(&str, char) -> char,
) -> Option<String> {
    if !text.contains("<<") || text.contains(is_stand_in) {
        return None;
    }
    let split = heredoc::split(text).ok()?;
    let mut made = String::with_capacity(text.len() * 2);
    let mut done = 0;
    for document in split.documents.values() {
        let (start, end) = range(document);
        // The line of a second operator is that of the first.
        if start < done {
            continue;
        }
        made.push_str(text.get(done..start)?);
        let part = text.get(start..end)?;
        made.extend(part.char_indices().map(|(at, c)| with(part.get(at..).unwrap_or_default(), c)));
        done = end;
    }
    made.push_str(text.get(done..)?);
    Some(made)
}

fn stand_in(c: char) -> char {
    STAND_INS.iter().find(|(real, _)| *real == c).map_or(c, |(_, with)| *with)
}

fn is_stand_in(c: char) -> bool {
    STAND_INS.iter().any(|(_, with)| *with == c)
}
