//! What a helper of ours says on a pipe: within its time, no longer than it may be, and never after we are told to
//! end.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::Pid;

use super::child::{Piped, aside, keep_only, start_piped, wait_for};
use super::process::{Ended, Program, signal_group};
use super::signal::Listening;
use super::{raw, tree};

/// How long and how much.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// When it must be done.
    pub until: Instant,
    /// So many bytes are taken.
    pub most: usize,
}

impl Bounds {
    /// What is left of the time.
    #[must_use]
    pub fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

/// What came of it. In every case nothing of the helper is left running.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It said this and ended so; None where its end could not be told.
    Said(Vec<u8>, Option<Ended>),
    /// It was not done in time.
    Late,
    /// It said too much.
    TooMuch,
    /// This signal was meant to end us.
    Cancelled(i32),
}

/// Runs a program and hears its standard output. Its standard error goes nowhere.
///
/// # Errors
/// The error of exec itself, or of what comes before it.
pub fn of_program(program: Program, bounds: Bounds) -> io::Result<Answer> {
    let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
    let nothing = std::fs::OpenOptions::new().write(true).open("/dev/null")?;
    let listening = listening()?;
    let outputs = [Some(write), Some(nothing.into())];
    let child = start_piped(program, Piped { outputs, own_group: true, mask: SigSet::empty() })?;
    let helper = Helper::new(child, true, read, bounds)?;
    helper.hear_with(&listening)
}

/// Does something in a process of its own and hears what it writes: whatever goes wrong there, a crash or a wait
/// without end, is not ours.
///
/// # Errors
/// When there is no pipe or process for it.
pub fn of_own(act: impl FnOnce(File), bounds: Bounds) -> io::Result<Answer> {
    let listening = listening()?;
    Helper::alone(act, Signal::SIGKILL, bounds)?.hear_with(&listening)
}

/// A helper at work. Dropped, it is ended with all that it started.
#[derive(Debug)]
pub struct Helper {
    child: i32,
    leads_group: bool,
    end: OwnedFd,
    source: Option<File>,
    bounds: Bounds,
    waited: bool,
}

impl Helper {
    /// Does something in a process of its own, which may start programs: what it leaves behind is ended with it, and
    /// it hears by a signal that we are gone, whatever ended us.
    ///
    /// # Errors
    /// When there is no pipe or process for it.
    pub fn own(act: impl FnOnce(File), bounds: Bounds) -> io::Result<Self> {
        let keeping = move |file: File| {
            // Without that, what detaches itself is not found again.
            let _found_all_the_same = tree::adopt_orphans();
            act(file);
            tree::kill_below(&[nix::unistd::getpid().as_raw()]);
        };
        Self::alone(keeping, Signal::SIGTERM, bounds)
    }

    fn alone(act: impl FnOnce(File), when_we_end: Signal, bounds: Bounds) -> io::Result<Self> {
        let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
        let parent = nix::unistd::getpid();
        let child = aside(move || {
            // Who cannot be tied to us must not be left behind.
            if raw::die_with(parent, when_we_end).is_ok() {
                keep_only(&[write.as_raw_fd()]);
                act(File::from(write));
            }
        })?;
        Self::new(child, false, read, bounds)
    }

    fn new(child: i32, leads_group: bool, read: OwnedFd, bounds: Bounds) -> io::Result<Self> {
        let end = raw::end_of(Pid::from_raw(child)).inspect_err(|_| {
            tree::kill_with(&[child]);
            let _ended = wait_for(child);
        })?;
        Ok(Self { child, leads_group, end, source: Some(File::from(read)), bounds, waited: false })
    }

    /// Hears it out.
    ///
    /// # Errors
    /// When it cannot be heard.
    pub fn hear(self) -> io::Result<Answer> {
        let listening = listening()?;
        self.hear_with(&listening)
    }

    fn hear_with(mut self, listening: &Listening) -> io::Result<Answer> {
        let heard = hear(&mut self.source, &self.end, listening, self.bounds);
        let ended = self.finish();
        Ok(match heard? {
            Answer::Said(bytes, Some(_)) => Answer::Said(bytes, ended),
            other => other,
        })
    }

    /// Ends it with all that it started, and takes its end.
    fn finish(&mut self) -> Option<Ended> {
        self.waited = true;
        tree::kill_with(&[self.child]);
        if self.leads_group {
            signal_group(self.child, Signal::SIGKILL);
        }
        wait_for(self.child)
    }

    /// Readable from its end on.
    ///
    /// # Errors
    /// When there are no more descriptors.
    pub fn end(&self) -> io::Result<OwnedFd> {
        self.end.try_clone()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        if !self.waited {
            self.finish();
        }
    }
}

/// Does something behind us, in a process that is nobody's: it holds nothing of ours and outlives us. It must come to
/// an end by itself.
///
/// # Errors
/// When no process can be made.
pub fn behind(act: impl FnOnce()) -> io::Result<()> {
    let between = aside(move || {
        let _second = aside(|| {
            let alone = super::child::lead_session().and_then(|()| super::child::release_standard());
            if alone.is_ok() {
                keep_only(&[]);
                act();
            }
        });
    })?;
    let _ended = wait_for(between);
    Ok(())
}

fn listening() -> io::Result<Listening> {
    // A caller that ignores SIGCHLD would make every wait fail.
    raw::default_action(Signal::SIGCHLD)?;
    Ok(Listening::to_endings()?)
}

/// What there is to see.
enum Ready {
    /// Nothing came in time.
    Nothing,
    /// We were told to end.
    Told,
    /// It said more, or closed its end.
    Speaks,
    /// It has ended, and said all that it had to.
    Ended,
}

/// Hears until it has ended and all of it is here.
fn hear(
    source: &mut Option<File>,
    end: &OwnedFd,
    listening: &Listening,
    bounds: Bounds,
) -> io::Result<Answer> {
    let mut bytes = Vec::new();
    loop {
        match wait(source.as_ref(), end, listening, bounds)? {
            Ready::Nothing => return Ok(Answer::Late),
            Ready::Told => {
                if let Some(heard) = listening.next()? {
                    return Ok(Answer::Cancelled(heard.signal as i32));
                }
            }
            Ready::Speaks => {
                let mut piece = [0; 16 * 1024];
                let count = source.as_mut().map_or(Ok(0), |open| open.read(&mut piece))?;
                bytes.extend(piece.iter().take(count));
                if count == 0 {
                    *source = None;
                }
                if bytes.len() > bounds.most {
                    return Ok(Answer::TooMuch);
                }
            }
            // What it left behind may hold the pipe for ever: there is nothing to hear from it.
            Ready::Ended => return Ok(Answer::Said(bytes, Some(Ended::Status(0)))),
        }
    }
}

fn wait(source: Option<&File>, end: &OwnedFd, listening: &Listening, bounds: Bounds) -> io::Result<Ready> {
    let descriptors = [Some(listening.as_fd()), source.map(AsFd::as_fd), Some(end.as_fd())];
    let kinds = [Ready::Told, Ready::Speaks, Ready::Ended];
    loop {
        let open = descriptors.iter().flatten();
        let mut polled: Vec<PollFd<'_>> = open.map(|each| PollFd::new(*each, PollFlags::POLLIN)).collect();
        let patience = PollTimeout::try_from(bounds.left()).unwrap_or(PollTimeout::MAX);
        match poll(&mut polled, patience) {
            Ok(0) => return Ok(Ready::Nothing),
            Ok(_) => {
                let shown = kinds.into_iter().zip(&descriptors).filter(|(_, each)| each.is_some());
                let mut ready = shown.zip(&polled).filter(|(_, each)| each.any().unwrap_or_default());
                return Ok(ready.next().map_or(Ready::Nothing, |((kind, _), _)| kind));
            }
            Err(nix::errno::Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn bounds(milliseconds: u64) -> Bounds {
        Bounds { until: Instant::now() + Duration::from_millis(milliseconds), most: 1000 }
    }

    fn shell(text: &str, milliseconds: u64) -> Answer {
        let argv = ["sh", "-c", text].map(Into::into).to_vec();
        let environment = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let stdin = super::super::process::nameless_file(b"hello").expect("a file").into();
        let program = Program { path: "/bin/sh".into(), argv, environment, stdin: Some(stdin), script: None };
        of_program(program, bounds(milliseconds)).expect("started")
    }

    #[test]
    fn programs_are_heard_within_their_bounds() {
        let said = |text: &str, status| Answer::Said(text.into(), Some(Ended::Status(status)));
        for (text, milliseconds, expected) in [
            ("cat; exit 3", 20_000, said("hello", 3)),
            ("sleep 600", 100, Answer::Late),
            ("exec >&-; sleep 600", 100, Answer::Late),
            ("sleep 600 & echo x", 20_000, said("x\n", 0)),
            ("while :; do echo 0123456789; done", 20_000, Answer::TooMuch),
        ] {
            assert_eq!(shell(text, milliseconds), expected, "{text}");
        }
    }

    #[test]
    fn what_is_done_beside_us_is_heard_and_may_fail() {
        let said = of_own(|mut file| file.write_all(b"well").unwrap_or_default(), bounds(20_000));
        assert_eq!(said.expect("done"), Answer::Said(b"well".to_vec(), Some(Ended::Status(0))));
        let stuck = of_own(|_file| std::thread::sleep(Duration::from_secs(600)), bounds(100));
        assert_eq!(stuck.expect("done"), Answer::Late);
        let dead = of_own(|_file| std::process::abort(), bounds(20_000));
        assert!(matches!(dead, Ok(Answer::Said(bytes, Some(Ended::Signal(_)))) if bytes.is_empty()));
    }
}
