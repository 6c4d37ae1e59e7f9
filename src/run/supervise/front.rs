//! The process that the caller waits for.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::unistd::getpgrp;

use super::news::{LENGTH, News, Summary, Told};
use super::supervisor::{self, Beginning};
use super::terminal::Place;
use super::{Limit, Watch, Watched};
use crate::audit::Ran;
use crate::sys::process::{Ended, Program};
use crate::sys::signal::{Heard, Listening, stop_self};
use crate::sys::{child, tree};

/// How long what a killed supervisor has left behind may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the program under a supervisor of its own.
///
/// # Errors
/// When it could not be started (the error of exec itself), or the supervisor was killed.
pub fn run(program: Program, watch: Watch) -> io::Result<Watched> {
    run_at((program, watch), None)
}

/// As [`run`], on a terminal where nobody sits.
///
/// # Errors
/// As [`run`].
pub(in crate::run) fn run_at(
    (program, watch): (Program, Watch),
    place: Option<Place>,
) -> io::Result<Watched> {
    let mut front = Front::begin((program, watch), place)?;
    loop {
        if let Step::Ended(watched) = front.step(None)? {
            return Ok(watched);
        }
    }
}

/// What a wait brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The descriptor that was asked about is ready; `gone` when nobody is at its far end.
    Ready {
        /// Nobody reads what would be written there.
        gone: bool,
    },
    /// The caller may go on.
    Ended(Watched),
    /// Something happened that changes nothing here.
    Nothing,
}

/// A supervisor, as the process that the caller waits for sees it.
#[derive(Debug)]
pub(in crate::run) struct Line {
    /// Its process.
    pub(in crate::run) supervisor: i32,
    /// Its news, and what it is told.
    pub(in crate::run) events: UnixStream,
}

/// Starts a supervisor, which starts the program.
///
/// # Errors
/// When no process can be made.
pub(in crate::run) fn begin(
    (program, watch): (Program, Watch),
    listening: &Listening,
    own_group: bool,
    place: Option<Place>,
) -> io::Result<Line> {
    // Should the supervisor be killed, what it looked after comes to us.
    tree::adopt_orphans()?;
    let (events, front) = UnixStream::pair()?;
    let supervisor = child::aside(|| {
        let program = Some(program);
        supervisor::supervise(Beginning { program, watch, listening, own_group, place, front });
    })?;
    Ok(Line { supervisor, events })
}

/// What the last news say, of a command in a group of its own or in ours.
///
/// # Errors
/// When it was not started.
pub(in crate::run) fn finish(
    news: News,
    (supervisor, own_group): (i32, bool),
    limit: Option<Limit>,
) -> io::Result<Watched> {
    let kept = matches!(news, News::Ended(_, Summary { job: Some(_), .. }) | News::GoesOn(_));
    if !kept {
        // Its last act is over; it must not stay behind as a dead child of nobody.
        let _ended = child::wait_for(supervisor);
    }
    let (ended, limited, Summary { bytes, job, pid }) = match news {
        News::NotStarted(errno) => return Err(io::Error::from_raw_os_error(errno)),
        News::Ended(ended, summary) => (ended, false, summary),
        News::GoesOn(summary) => {
            let status = limit.map_or(0, |limit| limit.status);
            (Ended::Status(status.into()), true, summary)
        }
        News::Stopped | News::LetGo { .. } => return Err(io::ErrorKind::InvalidData.into()),
    };
    let group = if own_group { pid } else { getpgrp().as_raw() };
    Ok(Watched { ended, limited, job, bytes, process: Ran { pid, group } })
}

/// Nobody looks after the command any more, so it is not left running.
pub(in crate::run) fn lost(supervisor: i32) -> io::Error {
    let _ended = child::wait_for(supervisor);
    tree::end_own(GRACE);
    io::Error::other("its supervisor was killed; everything that it looked after has been ended")
}

/// The caller's side of a supervised command.
#[derive(Debug)]
pub struct Front {
    listening: Listening,
    line: Line,
    own_group: bool,
    limit: Option<Limit>,
    /// Keys that make a signal are ours: the shell that is supervised has a group of its own.
    keys: Option<Keys>,
}

/// Whether the key that interrupts was pressed at our prompt.
#[derive(Debug, Clone, Copy, Default)]
struct Keys {
    interrupted: bool,
}

impl Front {
    /// Starts the program under a supervisor of its own.
    ///
    /// # Errors
    /// When no process can be made. That the program itself could not be started is told by [`Front::step`].
    pub(in crate::run) fn begin(
        (program, watch): (Program, Watch),
        place: Option<Place>,
    ) -> io::Result<Self> {
        let limit = watch.limit;
        let listening = Listening::with_stops()?;
        let own_group = !child::has_terminal();
        let line = begin((program, watch), &listening, own_group, place)?;
        Ok(Self { listening, line, own_group, limit, keys: None })
    }

    /// From here on what a key does is for us, and not for the command.
    pub(in crate::run) fn take_keys(&mut self) {
        self.keys = Some(Keys::default());
    }

    /// Whether the key that interrupts was pressed since this was last asked.
    pub(in crate::run) fn was_interrupted(&mut self) -> bool {
        self.keys.as_mut().is_some_and(|keys| std::mem::take(&mut keys.interrupted))
    }

    /// The same, with what has come since anybody waited.
    pub(in crate::run) fn was_interrupted_now(&mut self) -> bool {
        // A signal that cannot be read now is read by the next wait.
        let _read = self.on_signals();
        self.was_interrupted()
    }

    /// Waits until something happens to the command, or this descriptor is ready.
    ///
    /// # Errors
    /// The error of exec itself where the program could not be started, or that the supervisor was killed.
    pub fn step(&mut self, other: Option<(BorrowedFd<'_>, PollFlags)>) -> io::Result<Step> {
        self.step_by(other, PollTimeout::NONE)
    }

    /// The same, for so long at the most.
    ///
    /// # Errors
    /// As [`Front::step`].
    pub(in crate::run) fn step_within(
        &mut self,
        other: Option<(BorrowedFd<'_>, PollFlags)>,
        patience: Duration,
    ) -> io::Result<Step> {
        self.step_by(other, PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX))
    }

    fn step_by(
        &mut self,
        other: Option<(BorrowedFd<'_>, PollFlags)>,
        patience: PollTimeout,
    ) -> io::Result<Step> {
        let [signals, news, other] = self.wait(other, patience)?;
        if !signals.is_empty() {
            self.on_signals()?;
        }
        if !news.is_empty() {
            return self.on_news().map(Step::Ended);
        }
        let gone = other.contains(PollFlags::POLLERR);
        Ok(if other.is_empty() { Step::Nothing } else { Step::Ready { gone } })
    }

    fn wait(
        &self,
        other: Option<(BorrowedFd<'_>, PollFlags)>,
        patience: PollTimeout,
    ) -> io::Result<[PollFlags; 3]> {
        let mut sources = vec![
            PollFd::new(self.listening.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.line.events.as_fd(), PollFlags::POLLIN),
        ];
        sources.extend(other.map(|(descriptor, flags)| PollFd::new(descriptor, flags)));
        match poll(&mut sources, patience) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok([PollFlags::empty(); 3]),
            Err(error) => return Err(error.into()),
        }
        let seen = |at: usize| sources.get(at).and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        Ok([seen(0), seen(1), seen(2)])
    }

    /// The last news, or the silence of a supervisor that went without any.
    fn on_news(&mut self) -> io::Result<Watched> {
        let mut bytes = [0; LENGTH];
        let news = self.line.events.read_exact(&mut bytes).ok().and_then(|()| News::from_bytes(&bytes));
        let (supervisor, own_group) = (self.line.supervisor, self.own_group);
        news.map_or_else(|| Err(lost(supervisor)), |news| finish(news, (supervisor, own_group), self.limit))
    }

    /// Ends the command as a signal to us would.
    pub fn end_by(&mut self, signal: Signal) {
        self.pass_on(Heard { signal, from_kernel: false });
    }

    fn on_signals(&mut self) -> io::Result<()> {
        while let Some(heard) = self.listening.next()? {
            match (heard.signal, &mut self.keys) {
                (Signal::SIGCHLD | Signal::SIGWINCH, _) => {}
                (Signal::SIGINT, Some(keys)) => keys.interrupted = true,
                (Signal::SIGQUIT | Signal::SIGTSTP | Signal::SIGCONT, Some(_)) => {}
                (Signal::SIGTSTP, None) => {
                    self.pass_on(heard);
                    stop_self();
                    self.pass_on(Heard { signal: Signal::SIGCONT, from_kernel: false });
                }
                _ => self.pass_on(heard),
            }
        }
        Ok(())
    }

    fn pass_on(&mut self, heard: Heard) {
        let delivered = heard.from_kernel && !self.own_group;
        let signal = u8::try_from(heard.signal as i32).unwrap_or(0);
        // A supervisor that is gone is noticed by its silence.
        let _told = self.line.events.write_all(&[Told::Signal { signal, delivered }.to_byte()]);
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::os::fd::OwnedFd;

    use super::*;
    use crate::sys::process::nameless_file;

    fn ended(path: &str, words: &[&str], stdin: Option<OwnedFd>) -> io::Result<Ended> {
        let argv = words.iter().map(OsString::from).collect();
        let program = Program { path: path.into(), argv, environment: vec![], stdin, script: None };
        run(program, Watch::default()).map(|watched| watched.ended)
    }

    #[test]
    fn ends_are_reported_as_they_were() {
        let table = [
            ("exit 0", Ended::Status(0)),
            ("exit 7", Ended::Status(7)),
            ("exit 255", Ended::Status(255)),
            ("kill -TERM $$", Ended::Signal(15)),
            ("kill -KILL $$", Ended::Signal(9)),
        ];
        for (text, expected) in table {
            assert_eq!(ended("/bin/bash", &["bash", "-c", text], None).ok(), Some(expected), "{text}");
        }
    }

    #[test]
    fn a_missing_program_is_the_error_of_exec() {
        let error = ended("/nonexistent/program", &["program"], None).err();
        assert_eq!(error.map(|error| error.kind()), Some(io::ErrorKind::NotFound));
    }

    #[test]
    fn given_standard_input_is_read() {
        let file = nameless_file(b"exit 9\n").ok().map(OwnedFd::from);
        assert_eq!(ended("/bin/bash", &["bash", "-s"], file).ok(), Some(Ended::Status(9)));
    }
}
