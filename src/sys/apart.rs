//! Work in a process of its own, so that its death or delay is an answer and not an end.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::raw;

/// The byte by which the work says that it waits for a person from now on.
const WAITS: u8 = 1;

/// How long the work may take.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// By itself.
    pub work: Duration,
    /// Once it has said that it waits for a person.
    pub person: Duration,
}

/// The end of the pipe that the work reports on.
#[derive(Debug)]
pub struct Report {
    pipe: File,
}

impl Report {
    /// Says that a person is waited for. Where nobody hears it, the shorter patience holds.
    pub fn waits(&self) {
        let _ = (&self.pipe).write_all(&[WAITS]);
    }
}

/// Why there is no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// No process could be made.
    NotMade,
    /// It ended without a result.
    Died,
    /// It took too long, and was ended.
    Late,
}

/// Does the work in a process of its own, without a terminal, and waits for its result. That process ends with
/// ours. Ours must have one thread only.
///
/// # Errors
/// When there is no result in time.
pub fn apart(patience: Patience, work: impl FnOnce(&Report) -> Vec<u8>) -> Result<Vec<u8>, Failed> {
    let (reader, writer) = nix::unistd::pipe2(OFlag::O_CLOEXEC).map_err(|_| Failed::NotMade)?;
    let parent = nix::unistd::getpid();
    match raw::fork().map_err(|_| Failed::NotMade)? {
        raw::Side::Child => {
            drop(reader);
            let mut report = Report { pipe: File::from(writer) };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                raw::die_with(parent, Signal::SIGTERM)?;
                // Without a terminal of its own nobody takes it for a person's.
                nix::unistd::setsid()?;
                let result = work(&report);
                report.pipe.write_all(&[0])?;
                report.pipe.write_all(&result)
            }));
            raw::leave_at_once(i32::from(!matches!(done, Ok(Ok(())))))
        }
        raw::Side::Parent(child) => {
            drop(writer);
            let heard = hear(File::from(reader), patience);
            if heard.is_err() {
                // It may be beyond listening.
                let _gone = kill(child, Signal::SIGKILL);
            }
            let ended = end(child);
            match heard {
                Ok(result) if ended => Ok(result),
                Ok(_) => Err(Failed::Died),
                Err(late) => Err(late),
            }
        }
    }
}

/// Reads to the end of the report.
fn hear(mut pipe: File, patience: Patience) -> Result<Vec<u8>, Failed> {
    let (begun, mut limit) = (Instant::now(), patience.work);
    let (mut told, mut chunk) = (Vec::new(), [0; 4096]);
    loop {
        let left = limit.saturating_sub(begun.elapsed());
        // Rounded up, so that no busy loop ends the last millisecond.
        let left = PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(pipe.as_fd(), PollFlags::POLLIN)], left) {
            Ok(0) => return Err(Failed::Late),
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(_) => return Err(Failed::Died),
        }
        let length = pipe.read(&mut chunk).map_err(|_| Failed::Died)?;
        if length == 0 {
            break;
        }
        told.extend_from_slice(chunk.get(..length).unwrap_or_default());
        while told.first() == Some(&WAITS) {
            told.remove(0);
            limit = begun.elapsed() + patience.person;
        }
    }
    if told.first() != Some(&0) {
        return Err(Failed::Died);
    }
    told.remove(0);
    Ok(told)
}

/// Whether it ended by itself, and well.
fn end(child: Pid) -> bool {
    loop {
        match waitpid(child, None) {
            Ok(status) => return matches!(status, WaitStatus::Exited(_, 0)),
            Err(Errno::EINTR) => {}
            Err(_) => return false,
        }
    }
}
