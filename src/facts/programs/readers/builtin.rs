//! `echo`, `printf`, `test` and declarations.

use super::escape::{Place, unescaped};
use super::{Refusal, append, joined};
use crate::facts::arg::{Arg, HoleKind, Part};
use crate::facts::programs::scan::splits;
use crate::facts::programs::table::Doing;
use crate::facts::programs::{Output, Reading, Role};
use crate::syntax::Cause;

/// `echo`: prints its words. Nothing is claimed about the text when an option or a backslash may change it.
pub(super) fn echo(words: &[Arg], reading: &mut Reading) {
    let plain = words.iter().all(|word| !word.display().contains('\\'));
    let option = words.first().is_some_and(may_be_echo_option);
    if let Some("-e" | "-ne" | "-en") = words.first().and_then(Arg::text) {
        return escaped_echo(words, reading);
    }
    if matches!(words.first().and_then(Arg::text), Some("-n")) && plain {
        let rest = words.get(1..).unwrap_or_default();
        if !rest.first().is_some_and(may_be_echo_option) {
            reading.output = Output::Text(joined(rest));
        }
    } else if plain && !option {
        let mut text = joined(words);
        text.push_text("\n");
        reading.output = Output::Text(text);
    }
}

/// `echo -e`, as bash reads it.
fn escaped_echo(words: &[Arg], reading: &mut Reading) {
    let rest = words.get(1..).unwrap_or_default();
    let joined = joined(rest);
    let text = joined.text().and_then(|text| unescaped(text, Place::Word));
    if let Some(mut text) = text.filter(|_| !rest.first().is_some_and(may_be_echo_option)) {
        if words.first().and_then(Arg::text) == Some("-e") {
            text.push('\n');
        }
        reading.output = Output::Text(Arg::literal(text, joined.span));
    }
}

/// Whether `echo` may take the word for an option: only letters of `-neE` make one.
fn may_be_echo_option(word: &Arg) -> bool {
    match word.text() {
        Some(text) => text.strip_prefix('-').is_some_and(|rest| {
            !rest.is_empty() && rest.chars().all(|letter| matches!(letter, 'n' | 'e' | 'E'))
        }),
        None => word.head().starts_with('-') || word.may_be_option(),
    }
}

/// `printf`: prints; `-v` assigns.
pub(super) fn printf(words: &[Arg], start: usize, reading: &mut Reading) {
    let words = match words.first().and_then(Arg::text) {
        Some("--") => words.get(1..).unwrap_or_default(),
        Some("--help" | "--version") if words.len() == 1 => return,
        Some(text) if text.starts_with("-v") => {
            reading.act(Doing::ShellState);
            return reading.unexplained(Cause::DynamicWord, text, Some(start));
        }
        _ => words,
    };
    let Some(format) = words.first() else { return };
    if format.may_be_option() || format.head().starts_with('-') {
        return reading.unexplained(Cause::DynamicWord, format.display(), Some(start));
    }
    if let Some(text) = format.text() {
        reading.output = printed(text, words.get(1..).unwrap_or_default());
    }
}

/// The text, when the format has only `%s` and `%b`, and no word may be several.
fn printed(format: &str, words: &[Arg]) -> Output {
    let Some((pieces, kinds)) = pieces(format) else { return Output::Any };
    if words.iter().any(splits) || (kinds.is_empty() && !words.is_empty()) {
        return Output::Any;
    }
    let mut text = Arg { span: words.first().map(|word| word.span).unwrap_or_default(), ..Arg::default() };
    let mut rest = words.iter();
    loop {
        for (index, piece) in pieces.iter().enumerate() {
            let kind = index.checked_sub(1).and_then(|before| kinds.get(before));
            match kind.and_then(|kind| Some((kind, rest.next()?))) {
                Some(('b', word)) => {
                    let plain = word.text().and_then(|word| unescaped(word, Place::Word));
                    let Some(plain) = plain else { return Output::Any };
                    text.push_text(&plain);
                }
                Some((_, word)) => append(&mut text, word),
                None => {}
            }
            text.push_text(piece);
        }
        if rest.len() == 0 {
            return Output::Text(text);
        }
    }
}

/// The text between the `%s` and `%b` of a format, and their letters; None when anything else is in it.
fn pieces(format: &str) -> Option<(Vec<String>, Vec<char>)> {
    let (mut pieces, mut kinds) = (Vec::new(), Vec::new());
    let mut piece = String::new();
    let mut rest = format;
    while let Some((before, after)) = rest.split_once('%') {
        piece.push_str(before);
        let letter = after.chars().next()?;
        match letter {
            's' | 'b' => {
                pieces.push(unescaped(&std::mem::take(&mut piece), Place::Format)?);
                kinds.push(letter);
            }
            '%' => piece.push('%'),
            _ => return None,
        }
        rest = after.get(1..)?;
    }
    piece.push_str(rest);
    pieces.push(unescaped(&piece, Place::Format)?);
    Some((pieces, kinds))
}

/// `test`, `[`: looks at files and compares; arithmetic operands and `-v` subscripts are evaluated.
pub(super) fn test(words: &[Arg], start: usize, reading: &mut Reading) {
    reading.output = Output::Nothing;
    let mut after = "";
    for (index, word) in words.iter().enumerate() {
        let next = words.get(index + 1).and_then(Arg::text).unwrap_or_default();
        if (is_arithmetic(after) || is_arithmetic(next)) && !is_number(word) {
            reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index));
        }
        match after {
            "-v" | "-R" if !is_identifier(word) => {
                reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index));
            }
            _ if is_file_test(after) => reading.uses(Role::List, word),
            _ => {}
        }
        if is_two_file_test(next) || is_two_file_test(after) {
            reading.uses(Role::List, word);
        }
        let may_be_test = word.text().is_none() && splits(word);
        if may_be_test {
            reading.unexplained(Cause::DynamicWord, word.display(), Some(start + index));
        }
        after = word.text().unwrap_or_default();
    }
}

fn is_arithmetic(word: &str) -> bool {
    matches!(word, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
}

fn is_two_file_test(word: &str) -> bool {
    matches!(word, "-nt" | "-ot" | "-ef")
}

fn is_file_test(word: &str) -> bool {
    matches!(word.as_bytes(), [b'-', letter] if b"abcdefghkprstuwxGLNOS".contains(letter))
}

/// A decimal number, known or known to be one.
fn is_number(word: &Arg) -> bool {
    !word.parts.is_empty()
        && word.parts.iter().all(|part| match part {
            Part::Text(text) => text.trim_start_matches(['-', '+']).bytes().all(|byte| byte.is_ascii_digit()),
            Part::Hole(hole) => matches!(hole.kind, HoleKind::Number),
        })
}

fn is_identifier(word: &Arg) -> bool {
    word.text().is_some_and(is_name)
}

fn is_name(text: &str) -> bool {
    !text.starts_with(|letter: char| letter.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// `NAME`, `NAME=VALUE`, `NAME+=VALUE`: a name without a subscript.
pub(super) fn declaration(text: &str) -> Result<(), Refusal> {
    let name = text.split('=').next().unwrap_or_default();
    let name = name.strip_suffix('+').unwrap_or(name);
    if is_name(name) { Ok(()) } else { Err((Cause::DynamicWord, text.to_owned())) }
}
