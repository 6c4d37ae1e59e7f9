//! A command under supervision: its output is relayed, its limit kept, and what it leaves behind is
//! looked after.
//!
//! Two processes stand between the caller and the command:
//! - **gsh itself**, which the caller waits for: it passes signals on, and ends as the command did.
//! - the **supervisor**, its child, in a process group of its own. It starts the command, relays what
//!   comes out of its pipes, and takes over every process that loses its parent, so that none is lost.
//!   When the caller is to go on while something still runs, the supervisor lets go of everything that
//!   is the caller's and keeps what runs as a job.
//!
//! What happens when one of them is killed: without gsh the supervisor ends the whole tree; without the
//! supervisor gsh does, and says so.

mod channel;
mod events;
mod front;
pub(in crate::run) mod news;
pub(in crate::run) mod reach;
mod release;
mod start;
mod supervisor;
mod terminal;

use std::time::Duration;

pub use self::front::{Front, Step, run};
pub(in crate::run) use self::front::{Line, begin, finish, lost, run_at};
pub(in crate::run) use self::terminal::Place;
use crate::audit::{Ran, Supervised};
use crate::facts::{EffectKind, Facts};
use crate::store::calls::{Call, Calls};
use crate::store::jobs::{Jobs, Origin};
use crate::sys::pipe::Identity;
use crate::sys::process::Ended;

/// How long a command may keep its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// So long.
    pub after: Duration,
    /// The status the caller gets then.
    pub status: u8,
}

/// What a supervisor must know.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// How long the command may keep its caller.
    pub limit: Option<Limit>,
    /// The text has a `>( )`, whose output may come after the command's end.
    pub late_output: bool,
    /// Where jobs are kept; None without a home.
    pub jobs: Option<Jobs>,
    /// What the job's record says of its origin.
    pub origin: Origin,
    /// The call, as those beneath it must know it, and where that is kept.
    pub call: Option<(Calls, Call)>,
    /// It is a job from its start.
    pub start: Option<Start>,
}

/// A command that is started as a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// On a terminal that one can sit down at.
    pub pty: bool,
    /// What it is called.
    pub name: Option<String>,
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// How the command ended, or how its caller is told that it has not.
    pub ended: Ended,
    /// It outlived its limit.
    pub limited: bool,
    /// The job that goes on.
    pub job: Option<u32>,
    /// How much was relayed of standard output and error.
    pub bytes: [u64; 2],
    /// The command's first process.
    pub process: Ran,
}

/// Whether a process of this name is a supervisor.
#[must_use]
pub fn is_supervisor(name: &str) -> bool {
    supervisor::NAME.to_str() == Ok(name)
}

impl Watched {
    /// What the record says of it.
    #[must_use]
    pub fn supervised(&self) -> Supervised {
        let Self { bytes, limited, job, process, .. } = *self;
        Supervised { bytes, limited, job, process }
    }
}

/// Whether a command may leave something behind that its caller would wait for, or that nobody would look
/// after.
#[must_use]
pub fn may_stay(facts: &Facts) -> bool {
    let left = facts.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Background));
    let opaque = !facts.problems.is_empty() || facts.invocations.iter().any(|each| !each.explained);
    left || opaque && [1, 2].into_iter().any(|descriptor| Identity::of_standard(descriptor).is_waited_on())
}
