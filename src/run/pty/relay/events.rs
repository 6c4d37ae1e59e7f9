//! What the relay does on each thing that can happen.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::PollTimeout;
use nix::sys::signal::Signal;

use super::{BUFFER, End, Relay, Role, State};
use crate::run::supervise::news::{LENGTH, News, Told};
use crate::sys::signal::{Heard, stop_self};
use crate::sys::tty::{self, RawMode};

/// How long what is left behind may go on writing without a pause before it is not waited for.
const LATEST: Duration = Duration::from_secs(1);
/// The key that leaves a job's terminal: `^]`.
const LEAVES: u8 = 0x1d;
/// So often is read what was shown up to now: somebody may show more for ever.
const TURNS: usize = 64;

impl Relay<'_> {
    pub(super) fn on_output(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; BUFFER];
        match nix::unistd::read(&self.leader, &mut chunk) {
            Ok(0) | Err(Errno::EIO) => self.output_open = false,
            Ok(length) => self.on_shown(chunk.get(..length).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    fn on_shown(&mut self, shown: &[u8]) {
        self.picture.follow(shown);
        if let Role::Guest(Some(log)) = &mut self.role {
            // A full disk costs the log its lines, and not the guest their view.
            let _lost = log.add(shown);
        }
        if !self.hung_up {
            let is_raw = self.raw.is_some() || self.ends.input.is_none();
            add(&mut self.to_person, shown, is_raw);
        }
    }

    pub(super) fn on_person_takes(&mut self) {
        match nix::unistd::write(self.ends.output, &self.to_person) {
            Ok(length) => drop(self.to_person.drain(..length)),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            // Nobody reads any more: to the command this is a terminal that was closed.
            Err(_) => self.hang_up(),
        }
    }

    pub(super) fn on_typed(&mut self) {
        let Some(input) = self.ends.input else { return };
        let mut chunk = [0; 4096];
        match nix::unistd::read(input, &mut chunk) {
            Ok(length) if length > 0 => self.on_keys(chunk.get(..length).unwrap_or_default()),
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            _ => self.hang_up(),
        }
    }

    fn on_keys(&mut self, keys: &[u8]) {
        let leaves =
            keys.iter().position(|key| *key == LEAVES).filter(|_| matches!(self.role, Role::Guest(_)));
        self.to_command.extend_from_slice(keys.get(..leaves.unwrap_or(keys.len())).unwrap_or_default());
        if leaves.is_some() {
            self.on_leader_takes();
            self.state = State::Done(End::Key);
        }
    }

    /// The person's terminal is gone.
    pub(super) fn hang_up(&mut self) {
        if std::mem::replace(&mut self.hung_up, true) {
            return;
        }
        self.raw = None;
        self.to_person.clear();
        match self.role {
            Role::Caller => self.tell(Told::HungUp),
            Role::Guest(_) => self.state = State::Done(End::Signal(Signal::SIGHUP)),
        }
    }

    pub(super) fn on_leader_takes(&mut self) {
        match nix::unistd::write(&self.leader, &self.to_command) {
            Ok(length) => {
                self.typed.add(self.to_command.get(..length).unwrap_or_default());
                self.to_command.drain(..length);
            }
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            _ => self.to_command.clear(),
        }
    }

    pub(super) fn on_signals(&mut self) -> io::Result<()> {
        while let Some(Heard { signal, .. }) = self.listening.next()? {
            match (signal, &self.role) {
                (Signal::SIGWINCH, _) => {
                    if let Some(like) = self.ends.input {
                        self.leader.resize_like(like);
                    }
                }
                (Signal::SIGCHLD, _) => {}
                // `fg` and `bg` after the command ran on behind us: look where we stand now.
                (Signal::SIGCONT, _) => self.go_raw(),
                (Signal::SIGHUP, _) if self.ends.input.is_some_and(tty::is_hung_up) => self.hang_up(),
                (other, Role::Guest(_)) => self.state = State::Done(End::Signal(other)),
                // The command is in a session of its own: none of these has reached it yet.
                (other, Role::Caller) => self.pass_on(other),
            }
        }
        Ok(())
    }

    fn pass_on(&self, signal: Signal) {
        self.tell(Told::Signal { signal: u8::try_from(signal as i32).unwrap_or(0), delivered: false });
    }

    pub(super) fn tell(&self, told: Told) {
        // A supervisor that is gone is noticed by its silence.
        let _told = (&self.line).write_all(&[told.to_byte()]);
    }

    pub(super) fn on_line(&mut self) -> io::Result<()> {
        let mut chunk = [0; LENGTH];
        let wanted = LENGTH.saturating_sub(self.message.len());
        let length = match self.line.read(chunk.get_mut(..wanted).unwrap_or_default()) {
            Ok(0) => return self.on_supervisor_gone(),
            Ok(length) => length,
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                return Ok(());
            }
            Err(_) => return self.on_supervisor_gone(),
        };
        self.message.extend_from_slice(chunk.get(..length).unwrap_or_default());
        if self.message.len() < LENGTH {
            return Ok(());
        }
        let news = News::from_bytes(&std::mem::take(&mut self.message));
        self.on_news(news.ok_or(io::ErrorKind::InvalidData)?)
    }

    fn on_news(&mut self, news: News) -> io::Result<()> {
        match news {
            News::Stopped if matches!(self.role, Role::Caller) => self.on_stopped(),
            News::Stopped => {
                self.show_the_rest()?;
                self.state = State::Done(End::Stopped);
                Ok(())
            }
            News::LetGo { ended: true } => {
                self.state = State::Draining { latest: Instant::now() + LATEST };
                Ok(())
            }
            News::LetGo { ended: false } => {
                self.show_the_rest()?;
                self.picture.modes().into_iter().for_each(|mode| self.tell(Told::Shows(mode)));
                self.leave();
                Ok(())
            }
            last @ (News::NotStarted(_) | News::Ended(..) | News::GoesOn(_)) => {
                self.state = State::Done(End::Told(last));
                Ok(())
            }
        }
    }

    fn on_supervisor_gone(&mut self) -> io::Result<()> {
        self.show_the_rest()?;
        self.state = State::Done(End::Gone);
        Ok(())
    }

    /// What was shown up to now; what is written meanwhile may go on for ever.
    fn show_the_rest(&mut self) -> io::Result<()> {
        let mut turns = 0;
        while self.output_open && turns < TURNS && tty::readable(self.leader.as_fd(), PollTimeout::ZERO)? {
            self.on_output()?;
            turns += 1;
        }
        while !self.to_person.is_empty() {
            self.on_person_takes();
        }
        Ok(())
    }

    /// The command was stopped: the person gets their own shell back until they say `fg` or `bg`.
    fn on_stopped(&mut self) -> io::Result<()> {
        self.show_the_rest()?;
        self.raw = None;
        stop_self();
        self.go_raw();
        if let Some(like) = self.ends.input {
            self.leader.resize_like(like);
        }
        self.pass_on(Signal::SIGCONT);
        Ok(())
    }

    /// Raw mode, if there is a person's terminal and we stand in front of it.
    pub(super) fn go_raw(&mut self) {
        let runs = matches!(self.state, State::Running);
        if let Some(input) = self.ends.input.filter(|_| runs && !self.hung_up)
            && self.raw.is_none()
            && tty::in_front(input)
        {
            self.raw = RawMode::enter(input).ok();
        }
    }
}

/// Adds what is shown to what goes to a person. A terminal that is not in raw mode (we run behind it) puts the
/// returns before the newlines itself.
fn add(to_person: &mut Vec<u8>, shown: &[u8], is_raw: bool) {
    if is_raw {
        return to_person.extend_from_slice(shown);
    }
    for byte in shown {
        if *byte == b'\n' && to_person.last() == Some(&b'\r') {
            to_person.pop();
        }
        to_person.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_terminal_it_puts_the_returns_there_itself() {
        let shown: [&[u8]; 3] = [b"a\r\n\r\nb\r", b"\nc\rd\n", b"\r"];
        for (is_raw, expected) in [(true, "a\r\n\r\nb\r\nc\rd\n\r"), (false, "a\n\nb\nc\rd\n\r")] {
            let mut to_person = Vec::new();
            shown.iter().for_each(|part| add(&mut to_person, part, is_raw));
            assert_eq!(String::from_utf8_lossy(&to_person), expected, "{is_raw}");
        }
    }
}
