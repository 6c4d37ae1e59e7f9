//! One ordered list of rules, arranged so that the last one that matches is found without trying all.
//!
//! A rule stands on a shelf of each capability it covers. Where there are many they lie in drawers: by
//! the whole text when a pattern has no wildcard, by the literal words (or folders) before its first
//! wildcard, those that begin with one by a few characters that every subject of theirs holds, and what
//! has nothing of all that in a common one. A subject opens only the drawers that could hold a rule for it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::forms::Forms;
use super::pattern::{self, Gram, Pattern, grams};
use super::{Capability, Idle, Rule, Verdict};

/// What kinds of request a rule is limited to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Reach {
    /// Whatever its capability and pattern say.
    #[default]
    Any,
    /// Only read-only requests of a client to its own service.
    Query,
    /// Also overwriting, but no other destruction.
    Overwrite,
}

/// One rule, ready to match.
#[derive(Debug, Clone)]
pub struct Compiled {
    /// The rule as written.
    pub rule: Arc<Rule>,
    /// The forms of its pattern: as written for texts; for paths with `~` expanded, as spelled and real.
    pub patterns: Vec<Pattern>,
    /// Which requests it is for.
    pub bounds: Bounds,
}

/// Which requests a rule is for, beside its capability and pattern.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// What it is limited to.
    pub reach: Reach,
    /// The action that decides what it matches. An allow that was raised to ask still matches only what
    /// it would have allowed: otherwise it would hide refusals that it never reached.
    pub matches_as: Verdict,
}

impl Compiled {
    /// Whether any form of its pattern matches.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.matches(text))
    }

    /// Whether it names this text and no other.
    #[must_use]
    pub fn is_exactly(&self, text: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.exact() == Some(text))
    }

    /// Whether its pattern names nothing.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        self.patterns.iter().all(Pattern::is_bare)
    }
}

/// A rule and the requests it is for.
#[derive(Debug, Clone)]
pub struct Bounded {
    /// The rule as written.
    pub rule: Arc<Rule>,
    /// Which requests it is for.
    pub bounds: Bounds,
    /// Why it does not count now; None when it does.
    pub idle: Option<Idle>,
}

/// Rules in order, lowest first. Those of a capability are made ready when it is first asked for.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    rules: Vec<Bounded>,
    forms: Arc<Forms>,
    shelves: [OnceLock<Shelf>; Capability::ALL.len()],
    asked: Asked,
}

/// How often rules were looked for.
#[derive(Debug, Default)]
struct Asked(AtomicUsize);

impl Clone for Asked {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The rules of one capability, ready to match.
#[derive(Debug, Clone)]
struct Shelf {
    rules: Vec<Compiled>,
    /// None for a few.
    drawers: Option<Drawers>,
}

/// Where the rules of one capability lie, by their place on its shelf.
#[derive(Debug, Clone, Default)]
struct Drawers {
    exact: HashMap<Box<str>, Vec<usize>>,
    by_head: HashMap<Box<str>, Vec<usize>>,
    by_gram: HashMap<Gram, Vec<usize>>,
    common: Vec<usize>,
}

/// How many words or folders of a head are used: a subject opens at most one drawer more than this.
const DEPTH: usize = 8;

/// Up to so many rules are tried one after the other: that takes less than to put them into drawers.
const FEW: usize = 128;

/// So often all rules are tried before they are put on shelves: whoever asks only about one command is
/// served sooner.
const FIRST: usize = 4;

impl RuleSet {
    /// Rules in order, and how their patterns are read.
    #[must_use]
    pub fn new(rules: Vec<Bounded>, forms: Arc<Forms>) -> Self {
        Self { rules, forms, shelves: Default::default(), asked: Asked::default() }
    }

    /// The last rule of the capability that satisfies the predicate, among those that could match one of
    /// the texts. The predicate says whether the rule does match.
    pub fn find_last(
        &self,
        capability: Capability,
        texts: &[&str],
        matches: impl FnMut(&Compiled) -> bool,
    ) -> Option<Cow<'_, Compiled>> {
        if self.rules.is_empty() {
            return None;
        }
        let shelf = self.shelves.get(capability as usize)?;
        // Patterns of paths have forms that only a shelf holds.
        let waits = shelf.get().is_none() && !capability.is_file() && self.rules.len() > FEW;
        if waits && self.asked.0.fetch_add(1, Ordering::Relaxed) < FIRST {
            return self.try_all(capability, texts, matches).map(Cow::Owned);
        }
        let shelf = shelf.get_or_init(|| self.shelf(capability));
        shelf.find_last(texts, separator(capability), matches).map(Cow::Borrowed)
    }

    /// The same without shelves, for texts.
    fn try_all(
        &self,
        capability: Capability,
        texts: &[&str],
        mut matches: impl FnMut(&Compiled) -> bool,
    ) -> Option<Compiled> {
        let could = |rule: &Rule| texts.iter().any(|text| pattern::matches(&rule.pattern, text));
        let likely = self
            .rules
            .iter()
            .rev()
            .filter(|each| each.idle.is_none() && could(&each.rule) && covers(&each.rule, capability));
        likely.flat_map(|each| self.forms.compile([each].into_iter(), false)).find(|rule| matches(rule))
    }

    /// The same rules as they are where the conditions of each hold; what has expired stays away.
    #[must_use]
    pub fn whenever(&self) -> Self {
        let idle = |idle: Option<Idle>| idle.filter(|idle| *idle == Idle::Expired);
        let rules = self.rules.iter().map(|each| Bounded { idle: idle(each.idle), ..each.clone() });
        Self::new(rules.collect(), Arc::clone(&self.forms))
    }

    /// The rules that are for a capability, in order, ready to match.
    #[must_use]
    pub fn of(&self, capability: Capability) -> &[Compiled] {
        let shelf = self.shelves.get(capability as usize);
        shelf.map_or(&[], |shelf| &shelf.get_or_init(|| self.shelf(capability)).rules)
    }

    fn shelf(&self, capability: Capability) -> Shelf {
        let counts = |each: &&Bounded| each.idle.is_none() && covers(&each.rule, capability);
        let covering = self.rules.iter().filter(counts);
        let shelf = Shelf { rules: self.forms.compile(covering, capability.is_file()), drawers: None };
        if shelf.rules.len() > FEW { shelf.with_drawers(separator(capability)) } else { shelf }
    }

    /// The rules in order.
    pub fn iter(&self) -> impl Iterator<Item = &Bounded> {
        self.rules.iter()
    }

    /// How many rules there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

impl Shelf {
    fn with_drawers(mut self, separator: char) -> Self {
        let mut drawers = Drawers::default();
        for (index, compiled) in self.rules.iter().enumerate() {
            drawers.put(index, &compiled.patterns, separator);
        }
        self.drawers = Some(drawers);
        self
    }

    fn find_last(
        &self,
        texts: &[&str],
        separator: char,
        mut matches: impl FnMut(&Compiled) -> bool,
    ) -> Option<&Compiled> {
        let Some(drawers) = &self.drawers else { return self.rules.iter().rev().find(|rule| matches(rule)) };
        let mut best: Option<usize> = None;
        for drawer in drawers.open(texts, separator) {
            for &index in drawer.iter().rev().take_while(|index| best.is_none_or(|best| **index > best)) {
                if self.rules.get(index).is_some_and(&mut matches) {
                    best = Some(index);
                    break;
                }
            }
        }
        best.and_then(|index| self.rules.get(index))
    }
}

impl Drawers {
    fn put(&mut self, index: usize, patterns: &[Pattern], separator: char) {
        for pattern in patterns {
            let drawer = match (pattern.exact(), key(&pattern.head(), separator)) {
                (Some(text), _) => self.exact.entry(text.into()).or_default(),
                (None, Some(key)) => self.by_head.entry(key.into()).or_default(),
                (None, None) => match self.emptiest(pattern) {
                    Some(gram) => self.by_gram.entry(gram).or_default(),
                    None => &mut self.common,
                },
            };
            if drawer.last() != Some(&index) {
                drawer.push(index);
            }
        }
    }

    /// Of the drawers that a pattern could lie in, the one with the fewest in it.
    fn emptiest(&self, pattern: &Pattern) -> Option<Gram> {
        pattern.grams().into_iter().min_by_key(|gram| self.by_gram.get(gram).map_or(0, Vec::len))
    }

    /// The drawers that could hold a rule for one of the texts.
    fn open(&self, texts: &[&str], separator: char) -> Vec<&[usize]> {
        let mut open: Vec<&[usize]> = vec![&self.common];
        for text in texts {
            open.extend(self.exact.get(*text).map(Vec::as_slice));
            for head in heads(text, separator) {
                open.extend(self.by_head.get(head).map(Vec::as_slice));
            }
            if !self.by_gram.is_empty() {
                let grams = grams(text);
                open.extend(grams.filter_map(|gram| self.by_gram.get(&gram)).map(Vec::as_slice));
            }
        }
        open
    }
}

/// Whether a rule is for the capability.
fn covers(rule: &Rule, capability: Capability) -> bool {
    pattern::matches(&rule.capability, capability.word())
}

/// What separates the parts of a subject.
fn separator(capability: Capability) -> char {
    if capability.is_file() { '/' } else { ' ' }
}

/// The whole parts that a pattern's head is sure of, at most [`DEPTH`]; None when there is not even one.
fn key(head: &str, separator: char) -> Option<&str> {
    let last = head.match_indices(separator).take(DEPTH).last()?;
    head.get(..last.0)
}

/// Every beginning of the text that could be the key of a rule that matches it: what precedes each
/// separator, and the whole (a rule `git status *` matches `git status`).
fn heads(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let inner = text.match_indices(separator).take(DEPTH).filter_map(move |(at, _)| text.get(..at));
    inner.chain([text])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::Layer;

    fn set(rules: &[(String, String)]) -> RuleSet {
        let bounds = Bounds { reach: Reach::Any, matches_as: Verdict::Ask };
        let rules = rules.iter().map(|(capability, pattern)| {
            let rule = Arc::new(Rule::new(Layer::User, capability, pattern, Verdict::Ask));
            Bounded { rule, bounds, idle: None }
        });
        RuleSet::new(rules.collect(), Arc::default())
    }

    #[test]
    fn the_last_match_is_found() {
        let rules = ["*", "git *", "git push *", "git push", "*sh*", "npm test"];
        let rules: Vec<_> = rules.iter().map(|p| ("process.execute".to_owned(), (*p).to_owned())).collect();
        let set = set(&rules);
        for (subject, pattern) in [
            ("ls", "*"),
            ("git", "git *"),
            ("git status", "git *"),
            ("git push", "*sh*"),
            ("npm test", "npm test"),
            ("npm test x", "*"),
        ] {
            let found = set.find_last(Capability::ProcessExecute, &[subject], |rule| rule.matches(subject));
            assert_eq!(found.as_ref().map(|c| c.rule.pattern.as_str()), Some(pattern), "{subject}");
            assert!(set.find_last(Capability::GitModify, &[subject], |_| true).is_none());
        }
    }

    #[test]
    fn ten_thousand_rules_open_few_drawers() {
        for (kind, most) in [("git tool{} now", 1), ("git tool{} *", 1), ("*tool{} *", 8)] {
            let pattern = |n: usize| kind.replace("{}", &n.to_string());
            let rules: Vec<_> = (0..10_000).map(|n| ("process.execute".to_owned(), pattern(n))).collect();
            let set = set(&rules);
            let mut tried = 0;
            let subject = "git tool77 now";
            assert_eq!(set.of(Capability::ProcessExecute).len(), rules.len());
            let found = set.find_last(Capability::ProcessExecute, &[subject], |rule| {
                tried += 1;
                rule.matches(subject)
            });
            assert_eq!(found.map(|c| c.rule.pattern.clone()), Some(pattern(77)));
            assert!(tried <= most, "{}: {tried} were tried", pattern(77));
        }
    }

    proptest! {
        #[test]
        fn drawers_change_no_answer(
            rules in prop::collection::vec(("(file\\.\\*|file\\.read|process\\.execute|\\*)", "[ab */?]{0,9}"), 0..12),
            subject in "[ab /]{0,9}",
            path in any::<bool>(),
        ) {
            let capability = if path { Capability::FileRead } else { Capability::ProcessExecute };
            let set = set(&rules);
            let naive = rules.iter().rev().find(|(covers, pattern)| {
                Pattern::new(covers).matches(capability.word()) && Pattern::new(pattern).matches(&subject)
            });
            let found = set.find_last(capability, &[&subject], |rule| rule.matches(&subject));
            prop_assert_eq!(
                found.as_ref().map(|c| (&c.rule.capability, &c.rule.pattern)),
                naive.map(|(covers, pattern)| (covers, pattern))
            );
            let drawers = set.shelf(capability).with_drawers(separator(capability));
            let there = drawers.find_last(&[&subject], separator(capability), |rule| rule.matches(&subject));
            prop_assert_eq!(there.map(|c| &c.rule), found.as_ref().map(|c| &c.rule));
            if !path {
                let tried = set.try_all(capability, &[&subject], |rule| rule.matches(&subject));
                prop_assert_eq!(tried.map(|c| c.rule), found.map(|c| c.rule.clone()));
            }
        }
    }
}
