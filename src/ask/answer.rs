//! What a person can say, what each answer keeps, and which answers a question offers.

pub use crate::config::edit::Scope;
use crate::decision::Decision;
use crate::decision::grant::{self, asking};
use crate::policy::{Capability, Subject};

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This text, here, this once.
    Once,
    /// Exactly what was asked about ([`grant::exact`]), for so many minutes.
    Minutes(u32),
    /// Exactly what was asked about ([`grant::exact`]), until the session ends.
    Session,
    /// These patterns from now on, as rules.
    Always {
        /// What is kept, for each asking part in order.
        patterns: Vec<Kept>,
        /// Where.
        scope: Scope,
    },
    /// No.
    Denied {
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// No, and not again in this session.
    DeniedSession {
        /// Why, in the person's words.
        reason: Option<String>,
    },
}

impl Answer {
    /// Whether what was asked about may run.
    #[must_use]
    pub fn lets_run(&self) -> bool {
        match self {
            Self::Once | Self::Minutes(_) | Self::Session | Self::Always { .. } => true,
            Self::Denied { .. } | Self::DeniedSession { .. } => false,
        }
    }

    /// Why not, in the person's words.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Denied { reason } | Self::DeniedSession { reason } => reason.as_deref(),
            _ => None,
        }
    }
}

/// One rule that an answer makes: it allows the pattern for the capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// For what.
    pub capability: Capability,
    /// In the pattern language of rules.
    pub pattern: String,
}

impl std::fmt::Display for Kept {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} \"{}\"", self.capability.word(), self.pattern)
    }
}

/// What "always" can be said of: one asking part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offered {
    /// The text that is asked about.
    pub subject: String,
    /// What it asks for.
    pub capabilities: Vec<Capability>,
    /// Patterns that cover it, most specific first; never empty.
    pub patterns: Vec<String>,
}

impl Offered {
    /// The rules that this pattern makes for the part.
    #[must_use]
    pub fn kept(&self, pattern: &str) -> Vec<Kept> {
        let one = |capability: &Capability| Kept { capability: *capability, pattern: pattern.to_owned() };
        self.capabilities.iter().map(one).collect()
    }
}

/// Where the caller keeps answers; nothing that it does not keep is offered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keeps {
    /// Answers hold for minutes and for the session.
    pub session: bool,
    /// Where a rule for this project would be written.
    pub project: Option<String>,
    /// Where a rule of the user would be written.
    pub user: Option<String>,
}

impl Keeps {
    /// The place of a scope.
    #[must_use]
    pub fn place(&self, scope: Scope) -> Option<&str> {
        match scope {
            Scope::Project => self.project.as_deref(),
            Scope::User => self.user.as_deref(),
        }
    }
}

/// The answers beside once and no that a question offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Offers {
    /// A denial for the session.
    pub denial: bool,
    /// What is kept for minutes or the session; empty when nothing is.
    pub exact: Vec<Kept>,
    /// The parts of an "always", in order; empty when none is offered.
    pub always: Vec<Offered>,
    /// Where answers are kept.
    pub keeps: Keeps,
}

impl Offers {
    /// What the rule of refusal leaves: only once where no answer may outlive the call, no "always" where
    /// one asking part has no pattern.
    #[must_use]
    pub fn new(decision: &Decision, keeps: Keeps) -> Self {
        let only_once = !decision.lasting;
        let exact = if only_once || !keeps.session { Vec::new() } else { exact(decision) };
        let kept = keeps.project.is_some() || keeps.user.is_some();
        let always = if only_once || !kept || decision.suggestions.is_empty() {
            Vec::new()
        } else {
            parts(decision).unwrap_or_default()
        };
        Self { denial: keeps.session, exact, always, keeps }
    }
}

/// What an answer for minutes or the session keeps, as it is shown: exactly what was asked about and
/// nothing else.
fn exact(decision: &Decision) -> Vec<Kept> {
    let mut found = Vec::new();
    for rule in grant::exact(decision).unwrap_or_default() {
        let capability = Capability::ALL.into_iter().find(|each| each.word() == rule.capability);
        let kept = capability.map(|capability| Kept { capability, pattern: rule.pattern });
        found.extend(kept.filter(|kept| !found.contains(kept)));
    }
    found
}

/// The asking parts, each with its patterns. One command that asks for several capabilities is one
/// part. None when a part has no pattern: the rest would not be enough. The network alone needs none of
/// its own: what the command does there is what it does.
fn parts(decision: &Decision) -> Option<Vec<Offered>> {
    let mut found: Vec<(&Subject, Offered)> = Vec::new();
    for judged in asking(decision) {
        let request = &judged.request;
        if request.suggestions.is_empty() && request.capability != Capability::NetworkAccess {
            return None;
        }
        let index = found.iter().position(|(subject, _)| **subject == request.subject);
        let index = index.unwrap_or_else(|| {
            let subject = crate::decision::answer::subject(&request.subject).to_owned();
            found.push((&request.subject, Offered { subject, ..Offered::default() }));
            found.len() - 1
        });
        let (_, part) = found.get_mut(index)?;
        if !part.capabilities.contains(&request.capability) {
            part.capabilities.push(request.capability);
        }
        for suggestion in &request.suggestions {
            if !part.patterns.contains(suggestion) {
                part.patterns.push(suggestion.clone());
            }
        }
    }
    let parts: Vec<Offered> = found.into_iter().map(|(_, part)| part).collect();
    parts.iter().all(|part| !part.patterns.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, shown};
    use super::*;

    fn offers(text: &str) -> Offers {
        shown(text, |question| Offers::new(question.decision, keeps()))
    }

    #[test]
    fn the_rule_of_refusal_decides_what_is_offered() {
        // text, minutes and session, parts of an always
        let table: [(&str, bool, &[&[&str]]); 12] = [
            ("npm run dev", true, &[&["npm run dev"]]),
            ("npm run dev -x", true, &[&["npm run dev -x", "npm run dev *"]]),
            ("git gc && npm run dev", true, &[&["git gc"], &["npm run dev"]]),
            ("git commit -m x", true, &[&["git commit -m x", "git commit *"]]),
            ("rm -rf build", false, &[]),
            ("rm a.txt", true, &[]),
            ("rm a.txt && npm run dev", true, &[]),
            ("npm run dev && rm a.txt", false, &[]),
            ("npm run $UNKNOWN", false, &[]),
            ("frobnicate $(cat a.txt)", false, &[]),
            ("echo x > .git/hooks/pre-commit", false, &[]),
            ("git push --force origin x", true, &[]),
        ];
        for (text, exact, parts) in table {
            let offers = offers(text);
            let found: Vec<Vec<&str>> =
                offers.always.iter().map(|part| part.patterns.iter().map(String::as_str).collect()).collect();
            assert_eq!(
                (!offers.exact.is_empty(), found),
                (exact, parts.iter().map(|p| p.to_vec()).collect()),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_is_offered_that_nobody_keeps() {
        let none = shown("npm run dev", |question| Offers::new(question.decision, Keeps::default()));
        assert_eq!(none, Offers::default());
    }

    #[test]
    fn what_is_kept_for_a_time_is_exactly_what_was_asked() {
        let found = shown("npm run 'a*b'", |question| exact(question.decision));
        assert_eq!(
            found.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["process.execute \"npm run 'a\\*b'\""]
        );
    }

    #[test]
    fn only_a_yes_lets_run() {
        let table = [
            (Answer::Once, true),
            (Answer::Minutes(1), true),
            (Answer::Session, true),
            (Answer::Always { patterns: vec![], scope: Scope::User }, true),
            (Answer::Denied { reason: None }, false),
            (Answer::DeniedSession { reason: None }, false),
        ];
        for (answer, expected) in table {
            assert_eq!(answer.lets_run(), expected, "{answer:?}");
        }
    }
}
