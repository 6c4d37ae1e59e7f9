//! How a job is reached once its caller has gone on: its terminal and its input are handed out at a door.

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;

use nix::sys::signal::Signal;

use super::news::Told;
use super::supervisor::Supervisor;
use crate::sys::door;

/// What one may want of a job.
pub(in crate::run) const TERMINAL: &[u8] = b"a";
pub(in crate::run) const INPUT: &[u8] = b"i";
pub(in crate::run) const END_OF_INPUT: &[u8] = b"e";

impl Supervisor<'_> {
    /// Somebody knocks.
    pub(super) fn on_door(&mut self) {
        let Some(Ok(visitor)) = self.door.as_ref().map(door::Door::accept) else { return };
        // Who goes away again wanted nothing.
        if let Ok((word, given)) = door::hear(&visitor, 1) {
            self.on_visitor(visitor, &word, given);
        }
    }

    fn on_visitor(&mut self, visitor: UnixStream, word: &[u8], given: Option<OwnedFd>) {
        let main = self.main.pid;
        let said = match (word, &mut self.terminal) {
            (TERMINAL, Some(terminal)) => return terminal.seat(visitor, given, main),
            (INPUT, Some(terminal)) if terminal.takes_input => {
                door::say(&visitor, b"y", Some(terminal.leader().as_fd()))
            }
            (INPUT, None) if self.input.is_some() => {
                door::say(&visitor, b"y", self.input.as_ref().map(OwnedFd::as_fd))
            }
            (END_OF_INPUT, None) if self.input.is_some() => {
                self.input = None;
                door::say(&visitor, b"y", None)
            }
            _ => door::say(&visitor, b"n", None),
        };
        let _gone = said;
    }

    /// Whoever sits at the job's terminal has a word for us, or is gone.
    pub(super) fn on_guest(&mut self) {
        let Some(terminal) = &mut self.terminal else { return };
        let mut bytes = [0; 16];
        let read = match terminal.guest() {
            Some(mut guest) => guest.read(&mut bytes),
            None => return,
        };
        let told: Vec<Told> = match read {
            Ok(length) if length > 0 => {
                bytes.iter().take(length).map(|byte| Told::from_byte(*byte)).collect()
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return,
            _ => return self.guest_is_gone(false),
        };
        for each in told {
            match each {
                Told::Left => return self.guest_is_gone(true),
                Told::Signal { signal, .. } if i32::from(signal) == Signal::SIGCONT as i32 => {
                    if let Some(terminal) = &mut self.terminal {
                        terminal.go_on(self.main.pid);
                    }
                }
                Told::Signal { .. } | Told::Shows(_) | Told::HungUp => {}
            }
        }
    }

    fn guest_is_gone(&mut self, with_a_word: bool) {
        if let Some(terminal) = &mut self.terminal {
            terminal.free(with_a_word);
        }
        // The guest has added to it, and may have begun it anew.
        if let Some((jobs, job)) = &self.job {
            self.log = jobs.reopen(job.id).ok();
        }
    }
}
