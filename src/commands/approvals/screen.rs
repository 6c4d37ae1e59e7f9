//! The screen: drawn on the person's own terminal, which is reply back as it was on every way out.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use crossterm::cursor::{Hide, MoveTo, Show};
use crossterm::queue;
use crossterm::style::Print;
use crossterm::terminal::{Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::keys;
use super::view::{Act, View};
use crate::store::pending::{Approver, Queue, now};
use crate::sys::signal::{self, die_of};
use crate::sys::tty::{self, RawMode};
use crate::sys::watch::Watch;

/// How often the clock on the screen, the window's size and the folder are looked at all the same.
const TICK: u16 = 250;
/// Keys pressed this soon after a question appeared were meant for what was there before.
const TOO_EARLY: Duration = Duration::from_millis(200);

/// What the list is started with.
#[derive(Debug)]
pub struct Listening<'a> {
    /// The questions.
    pub queue: &'a Queue,
    /// The person's terminal.
    pub terminal: &'a Path,
    /// Only this question, and an end with it.
    pub only: Option<String>,
    /// Whether a new question rings the bell.
    pub bell: bool,
}

/// Shows the questions as they come and takes answers, until the person leaves. What is to be said afterwards.
///
/// # Errors
/// When the terminal or the queue cannot be used.
pub fn run(listening: &Listening<'_>) -> Result<String, String> {
    let terminal = tty::open(listening.terminal).map_err(|error| error.to_string())?;
    let mut approver = Approver::new(listening.terminal).map_err(|error| error.to_string())?;
    approver.listen(listening.queue).map_err(|error| error.to_string())?;
    let ended = shown(listening, &terminal, &approver);
    // Nobody listens any more, whatever ends us.
    drop(approver);
    match ended.map_err(|error| format!("{}: {error}", listening.terminal.display()))? {
        Ended::Left(said) => Ok(if said.is_empty() { said } else { said + "\n" }),
        Ended::Signal(number) => {
            die_of(number);
            Err(format!("ended by signal {number}"))
        }
    }
}

enum Ended {
    Left(String),
    Signal(i32),
}

fn shown(listening: &Listening<'_>, terminal: &File, approver: &Approver) -> io::Result<Ended> {
    let signals = signal::Listening::to_endings()?;
    let _raw = RawMode::enter(terminal.as_fd())?;
    let screen = Screen::enter(terminal)?;
    keys::forget(terminal.as_fd())?;
    Loop { listening, terminal, approver, view: View::new(listening.only.clone()), since: Instant::now() }
        .go(&signals, &screen)
}

struct Loop<'a> {
    listening: &'a Listening<'a>,
    terminal: &'a File,
    approver: &'a Approver,
    view: View,
    /// Since when the question in front is shown.
    since: Instant,
}

impl Loop<'_> {
    fn go(mut self, signals: &signal::Listening, screen: &Screen<'_>) -> io::Result<Ended> {
        let watch = Watch::on(self.listening.queue.folder()).ok();
        loop {
            if self.refresh(screen)? {
                return Ok(Ended::Left(self.view.said().to_owned()));
            }
            let mut sources = vec![
                PollFd::new(signals.as_fd(), PollFlags::POLLIN),
                PollFd::new(self.terminal.as_fd(), PollFlags::POLLIN),
            ];
            sources.extend(watch.as_ref().map(|watch| PollFd::new(watch.as_fd(), PollFlags::POLLIN)));
            match poll(&mut sources, PollTimeout::from(TICK)) {
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
            let typed = sources.get(1).and_then(PollFd::revents).is_some_and(|events| !events.is_empty());
            if let Some(heard) = signals.next()? {
                return Ok(Ended::Signal(heard.signal as i32));
            }
            if let Some(watch) = &watch {
                watch.drain();
            }
            if typed && self.key()? {
                return Ok(Ended::Left(self.view.said().to_owned()));
            }
        }
    }

    /// Shows how things stand now; whether all is over.
    fn refresh(&mut self, screen: &Screen<'_>) -> io::Result<bool> {
        let before = self.view.shown().map(str::to_owned);
        self.resize();
        let (news, over) = self.view.update(self.listening.queue.list());
        if news && self.listening.bell {
            screen.ring()?;
        }
        self.note(before.as_deref());
        screen.draw(&self.view.lines(now()))?;
        Ok(over)
    }

    /// What another window shows is new to the person, too.
    fn resize(&mut self) {
        let (columns, rows) = tty::size(self.terminal.as_fd()).unwrap_or((80, 24));
        if self.view.resize((columns.into(), rows.into())) {
            self.since = Instant::now();
        }
    }

    /// A question that was not in front before is new to the person, whatever is typed.
    fn note(&mut self, before: Option<&str>) {
        if self.view.shown() != before {
            self.since = Instant::now();
        }
    }

    /// Takes a key; whether to leave.
    fn key(&mut self) -> io::Result<bool> {
        let (key, alone) = keys::next(self.terminal.as_fd())?;
        self.resize();
        if self.view.shown().is_some() && !self.view.types() && self.since.elapsed() < TOO_EARLY {
            // One that is held down goes on being none.
            self.since = Instant::now();
            return Ok(false);
        }
        let before = self.view.shown().map(str::to_owned);
        let leave = match self.view.press(key, alone) {
            Act::Nothing => false,
            Act::Leave => true,
            Act::Answer(pending, reply) => {
                let word = reply.word();
                let said = match self.listening.queue.answer(&pending, reply, self.approver) {
                    Ok(()) => format!("{}: {word}", pending.id),
                    Err(why) => why.to_string(),
                };
                self.view.answered(said);
                false
            }
        };
        self.note(before.as_deref());
        Ok(leave)
    }
}

/// The other screen of a terminal, for as long as it lives.
struct Screen<'a>(&'a File);

impl<'a> Screen<'a> {
    fn enter(terminal: &'a File) -> io::Result<Self> {
        let screen = Self(terminal);
        let mut out = terminal;
        queue!(out, EnterAlternateScreen, Hide)?;
        out.flush().map(|()| screen)
    }

    fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut out = BufWriter::new(self.0);
        for (row, line) in (0_u16..).zip(lines) {
            queue!(out, MoveTo(0, row), Clear(ClearType::CurrentLine), Print(line))?;
        }
        let below = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        let rows = tty::size(self.0.as_fd()).map_or(24, |(_, rows)| rows);
        if below < rows {
            queue!(out, MoveTo(0, below), Clear(ClearType::FromCursorDown))?;
        }
        out.flush()
    }

    fn ring(&self) -> io::Result<()> {
        let mut out = self.0;
        out.write_all(b"\x07")
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        let mut out = self.0;
        // A terminal that is gone needs nothing back.
        let _ = queue!(out, Show, LeaveAlternateScreen);
        let _ = out.flush();
    }
}
