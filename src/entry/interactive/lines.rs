//! What is typed, without an editor: the bytes as they come, shown by the terminal itself, which gathers no
//! lines meanwhile, since it would cut one that is longer than 4095 bytes.

use std::io::{self, Write};
use std::os::fd::AsFd;

use super::Typed;
use crate::entry::moment::Moment;
use crate::run::living::{Awaited, Living};
use crate::run::reads::{Reads, reads};
use crate::run::shell::Shell;
use crate::syntax::Limits;
use crate::sys::pipe::{Lines, Taken};
use crate::sys::tty::RawMode;

/// `^D`.
const END: u8 = 4;
/// `^U`.
const KILL: u8 = 0x15;

/// Reads statements from standard input.
pub(super) struct Reader {
    shell: Shell,
    limits: Limits,
    input: Lines,
}

enum Line {
    Whole,
    End,
    Interrupted,
    Over(crate::run::Outcome),
}

impl Reader {
    pub(super) fn new(moment: &Moment) -> Self {
        let limits = moment.policy.knobs.limits.of_reading();
        Self { shell: moment.shell.clone(), limits, input: Lines::new() }
    }

    /// Reads to the end of a line where bash would begin to run what it has read.
    pub(super) fn read(&self, living: &Living) -> io::Result<Typed> {
        let stdin = io::stdin();
        // A terminal that is gone is its end.
        let Ok(_open) = RawMode::without_lines(stdin.as_fd()) else { return Ok(Typed::End) };
        let mut text = Vec::new();
        loop {
            let begins = text.len();
            match self.line(living, &mut text)? {
                Line::Over(outcome) => return Ok(Typed::Over(outcome)),
                Line::Interrupted => {
                    say(b"^C\n")?;
                    return Ok(Typed::Nothing);
                }
                Line::End if text.is_empty() => return Ok(Typed::End),
                Line::End => return Ok(Typed::Statement(text)),
                Line::Whole => {}
            }
            if begins == 0 && text.iter().all(u8::is_ascii_whitespace) {
                return Ok(Typed::Nothing);
            }
            if reads(&text, begins, &self.shell, &self.limits) != Reads::More {
                text.pop();
                return Ok(Typed::Statement(text));
            }
        }
    }

    /// Adds a line to the text.
    fn line(&self, living: &Living, text: &mut Vec<u8>) -> io::Result<Line> {
        let begins = text.len();
        loop {
            match living.input()? {
                Awaited::Ended(outcome) => return Ok(Line::Over(outcome)),
                Awaited::Interrupted => return Ok(Line::Interrupted),
                Awaited::Input => {}
            }
            match self.input.take(io::stdin().as_fd(), text) {
                Ok(Taken::Line) => return Ok(Line::Whole),
                Ok(Taken::End) | Err(_) => return Ok(Line::End),
                Ok(Taken::Part) => {}
            }
            match text.get(begins..).unwrap_or_default() {
                // One that was typed ahead, while the terminal gathered lines, comes as a NUL.
                [END | 0] => {
                    text.pop();
                    return Ok(Line::End);
                }
                [.., 0x7f | 8] => erase(text, begins)?,
                [.., KILL] => {
                    text.truncate(begins);
                    say(b"\n")?;
                }
                _ => {}
            }
        }
    }
}

/// Takes the last character back; of the key itself nothing was shown.
fn erase(text: &mut Vec<u8>, begins: usize) -> io::Result<()> {
    text.pop();
    let is_inner = |byte: &u8| *byte & 0xc0 == 0x80;
    while text.len() > begins && text.pop().as_ref().is_some_and(is_inner) {}
    say(b"\x08 \x08")
}

fn say(bytes: &[u8]) -> io::Result<()> {
    let mut error = io::stderr().lock();
    error.write_all(bytes)?;
    error.flush()
}
