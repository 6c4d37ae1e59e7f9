//! Asking a person who sits elsewhere: the question is kept, waits for a bounded time, and is answered from
//! another terminal. Silence is never consent.

mod bound;
mod notify;
mod patience;

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

pub use self::bound::Shown;
pub use self::notify::BELL;
pub use self::patience::patience;
use super::{Answer, Panel, Question, Unavailable};
use crate::audit::DecidedBy;
use crate::policy::knobs::WithoutTerminal;
use crate::store::pending::{self, Asker, Author, Bound, Filed, Queue, QueueError, Reply, Waiter, now};
use crate::sys::proc::Process;
use crate::sys::signal::Listening;
use crate::sys::watch::Watch;

/// How often the folder is looked at where nothing tells of changes.
const LOOK: Duration = Duration::from_millis(50);
/// How often it is looked at all the same.
const LOOK_ANYWAY: Duration = Duration::from_millis(1000);

/// How long a program that was told may take to open a list of questions.
const OPENING: Duration = Duration::from_millis(1000);

/// How to ask elsewhere.
#[derive(Debug, Clone)]
pub struct Elsewhere {
    /// The user's state folder.
    pub state: PathBuf,
    /// The session.
    pub session: String,
    /// The agent, where it is known.
    pub agent: Option<String>,
    /// How long to wait.
    pub wait: Duration,
    /// How long a question is kept.
    pub keep: Duration,
    /// Whether to wait also where nobody listens.
    pub without: WithoutTerminal,
    /// Questions are switched off: only a person who listens already is asked.
    pub quiet: bool,
    /// Who is told of a new question (`[ask] notify`).
    pub notify: Vec<String>,
    /// The environment that the text would start with.
    pub environment: Vec<(std::ffi::OsString, std::ffi::OsString)>,
}

/// A person's answer from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromElsewhere {
    /// The answer.
    pub answer: Answer,
    /// The question's name.
    pub question: String,
    /// Who gave it.
    pub by: Author,
}

impl FromElsewhere {
    /// The answer, and what the record says of who gave it.
    #[must_use]
    pub fn recorded(self) -> (Answer, DecidedBy) {
        let Self { answer, question, by } = self;
        (answer, DecidedBy::PersonElsewhere { question, pid: by.pid, terminal: by.terminal })
    }
}

/// Brings the question to the queue, and waits for its answer where somebody may give one.
///
/// # Errors
/// When there is no answer: why, and under which name the question is kept.
pub fn ask(
    question: &Question<'_>,
    panel: &Panel,
    (how, here): (&Elsewhere, Unavailable),
) -> Result<FromElsewhere, Unavailable> {
    let queue = Queue::below(&how.state);
    let heard = queue.has_listener();
    if how.quiet && !heard {
        return Err(Unavailable::NonInteractive);
    }
    let bound = bound::bound(question, panel, how);
    let waits = heard || how.without == WithoutTerminal::Queue;
    let kept_nowhere =
        |error: QueueError| Unavailable::NoQueue { here: Box::new(here.clone()), why: error.to_string() };
    let filed = match file(&queue, &bound, how, waits).map_err(kept_nowhere)? {
        Filed::Waits(id) => {
            notify::tell(&how.notify, &id, &bound, &how.environment);
            if !waits && notify::may_open(&how.notify) && comes(&queue) {
                file(&queue, &bound, how, true).map_err(kept_nowhere)?
            } else {
                Filed::Waits(id)
            }
        }
        filed => filed,
    };
    let id = match filed {
        Filed::Answered(answer) => return Ok(reply(answer, &bound)),
        Filed::Waits(id) | Filed::WaitsAgain(id) => id,
    };
    if !waits && !queue.has_listener() {
        return Err(Unavailable::Kept { here: Box::new(here), question: id, waited: None });
    }
    let Some(answer) = answer(&queue, &id, &bound, how)? else {
        let waited = Some(how.wait.as_secs());
        return Err(Unavailable::Kept { here: Box::new(here), question: id, waited });
    };
    // What was shown must be what runs.
    if answer.body.reply.lets_run() && bound::bound(question, panel, how) != bound {
        return Err(Unavailable::Changed);
    }
    Ok(reply(answer, &bound))
}

/// All that an answer is bound to, as it is now: a change between question and run asks again.
#[must_use]
pub fn state(question: &Question<'_>, panel: &Panel, how: &Elsewhere) -> String {
    bound::bound(question, panel, how).digest()
}

fn file(queue: &Queue, bound: &Bound, how: &Elsewhere, waits: bool) -> Result<Filed, QueueError> {
    let asker = Asker { agent: how.agent.clone(), waiter: waits.then(|| waiter(how.wait)).flatten() };
    queue.file(asker, bound.clone(), how.keep)
}

/// Whether somebody who was told begins to listen at once.
fn comes(queue: &Queue) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < OPENING {
        if queue.has_listener() {
            return true;
        }
        std::thread::sleep(LOOK);
    }
    false
}

/// The answer, if it comes in time.
fn answer(
    queue: &Queue,
    id: &str,
    bound: &Bound,
    how: &Elsewhere,
) -> Result<Option<pending::Answer>, Unavailable> {
    let digest = bound.digest();
    let waited = wait(queue, (id, &digest), how.wait);
    if !matches!(waited, Ok(Some(_))) {
        queue.leave(id);
    }
    // Also what came in the last moment counts.
    Ok(waited?.or_else(|| queue.take(id, &digest)))
}

fn waiter(wait: Duration) -> Option<Waiter> {
    let own = Process::own()?;
    let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
    Some(Waiter { pid: own.pid, started: own.started, until: now().saturating_add(wait) })
}

fn reply(answer: pending::Answer, bound: &Bound) -> FromElsewhere {
    let question = answer.question().to_owned();
    let body = answer.body;
    let lasts = bound.lasting.takes(&body.reply);
    let answer = said(body.reply, lasts, now().saturating_sub(body.answered));
    FromElsewhere { answer, question, by: body.by }
}

/// What was said, so many milliseconds ago. What the question does not offer counts for this call alone, and
/// minutes count from the answer on: picked up late, there are fewer left.
fn said(reply: Reply, lasts: bool, ago: i64) -> Answer {
    let gone = u32::try_from(ago.max(0) / 60_000).unwrap_or(u32::MAX);
    match reply {
        Reply::Session if lasts => Answer::Session,
        Reply::Minutes(minutes) if lasts && minutes > gone => Answer::Minutes(minutes - gone),
        Reply::Once | Reply::Session | Reply::Minutes(_) => Answer::Once,
        Reply::RefusedSession { reason } if lasts => Answer::DeniedSession { reason },
        Reply::Refused { reason } | Reply::RefusedSession { reason } => Answer::Denied { reason },
    }
}

/// Waits for the answer; None when the time is over.
fn wait(
    queue: &Queue,
    (id, digest): (&str, &str),
    patience: Duration,
) -> Result<Option<pending::Answer>, Unavailable> {
    let signals = Listening::to_endings().map_err(std::io::Error::from)?;
    let watch = Watch::on(queue.folder()).ok();
    let look = if watch.is_some() { LOOK_ANYWAY } else { LOOK };
    let begun = Instant::now();
    loop {
        if let Some(answer) = queue.take(id, digest) {
            return Ok(Some(answer));
        }
        let left = patience.saturating_sub(begun.elapsed());
        if left.is_zero() {
            return Ok(None);
        }
        let mut sources = vec![PollFd::new(signals.as_fd(), PollFlags::POLLIN)];
        sources.extend(watch.as_ref().map(|watch| PollFd::new(watch.as_fd(), PollFlags::POLLIN)));
        let timeout = PollTimeout::try_from(left.min(look)).unwrap_or(PollTimeout::ZERO);
        match poll(&mut sources, timeout) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
        if let Some(heard) = signals.next().map_err(std::io::Error::from)? {
            return Err(Unavailable::Abandoned(heard.signal as i32));
        }
        if let Some(watch) = &watch {
            watch.drain();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_lasts_as_long_as_was_said_and_offered() {
        const MINUTE: i64 = 60_000;
        let reason = || Some("no".to_owned());
        let table = [
            (Reply::Once, true, 0, Answer::Once),
            (Reply::Session, true, 900 * MINUTE, Answer::Session),
            (Reply::Session, false, 0, Answer::Once),
            (Reply::Minutes(15), true, MINUTE - 1, Answer::Minutes(15)),
            (Reply::Minutes(15), true, 14 * MINUTE, Answer::Minutes(1)),
            (Reply::Minutes(15), true, 15 * MINUTE, Answer::Once),
            (Reply::Minutes(15), true, -MINUTE, Answer::Minutes(15)),
            (Reply::Minutes(15), false, 0, Answer::Once),
            (Reply::Refused { reason: reason() }, true, 0, Answer::Denied { reason: reason() }),
            (Reply::RefusedSession { reason: reason() }, true, 0, Answer::DeniedSession { reason: reason() }),
            (Reply::RefusedSession { reason: reason() }, false, 0, Answer::Denied { reason: reason() }),
        ];
        for (reply, lasts, ago, expected) in table {
            assert_eq!(said(reply.clone(), lasts, ago), expected, "{reply:?} {lasts} {ago}");
        }
    }
}
