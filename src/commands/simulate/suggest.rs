//! The few rules that would leave the fewest questions. A rule is proposed only where the decision offers
//! one for its questions; what it would cover is found by deciding again with it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Case, Judge, shown};
use crate::commands::audit::look::cut;
use crate::config::line;
use crate::config::load::Options;
use crate::policy::Verdict;

/// At most so many are proposed.
const MOST: usize = 8;
/// So many of the likeliest are tried in each round.
const TRIED: usize = 12;
/// A rule for fewer questions is not worth having.
const LEAST: usize = 2;
/// So many examples are shown.
const EXAMPLES: usize = 3;

/// A rule, and what it would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Proposal {
    /// The pattern, to be allowed.
    pub(super) pattern: String,
    /// How many questions it would take away.
    pub(super) covers: usize,
    /// Some of them.
    pub(super) covered: Vec<String>,
    /// Commands of the same programs that would still ask.
    pub(super) not_covered: Vec<String>,
}

impl Proposal {
    /// For a person, who may choose it by its number.
    pub(super) fn text(&self, number: usize, width: usize) -> String {
        let room = width.saturating_sub(16).max(20);
        let mut text = format!("{number:>3}. {:>5}  allow \"{}\"\n", self.covers, shown(&self.pattern, room));
        for (mark, commands) in [("covers", &self.covered), ("still asks", &self.not_covered)] {
            for command in commands {
                text.push_str(&format!(
                    "         {mark}: {}\n",
                    cut(command, width.saturating_sub(21).max(20))
                ));
            }
        }
        text
    }
}

/// The rules, the most useful first; each is judged with those before it in force.
pub(super) fn proposals<'a>(cases: &[Case], judge: &dyn Fn(Options) -> Judge<'a>) -> Vec<Proposal> {
    let mut open: BTreeSet<usize> =
        (0..cases.len()).filter(|index| cases.get(*index).is_some_and(Case::asks)).collect();
    let (mut chosen, mut found) = (Vec::<String>::new(), Vec::new());
    while found.len() < MOST {
        let mut best: Option<(usize, String, BTreeSet<usize>)> = None;
        for (pattern, offered) in likeliest(cases, &open, &chosen) {
            if best.as_ref().is_some_and(|(covers, ..)| *covers >= offered) {
                break;
            }
            let covered = covered(cases, &open, &with(&chosen, &pattern), judge);
            let covers = covered.iter().filter_map(|index| cases.get(*index)).map(|case| case.count).sum();
            if covers >= LEAST && best.as_ref().is_none_or(|(most, ..)| covers > *most) {
                best = Some((covers, pattern, covered));
            }
        }
        let Some((covers, pattern, covered)) = best else { break };
        open.retain(|index| !covered.contains(index));
        found.push(proposal(cases, &open, (covers, &pattern, &covered)));
        chosen.push(pattern);
    }
    found
}

fn with(chosen: &[String], pattern: &str) -> Vec<String> {
    chosen.iter().cloned().chain([pattern.to_owned()]).collect()
}

/// Patterns that are offered for open questions, with the number of those.
fn likeliest(cases: &[Case], open: &BTreeSet<usize>, chosen: &[String]) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for case in open.iter().filter_map(|index| cases.get(*index)) {
        for pattern in &case.decision.suggestions {
            *counts.entry(pattern).or_default() += case.count;
        }
    }
    let mut rows: Vec<(String, usize)> = counts
        .into_iter()
        .filter(|(pattern, count)| *count >= LEAST && !chosen.iter().any(|known| known == pattern))
        .map(|(pattern, count)| (pattern.to_owned(), count))
        .collect();
    // Of two that promise the same the narrower one.
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| b.0.len().cmp(&a.0.len())));
    rows.truncate(TRIED);
    rows
}

/// The open questions that would not be asked with these rules.
fn covered<'a>(
    cases: &[Case],
    open: &BTreeSet<usize>,
    patterns: &[String],
    judge: &dyn Fn(Options) -> Judge<'a>,
) -> BTreeSet<usize> {
    let rules = patterns.iter().map(|pattern| (Verdict::Allow, pattern.as_str()));
    let mut judge = judge(Options { layers: line::layer(rules).into_iter().collect(), ..Options::new() });
    let last = patterns.last().map(String::as_str).unwrap_or_default();
    let touched = |case: &Case| {
        let program =
            last.split([' ', '*']).next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        case.programs.iter().any(|known| known == program)
            || case.decision.suggestions.iter().any(|each| each == last)
    };
    open.iter()
        .copied()
        .filter(|index| {
            cases
                .get(*index)
                .is_some_and(|case| touched(case) && judge.decide(&case.found).0.verdict == Verdict::Allow)
        })
        .collect()
}

fn proposal(
    cases: &[Case],
    open: &BTreeSet<usize>,
    (covers, pattern, covered): (usize, &str, &BTreeSet<usize>),
) -> Proposal {
    let mut examples: Vec<&Case> = covered.iter().filter_map(|index| cases.get(*index)).collect();
    examples.sort_by_key(|case| std::cmp::Reverse(case.count));
    let programs: BTreeSet<&String> = examples.iter().flat_map(|case| &case.programs).collect();
    let others = open.iter().filter_map(|index| cases.get(*index));
    let mut others: Vec<&Case> =
        others.filter(|case| case.programs.iter().any(|name| programs.contains(name))).collect();
    others.sort_by_key(|case| std::cmp::Reverse(case.count));
    let list =
        |cases: Vec<&Case>| cases.iter().take(EXAMPLES).map(|case| shown(&case.found.command, 90)).collect();
    Proposal { pattern: pattern.to_owned(), covers, covered: list(examples), not_covered: list(others) }
}
