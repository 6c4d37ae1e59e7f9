//! Modes: what becomes of a verdict after evaluation.

use super::Judged;
use crate::policy::{Capability, Destroys, Layer, Mode, Subject, Verdict};

/// What the whole command is, for the modes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing<'a> {
    pub mode: Mode,
    /// Fully understood and only reads; in plan mode also what writes nothing but the plan.
    pub harmless: bool,
    /// The worst case of an unknown part is an entry of the floor.
    pub firm: bool,
    /// The one file that may be written in plan mode.
    pub plan: Option<&'a str>,
}

/// The verdict on one request after the mode.
pub(super) fn applied(standing: &Standing<'_>, each: &Judged) -> Verdict {
    let verdict = each.matched.verdict;
    match standing.mode {
        Mode::Bypass if matches!(verdict, Verdict::Ask | Verdict::Review) && !held(each) => Verdict::Allow,
        Mode::AcceptEdits if verdict == Verdict::Ask && is_edit(each) => Verdict::Allow,
        Mode::DontAsk if verdict == Verdict::Ask => Verdict::Deny,
        // The plan is the one thing that plan mode is for.
        Mode::Plan if standing.harmless && is_plan(standing.plan, each) => Verdict::Allow,
        _ => verdict,
    }
}

/// Whether the request is to write the plan, and no rule of a person speaks of it.
fn is_plan(plan: Option<&str>, each: &Judged) -> bool {
    let Subject::Path(forms) = &each.request.subject else { return false };
    let named = plan.is_some_and(|plan| forms.iter().any(|form| form == plan));
    named && each.request.capability.is_write() && each.matched.verdict < Verdict::Deny && by_default(each)
}

/// What even bypass asks about: protected paths, and files that may only tighten.
fn held(each: &Judged) -> bool {
    each.matched.protected || each.matched.held
}

/// A write, overwrite, move or single deletion inside the project.
fn is_edit(each: &Judged) -> bool {
    let mild = matches!(each.request.destroys, None | Some(Destroys::Overwrite | Destroys::Delete));
    each.request.capability == Capability::FileWriteProject
        && mild
        && !each.matched.protected
        && by_default(each)
}

/// No rule of a person asks for it.
fn by_default(each: &Judged) -> bool {
    each.matched.rule.as_ref().is_none_or(|rule| rule.layer <= Layer::Overrides)
}

/// The verdict on what was not understood.
pub(super) fn unresolved(standing: &Standing<'_>, verdict: Verdict) -> Verdict {
    match standing.mode {
        Mode::Bypass if !standing.firm && verdict != Verdict::Deny => Verdict::Allow,
        Mode::DontAsk if verdict == Verdict::Ask => Verdict::Deny,
        _ => verdict,
    }
}

/// A question that no rule lowers.
pub(super) fn ask(standing: &Standing<'_>) -> Verdict {
    if standing.mode == Mode::DontAsk { Verdict::Deny } else { Verdict::Ask }
}

/// The verdict on the whole command.
pub(super) fn whole(standing: &Standing<'_>, verdict: Verdict) -> Verdict {
    if standing.mode == Mode::Plan && !standing.harmless { Verdict::Deny } else { verdict }
}
