//! Whose turn it is at a terminal: one question at a time, and only where its keys are meant for us.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::keys::Keys;
use super::{Answer, Help, Rival, Unavailable};
use crate::sys::agents;
use crate::sys::tty;

/// How often a waiting question looks whether it is its turn.
const LOOK_AGAIN: u16 = 50;

/// Our turn at the terminal, for as long as it is held. From the background nothing is asked: the keys
/// and the settings are those of whoever is in front, and taking its place would take its keys. While
/// we wait for our turn we may be moved there.
pub(super) fn turn(terminal: &File, keys: &Keys<'_>, help: &Help<'_>) -> Result<Turn, Unavailable> {
    in_front(terminal)?;
    let (held, waited) = lock(terminal, keys, help)?;
    if waited && let Some(answer) = (help.meanwhile)() {
        return Ok(Turn::Over(answer));
    }
    in_front(terminal)?;
    // Whoever reads keys one by one paints its own screen, and waits for keys that we would take.
    if tty::takes_keys(terminal.as_fd()) {
        return Err(Unavailable::Occupied(agents::above_us()));
    }
    Ok(Turn::Ours(held))
}

/// What came of waiting.
pub(super) enum Turn {
    /// The terminal is ours while this is held.
    Ours(Flock<File>),
    /// What was answered meanwhile answers this question too.
    Over(Answer),
}

/// Whether the keys are meant for us.
pub(super) fn in_front(terminal: &File) -> Result<(), Unavailable> {
    if tty::in_front(terminal.as_fd()) { Ok(()) } else { Err(Unavailable::Background) }
}

/// Other questions at the same terminal wait until this one is answered; says whether we had to.
fn lock(terminal: &File, keys: &Keys<'_>, help: &Help<'_>) -> Result<(Flock<File>, bool), Unavailable> {
    let mut file = terminal.try_clone()?;
    let mut told = false;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => return Ok((held, told)),
            Err((back, Errno::EINTR)) => file = back,
            Err((back, Errno::EAGAIN)) => {
                if !std::mem::replace(&mut told, true) {
                    let mut out = terminal;
                    out.write_all(b"gsh: one more question waits until this one is answered\n")?;
                }
                keys.pause(LOOK_AGAIN)?;
                if help.rival.is_some_and(Rival::settles) {
                    return Err(Unavailable::Overtaken);
                }
                file = back;
            }
            Err((_, error)) => return Err(io::Error::from(error).into()),
        }
    }
}
