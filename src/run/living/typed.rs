//! A shell that lives on at a terminal: an interactive bash with job control, whose text comes through the
//! channel and whose commands have the terminal.
//!
//! ```text
//! eval $'STATEMENT' 0<&61
//! ```
//!
//! One line, since bash would show a prompt for each further one. bash shows its own prompt, runs what is to
//! run before it, and only then reads the channel again; so when the blank behind the statement is taken, all
//! that is there is on the screen. While a statement runs, bash (and what it puts there) is in front of the
//! terminal; between statements gsh is.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use nix::fcntl::OFlag;
use nix::unistd::{pipe2, read};

use super::{Fed, Living};
use crate::run::Outcome;
use crate::run::supervise::Watched;
use crate::sys::pipe::Private;
use crate::sys::process::Program;
use crate::sys::tty;

/// What a shell at a terminal needs more than another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typed {
    /// The process group of the shell itself; it leads it.
    group: Option<i32>,
    /// Its prompt is ours: it shows none, and tells us how statements end.
    pub(super) quiet: bool,
    /// How the last one did, as far as it was told.
    status: Option<u8>,
}

impl Typed {
    /// What it reads first: in quiet the names of its prompts are not its programs' matter.
    pub(super) fn first(self) -> &'static [u8] {
        if self.quiet { b"\\builtin export -n PS1 PS2\n" } else { b"" }
    }
}

impl Living {
    /// One at the terminal that is standard input; a quiet one shows no prompt.
    #[must_use]
    pub fn typed(quiet: bool) -> Self {
        let living = Self::default();
        living.0.borrow_mut().typed = Some(Typed { quiet, ..Typed::default() });
        living
    }

    /// The status of the last statement of a quiet one.
    #[must_use]
    pub fn status(&self) -> Option<u8> {
        self.0.borrow().shell.as_ref()?.typed?.status
    }

    /// Where the shell is now, as the kernel says.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        let course = self.0.borrow();
        let group = course.shell.as_ref()?.typed?.group?;
        fs::read_link(format!("/proc/{group}/cwd")).ok()
    }

    /// An empty line: the shell shows its prompt once more.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn prompt_again(&self) -> io::Result<Option<Outcome>> {
        self.say(b"\n")
    }

    /// The shell is asked to end; with stopped jobs it says so instead, once.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn exit(&self) -> io::Result<Option<Outcome>> {
        self.say(b"\\builtin exit\n")
    }

    fn say(&self, line: &[u8]) -> io::Result<Option<Outcome>> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(None) };
        Ok(fed.give(line)?.map(|watched| fed.outcome(watched)))
    }
}

impl Fed {
    /// Gives it a statement; what a quiet shell tells of its end is kept.
    pub(super) fn give_typed(&mut self, text: &[u8]) -> io::Result<Option<Watched>> {
        let mut line = match (&self.told, self.typed.and_then(|typed| typed.status)) {
            // The line that told of it had a status of its own.
            (Some(_), Some(status @ 1..)) => {
                framed(&[format!("(exit {status})\n").as_bytes(), text].concat(), self.input)
            }
            _ => framed(text, self.input),
        };
        if let Some((_, told)) = &self.told {
            line.pop();
            line.extend(format!("; \\builtin printf '%s ' \"$?\" >&{told}\n").bytes());
        }
        let ended = self.give(&line)?;
        if let (Some((told, _)), Some(typed)) = (&self.told, &mut self.typed) {
            typed.status = Some(status(told));
        }
        Ok(ended)
    }

    /// Before a line is given to it.
    pub(super) fn give_terminal(&self) {
        if let Some(Typed { group: Some(group), .. }) = self.typed {
            tty::put_in_front(io::stdin().as_fd(), Some(group));
        }
    }

    /// It waits for the next line.
    pub(super) fn take_terminal(&mut self) {
        if let Some(typed) = &mut self.typed {
            // The first time it has put itself there, with a group of its own.
            typed.group = typed.group.or_else(|| tty::front_of(io::stdin().as_fd()));
            tty::put_in_front(io::stdin().as_fd(), None);
            // A key that was pressed for a command is none for our prompt.
            let _for_the_command = self.front.was_interrupted();
        }
    }
}

/// The shell shows no prompt of its own, though it has one, by which scripts know an interactive shell. It
/// inherits the end on which it tells how statements end.
pub(super) fn silenced(program: &mut Program) -> io::Result<(OwnedFd, Private)> {
    program.environment.retain(|(name, _)| name != "PS1" && name != "PS2" && name != "PROMPT_COMMAND");
    program.environment.push(("PS1".into(), "\\[\\]".into()));
    program.environment.push(("PS2".into(), "".into()));
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
    Ok((reading, Private::of(writing.as_fd())?))
}

/// What was told last; an interrupt takes the line with it.
fn status(told: &OwnedFd) -> u8 {
    let mut bytes = [0; 64];
    let length = read(told, &mut bytes).unwrap_or(0);
    let text = std::str::from_utf8(bytes.get(..length).unwrap_or_default()).unwrap_or_default();
    text.split_whitespace().last().and_then(|status| status.parse().ok()).unwrap_or(130)
}

/// A statement as one line.
pub(super) fn framed(text: &[u8], input: i32) -> Vec<u8> {
    let mut line = b"\\builtin eval $'".to_vec();
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b' ' | b'-' | b'_' | b'.' | b'/' => line.push(*byte),
            other => line.extend(format!("\\{other:03o}").bytes()),
        }
    }
    line.extend(format!("' 0<&{input}\n").bytes());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_one_line_whatever_it_holds() {
        let table: [(&[u8], &str); 3] = [
            (b"ls -l a/b.c", "ls -l a/b.c"),
            (b"a'b\n!\\\"$x", "a\\047b\\012\\041\\134\\042\\044x"),
            ("\u{e9}".as_bytes(), "\\303\\251"),
        ];
        for (text, quoted) in table {
            let line = String::from_utf8(framed(text, 60)).unwrap_or_default();
            assert_eq!(line, format!("\\builtin eval $'{quoted}' 0<&60\n"));
        }
    }
}
