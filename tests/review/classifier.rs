//! The first, quick look: it speeds what the reviewer would be asked about, and nothing else.

use std::path::Path;
use std::time::Duration;

use gsh::ask::{Manner, Question, settle};
use gsh::audit::DecidedBy;
use gsh::pipeline::check;
use gsh::policy::compose::{Composition, compose};
use gsh::policy::reviewing::Reviewing;
use gsh::policy::{Layer, LayerRules, Rule, Verdict};
use gsh::review::Reviewer;
use gsh::review::conversation::Conversation;
use gsh::store::places::Folders;
use gsh::store::reviews::{Level, Reviews, Score};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::limits::CORPORA;
use super::server::{Act, Server, says, verdict};
use super::{asks, machine, ran, settled, work};
use crate::common::cases::rows;
use crate::common::fixture::{host, request};
use crate::common::machine::{Gsh, Run};
use crate::common::policy::builtin_policy;
use crate::jobs::wait_until;

fn glances(server: &Server) -> usize {
    server.asked().iter().filter(|asked| asked.is_glance()).count()
}

fn reviews(server: &Server) -> usize {
    server.asked().len() - glances(server)
}

fn track(folder: &Path) -> Value {
    let text = std::fs::read_to_string(folder.join("run/gsh/reviews/reviewed.track.json"));
    let text = text.or_else(|_| {
        std::fs::read_to_string(folder.join("home/.local/state/gsh/reviews/reviewed.track.json"))
    });
    text.ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
}

/// Works, and waits until the session was scored after it.
fn scored(gsh: Gsh, words: &str, call: u64) -> Run {
    let run = work(gsh, words);
    let folder = run.at("");
    wait_until("the session is scored", || track(&folder)["score"]["call"] == call);
    run
}

fn watched(acts: &[Act], more: &str) -> (Server, Gsh) {
    let server = Server::start(acts);
    let gsh = machine(&format!("{}classifier = true\n{more}", asks(&server)), "");
    (server, gsh)
}

fn by_task(review: Act, glances: &[Act]) -> [Act; 1] {
    [Act::ByTask(Box::new(review), glances.to_vec())]
}

#[test]
fn a_fresh_low_lets_the_next_pass_and_a_stale_one_does_not() {
    let allow = says(&verdict("allow", "low"));
    // Low, then nothing usable: the second glance speeds nothing.
    let (server, gsh) = watched(&by_task(allow, &[says("low"), says("low, I think")]), "max_lag = 1\n");
    let run = scored(gsh, "one", 1);
    assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("reviewer".into(), 1));
    let run = scored(run.machine.again(), "two", 2);
    assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("classifier".into(), 1), "{}", run.stderr());
    assert!(ran(&run));
    let run = scored(run.machine.again(), "three", 3);
    assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("reviewer".into(), 2));
    // Whatever was only sped is not remembered.
    let run = work(run.machine.again(), "two");
    assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("reviewer".into(), 3));
}

#[test]
fn what_is_not_low_and_what_is_off_speeds_nothing() {
    let allow = says(&verdict("allow", "low"));
    for glance in [says("high"), says(""), says("LOW RISK"), Act::Body(500, "x".to_owned()), Act::Close] {
        let (server, gsh) = watched(&by_task(allow.clone(), &[glance]), "");
        let run = scored(gsh, "one", 1);
        let run = work(run.machine.again(), "two");
        assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("reviewer".into(), 2));
    }
    let server = Server::start(&by_task(allow, &[says("low")]));
    let run = work(machine(&asks(&server), ""), "one");
    let run = work(run.machine.again(), "two");
    assert_eq!((reviews(&server), glances(&server)), (2, 0), "it is off until it is wanted");
    assert_eq!(track(&run.at("")), Value::Null);
}

#[test]
fn what_was_refused_has_no_quick_way() {
    let (server, gsh) = watched(&by_task(says(&verdict("deny", "high")), &[says("low")]), "");
    let run = scored(gsh, "one", 1);
    assert_eq!(run.status, Some(126));
    let run = work(run.machine.again(), "two");
    assert_eq!((run.status, ran(&run), reviews(&server)), (Some(126), false, 2), "{}", run.stderr());
}

#[test]
fn another_configuration_is_another_ground() {
    let (server, gsh) = watched(&by_task(says(&verdict("allow", "low")), &[says("low")]), "");
    let run = scored(gsh, "one", 1);
    let path = run.at("home/.config/gsh/config.toml");
    let config = std::fs::read_to_string(&path).expect("read");
    std::fs::write(&path, format!("{config}# changed\n")).expect("written");
    let run = work(run.machine.again(), "two");
    assert_eq!((settled(&run)["by"].clone(), reviews(&server)), ("reviewer".into(), 2));
}

/// A program that finds every session low and denies every command, so that whatever runs was sped.
fn low_and_no(folder: &Path) -> Manner {
    let program = folder.join("judge");
    let deny = verdict("deny", "high");
    let text =
        format!("#!/bin/sh\nif grep -q '\"task\":\"classify\"'; then echo low; else echo '{deny}'; fi\n");
    std::fs::write(&program, text).expect("the program");
    let mut policy = builtin_policy();
    policy.knobs.reviewer = Reviewing {
        // By its shell: a process that another test forked meanwhile may hold the file open for writing.
        program: vec!["/bin/sh".to_owned(), program.to_string_lossy().into_owned()],
        timeout: Duration::from_secs(20),
        classifier: true,
        max_lag: u32::MAX,
        ..Reviewing::default()
    };
    let home = folder.join("home");
    let folders = Folders::new(&|name| (name == "HOME").then(|| home.clone().into())).expect("a home");
    Manner { quiet: true, reviewer: Reviewer::of(&policy, Some(&folders), "s"), ..Manner::default() }
}

/// Whatever is allowed here was allowed by the first look: none of it was anybody's but a reviewer's to allow.
#[test]
fn it_allows_nothing_that_is_not_the_reviewers_to_allow() {
    let folder = tempfile::tempdir().expect("a folder");
    let (host, manner) = (host(), low_and_no(folder.path()));
    let reviewer = manner.reviewer.as_ref().expect("a reviewer");
    let store = Reviews::of(reviewer.folders.as_ref().expect("folders"));
    let basis = reviewer.basis(&Conversation::default());
    let until = Timestamp::now() + SignedDuration::from_hours(1);
    store.scored("s", Score { level: Level::Low, call: 0, basis, until }).expect("kept");
    let mut policy = builtin_policy();
    policy.knobs.on_unresolved = Verdict::Review;
    // A little of all, and what only a reviewer is to judge.
    let reviews = Rule::new(Layer::User, "process.execute", "make *", Verdict::Review);
    let reviewed = compose(
        vec![LayerRules::of_rules(Layer::User, vec![reviews])],
        Composition::new(policy.places.clone(), "2026-01-01"),
    );
    let (mut sped, mut unknown) = (0, 0);
    let texts = CORPORA.iter().flat_map(|text| rows(text)).map(|row| row.command);
    let made = (0..12).map(|number| format!("make t{number}")).chain(["make \"$UNKNOWN\"".to_owned()]);
    let all = texts.map(|text| (text, &policy)).chain(made.map(|text| (text, &reviewed)));
    for (text, policy) in all {
        let request = request(&text);
        let checked = check(&request, policy, &host);
        let (decision, facts) = (&checked.decision, &checked.facts);
        // A few of what would each be asked of the program.
        let closed = facts.problems.iter().any(|doubt| !doubt.execution);
        if decision.verdict == Verdict::Allow || closed && unknown > 20 {
            continue;
        }
        unknown += usize::from(closed && decision.verdict == Verdict::Review);
        let question = Question { request: &request, record: "r", decision, script: &checked.script, facts };
        let settled = settle(&question, None, Some(&manner));
        let open =
            decision.verdict == Verdict::Review && !decision.firm && decision.floor.is_none() && !closed;
        assert!(settled.outcome.is_err() || open, "{:?}: {text}", decision.verdict);
        if settled.outcome.is_ok() {
            assert!(matches!(settled.by, DecidedBy::Classifier), "{text}");
            sped += 1;
        } else if open {
            // Said only where the test fails.
            println!("{text}: {settled:?}");
        }
    }
    assert!(sped > 10 && unknown > 10, "{sped} {unknown}");
}
