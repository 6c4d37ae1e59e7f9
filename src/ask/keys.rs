//! The panel on a terminal, and the keys that answer it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::{Answer, Panel, Unavailable};
use crate::sys::signal::{Heard, Listening};
use crate::sys::tty::{self, RawMode};

/// Keys pressed this early were meant for whatever was on the screen before.
const TOO_EARLY: Duration = Duration::from_millis(200);
/// After Esc, how long the rest of an arrow key's bytes may take.
const REST_OF_KEY: u16 = 50;
/// The longest reason that is taken.
const LONGEST_REASON: usize = 500;

/// What one key means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Once,
    Deny,
    DenyWithReason,
    NextPage,
    Nothing,
}

/// Enter and space mean nothing, so that a stray one approves nothing.
fn meaning(key: u8) -> Key {
    match key {
        b'y' | b'Y' => Key::Once,
        b'n' | b'N' | 0x03 | 0x04 | 0x1b => Key::Deny,
        b'd' | b'D' => Key::DenyWithReason,
        b'\t' => Key::NextPage,
        _ => Key::Nothing,
    }
}

/// Shows the panel and waits for an answer: one at a time per terminal, with every key as it is
/// pressed, all of it undone on every way out.
///
/// # Errors
/// When the terminal is gone or is none, or somebody else is in front of it.
pub fn ask(terminal: &File, panel: &Panel) -> Result<Answer, Unavailable> {
    let _turn = turn(terminal)?;
    let fd = terminal.as_fd();
    let keys = Keys { terminal: fd, signals: Listening::to_endings().map_err(io::Error::from)? };
    let mode = RawMode::keys_only(fd)?;
    let answer = Asking { terminal, keys: &keys, panel, page: 0, shown: None, seen: false }.answer()?;
    let with_reason = matches!(&answer, Answer::Denied { reason: Some(_) });
    drop(mode);
    if with_reason { Ok(Answer::Denied { reason: typed_reason(terminal, &keys)? }) } else { Ok(answer) }
}

/// Our turn at the terminal. From the background nothing is asked: the keys and the settings are
/// those of whoever is in front. While we wait for our turn we may be moved there.
fn turn(terminal: &File) -> Result<Flock<File>, Unavailable> {
    let in_front = || if tty::in_front(terminal.as_fd()) { Ok(()) } else { Err(Unavailable::Background) };
    in_front()?;
    let held = lock(terminal)?;
    in_front().map(|()| held)
}

/// Other questions at the same terminal wait until this one is answered.
fn lock(terminal: &File) -> io::Result<Flock<File>> {
    let mut file = terminal.try_clone()?;
    loop {
        match Flock::lock(file, FlockArg::LockExclusive) {
            Ok(held) => return Ok(held),
            Err((back, Errno::EINTR)) => file = back,
            Err((_, error)) => return Err(error.into()),
        }
    }
}

struct Asking<'a> {
    terminal: &'a File,
    keys: &'a Keys<'a>,
    panel: &'a Panel,
    page: usize,
    /// The size of the window that the pages were cut for.
    shown: Option<(usize, usize)>,
    /// The last page was shown, and so all before it.
    seen: bool,
}

impl Asking<'_> {
    fn answer(mut self) -> Result<Answer, Unavailable> {
        self.show()?;
        drop_early(self.terminal.as_fd())?;
        loop {
            let (size, key) = (self.size(), meaning(self.keys.next()?));
            let as_shown = self.shown == Some(size);
            match key {
                Key::Once if as_shown && self.seen => {
                    self.say("allowed once")?;
                    return Ok(Answer::Once);
                }
                // Another window cuts other pages: all is shown anew, from the first.
                Key::Once if !as_shown => self.show()?,
                Key::Once => self.say("y counts only after the last page; Tab shows the next")?,
                Key::Deny => {
                    self.say("denied")?;
                    return Ok(Answer::Denied { reason: None });
                }
                Key::DenyWithReason => return Ok(Answer::Denied { reason: Some(String::new()) }),
                Key::NextPage => {
                    let (columns, rows) = size;
                    self.page = (self.page + 1) % self.panel.pages(columns, rows);
                    self.show()?;
                }
                Key::Nothing => {}
            }
        }
    }

    fn size(&self) -> (usize, usize) {
        tty::size(self.terminal.as_fd()).map_or((80, 24), |(columns, rows)| (columns.into(), rows.into()))
    }

    fn show(&mut self) -> io::Result<()> {
        let size = self.size();
        if self.shown != Some(size) {
            (self.page, self.shown, self.seen) = (0, Some(size), false);
        }
        let (columns, rows) = size;
        self.seen |= self.page + 1 >= self.panel.pages(columns, rows);
        let text = self.panel.page(columns, rows, self.page).join("\n");
        let mut out = self.terminal;
        out.write_all(format!("\n{text}\n").as_bytes())
    }

    fn say(&self, word: &str) -> io::Result<()> {
        let mut out = self.terminal;
        out.write_all(format!("gsh: {word}\n").as_bytes())
    }
}

/// Forgets what was typed ahead, and what comes in the first moment.
fn drop_early(terminal: BorrowedFd<'_>) -> io::Result<()> {
    tty::forget_typed(terminal);
    let begun = Instant::now();
    while let Some(left) = TOO_EARLY.checked_sub(begun.elapsed()).filter(|left| !left.is_zero()) {
        let patience = u16::try_from(left.as_millis()).unwrap_or(200).max(1);
        if readable(terminal, patience.into())? {
            read_byte(terminal)?;
        }
    }
    Ok(())
}

/// What is typed while a question is open, and the signals that would end us meanwhile: the record
/// has to say that the question was abandoned, and the terminal to be as before.
struct Keys<'a> {
    terminal: BorrowedFd<'a>,
    signals: Listening,
}

impl Keys<'_> {
    /// A byte of a line; None at the end of input, and at an interrupt key.
    fn byte_or_end(&self) -> Result<Option<u8>, Unavailable> {
        match self.readable()? {
            Some(heard) if heard.signal == Signal::SIGINT && heard.from_kernel => Ok(None),
            Some(heard) => Err(Unavailable::Abandoned(heard.signal as i32)),
            None => match read_byte(self.terminal) {
                Ok(byte) => Ok(Some(byte)),
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
                Err(error) => Err(error.into()),
            },
        }
    }

    fn next(&self) -> Result<u8, Unavailable> {
        loop {
            let key = self.byte()?;
            if key != 0x1b || !readable(self.terminal, REST_OF_KEY.into())? {
                return Ok(key);
            }
            // More bytes at once: an arrow or a function key, or a paste. None of it is an answer.
            while readable(self.terminal, REST_OF_KEY.into())? {
                read_byte(self.terminal)?;
            }
        }
    }

    fn byte(&self) -> Result<u8, Unavailable> {
        match self.readable()? {
            Some(heard) => Err(Unavailable::Abandoned(heard.signal as i32)),
            None => Ok(read_byte(self.terminal)?),
        }
    }

    /// Waits until something can be read, or a signal came.
    fn readable(&self) -> io::Result<Option<Heard>> {
        loop {
            let mut sources = [
                PollFd::new(self.signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.terminal, PollFlags::POLLIN),
            ];
            match poll(&mut sources, PollTimeout::NONE) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            if let Some(heard) = self.signals.next()? {
                return Ok(Some(heard));
            }
            let [_, terminal] = sources;
            if terminal.revents().is_some_and(|events| !events.is_empty()) {
                return Ok(None);
            }
        }
    }
}

fn readable(terminal: BorrowedFd<'_>, patience: PollTimeout) -> io::Result<bool> {
    match poll(&mut [PollFd::new(terminal, PollFlags::POLLIN)], patience) {
        Ok(count) => Ok(count > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn read_byte(terminal: BorrowedFd<'_>) -> io::Result<u8> {
    let mut byte = [0];
    loop {
        match nix::unistd::read(terminal, &mut byte) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                let [key] = byte;
                return Ok(key);
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// One line, edited by the terminal itself. Empty means no reason.
fn typed_reason(terminal: &File, keys: &Keys<'_>) -> Result<Option<String>, Unavailable> {
    let mut out = terminal;
    out.write_all(b"Reason (Enter for none): ")?;
    let line = typed_line(keys)?;
    if line.is_none() {
        // The end of input is shown as nothing: what follows would stand on the same line.
        out.write_all(b"\n")?;
    }
    Ok(line.filter(|line| !line.is_empty()))
}

/// A line; None at the end of input (`^D`), and at an interrupt key, which denies as it does above.
fn typed_line(keys: &Keys<'_>) -> Result<Option<String>, Unavailable> {
    let mut line = Vec::new();
    loop {
        match keys.byte_or_end()? {
            None => return Ok(None),
            Some(b'\n') => break,
            Some(byte) if line.len() < LONGEST_REASON => line.push(byte),
            Some(_) => {}
        }
    }
    Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()))
}

/// The question as lines to be read aloud, answered by a typed word.
///
/// # Errors
/// When the terminal is gone or is none.
pub fn ask_plainly(terminal: &File, panel: &Panel) -> Result<Answer, Unavailable> {
    let _turn = turn(terminal)?;
    let mut out = terminal;
    for line in panel.plain_lines() {
        out.write_all(format!("{line}\n").as_bytes())?;
    }
    tty::forget_typed(terminal.as_fd());
    let screen = console::Term::read_write_pair(terminal.try_clone()?, terminal.try_clone()?);
    let word: String = dialoguer::Input::new()
        .with_prompt("Type yes to allow once, or a reason to deny")
        .allow_empty(true)
        .report(false)
        .interact_text_on(&screen)
        .map_err(|dialoguer::Error::IO(error)| error)?;
    Ok(answer_of(&word))
}

/// Only the whole word approves; anything else denies and is the reason.
fn answer_of(word: &str) -> Answer {
    match word.trim() {
        "yes" => Answer::Once,
        "" | "no" | "n" | "y" => Answer::Denied { reason: None },
        reason => Answer::Denied { reason: Some(reason.to_owned()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_y_approves() {
        let approving: Vec<u8> = (0..=255).filter(|key| meaning(*key) == Key::Once).collect();
        assert_eq!(approving, [b'Y', b'y']);
        for key in [b'\r', b'\n', b' ', b'a', b'1'] {
            assert_eq!(meaning(key), Key::Nothing, "{key}");
        }
        for key in [0x03, 0x1b, b'n'] {
            assert_eq!(meaning(key), Key::Deny, "{key}");
        }
    }

    #[test]
    fn only_the_whole_word_approves() {
        let denied = |reason: Option<&str>| Answer::Denied { reason: reason.map(str::to_owned) };
        let table = [
            ("yes", Answer::Once),
            (" yes ", Answer::Once),
            ("y", denied(None)),
            ("", denied(None)),
            ("Yes", denied(Some("Yes"))),
            ("use pnpm", denied(Some("use pnpm"))),
        ];
        for (word, expected) in table {
            assert_eq!(answer_of(word), expected, "{word}");
        }
    }
}
