//! Whether a rule does what its writer wants: it is asked about texts that it is meant for.

use crate::commands::rules::list::visible;
use crate::config::edit::Edited;
use crate::policy::forms::{below_home, with_home};
use crate::policy::pattern::{self, Pattern};
use crate::policy::{Capability, CapabilityRequest, Destroys, Places, Policy, Rule, Subject, Verdict};
use crate::report::Span;

/// What stands in the way of the rules that were written.
pub(super) fn warnings(policy: &Policy, edited: &Edited, examples: &[String]) -> Vec<String> {
    let allows = edited.rules.iter().any(|rule| rule.action == Verdict::Allow);
    if !edited.trusted && allows {
        let file = visible(&edited.file.to_string_lossy());
        return vec![format!("{file} is not trusted: an allow in it has no effect until `gsh trust`")];
    }
    let mut found = vec![];
    for rule in &edited.rules {
        let warning = match &rule.expires {
            Some(day) if **day < *policy.today => Some(format!("it has expired already ({day})")),
            // When such a rule counts is not to be told here.
            _ if rule.when.is_some() => None,
            _ => in_the_way(policy, rule, examples),
        };
        found.extend(warning.filter(|warning| !found.contains(warning)).into_iter().collect::<Vec<_>>());
    }
    found
}

/// The first of a rule's texts that another rule decides otherwise.
fn in_the_way(policy: &Policy, rule: &Rule, examples: &[String]) -> Option<String> {
    let given = if examples.is_empty() { vec![literal(&rule.pattern)] } else { examples.to_vec() };
    given.iter().flat_map(|text| requests(rule, text, &policy.places)).find_map(|request| {
        let found = policy.evaluate(&request);
        if found.verdict == rule.action {
            return None;
        }
        let by = match (&found.rule, &found.reason) {
            (_, Some(reason)) => visible(reason),
            (Some(other), None) => format!(
                "{} says {} {}",
                visible(&other.place()),
                other.action.word(),
                visible(&other.pattern)
            ),
            (None, None) => "the default".to_owned(),
        };
        let (text, name) = (visible(&request.display), request.capability.word());
        Some(format!("`{text}` ({name}) is still {}: {by}", past(found.verdict)))
    })
}

fn past(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allowed",
        Verdict::Review => "reviewed",
        Verdict::Ask => "asked about",
        Verdict::Deny => "refused",
    }
}

/// A text that a pattern matches: with one word or character for each gap.
fn literal(pattern: &str) -> String {
    if let Some(exact) = Pattern::new(pattern).exact() {
        return exact.to_owned();
    }
    let mut text = String::new();
    let mut chars = pattern.strip_suffix(" *").filter(|before| !before.is_empty()).unwrap_or(pattern).chars();
    while let Some(c) = chars.next() {
        match c {
            '*' | '?' => text.push('x'),
            '\\' => text.extend(chars.next()),
            c => text.push(c),
        }
    }
    text
}

/// What a rule is for, asked with a text.
fn requests(rule: &Rule, text: &str, places: &Places) -> Vec<CapabilityRequest> {
    let covered = Capability::ALL.into_iter().filter(|each| pattern::matches(&rule.capability, each.word()));
    let covered: Vec<Capability> = covered.collect();
    let path = path(text, places);
    let in_project = places.project.as_ref().is_some_and(|root| {
        path.as_ref()
            .is_some_and(|path| path.strip_prefix(root.as_str()).is_some_and(|rest| rest.starts_with('/')))
    });
    let fits = |capability: &Capability| match capability {
        Capability::FileWriteProject => covered.len() == 1 || in_project,
        Capability::FileWriteOutside => covered.len() == 1 || !in_project,
        _ => true,
    };
    let request = |capability: Capability| {
        let subject = match capability.is_file() {
            true => Subject::Path(vec![path.clone()?]),
            false => Subject::Command { written: text.to_owned(), inner: vec![], allow_needs_all: false },
        };
        let destroys = (rule.destroys && capability.is_write()).then_some(Destroys::Overwrite);
        let request = CapabilityRequest::new(capability, subject, text.to_owned(), Span::default());
        Some(CapabilityRequest { destroys, ..request })
    };
    covered.iter().copied().filter(|capability| fits(capability)).filter_map(request).collect()
}

/// A text as a path; None when it is none here.
fn path(text: &str, places: &Places) -> Option<String> {
    let home = places.home.as_deref();
    match (below_home(text), home) {
        (Some(_), _) => with_home(text, home),
        (None, _) if text.starts_with('/') => Some(text.to_owned()),
        // A pattern that begins with a wildcard is for every folder.
        (None, _) => {
            Some(format!("{}/{}", places.project.as_ref()?, text.strip_prefix("./").unwrap_or(text)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::compose::{Composition, compose};
    use crate::policy::{Layer, LayerRules};

    #[test]
    fn texts_of_patterns() {
        for (pattern, expected) in [
            ("npm test *", "npm test"),
            ("npm * --all", "npm x --all"),
            ("git pus?", "git pusx"),
            (r"echo \*", "echo *"),
            ("*", "x"),
            ("/srv/*", "/srv/x"),
        ] {
            assert_eq!(literal(pattern), expected);
            assert!(Pattern::new(pattern).matches(&literal(pattern)), "{pattern}");
        }
    }

    #[test]
    fn what_stands_in_the_way_is_named() {
        let rule = |layer, capability: &str, pattern: &str, action| Rule {
            file: Some("/c.toml".into()),
            line: 7,
            ..Rule::new(layer, capability, pattern, action)
        };
        use Verdict::{Allow, Ask, Deny};
        let user = |capability, pattern, action| rule(Layer::User, capability, pattern, action);
        for (new, other, examples, expected) in [
            (user("process.execute", "npm *", Allow), None, &[][..], ""),
            (
                user("process.execute", "npm *", Allow),
                Some(rule(Layer::Project, "process.*", "npm test", Deny)),
                &["npm test"],
                "`npm test` (process.execute) is still refused: /c.toml:7 says deny npm test",
            ),
            (
                user("process.execute", "npm *", Allow),
                Some(rule(Layer::Project, "*", "npm test", Deny)),
                &[],
                "",
            ),
            (user("file.write.*", "/p/.git/config", Ask), None, &[], ""),
            (
                Rule { destroys: true, ..user("file.write.*", "*/x", Allow) },
                Some(rule(Layer::Managed, "file.*", "/p/*", Ask)),
                &[],
                "`x/x` (file.write.project) is still asked about: /c.toml:7 says ask /p/*",
            ),
            (
                user("file.read", "~/.ssh/id", Deny),
                Some(rule(Layer::Session, "file.read", "*", Allow)),
                &[],
                "allowed",
            ),
        ] {
            let mut layers = vec![LayerRules::of_rules(Layer::User, vec![new.clone()])];
            layers.extend(other.map(|other| LayerRules::of_rules(other.layer, vec![other])));
            let (home, project) = (Some("/h".to_owned()), Some("/p".to_owned()));
            let places = Places { home, project, ..Places::default() };
            let policy = compose(layers, Composition::new(places, "2030-01-01"));
            let examples: Vec<String> = examples.iter().map(|text| (*text).to_owned()).collect();
            let found = in_the_way(&policy, &new, &examples).unwrap_or_default();
            assert!(found.contains(expected) && found.is_empty() == expected.is_empty(), "{new:?}: {found}");
        }
    }
}
