//! A command's terminal as its supervisor holds it: who sits there, and what is written while nobody does.

use std::io::Write;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;

use super::news::News;
use crate::run::pty::picture;
use crate::store::jobs::Log;
use crate::sys::door;
use crate::sys::process::signal_group;
use crate::sys::tty::{Guarded, Leader, readable};

/// What one read takes.
const CHUNK: usize = 16 * 1024;

/// A terminal for a command that is about to start.
#[derive(Debug)]
pub(in crate::run) struct Place {
    /// Our end.
    pub(in crate::run) leader: Leader,
    /// The command's end.
    pub(in crate::run) follower: OwnedFd,
    /// Which of the three standard descriptors become the terminal; the others stay the caller's.
    pub(in crate::run) replaces: [bool; 3],
    /// The terminal of the person, if one sits there.
    pub(in crate::run) guarded: Option<Guarded>,
}

/// Who reads what the command shows, and types.
#[derive(Debug)]
enum Seat {
    /// The caller's process.
    Caller {
        /// It was told to leave.
        told: bool,
    },
    /// Nobody: what is shown goes to the job's log.
    Free,
    /// Somebody who sat down at the job.
    Taken(UnixStream),
}

/// The terminal.
#[derive(Debug)]
pub(super) struct Terminal {
    leader: Leader,
    seat: Seat,
    guarded: Option<Guarded>,
    /// An end of the command's kind: while it is open, reading waits for more, whoever else is there.
    follower: Option<OwnedFd>,
    /// The command's first process is stopped.
    stopped: bool,
    /// What was switched on when the caller's process left.
    shows: String,
    /// What is typed is what the command reads.
    pub(super) takes_input: bool,
}

impl Terminal {
    /// One that the caller's process sits at, or nobody.
    pub(super) fn new(leader: Leader, guarded: Option<Guarded>, takes_input: bool) -> Self {
        let seat = Seat::Caller { told: false };
        Self { leader, seat, guarded, follower: None, stopped: false, shows: String::new(), takes_input }
    }

    /// The descriptors that must survive.
    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        let guarded = self.guarded.as_ref().map(|guarded| guarded.as_fd().as_raw_fd());
        std::iter::once(self.leader.as_fd().as_raw_fd()).chain(guarded).collect()
    }

    /// Our end.
    pub(super) fn leader(&self) -> &Leader {
        &self.leader
    }

    /// Whether what is shown is for us to read.
    pub(super) fn is_ours(&self) -> bool {
        matches!(self.seat, Seat::Free)
    }

    /// Whether the caller's process has left.
    pub(super) fn caller_has_left(&self) -> bool {
        !matches!(self.seat, Seat::Caller { .. })
    }

    /// Whoever sat down at the job.
    pub(super) fn guest(&self) -> Option<&UnixStream> {
        match &self.seat {
            Seat::Taken(guest) => Some(guest),
            Seat::Caller { .. } | Seat::Free => None,
        }
    }

    /// Whether the caller's process must still be told to leave. Says so once.
    pub(super) fn tells_caller_to_leave(&mut self) -> bool {
        match &mut self.seat {
            Seat::Caller { told } => !std::mem::replace(told, true),
            Seat::Free | Seat::Taken(_) => false,
        }
    }

    /// Whoever sat there is gone. Without a word they were killed, and the terminal that they sat at is given
    /// its settings back.
    pub(super) fn free(&mut self, with_a_word: bool) {
        if let Some(guarded) = self.guarded.take().filter(|_| !with_a_word) {
            guarded.give_back();
        }
        self.seat = Seat::Free;
    }

    /// The caller's process says what is switched on.
    pub(super) fn on_shows(&mut self, mode: u8) {
        self.shows.push_str(&picture::entered(mode));
    }

    /// The log begins where the caller's process left.
    pub(super) fn begin(&mut self, log: &mut Option<Log>) {
        if let Some(log) = log.as_mut().filter(|_| !self.shows.is_empty()) {
            let _lost = log.add(self.shows.as_bytes());
        }
        self.keep_open();
    }

    /// From now on its end is the job's end, and not that nobody has it open.
    fn keep_open(&mut self) {
        // Without it a terminal that everybody has left says so again and again.
        self.follower = self.leader.follower().ok();
    }

    /// Somebody wants to sit down. Whether they do.
    pub(super) fn seat(&mut self, guest: UnixStream, guarded: Option<OwnedFd>, main: i32) {
        if let Seat::Taken(other) = &self.seat {
            let who = door::who(other).unwrap_or(0).to_le_bytes();
            let _gone = door::say(&guest, &[&b"b"[..], &who].concat(), None);
            return;
        }
        // As it is before they know that they may sit down.
        let guarded = guarded.and_then(|terminal| Guarded::new(terminal).ok());
        if door::say(&guest, b"y", Some(self.leader.as_fd())).is_ok() {
            self.seat = Seat::Taken(guest);
            self.guarded = guarded;
            if self.stopped {
                self.go_on(main);
            }
        }
    }

    /// The command was stopped.
    pub(super) fn on_stopped(&mut self) {
        self.stopped = true;
        if let Seat::Taken(guest) = &mut self.seat {
            let _gone = guest.write_all(&News::Stopped.to_bytes());
        }
    }

    /// The command is in front again, and goes on.
    pub(super) fn go_on(&mut self, main: i32) {
        self.stopped = false;
        self.leader.bring_to_front(main);
        signal_group(main, nix::sys::signal::Signal::SIGCONT);
    }

    /// What the kernel does when a terminal is closed, to those in front of it.
    pub(super) fn hang_up(&self, main: i32) {
        let front = self.leader.front().filter(|front| *front != main);
        for group in front.into_iter().chain([main]) {
            signal_group(group, nix::sys::signal::Signal::SIGHUP);
            signal_group(group, nix::sys::signal::Signal::SIGCONT);
        }
    }

    /// Something was shown, and nobody sits there.
    pub(super) fn on_output(&mut self, log: &mut Option<Log>) {
        let mut chunk = vec![0; CHUNK];
        match nix::unistd::read(&self.leader, &mut chunk) {
            Ok(length) if length > 0 => {
                // A full disk costs the log its lines, and not the command its life.
                if let Some(log) = log {
                    let _lost = log.add(chunk.get(..length).unwrap_or_default());
                }
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            _ => self.keep_open(),
        }
    }

    /// At the end: what was shown and not read yet. Nothing that is left then is hung up with the terminal.
    pub(super) fn finish(&mut self, log: &mut Option<Log>) {
        self.leader.bring_to_front(super::supervisor::own());
        while self.is_ours()
            && self.follower.is_some()
            && readable(self.leader.as_fd(), nix::poll::PollTimeout::ZERO).is_ok_and(|ready| ready)
        {
            self.on_output(log);
        }
    }
}
