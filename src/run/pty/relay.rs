//! The relay between a person's terminal and a command's: one loop over four descriptors (ours, the leader
//! end, the line to the supervisor, signals), one method for each kind of news, and a [`State`] that says
//! what is still to come.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::picture::Picture;
use super::typed::Typed;
use crate::run::supervise::news::{LENGTH, News, Told};
use crate::store::jobs::Log;
use crate::sys::signal::{Heard, Listening, stop_self};
use crate::sys::tty::{self, Leader, RawMode};

/// What may wait on its way in one direction.
const BUFFER: usize = 64 * 1024;
/// After the command's end, how long the leader end must be silent while somebody the command left
/// behind still holds the other end. (Where nobody does, its end is told at once.)
const SILENCE: u16 = 40;
/// How long what is left behind may go on writing without a pause before it is not waited for.
const LATEST: Duration = Duration::from_secs(1);
/// The key that leaves a job's terminal: `^]`.
const LEAVES: u8 = 0x1d;

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
        let draining = matches!(self.state, State::Draining { .. });
        let patience = if draining && self.to_person.is_empty() { SILENCE.into() } else { PollTimeout::NONE };
        let when = |wanted: bool, flags: PollFlags| if wanted { flags } else { PollFlags::empty() };
        let leader_flags =
            when(reads, PollFlags::POLLIN) | when(running && !self.to_command.is_empty(), PollFlags::POLLOUT);
        let mut sources = vec![
            PollFd::new(self.listening.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.line.as_fd(), PollFlags::POLLIN),
        ];
        let mut add = |source: Option<PollFd<'a>>| -> usize {
            // One that nobody asks for stands beyond the end.
            source.map_or(usize::MAX, |source| {
                sources.push(source);
                sources.len() - 1
            })
        };
        let person =
            add((!self.to_person.is_empty()).then(|| PollFd::new(self.ends.output, PollFlags::POLLOUT)));
        let typed = self.ends.input.filter(|_| types);
        let typed = add(typed.map(|input| PollFd::new(input, PollFlags::POLLIN)));
        // A descriptor with no wish is left out: its hang-up would be reported for ever.
        let leader = if leader_flags.is_empty() {
            usize::MAX
        } else {
            sources.push(PollFd::new(self.leader.as_fd(), leader_flags));
            sources.len() - 1
        };
        match poll(&mut sources, patience) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Seen { signal: true, ..Seen::default() }),
            Err(error) => return Err(error.into()),
        }
        let seen = |at: usize| sources.get(at).and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        Ok(Seen {
            signal: !seen(0).is_empty(),
            news: !seen(1).is_empty(),
            person_takes: !seen(person).is_empty(),
            output: reads && seen(leader).intersects(!PollFlags::POLLOUT),
            leader_takes: seen(leader).contains(PollFlags::POLLOUT),
            typed: !seen(typed).is_empty(),
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

    fn on_output(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; BUFFER];
        match nix::unistd::read(&self.leader, &mut chunk) {
            Ok(0) | Err(Errno::EIO) => self.output_open = false,
            Ok(length) => self.on_shown(chunk.get(..length).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn on_shown(&mut self, shown: &[u8]) {
        self.picture.follow(shown);
        if let Role::Guest(Some(log)) = &mut self.role {
            // A full disk costs the log its lines, and not the guest their view.
            let _lost = log.add(shown);
        }
        if !self.hung_up {
            self.to_person.extend_from_slice(shown);
        }
    }

    fn on_person_takes(&mut self) {
        match nix::unistd::write(self.ends.output, &self.to_person) {
            Ok(length) => drop(self.to_person.drain(..length)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // Nobody reads any more: to the command this is a terminal that was closed.
            Err(_) => self.hang_up(),
        }
    }

    fn on_typed(&mut self) {
        let Some(input) = self.ends.input else { return };
        let mut chunk = [0; 4096];
        match nix::unistd::read(input, &mut chunk) {
            Ok(length) if length > 0 => self.on_keys(chunk.get(..length).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            _ => self.hang_up(),
        }
    }

    fn on_keys(&mut self, keys: &[u8]) {
        let leaves =
            keys.iter().position(|key| *key == LEAVES).filter(|_| matches!(self.role, Role::Guest(_)));
        self.to_command.extend_from_slice(keys.get(..leaves.unwrap_or(keys.len())).unwrap_or_default());
        if leaves.is_some() {
            self.on_leader_takes();
            self.state = State::Done(End::Key);
        }
    }

    /// The person's terminal is gone.
    fn hang_up(&mut self) {
        if std::mem::replace(&mut self.hung_up, true) {
            return;
        }
        self.raw = None;
        self.to_person.clear();
        match self.role {
            Role::Caller => self.tell(Told::HungUp),
            Role::Guest(_) => self.state = State::Done(End::Signal(Signal::SIGHUP)),
        }
    }

    fn on_leader_takes(&mut self) {
        match nix::unistd::write(&self.leader, &self.to_command) {
            Ok(length) => {
                self.typed.add(self.to_command.get(..length).unwrap_or_default());
                self.to_command.drain(..length);
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            _ => self.to_command.clear(),
        }
    }

    fn on_signals(&mut self) -> io::Result<()> {
        while let Some(Heard { signal, .. }) = self.listening.next()? {
            match (signal, &self.role) {
                (Signal::SIGWINCH, _) => {
                    if let Some(like) = self.ends.input {
                        self.leader.resize_like(like);
                    }
                }
                (Signal::SIGCHLD, _) => {}
                // `fg` and `bg` after the command ran on behind us: look where we stand now.
                (Signal::SIGCONT, _) => self.go_raw(),
                (Signal::SIGHUP, _) if self.ends.input.is_some_and(tty::is_hung_up) => self.hang_up(),
                (other, Role::Guest(_)) => self.state = State::Done(End::Signal(other)),
                // The command is in a session of its own: none of these has reached it yet.
                (other, Role::Caller) => self.pass_on(other),
            }
        }
        Ok(())
    }

    fn pass_on(&self, signal: Signal) {
        self.tell(Told::Signal { signal: u8::try_from(signal as i32).unwrap_or(0), delivered: false });
    }

    fn tell(&self, told: Told) {
        // A supervisor that is gone is noticed by its silence.
        let _told = (&self.line).write_all(&[told.to_byte()]);
    }

    fn on_line(&mut self) -> io::Result<()> {
        let mut chunk = [0; LENGTH];
        let wanted = LENGTH.saturating_sub(self.message.len());
        let length = match self.line.read(chunk.get_mut(..wanted).unwrap_or_default()) {
            Ok(0) => return self.on_supervisor_gone(),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(());
            }
            Err(_) => return self.on_supervisor_gone(),
        };
        self.message.extend_from_slice(chunk.get(..length).unwrap_or_default());
        if self.message.len() < LENGTH {
            return Ok(());
        }
        let news = News::from_bytes(&std::mem::take(&mut self.message));
        self.on_news(news.ok_or(io::ErrorKind::InvalidData)?)
    }

    fn on_news(&mut self, news: News) -> io::Result<()> {
        match news {
            News::Stopped if matches!(self.role, Role::Caller) => self.on_stopped(),
            News::Stopped => {
                self.show_the_rest()?;
                self.state = State::Done(End::Stopped);
                Ok(())
            }
            News::LetGo { ended: true } => {
                self.state = State::Draining { latest: Instant::now() + LATEST };
                Ok(())
            }
            News::LetGo { ended: false } => {
                self.show_the_rest()?;
                self.picture.modes().into_iter().for_each(|mode| self.tell(Told::Shows(mode)));
                self.leave();
                Ok(())
            }
            last @ (News::NotStarted(_) | News::Ended(..) | News::GoesOn(_)) => {
                self.state = State::Done(End::Told(last));
                Ok(())
            }
        }
    }

    fn on_supervisor_gone(&mut self) -> io::Result<()> {
        self.show_the_rest()?;
        self.state = State::Done(End::Gone);
        Ok(())
    }

    /// What was shown up to now; what is written meanwhile may go on for ever.
    fn show_the_rest(&mut self) -> io::Result<()> {
        let mut turns = 0;
        while self.output_open && turns < 64 && tty::readable(self.leader.as_fd(), PollTimeout::ZERO)? {
            self.on_output()?;
            turns += 1;
        }
        while !self.to_person.is_empty() {
            self.on_person_takes();
        }
        Ok(())
    }

    /// The command was stopped: the person gets their own shell back until they say `fg` or `bg`.
    fn on_stopped(&mut self) -> io::Result<()> {
        self.show_the_rest()?;
        self.raw = None;
        stop_self();
        self.go_raw();
        if let Some(like) = self.ends.input {
            self.leader.resize_like(like);
        }
        self.pass_on(Signal::SIGCONT);
        Ok(())
    }

    /// Raw mode, if there is a person's terminal and we stand in front of it.
    fn go_raw(&mut self) {
        let runs = matches!(self.state, State::Running);
        if let Some(input) = self.ends.input.filter(|_| runs && !self.hung_up)
            && self.raw.is_none()
            && tty::in_front(input)
        {
            self.raw = RawMode::enter(input).ok();
        }
    }
}
