//! What a supervisor does on each thing that can happen.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::channel::Channel;
use super::news::{News, Told};
use super::supervisor::{State, Supervisor, own};
use crate::store::jobs::Ending;
use crate::sys::cgroup::Group;
use crate::sys::process::{Ended, signal_group};
use crate::sys::tree::{self, Reaped};

/// After the command's end, how long output of what it leaves behind still goes to the caller.
const DRAIN: Duration = Duration::from_millis(20);
/// The same where a `>( )` is known to write late, from its last output on; and all in all.
pub(super) const LATE: [Duration; 2] = [Duration::from_millis(150), Duration::from_secs(1)];
/// How long what is asked to end may take before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// The same where its caller waits for it, or is gone.
pub(super) const SHORT_GRACE: Duration = Duration::from_secs(2);
/// How long one waits between two tries to kill what is left.
const PAUSE: Duration = Duration::from_millis(10);
/// How long a command may take to end when its terminal is closed, before it is taken for one that goes on.
const HANG_UP: Duration = Duration::from_millis(500);

impl Supervisor<'_> {
    pub(super) fn on_signals(&mut self) -> io::Result<()> {
        while let Some(heard) = self.listening.next()? {
            match (heard.signal, self.state) {
                (Signal::SIGCHLD, _) => self.on_children(),
                (Signal::SIGTERM, State::Kept) => self.end(GRACE),
                (Signal::SIGQUIT, State::Kept | State::Ending { .. }) => self.kill(),
                // The caller's terminal or group may go; what the caller left running stays.
                (_, State::Kept) => {}
                (Signal::SIGTERM | Signal::SIGINT | Signal::SIGQUIT | Signal::SIGHUP, _) => {
                    self.on_signal_told(heard.signal, false);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A child, or a process that became ours, has ended.
    pub(super) fn on_children(&mut self) {
        loop {
            match tree::reap_any() {
                Reaped::One(pid, ended) if pid == self.main.pid && self.main.ended.is_none() => {
                    self.main.ended = Some(ended);
                    self.on_main_end(ended);
                }
                Reaped::One(..) => {}
                Reaped::Stopped(pid) => self.on_stopped(pid),
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
            State::Draining { .. } | State::Over => {}
            State::Kept | State::Ending { .. } => self.write_down(|job| job.ended = Some(Ending::now(ended))),
        }
        self.ask_for_terminal(true);
    }

    /// The command was stopped by a key at its terminal: whoever sits there gets their own back.
    fn on_stopped(&mut self, pid: i32) {
        let Some(terminal) = self.terminal.as_mut().filter(|_| pid == self.main.pid) else { return };
        terminal.on_stopped();
        if let Some(front) = &mut self.front {
            let _gone = front.write_all(&News::Stopped.to_bytes());
        }
    }

    /// The caller's process is to read the rest of what is shown, and then to leave the terminal to us.
    fn ask_for_terminal(&mut self, ended: bool) {
        let asks = self.terminal.as_mut().is_some_and(super::terminal::Terminal::tells_caller_to_leave);
        if let Some(front) = self.front.as_mut().filter(|_| asks) {
            let _gone = front.write_all(&News::LetGo { ended }.to_bytes());
        }
    }

    /// The caller's process has a word for us, or is gone.
    pub(super) fn on_front(&mut self) {
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
                if let Some(terminal) = self.terminal.as_mut().filter(|terminal| !terminal.caller_has_left())
                {
                    terminal.free(false);
                }
                self.unwanted = true;
                self.end(SHORT_GRACE);
            }
        }
    }

    /// The caller's process says something.
    fn on_told(&mut self, told: Told) {
        match told {
            Told::Signal { signal, delivered } => {
                if let Ok(signal) = Signal::try_from(i32::from(signal)) {
                    self.on_signal_told(signal, delivered);
                }
            }
            Told::Left => {
                if let Some(terminal) = &mut self.terminal {
                    terminal.free(true);
                }
            }
            Told::Shows(mode) => {
                if let Some(terminal) = &mut self.terminal {
                    terminal.on_shows(mode);
                }
            }
            Told::HungUp => self.on_hang_up(),
        }
    }

    /// A signal came to the caller's process.
    fn on_signal_told(&mut self, signal: Signal, delivered: bool) {
        match (signal, &mut self.terminal) {
            (Signal::SIGUSR1 | Signal::SIGUSR2, _) => {
                if self.main.ended.is_none() {
                    tree::signal_one(self.main.pid, signal);
                }
                return;
            }
            (Signal::SIGCONT, Some(terminal)) => return terminal.go_on(self.main.pid),
            (Signal::SIGTSTP, Some(_)) => return signal_group(self.main.pid, signal),
            (Signal::SIGTSTP | Signal::SIGCONT, None) => {}
            _ => self.unwanted = true,
        }
        if !delivered {
            tree::signal_below(&[own()], signal);
        }
        if self.unwanted && self.main.ended.is_some() && !matches!(self.state, State::Ending { .. }) {
            self.end(SHORT_GRACE);
        }
    }

    /// The person's terminal was closed: those in front of the command's are told, as they would have been
    /// there, and what does not mind goes on as a job.
    fn on_hang_up(&mut self) {
        let Some(terminal) = self.terminal.as_mut().filter(|_| !self.hung_up) else { return };
        terminal.hang_up(self.main.pid);
        self.hung_up = true;
        let after = self.begun.elapsed() + HANG_UP;
        let status = u8::try_from(128 + Signal::SIGHUP as i32).unwrap_or(u8::MAX);
        self.watch.limit = Some(super::Limit { after, status });
    }

    pub(super) fn on_deadline(&mut self) {
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
        if limited {
            self.ask_for_terminal(false);
        }
        self.state = State::Draining { limited, until: now + while_silent, latest: now + latest };
    }

    /// Everything is to end.
    pub(super) fn end(&mut self, grace: Duration) {
        // A shell at a terminal does not mind being asked; that its terminal is closed it does.
        if let Some(terminal) = &self.terminal {
            terminal.hang_up(self.main.pid);
        }
        tree::ask_to_end(&[own()]);
        self.state = State::Ending { kill_at: Instant::now() + grace };
    }

    fn kill(&mut self) {
        // In a group of our own nothing forks away; where there is none, what is stopped does not.
        if self.group.is_none() {
            self.group = Group::new().ok();
        }
        let grouped = self.group.as_ref().is_some_and(|group| group.end_below(own()).is_ok());
        if !grouped {
            tree::kill_below(&[own()]);
        }
        self.state = State::Ending { kill_at: Instant::now() + PAUSE };
    }
}
