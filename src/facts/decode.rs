//! What decoders make of a text that is known: an encoded command is no less plain for it.

use super::arg::Arg;

/// The longest text that is decoded.
const LONGEST: usize = 64 * 1024;

/// What the program prints when its input is this text; None when that is not certain, or it is no decoder.
pub(super) fn decoded(words: &[Arg], input: &str) -> Option<String> {
    let name = words.first()?.text()?;
    if !matches!(name, "base64" | "openssl" | "xxd" | "rev" | "tr") || input.len() > LONGEST {
        return None;
    }
    let rest: Vec<&str> = words.iter().skip(1).map(Arg::text).collect::<Option<_>>()?;
    let all = |known: &[&str]| rest.iter().all(|word| known.contains(word));
    let any = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    match name {
        "base64" if any(&["-d", "-D", "--decode"]) && all(&["-d", "-D", "--decode", "-i", "-"]) => {
            base64(input)
        }
        "openssl"
            if any(&["base64", "-base64", "-a"])
                && any(&["-d"])
                && all(&["base64", "enc", "-base64", "-a", "-A", "-d"]) =>
        {
            base64(input)
        }
        "xxd" if any(&["-r", "-revert"]) && any(&["-p", "-ps", "-plain"]) || rest == ["-rp"] => hex(input),
        "rev" if rest.is_empty() => {
            let lines: Vec<String> = input.split('\n').map(|line| line.chars().rev().collect()).collect();
            Some(lines.join("\n"))
        }
        "tr" => match rest[..] {
            [from, to] => translated(input, from, to),
            _ => None,
        },
        _ => None,
    }
}

/// Strictly: the alphabet, newlines, and the padding that belongs there.
pub fn base64(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'\n').collect();
    if digits.is_empty() || !digits.len().is_multiple_of(4) {
        return None;
    }
    let body = digits.iter().take_while(|byte| **byte != b'=').count();
    let padding = digits.get(body..)?;
    if padding.len() > 2 || padding.iter().any(|byte| *byte != b'=') {
        return None;
    }
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for digit in digits.get(..body)? {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

pub(super) fn hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    String::from_utf8(digits.chunks(2).map(byte).collect::<Option<_>>()?).ok()
}

/// `tr FROM TO`, of letters, digits and ranges of them only.
fn translated(text: &str, from: &str, to: &str) -> Option<String> {
    let (from, to) = (letters(from)?, letters(to)?);
    if from.len() != to.len() {
        return None;
    }
    // Of a letter that stands there twice the last counts.
    let one = |letter| from.iter().rposition(|each| *each == letter).map_or(letter, |at| to[at]);
    Some(text.chars().map(one).collect())
}

fn letters(set: &str) -> Option<Vec<char>> {
    let (mut found, characters) = (Vec::new(), set.chars().collect::<Vec<_>>());
    let mut at = 0;
    while let Some(first) = characters.get(at).copied() {
        if !first.is_ascii_alphanumeric() {
            return None;
        }
        match characters.get(at + 1..at + 3) {
            Some(['-', last]) if last.is_ascii_alphanumeric() => {
                found.extend(first..=*last);
                at += 3;
            }
            _ => {
                found.push(first);
                at += 1;
            }
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Span;

    #[test]
    fn decodes_what_is_certain() {
        for (command, input, expected) in [
            ("base64 -d", "bHMgLWwK\n", Some("ls -l\n")),
            ("base64 --decode", "bHMg\nLWw=\n", Some("ls -l")),
            ("base64 -d", "bHMgLWw", None),
            ("base64 -d", "bHMg*WwK", None),
            ("base64 -d x", "bHMgLWwK", None),
            ("base64", "bHMgLWwK", None),
            ("openssl base64 -d", "bHMgLWwK\n", Some("ls -l\n")),
            ("openssl enc -base64 -d -aes256", "bHMgLWwK\n", None),
            ("xxd -r -p", "6c73\n", Some("ls")),
            ("xxd -r -p", "6c7", None),
            ("rev", "l- sl\n", Some("ls -l\n")),
            ("tr a-z n-za-m", "yf", Some("ls")),
            ("tr -d x", "xls", None),
        ] {
            let words: Vec<Arg> =
                command.split(' ').map(|word| Arg::literal(word, Span::default())).collect();
            assert_eq!(decoded(&words, input).as_deref(), expected, "{command} < {input:?}");
        }
    }
}
