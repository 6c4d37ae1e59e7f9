//! Keys of the very terminal that was found to be a person's, and of no other.

use std::io;
use std::os::fd::BorrowedFd;

use nix::poll::PollTimeout;

use crate::sys::tty::{read_byte, readable};

/// After Esc, how long the rest of an arrow key's bytes may take, in milliseconds.
const REST: u16 = 50;

/// One key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// A letter.
    Letter(char),
    Up,
    Down,
    Tab,
    /// Right and page down.
    Next,
    /// Left and page up.
    Back,
    Enter,
    Escape,
    Rubout,
    /// `^C`, `^D`.
    Interrupt,
    /// Any other.
    Other,
}

/// The next key, and whether it came alone: what is pasted is no answer.
pub(super) fn next(terminal: BorrowedFd<'_>) -> io::Result<(Key, bool)> {
    let key = match read_byte(terminal)? {
        0x1b => after_escape(terminal)?,
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x03 | 0x04 => Key::Interrupt,
        0x08 | 0x7f => Key::Rubout,
        first @ 0x20..=0x7e => Key::Letter(char::from(first)),
        first => letter(first, terminal)?,
    };
    Ok((key, !readable(terminal, PollTimeout::ZERO)?))
}

fn after_escape(terminal: BorrowedFd<'_>) -> io::Result<Key> {
    if !readable(terminal, REST.into())? {
        return Ok(Key::Escape);
    }
    let mut rest = vec![read_byte(terminal)?];
    if rest == [b'['] || rest == [b'O'] {
        while rest.len() < 8 && readable(terminal, REST.into())? {
            let next = read_byte(terminal)?;
            rest.push(next);
            if (0x40..=0x7e).contains(&next) {
                break;
            }
        }
    }
    Ok(match rest.as_slice() {
        [b'[' | b'O', b'A'] => Key::Up,
        [b'[' | b'O', b'B'] => Key::Down,
        [b'[' | b'O', b'C'] | b"[6~" => Key::Next,
        [b'[' | b'O', b'D'] | b"[5~" => Key::Back,
        _ => Key::Other,
    })
}

/// A letter of several bytes.
fn letter(first: u8, terminal: BorrowedFd<'_>) -> io::Result<Key> {
    let more = match first {
        0xc2..=0xdf => 1,
        0xe0..=0xef => 2,
        0xf0..=0xf4 => 3,
        _ => return Ok(Key::Other),
    };
    let mut bytes = vec![first];
    for _ in 0..more {
        if !readable(terminal, REST.into())? {
            return Ok(Key::Other);
        }
        bytes.push(read_byte(terminal)?);
    }
    let text = std::str::from_utf8(&bytes).ok();
    Ok(text.and_then(|text| text.chars().next()).map_or(Key::Other, Key::Letter))
}

/// Forgets what waits to be read.
pub(super) fn forget(terminal: BorrowedFd<'_>) -> io::Result<()> {
    crate::sys::tty::forget_typed(terminal);
    while readable(terminal, PollTimeout::ZERO)? {
        read_byte(terminal)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use super::*;

    #[test]
    fn keys_are_told_apart() {
        let table: [(&[u8], Key, bool); 13] = [
            (b"y", Key::Letter('y'), true),
            (b"yes", Key::Letter('y'), false),
            (b"\x1b", Key::Escape, true),
            (b"\x1b[A", Key::Up, true),
            (b"\x1bOB", Key::Down, true),
            (b"\x1b[6~", Key::Next, true),
            (b"\x1b[1;5C", Key::Other, true),
            (b"\x1by", Key::Other, true),
            (b"\t", Key::Tab, true),
            (b"\r", Key::Enter, true),
            (b"\x03", Key::Interrupt, true),
            ("é".as_bytes(), Key::Letter('é'), true),
            (b"\xff", Key::Other, true),
        ];
        for (bytes, key, alone) in table {
            let (reader, mut writer) = io::pipe().expect("a pipe");
            io::Write::write_all(&mut writer, bytes).expect("written");
            assert_eq!(next(reader.as_fd()).expect("read"), (key, alone), "{bytes:?}");
        }
    }
}
