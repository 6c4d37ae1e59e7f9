//! What the editor shows and does while a line is typed: the verdict that it would get, whether it is complete,
//! and what a word may become.

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Result};

use super::words;
use crate::ask::sanitize;
use crate::decision::Decision;
use crate::entry::moment::Moment;
use crate::facts::Past;
use crate::policy::Verdict;
use crate::run::reads::{Reads, reads};
use crate::run::shell::Shell;
use crate::syntax::Limits;

/// A longer line is decided when it is entered, and not at every key before.
const LONGEST: usize = 4096;
/// How much of a reason is shown.
const REASON: usize = 60;

/// What a line would be decided with now.
pub(super) struct Foresight {
    pub(super) moment: Moment,
    pub(super) past: Past,
}

/// The helper of the editor.
pub(super) struct Assist {
    shell: Shell,
    limits: Limits,
    colour: bool,
    files: FilenameCompleter,
    foresight: Option<Rc<Foresight>>,
    /// The last line that was looked at, and what it would get.
    seen: RefCell<(String, Foreseen)>,
}

/// What a line would get.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreseen(String);

impl Hint for Foreseen {
    fn display(&self) -> &str {
        &self.0
    }

    /// It is told, and never typed.
    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Assist {
    pub(super) fn new(moment: &Moment) -> Self {
        Self {
            shell: moment.shell.clone(),
            limits: moment.policy.knobs.limits.of_reading(),
            colour: std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
            files: FilenameCompleter::new(),
            foresight: None,
            seen: RefCell::default(),
        }
    }

    /// With what lines are decided from here on; None between two lines.
    pub(super) fn foresees(&mut self, foresight: Option<Rc<Foresight>>) {
        self.foresight = foresight;
        self.seen = RefCell::default();
    }

    fn foreseen(&self, line: &str) -> Option<Foreseen> {
        let Foresight { moment, past } = self.foresight.as_deref()?;
        if self.seen.borrow().0 != line {
            let decision = moment.foreseen(line, past).decision;
            *self.seen.borrow_mut() = (line.to_owned(), Foreseen(told(&decision)));
        }
        Some(self.seen.borrow().1.clone())
    }
}

/// `  [ask: not understood: …]`: always in words.
fn told(decision: &Decision) -> String {
    let word = match decision.verdict {
        Verdict::Ask | Verdict::Review if decision.knob == Some("on_unresolved") => "ask, not understood",
        verdict => verdict.word(),
    };
    if decision.verdict == Verdict::Allow {
        return format!("   [{word}]");
    }
    let reason = sanitize::line(&decision.reason);
    // The word says it already.
    let reason = reason.strip_prefix("not understood: ").unwrap_or(&reason);
    let reason: String = reason.chars().take(REASON).collect();
    format!("   [{word}: {reason}]")
}

impl Assist {
    /// Paths that the word at the end may become. Its home stays written as it was.
    fn paths(&self, before: &str) -> Result<(usize, Vec<Pair>)> {
        let home = std::env::var("HOME").unwrap_or_default();
        let Some((written, expanded)) = words::below_home(before, &home) else {
            return self.files.complete_path(before, before.len());
        };
        let (start, found) = self.files.complete_path(&expanded, expanded.len())?;
        let as_written = |pair: Pair| {
            let rest = pair.replacement.strip_prefix(&home)?;
            Some(Pair { replacement: format!("{written}{rest}"), display: pair.display })
        };
        Ok((start, found.into_iter().filter_map(as_written).collect()))
    }
}

impl Helper for Assist {}

impl Hinter for Assist {
    type Hint = Foreseen;

    fn hint(&self, line: &str, pos: usize, _: &Context<'_>) -> Option<Foreseen> {
        let is_whole = pos == line.len() && !line.trim().is_empty() && line.len() <= LONGEST;
        (is_whole && !line.contains('\n') && !line.starts_with(':')).then(|| self.foreseen(line)).flatten()
    }
}

impl Highlighter for Assist {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if !self.colour {
            return Cow::Borrowed(hint);
        }
        let colour = match hint.trim_start().trim_start_matches('[') {
            word if word.starts_with("allow") => "32",
            word if word.starts_with("deny") => "31",
            _ => "33",
        };
        Cow::Owned(format!("\x1b[{colour}m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, _: CmdKind) -> bool {
        false
    }
}

impl Validator for Assist {
    fn validate(&self, context: &mut ValidationContext<'_>) -> Result<ValidationResult> {
        let mut text = context.input().as_bytes().to_vec();
        text.push(b'\n');
        let goes_on = !text.starts_with(b":") && reads(&text, 0, &self.shell, &self.limits) == Reads::More;
        Ok(if goes_on { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Assist {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> Result<(usize, Vec<Pair>)> {
        let before = line.get(..pos).unwrap_or_default();
        match words::candidates(before) {
            Some((start, found)) if !found.is_empty() => {
                let pair = |word: String| Pair { display: word.clone(), replacement: word };
                Ok((start, found.into_iter().map(pair).collect()))
            }
            _ => self.paths(before),
        }
    }
}
