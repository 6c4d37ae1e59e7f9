//! The only unsafe code: system calls that no safe wrapper offers, each behind a function whose
//! arguments prove what the call needs.
#![expect(unsafe_code, reason = "the one roof for it; each block says why it is sound")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicU8, Ordering};

use nix::libc;
use nix::sys::signal::{SigHandler, SigSet, Signal, signal};
use nix::unistd::{ForkResult, Pid};
use portable_pty::MasterPty;

use super::script::Waiting;

/// Bits 0-2: that descriptor was closed when the program started; bits 3 and 4: SIGPIPE and SIGXFSZ
/// were ignored.
static AT_START: AtomicU8 = AtomicU8::new(0);
const PIPE_IGNORED: u8 = 8;
const FILE_SIZE_IGNORED: u8 = 16;

/// Rust's own start-up opens closed standard descriptors and ignores SIGPIPE. What a caller set up
/// has to reach the command unchanged, so it is noted before that happens. SIGXFSZ we ignore
/// ourselves: a file of ours that may not grow (`ulimit -f`) is an error to tell, not our death.
extern "C" fn note_start() {
    let mut bits = 0;
    for descriptor in 0..3 {
        // SAFETY: F_GETFD reads a flag of a descriptor number and touches no memory.
        if unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1 {
            bits |= 1 << descriptor;
        }
    }
    if is_ignored(Signal::SIGPIPE) {
        bits |= PIPE_IGNORED;
    }
    if is_ignored(Signal::SIGXFSZ) {
        bits |= FILE_SIZE_IGNORED;
    }
    // SAFETY: ignoring runs no code of ours. Where it fails the signal keeps its action.
    let _as_before = unsafe { signal(Signal::SIGXFSZ, SigHandler::SigIgn) };
    AT_START.store(bits, Ordering::Relaxed);
}

/// Whether a signal is ignored now.
pub(super) fn is_ignored(which: Signal) -> bool {
    // SAFETY: a null new action only reads the present one into `action`, which is a plain C
    // structure for which all zeroes is a valid value.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(which as libc::c_int, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

// SAFETY: the section holds functions of this very type, called once before `main`; the function
// uses system calls and one atomic, which need no initialised runtime.
#[used]
#[unsafe(link_section = ".init_array")]
static NOTE_START: extern "C" fn() = note_start;

/// Whether this standard descriptor was closed when the program started.
pub(super) fn closed_at_start(descriptor: RawFd) -> bool {
    (0..3).contains(&descriptor) && AT_START.load(Ordering::Relaxed) & (1 << descriptor) != 0
}

/// The signals that we ignore ourselves.
const OURS: [(Signal, u8); 2] = [(Signal::SIGPIPE, PIPE_IGNORED), (Signal::SIGXFSZ, FILE_SIZE_IGNORED)];

/// Those of them that the program was started with to die of, and of the two that the C library keeps for itself those
/// that are not ignored: its `posix_spawn` has a program ignore these unless told otherwise.
pub(super) fn not_ignored_at_start() -> SigSet {
    let bits = AT_START.load(Ordering::Relaxed);
    let theirs = OURS.into_iter().filter(|(_, ignored)| bits & ignored == 0).map(|(which, _)| which);
    let reserved =
        [32, 33].into_iter().filter(|number| !reserved_is_ignored(*number)).map(|number| 1 << (number - 1));
    with_bits(theirs.collect(), reserved.sum())
}

/// The set with these bits as well, which the library's own functions refuse to add.
fn with_bits(set: SigSet, bits: u64) -> SigSet {
    let mut raw: libc::sigset_t = *set.as_ref();
    // SAFETY: a set is an array of words, at least 64 bits of them, in which signal n is bit n - 1; all bits are valid.
    unsafe {
        let words = (&raw mut raw).cast::<u64>();
        words.write_unaligned(words.read_unaligned() | bits);
        SigSet::from_sigset_t_unchecked(raw)
    }
}

/// Whether this process ignores a signal, also one that the library keeps for itself.
fn reserved_is_ignored(number: libc::c_int) -> bool {
    // The kernel's own structure: the handler, then flags, a restorer and a mask of 8 bytes.
    let mut action = [0_usize; 8];
    let nothing = std::ptr::null::<usize>();
    // SAFETY: the call reads nothing, and writes one action, which has room in `action`.
    let done =
        unsafe { libc::syscall(libc::SYS_rt_sigaction, number, nothing, action.as_mut_ptr(), 8_usize) };
    done == 0 && action.first() == Some(&libc::SIG_IGN)
}

/// Gives SIGPIPE and SIGXFSZ back the dispositions the program was started with.
pub(super) fn restore_signals() -> nix::Result<()> {
    let bits = AT_START.load(Ordering::Relaxed);
    for (which, ignored) in OURS {
        let handler = if bits & ignored != 0 { SigHandler::SigIgn } else { SigHandler::SigDfl };
        // SAFETY: neither disposition runs code of ours.
        unsafe { signal(which, handler) }?;
    }
    Ok(())
}

/// Gives a signal its default action.
pub(super) fn default_action(which: Signal) -> nix::Result<()> {
    // SAFETY: the default disposition runs no code of ours.
    unsafe { signal(which, SigHandler::SigDfl) }.map(drop)
}

/// What a child does between fork and exec, besides what [`Command`] does.
#[derive(Debug, Clone, Copy)]
pub(super) struct ChildStart {
    /// The signal mask the command is to have.
    pub(super) mask: SigSet,
    /// Make the child's process group the foreground one of this terminal.
    pub(super) foreground_of: Option<RawFd>,
    /// Standard descriptors that were given to the child on purpose.
    pub(super) given: [bool; 3],
    /// Who has to know that it starts.
    pub(super) script: Option<Waiting>,
}

/// Arranges for this signal to come when our parent, or its thread that started us, is gone.
///
/// # Errors
/// When it is gone already: then the kernel would never tell.
pub(super) fn die_with(parent: Pid, signal: Signal) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(signal)?;
    // Asked afterwards: an end before this moment shows here, a later one is told.
    if nix::unistd::getppid() == parent { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ESRCH)) }
}

/// Arranges for `start` to be done in the child.
pub(super) fn before_exec(command: &mut Command, start: ChildStart) {
    let step = move || -> io::Result<()> {
        if let Some(terminal) = start.foreground_of {
            // A group that is not yet in front may only do this while SIGTTOU is blocked.
            let mut stop = SigSet::empty();
            stop.add(Signal::SIGTTOU);
            stop.thread_block()?;
            // SAFETY: tcsetpgrp takes two numbers; a stale one is an error, not undefined.
            if unsafe { libc::tcsetpgrp(terminal, libc::getpgrp()) } == -1 {
                return Err(io::Error::last_os_error());
            }
        }
        restore_signals()?;
        for (descriptor, given) in (0..).zip(start.given) {
            // `Command` leaves an inherited descriptor as it is; one that Rust opened is closed again.
            if !given && closed_at_start(descriptor) {
                nix::unistd::close(descriptor)?;
            }
        }
        start.mask.thread_set_mask()?;
        start.script.map_or(Ok(()), Waiting::offer)
    };
    // SAFETY: the step above makes system calls only (tcsetpgrp, sigaction, close, sigprocmask, send, recv),
    // allocates nothing and takes no lock, as is required between fork and exec.
    unsafe { command.pre_exec(step) };
}

/// Who continues after [`fork`].
pub(super) enum Side {
    /// The process that called.
    Parent(Pid),
    /// The new process.
    Child,
}

/// A second process that goes on from here. The child must leave by [`leave_at_once`] or exec.
pub(super) fn fork() -> nix::Result<Side> {
    // SAFETY: gsh has one thread at this point, so no lock can be held by a thread that the child
    // lacks; glibc takes care of its allocator's own locks.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(Side::Parent(child)),
        ForkResult::Child => Ok(Side::Child),
    }
}

/// A descriptor that becomes readable when this child ends, whichever thread gets its SIGCHLD.
pub(super) fn end_of(child: Pid) -> io::Result<OwnedFd> {
    // SAFETY: pidfd_open takes two numbers and gives back a new descriptor or -1.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, child.as_raw(), 0) };
    match RawFd::try_from(result) {
        // SAFETY: the kernel just made this descriptor for us; nobody else owns it.
        Ok(raw) if raw >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(raw) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A copy of a descriptor, this one or the next that is free, that programs inherit.
pub(super) fn inherited_copy(of: BorrowedFd<'_>, from: RawFd) -> io::Result<OwnedFd> {
    let copy = nix::fcntl::fcntl(of, nix::fcntl::FcntlArg::F_DUPFD(from))?;
    // SAFETY: the kernel just made this descriptor for us; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(copy) })
}

/// Some bytes from the kernel; how many.
pub(super) fn random(into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes no more than so many bytes into `into`, which outlives the call.
    let length = unsafe { libc::syscall(libc::SYS_getrandom, into.as_mut_ptr(), into.len(), 0) };
    match usize::try_from(length) {
        Ok(length) => Ok(length),
        Err(_) if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Whether there is a descriptor of this number that programs inherit.
pub(super) fn is_inherited(number: RawFd) -> bool {
    // SAFETY: it only asks for flags; of a number that is no descriptor the kernel says so.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    flags != -1 && flags & libc::FD_CLOEXEC == 0
}

/// How many bytes wait to be read from a pipe.
pub(super) fn waiting(pipe: BorrowedFd<'_>) -> io::Result<usize> {
    let mut count: libc::c_int = 0;
    // SAFETY: FIONREAD fills one int, and `count` is one that outlives the call.
    let result = unsafe { libc::ioctl(pipe.as_raw_fd(), libc::FIONREAD, &raw mut count) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(usize::try_from(count).unwrap_or(0)) }
}

/// Lets the kernel forget which pages of our program's file this process has used; those that it uses
/// again come back from the page cache. What a long wait needs is a few of them.
pub(super) fn forget_code() {
    let Ok(maps) = std::fs::read_to_string("/proc/self/smaps") else { return };
    let mut range = None;
    for line in maps.lines() {
        let mut fields = line.split_ascii_whitespace();
        match (fields.next(), fields.next(), fields.nth(3)) {
            (Some(ends), Some("r-xp" | "r--p"), Some(file)) if file.starts_with('/') => {
                let ends =
                    ends.split_once('-').map(|(a, b)| [a, b].map(|end| usize::from_str_radix(end, 16)));
                range = ends;
            }
            (Some("Anonymous:"), Some("0"), _) => {
                if let Some([Ok(start), Ok(end)]) = range.take() {
                    // SAFETY: the range is a mapping of this program's file that cannot be written, and no
                    // page of it was changed before that, so what is touched again is read from the file.
                    let _kept = unsafe {
                        libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED)
                    };
                }
            }
            (Some("Anonymous:"), ..) => range = None,
            _ => {}
        }
    }
}

/// Lets this process watch ours, where the kernel would otherwise let an ancestor only.
pub(super) fn may_watch(helper: Pid) {
    let helper = libc::c_ulong::try_from(helper.as_raw()).unwrap_or(0);
    // SAFETY: the call takes a number. A kernel that does not know it does not need it.
    let _known = unsafe { libc::prctl(libc::PR_SET_PTRACER, helper, 0, 0, 0) };
}

/// Where in its memory the path stands that a watched process is about to open; None for any other stop.
pub(super) fn path_being_opened(process: Pid) -> io::Result<Option<u64>> {
    let info = nix::sys::ptrace::syscall_info(process)?;
    if info.op != libc::PTRACE_SYSCALL_INFO_ENTRY {
        return Ok(None);
    }
    // SAFETY: at the entry of a call this is the member that the kernel fills; it is of numbers only.
    let entry = unsafe { info.u.entry };
    let call = libc::c_long::try_from(entry.nr).unwrap_or(-1);
    let [first, second, ..] = entry.args;
    #[cfg(target_arch = "x86_64")]
    if call == libc::SYS_open {
        return Ok(Some(first));
    }
    let _of_other_machines = first;
    Ok((call == libc::SYS_openat).then_some(second))
}

/// Sends a few bytes on a connected socket.
pub(super) fn send(socket: RawFd, bytes: &[u8]) -> io::Result<()> {
    // SAFETY: the bytes outlive the call; a stale number is an error, not undefined.
    let sent = unsafe { libc::send(socket, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL) };
    if usize::try_from(sent) == Ok(bytes.len()) { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Receives at most so many bytes on a connected socket; how many.
pub(super) fn receive(socket: RawFd, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        // SAFETY: the bytes outlive the call and are as many as it is told; a stale number is an error.
        let got = unsafe { libc::recv(socket, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        match usize::try_from(got) {
            Ok(got) => return Ok(got),
            Err(_) if nix::errno::Errno::last() == nix::errno::Errno::EINTR => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
    }
}

/// Closes every descriptor above the standard ones but these. Only for a process of its own that was
/// forked and leaves by [`leave_at_once`]: what owned the others there is never dropped.
pub(super) fn close_all_but(kept: &[RawFd]) {
    let mut kept: Vec<libc::c_uint> = kept.iter().filter_map(|fd| (*fd).try_into().ok()).collect();
    kept.sort_unstable();
    let close = |first: libc::c_uint, last: libc::c_uint| {
        if first <= last {
            // SAFETY: closing numbers touches no memory; nobody in this process uses them any more. On a
            // kernel without the call they stay open until the end, which is late but not wrong.
            let _ = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
        }
    };
    let mut next = 3;
    for fd in kept.into_iter().filter(|fd| *fd >= 3) {
        close(next, fd.saturating_sub(1));
        next = fd + 1;
    }
    close(next, libc::c_uint::MAX);
}

/// Ends this process without running anything that belongs to the process it was forked from.
pub(super) fn leave_at_once(status: i32) -> ! {
    // SAFETY: _exit ends the process; no handler, destructor or buffer of the parent is run twice.
    unsafe { libc::_exit(status) }
}

/// The size of a terminal's window.
pub(super) fn window_size(terminal: BorrowedFd<'_>) -> io::Result<libc::winsize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ fills one winsize, and `size` is one that outlives the call.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(size) }
}

/// Makes a terminal the controlling one of this session leader.
pub(super) fn take_controlling_terminal(terminal: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: TIOCSCTTY takes a number and touches no memory.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSCTTY, 0) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Gives a terminal's window another size.
pub(super) fn set_window_size(terminal: BorrowedFd<'_>, size: libc::winsize) -> io::Result<()> {
    // SAFETY: TIOCSWINSZ reads one winsize, and `size` is one that outlives the call.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSWINSZ, &raw const size) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Types one byte at a terminal.
pub(super) fn type_byte(terminal: BorrowedFd<'_>, byte: u8) -> io::Result<()> {
    // SAFETY: TIOCSTI reads one byte, and `byte` is one that outlives the call.
    let result = unsafe { libc::ioctl(terminal.as_raw_fd(), libc::TIOCSTI, &raw const byte) };
    if result == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// A descriptor of our own for a leader end.
pub(super) fn leader_of(leader: &dyn MasterPty) -> io::Result<OwnedFd> {
    let raw = leader.as_raw_fd().filter(|raw| *raw >= 0).ok_or(io::ErrorKind::NotFound)?;
    // SAFETY: the leader owns this open descriptor, and the borrow keeps it from being dropped.
    unsafe { BorrowedFd::borrow_raw(raw) }.try_clone_to_owned()
}

/// A new follower end of a leader.
pub(super) fn follower_of(leader: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: TIOCGPTPEER takes a number and gives back a new descriptor or -1.
    let raw = unsafe { libc::ioctl(leader.as_raw_fd(), libc::TIOCGPTPEER, flags) };
    if raw < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just made this descriptor for us; nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(raw) })
}

/// Takes over a descriptor that came in a message.
pub(super) fn received(descriptor: RawFd) -> OwnedFd {
    // SAFETY: the kernel made this descriptor for us when the message was read; nobody else knows it.
    unsafe { OwnedFd::from_raw_fd(descriptor) }
}

/// The ticks in which `/proc` tells when a process started: 100 a second on every Linux that we run on.
const TICK: i64 = 10;

/// The moment that was so many ticks after the machine started, in milliseconds since 1970.
pub(super) fn started_at(ticks: u64) -> i64 {
    let now = milliseconds(libc::CLOCK_REALTIME) - milliseconds(libc::CLOCK_BOOTTIME);
    now.saturating_add(i64::try_from(ticks).unwrap_or(i64::MAX / TICK).saturating_mul(TICK))
}

fn milliseconds(clock: libc::clockid_t) -> i64 {
    // SAFETY: the call writes one time into `time`, a plain C structure that may be all zeroes.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(clock, &raw mut time);
        time
    };
    time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
