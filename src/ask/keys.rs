//! What is typed while a question is open: bytes to keys, and the signals that come meanwhile.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::dialog::Key;
use super::{Rival, Unavailable};
use crate::sys::signal::{Heard, Listening};
use crate::sys::tty::{self, read_byte, readable};

/// Keys pressed this early, or this soon after such a one, were meant for whatever was on the screen before.
const TOO_EARLY: Duration = Duration::from_millis(200);
/// After Esc, how long the rest of an arrow key's bytes may take.
const REST_OF_KEY: u16 = 50;
/// No hand presses two keys within this time; a paste does.
const TOGETHER: u16 = 10;

/// What happened at the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A key; `alone` when no other came with it.
    Key { key: Key, alone: bool },
    /// The window has another size.
    Resized,
    /// We were stopped, and go on.
    Continued,
    /// The reviewer that is asked at the same time has answered.
    Rival,
}

/// What there is to see.
#[derive(Debug, Clone, Copy)]
enum Came {
    Signal(Heard),
    /// Something can be read, or the terminal is gone.
    Terminal,
    Rival,
}

/// The keys of a terminal.
pub(super) struct Keys<'a> {
    terminal: BorrowedFd<'a>,
    signals: Listening,
    rival: Option<&'a dyn Rival>,
    /// More was there to read when the last key was taken.
    together: bool,
}

impl<'a> Keys<'a> {
    /// Begins to listen: the record has to say when a question was abandoned, and the terminal to be as
    /// before.
    pub(super) fn of(terminal: BorrowedFd<'a>) -> Result<Self, Unavailable> {
        let signals = Listening::to_question().map_err(io::Error::from)?;
        Ok(Self { terminal, signals, rival: None, together: false })
    }

    /// Hears of the reviewer as well.
    pub(super) fn against(self, rival: Option<&'a dyn Rival>) -> Self {
        Self { rival, ..self }
    }

    /// Waits until something happens.
    pub(super) fn next(&mut self) -> Result<Event, Unavailable> {
        loop {
            let key = match self.wait()? {
                Came::Rival => return Ok(Event::Rival),
                Came::Signal(heard) => match heard.signal {
                    Signal::SIGWINCH => return Ok(Event::Resized),
                    Signal::SIGCONT => return Ok(Event::Continued),
                    // A question that stops would leave its keys to the shell.
                    Signal::SIGTSTP => continue,
                    Signal::SIGINT if heard.from_kernel => Key::Interrupt,
                    other => return Err(Unavailable::Abandoned(other as i32)),
                },
                Came::Terminal => self.key()?,
            };
            let more = readable(self.terminal, TOGETHER.into())?;
            let alone = !std::mem::replace(&mut self.together, more) && !more;
            return Ok(Event::Key { key, alone });
        }
    }

    fn key(&self) -> io::Result<Key> {
        let byte = read_byte(self.terminal)?;
        Ok(match byte {
            b'\r' | b'\n' => Key::Enter,
            b'\t' => Key::Tab,
            0x03 | 0x04 | 0x1c => Key::Interrupt,
            0x08 | 0x7f => Key::Backspace,
            0x15 => Key::ClearBefore,
            0x17 => Key::WordBack,
            0x1b => sequence(&self.rest(64)?),
            b' '..=b'~' => Key::Letter(byte.into()),
            0xc2..=0xf4 => {
                let length = if byte >= 0xf0 { 3 } else { usize::from(byte >= 0xe0) + 1 };
                let mut bytes = vec![byte];
                bytes.extend(self.rest(length)?);
                let text = std::str::from_utf8(&bytes).ok();
                text.and_then(|text| text.chars().next()).map_or(Key::Other, Key::Letter)
            }
            _ => Key::Other,
        })
    }

    /// What comes at once behind a byte. More than `most` belongs to a further key.
    fn rest(&self, most: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while bytes.len() < most && readable(self.terminal, REST_OF_KEY.into())? {
            match read_byte(self.terminal) {
                Ok(byte) => bytes.push(byte),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
        }
        Ok(bytes)
    }

    /// Waits until there is something to see. A key that is there goes before the reviewer's answer.
    fn wait(&self) -> io::Result<Came> {
        loop {
            let mut sources = vec![
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.terminal, PollFlags::POLLIN),
            ];
            let rival = self.rival.and_then(Rival::descriptor);
            sources.extend(rival.map(|end| PollFd::new(end, PollFlags::POLLIN)));
            match poll(&mut sources, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(heard) = self.signals.next()? {
                return Ok(Came::Signal(heard));
            }
            let ready = |at: usize| {
                let events = sources.get(at).and_then(PollFd::revents);
                events.is_some_and(|events| !events.is_empty())
            };
            if ready(1) {
                return Ok(Came::Terminal);
            }
            if ready(2) {
                return Ok(Came::Rival);
            }
        }
    }

    /// Whether a signal that ends us came within this time.
    pub(super) fn pause(&self, milliseconds: u16) -> Result<(), Unavailable> {
        let mut signals = [PollFd::new(self.signals.as_fd(), PollFlags::POLLIN)];
        match poll(&mut signals, PollTimeout::from(milliseconds)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        while let Some(heard) = self.signals.next().map_err(io::Error::from)? {
            if !matches!(heard.signal, Signal::SIGWINCH | Signal::SIGCONT | Signal::SIGTSTP) {
                return Err(Unavailable::Abandoned(heard.signal as i32));
            }
        }
        Ok(())
    }

    /// A line that the terminal itself edits. None at the end of input and at an interrupt key.
    pub(super) fn line(&self) -> Result<Option<String>, Unavailable> {
        let mut line = Vec::new();
        loop {
            match self.wait()? {
                Came::Signal(heard) if heard.signal == Signal::SIGINT && heard.from_kernel => {
                    return Ok(None);
                }
                Came::Signal(Heard {
                    signal: Signal::SIGWINCH | Signal::SIGCONT | Signal::SIGTSTP, ..
                }) => {}
                Came::Signal(heard) => return Err(Unavailable::Abandoned(heard.signal as i32)),
                // Only a panel whose keys are seen one by one has one.
                Came::Rival => {}
                Came::Terminal => match read_byte(self.terminal) {
                    Ok(b'\n') => break,
                    Ok(byte) if line.len() < 4096 => line.push(byte),
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                    Err(error) => return Err(error.into()),
                },
            }
        }
        Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
    }

    /// Forgets what was typed ahead, and what comes before the keys were let go for a moment: one that is held
    /// down, or a word that is being typed, was not meant for what has just appeared.
    pub(super) fn drop_early(&self) -> Result<(), Unavailable> {
        tty::forget_typed(self.terminal);
        let mut begun = Instant::now();
        while let Some(left) = TOO_EARLY.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
            let patience = u16::try_from(left.as_millis()).unwrap_or(200).max(1);
            if readable(self.terminal, patience.into())? {
                read_byte(self.terminal)?;
                begun = Instant::now();
                self.pause(0)?;
            }
        }
        // What the terminal itself still holds as an unfinished line.
        tty::forget_typed(self.terminal);
        Ok(())
    }
}

/// What follows an Esc: nothing when it was pressed alone. Whatever is no known key is none.
fn sequence(rest: &[u8]) -> Key {
    match rest {
        [] => Key::Escape,
        b"[A" | b"OA" | b"[5~" => Key::Up,
        b"[B" | b"OB" | b"[6~" => Key::Down,
        b"[C" | b"OC" => Key::Right,
        b"[D" | b"OD" => Key::Left,
        b"[H" | b"OH" | b"[1~" => Key::Home,
        b"[F" | b"OF" | b"[4~" => Key::End,
        b"[3~" => Key::Delete,
        _ => Key::Other,
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    fn typed(bytes: &[u8]) -> Vec<(Key, bool)> {
        let Ok((reader, writer)) = io::pipe() else { return Vec::new() };
        assert!(nix::unistd::write(&writer, bytes).is_ok(), "{}", writer.as_raw_fd());
        drop(writer);
        let Ok(mut keys) = Keys::of(reader.as_fd()) else { return Vec::new() };
        let mut found = Vec::new();
        while let Ok(Event::Key { key, alone }) = keys.next() {
            found.push((key, alone));
        }
        found
    }

    #[test]
    fn bytes_are_keys() {
        let table: [(&[u8], Key); 16] = [
            (b"y", Key::Letter('y')),
            (b"\r", Key::Enter),
            (b"\n", Key::Enter),
            (b" ", Key::Letter(' ')),
            (b"\x03", Key::Interrupt),
            (b"\x04", Key::Interrupt),
            (b"\x7f", Key::Backspace),
            (b"\x1b", Key::Escape),
            (b"\x1b[A", Key::Up),
            (b"\x1b[6~", Key::Down),
            (b"\x1b[3~", Key::Delete),
            (b"\x1by", Key::Other),
            (b"\x1b[200~y\x1b[201~", Key::Other),
            ("ü".as_bytes(), Key::Letter('ü')),
            (b"\xff", Key::Other),
            (b"\x1a", Key::Other),
        ];
        for (bytes, expected) in table {
            assert_eq!(typed(bytes).first().map(|(key, _)| *key), Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn keys_that_come_together_are_not_alone() {
        let found = typed(b"xyz");
        assert_eq!(found.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ['x', 'y', 'z'].map(Key::Letter));
        assert!(found.iter().all(|(_, alone)| !alone), "{found:?}");
    }
}
