//! What holds for all rules and requests.

use proptest::prelude::*;

use super::tests::{damaged, layer, policy, request, untrusted};
use super::*;

/// One rule of a layer, as the tables write it.
fn line() -> impl Strategy<Value = String> {
    let action = prop::sample::select(vec!["allow", "review", "ask", "deny"]);
    let flag = prop::sample::select(vec!["", "", "", "destroys ", "lifts ", "! ", "until=2030-01-01 "]);
    let capability =
        prop::sample::select(vec!["*", "file.*", "file.read", "file.write.project", "process.execute"]);
    (flag, action, capability, pattern()).prop_map(|(flag, action, capability, pattern)| {
        let pattern = if flag == "! " { "*" } else { &pattern };
        format!("{flag}{action} {capability} {pattern}")
    })
}

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("*".to_owned()),
        "(git|npm|sudo git|/home/u|~|\\*)( \\*|/\\*| push|/p/\\.git|\\*)?",
        "[a-c ]?(git|npm)[ \\*?]{0,2}",
    ]
}

pub(super) fn lines() -> impl Strategy<Value = String> {
    prop::collection::vec(line(), 0..6).prop_map(|lines| lines.join("\n"))
}

pub(super) fn requests() -> impl Strategy<Value = CapabilityRequest> {
    let capability = prop::sample::select(Capability::ALL.to_vec());
    let text = prop::sample::select(vec!["git push", "git", "npm test", "nice git push", "sudo git push"]);
    let path = prop::sample::select(vec![
        "/home/u/p/a",
        "/home/u/p/.git/config",
        "/home/u/.ssh/id",
        "/tmp/x",
        "/srv/y",
    ]);
    let destroys = prop::option::of(prop::sample::select(vec![Destroys::Overwrite, Destroys::Recursive]));
    let kind = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (capability, text, path, destroys, kind).prop_map(|(capability, text, path, destroys, kind)| {
        let (mention, allow_needs_all, escalates, query) = kind;
        if capability.is_file() {
            let subject = Subject::Path(vec![path.to_owned(), path.replace("/home/u", "/data/u")]);
            return CapabilityRequest { destroys, ..request(capability, subject) };
        }
        if mention {
            return request(capability, Subject::Mention(text.to_owned()));
        }
        let inner = text.split_once(' ').filter(|(first, _)| matches!(*first, "nice" | "sudo"));
        let inner: Vec<String> = inner.map(|(_, inner)| inner.to_owned()).into_iter().collect();
        let subject = Subject::Command { written: text.to_owned(), inner, allow_needs_all };
        CapabilityRequest { escalates, query, ..request(capability, subject) }
    })
}

fn layers(user: &str, project: &str) -> Vec<LayerRules> {
    vec![layer(Layer::User, user), layer(Layer::Project, project)]
}

/// The rules with one more at some place among them.
fn with(rules: &str, more: &str, place: prop::sample::Index) -> String {
    let mut lines: Vec<&str> = rules.lines().collect();
    lines.insert(place.index(lines.len() + 1), more);
    lines.join("\n")
}

/// A rule that says something else.
fn saying(rule: &str, action: &str) -> String {
    let old = rule.split(' ').find(|word| Verdict::from_word(word).is_some()).expect("an action").to_owned();
    rule.replacen(&old, action, 1)
}

/// Conditions of which none holds for a call as `policy` composes it.
fn idle() -> impl Strategy<Value = When> {
    let agents = vec!["somebody".to_owned()];
    prop::sample::select(vec![
        When { modes: vec![Mode::Plan], ..When::default() },
        When { entries: vec![crate::request::Entry::Hook], ..When::default() },
        When { interactive: Some(false), ..When::default() },
        When { modes: vec![Mode::Bypass], agents, ..When::default() },
    ])
}

/// Some layers of every kind of standing.
fn all_layers(texts: &[String]) -> Vec<LayerRules> {
    let kinds = [Layer::User, Layer::UserProject, Layer::CommandLine, Layer::Session, Layer::Managed];
    let mut layers: Vec<LayerRules> =
        kinds.iter().zip(texts).map(|(kind, text)| layer(*kind, text)).collect();
    layers.extend(texts.get(kinds.len()).map(|text| untrusted(text)));
    layers
}

proptest! {
    #[test]
    fn a_deny_rule_anywhere_never_weakens(
        user in lines(), project in lines(), rule in line(), at in any::<prop::sample::Index>(), request in requests(),
    ) {
        let before = policy(layers(&user, &project)).evaluate(&request).verdict;
        let denied = saying(&rule.replace("lifts ", ""), "deny");
        let user_more = with(&user, &denied, at);
        prop_assert!(policy(layers(&user_more, &project)).evaluate(&request).verdict >= before);
        let project_more = with(&project, &denied, at);
        prop_assert!(policy(layers(&user, &project_more)).evaluate(&request).verdict >= before);
    }

    /// Where an answer lifts questions, one more question among a file's refusals is lifted too: that is
    /// what the file says then.
    #[test]
    fn an_ask_rule_anywhere_never_silences(
        user in lines(), rule in line(), at in any::<prop::sample::Index>(), request in requests(),
    ) {
        let user = user.replace("lifts ", "");
        let before = policy(vec![layer(Layer::User, &user)]).evaluate(&request).verdict;
        let more = with(&user, &saying(&rule, "ask"), at);
        let after = policy(vec![layer(Layer::User, &more)]).evaluate(&request).verdict;
        prop_assert!(before == Verdict::Allow || after != Verdict::Allow);
    }

    #[test]
    fn the_order_of_layers_is_their_own(
        texts in prop::collection::vec(lines(), 6),
        order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(),
        request in requests(),
    ) {
        let sorted = policy(all_layers(&texts)).evaluate(&request);
        let shuffled = order.iter().map(|at| all_layers(&texts)[*at].clone()).collect();
        let found = policy(shuffled).evaluate(&request);
        prop_assert_eq!(found.verdict, sorted.verdict);
        prop_assert_eq!(found.rule, sorted.rule);
    }

    #[test]
    fn a_rule_whose_condition_does_not_hold_changes_nothing(
        texts in prop::collection::vec(lines(), 6),
        rule in line(), when in idle(), kind in 0_usize..6, at in any::<prop::sample::Index>(), request in requests(),
    ) {
        let before = policy(all_layers(&texts)).evaluate(&request);
        let mut layers = all_layers(&texts);
        let mut more = layer(layers[kind].layer, &rule).rules.remove(0);
        more.rule.when = Some(std::sync::Arc::new(when));
        let rules = &mut layers[kind].rules;
        rules.insert(at.index(rules.len() + 1), more);
        let after = policy(layers).evaluate(&request);
        prop_assert_eq!(after.verdict, before.verdict);
        prop_assert_eq!(after.rule, before.rule);
    }

    #[test]
    fn a_rule_of_one_capability_changes_no_other(
        texts in prop::collection::vec(lines(), 6), rule in line(), own in 0_usize..8, request in requests(),
    ) {
        let capability = Capability::ALL[own];
        prop_assume!(capability != request.capability);
        let before = policy(all_layers(&texts)).evaluate(&request);
        let mut layers = all_layers(&texts);
        let mut more = layer(Layer::Session, &rule).rules.remove(0);
        more.rule.capability = capability.word().to_owned();
        layers[3].rules.push(more);
        prop_assert_eq!(policy(layers).evaluate(&request).verdict, before.verdict);
    }

    #[test]
    fn whatever_else_is_said_an_untrusted_file_never_weakens(
        texts in prop::collection::vec(lines(), 6), request in requests(),
    ) {
        let before = policy(all_layers(&texts[..5])).evaluate(&request).verdict;
        prop_assert!(policy(all_layers(&texts)).evaluate(&request).verdict >= before);
    }

    /// What is said of another spelling takes back nothing that is said of the command as written.
    #[test]
    fn another_spelling_never_weakens(user in lines(), text in "(git|npm)( push| test)?", request in requests()) {
        let policy = policy(vec![layer(Layer::User, &user)]);
        let before = policy.evaluate(&request).verdict;
        let spelled = CapabilityRequest { spellings: vec![text], ..request };
        prop_assert!(policy.evaluate(&spelled).verdict >= before);
    }

    #[test]
    fn a_deny_rule_last_never_weakens(user in lines(), project in lines(), rule in line(), request in requests()) {
        let before = policy(layers(&user, &project)).evaluate(&request).verdict;
        let action = rule.split(' ').find(|word| Verdict::from_word(word).is_some()).expect("an action").to_owned();
        let denied = rule.replacen(&action, "deny", 1).replace("lifts ", "");
        let mut more = layers(&user, &project);
        more.push(layer(Layer::CommandLine, &denied));
        prop_assert!(policy(more).evaluate(&request).verdict >= before);
    }

    #[test]
    fn an_ask_rule_last_never_silences(user in lines(), project in lines(), rule in line(), request in requests()) {
        let before = policy(layers(&user, &project)).evaluate(&request).verdict;
        let action = rule.split(' ').find(|word| Verdict::from_word(word).is_some()).expect("an action").to_owned();
        let mut more = layers(&user, &project);
        more.push(layer(Layer::CommandLine, &rule.replacen(&action, "ask", 1)));
        let after = policy(more).evaluate(&request).verdict;
        prop_assert!(before == Verdict::Allow || after != Verdict::Allow);
    }

    #[test]
    fn an_untrusted_project_never_weakens(user in lines(), project in lines(), request in requests()) {
        let before = policy(vec![layer(Layer::User, &user)]).evaluate(&request).verdict;
        let after = policy(vec![layer(Layer::User, &user), untrusted(&project)]).evaluate(&request).verdict;
        prop_assert!(after >= before);
    }

    #[test]
    fn damage_never_weakens(user in lines(), project in lines(), request in requests()) {
        let before = policy(layers(&user, &project)).evaluate(&request).verdict;
        let broken = layers(&user, &project).into_iter().map(damaged).collect();
        prop_assert!(policy(broken).evaluate(&request).verdict >= before);
        let broken = vec![damaged(layer(Layer::User, &user)), layer(Layer::Project, &project)];
        prop_assert!(policy(broken).evaluate(&request).verdict >= before);
    }

    #[test]
    fn managed_rules_never_weaken_what_is_not_protected(user in lines(), managed in lines(), request in requests()) {
        let before = policy(vec![layer(Layer::User, &user)]).evaluate(&request);
        let after = policy(vec![layer(Layer::User, &user), layer(Layer::Managed, &managed)]).evaluate(&request);
        prop_assert!(after.verdict >= before.verdict || before.protected);
    }

    #[test]
    fn an_answer_never_lifts_a_refusal(user in lines(), rule in line(), request in requests()) {
        let before = policy(vec![layer(Layer::User, &user)]).evaluate(&request).verdict;
        let action = rule.split(' ').find(|word| Verdict::from_word(word).is_some()).expect("an action").to_owned();
        let other = if action == "deny" { "allow" } else { &action };
        let rule = rule.replace("lifts ", "").replace("! ", "").replacen(&action, other, 1);
        let grant = layer(Layer::Session, &format!("lifts {rule}"));
        let after = policy(vec![layer(Layer::User, &user), grant]).evaluate(&request).verdict;
        prop_assert!(before != Verdict::Deny || after == Verdict::Deny);
    }

    #[test]
    fn a_protected_write_is_never_silent_without_a_hand(project in lines(), request in requests()) {
        let found = policy(vec![layer(Layer::Project, &project)]).evaluate(&request);
        prop_assert!(!found.protected || found.verdict >= Verdict::Ask);
    }
}
