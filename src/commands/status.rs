//! `gsh status`: how strict gsh is here, why, and what it cannot do.

use std::fmt::Write;

use serde_json::{Value, json};

use super::rules::list::visible;
use crate::policy::{Agent, Forbidden, Knobs, LayerInfo, LayerState, Policy};
use crate::store::places::Folders;
use crate::store::reviews::Failure;
use crate::store::session::Session;
use crate::syntax::cross_check_is_on;

/// How far something is enforced on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enforcement {
    /// What.
    pub what: &'static str,
    /// `fully`, `partly` or `not`.
    pub extent: &'static str,
    /// What that means, in a sentence.
    pub note: &'static str,
}

/// What gsh enforces by deciding before a command runs; whatever else is on is added by its own part.
#[must_use]
pub fn by_reading() -> Vec<Enforcement> {
    vec![
        Enforcement {
            what: "commands that reach gsh",
            extent: "fully",
            note: "each is read and decided before it runs; what is not understood is never silent",
        },
        Enforcement {
            what: "a second reading",
            extent: if cross_check_is_on() { "fully" } else { "not" },
            note: "an independent parser must read every compound text the same way (a choice of the build)",
        },
        Enforcement {
            what: "commands that go around gsh",
            extent: "not",
            note: "a caller that starts another shell or program is not seen",
        },
        Enforcement {
            what: "what a running program does",
            extent: "not",
            note: "a program that was allowed can read, write and connect as the user can",
        },
        Enforcement {
            what: "that a person answers",
            extent: "partly",
            note: "no command beneath gsh answers a question; another process of the same user that goes around \
                   gsh can write what gsh keeps",
        },
        Enforcement {
            what: "the time between decision and run",
            extent: "partly",
            note: "other processes of the same user can change files in between",
        },
    ]
}

/// What is told beside the policy.
#[derive(Debug)]
pub struct Situation<'a> {
    /// The folders of gsh's own files; None without a home.
    pub folders: Option<&'a Folders>,
    /// Whose commands these are.
    pub session: &'a Session,
    /// Whether this is beneath another gsh.
    pub beneath: bool,
    /// The last review that failed.
    pub failure: Option<Failure>,
    /// What is enforced here.
    pub enforced: &'a [Enforcement],
}

/// The status for a person.
#[must_use]
pub fn text(policy: &Policy, situation: &Situation<'_>) -> String {
    let Situation { folders, session, beneath, failure, enforced } = situation;
    let mut text = String::new();
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "mode      {} (from {})", policy.mode.word(), visible(&policy.mode_origin));
    let project = policy.places.project.as_deref();
    let _ = writeln!(text, "project   {}", project.map_or("none".to_owned(), visible));
    let _ = writeln!(text, "session   {} (by {})", session.id, session.found.word());
    let beneath = if *beneath { ", beneath another gsh, whose mode and rules hold" } else { "" };
    let _ = writeln!(text, "caller    {}{beneath}", agent(&session.agent));
    if !policy.forbids.is_empty() {
        let words: Vec<_> = policy.forbids.iter().map(|forbidden| forbidden.word()).collect();
        let _ = writeln!(text, "forbidden {}", words.join(", "));
    }
    let _ = writeln!(text, "reviewer  {}", visible(&reviewer(policy, failure.as_ref())));
    text.push_str("\nlayers, lowest first\n");
    for layer in &policy.layers {
        let path = layer.path.as_deref().map_or_else(|| "no file".to_owned(), visible);
        let (name, state) = (layer.layer.word(), state(layer.state));
        let _ = writeln!(text, "  {name:<13} {state:<10} {:>4} rules  {path}", layer.rules);
        for report in &layer.damage {
            for line in report.to_string().lines() {
                let _ = writeln!(text, "      {}", visible(line));
            }
        }
        if let Some(file) = forbids_trust(policy, layer) {
            let _ = writeln!(text, "      trust in it is forbidden by {}", visible(file));
        }
        for ignored in &layer.ignored {
            let _ = writeln!(text, "      no effect: {}", visible(ignored));
        }
    }
    if let Some(place) = &policy.damage {
        let place = visible(place);
        let _ = writeln!(text, "  Until {place} is put right, nothing is silent by default.");
    }
    text.push_str("\nknobs\n");
    for (name, value) in knobs(&policy.knobs) {
        let _ = writeln!(text, "  {name:<24} {}", visible(&plain(&value)));
    }
    text.push_str("\nfolders\n");
    for (name, folder) in places(*folders) {
        let _ =
            writeln!(text, "  {name:<24} {}", folder.map_or("none".to_owned(), |folder| visible(&folder)));
    }
    text.push_str("\nenforced here\n");
    for Enforcement { what, extent, note } in *enforced {
        let _ = writeln!(text, "  {extent:<6} {what}: {note}");
    }
    text
}

/// Who judges what is to be reviewed, and how that failed last.
fn reviewer(policy: &Policy, failure: Option<&Failure>) -> String {
    let set = &policy.knobs.reviewer;
    if !set.is_configured() {
        return "none: what is to be reviewed is asked".to_owned();
    }
    if let Some(file) = policy.forbidden_by(Forbidden::Review) {
        return format!("{}, forbidden by {file}: what is to be reviewed is asked", set.name());
    }
    let failed = failure.map_or("none".to_owned(), |failure| {
        format!("{} at {} ({})", failure.cause, failure.time, failure.detail)
    });
    // Whoever switches that on is told so, every time.
    let first = if set.classifier { "; its classifier allows first and judges later" } else { "" };
    format!("{} (last failure: {failed}){first}", set.name())
}

/// Who calls, in words.
fn agent(agent: &Agent) -> String {
    match agent {
        Agent::Unknown => {
            "not known: rules for agents that refuse or ask hold, those that allow do not".to_owned()
        }
        Agent::None => "no agent".to_owned(),
        Agent::Named(name) => format!("the agent {name}"),
    }
}

/// The status as data.
#[must_use]
pub fn json(policy: &Policy, situation: &Situation<'_>) -> String {
    let Situation { folders, session, beneath, failure, enforced } = situation;
    let layers: Vec<Value> = policy.layers.iter().map(|layer| layer_json(policy, layer)).collect();
    let knobs: serde_json::Map<String, Value> =
        knobs(&policy.knobs).into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let folders: serde_json::Map<String, Value> =
        places(*folders).into_iter().map(|(name, folder)| (name.to_owned(), json!(folder))).collect();
    let enforced: Vec<Value> = enforced
        .iter()
        .map(|part| json!({"what": part.what, "extent": part.extent, "note": part.note}))
        .collect();
    let status = json!({
        "schema": 1,
        "mode": policy.mode,
        "mode_origin": policy.mode_origin,
        "project": policy.places.project,
        "session": { "id": session.id, "found": session.found.word(), "agent": agent(&session.agent), "beneath": beneath },
        "forbidden": policy.forbids,
        "reviewer": policy.knobs.reviewer.is_configured().then(|| policy.knobs.reviewer.name()),
        "reviewer_last_failure": failure,
        "layers": layers,
        "damage": policy.damage,
        "knobs": knobs,
        "folders": folders,
        "enforced": enforced,
    });
    serde_json::to_string_pretty(&status).unwrap_or_default()
}

/// The file that forbids trust in this one.
fn forbids_trust<'p>(policy: &'p Policy, layer: &LayerInfo) -> Option<&'p str> {
    policy.forbidden_by(Forbidden::Trust).filter(|_| layer.state == LayerState::Untrusted)
}

fn layer_json(policy: &Policy, layer: &LayerInfo) -> Value {
    let damage: Vec<Value> = layer
        .damage
        .iter()
        .map(|report| {
            let position = report.position();
            json!({
                "file": report.file,
                "line": position.map(|(line, _)| line),
                "column": position.map(|(_, column)| column),
                "title": report.title,
                "help": report.help,
            })
        })
        .collect();
    json!({
        "layer": layer.layer,
        "path": layer.path,
        "state": layer.state,
        "rules": layer.rules,
        "damage": damage,
        "ignored": layer.ignored,
        "trust_forbidden_by": forbids_trust(policy, layer),
    })
}

fn state(state: LayerState) -> &'static str {
    match state {
        LayerState::Ok => "ok",
        LayerState::Missing => "missing",
        LayerState::Untrusted => "untrusted",
        LayerState::Damaged => "damaged",
    }
}

/// Every knob by the name it has in a file.
fn knobs(knobs: &Knobs) -> Vec<(&'static str, Value)> {
    vec![
        ("on_unresolved", json!(knobs.on_unresolved)),
        ("on_ask_without_terminal", json!(knobs.on_ask_without_terminal)),
        ("on_review_unavailable", json!(knobs.on_review_unavailable)),
        ("on_mixed", json!(knobs.on_mixed)),
        ("audit.required", json!(knobs.audit_required)),
        ("audit.keep_days", json!(knobs.audit_keep_days)),
        ("audit.debug", json!(knobs.audit_debug)),
        ("ask.terminals", json!(knobs.terminals)),
        ("ask.plain", json!(knobs.plain)),
        ("ask.wait", json!(knobs.ask_wait)),
        ("ask.keep", json!(knobs.ask_keep)),
        ("ask.notify", json!(knobs.notify)),
        ("shell.path", json!(knobs.shell)),
        ("run.pty", json!(knobs.pty)),
        ("run.timeout", json!((!knobs.timeout.is_zero()).then(|| format!("{:?}", knobs.timeout)))),
        ("run.timeout_status", json!(knobs.timeout_status)),
        ("run.way", json!(knobs.way)),
        ("limits.bytes", json!(knobs.limits.bytes)),
        ("limits.depth", json!(knobs.limits.depth)),
        ("limits.nodes", json!(knobs.limits.nodes)),
        ("limits.progress", json!(knobs.limits.progress)),
        ("allow_roots", json!(knobs.allow_roots)),
        ("reviewer.timeout", json!(format!("{:?}", knobs.reviewer.timeout))),
        ("reviewer.max_allow_risk", json!(knobs.reviewer.max_allow_risk)),
        ("reviewer.evidence_rounds", json!(knobs.reviewer.evidence_rounds)),
        ("reviewer.cache", json!(format!("{:?}", knobs.reviewer.cache))),
        ("reviewer.race", json!(knobs.reviewer.race)),
        ("reviewer.classifier", json!(knobs.reviewer.classifier)),
        ("reviewer.max_lag", json!(knobs.reviewer.max_lag)),
    ]
}

/// A value as a person reads it.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

fn places(folders: Option<&Folders>) -> Vec<(&'static str, Option<String>)> {
    let shown = |path: &std::path::Path| path.to_string_lossy().into_owned();
    vec![
        ("configuration", folders.map(|folders| shown(&folders.config))),
        ("state", folders.map(|folders| shown(&folders.state))),
        ("cache", folders.map(|folders| shown(&folders.cache))),
        ("runtime", folders.and_then(|folders| folders.runtime.as_deref().map(shown))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::compose::{Composition, compose};
    use crate::policy::{Layer, LayerRules, Mode, Places, Rule, Verdict};
    use crate::report::{Report, Span};
    use crate::store::session::Found;

    fn policy() -> Policy {
        let mut user = LayerRules::of_rules(Layer::User, vec![]);
        user.path = Some("/u/config.toml".into());
        user.damage = vec![Report::at("unknown key `x`", "/u/config.toml", &"x = 1".into(), Span::new(0, 1))];
        let allow = Rule::new(Layer::Project, "process.execute", "make", Verdict::Allow);
        let mut project = LayerRules::of_rules(Layer::Project, vec![allow]);
        (project.trusted, project.mode) = (false, Some(Mode::Bypass));
        let today = "2030-01-01".to_owned();
        let with = Composition::new(Places::default(), &today);
        compose(vec![user, project], with)
    }

    fn failure() -> Failure {
        let (time, cause) = (jiff::Timestamp::UNIX_EPOCH, "timeout".to_owned());
        Failure { time, reviewer: "x".to_owned(), cause, detail: "it took too long".to_owned() }
    }

    #[test]
    fn says_who_reviews_and_how_that_failed() {
        let mut policy = policy();
        assert!(reviewer(&policy, None).starts_with("none: "));
        policy.knobs.reviewer.program = vec!["/opt/judge".to_owned()];
        assert_eq!(reviewer(&policy, None), "/opt/judge (last failure: none)");
        assert!(reviewer(&policy, Some(&failure())).contains("timeout at 1970-"));
        policy.knobs.reviewer.classifier = true;
        assert!(reviewer(&policy, None).ends_with("its classifier allows first and judges later"));
    }

    fn session() -> Session {
        Session {
            id: "claude-7-9".into(),
            found: Found::Process,
            agent: Agent::Named("claude".into()),
            parents: vec![],
        }
    }

    #[test]
    fn says_what_is_damaged_untrusted_and_not_enforced() {
        let (session, enforced) = (session(), by_reading());
        let situation =
            Situation { folders: None, session: &session, beneath: true, failure: None, enforced: &enforced };
        let text = text(&policy(), &situation);
        for part in [
            "mode      default (from default)",
            "session   claude-7-9",
            "the agent claude, beneath another gsh",
            "unknown key `x`",
            "/u/config.toml:1:1",
            "untrusted",
            "no effect: allow process.execute \"make\"",
            "no effect: mode = \"bypass\"",
            "Until /u/config.toml:1:1 is put right",
            "on_mixed                 deny",
            "not    what a running program does",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    #[test]
    fn the_same_as_data() {
        let folders = Folders::new(&|name| (name == "HOME").then(|| "/h".into()));
        let (session, enforced) = (session(), by_reading());
        let folders = folders.as_ref();
        let situation = Situation {
            folders,
            session: &session,
            beneath: false,
            failure: Some(failure()),
            enforced: &enforced,
        };
        let data: Value = serde_json::from_str(&json(&policy(), &situation)).expect("JSON");
        assert_eq!(
            (&data["session"]["id"], &data["session"]["beneath"]),
            (&"claude-7-9".into(), &false.into())
        );
        assert_eq!(data["layers"][0]["state"], "damaged");
        assert_eq!(data["layers"][0]["damage"][0]["line"], 1);
        assert_eq!(data["layers"][1]["ignored"].as_array().map(Vec::len), Some(2));
        assert_eq!(data["knobs"]["on_unresolved"], "ask");
        assert_eq!(data["folders"]["configuration"], "/h/.config/gsh");
        assert_eq!(data["mode"], "default");
        assert_eq!(data["reviewer_last_failure"]["cause"], "timeout");
    }
}
