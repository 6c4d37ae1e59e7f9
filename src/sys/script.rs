//! A script file of which bash reads the bytes that were decided, whatever the file holds by then.
//!
//! bash has to open the script by its own name: that name is `$0`, `BASH_SOURCE` and the head of its messages, and
//! what is handed over in another way (`-c`, `.`) is no script to it. So a helper process watches the system calls of
//! the shell from its exec to the one that opens this very name, and lets that one open a nameless file of ours
//! instead. Then it lets go and ends, a few milliseconds after the start. Should the helper die before, the shell dies
//! with it (`EXITKILL`): it never reads what was not decided.

use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};

use super::child::release_standard;
use super::process::{nameless_file, reap};
use super::raw;

/// More calls than any shell makes before it opens its script.
const MOST_CALLS: usize = 20_000;

/// What stands in the place of a script file, until the shell has opened it.
#[derive(Debug)]
pub struct StandIn {
    line: UnixStream,
}

impl StandIn {
    /// Prepares these bytes for the shell that this process, or one of its children, is about to become.
    ///
    /// # Errors
    /// Where the kernel lets nobody watch another process, or not closely enough.
    pub fn prepare(name: &OsStr, bytes: &[u8]) -> io::Result<Self> {
        let name = CString::new(name.as_bytes())?;
        let file = nameless_file(bytes)?;
        let (mut line, theirs) = UnixStream::pair()?;
        match raw::fork()? {
            raw::Side::Parent(child) => reap(child.as_raw()),
            raw::Side::Child => {
                // A second process, so that its end is no matter of whatever we become.
                if let Ok(raw::Side::Child) = raw::fork() {
                    raw::close_all_but(&[theirs.as_raw_fd(), file.as_raw_fd()]);
                    // Whatever went wrong: what is watched then dies with us, and what is not is told nothing.
                    let _ends_anyway =
                        release_standard().and_then(|()| Helper { name, file, line: theirs }.help());
                }
                raw::leave_at_once(0)
            }
        }
        drop(theirs);
        let mut helper = [0; 4];
        line.read_exact(&mut helper)?;
        raw::may_watch(Pid::from_raw(i32::from_le_bytes(helper)));
        let stand_in = Self { line };
        // A try on ourselves tells whether it will work.
        stand_in.waiting().offer()?;
        Ok(stand_in)
    }

    /// The last thing to do before the shell is started.
    pub(super) fn waiting(&self) -> Waiting {
        Waiting { line: self.line.as_raw_fd() }
    }
}

/// A helper that waits for the shell's process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    line: RawFd,
}

impl Waiting {
    /// Has the helper watch this process. System calls only, for a process between fork and exec.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn offer(self) -> io::Result<()> {
        let refused = || io::Error::from_raw_os_error(nix::libc::EPERM);
        raw::send(self.line, &getpid().as_raw().to_le_bytes())?;
        let mut answer = [0];
        if raw::receive(self.line, &mut answer)? == 1 && answer == [1] { Ok(()) } else { Err(refused()) }
    }
}

struct Helper {
    name: CString,
    file: File,
    line: UnixStream,
}

impl Helper {
    fn help(mut self) -> io::Result<()> {
        // A signal to the caller's group is not for us.
        nix::unistd::setsid()?;
        self.line.write_all(&getpid().as_raw().to_le_bytes())?;
        let caller = self.next()?;
        let works = tried(caller).is_ok();
        self.line.write_all(&[u8::from(works)])?;
        let shell = self.next()?;
        let all = Options::PTRACE_O_EXITKILL | Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_TRACESYSGOOD;
        let seized = ptrace::seize(shell, all);
        self.line.write_all(&[u8::from(seized.is_ok())])?;
        seized?;
        self.watch(shell)
    }

    fn next(&mut self) -> io::Result<Pid> {
        let mut bytes = [0; 4];
        self.line.read_exact(&mut bytes)?;
        Ok(Pid::from_raw(i32::from_le_bytes(bytes)))
    }

    /// Follows the shell to the opening of its script.
    fn watch(&self, shell: Pid) -> io::Result<()> {
        let mut put = None;
        for _ in 0..MOST_CALLS {
            let signal = match next_stop(shell)? {
                Stop::Call if put.is_some() => {
                    if let Some(Put { at, before }) = put {
                        memory(shell)?.write_all_at(&before, at)?;
                    }
                    return Ok(ptrace::detach(shell, None)?);
                }
                Stop::Call => {
                    put = self.opens_it(shell)?;
                    None
                }
                Stop::Other(signal) => signal,
                Stop::Gone => return Ok(()),
            };
            ptrace::syscall(shell, signal)?;
        }
        Err(io::Error::other("it never opened its script"))
    }

    /// Where the shell is about to open its script: gives the call our file's name for the time it takes.
    fn opens_it(&self, shell: Pid) -> io::Result<Option<Put>> {
        let Some(at) = raw::path_being_opened(shell)? else { return Ok(None) };
        let memory = memory(shell)?;
        let name = self.name.as_bytes_with_nul();
        let mut found = vec![0; name.len()];
        if memory.read_exact_at(&mut found, at).is_err() || found != name {
            return Ok(None);
        }
        let ours = format!("/proc/{}/fd/{}\0", getpid(), self.file.as_raw_fd());
        let mut before = vec![0; ours.len()];
        memory.read_exact_at(&mut before, at)?;
        memory.write_all_at(ours.as_bytes(), at)?;
        Ok(Some(Put { at, before }))
    }
}

/// What stood where our file's name stands during the call.
struct Put {
    at: u64,
    before: Vec<u8>,
}

/// Why a watched process stands still.
enum Stop {
    /// It enters or leaves a system call.
    Call,
    /// Anything else, with the signal that it is to get.
    Other(Option<Signal>),
    /// It is no more.
    Gone,
}

fn next_stop(process: Pid) -> io::Result<Stop> {
    Ok(match waitpid(process, Some(WaitPidFlag::__WALL))? {
        WaitStatus::PtraceSyscall(_) => Stop::Call,
        WaitStatus::Stopped(_, signal) => Stop::Other(Some(signal)),
        WaitStatus::Exited(..) | WaitStatus::Signaled(..) => Stop::Gone,
        _ => Stop::Other(None),
    })
}

/// Whether a process can be watched closely enough, tried on this one, which waits for us.
fn tried(process: Pid) -> io::Result<()> {
    ptrace::seize(process, Options::PTRACE_O_TRACESYSGOOD)?;
    ptrace::interrupt(process)?;
    while !matches!(waitpid(process, Some(WaitPidFlag::__WALL))?, WaitStatus::PtraceEvent(..)) {
        ptrace::cont(process, None)?;
    }
    let enough = raw::path_being_opened(process).and_then(|_| memory(process));
    ptrace::detach(process, None)?;
    enough.map(drop)
}

fn memory(process: Pid) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/{process}/mem"))
}
