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

proptest! {
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
