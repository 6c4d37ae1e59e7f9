//! The process that looks after a command: one loop over what can happen, one method for each of it, and
//! one [`State`] that says what is awaited.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use super::Watch;
use super::channel::Channel;
use super::news::{News, Told};
use crate::store::jobs::{Ending, Job, Jobs, Log};
use crate::sys::child::{self, Piped};
use crate::sys::pipe::{self, Identity};
use crate::sys::process::{Ended, Program};
use crate::sys::signal::Listening;
use crate::sys::tree::{self, Reaped};

/// After the command's end, how long output of what it leaves behind still goes to the caller.
const DRAIN: Duration = Duration::from_millis(30);
/// The same where a `>( )` is known to write late, from its last output on; and all in all.
const LATE: [Duration; 2] = [Duration::from_millis(150), Duration::from_secs(1)];
/// How long what is asked to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// The same where its caller waits for it, or is gone.
pub(super) const SHORT_GRACE: Duration = Duration::from_secs(2);
/// The name of this process.
pub(super) const NAME: &std::ffi::CStr = c"gsh-supervisor";
/// How long one waits between two tries to kill what is left.
const PAUSE: Duration = Duration::from_millis(10);

/// What a supervisor begins with.
pub(super) struct Beginning<'a> {
    pub(super) program: Program,
    pub(super) watch: Watch,
    pub(super) listening: &'a Listening,
    pub(super) own_group: bool,
    pub(super) front: UnixStream,
}

/// Does all of it: returns when there is nothing left to look after.
pub(super) fn supervise(beginning: Beginning<'_>) {
    let Beginning { program, watch, listening, own_group, mut front } = beginning;
    let (pid, channels) = match start(program, listening, own_group) {
        Ok(started) => started,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(0);
            let _gone = front.write_all(&News::NotStarted(errno).to_bytes());
            return;
        }
    };
    // From here on nothing of the caller's is held but where the output goes.
    let mut kept: Vec<RawFd> = channels.iter().flat_map(Channel::descriptors).collect();
    kept.extend([front.as_raw_fd(), listening.as_fd().as_raw_fd()]);
    child::keep_only(&kept);
    let mut supervisor = Supervisor {
        listening,
        front: Some(front),
        main: Main { pid, ended: None },
        channels,
        watch,
        begun: Instant::now(),
        state: State::Running,
        unwanted: false,
        out_of_time: false,
        childless: false,
        job: None,
        log: None,
    };
    // Broken off it is gone, which the other side sees.
    let _broken_off = supervisor.run();
}

/// Becomes what a supervisor is, and starts the command.
fn start(program: Program, listening: &Listening, own_group: bool) -> io::Result<(i32, Vec<Channel>)> {
    tree::adopt_orphans()?;
    child::call_itself(NAME);
    let (channels, outputs) = channels()?;
    let place = Piped { outputs, mask: listening.mask_before(), own_group };
    let pid = child::start_piped(program, place)?;
    child::lead_own_group()?;
    child::release_standard()?;
    let _where_it_is_is_its_own_affair = std::env::set_current_dir("/");
    Ok((pid, channels))
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
    pub(super) watch: Watch,
    pub(super) begun: Instant,
    pub(super) state: State,
    /// Somebody wants it to end: what outlives the command is ended too.
    pub(super) unwanted: bool,
    /// It outlived its limit, and there is no place to keep it in.
    pub(super) out_of_time: bool,
    /// Nothing below us is left.
    pub(super) childless: bool,
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

    fn wait(&self) -> io::Result<Ready> {
        let patience = self.deadline().map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let patience = match patience {
            // A part of a millisecond more, so that the moment has come when we wake.
            Some(left) => {
                PollTimeout::try_from(left + Duration::from_micros(999)).unwrap_or(PollTimeout::MAX)
            }
            None => PollTimeout::NONE,
        };
        let only_owed = self.only_owed();
        let mut sources = vec![PollFd::new(self.listening.as_fd(), PollFlags::POLLIN)];
        sources.extend(self.front.as_ref().map(|front| PollFd::new(front.as_fd(), PollFlags::POLLIN)));
        let mut places = vec![];
        for channel in &self.channels {
            let start = sources.len();
            sources.extend(channel.interests(only_owed));
            places.push(start..sources.len());
        }
        match poll(&mut sources, patience) {
            Ok(_) => {}
            Err(Errno::EINTR) => return Ok(Ready::default()),
            Err(error) => return Err(error.into()),
        }
        let seen = |at: usize| sources.get(at).and_then(PollFd::revents).unwrap_or(PollFlags::empty());
        let channels = self.channels.iter().zip(places).map(|(channel, place)| {
            let ready = place.clone().any(|at| !seen(at).is_empty());
            let gone = channel.caller_at(&place).is_some_and(|at| seen(at).contains(PollFlags::POLLERR));
            (ready, gone)
        });
        let channels = channels.collect();
        let front = self.front.is_some() && !seen(1).is_empty();
        Ok(Ready { signals: !seen(0).is_empty(), front, channels })
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

    fn on_signals(&mut self) -> io::Result<()> {
        while let Some(heard) = self.listening.next()? {
            match (heard.signal, self.state) {
                (Signal::SIGCHLD, _) => self.on_children(),
                (Signal::SIGTERM, State::Kept) => self.end(GRACE),
                (Signal::SIGQUIT, State::Kept | State::Ending { .. }) => self.kill(),
                // The caller's terminal or group may go; what the caller left running stays.
                (_, State::Kept) => {}
                (Signal::SIGTERM | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGHUP, _) => {
                    self.on_told(Told { signal: heard.signal as u8, delivered: false });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A child, or a process that became ours, has ended.
    fn on_children(&mut self) {
        loop {
            match tree::reap_any() {
                Reaped::One(pid, ended) if pid == self.main.pid && self.main.ended.is_none() => {
                    self.main.ended = Some(ended);
                    self.on_main_end(ended);
                }
                Reaped::One(..) => {}
                Reaped::NoneYet => return,
                Reaped::NoChild => {
                    self.childless = true;
                    return;
                }
            }
        }
    }

    fn on_main_end(&mut self, ended: Ended) {
        match self.state {
            State::Running if self.unwanted => self.end(SHORT_GRACE),
            State::Running => self.drain(false),
            State::Draining { .. } | State::Ending { .. } | State::Over => {}
            State::Kept => self.write_down(|job| job.ended = Some(Ending::now(ended))),
        }
    }

    /// The caller's process has a word for us, or is gone.
    fn on_front(&mut self) {
        let mut bytes = [0; 16];
        let read = self.front.as_mut().map(|front| front.read(&mut bytes));
        match read {
            Some(Ok(length)) if length > 0 => {
                bytes.iter().take(length).for_each(|byte| self.on_told(Told::from_byte(*byte)));
            }
            Some(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => {
                // It was killed: nobody waits any more, and nobody else would end this.
                self.front = None;
                self.unwanted = true;
                self.end(SHORT_GRACE);
            }
        }
    }

    /// A signal came to the caller's process.
    fn on_told(&mut self, told: Told) {
        let Ok(signal) = Signal::try_from(i32::from(told.signal)) else { return };
        match signal {
            Signal::SIGUSR1 | Signal::SIGUSR2 => {
                if self.main.ended.is_none() {
                    tree::signal_one(self.main.pid, signal);
                }
                return;
            }
            Signal::SIGTSTP | Signal::SIGCONT => {}
            _ => self.unwanted = true,
        }
        if !told.delivered {
            tree::signal_below(&[own()], signal);
        }
        if self.unwanted && self.main.ended.is_some() && !matches!(self.state, State::Ending { .. }) {
            self.end(SHORT_GRACE);
        }
    }

    fn on_deadline(&mut self) {
        match self.state {
            State::Running => self.drain(true),
            State::Ending { .. } => self.kill(),
            State::Draining { .. } | State::Kept | State::Over => {}
        }
    }

    /// The caller is to go on.
    fn drain(&mut self, limited: bool) {
        let now = Instant::now();
        let [while_silent, latest] = match (limited, self.watch.late_output) {
            (true, _) => [Duration::ZERO; 2],
            (false, true) => LATE,
            (false, false) => [DRAIN; 2],
        };
        self.channels.iter_mut().for_each(Channel::count_owed);
        self.state = State::Draining { limited, until: now + while_silent, latest: now + latest };
    }

    /// Everything is to end.
    pub(super) fn end(&mut self, grace: Duration) {
        tree::ask_to_end(&[own()]);
        self.state = State::Ending { kill_at: Instant::now() + grace };
    }

    fn kill(&mut self) {
        tree::kill_below(&[own()]);
        self.state = State::Ending { kill_at: Instant::now() + PAUSE };
    }
}

pub(super) fn own() -> i32 {
    nix::unistd::getpid().as_raw()
}

/// Pipes for those of standard output and error whose end somebody may wait for; one for both where they
/// are the same file.
fn channels() -> io::Result<(Vec<Channel>, [Option<OwnedFd>; 2])> {
    let [output, errors] = [1, 2].map(Identity::of_standard);
    let mut channels = Vec::new();
    let mut ends = [None, None];
    if output.is_waited_on() {
        let (from, into) = pipe::for_output()?;
        channels.push(Channel::to_caller(from, child::second_standard(1)?, output.kind));
        if output == errors {
            ends = [Some(into.try_clone()?), Some(into)];
            return Ok((channels, ends));
        }
        ends[0] = Some(into);
    }
    if errors.is_waited_on() {
        let (from, into) = pipe::for_output()?;
        channels.push(Channel::to_caller(from, child::second_standard(2)?, errors.kind));
        ends[1] = Some(into);
    }
    Ok((channels, ends))
}
