//! Backslash sequences of `printf` and `echo -e`.

/// Where a sequence stands: what an octal one looks like differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The format of `printf`: `\NNN`.
    Format,
    /// A word for `%b`, or of `echo -e`: `\0NNN`.
    Word,
}

/// The text without its backslash sequences; None where shells disagree or the text ends early (`\c`).
pub(super) fn unescaped(text: &str, place: Place) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        bytes.extend(before.bytes());
        rest = sequence(after, place, &mut bytes)?;
    }
    bytes.extend(rest.bytes());
    String::from_utf8(bytes).ok()
}

/// Reads one sequence after its backslash; what follows it.
fn sequence<'a>(text: &'a str, place: Place, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let letter = text.chars().next()?;
    let tail = text.get(letter.len_utf8()..)?;
    match letter {
        'n' => bytes.push(b'\n'),
        't' => bytes.push(b'\t'),
        '\\' => bytes.push(b'\\'),
        'r' => bytes.push(b'\r'),
        'a' => bytes.push(7),
        'b' => bytes.push(8),
        'f' => bytes.push(12),
        'v' => bytes.push(11),
        'e' | 'E' => bytes.push(27),
        'x' => return number(tail, 2, 16, bytes),
        '0' if place == Place::Word => {
            // No digit is NUL.
            return number(tail, 3, 8, bytes).or_else(|| {
                bytes.push(0);
                Some(tail)
            });
        }
        '0'..='7' if place == Place::Format => return number(text, 3, 8, bytes),
        _ => return None,
    }
    Some(tail)
}

/// At most so many digits as one byte; what follows them.
fn number<'a>(text: &'a str, most: usize, radix: u32, bytes: &mut Vec<u8>) -> Option<&'a str> {
    let count = text.chars().take(most).take_while(|letter| letter.is_digit(radix)).count();
    bytes.push(u8::from_str_radix(text.get(..count)?, radix).ok()?);
    text.get(count..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences() {
        for (text, place, expected) in [
            (r"\x6cs", Place::Format, Some("ls")),
            (r"\154s\n", Place::Format, Some("ls\n")),
            (r"\0154s", Place::Word, Some("ls")),
            (r"\0", Place::Word, Some("\0")),
            (r"\154s", Place::Word, None),
            (r"a\c", Place::Word, None),
            (r"a\", Place::Word, None),
            (r"\xff", Place::Format, None),
            (r"\x", Place::Format, None),
        ] {
            assert_eq!(unescaped(text, place).as_deref(), expected, "{text}");
        }
    }
}
