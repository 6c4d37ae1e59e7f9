//! What a loop waits for: descriptors, each with its wishes, at places that are asked afterwards.

use std::io;
use std::os::fd::BorrowedFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// Descriptors to wait for.
#[derive(Debug, Default)]
pub struct Sources<'a>(Vec<PollFd<'a>>);

impl<'a> Sources<'a> {
    /// One more, where there is one; its place.
    pub fn add(&mut self, descriptor: Option<BorrowedFd<'a>>, wanted: PollFlags) -> Option<usize> {
        self.0.push(PollFd::new(descriptor?, wanted));
        Some(self.0.len() - 1)
    }

    /// Several; their places.
    pub fn extend(&mut self, more: Vec<PollFd<'a>>) -> std::ops::Range<usize> {
        let start = self.0.len();
        self.0.extend(more);
        start..self.0.len()
    }

    /// Waits until something comes, or the time is over. False where a signal broke it off: nothing is known.
    ///
    /// # Errors
    /// As `poll`.
    pub fn wait(&mut self, patience: PollTimeout) -> io::Result<bool> {
        match poll(&mut self.0, patience) {
            Ok(_) => Ok(true),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// What came at a place.
    #[must_use]
    pub fn seen(&self, at: Option<usize>) -> PollFlags {
        let source = at.and_then(|at| self.0.get(at));
        source.and_then(PollFd::revents).unwrap_or(PollFlags::empty())
    }

    /// Whether anything came at a place.
    #[must_use]
    pub fn is_ready(&self, at: Option<usize>) -> bool {
        !self.seen(at).is_empty()
    }
}
