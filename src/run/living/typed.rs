//! A shell that lives on at a terminal: an interactive bash with job control, whose text comes through the
//! channel and whose commands have the terminal.
//!
//! A statement is one line ([`line`](super::line)), since bash would show a prompt for each further one. bash
//! shows its own prompt, runs what is to run before it, and only then reads the channel again; so when the blank
//! behind the statement is taken, all that is there is on the screen. While a statement runs, bash (and what it
//! puts there) is in front of the terminal; between statements gsh is.
//!
//! After a statement that may have changed the shell in ways that were not followed, the shell says what it holds.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nix::poll::PollFlags;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::line::Frame;
use super::talk::{Heard, Talk};
use super::{Course, Fed, Living};
use crate::run::supervise::{Step, Watched};
use crate::run::{Outcome, contains};
use crate::syntax::quote;
use crate::sys::pipe::Private;
use crate::sys::process::Program;
use crate::sys::tty;

/// A shell that has not come to the door by then (it closed what leads there) begins as it likes.
const AT_THE_DOOR: Duration = Duration::from_secs(5);

/// What a shell at a terminal needs more than another.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Typed {
    /// The process group of the shell itself; it leads it.
    group: Option<i32>,
    /// Its prompt is ours: it shows none, and tells us how statements end.
    pub(super) quiet: bool,
    /// How the last one did, as far as it was told.
    status: Option<u8>,
    /// What it holds is not known since something interrupted it.
    is_unheard: bool,
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
        self.0.borrow().shell.as_ref()?.directory()
    }

    /// What programs get from the shell, where it was asked: names and values.
    #[must_use]
    pub fn environment(&self) -> Option<Vec<(String, String)>> {
        self.0.borrow().survey.as_ref().map(|survey| survey.environment.clone())
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

    /// Reads a person's start-up file.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn start_up(&self, file: &Path) -> io::Result<Option<Outcome>> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(None) };
        let quoted = quote(&file.to_string_lossy());
        let ended = fed.give_typed(format!("\\builtin . {quoted}").as_bytes(), true)?;
        let outcome = ended.map(|watched| fed.outcome(watched));
        if let Some(typed) = &mut fed.typed {
            // Nobody has run anything yet.
            typed.status = typed.status.map(|_| 0);
        }
        course.hear();
        Ok(outcome)
    }

    /// The prompt that a quiet one would show: what is to run before it runs. None where it says none.
    ///
    /// # Errors
    /// When the shell is lost.
    pub fn own_prompt(&self) -> io::Result<Option<String>> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(None) };
        let status = fed.typed.and_then(|typed| typed.status);
        let heard = fed.line(Given { prompts: true, ..Given::default() })?.1;
        if let Some(typed) = &mut fed.typed {
            // What stands before a line is no statement.
            typed.status = status;
        }
        Ok(heard.prompt)
    }

    fn say(&self, line: &[u8]) -> io::Result<Option<Outcome>> {
        let mut course = self.0.borrow_mut();
        let Some(fed) = &mut course.shell else { return Ok(None) };
        Ok(fed.give_plainly(line)?.map(|watched| fed.outcome(watched)))
    }
}

impl Course {
    /// Takes in what the shell said after the last statement.
    pub(super) fn hear(&mut self) {
        let Some(fed) = self.shell.as_mut().filter(|fed| fed.typed.is_some()) else { return };
        if let Some(survey) = fed.survey.take() {
            self.past = std::mem::take(&mut self.past).surveyed(&survey);
            self.survey = Some(std::rc::Rc::new(survey));
        }
        let directory = fed.directory();
        self.past = std::mem::take(&mut self.past).waiting(directory.as_deref());
    }
}

/// What is given to the shell.
#[derive(Debug, Default)]
struct Given<'a> {
    text: &'a [u8],
    looks: bool,
    prompts: bool,
}

/// Whether a statement may ask what the prompts are, or set them.
fn names_prompts(text: &[u8]) -> bool {
    [&b"PS0"[..], b"PS1", b"PS2", b"PROMPT_COMMAND"].into_iter().any(|name| contains(text, name))
}

impl Fed {
    /// Gives it a statement. With `looks` it then says what it holds.
    pub(super) fn give_typed(&mut self, text: &[u8], looks: bool) -> io::Result<Option<Watched>> {
        let looks = looks || self.typed.is_some_and(|typed| typed.is_unheard);
        let (ended, heard) = self.line(Given { text, looks, prompts: false })?;
        let was_heard = heard.survey.is_some();
        self.survey = heard.survey;
        let Some(typed) = self.typed.as_mut().filter(|_| ended.is_none()) else { return Ok(ended) };
        typed.is_unheard = looks && !was_heard;
        if typed.is_unheard && typed.quiet && heard.status.is_none() {
            // An interrupt took the rest of the line; nothing is left that would show.
            let status = typed.status;
            let (ended, heard) = self.line(Given { looks: true, ..Given::default() })?;
            self.survey = heard.survey;
            if let Some(typed) = &mut self.typed {
                (typed.is_unheard, typed.status) = (self.survey.is_none(), status);
            }
            return Ok(ended);
        }
        Ok(None)
    }

    fn line(&mut self, given: Given<'_>) -> io::Result<(Option<Watched>, Heard)> {
        let Some((talk, typed)) = self.talk.as_mut().zip(self.typed) else { return Ok(Default::default()) };
        talk.clear()?;
        let holds = typed.quiet && (given.looks || given.prompts || names_prompts(given.text));
        let frame = Frame {
            text: given.text,
            input: self.input,
            status: typed.status.filter(|_| typed.quiet),
            quiet: typed.quiet,
            held: holds.then_some(&talk.held[..]),
            prompts: given.prompts,
            looks: given.looks.then_some(talk.mark.as_str()),
        };
        let line = frame.line(talk.numbers());
        let mut ended = self.write(&line)?;
        if ended.is_none() {
            ended = self.at_the_door()?;
        }
        if ended.is_none() {
            self.let_begin(typed);
            // bash reads more than a line at once, so the blank is written when the line was taken.
            ended = self.write(b" ")?;
        }
        self.take_terminal();
        let mut heard = self.talk.as_mut().map(Talk::hear).unwrap_or_default();
        if let (Some(talk), Some(held)) = (&mut self.talk, heard.held.take()) {
            talk.held = held;
        }
        if let Some(typed) = self.typed.as_mut().filter(|typed| typed.quiet) {
            typed.status = Some(heard.status.unwrap_or(130));
        }
        Ok((ended, heard))
    }

    /// Waits until it has read the line.
    fn at_the_door(&mut self) -> io::Result<Option<Watched>> {
        let Some(talk) = &self.talk else { return Ok(None) };
        let end = Instant::now() + AT_THE_DOOR;
        while Instant::now() < end {
            let door = Some((talk.door(), PollFlags::POLLIN));
            match self.front.step_within(door, end.saturating_duration_since(Instant::now()))? {
                Step::Ended(watched) => return Ok(Some(watched)),
                Step::Ready { .. } => break,
                Step::Nothing => {}
            }
        }
        Ok(None)
    }

    /// It is put in front, and told to begin. A key that was pressed for the command until then is passed on.
    fn let_begin(&mut self, typed: Typed) {
        self.give_terminal();
        if let Some(talk) = &mut self.talk {
            talk.go();
        }
        if self.front.was_interrupted_now()
            && let Some(group) = typed.group
        {
            let _gone = kill(Pid::from_raw(-group), Signal::SIGINT);
        }
    }

    /// A line of ours, in which nothing can be interrupted that matters.
    pub(super) fn give_plainly(&mut self, line: &[u8]) -> io::Result<Option<Watched>> {
        self.give_terminal();
        let mut ended = self.write(line)?;
        if ended.is_none() {
            ended = self.write(b" ")?;
        }
        self.take_terminal();
        Ok(ended)
    }

    /// Before a line is given to it.
    fn give_terminal(&self) {
        if let Some(Typed { group: Some(group), .. }) = self.typed {
            tty::put_in_front(io::stdin().as_fd(), Some(group));
        }
    }

    /// It waits for the next line.
    fn take_terminal(&mut self) {
        if let Some(typed) = &mut self.typed {
            // The first time it has put itself there, with a group of its own.
            typed.group = typed.group.or_else(|| tty::front_of(io::stdin().as_fd()));
            tty::put_in_front(io::stdin().as_fd(), None);
            // A key that was pressed for a command is none for our prompt.
            let _for_the_command = self.front.was_interrupted();
        }
    }

    fn directory(&self) -> Option<PathBuf> {
        let group = self.typed?.group?;
        fs::read_link(format!("/proc/{group}/cwd")).ok()
    }
}

/// How it and we will talk. A quiet one shows no prompt of its own, though it has one, by which scripts know an
/// interactive shell. With the ends that only it has.
pub(super) fn begin(typed: Typed, program: &mut Program) -> io::Result<(Talk, [Private; 2])> {
    if typed.quiet {
        program.environment.retain(|(name, _)| name != "PS1" && name != "PS2" && name != "PROMPT_COMMAND");
        program.environment.push(("PS1".into(), "\\[\\]".into()));
        program.environment.push(("PS2".into(), "".into()));
    }
    Talk::begin()
}
