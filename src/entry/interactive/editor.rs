//! The line editor of a person's shell.

use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Behavior, CompletionType, Config, Editor as Lines};

use super::assist::{Assist, Foresight};
use super::prompt;
use super::{Session, Typed};
use crate::audit::redact::Secrets;
use crate::entry::moment::Moment;
use crate::policy::knobs::Prompt;
use crate::sys::signal::hearing_resizes;
use crate::sys::tty;

/// How many lines the history keeps.
const KEPT: usize = 10_000;

/// Reads statements with an editor.
pub(super) struct Editor {
    lines: Lines<Assist, FileHistory>,
    /// None without a home.
    history: Option<PathBuf>,
}

impl Editor {
    /// None where the terminal cannot move a cursor.
    pub(super) fn new(moment: &Moment) -> Option<Self> {
        let config = Config::builder()
            .max_history_size(KEPT)
            .and_then(|config| config.history_ignore_dups(true))
            .ok()?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .behavior(Behavior::PreferTerm)
            .bracketed_paste(true)
            .build();
        let mut lines = Lines::with_config(config).ok()?;
        let history = moment.history_file();
        if let Some(file) = &history {
            // The first time there is none.
            let _ = lines.load_history(file);
        }
        lines.set_helper(Some(Assist::new(moment)));
        Some(Self { lines, history })
    }

    /// Reads to the end of a statement.
    pub(super) fn read(&mut self, session: &Session) -> io::Result<Typed> {
        let Ok(moment) = session.moment(b"") else { return Ok(Typed::Nothing) };
        let own = match moment.policy.knobs.interactive.prompt {
            Prompt::Gsh => None,
            Prompt::Shell => session.living.own_prompt()?.filter(|prompt| !prompt.is_empty()),
        };
        let prompt = own.map_or_else(
            || prompt::text(&moment.policy, session.living.status()),
            |own| prompt::marked(&own, moment.policy.mode),
        );
        let past = session.living.past();
        if let Some(assist) = self.lines.helper_mut() {
            assist.foresees(Some(Rc::new(Foresight { moment, past })));
        }
        begin_line()?;
        let read = hearing_resizes(|| self.lines.readline(&prompt));
        if let Some(assist) = self.lines.helper_mut() {
            assist.foresees(None);
        }
        match read {
            Ok(line) if line.trim().is_empty() => Ok(Typed::Nothing),
            Ok(line) => {
                self.keep(&line);
                Ok(Typed::Statement(line.into_bytes()))
            }
            Err(ReadlineError::Interrupted) => Ok(Typed::Nothing),
            Err(_) => Ok(Typed::End),
        }
    }

    /// A line that begins with a blank, or holds a secret, is kept nowhere.
    fn keep(&mut self, line: &str) {
        if line.starts_with(' ') || Secrets::are_in(line) {
            return;
        }
        let added = self.lines.add_history_entry(line).unwrap_or(false);
        if let (true, Some(file)) = (added, &self.history) {
            // Without a history one works on.
            let _ = self.lines.append_history(file);
        }
    }
}

/// Where a command's output did not end its line, that is marked and a new one begun.
fn begin_line() -> io::Result<()> {
    let (columns, _) = tty::size(std::os::fd::AsFd::as_fd(&io::stdin())).unwrap_or((80, 24));
    let blanks = usize::from(columns).saturating_sub(1);
    let mut output = io::stdout().lock();
    write!(output, "\x1b[7m%\x1b[27m{:blanks$}\r\x1b[K", "")?;
    output.flush()
}
