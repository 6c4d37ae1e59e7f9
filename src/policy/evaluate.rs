//! What the rules say of one request: along the composed list the last match wins; what may only
//! tighten is folded in by strictness.

use std::sync::Arc;

use std::borrow::Cow;

use super::defaults::{self, Builtin};
use super::pattern::{self, Pattern};
use super::protected::Protected;
use super::rules::{Bounded, Compiled, RuleSet};
use super::{Capability, CapabilityRequest, Destroys, Match, Policy, Rule, Subject, Verdict};

/// One text of a request (or one form of its path) that is judged by itself.
#[derive(Clone)]
struct View<'a> {
    request: &'a CapabilityRequest,
    /// The texts of which a rule that raises needs only one.
    texts: Vec<&'a str>,
    /// The text that a rule that allows must match.
    allowed_by: &'a str,
    /// The whole as written, when the allowed text is only a part of it.
    whole: Option<&'a str>,
    /// An allow must name it: a pattern that begins with a wildcard does not.
    must_be_named: bool,
    /// Rules that name nothing do not count, and silence is the default.
    mention: bool,
}

/// The texts of a request that are judged one by one. Other spellings are judged beside what is written,
/// and not in its place: what is said of one spelling takes back nothing that is said of another.
fn views(request: &CapabilityRequest) -> Vec<View<'_>> {
    let mut views = written(request);
    let spelled = views.first().filter(|_| !request.spellings.is_empty()).map(|first| {
        let texts = first.texts.iter().copied().chain(request.spellings.iter().map(String::as_str));
        View { texts: texts.collect(), ..first.clone() }
    });
    views.extend(spelled);
    views
}

fn written(request: &CapabilityRequest) -> Vec<View<'_>> {
    match &request.subject {
        Subject::Path(forms) => forms.iter().map(|form| View::of(request, form)).collect(),
        Subject::Command { written, inner, allow_needs_all } if *allow_needs_all || request.escalates => {
            let written = View { must_be_named: request.escalates, ..View::of(request, written) };
            let inner = inner.iter().map(|text| View::of(request, text));
            [written].into_iter().chain(inner).collect()
        }
        Subject::Command { written, inner, .. } => vec![View::through(request, written, inner)],
        Subject::Mention(text) => vec![View { mention: true, ..View::of(request, text) }],
    }
}

impl Policy {
    /// What holds for a request before the mode: the one place where rules are applied.
    #[must_use]
    pub fn evaluate(&self, request: &CapabilityRequest) -> Match {
        let mut found = self.strictest(views(request).iter());
        if self.is_protected(request) {
            found.protected = true;
            if found.verdict < Verdict::Ask && !self.is_named_by_hand(request) {
                found.verdict = Verdict::Ask;
                found.reason = Some("a write here gains more than a write, so it asks in every mode".into());
            }
        }
        found
    }

    /// The rule of a file that nobody trusted which would allow the request, if the file were trusted.
    #[must_use]
    pub fn unheard(&self, request: &CapabilityRequest) -> Option<Arc<Rule>> {
        let views = views(request);
        let found: Option<Vec<Arc<Rule>>> = views
            .iter()
            .map(|view| Some(Arc::clone(&self.last(&self.unheard, view, |_| true)?.rule)))
            .collect();
        found?.pop()
    }

    fn strictest<'v, 'a: 'v>(&self, views: impl Iterator<Item = &'v View<'a>>) -> Match {
        let matches = views.map(|view| self.judge(view));
        matches.reduce(stricter).unwrap_or_else(|| no_rule(Verdict::Ask, "what it touches is not known"))
    }

    fn judge(&self, view: &View<'_>) -> Match {
        let composed = self.composed(view).unwrap_or_else(|| self.default(view));
        let tighter = self.tighten.iter().filter_map(|set| self.last(set, view, |_| true));
        tighter
            .map(|found| Match { held: found.rule.action > Verdict::Allow, ..by_rule(&found) })
            .fold(composed, stricter)
    }

    /// The last match of the composed list. One that an answer left behind lifts a question and never
    /// a refusal, so it is looked past where the rules without it refuse.
    fn composed(&self, view: &View<'_>) -> Option<Match> {
        let Some(last) = self.last(&self.rules, view, |_| true) else { return self.builtin_match(view) };
        // No builtin rule refuses: what lies above them tells.
        if lifts(&last)
            && let Some(without) =
                self.last(&self.rules, view, |compiled| !lifts(compiled) || refuses(compiled))
            && without.rule.action == Verdict::Deny
        {
            return Some(by_rule(&without));
        }
        Some(by_rule(&last))
    }

    fn builtin_match(&self, view: &View<'_>) -> Option<Match> {
        let compiled = |builtin: &Builtin<'_>| {
            let Bounded { rule, bounds, .. } = self.builtin(builtin);
            Compiled { patterns: vec![Pattern::new(&rule.pattern)], rule, bounds }
        };
        let found = defaults::last(view.request.capability, &self.places, |builtin| {
            let mut texts = view.texts.iter();
            texts.any(|text| pattern::matches(&builtin.pattern, text))
                && view.is_matched_by(&compiled(builtin))
        });
        found.map(|builtin| by_rule(&compiled(&builtin)))
    }

    fn last<'s>(
        &self,
        set: &'s RuleSet,
        view: &View<'_>,
        counts: impl Fn(&Compiled) -> bool,
    ) -> Option<Cow<'s, Compiled>> {
        set.find_last(view.request.capability, &view.texts, |compiled| {
            counts(compiled) && view.is_matched_by(compiled)
        })
    }

    fn default(&self, view: &View<'_>) -> Match {
        match (view.request.destroys, &self.damage) {
            _ if view.mention && self.damage.is_none() => {
                Match { verdict: Verdict::Allow, rule: None, reason: None, protected: false, held: false }
            }
            (_, Some(place)) if view.mention => no_rule(Verdict::Ask, &damaged(place)),
            (Some(destroys), _) => no_rule(Verdict::Ask, loss(destroys)),
            (None, _) => no_rule(Verdict::Ask, "no rule covers it"),
        }
    }

    fn is_protected(&self, request: &CapabilityRequest) -> bool {
        let protected = Protected::new(&self.places);
        let covers = |form: &String| protected.covers(form, request.destroys);
        match &request.subject {
            Subject::Path(forms) if request.capability.is_write() => forms.iter().any(covers),
            _ => false,
        }
    }

    /// Whether a person's own rule for exactly this path decides each of its forms.
    fn is_named_by_hand(&self, request: &CapabilityRequest) -> bool {
        let Subject::Path(forms) = &request.subject else { return false };
        forms.iter().all(|form| {
            let view = View::of(request, form);
            let mut sets = [&self.rules].into_iter().chain(&self.tighten);
            sets.any(|set| {
                self.last(set, &view, |_| true).is_some_and(|compiled| {
                    compiled.rule.action == Verdict::Allow
                        && compiled.rule.is_hand_written()
                        && compiled.is_exactly(form)
                })
            })
        })
    }
}

impl<'a> View<'a> {
    fn of(request: &'a CapabilityRequest, text: &'a str) -> Self {
        let texts = vec![text];
        Self { request, texts, allowed_by: text, whole: None, must_be_named: false, mention: false }
    }

    /// A command in transparent wrappers.
    fn through(request: &'a CapabilityRequest, written: &'a str, inner: &'a [String]) -> Self {
        let mut view = Self::of(request, written);
        if let Some(innermost) = inner.last() {
            view.texts.extend(inner.iter().map(String::as_str));
            view.allowed_by = innermost;
            view.whole = Some(written);
        }
        view
    }

    fn is_matched_by(&self, compiled: &Compiled) -> bool {
        if self.mention && compiled.is_bare() {
            return false;
        }
        if !compiled.bounds.reach.includes(self.request) {
            return false;
        }
        if compiled.bounds.matches_as != Verdict::Allow {
            return self.texts.iter().any(|text| compiled.matches(text));
        }
        // What is in a folder is allowed as it is refused: beside the folder, which is judged by itself too.
        let of_folder = matches!(self.request.subject, Subject::Path(_))
            && self.texts.iter().any(|text| compiled.matches(text));
        self.may_be_allowed_by(compiled)
            && (of_folder
                || compiled.matches(self.allowed_by)
                || self.whole.is_some_and(|whole| self.reaches(compiled, whole)))
    }

    fn may_be_allowed_by(&self, compiled: &Compiled) -> bool {
        let covers_loss = match self.request.destroys {
            None => true,
            Some(destroys) => compiled.rule.destroys || compiled.bounds.reach.covers_loss(destroys),
        };
        let names = !self.must_be_named || compiled.patterns.iter().all(|pattern| !pattern.head().is_empty());
        covers_loss && names && compiled.rule.may_cover(self.request)
    }

    /// Whether the pattern matches the whole as written and names the program behind the wrappers, so
    /// that it cannot be read as "whatever comes after the wrapper".
    fn reaches(&self, compiled: &Compiled, whole: &str) -> bool {
        let Some(before) = whole.strip_suffix(self.allowed_by) else { return false };
        let program = self.allowed_by.split(' ').next().unwrap_or_default();
        let named = format!("{before}{program}");
        let names = |pattern: &Pattern| {
            let head = pattern.head();
            head.strip_prefix(named.as_str())
                .is_some_and(|rest| rest.starts_with(' ') || (rest.is_empty() && pattern.exact().is_some()))
        };
        compiled.patterns.iter().any(|pattern| names(pattern) && pattern.matches(whole))
    }
}

/// Whether it refuses, whoever wrote it.
fn refuses(compiled: &Compiled) -> bool {
    compiled.rule.action == Verdict::Deny
}

/// Whether an answer left this behind. An ask of that kind lowers no refusal either.
fn lifts(compiled: &Compiled) -> bool {
    compiled.rule.lifts
}

fn by_rule(compiled: &Compiled) -> Match {
    let rule = &compiled.rule;
    Match { verdict: rule.action, rule: Some(rule.clone()), reason: None, protected: false, held: false }
}

fn no_rule(verdict: Verdict, reason: &str) -> Match {
    Match { verdict, rule: None, reason: Some(reason.to_owned()), protected: false, held: false }
}

/// The stricter of two; of equals what no mode lifts, then the first.
fn stricter(one: Match, other: Match) -> Match {
    if (other.verdict, other.held) > (one.verdict, one.held) { other } else { one }
}

/// Why nothing is silent by default.
pub(super) fn damaged(place: &str) -> String {
    format!("{place} is damaged, so nothing is silent by default until it is put right")
}

fn loss(destroys: Destroys) -> &'static str {
    match destroys {
        Destroys::Overwrite => "the content of an existing file would be lost",
        Destroys::Mode => "the owner, group or mode of what exists would change",
        Destroys::Delete => "a file would be deleted or moved away",
        Destroys::Recursive => "a whole tree would be deleted or changed",
    }
}

impl super::rules::Reach {
    fn includes(self, request: &CapabilityRequest) -> bool {
        self != Self::Query || (request.query && request.capability == Capability::NetworkAccess)
    }

    fn covers_loss(self, destroys: Destroys) -> bool {
        self == Self::Overwrite && destroys == Destroys::Overwrite
    }
}
