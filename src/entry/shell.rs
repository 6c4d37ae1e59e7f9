//! gsh called as a shell: a text from the command line, a file or standard input.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use super::setting::{End, Setting};
use super::statements;
use crate::policy::{Mode, Verdict};
use crate::request::{Entry, ReadingOptions};
use crate::run::Source;
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
    /// Nowhere: bash prints something of its own and ends.
    Nothing,
}

/// Why a text could not be had. The status is bash's.
#[derive(Debug, thiserror::Error)]
enum NoText {
    #[error("{}: {source}", name.display())]
    File { name: PathBuf, source: io::Error },
    #[error("{}: is a directory", .0.display())]
    Directory(PathBuf),
    #[error("{0}: too long to be decided: more than {max} MiB", max = LONGEST_TEXT >> 20)]
    TooLong(String),
    #[error("standard input: {0}")]
    Stdin(io::Error),
    #[error("no interactive shell yet; give it a text: gsh -c TEXT, gsh FILE, or a script on standard input")]
    Interactive,
}

impl NoText {
    fn status(&self) -> u8 {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::File { .. } | Self::Directory(_) | Self::TooLong(_) => 126,
            Self::Stdin(_) | Self::Interactive => 2,
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
    let arrives = matches!(asked.text, Given::Stdin) && Identity::of_standard(0).is_waited_on();
    if arrives {
        let setting = Setting::now(asked)?;
        if setting.takes_statements() {
            return Ok(statements::run(asked, &setting));
        }
    }
    let text = text(&asked.text).map_err(|error| {
        eprintln!("gsh: {error}");
        ExitCode::from(error.status())
    })?;
    let setting = Setting::now(asked)?;
    let ending = setting.run(&text, asked.source(), None);
    Ok(match setting.tell(ending, &text) {
        End::Ran(outcome) => outcome.imitate(),
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

fn text(given: &Given) -> Result<Vec<u8>, NoText> {
    use std::os::unix::ffi::OsStrExt;
    match given {
        Given::Command(text) => Ok(text.as_bytes().to_vec()),
        Given::Nothing => Ok(Vec::new()),
        Given::File(name) => {
            let name = PathBuf::from(name);
            if name.is_dir() {
                return Err(NoText::Directory(name));
            }
            match std::fs::File::open(&name).and_then(limited) {
                Ok(text) => text.ok_or_else(|| NoText::TooLong(name.display().to_string())),
                Err(source) => Err(NoText::File { name, source }),
            }
        }
        Given::Stdin if io::stdin().is_terminal() => Err(NoText::Interactive),
        Given::Stdin => {
            let text = limited(io::stdin().lock()).map_err(NoText::Stdin)?;
            text.ok_or_else(|| NoText::TooLong("standard input".to_owned()))
        }
    }
}

/// All there is; None when that is more than can be decided, maybe without end.
fn limited(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    source.take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= LONGEST_TEXT).then_some(text))
}

impl Asked {
    /// How it came in.
    pub(super) fn entry(&self) -> Entry {
        match self.text {
            Given::Command(_) | Given::Nothing => Entry::Command,
            Given::File(_) => Entry::Script,
            Given::Stdin => Entry::Stdin,
        }
    }

    /// The form in which the text was given.
    pub(super) fn source(&self) -> Source {
        match &self.text {
            Given::Command(_) => Source::Command { name: self.name.clone() },
            Given::File(name) => Source::File { name: name.clone() },
            Given::Stdin => Source::Stdin,
            Given::Nothing => Source::Nothing,
        }
    }
}
