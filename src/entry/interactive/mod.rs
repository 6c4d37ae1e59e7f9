//! A shell at a terminal: each statement that is typed is decided, and what may run runs in one bash that
//! lives on.
//!
//! As with a script that arrives ([`statements`](super::statements)), policy, grants and mode are those on
//! disk when a statement is decided, and of a refused one its status remains. Where the terminal is not known
//! to be a person's (an agent types at a shell of its own), or cannot move a cursor, lines are read as they
//! come and bash shows its own prompt, as such a caller expects.

mod assist;
mod colon;
mod editor;
mod lines;
mod prompt;
mod words;

use std::io;
use std::process::ExitCode;

use super::moment::{End, Moment};
use super::shell::{Asked, Given, die};
use super::steer::FAILED;
use super::world::Surrounds;
use crate::ask::sanitize;
use crate::run::living::{Living, lines as count};
use crate::run::{Outcome, Source};
use crate::store::calls::Above;
use crate::store::safe::{self, Owner};

/// Reads, decides and runs until the shell ends.
pub(super) fn run(asked: &Asked) -> ExitCode {
    let above = Surrounds::of_process().above;
    let asked = Asked { text: Given::Typed, ..asked.clone() };
    let mut session = Session { asked, above, living: Living::default() };
    session.run().unwrap_or_else(|error| {
        eprintln!("gsh: {error}");
        ExitCode::from(FAILED)
    })
}

/// What a terminal keeps of a line that is typed while a command runs. Of a longer one it drops the rest, and
/// nothing tells such a line from one that is just as long.
const CUT: usize = 4095;

fn is_cut(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| line.len() == CUT)
}

struct Session {
    asked: Asked,
    /// What it runs beneath, as it was before others ran beneath it.
    above: Option<Above>,
    living: Living,
}

/// What was typed.
enum Typed {
    /// All of a statement, without its last newline.
    Statement(Vec<u8>),
    /// Nothing that runs.
    Nothing,
    /// The end of the input.
    End,
    /// The shell has ended meanwhile.
    Over(Outcome),
}

/// How lines are read.
enum Reader {
    Editor(Box<editor::Editor>),
    Lines(lines::Reader),
}

impl Reader {
    fn read(&mut self, session: &Session) -> io::Result<Typed> {
        match self {
            Self::Editor(editor) => editor.read(session),
            Self::Lines(lines) => lines.read(&session.living),
        }
    }
}

impl Session {
    fn run(&mut self) -> io::Result<ExitCode> {
        let moment = match self.moment(b"") {
            Ok(moment) if moment.takes_typed() => moment,
            Ok(moment) => {
                let shell = moment.shell.path().display().to_string();
                return Err(io::Error::other(format!(
                    "at a terminal the real shell must be bash, not {shell}"
                )));
            }
            Err(status) => return Ok(status),
        };
        let editor = moment.takes_editor().then(|| editor::Editor::new(&moment)).flatten();
        self.living = Living::typed(editor.is_some());
        let mut reader = editor.map_or_else(
            || Reader::Lines(lines::Reader::new(&moment)),
            |editor| Reader::Editor(Box::new(editor)),
        );
        // The shell begins with nothing, and shows its first prompt.
        if let Some(status) = self.decided(&moment, b"")? {
            return Ok(status);
        }
        if matches!(reader, Reader::Editor(_))
            && let Some(status) = self.start_up(&moment)?
        {
            return Ok(status);
        }
        loop {
            let ended = match reader.read(self)? {
                Typed::Statement(text) if is_cut(&text) => {
                    eprintln!(
                        "gsh: the terminal kept only {CUT} bytes of that line while a command had it: not run"
                    );
                    self.living.fail(FAILED, count(&text))?.map(Outcome::imitate)
                }
                Typed::Statement(text) => self.entered(&reader, &text)?,
                Typed::Nothing if matches!(reader, Reader::Editor(_)) => None,
                Typed::Nothing => self.living.prompt_again()?.map(Outcome::imitate),
                Typed::End => self.living.exit()?.map(Outcome::imitate),
                Typed::Over(outcome) => Some(outcome.imitate()),
            };
            if let Some(status) = ended {
                return Ok(status);
            }
            if let Some(directory) = self.living.directory() {
                // A folder that is gone, or may not be entered, leaves us where we are.
                let _ = std::env::set_current_dir(directory);
            }
        }
    }

    /// A person may also tell gsh something; whoever else holds a terminal may not.
    fn entered(&mut self, reader: &Reader, text: &[u8]) -> io::Result<Option<ExitCode>> {
        let line = std::str::from_utf8(text).ok().filter(|_| matches!(reader, Reader::Editor(_)));
        match line.and_then(colon::read) {
            None => self.statement(text),
            Some(colon::Colon::Jobs) => self.statement(b"jobs"),
            Some(asked) => {
                let told = self.told(&asked);
                print!("{told}");
                Ok(None)
            }
        }
    }

    /// Reads the file that a person's own configuration names. That is their word for it, as the configuration
    /// is for everything else; what the floor refuses, it refuses here as well.
    fn start_up(&self, moment: &Moment) -> io::Result<Option<ExitCode>> {
        let Some(file) = moment.start_up() else { return Ok(None) };
        let shown = sanitize::line(&file.display().to_string());
        // Where it is a link, what it leads to must be a person's own.
        let real = std::fs::canonicalize(&file).unwrap_or_else(|_| file.clone());
        let why = match safe::read(&real, Owner::User) {
            Ok((text, _)) if moment.denies(&text) => "what it does is refused".to_owned(),
            Ok(_) => return self.living.start_up(&file).map(|ended| ended.map(Outcome::imitate)),
            Err(error) => error.to_string(),
        };
        eprintln!("gsh: {shown}: not read: {why}");
        Ok(None)
    }

    fn moment(&self, text: &[u8]) -> Result<Moment, ExitCode> {
        let mut surrounds = Surrounds::of_shell(self.above.clone());
        let told = self.living.environment();
        surrounds.told =
            told.map(|told| told.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        Moment::with(&self.asked, text, surrounds)
    }

    /// Decides one statement and has it run. The status of it all where that ended the shell.
    fn statement(&self, text: &[u8]) -> io::Result<Option<ExitCode>> {
        match self.moment(text) {
            Ok(moment) => self.decided(&moment, text),
            Err(_told) => Ok(self.living.fail(FAILED, count(text))?.map(Outcome::imitate)),
        }
    }

    fn decided(&self, moment: &Moment, text: &[u8]) -> io::Result<Option<ExitCode>> {
        let ending = moment.run(Source::Typed, Some(&self.living));
        let outcome = match moment.tell(ending) {
            End::Ran(outcome) => Some(outcome).filter(|outcome| outcome.ended.is_some()),
            End::NotRun(status) if self.living.not_begun().is_some() => {
                return Ok(Some(ExitCode::from(status)));
            }
            End::NotRun(status) => self.living.fail(status, count(text))?,
            End::Abandoned(signal) if signal == nix::libc::SIGINT => self.living.fail(130, count(text))?,
            End::Abandoned(signal) => {
                self.living.end_by(signal)?;
                return Ok(Some(die(signal)));
            }
        };
        Ok(outcome.map(Outcome::imitate))
    }
}
