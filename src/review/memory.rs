//! What a reviewer said before, and that it failed: in the session's files, for the next of its processes.

use jiff::{SignedDuration, Timestamp};

use super::conversation::Conversation;
use super::{Failed, Matter, Reviewer, Spoken};
use crate::decision::answer::subject;
use crate::decision::grant;
use crate::store::reviews::{Failure, Reviews};
use crate::store::sessions::{Memory, code_state};

impl Reviewer {
    /// What a verdict is remembered under: everything that it leans on. None where it must not be: something is not
    /// known, a file cannot be read, or the program was refused in this turn.
    pub(super) fn key(
        &self,
        matter: &Matter<'_>,
        said: &Conversation,
        memory: Option<&Memory>,
    ) -> Option<String> {
        let Matter { request, decision, facts } = matter;
        // What a program does that runs code is told by its file, which is part of the key.
        let known = facts.problems.iter().all(|doubt| doubt.execution)
            && facts.invocations.iter().all(|each| each.certain() && each.cwd.is_some());
        let resting = memory.map(|memory| &memory.resting);
        let rests = |program: &String| resting.is_some_and(|resting| resting.contains_key(program));
        if self.set.cache.is_zero() || !known || grant::programs(decision).iter().any(rests) {
            return None;
        }
        let mut parts = vec![
            request.as_text().to_owned(),
            request.args.join("\u{1}"),
            request.cwd.to_str()?.to_owned(),
            decision.mode.word().to_owned(),
            self.configuration.clone(),
            said.version(),
            self.set.name(),
            format!("{:?} {:?} {}", self.set.prompt, self.set.style, self.set.evidence_rounds),
        ];
        for each in decision.requests.iter().filter(|each| each.is_told()) {
            let asked = &each.request;
            parts.push(format!(
                "{} {} {:?}",
                asked.capability.word(),
                subject(&asked.subject),
                asked.destroys
            ));
            for file in &asked.code {
                parts.push(format!("{file} {}", code_state(std::path::Path::new(file))?));
            }
        }
        Some(crate::store::hash(parts.join("\0").as_bytes()))
    }

    pub(super) fn remembered(&self, key: &str) -> Option<Spoken> {
        let kept = Reviews::of(self.folders.as_ref()?).kept(&self.session, key)?;
        serde_json::from_value(kept).ok()
    }

    pub(super) fn remember(&self, key: &str, spoken: &Spoken) {
        let long = SignedDuration::try_from(self.set.cache).unwrap_or(SignedDuration::from_mins(5));
        if let (Some(folders), Ok(value)) = (&self.folders, serde_json::to_value(spoken)) {
            // What cannot be kept is asked anew.
            let _ = Reviews::of(folders).keep(&self.session, key, value, long);
        }
    }

    /// Notes a failure for `gsh status`; it is remembered as no verdict.
    pub(super) fn note(&self, failed: &Failed) {
        let Some(folders) = &self.folders else { return };
        let failure = Failure {
            time: Timestamp::now(),
            reviewer: self.set.name(),
            cause: failed.cause.word().to_owned(),
            detail: self.secrets.redact(&failed.detail).0.into_owned(),
        };
        // The record has it as well.
        let _ = Reviews::of(folders).failed(&failure);
    }
}
