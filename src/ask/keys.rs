//! The panel on a terminal, and the keys that answer it.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::{Answer, Panel, Unavailable};
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
    let mode = RawMode::keys_only(fd)?;
    let answer = Asking { terminal, panel, page: 0 }.answer()?;
    let with_reason = matches!(&answer, Answer::Denied { reason: Some(_) });
    drop(mode);
    if with_reason { Ok(Answer::Denied { reason: typed_reason(terminal)? }) } else { Ok(answer) }
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
    panel: &'a Panel,
    page: usize,
}

impl Asking<'_> {
    fn answer(mut self) -> io::Result<Answer> {
        self.show()?;
        drop_early(self.terminal.as_fd())?;
        loop {
            match meaning(next_key(self.terminal.as_fd())?) {
                Key::Once => return self.end("allowed once").map(|()| Answer::Once),
                Key::Deny => return self.end("denied").map(|()| Answer::Denied { reason: None }),
                Key::DenyWithReason => return Ok(Answer::Denied { reason: Some(String::new()) }),
                Key::NextPage => {
                    let (columns, rows) = self.size();
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

    fn show(&self) -> io::Result<()> {
        let (columns, rows) = self.size();
        let page = self.page.min(self.panel.pages(columns, rows) - 1);
        let text = self.panel.page(columns, rows, page).join("\n");
        let mut out = self.terminal;
        out.write_all(format!("\n{text}\n").as_bytes())
    }

    fn end(&self, word: &str) -> io::Result<()> {
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

fn next_key(terminal: BorrowedFd<'_>) -> io::Result<u8> {
    loop {
        let key = read_byte(terminal)?;
        if key != 0x1b || !readable(terminal, REST_OF_KEY.into())? {
            return Ok(key);
        }
        // More bytes at once: an arrow or a function key, or a paste. None of it is an answer.
        while readable(terminal, REST_OF_KEY.into())? {
            read_byte(terminal)?;
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
fn typed_reason(terminal: &File) -> io::Result<Option<String>> {
    let mut out = terminal;
    out.write_all(b"Reason (Enter for none): ")?;
    let line = typed_line(terminal)?;
    if line.is_none() {
        // The end of input is shown as nothing: what follows would stand on the same line.
        out.write_all(b"\n")?;
    }
    Ok(line.filter(|line| !line.is_empty()))
}

/// A line; None at the end of input (`^D`).
fn typed_line(terminal: &File) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    loop {
        match read_byte(terminal.as_fd()) {
            Ok(b'\n') => break,
            Ok(byte) if line.len() < LONGEST_REASON => line.push(byte),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
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
