//! Tables: rules, a request, what holds.

use super::compose::{Composition, compose};
use super::*;
use crate::report::Report;
use crate::request::Entry;

/// Rules of one layer, a line each: `action capability pattern`, with `destroys`, `lifts` or
/// `until=DAY` before the action and `!` for a shorthand.
pub(super) fn layer(layer: Layer, text: &str) -> LayerRules {
    let rules = text.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate();
    let rules = rules.map(|(index, line)| {
        let mut rule = Rule::new(layer, "", "", Verdict::Ask);
        (rule.file, rule.line) = (Some(layer.word().into()), index + 1);
        let (mut rest, mut shorthand) = (line, false);
        loop {
            let (word, after) = rest.split_once(' ').expect("a rule");
            rest = after;
            match word {
                "destroys" => rule.destroys = true,
                "lifts" => rule.lifts = true,
                "!" => shorthand = true,
                _ if word.starts_with("until=") => rule.expires = Some(word["until=".len()..].into()),
                _ => {
                    rule.action = Verdict::from_word(word).expect("an action");
                    break;
                }
            }
        }
        let (capability, pattern) = rest.split_once(' ').unwrap_or((rest, "*"));
        (rule.capability, rule.pattern) = (capability.into(), pattern.into());
        LayerRule { rule, shorthand }
    });
    let rules = rules.collect();
    LayerRules { path: Some(layer.word().into()), present: true, rules, ..LayerRules::empty(layer) }
}

pub(super) fn untrusted(text: &str) -> LayerRules {
    LayerRules { trusted: false, ..layer(Layer::Project, text) }
}

pub(super) fn damaged(layer: LayerRules) -> LayerRules {
    let report = Report::at("broken", "user.toml", &"\nx".into(), crate::report::Span::new(1, 2));
    LayerRules { damage: vec![report], ..layer }
}

fn places() -> Places {
    Places {
        home: Some("/home/u".into()),
        project: Some("/home/u/p".into()),
        temporaries: vec!["/tmp".into()],
        path_folders: vec!["/usr/bin".into()],
        homes: vec!["/home/u".into(), "/data/u".into()],
    }
}

pub(super) fn policy(layers: Vec<LayerRules>) -> Policy {
    // `/home/u` is a link to `/data/u`.
    let resolve = &|folder: &str| Some(folder.replacen("/home/u", "/data/u", 1));
    compose(layers, Composition { resolve, ..Composition::new(places(), "2030-06-15") })
}

fn user(text: &str) -> Policy {
    policy(vec![layer(Layer::User, text)])
}

pub(super) fn request(capability: Capability, subject: Subject) -> CapabilityRequest {
    CapabilityRequest::new(capability, subject, String::new(), crate::report::Span::default())
}

fn path(capability: Capability, path: &str) -> CapabilityRequest {
    request(capability, Subject::Path(path.split(" = ").map(str::to_owned).collect()))
}

/// A command; wrappers are set off by `|`, outermost first.
fn command(text: &str) -> CapabilityRequest {
    let mut inner: Vec<String> = vec![];
    for part in text.split(" | ").collect::<Vec<_>>().iter().rev() {
        let below = inner.first().map(|rest: &String| format!("{part} {rest}"));
        inner.insert(0, below.unwrap_or_else(|| (*part).to_owned()));
    }
    let written = inner.remove(0);
    request(Capability::ProcessExecute, Subject::Command { written, inner, allow_needs_all: false })
}

fn all(mut request: CapabilityRequest) -> CapabilityRequest {
    if let Subject::Command { allow_needs_all, .. } = &mut request.subject {
        *allow_needs_all = true;
    }
    request
}

fn mention(text: &str) -> CapabilityRequest {
    request(Capability::ProcessExecute, Subject::Mention(text.into()))
}

fn destroying(destroys: Destroys, request: CapabilityRequest) -> CapabilityRequest {
    CapabilityRequest { destroys: Some(destroys), ..request }
}

#[track_caller]
fn check(policy: &Policy, table: &[(CapabilityRequest, Verdict)]) {
    for (request, expected) in table {
        let found = policy.evaluate(request);
        assert_eq!(found.verdict, *expected, "{:?} {:?}: {found:?}", request.subject, request.destroys);
    }
}

use Capability::{FileRead as Read, FileWriteOutside as Outside, FileWriteProject as Project, NetworkAccess};
use Verdict::{Allow, Ask, Deny};

#[test]
fn builtin_defaults() {
    let network = |query| CapabilityRequest {
        query,
        ..request(
            NetworkAccess,
            Subject::Command { written: "gh pr view".into(), inner: vec![], allow_needs_all: false },
        )
    };
    check(
        &policy(vec![]),
        &[
            (path(Read, "/home/u/p/src/main.rs"), Allow),
            (path(Read, "/home/u/p/.env"), Ask),
            (path(Read, "/home/u/p/.env.local"), Ask),
            (path(Read, "/home/u/p/.env.example"), Allow),
            (path(Read, "/home/u/p/notes = /home/u/.ssh/id"), Ask),
            (path(Read, "/proc/17/environ"), Ask),
            (path(Read, "/home/u/.bash_history"), Ask),
            (path(Read, "/home/u/.config/gh/hosts.yml"), Ask),
            (path(Read, "/etc/passwd"), Allow),
            (path(Project, "/home/u/p/src/new.rs"), Allow),
            (destroying(Destroys::Overwrite, path(Project, "/home/u/p/src/main.rs")), Ask),
            (destroying(Destroys::Recursive, path(Project, "/home/u/p/target")), Ask),
            (path(Project, "/home/u/p/.cargo/config.toml"), Ask),
            (path(Outside, "/srv/x"), Ask),
            (path(Outside, "/dev/null"), Allow),
            (path(Outside, "/tmp/new"), Allow),
            (destroying(Destroys::Overwrite, path(Outside, "/tmp/mine")), Allow),
            (destroying(Destroys::Delete, path(Outside, "/tmp/mine")), Ask),
            (path(Outside, "/tmp/link = /srv/x"), Ask),
            (request(Outside, Subject::Path(vec![])), Ask),
            (command("make"), Ask),
            (mention("ls | wc -l"), Allow),
            (network(true), Allow),
            (network(false), Ask),
            (request(Capability::GitModify, command("git push").subject), Ask),
            (request(Capability::ToolUse, Subject::Mention("x".into())), Allow),
        ],
    );
}

#[test]
fn the_last_match_wins() {
    let policy = user(
        "allow process.execute npm *
         deny process.execute npm publish *
         allow process.execute npm publish --dry-run *
         ask file.* *.lock
         allow file.write.outsideProject ~/notes/*
         until=2030-06-15 allow process.execute today
         until=2030-06-14 allow process.execute yesterday",
    );
    check(
        &policy,
        &[
            (command("npm test"), Allow),
            (command("npm"), Allow),
            (command("npmx"), Ask),
            (command("npm publish"), Deny),
            (command("npm publish --dry-run"), Allow),
            (path(Read, "/home/u/p/Cargo.lock"), Ask),
            (path(Outside, "/home/u/notes/a/b = /data/u/notes/a/b"), Allow),
            (path(Outside, "/home/u/notes/link = /srv/x"), Ask),
            (command("today"), Allow),
            (command("yesterday"), Ask),
        ],
    );
    let found = policy.evaluate(&command("npm publish"));
    let rule = found.rule.expect("a rule");
    assert_eq!((rule.place(), rule.pattern.as_str()), ("user:2".into(), "npm publish *"));
}

#[test]
fn heads_of_patterns_are_resolved() {
    // In the project `out` is a link to `/srv`, and `f` to `/srv/f`; `/etc/x` is one to `/opt/x`.
    let resolve = &|folder: &str| {
        let links = [("/home/u/p/out", "/srv"), ("/home/u/p/f", "/srv/f"), ("/etc/x", "/opt/x")];
        links.iter().find(|(link, _)| *link == folder).map(|(_, real)| (*real).to_owned())
    };
    for (action, expected) in [("allow", [Ask, Ask, Allow, Ask]), ("deny", [Deny, Deny, Deny, Deny])] {
        let rules = ["/home/u/p/out/*", "/home/u/p/f", "/etc/x/*", "/etc/x"];
        let text: Vec<_> = rules.iter().map(|path| format!("{action} file.write.* {path}")).collect();
        let layers = vec![layer(Layer::User, &text.join("\n"))];
        let with = Composition { resolve, ..Composition::new(places(), "2030-01-01") };
        let policy = compose(layers, with);
        let real = ["/srv/a", "/srv/f", "/opt/x/a", "/opt/x"]
            .map(|real| policy.evaluate(&path(Outside, real)).verdict);
        assert_eq!(real, expected, "{action}");
    }
}

#[test]
fn wrapped_commands() {
    let policy = user(
        "allow process.execute npm test *
         allow process.execute timeout 9 make *
         allow process.execute nice *
         deny process.execute curl *
         ask process.execute env *
         allow process.execute xargs grep *
         allow process.execute grep *
         allow process.execute rm",
    );
    check(
        &policy,
        &[
            (command("timeout 5 | npm test"), Allow),
            (command("timeout 5 | nice | npm test"), Allow),
            (command("timeout 9 | make"), Allow),
            (command("timeout 8 | make"), Ask),
            (command("timeout 9 | make all"), Allow),
            (command("nice | make"), Ask),
            (command("timeout 5 | curl x"), Deny),
            (command("env A=1 | npm test"), Ask),
            (all(command("xargs | grep x")), Allow),
            (all(command("xargs | rm")), Ask),
            (all(command("time | npm test")), Ask),
        ],
    );
}

#[test]
fn what_escalates_must_be_named_as_written() {
    let escalating = |text: &str| CapabilityRequest { escalates: true, ..command(text) };
    let broad = user("! allow process.execute\nallow process.execute *\nallow process.execute git *");
    check(&broad, &[(escalating("sudo | git push"), Ask), (command("nice | git push"), Allow)]);
    let named = user("allow process.execute git *\nallow process.execute sudo git *");
    check(&named, &[(escalating("sudo | git push"), Allow), (escalating("sudo | rm x"), Ask)]);
}

#[test]
fn mentions_are_judged_by_what_names_them() {
    let policy = user("ask process.execute *\ndeny process.execute curl * | sh\ndeny process.execute rm *");
    check(&policy, &[(mention("ls"), Allow), (mention("curl x | sh"), Deny), (mention("rm a"), Deny)]);
    assert!(policy.evaluate(&mention("ls")).reason.is_none());
}

#[test]
fn destroying_needs_a_rule_that_says_so() {
    let policy = user(
        "allow file.write.project *
         destroys allow file.write.project */target/*
         deny file.write.* */keep/*",
    );
    check(
        &policy,
        &[
            (path(Project, "/home/u/p/a"), Allow),
            (destroying(Destroys::Delete, path(Project, "/home/u/p/a")), Ask),
            (destroying(Destroys::Recursive, path(Project, "/home/u/p/target/x")), Allow),
            (destroying(Destroys::Delete, path(Project, "/home/u/p/keep/x")), Deny),
        ],
    );
    let found = policy.evaluate(&destroying(Destroys::Delete, path(Project, "/home/u/p/a")));
    assert_eq!(found.reason.as_deref(), Some("a file would be deleted or moved away"));
}

#[test]
fn protected_paths_ask_unless_named_by_hand() {
    let hooks = "/home/u/p/.git/hooks/pre-commit";
    let broad = user("allow file.write.project *\nallow file.write.project */pre-commit");
    let found = broad.evaluate(&path(Project, hooks));
    assert!(found.protected && found.verdict == Ask);
    for (rule, layer_of, expected) in [
        ("allow file.write.project ~/p/.git/hooks/pre-commit", Layer::User, Allow),
        ("allow file.write.project ~/p/.git/hooks/pre-commit", Layer::Managed, Allow),
        ("lifts allow file.write.project ~/p/.git/hooks/pre-commit", Layer::User, Ask),
        ("allow file.write.project ~/p/.git/hooks/pre-commit", Layer::Project, Ask),
        ("allow file.write.project ~/p/.git/hooks/pre-commit", Layer::Session, Ask),
        ("deny file.write.project ~/p/.git/*", Layer::User, Deny),
    ] {
        let policy = policy(vec![layer(layer_of, rule)]);
        let found = policy
            .evaluate(&path(Project, "/home/u/p/.git/hooks/pre-commit = /data/u/p/.git/hooks/pre-commit"));
        assert_eq!((found.verdict, found.protected), (expected, true), "{layer_of:?} {rule}");
    }
    check(&broad, &[(path(Read, hooks), Allow)]);
}

#[test]
fn layers_in_order() {
    let policy = policy(vec![
        layer(Layer::Session, "lifts allow process.execute make"),
        layer(Layer::Project, "! allow process.execute\nallow process.execute cargo *"),
        layer(
            Layer::User,
            "! ask process.execute\ndeny process.execute make\ndeny process.execute cargo publish *",
        ),
    ]);
    check(
        &policy,
        &[
            // The project's shorthand lies above the user's, both below every particular rule.
            (command("anything"), Allow),
            (command("make"), Deny),
            (command("cargo publish"), Allow),
        ],
    );
    let found = policy.evaluate(&command("anything"));
    assert_eq!(found.rule.map(|rule| (rule.layer, rule.line)), Some((Layer::Overrides, 1)));
}

#[test]
fn a_shorthand_deny_stays_where_it_is() {
    let policy = user("allow process.execute make\n! deny process.execute");
    check(&policy, &[(command("make"), Deny)]);
}

#[test]
fn mcp_discovery_follows_an_allow() {
    let tool = |name: &str| {
        let written = name.to_owned();
        request(Capability::ToolUse, Subject::Command { written, inner: vec![], allow_needs_all: false })
    };
    let policy = user("allow tool.use mcp__files__read\ndeny tool.use mcp__db__list");
    check(
        &policy,
        &[
            (tool("mcp__files__read"), Allow),
            (tool("mcp__files__list"), Allow),
            (tool("mcp__files__write"), Ask),
            (tool("mcp__db__list"), Deny),
            (tool("mcp__db__search"), Ask),
        ],
    );
}

#[test]
fn what_may_only_tighten() {
    let policy = policy(vec![
        layer(Layer::User, "allow process.execute *"),
        untrusted(
            "allow process.execute sudo *\ndeny process.execute git push *\nallow process.execute git push *",
        ),
        layer(
            Layer::Managed,
            "deny process.execute curl *\nallow process.execute curl --version\nallow file.read *",
        ),
    ]);
    check(
        &policy,
        &[
            (command("make"), Allow),
            (command("git push"), Deny),
            (command("curl x"), Deny),
            (command("curl --version"), Allow),
            (path(Read, "/home/u/p/.env"), Ask),
        ],
    );
    let project = policy.layers.iter().find(|info| info.layer == Layer::Project).expect("listed");
    assert_eq!(project.state, LayerState::Untrusted);
    assert_eq!(project.ignored.len(), 2);
}

#[test]
fn a_damaged_layer_refuses_and_asks() {
    let text = "allow process.execute make\ndeny process.execute curl *";
    let mut broken = damaged(layer(Layer::User, text));
    broken.mode = Some(Mode::Bypass);
    broken.settings.on_mixed = Some(Ask);
    let policy = policy(vec![broken, layer(Layer::Session, "allow process.execute cargo test")]);
    check(
        &policy,
        &[
            (command("make"), Ask),
            (command("curl x"), Deny),
            (command("cargo test"), Allow),
            (path(Read, "/home/u/p/a"), Ask),
            (path(Project, "/home/u/p/a"), Ask),
            (mention("ls"), Ask),
        ],
    );
    assert_eq!((policy.mode, policy.knobs.on_mixed), (Mode::Default, Deny));
    assert_eq!(policy.knobs.on_review_unavailable, Ask);
    for request in [command("make"), path(Read, "/home/u/p/a"), mention("ls")] {
        let found = policy.evaluate(&request);
        let reason = found.rule.and_then(|rule| rule.reason.as_deref().map(str::to_owned)).or(found.reason);
        assert!(reason.expect("a reason").contains("user.toml:2:1"));
    }
}

#[test]
fn what_is_refused_in_a_folder_holds_for_the_folder() {
    let whole =
        |request: CapabilityRequest| CapabilityRequest { spellings: vec!["/x/*".to_owned()], ..request };
    let read = || whole(path(Read, "/x"));
    let deleted = || whole(destroying(Destroys::Recursive, path(Outside, "/x")));
    for (text, request, expected) in [
        ("deny file.read /x/*", read(), Deny),
        ("deny file.read /x/a", read(), Allow),
        ("deny file.read /x/*\nallow file.read /x/*", read(), Allow),
        ("deny file.* /x/*", deleted(), Deny),
        ("destroys allow file.* /x/*", deleted(), Ask),
        ("destroys allow file.* /x", deleted(), Allow),
        ("deny file.* /x/*\ndestroys allow file.* /x", deleted(), Allow),
    ] {
        check(&user(text), &[(request, expected)]);
    }
}

#[test]
fn no_mode_answers_what_damage_asks() {
    let loosening = [Mode::Bypass, Mode::AcceptEdits];
    let held = [Mode::Plan, Mode::DontAsk];
    for layer_of in [Layer::User, Layer::Project, Layer::Managed] {
        for given in loosening.into_iter().chain(held) {
            let mode = Some((given, "--mode".to_owned()));
            let with_mode = Composition { mode, ..Composition::new(places(), "2030-01-01") };
            let policy = compose(vec![damaged(layer(layer_of, "deny process.execute curl *"))], with_mode);
            let expected = if held.contains(&given) { given } else { Mode::Default };
            assert_eq!(policy.mode, expected, "{layer_of:?} {given:?}");
            assert_eq!(
                policy.mode_origin.contains("is damaged"),
                !held.contains(&given),
                "{}",
                policy.mode_origin
            );
        }
    }
}

#[test]
fn what_an_answer_left_lowers_no_refusal() {
    let text =
        "deny process.execute git push *\nlifts ask process.execute git *\nlifts deny process.execute git gc";
    let commands = [(command("git push"), Deny), (command("git log"), Ask), (command("git gc"), Deny)];
    check(&user(text), &commands);
}

#[test]
fn a_raised_allow_hides_no_refusal() {
    let text = "deny process.execute git push *\ndeny file.write.project */keep\n
                allow process.execute nice *\nallow file.write.project *\n
                lifts allow process.execute git push --dry-run";
    for policy in [user(text), policy(vec![damaged(layer(Layer::User, text))])] {
        let delete = destroying(Destroys::Delete, path(Project, "/home/u/p/keep"));
        check(
            &policy,
            &[(command("nice | git push"), Deny), (delete, Deny), (command("git push --dry-run"), Deny)],
        );
    }
}

#[test]
fn modes_and_their_origin() {
    let with = |layer_of, mode, trusted| LayerRules { mode: Some(mode), trusted, ..layer(layer_of, "") };
    for (layers, given, expected, origin) in [
        (vec![], None, Mode::Default, "default"),
        (vec![with(Layer::User, Mode::Bypass, true)], None, Mode::Bypass, "user"),
        (vec![with(Layer::Project, Mode::Bypass, true)], None, Mode::Default, "default"),
        (vec![with(Layer::Project, Mode::Plan, false)], None, Mode::Plan, "project"),
        (vec![with(Layer::User, Mode::Plan, true)], Some(Mode::Default), Mode::Default, "--mode"),
        (vec![with(Layer::Managed, Mode::DontAsk, true)], Some(Mode::Bypass), Mode::DontAsk, "managed"),
        (vec![with(Layer::Managed, Mode::Bypass, true)], None, Mode::Default, "default"),
    ] {
        let mode = given.map(|mode| (mode, "--mode".to_owned()));
        let with = Composition { mode, ..Composition::new(places(), "2030-01-01") };
        let policy = compose(layers, with);
        assert_eq!((policy.mode, policy.mode_origin.as_str()), (expected, origin));
    }
}

#[test]
fn rules_count_in_their_modes_and_for_their_callers() {
    let when = |modes: &[Mode], entries: &[Entry], agents: &[&str], interactive| When {
        modes: modes.to_vec(),
        entries: entries.to_vec(),
        agents: agents.iter().map(|name| (*name).to_owned()).collect(),
        interactive,
    };
    let rule = |action, when: When| {
        let rule = Rule::new(Layer::User, "process.execute", "make *", action);
        LayerRules::of_rules(Layer::User, vec![Rule { when: Some(Arc::new(when)), ..rule }])
    };
    let here = |mode, entry, agent: &str, interactive| {
        let agent = if agent.is_empty() { Agent::Unknown } else { Agent::Named(agent.to_owned()) };
        let caller = Caller { entry, agent, interactive, nested: false };
        Composition { mode: Some((mode, "test".into())), caller, ..Composition::new(places(), "2030-01-01") }
    };
    use Entry::{Command, Hook};
    for (action, when, with, expected) in [
        (Deny, when(&[Mode::Bypass], &[], &[], None), here(Mode::Bypass, Command, "", true), Deny),
        (Deny, when(&[Mode::Bypass], &[], &[], None), here(Mode::Default, Command, "", true), Ask),
        (Allow, when(&[], &[Hook], &[], None), here(Mode::Default, Hook, "", true), Allow),
        (Allow, when(&[], &[Hook], &[], None), here(Mode::Default, Command, "", true), Ask),
        (Allow, when(&[], &[], &["codex"], None), here(Mode::Default, Command, "codex", true), Allow),
        (Allow, when(&[], &[], &["codex"], None), here(Mode::Default, Command, "", true), Ask),
        (Deny, when(&[], &[], &["codex"], None), here(Mode::Default, Command, "", true), Deny),
        (Deny, when(&[], &[], &["codex"], None), here(Mode::Default, Command, "claude", true), Ask),
        (Deny, when(&[], &[], &[], Some(false)), here(Mode::Default, Command, "", false), Deny),
        (Deny, when(&[], &[], &[], Some(false)), here(Mode::Default, Command, "", true), Ask),
    ] {
        let policy = compose(vec![rule(action, when.clone())], with);
        assert_eq!(policy.evaluate(&command("make all")).verdict, expected, "{action:?} {when:?}");
    }
}

#[test]
fn a_floor_of_ones_own_is_lifted_by_nothing() {
    let floor = |layer_of| {
        let rule = Rule::new(layer_of, "process.execute", "kubectl * prod *", Deny);
        Rule { floor: Some("no-prod".into()), ..rule }
    };
    let allow = |layer_of| Rule::new(layer_of, "process.execute", "*", Allow);
    for layer_of in [Layer::User, Layer::Managed] {
        let layers = vec![
            LayerRules::of_rules(layer_of, vec![floor(layer_of), allow(layer_of)]),
            LayerRules::of_rules(Layer::Session, vec![allow(Layer::Session)]),
        ];
        let policy = policy(layers);
        let found = policy.evaluate(&command("kubectl delete prod x"));
        assert_eq!(found.verdict, Deny, "{layer_of:?}");
        assert_eq!(found.rule.expect("a rule").floor.as_deref(), Some("no-prod"));
        check(&policy, &[(command("kubectl get x"), Allow), (mention("kubectl get prod x | less"), Deny)]);
    }
}

#[test]
fn what_is_forbidden() {
    let with = |forbids: Vec<Forbidden>| LayerRules { forbids, ..layer(Layer::Managed, "") };
    let project = layer(Layer::Project, "allow process.execute make");
    let bypass = || Some((Mode::Bypass, "--yolo".to_owned()));
    let composed = |forbids| {
        let with_mode = Composition { mode: bypass(), ..Composition::new(places(), "2030-01-01") };
        compose(vec![with(forbids), project.clone()], with_mode)
    };
    let free = composed(vec![]);
    assert_eq!((free.mode, free.evaluate(&command("make")).verdict), (Mode::Bypass, Allow));
    let held = composed(vec![Forbidden::Trust, Forbidden::Bypass]);
    assert_eq!((held.mode, held.evaluate(&command("make")).verdict), (Mode::Default, Ask));
    assert!(held.mode_origin.contains("forbidden"), "{}", held.mode_origin);
}
