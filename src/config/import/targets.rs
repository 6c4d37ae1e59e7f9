//! Which of gsh's files get the rules: those of a user's files the user's, those of a project's files the
//! project's, those of the user's own for a project the user's own for it.

use super::{Imported, Level, SourceRule, Wins};
use crate::config::new_rule::NewRule;

/// Rules for one of gsh's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Which file.
    pub level: Level,
    /// What is added to it, lowest first.
    pub rules: Vec<NewRule>,
}

/// The rules for each file, lowest file first; files that get none are left out.
///
/// In gsh a later file's rule holds over an earlier one's. Where that would let something pass that the agent
/// refuses, since there a refusal of any file holds, the user's own file for the project gets the whole list
/// in the agent's order.
#[must_use]
pub fn targets(imported: &Imported) -> Vec<Target> {
    let wins = imported.client.wins();
    let of = |level: Level| {
        let own = imported.rules.iter().filter(|rule| rule.level == level);
        Target { level, rules: ordered(own, wins) }
    };
    let mut found = vec![of(Level::User), of(Level::Project), of(Level::Local)];
    if reverses(&imported.rules) {
        found.pop();
        found.push(Target { level: Level::Local, rules: ordered(joined(&imported.rules), wins) });
    }
    found.retain(|target| !target.rules.is_empty());
    found
}

/// Whether a later file is milder than an earlier one in anything.
fn reverses(rules: &[SourceRule]) -> bool {
    let carried = || rules.iter().filter(|rule| !rule.rules.is_empty());
    carried().any(|low| carried().any(|high| high.level > low.level && high.action < low.action))
}

/// All rules, without those that a later file puts another one in the place of.
fn joined(rules: &[SourceRule]) -> impl Iterator<Item = &SourceRule> {
    let replaced = |at: usize, rule: &SourceRule| {
        rules
            .iter()
            .skip(at + 1)
            .any(|other| rule.key.is_some() && other.key == rule.key && other.level > rule.level)
    };
    rules.iter().enumerate().filter(move |(at, rule)| !replaced(*at, rule)).map(|(_, rule)| rule)
}

fn ordered<'r>(rules: impl Iterator<Item = &'r SourceRule>, wins: Wins) -> Vec<NewRule> {
    let mut rules: Vec<&SourceRule> = rules.collect();
    if wins == Wins::Strictest {
        rules.sort_by_key(|rule| rule.action);
    }
    let mut found: Vec<NewRule> = vec![];
    for rule in rules.iter().flat_map(|rule| &rule.rules) {
        // The last of several equal ones is the one that counts.
        found.retain(|known| known != rule);
        found.push(rule.clone());
    }
    found
}
