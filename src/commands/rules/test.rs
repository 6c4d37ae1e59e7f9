//! `gsh rules test`: every example of every rule, held against the rule by itself, and against all rules as
//! they hold together.

use std::fmt::Write;

use super::list::visible;
use crate::config::read::{Example, Reading};
use crate::policy::forms::with_home;
use crate::policy::pattern::{self, Pattern};
use crate::policy::{Capability, CapabilityRequest, Destroys, Match, Policy, Rule, Subject, Verdict};
use crate::report::Span;

/// What came of the examples.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// For a person.
    pub text: String,
    /// How many are as they say.
    pub passed: usize,
    /// How many are not.
    pub failed: usize,
    /// How many are matched, but decided by another rule.
    pub overruled: usize,
}

/// Runs the examples of the files against the policy that they make.
#[must_use]
pub fn run(readings: &[Reading], policy: &Policy) -> Outcome {
    let mut outcome = Outcome::default();
    for example in readings.iter().flat_map(|reading| &reading.examples) {
        let subjects = example.matches.iter().map(|subject| (subject, true));
        for (subject, wanted) in subjects.chain(example.not_matches.iter().map(|subject| (subject, false))) {
            outcome.add(example, subject, wanted, policy);
        }
    }
    let Outcome { passed, failed, overruled, .. } = outcome;
    // Writing to a string cannot fail.
    let _ = writeln!(outcome.text, "{passed} passed, {failed} failed, {overruled} decided by another rule.");
    outcome
}

impl Outcome {
    fn add(&mut self, example: &Example, subject: &str, wanted: bool, policy: &Policy) {
        let rule = &example.rule;
        let (mark, more) = if matches(rule, subject, policy) != wanted {
            self.failed += 1;
            ("FAIL", String::new())
        } else {
            self.passed += 1;
            match Some(()).filter(|()| wanted).and_then(|()| overruled(rule, subject, policy)) {
                Some(other) => {
                    self.overruled += 1;
                    ("warn", format!("; {}", decided_by(&other)))
                }
                None => ("ok", String::new()),
            }
        };
        let word = if wanted { "matches" } else { "does not match" };
        let (action, pattern) = (rule.action.word(), visible(&rule.pattern));
        let _ = writeln!(
            self.text,
            "{mark:<4}  {}: {action} {} \"{pattern}\" {word} `{}`{}",
            visible(&rule.place()),
            rule.capability,
            visible(subject),
            visible(&more)
        );
    }
}

/// The exit status: 1 if an example failed, also where that is a mistake of the file.
#[must_use]
pub fn status(outcome: &Outcome) -> u8 {
    u8::from(outcome.failed > 0)
}

fn decided_by(other: &Match) -> String {
    let verdict = other.verdict.word();
    match &other.rule {
        Some(rule) => format!("but {verdict}, by {}: \"{}\"", rule.place(), rule.pattern),
        None => format!("but {verdict}, by default: {}", other.reason.as_deref().unwrap_or_default()),
    }
}

/// Whether the rule's pattern by itself matches.
fn matches(rule: &Rule, subject: &str, policy: &Policy) -> bool {
    let home = policy.places.home.as_deref();
    let is_file = rule.capability.starts_with("file.");
    let pattern = if is_file { with_home(&rule.pattern, home) } else { Some(rule.pattern.clone()) };
    pattern.is_some_and(|pattern| Pattern::new(&pattern).matches(subject))
}

/// What decides a subject in the rule's place, where that makes a difference.
fn overruled(rule: &Rule, subject: &str, policy: &Policy) -> Option<Match> {
    let capabilities =
        Capability::ALL.into_iter().filter(|each| pattern::matches(&rule.capability, each.word()));
    capabilities.map(|capability| policy.evaluate(&request(rule, capability, subject))).find(|found| {
        let decides = found.rule.as_ref().is_some_and(|other| is_same(other, rule));
        !decides && found.verdict != rule.action
    })
}

/// The same rule of the same file; composing it may have changed its layer or its answer.
fn is_same(one: &Rule, other: &Rule) -> bool {
    (&one.file, one.line, &one.pattern) == (&other.file, other.line, &other.pattern)
}

fn request(rule: &Rule, capability: Capability, subject: &str) -> CapabilityRequest {
    let text = subject.to_owned();
    let loses = rule.destroys && rule.action == Verdict::Allow && capability.is_write();
    let subject = if capability.is_file() {
        Subject::Path(vec![text])
    } else {
        Subject::Command { written: text, inner: vec![], allow_needs_all: false }
    };
    let request = CapabilityRequest::new(capability, subject, String::new(), Span::default());
    CapabilityRequest { destroys: loses.then_some(Destroys::Recursive), ..request }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::read::{Origin, read};
    use crate::policy::compose::{Composition, compose};
    use crate::policy::{Layer, Places};

    fn outcome(text: &str) -> Outcome {
        let path = Path::new("config.toml");
        let home = Some("/home/u");
        let reading = read(text, &Origin { layer: Layer::User, path, root: None, home });
        let places = Places { home: home.map(str::to_owned), ..Places::default() };
        let policy = compose(vec![reading.layer.clone()], Composition::new(places, "2030-01-01"));
        run(&[reading], &policy)
    }

    #[test]
    fn alone_and_together() {
        let rule = |pattern: &str, action: &str, examples: &str| {
            format!(
                "[[permissions.rules]]\ncapability = 'process.execute'\npattern = '{pattern}'\naction = '{action}'\n{examples}\n"
            )
        };
        let sound =
            rule("npm test *", "allow", "match = ['npm test', 'npm test x']\nnot_match = ['npm tests']");
        let after = rule("npm *", "deny", "");
        let wrong = rule("npm test *", "allow", "match = ['npm run']\nnot_match = ['npm test']");
        let home =
            "[permissions.'file.read']\n'~/a' = { action = 'deny', match = ['~/a'], not_match = ['~/b'] }\n";
        for (text, counts, words) in [
            (sound.clone(), (3, 0, 0), &["ok  ", "matches `npm test`", "does not match `npm tests`"][..]),
            (sound.clone() + &after, (3, 0, 2), &["warn", "but deny, by config.toml:9: \"npm *\""]),
            (wrong, (0, 2, 0), &["FAIL", "matches `npm run`"]),
            (home.to_owned(), (2, 0, 0), &["~/a"]),
            (String::new(), (0, 0, 0), &["0 passed"]),
        ] {
            let found = outcome(&text);
            assert_eq!((found.passed, found.failed, found.overruled), counts, "{}", found.text);
            assert!(words.iter().all(|word| found.text.contains(word)), "{words:?} in\n{}", found.text);
            assert_eq!(status(&found), u8::from(counts.1 > 0));
        }
    }
}
