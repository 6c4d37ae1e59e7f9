//! Starting programs: becoming one, or starting one and waiting.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

use super::raw::{self, ChildStart};
use super::script::StandIn;

/// A program to start, complete: nothing is looked up or added.
#[derive(Debug)]
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Its words, `argv[0]` first.
    pub argv: Vec<OsString>,
    /// Its whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// What it gets as standard input instead of ours.
    pub stdin: Option<OwnedFd>,
    /// The script that it opens, where that is to be what we hold.
    pub script: Option<StandIn>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It exited with this status.
    Status(i32),
    /// It died of this signal.
    Signal(i32),
}

/// Becomes the program. Returns only when that failed.
pub fn become_program(program: Program) -> io::Error {
    match exec(program) {
        Ok(never) => match never {},
        Err(error) => error,
    }
}

/// A program as the kernel takes it.
pub(super) struct Words {
    pub(super) path: CString,
    pub(super) argv: Vec<CString>,
    pub(super) environment: Vec<CString>,
}

impl Words {
    /// # Errors
    /// When one of them holds a NUL.
    pub(super) fn of(program: &Program) -> io::Result<Self> {
        let words = program.argv.iter().map(|word| CString::new(word.as_bytes()));
        let variables = program
            .environment
            .iter()
            .map(|(name, value)| CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()));
        Ok(Self {
            path: CString::new(program.path.as_os_str().as_bytes())?,
            argv: words.collect::<Result<_, _>>()?,
            environment: variables.collect::<Result<_, _>>()?,
        })
    }
}

fn exec(program: Program) -> io::Result<std::convert::Infallible> {
    let Words { path, argv, environment } = Words::of(&program)?;
    if let Some(stdin) = program.stdin {
        nix::unistd::dup2_stdin(&stdin)?;
    } else if raw::closed_at_start(0) {
        nix::unistd::close(0)?;
    }
    for descriptor in [1, 2] {
        if raw::closed_at_start(descriptor) {
            nix::unistd::close(descriptor)?;
        }
    }
    raw::restore_signals()?;
    if let Some(script) = &program.script {
        script.waiting().offer()?;
    }
    Ok(nix::unistd::execve(&path, &argv, &environment)?)
}

/// Starts the program beside us, with nothing of our terminal or output, and without waiting for it. It is ended
/// with all that it started in its group when it takes longer than that; whether it works is nobody's matter.
///
/// # Errors
/// When no process can be made.
pub fn start_aside(program: Program, deadline: Duration) -> io::Result<()> {
    match raw::fork()? {
        raw::Side::Parent(child) => {
            reap(child.as_raw());
            Ok(())
        }
        raw::Side::Child => {
            // A second process, so that its end is no matter of whatever we become.
            let status = match raw::fork() {
                Ok(raw::Side::Parent(_)) => 0,
                Ok(raw::Side::Child) => i32::from(look_after(program, deadline).is_err()),
                Err(_) => 1,
            };
            raw::leave_at_once(status)
        }
    }
}

fn look_after(program: Program, deadline: Duration) -> io::Result<()> {
    nix::unistd::setsid()?;
    nix::unistd::chdir("/")?;
    let mut command = command(program)?;
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mask = nix::sys::signal::SigSet::empty();
    let start = ChildStart { mask, foreground_of: None, given: [true; 3], script: None };
    raw::before_exec(&mut command, start);
    let child = Pid::from_raw(i32::try_from(command.spawn()?.id()).map_err(io::Error::other)?);
    close_inherited();
    let end = raw::end_of(child)?;
    let patience = PollTimeout::try_from(deadline).unwrap_or(PollTimeout::ZERO);
    if poll(&mut [PollFd::new(end.as_fd(), PollFlags::POLLIN)], patience)? == 0 {
        signal_group(child.as_raw(), Signal::SIGKILL);
    }
    Ok(())
}

/// Our caller waits until its pipes are closed by all who hold them: who looks after a program holds none.
fn close_inherited() {
    if let Ok(null) = std::fs::File::open("/dev/null") {
        let _ = nix::unistd::dup2_stdin(&null);
        let _ = nix::unistd::dup2_stdout(&null);
        let _ = nix::unistd::dup2_stderr(&null);
    }
}

/// The program as `std` starts it: path, words and environment as given.
pub(super) fn command(program: Program) -> io::Result<Command> {
    let mut command = Command::new(&program.path);
    let mut words = program.argv.into_iter();
    if let Some(name) = words.next() {
        command.arg0(name);
    }
    command.args(words).env_clear().envs(program.environment);
    if let Some(stdin) = program.stdin {
        command.stdin(Stdio::from(stdin));
    }
    Ok(command)
}

pub(super) fn ended(status: WaitStatus) -> Option<Ended> {
    match status {
        WaitStatus::Exited(_, code) => Some(Ended::Status(code)),
        WaitStatus::Signaled(_, signal, _) => Some(Ended::Signal(signal as i32)),
        _ => None,
    }
}

/// Waits for the end of a child.
pub(super) fn reap(child: i32) {
    while matches!(waitpid(Pid::from_raw(child), None), Err(Errno::EINTR)) {}
}

/// Sends a signal to a process group; one that is gone already is no error.
pub fn signal_group(group: i32, signal: Signal) {
    // 0 and 1 name our own group and everything: never a command's group.
    if group > 1 {
        let _gone = killpg(Pid::from_raw(group), signal);
    }
}

/// Whether this standard descriptor is a terminal.
#[must_use]
pub fn is_terminal(descriptor: u8) -> bool {
    use std::io::IsTerminal;
    match descriptor {
        0 => std::io::stdin().is_terminal(),
        1 => std::io::stdout().is_terminal(),
        _ => std::io::stderr().is_terminal(),
    }
}

/// A file without a name that holds these bytes, open at its start.
///
/// # Errors
/// When it cannot be made or filled.
pub fn nameless_file(bytes: &[u8]) -> io::Result<std::fs::File> {
    use std::io::{Seek, Write};
    let descriptor = nix::sys::memfd::memfd_create("gsh", nix::sys::memfd::MFdFlags::MFD_CLOEXEC)?;
    let mut file = std::fs::File::from(descriptor);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}
