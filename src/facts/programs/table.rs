//! A program's table, as `build.rs` writes it.

use serde::Deserialize;

use super::{Act, Role, Wrapper};
use crate::syntax::Cause;

/// One program or subcommand.
#[derive(Debug)]
pub(super) struct Command {
    /// Its options.
    pub(super) options: &'static [Opt],
    /// Every option name with its option's place, sorted.
    pub(super) names: &'static [(&'static str, usize)],
    /// Operands by position.
    pub(super) slots: &'static [Slot],
    /// What it does in any case.
    pub(super) effects: &'static [Effect],
    /// What it does in addition when it has no operand (a wrapper: no command).
    pub(super) alone: &'static [Effect],
    /// What it does in addition when it has no word at all.
    pub(super) bare: &'static [Effect],
    /// Sorted by name.
    pub(super) subcommands: &'static [(&'static str, &'static Command)],
    /// Subcommands by a pattern with one `*`, the most particular first.
    pub(super) patterns: &'static [(&'static str, &'static Command)],
    /// How it reads options.
    pub(super) style: Style,
    /// No option and no operand can do more than read.
    pub(super) pure: bool,
    /// Leading words that name what it does.
    pub(super) arity: usize,
    /// What kind of wrapper it is.
    pub(super) wrapper: Option<Wrapper>,
    /// A reader that takes the words instead of this table.
    pub(super) reader: Option<Reader>,
    /// A look at what this table made of the words.
    pub(super) check: Option<Check>,
    /// Options that, alone, only print a text.
    pub(super) help: &'static [&'static str],
    /// Where its behaviour is written down: manual and version.
    pub(super) source: &'static str,
    /// What to do instead, for who is refused or asked.
    pub(super) prefer: &'static str,
    /// Files that it writes for itself, whatever it is told.
    pub(super) housekeeping: &'static [&'static str],
}

impl Command {
    /// Whether its first operand is the name of a subcommand.
    pub(super) fn has_subcommands(&self) -> bool {
        !self.subcommands.is_empty() || !self.patterns.is_empty()
    }

    /// The subcommand of this name.
    pub(super) fn subcommand(&self, name: &str) -> Option<&'static Command> {
        if let Ok(at) = self.subcommands.binary_search_by(|(each, _)| (*each).cmp(name)) {
            return self.subcommands.get(at).map(|(_, sub)| *sub);
        }
        self.patterns.iter().find(|(pattern, _)| fits(pattern, name)).map(|(_, sub)| *sub)
    }
}

/// Whether a name is one of those that a pattern with one `*` stands for.
pub(super) fn fits(pattern: &str, name: &str) -> bool {
    pattern.split_once('*').is_some_and(|(head, tail)| {
        name.len() >= head.len() + tail.len() && name.starts_with(head) && name.ends_with(tail)
    })
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy)]
pub(super) struct Style {
    /// Options end at the first operand.
    pub(super) first: bool,
    /// Long names cannot be abbreviated.
    pub(super) exact: bool,
    /// One dash and a whole word (`-maxdepth`); no letters put together.
    pub(super) words: bool,
    /// Every word is an operand.
    pub(super) raw: bool,
    /// `-o=VALUE` is `-o VALUE`.
    pub(super) equals: bool,
}

/// An option.
#[derive(Debug)]
pub(super) struct Opt {
    /// Its names.
    pub(super) names: &'static [&'static str],
    /// What its value is for, if it takes one.
    pub(super) value: Option<What>,
    /// What a second value is for, if it takes two.
    pub(super) second: Option<What>,
    /// The value may be missing, and is always attached.
    pub(super) optional: bool,
    /// What it does.
    pub(super) effects: &'static [Effect],
}

/// An operand's place.
#[derive(Debug)]
pub(super) struct Slot {
    /// What the operand is for.
    pub(super) what: What,
    /// Takes as many as there are.
    pub(super) repeated: bool,
    /// Used when there is none.
    pub(super) default: Option<&'static str>,
}

/// Places for operands that a reader looks at by itself.
pub(super) const ANYTHING: &[Slot] = &[Slot { what: What::Data, repeated: true, default: None }];

/// What a word is for.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum What {
    /// A file or directory.
    #[serde(skip)]
    Use(Role),
    /// A file to write, `-` being standard output.
    Out,
    /// Nothing that matters.
    Data,
    /// The directory to work in.
    Directory,
    /// A text for `sh`.
    Shell,
    /// A text in a language that is not read here, or a program.
    Code,
    /// A text that a shell runs in some way that is not told here.
    ShellCode,
    /// With the words after it, a command that is run.
    Command,
    /// With the words after it, joined by blanks, a text for a shell.
    ShellWords,
    /// A script for a shell.
    ShellFile,
    /// `NAME=value` for the command that is run.
    Assignment,
    /// Must be a plain name or number.
    Plain,
    /// Must be the name of a package, perhaps with a version: no path and no address.
    Package,
    /// A git remote or URL.
    Remote,
    /// A file of this machine that is read, and no address or other magic word.
    Local,
    /// A name that is shown, and not set.
    Setting,
    /// Known to do what is not told here.
    Unexplained,
    /// A text in a small language.
    #[serde(skip)]
    Language(Language),
    /// Its presence has this effect.
    #[serde(skip)]
    Act(Doing),
    /// Explained only if it is one of these.
    #[serde(skip)]
    OneOf(&'static [&'static str]),
}

/// What an option or program does.
#[derive(Debug)]
pub(super) enum Effect {
    /// Operands of the first role have the second.
    Recast(Role, Role),
    /// The first operand place falls away, its value was given by an option.
    NoFirst,
    /// Other operand places.
    Operands(&'static [Slot]),
    /// An effect that is no file's.
    Act(Doing),
    /// Known not to be explained.
    Unexplained(Cause),
    /// What it prints.
    Output(Printed),
    /// Executes this git setting or hook.
    Runs(&'static str),
    /// Does not execute, obey or use it after all.
    Spares(&'static str),
    /// Executes or obeys this file of the directory.
    Loads(&'static str),
    /// Uses a path that is not among its words.
    Use(Role, &'static str),
    /// Its standard input is code.
    Code,
    /// Its standard input is a text for a shell.
    ShellInput,
    /// Only tells: what the program does in any case it does not do.
    Dry,
}

/// Effects that a table can name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Doing {
    /// Talks to the network.
    Network,
    /// A read-only request to its own service.
    Query,
    /// Changes the repository.
    GitModify,
    /// Goes on in the background.
    Background,
    /// Turns the machine off.
    Power,
    /// Signals every process.
    KillAll,
    /// Deletes a user.
    DeleteUser,
    /// Prints credentials.
    RevealSecrets,
    /// Changes the running shell.
    ShellState,
    /// The inert word.
    Canary,
    /// Changes gsh itself.
    Disarm,
    /// Destroys what is not on this machine.
    DestroyRemote,
    /// Waits for a person's keys.
    Interactive,
}

impl Doing {
    /// The act as the reading holds it.
    pub(super) fn act(self) -> Act {
        match self {
            Self::Network => Act::Network { query: false },
            Self::Query => Act::Network { query: true },
            Self::GitModify => Act::GitModify,
            Self::Background => Act::Background,
            Self::Power => Act::Power,
            Self::KillAll => Act::KillAll,
            Self::DeleteUser => Act::DeleteUser,
            Self::RevealSecrets => Act::RevealSecrets,
            Self::ShellState => Act::ShellState,
            Self::Canary => Act::Canary,
            Self::Disarm => Act::Disarm,
            Self::DestroyRemote => Act::DestroyRemote { what: String::new() },
            Self::Interactive => Act::Interactive,
        }
    }
}

/// Outputs that a table can name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Printed {
    /// Anything.
    Any,
    /// Nothing.
    Nothing,
    /// Lines of its input or files.
    InputLines,
    /// Its input unchanged.
    Input,
    /// A number.
    Number,
    /// A name.
    Name,
    /// A git ref or hash.
    GitRef,
    /// Paths below the trees it looks at.
    Paths,
    /// Its operands, or names in the directory.
    Listing,
    /// The current directory.
    CurrentDirectory,
}

/// Languages with a reader.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Language {
    /// sed's.
    SedScript,
    /// awk's.
    AwkProgram,
    /// jq's.
    JqProgram,
    /// `KEY=VALUE` of `git -c`.
    GitSetting,
    /// What `git log --format` prints.
    GitFormat,
    /// `NAME=VALUE` of `export`.
    Declaration,
    /// Words of `env -S`.
    EnvSplit,
    /// SQL and commands of psql.
    SqlPostgres,
    /// SQL and commands of mysql.
    SqlMysql,
    /// SQL and commands of sqlite3.
    SqlSqlite,
    /// SQL and commands of duckdb.
    SqlDuckdb,
    /// SQL of another database.
    SqlPlain,
    /// Where a client connects.
    Host,
    /// A database's name, or where it is.
    Database,
    /// An address.
    Url,
    /// A file or an address.
    PathOrUrl,
    /// `@file`, `name=@file`.
    AtFile,
    /// A file to write, or `|command`.
    PipeFile,
    /// yq's.
    YqProgram,
    /// A container image, perhaps of a registry.
    Image,
    /// A repository of a forge or something in it, perhaps with its host.
    Forge,
}

/// Readers that take all words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    /// `find`.
    Find,
    /// `tar`.
    Tar,
    /// `echo`.
    Echo,
    /// `printf`.
    Printf,
    /// `test`, `[`.
    Test,
    /// `bash`, `sh`, …
    Shell,
    /// `trap`.
    Trap,
    /// `xargs`.
    Xargs,
    /// `parallel`.
    Parallel,
    /// `fd`.
    Fd,
    /// `patch`.
    Patch,
    /// Package managers that remove packages.
    Packages,
    /// `dd`.
    Dd,
    /// `kill`.
    Kill,
    /// `busybox`, `toybox`.
    Busybox,
    /// `ps`.
    Ps,
    /// `gsh`.
    Gsh,
    /// `python -m MODULE`.
    Python,
}

/// Looks at a finished reading.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// `git push`.
    Push,
    /// `shopt -s`.
    Shopt,
    /// `complete -W`.
    Completion,
    /// `bind '"KEY": NAME'`.
    Binding,
    /// `init 0`, `systemctl isolate reboot.target`.
    Runlevel,
    /// `kubectl get secrets`.
    Secrets,
    /// `rsync`.
    Rsync,
    /// `gh api`.
    GhApi,
    /// `docker inspect --format`.
    Inspected,
    /// A remote of `rclone` that is not a configured one.
    Remotes,
    /// `--query @file`, `--cli-input-json file://…`.
    ValueFiles,
    /// `git diff`, `git show` and their kin.
    Blobs,
    /// `pkill .`.
    PkillAll,
    /// `flock FILE -c TEXT`.
    ShellWord,
    /// `ln TARGET`.
    MakesLink,
    /// `sed -i.old`.
    KeptUnder,
    /// `su`, `sudo -s`.
    LoginShell,
    /// `git config --file FILE`.
    GitConfig,
    /// `date +FORMAT`.
    DateFormat,
    /// `curl`.
    Curl,
    /// `wget`.
    Wget,
    /// `scp`.
    Scp,
    /// `ssh`.
    Ssh,
    /// A client of a database: statements of an option, or of standard input.
    Statements,
    /// `sqlite3`, `duckdb`.
    LocalDatabase,
    /// `mlr`.
    Miller,
    /// `yq`.
    Yq,
    /// `redis-cli`.
    Redis,
    /// `pandoc`.
    Pandoc,
    /// A word `@FILE` stands for the words in a file.
    ArgFile,
    /// `gcc` and its kin: what they write when it is not told.
    Compiler,
    /// `tsc --noEmit false`.
    Tsc,
    /// `printenv SOME_TOKEN`.
    SecretNames,
}
