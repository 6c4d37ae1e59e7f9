//! gsh called as a shell: a text from the command line, a file or standard input.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use nix::errno::Errno;

use super::moment::{End, Moment};
use super::{interactive, statements};
use crate::policy::{Mode, Verdict};
use crate::request::{Entry, ReadingOptions};
use crate::run::{ForJob, Outcome, Source, script};
use crate::sys::pipe::Identity;
use crate::sys::signal::die_of;

/// A longer text is not read further. What is shorter may still be beyond the limits of reading, which
/// is for the decision to say.
pub(super) const LONGEST_TEXT: u64 = 16 << 20;

/// A shell's call, as meant.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Where the text is.
    pub text: Given,
    /// `argv[0]`.
    pub argv0: OsString,
    /// `$0`, where the caller names it.
    pub name: Option<OsString>,
    /// `$1` and on.
    pub args: Vec<OsString>,
    /// bash's options as given.
    pub options: Vec<OsString>,
    /// Those that change the reading.
    pub reading: ReadingOptions,
    /// `-e`: an error is the shell's end.
    pub errexit: bool,
    /// The mode given with the call.
    pub mode: Option<Mode>,
    /// A configuration in the place of the user's.
    pub config: Option<PathBuf>,
    /// Nobody may be asked.
    pub non_interactive: bool,
    /// Rules of the command line, in order.
    pub rules: Vec<(Verdict, String)>,
    /// How long the command may keep its caller, as given with the call.
    pub timeout: Option<Duration>,
    /// What it has to do with a job.
    pub job: Option<ForJob>,
    /// What is made of its end.
    pub ended: fn(Outcome) -> ExitCode,
}

/// Where a text is.
#[derive(Debug, Clone)]
pub enum Given {
    /// Here.
    Command(OsString),
    /// In this file.
    File(OsString),
    /// On standard input.
    Stdin,
    /// Typed at a terminal, one statement after the other.
    Typed,
    /// Nowhere: bash prints something of its own and ends.
    Nothing,
}

/// Why a text could not be had. For a script file the words are bash's, and the status always is.
#[derive(Debug, thiserror::Error)]
enum NoText {
    #[error("{shell}: {}: {why}", name.display())]
    File { shell: String, name: PathBuf, why: &'static str, missing: bool },
    #[error("{name}: {name}: {why}", name = .0.display(), why = .1)]
    NoScript(PathBuf, &'static str),
    #[error("gsh: {0}: too long to be decided: more than {max} MiB", max = LONGEST_TEXT >> 20)]
    TooLong(String),
    #[error("gsh: standard input: {0}")]
    Stdin(io::Error),
}

impl NoText {
    fn status(&self, errexit: bool) -> u8 {
        match self {
            Self::File { .. } if errexit => 1,
            Self::File { missing: true, .. } => 127,
            Self::File { .. } | Self::NoScript(..) | Self::TooLong(_) => 126,
            Self::Stdin(_) => 2,
        }
    }
}

/// Decides the call's text and runs it, if it may run. The process ends as the command did.
#[must_use]
pub fn run(asked: Asked) -> ExitCode {
    let (Ok(status) | Err(status)) = call(&asked);
    status
}

fn call(asked: &Asked) -> Result<ExitCode, ExitCode> {
    if matches!(asked.text, Given::Stdin) && io::stdin().is_terminal() {
        return Ok(interactive::run(asked));
    }
    let arrives = matches!(asked.text, Given::Stdin) && Identity::of_standard(0).is_waited_on();
    if arrives {
        let moment = Moment::now(asked, b"")?;
        if moment.takes_statements() {
            return Ok(statements::run(&moment));
        }
    }
    let text = text(asked).map_err(|error| {
        eprintln!("{error}");
        ExitCode::from(error.status(asked.errexit))
    })?;
    let moment = Moment::now(asked, &text)?;
    let ending = moment.run(asked.source(), None);
    Ok(match moment.tell(ending) {
        End::Ran(outcome) => (asked.ended)(outcome),
        End::NotRun(status) => ExitCode::from(status),
        // The question and its end are on record: now the signal may do what it came for.
        End::Abandoned(signal) => die(signal),
    })
}

/// Ends by this signal, or with the status that tells of it.
pub(super) fn die(signal: i32) -> ExitCode {
    die_of(signal);
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

fn text(asked: &Asked) -> Result<Vec<u8>, NoText> {
    use std::os::unix::ffi::OsStrExt;
    match &asked.text {
        Given::Command(text) => Ok(text.as_bytes().to_vec()),
        Given::Nothing | Given::Typed => Ok(Vec::new()),
        Given::File(name) => file(Path::new(name), &asked.argv0),
        Given::Stdin => {
            let text = limited(io::stdin().lock()).map_err(NoText::Stdin)?;
            text.ok_or_else(|| NoText::TooLong("standard input".to_owned()))
        }
    }
}

/// A script's text, where bash would run any.
fn file(name: &Path, shell: &OsStr) -> Result<Vec<u8>, NoText> {
    let found = script::file_of(name.as_os_str(), std::env::var_os("PATH").as_deref());
    if found.is_dir() {
        return Err(NoText::NoScript(name.to_owned(), Errno::EISDIR.desc()));
    }
    let text = std::fs::File::open(&found).and_then(limited).map_err(|error| NoText::File {
        shell: shell.to_string_lossy().into_owned(),
        name: name.to_owned(),
        why: Errno::from_raw(error.raw_os_error().unwrap_or(0)).desc(),
        missing: error.kind() == io::ErrorKind::NotFound,
    })?;
    let text = text.ok_or_else(|| NoText::TooLong(name.display().to_string()))?;
    if script::is_binary(&text) {
        return Err(NoText::NoScript(name.to_owned(), "cannot execute binary file"));
    }
    Ok(text)
}

/// All there is; None when that is more than can be decided, maybe without end.
fn limited(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    source.take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= LONGEST_TEXT).then_some(text))
}

impl Asked {
    /// For a text of gsh's own verbs, with nothing said about how.
    #[must_use]
    pub fn text(text: OsString) -> Self {
        Self {
            text: Given::Command(text),
            argv0: "gsh".into(),
            name: None,
            args: Vec::new(),
            options: Vec::new(),
            reading: ReadingOptions::default(),
            errexit: false,
            mode: None,
            config: None,
            non_interactive: false,
            rules: Vec::new(),
            timeout: None,
            job: None,
            ended: Outcome::imitate,
        }
    }

    /// How it came in.
    pub(super) fn entry(&self) -> Entry {
        match self.text {
            Given::Command(_) | Given::Nothing => Entry::Command,
            Given::File(_) => Entry::Script,
            Given::Stdin => Entry::Stdin,
            Given::Typed => Entry::Interactive,
        }
    }

    /// The form in which the text was given.
    pub(super) fn source(&self) -> Source {
        match &self.text {
            Given::Command(_) => Source::Command { name: self.name.clone() },
            Given::File(name) => Source::File { name: name.clone() },
            Given::Stdin => Source::Stdin,
            Given::Typed => Source::Typed,
            Given::Nothing => Source::Nothing,
        }
    }
}
