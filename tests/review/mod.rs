//! Reviewers from end to end: what each answer and each failure leads to, and that nothing runs by accident.

mod cancelled;
mod classifier;
mod evidence;
mod limits;
mod model;
mod race;
mod server;
mod shared;

use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::server::{Act, Server, says, verdict};
use crate::common::machine::{Gsh, Run};

/// A review that is not over by then never is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the instructions want in the place of a rationale.
const FORM: &str = "one or two sentences, at most 300 letters";

/// A machine whose `./work` is to be reviewed, and leaves a file `ran` where it does run.
fn machine(reviewer: &str, top: &str) -> Gsh {
    let config = format!(
        "{top}\n[permissions.\"process.execute\"]\n\"./work *\" = \"review\"\n[reviewer]\n{reviewer}\n"
    );
    let gsh = Gsh::new(env!("CARGO_BIN_EXE_gsh"))
        .config(&config)
        .project_file("work", "#!/bin/sh\nenv > ran\n")
        .env("GSH_SESSION", "reviewed")
        .env("GSH_NON_INTERACTIVE", "1");
    executable(&gsh, "project/work");
    gsh
}

fn executable(gsh: &Gsh, path: &str) {
    std::fs::set_permissions(gsh.at(path), std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

fn asks(server: &Server) -> String {
    format!("url = \"{}\"\nmodel = \"m\"\ntimeout = \"20s\"\n", server.url)
}

fn work(gsh: Gsh, words: &str) -> Run {
    gsh.args(["-c", &format!("./work {words}")]).run()
}

fn ran(run: &Run) -> bool {
    run.at("project/ran").exists()
}

/// What the record says of the last question.
fn settled(run: &Run) -> Value {
    let records = run.records();
    let of = |record: &&Value| {
        record["event"]
            .as_str()
            .is_some_and(|event| matches!(event, "PermissionGranted" | "PermissionDenied"))
    };
    records.iter().rev().find(of).cloned().unwrap_or_else(|| panic!("nothing was settled: {records:#?}"))
}

#[test]
fn an_allow_runs_and_a_deny_does_not() {
    for (decision, risk, status, runs, said) in [
        ("allow", "low", 0, true, ""),
        ("allow", "medium", 0, true, ""),
        ("deny", "low", 126, false, "refused by the reviewer"),
        ("allow", "high", 126, false, "above max_allow_risk (medium)"),
    ] {
        let server = Server::start(&[says(&verdict(decision, risk))]);
        let run = work(machine(&asks(&server), ""), "now");
        assert_eq!((run.status, ran(&run)), (Some(status), runs), "{decision} {risk}: {}", run.stderr());
        assert!(run.stderr().contains(said), "{}", run.stderr());
        let settled = settled(&run);
        assert_eq!(settled["review"]["verdict"], decision, "{settled}");
        assert_eq!(settled["review"]["risk"], risk, "{settled}");
        assert_eq!(settled["by"] == "reviewer", said != "above max_allow_risk (medium)", "{settled}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn every_failure_of_an_endpoint_is_told_as_what_it_is() {
    let body = |status: u16, text: &str| Act::Body(status, text.to_owned());
    let raw = |bytes: &[u8]| Act::Raw(bytes.to_vec());
    for (act, timeout, cause) in [
        (Act::Silent, "1s", "timeout"),
        (Act::Drip, "1s", "timeout"),
        (Act::Half, "20s", "provider-error"),
        (Act::Close, "20s", "provider-error"),
        (Act::Huge, "20s", "provider-error"),
        (Act::Redirect, "20s", "provider-error"),
        (body(429, "slow down"), "20s", "provider-error"),
        (body(500, "broken"), "20s", "provider-error"),
        (body(400, "no"), "20s", "provider-error"),
        (body(200, "<html>"), "20s", "invalid-output"),
        (body(200, "{}"), "20s", "invalid-output"),
        (body(200, ""), "20s", "invalid-output"),
        (Act::Chunks, "20s", "provider-error"),
        (Act::Heads, "20s", "provider-error"),
        (Act::DripHead, "1s", "timeout"),
        (raw(b"\x16\x03\x01\x02\x00\x01 no HTTP at all"), "20s", "provider-error"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n{}"), "20s", "provider-error"),
        (raw(b"HTTP/9.9 999 ?\r\n\r\n"), "20s", "provider-error"),
        (raw(&packed()), "20s", "invalid-output"),
        (body(200, &"[".repeat(100_000)), "20s", "invalid-output"),
        (body(200, "{\"choices\": [{\"message\": 7}]}"), "20s", "invalid-output"),
        (body(200, "{\"choices\": []}"), "20s", "invalid-output"),
        (body(301, "{\"decision\": \"allow\"}"), "20s", "provider-error"),
        (says("I would allow that."), "20s", "invalid-output"),
        (says("{\"decision\": \"perhaps\"}"), "20s", "invalid-output"),
        // As a very small model does.
        (says(&verdict("allow", "low").replace("as the test wants it", FORM)), "20s", "invalid-output"),
    ] {
        // Whoever asks again somewhere else would be allowed.
        let server = Server::start(&[act.clone(), act.clone()]);
        let reviewer = asks(&server).replace("20s", timeout);
        let begun = Instant::now();
        let run = work(machine(&reviewer, ""), "now");
        assert!(begun.elapsed() < PATIENCE, "{act:?}");
        assert_eq!((run.status, ran(&run)), (Some(126), false), "{act:?}: {}", run.stderr());
        let settled = settled(&run);
        assert_eq!(settled["review"]["cause"], cause, "{act:?}: {settled}");
        assert!(run.stderr().contains(cause), "{act:?}: {}", run.stderr());
        assert!(run.stderr().contains("Nothing was found against it"), "{}", run.stderr());
        assert!(matches!(act, Act::Body(400, _)) || server.asked().len() == 1, "{act:?}");
        let status = run.machine.again().args(["status"]).run();
        assert!(status.stdout().contains(&format!("last failure: {cause}")), "{}", status.stdout());
    }
}

/// An answer that says it is packed: it is never unpacked, so it cannot grow.
fn packed() -> Vec<u8> {
    let bomb = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3].repeat(50);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", bomb.len());
    [head.as_bytes(), &bomb].concat()
}

#[test]
fn an_endpoint_that_cannot_be_reached_is_told_as_that() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let closed = format!("http://{}/v1", nobody.local_addr().expect("its address"));
    drop(nobody);
    let plain_where_tls_is_spoken = server.url.replace("http://", "https://");
    for (url, cause) in [
        (plain_where_tls_is_spoken.as_str(), "provider-error"),
        (closed.as_str(), "provider-error"),
        ("https://no-such-host.invalid/v1", "provider-error"),
    ] {
        let begun = Instant::now();
        let run = work(machine(&format!("url = \"{url}\"\nmodel = \"m\"\ntimeout = \"20s\"\n"), ""), "now");
        assert!(begun.elapsed() < PATIENCE, "{url}");
        assert_eq!((run.status, ran(&run)), (Some(126), false), "{url}: {}", run.stderr());
        assert_eq!(settled(&run)["review"]["cause"], cause, "{url}: {}", settled(&run));
    }
    assert_eq!(server.asked().len(), 0, "nothing was sent in the clear");
}

#[test]
fn every_failure_of_a_program_is_told_as_what_it_is() {
    let allow = verdict("allow", "low");
    for (script, timeout, status, cause) in [
        (format!("cat > /dev/null; echo '{allow}'"), "20s", 0, Value::Null),
        (format!("echo '{allow}'; exit 3"), "20s", 126, json!("provider-error")),
        (format!("echo '{allow}'; kill -9 $$"), "20s", 126, json!("provider-error")),
        (format!("echo '{allow}'; sleep 600"), "1s", 126, json!("timeout")),
        ("sleep 600 & sleep 600".to_owned(), "1s", 126, json!("timeout")),
        ("exec >&-; sleep 600".to_owned(), "1s", 126, json!("timeout")),
        (
            "while :; do echo 0123456789012345678901234567890123456789; done".to_owned(),
            "20s",
            126,
            json!("provider-error"),
        ),
        ("echo yes".to_owned(), "20s", 126, json!("invalid-output")),
        ("cat".to_owned(), "20s", 126, json!("invalid-output")),
    ] {
        let gsh = machine("program = [\"/no/such/judge\"]", "");
        let judge = gsh.at("judge");
        std::fs::write(&judge, format!("#!/bin/sh\n{script}\n")).expect("the judge");
        executable(&gsh, "judge");
        let config = std::fs::read_to_string(gsh.at("home/.config/gsh/config.toml")).expect("read");
        let config = config.replace("/no/such/judge", &judge.to_string_lossy());
        let run = work(gsh.config(&format!("{config}timeout = \"{timeout}\"\n")), "now");
        assert_eq!((run.status, ran(&run)), (Some(status), status == 0), "{script}: {}", run.stderr());
        assert_eq!(settled(&run)["review"]["cause"], cause, "{script}");
    }
    let run = work(machine("program = [\"/no/such/judge\"]", ""), "now");
    assert_eq!((ran(&run), &settled(&run)["review"]["cause"]), (false, &json!("provider-error")));
}

#[test]
fn what_becomes_of_it_where_the_reviewer_fails_is_a_setting() {
    for (setting, status, runs, by) in [
        ("on_review_unavailable = \"deny\"", 126, false, "failure-knob"),
        ("on_review_unavailable = \"ask\"", 126, false, "nobody"),
        ("on_review_unavailable = \"allow\"", 0, true, "failure-knob"),
        ("mode = \"dont-ask\"\non_review_unavailable = \"ask\"", 126, false, "policy"),
    ] {
        let server = Server::start(&[Act::Close]);
        let run = work(machine(&asks(&server), setting), "now");
        assert_eq!((run.status, ran(&run)), (Some(status), runs), "{setting}: {}", run.stderr());
        assert!(settled(&run)["by"].to_string().contains(by), "{setting}: {}", settled(&run));
    }
}

#[test]
fn a_verdict_answers_again_and_a_failure_does_not() {
    let allow = says(&verdict("allow", "low"));
    let server = Server::start(&[Act::Close, allow, says(&verdict("deny", "high"))]);
    let run = work(machine(&asks(&server), ""), "now");
    assert!(!ran(&run), "a failure");
    let run = work(run.machine.again(), "now");
    assert!(ran(&run), "the failure was not kept: {}", run.stderr());
    let first = settled(&run)["id"].clone();
    let run = work(run.machine.again(), "now");
    assert_eq!((run.status, server.asked().len()), (Some(0), 2), "the verdict was: {}", run.stderr());
    let again = settled(&run);
    assert_eq!(
        (&again["by"], &again["first"]),
        (&json!("cache"), &json!({ "by": "reviewer", "record": first }))
    );
    // Other words are another command; that one is denied, and then the program has no quick way in this turn.
    let run = work(run.machine.again(), "other");
    assert_eq!((run.status, server.asked().len()), (Some(126), 3), "{}", run.stderr());
    let run = work(run.machine.again(), "now");
    assert_eq!((run.status, server.asked().len()), (Some(126), 4), "asked anew: {}", run.stderr());
    let grants = run.machine.again().args(["grants", "list"]).run();
    assert!(!grants.stdout().contains("work"), "a reviewer grants nothing: {}", grants.stdout());
}

#[test]
fn after_refusals_in_a_row_a_person_answers() {
    let server = Server::start(&[says(&verdict("deny", "high"))]);
    let mut gsh = machine(&asks(&server), "[refusals]\nin_a_row = 2");
    for (number, asked) in [(0, 1), (1, 2), (2, 2)] {
        let run = work(gsh, &format!("w{number}"));
        assert_eq!((run.status, server.asked().len()), (Some(126), asked), "{}", run.stderr());
        gsh = run.machine.again();
    }
}

#[test]
fn nobody_but_the_endpoint_sees_the_key() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let reviewer = format!("{}key_env = \"JUDGE_KEY\"\n", asks(&server));
    let run = work(machine(&reviewer, "").env("JUDGE_KEY", "sk-very-private-words"), "now");
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.head.contains("Bearer sk-very-private-words")), "{asked:?}");
    assert!(!asked.iter().any(|asked| asked.body.to_string().contains("sk-very-private-words")));
    let environment = std::fs::read_to_string(run.at("project/ran")).expect("its environment");
    assert!(!environment.contains("JUDGE_KEY"), "{environment}");
    let records = format!("{:?}", run.records());
    assert!(!records.contains("sk-very-private-words") && records.contains("JUDGE_KEY"), "{records}");
    let run = work(machine(&reviewer, ""), "now");
    assert_eq!(settled(&run)["review"]["cause"], "not-configured");
}

#[test]
fn the_other_language_is_spoken_too() {
    let content = json!([{ "type": "text", "text": verdict("allow", "low") }]);
    let server = Server::start(&[Act::Body(200, json!({ "content": content }).to_string())]);
    let run = work(machine(&format!("{}style = \"anthropic\"\n", asks(&server)), ""), "now");
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let asked = server.asked();
    assert!(
        asked.iter().all(|asked| asked.head.contains("/v1/messages") && asked.body["system"].is_string())
    );
}

#[test]
fn what_changes_while_it_is_reviewed_does_not_run() {
    let gsh = machine("program = [\"/no/judge\"]", "");
    let allow = verdict("allow", "low");
    let script = format!(
        "#!/bin/sh\nprintf '#!/bin/sh\\ntouch ran other\\n' > '{}'\necho '{allow}'\n",
        gsh.at("project/work").display()
    );
    std::fs::write(gsh.at("judge"), script).expect("the judge");
    executable(&gsh, "judge");
    let path = gsh.at("home/.config/gsh/config.toml");
    let config =
        std::fs::read_to_string(path).expect("read").replace("/no/judge", &gsh.at("judge").to_string_lossy());
    let run = work(gsh.config(&config), "now");
    assert_eq!((run.status, ran(&run)), (Some(126), false), "{}", run.stderr());
    assert!(settled(&run)["review"]["detail"].to_string().contains("changed while it was reviewed"));
}

#[test]
fn a_hooks_transcript_is_what_the_person_said() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let gsh = machine(&asks(&server), "");
    let transcript = gsh.at("transcript.jsonl");
    let line = json!({"type": "user", "message": {"role": "user", "content": "please do the work"}});
    std::fs::write(&transcript, format!("{line}\n")).expect("written");
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": gsh.at("project"), "tool_name": "Bash",
        "tool_input": { "command": "./work now" }, "transcript_path": transcript,
    });
    let run = gsh.args(["hook", "claude"]).stdin(event.to_string()).run();
    assert!(run.stdout().contains("\"allow\""), "{} {}", run.stdout(), run.stderr());
    let asked = server.asked();
    let sent = asked.last().map(|asked| asked.body.to_string()).unwrap_or_default();
    assert!(sent.contains("[user] please do the work"), "{sent}");
    assert!(!ran(&run), "the agent runs it, not the hook");
}

#[test]
fn a_review_before_an_agents_own_dialogue_is_written_down_and_told() {
    for (act, verdict, said) in [
        (says(&verdict("allow", "high")), "allow", "above max_allow_risk"),
        (Act::Close, "unavailable", "the reviewer gave no answer"),
    ] {
        let server = Server::start(&[act]);
        let gsh = machine(&asks(&server), "on_review_unavailable = \"ask\"").env("GSH_NON_INTERACTIVE", "0");
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": gsh.at("project"), "tool_name": "Bash",
            "tool_input": { "command": "./work now" },
        });
        let run = gsh.args(["hook", "claude"]).stdin(event.to_string()).run();
        assert!(
            run.stdout().contains("\"ask\"") && run.stdout().contains(said),
            "{}{}",
            run.stdout(),
            run.stderr()
        );
        let records = run.records();
        let reviewed = records.iter().find(|record| record["event"] == "PermissionReviewed");
        let reviewed = reviewed.unwrap_or_else(|| panic!("{records:#?}"));
        assert_eq!(reviewed["review"]["verdict"], verdict, "{reviewed}");
        assert!(!ran(&run));
    }
}

#[test]
fn a_project_chooses_no_reviewer() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let gsh = Gsh::new(env!("CARGO_BIN_EXE_gsh"))
        .config("[permissions.\"process.execute\"]\n\"./work *\" = \"review\"\n")
        .project_file(".gsh/config.toml", &format!("[reviewer]\n{}", asks(&server)))
        .project_file("work", "#!/bin/sh\nenv > ran\n")
        .env("GSH_NON_INTERACTIVE", "1");
    executable(&gsh, "project/work");
    let run = work(gsh, "now");
    assert_eq!((run.status, ran(&run), server.asked().len()), (Some(126), false, 0), "{}", run.stderr());
}
