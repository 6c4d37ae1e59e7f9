//! What is asked, by whom, and through which entry.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// One text to decide, with all that changes how bash would read it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The text exactly as given; the bytes that are decided are the bytes that run.
    pub text: Vec<u8>,
    /// The directory it would start in, absolute.
    pub cwd: PathBuf,
    /// `$0` of the text, if the caller gave one.
    pub name: Option<String>,
    /// `$1` and on.
    pub args: Vec<String>,
    /// Shell options that change how the text is read.
    pub options: ReadingOptions,
    /// How the text came in.
    pub entry: Entry,
    /// What is already so in the shell when the text begins.
    pub setting: Setting,
    /// The tool that is to be used, where the request is no shell text but one of an agent's other tools: the
    /// text then only tells of it.
    pub tool: Option<Tool>,
}

/// What a shell was told before the text that is decided, by a caller that gsh knows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Setting {
    /// Definitions of functions and variables, as text: those that the text may come to use.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub prelude: String,
    /// The text is no command of anybody: it is what the caller itself runs to look around when it starts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub starts: bool,
    /// Why the shell that is to run the text may take it otherwise than bash would; empty where it does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doubt: String,
}

/// A use of an agent's tool, as its hook tells of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// Its name, as the agent writes it.
    pub name: String,
    /// What it would do. Empty for what is the agent's own affair: its list of tasks, a question to its user.
    pub acts: Vec<Act>,
    /// What it is given, for a person who is asked: written nowhere else.
    #[serde(skip)]
    pub input: String,
}

/// One thing that a tool does. Paths are as the agent gave them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// Reads a file.
    Read(String),
    /// Looks at the names in a folder.
    List(String),
    /// Searches below a folder, or in a file.
    Search(String),
    /// Writes a file anew.
    Write {
        /// Where.
        path: String,
        /// What will stand there.
        #[serde(skip)]
        content: String,
    },
    /// Changes parts of a file.
    Edit {
        /// Where.
        path: String,
        /// What stands there, and what is to stand in its place.
        #[serde(skip)]
        parts: Vec<(String, String)>,
    },
    /// Deletes a file.
    Delete(String),
    /// Gives a file another place.
    Move {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// Fetches what is behind an address.
    Fetch(String),
    /// Asks the agent's own search service.
    Query(String),
    /// Something that gsh has no table for: what rules match.
    Use(String),
    /// The same, where nobody is asked unless a rule names it.
    Mention(String),
}

impl Request {
    /// What a shell would run: nothing where the text only tells of a tool.
    #[must_use]
    pub fn script(&self) -> &[u8] {
        if self.tool.is_some() { &[] } else { &self.text }
    }

    /// The text; empty when it is not UTF-8, and then nothing of it is understood.
    #[must_use]
    pub fn as_text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
}

/// The options of a call that change what its text means. Everything else a caller
/// passes to bash is carried unread to bash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadingOptions {
    /// `-i`: aliases may be on and start-up files define functions.
    pub interactive: bool,
    /// `-O lastpipe` and the like: the same text may do something else.
    pub shopt: bool,
    /// `-O nullglob`, `-k`, `+B`: the text does the same, to other words.
    pub expansion: bool,
    /// `-o posix`, `--posix`.
    pub posix: bool,
    /// `-x`: `PS4` is expanded before every command; one that expands to anything never reaches the shell.
    pub xtrace: bool,
    /// `-n`: the text is read and nothing runs.
    pub noexec: bool,
    /// It is started as a job, which nobody waits for.
    pub leaves: bool,
    /// It is sent to a job, whose command is the request's name.
    pub input: bool,
    /// That job is another session's.
    pub foreign: bool,
}

/// The door a request came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// `gsh -c TEXT`.
    Command,
    /// A script file.
    Script,
    /// A script on standard input.
    Stdin,
    /// A hook of an agent, before one of its tools is used.
    Hook,
    /// A person's own interactive shell.
    Interactive,
    /// A line typed at a person's own bash, zsh or fish, before that shell runs it.
    Typed,
    /// `gsh check`, `gsh check --batch` and `gsh explain`: decides, runs nothing.
    Check,
}

impl Entry {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Command, Self::Script, Self::Stdin, Self::Hook, Self::Interactive, Self::Typed, Self::Check];

    /// The word used in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Command => "command",
            Self::Script => "script",
            Self::Stdin => "stdin",
            Self::Hook => "hook",
            Self::Interactive => "interactive",
            Self::Typed => "typed",
            Self::Check => "check",
        }
    }
}
