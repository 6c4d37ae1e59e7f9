//! The process that looks after a command: one loop over what can happen, one method for each of it, and
//! one [`State`] that says what is awaited.

use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::{PollFlags, PollTimeout};

use super::Watch;
use super::channel::Channel;
use super::events::LATE;
use super::news::News;
use super::start::{Started, start};
use super::terminal::{Place, Terminal};
use crate::store::jobs::{Job, Jobs, Log};
use crate::sys::cgroup::Group;
use crate::sys::child;
use crate::sys::door::Door;
use crate::sys::process::{Ended, Program};
use crate::sys::signal::Listening;
use crate::sys::sources::Sources;

/// The name of this process.
pub(super) const NAME: &std::ffi::CStr = c"gsh-supervisor";
/// What a supervisor begins with.
pub(super) struct Beginning<'a> {
    /// Taken when it is started.
    pub(super) program: Option<Program>,
    pub(super) watch: Watch,
    pub(super) listening: &'a Listening,
    pub(super) own_group: bool,
    /// The terminal that it is to have; taken when it is started.
    pub(super) place: Option<Place>,
    pub(super) front: UnixStream,
}

/// Does all of it: returns when there is nothing left to look after.
pub(super) fn supervise(mut beginning: Beginning<'_>) {
    let started = start(&mut beginning);
    let Beginning { watch, listening, mut front, .. } = beginning;
    let Started { pid, channels, terminal, input } = match started {
        Ok(started) => started,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            let _gone = front.write_all(&News::NotStarted(errno).to_bytes());
            return;
        }
    };
    // From here on nothing of the caller's is held but where the output goes.
    let mut kept: Vec<RawFd> = channels.iter().flat_map(Channel::descriptors).collect();
    kept.extend(terminal.iter().flat_map(Terminal::descriptors));
    kept.extend(input.as_ref().map(AsRawFd::as_raw_fd));
    kept.extend([front.as_raw_fd(), listening.as_fd().as_raw_fd()]);
    child::keep_only(&kept);
    let mut supervisor = Supervisor {
        listening,
        front: Some(front),
        main: Main { pid, ended: None },
        channels,
        terminal,
        input,
        door: None,
        watch,
        begun: Instant::now(),
        state: State::Running,
        unwanted: false,
        hung_up: false,
        out_of_time: false,
        childless: false,
        group: None,
        job: None,
        log: None,
    };
    if supervisor.watch.start.is_some() {
        supervisor.release(true);
    }
    // Broken off it is gone, which the other side sees.
    let _broken_off = supervisor.run();
}

/// What is awaited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// The end of the command, or of its time.
    Running,
    /// The caller is about to go on: the delivery of what it is owed, and, for a while, more.
    Draining {
        /// Its limit is the cause, not its end.
        limited: bool,
        /// When only what is owed is still delivered.
        until: Instant,
        /// When at the latest.
        latest: Instant,
    },
    /// The end of a job that the caller does not wait for.
    Kept,
    /// The end of everything, which has been asked to; what is left then is killed.
    Ending {
        /// When.
        kill_at: Instant,
    },
    /// Nothing.
    Over,
}

/// The command's first process.
#[derive(Debug)]
pub(super) struct Main {
    pub(super) pid: i32,
    pub(super) ended: Option<Ended>,
}

pub(super) struct Supervisor<'a> {
    pub(super) listening: &'a Listening,
    pub(super) front: Option<UnixStream>,
    pub(super) main: Main,
    pub(super) channels: Vec<Channel>,
    pub(super) terminal: Option<Terminal>,
    /// What is sent to a job that was started with nothing of its caller's.
    pub(super) input: Option<OwnedFd>,
    /// Where a job's terminal and input are handed out.
    pub(super) door: Option<Door>,
    pub(super) watch: Watch,
    pub(super) begun: Instant,
    pub(super) state: State,
    /// Somebody wants it to end: what outlives the command is ended too.
    pub(super) unwanted: bool,
    /// The person's terminal was closed.
    pub(super) hung_up: bool,
    /// It outlived its limit, and there is no place to keep it in.
    pub(super) out_of_time: bool,
    /// Nothing below us is left.
    pub(super) childless: bool,
    /// What is killed is gathered here, where that can be had; removed when all is over.
    pub(super) group: Option<Group>,
    pub(super) job: Option<(Jobs, Job)>,
    pub(super) log: Option<Log>,
}

/// What one wait brought.
#[derive(Default)]
struct Ready {
    signals: bool,
    front: bool,
    /// By channel: something to move, and that the far side is gone.
    channels: Vec<(bool, bool)>,
    terminal: bool,
    guest: bool,
    door: bool,
}

impl Supervisor<'_> {
    fn run(&mut self) -> io::Result<()> {
        self.on_children();
        loop {
            self.settle();
            if self.state == State::Over {
                return Ok(());
            }
            let ready = self.wait()?;
            if ready.signals {
                self.on_signals()?;
            }
            if ready.front {
                self.on_front();
            }
            self.on_output(&ready.channels);
            if ready.terminal {
                self.on_terminal();
            }
            if ready.guest {
                self.on_guest();
            }
            if ready.door {
                self.on_door();
            }
            if self.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
                self.on_deadline();
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        match self.state {
            State::Running => self.watch.limit.map(|limit| self.begun + limit.after),
            State::Draining { until, .. } => Some(until).filter(|until| *until > Instant::now()),
            State::Ending { kill_at } => Some(kill_at),
            State::Kept | State::Over => None,
        }
    }

    /// Only what was written in time is still delivered.
    fn only_owed(&self) -> bool {
        matches!(self.state, State::Draining { until, .. } if until <= Instant::now())
    }

    fn patience(&self) -> PollTimeout {
        let left = self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        // A part of a millisecond more, so that the moment has come when we wake.
        left.map_or(PollTimeout::NONE, |left| {
            PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
        })
    }

    fn wait(&self) -> io::Result<Ready> {
        let mut sources = Sources::default();
        let signals = sources.add(Some(self.listening.as_fd()), PollFlags::POLLIN);
        let terminal = self.terminal.as_ref();
        let [front, shown, guest, door] = [
            self.front.as_ref().map(AsFd::as_fd),
            terminal.filter(|terminal| terminal.is_ours()).map(|own| own.leader().as_fd()),
            terminal.and_then(Terminal::guest).map(AsFd::as_fd),
            self.door.as_ref().map(AsFd::as_fd),
        ]
        .map(|descriptor| sources.add(descriptor, PollFlags::POLLIN));
        let only_owed = self.only_owed();
        let channels = self.channels.iter().map(|channel| sources.extend(channel.interests(only_owed)));
        let places: Vec<_> = channels.collect();
        if !sources.wait(self.patience())? {
            return Ok(Ready::default());
        }
        let channels = self.channels.iter().zip(places).map(|(channel, place)| {
            let moves = place.clone().any(|at| sources.is_ready(Some(at)));
            (moves, sources.seen(channel.caller_at(&place)).contains(PollFlags::POLLERR))
        });
        let channels = channels.collect();
        let [signals, front, terminal, guest, door] =
            [signals, front, shown, guest, door].map(|at| sources.is_ready(at));
        Ok(Ready { signals, front, channels, terminal, guest, door })
    }

    fn on_terminal(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            terminal.on_output(&mut self.log);
        }
    }

    pub(super) fn on_output(&mut self, ready: &[(bool, bool)]) {
        let only_owed = self.only_owed();
        let mut moved = false;
        for (channel, (_, gone)) in self.channels.iter_mut().zip(ready).filter(|(_, (ready, _))| *ready) {
            moved |= channel.on_ready(*gone, only_owed, &mut self.log);
        }
        if let State::Draining { until, latest, .. } = &mut self.state
            && moved
            && self.watch.late_output
        {
            *until = (Instant::now() + LATE[0]).min(*latest);
        }
    }
}

pub(super) fn own() -> i32 {
    nix::unistd::getpid().as_raw()
}
