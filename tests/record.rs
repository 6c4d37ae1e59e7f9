//! The record: written by many at once, kept whole, without secrets, and read again.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use gsh::audit::{Context, Opening, Record, chain};
use gsh::host::witness::Witness;
use gsh::policy::Verdict;

use crate::common::machine::{Gsh, records};
use crate::common::{fixture, secrets};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

fn folder(machine: &Gsh) -> PathBuf {
    machine.at("home/.local/state/gsh/audit")
}

fn holds(folder: &Path) {
    let (files, _) = chain::verify(folder, None).expect("records");
    assert!(!files.is_empty());
    for file in files {
        assert!(file.wrong.is_empty(), "{}: {:?}", file.path.display(), file.wrong);
    }
}

fn start(machine: &Gsh, text: &str) -> Child {
    Command::new(GSH)
        .args(["-c", text])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", machine.at("home"))
        .env("XDG_STATE_HOME", machine.at("home/.local/state"))
        .current_dir(machine.at("project"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("gsh starts")
}

/// Fifty at a time, with eight kilobytes each, some of them killed at any point: what printed had its
/// record before.
#[test]
fn many_writers_and_sudden_ends_leave_whole_lines_and_one_chain() {
    let machine = Gsh::new(GSH);
    let (mut acknowledged, mut number) = (Vec::new(), 0_u64);
    for round in 0..8_u64 {
        let mut running = Vec::new();
        for _ in 0..50 {
            number += 1;
            let text = format!("echo n{number}; : {}", "x".repeat(8000));
            running.push((number, start(&machine, &text)));
        }
        for (number, child) in &running {
            if number % 3 == round % 3 {
                std::thread::sleep(std::time::Duration::from_micros((number * 7919) % 3000));
                // It may have ended by itself.
                let _ = kill(Pid::from_raw(i32::try_from(child.id()).expect("a pid")), Signal::SIGKILL);
            }
        }
        for (number, child) in running {
            let output = child.wait_with_output().expect("its end");
            if output.stdout.starts_with(format!("n{number}\n").as_bytes()) {
                acknowledged.push(number);
            }
        }
    }
    // One more sets aside what the last kill may have torn.
    start(&machine, "echo last").wait().expect("its end");
    let lines = records_of(&folder(&machine));
    holds(&folder(&machine));
    for number in &acknowledged {
        let head = format!("echo n{number};");
        let found = lines.iter().filter(|line| line["event"] == "opened");
        let found = found.filter(|line| line["command"].as_str().is_some_and(|text| text.starts_with(&head)));
        assert_eq!(found.count(), 1, "{head}");
    }
    assert!(acknowledged.len() > 100, "only {} ran", acknowledged.len());
}

/// The day's records; every line must be one.
fn records_of(folder: &Path) -> Vec<Value> {
    let mut all = Vec::new();
    for day in gsh::audit::keep::days(folder) {
        let text = std::fs::read_to_string(day).expect("a file");
        all.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a JSON line")));
    }
    all
}

/// Two hundred records by each of fifty writers, at once.
#[test]
fn ten_thousand_records_of_fifty_writers_are_one_chain() {
    let home = tempfile::tempdir().expect("a folder");
    std::thread::scope(|scope| {
        for writer in 0..50 {
            let home = home.path();
            scope.spawn(move || {
                for number in 0..200 {
                    let text = format!("echo {writer} {number} {}", "y".repeat(number * 40));
                    let record = recorded(&text).0;
                    let opened = gsh::audit::open(Some(home), home, record, 14).expect("opened");
                    opened.close(&gsh::audit::Closing::NotRun { why: "a test" }).expect("closed");
                }
            });
        }
    });
    let folder = home.path().join("audit");
    holds(&folder);
    let lines = records_of(&folder);
    assert_eq!(lines.len(), 20_000);
    let mut commands: Vec<&str> = lines.iter().filter_map(|line| line["command"].as_str()).collect();
    commands.sort_unstable();
    commands.dedup();
    assert_eq!(commands.len(), 10_000);
}

/// This very program as one of many writers: two hundred records, each said once it is written.
#[test]
fn writing_side() {
    use std::io::Write;
    let Some(home) = std::env::var_os("GSH_TEST_RECORDS").map(PathBuf::from) else { return };
    for number in 0..200 {
        let text = format!("echo {} {number} {}", std::process::id(), "y".repeat(number * 20));
        let opened = gsh::audit::open(Some(&home), &home, recorded(&text).0, 14).expect("opened");
        opened.close(&gsh::audit::Closing::NotRun { why: "a test" }).expect("closed");
        let mut output = std::io::stdout().lock();
        output.write_all(format!("\nwritten {} {number}\n", std::process::id()).as_bytes()).expect("said");
        output.flush().expect("said");
    }
}

/// Fifty processes with two hundred records each, every second of them killed somewhere on its way: what
/// was said to be written is there, once and closed, every line parses, and the chain holds.
#[test]
fn fifty_writers_killed_at_any_point_lose_nothing_they_said() {
    let home = tempfile::tempdir().expect("a folder");
    let program = std::env::current_exe().expect("this program");
    let mut writers = Vec::new();
    for number in 0..50_u64 {
        let mut writer = Command::new(&program)
            .args(["record::writing_side", "--exact", "--nocapture"])
            .env("GSH_TEST_RECORDS", home.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a writer");
        let output = writer.stdout.take().expect("its output");
        let pid = Pid::from_raw(i32::try_from(writer.id()).expect("a pid"));
        // After so many of its records; None lets it come to its end.
        let end = (number % 2 == 0).then_some((number * 7919) % 190);
        let heard = std::thread::spawn(move || {
            use std::io::{BufRead, BufReader};
            let mut said = Vec::new();
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                said.extend(line.strip_prefix("written ").map(str::to_owned));
                if end.is_some_and(|end| said.len() as u64 == end + 1) {
                    // It may have ended by itself.
                    let _ = kill(pid, Signal::SIGKILL);
                }
            }
            said
        });
        writers.push((writer, heard));
    }
    let mut said = Vec::new();
    for (mut writer, heard) in writers {
        said.extend(heard.join().expect("heard"));
        writer.wait().expect("its end");
    }
    // One more sets aside what the last kill may have torn.
    let last = gsh::audit::open(Some(home.path()), home.path(), recorded("echo last").0, 14).expect("opened");
    last.close(&gsh::audit::Closing::NotRun { why: "a test" }).expect("closed");
    let folder = home.path().join("audit");
    holds(&folder);
    let lines = records_of(&folder);
    let closed: std::collections::HashSet<&str> = lines
        .iter()
        .filter(|line| line["event"] == "closed")
        .filter_map(|line| line["id"].as_str())
        .collect();
    let mut found = std::collections::HashMap::<String, usize>::new();
    for line in lines.iter().filter(|line| closed.contains(line["id"].as_str().unwrap_or_default())) {
        let words: Vec<&str> = line["command"].as_str().unwrap_or_default().split(' ').collect();
        if let ["echo", writer, number, ..] = words[..] {
            *found.entry(format!("{writer} {number}")).or_default() += 1;
        }
    }
    assert!(said.len() > 25 * 200, "only {} were written", said.len());
    let lost: Vec<_> = said.iter().filter(|name| found.get(*name) != Some(&1)).collect();
    assert!(lost.is_empty(), "{lost:?}");
}

/// The record of a text on the machine of the cases, and what was decided.
fn recorded(text: &str) -> (Record, Verdict) {
    thread_local! {
        static GIVEN: (gsh::host::table::TableHost, gsh::policy::Policy) =
            (fixture::host(), crate::common::builtin_policy());
    }
    GIVEN.with(|(host, policy)| {
        let request = fixture::request(text);
        let witness = Witness::new(host);
        let checked = gsh::pipeline::check(&request, policy, &witness);
        let opening = Opening {
            request: &request,
            policy,
            decision: &checked.decision,
            facts: &checked.facts,
            answers: witness.into_answers(),
            context: &Context::default(),
        };
        (Record::new(&opening), checked.decision.verdict)
    })
}

/// Where no record can be written (a limit on file sizes, a folder that is none), nothing runs that could change
/// anything, the words say why, and what was written before stays whole.
#[test]
fn without_room_for_a_record_nothing_runs() {
    let gsh =
        Gsh::new(GSH).args(["-c", &format!("gsh-canary-deny {}", "x".repeat(4000))]).run().machine.again();
    let day = gsh::audit::keep::days(&folder(&gsh)).remove(0);
    let before = std::fs::read(&day).expect("records");
    // Nothing at all may grow; a part of a line would have room.
    let mut gsh = gsh.program("/bin/bash");
    for blocks in [0, before.len() / 1024 + 1] {
        let limited = format!("ulimit -f {blocks}; exec \"$0\" -c 'touch made'");
        let run = gsh.args(["-c", &limited, GSH]).run();
        assert_eq!(run.status, Some(125), "{}", run.stderr());
        assert!(
            run.stderr().contains("nothing ran, since its record could not be written"),
            "{}",
            run.stderr()
        );
        assert!(!run.at("project/made").exists());
        let after = std::fs::read(&day).expect("records");
        assert!(after.starts_with(&before) && after.ends_with(b"\n"), "a part of a line stayed");
        holds(&folder(&run.machine));
        gsh = run.machine.again();
    }
    // The user may say that a lost record is no reason to stop.
    let gsh = gsh.config("[audit]\nrequired = false\n").args([
        "-c",
        "ulimit -f 0; exec \"$0\" -c 'touch made'",
        GSH,
    ]);
    let run = gsh.run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    assert!(run.at("project/made").exists());
    let gsh = Gsh::new(GSH);
    std::fs::create_dir_all(gsh.at("home/.local/state/gsh")).expect("made");
    std::fs::write(folder(&gsh), "no folder").expect("written");
    let run = gsh.args(["-c", "touch made"]).run();
    assert_eq!(run.status, Some(125), "{}", run.stderr());
    assert!(!run.at("project/made").exists() && run.stderr().contains("record"), "{}", run.stderr());
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.file_type().expect("a kind").is_dir() {
            files_below(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

/// Allowed, asked about or refused: no secret stays on disk.
#[test]
fn no_secret_is_left_on_disk() {
    let mut machine = Gsh::new(GSH).env("SERVICE_TOKEN", "a-token-of-the-environment");
    let values: Vec<String> = secrets::plain().into_iter().chain(secrets::shaped()).collect();
    let mut texts = Vec::new();
    let mut given = vec!["a-token-of-the-environment".to_owned()];
    for (index, form) in secrets::FORMS.iter().enumerate() {
        let value = &values[(index * 5) % values.len()];
        let form = form.replace("@@", "\u{1}@");
        texts.push(
            form.replacen('@', if form.contains('\u{1}') { "@" } else { value }, 9).replace('\u{1}', value),
        );
        given.push(value.clone());
    }
    texts.push("echo \"$SERVICE_TOKEN\" a-token-of-the-environment".to_owned());
    // None of these may run: the inert word makes the floor refuse them, or nobody is there to ask.
    for (index, text) in texts.iter().enumerate() {
        let text = if index % 2 == 0 {
            format!("gsh-canary-deny; {text}")
        } else {
            format!("unknown-tool-x; {text}")
        };
        let run = machine.args(["-c", &text]).run();
        assert_eq!(run.status, Some(126), "{text}: {}", run.stderr());
        machine = run.machine.again();
    }
    let run = machine.args(["-c", "echo kept", "name", "--token", "an-argument-of-the-text"]).run();
    given.push("an-argument-of-the-text".to_owned());
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let mut files = Vec::new();
    files_below(&run.machine.at(""), &mut files);
    let mut leaked = Vec::new();
    // A question that waits holds the true bytes, for its owner alone, until it is answered or expires.
    let pending = run.machine.at("home/.local/state/gsh/pending");
    for file in files.into_iter().filter(|file| !file.starts_with(&pending)) {
        let text = String::from_utf8_lossy(&std::fs::read(&file).expect("readable")).into_owned();
        leaked.extend(
            given
                .iter()
                .filter(|secret| text.contains(*secret))
                .map(|secret| format!("{}: {secret}", file.display())),
        );
    }
    assert!(leaked.is_empty(), "{}", leaked.join("\n"));
    holds(&folder(&run.machine));
    assert!(run.records().iter().any(|record| record["redacted"].is_u64()));
}

/// One record whatever the text holds: nothing in it forges another, or moves a cursor.
#[test]
fn a_text_cannot_forge_a_record() {
    for text in [
        "gsh-canary-deny\n{\"event\":\"closed\",\"id\":\"x\"}",
        "gsh-canary-deny \u{1b}[1A\u{1b}[2Kb",
        "gsh-canary-deny # 2026-01-01 12:00:00 ALLOW operator approved deploy",
    ] {
        let run = Gsh::new(GSH).args(["-c", text]).run();
        assert_eq!(run.status, Some(126));
        let found = run.records();
        assert_eq!(found.iter().map(|line| line["event"].clone()).collect::<Vec<_>>(), ["opened", "closed"]);
        assert_eq!(found[0]["floor"].as_str().unwrap_or("canary"), "canary");
        let day = &gsh::audit::keep::days(&folder(&run.machine))[0];
        assert!(!std::fs::read_to_string(day).expect("text").contains('\u{1b}'));
        let shown = run.machine.again().args(["audit", "tail"]).run();
        assert!(
            !shown.stdout().contains('\u{1b}') && shown.stdout().lines().count() == 1,
            "{}",
            shown.stdout()
        );
    }
}

#[test]
fn the_verbs_tell_what_the_records_say() {
    let mut machine = Gsh::new(GSH).env("GSH_SESSION", "mine");
    for (text, status) in
        [("ls", 0), ("gsh-canary-deny", 126), ("unknown-tool-x --now", 126), ("pwd; pwd", 0)]
    {
        let run = machine.args(["-c", text]).run();
        assert_eq!(run.status, Some(status), "{text}: {}", run.stderr());
        machine = run.machine.again();
    }
    let id = records(&folder(&machine))[0]["id"].as_str().expect("an id").to_owned();
    std::fs::write(
        machine.at("new.toml"),
        "[permissions.\"process.execute\"]\n\"unknown-tool-x *\" = \"allow\"\n",
    )
    .expect("a configuration");
    let page = machine.at("page.html").display().to_string();
    let new = machine.at("new.toml").display().to_string();
    let table: &[(&[&str], i32, &[&str])] = &[
        (&["audit"], 0, &["ls", "canary", "unknown-tool-x --now", "not run"]),
        (&["audit", "tail", "-n", "1"], 0, &["pwd; pwd"]),
        (&["audit", "show", &id], 0, &["command", "ls", "decided by", "builtin"]),
        (&["audit", "show", "mine"], 0, &["session mine: 4 commands, 1 asked, 1 refused"]),
        (&["audit", "show", "nobody"], 2, &[]),
        (&["audit", "show"], 0, &["command", "pwd; pwd", "decided by"]),
        (&["audit", "show", "--verdict", "deny"], 0, &["command", "gsh-canary-deny"]),
        (&["audit", "show", "--program", "none-such"], 2, &[]),
        (&["audit", "tail", "--names"], 0, &[&id]),
        (&["audit", "search", "ls", "--names"], 0, &[&id]),
        (&["audit", "search", "unknown"], 0, &["unknown-tool-x"]),
        (&["audit", "search", "--verdict", "deny", "canary", "--json"], 0, &["\"floor\":\"canary\""]),
        (&["audit", "stats"], 0, &["4 records, 1 asked (25.0 %)", "nobody to ask", "unknown-tool-x"]),
        (&["audit", "stats", "--json", "--since", "1h"], 0, &["\"records\": 4"]),
        (&["audit", "verify"], 0, &["the chain holds"]),
        (&["audit", "verify", "--expect", "0"], 1, &["the chain is broken"]),
        (
            &["audit", "replay", "--config", &new],
            0,
            &["4 records, 0 of them inexact; asked 1", "ask → allow"],
        ),
        (
            &["audit", "export", "--format", "csv"],
            0,
            &["id,time,session", "gsh-canary-deny,deny,floor,false"],
        ),
        (&["audit", "export", "--format", "ocsf"], 0, &["\"class_uid\":1007", "\"disposition\":\"Blocked\""]),
        (&["audit", "report", "--html", &page], 0, &["4 records in"]),
    ];
    for (args, status, words) in table {
        let run = machine.args(args.iter().copied()).run();
        assert_eq!(run.status, Some(*status), "{args:?}: {}", run.stderr());
        for word in *words {
            assert!(run.stdout().contains(word), "{args:?}: no {word} in\n{}", run.stdout());
        }
        machine = run.machine.again();
    }
    assert!(std::fs::read_to_string(machine.at("page.html")).expect("a page").contains("unknown-tool-x"));
    let mode = std::fs::metadata(machine.at("page.html")).expect("a page").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "the page has what the records have");
    let run = machine.args(["audit", "show", "20"]).run();
    assert!(run.status == Some(2) && run.stderr().contains(&id), "{}", run.stderr());
    machine = run.machine.again();
    let day = gsh::audit::keep::days(&folder(&machine)).remove(0);
    let text = std::fs::read_to_string(&day).expect("records");
    std::fs::write(&day, text.replace("unknown-tool-x --now", "unknown-tool-x --not")).expect("changed");
    let run = machine.args(["audit", "verify"]).run();
    assert_eq!(run.status, Some(1), "{}", run.stdout());
    assert!(run.stdout().contains("was changed"), "{}", run.stdout());
}

/// What runs beneath gsh may look at its own session's records, one at a time, and at nothing else.
#[test]
fn beneath_gsh_only_ones_own_session_is_shown() {
    let machine = Gsh::new(GSH).env("GSH_SESSION", "other");
    let machine = machine.args(["-c", "ls"]).run().machine.again().env("GSH_SESSION", "own");
    for (text, status, says) in [
        (format!("true && {GSH} audit show own"), 0, "session own"),
        (format!("true && {GSH} audit show other"), 2, "no session of this name"),
        (format!("true && {GSH} audit stats"), 2, "beneath gsh only"),
    ] {
        let fresh = Gsh::new(GSH);
        drop(fresh);
        let run = start_in(&machine, &text);
        let told =
            format!("{}{}", String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
        assert_eq!(run.status.code(), Some(status), "{text}: {told}");
        assert!(told.contains(says), "{text}: {told}");
    }
}

fn start_in(machine: &Gsh, text: &str) -> std::process::Output {
    // A link of another name: the floor knows `gsh audit stats`, and here the verb's own guard is meant.
    let link = machine.at("project/tool");
    let _ = std::os::unix::fs::symlink(GSH, &link);
    let text = text.replace(GSH, "./tool");
    Command::new(GSH)
        .args(["--yolo", "-c", &text])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", machine.at("home"))
        .env("XDG_STATE_HOME", machine.at("home/.local/state"))
        .env("GSH_SESSION", "own")
        .current_dir(machine.at("project"))
        .output()
        .expect("gsh starts")
}

#[test]
fn a_simulation_counts_and_proposes() {
    let mut lines = Vec::new();
    for number in 0..6 {
        for text in ["ls src".to_owned(), format!("frob build --level {number}"), "frob publish".to_owned()] {
            let call =
                serde_json::json!({ "type": "tool_use", "name": "Bash", "input": { "command": text } });
            lines.push(
                serde_json::json!({ "type": "assistant", "message": { "content": [call] } }).to_string(),
            );
        }
    }
    lines.push(serde_json::json!({ "name": "Bash", "input": { "command": "gsh-canary-deny" } }).to_string());
    let table = "[programs.frob]\nsource = \"frob 1\"\narity = 2\noptions = '''\n--level=unexplained\n'''\n";
    let machine = Gsh::new(GSH).config(table).project_file("t.jsonl", &lines.join("\n"));
    let run = machine.args(["simulate", "t.jsonl", "--suggest", "--json"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let told: Value = serde_json::from_str(&run.stdout()).expect("one object");
    assert_eq!((&told["commands"], &told["refused"]), (&Value::from(19), &Value::from(1)), "{told}");
    assert_eq!(told["allowed"], 6, "{told}");
    assert!(run.records().is_empty(), "nothing runs and nothing is recorded");
    let proposals = told["proposals"].as_array().expect("proposals");
    assert!(!proposals.is_empty(), "{told}");
    let covered: u64 = proposals.iter().filter_map(|each| each["covers"].as_u64()).sum();
    assert_eq!(Some(covered), told["asked"].as_u64(), "{told}");
    let shown = run.machine.again().args(["simulate", "t.jsonl"]).run();
    assert!(shown.stdout().contains("it would ask at"), "{}", shown.stdout());
}

/// A transcript with twelve calls that ask.
fn transcript() -> Gsh {
    let call = |text: String| serde_json::json!({ "name": "Bash", "input": { "command": text } }).to_string();
    let lines: Vec<String> = (0..6)
        .flat_map(|n| [call(format!("frob build --level {n}")), call("frob publish".to_owned())])
        .collect();
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let table = "[programs.frob]\nsource = \"frob 1\"\narity = 2\noptions = '''\n--level=unexplained\n'''\n";
    let gsh = Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n{table}"));
    gsh.project_file("t.jsonl", &lines.join("\n"))
}

#[test]
fn a_person_chooses_among_the_proposals() {
    let gsh = transcript();
    let file = gsh.at("home/.config/gsh/config.toml");
    let before = std::fs::read_to_string(&file).expect("read");
    for (keys, shown, adds) in [
        ("\n", "nothing is added", false),
        ("9\n", "no number of the list", false),
        ("1\n", "added to", true),
    ] {
        let mut screen = gsh.beside(&["simulate", "t.jsonl", "--suggest", "--add"]);
        screen.wait_for("Which of them");
        screen.type_keys(keys);
        screen.wait_for(shown);
        screen.wait();
        let after = std::fs::read_to_string(&file).expect("read");
        assert_eq!(after != before, adds, "{keys:?}: {after}");
        if adds {
            screen.wait_for("it would ask at 50.0 %");
            assert!(after.contains("lifts"), "{after}");
        }
    }
    // Nobody but a person adds any.
    let run = gsh.args(["simulate", "t.jsonl", "--suggest", "--add"]).stdin("1\n").run();
    assert_eq!(run.status, Some(2), "{}", run.stdout());
}

/// A file that is not there is no configuration to compare with.
#[test]
fn what_is_compared_with_has_to_be_there() {
    let run = transcript().args(["simulate", "t.jsonl", "--config", "none.toml"]).run();
    assert_eq!(run.status, Some(2), "{}", run.stdout());
    assert!(run.stderr().contains("none.toml: no such file"), "{}", run.stderr());
}

/// Before and after an import, in one step; nothing is written.
#[test]
fn an_import_is_simulated_before_it_is_made() {
    let gsh = transcript();
    let settings = gsh.at("home/.claude/settings.json");
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("made");
    let rules = r#"{"permissions":{"allow":["Bash(frob build:*)"],"deny":["Bash(frob publish)"]}}"#;
    std::fs::write(settings, rules).expect("written");
    let config = std::fs::read_to_string(gsh.at("home/.config/gsh/config.toml")).expect("read");
    let run = gsh.args(["simulate", "t.jsonl", "--import", "claude"]).run();
    assert!(run.stdout().contains("(12 → 0 asked, 0 → 6 refused)"), "{}{}", run.stdout(), run.stderr());
    assert_eq!(std::fs::read_to_string(run.at("home/.config/gsh/config.toml")).expect("read"), config);
}
