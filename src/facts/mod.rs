//! What a script would do, as plain data.
//!
//! [`gather()`] walks the script as bash would run it, with every value that can be known kept and
//! every other one marked as a hole, and writes down which programs run, with which words, where,
//! and what each word does. What it cannot tell it says ([`Facts::problems`]).
#![forbid(clippy::disallowed_methods)]

mod alias;
pub mod arg;
mod arithmetic;
mod brace;
mod builtin;
mod carried;
mod changes;
mod code;
mod command;
mod decode;
mod descriptors;
mod dialect;
mod edit;
mod effects;
mod environment;
mod expand;
mod explain;
mod field;
pub mod foreign;
mod gather;
pub mod glob;
mod hidden;
mod identity;
mod inner;
mod invocation;
mod leaving;
pub mod path;
mod printed;
pub mod programs;
mod quoted;
mod replaced;
mod search;
mod sent;
mod spelling;
mod state;
mod survey;
mod tool;
mod variable;

use serde::Serialize;

use crate::report::Span;
use crate::syntax::Problem;
use arg::Arg;
use path::Target;
use programs::{Push, Wrapper};

pub use brace::words as brace_words;
pub use decode::base64;
pub use effects::is_device;
pub use gather::{Past, gather, gather_after, gather_words};
pub use state::Elsewhere;
pub use survey::Survey;

/// Whether the shell or programs obey a variable of this name, whoever set it.
#[must_use]
pub fn is_obeyed(name: &str) -> bool {
    environment::executes(name, None, environment::Seen::Shell)
}

/// All that is known of what a script would do.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Every program or builtin that would run, in source order.
    pub invocations: Vec<Invocation>,
    /// What they would do, and what the script's redirections do.
    pub effects: Vec<Effect>,
    /// What could not be told.
    pub problems: Vec<Doubt>,
    /// Further texts that rules may name: pipelines, lists, compound commands.
    pub mentions: Vec<(String, Span)>,
    /// The text is what a known caller runs to look around when it starts.
    pub starts: bool,
    /// Words of programs that gsh does not know, which may be a command: what refuses it or asks about it
    /// holds there too.
    pub carried: Vec<(String, Span)>,
    /// What the shell would be left with.
    pub left: Past,
}

/// A problem with what it may hide.
#[derive(Debug, Clone, Serialize)]
pub struct Doubt {
    /// What and where.
    #[serde(flatten)]
    pub problem: Problem,
    /// What is hidden can be anything, so the worst case is an entry of the floor.
    pub grave: bool,
    /// Rules for running programs decide it: a program, an option or code that gsh has no reading of.
    pub execution: bool,
}

/// One program with its words.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The words after expansion, the name first.
    pub words: Vec<Arg>,
    /// The name without its folders, when a path was given.
    pub base: Option<Base>,
    /// The directory it runs in; None when that cannot be told.
    pub cwd: Option<String>,
    /// A table names every option and operand, and the program is the one its name promises.
    pub explained: bool,
    /// The name is a shell builtin or function, so there is no program to execute directly.
    pub builtin: bool,
    /// How many leading words make a pattern for suggestions; 0 offers none.
    pub arity: usize,
    /// Files that it writes for itself, whatever it is told.
    pub housekeeping: Vec<&'static str>,
    /// The same command without the options that stand before what it does (`git push` for `git -C . push`).
    /// What refuses it or asks about it holds for these spellings too.
    pub spellings: Vec<String>,
    /// What to do instead, as its table tells; empty when it knows nothing better.
    pub prefer: &'static str,
    /// The wrappers around it, outermost first, as written.
    pub wrapped_in: Vec<(String, Wrapper)>,
    /// It was found by looking through what is not explained: it asks for nothing by itself.
    pub glimpsed: bool,
    /// It is itself a wrapper around the invocations that follow.
    pub wrapper: Option<Wrapper>,
    /// Where it stands.
    pub span: Span,
}

impl Invocation {
    /// Every word is known.
    #[must_use]
    pub fn certain(&self) -> bool {
        self.words.iter().all(|word| word.text().is_some())
    }

    /// The command as rules match it: words requoted only where needed, holes as `…`. A program given by
    /// path keeps its path unless it is the very file that PATH finds.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.base {
            Some(base) if base.is_found => self.text_by(&base.name),
            _ => text_of(&self.words),
        }
    }

    /// The command by its bare name, where that is not its text already: what asks about or refuses a name
    /// holds for every path to it.
    #[must_use]
    pub fn text_by_name(&self) -> Option<String> {
        self.base.as_ref().filter(|base| !base.is_found).map(|base| self.text_by(&base.name))
    }

    fn text_by(&self, name: &str) -> String {
        let mut words = self.words.clone();
        if let Some(first) = words.first_mut() {
            *first = Arg::literal(name, first.span);
        }
        text_of(&words)
    }
}

/// The name of a program that was given by path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// The last component.
    pub name: String,
    /// PATH finds this very file by that name.
    pub is_found: bool,
}

/// Words as rules match them: requoted only where needed, single blanks, holes as `…`.
#[must_use]
pub fn text_of(words: &[Arg]) -> String {
    let quoted: Vec<String> =
        words.iter().map(|word| word.text().map_or_else(|| word.display(), crate::syntax::quote)).collect();
    quoted.join(" ")
}

/// One thing that a part of the script does.
#[derive(Debug, Clone)]
pub struct Effect {
    /// What.
    pub kind: EffectKind,
    /// Which invocation does it; None for a redirection that stands alone.
    pub by: Option<usize>,
    /// Where it stands.
    pub span: Span,
    /// How it was found.
    pub found: Found,
}

/// How an effect was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Found {
    /// By reading what runs.
    #[default]
    Read,
    /// By looking through what is not explained but will run: a danger there is one, anything else asks
    /// for nothing by itself.
    Glimpsed,
    /// In words that an unknown program may run, or not.
    Guessed,
    /// By reading what runs on another machine or in a container: what it does there is not done here, but
    /// the same paths may be reached.
    Elsewhere,
}

/// What an effect does.
#[derive(Debug, Clone)]
pub enum EffectKind {
    /// Reads content.
    Read(Target),
    /// Reads the whole content of files of a tree, or prints matching lines only.
    ReadTree {
        /// The tree.
        tree: Target,
        /// Only lines that match an ordinary pattern are printed.
        narrow: bool,
        /// The files that would be read whole; None when they cannot be listed.
        files: Option<Vec<String>>,
    },
    /// Looks at names.
    List(Target),
    /// Changes something at a path.
    Write {
        /// Where.
        target: Target,
        /// What is done there.
        change: Change,
    },
    /// Talks to the network.
    Network {
        /// A read-only request of a tabled client to its own service.
        query: bool,
    },
    /// Changes the git repository.
    GitModify,
    /// Pushes to a remote.
    Push {
        /// What it does to the remote.
        push: Push,
        /// The repository's directory; None when it, or its HEAD, cannot be told.
        directory: Option<String>,
    },
    /// Goes on after the command has ended.
    Background,
    /// Is sent to a job, which reads it.
    Input {
        /// The job's command.
        command: String,
        /// The job runs what it reads, or may.
        obeys: bool,
        /// The job is another session's.
        foreign: bool,
    },
    /// Turns the machine off.
    Power,
    /// Signals every process.
    KillAll,
    /// Starts copies of itself without end.
    ForkBomb,
    /// Deletes a user with their files.
    DeleteUser,
    /// Prints credentials or the environment.
    RevealSecrets,
    /// Runs what it downloads.
    RunsDownload,
    /// The inert word for tests.
    Canary,
    /// Changes gsh itself.
    Disarm,
    /// Destroys what is not on this machine.
    DestroyRemote {
        /// What, in the words it was told with.
        what: String,
    },
    /// Waits for a person's keys.
    Interactive,
    /// Uses a tool of an agent that gsh has no table for.
    Tool {
        /// What rules match.
        name: String,
        /// Nobody is asked unless a rule names it.
        quiet: bool,
    },
}

/// What is done to a path that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Made, or touched without loss.
    Create,
    /// Added to.
    Append,
    /// Written over if it exists.
    Write,
    /// Changed in place.
    Edit,
    /// Changed in place, and the difference is shown to whoever is asked.
    Patch,
    /// Put here: over a file, or into a directory.
    Put,
    /// Mode, owner or attributes.
    Mode,
    /// The same for a tree.
    ModeTree,
    /// Deleted: one file or an empty directory.
    Delete,
    /// Deleted or emptied with all that is in it.
    DeleteTree,
    /// Moved away.
    Move,
    /// The table or content of a device.
    Device,
}

impl Change {
    /// What is done, as a verb for a person.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "make or touch",
            Self::Append => "append to",
            Self::Write => "write",
            Self::Edit | Self::Patch => "change in place",
            Self::Put => "put something at",
            Self::Mode => "change the mode or owner of",
            Self::ModeTree => "change the mode or owner of everything in",
            Self::Delete => "delete",
            Self::DeleteTree => "delete everything in",
            Self::Move => "move away",
            Self::Device => "write the device",
        }
    }
}
