//! What a session remembers of each outcome: refusals are counted, answers that last are kept.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::answer::{Answer, Keeps, Kept, Scope};
use super::{Refusal, Settled};
use crate::audit::DecidedBy;
use crate::config::edit::{self, Outcome, Setting};
use crate::config::find::PROJECT;
use crate::config::new_rule::NewRule;
use crate::decision::{Decision, grant};
use crate::policy::{Layer, Rule, Verdict};
use crate::request::Request;
use crate::store::passes::{Bearer, Pass};
use crate::store::places::Folders;
use crate::store::sessions::{Grant, Memory, Sessions, code_state};
use crate::sys::passwd;

/// The ledger of one session.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// The user's folders.
    pub folders: Folders,
    /// The session.
    pub session: String,
    /// What was remembered when the call came in.
    pub memory: Memory,
    /// The project the call is made in.
    pub project: Option<String>,
    /// A project's file never allows anything here.
    pub forbids_trust: bool,
    /// A denial answers the questions that wait at the same terminal.
    pub together: bool,
    /// Who comes with the call, for what was approved in an agent's dialogue; None where nobody can tell.
    pub bearer: Option<Bearer>,
}

/// How an answer was given.
#[derive(Debug)]
pub struct Given<'a> {
    /// The code that was there before.
    pub code: &'a Code,
    /// At which terminal.
    pub terminal: Option<String>,
    /// In which panel: `terminal`, or `queue` with the question's name.
    pub panel: String,
    /// About which record.
    pub record: &'a str,
}

/// What kind of refusal it was, as far as counting goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refused {
    /// By a person: both counts.
    ByPerson,
    /// By the floor: both counts.
    ByFloor,
    /// By a rule: in a row only.
    ByRule,
    /// By a reviewer: in a row only, and what was granted for the program rests.
    ByReviewer,
    /// By a mode, or because nobody could be asked: no count.
    Otherwise,
}

impl Ledger {
    fn sessions(&self) -> Sessions {
        Sessions::of(&self.folders)
    }

    /// Where answers can be kept.
    #[must_use]
    pub fn keeps(&self) -> Keeps {
        let shown = |path: PathBuf| path.to_string_lossy().into_owned();
        let project = self.project.as_ref().map(|root| shown(Path::new(root).join(PROJECT)));
        Keeps { session: true, project, user: Some(shown(self.folders.user_file())) }
    }

    /// The approval of this very text in the dialogue of the agent that started us. It counts once.
    #[must_use]
    pub fn passed(&self, request: &Request) -> Option<Pass> {
        self.bearer.as_ref()?.take(&[&request.text], &request.cwd)
    }

    /// Counts how a request ended.
    pub fn count(&self, decision: &Decision, settled: &Settled) {
        // A first look never refuses, so it says nothing about refusals in a row either.
        if matches!(settled.by, DecidedBy::Classifier) {
            return;
        }
        let refused = settled.outcome.as_ref().err().map(|refusal| Refused::of(decision, refusal));
        let nothing_new = match refused {
            None => self.memory.streak == 0 && self.memory.resting.is_empty(),
            Some(refused) => refused == Refused::Otherwise,
        };
        if nothing_new {
            return;
        }
        let now = Timestamp::now();
        // A count that could not be written is lost; the refusal itself stands.
        let _ = self.sessions().change(&self.session, |memory| {
            memory.notice_call(now);
            match refused {
                None => memory.streak = 0,
                Some(refused) => refused.count(memory, decision, now),
            }
        });
    }

    /// Keeps an answer that lasts, bound to the code that was there before it was asked for, with who gave it
    /// and where. What is refused is noted at once, for the questions that wait.
    ///
    /// # Errors
    /// When it could not be kept: it then counts once.
    pub fn keep(&self, decision: &Decision, answer: &Answer, given: &Given<'_>) -> Result<(), String> {
        if !answer.lets_run() {
            let now = Some(Timestamp::now());
            // Where it cannot be noted, the questions that wait are asked.
            let _ = self.sessions().change(&self.session, |memory| memory.refused = now);
        }
        let exact = || grant::exact(decision).ok_or_else(|| "this can be allowed once only".to_owned());
        let (rules, until) = match answer {
            Answer::Once | Answer::Denied { .. } => return Ok(()),
            Answer::DeniedSession { .. } => (grant::refusing(decision), None),
            Answer::Session => (exact()?, None),
            Answer::Minutes(minutes) => {
                (exact()?, Some(Timestamp::now() + SignedDuration::from_mins(i64::from(*minutes))))
            }
            Answer::Always { patterns, scope } => {
                exact()?;
                self.write(patterns, *scope);
                // Other calls of this moment see it at once.
                (patterns.iter().map(Kept::rule).collect(), None)
            }
        };
        // A refusal holds whatever the file says by now.
        let code = if answer.lets_run() { given.code.clone()? } else { Vec::new() };
        let grant = Grant {
            id: String::new(),
            rules,
            made: Timestamp::now(),
            until,
            who: Some(passwd::own_name()),
            terminal: given.terminal.clone(),
            panel: Some(given.panel.clone()),
            record: Some(given.record.to_owned()),
            project: self.project.clone(),
            code,
        };
        let kept = self.sessions().change(&self.session, |memory| memory.keep(grant));
        kept.map(drop).map_err(|error| format!("the answer could not be kept, and counts once: {error}"))
    }

    /// Writes an "always" into a file.
    fn write(&self, patterns: &[Kept], scope: Scope) {
        let rule = |kept: &Kept| NewRule::new(kept.capability.word(), &kept.pattern, Verdict::Allow);
        let rules: Vec<NewRule> = patterns.iter().map(rule).collect();
        let setting = Setting {
            folders: &self.folders,
            project: self.project.as_deref().map(Path::new),
            forbids_trust: self.forbids_trust,
        };
        if let Outcome::Session(error) = edit::always(setting, &rules, scope) {
            eprintln!("gsh: no file takes the rule, so it holds for this session: {error}");
        }
    }

    /// The answer to this decision that was given while it waited for its turn: to another question of the
    /// same session.
    #[must_use]
    pub fn meanwhile(&self, decision: &Decision) -> Option<Answer> {
        let memory = self.sessions().read(&self.session);
        if self.together && memory.refused > self.memory.refused {
            let reason = Some("another command of the same moment was declined".to_owned());
            return Some(Answer::Denied { reason });
        }
        let layer = memory.layer(self.project.as_deref(), Timestamp::now())?;
        let rules: Vec<Rule> = layer.rules.into_iter().map(|found| found.rule).collect();
        (decision.lasting && grant::covers(&rules, decision)).then_some(Answer::Once)
    }
}

impl Kept {
    fn rule(&self) -> Rule {
        let rule = Rule::new(Layer::Session, self.capability.word(), &self.pattern, Verdict::Allow);
        Rule { lifts: true, ..rule }
    }
}

/// Files and their hashes; else which could not be read.
pub type Code = Result<Vec<(PathBuf, String)>, String>;

/// The code that an answer is bound to.
pub(super) fn bound(decision: &Decision) -> Code {
    let files = grant::asking(decision).flat_map(|each| &each.request.code);
    let bound = files.map(|file| {
        let state = code_state(Path::new(file));
        let state = state.ok_or_else(|| format!("{file} cannot be read, so the answer counts once"))?;
        Ok((PathBuf::from(file), state))
    });
    bound.collect()
}

impl Refused {
    fn of(decision: &Decision, refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Person(_) => Self::ByPerson,
            Refusal::Policy if decision.floor.is_some() => Self::ByFloor,
            Refusal::Policy if decision.requests.iter().any(|each| each.matched.verdict == Verdict::Deny) => {
                Self::ByRule
            }
            Refusal::Reviewer(_) => Self::ByReviewer,
            Refusal::Policy | Refusal::Unreviewed(_) | Refusal::NobodyToAsk(_) => Self::Otherwise,
        }
    }

    fn count(self, memory: &mut Memory, decision: &Decision, now: Timestamp) {
        memory.streak += 1;
        memory.refusals += u32::from(matches!(self, Self::ByPerson | Self::ByFloor));
        if self == Self::ByPerson {
            memory.refused = Some(now);
        }
        if matches!(self, Self::ByPerson | Self::ByReviewer) {
            memory.resting.extend(grant::programs(decision).into_iter().map(|program| (program, now)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Unavailable;
    use crate::decision::Judged;
    use crate::policy::{Capability, CapabilityRequest, Match, Mode, Subject};
    use crate::report::Span;
    use crate::store::places::Folders;

    fn decision(verdict: Verdict, floor: Option<&str>) -> Decision {
        let make = Subject::Command { written: "make x".into(), inner: vec![], allow_needs_all: false };
        let request =
            CapabilityRequest::new(Capability::ProcessExecute, make, String::new(), Span::default());
        let matched = Match { verdict, rule: None, reason: None, protected: false, held: false };
        Decision {
            floor: floor.map(Into::into),
            requests: vec![Judged { request, matched, verdict }],
            ..Decision::bare(verdict, "", Mode::Default)
        }
    }

    #[test]
    fn refusals_are_counted_by_who_refused() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        let sessions = Sessions::of(&folders);
        let ledger = |session: &str, memory| Ledger {
            bearer: None,
            folders: folders.clone(),
            session: session.to_owned(),
            memory,
            project: Some("/p".to_owned()),
            forbids_trust: false,
            together: true,
        };
        let (ask, deny, allow) = (Verdict::Ask, Verdict::Deny, Verdict::Allow);
        // What came, and the counts after it.
        for (decision, outcome, streak, refusals) in [
            (decision(ask, None), Err(Refusal::Person(None)), 1, 1),
            (decision(deny, Some("power")), Err(Refusal::Policy), 2, 2),
            (decision(deny, None), Err(Refusal::Policy), 3, 2),
            (decision(ask, None), Err(Refusal::NobodyToAsk(Unavailable::NoTerminal)), 3, 2),
            (decision(Verdict::Review, None), Err(Refusal::Reviewer("risky".to_owned())), 4, 2),
            (decision(allow, None), Ok(None), 0, 2),
            (decision(ask, None), Ok(Some(Answer::Once)), 0, 2),
        ] {
            let memory = sessions.read("s");
            ledger("s", memory)
                .count(&decision, &Settled { by: DecidedBy::Policy, outcome: outcome.clone() });
            let memory = sessions.read("s");
            assert_eq!((memory.streak, memory.refusals), (streak, refusals), "{outcome:?}");
        }
        assert!(sessions.read("s").resting.contains_key("make"));
        let settled = Settled { by: DecidedBy::Policy, outcome: Ok(None) };
        ledger("quiet", Memory::default()).count(&decision(allow, None), &settled);
        assert_eq!(sessions.known(), ["s"], "nothing is written for what is silent");
    }
}
