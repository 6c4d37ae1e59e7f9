//! Signals: taken from a descriptor while something runs, and died from as the command did.

use std::os::fd::{AsFd, BorrowedFd};

use nix::sys::signal::{SigSet, SigmaskHow, Signal, raise};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::alarm;

use super::raw;

/// What a parent of a running command must hear of.
const HEARD: [Signal; 9] = [
    Signal::SIGCHLD,
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGWINCH,
    Signal::SIGCONT,
];

/// What ends or stops a process that does not handle it, and what a terminal tells.
const QUESTION: [Signal; 7] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGTSTP,
    Signal::SIGWINCH,
    Signal::SIGCONT,
];

/// One signal that came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heard {
    /// Which.
    pub signal: Signal,
    /// The kernel sent it (a key at the terminal, a child's change): the command's own group has
    /// had it too. Otherwise a process sent it, to us alone as far as can be told.
    pub from_kernel: bool,
}

/// While it lives, the signals of a waiting parent arrive at its descriptor and not as deaths.
#[derive(Debug)]
pub struct Listening {
    source: SignalFd,
    before: SigSet,
}

impl Listening {
    /// Starts listening to all that a waiting parent must hear of. What the caller told us to ignore
    /// (`nohup`) is passed on as well; the command inherited that it ignores it.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor.
    pub fn start() -> nix::Result<Self> {
        // A caller that ignores SIGCHLD would make every wait fail.
        raw::default_action(Signal::SIGCHLD)?;
        Self::to(HEARD.into_iter().collect())
    }

    /// As [`Listening::start`], and to the key that stops (`^Z`), unless the caller ignores it.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor.
    pub fn with_stops() -> nix::Result<Self> {
        raw::default_action(Signal::SIGCHLD)?;
        let stop = Some(Signal::SIGTSTP).filter(|signal| !raw::is_ignored(*signal));
        Self::to(HEARD.into_iter().chain(stop).collect())
    }

    /// Starts listening to all that a question must hear of: what would end or stop us, but for what the
    /// caller told us to ignore (a blocked signal is queued all the same), and what changes the window.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor.
    pub fn to_question() -> nix::Result<Self> {
        let heard = QUESTION.into_iter().filter(|signal| !raw::is_ignored(*signal));
        Self::to(heard.collect())
    }

    /// Starts listening to what would end us, but for what the caller told us to ignore: a blocked signal is
    /// queued all the same.
    ///
    /// # Errors
    /// When the kernel refuses the descriptor.
    pub fn to_endings() -> nix::Result<Self> {
        let endings = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM];
        Self::to(endings.into_iter().filter(|signal| !raw::is_ignored(*signal)).collect())
    }

    fn to(set: SigSet) -> nix::Result<Self> {
        let before = set.thread_swap_mask(SigmaskHow::SIG_BLOCK)?;
        match SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK) {
            Ok(source) => Ok(Self { source, before }),
            Err(error) => {
                before.thread_set_mask()?;
                Err(error)
            }
        }
    }

    /// The mask from before, which the command is to start with.
    #[must_use]
    pub fn mask_before(&self) -> SigSet {
        self.before
    }

    /// The next signal that came, if any.
    ///
    /// # Errors
    /// When the descriptor cannot be read.
    pub fn next(&self) -> nix::Result<Option<Heard>> {
        loop {
            let Some(info) = self.source.read_signal()? else { return Ok(None) };
            let number = i32::try_from(info.ssi_signo).unwrap_or(0);
            if let Ok(signal) = Signal::try_from(number) {
                return Ok(Some(Heard { signal, from_kernel: info.ssi_code > 0 }));
            }
        }
    }
}

impl AsFd for Listening {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.source.as_fd()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // What is still queued was meant for the command and has been passed on or is too late; a
        // parent that is about to report the outcome does not die of it.
        while let Ok(Some(_)) = self.next() {}
        let _unchanged_mask_is_harmless = self.before.thread_set_mask();
    }
}

/// Dies of this signal, as the command did, so that our own parent sees the same death. No core is
/// written: it would show gsh and not the command. Returns when the signal does not kill.
pub fn die_of(number: i32) {
    let Ok(signal) = Signal::try_from(number) else { return };
    // Each step that fails leaves a death that is less exact; the caller then exits with 128+n.
    let _core = nix::sys::prctl::set_dumpable(false);
    let _action = raw::default_action(signal);
    let mut set = SigSet::empty();
    set.add(signal);
    let _mask = set.thread_unblock();
    let _raised = raise(signal);
}

/// Ends this process after so many seconds, whatever it does then, unless [`no_end`] comes before. Where that cannot
/// be set up nothing ends it.
pub fn end_after(seconds: u32) {
    if raw::default_action(Signal::SIGALRM).is_ok() {
        let mut set = SigSet::empty();
        set.add(Signal::SIGALRM);
        let _blocked_it_only_waits = set.thread_unblock();
        alarm::set(seconds);
    }
}

/// Takes that back.
pub fn no_end() {
    alarm::cancel();
}

/// Does something that has a handler of its own for changes of the window.
pub fn hearing_resizes<T>(act: impl FnOnce() -> T) -> T {
    let mut set = SigSet::empty();
    set.add(Signal::SIGWINCH);
    let before = set.thread_swap_mask(SigmaskHow::SIG_UNBLOCK);
    let done = act();
    let _as_before = before.and_then(|mask| mask.thread_set_mask());
    done
}

/// Stops this process as `^Z` does, until somebody continues it. In a process group that nobody
/// could continue the kernel drops the signal, and the call returns at once.
pub fn stop_self() {
    let mut set = SigSet::empty();
    set.add(Signal::SIGTSTP);
    let before = set.thread_swap_mask(SigmaskHow::SIG_UNBLOCK);
    let _raised = raise(Signal::SIGTSTP);
    let _as_before = before.and_then(|mask| mask.thread_set_mask());
}
