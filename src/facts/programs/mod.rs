//! The knowledge base: what a program does with its words.
//!
//! The tables beside this file (`*.toml`) are compiled in by `build.rs`; those of a configuration join them.
//! [`Programs::read`] holds an argument list against a table and says what each word is *for*; it looks
//! at no file and resolves no path.
#![forbid(clippy::disallowed_methods)]

mod abilities;
mod apply;
pub mod claims;
mod own;
mod readers;
mod scan;
mod schema;
mod show;
mod table;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::facts::arg::Arg;
use crate::syntax::Cause;

pub use abilities::{Abilities, abilities, names};
pub use own::{OwnTable, Power, Programs};
pub(crate) use schema::Source;

/// The compiled tables.
mod tables {
    use super::table::{Check, Command, Doing, Effect, Language, Opt, Printed, Reader, Slot, Style, What};
    use super::{Role, Wrapper};
    use crate::syntax::Cause;

    include!(concat!(env!("OUT_DIR"), "/programs.rs"));
}

/// The built-in tables as a page for people.
#[must_use]
pub fn overview() -> String {
    show::overview()
}

/// Reads an argument list by the built-in table of its first word.
fn read_builtin(argv: &[Arg]) -> Option<Reading> {
    Some(read_by(find(argv.first()?.text()?)?, argv))
}

fn read_by(command: &'static table::Command, argv: &[Arg]) -> Reading {
    let mut reading = Reading { arity: command.arity, ..Reading::default() };
    match command.reader {
        Some(reader) => readers::take(reader, command, argv, 1, &mut reading),
        None => apply::apply(command, argv, 1, &mut reading),
    }
    reading
}

/// Whether a program has a table.
#[must_use]
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// The built-in table of a program.
fn find(name: &str) -> Option<&'static table::Command> {
    let at = tables::PROGRAMS.binary_search_by(|(each, _)| (*each).cmp(name)).ok()?;
    tables::PROGRAMS.get(at).map(|(_, command)| *command)
}

/// What one program would do with its words, as its table tells.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What the words are used for.
    pub uses: Vec<Use>,
    /// Commands that this one runs.
    pub inner: Vec<Inner>,
    /// Words that it may come to run: one is a text for a shell, several are a command. They explain nothing,
    /// but a danger that they show is one.
    pub glances: Vec<Vec<Arg>>,
    /// What it does beside reading and writing files.
    pub acts: Vec<Act>,
    /// Why it is not fully explained; empty means that every option and operand is.
    pub unexplained: Vec<Unexplained>,
    /// What its standard output holds.
    pub output: Output,
    /// What the program does with its standard input.
    pub input: Input,
    /// The leading words that name what it does (`git push` is 2), for suggestions. 0: offer none.
    pub arity: usize,
    /// Its search leaves out hidden and ignored files.
    pub skips_hidden: bool,
    /// One of its operands, if it has any, is a file that it reads.
    pub can_read: bool,
    /// A wrapper's nature, when this program only runs another.
    pub wrapper: Option<Wrapper>,
    /// Paths below the current directory that it executes or obeys (`loads` of the table).
    pub loads: Vec<String>,
    /// Git settings (as `Host::git` names them, one `*` allowed) and hooks (`hook:NAME`) that it would execute.
    pub executes_settings: Vec<String>,
    /// Those of them that an option said it does not execute, whatever its subcommands do else.
    pub(crate) spared: Vec<String>,
    /// The directory that relative operands are resolved in, when an option changes it (`git -C`).
    pub directory: Option<Arg>,
    /// Files that it writes for itself, whatever it is told.
    pub housekeeping: Vec<&'static str>,
    /// What to do instead; empty when the table knows nothing better.
    pub prefer: &'static str,
    /// Where the words stand that name what it does (`push` in `git -C x push`), outermost first.
    pub names: Vec<usize>,
    /// Where the program's name stands when it is an applet of this one (`rm` in `busybox rm x`).
    pub applet: Option<usize>,
    /// An option before the first of them is not known, so that word may be its value.
    pub names_may_follow: bool,
}

/// A word and what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// What for.
    pub role: Role,
    /// The word, or the part of it after `--option=`.
    pub arg: Arg,
}

/// What a word is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// A file whose content is read.
    Read,
    /// A file that is read, and made when it is not there.
    Open,
    /// A tree whose files' whole content is read.
    ReadTree,
    /// A tree of which only lines that match the reading's pattern are printed.
    SearchTree,
    /// A name or directory that is looked at; no content.
    List,
    /// A file that is made, or changed without loss (`touch`, `mkdir`).
    Create,
    /// A file that is appended to.
    Append,
    /// A file that is written over when it exists.
    Write,
    /// A file that is changed in place.
    Edit,
    /// A file or empty directory that is deleted.
    Delete,
    /// A tree that is deleted or emptied.
    DeleteTree,
    /// What is moved away from here.
    MoveFrom,
    /// Where something is moved or copied to: a file that is overwritten or a directory put into.
    PutTo,
    /// Owner, group, mode or attributes change.
    Mode,
    /// The same for a whole tree.
    ModeTree,
    /// A device whose content or table is written (`mkfs`, `sfdisk`).
    Device,
    /// The search pattern, for the test of broad searches.
    Pattern,
    /// A file that is run or obeyed as code.
    Load,
}

/// A command inside a command.
#[derive(Debug, Clone)]
pub enum Inner {
    /// An argument list that is run (`timeout 5 ARGV`).
    Command {
        /// The words.
        argv: Vec<Arg>,
        /// Where the runner appends or inserts words that are not known here.
        fill: Fill,
        /// Directory it runs in, if the wrapper changes it.
        directory: Option<Arg>,
        /// `NAME=value` words that the wrapper sets for it.
        assignments: Vec<Arg>,
    },
    /// A shell text, with its positional parameters (`sh -c TEXT NAME ARGS`).
    Shell {
        /// The text.
        text: Arg,
        /// `$0`, `$1` …
        args: Vec<Arg>,
        /// The shell it is written for is bash or a POSIX shell.
        posix: bool,
    },
    /// The program runs its standard input as a shell text (`sh`, `bash -s`).
    ShellInput {
        /// The shell it is written for is bash or a POSIX shell.
        posix: bool,
    },
    /// A script file run by a shell (`bash FILE`, `. FILE`).
    ShellFile(Arg),
}

/// Words that a runner adds to a command it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fill {
    /// None.
    None,
    /// Its standard input's words, at the end, or in place of the given word (`xargs`, `xargs -I{}`).
    Input(Option<String>),
    /// Paths below the given starting points, in place of the given word (`find … -exec … {}`);
    /// with the name pattern that they all match, if one is known.
    Paths {
        /// Starting points.
        roots: Vec<Arg>,
        /// The replaced word.
        token: String,
        /// `-name` pattern.
        name: Option<String>,
    },
}

/// An effect that is no file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// Talks to the network; `query`: a read-only request to its own configured service.
    Network {
        /// A read-only request of a tabled client to its own service.
        query: bool,
    },
    /// Changes the git repository.
    GitModify,
    /// `git push`, with what it would do to the remote's branches.
    Push(Push),
    /// Goes on in the background by itself.
    Background,
    /// Turns the machine off or restarts it.
    Power,
    /// Signals every process.
    KillAll,
    /// Deletes a user account with its files.
    DeleteUser,
    /// Prints credentials or a dump of the environment.
    RevealSecrets,
    /// The inert word that must always be denied.
    Canary,
    /// gsh itself is called with a verb that changes it.
    Disarm,
    /// Destroys what is not on this machine: a cluster's object, a cloud's, a registry's.
    DestroyRemote {
        /// What, in the words it was told with.
        what: String,
    },
    /// Waits for a person's keys.
    Interactive,
    /// Changes the running shell's own state in a way that alters how later text is read.
    ShellState,
}

/// What a `git push` does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Push {
    /// `--force`, `-f`, or `--mirror`.
    pub force: bool,
    /// `--force-with-lease`.
    pub lease: bool,
    /// `--delete`.
    pub delete: bool,
    /// `--all`, `--branches`, `--mirror`.
    pub all: bool,
    /// The repository operand.
    pub remote: Option<Arg>,
    /// Its refspecs.
    pub refspecs: Vec<Arg>,
}

/// Why a reading is not full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexplained {
    /// The class of the cause.
    pub cause: Cause,
    /// For a person.
    pub detail: String,
    /// The word's place in the argument list, if one word is to blame.
    pub index: Option<usize>,
}

/// What a program prints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// Anything.
    #[default]
    Any,
    /// Nothing.
    Nothing,
    /// These operands joined by blanks, with a newline (`echo`), or as `printf` makes them when that
    /// is literal.
    Text(Arg),
    /// Lines of its standard input, or of the files it reads; each line kept whole.
    InputLines,
    /// Its standard input unchanged.
    Input,
    /// A number (perhaps followed by a file's name when it had operands).
    Number,
    /// Letters, digits and punctuation of a name, without `/`, not starting with `-`.
    Name,
    /// A git ref or hash.
    GitRef,
    /// One path a line, each at or below one of these starting points; with a name pattern if known.
    Paths {
        /// Starting points; empty means the current directory, with relative paths that start with
        /// neither `-` nor `./`.
        roots: Vec<Arg>,
        /// A pattern that every name matches.
        name: Option<String>,
    },
    /// Its operands, and for folders the names in them (`ls`).
    Listing,
    /// The current directory.
    CurrentDirectory,
}

/// What a program does with its standard input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Input {
    /// Leaves it alone, or reads it as data.
    #[default]
    Data,
    /// Runs it as code of a language that gsh does not read.
    Code,
    /// Starts a shell that runs it.
    Shell,
}

/// What kind of program only runs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapper {
    /// Layout known, nothing gained: `timeout`, `nice`, `env`.
    Transparent,
    /// Runs it with other rights or in another system: `sudo`, `chroot`.
    Escalating,
    /// Runs it with words not all known here: `xargs`, `find -exec`.
    Multiplying,
}
