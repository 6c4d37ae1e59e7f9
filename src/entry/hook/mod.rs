//! An agent's hook: one event on standard input, the reply in the agent's own dialect.
//!
//! Everything that could fail (reading, deciding, asking) is done in a process of its own. Its death or delay is a
//! refusal, as is an event that is not understood.

mod acts;
mod claude;
mod cline;
mod codex;
mod command;
mod continues;
mod copilot;
mod crush;
mod cursor;
pub mod event;
mod gemini;
pub mod json;
mod judge;
mod names;
mod opencode;
mod patch;
pub mod reply;
pub mod tools;
mod windsurf;
mod words;

use std::io::Read;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::Value;

use self::event::{Event, Odd};
use self::reply::{Reply, Said};
use crate::sys::apart::{Failed, Patience, Report, apart};
use crate::sys::fault;

/// How one agent's hook speaks.
#[derive(Debug)]
pub struct Dialect {
    /// The word for the agent, as in rules and records.
    pub agent: &'static str,
    /// Reads an event.
    pub read: fn(&Value) -> Result<Event, Odd>,
    /// Says a reply.
    pub say: fn(&Event, &Reply) -> Said,
    /// So many seconds a person may take to answer elsewhere: well below what the agent gives a hook.
    pub seconds: u64,
    /// Behind which keys its shell tool reads the folder to run in.
    pub folders: &'static [&'static str],
    /// What its sub-agents do comes to the hook, too.
    pub hooks_subagents: bool,
    /// Where a `_` stands between a server's name and its tool: the agent's own tools with one in their names. Every
    /// other such name is a server's, and none that another agent has for a tool of its own.
    pub underscored: Option<&'static [&'static str]>,
}

/// Every dialect, in the order of the alphabet.
pub const DIALECTS: &[Dialect] = &[
    Dialect { folders: &["cwd"], ..dialect("amp", opencode::read, opencode::say, 100) },
    // 600 s for a hook.
    dialect("claude", claude::read, claude::say, 100),
    // Not documented.
    dialect("cline", cline::read, cline::say, 20),
    // 600 s.
    Dialect { folders: &["workdir"], ..dialect("codex", codex::read, codex::say, 100) },
    // 600 s.
    dialect("continue", continues::read, continues::say, 100),
    // 30 s.
    dialect("copilot", copilot::read, copilot::say, 20),
    // 30 s.
    Dialect {
        folders: &["working_dir"],
        hooks_subagents: false,
        ..dialect("crush", crush::read, crush::say, 20)
    },
    // Set with the hook; not documented otherwise.
    Dialect { folders: &["working_directory", "cwd"], ..dialect("cursor", cursor::read, cursor::say, 20) },
    // 60 s.
    Dialect { folders: &["dir_path", "directory"], ..dialect("gemini", gemini::read, gemini::say, 40) },
    Dialect {
        folders: &["workdir"],
        underscored: Some(&["apply_patch", "plan_enter", "plan_exit"]),
        ..dialect("opencode", opencode::read, opencode::say, 100)
    },
    // 600 s.
    Dialect { folders: &["directory"], ..dialect("qwen", claude::read, claude::say, 100) },
    // Not documented.
    dialect("windsurf", windsurf::read, windsurf::say, 20),
];

const fn dialect(
    agent: &'static str,
    read: fn(&Value) -> Result<Event, Odd>,
    say: fn(&Event, &Reply) -> Said,
    seconds: u64,
) -> Dialect {
    Dialect { agent, read, say, seconds, folders: &[], hooks_subagents: true, underscored: None }
}

/// The dialect of an agent.
#[must_use]
pub fn of(agent: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.agent == agent)
}

/// A decision takes milliseconds. What takes this long is stuck, and every agent waits longer.
const WORK: Duration = Duration::from_secs(10);
/// How long a reply may take after the last moment to answer.
const AFTERWARDS: Duration = Duration::from_secs(5);
/// A longer event is not read.
const LONGEST: u64 = 16 << 20;

/// Reads one event from standard input and replies to it.
#[must_use]
pub fn run(dialect: &Dialect) -> ExitCode {
    let patience =
        Patience { work: fault::patience(WORK), person: Duration::from_secs(dialect.seconds) + AFTERWARDS };
    let replied = apart(patience, |report| {
        let said = replied(dialect, report);
        serde_json::to_vec(&said).unwrap_or_default()
    });
    let said = replied.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|_| Failed::Died));
    let failed = |why: Failed| {
        let why = match why {
            Failed::NotMade => "no process could be made to decide in",
            Failed::Died => "deciding ended without a result",
            Failed::Late => "deciding took too long",
        };
        (dialect.say)(&Event::default(), &Reply::Failed(words::failed(why)))
    };
    said.unwrap_or_else(failed).print()
}

fn replied(dialect: &Dialect, report: &Report) -> Said {
    let event = match read(dialect) {
        Ok(event) => event,
        Err(odd) => {
            let why = words::failed(&odd.to_string());
            return (dialect.say)(&Event::default(), &Reply::Failed(why));
        }
    };
    fault::point("hook");
    (dialect.say)(&event, &judge::reply(dialect, &event, report))
}

fn read(dialect: &Dialect) -> Result<Event, Odd> {
    let mut bytes = Vec::new();
    let input = std::io::stdin().lock();
    input.take(LONGEST + 1).read_to_end(&mut bytes).map_err(|_| Odd::Unread)?;
    understood(dialect, &bytes)
}

/// The event that these bytes tell of.
///
/// # Errors
/// When they are none that this dialect has.
pub fn understood(dialect: &Dialect, bytes: &[u8]) -> Result<Event, Odd> {
    if bytes.len() as u64 > LONGEST {
        return Err(Odd::TooLong);
    }
    let value = json::value(bytes).filter(Value::is_object).ok_or(Odd::NotJson)?;
    let transcript = event::first(&value, &["transcript_path", "transcriptPath"]);
    Ok(Event { transcript, ..(dialect.read)(&value)? })
}
