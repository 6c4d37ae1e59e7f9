//! The relay between a person's terminal and a command's: one loop over four descriptors (ours, the leader
//! end, the line to the supervisor, signals), one method for each kind of news, and a [`State`] that says
//! what is still to come.

mod events;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

use nix::poll::{PollFlags, PollTimeout};
use nix::sys::signal::Signal;

use super::picture::Picture;
use super::typed::Typed;
use crate::run::supervise::news::{News, Told};
use crate::store::jobs::Log;
use crate::sys::signal::Listening;
use crate::sys::sources::Sources;
use crate::sys::tty::{self, Leader, RawMode};

/// What may wait on its way in one direction.
const BUFFER: usize = 64 * 1024;
/// After the command's end, how long the leader end must be silent while somebody the command left
/// behind still holds the other end. (Where nobody does, its end is told at once.)
const SILENCE: u16 = 40;
/// Our side of the relay.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ends<'a> {
    /// The person's terminal; without one the command keeps our standard input.
    pub(super) input: Option<BorrowedFd<'a>>,
    /// Where what is shown goes.
    pub(super) output: BorrowedFd<'a>,
}

/// Who relays.
#[derive(Debug)]
pub(super) enum Role {
    /// The process that the command's caller waits for.
    Caller,
    /// Somebody who sat down at a job. What is shown meanwhile is added to its log.
    Guest(Option<Log>),
}

/// What stands on the person's terminal when the relay begins.
#[derive(Debug, Default)]
pub(super) struct Before {
    /// How it is set once that is shown.
    pub(super) picture: Picture,
    /// What is to be shown first.
    pub(super) shown: Vec<u8>,
}

/// What the relay is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The command runs.
    Running,
    /// It ended; what it wrote is on its way.
    Draining {
        /// Until then at the latest.
        latest: Instant,
    },
    /// The terminal is the supervisor's; its last word.
    Left,
    /// Nothing.
    Done(End),
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With the supervisor's last word.
    Told(News),
    /// The supervisor is gone without one.
    Gone,
    /// The guest pressed the key that leaves.
    Key,
    /// The job was stopped (`^Z`).
    Stopped,
    /// A signal came to the guest, or their terminal was closed.
    Signal(Signal),
}

/// The relay.
pub(super) struct Relay<'a> {
    ends: Ends<'a>,
    leader: Leader,
    line: UnixStream,
    listening: Listening,
    role: Role,
    raw: Option<RawMode<'a>>,
    state: State,
    to_command: Vec<u8>,
    to_person: Vec<u8>,
    /// A part of a message.
    message: Vec<u8>,
    output_open: bool,
    hung_up: bool,
    picture: Picture,
    typed: Typed,
}

/// What happened on the four descriptors.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    typed: bool,
    output: bool,
    leader_takes: bool,
    person_takes: bool,
    news: bool,
    signal: bool,
}

impl<'a> Relay<'a> {
    /// One that is about to begin.
    pub(super) fn new(
        ends: Ends<'a>,
        leader: Leader,
        (line, listening): (UnixStream, Listening),
        (role, before): (Role, Before),
    ) -> Self {
        let Before { picture, shown } = before;
        Self {
            ends,
            leader,
            line,
            listening,
            role,
            raw: None,
            state: State::Running,
            to_command: Vec::new(),
            to_person: shown,
            message: Vec::new(),
            output_open: true,
            hung_up: false,
            picture,
            typed: Typed::default(),
        }
    }

    /// Relays to the end. Our terminal is in raw mode only while the command runs in the foreground, and
    /// gets its settings back on every way out.
    ///
    /// # Errors
    /// When a descriptor fails that cannot fail.
    pub(super) fn run(mut self) -> io::Result<End> {
        self.line.set_nonblocking(true)?;
        self.go_raw();
        let end = self.relay();
        let natural = matches!(end, Ok(End::Told(News::Ended(..))));
        if !natural && !self.hung_up {
            // What goes on elsewhere has left our screen as it was in the middle of something.
            let _gone = nix::unistd::write(self.ends.output, self.picture.leave().as_bytes());
        }
        self.raw = None;
        if let Role::Guest(_) = self.role {
            self.tell(Told::Left);
        }
        end
    }

    fn relay(&mut self) -> io::Result<End> {
        loop {
            if let State::Done(end) = self.state {
                return Ok(end);
            }
            let seen = self.wait()?;
            if seen.signal {
                self.on_signals()?;
            }
            if seen.person_takes {
                self.on_person_takes();
            }
            if seen.output {
                self.on_output()?;
            }
            if seen.leader_takes {
                self.on_leader_takes();
            }
            if seen.typed {
                self.on_typed();
            }
            if seen.news {
                self.on_line()?;
            }
            self.settle(seen);
        }
    }

    fn wait(&self) -> io::Result<Seen> {
        let running = self.state == State::Running;
        let reads = self.output_open && self.state != State::Left && self.to_person.len() < BUFFER;
        let types = running && self.raw.is_some() && self.to_command.len() < BUFFER;
        let draining = matches!(self.state, State::Draining { .. }) && self.to_person.is_empty();
        let patience = if draining { SILENCE.into() } else { PollTimeout::NONE };
        let when = |wanted: bool, flags: PollFlags| if wanted { flags } else { PollFlags::empty() };
        let wanted =
            when(reads, PollFlags::POLLIN) | when(running && !self.to_command.is_empty(), PollFlags::POLLOUT);
        // A descriptor with no wish is left out: its hang-up would be reported for ever.
        let shows = Some(self.ends.output).filter(|_| !self.to_person.is_empty());
        let leader = Some(self.leader.as_fd()).filter(|_| !wanted.is_empty());
        let mut sources = Sources::default();
        let signal = sources.add(Some(self.listening.as_fd()), PollFlags::POLLIN);
        let news = sources.add(Some(self.line.as_fd()), PollFlags::POLLIN);
        let person = sources.add(shows, PollFlags::POLLOUT);
        let typed = sources.add(self.ends.input.filter(|_| types), PollFlags::POLLIN);
        let leader = sources.add(leader, wanted);
        if !sources.wait(patience)? {
            return Ok(Seen { signal: true, ..Seen::default() });
        }
        Ok(Seen {
            signal: sources.is_ready(signal),
            news: sources.is_ready(news),
            person_takes: sources.is_ready(person),
            output: reads && sources.seen(leader).intersects(!PollFlags::POLLOUT),
            leader_takes: sources.seen(leader).contains(PollFlags::POLLOUT),
            typed: sources.is_ready(typed),
        })
    }

    /// After the command's end: nothing more to read, or silence, is the end of its output.
    fn settle(&mut self, seen: Seen) {
        if let State::Draining { latest } = self.state
            && self.to_person.is_empty()
            && (!self.output_open
                || Instant::now() >= latest
                || !(seen.output || seen.person_takes || seen.news || seen.signal))
        {
            self.give_back();
            self.leave();
        }
    }

    /// The terminal is the supervisor's from now on.
    fn leave(&mut self) {
        self.tell(Told::Left);
        self.state = State::Left;
    }

    /// The command has ended: what it did to its terminal's settings on purpose (`stty`) is done to ours, and
    /// what was typed and not read is typed again.
    fn give_back(&mut self) {
        let mut unread = self.typed.unread(&self.leader);
        unread.append(&mut self.to_command);
        if let (Some(raw), Some(settings)) = (&mut self.raw, self.leader.settings()) {
            raw.give_back(settings);
        }
        let had_it = self.raw.take().is_some();
        if let Some(input) = self.ends.input.filter(|_| had_it) {
            // What the kernel does not let us type is lost: it forbids it since 6.2, unless it is told to.
            let _lost = tty::type_at(input, &unread);
        }
    }
}
