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

impl Request {
    /// The text; empty when it is not UTF-8, and then nothing of it is understood.
    #[must_use]
    pub fn as_text(&self) -> &str {
        std::str::from_utf8(&self.text).unwrap_or_default()
    }
}

/// The options of a shell's command line that change what its text means. Everything else a caller
/// passes to bash is carried unread to bash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadingOptions {
    /// `-i`: aliases may be on and start-up files define functions.
    pub interactive: bool,
    /// `-O extglob` and the like: a `shopt` other than its default.
    pub shopt: bool,
    /// `-o posix`, `--posix`.
    pub posix: bool,
    /// `-x`: `PS4` is expanded before every command.
    pub xtrace: bool,
    /// `-n`: the text is read and nothing runs.
    pub noexec: bool,
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
