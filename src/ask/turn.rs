//! Whose turn it is at a terminal: one question at a time, and only where its keys are meant for us.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use super::keys::Keys;
use super::{Unavailable, agents};
use crate::sys::tty;

/// How often a waiting question looks whether it is its turn.
const LOOK_AGAIN: u16 = 50;

/// Our turn at the terminal, for as long as it is held. From the background nothing is asked: the keys
/// and the settings are those of whoever is in front, and taking its place would take its keys. While
/// we wait for our turn we may be moved there.
pub(super) fn turn(terminal: &File, keys: &Keys<'_>) -> Result<Flock<File>, Unavailable> {
    in_front(terminal)?;
    let held = lock(terminal, keys)?;
    in_front(terminal)?;
    // Whoever reads keys one by one paints its own screen, and waits for keys that we would take.
    if tty::takes_keys(terminal.as_fd()) {
        return Err(Unavailable::Occupied(agents::above_us()));
    }
    Ok(held)
}

/// Whether the keys are meant for us.
pub(super) fn in_front(terminal: &File) -> Result<(), Unavailable> {
    if tty::in_front(terminal.as_fd()) { Ok(()) } else { Err(Unavailable::Background) }
}

/// Other questions at the same terminal wait until this one is answered.
fn lock(terminal: &File, keys: &Keys<'_>) -> Result<Flock<File>, Unavailable> {
    let mut file = terminal.try_clone()?;
    let mut told = false;
    loop {
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(held) => return Ok(held),
            Err((back, Errno::EINTR)) => file = back,
            Err((back, Errno::EAGAIN)) => {
                if !std::mem::replace(&mut told, true) {
                    let mut out = terminal;
                    out.write_all(b"gsh: one more question waits until this one is answered\n")?;
                }
                keys.pause(LOOK_AGAIN)?;
                file = back;
            }
            Err((_, error)) => return Err(io::Error::from(error).into()),
        }
    }
}
