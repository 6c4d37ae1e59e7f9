//! Two contents line by line, made visible.

use std::fmt::Write;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices_deadline, group_diff_ops};

use crate::ask::sanitize::lines;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// A content that takes longer to compare is shown with more changes than there are.
const PATIENCE: Duration = Duration::from_secs(2);

/// The changes in the unified form, without its head. Lines are compared as they are and shown made
/// visible, so a change that cannot be seen still stands there as one.
pub(in crate::commands) fn unified(old: &[u8], new: &[u8], colours: bool) -> String {
    let (old, new) = (pieces(old), pieces(new));
    let until = Some(Instant::now() + PATIENCE);
    let changes = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, until);
    let mut text = String::new();
    for hunk in group_diff_ops(changes, CONTEXT) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let span = |of: fn(&DiffOp) -> Range<usize>| numbers(of(first).start..of(last).end);
        let head = format!("@@ -{} +{} @@", span(DiffOp::old_range), span(DiffOp::new_range));
        put(&mut text, "\u{1b}[36m", &head, colours);
        for change in &hunk {
            if change.tag() == DiffTag::Equal {
                each(&old, change.old_range(), |line| put(&mut text, "", &format!(" {line}"), colours));
                continue;
            }
            each(&old, change.old_range(), |line| put(&mut text, "\u{1b}[31m", &format!("-{line}"), colours));
            each(&new, change.new_range(), |line| put(&mut text, "\u{1b}[32m", &format!("+{line}"), colours));
        }
    }
    text
}

/// The lines with their ends; the last may have none, which is a difference too.
fn pieces(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

fn each(pieces: &[&[u8]], range: Range<usize>, mut show: impl FnMut(&str)) {
    for piece in pieces.get(range).unwrap_or_default() {
        let mut line = lines(piece).join("");
        if !piece.ends_with(b"\n") {
            line.push_str("   (no newline at the end)");
        }
        show(&line);
    }
}

fn put(text: &mut String, colour: &str, line: &str, colours: bool) {
    // Writing to a string cannot fail.
    let _ = match colours && !colour.is_empty() {
        true => writeln!(text, "{colour}{line}\u{1b}[0m"),
        false => writeln!(text, "{line}"),
    };
}

/// `first,count` as the unified form has it.
fn numbers(range: Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let old = b"1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = b"1\n2\n3\n4\nfive\n6\n7\n8\n9\n10";
        let expected =
            "@@ -2,8 +2,9 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n 9\n+10   (no newline at the end)\n";
        assert_eq!(unified(old, new, false), expected);
        assert_eq!(unified(b"", b"a\n", false), "@@ -0,0 +1 @@\n+a\n");
        assert_eq!(unified(b"a\n", b"", false), "@@ -1 +0,0 @@\n-a\n");
        assert_eq!(unified(old, old, false), "");
    }

    #[test]
    fn nothing_moves_or_hides() {
        let shown = unified(b"a\n", b"a\x1b[2K\r\n\xff\n", false);
        assert_eq!(shown, "@@ -1 +1,2 @@\n-a\n+a\\e[2K\\r\n+\\xff\n");
        let shown = unified(b"\\e\n", b"\x1b\n", false);
        assert_eq!(shown, "@@ -1 +1 @@\n-\\e\n+\\e\n", "what looks the same has still changed");
        let coloured = unified(b"", b"a\n", true);
        assert!(coloured.contains("\u{1b}[32m+a\u{1b}[0m"), "{coloured}");
    }
}
