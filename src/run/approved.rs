//! The one value that [`run`](super::run) accepts, and who may make it.

use std::ffi::OsString;

use super::direct::Direct;
use super::environment::Variable;
use super::living::Living;
use super::sent::Sending;
use super::shell::Shell;
use super::supervise::{Limit, Start, Watch};
use crate::ask::Answer;
use crate::audit::Opened;
use crate::decision::Decision;
use crate::facts::Past;
use crate::policy::Verdict;
use crate::store::calls::{Call, Calls};
use crate::store::jobs::Jobs;

/// What is to run, complete.
#[derive(Debug)]
pub struct Plan {
    /// The decided bytes.
    pub text: Vec<u8>,
    /// The command inside, where the text is an agent's envelope.
    pub inside: Option<Vec<u8>>,
    /// The form in which the caller gave them.
    pub source: Source,
    /// The program to execute instead, where one simple command is all there is.
    pub direct: Option<Direct>,
    /// The real shell.
    pub shell: Shell,
    /// Its `argv[0]`: ours, since a name like `sh` or a leading `-` means something to bash.
    pub argv0: OsString,
    /// The options as given, without the end of options.
    pub options: Vec<OsString>,
    /// `$1` and on.
    pub args: Vec<OsString>,
    /// The whole environment, already without what would change the reading.
    pub environment: Vec<Variable>,
    /// Whether it gets a terminal of ours.
    pub terminal: TerminalUse,
    /// How long it may keep its caller.
    pub limit: Option<Limit>,
    /// Where it is kept if it becomes a job; None without a home.
    pub jobs: Option<Jobs>,
    /// The call, as those beneath it must know it, and where that is kept.
    pub call: Option<(Calls, Call)>,
    /// It is to be a job from its start, or is for one to read.
    pub job: Option<ForJob>,
    /// Whether gsh stays to see its end.
    pub supervision: Supervision,
    /// It may begin an editor.
    pub edits: bool,
    /// The shell that is given the text, where it is one of several statements.
    pub living: Option<Living>,
    /// What the text would leave in that shell.
    pub left: Past,
}

impl Plan {
    /// How it is started as a job, if it is.
    #[must_use]
    pub fn start(&self) -> Option<&Start> {
        match &self.job {
            Some(ForJob::Start(start)) => Some(start),
            Some(ForJob::Send(_)) | None => None,
        }
    }

    /// What the shell that gets the text has been left with by others.
    #[must_use]
    pub fn past(&self) -> Past {
        self.living.as_ref().map(Living::past).unwrap_or_default()
    }

    /// Whether the program itself may be executed where the text is one literal simple command: the
    /// text of `-c` with no option that would make bash do more than run it.
    #[must_use]
    pub fn takes_direct(&self) -> bool {
        let mut options = self.options.iter().filter_map(|option| option.to_str());
        let mut plain = self.options.iter().all(|option| option.to_str().is_some());
        while let Some(option) = options.next() {
            plain &= match option.strip_prefix('-') {
                Some("o") => matches!(options.next(), Some("errexit" | "nounset" | "pipefail")),
                Some("-norc" | "-noprofile") => true,
                Some(letters) => !letters.is_empty() && letters.chars().all(|letter| "ceu".contains(letter)),
                None => false,
            };
        }
        plain
            && self.inside.is_none()
            && matches!(self.source, Source::Command { .. })
            && !self.argv0.as_encoded_bytes().starts_with(b"-")
    }
}

/// The form in which a text was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// `-c TEXT [NAME]`; the options hold the `-c`.
    Command {
        /// `$0`, where the caller named it.
        name: Option<OsString>,
    },
    /// A script file.
    File {
        /// Its path as given, which is `$0`.
        name: OsString,
    },
    /// Standard input, read to its end.
    Stdin,
    /// A statement of a script on standard input.
    Statement {
        /// Nothing comes after it.
        last: bool,
    },
    /// A statement that was typed at a shell that lives on.
    Typed,
    /// No text: bash prints something of its own (`--version`, what is wrong with an option) and ends.
    Nothing,
}

/// What a text has to do with a job.
#[derive(Debug, Clone)]
pub enum ForJob {
    /// It becomes one.
    Start(Start),
    /// One reads it.
    Send(Sending),
}

/// When a command gets a pseudo-terminal of ours (`[run] pty`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TerminalUse {
    /// When standard input and output are terminals.
    #[default]
    WhenInteractive,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Whether gsh stays.
#[derive(Debug, Clone, Default)]
pub enum Supervision {
    /// As the command needs it.
    #[default]
    Auto,
    /// It becomes the command; how it ends is not observed.
    None,
    /// The command is supervised, whatever it is.
    Always,
    /// So it is supervised.
    By(Box<Watch>),
}

/// Something that may run: allowed or answered, and on record. It cannot be made from less, and
/// running uses it up.
///
/// ```compile_fail
/// // Nobody outside the crate makes one.
/// fn forge(plan: gsh::run::Plan) -> gsh::run::Approved {
///     gsh::run::Approved { plan }
/// }
/// ```
///
/// ```compile_fail
/// // It does not run twice.
/// fn twice(approved: gsh::run::Approved) {
///     let _first = gsh::run::run(approved);
///     let _second = gsh::run::run(approved);
/// }
/// ```
#[derive(Debug)]
pub struct Approved {
    plan: Plan,
}

impl Approved {
    /// From a decision that allows, or that asks and was answered, with its opened record. None for
    /// any other.
    #[must_use]
    pub(crate) fn new(
        decision: &Decision,
        answer: Option<&Answer>,
        _on_record: &Opened,
        plan: Plan,
    ) -> Option<Self> {
        let may_run = match decision.verdict {
            Verdict::Allow => answer.is_none_or(Answer::lets_run),
            Verdict::Ask | Verdict::Review => answer.is_some_and(Answer::lets_run),
            Verdict::Deny => false,
        };
        (may_run && decision.floor.is_none()).then_some(Self { plan })
    }

    #[cfg(test)]
    pub(super) fn for_tests(plan: Plan) -> Self {
        Self { plan }
    }

    pub(super) fn into_plan(self) -> Plan {
        self.plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Record, open};
    use crate::policy::Mode;

    fn decision(verdict: Verdict, floor: Option<&'static str>) -> Decision {
        Decision { floor: floor.map(Into::into), ..Decision::bare(verdict, "", Mode::Default) }
    }

    fn may_run(decision: &Decision, answer: Option<&Answer>) -> Option<bool> {
        let folder = tempfile::tempdir().ok()?;
        let opened = open(Some(folder.path()), folder.path(), Record::for_tests(), 1).ok()?;
        let plan = Plan {
            text: b"ls".to_vec(),
            inside: None,
            source: Source::Stdin,
            direct: None,
            shell: Shell::find(None).ok()?,
            argv0: "bash".into(),
            options: vec![],
            args: vec![],
            environment: vec![],
            terminal: TerminalUse::Never,
            limit: None,
            jobs: None,
            call: None,
            job: None,
            supervision: Supervision::Auto,
            living: None,
            edits: false,
            left: Past::default(),
        };
        Some(Approved::new(decision, answer, &opened, plan).is_some())
    }

    #[test]
    fn only_an_allow_or_an_answered_question_may_run() {
        let (once, denied) = (Answer::Once, Answer::Denied { reason: None });
        let (session, never) = (Answer::Session, Answer::DeniedSession { reason: None });
        let table = [
            (Verdict::Allow, None, None, true),
            (Verdict::Ask, None, None, false),
            (Verdict::Ask, None, Some(&once), true),
            (Verdict::Ask, None, Some(&denied), false),
            (Verdict::Review, None, Some(&once), true),
            (Verdict::Ask, None, Some(&session), true),
            (Verdict::Ask, None, Some(&never), false),
            (Verdict::Review, None, None, false),
            (Verdict::Deny, None, Some(&once), false),
            (Verdict::Deny, Some("canary"), Some(&once), false),
            (Verdict::Allow, Some("canary"), None, false),
            (Verdict::Allow, None, Some(&denied), false),
        ];
        for (verdict, floor, answer, expected) in table {
            assert_eq!(may_run(&decision(verdict, floor), answer), Some(expected), "{verdict:?} {answer:?}");
        }
    }
}
