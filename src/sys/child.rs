//! A process of our own beside us, and the command that it starts with its output in pipes.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout};

use super::process::{Ended, Program, command, ended};
use super::raw::{self, ChildStart};

/// How a command starts whose output is relayed.
#[derive(Debug)]
pub struct Piped {
    /// Standard output and error in place of ours; None leaves ours.
    pub outputs: [Option<OwnedFd>; 2],
    /// The signal mask it is to have.
    pub mask: SigSet,
    /// It leads a process group of its own.
    pub own_group: bool,
}

/// Does something in a process of its own, which ends with it. Nothing of ours is dropped there.
///
/// # Errors
/// When no process can be made.
pub fn aside(act: impl FnOnce()) -> io::Result<i32> {
    match raw::fork()? {
        raw::Side::Parent(child) => Ok(child.as_raw()),
        raw::Side::Child => {
            // A panic must not run on in what is a copy of its parent.
            let _told_by_the_hook = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
            raw::leave_at_once(0)
        }
    }
}

/// Starts a program with its output in pipes.
///
/// # Errors
/// The error of exec itself, or of what comes before it.
pub fn start_piped(program: Program, place: Piped) -> io::Result<i32> {
    let [output, errors] = place.outputs;
    let given = [program.stdin.is_some(), output.is_some(), errors.is_some()];
    let mut command = command(program)?;
    if let Some(output) = output {
        command.stdout(Stdio::from(output));
    }
    if let Some(errors) = errors {
        command.stderr(Stdio::from(errors));
    }
    if place.own_group {
        command.process_group(0);
    }
    let start = ChildStart { mask: place.mask, foreground_of: None, given, on_parent_death: None };
    raw::before_exec(&mut command, start);
    i32::try_from(command.spawn()?.id()).map_err(io::Error::other)
}

/// Runs a program to its end, for what it writes to standard error.
///
/// # Errors
/// When it cannot be started.
pub fn errors_of(program: Program) -> io::Result<Vec<u8>> {
    let mut command = command(program)?;
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let output = command.spawn()?.wait_with_output()?;
    Ok(output.stderr)
}

/// Waits for the end of a process of [`aside`].
#[must_use]
pub fn wait_for(child: i32) -> Option<Ended> {
    loop {
        match waitpid(Pid::from_raw(child), None) {
            Ok(status) => return ended(status),
            Err(nix::errno::Errno::EINTR) => {}
            Err(_) => return None,
        }
    }
}

/// Leaves nothing open but the standard descriptors and these. For a process of [`aside`] alone.
pub fn keep_only(descriptors: &[RawFd]) {
    raw::close_all_but(descriptors);
}

/// Lets go of the three standard descriptors: somebody may wait for their end.
///
/// # Errors
/// When there is no `/dev/null`.
pub fn release_standard() -> io::Result<()> {
    let nothing = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    Ok(dup2_stderr(&nothing)?)
}

/// A second descriptor for standard output or error, for this process alone.
///
/// # Errors
/// When it is closed, or there are no more descriptors.
pub fn second_standard(descriptor: u8) -> io::Result<OwnedFd> {
    if descriptor == 1 {
        io::stdout().as_fd().try_clone_to_owned()
    } else {
        io::stderr().as_fd().try_clone_to_owned()
    }
}

/// Whether this process has a controlling terminal.
#[must_use]
pub fn has_terminal() -> bool {
    super::tty::open(std::path::Path::new("/dev/tty")).is_ok()
}

/// A process group of its own for this process.
///
/// # Errors
/// For a session's leader.
pub fn lead_own_group() -> io::Result<()> {
    let own = Pid::from_raw(0);
    Ok(nix::unistd::setpgid(own, own)?)
}

/// The name that `ps` shows for this process.
pub fn call_itself(name: &std::ffi::CStr) {
    let _only_a_name = nix::sys::prctl::set_name(name);
}

/// Waits for the end of a process that is not ours, but no longer than so.
///
/// # Errors
/// When it is gone, or the kernel is too old to tell.
pub fn wait_for_stranger(process: i32, longest: Duration) -> io::Result<()> {
    let end = raw::end_of(Pid::from_raw(process))?;
    let patience = PollTimeout::try_from(longest).unwrap_or(PollTimeout::MAX);
    poll(&mut [PollFd::new(end.as_fd(), PollFlags::POLLIN)], patience)?;
    Ok(())
}

/// Keeps only as much memory as waiting needs.
pub fn take_little_room() {
    raw::forget_code();
}
