//! Handing an approved text to a running job.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::pty::{self, NotSeated};
use crate::store::jobs::Jobs;
use crate::sys::process::Ended;

/// How long a job may take to read some of it.
const PATIENCE: Duration = Duration::from_secs(10);
/// What a descriptor that can be written at all takes without waiting.
const ATOMIC: usize = 1024;

/// Which job reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sending {
    /// Where it is kept.
    pub jobs: Jobs,
    /// Its number.
    pub id: u32,
    /// Nothing more comes afterwards.
    pub ends: bool,
}

/// Hands it over.
pub(super) fn send(to: &Sending, text: &[u8]) -> Result<Ended, NotSeated> {
    if !text.is_empty() {
        write(&pty::input(&to.jobs, to.id)?, text)?;
    }
    if to.ends {
        pty::end_input(&to.jobs, to.id)?;
    }
    Ok(Ended::Status(0))
}

fn write(input: &OwnedFd, mut text: &[u8]) -> io::Result<()> {
    let mut last = Instant::now();
    while !text.is_empty() {
        let left = PATIENCE.saturating_sub(last.elapsed());
        let patience = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        let mut sources = [PollFd::new(input.as_fd(), PollFlags::POLLOUT)];
        match poll(&mut sources, patience) {
            Ok(0) => return Err(not_read(text.len())),
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        match nix::unistd::write(input, text.get(..ATOMIC).unwrap_or(text)) {
            Ok(length) => {
                text = text.get(length..).unwrap_or_default();
                last = Instant::now();
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn not_read(left: usize) -> io::Error {
    io::Error::other(format!("it does not read; {left} bytes were not sent"))
}
