//! A command on a pseudo-terminal of its own, relayed to the person's.
//!
//! Between us and the command stands a keeper process, the leader of the new session: the command
//! itself is a group that `^Z` can stop. The relay is a loop over four descriptors (our terminal,
//! the leader end, the keeper's events, signals), with one method per kind of news and a `State`
//! that says what is still to come. Our terminal is in raw mode only while the command runs in the
//! foreground, and gets its settings back on every way out.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::sys::process::{self, EVENT_LENGTH, Ended, Event, OnTerminal, Program};
use crate::sys::signal::{Heard, Listening, stop_self};
use crate::sys::tty::{self, Leader, RawMode};

/// What may wait on its way in one direction.
const BUFFER: usize = 64 * 1024;
/// After the command's end, how long the leader end must be silent while somebody the command left
/// behind still holds the other end. (Where nobody does, its end is told at once.)
const SILENCE: u16 = 40;

/// Runs the program on a new terminal.
///
/// # Errors
/// When there is no terminal to be had, or the program cannot be started (the error of exec).
pub fn run(program: Program) -> io::Result<Ended> {
    let (input, output) = (io::stdin(), io::stdout());
    let ends = Ends {
        input: process::is_terminal(0).then(|| input.as_fd()),
        output: output.as_fd(),
        output_is_terminal: process::is_terminal(1),
        // What is no terminal of the caller's stays what it is, but for the output that is asked for.
        replaces: [process::is_terminal(0), true, process::is_terminal(2)],
    };
    run_between(program, ends)
}

/// Our side of the relay.
#[derive(Debug, Clone, Copy)]
struct Ends<'a> {
    /// The person's terminal; without one the command keeps our standard input.
    input: Option<BorrowedFd<'a>>,
    output: BorrowedFd<'a>,
    output_is_terminal: bool,
    replaces: [bool; 3],
}

fn run_between(program: Program, ends: Ends<'_>) -> io::Result<Ended> {
    let listening = Listening::start()?;
    let (leader, follower) = Leader::open(ends.input)?;
    if !ends.output_is_terminal {
        Leader::write_plainly(&follower)?;
    }
    let (events, theirs) = UnixStream::pair()?;
    let mut ours = vec![events.as_raw_fd(), listening.as_fd().as_raw_fd()];
    ours.extend(leader.with_fd(|leader| leader.as_raw_fd()));
    let mask = listening.mask_before();
    let place = OnTerminal { follower, events: theirs, mask, ours, replaces: ends.replaces };
    // From here on only the keeper holds the follower end: its last holder is the command's side.
    let keeper = process::start_on_terminal(program, place)?;
    events.set_nonblocking(true)?;
    let mut relay = Relay {
        ends,
        leader,
        events,
        listening,
        raw: None,
        group: 0,
        state: State::Running,
        to_command: Vec::new(),
        to_person: Vec::new(),
        event: Vec::new(),
        output_open: true,
    };
    relay.go_raw();
    let ended = relay.relay();
    relay.keep_settings();
    process::reap(keeper);
    ended
}

/// What the relay is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The command runs.
    Running,
    /// It ended; what it wrote is on its way.
    Draining(Ended),
    /// All is told.
    Done(Ended),
}

struct Relay<'a> {
    ends: Ends<'a>,
    leader: Leader,
    events: UnixStream,
    listening: Listening,
    raw: Option<RawMode<'a>>,
    /// The command's process group, once it has one.
    group: i32,
    state: State,
    to_command: Vec<u8>,
    to_person: Vec<u8>,
    /// A part of an event.
    event: Vec<u8>,
    output_open: bool,
}

/// What happened on the four descriptors.
#[derive(Debug, Clone, Copy, Default)]
struct News {
    typed: bool,
    output: bool,
    leader_takes: bool,
    person_takes: bool,
    event: bool,
    signal: bool,
}

impl Relay<'_> {
    fn relay(&mut self) -> io::Result<Ended> {
        loop {
            if let State::Done(ended) = self.state {
                return Ok(ended);
            }
            let news = self.wait()?;
            if news.signal {
                self.on_signals()?;
            }
            if news.person_takes {
                self.on_person_takes();
            }
            if news.output {
                self.on_output()?;
            }
            if news.leader_takes {
                self.on_leader_takes();
            }
            if news.typed {
                self.on_typed();
            }
            if news.event {
                self.on_event()?;
            }
            self.settle(news);
        }
    }

    fn wait(&self) -> io::Result<News> {
        let running = self.state == State::Running;
        let wants_typed = running && self.raw.is_some() && self.to_command.len() < BUFFER;
        let wants_output = self.output_open && self.to_person.len() < BUFFER;
        let patience = if running || !self.to_person.is_empty() { PollTimeout::NONE } else { SILENCE.into() };
        let when = |wanted: bool, flags: PollFlags| if wanted { flags } else { PollFlags::empty() };
        self.leader
            .with_fd(|leader| {
                let leader_flags = when(wants_output, PollFlags::POLLIN)
                    | when(running && !self.to_command.is_empty(), PollFlags::POLLOUT);
                let mut sources = vec![
                    PollFd::new(self.listening.as_fd(), PollFlags::POLLIN),
                    PollFd::new(self.events.as_fd(), when(running, PollFlags::POLLIN)),
                    PollFd::new(self.ends.output, when(!self.to_person.is_empty(), PollFlags::POLLOUT)),
                ];
                // A descriptor with no wish is left out: its hang-up would be reported for ever.
                if !leader_flags.is_empty() {
                    sources.push(PollFd::new(leader, leader_flags));
                }
                let leader_at = (!leader_flags.is_empty()).then_some(3);
                let typed_at = sources.len();
                if let Some(input) = self.ends.input.filter(|_| wants_typed) {
                    sources.push(PollFd::new(input, PollFlags::POLLIN));
                }
                match poll(&mut sources, patience) {
                    Ok(_) => {}
                    Err(Errno::EINTR) => return Ok(News::default()),
                    Err(error) => return Err(error.into()),
                }
                let seen =
                    |at: usize| sources.get(at).and_then(PollFd::revents).unwrap_or(PollFlags::empty());
                let leader_seen = leader_at.map_or(PollFlags::empty(), seen);
                Ok(News {
                    signal: !seen(0).is_empty(),
                    event: running && !seen(1).is_empty(),
                    person_takes: !self.to_person.is_empty() && !seen(2).is_empty(),
                    output: wants_output && leader_seen.intersects(!PollFlags::POLLOUT),
                    leader_takes: leader_seen.contains(PollFlags::POLLOUT),
                    typed: !seen(typed_at).is_empty(),
                })
            })
            .unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// After the command's end: nothing more to read, or silence, is the end of its output.
    fn settle(&mut self, news: News) {
        if let State::Draining(ended) = self.state
            && self.to_person.is_empty()
            && (!self.output_open || !(news.output || news.person_takes || news.event || news.signal))
        {
            self.state = State::Done(ended);
        }
    }

    fn on_output(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; BUFFER];
        match self.leader.with_fd(|fd| nix::unistd::read(fd, &mut chunk)) {
            Some(Ok(0)) | Some(Err(Errno::EIO)) | None => self.output_open = false,
            Some(Ok(length)) => self.to_person.extend_from_slice(chunk.get(..length).unwrap_or_default()),
            Some(Err(Errno::EINTR | Errno::EAGAIN)) => {}
            Some(Err(error)) => return Err(error.into()),
        }
        Ok(())
    }

    fn on_person_takes(&mut self) {
        match nix::unistd::write(self.ends.output, &self.to_person) {
            Ok(length) => drop(self.to_person.drain(..length)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => {
                // Nobody reads any more: to the command this is a terminal that was hung up.
                self.to_person.clear();
                self.output_open = false;
                process::signal_group(self.group, Signal::SIGHUP);
            }
        }
    }

    fn on_typed(&mut self) {
        let Some(input) = self.ends.input else { return };
        let mut chunk = [0; 4096];
        match nix::unistd::read(input, &mut chunk) {
            Ok(0) => self.hang_up(),
            Ok(length) => self.to_command.extend_from_slice(chunk.get(..length).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(_) => self.hang_up(),
        }
    }

    /// The person's terminal is gone.
    fn hang_up(&mut self) {
        self.raw = None;
        process::signal_group(self.group, Signal::SIGHUP);
    }

    fn on_leader_takes(&mut self) {
        match self.leader.with_fd(|fd| nix::unistd::write(fd, &self.to_command)) {
            Some(Ok(length)) => drop(self.to_command.drain(..length)),
            Some(Err(Errno::EINTR | Errno::EAGAIN)) => {}
            _ => self.to_command.clear(),
        }
    }

    fn on_signals(&mut self) -> io::Result<()> {
        while let Some(Heard { signal, .. }) = self.listening.next()? {
            match signal {
                Signal::SIGWINCH => {
                    if let Some(like) = self.ends.input {
                        self.leader.resize_like(like);
                    }
                }
                Signal::SIGCHLD => {}
                // `fg` and `bg` after the command ran on behind us: look where we stand now.
                Signal::SIGCONT => self.go_raw(),
                // The command is in a session of its own: none of these has reached it yet.
                other => process::signal_group(self.group, other),
            }
        }
        Ok(())
    }

    fn on_event(&mut self) -> io::Result<()> {
        let mut chunk = [0; EVENT_LENGTH];
        let wanted = EVENT_LENGTH.saturating_sub(self.event.len());
        let length = match self.events.read(chunk.get_mut(..wanted).unwrap_or_default()) {
            Ok(0) => return Err(io::Error::other("the process that keeps the command's terminal is gone")),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        self.event.extend_from_slice(chunk.get(..length).unwrap_or_default());
        let Ok(whole) = <[u8; EVENT_LENGTH]>::try_from(self.event.as_slice()) else { return Ok(()) };
        self.event.clear();
        match Event::from_bytes(whole) {
            Some(Event::Started(group)) => self.group = group,
            Some(Event::NotStarted(errno)) => return Err(io::Error::from_raw_os_error(errno)),
            Some(Event::Stopped(_)) => self.on_stopped()?,
            Some(Event::Ended(ended)) => self.state = State::Draining(ended),
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
        Ok(())
    }

    /// The command was stopped: the person gets their own shell back until they say `fg` or `bg`.
    fn on_stopped(&mut self) -> io::Result<()> {
        while self.output_open && self.has_output()? {
            self.on_output()?;
        }
        while !self.to_person.is_empty() {
            self.on_person_takes();
        }
        self.raw = None;
        stop_self();
        self.go_raw();
        if let Some(like) = self.ends.input {
            self.leader.resize_like(like);
        }
        self.events.write_all(b"c")
    }

    fn has_output(&self) -> io::Result<bool> {
        let ready =
            self.leader.with_fd(|fd| poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], PollTimeout::ZERO));
        Ok(ready.transpose()?.is_some_and(|count| count > 0))
    }

    /// Raw mode, if there is a person's terminal and we stand in front of it.
    fn go_raw(&mut self) {
        if let Some(input) = self.ends.input
            && self.raw.is_none()
            && tty::in_front(input)
        {
            self.raw = RawMode::enter(input).ok();
        }
    }

    /// What the command did to its terminal's settings on purpose (`stty`) is done to ours.
    fn keep_settings(&mut self) {
        if let (Some(raw), Some(settings)) = (&mut self.raw, self.leader.settings()) {
            raw.give_back(settings);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Seek;

    use super::*;

    /// What a command writes on its terminal, and how it ends, with a file as our output.
    fn on_terminal(text: &str, output_is_terminal: bool) -> Option<(Ended, String)> {
        let mut file: File = tempfile::tempfile().ok()?;
        let program = Program {
            path: "/bin/bash".into(),
            argv: ["bash", "-c", text].map(Into::into).to_vec(),
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            stdin: Some(process::nameless_file(b"").ok()?.into()),
            script: None,
        };
        let ends =
            Ends { input: None, output: file.as_fd(), output_is_terminal, replaces: [false, true, true] };
        let ended = run_between(program, ends).ok()?;
        file.rewind().ok()?;
        let mut written = String::new();
        file.read_to_string(&mut written).ok()?;
        Some((ended, written))
    }

    #[test]
    fn everything_written_arrives_and_the_end_is_told() {
        let lines: String = (1..=20_000).map(|n| format!("{n}\n")).collect();
        let table = [
            ("test -t 1 && test -t 2 && echo yes; exit 7", Ended::Status(7), "yes\n"),
            ("printf x >&2", Ended::Status(0), "x"),
            ("kill -TERM $$", Ended::Signal(15), ""),
            ("for ((n = 1; n <= 20000; n++)); do echo $n; done", Ended::Status(0), lines.as_str()),
            ("(sleep 0.3 &); echo left one behind", Ended::Status(0), "left one behind\n"),
        ];
        for (text, ended, written) in table {
            assert_eq!(on_terminal(text, false), Some((ended, written.to_owned())), "{text}");
        }
        assert_eq!(on_terminal("echo x", true), Some((Ended::Status(0), "x\r\n".to_owned())));
    }

    #[test]
    fn a_missing_program_is_the_error_of_exec() {
        let program = Program {
            path: "/nonexistent".into(),
            argv: vec![],
            environment: vec![],
            stdin: None,
            script: None,
        };
        let null = File::options().write(true).open("/dev/null");
        let Ok(null) = null else { return };
        let ends = Ends { input: None, output: null.as_fd(), output_is_terminal: false, replaces: [true; 3] };
        let error = run_between(program, ends).err().map(|error| error.kind());
        assert_eq!(error, Some(io::ErrorKind::NotFound));
    }
}
