//! Words written so that bash reads them back.

use std::fmt::Write;

use super::parse::is_odd;

/// The word as one shell word: quoted only where it must be.
///
/// Read back by [`super::parse`] as an argument it is one word of exactly this text.
#[must_use]
pub fn quote(word: &str) -> String {
    if is_plain(word) {
        return word.to_owned();
    }
    if word.chars().any(is_odd) {
        return escape(word);
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn is_plain(word: &str) -> bool {
    let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"_@%+=:,./-~^".contains(&byte) || byte >= 0x80;
    let tilde = word.starts_with('~') || word.contains("=~") || word.contains(":~");
    // The grammar takes a leading `=` for a part of an operator, and a `#` after digits for a number's base.
    !word.is_empty()
        && word.bytes().all(safe)
        && !tilde
        && !word.starts_with('=')
        && !word.chars().any(is_odd)
}

/// `$'…'`, for what may not stand in a text as it is.
fn escape(word: &str) -> String {
    let mut text = String::from("$'");
    for c in word.chars() {
        match c {
            '\\' | '\'' => {
                text.push('\\');
                text.push(c);
            }
            _ if is_odd(c) => {
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    // Octal with all its digits: no character after it can become a part of it.
                    let _ = write!(text, "\\{byte:03o}");
                }
            }
            _ => text.push(c),
        }
    }
    text.push('\'');
    text
}
