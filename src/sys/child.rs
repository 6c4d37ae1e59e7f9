//! A process of our own beside us, and the command that it starts with its output in pipes.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, dup2_stderr, dup2_stdin, dup2_stdout};

use super::process::{Ended, Program, Words, command, ended};
use super::raw::{self, ChildStart};
use super::script::StandIn;

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

/// Starts a program with its output in pipes. The ends given to it are not ours any more then.
///
/// # Errors
/// The error of exec itself, or of what comes before it.
pub fn start_piped(mut program: Program, place: Piped) -> io::Result<i32> {
    match program.script.take() {
        Some(script) => forked(program, place, &script),
        None => spawned(&program, &place),
    }
}

/// No copy of us is made for it, as a fork would: that takes longer than all else here.
fn spawned(program: &Program, place: &Piped) -> io::Result<i32> {
    let [output, errors] = &place.outputs;
    let mut actions = PosixSpawnFileActions::init()?;
    for (standard, given) in (0..).zip([&program.stdin, output, errors]) {
        match given {
            Some(given) => actions.add_dup2(given.as_raw_fd(), standard)?,
            // It stays as it is; one that Rust opened is closed again.
            None if raw::closed_at_start(standard) => actions.add_close(standard)?,
            None => {}
        }
    }
    let mut attributes = PosixSpawnAttr::init()?;
    let mut flags = PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF;
    attributes.set_sigmask(&place.mask)?;
    attributes.set_sigdefault(&raw::not_ignored_at_start())?;
    if place.own_group {
        flags |= PosixSpawnFlags::POSIX_SPAWN_SETPGROUP;
        attributes.set_pgroup(Pid::from_raw(0))?;
    }
    attributes.set_flags(flags)?;
    let Words { path, argv, environment } = Words::of(program)?;
    Ok(posix_spawn(path.as_c_str(), &actions, &attributes, &argv, &environment)?.as_raw())
}

/// Between fork and exec the child has its script's keeper watch it.
fn forked(program: Program, place: Piped, script: &StandIn) -> io::Result<i32> {
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
    let start = ChildStart { mask: place.mask, foreground_of: None, given, script: Some(script.waiting()) };
    raw::before_exec(&mut command, start);
    i32::try_from(command.spawn()?.id()).map_err(io::Error::other)
}

/// What a program that was run to its end has left.
#[derive(Debug)]
pub struct Captured {
    /// How it ended; None when it took too long and was ended.
    pub ended: Option<Ended>,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error.
    pub stderr: Vec<u8>,
}

/// Runs a program in a group of its own, with its output in files that nobody else sees. With all of its group
/// it is ended when it takes longer than that.
///
/// # Errors
/// The error of exec itself, or of what comes before it.
pub fn capture(program: Program, deadline: Duration) -> io::Result<Captured> {
    let (output, errors) = (super::process::nameless_file(&[])?, super::process::nameless_file(&[])?);
    let outputs = [Some(output.try_clone()?.into()), Some(errors.try_clone()?.into())];
    let place = Piped { outputs, own_group: true, mask: SigSet::empty() };
    let child = start_piped(program, place)?;
    let end = raw::end_of(Pid::from_raw(child))?;
    let patience = PollTimeout::try_from(deadline).unwrap_or(PollTimeout::MAX);
    let in_time = poll(&mut [PollFd::new(end.as_fd(), PollFlags::POLLIN)], patience)? > 0;
    if !in_time {
        super::process::signal_group(child, nix::sys::signal::Signal::SIGKILL);
    }
    let ended = wait_for(child).filter(|_| in_time);
    Ok(Captured { ended, stdout: content(output)?, stderr: content(errors)? })
}

fn content(mut file: std::fs::File) -> io::Result<Vec<u8>> {
    use std::io::{Read, Seek};
    let mut bytes = vec![];
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where a command on a terminal of its own starts.
#[derive(Debug)]
pub struct OnTerminal {
    /// The terminal.
    pub follower: OwnedFd,
    /// The signal mask the command is to have.
    pub mask: SigSet,
    /// Which of the three standard descriptors become the terminal; the others stay ours.
    pub replaces: [bool; 3],
}

/// Starts a program in front of the terminal of the session that this process leads: in a group of its own,
/// since a session's leader cannot be stopped by `^Z`, and the command must be.
///
/// # Errors
/// The error of exec itself, or of what comes before it.
pub fn start_on_terminal(mut program: Program, place: OnTerminal) -> io::Result<i32> {
    let script = program.script.take();
    let [input, output, errors] = place.replaces;
    let given = [input || program.stdin.is_some(), output, errors];
    let input = input && program.stdin.is_none();
    let end = || place.follower.try_clone().map(Stdio::from);
    let mut command = command(program)?;
    if input {
        command.stdin(end()?);
    }
    if output {
        command.stdout(end()?);
    }
    if errors {
        command.stderr(end()?);
    }
    command.process_group(0);
    let foreground_of = Some(place.follower.as_raw_fd());
    let script = script.as_ref().map(StandIn::waiting);
    let start = ChildStart { mask: place.mask, foreground_of, given, script };
    raw::before_exec(&mut command, start);
    i32::try_from(command.spawn()?.id()).map_err(io::Error::other)
}

/// A session of its own for this process, without a terminal.
///
/// # Errors
/// For the leader of a process group.
pub fn lead_session() -> io::Result<()> {
    nix::unistd::setsid()?;
    Ok(())
}

/// As [`lead_session`], with this terminal as the session's.
///
/// # Errors
/// For the leader of a process group, and where the terminal is another session's.
pub fn lead_session_on(follower: BorrowedFd<'_>) -> io::Result<()> {
    lead_session()?;
    raw::take_controlling_terminal(follower)
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
