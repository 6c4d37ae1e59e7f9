//! How a supervisor starts its command: with pipes, or on a terminal of its own.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::channel::Channel;
use super::supervisor::{Beginning, NAME};
use super::terminal::{Place, Terminal};
use crate::sys::child::{self, OnTerminal, Piped};
use crate::sys::pipe::{self, Identity};
use crate::sys::process::Program;
use crate::sys::signal::Listening;
use crate::sys::tree;

/// A command that runs, and what of it is ours.
#[derive(Debug)]
pub(super) struct Started {
    /// Its first process.
    pub(super) pid: i32,
    /// Its output.
    pub(super) channels: Vec<Channel>,
    /// Its terminal.
    pub(super) terminal: Option<Terminal>,
    /// The other end of what it reads.
    pub(super) input: Option<OwnedFd>,
}

/// Becomes what a supervisor is, and starts the command.
pub(super) fn start(beginning: &mut Beginning<'_>) -> io::Result<Started> {
    tree::adopt_orphans()?;
    child::call_itself(NAME);
    let Some(program) = beginning.program.take() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (place, listening) = (beginning.place.take(), beginning.listening);
    let started = match place {
        Some(place) => on_terminal(program, place, listening)?,
        None if beginning.watch.start.is_some() => apart(program, listening)?,
        None => piped(program, listening, beginning.own_group)?,
    };
    child::release_standard()?;
    let _where_it_is_is_its_own_affair = std::env::set_current_dir("/");
    Ok(started)
}

/// With the caller's terminal or none, and pipes where the caller has pipes.
fn piped(program: Program, listening: &Listening, own_group: bool) -> io::Result<Started> {
    let (channels, outputs) = channels()?;
    let pid = child::start_piped(program, Piped { outputs, mask: listening.mask_before(), own_group })?;
    child::lead_own_group()?;
    Ok(Started { pid, channels, terminal: None, input: None })
}

/// With nothing of the caller's: what it reads and writes are pipes of ours.
fn apart(program: Program, listening: &Listening) -> io::Result<Started> {
    // A job that was started as one never shares the terminal of whoever started it.
    child::lead_session()?;
    let (from, into) = pipe::for_output()?;
    let (reading, writing) = io::pipe()?;
    let outputs = [Some(into.try_clone()?), Some(into)];
    let program = Program { stdin: Some(reading.into()), ..program };
    let place = Piped { outputs, mask: listening.mask_before(), own_group: true };
    let pid = child::start_piped(program, place)?;
    Ok(Started { pid, channels: vec![Channel::to_log(from)], terminal: None, input: Some(writing.into()) })
}

fn on_terminal(program: Program, place: Place, listening: &Listening) -> io::Result<Started> {
    let Place { leader, follower, replaces, guarded } = place;
    child::lead_session_on(follower.as_fd())?;
    let [input, ..] = replaces;
    let takes_input = input && program.stdin.is_none();
    let mask = listening.mask_before();
    let pid = child::start_on_terminal(program, OnTerminal { follower, mask, replaces })?;
    let terminal = Some(Terminal::new(leader, guarded, takes_input));
    Ok(Started { pid, channels: Vec::new(), terminal, input: None })
}

/// Pipes for those of standard output and error whose end somebody may wait for; one for both where they
/// are the same file.
fn channels() -> io::Result<(Vec<Channel>, [Option<OwnedFd>; 2])> {
    let [output, errors] = [1, 2].map(Identity::of_standard);
    let mut channels = Vec::new();
    let mut ends = [None, None];
    if output.is_waited_on() {
        let (from, into) = pipe::for_output()?;
        channels.push(Channel::to_caller(from, child::second_standard(1)?, output.kind));
        if output == errors {
            ends = [Some(into.try_clone()?), Some(into)];
            return Ok((channels, ends));
        }
        ends[0] = Some(into);
    }
    if errors.is_waited_on() {
        let (from, into) = pipe::for_output()?;
        channels.push(Channel::to_caller(from, child::second_standard(2)?, errors.kind));
        ends[1] = Some(into);
    }
    Ok((channels, ends))
}
