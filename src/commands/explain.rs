//! `gsh explain`: the whole reasoning, for a person.

use std::fmt::Write;

use crate::ask::sanitize::line as visible;
use crate::decision::answer::subject;
use crate::facts::path::Target;
use crate::facts::{Effect, EffectKind};
use crate::pipeline::Checked;
use crate::policy::{Forbidden, Layer, Policy, Rule, Verdict};

/// The reasoning behind a decision, in sections.
#[must_use]
pub fn text(checked: &Checked, source: &str, policy: &Policy) -> String {
    let mut out = String::new();
    let decision = &checked.decision;
    line(&mut out, format_args!("{}: {}", decision.verdict.word(), decision.reason));
    if let Some(floor) = &decision.floor {
        line(&mut out, format_args!("floor: {floor}; no rule, mode or answer can allow it"));
    }
    if let Some(knob) = decision.knob {
        line(&mut out, format_args!("decided by the knob {knob}"));
    }
    runs(&mut out, checked);
    effects(&mut out, checked);
    doubts(&mut out, checked, source);
    asked(&mut out, checked, policy);
    silence(&mut out, checked);
    out
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
    out.push('\n');
}

fn runs(out: &mut String, checked: &Checked) {
    if checked.facts.invocations.is_empty() {
        line(out, format_args!("\nit runs no program"));
        return;
    }
    line(out, format_args!("\nit runs"));
    for invocation in &checked.facts.invocations {
        let known = if invocation.explained { "" } else { "   (not fully explained)" };
        let around = "  ".repeat(invocation.wrapped_in.len());
        let place = invocation.cwd.as_deref().unwrap_or("a directory that is not known");
        line(out, format_args!("  {around}{}   in {place}{known}", visible(&invocation.text())));
    }
}

fn effects(out: &mut String, checked: &Checked) {
    if checked.facts.effects.is_empty() {
        return;
    }
    line(out, format_args!("\nit does"));
    for effect in &checked.facts.effects {
        line(out, format_args!("  {}", visible(&effect_text(effect))));
    }
}

fn effect_text(effect: &Effect) -> String {
    match &effect.kind {
        EffectKind::Read(target) => format!("read {}", place(target)),
        EffectKind::ReadTree { tree, narrow: true, .. } => format!("search below {}", place(tree)),
        EffectKind::ReadTree { tree, .. } => format!("read everything below {}", place(tree)),
        EffectKind::List(target) => format!("look at {}", place(target)),
        EffectKind::Write { target, change } => format!("{} {}", change.word(), place(target)),
        EffectKind::Network { query: true } => "ask its own service over the network".to_owned(),
        EffectKind::Network { query: false } => "talk to the network".to_owned(),
        EffectKind::GitModify => "change the git repository".to_owned(),
        EffectKind::Push { .. } => "push to a remote".to_owned(),
        EffectKind::Background => "leave something running".to_owned(),
        EffectKind::Input { command, .. } => format!("be read by the job {command}"),
        EffectKind::Power => "turn the machine off".to_owned(),
        EffectKind::KillAll => "signal every process".to_owned(),
        EffectKind::ForkBomb => "start copies of itself without end".to_owned(),
        EffectKind::DeleteUser => "delete a user".to_owned(),
        EffectKind::RevealSecrets => "print secrets or the environment".to_owned(),
        EffectKind::RunsDownload => "run what it downloads".to_owned(),
        EffectKind::Tool { name, .. } => format!("uses the tool {name}"),
        EffectKind::Canary => "nothing: the inert test word".to_owned(),
        EffectKind::Disarm => "change gsh itself".to_owned(),
        EffectKind::DestroyRemote { what } => format!("destroy on a remote service: {what}"),
        EffectKind::Interactive => "wait for keys at a terminal".to_owned(),
    }
}

fn place(target: &Target) -> String {
    match target {
        Target::Known(place) if place.real != place.lexical => {
            format!("{} (really {})", place.lexical, place.real)
        }
        Target::Known(place) => place.lexical.clone(),
        Target::Below { root, name } => {
            format!("{} below {}", name.as_deref().unwrap_or("everything"), root.lexical)
        }
        Target::Unknown { shown, .. } => format!("{shown} (not known before it runs)"),
    }
}

fn doubts(out: &mut String, checked: &Checked, source: &str) {
    if checked.facts.problems.is_empty() {
        return;
    }
    line(out, format_args!("\nwhat could not be told"));
    for doubt in &checked.facts.problems {
        let span = doubt.problem.span;
        let quoted = source.get(span.start..span.end).unwrap_or("").chars().take(60).collect::<String>();
        let at = if quoted.is_empty() { String::new() } else { format!("   at `{}`", visible(&quoted)) };
        line(out, format_args!("  {}: {}{at}", doubt.problem.cause.word(), visible(&doubt.problem.detail)));
    }
}

fn asked(out: &mut String, checked: &Checked, policy: &Policy) {
    let told: Vec<_> = checked.decision.requests.iter().filter(|each| each.is_told()).collect();
    if told.is_empty() {
        return;
    }
    line(out, format_args!("\nwhat it asks for"));
    for each in told {
        let rule = match &each.matched.rule {
            Some(rule) if rule.file.is_none() => rule.layer.word().to_owned(),
            Some(rule) => format!("{}, {}", rule.layer.word(), rule.place()),
            None => "builtin default".to_owned(),
        };
        line(
            out,
            format_args!(
                "  {:6} {} {}   [{rule}]",
                each.verdict.word(),
                each.request.capability.word(),
                visible(subject(&each.request.subject))
            ),
        );
        if let Some(rule) = policy.unheard(&each.request).filter(|_| each.verdict != Verdict::Allow) {
            line(out, format_args!("         {}", unheard(policy, &rule)));
        }
        for risk in &each.request.risks {
            line(out, format_args!("         {}", visible(risk)));
        }
        if !each.request.prefer.is_empty() {
            line(out, format_args!("         instead: {}", each.request.prefer));
        }
    }
}

/// A rule that would allow it, in a file that nobody trusted.
fn unheard(policy: &Policy, rule: &Rule) -> String {
    let whose = if rule.layer == Layer::Project { "the project's file" } else { "a file in a project" };
    let place = visible(&rule.place());
    match policy.forbidden_by(Forbidden::Trust) {
        Some(file) => {
            format!("{whose} allows this ({place}), but {} forbids trust in such files", visible(file))
        }
        None => format!("{whose} allows this ({place}), but nobody trusted it: gsh trust"),
    }
}

fn silence(out: &mut String, checked: &Checked) {
    let decision = &checked.decision;
    if decision.verdict == Verdict::Allow {
        return;
    }
    line(out, format_args!("\nwhat would make it silent"));
    if decision.floor.is_some() {
        line(out, format_args!("  nothing: it is on the floor"));
    } else if decision.suggestions.is_empty() {
        line(out, format_args!("  no pattern can be offered; only an answer to this very command"));
    } else {
        for suggestion in &decision.suggestions {
            line(out, format_args!("  \"{}\" = \"allow\"", suggestion.replace('"', "\\\"")));
        }
    }
}
