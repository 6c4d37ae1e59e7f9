//! What a shell at a terminal and we tell each other, besides the statements.
//!
//! It tells in a nameless file of ours, which never makes it wait: how a statement ended, what its prompts are,
//! what it holds. At the door, a pair of sockets, it says that it has read all of a line and waits to begin: only
//! then is it put in front of the terminal, so that a key can never interrupt it in the middle of reading.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use super::line::Numbers;
use crate::facts::Survey;
use crate::sys::pipe::Private;
use crate::sys::process::nameless_file;
use crate::sys::random;

/// More than any shell has to say.
const LONGEST: u64 = 8 << 20;

/// The two ways to tell, and as which descriptors the shell has its ends.
#[derive(Debug)]
pub(super) struct Talk {
    told: File,
    door: UnixStream,
    numbers: Numbers,
    /// Its prompts as they are set, as text that sets them: only where it shows none of them.
    pub(super) held: Vec<u8>,
    /// Between what a survey of the line at hand stands: new for each, since a statement must not foretell it.
    pub(super) mark: String,
}

/// What it told.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// How the statement ended; None where something interrupted the line.
    pub(super) status: Option<u8>,
    /// Its prompts.
    pub(super) held: Option<Vec<u8>>,
    /// What stands before a line by its own prompt.
    pub(super) prompt: Option<String>,
    /// What it holds.
    pub(super) survey: Option<Survey>,
}

impl Talk {
    /// With the ends that only the shell has.
    pub(super) fn begin() -> io::Result<(Self, [Private; 2])> {
        let told = nameless_file(b"")?;
        let (door, theirs) = UnixStream::pair()?;
        door.set_nonblocking(true)?;
        let ends = [Private::of(told.as_fd())?, Private::of(theirs.as_fd())?];
        let [told_as, door_as] = ends.each_ref().map(Private::number);
        let numbers = Numbers { told: told_as, door: door_as };
        Ok((Self { told, door, numbers, held: Vec::new(), mark: new_mark()? }, ends))
    }

    pub(super) fn numbers(&self) -> Numbers {
        self.numbers
    }

    /// Nothing that was told before counts from here on.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.mark = new_mark()?;
        self.told.set_len(0)?;
        self.told.rewind()
    }

    /// Where it says that it waits to begin.
    pub(super) fn door(&self) -> BorrowedFd<'_> {
        self.door.as_fd()
    }

    /// It may begin. What it said at the door is taken, so that the next time is told from this one.
    pub(super) fn go(&mut self) {
        let mut said = [0; 16];
        // Where it never came to the door, it is not waiting there either.
        let _what = self.door.read(&mut said);
        let _gone = self.door.write_all(b"\n");
    }

    /// What was told since it was cleared.
    pub(super) fn hear(&mut self) -> Heard {
        let mut bytes = Vec::new();
        let read = self.told.rewind().and_then(|()| (&self.told).take(LONGEST).read_to_end(&mut bytes));
        if read.is_err() { Heard::default() } else { Heard::read(&bytes, &self.mark) }
    }
}

fn new_mark() -> io::Result<String> {
    Ok(format!("gsh-survey-{}", random::word::<16>()?))
}

impl Heard {
    /// Each thing begins with a letter; a survey is last.
    fn read(bytes: &[u8], mark: &str) -> Self {
        let mut heard = Self::default();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == 0) {
            let (part, after) = rest.split_at(end);
            let text = || String::from_utf8_lossy(part.get(1..).unwrap_or_default()).into_owned();
            match part.first() {
                Some(b'?') => heard.status = text().parse().ok(),
                Some(b'h') => heard.held = part.get(1..).map(<[u8]>::to_vec),
                Some(b'p') => heard.prompt = Some(text()),
                _ => {
                    heard.survey = Survey::read(rest, mark);
                    break;
                }
            }
            rest = after.get(1..).unwrap_or_default();
        }
        heard
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_told_apart() {
        let heard = Heard::read(b"?7\0hdeclare -- PS1=\"$ \"\n\0p$ \0", "gsh-survey");
        assert_eq!((heard.status, heard.prompt.as_deref()), (Some(7), Some("$ ")));
        assert_eq!(heard.held.as_deref(), Some(&b"declare -- PS1=\"$ \"\n"[..]));
        assert!(heard.survey.is_none());
        assert_eq!(Heard::read(b"?7", "gsh-survey").status, None, "an interrupt came in between");
        assert!(Heard::read(b"?0\0gsh-survey\0\0\0\0\0\0gsh-survey\0", "gsh-survey").survey.is_some());
        assert!(Heard::read(b"?0\0gsh-survey\0\0\0\0", "gsh-survey").survey.is_none());
        let forged = b"?0\0gsh-survey\0\0\0\0\0\0gsh-survey\0";
        assert!(Heard::read(forged, "gsh-survey-1f").survey.is_none(), "a mark that is not of this line");
    }
}
