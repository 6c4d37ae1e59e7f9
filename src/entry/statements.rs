//! A script that arrives on standard input, decided and run statement by statement, as bash would read it.
//!
//! Each statement is a request of its own: policy, grants and mode are read anew for it, it has its own record,
//! and it starts from what those before it left in the shell. One that is refused fails with its status in
//! the place of what it would have done, and the shell lives on: whoever holds it (an agent with one shell
//! for all its commands) would lose it otherwise, and bash goes on behind a command that fails, too. Under
//! `set -e` the script ends there.

use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;

use super::moment::{End, Moment};
use super::shell::{LONGEST_TEXT, die};
use super::steer::{FAILED, REFUSED};
use crate::facts::Elsewhere;
use crate::run::living::{Awaited, Living, Unbegun, lines};
use crate::run::reads::{Reads, reads};
use crate::run::{Outcome, Source};
use crate::syntax::Limits;
use crate::sys::pipe::{Lines, Taken};
use crate::sys::process::Ended;

/// `exec <FILE`: what stands in FILE was never decided.
const UNREAD: &str = "the script goes on in what it has put in the place of its standard input; that is not \
    run. Run it as a script of its own: bash FILE";

/// Reads, decides and runs to the end.
pub(super) fn run(begun: &Moment) -> ExitCode {
    let limits = begun.policy.knobs.limits.of_reading();
    let (living, input) = (Living::default(), Lines::new());
    let script = Script { begun, living, limits, input };
    script.run().unwrap_or_else(|error| {
        eprintln!("gsh: {error}");
        ExitCode::from(FAILED)
    })
}

struct Script<'a> {
    /// The call as it began; its shell says where a statement ends.
    begun: &'a Moment,
    living: Living,
    limits: Limits,
    input: Lines,
}

/// What was read.
enum Next {
    /// After it bash reads nothing more, where it `ends`: it is wrong, or nothing more is there.
    Statement {
        text: Vec<u8>,
        ends: bool,
    },
    End,
    TooLong,
    /// The shell has ended meanwhile.
    Over(Outcome),
}

impl Script<'_> {
    fn run(self) -> io::Result<ExitCode> {
        loop {
            let (text, ends) = match self.next()? {
                Next::Statement { text, ends } => (text, ends),
                Next::End => return self.end(),
                Next::Over(outcome) => return Ok(outcome.imitate()),
                Next::TooLong => {
                    eprintln!(
                        "gsh: standard input: too long to be decided: more than {} MiB",
                        LONGEST_TEXT >> 20
                    );
                    self.living.fail(REFUSED, 0)?;
                    return self.end();
                }
            };
            if let Some(status) = self.statement(&text, ends)? {
                return Ok(status);
            }
        }
    }

    /// Decides one statement and has it run. The status of it all where that ended the shell.
    fn statement(&self, text: &[u8], last: bool) -> io::Result<Option<ExitCode>> {
        let moment = match self.begun.anew(text) {
            Ok(moment) => moment,
            Err(status) => {
                self.living.end()?;
                return Ok(Some(status));
            }
        };
        let ending = moment.run(Source::Statement { last }, Some(&self.living));
        let outcome = match moment.tell(ending) {
            End::Ran(outcome) => {
                let over = Some(outcome).filter(|outcome| outcome.ended.is_some());
                let succeeded = over.is_some_and(|outcome| outcome.ended == Some(Ended::Status(0)));
                if succeeded && !last && self.living.past().elsewhere() == Some(Elsewhere::Unread) {
                    eprintln!("gsh: standard input: {UNREAD}");
                    return Ok(Some(ExitCode::from(REFUSED)));
                }
                over
            }
            End::NotRun(status) if self.living.is_failing() => return Ok(Some(ExitCode::from(status))),
            End::NotRun(status) => self.living.fail(status, lines(text))?,
            End::Abandoned(signal) => {
                self.living.end_by(signal)?;
                return Ok(Some(die(signal)));
            }
        };
        Ok(outcome.map(Outcome::imitate))
    }

    /// The script is over. Where nothing of it was to run, bash still has to read it: it may have options
    /// that do something.
    fn end(&self) -> io::Result<ExitCode> {
        match self.living.not_begun() {
            None => Ok(self.living.end()?.map_or(ExitCode::SUCCESS, Outcome::imitate)),
            Some(Unbegun { failed: Some(status) }) => Ok(ExitCode::from(status)),
            Some(Unbegun { failed: None }) => Ok(self.statement(b"", true)?.unwrap_or(ExitCode::SUCCESS)),
        }
    }

    /// Reads to the end of a line where bash would begin to run what it has read.
    fn next(&self) -> io::Result<Next> {
        let mut text = Vec::new();
        loop {
            let begins = text.len();
            match self.line(&mut text)? {
                Line::Over(outcome) => return Ok(Next::Over(outcome)),
                Line::End if text.is_empty() => return Ok(Next::End),
                Line::End => return Ok(Next::Statement { text, ends: true }),
                Line::Whole => {}
            }
            if text.len() as u64 > LONGEST_TEXT {
                return Ok(Next::TooLong);
            }
            if begins == 0 && is_blank(&text) {
                self.living.skip_line();
                text.clear();
                continue;
            }
            match reads(&text, begins, &self.begun.shell, &self.limits) {
                Reads::More => {}
                Reads::All if is_blank(&joined(&text)) => {
                    text.iter().filter(|byte| **byte == b'\n').for_each(|_| self.living.skip_line());
                    text.clear();
                }
                found => {
                    text.truncate(text.len() - 1);
                    return Ok(Next::Statement { text, ends: found == Reads::Never });
                }
            }
        }
    }

    fn line(&self, text: &mut Vec<u8>) -> io::Result<Line> {
        loop {
            if let Awaited::Ended(outcome) = self.living.input()? {
                return Ok(Line::Over(outcome));
            }
            match self.input.take(io::stdin().as_fd(), text)? {
                Taken::Line => return Ok(Line::Whole),
                Taken::End => return Ok(Line::End),
                Taken::Part if text.len() as u64 > LONGEST_TEXT => return Ok(Line::Whole),
                Taken::Part => {}
            }
        }
    }
}

enum Line {
    Whole,
    End,
    Over(Outcome),
}

/// Whether bash finds nothing in a line: blanks, or a comment.
fn is_blank(line: &[u8]) -> bool {
    let text = line.trim_ascii_start();
    let is_one = !line.strip_suffix(b"\n").unwrap_or(line).contains(&b'\n');
    let is_empty = text.is_empty() && line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n'));
    is_one && (is_empty || text.starts_with(b"#"))
}

/// Lines that a backslash takes into one. Only for asking whether there is anything at all.
fn joined(text: &[u8]) -> Vec<u8> {
    let mut joined: Vec<u8> = Vec::with_capacity(text.len());
    for byte in text {
        if *byte == b'\n' && joined.last() == Some(&b'\\') {
            joined.pop();
        } else {
            joined.push(*byte);
        }
    }
    joined
}
