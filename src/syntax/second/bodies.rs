//! Bodies of here-documents inside a word, hidden from the other parser's reading of words.
//!
//! That reading looks for the end of a substitution without knowing here-documents: a quote or a
//! parenthesis in a commit message would mislead it. The word itself was cut out by its tokenizer, which
//! knows them, and the substitution's text is read by its parser with the bodies as they are.

use super::super::heredoc;

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

/// The word with stand-ins in the bodies of its here-documents; None where it has none.
pub(super) fn masked(raw: &str) -> Option<String> {
    if !raw.contains("<<") || !raw.contains('\n') || raw.contains(is_stand_in) {
        return None;
    }
    let split = heredoc::split(raw).ok()?;
    let mut text = String::with_capacity(raw.len() * 2);
    let mut done = 0;
    for document in split.documents.values() {
        text.push_str(raw.get(done..document.start)?);
        text.extend(raw.get(document.start..document.end)?.chars().map(stand_in));
        done = document.end;
    }
    text.push_str(raw.get(done..)?);
    Some(text)
}

/// The text without stand-ins.
pub(super) fn unmasked(text: &str) -> String {
    let real = |c: char| STAND_INS.iter().find(|(_, with)| *with == c).map_or(c, |(real, _)| *real);
    text.chars().map(real).collect()
}

fn stand_in(c: char) -> char {
    STAND_INS.iter().find(|(real, _)| *real == c).map_or(c, |(_, with)| *with)
}

fn is_stand_in(c: char) -> bool {
    STAND_INS.iter().any(|(_, with)| *with == c)
}
