//! `[permissions]`: the three forms of a rule.

use super::read::{Example, Origin, Page, Value};
use std::sync::Arc;

use super::schema::{FLOOR, NESTED, RULE, Wrong, entries, modes, names_capability, verdicts};
use crate::policy::agent_form::translate;
use crate::policy::forms::{below_home, with_home};
use crate::policy::pattern::{Pattern, escape};
use crate::policy::{LayerRule, Rule, Verdict, When};
use crate::report::Span;

/// Reads the rules of one file.
pub(super) struct RuleReader<'a> {
    origin: &'a Origin<'a>,
    /// What was read, in order.
    pub(super) rules: Vec<LayerRule>,
    /// The examples of what was read.
    pub(super) examples: Vec<Example>,
}

/// Which requests a rule is for, in either form, and where that is written.
struct Target {
    capability: String,
    /// None in the forms that have none: everything.
    pattern: Option<String>,
    capability_span: Span,
    span: Span,
    shorthand: bool,
}

/// What a rule says beside what it is for.
#[derive(Default)]
struct Terms {
    action: Option<Verdict>,
    destroys: bool,
    lifts: bool,
    reason: Option<String>,
    matches: Vec<(String, Span)>,
    not_matches: Vec<(String, Span)>,
    expires: Option<String>,
    when: When,
    /// The name of the entry that it is of a floor.
    floor: Option<String>,
    /// Something in it is wrong: it is not loaded by halves.
    broken: bool,
}

impl<'a> RuleReader<'a> {
    pub(super) fn new(origin: &'a Origin<'a>) -> Self {
        Self { origin, rules: vec![], examples: vec![] }
    }

    /// The whole section: shorthands and tables in source order, then the explicit rules.
    pub(super) fn permissions(&mut self, page: &mut Page, value: &Value<'_>) {
        let Some(table) = page.table(value) else { return };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries.iter().filter(|(key, _)| key.get_ref() != "rules") {
            let span = Span::from(key.span());
            let target = |pattern, span_of_rule, shorthand| Target {
                capability: key.get_ref().to_string(),
                pattern,
                capability_span: span,
                span: span_of_rule,
                shorthand,
            };
            if value.get_ref().is_str() {
                let action = page.word(value, &verdicts(&Verdict::ALL));
                self.add(page, target(None, span, true), Terms { action, ..Terms::default() });
                continue;
            }
            let Some(patterns) = page.table(value) else { continue };
            for (pattern, value) in patterns {
                let terms = nested_terms(page, value);
                let pattern_span = pattern.span().into();
                self.add(page, target(Some(pattern.get_ref().to_string()), pattern_span, false), terms);
            }
        }
        for (_, value) in entries.iter().filter(|(key, _)| key.get_ref() == "rules") {
            self.explicit(page, value);
        }
    }

    /// The entries of a floor of the file's own: each refuses, has a name, and nothing lifts it.
    pub(super) fn floor(&mut self, page: &mut Page, value: &Value<'_>) {
        self.listed(page, value, FLOOR);
    }

    fn explicit(&mut self, page: &mut Page, value: &Value<'_>) {
        self.listed(page, value, RULE);
    }

    fn listed(&mut self, page: &mut Page, value: &Value<'_>, known: &'static [&'static str]) {
        let Some(items) = value.get_ref().as_array() else {
            let found = value.get_ref().type_str();
            return page.wrong(value.span().into(), &Wrong::Type { expected: "an array of rules", found });
        };
        let is_floor = known == FLOOR;
        for item in items.iter() {
            let mut terms = Terms { action: is_floor.then_some(Verdict::Deny), ..Terms::default() };
            let (mut capability, mut pattern) = (None, None);
            page.section(item, known, |page, key, value| match key {
                "capability" => capability = page.text(value).map(|text| (text, Span::from(value.span()))),
                "pattern" => pattern = page.text(value).map(|text| (text, Span::from(value.span()))),
                _ => terms.take(page, key, value),
            });
            terms.broken |= has_unknown(item, known);
            if is_floor && terms.floor.is_none() {
                page.wrong(item.span().into(), &Wrong::Without("name"));
                continue;
            }
            let Some((capability, capability_span)) = capability else {
                page.wrong(item.span().into(), &Wrong::Without("capability"));
                continue;
            };
            let span = pattern.as_ref().map_or(capability_span, |(_, span)| *span);
            let pattern = pattern.map(|(pattern, _)| pattern);
            self.add(page, Target { capability, pattern, capability_span, span, shorthand: false }, terms);
        }
    }

    fn add(&mut self, page: &mut Page, target: Target, terms: Terms) {
        let Some(action) = terms.action else {
            if !terms.broken && !target.shorthand {
                page.wrong(target.span, &Wrong::Without("action"));
            }
            return;
        };
        let Some((capabilities, pattern)) = self.meant(page, &target, action) else { return };
        if terms.broken {
            return;
        }
        for capability in capabilities {
            let Some(pattern) = self.rooted(page, &capability, &pattern, target.span) else { return };
            let bare = Pattern::new(&pattern).is_bare();
            let mut rule = Rule::new(self.origin.layer, &capability, &pattern, action);
            rule.file = Some(page.file());
            rule.line = page.line(target.span.start);
            rule.destroys = terms.destroys;
            rule.lifts = terms.lifts;
            rule.reason = terms.reason.as_deref().map(Into::into);
            rule.expires = terms.expires.as_deref().map(Into::into);
            rule.when = (!terms.when.is_always()).then(|| Arc::new(terms.when.clone()));
            rule.floor = terms.floor.as_deref().map(Into::into);
            self.check(page, &rule, &terms);
            self.rules.push(LayerRule { rule, shorthand: target.shorthand && bare });
        }
    }

    /// The capabilities and the pattern that a target means, in either form.
    fn meant(&self, page: &mut Page, target: &Target, action: Verdict) -> Option<(Vec<String>, String)> {
        let owned = |capability: &str| capability.to_owned();
        if names_capability(&target.capability) {
            let Some(pattern) = &target.pattern else {
                return Some((vec![target.capability.clone()], "*".into()));
            };
            let Some(agents) = translate(pattern).filter(|_| target.capability != "tool.use") else {
                return Some((vec![target.capability.clone()], pattern.clone()));
            };
            let table = Pattern::new(&target.capability);
            let capabilities = agents
                .capabilities_for(action)
                .filter(|name| table.matches(name) || Pattern::new(name).matches(&target.capability));
            let mut capabilities: Vec<String> = capabilities.map(owned).collect();
            if capabilities.iter().any(|name| Pattern::new(name).matches(&target.capability)) {
                capabilities = vec![target.capability.clone()];
            }
            if capabilities.is_empty() {
                page.wrong(target.span, &Wrong::Elsewhere(pattern.clone()));
                return None;
            }
            return Some((capabilities, agents.pattern));
        }
        match translate(&target.capability) {
            Some(agents) if target.pattern.is_none() => {
                Some((agents.capabilities_for(action).map(owned).collect(), agents.pattern))
            }
            _ => {
                page.wrong(target.capability_span, &Wrong::Capability(target.capability.clone()));
                None
            }
        }
    }

    /// A path pattern as it will be matched: relative ones start at the project.
    fn rooted(&self, page: &mut Page, capability: &str, pattern: &str, span: Span) -> Option<String> {
        if !capability.starts_with("file.") {
            return Some(pattern.to_owned());
        }
        let relative = !pattern.starts_with(['/', '*', '?']) && below_home(pattern).is_none();
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        let whole = match (relative, self.origin.root) {
            (false, _) => pattern.to_owned(),
            (true, Some(root)) => format!("{}/{pattern}", escape(root)),
            (true, None) => {
                page.wrong(span, &Wrong::Relative(pattern.to_owned()));
                return None;
            }
        };
        let unreal = whole.len() > 1 && whole.ends_with('/')
            || whole.split('/').any(|part| matches!(part, "." | ".."));
        if unreal {
            page.wrong(span, &Wrong::Unreal(pattern.to_owned()));
            return None;
        }
        Some(whole)
    }

    /// Checks a rule's examples against its pattern.
    fn check(&mut self, page: &mut Page, rule: &Rule, terms: &Terms) {
        let file = rule.capability.starts_with("file.");
        let home = self.origin.home.filter(|_| file);
        let pattern = if file { with_home(&rule.pattern, home) } else { Some(rule.pattern.clone()) };
        let pattern = pattern.map(|pattern| Pattern::new(&pattern));
        let subject = |example: &String| match (below_home(example), home) {
            (Some(rest), Some(home)) if file => format!("{home}{rest}"),
            _ if file && !example.starts_with('/') => match self.origin.root {
                Some(root) => format!("{root}/{}", example.strip_prefix("./").unwrap_or(example)),
                None => example.clone(),
            },
            _ => example.clone(),
        };
        let subjects =
            |examples: &[(String, Span)]| examples.iter().map(|(e, _)| subject(e)).collect::<Vec<_>>();
        let (matches, not_matches) = (subjects(&terms.matches), subjects(&terms.not_matches));
        for (expected, examples, subjects) in
            [(true, &terms.matches, &matches), (false, &terms.not_matches, &not_matches)]
        {
            for ((example, span), subject) in examples.iter().zip(subjects) {
                let matched = pattern.as_ref().is_some_and(|pattern| pattern.matches(subject));
                if matched != expected {
                    let example = example.clone();
                    page.wrong(
                        *span,
                        &if expected { Wrong::Unmatched(example) } else { Wrong::Matched(example) },
                    );
                }
            }
        }
        if !matches.is_empty() || !not_matches.is_empty() {
            self.examples.push(Example { rule: rule.clone(), matches, not_matches });
        }
    }
}

/// The terms of a rule in a capability's table: an action, or a table with more.
fn nested_terms(page: &mut Page, value: &Value<'_>) -> Terms {
    let mut terms = Terms::default();
    if value.get_ref().is_table() {
        page.section(value, NESTED, |page, key, value| terms.take(page, key, value));
        terms.broken |= has_unknown(value, NESTED);
    } else {
        terms.take(page, "action", value);
    }
    terms
}

/// Whether a table holds a key that nobody reads; it is reported where it is read.
fn has_unknown(value: &Value<'_>, known: &[&str]) -> bool {
    let table = value.get_ref().as_table();
    table.is_none_or(|table| table.keys().any(|key| !known.contains(&&**key.get_ref())))
}

impl Terms {
    fn take(&mut self, page: &mut Page, key: &str, value: &Value<'_>) {
        let taken = match key {
            "action" => {
                self.action = page.word(value, &verdicts(&Verdict::ALL));
                self.action.is_some()
            }
            "destroys" => page.truth(value).map(|truth| self.destroys = truth).is_some(),
            "lifts" => page.word(value, &[("ask", ())]).map(|()| self.lifts = true).is_some(),
            "reason" => page.text(value).map(|text| self.reason = Some(text)).is_some(),
            "match" => page.spanned_texts(value).map(|texts| self.matches = texts).is_some(),
            "not_match" => page.spanned_texts(value).map(|texts| self.not_matches = texts).is_some(),
            "modes" => page.words(value, &modes()).map(|modes| self.when.modes = modes).is_some(),
            "entry" => page.words(value, &entries()).map(|entries| self.when.entries = entries).is_some(),
            "agent" => page.texts(value).map(|agents| self.when.agents = agents).is_some(),
            "interactive" => page.truth(value).map(|truth| self.when.interactive = Some(truth)).is_some(),
            "name" => page.text(value).map(|name| self.floor = Some(name)).is_some(),
            _ => day(page, value).map(|day| self.expires = Some(day)).is_some(),
        };
        self.broken |= !taken;
    }
}

/// A day, as a string or as TOML's own kind of date.
fn day(page: &mut Page, value: &Value<'_>) -> Option<String> {
    let text = match value.get_ref().as_datetime() {
        Some(date) => date.to_string(),
        None => page.text(value)?,
    };
    let is_day = text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
    if !is_day {
        page.wrong(value.span().into(), &Wrong::Day(text));
        return None;
    }
    Some(text)
}
