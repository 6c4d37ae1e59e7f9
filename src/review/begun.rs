//! A review on its way: what is known of it already, and the helper that asks for the rest.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use super::conversation::Conversation;
use super::memory::Remembered;
use super::program::heard;
use super::{Cause, Failed, Matter, Reviewed, Reviewer, Spoken};
use crate::store::sessions::{Memory, code_state};
use crate::sys::answer::{Bounds, Helper};
use crate::sys::process::Ended;

/// What is known before anybody is asked.
pub struct Look<'a> {
    pub(super) reviewer: &'a Reviewer,
    pub(super) matter: Matter<'a>,
    pub(super) said: Conversation,
    key: Option<String>,
    kept: Option<Remembered>,
    begun: Instant,
    /// The files that it runs as code, as they were.
    code: Vec<Option<String>>,
}

/// A review that was begun.
pub struct Begun<'a> {
    look: Look<'a>,
    work: Work,
}

enum Work {
    /// It was judged before.
    Kept(Remembered),
    /// Somebody is being asked.
    Asked(Helper),
    /// Nobody could be asked.
    Failed(Failed),
}

impl Reviewer {
    /// Judges, or says why not. What was judged before and is the same in everything needs no second asking.
    #[must_use]
    pub fn judge(&self, matter: Matter<'_>, memory: Option<&Memory>) -> Reviewed {
        self.look(matter, memory).begin().finish()
    }

    /// What is known of a matter before anybody is asked.
    #[must_use]
    pub fn look<'a>(&'a self, matter: Matter<'a>, memory: Option<&Memory>) -> Look<'a> {
        let begun = Instant::now();
        let said = self.transcript.as_deref().map(Conversation::read).unwrap_or_default();
        let key = self.key(&matter, &said, memory);
        let kept = key.as_deref().and_then(|key| self.remembered(key));
        Look { reviewer: self, matter, said, key, kept, begun, code: code(&matter) }
    }
}

impl<'a> Look<'a> {
    /// Whether the very same was judged before.
    #[must_use]
    pub fn is_remembered(&self) -> bool {
        self.kept.is_some()
    }

    /// Begins to ask, where that is needed.
    #[must_use]
    pub fn begin(mut self) -> Begun<'a> {
        let work = match self.kept.take() {
            Some(kept) => Work::Kept(kept),
            None => self.asked(),
        };
        Begun { look: self, work }
    }

    fn asked(&self) -> Work {
        let until = self.begun + self.reviewer.set.timeout;
        let helper = Helper::own(
            |mut pipe| {
                let outcome = self.reviewer.ask(&self.matter, &self.said, until);
                // Who waits takes a broken word for a failure.
                let _ = pipe.write_all(&serde_json::to_vec(&outcome).unwrap_or_default());
            },
            Bounds { until, most: 64 * 1024 },
        );
        match helper {
            Ok(helper) => Work::Asked(helper),
            Err(error) => Work::Failed(Failed::new(Cause::ProviderError, &error.to_string())),
        }
    }

    /// What is to run must be what was judged.
    fn unchanged(&self, spoken: Spoken) -> Result<Spoken, Failed> {
        if spoken.judged.allows && code(&self.matter) != self.code {
            return Err(Failed::new(Cause::InvalidOutput, "what it runs changed while it was reviewed"));
        }
        Ok(spoken)
    }

    /// Kept from an earlier command, it comes with that.
    fn reviewed(self, outcome: Result<Spoken, Failed>, kept: Option<Option<String>>) -> Reviewed {
        let reviewer = self.reviewer;
        match (&outcome, &self.key) {
            (Ok(spoken), Some(key)) if kept.is_none() => {
                reviewer.remember(key, (spoken, self.matter.record));
            }
            (Err(failed), _) => reviewer.note(failed),
            _ => {}
        }
        let rounds = outcome.as_ref().map_or(0, |spoken| spoken.rounds);
        let outcome = outcome.map(|spoken| spoken.judged);
        let (remembered, first) = (kept.is_some(), kept.flatten());
        let took = self.begun.elapsed();
        Reviewed { outcome, remembered, first, rounds, reviewer: reviewer.set.name(), took }
    }
}

impl Begun<'_> {
    /// Readable as soon as there is an answer; None where one is here already, or cannot be waited for.
    #[must_use]
    pub fn end(&self) -> Option<OwnedFd> {
        match &self.work {
            Work::Asked(helper) => helper.end().ok(),
            Work::Kept(_) | Work::Failed(_) => None,
        }
    }

    /// Waits for it.
    #[must_use]
    pub fn finish(self) -> Reviewed {
        let Self { look, work } = self;
        let kept = match &work {
            Work::Kept(kept) => Some(kept.record.clone()),
            Work::Asked(_) | Work::Failed(_) => None,
        };
        let outcome = match work {
            Work::Kept(kept) => Ok(kept.spoken),
            Work::Asked(helper) => said(helper).and_then(|spoken| look.unchanged(spoken)),
            Work::Failed(failed) => Err(failed),
        };
        look.reviewed(outcome, kept)
    }

    /// Ends it: nobody waits for it any more.
    #[must_use]
    pub fn dropped(self, why: &str) -> Reviewed {
        let Self { look, work } = self;
        drop(work);
        let outcome = Err(Failed::new(Cause::Cancelled, why));
        let reviewer = look.reviewer.set.name();
        Reviewed { outcome, remembered: false, first: None, rounds: 0, reviewer, took: look.begun.elapsed() }
    }
}

fn code(matter: &Matter<'_>) -> Vec<Option<String>> {
    let files = matter.decision.requests.iter().flat_map(|each| &each.request.code);
    files.map(|file| code_state(Path::new(file))).collect()
}

fn said(helper: Helper) -> Result<Spoken, Failed> {
    let died = || Failed::new(Cause::ProviderError, "the process that asks it died");
    let answer = helper.hear().map_err(|error| Failed::new(Cause::ProviderError, &error.to_string()))?;
    let (said, ended) = heard(answer)?;
    if ended != Some(Ended::Status(0)) {
        return Err(died());
    }
    let said: Result<Spoken, Failed> = serde_json::from_slice(&said).map_err(|_| died())?;
    // A signal that came to the helper alone was none to us.
    said.map_err(|failed| if failed.signal.is_some() { died() } else { failed })
}
