//! The verdict: the floor first, then every request, the strictest of all, then the mode.

use std::sync::Arc;

use super::grant;
use super::mode::{self, Standing};
use super::requests::requests;
use super::{Decision, Judged};
use crate::facts::arg::Arg;
use crate::facts::path::{Located, Target};
use crate::facts::{Change, EffectKind, Facts, Invocation};
use crate::host::{Host, Node};
use crate::policy::floor::{self, Hit, Ruling};
use crate::policy::{Capability, Layer, Match, Mode, Policy, Rule, Subject, Verdict};
use crate::syntax::Problem;

/// What is decided on.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// The whole text; empty when it was not UTF-8.
    pub text: &'a str,
    /// What it would do.
    pub facts: &'a Facts,
    /// What plainly stands in a text that could not be read.
    pub plain: &'a [Hit],
    /// What the people concerned want.
    pub policy: &'a Policy,
}

/// Decides. The only place where a verdict on a command is made.
#[must_use]
pub fn decide(case: Case<'_>, host: &dyn Host) -> Decision {
    let mut ruling = floor::judge(case.facts, host);
    ruling.hits.extend(case.plain.iter().cloned());
    let mode = case.policy.mode;
    let mut judged: Vec<Judged> = requests(case.facts)
        .into_iter()
        .map(|request| {
            let mut matched = case.policy.evaluate(&request);
            matched.verdict = matched.verdict.max(nested_default(case.policy, &matched));
            Judged { verdict: matched.verdict, request, matched }
        })
        .filter(|each| !each.request.carried || each.matched.rule.is_some())
        .collect();
    let unresolved = unresolved(case);
    let reads_only = reads_only(case.facts, None);
    let plan = case.policy.plan.as_deref();
    let plans = mode == Mode::Plan && self::reads_only(case.facts, plan);
    let standing = Standing { mode, harmless: reads_only || plans, firm: firm(case.facts, &ruling), plan };
    for each in &mut judged {
        each.verdict = mode::applied(&standing, each);
    }
    let open = unresolved.as_ref().map(|open| mode::unresolved(&standing, open.verdict));
    let strictest = judged.iter().map(|each| each.verdict).chain(open).max().unwrap_or(Verdict::Allow);
    let strictest = if ruling.suspects.is_empty() { strictest } else { strictest.max(mode::ask(&standing)) };
    let (verdict, knob) = mixed(case.policy, &judged, strictest, open);
    let stopped = case.policy.is_stopped() && !reads_only && !judged.is_empty();
    let (verdict, knob) = if stopped { (Verdict::Deny, Some("refusals.in_all")) } else { (verdict, knob) };
    let verdict = if ruling.hits.is_empty() { mode::whole(&standing, verdict) } else { Verdict::Deny };
    let begins = case.facts.starts && begins(&ruling, &judged);
    let verdict = if begins { allow(&mut judged) } else { verdict };
    let knob = knob
        .filter(|_| !begins)
        .or_else(|| unresolved.as_ref().filter(|_| open == Some(verdict)).map(|_| "on_unresolved"));
    let understood = open.is_none_or(|open| open == Verdict::Allow);
    let keeps = !case.policy.caller.nested || case.policy.knobs.subagents.allow_grants;
    let lasting = keeps
        && understood
        && !standing.firm
        && knob.is_none()
        && grant::may_last(&judged, verdict, case.policy);
    let reason = reason(&Findings { verdict, judged: &judged, ruling: &ruling, case, mode, knob });
    Decision {
        verdict,
        floor: floor_entry(&ruling, &judged),
        reason,
        suggestions: suggestions(&judged, case.facts, verdict),
        requests: judged,
        not_understood: case.facts.problems.iter().map(|doubt| doubt.problem.clone()).collect(),
        knob: knob.filter(|_| ruling.hits.is_empty()),
        mode,
        firm: standing.firm,
        reads_only,
        lasting,
    }
}

/// Whether what a caller runs when it starts may run: nothing but rules that refuse and the floor stops it. What
/// the floor only suspects is a file that such a script writes by a variable's name, which was looked at before.
fn begins(ruling: &Ruling, judged: &[Judged]) -> bool {
    ruling.hits.is_empty() && judged.iter().all(|each| each.matched.verdict < Verdict::Deny)
}

/// Nothing of it is asked about.
fn allow(judged: &mut [Judged]) -> Verdict {
    judged.iter_mut().for_each(|each| each.verdict = Verdict::Allow);
    Verdict::Allow
}

/// The entry that was hit: of the floor, or of one that the user or the machine's owner added.
fn floor_entry(ruling: &Ruling, judged: &[Judged]) -> Option<Arc<str>> {
    let own = || judged.iter().find_map(|each| each.matched.rule.as_ref()?.floor.clone());
    ruling.hits.first().map(|hit| hit.entry.into()).or_else(own)
}

/// What an agent beneath gsh gets where only a builtin rule asks.
fn nested_default(policy: &Policy, matched: &Match) -> Verdict {
    let builtin = matched.rule.as_ref().is_none_or(|rule| rule.layer == Layer::Builtin);
    let asks = matched.verdict > Verdict::Allow && builtin && policy.caller.nested;
    if asks { policy.knobs.subagents.default } else { Verdict::Allow }
}

/// The verdict on what was not understood.
struct Open {
    verdict: Verdict,
}

/// The request that a not understood part makes, after the rules: only an exact allow rule of the
/// user or the machine's owner for the whole text lowers it.
fn unresolved(case: Case<'_>) -> Option<Open> {
    let asked = case.facts.invocations.iter().any(|invocation| !invocation.explained);
    // What the rules for running programs decide needs an invocation that they are asked about.
    if case.facts.problems.iter().all(|doubt| doubt.execution && asked) {
        return None;
    }
    let vouched = !case.text.is_empty() && case.policy.vouches_for(case.text);
    let verdict = if vouched { Verdict::Allow } else { case.policy.knobs.on_unresolved };
    Some(Open { verdict })
}

/// Nothing but looking: everything is explained and no effect changes anything but this one file.
fn reads_only(facts: &Facts, plan: Option<&str>) -> bool {
    facts.problems.is_empty()
        && facts.invocations.iter().all(|invocation| invocation.explained)
        && facts.effects.iter().all(|effect| match &effect.kind {
            EffectKind::Read(_) | EffectKind::ReadTree { .. } | EffectKind::List(_) => true,
            EffectKind::Network { query } => *query,
            EffectKind::Write { target: Target::Known(place), change } => {
                let by = effect.by.and_then(|by| facts.invocations.get(by));
                crate::facts::is_device(&place.real)
                    || plan.is_some_and(|plan| is_plan(plan, place, *change) && by.is_none_or(writes_text))
            }
            _ => false,
        })
}

/// Whether an invocation writes text where it writes: others may put a link there (`ln`, `cp -P`).
fn writes_text(by: &Invocation) -> bool {
    let program = by.words.first().and_then(Arg::text);
    program.is_some_and(|program| ["cat", "echo", "printf", "sed", "tee"].contains(&program))
}

/// Whether the place is the plan itself, no link, and its content is written.
fn is_plan(plan: &str, place: &Located, change: Change) -> bool {
    matches!(change, Change::Append | Change::Write | Change::Edit | Change::Patch)
        && place.lexical == plan
        && place.entry == place.real
        && matches!(place.node, Node::Missing | Node::File)
}

/// Whether the worst case is an entry of the floor, so that no mode silences the question.
fn firm(facts: &Facts, ruling: &Ruling) -> bool {
    !ruling.suspects.is_empty() || facts.problems.iter().any(|doubt| doubt.grave)
}

/// Some parts allowed, some denied: the knob may turn a deny of the user's own rules into a question.
fn mixed(
    policy: &Policy,
    judged: &[Judged],
    strictest: Verdict,
    open: Option<Verdict>,
) -> (Verdict, Option<&'static str>) {
    let knob = policy.knobs.on_mixed;
    if strictest != Verdict::Deny || knob == Verdict::Deny {
        return (strictest, None);
    }
    let mut denials = judged.iter().filter(|each| each.verdict == Verdict::Deny).peekable();
    let soft = denials.peek().is_some()
        && denials.all(|each| each.matched.rule.as_ref().is_some_and(|rule| is_soft(policy, rule)))
        && open != Some(Verdict::Deny);
    let refused = |span| judged.iter().any(|each| each.verdict == Verdict::Deny && each.request.span == span);
    // Another text of the same command is no other part.
    let some_allowed = judged.iter().any(|each| {
        each.verdict == Verdict::Allow
            && !refused(each.request.span)
            && matches!(each.request.subject, Subject::Command { .. } | Subject::Mention(_))
    });
    if soft && some_allowed { (knob, Some("on_mixed")) } else { (strictest, None) }
}

/// Whether a knob may soften what a rule refuses.
fn is_soft(policy: &Policy, rule: &Rule) -> bool {
    rule.layer != Layer::Managed && rule.floor.is_none() && !policy.is_untrusted(rule)
}

/// Patterns to offer with the question: none unless every part is understood.
fn suggestions(judged: &[Judged], facts: &Facts, verdict: Verdict) -> Vec<String> {
    if verdict != Verdict::Ask || facts.problems.iter().any(|doubt| !doubt.execution) {
        return Vec::new();
    }
    let mut found: Vec<String> = Vec::new();
    for each in judged.iter().filter(|each| each.verdict >= Verdict::Review) {
        for suggestion in &each.request.suggestions {
            if !found.contains(suggestion) {
                found.push(suggestion.clone());
            }
        }
    }
    found
}

/// All that a reason is made from.
struct Findings<'a> {
    verdict: Verdict,
    judged: &'a [Judged],
    ruling: &'a Ruling,
    case: Case<'a>,
    mode: Mode,
    knob: Option<&'static str>,
}

/// One sentence: what decided and why.
fn reason(findings: &Findings<'_>) -> String {
    if let Some(hit) = findings.ruling.hits.first() {
        return format!("{}: {} ({})", hit.entry, floor::sentence(hit.entry), hit.detail);
    }
    if findings.verdict == Verdict::Allow {
        return allowed(findings);
    }
    if findings.knob == Some("refusals.in_all") {
        let count = findings.case.policy.refused.in_all;
        return format!(
            "{count} commands of this session were refused, so nothing but reading runs until a person says \
             `gsh mode reset`"
        );
    }
    let problems = || findings.case.facts.problems.iter().filter(|doubt| !doubt.execution);
    let strictest =
        findings.judged.iter().filter(|each| each.verdict >= Verdict::Review).max_by_key(|each| each.verdict);
    // A rule's deny is the clearest answer; then what was not understood; then the questions.
    if let Some(each) = strictest.filter(|each| each.matched.verdict == Verdict::Deny) {
        let own =
            findings.judged.iter().find_map(|each| Some((each, each.matched.rule.as_ref()?.floor.as_ref()?)));
        return match own {
            Some((each, entry)) => format!("{entry}: {}", of_request(each)),
            None => of_request(each),
        };
    }
    if let Some(suspect) = findings.ruling.suspects.first() {
        return suspect.detail.clone();
    }
    if let Some(doubt) = problems().next() {
        return not_understood(&doubt.problem, findings.case.text);
    }
    if findings.mode == Mode::Plan && findings.verdict == Verdict::Deny {
        let plan = findings.case.policy.plan.as_deref();
        let written = plan.map(|plan| format!("; a plan may be written to {plan}")).unwrap_or_default();
        return format!("plan mode runs only what is fully explained and reads{written}");
    }
    strictest.map_or_else(|| "nothing asks, yet the verdict is not allow".to_owned(), of_request)
}

fn not_understood(problem: &Problem, text: &str) -> String {
    // A person recognises the source better than a word with its unknown stretches left out.
    let source = text.get(problem.span.start..problem.span.end).filter(|source| !source.is_empty());
    let detail = match (problem.detail.strip_prefix('…'), source) {
        (Some(rest), Some(source)) if source.len() < 80 => format!("{source}{rest}"),
        _ => problem.detail.clone(),
    };
    format!("not understood: {detail}")
}

fn allowed(findings: &Findings<'_>) -> String {
    if findings.case.facts.starts {
        return "its caller looks around when it starts".to_owned();
    }
    let loosened = findings.judged.iter().any(|each| each.matched.verdict > each.verdict);
    match (findings.case.facts.invocations.is_empty(), loosened, findings.mode) {
        (true, false, _) if findings.judged.is_empty() => "nothing runs".to_owned(),
        (_, true, Mode::Bypass) => "bypass mode".to_owned(),
        (_, true, Mode::AcceptEdits) => "accept-edits mode".to_owned(),
        _ if reads_only(findings.case.facts, None) => "it only reads".to_owned(),
        _ => "every request is allowed".to_owned(),
    }
}

fn of_request(each: &Judged) -> String {
    let asked = &each.request.display;
    let rule = each.matched.rule.as_ref();
    let own = rule.and_then(|rule| rule.reason.as_deref()).or(each.matched.reason.as_deref());
    if each.verdict == Verdict::Deny && each.matched.verdict < Verdict::Deny {
        return format!("{asked}: it would ask, and this mode refuses what asks");
    }
    match own {
        Some(why) => format!("{asked}: {why}"),
        None if rule.is_some_and(|rule| rule.layer > Layer::Builtin) => {
            let (pattern, place) = rule.map(|rule| (rule.pattern.clone(), rule.place())).unwrap_or_default();
            format!("{asked}: the rule \"{pattern}\" ({place}) says {}", each.matched.verdict.word())
        }
        None if each.request.capability == Capability::ProcessExecute => {
            format!("{asked}: its effects are not fully known")
        }
        None => asked.clone(),
    }
}

/// What holds when deciding itself failed: nothing runs.
#[must_use]
pub fn failed(mode: Mode) -> Decision {
    Decision { firm: true, ..Decision::bare(Verdict::Deny, INTERNAL_ERROR, mode) }
}

/// The reason of a decision that could not be made.
pub const INTERNAL_ERROR: &str = "internal error";
