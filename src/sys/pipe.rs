//! Pipes and what is moved through them without waiting.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice};
use nix::sys::socket::{MsgFlags, send};
use nix::unistd::{pipe2, write};

use super::raw;

/// What is moved in one call.
const MOST: usize = 1 << 20;
/// What a pipe that can be written at all takes without waiting.
const ATOMIC: usize = 4096;
/// Descriptors from here on are hardly used by scripts.
const HIGH: i32 = 60;
/// How much our own pipe holds: the more, the fewer turns a stream takes.
const ROOM: i32 = 256 * 1024;

/// What stands behind a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A pipe or FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A regular file, a terminal, another device: nobody waits for its end.
    Other,
    /// Nothing.
    Closed,
}

/// What a standard descriptor is, and which: two with one identity are the same file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// What stands there.
    pub kind: Kind,
    place: (u64, u64),
}

impl Identity {
    /// Looks at a standard descriptor, as it was when the program started.
    #[must_use]
    pub fn of_standard(descriptor: u8) -> Self {
        let closed = Self { kind: Kind::Closed, place: (0, 0) };
        if raw::closed_at_start(descriptor.into()) {
            return closed;
        }
        let data = |fd: BorrowedFd<'_>| File::from(fd.try_clone_to_owned()?).metadata();
        let data = match descriptor {
            0 => data(io::stdin().as_fd()),
            1 => data(io::stdout().as_fd()),
            _ => data(io::stderr().as_fd()),
        };
        data.map_or(closed, |data| Self { kind: kind(&data), place: (data.dev(), data.ino()) })
    }

    /// Whether somebody may wait there for the end of what is written.
    #[must_use]
    pub fn is_waited_on(self) -> bool {
        matches!(self.kind, Kind::Pipe | Kind::Socket)
    }
}

fn kind(data: &Metadata) -> Kind {
    let file_type = data.file_type();
    if file_type.is_fifo() {
        Kind::Pipe
    } else if file_type.is_socket() {
        Kind::Socket
    } else {
        Kind::Other
    }
}

/// A pipe for a command's output: the reading end does not wait, the writing end does.
///
/// # Errors
/// When there are no descriptors left.
pub fn for_output() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC)?;
    fcntl(&reading, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    // A user's share of pipe memory may be used up; then it holds what pipes hold.
    let _smaller = fcntl(&reading, FcntlArg::F_SETPIPE_SZ(ROOM));
    Ok((reading, writing))
}

/// A pipe that has room for one piece: it can be written to, without waiting, exactly when nothing is in it.
///
/// # Errors
/// When there are no descriptors left, or the kernel has no such pipes.
pub fn for_one_piece() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC)?;
    fcntl(&writing, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    fcntl(&writing, FcntlArg::F_SETPIPE_SZ(ATOMIC as i32))?;
    Ok((reading, writing))
}

/// A copy of a descriptor, beyond those that scripts use, that programs inherit. It waits, as a shell makes
/// its standard input wait.
///
/// # Errors
/// When there are no descriptors left.
pub fn high_copy(of: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = OFlag::from_bits_retain(fcntl(of, FcntlArg::F_GETFL)?);
    if flags.contains(OFlag::O_NONBLOCK) {
        fcntl(of, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
    }
    raw::inherited_copy(of, HIGH)
}

/// What was taken of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// All of it, with its newline.
    Line,
    /// What there was.
    Part,
    /// Nothing: it is the end.
    End,
}

/// Takes the bytes that wait, but none behind the next newline: they are somebody else's. Waits for the first
/// byte if there is none.
///
/// # Errors
/// As `read`.
pub fn take_line(from: BorrowedFd<'_>, into: &mut Vec<u8>) -> io::Result<Taken> {
    for _ in 0..waiting(from).max(1) {
        let mut byte = [0];
        match nix::unistd::read(from, &mut byte) {
            Ok(0) => return Ok(Taken::End),
            Ok(_) => into.extend(byte),
            Err(Errno::EINTR | Errno::EAGAIN) => return Ok(Taken::Part),
            Err(error) => return Err(error.into()),
        }
        if byte == *b"\n" {
            return Ok(Taken::Line);
        }
    }
    Ok(Taken::Part)
}

/// A pipe that holds these bytes, and then its end.
///
/// # Errors
/// When that is more than a pipe may hold.
pub fn filled(bytes: &[u8]) -> io::Result<OwnedFd> {
    let (reading, writing) = pipe2(OFlag::O_CLOEXEC)?;
    fcntl(&writing, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    if fcntl(&writing, FcntlArg::F_GETPIPE_SZ)? < i32::try_from(bytes.len()).unwrap_or(i32::MAX) {
        fcntl(&writing, FcntlArg::F_SETPIPE_SZ(i32::try_from(bytes.len()).map_err(io::Error::other)?))?;
    }
    io::Write::write_all(&mut File::from(writing), bytes)?;
    Ok(reading)
}

/// How many bytes wait in a pipe.
#[must_use]
pub fn waiting(pipe: BorrowedFd<'_>) -> usize {
    raw::waiting(pipe).unwrap_or(0)
}

/// Moves up to so many bytes from one pipe to another, without copying or waiting.
///
/// # Errors
/// `EAGAIN` when there is nothing or no room, `EINVAL` where the far side cannot be moved to.
pub fn shift(from: BorrowedFd<'_>, to: BorrowedFd<'_>, most: usize) -> nix::Result<usize> {
    let flags = SpliceFFlags::SPLICE_F_NONBLOCK | SpliceFFlags::SPLICE_F_MOVE;
    splice(from, None, to, None, most.min(MOST), flags)
}

/// Writes some of these bytes without waiting, to a descriptor that is ready and may be a socket. The
/// descriptor's own flags are its owner's and stay as they are.
///
/// # Errors
/// As `write`.
pub fn write_some(to: BorrowedFd<'_>, kind: Kind, bytes: &[u8]) -> nix::Result<usize> {
    if kind == Kind::Socket {
        match send(to.as_raw_fd(), bytes, MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL) {
            Err(Errno::ENOTSOCK) => {}
            result => return result,
        }
    }
    write(to, bytes.get(..ATOMIC).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_moved_and_counted() {
        let (Ok((from, into)), Ok((end, to))) = (for_output(), for_output()) else { return };
        assert_eq!(shift(from.as_fd(), to.as_fd(), 10), Err(Errno::EAGAIN));
        assert_eq!(write(&into, b"hello").ok(), Some(5));
        assert_eq!(waiting(from.as_fd()), 5);
        assert_eq!(shift(from.as_fd(), to.as_fd(), 3), Ok(3));
        assert_eq!((waiting(from.as_fd()), waiting(end.as_fd())), (2, 3));
        drop(into);
        assert_eq!(shift(from.as_fd(), to.as_fd(), 10), Ok(2));
        assert_eq!(shift(from.as_fd(), to.as_fd(), 10), Ok(0));
    }

    #[test]
    fn a_filled_pipe_ends_after_its_bytes() {
        for length in [0, 5, 65_536, 300_000] {
            let bytes = vec![7; length];
            let Ok(pipe) = filled(&bytes) else { panic!("no pipe of {length}") };
            let mut read = Vec::new();
            assert!(io::Read::read_to_end(&mut File::from(pipe), &mut read).is_ok());
            assert_eq!(read, bytes);
        }
        assert!(filled(&vec![0; 1 << 25]).is_err());
    }

    #[test]
    fn kinds_are_told_apart() {
        let kind_of = |fd: OwnedFd| File::from(fd).metadata().map(|data| kind(&data)).ok();
        let pipe = for_output().map(|(reading, _)| reading);
        assert_eq!(pipe.ok().and_then(kind_of), Some(Kind::Pipe));
        let socket = std::os::unix::net::UnixStream::pair().map(|(one, _)| OwnedFd::from(one));
        assert_eq!(socket.ok().and_then(kind_of), Some(Kind::Socket));
        let file = File::open("/dev/null").map(OwnedFd::from);
        assert_eq!(file.ok().and_then(kind_of), Some(Kind::Other));
    }
}
