//! Rules that can never decide, because a later one of the same list matches all that they match.
//!
//! Said is only what is certain for every request, mode and caller. That several later rules together take
//! what one rule is for is not seen.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::rules::{Compiled, RuleSet};
use super::{Capability, Layer, Policy, Rule, Verdict, When};
use crate::facts::programs::Programs;

/// A rule and what stands in its way.
#[derive(Debug, Clone)]
pub struct Shadow {
    /// The rule that never decides.
    pub rule: Arc<Rule>,
    /// The later one that does in its place: for one of its capabilities, where they are many.
    pub by: Arc<Rule>,
    /// What it is still good for.
    pub but: Option<But>,
}

/// What a rule is good for that a later one hides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum But {
    /// It decides what gsh fully explains, and whole pipelines and lists: a rule for everything is not for
    /// those.
    Mentions,
    /// It vouches for exactly this text where that is not understood.
    Vouching,
    /// It raises, and what raises is also held against other spellings of a command than the written one.
    Spelled,
}

/// The rules of a policy that never decide, in order.
#[must_use]
pub fn shadows(policy: &Policy) -> Vec<Shadow> {
    let sets: Vec<RuleSet> =
        [&policy.rules].into_iter().chain(&policy.tighten).map(RuleSet::whenever).collect();
    let mut found: Vec<Shadow> = sets.iter().flat_map(|set| within(set, &policy.programs)).collect();
    let floors = sets.iter().filter(|set| set.iter().any(|each| each.rule.floor.is_some()));
    found.extend(floors.flat_map(|floors| below(floors, &sets, &policy.programs)));
    let mut known = vec![];
    found.retain(|shadow| {
        let new = !known.iter().any(|rule| Arc::ptr_eq(rule, &shadow.rule));
        known.push(Arc::clone(&shadow.rule));
        new
    });
    found
}

/// The rules of one list that later ones of it hide.
fn within(set: &RuleSet, programs: &Programs) -> Vec<Shadow> {
    hidden(
        set,
        |capability, earlier| {
            let sample = earlier.patterns.first()?.sample();
            let later = set.find_last(capability, &[&sample], |later| {
                Arc::ptr_eq(&later.rule, &earlier.rule)
                    || covers(later, earlier, capability, programs).is_some()
            })?;
            (!Arc::ptr_eq(&later.rule, &earlier.rule)).then_some(later)
        },
        programs,
    )
}

/// The rules below a floor of a person's own: its entries refuse, whatever the lists say.
fn below(floors: &RuleSet, sets: &[RuleSet], programs: &Programs) -> Vec<Shadow> {
    let lists = sets.iter().filter(|set| !std::ptr::eq(*set, floors));
    let of_list = |set| {
        hidden(
            set,
            |capability, earlier| {
                // What refuses as well still names the reason.
                let earlier = Some(earlier).filter(|earlier| earlier.rule.action != Verdict::Deny)?;
                let sample = earlier.patterns.first()?.sample();
                floors.find_last(capability, &[&sample], |floor| {
                    covers(floor, earlier, capability, programs).is_some()
                })
            },
            programs,
        )
    };
    lists.flat_map(of_list).collect()
}

/// The rules that something stands in the way of, for each of their capabilities.
fn hidden<'s>(
    set: &'s RuleSet,
    by: impl Fn(Capability, &Compiled) -> Option<Cow<'s, Compiled>>,
    programs: &Programs,
) -> Vec<Shadow> {
    let mut fates: HashMap<*const Rule, Option<Shadow>> = HashMap::new();
    for capability in Capability::ALL {
        for earlier in set.of(capability) {
            let fate = by(capability, earlier).and_then(|later| {
                let but = covers(&later, earlier, capability, programs)?;
                let (rule, by) = (Arc::clone(&earlier.rule), Arc::clone(&later.rule));
                Some(Shadow { rule, by, but })
            });
            let entry = fates.entry(Arc::as_ptr(&earlier.rule)).or_insert_with(|| fate.clone());
            *entry = match (entry.take(), fate) {
                (Some(known), Some(new)) => Some(Shadow { but: known.but.or(new.but), ..known }),
                _ => None,
            };
        }
    }
    set.iter().filter_map(|each| fates.remove(&Arc::as_ptr(&each.rule))?).collect()
}

/// Whether the later rule matches every request of the capability that the earlier one matches.
fn covers(
    later: &Compiled,
    earlier: &Compiled,
    capability: Capability,
    programs: &Programs,
) -> Option<Option<But>> {
    let spelled = |narrow| later.patterns.iter().any(|wide| wide.covers(narrow));
    let certain = counts_whenever(later, earlier)
        && takes_losses(later, earlier, capability)
        && !lifts_only(later, earlier)
        && !opens_discovery(later, earlier)
        && earlier.patterns.iter().all(spelled)
        && reaches(later, earlier, capability, programs);
    let mentions = capability == Capability::ProcessExecute && later.is_bare() && !earlier.is_bare();
    let one_spelling = capability.is_file() || capability == Capability::ToolUse || later.is_bare();
    let but = if mentions {
        Some(But::Mentions)
    } else if vouches(later, earlier) {
        Some(But::Vouching)
    } else {
        (allows(later) && !allows(earlier) && !one_spelling).then_some(But::Spelled)
    };
    certain.then_some(but)
}

/// Whether it counts wherever the earlier one does.
fn counts_whenever(later: &Compiled, earlier: &Compiled) -> bool {
    let lasts = match (&later.rule.expires, &earlier.rule.expires) {
        (None, _) => true,
        (Some(later), Some(earlier)) => later >= earlier,
        (Some(_), None) => false,
    };
    let always = When::default();
    let (wide, narrow) = (later.rule.when.as_deref(), earlier.rule.when.as_deref().unwrap_or(&always));
    lasts && wide.is_none_or(|wide| holds_whenever(wide, narrow, (allows(later), allows(earlier))))
}

fn holds_whenever(wide: &When, narrow: &When, (later_allows, earlier_allows): (bool, bool)) -> bool {
    fn within<T: PartialEq>(narrow: &[T], wide: &[T]) -> bool {
        wide.is_empty() || (!narrow.is_empty() && narrow.iter().all(|each| wide.contains(each)))
    }
    // An agent that cannot be told is any for what tightens, and none for what allows.
    let unknown = wide.agents.is_empty() || !later_allows || earlier_allows;
    within(&narrow.modes, &wide.modes)
        && within(&narrow.entries, &wide.entries)
        && within(&narrow.agents, &wide.agents)
        && unknown
        && (wide.interactive.is_none() || wide.interactive == narrow.interactive)
}

/// Whether it covers every loss that the earlier one covers.
fn takes_losses(later: &Compiled, earlier: &Compiled, capability: Capability) -> bool {
    let earlier_takes = !allows(earlier) || earlier.rule.destroys;
    !capability.is_write() || !allows(later) || later.rule.destroys || !earlier_takes
}

/// Whether it may be looked past, in favour of what the earlier one is a part of: the rules of a person's
/// own, and whatever refuses.
fn lifts_only(later: &Compiled, earlier: &Compiled) -> bool {
    let refuses = |compiled: &Compiled| compiled.rule.action == Verdict::Deny;
    later.rule.lifts && (!earlier.rule.lifts || refuses(earlier) && !refuses(later))
}

/// Whether both allow the very same.
fn say_the_same(later: &Compiled, earlier: &Compiled) -> bool {
    let (late, early) = (&later.rule, &earlier.rule);
    allows(later) && allows(earlier) && late.pattern == early.pattern && late.capability == early.capability
}

/// Whether an allow for a server's tool opens the server's discovery, and the later rule does not.
fn opens_discovery(later: &Compiled, earlier: &Compiled) -> bool {
    allows(earlier) && earlier.rule.pattern.starts_with("mcp__") && !say_the_same(later, earlier)
}

/// Whether an allow vouches for a text that is not understood, and the later rule does not.
fn vouches(later: &Compiled, earlier: &Compiled) -> bool {
    let of_person = |rule: &Rule| matches!(rule.layer, Layer::User | Layer::Managed) && !rule.lifts;
    let exact = earlier.patterns.iter().any(|pattern| pattern.exact().is_some());
    allows(earlier)
        && exact
        && of_person(&earlier.rule)
        && earlier.rule.capability == Capability::ProcessExecute.word()
        && !(say_the_same(later, earlier) && of_person(&later.rule))
}

/// Whether the later one is heard wherever a text of the earlier one is matched. What raises needs any text
/// of a command in wrappers; what allows needs the innermost, or the whole if it names what is in it.
fn reaches(later: &Compiled, earlier: &Compiled, capability: Capability, programs: &Programs) -> bool {
    if capability.is_file() || capability == Capability::ToolUse || !allows(later) {
        return true;
    }
    let head = |each: &Compiled| {
        each.patterns.first().map(|pattern| pattern.head().into_owned()).unwrap_or_default()
    };
    let exact = |each: &Compiled| each.patterns.first().is_some_and(|pattern| pattern.exact().is_some());
    let (of_later, of_earlier) = (head(later), head(earlier));
    // Where only one text can be meant, both are held against it.
    let whole_words = of_earlier.rsplit_once(' ').map(|(words, _)| words);
    let known = if exact(earlier) { Some(of_earlier.as_str()) } else { whole_words };
    if known.is_some_and(|words| !may_wrap(words, programs)) {
        return true;
    }
    let named = !of_later.is_empty() || of_earlier.is_empty();
    let whole_is_no_matter = !of_earlier.contains(' ') && !exact(earlier);
    let same_whole = of_later == of_earlier && (exact(later) || !exact(earlier));
    allows(earlier) && named && (whole_is_no_matter || same_whole)
}

fn may_wrap(text: &str, programs: &Programs) -> bool {
    let mut words: Vec<&str> = text.split(' ').collect();
    let Some(first) = words.first_mut() else { return true };
    *first = first.rsplit('/').next().unwrap_or(first);
    // What is quoted is no program of any table; whatever it is, nothing is said of it.
    first.is_empty() || first.contains(['\'', '$', '…', '\\', '"']) || programs.may_wrap(&words)
}

/// Whether it matches as what allows does.
fn allows(compiled: &Compiled) -> bool {
    compiled.bounds.matches_as == Verdict::Allow
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::policy::compose::LayerRules;
    use crate::policy::laws::{lines, requests};
    use crate::policy::tests::{layer, policy, untrusted};
    use crate::policy::{CapabilityRequest, Mode, Subject};

    /// The lines of the user's rules that are in a shadow, each with the line that casts it, `~` where it
    /// is not cast on mentions, `=` where the rule still vouches for its text, `'` where it could count for
    /// another spelling.
    fn found(text: &str) -> Vec<String> {
        let line = |rule: &Rule| rule.line;
        let shown = shadows(&policy(vec![layer(Layer::User, text)])).into_iter().map(|shadow| {
            let mark = match shadow.but {
                Some(But::Mentions) => "~",
                Some(But::Vouching) => "=",
                Some(But::Spelled) => "'",
                None => "",
            };
            format!("{}<{}{mark}", line(&shadow.rule), line(&shadow.by))
        });
        shown.collect()
    }

    #[test]
    fn what_is_certain() {
        for (text, expected) in [
            ("ask process.execute npm publish *\nallow process.execute npm *", &["1<2'"][..]),
            ("deny process.execute npm publish *\nallow process.execute npm *", &["1<2'"]),
            ("allow process.execute npm test\nask process.execute npm test *", &["1<2="]),
            ("allow git.modify git add x\nask git.modify git add *", &["1<2"]),
            ("ask process.execute npm *\nallow process.execute npm test *", &[]),
            ("allow process.execute npm test *\nask process.execute *", &["1<2~"]),
            ("! allow process.execute *\nask process.execute npm *", &[]),
            ("ask process.execute npm *\n! allow process.execute *", &[]),
            // What is in wrappers is another matter: of `timeout 5 x` a rule that raises needs only a part.
            ("deny process.execute timeout *\nallow process.execute timeout 5 *", &[]),
            ("deny process.execute timeout 5 *\nallow process.execute timeout *", &[]),
            ("allow process.execute timeout 5 make *\nallow process.execute timeout *", &[]),
            ("deny process.execute *rm *\nallow process.execute *", &[]),
            ("allow process.execute np*\nask process.execute n*", &["1<2"]),
            // Losses.
            ("destroys allow file.write.project /x/a\nallow file.write.project /x/*", &[]),
            ("ask file.write.project /x/a\nallow file.write.project /x/*", &[]),
            ("ask file.write.project /x/a\ndestroys allow file.write.project /x/*", &["1<2"]),
            ("ask file.read /x/a\nallow file.read /x/*", &["1<2"]),
            ("ask file.read /x/a\nallow file.* /x/*", &["1<2"]),
            ("ask file.* /x/a\nallow file.read /x/*", &[]),
            ("ask file.* /x/a\ndeny file.read /x/*\ndeny file.write.* /x/*", &["1<2"]),
            ("ask file.read ~/a\ndeny file.read ~/*", &["1<2"]),
            // Answers, and what runs out.
            ("deny file.read /x/a\nlifts allow file.read /x/*", &[]),
            ("lifts allow file.read /x/a\nask file.read /x/*", &["1<2"]),
            ("ask file.read /x/a\nuntil=2031-01-01 deny file.read /x/*", &[]),
            ("until=2031-01-01 ask file.read /x/a\nuntil=2031-01-01 deny file.read /x/*", &["1<2"]),
            ("ask file.read /x/a\nuntil=2020-01-01 deny file.read /x/*", &[]),
            // A use beside deciding.
            ("allow process.execute make $X\nask process.execute make *", &["1<2="]),
            ("allow tool.use mcp__a__b\nask tool.use mcp__a__*", &[]),
            ("ask tool.use mcp__a__b\nallow tool.use mcp__a__*", &["1<2"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn conditions_and_floors() {
        let with = |modes: &[Mode], agents: &[&str]| {
            let agents = agents.iter().map(|agent| (*agent).to_owned()).collect();
            Some(Arc::new(When { modes: modes.to_vec(), agents, ..When::default() }))
        };
        let always = || None;
        let (plan, both) = ([Mode::Plan], [Mode::Plan, Mode::DontAsk]);
        use Verdict::{Allow, Ask};
        for (earlier, later, expected) in [
            ((Ask, with(&plan, &[])), (Ask, always()), true),
            ((Ask, always()), (Ask, with(&plan, &[])), false),
            ((Ask, with(&plan, &[])), (Ask, with(&both, &[])), true),
            ((Ask, with(&both, &[])), (Ask, with(&plan, &[])), false),
            ((Ask, with(&[], &["a"])), (Ask, with(&[], &["a", "b"])), true),
            ((Ask, with(&[], &["a"])), (Allow, with(&[], &["a"])), false),
            ((Allow, with(&[], &["a"])), (Ask, with(&[], &["a"])), true),
        ] {
            let mut rules = layer(Layer::User, "ask file.read /x/a\nask file.read /x/*");
            for (entry, (action, when)) in rules.rules.iter_mut().zip([&earlier, &later]) {
                (entry.rule.action, entry.rule.when) = (*action, when.clone());
            }
            assert_eq!(shadows(&policy(vec![rules])).len(), usize::from(expected), "{earlier:?} {later:?}");
        }
        let mut floor =
            layer(Layer::User, "allow git.modify git push x\ndeny git.modify git push x\ndeny * git push *");
        floor.rules[2].rule.floor = Some("no-push".into());
        let found = shadows(&policy(vec![floor]));
        assert_eq!(
            found.iter().map(|shadow| (shadow.rule.line, shadow.by.line)).collect::<Vec<_>>(),
            [(1, 2)]
        );
        let managed = layer(Layer::Managed, "deny file.read /x/a\nask file.read /x/*");
        let both = [managed, untrusted("ask file.read /x/*"), layer(Layer::User, "ask file.read /x/a")];
        assert_eq!(shadows(&policy(both.into())).len(), 1, "each list for itself");
    }

    /// As facts are: what escalates names the wrapper, only commands are mentioned, only writes lose something.
    fn likely(mut request: CapabilityRequest) -> CapabilityRequest {
        if !request.capability.is_write() {
            request.destroys = None;
        }
        match &request.subject {
            Subject::Mention(_) => request.capability = Capability::ProcessExecute,
            Subject::Command { written, .. } => request.escalates &= written.starts_with("sudo "),
            Subject::Path(_) => {}
        }
        request
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn what_is_in_a_shadow_makes_no_difference(
            user in lines(), project in lines(), request in requests().prop_map(likely)
        ) {
            let layers = || vec![layer(Layer::User, &user), layer(Layer::Project, &project)];
            let whole = policy(layers());
            let before = whole.evaluate(&request);
            let is_mention = matches!(request.subject, Subject::Mention(_));
            for shadow in shadows(&whole).iter().filter(|shadow| shadow.but != Some(But::Mentions) || !is_mention) {
                let decides = before.rule.as_ref().is_some_and(|rule| **rule == *shadow.rule);
                prop_assert!(!decides, "{:?} is not in the shadow of {:?}", shadow.rule, shadow.by);
                let without = |mut layer: LayerRules| {
                    layer.rules.retain(|each| (each.rule.line, &each.rule.file) != (shadow.rule.line, &shadow.rule.file));
                    layer
                };
                let after = policy(layers().into_iter().map(without).collect()).evaluate(&request);
                prop_assert_eq!(before.verdict, after.verdict, "without {:?}, in the shadow of {:?}", &shadow.rule, &shadow.by);
            }
        }
    }
}
