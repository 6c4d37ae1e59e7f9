//! A person's answer, from a terminal that is known to be a person's.

pub mod answer;
mod changes;
pub mod contents;
pub mod deceit;
mod details;
pub mod dialog;
pub mod hearing;
pub mod hosts;
pub mod keys;
pub mod layout;
pub mod ledger;
mod line;
pub mod panel;
mod parts;
mod past;
mod plain;
pub mod queue;
mod reviewed;
mod rival;
pub mod sanitize;
mod screen;
mod scripts;
pub mod terminal;
#[cfg(test)]
mod testing;
mod tool;
mod turn;
mod views;

use std::os::fd::AsFd;
use std::path::Path;

use thiserror::Error;

pub use self::answer::{Answer, Keeps, Kept, Offers, Scope};
pub use self::contents::{Contents, OnDisk};
pub use self::hearing::{Heard, Hearing, Outcome};
use self::ledger::Given;
pub use self::ledger::Ledger;
pub use self::panel::Panel;
use self::past::Past;
pub use self::rival::Rival;
use crate::audit::redact::Secrets;
use crate::audit::{DecidedBy, Lasting};
use crate::decision::Decision;
use crate::facts::Facts;
use crate::policy::Verdict;
use crate::request::Request;
use crate::review::{Failed, Reviewer};
use crate::syntax::Script;
use crate::sys::tty::LineMode;

/// What a question is about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// What was requested.
    pub request: &'a Request,
    /// What was decided.
    pub decision: &'a Decision,
    /// The text, read.
    pub script: &'a Script,
    /// What it would do.
    pub facts: &'a Facts,
    /// The name of its record.
    pub record: &'a str,
}

/// What the caller knows that a question shows.
#[derive(Clone)]
pub struct Help<'a> {
    /// What files hold.
    pub contents: &'a dyn Contents,
    /// The past commands that a pattern would have covered, newest first.
    pub covered: &'a dyn Fn(&str) -> Vec<String>,
    /// Where answers are kept.
    pub keeps: Keeps,
    /// After a wait for other questions at the same terminal: their answer, where it answers this one too.
    pub meanwhile: &'a dyn Fn() -> Option<Answer>,
    /// Told of the answer at the terminal here while that is still ours: the next question looks at what it left.
    pub answered: &'a dyn Fn(&Answer),
    /// A reviewer that is asked at the same time.
    pub rival: Option<&'a dyn Rival>,
}

impl Help<'_> {
    /// Nothing is known and nothing is kept: once, or no.
    #[must_use]
    pub fn none() -> Help<'static> {
        Help {
            contents: &contents::Unknown,
            covered: &|_| Vec::new(),
            keeps: Keeps::default(),
            meanwhile: &|| None,
            answered: &|_| (),
            rival: None,
        }
    }
}

/// Why nobody could be asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Unavailable {
    /// The process has no terminal.
    #[error("there is no terminal to ask at")]
    NoTerminal,
    /// Questions were switched off (`--non-interactive`).
    #[error("questions are switched off")]
    NonInteractive,
    /// Somebody else is in front of the terminal: its keys are not meant for us.
    #[error("gsh runs in the background of this terminal")]
    Background,
    /// A program reads the terminal's keys one by one: a question would be painted over it, and its keys
    /// and ours would mix. The agent among our ancestors, if there is one.
    #[error("{} uses the whole terminal", .0.as_deref().unwrap_or("a program"))]
    Occupied(Option<String>),
    /// The terminal may be an agent's, and no person vouched for its kind: the word to do so.
    #[error("the terminal may not be a person's: {0} holds it")]
    NotAPersons(String),
    /// The terminal's window was opened by a program that an agent started.
    #[error("the terminal may not be a person's: {0} opened it")]
    OpenedByAgent(String),
    /// A signal that ends gsh came while the question was open.
    #[error("question abandoned (signal {0})")]
    Abandoned(i32),
    /// The question is kept and was not answered in time, or nobody listens.
    #[error("{here}; elsewhere {}; question {question}", kept(*.waited))]
    Kept {
        /// Why nobody was asked here.
        here: Box<Unavailable>,
        /// Its name.
        question: String,
        /// How many seconds it waited; None where nobody listens.
        waited: Option<u64>,
    },
    /// It could not be kept either.
    #[error("{here}; elsewhere the question could not be kept ({why})")]
    NoQueue {
        /// Why nobody was asked here.
        here: Box<Unavailable>,
        /// Why not.
        why: String,
    },
    /// What would run is not what was asked about any more.
    #[error("what it runs changed while the question was open")]
    Changed,
    /// A reviewer that was asked at the same time has answered.
    #[error("the reviewer answered first")]
    Overtaken,
    /// The terminal went away or failed.
    #[error("the terminal failed: {0}")]
    Failed(String),
}

fn kept(waited: Option<u64>) -> String {
    match waited {
        Some(seconds) => format!("nobody answered within {seconds} s"),
        None => "nobody listens (gsh approvals)".to_owned(),
    }
}

impl Unavailable {
    /// Why nobody answered elsewhere, where somebody might have.
    #[must_use]
    pub fn elsewhere(&self) -> Option<String> {
        match self {
            Self::Kept { waited, .. } => Some(kept(*waited)),
            Self::NoQueue { why, .. } => Some(format!("the question could not be kept ({why})")),
            _ => None,
        }
    }

    /// Whether a person may be asked elsewhere instead.
    fn leaves_elsewhere(&self) -> bool {
        match self {
            Self::NoTerminal | Self::NonInteractive | Self::Background | Self::Occupied(_) => true,
            Self::NotAPersons(_) | Self::OpenedByAgent(_) => true,
            Self::Kept { .. } | Self::NoQueue { .. } | Self::Changed => false,
            Self::Abandoned(_) | Self::Overtaken | Self::Failed(_) => false,
        }
    }
}

impl From<std::io::Error> for Unavailable {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Who refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// Rules, floor or mode.
    Policy,
    /// A person, with their reason.
    Person(Option<String>),
    /// A reviewer, with its reason.
    Reviewer(String),
    /// A reviewer would have had to say, and it failed: nothing was found against it.
    Unreviewed(Failed),
    /// A person would have had to say, and none could be asked.
    NobodyToAsk(Unavailable),
}

impl Refusal {
    /// What a person said with it.
    #[must_use]
    pub fn feedback(&self) -> Option<&str> {
        match self {
            Self::Person(reason) => reason.as_deref(),
            Self::Policy | Self::Reviewer(_) | Self::Unreviewed(_) | Self::NobodyToAsk(_) => None,
        }
    }

    /// Why nothing ran, for the closing record.
    #[must_use]
    pub fn why(&self) -> &'static str {
        match self {
            Self::NobodyToAsk(Unavailable::Abandoned(_)) => "question abandoned",
            Self::Unreviewed(_) => "review unavailable",
            _ => "refused",
        }
    }
}

/// What a decision comes to when whoever may be asked was asked.
#[derive(Debug)]
pub struct Settled {
    /// Who made it final.
    pub by: DecidedBy,
    /// The answer that lets it run (none was needed for an allow), or who refused.
    pub outcome: Result<Option<Answer>, Refusal>,
}

/// Asks a reviewer or a person where the decision says so, and has the ledger of the session note what came of it.
/// Without a `manner` nobody may be asked.
#[must_use]
pub fn settle(question: &Question<'_>, ledger: Option<&Ledger>, manner: Option<&Manner>) -> Settled {
    let decision = question.decision;
    let passed = manner.and_then(|manner| manner.passed.clone());
    let settled = match (decision.verdict, passed) {
        (Verdict::Allow, _) => Settled::new(DecidedBy::Policy, Ok(None)),
        (Verdict::Deny, _) => Settled::new(DecidedBy::Policy, Err(Refusal::Policy)),
        (_, Some(record)) => Settled::new(DecidedBy::Cache { record }, Ok(Some(Answer::Once))),
        (Verdict::Review, None) => reviewed::settle(question, ledger, manner),
        (Verdict::Ask, None) => by_person(question, ledger, manner, None),
    };
    if let Some(ledger) = ledger {
        ledger.count(decision, &settled);
    }
    settled
}

/// What a person said in the agent's own dialogue a moment ago.
fn by_dialogue(question: &Question<'_>, ledger: Option<&Ledger>) -> Option<Settled> {
    let pass = ledger?.passed(question.request)?;
    let by = DecidedBy::Dialogue { agent: pass.agent, call: pass.call };
    Some(Settled::new(by, Ok(Some(Answer::Once))))
}

/// Asks a person, and keeps what their answer leaves behind.
fn by_person(
    question: &Question<'_>,
    ledger: Option<&Ledger>,
    manner: Option<&Manner>,
    rival: Option<&dyn Rival>,
) -> Settled {
    let decision = question.decision;
    if let Some(settled) = by_dialogue(question, ledger) {
        return settled;
    }
    // What a secret stands in is kept nowhere.
    let open = ledger.filter(|_| !Secrets::are_in(question.request.as_text()));
    let code = ledger::bound(decision);
    let keep = |answer: &Answer, (terminal, panel): (Option<String>, String)| {
        let given = Given { code: &code, terminal, panel, record: question.record };
        if let Some(Err(lost)) = ledger.map(|ledger| ledger.keep(decision, answer, &given)) {
            eprintln!("gsh: {lost}");
        }
    };
    let keep_here = |answer: &Answer| keep(answer, (terminal::own_name(), "terminal".to_owned()));
    let keeps = open.map(Ledger::keeps).unwrap_or_default();
    let meanwhile = || ledger.and_then(|ledger| ledger.meanwhile(decision));
    let past = Past::below(ledger.map(|ledger| ledger.folders.state.as_path()));
    let covered = |pattern: &str| past.covered(pattern);
    let contents: &dyn Contents = &OnDisk;
    let help =
        Help { contents, covered: &covered, keeps, meanwhile: &meanwhile, answered: &keep_here, rival };
    let manner = manner.ok_or(Unavailable::NonInteractive);
    let answer = manner.and_then(|manner| ask_somewhere(question, &help, manner));
    if let Ok((answer, DecidedBy::PersonElsewhere { terminal, question, .. })) = &answer {
        keep(answer, (Some(terminal.clone()), format!("queue {question}")));
    }
    Settled::by_person(answer)
}

impl Settled {
    /// For the record: how long an answer lasts, or what a refusal says.
    ///
    /// # Errors
    /// For a refusal: what the person said with it.
    pub fn told(&self) -> Result<Lasting, Option<&str>> {
        let (scope, minutes, kept) = match &self.outcome {
            Ok(Some(Answer::Minutes(minutes))) => ("minutes", Some(*minutes), vec![]),
            Ok(Some(Answer::Session)) => ("session", None, vec![]),
            Ok(Some(Answer::Always { patterns, .. })) => {
                ("always", None, patterns.iter().map(ToString::to_string).collect())
            }
            Ok(_) => ("once", None, vec![]),
            Err(refusal) => return Err(refusal.feedback()),
        };
        Ok(Lasting { scope, minutes, kept })
    }

    fn new(by: DecidedBy, outcome: Result<Option<Answer>, Refusal>) -> Self {
        Self { by, outcome }
    }

    fn by_person(answer: Result<(Answer, DecidedBy), Unavailable>) -> Self {
        match answer {
            Ok((answer, by)) if answer.lets_run() => Self::new(by, Ok(Some(answer))),
            Ok((answer, by)) => Self::new(by, Err(Refusal::Person(answer.reason().map(str::to_owned)))),
            Err(why) => Self::new(DecidedBy::Nobody { why: why.to_string() }, Err(Refusal::NobodyToAsk(why))),
        }
    }
}

/// At the terminal here, if it is a person's; else where a person is.
fn ask_somewhere(
    question: &Question<'_>,
    help: &Help<'_>,
    manner: &Manner,
) -> Result<(Answer, DecidedBy), Unavailable> {
    let panel = Panel::new(question, help);
    let here = if manner.quiet {
        Err(Unavailable::NonInteractive)
    } else {
        let state = || manner.elsewhere.as_ref().map(|how| queue::state(question, &panel, how));
        unchanged(&state, || ask(&panel, help, manner))
    };
    match (here, &manner.elsewhere) {
        (Ok(answer), _) => Ok((answer, DecidedBy::Person { terminal: terminal::own_name() })),
        // Who races here goes elsewhere only after the reviewer.
        (Err(why), Some(how)) if why.leaves_elsewhere() && help.rival.is_none() => {
            queue::ask(question, &panel, (how, why)).map(queue::FromElsewhere::recorded)
        }
        (Err(why), _) => Err(why),
    }
}

/// What was shown must be what runs.
fn unchanged(
    state: &dyn Fn() -> Option<String>,
    ask: impl FnOnce() -> Result<Answer, Unavailable>,
) -> Result<Answer, Unavailable> {
    let before = state();
    let answer = ask()?;
    if answer.lets_run() && state() != before { Err(Unavailable::Changed) } else { Ok(answer) }
}

/// How to ask (`[ask]`).
#[derive(Debug, Clone, Default)]
pub struct Manner {
    /// Plain lines and typed words, for screen readers.
    pub plain: bool,
    /// Kinds of terminals, and absolute paths of programs holding one, that the user vouched for.
    pub terminals: Vec<String>,
    /// What the terminal can show.
    pub style: Style,
    /// Nobody is asked at this terminal.
    pub quiet: bool,
    /// How to ask elsewhere; None where nobody is to be asked there.
    pub elsewhere: Option<queue::Elsewhere>,
    /// The shell whose line editor reads this terminal's keys waits for this very answer.
    pub behind_editor: bool,
    /// This very command was let through a moment ago, by the call of gsh whose place this process takes: nobody
    /// is asked twice.
    pub passed: Option<String>,
    /// Who judges what is to be reviewed; None where a person does.
    pub reviewer: Option<Reviewer>,
}

impl Manner {
    /// Whether a person sits at a terminal here whose keys are seen one by one.
    fn has_person(&self) -> bool {
        !self.quiet && !self.plain && terminal::persons(&self.terminals).is_ok()
    }
}

/// What a terminal can show. Nothing is said by colour alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// Colours.
    pub colours: bool,
    /// Painting over what was painted before.
    pub repaints: bool,
}

impl Style {
    /// From `TERM` and `NO_COLOR`.
    #[must_use]
    pub fn of(term: Option<&str>, no_color: Option<&str>) -> Self {
        let able = term.is_some_and(|term| !matches!(term, "" | "dumb"));
        Self { colours: able && no_color.is_none_or(str::is_empty), repaints: able }
    }
}

/// Asks, if there is a person's terminal.
///
/// # Errors
/// When nobody could be asked.
pub fn ask(panel: &Panel, help: &Help<'_>, manner: &Manner) -> Result<Answer, Unavailable> {
    let place = terminal::persons(&manner.terminals)?;
    ask_at(&place, panel, help, manner)
}

/// Asks at this terminal, whoever holds it: for a terminal that is known to be a person's.
///
/// # Errors
/// When nobody could be asked.
pub fn ask_at(place: &Path, panel: &Panel, help: &Help<'_>, manner: &Manner) -> Result<Answer, Unavailable> {
    let terminal = crate::sys::tty::open(place)?;
    let _lines = manner.behind_editor.then(|| LineMode::enter(terminal.as_fd())).transpose()?;
    if manner.plain {
        plain::ask(&terminal, panel, help)
    } else {
        screen::ask(&terminal, panel, help, manner.style)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_repainting_need_a_terminal_that_has_them() {
        let table = [
            (Some("xterm"), None, true, true),
            (Some("xterm"), Some(""), true, true),
            (Some("xterm"), Some("1"), false, true),
            (Some("dumb"), None, false, false),
            (None, None, false, false),
        ];
        for (term, no_color, colours, repaints) in table {
            assert_eq!(Style::of(term, no_color), Style { colours, repaints }, "{term:?} {no_color:?}");
        }
    }
}
