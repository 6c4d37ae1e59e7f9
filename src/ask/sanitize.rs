//! Hostile text made visible: what a terminal would obey or hide is shown as a code.

use std::fmt::Write;

/// One line without anything that moves, hides or reorders. Line ends are shown too.
#[must_use]
pub fn line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        put(&mut shown, character);
    }
    shown
}

/// The bytes as lines to show, one per line of the text. Bytes that are no UTF-8 are shown as codes.
#[must_use]
pub fn lines(bytes: &[u8]) -> Vec<String> {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    bytes.split(|byte| *byte == b'\n').map(one).collect()
}

fn one(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            put(&mut shown, character);
        }
        for byte in chunk.invalid() {
            put_code(&mut shown, format_args!("\\x{byte:02x}"));
        }
    }
    shown
}

/// Whether there is a character outside ASCII: a letter that looks like another may be meant.
#[must_use]
pub fn has_lookalikes(bytes: &[u8]) -> bool {
    !bytes.is_ascii()
}

/// Whether a letter is written from right to left, so that a terminal may reorder its line.
#[must_use]
pub fn is_right_to_left(character: char) -> bool {
    matches!(u32::from(character),
        0x590..=0x8ff | 0xfb1d..=0xfdff | 0xfe70..=0xfeff | 0x1_0800..=0x1_0fff | 0x1_e800..=0x1_efff)
}

fn put(shown: &mut String, character: char) {
    match character {
        '\n' => shown.push_str("\\n"),
        '\t' => shown.push_str("\\t"),
        '\r' => shown.push_str("\\r"),
        '\u{1b}' => shown.push_str("\\e"),
        other if other.is_control() => put_code(shown, format_args!("\\x{:02x}", u32::from(other))),
        other if is_hidden(other) => put_code(shown, format_args!("<U+{:04X}>", u32::from(other))),
        other => shown.push(other),
    }
}

fn put_code(shown: &mut String, code: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _written = shown.write_fmt(code);
}

/// Characters without a width, that turn the direction, or that look like a blank and are none.
fn is_hidden(character: char) -> bool {
    matches!(u32::from(character),
        0xa0 | 0xad | 0x34f | 0x61c | 0x115f | 0x1160 | 0x1680 | 0x17b4 | 0x17b5 | 0x180b..=0x180f
        | 0x2000..=0x200f | 0x2028..=0x202f | 0x205f..=0x206f | 0x2800 | 0x3000 | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0xe000..=0xf8ff | 0x1_d173..=0x1_d17a | 0xe_0000..=0x10_ffff
        | 0x300..=0x34e | 0x350..=0x36f)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hidden_stays_hidden() {
        let table: [(&[u8], &[&str]); 11] = [
            (b"ls -l", &["ls -l"]),
            (b"a\nb\n", &["a", "b"]),
            (b"", &[""]),
            (b"a\tb\r", &["a\\tb\\r"]),
            (b"\x1b[2Jx\x07", &["\\e[2Jx\\x07"]),
            (b"a\xffb", &["a\\xffb"]),
            ("a\u{202e}b".as_bytes(), &["a<U+202E>b"]),
            ("a\u{200b}b\u{feff}".as_bytes(), &["a<U+200B>b<U+FEFF>"]),
            ("\u{9b}2J".as_bytes(), &["\\x9b2J"]),
            ("gr\u{fc}n".as_bytes(), &["grün"]),
            ("a\u{a0}b".as_bytes(), &["a<U+00A0>b"]),
        ];
        for (given, expected) in table {
            assert_eq!(lines(given), expected, "{given:?}");
        }
        assert_eq!(line("a\nb"), "a\\nb");
        assert!(has_lookalikes("раypal".as_bytes()) && !has_lookalikes(b"paypal"));
    }
}
