//! An agent's own text around the command of its model: recognised by its structure, to the last byte, and only
//! where the agent itself is known to be the caller.
//!
//! What recognition gives is small: the model's command is judged, shown and recorded as the command that it is,
//! and the agent's own acts around it (reading its snapshot of the user's shell, noting the directory) raise no
//! question. What runs is the whole text. Whoever types the same text by hand gets it analysed like any other.
//!
//! A file here is the grammar of one agent. What none of them knows is analysed as it stands, and the record says
//! so where the caller is an agent that has an envelope: it may have changed with an update.
#![forbid(clippy::disallowed_methods)]

mod claude;
mod codex;
mod copilot;
mod editor;
mod files;
mod gemini;
mod opencode;
mod openhands;
mod scan;
mod snapshot;
mod starting;
mod swe_rex;
mod zed;

use std::path::PathBuf;

use crate::host::{Host, Starter};
use crate::request::{Entry, Request, Setting};
use crate::syntax;

/// A request with its envelope, if it has one.
#[derive(Debug, Clone)]
pub struct Opened {
    /// What is judged, shown and recorded: the command inside, or the request as it came.
    pub request: Request,
    /// What was found around it.
    pub mark: Mark,
    /// The `PATH` that the command has, where the envelope gives it another one.
    pub path: Option<String>,
    /// The shell that the text starts anew, in its own place.
    pub again: Option<Again>,
}

/// A shell that is started with `-c`, a text and maybe words behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Again {
    /// Its path.
    pub shell: PathBuf,
    /// The text that it is given, and then `$0`, `$1` and on.
    pub given: Vec<String>,
}

impl Opened {
    fn bare(request: Request) -> Self {
        Self { request, mark: Mark::None, path: None, again: None }
    }
}

/// What is around a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Mark {
    /// Nothing that gsh knows of.
    #[default]
    None,
    /// The text of this agent.
    Known {
        /// The agent.
        agent: String,
        /// Its version, where it tells.
        version: Option<String>,
        /// What the text is for.
        part: Part,
        /// The whole text.
        whole: Vec<u8>,
    },
    /// This agent started us, and puts its commands into an envelope, and this is none that gsh knows.
    Unrecognised {
        /// The agent.
        agent: String,
        /// Its version, where it tells.
        version: Option<String>,
    },
}

/// What an agent's text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// It runs a command of the model.
    Command,
    /// It looks around when the agent starts: no command of anybody is in it.
    Start,
}

impl Part {
    /// The word used in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Start => "start",
        }
    }
}

/// What the readers of envelopes look at.
struct View<'a> {
    text: &'a str,
    request: &'a Request,
    /// The shell's options as given.
    options: &'a [&'a str],
    host: &'a dyn Host,
    starter: &'a Starter,
}

/// What a reader found.
#[derive(Debug, Default)]
struct Inside {
    /// The command; None where the text only looks around.
    command: Option<String>,
    /// What the envelope defines before it.
    prelude: String,
    /// A `shopt` of the envelope changes how the command is read.
    shopt: bool,
    /// The `PATH` that the command has.
    path: Option<String>,
    /// `$0`, `$1` and on, as the command has them.
    words: Vec<String>,
    /// The shell that is started for it.
    again: Option<Again>,
}

impl Inside {
    fn command(text: impl Into<String>) -> Self {
        Self { command: Some(text.into()), ..Self::default() }
    }

    fn start() -> Self {
        Self::default()
    }
}

/// Looks for an envelope around a request, which came with these options of the shell.
#[must_use]
pub fn open(request: Request, options: &[&str], host: &dyn Host) -> Opened {
    let starter = host.starter().filter(|_| request.entry == Entry::Command && !is_replaced(host));
    let (Some(starter), Ok(text)) = (starter, std::str::from_utf8(&request.text)) else {
        return Opened::bare(request);
    };
    let view = View { text, request: &request, options, host, starter: &starter };
    let agent = starter.agent.clone();
    match read(&view) {
        Some(inside) => opened(&request, agent, inside, host),
        None if encloses(&view) => {
            let version = version(&agent, host);
            Opened { mark: Mark::Unrecognised { agent, version }, ..Opened::bare(request) }
        }
        None => Opened::bare(request),
    }
}

/// Names that envelopes call. A function that comes with the environment takes the place of a builtin.
const CALLED: [&str; 20] = [
    ".", ":", "[", "builtin", "cd", "command", "echo", "eval", "exec", "exit", "export", "jobs", "pwd",
    "set", "shopt", "source", "trap", "true", "unalias", "unset",
];

fn is_replaced(host: &dyn Host) -> bool {
    CALLED.iter().any(|name| host.var(&format!("BASH_FUNC_{name}%%")).is_some())
}

fn read(view: &View<'_>) -> Option<Inside> {
    match view.starter.agent.as_str() {
        "claude" => claude::read(view),
        "codex" => codex::read(view),
        "copilot" => copilot::read(view),
        "editor" => editor::read(view),
        "gemini" => gemini::read(view),
        "opencode" => opencode::read(view),
        "openhands" => openhands::read(view),
        "swe-agent" => swe_rex::read(view),
        "zed" => zed::read(view),
        _ => None,
    }
}

/// Whether this agent never sends a command, or this text, without an envelope: then one that is not known has
/// changed. Those that send most commands bare are told by a word of their own.
fn encloses(view: &View<'_>) -> bool {
    let has = |words: &[&str]| words.iter().any(|word| view.text.contains(word));
    match view.starter.agent.as_str() {
        "claude" | "gemini" | "zed" => true,
        "codex" => has(&["__CODEX_", "/shell_snapshots/", "# Snapshot file"]),
        "copilot" => copilot::seems(view),
        "editor" => has(&["process.env"]),
        "opencode" => view.request.name.as_deref() == Some("opencode") || has(&["__oc_"]),
        "openhands" => has(&["PS1JSON", "PROMPT_COMMAND="]),
        "swe-agent" => has(&["EXITCODE", "SHELLPS1PREFIX"]),
        _ => false,
    }
}

fn opened(request: &Request, agent: String, inside: Inside, host: &dyn Host) -> Opened {
    let part = if inside.command.is_some() { Part::Command } else { Part::Start };
    let version = version(&agent, host);
    let mark = Mark::Known { agent, version, part, whole: request.text.clone() };
    let mut options = request.options;
    options.shopt |= inside.shopt;
    let starts = part == Part::Start;
    let setting = Setting { prelude: inside.prelude, starts, ..Setting::default() };
    let text = inside.command.map_or_else(|| request.text.clone(), String::into_bytes);
    // Whoever is in an envelope is told nothing of the words that the envelope was called with.
    let mut words = inside.words.into_iter();
    let (name, args) = (words.next(), words.collect());
    let request = Request { text, options, setting, name, args, ..request.clone() };
    Opened { request, mark, path: inside.path, again: inside.again }
}

/// The version of an agent, as it tells it to its commands.
fn version(agent: &str, host: &dyn Host) -> Option<String> {
    let told = match agent {
        "codex" => host.var("CODEX_VERSION")?,
        // `NAME_1-2-3_KIND`.
        _ => host.var("AI_AGENT")?.split('_').nth(1)?.replace('-', "."),
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    (!told.is_empty() && told.len() <= 32 && told.chars().all(plain)).then_some(told)
}

/// Whether a command that stands bare between an envelope's lines is whole by itself: then it ends where the
/// envelope goes on, and nothing of the envelope is part of it.
fn is_whole(command: &str, view: &View<'_>) -> bool {
    let limits = syntax::Limits::default();
    !view.text.contains('\0') && syntax::parse(command.as_bytes(), &limits).problems.is_empty()
}
