//! Commands under rules of people: what a rule says holds for every spelling of what it names, and for
//! nothing else. Decided in process; nothing is ever executed.

use std::path::Path;

use crate::common::cases::rows;
use crate::common::fixture;
use gsh::config::read::{Origin, read};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Capability, Layer, LayerRules, Mode, Policy, Verdict};

/// What a command needs to run at all.
const RUN: &str = "process.execute network.access git.modify process.background";

/// The layers of a row's rules, as their files would say them: `LAYER ACTION CAPABILITY PATTERN`, parted by
/// ` ;; `; the capability `run` is all that a command needs.
fn layers(rules: &str) -> Vec<LayerRules> {
    let mut files: Vec<(&str, String)> = Vec::new();
    for rule in rules.split(" ;; ") {
        let mut words = rule.splitn(4, ' ');
        let mut word = || words.next().unwrap_or_else(|| panic!("LAYER ACTION CAPABILITY PATTERN: {rule}"));
        let (layer, action, capability, pattern) = (word(), word(), word(), word());
        let capabilities = if capability == "run" { RUN } else { capability };
        let text: String = capabilities
            .split(' ')
            .map(|capability| {
                format!("[[permissions.rules]]\ncapability = '{capability}'\npattern = '''{pattern}'''\naction = '{action}'\n")
            })
            .collect();
        match files.iter_mut().find(|(known, _)| *known == layer) {
            Some((_, file)) => file.push_str(&text),
            None => files.push((layer, text)),
        }
    }
    files.iter().map(|(layer, text)| layer_of(layer, text)).collect()
}

fn layer_of(word: &str, text: &str) -> LayerRules {
    let (layer, trusted) = match word {
        "user" => (Layer::User, true),
        "project" => (Layer::Project, true),
        "untrusted" => (Layer::Project, false),
        "managed" => (Layer::Managed, true),
        other => panic!("no such layer: {other}"),
    };
    let root = (layer == Layer::Project).then_some(fixture::PROJECT);
    let origin = Origin { layer, path: Path::new("/rules.toml"), root, home: Some("/home/dev") };
    let read = read(text, &origin).layer;
    assert!(read.damage.is_empty(), "{}", read.damage.iter().map(ToString::to_string).collect::<String>());
    LayerRules { trusted, ..read }
}

pub(crate) fn policy(rules: &str) -> Policy {
    let places = crate::common::builtin_policy().places;
    compose(layers(rules), Composition::new(places, "2026-01-01"))
}

#[test]
fn rules_hold_for_every_spelling() {
    let host = fixture::host();
    let rows = rows(include_str!("cases/ruled.txt"));
    let mut wrong = Vec::new();
    for row in &rows {
        let (rules, command) = row.command.split_once('\t').expect("verdict, rules, command");
        let decision = fixture::decide_on(&host, &policy(rules), command);
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        let right = match row.kind.as_str() {
            "allow" => decision.verdict == Verdict::Allow && !writes,
            "shown" => decision.verdict == Verdict::Allow && writes,
            "ask" => decision.verdict == Verdict::Ask,
            "deny" => decision.verdict == Verdict::Deny && decision.floor.is_none(),
            "floor" => decision.floor.is_some(),
            other => panic!("no such kind: {other}"),
        };
        if !right {
            let (kind, verdict, reason) = (&row.kind, decision.verdict, &decision.reason);
            wrong.push(format!("{kind} is right, {verdict:?}: {rules}: {command:?}: {reason}"));
        }
    }
    println!("ruled: {} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bypass_answers_no_question_of_a_file_that_only_tightens() {
    let host = fixture::host();
    for (rules, expected) in [
        ("user ask run make *", Verdict::Allow),
        ("project ask run make *", Verdict::Allow),
        ("untrusted ask run make *", Verdict::Ask),
        ("managed ask run make *", Verdict::Ask),
    ] {
        let places = crate::common::builtin_policy().places;
        let mode = Some((Mode::Bypass, "--yolo".to_owned()));
        let policy = compose(layers(rules), Composition { mode, ..Composition::new(places, "2026-01-01") });
        assert_eq!(fixture::decide_on(&host, &policy, "make all").verdict, expected, "{rules}");
    }
}
