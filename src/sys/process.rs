//! Starting programs: becoming one, or starting one and waiting.

use std::ffi::{CString, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
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
    let start =
        ChildStart { mask, foreground_of: None, given: [true; 3], on_parent_death: None, script: None };
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

/// What the process between us and a command on a terminal of its own tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The command runs, as the leader of this process group.
    Started(i32),
    /// It could not be started, for this `errno`.
    NotStarted(i32),
    /// It was stopped (`^Z`).
    Stopped(i32),
    /// It ended.
    Ended(Ended),
}

/// The bytes of one [`Event`] on its way: a letter and a number.
pub const EVENT_LENGTH: usize = 5;

impl Event {
    /// As sent.
    #[must_use]
    pub fn to_bytes(self) -> [u8; EVENT_LENGTH] {
        let (letter, number) = match self {
            Self::Started(group) => (b'g', group),
            Self::NotStarted(errno) => (b'n', errno),
            Self::Stopped(signal) => (b's', signal),
            Self::Ended(Ended::Status(code)) => (b'e', code),
            Self::Ended(Ended::Signal(signal)) => (b'k', signal),
        };
        let [a, b, c, d] = number.to_le_bytes();
        [letter, a, b, c, d]
    }

    /// As received.
    #[must_use]
    pub fn from_bytes([letter, a, b, c, d]: [u8; EVENT_LENGTH]) -> Option<Self> {
        let number = i32::from_le_bytes([a, b, c, d]);
        match letter {
            b'g' => Some(Self::Started(number)),
            b'n' => Some(Self::NotStarted(number)),
            b's' => Some(Self::Stopped(number)),
            b'e' => Some(Self::Ended(Ended::Status(number))),
            b'k' => Some(Self::Ended(Ended::Signal(number))),
            _ => None,
        }
    }
}

/// Sends a signal to a process group; one that is gone already is no error.
pub fn signal_group(group: i32, signal: Signal) {
    // 0 and 1 name our own group and everything: never a command's group.
    if group > 1 {
        let _gone = killpg(Pid::from_raw(group), signal);
    }
}

/// Starts a process that makes `follower` the controlling terminal of a session of its own, starts
/// the program there in the foreground, and reports on `events`. A process of its own is needed
/// because a session's leader cannot be stopped by `^Z`, and the command must be.
///
/// # Errors
/// When no process can be made.
pub fn start_on_terminal(program: Program, place: OnTerminal) -> io::Result<i32> {
    let parent = nix::unistd::getpid();
    match raw::fork()? {
        raw::Side::Parent(keeper) => Ok(keeper.as_raw()),
        raw::Side::Child => {
            // A killed gsh leaves nothing on a terminal that nobody sees any more: the keeper dies with
            // it, the command with the keeper, and the session's foreground is hung up.
            let tied = raw::die_with(parent, Signal::SIGKILL);
            let status = tied.and_then(|()| Keeper(place).keep(program)).map_or(1, |()| 0);
            raw::leave_at_once(status)
        }
    }
}

/// Waits for the process of [`start_on_terminal`], which ends by itself after its last event.
pub fn reap(keeper: i32) {
    while matches!(waitpid(Pid::from_raw(keeper), None), Err(Errno::EINTR)) {}
}

/// Where the program of [`start_on_terminal`] is to run.
#[derive(Debug)]
pub struct OnTerminal {
    /// The terminal.
    pub follower: OwnedFd,
    /// Where news go, and the word to go on comes from.
    pub events: std::os::unix::net::UnixStream,
    /// The signal mask the program is to have.
    pub mask: nix::sys::signal::SigSet,
    /// Descriptors of ours that must not live on in the keeper: its terminal would not be hung up, nor
    /// would it learn that we are gone.
    pub ours: Vec<std::os::fd::RawFd>,
    /// Which of the three standard descriptors become the terminal; the others stay ours.
    pub replaces: [bool; 3],
}

struct Keeper(OnTerminal);

impl Keeper {
    fn keep(mut self, program: Program) -> io::Result<()> {
        for descriptor in self.0.ours.drain(..) {
            nix::unistd::close(descriptor)?;
        }
        nix::unistd::setsid()?;
        raw::take_controlling_terminal(self.0.follower.as_fd())?;
        let child = match self.start(program) {
            Ok(child) => child,
            Err(error) => return self.tell(Event::NotStarted(error.raw_os_error().unwrap_or(0))),
        };
        self.tell(Event::Started(child.as_raw()))?;
        loop {
            match waitpid(child, Some(WaitPidFlag::WUNTRACED)) {
                Ok(WaitStatus::Stopped(_, signal)) => {
                    self.tell(Event::Stopped(signal as i32))?;
                    self.wait_for_word(child)?;
                }
                Ok(status) => {
                    if let Some(ended) = ended(status) {
                        self.take_foreground(nix::unistd::getpgrp());
                        return self.tell(Event::Ended(ended));
                    }
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn start(&self, mut program: Program) -> io::Result<Pid> {
        let script = program.script.take();
        let [input, output, errors] = self.0.replaces;
        let given = [input || program.stdin.is_some(), output, errors];
        let input = input && program.stdin.is_none();
        let end = || self.0.follower.try_clone().map(Stdio::from);
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
        let start = ChildStart {
            mask: self.0.mask,
            foreground_of: Some(self.0.follower.as_raw_fd()),
            given,
            on_parent_death: Some(Signal::SIGKILL),
            script: script.as_ref().map(StandIn::waiting),
        };
        raw::before_exec(&mut command, start);
        Ok(Pid::from_raw(i32::try_from(command.spawn()?.id()).map_err(io::Error::other)?))
    }

    /// A stopped command waits for our person to say `fg`; when gsh is gone nobody can.
    fn wait_for_word(&mut self, child: Pid) -> io::Result<()> {
        use std::io::Read;
        let mut word = [0];
        if self.0.events.read_exact(&mut word).is_err() {
            signal_group(child.as_raw(), Signal::SIGHUP);
            signal_group(child.as_raw(), Signal::SIGCONT);
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.take_foreground(child);
        signal_group(child.as_raw(), Signal::SIGCONT);
        Ok(())
    }

    /// At the end the keeper itself stands in front: what the command left in the background is then
    /// not hung up together with the terminal.
    fn take_foreground(&self, group: Pid) {
        let mut stop = nix::sys::signal::SigSet::empty();
        stop.add(Signal::SIGTTOU);
        let _blocked = stop.thread_block();
        let _in_front = nix::unistd::tcsetpgrp(&self.0.follower, group);
    }

    fn tell(&mut self, event: Event) -> io::Result<()> {
        use std::io::Write;
        self.0.events.write_all(&event.to_bytes())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_their_journey() {
        for event in [
            Event::Started(4711),
            Event::NotStarted(2),
            Event::Stopped(20),
            Event::Ended(Ended::Status(255)),
            Event::Ended(Ended::Signal(9)),
        ] {
            assert_eq!(Event::from_bytes(event.to_bytes()), Some(event));
        }
        assert_eq!(Event::from_bytes([b'?', 0, 0, 0, 0]), None);
    }
}
