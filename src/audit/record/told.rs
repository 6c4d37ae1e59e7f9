//! The parts of an opening line: where it comes from, what was asked, what was decided and by what.

use nix::unistd::getpgrp;
use serde_json::{Map, Value, json};

use super::texts::{WHOLE_TEXT, text, without_documents};
use super::who::decided_by;
use super::{MOST, Opening, map};
use crate::audit::redact::Secrets;
use crate::decision::{Decision, Judged};
use crate::envelope::Mark;
use crate::facts::{EffectKind, Facts};
use crate::host::witness::Answers;
use crate::policy::defaults::is_secret;
use crate::policy::{Agent, Capability, Layer, Policy, Subject, Verdict};
use crate::request::{Entry, ReadingOptions, Setting};
use crate::store::sessions::Grant;
use crate::sys::proc::{Lineage, Process};

/// So many processes above us are named.
const ANCESTORS: usize = 4;

/// Where it comes from.
pub(super) fn origin(opening: &Opening<'_>) -> Map<String, Value> {
    let Opening { request, policy, context, .. } = opening;
    let agent = match &policy.caller.agent {
        Agent::Unknown => Value::Null,
        Agent::None => json!("none"),
        Agent::Named(name) => json!(name),
    };
    let value = json!({
        "entry": request.entry.word(),
        "origin": whose(opening),
        "session": context.session,
        "parents": context.parents,
        "agent": agent,
        "envelope": envelope(&context.envelope),
        "interactive": policy.caller.interactive.then_some(true),
        "above": context.above,
        "nested": policy.caller.nested.then_some(true),
        "beneath": context.beneath.then_some(true),
        "hook": context.hook,
        "process": context.lineage.as_ref().map(process_and_those_above),
    });
    map(value)
}

/// Whether a person or an agent asks, where that can be told: between a person's terminal and this process no
/// agent is known, yet a program of theirs may stand there.
fn whose(opening: &Opening<'_>) -> &'static str {
    let has_terminal = opening.context.lineage.as_ref().is_some_and(|lineage| lineage.own.terminal != 0);
    match (opening.request.entry, &opening.policy.caller.agent) {
        (Entry::Hook, _) | (_, Agent::Named(_)) => "agent",
        (Entry::Typed | Entry::Interactive, _) => "person",
        (_, Agent::None) if has_terminal => "person",
        _ => "unknown",
    }
}

/// What an agent put around the command: nothing, its own text, or one that is not known.
fn envelope(mark: &Mark) -> Value {
    match mark {
        Mark::None => Value::Null,
        Mark::Known { agent, version, part, whole } => json!({
            "agent": agent,
            "version": version,
            "part": part.word(),
            "length": whole.len(),
            "sha256": crate::store::hash(whole),
        }),
        Mark::Unrecognised { agent, version } => {
            json!({ "agent": agent, "version": version, "part": "unrecognised" })
        }
    }
}

/// What was asked, without the bodies of here-documents; of what is written to a file of secrets nothing at all.
pub(super) fn request(opening: &Opening<'_>, inexact: &mut Vec<&'static str>) -> Map<String, Value> {
    let request = opening.request;
    // What tells of a tool is no shell text.
    let (text, documents) = match request.tool {
        Some(_) => (request.text.clone(), Vec::new()),
        None => without_documents(&request.text),
    };
    if !documents.is_empty() {
        inexact.push("here-document");
    }
    if opening.context.follows {
        inexact.push("follows");
    }
    let withheld = writes_secrets(opening.decision);
    // What a tool is given is told by its length and hash alone, and decides nothing.
    let args = match request.tool {
        Some(_) if withheld && !request.args.is_empty() => {
            json!(["input withheld: it is for a file of secrets"])
        }
        _ => json!(request.args),
    };
    let command = self::text(&text);
    if command.is_object() {
        inexact.push("long");
    }
    let options = (request.options != ReadingOptions::default()).then_some(request.options);
    let setting = (request.setting != Setting::default()).then_some(&request.setting);
    if setting.is_some_and(|setting| setting.prelude.len() > WHOLE_TEXT) {
        inexact.push("setting");
    }
    let setting = setting.filter(|setting| setting.prelude.len() <= WHOLE_TEXT);
    let value = json!({
        "setting": setting,
        "directory": request.cwd.to_string_lossy(),
        "command": command,
        "name": request.name,
        "args": args,
        "options": options,
        "tool": request.tool,
        "here_documents": if withheld { vec![json!({ "withheld": true }); documents.len()] } else { documents },
    });
    map(value)
}

/// Whether something is written to a file of a kind that holds secrets.
pub(in crate::audit) fn writes_secrets(decision: &Decision) -> bool {
    let mut written = decision.requests.iter().map(|each| &each.request).filter(|request| {
        matches!(request.capability, Capability::FileWriteProject | Capability::FileWriteOutside)
    });
    written.any(|request| {
        matches!(&request.subject, Subject::Path(forms) if forms.iter().any(|path| is_secret(path)))
    })
}

/// What was decided, and by what.
pub(super) fn decided(opening: &Opening<'_>) -> Map<String, Value> {
    let Opening { policy, decision, facts, context, .. } = opening;
    let told: Vec<&Judged> = decision.requests.iter().filter(|each| each.is_told()).collect();
    let runs = match decision.verdict {
        Verdict::Allow => Some(true),
        Verdict::Deny => Some(false),
        Verdict::Ask | Verdict::Review => None,
    };
    let rules = context.rules.iter().map(|(action, text)| json!([action, text]));
    let value = json!({
        "facts": summary(facts, decision),
        "requests": told.iter().take(MOST).map(|each| judged(each)).collect::<Vec<_>>(),
        "requests_left_out": told.len().checked_sub(MOST).filter(|more| *more > 0),
        "not_understood": decision.not_understood.iter().take(MOST).collect::<Vec<_>>(),
        "verdict": decision.verdict,
        "floor": decision.floor,
        "reason": decision.reason,
        "knob": decision.knob,
        "mode": decision.mode,
        "mode_from": policy.mode_origin,
        "suggestions": decision.suggestions,
        "configuration": configuration(policy),
        "rules": rules.collect::<Vec<_>>(),
        "decided_by": decided_by(decision),
        "grants": grants(&told, &context.grants),
        "runs": runs,
        "environment_removed": context.removed,
    });
    map(value)
}

/// The answers by which something passes or is refused: who gave them, when, where, about which record.
fn grants(told: &[&Judged], known: &[Grant]) -> Vec<Value> {
    let rules = told.iter().filter_map(|each| each.matched.rule.as_ref());
    let names: Vec<_> =
        rules.filter(|rule| rule.layer == Layer::Session).filter_map(|rule| rule.file.clone()).collect();
    let used = known.iter().filter(|grant| names.iter().any(|name| **name == grant.name()));
    used.map(|grant| {
        json!({
            "id": grant.id, "made": grant.made, "until": grant.until, "who": grant.who,
            "terminal": grant.terminal, "panel": grant.panel, "record": grant.record,
        })
    })
    .collect()
}

/// The programs, and how many effects of which kind.
fn summary(facts: &Facts, decision: &Decision) -> Value {
    let mut programs: Vec<String> = Vec::new();
    for invocation in &facts.invocations {
        let name = invocation.words.first().map(crate::facts::arg::Arg::display).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default().to_owned();
        if !name.is_empty() && programs.len() < MOST && !programs.contains(&name) {
            programs.push(name);
        }
    }
    let count =
        |test: fn(&EffectKind) -> bool| facts.effects.iter().filter(|effect| test(&effect.kind)).count();
    let some = |count: usize| (count > 0).then_some(count);
    let mut value = map(json!({
        "programs": programs,
        "reads": some(count(|kind| matches!(kind, EffectKind::Read(_) | EffectKind::ReadTree { .. }))),
        "writes": some(count(|kind| matches!(kind, EffectKind::Write { .. }))),
        "network": some(count(|kind| matches!(kind, EffectKind::Network { .. } | EffectKind::Push { .. }))),
        "reads_only": decision.reads_only.then_some(true),
    }));
    value.retain(|_, value| !value.is_null());
    Value::Object(value)
}

/// The version of the configuration: a hash over those of its files. None where no file speaks.
fn configuration(policy: &Policy) -> Option<String> {
    let hashes: Vec<&[u8]> =
        policy.layers.iter().filter_map(|layer| layer.hash.as_deref().map(str::as_bytes)).collect();
    (!hashes.is_empty()).then(|| crate::store::hash_of(&hashes).chars().take(16).collect())
}

/// What the machine answered, without secrets, and how many there were.
pub(super) fn host(answers: Option<&Answers>, secrets: &Secrets) -> Option<(Value, usize)> {
    let mut value = serde_json::to_value(answers?).ok()?;
    let mut redacted = 0;
    for item in value.as_object_mut()?.values_mut() {
        redacted += match item {
            Value::Object(object) => secrets.redact_map(object),
            other => secrets.redact_value(other),
        };
    }
    Some((value, redacted))
}

fn process_and_those_above(lineage: &Lineage) -> Value {
    let above: Vec<Value> = lineage.above.iter().take(ANCESTORS).map(process).collect();
    let own = &lineage.own;
    json!({ "pid": own.pid, "group": getpgrp().as_raw(), "started": own.started, "ancestors": above })
}

fn process(process: &Process) -> Value {
    json!({ "pid": process.pid, "name": process.name, "started": process.started })
}

fn judged(judged: &Judged) -> Value {
    let rule = judged.matched.rule.as_ref().map(|rule| {
        json!({ "layer": rule.layer, "file": rule.file.as_deref(), "line": rule.line, "pattern": rule.pattern })
    });
    json!({
        "capability": judged.request.capability,
        "subject": subject(&judged.request.subject),
        "destroys": judged.request.destroys,
        "verdict": judged.verdict,
        "rule": rule,
        "reason": judged.matched.reason,
    })
}

fn subject(subject: &Subject) -> Value {
    match subject {
        Subject::Path(forms) => json!(forms),
        Subject::Command { written, .. } => text(written.as_bytes()),
        Subject::Mention(mentioned) => text(mentioned.as_bytes()),
    }
}
