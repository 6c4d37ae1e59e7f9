//! One stream of a command's output on its way to the caller or to a job's log.

use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::unistd::read;

use crate::store::jobs::Log;
use crate::sys::pipe::{self, Kind};

/// What one read takes where bytes must be copied.
const CHUNK: usize = 64 * 1024;
/// So many moves are made in one turn, so that signals and the other stream are not kept waiting.
const MOVES: usize = 16;

/// Where a stream goes.
#[derive(Debug)]
pub(super) enum Sink {
    /// To the caller, without copying where that can be done.
    Caller {
        /// Its descriptor.
        to: OwnedFd,
        /// What that is.
        kind: Kind,
        /// Bytes are copied: the far side is nothing that pipes can be moved to.
        copied: bool,
    },
    /// To the job's log.
    Log,
    /// Nowhere: nobody wants it, and its writer must not be stopped by that.
    Nowhere,
}

/// What a stream waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    /// The command writes something.
    Source,
    /// The caller reads something.
    Room,
}

/// One stream.
#[derive(Debug)]
pub(super) struct Channel {
    /// Our end of the command's pipe; None once nothing more can come.
    from: Option<OwnedFd>,
    sink: Sink,
    waits: Waits,
    /// Copied, and not yet taken.
    held: Vec<u8>,
    /// How much went to the caller.
    passed: u64,
    /// What was written in time and the caller has not got yet; counted only once the end is in sight.
    owed: usize,
}

impl Channel {
    /// From a pipe of ours to the caller's descriptor.
    pub(super) fn to_caller(from: OwnedFd, to: OwnedFd, kind: Kind) -> Self {
        let copied = kind != Kind::Pipe;
        let sink = Sink::Caller { to, kind, copied };
        Self { from: Some(from), sink, waits: Waits::Source, held: Vec::new(), passed: 0, owed: 0 }
    }

    /// From a pipe of ours to the log that is yet to be.
    pub(super) fn to_log(from: OwnedFd) -> Self {
        let sink = Sink::Nowhere;
        Self { from: Some(from), sink, waits: Waits::Source, held: Vec::new(), passed: 0, owed: 0 }
    }

    /// How much went to the caller.
    pub(super) fn passed(&self) -> u64 {
        self.passed
    }

    /// Nothing more will come, and all is delivered.
    pub(super) fn is_done(&self) -> bool {
        self.from.is_none() && self.held.is_empty()
    }

    /// Everything that was written up to now is owed to the caller.
    pub(super) fn count_owed(&mut self) {
        let waiting = self.from.as_ref().map_or(0, |from| pipe::waiting(from.as_fd()));
        self.owed = if matches!(self.sink, Sink::Caller { .. }) { waiting + self.held.len() } else { 0 };
    }

    /// The caller has what it is owed.
    pub(super) fn is_paid(&self) -> bool {
        self.owed == 0 || self.is_done()
    }

    /// From now on it goes elsewhere. The caller's descriptor is let go of.
    pub(super) fn redirect(&mut self, sink: Sink) {
        self.sink = sink;
        self.waits = Waits::Source;
    }

    /// The descriptors that must survive.
    pub(super) fn descriptors(&self) -> Vec<RawFd> {
        let sink = match &self.sink {
            Sink::Caller { to, .. } => Some(to.as_raw_fd()),
            Sink::Log | Sink::Nowhere => None,
        };
        self.from.as_ref().map(AsRawFd::as_raw_fd).into_iter().chain(sink).collect()
    }

    /// What is to be polled for. A descriptor with nothing asked still tells that its far side is gone.
    pub(super) fn interests(&self, only_owed: bool) -> Vec<PollFd<'_>> {
        let mut wanted = Vec::new();
        if self.waits == Waits::Source
            && !(only_owed && self.owed == 0)
            && let Some(from) = &self.from
        {
            wanted.push(PollFd::new(from.as_fd(), PollFlags::POLLIN));
        }
        if let Sink::Caller { to, .. } = &self.sink
            && !self.is_done()
        {
            let flags = if self.waits == Waits::Room { PollFlags::POLLOUT } else { PollFlags::empty() };
            wanted.push(PollFd::new(to.as_fd(), flags));
        }
        wanted
    }

    /// Which of the polled places is the caller's.
    pub(super) fn caller_at(&self, places: &std::ops::Range<usize>) -> Option<usize> {
        let is_polled = matches!(self.sink, Sink::Caller { .. }) && !places.is_empty();
        is_polled.then(|| places.end.saturating_sub(1))
    }

    /// Something happened at one of its descriptors: moves on what can be moved. With `only_owed`, no more
    /// than that. Says whether anything moved.
    pub(super) fn on_ready(&mut self, caller_is_gone: bool, only_owed: bool, log: &mut Option<Log>) -> bool {
        if caller_is_gone {
            self.close();
            return false;
        }
        let mut moved = false;
        for _ in 0..MOVES {
            if self.is_done() || only_owed && self.owed == 0 {
                break;
            }
            let most = if only_owed { self.owed } else { usize::MAX };
            match self.step(most, log) {
                Ok(0) => self.from = None,
                Ok(length) => {
                    moved = true;
                    self.owed = self.owed.saturating_sub(length);
                }
                Err(Errno::EAGAIN) => break,
                Err(Errno::EINTR) => {}
                // The command is told as it would have been: by a pipe that nobody reads.
                Err(_) => self.close(),
            }
        }
        moved
    }

    fn close(&mut self) {
        self.from = None;
        self.held.clear();
        self.owed = 0;
        self.sink = Sink::Nowhere;
    }

    fn step(&mut self, most: usize, log: &mut Option<Log>) -> nix::Result<usize> {
        let Sink::Caller { to, kind, copied } = &mut self.sink else { return self.log_some(log) };
        if !*copied {
            let Some(from) = &self.from else { return Ok(0) };
            let result = pipe::shift(from.as_fd(), to.as_fd(), most);
            match result {
                Err(Errno::EAGAIN) => {
                    let full = pipe::waiting(from.as_fd()) > 0;
                    self.waits = if full { Waits::Room } else { Waits::Source };
                }
                Err(Errno::EINVAL) => {
                    *copied = true;
                    self.waits = Waits::Source;
                    return Err(Errno::EINTR);
                }
                Ok(length) => self.passed += length as u64,
                Err(_) => {}
            }
            return result;
        }
        if self.held.is_empty() {
            let Some(from) = &self.from else { return Ok(0) };
            let mut chunk = vec![0; CHUNK.min(most)];
            let length = read(from, &mut chunk)?;
            chunk.truncate(length);
            self.held = chunk;
            if length == 0 {
                return Ok(0);
            }
            self.waits = Waits::Room;
            if *kind != Kind::Socket {
                // Whether it takes something without waiting must be asked first.
                return Err(Errno::EAGAIN);
            }
        }
        let length = pipe::write_some(to.as_fd(), *kind, &self.held)?;
        self.passed += length as u64;
        self.held.drain(..length);
        if self.held.is_empty() {
            self.waits = Waits::Source;
        } else if *kind != Kind::Socket {
            // Whether it takes more without waiting must be asked again.
            self.owed = self.owed.saturating_sub(length);
            return Err(Errno::EAGAIN);
        }
        Ok(length)
    }

    fn log_some(&mut self, log: &mut Option<Log>) -> nix::Result<usize> {
        let mut chunk = std::mem::take(&mut self.held);
        if chunk.is_empty() {
            let Some(from) = &self.from else { return Ok(0) };
            chunk = vec![0; CHUNK];
            let length = read(from, &mut chunk)?;
            chunk.truncate(length);
        }
        // A full disk costs the log its lines, and not the command its life.
        if let (Sink::Log, Some(log)) = (&self.sink, log) {
            let _lost = log.add(&chunk);
        }
        Ok(chunk.len())
    }
}
