//! What a record says.

use super::texts::{WHOLE_TEXT, text};
use super::*;
use crate::decision::INTERNAL_ERROR;
use crate::policy::compose::{Composition, compose};
use crate::policy::{Mode, Places};
use crate::request::{Entry, ReadingOptions, Setting};

fn policy() -> Policy {
    compose(Vec::new(), Composition::new(Places::default(), "2026-01-01"))
}

fn record(text: &str, args: &[&str], context: &Context) -> Record {
    let request = Request {
        setting: Setting::default(),
        text: text.into(),
        cwd: "/p".into(),
        name: None,
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        options: ReadingOptions::default(),
        entry: Entry::Command,
        tool: None,
    };
    let decision = Decision::bare(Verdict::Ask, "why", Mode::Default);
    let (policy, facts) = (policy(), Facts::default());
    let opening = Opening {
        request: &request,
        policy: &policy,
        decision: &decision,
        facts: &facts,
        answers: Some(Answers::default()),
        context,
    };
    Record::new(&opening)
}

#[test]
fn a_record_names_what_was_asked_and_decided() {
    let context = Context {
        session: Some("s".to_owned()),
        lineage: Lineage::own(),
        removed: vec!["BASH_ENV".to_owned()],
        ..Context::default()
    };
    let record = record("make all", &["x"], &context);
    let table = [
        ("/event", json!("opened")),
        ("/entry", json!("command")),
        ("/session", json!("s")),
        ("/command", json!("make all")),
        ("/directory", json!("/p")),
        ("/verdict", json!("ask")),
        ("/decided_by", json!("builtin")),
        ("/mode", json!("default")),
        ("/environment_removed/0", json!("BASH_ENV")),
    ];
    for (pointer, expected) in table {
        assert_eq!(record.json().pointer(pointer), Some(&expected), "{pointer}");
    }
    assert!(record.json().pointer("/process/ancestors/0/started").is_some_and(Value::is_u64));
    assert_eq!(record.json().get("inexact"), None);
}

#[test]
fn what_of_the_policy_decided_is_a_word() {
    let bare = |verdict| Decision::bare(verdict, "why", Mode::Default);
    let floor = Decision { floor: Some("canary".into()), ..bare(Verdict::Deny) };
    let knob = |knob, verdict| Decision { knob: Some(knob), ..bare(verdict) };
    for (decision, word) in [
        (bare(Verdict::Ask), "builtin"),
        (floor, "floor"),
        (knob("on_unresolved", Verdict::Ask), "failure-knob"),
        (knob("on_mixed", Verdict::Deny), "failure-knob"),
        (knob("refusals.in_all", Verdict::Deny), "breaker"),
        // A mode that asks nothing let it pass.
        (knob("on_unresolved", Verdict::Allow), "builtin"),
        (Decision::bare(Verdict::Deny, INTERNAL_ERROR, Mode::Default), "failure-knob"),
    ] {
        assert_eq!(super::who::decided_by(&decision), word, "{decision:?}");
    }
}

#[test]
fn what_cannot_be_replayed_says_so() {
    let mut context = Context::default();
    context.secrets.learn_variable("MY_TOKEN", "from-the-environment");
    let long = "echo ".to_owned() + &"a".repeat(WHOLE_TEXT);
    for (text, args, why, hidden) in [
        ("TOKEN=hunter22 frob", &[][..], json!(["redacted"]), "hunter22"),
        ("frob \"$2\"", &["--password", "hunter22"], json!(["redacted"]), "hunter22"),
        ("frob from-the-environment", &[], json!(["redacted"]), "from-the-environment"),
        ("cat > f <<X\nthe body\nX\n", &[], json!(["here-document"]), "the body"),
        (&long, &[], json!(["long"]), "no such text"),
    ] {
        let record = record(text, args, &context);
        assert_eq!(record.json().get("inexact"), Some(&why), "{text}");
        assert!(!record.json().to_string().contains(hidden), "{}", record.json());
    }
}

#[test]
fn long_and_broken_texts_keep_head_length_and_hash() {
    let long = text("é".repeat(WHOLE_TEXT).as_bytes());
    assert_eq!(long["length"], json!(2 * WHOLE_TEXT));
    assert_eq!(long["head"].as_str().map(str::len), Some(WHOLE_TEXT));
    let broken = text(b"a\xff");
    assert_eq!(broken["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(broken["length"], json!(2));
    assert_eq!(text(b"plain"), json!("plain"));
}

#[test]
fn endings_are_told_apart() {
    let ended =
        Closing::Ended { how: "direct", status: None, signal: Some(15), milliseconds: 3, watched: None };
    let process = Ran { pid: 4, group: 3 };
    let seen = Supervised { bytes: [5, 0], limited: true, job: Some(7), process };
    let limited = Closing::Ended {
        how: "shell",
        status: Some(124),
        signal: None,
        milliseconds: 3,
        watched: Some(seen),
    };
    let table = [
        (limited, "/outcome", json!("limited")),
        (limited, "/job", json!(7)),
        (limited, "/bytes", json!([5, 0])),
        (limited, "/process", json!({ "pid": 4, "group": 3 })),
        (Closing::Becomes { how: "direct" }, "/process/pid", json!(std::process::id())),
        (Closing::Becomes { how: "direct" }, "/outcome", json!("not observed")),
        (ended, "/signal", json!(15)),
        (Closing::NotObserved { how: "shell" }, "/outcome", json!("not observed")),
        (Closing::NotRun { why: "denied" }, "/why", json!("denied")),
    ];
    for (closing, pointer, expected) in table {
        assert_eq!(closing.to_json("i").pointer(pointer), Some(&expected), "{pointer}");
    }
}
