//! A command on a pseudo-terminal of its own, relayed to the person's; and sitting down at a job's.
//!
//! The supervisor leads the session of the new terminal and holds its leader end; so do we, while we sit
//! there. One at a time reads it: we do until the supervisor asks for it, or until we are gone.

pub(super) mod picture;
mod relay;
mod typed;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use nix::sys::signal::Signal;

use self::picture::Picture;
use self::relay::{Before, End, Ends, Relay, Role};
use super::supervise::{self, Line, Place, Watch, Watched, reach};
use crate::store::jobs::{Jobs, old};
use crate::sys::door;
use crate::sys::process::{self, Program};
use crate::sys::signal::Listening;
use crate::sys::tty::{Guarded, Leader};

/// So much of what a job wrote before is shown to whoever sits down at it.
const SHOWN: u64 = 2048;

/// Runs the program on a new terminal.
///
/// # Errors
/// When there is no terminal to be had, the program cannot be started (the error of exec), or its
/// supervisor was killed.
pub fn run(program: Program, watch: Watch) -> io::Result<Watched> {
    let (input, output) = (io::stdin(), io::stdout());
    let ends = Ends { input: process::is_terminal(0).then(|| input.as_fd()), output: output.as_fd() };
    let writes_plainly = !process::is_terminal(1);
    // What is no terminal of the caller's stays what it is, but for the output that is asked for.
    let replaces = [process::is_terminal(0), true, process::is_terminal(2)];
    run_between((program, watch), ends, (replaces, writes_plainly))
}

/// Starts the program on a terminal where nobody sits yet.
///
/// # Errors
/// As [`run`].
pub fn start(program: Program, watch: Watch) -> io::Result<Watched> {
    let (leader, follower) = Leader::open(None)?;
    let place = Place { leader, follower, replaces: [true; 3], guarded: None };
    supervise::run_at((program, watch), Some(place))
}

fn run_between(
    (program, watch): (Program, Watch),
    ends: Ends<'_>,
    (replaces, writes_plainly): ([bool; 3], bool),
) -> io::Result<Watched> {
    let limit = watch.limit;
    let listening = Listening::with_stops()?;
    let (leader, follower) = Leader::open(ends.input)?;
    if writes_plainly {
        Leader::write_plainly(&follower)?;
    }
    let guarded = ends.input.and_then(|input| Guarded::new(input.try_clone_to_owned().ok()?).ok());
    let ours = Leader::from(leader.as_fd().try_clone_to_owned()?);
    let place = Place { leader, follower, replaces, guarded };
    // From here on only the supervisor holds the follower end, and only until the command has it.
    let Line { supervisor, events } = supervise::begin((program, watch), &listening, true, Some(place))?;
    let relay = Relay::new(ends, ours, (events, listening), (Role::Caller, Before::default()));
    match relay.run()? {
        End::Told(news) => supervise::finish(news, (supervisor, true), limit),
        _ => Err(supervise::lost(supervisor)),
    }
}

/// How one left a job's terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// By the key; it goes on.
    Key,
    /// It was stopped there.
    Stopped,
    /// It is over, or its supervisor is gone.
    Over,
    /// By a signal, or since the person's terminal was closed; it goes on.
    Signal(i32),
}

impl Left {
    /// The word for programs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Stopped => "stopped",
            Self::Over => "over",
            Self::Signal(_) => "signal",
        }
    }
}

/// Why one cannot sit down.
#[derive(Debug, thiserror::Error)]
pub enum NotSeated {
    /// Somebody else sits there.
    #[error("process {0} sits there; one at a time")]
    Taken(i32),
    /// There is no terminal, or no input of that kind.
    #[error("it has no terminal, or no input that could be sent something")]
    None,
    /// A terminal's input has no end.
    #[error(
        "its input is a terminal and has no end; the key ^D tells of one: send it $'\\x04' with --no-newline"
    )]
    NoEnd,
    /// Its supervisor cannot be reached.
    #[error("its supervisor cannot be reached: {0}")]
    Io(#[from] io::Error),
}

/// Sits down at a job's terminal, from ours, until one leaves.
///
/// # Errors
/// When one cannot sit down there.
pub fn attach(jobs: &Jobs, id: u32, greeting: &str) -> Result<Left, NotSeated> {
    let (input, output) = (io::stdin(), io::stdout());
    let line = door::knock(&jobs.door(id))?;
    door::say(&line, reach::TERMINAL, Some(input.as_fd()))?;
    let leader = match door::hear(&line, 5)? {
        (word, Some(leader)) if word == b"y" => Leader::from(leader),
        (word, _) if word.starts_with(b"b") => {
            let pid = word.get(1..).and_then(|pid| pid.try_into().ok()).map_or(0, i32::from_le_bytes);
            return Err(NotSeated::Taken(pid));
        }
        _ => return Err(NotSeated::None),
    };
    let listening = Listening::with_stops().map_err(io::Error::from)?;
    eprintln!("{greeting}");
    let before = shown_before(&jobs.log(id))?;
    let ends = Ends { input: Some(input.as_fd()), output: output.as_fd() };
    leader.resize_like(input.as_fd());
    // What paints a whole screen paints it anew, also where the size is as it was.
    if let Some(group) = leader.front() {
        process::signal_group(group, Signal::SIGWINCH);
    }
    let role = Role::Guest(jobs.reopen(id).ok());
    let end = Relay::new(ends, leader, (line, listening), (role, before)).run()?;
    Ok(match end {
        End::Key => Left::Key,
        End::Stopped => Left::Stopped,
        End::Signal(signal) => Left::Signal(signal as i32),
        End::Told(_) | End::Gone => Left::Over,
    })
}

/// What brings our terminal to where a job's is: the last of what it wrote, where that is lines.
fn shown_before(log: &Path) -> io::Result<Before> {
    let mut picture = Picture::default();
    let mut chunk = vec![0; 64 * 1024];
    for path in [old(log), log.to_owned()] {
        let Ok(mut file) = File::open(path) else { continue };
        loop {
            let length = file.read(&mut chunk)?;
            if length == 0 {
                break;
            }
            picture.follow(chunk.get(..length).unwrap_or_default());
        }
    }
    let mut shown = picture.enter().into_bytes();
    if !picture.is_taken() {
        shown.extend(tail(log)?);
    }
    Ok(Before { picture, shown })
}

fn tail(log: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SHOWN)))?;
    let mut tail = Vec::new();
    file.take(SHOWN).read_to_end(&mut tail)?;
    // Not from the middle of a line.
    let whole =
        if length > SHOWN { tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1) } else { 0 };
    Ok(tail.split_off(whole))
}

/// The end that a job reads from.
///
/// # Errors
/// When it has none of ours, or its supervisor cannot be reached.
pub fn input(jobs: &Jobs, id: u32) -> Result<OwnedFd, NotSeated> {
    match asked(jobs, id, reach::INPUT)? {
        (word, Some(input)) if word == b"y" => Ok(input),
        _ => Err(NotSeated::None),
    }
}

/// Tells a job that nothing more comes.
///
/// # Errors
/// As [`input`]; a terminal has no such end.
pub fn end_input(jobs: &Jobs, id: u32) -> Result<(), NotSeated> {
    let (word, _) = asked(jobs, id, reach::END_OF_INPUT)?;
    if word == b"y" { Ok(()) } else { Err(NotSeated::NoEnd) }
}

fn asked(jobs: &Jobs, id: u32, what: &[u8]) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let line = door::knock(&jobs.door(id))?;
    door::say(&line, what, None)?;
    door::hear(&line, 5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::process::Ended;

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
        let ends = Ends { input: None, output: file.as_fd() };
        let replaces = ([false, true, true], !output_is_terminal);
        let ended = run_between((program, Watch::default()), ends, replaces).ok()?.ended;
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
        let ends = Ends { input: None, output: null.as_fd() };
        let error = run_between((program, Watch::default()), ends, ([true; 3], true)).err();
        assert_eq!(error.map(|error| error.kind()), Some(io::ErrorKind::NotFound));
    }
}
