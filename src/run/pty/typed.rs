//! What a person typed and the command did not read: it is the caller's, as if the command had never had
//! the terminal.

use crate::sys::tty::Leader;

/// So much is remembered of what was typed: more than a terminal holds.
const REMEMBERED: usize = 8 * 1024;

/// What was typed last.
#[derive(Debug, Default)]
pub(super) struct Typed(Vec<u8>);

impl Typed {
    /// This was handed to the command.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let surplus = self.0.len().saturating_sub(REMEMBERED);
        self.0.drain(..surplus);
    }

    /// What of it lies in the command's terminal unread. Only what a person typed counts: what else lies there
    /// (a command may type at its own terminal) is nothing that their shell should run.
    pub(super) fn unread(&self, leader: &Leader) -> Vec<u8> {
        if self.0.is_empty() { Vec::new() } else { self.end_like(&leader.unread()).to_vec() }
    }

    fn end_like(&self, unread: &[u8]) -> &[u8] {
        let start = self.0.len().checked_sub(unread.len());
        let end = start.and_then(|start| self.0.get(start..)).unwrap_or_default();
        let same = end.iter().zip(unread).all(|(typed, read)| typed == read || is_changed_to(*typed, *read));
        if same { end } else { &[] }
    }
}

/// What a terminal makes of a key: Enter ends a line, and ^D is no character.
fn is_changed_to(typed: u8, read: u8) -> bool {
    matches!((typed, read), (b'\r', b'\n') | (4, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_typed_is_given_back() {
        let table: [(&str, &str, &str); 7] = [
            ("ls\r", "ls\n", "ls\r"),
            ("yes\rls\r", "ls\n", "ls\r"),
            ("x", "", ""),
            ("", "rm x\n", ""),
            ("ls\r", "rm x\n", ""),
            ("s\r", "ls\n", ""),
            ("a\u{4}", "a\0", "a\u{4}"),
        ];
        for (typed, unread, expected) in table {
            let mut remembered = Typed::default();
            remembered.add(typed.as_bytes());
            assert_eq!(remembered.end_like(unread.as_bytes()), expected.as_bytes(), "{typed:?} {unread:?}");
        }
        let mut much = Typed::default();
        much.add(&[b'x'; REMEMBERED * 2]);
        assert_eq!(much.0.len(), REMEMBERED);
    }
}
