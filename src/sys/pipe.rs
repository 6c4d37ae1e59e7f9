//! Pipes and what is moved through them without waiting.

use std::fs::{File, Metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, SpliceFFlags, fcntl, splice, tee};
use nix::sys::socket::{MsgFlags, send};
use nix::unistd::{pipe2, write};

use super::raw;

/// What is moved in one call.
const MOST: usize = 1 << 20;
/// What a pipe that can be written at all takes without waiting.
const ATOMIC: usize = 4096;
/// How much of an input is looked at for a newline.
const PEEKED: usize = 4096;
/// Descriptors from here on are hardly used by scripts.
const HIGH: i32 = 60;
/// And to here: the facts of a script hold no higher ones for a shell's own (`facts/descriptors.rs`).
const HIGHEST: i32 = 90;
/// What is said where those cannot be had.
const TOO_FEW: &str = "the limit of open files (ulimit -n) is too low for a script on standard input: it takes 64; \
    raise it, or run the script as a file: gsh FILE";
const TOO_MANY: &str = "the caller has left all descriptors from 60 to 90 open, and a script on standard input takes \
    three of them; close some, or run the script as a file: gsh FILE";
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

/// A descriptor for a shell alone, beyond those that scripts use.
///
/// A program inherits all that a shell has, except for what is closed when a program starts; and a shell has
/// no command that marks a descriptor so. But its own copies are, while something is redirected, and so are
/// copies of those. Hence three numbers that follow each other, and [`Private::taking`].
#[derive(Debug)]
pub struct Private {
    /// What the shell inherits.
    inherited: OwnedFd,
    /// The same; in its place the shell puts what only it has.
    kept: OwnedFd,
    /// Where the shell's own copy will be.
    saved: i32,
}

impl Private {
    /// Of something that the shell shall have. It waits, as a shell makes its standard input wait.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn of(descriptor: BorrowedFd<'_>) -> io::Result<Self> {
        let flags = OFlag::from_bits_retain(fcntl(descriptor, FcntlArg::F_GETFL)?);
        if flags.contains(OFlag::O_NONBLOCK) {
            fcntl(descriptor, FcntlArg::F_SETFL(flags - OFlag::O_NONBLOCK))?;
        }
        let few = |error: io::Error| match error.raw_os_error().map(Errno::from_raw) {
            Some(Errno::EINVAL | Errno::EMFILE) => io::Error::other(TOO_FEW),
            _ => error,
        };
        let inherited = raw::inherited_copy(descriptor, HIGH).map_err(few)?;
        let kept = raw::inherited_copy(descriptor, inherited.as_raw_fd()).map_err(few)?;
        let is_inherited = |number: &i32| raw::is_inherited(*number);
        let saved = (kept.as_raw_fd() + 1..).find(|number| !is_inherited(number)).unwrap_or(i32::MAX);
        if saved >= HIGHEST {
            return Err(io::Error::other(TOO_MANY));
        }
        Ok(Self { inherited, kept, saved })
    }

    /// As which descriptor the shell has it, once it has run what [`Private::taking`] says.
    #[must_use]
    pub fn number(&self) -> i32 {
        self.kept.as_raw_fd()
    }

    /// Commands for the shell, after which nothing that it starts inherits it. They are not traced.
    #[must_use]
    pub fn taking(&self) -> String {
        let (inherited, kept, saved) = (self.inherited.as_raw_fd(), self.kept.as_raw_fd(), self.saved);
        let copying = format!("{{ \\exec {kept}>&{saved}; }} {inherited}>&{kept} 2>&-");
        format!("{copying}; {{ \\exec {inherited}>&-; }} 2>&-; ")
    }
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

/// Reads lines from a pipe or a socket, and takes no byte behind them: those are somebody else's.
#[derive(Debug)]
pub struct Lines {
    /// Where what waits in a pipe is looked at.
    aside: Option<(OwnedFd, OwnedFd)>,
}

impl Lines {
    /// Of any descriptor.
    #[must_use]
    pub fn new() -> Self {
        Self { aside: pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK).ok() }
    }

    /// Takes the bytes that wait, to the end of a line. Waits for the first if there is none.
    ///
    /// # Errors
    /// As `read`.
    pub fn take(&self, from: BorrowedFd<'_>, into: &mut Vec<u8>) -> io::Result<Taken> {
        let mut bytes = vec![0; self.to_newline(from).max(1)];
        match nix::unistd::read(from, &mut bytes) {
            Ok(0) => Ok(Taken::End),
            Ok(length) => {
                bytes.truncate(length);
                into.extend(&bytes);
                Ok(if bytes.last() == Some(&b'\n') { Taken::Line } else { Taken::Part })
            }
            Err(Errno::EINTR | Errno::EAGAIN) => Ok(Taken::Part),
            Err(error) => Err(error.into()),
        }
    }

    /// How many bytes may be taken: none behind a newline. 0 when that cannot be seen.
    fn to_newline(&self, from: BorrowedFd<'_>) -> usize {
        let mut seen = vec![0; PEEKED];
        let length = self.seen_in_pipe(from, &mut seen).or_else(|_| {
            nix::sys::socket::recv(from.as_raw_fd(), &mut seen, MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT)
        });
        let seen = seen.get(..length.unwrap_or(0)).unwrap_or_default();
        seen.iter().position(|byte| *byte == b'\n').map_or(seen.len(), |at| at + 1)
    }

    fn seen_in_pipe(&self, from: BorrowedFd<'_>, into: &mut [u8]) -> nix::Result<usize> {
        let (end, aside) = self.aside.as_ref().ok_or(Errno::EBADF)?;
        let length = tee(from, aside, into.len(), SpliceFFlags::SPLICE_F_NONBLOCK)?;
        nix::unistd::read(end, into.get_mut(..length).unwrap_or_default())
    }
}

impl Default for Lines {
    fn default() -> Self {
        Self::new()
    }
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
    fn no_byte_behind_a_line_is_taken() {
        let socket = std::os::unix::net::UnixStream::pair().map(|(one, two)| (one.into(), two.into()));
        for pair in [pipe2(OFlag::O_CLOEXEC).ok(), socket.ok()] {
            let Some((from, into)): Option<(OwnedFd, OwnedFd)> = pair else { panic!("no descriptors") };
            let lines = Lines::new();
            let mut text = Vec::new();
            assert_eq!(write(&into, b"one\ntwo").ok(), Some(7));
            assert_eq!(lines.take(from.as_fd(), &mut text).ok(), Some(Taken::Line));
            assert_eq!((text.as_slice(), waiting(from.as_fd())), (&b"one\n"[..], 3));
            assert_eq!(lines.take(from.as_fd(), &mut text).ok(), Some(Taken::Part));
            drop(into);
            assert_eq!(lines.take(from.as_fd(), &mut text).ok(), Some(Taken::End));
            assert_eq!(text, b"one\ntwo");
        }
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
