//! A shell that lives on from one decided statement to the next.
//!
//! bash reads a script from its standard input line by line, and so do the script's own commands. The two
//! are held apart: the shell's standard input is a pipe of ours (the *channel*), on which there is never
//! anything but decided statements, and each statement runs with the caller's standard input in its place:
//!
//! ```text
//! { STATEMENT
//! } 0>&"$((LINENO=n,61))"
//! ```
//!
//! So whatever a command reads or leaves there is data, and never becomes the shell's text. 61 stands for
//! the descriptor as which the shell, and nothing that it starts, has the caller's standard input; `>&` does
//! what `<&` would, but bash takes it for no redirection of standard input, so that a command with `&` behind
//! it still gets `/dev/null`. The number of the last line is put right, since our lines are no lines of the
//! script. bash's own copy of the channel is a number higher: all that scripts use stays theirs. A plain statement
//! ends on its own line, `{ STATEMENT; } 0>&61`: with each line that it reads bash forgets jobs that have ended, which
//! `wait %1` is still to ask for.
//!
//! A blank follows each statement. The channel has room for one piece only, so that it can be written to
//! exactly when all of it was taken; and only the shell's parser takes the blank, when it comes to read
//! the next statement. So we know when a statement is over, without looking at the process.

mod frame;
mod line;
mod talk;
mod typed;

use std::cell::RefCell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Instant;

use nix::poll::PollFlags;
use nix::sys::signal::Signal;

pub use self::frame::lines;
use self::frame::{Framing, failing, taking};
use self::talk::Talk;
use self::typed::Typed;
use super::approved::{Plan, Source, Supervision};
use super::supervise::{self, Front, Step, Watched};
use super::{How, Outcome, RunError, handing, is_of_exec};
use crate::facts::{Past, Survey};
use crate::sys::pipe::{self, Private};

/// A shell that is given one statement after the other. It begins with the first.
#[derive(Debug, Clone, Default)]
pub struct Living(Rc<RefCell<Course>>);

/// What became of waiting.
#[derive(Debug)]
pub enum Awaited {
    /// There is something on standard input, or its end.
    Input,
    /// The key that interrupts was pressed at our prompt.
    Interrupted,
    /// The shell has ended.
    Ended(Outcome),
}

/// No shell has been begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unbegun {
    /// The status of the last refused statement.
    pub failed: Option<u8>,
}

#[derive(Debug, Default)]
struct Course {
    shell: Option<Fed>,
    past: Past,
    text: Framing,
    /// The status of a refused statement before the shell began.
    failed: Option<u8>,
    /// It could not be started, and never will be; or it was lost.
    failing: bool,
    /// It is at a terminal.
    typed: Option<Typed>,
    /// What it said of itself last.
    survey: Option<Rc<Survey>>,
}

impl Living {
    /// What the statements so far have left in the shell.
    #[must_use]
    pub fn past(&self) -> Past {
        self.0.borrow().past.clone()
    }

    /// What there is instead of a shell; None where one was begun.
    #[must_use]
    pub fn not_begun(&self) -> Option<Unbegun> {
        let course = self.0.borrow();
        course.shell.is_none().then_some(Unbegun { failed: course.failed })
    }

    /// Whether no shell can be started here, or it was lost: nothing that comes can run.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.0.borrow().failing
    }

    /// A line without a statement.
    pub fn skip_line(&self) {
        self.0.borrow_mut().text.skip(1);
    }

    /// In the place of a statement of so many lines that must not run: its status is this one, as if it had
    /// failed.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn fail(&self, status: u8, lines: usize) -> io::Result<Option<Outcome>> {
        let mut course = self.0.borrow_mut();
        let Course { shell, text, failed, .. } = &mut *course;
        match shell {
            Some(fed) => {
                let instead = failing(status);
                let watched = match fed.typed {
                    Some(_) => fed.give_typed(instead.as_bytes(), false)?,
                    None => fed.give_framed(text, instead.as_bytes(), lines)?,
                };
                Ok(watched.map(|watched| fed.outcome(watched)))
            }
            None => {
                text.skip(lines);
                *failed = Some(status);
                Ok(None)
            }
        }
    }

    /// Waits until there is something on standard input.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn input(&self) -> io::Result<Awaited> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(Awaited::Input) };
        loop {
            match fed.front.step(Some((io::stdin().as_fd(), PollFlags::POLLIN)))? {
                Step::Ready { .. } => return Ok(Awaited::Input),
                Step::Ended(watched) => return Ok(Awaited::Ended(fed.outcome(watched))),
                Step::Nothing if fed.front.was_interrupted() => return Ok(Awaited::Interrupted),
                Step::Nothing => {}
            }
        }
    }

    /// Nothing more comes: the shell reads the end of its script. None when it never began.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn end(&self) -> io::Result<Option<Outcome>> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(None) };
        let watched = fed.end()?;
        Ok(Some(fed.outcome(watched)))
    }

    /// Ends it as a signal to us would.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn end_by(&self, signal: i32) -> io::Result<Option<Outcome>> {
        if let (Some(fed), Ok(signal)) = (&mut self.0.borrow_mut().shell, Signal::try_from(signal)) {
            fed.front.end_by(signal);
        }
        self.end()
    }

    /// Gives it the plan's statement and waits until that is over, or the shell.
    pub(super) fn run(&self, plan: &Plan) -> Result<Outcome, RunError> {
        let mut course = self.0.borrow_mut();
        let begun = Instant::now();
        let ran = course.run(plan);
        course.failing = ran.is_err();
        let watched = ran.map_err(|source| match is_of_exec(&source) {
            true => RunError::Start { program: plan.shell.path().to_owned(), source },
            false => RunError::Lost(source),
        })?;
        course.past = plan.left.clone();
        course.hear();
        let duration = begun.elapsed();
        Ok(Outcome { duration, ..outcome(watched, begun) })
    }
}

impl Course {
    fn run(&mut self, plan: &Plan) -> io::Result<Option<Watched>> {
        let is_all = plan.source == (Source::Statement { last: true }) && self.failed.is_none();
        if self.shell.is_none() {
            let fed = self.shell.insert(Fed::begin(plan, self.typed, !is_all)?);
            if let Some(typed) = fed.typed {
                let bytes = [&fed.taking(), typed.first()].concat();
                return fed.give_plainly(&bytes);
            }
        }
        let Self { shell: Some(fed), text, failed, .. } = self else { return Ok(None) };
        if fed.typed.is_some() {
            let looks = plan.left.strays() || self.survey.as_ref().is_some_and(|survey| survey.is_restless);
            return fed.give_typed(&plan.text, looks);
        }
        if let Some(status) = failed.take()
            && let Some(watched) = fed.give_framed(text, failing(status).as_bytes(), 0)?
        {
            return Ok(Some(watched));
        }
        if plan.source == (Source::Statement { last: true }) {
            let bytes = text.bare(&plan.text);
            return match fed.write(&bytes)? {
                Some(watched) => Ok(Some(watched)),
                None => fed.end().map(Some),
            };
        }
        match fed.give_framed(text, &plan.text, lines(&plan.text))? {
            None if plan.left.elsewhere().is_some() => fed.end().map(Some),
            watched => Ok(watched),
        }
    }
}

/// A shell that runs.
#[derive(Debug)]
struct Fed {
    front: Front,
    /// The end of the channel that is written to; None when nothing more comes.
    channel: Option<OwnedFd>,
    /// As which descriptor it has the caller's standard input; 0 where nothing needs it.
    input: i32,
    begun: Instant,
    typed: Option<Typed>,
    /// How one at a terminal and we tell each other what is so.
    talk: Option<Talk>,
    /// What it said that it holds, after the last statement.
    survey: Option<Survey>,
    /// What it is to run before all else.
    taking: Vec<u8>,
}

impl Fed {
    fn begin(plan: &Plan, typed: Option<Typed>, needs_input: bool) -> io::Result<Self> {
        let (theirs, channel) = pipe::for_one_piece()?;
        // Inherited, until the shell has started.
        let input = needs_input.then(|| Private::of(io::stdin().as_fd())).transpose()?;
        let mut program = handing::for_shell(plan)?;
        program.stdin = Some(theirs);
        let talk = match typed {
            Some(typed) => Some(typed::begin(typed, &mut program)?),
            None => None,
        };
        let theirs = talk.as_ref().map(|(_, theirs)| &theirs[..]).unwrap_or_default();
        let taking = taking(input.as_ref(), theirs, &program)?;
        let watch = match &plan.supervision {
            Supervision::By(watch) => (**watch).clone(),
            _ => supervise::Watch::default(),
        };
        let mut front = Front::begin((program, watch), None)?;
        if typed.is_some() {
            front.take_keys();
        }
        let input = input.as_ref().map_or(0, Private::number);
        // Their ends are the shell's alone from here on.
        let talk = talk.map(|(talk, _theirs)| talk);
        let begun = Instant::now();
        Ok(Self { front, channel: Some(channel), input, begun, typed, talk, survey: None, taking })
    }

    /// What it is to run before all else, once.
    fn taking(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.taking)
    }

    fn give_framed(
        &mut self,
        text: &mut Framing,
        statement: &[u8],
        lines: usize,
    ) -> io::Result<Option<Watched>> {
        let bytes = [self.taking(), text.framed(statement, lines, self.input)].concat();
        self.write(&bytes)
    }

    /// Writes all of it and waits until all was taken: None then, and the shell's end where that comes first.
    fn write(&mut self, bytes: &[u8]) -> io::Result<Option<Watched>> {
        let mut rest = bytes;
        loop {
            let channel = self.channel.as_ref().map(|channel| (channel.as_fd(), PollFlags::POLLOUT));
            match self.front.step(channel)? {
                Step::Ended(watched) => return Ok(Some(watched)),
                Step::Nothing => {}
                // The shell became another program: its end is what is left to wait for.
                Step::Ready { gone: true } => self.channel = None,
                Step::Ready { .. } if rest.is_empty() => return Ok(None),
                Step::Ready { .. } => rest = self.write_some(rest)?,
            }
        }
    }

    fn write_some<'a>(&self, bytes: &'a [u8]) -> io::Result<&'a [u8]> {
        let Some(channel) = &self.channel else { return Ok(bytes) };
        match pipe::write_some(channel.as_fd(), pipe::Kind::Pipe, bytes) {
            Ok(written) => Ok(bytes.get(written..).unwrap_or_default()),
            Err(nix::errno::Errno::EAGAIN | nix::errno::Errno::EINTR | nix::errno::Errno::EPIPE) => Ok(bytes),
            Err(error) => Err(error.into()),
        }
    }

    fn end(&mut self) -> io::Result<Watched> {
        self.channel = None;
        loop {
            if let Step::Ended(watched) = self.front.step(None)? {
                return Ok(watched);
            }
        }
    }

    fn outcome(&self, watched: Watched) -> Outcome {
        outcome(Some(watched), self.begun)
    }
}

fn outcome(watched: Option<Watched>, begun: Instant) -> Outcome {
    Outcome {
        how: How::Statement,
        ended: watched.map(|watched| watched.ended),
        duration: begun.elapsed(),
        watched: watched.as_ref().map(Watched::supervised),
    }
}
