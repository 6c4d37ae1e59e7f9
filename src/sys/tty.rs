//! Terminals: their settings, given back whatever happens, their size, and new ones.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use nix::errno::Errno;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use nix::sys::statfs::{FsType, statfs};
use nix::sys::termios::{
    FlushArg, InputFlags, LocalFlags, OutputFlags, SetArg, Termios, cfmakeraw, tcflush, tcgetattr, tcsetattr,
};
use nix::unistd::{Pid, getpgrp, getppid, tcgetpgrp, tcsetpgrp};
use portable_pty::{PtySize, native_pty_system};

use super::raw;

/// Raw mode on a terminal for as long as it lives. Dropping it, also while unwinding from a panic,
/// gives back the settings from before.
#[derive(Debug)]
pub struct RawMode<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> RawMode<'a> {
    /// Every key as it is pressed, nothing shown, no signal made of one.
    ///
    /// # Errors
    /// When it is no terminal, or is gone.
    pub fn enter(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        Self::changed(terminal, |_| ())
    }

    /// As [`RawMode::enter`], but lines that others write meanwhile still begin at the left edge.
    ///
    /// # Errors
    /// When it is no terminal, or is gone.
    pub fn keys_only(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        Self::changed(terminal, |raw| raw.output_flags.insert(OutputFlags::OPOST | OutputFlags::ONLCR))
    }

    /// Every byte as it is typed, but shown by the terminal and with its signals, so that no line is too long.
    ///
    /// # Errors
    /// When it is no terminal, or is gone.
    pub fn without_lines(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut open = before.clone();
        // Where lines are not gathered a newline would be shown as `^J`.
        open.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHOCTL);
        set(terminal, SetArg::TCSADRAIN, &open)?;
        Ok(Self { terminal, before })
    }

    fn changed(terminal: BorrowedFd<'a>, more: impl FnOnce(&mut Termios)) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut raw = before.clone();
        cfmakeraw(&mut raw);
        more(&mut raw);
        set(terminal, SetArg::TCSADRAIN, &raw)?;
        Ok(Self { terminal, before })
    }

    /// The settings from before.
    #[must_use]
    pub fn before(&self) -> &Termios {
        &self.before
    }

    /// What is given back at the end: a command may have changed the settings on purpose (`stty`).
    pub fn give_back(&mut self, settings: Termios) {
        self.before = settings;
    }
}

impl Drop for RawMode<'_> {
    fn drop(&mut self) {
        let _terminal_may_be_gone = set(self.terminal, SetArg::TCSADRAIN, &self.before);
    }
}

/// Keys are gathered to lines and shown, as outside of a line editor, for as long as it lives. What the editor had
/// set is given back.
#[derive(Debug)]
pub struct LineMode<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> LineMode<'a> {
    /// From whatever holds now.
    ///
    /// # Errors
    /// When it is no terminal, or is gone.
    pub fn enter(terminal: BorrowedFd<'a>) -> io::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut lines = before.clone();
        lines
            .local_flags
            .insert(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG | LocalFlags::IEXTEN);
        lines.input_flags.insert(InputFlags::ICRNL);
        lines.output_flags.insert(OutputFlags::OPOST | OutputFlags::ONLCR);
        set(terminal, SetArg::TCSADRAIN, &lines)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for LineMode<'_> {
    fn drop(&mut self) {
        let _terminal_may_be_gone = set(self.terminal, SetArg::TCSADRAIN, &self.before);
    }
}

/// tcsetattr that does not stop us when our group is not in front.
fn set(terminal: BorrowedFd<'_>, when: SetArg, settings: &Termios) -> io::Result<()> {
    while_not_stoppable(|| {
        loop {
            match tcsetattr(terminal, when, settings) {
                Err(nix::errno::Errno::EINTR) => {}
                result => return result,
            }
        }
    })
}

fn while_not_stoppable(act: impl FnOnce() -> nix::Result<()>) -> io::Result<()> {
    let mut stop = SigSet::empty();
    stop.add(Signal::SIGTTOU);
    let before = stop.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
    let result = act();
    before.thread_set_mask()?;
    Ok(result?)
}

/// Whether our process group is in front of this terminal.
#[must_use]
pub fn in_front(terminal: BorrowedFd<'_>) -> bool {
    tcgetpgrp(terminal).is_ok_and(|front| front == getpgrp())
}

/// Whether our parent leads our process group, as a shell does that waits for a command of its own line editor.
#[must_use]
pub fn in_group_of_parent() -> bool {
    getpgrp() == getppid()
}

/// Whether a program reads this terminal's keys one by one, and paints what it likes: keys are neither
/// gathered to lines nor shown.
#[must_use]
pub fn takes_keys(terminal: BorrowedFd<'_>) -> bool {
    tcgetattr(terminal).is_ok_and(|settings| !settings.local_flags.contains(LocalFlags::ICANON))
}

/// The process group in front of this terminal of ours.
#[must_use]
pub fn front_of(terminal: BorrowedFd<'_>) -> Option<i32> {
    tcgetpgrp(terminal).ok().map(Pid::as_raw)
}

/// Puts a process group of our session in front of our terminal; None is our own.
pub fn put_in_front(terminal: BorrowedFd<'_>, group: Option<i32>) {
    let group = group.map_or_else(getpgrp, Pid::from_raw);
    // A group that is gone leaves things as they are, which the next one to be put there mends.
    let _gone = while_not_stoppable(|| tcsetpgrp(terminal, group));
}

/// Columns and rows, where the terminal says and they are not 0.
#[must_use]
pub fn size(terminal: BorrowedFd<'_>) -> Option<(u16, u16)> {
    let size = raw::window_size(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

fn pty_size(terminal: BorrowedFd<'_>) -> Option<PtySize> {
    // A terminal that nobody gave a size says 0: programs end in endless loops there.
    let size = raw::window_size(terminal).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0)?;
    Some(PtySize {
        rows: size.ws_row,
        cols: size.ws_col,
        pixel_width: size.ws_xpixel,
        pixel_height: size.ws_ypixel,
    })
}

/// Drops what was typed and not read yet.
pub fn forget_typed(terminal: BorrowedFd<'_>) {
    let _terminal_may_be_gone = tcflush(terminal, FlushArg::TCIFLUSH);
}

/// Opens a terminal by name for reading and writing, without making it our controlling one.
///
/// # Errors
/// As `open`; `ENXIO` from `/dev/tty` means that there is none.
pub fn open(path: &std::path::Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY | libc::O_CLOEXEC).open(path)
}

/// The file system of pseudo-terminals that a file lies in; None for a file elsewhere.
#[must_use]
pub fn instance(path: &std::path::Path) -> Option<u64> {
    let found = statfs(path).ok()?;
    let is_devpts = found.filesystem_type() == PSEUDO_TERMINALS;
    is_devpts.then(|| std::fs::metadata(path).ok()).flatten().map(|data| data.dev())
}

/// What `statfs` says of a file system of pseudo-terminals.
const PSEUDO_TERMINALS: FsType = FsType(0x1cd1);

/// The file system that our controlling terminal, said to be this file, lies in. A file of that name may be another
/// terminal where somebody put another file system into its place, so the kernel is asked whether it is ours.
#[must_use]
pub fn own_instance(path: &std::path::Path) -> Option<u64> {
    let file = open(path).ok()?;
    nix::sys::termios::tcgetsid(&file).ok()?;
    instance(&PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
}

/// A terminal of our own: the leader end. What is written there was typed, what is read there is shown.
#[derive(Debug)]
pub struct Leader(OwnedFd);

impl Leader {
    /// A new terminal of the size and settings of `like`, and its follower end.
    ///
    /// # Errors
    /// When the machine has no more terminals.
    pub fn open(like: Option<BorrowedFd<'_>>) -> io::Result<(Self, OwnedFd)> {
        let size = like.and_then(pty_size).unwrap_or_default();
        let pair = native_pty_system().openpty(size).map_err(io::Error::other)?;
        let name = pair.master.tty_name().ok_or(io::ErrorKind::NotFound)?;
        let follower = OwnedFd::from(open(&name)?);
        if let Some(settings) = like.and_then(|terminal| tcgetattr(terminal).ok()) {
            tcsetattr(&follower, SetArg::TCSANOW, &settings)?;
        }
        // The descriptor alone travels: to a supervisor, and to whoever sits down at it.
        Ok((Self(raw::leader_of(pair.master.as_ref())?), follower))
    }

    /// Whether a newline is written as it is: the far side is no terminal, so nothing adds a CR.
    ///
    /// # Errors
    /// When the settings cannot be changed.
    pub fn write_plainly(follower: &OwnedFd) -> io::Result<()> {
        let mut settings = tcgetattr(follower)?;
        settings.output_flags.remove(OutputFlags::OPOST);
        Ok(tcsetattr(follower, SetArg::TCSANOW, &settings)?)
    }

    /// Gives it the size of `like`; the command is told by SIGWINCH.
    pub fn resize_like(&self, like: BorrowedFd<'_>) {
        if let Ok(size) = raw::window_size(like) {
            let _terminal_may_be_gone = raw::set_window_size(self.0.as_fd(), size);
        }
    }

    /// Its settings now.
    #[must_use]
    pub fn settings(&self) -> Option<Termios> {
        tcgetattr(&self.0).ok()
    }

    /// One more follower end.
    ///
    /// # Errors
    /// When there are no descriptors left.
    pub fn follower(&self) -> io::Result<OwnedFd> {
        raw::follower_of(self.0.as_fd())
    }

    /// The process group in front of it.
    #[must_use]
    pub fn front(&self) -> Option<i32> {
        tcgetpgrp(&self.0).ok().map(Pid::as_raw)
    }

    /// Puts a process group in front. Only the leader of the terminal's session can.
    pub fn bring_to_front(&self, group: i32) {
        let _gone = while_not_stoppable(|| tcsetpgrp(&self.0, Pid::from_raw(group)));
    }

    /// What was typed there and nobody has read, taken out. Whoever reads there later finds none of it.
    #[must_use]
    pub fn unread(&self) -> Vec<u8> {
        let Ok(follower) = self.follower() else { return Vec::new() };
        // A line without its end is given only where keys are not gathered to lines.
        let before = tcgetattr(&follower);
        if let Ok(mut settings) = before.clone() {
            settings.local_flags.remove(LocalFlags::ICANON);
            let _as_lines = tcsetattr(&follower, SetArg::TCSANOW, &settings);
        }
        let mut typed = vec![0; 8 * 1024];
        let length = match readable(follower.as_fd(), PollTimeout::ZERO) {
            Ok(true) => nix::unistd::read(&follower, &mut typed).unwrap_or(0),
            _ => 0,
        };
        if let Ok(before) = before {
            let _not_as_before = tcsetattr(&follower, SetArg::TCSANOW, &before);
        }
        typed.truncate(length);
        typed
    }
}

impl From<OwnedFd> for Leader {
    fn from(leader: OwnedFd) -> Self {
        Self(leader)
    }
}

impl AsFd for Leader {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A person's terminal and its settings, so that another process can give them back.
#[derive(Debug)]
pub struct Guarded {
    terminal: OwnedFd,
    before: Termios,
}

impl Guarded {
    /// Remembers how a terminal is set now.
    ///
    /// # Errors
    /// When it is no terminal, or is gone.
    pub fn new(terminal: OwnedFd) -> io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        Ok(Self { terminal, before })
    }

    /// Gives the settings back where they still are what [`RawMode`] made of them: the process that should
    /// have done it was killed. What somebody else has set meanwhile stays.
    pub fn give_back(&self) {
        let mut raw = self.before.clone();
        cfmakeraw(&mut raw);
        if tcgetattr(&self.terminal).is_ok_and(|now| now == raw) {
            let _terminal_may_be_gone = set(self.terminal.as_fd(), SetArg::TCSANOW, &self.before);
        }
    }
}

impl AsFd for Guarded {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

/// Types these bytes at a terminal, for whoever reads there next. How many were taken: a kernel of 6.2 or
/// later takes none, unless it is told to or we are privileged.
pub fn type_at(terminal: BorrowedFd<'_>, bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| raw::type_byte(terminal, **byte).is_ok()).count()
}

/// Whether a terminal was hung up: nobody is on its far side any more.
#[must_use]
pub fn is_hung_up(terminal: BorrowedFd<'_>) -> bool {
    let mut sources = [PollFd::new(terminal, PollFlags::empty())];
    let asked = poll(&mut sources, PollTimeout::ZERO);
    let [source] = sources;
    asked.is_ok()
        && source.revents().is_some_and(|seen| seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR))
}

/// Whether a byte can be read from the terminal within a time. A signal that comes meanwhile is no byte.
///
/// # Errors
/// When the terminal is gone.
pub fn readable(terminal: BorrowedFd<'_>, patience: PollTimeout) -> io::Result<bool> {
    match poll(&mut [PollFd::new(terminal, PollFlags::POLLIN)], patience) {
        Ok(count) => Ok(count > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The next byte that is typed; waits for it.
///
/// # Errors
/// When the terminal is gone.
pub fn read_byte(terminal: BorrowedFd<'_>) -> io::Result<u8> {
    let mut byte = [0];
    loop {
        match nix::unistd::read(terminal, &mut byte) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {
                let [key] = byte;
                return Ok(key);
            }
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_mode_is_given_back_also_by_a_panic() {
        let Ok((_leader, follower)) = Leader::open(None) else { return };
        let echo = |fd: &OwnedFd| tcgetattr(fd).is_ok_and(|s| s.local_flags.contains(LocalFlags::ECHO));
        assert!(echo(&follower));
        let panicked = std::panic::catch_unwind(|| {
            let _raw = RawMode::enter(follower.as_fd());
            assert!(!echo(&follower));
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(panicked.is_err());
        assert!(echo(&follower));
    }

    #[test]
    fn lines_begin_at_the_left_while_keys_are_taken() {
        let Ok((_leader, follower)) = Leader::open(None) else { return };
        let kept = |fd: &OwnedFd| {
            let wanted = OutputFlags::OPOST | OutputFlags::ONLCR;
            tcgetattr(fd).is_ok_and(|settings| settings.output_flags.contains(wanted))
        };
        {
            let keys = RawMode::keys_only(follower.as_fd());
            assert!(keys.is_ok() && kept(&follower));
            let raw = tcgetattr(&follower).is_ok_and(|s| !s.local_flags.contains(LocalFlags::ICANON));
            assert!(raw);
        }
        let raw = RawMode::enter(follower.as_fd());
        assert!(raw.is_ok() && !kept(&follower));
    }

    #[test]
    fn a_pipe_is_no_terminal() {
        let Ok((reader, _writer)) = io::pipe() else { return };
        assert!(RawMode::enter(reader.as_fd()).is_err());
        assert_eq!(size(reader.as_fd()), None);
    }
}
