//! What a session remembers of each outcome: refusals are counted, answers that last are kept.

use jiff::Timestamp;

use super::{Answer, Refusal};
use crate::decision::{Decision, grant};
use crate::policy::Verdict;
use crate::store::sessions::{Memory, Sessions};

/// The ledger of one session.
#[derive(Debug, Clone)]
pub struct Ledger {
    /// Where sessions are remembered.
    pub sessions: Sessions,
    /// The session.
    pub session: String,
    /// What was remembered when the call came in.
    pub memory: Memory,
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
    /// By a mode, or because nobody could be asked: no count.
    Otherwise,
}

impl Ledger {
    /// Notes how a request ended.
    pub fn note(&self, decision: &Decision, outcome: &Result<Option<Answer>, Refusal>) {
        let refused = match outcome {
            Ok(_) => None,
            Err(refusal) => Some(Refused::of(decision, refusal)),
        };
        let nothing_new = match refused {
            None => self.memory.streak == 0 && self.memory.resting.is_empty(),
            Some(refused) => refused == Refused::Otherwise,
        };
        if nothing_new {
            return;
        }
        let now = Timestamp::now();
        // A count that could not be written is lost; the refusal itself stands.
        let _ = self.sessions.change(&self.session, |memory| {
            memory.notice_call(now);
            match refused {
                None => memory.streak = 0,
                Some(refused) => refused.count(memory, decision, now),
            }
        });
    }
}

impl Refused {
    fn of(decision: &Decision, refusal: &Refusal) -> Self {
        match refusal {
            Refusal::Person(_) => Self::ByPerson,
            Refusal::Policy if decision.floor.is_some() => Self::ByFloor,
            Refusal::Policy if decision.requests.iter().any(|each| each.matched.verdict == Verdict::Deny) => {
                Self::ByRule
            }
            Refusal::Policy | Refusal::NobodyToAsk(_) => Self::Otherwise,
        }
    }

    fn count(self, memory: &mut Memory, decision: &Decision, now: Timestamp) {
        memory.streak += 1;
        memory.refusals += u32::from(matches!(self, Self::ByPerson | Self::ByFloor));
        if self == Self::ByPerson {
            memory.refused = Some(now);
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
        let matched = Match { verdict, rule: None, reason: None, protected: false };
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
        let (ask, deny, allow) = (Verdict::Ask, Verdict::Deny, Verdict::Allow);
        // What came, and the counts after it.
        for (decision, outcome, streak, refusals) in [
            (decision(ask, None), Err(Refusal::Person(None)), 1, 1),
            (decision(deny, Some("power")), Err(Refusal::Policy), 2, 2),
            (decision(deny, None), Err(Refusal::Policy), 3, 2),
            (decision(ask, None), Err(Refusal::NobodyToAsk(Unavailable::NoTerminal)), 3, 2),
            (decision(allow, None), Ok(None), 0, 2),
            (decision(ask, None), Ok(Some(Answer::Once)), 0, 2),
        ] {
            let memory = sessions.read("s");
            let ledger = Ledger { sessions: sessions.clone(), session: "s".into(), memory };
            ledger.note(&decision, &outcome);
            let memory = sessions.read("s");
            assert_eq!((memory.streak, memory.refusals), (streak, refusals), "{outcome:?}");
        }
        assert!(sessions.read("s").resting.contains_key("make"));
        let ledger =
            Ledger { sessions: sessions.clone(), session: "quiet".into(), memory: Memory::default() };
        ledger.note(&decision(allow, None), &Ok(None));
        assert_eq!(sessions.known(), ["s"], "nothing is written for what is silent");
    }
}
