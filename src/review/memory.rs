//! What a reviewer said before, and that it failed: in the session's files, for the next of its processes.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::conversation::Conversation;
use super::{Failed, Matter, Reviewer, Spoken};
use crate::decision::answer::subject;
use crate::decision::grant;
use crate::store::reviews::{Failure, Reviews};
use crate::store::sessions::{Memory, code_state};

/// A verdict that was given before.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Remembered {
    #[serde(flatten)]
    pub(super) spoken: Spoken,
    /// The record of the command that it was given for.
    #[serde(default)]
    pub(super) record: Option<String>,
}

impl Reviewer {
    /// Whether it may be let through without asking: all of it is known, and no program of it was refused in this
    /// turn.
    pub(super) fn is_open(&self, matter: &Matter<'_>, memory: Option<&Memory>) -> bool {
        let Matter { decision, facts, .. } = matter;
        // What a program does that runs code is told by its file.
        let known = facts.problems.iter().all(|doubt| doubt.execution)
            && facts.invocations.iter().all(|each| each.certain() && each.cwd.is_some());
        let resting = memory.map(|memory| &memory.resting);
        let rests = |program: &String| resting.is_some_and(|resting| resting.contains_key(program));
        known && !grant::programs(decision).iter().any(rests)
    }

    /// What a verdict is remembered under: everything that it leans on. None where it must not be: something is not
    /// known, a file cannot be read, or the program was refused in this turn.
    pub(super) fn key(
        &self,
        matter: &Matter<'_>,
        said: &Conversation,
        memory: Option<&Memory>,
    ) -> Option<String> {
        let Matter { request, decision, .. } = matter;
        if self.set.cache.is_zero() || !self.is_open(matter, memory) {
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

    pub(super) fn remembered(&self, key: &str) -> Option<Remembered> {
        let kept = Reviews::of(self.folders.as_ref()?).kept(&self.session, key)?;
        serde_json::from_value(kept).ok()
    }

    pub(super) fn remember(&self, key: &str, (spoken, record): (&Spoken, &str)) {
        let remembered = Remembered { spoken: spoken.clone(), record: Some(record.to_owned()) };
        let long = SignedDuration::try_from(self.set.cache).unwrap_or(SignedDuration::from_mins(5));
        if let (Some(folders), Ok(value)) = (&self.folders, serde_json::to_value(remembered)) {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::audit::redact::Secrets;
    use crate::policy::Verdict;
    use crate::policy::reviewing::Reviewing;
    use crate::review::testing::with_matter;

    fn reviewer() -> Reviewer {
        Reviewer {
            set: Reviewing { program: vec!["/opt/judge".to_owned()], ..Reviewing::default() },
            on_unavailable: Verdict::Deny,
            rests_after: 3,
            configuration: String::new(),
            project: None,
            policy: None,
            folders: None,
            session: "s".to_owned(),
            transcript: None,
            environment: Vec::new(),
            secrets: Secrets::default(),
        }
    }

    fn key(reviewer: &Reviewer, text: &str, memory: &Memory) -> Option<String> {
        with_matter(text, |matter| reviewer.key(matter, &Conversation::default(), Some(memory)))
    }

    #[test]
    fn only_what_is_wholly_known_has_a_key() {
        let (reviewer, memory) = (reviewer(), Memory::default());
        for (text, known) in [
            ("frob x", true),
            ("frob x && frob y", true),
            ("frob \"$UNKNOWN\"", false),
            ("frob $(frob y)", false),
            ("$UNKNOWN x", false),
            ("frob 'unclosed", false),
        ] {
            assert_eq!(key(&reviewer, text, &memory).is_some(), known, "{text}");
        }
        let mut resting = Memory::default();
        resting.resting.insert("frob".to_owned(), Timestamp::UNIX_EPOCH);
        assert_eq!(key(&reviewer, "frob x", &resting), None, "it was refused in this turn");
    }

    #[test]
    fn whatever_a_verdict_leans_on_changes_its_key() {
        let (one, memory) = (reviewer(), Memory::default());
        let first = key(&one, "frob x", &memory);
        let with = |change: fn(&mut Reviewer)| {
            let mut other = reviewer();
            change(&mut other);
            key(&other, "frob x", &memory)
        };
        assert_eq!(with(|_| ()), first);
        assert_ne!(key(&one, "frob  x", &memory), first);
        assert_ne!(with(|other| other.configuration = "v2".to_owned()), first);
        assert_ne!(with(|other| other.set.program = vec!["/opt/other".to_owned()]), first);
        assert_ne!(with(|other| other.set.prompt = Some("/p".to_owned())), first);
        assert_eq!(with(|other| other.set.cache = Duration::ZERO), None);
    }
}
