//! A changed text before it takes a file's place: it is read again and held against what was meant.

use std::path::Path;

use super::change::{self, Cannot, Goal};
use super::entries::{Entries, Entry};
use super::lines::Written;
use super::{Change, EditError, Place, Which};
use crate::config::new_rule::NewRule;
use crate::config::read::{Example, Origin, Reading, read};
use crate::config::schema::names_capability;
use crate::policy::{Capability, LayerRule, LayerRules, Rule, pattern};

/// A text of a file's, read.
pub(super) struct Draft<'o> {
    pub(super) text: String,
    pub(super) layer: LayerRules,
    examples: Vec<Example>,
    origin: Origin<'o>,
}

impl<'o> Draft<'o> {
    /// Reads a text.
    ///
    /// # Errors
    /// When it is no TOML.
    pub(super) fn new(text: String, origin: Origin<'o>) -> Result<Self, EditError> {
        let Reading { layer, examples } = read(&text, &origin);
        match layer.damage.first() {
            Some(report) if Entries::of(&text).is_none() => Err(EditError::Malformed(report.clone().into())),
            _ => Ok(Self { text, layer, examples, origin }),
        }
    }

    /// What one rule of the text means, as it would be written in a file of no project.
    ///
    /// # Errors
    /// When there is no such rule, or it means something only where it stands.
    pub(super) fn chosen(&self, which: &Which) -> Result<Vec<NewRule>, EditError> {
        let entries = self.entries()?;
        let at = self.find(&entries, which)?;
        let entry = entries.all.get(at).ok_or_else(|| self.unsure())?;
        let rules = self.of_line(entry.line);
        if rules.iter().any(|entry| entry.shorthand) {
            return Err(EditError::CatchAll(self.origin.path.into()));
        }
        let mut rules: Vec<_> = rules.into_iter().map(|entry| self.anew(entry.rule)).collect();
        let in_agents_form = entry.pattern.is_none() && !names_capability(&entry.capability);
        // It stays one rule, unless its paths depend on where it stands.
        if in_agents_form && !rules.iter().any(|rule| rule.capability.starts_with("file.")) {
            rules.truncate(1);
            for rule in &mut rules {
                (rule.capability, rule.pattern) = (entry.capability.clone(), "*".to_owned());
            }
        }
        Ok(rules)
    }

    fn anew(&self, rule: Rule) -> NewRule {
        let mut examples = self.examples.iter().filter(|example| example.rule == rule);
        let examples = examples.next().map(|of| (of.matches.clone(), of.not_matches.clone()));
        let (matches, not_matches) = examples.unwrap_or_default();
        NewRule {
            destroys: rule.destroys,
            lifts: rule.lifts,
            reason: rule.reason.as_deref().map(str::to_owned),
            expires: rule.expires.as_deref().map(str::to_owned),
            when: rule.when.as_deref().cloned().unwrap_or_default(),
            matches,
            not_matches,
            ..NewRule::new(&rule.capability, &rule.pattern, rule.action)
        }
    }

    /// The text after a change, and the rules that were put in a new place or taken away.
    ///
    /// # Errors
    /// When it cannot be made, or would do more than is meant.
    pub(super) fn changed(self, change: Change<'_>) -> Result<(Self, Vec<Rule>), EditError> {
        let (draft, rules) = match change {
            Change::Add(rules) => self.with_all(rules, false)?,
            Change::Ensure(rules) => self.with_all(rules, true)?,
            Change::Remove(which) => self.without(which)?,
            Change::Move(which, place) => self.with_moved(which, place)?,
        };
        Ok((draft, rules.into_iter().map(|entry| entry.rule).collect()))
    }

    fn with_all(self, rules: &[NewRule], ensure: bool) -> Result<(Self, Vec<LayerRule>), EditError> {
        let (mut draft, mut put) = (self, vec![]);
        for rule in rules {
            let rule = Written::new(rule);
            let meant = draft.alone(&rule)?;
            if !(ensure && draft.holds(&meant)) {
                draft = draft.with(&rule, &meant)?;
            }
            put.extend(meant);
        }
        // Where they stand in the end: a later one can have moved an earlier one down.
        let placed = put.iter().filter_map(|rule| draft.rules().rfind(|each| is_same(each, rule)).cloned());
        let placed = placed.collect();
        Ok((draft, placed))
    }

    /// What a rule means by itself here.
    fn alone(&self, rule: &Written) -> Result<Vec<LayerRule>, EditError> {
        let alone = read(&rule.block("\n"), &self.origin).layer;
        match alone.damage.into_iter().next() {
            Some(report) => Err(EditError::Rule(report.into())),
            None if alone.rules.is_empty() => Err(self.unsure()),
            None => Ok(alone.rules),
        }
    }

    /// Whether these are there already and nothing later in the file says anything else.
    fn holds(&self, meant: &[LayerRule]) -> bool {
        let all: Vec<_> = self.rules().collect();
        meant.iter().all(|rule| {
            let at = all.iter().rposition(|each| is_same(each, rule));
            let later = at.and_then(|at| all.get(at + 1..));
            later.is_some_and(|later| {
                later.iter().all(|each| each.rule.action == rule.rule.action || !overlap(each, rule))
            })
        })
    }

    fn with(self, rule: &Written, meant: &[LayerRule]) -> Result<Self, EditError> {
        let entries = self.entries()?;
        let text = change::added(&self.text, &entries, rule).map_err(|cannot| self.cannot(cannot))?;
        let is_last =
            |later: &[&LayerRule]| !later.iter().any(|each| meant.iter().any(|rule| overlap(each, rule)));
        self.becomes(text, &[], meant, |_, later| is_last(later))
    }

    fn without(self, which: &Which) -> Result<(Self, Vec<LayerRule>), EditError> {
        let entries = self.entries()?;
        let at = self.find(&entries, which)?;
        let entry = entries.all.get(at).ok_or_else(|| self.unsure())?;
        let text = change::removed(&self.text, entry).map_err(|cannot| self.cannot(cannot))?;
        let taken = self.of_line(entry.line);
        Ok((self.becomes(text, &taken, &[], |_, _| true)?, taken))
    }

    fn with_moved(self, which: &Which, place: &Place) -> Result<(Self, Vec<LayerRule>), EditError> {
        let entries = self.entries()?;
        let at = self.find(&entries, which)?;
        let goal = match place {
            Place::Before(other) => Goal::Beside { other: self.find(&entries, other)?, before: true },
            Place::Behind(other) => Goal::Beside { other: self.find(&entries, other)?, before: false },
            Place::Top => Goal::Top,
            Place::Bottom => Goal::Bottom,
        };
        let of = |index: usize| entries.all.get(index).map_or(vec![], |entry| self.of_line(entry.line));
        let rules = of(at);
        let text = change::moved(&self.text, &entries, at, goal).map_err(|cannot| self.cannot(cannot))?;
        let Some(text) = text else { return Ok((self, rules)) };
        let other = match goal {
            Goal::Beside { other, .. } => of(other),
            Goal::Top | Goal::Bottom => vec![],
        };
        let taken = rules.clone();
        let draft = self.becomes(text, &taken, &rules, |earlier, later| match goal {
            Goal::Beside { before: true, .. } => {
                other.first().is_none_or(|other| later.first().is_some_and(|each| is_same(each, other)))
            }
            Goal::Beside { before: false, .. } => {
                other.last().is_none_or(|other| earlier.last().is_some_and(|each| is_same(each, other)))
            }
            Goal::Top => !earlier.iter().any(|each| rules.iter().any(|rule| overlap(each, rule))),
            Goal::Bottom => !later.iter().any(|each| rules.iter().any(|rule| overlap(each, rule))),
        })?;
        let placed = rules.iter().filter_map(|rule| draft.rules().rfind(|each| is_same(each, rule)).cloned());
        let placed = placed.collect();
        Ok((draft, placed))
    }

    /// The changed text, if it says what this one says but for the rules that were taken out and those
    /// that were put in, which stand together where they should.
    fn becomes(
        self,
        text: String,
        taken: &[LayerRule],
        put: &[LayerRule],
        is_placed: impl Fn(&[&LayerRule], &[&LayerRule]) -> bool,
    ) -> Result<Self, EditError> {
        let unsure = || self.unsure();
        let after = Draft::new(text, self.origin).map_err(|_| unsure())?;
        let rest: Vec<_> = self.rules().filter(|rule| !taken.contains(rule)).collect();
        let all: Vec<_> = after.rules().collect();
        let stands = (0..=all.len()).any(|at| {
            let Some((earlier, from)) = all.split_at_checked(at) else { return false };
            let Some((here, later)) = from.split_at_checked(put.len()) else { return false };
            same(here.iter().copied(), put.iter())
                && same(earlier.iter().chain(later).copied(), rest.iter().copied())
                && is_placed(earlier, later)
        });
        let no_worse = after.layer.damage.iter().all(|report| {
            let count =
                |layer: &LayerRules| layer.damage.iter().filter(|of| of.title == report.title).count();
            count(&after.layer) <= count(&self.layer)
        });
        match stands && no_worse && beside_rules(&self.text) == beside_rules(&after.text) {
            true => Ok(after),
            false => Err(unsure()),
        }
    }

    /// The rules of `[permissions]`.
    fn rules(&self) -> impl DoubleEndedIterator<Item = &LayerRule> {
        self.layer.rules.iter().filter(|entry| entry.rule.floor.is_none())
    }

    fn of_line(&self, line: usize) -> Vec<LayerRule> {
        self.rules().filter(|entry| entry.rule.line == line).cloned().collect()
    }

    /// The lines of the rules that fit.
    pub(super) fn lines(&self, which: &Which) -> Result<Vec<usize>, EditError> {
        let entries = self.entries()?;
        Ok(self.fitting(&entries, which).into_iter().map(|(_, entry)| entry.line).collect())
    }

    fn fitting<'e>(&self, entries: &'e Entries, which: &Which) -> Vec<(usize, &'e Entry)> {
        let fits = |entry: &Entry| match which {
            Which::Line(line) => entry.line == *line,
            Which::Says { capability, pattern } => {
                let named = |name: &str| capability.as_deref().is_none_or(|wanted| wanted == name);
                let as_listed =
                    |each: &LayerRule| each.rule.pattern == *pattern && named(&each.rule.capability);
                entry.says(capability.as_deref(), pattern) || self.of_line(entry.line).iter().any(as_listed)
            }
        };
        entries.all.iter().enumerate().filter(|(_, entry)| fits(entry)).collect()
    }

    /// The one rule that is meant.
    fn find(&self, entries: &Entries, which: &Which) -> Result<usize, EditError> {
        let path = self.origin.path;
        match self.fitting(entries, which)[..] {
            [] => Err(EditError::NoSuchRule(path.into())),
            // Several in one line cannot be told apart by what was read.
            [(_, only)] if entries.all.iter().filter(|entry| entry.line == only.line).count() > 1 => {
                Err(EditError::Form(path.into()))
            }
            [(at, _)] => Ok(at),
            ref several => {
                let lines = several.iter().map(|(_, entry)| entry.line).collect();
                Err(EditError::Several { file: path.into(), lines })
            }
        }
    }

    fn entries(&self) -> Result<Entries, EditError> {
        Entries::of(&self.text).ok_or_else(|| self.unsure())
    }

    fn cannot(&self, cannot: Cannot) -> EditError {
        let path: &Path = self.origin.path;
        match cannot {
            Cannot::Fixed => EditError::Form(path.into()),
            Cannot::Apart => EditError::Apart(path.into()),
        }
    }

    fn unsure(&self) -> EditError {
        EditError::Unsure(self.origin.path.into())
    }
}

fn same<'r>(one: impl Iterator<Item = &'r LayerRule>, other: impl Iterator<Item = &'r LayerRule>) -> bool {
    let (one, other): (Vec<_>, Vec<_>) = (one.collect(), other.collect());
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
}

/// Whether two say the same, wherever they stand.
fn is_same(one: &LayerRule, other: &LayerRule) -> bool {
    one.shorthand == other.shorthand
        && Rule { line: 0, ..one.rule.clone() } == Rule { line: 0, ..other.rule.clone() }
}

/// Whether one could decide in the other's place.
fn overlap(one: &LayerRule, other: &LayerRule) -> bool {
    let covers = |each: &LayerRule, name: &str| pattern::matches(&each.rule.capability, name);
    one.shorthand == other.shorthand
        && Capability::ALL.iter().any(|each| covers(one, each.word()) && covers(other, each.word()))
}

/// What a file says beside its rules.
fn beside_rules(text: &str) -> Option<toml::Table> {
    let mut table: toml::Table = text.parse().ok()?;
    table.remove("permissions");
    Some(table)
}
