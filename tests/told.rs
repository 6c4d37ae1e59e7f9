//! What a record tells beyond the command: who answered, where, in which panel, for how long; by which answer
//! something passes later; what became of it. And in whose time people read it.

use std::time::Duration;

use serde_json::Value;

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
/// An unknown program that no machine has: it ends with 127 where it runs.
const ASKED: &str = "gsh-test-no-such-program --flag";

/// A machine whose terminals are this test's, in a session of its own.
fn machine() -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n")).env("GSH_SESSION", "first")
}

fn answered(gsh: Gsh, keys: &[&str]) -> (Vec<Value>, Gsh) {
    let mut screen = gsh.again().args(["-c", ASKED]).pty(100, 30);
    screen.wait_for("gsh asks: ");
    for key in keys {
        // As a hand does: keys that come at once were typed ahead.
        std::thread::sleep(Duration::from_millis(400));
        screen.type_keys(key);
    }
    screen.wait();
    (screen.records(), screen.into_machine())
}

fn event<'r>(records: &'r [Value], name: &str) -> &'r Value {
    records.iter().rev().find(|record| record["event"] == name).expect("on record")
}

#[test]
fn an_answer_is_on_record_with_who_gave_it_and_where() {
    // keys, event, scope
    for (keys, name, scope) in [
        (&["y"][..], "PermissionGranted", Value::from("once")),
        (&["m", "y"], "PermissionGranted", Value::from("minutes")),
        (&["s", "y"], "PermissionGranted", Value::from("session")),
        (&["n", "\r"], "PermissionDenied", Value::Null),
    ] {
        let (records, _) = answered(machine(), keys);
        let opened = event(&records, "opened");
        let asked = event(&records, "PermissionRequested");
        let told = event(&records, name);
        assert_eq!((&told["by"], &told["panel"]), (&"person".into(), &"terminal".into()), "{told}");
        assert!(told["terminal"].as_str().is_some_and(|at| at.starts_with("/dev/pts/")), "{told}");
        assert!(told["who"].as_str().is_some_and(|who| !who.is_empty()), "{told}");
        assert_eq!(told["scope"], scope, "{told}");
        assert_eq!(told["minutes"].is_u64(), scope == "minutes", "{told}");
        assert_eq!((&asked["id"], &told["id"]), (&opened["id"], &opened["id"]));
        assert_eq!(opened["review"], Value::Null);
        assert!(opened.as_object().is_some_and(|keys| keys.contains_key("review")), "{opened}");
        assert!(opened["configuration"].as_str().is_some_and(|version| version.len() == 16), "{opened}");
        assert!(opened["process"]["pid"].is_u64() && opened["process"]["group"].is_u64(), "{opened}");
    }
}

#[test]
fn what_passes_by_an_answer_names_it() {
    let (records, gsh) = answered(machine(), &["s", "y"]);
    let first = event(&records, "opened")["id"].clone();
    let run = gsh.again().args(["-c", ASKED]).run();
    assert_eq!(run.status, Some(127), "{}", run.stderr());
    let records = run.records();
    let opened = event(&records, "opened");
    let [grant] = opened["grants"].as_array().expect("grants").as_slice() else { panic!("{opened}") };
    assert_eq!((&opened["decided_by"], &grant["id"]), (&"grant".into(), &"g1".into()), "{opened}");
    assert_eq!((&grant["record"], &grant["panel"]), (&first, &"terminal".into()), "{grant}");
    assert!(
        grant["who"].is_string() && grant["terminal"].is_string() && grant["made"].is_string(),
        "{grant}"
    );
    let listed = run.machine.again().args(["grants"]).run();
    let name = first.as_str().expect("a name");
    assert!(listed.stdout().contains(&format!("in terminal about {name}")), "{}", listed.stdout());
}

/// A person reads their own zone's time; data is in UTC.
#[test]
fn people_read_local_times() {
    let run = Gsh::new(GSH).args(["-c", "ls"]).run();
    let time = event(&run.records(), "opened")["time"].as_str().expect("a time").to_owned();
    let moment: jiff::Timestamp = time.parse().expect("a moment");
    let mut gsh = run.machine;
    for (zone, hours) in [("UTC0", 0), ("XYZ-5", 5), ("XYZ+11", -11)] {
        let there = jiff::tz::TimeZone::fixed(jiff::tz::offset(hours)).to_datetime(moment);
        let expected = there.strftime("%Y-%m-%d %H:%M:%S").to_string();
        for args in [&["audit", "tail"][..], &["audit", "show", "20"], &["audit", "search", "ls"]] {
            let run = gsh.again().env("TZ", zone).args(args.iter().copied()).run();
            assert!(run.stdout().contains(&expected), "{zone} {args:?}: {}", run.stdout());
            gsh = run.machine;
        }
        let run = gsh.again().env("TZ", zone).args(["audit", "tail", "--json"]).run();
        assert!(run.stdout().contains(&time), "{zone}: {}", run.stdout());
        gsh = run.machine;
        let day = there.strftime("%Y-%m-%d").to_string();
        for (since, found) in [(day, 1), ("2199-01-01".to_owned(), 0)] {
            let run = gsh.again().env("TZ", zone).args(["audit", "tail", "--since", &since]).run();
            assert_eq!(run.stdout().lines().count(), found, "{zone} {since}: {}", run.stdout());
            gsh = run.machine;
        }
    }
}

/// How a command ended, in the words of the closing line.
#[test]
fn the_closing_line_says_what_became_of_it() {
    for (args, outcome, key) in [
        (&["-c", "ls"][..], "not observed", "how"),
        (&["-c", "gsh-canary-deny"], "not run", "why"),
        (&["--yolo", "-c", "gsh-test-no-such-program"], "ended", "bytes"),
    ] {
        let run = Gsh::new(GSH).args(args.iter().copied()).run();
        let records = run.records();
        let closed = event(&records, "closed");
        assert_eq!(closed["outcome"], outcome, "{args:?}: {closed}");
        assert!(!closed[key].is_null(), "{args:?}: {closed}");
    }
}

/// Of a command that gsh became, and of one that it stayed beside: the process and its group, as the command
/// itself sees them.
#[test]
fn the_closing_line_names_the_commands_own_process() {
    let asks = "echo $$; ps -o pgid= -p $$";
    for (way, stays) in [("exec", false), ("pipes", true)] {
        let gsh = Gsh::new(GSH).config(&format!("[run]\nway = \"{way}\"\n"));
        let run = gsh.args(["--yolo", "-c", asks]).run();
        let records = run.records();
        let (opened, closed) = (event(&records, "opened"), event(&records, "closed"));
        let told = |key: &str| closed["process"][key].as_i64().map(|number| number.to_string());
        let said: Vec<String> = run.stdout().lines().map(|line| line.trim().to_owned()).collect();
        assert_eq!([told("pid"), told("group")].map(Option::unwrap_or_default).as_slice(), said, "{closed}");
        assert_eq!(closed["process"]["pid"] != opened["process"]["pid"], stays, "{opened} {closed}");
        assert_eq!(closed["outcome"], if stays { "ended" } else { "not observed" });
    }
    let run = Gsh::new(GSH).args(["-c", "gsh-canary-deny"]).run();
    assert_eq!(event(&run.records(), "closed")["process"], Value::Null, "nothing ran");
}

/// A person or an agent, or that nobody can tell; by which gsh; and beneath another call which one.
#[test]
fn every_record_says_where_it_comes_from() {
    let origin = |gsh: Gsh| {
        let run = gsh.args(["-c", "ls"]).run();
        event(&run.records(), "opened")["origin"].clone()
    };
    assert_eq!(origin(Gsh::new(GSH).env("GSH_AGENT", "codex")), "agent");
    assert!(["person", "agent", "unknown"].map(Value::from).contains(&origin(Gsh::new(GSH))));
    let run = Gsh::new(GSH)
        .env("GSH_SESSION", "outer")
        .args(["--yolo", "-c", &format!("{GSH} -c pwd; true")])
        .run();
    let records = run.records();
    let opened: Vec<&Value> = records.iter().filter(|record| record["event"] == "opened").collect();
    let [outer, inner] = opened.as_slice() else { panic!("{records:?}") };
    assert_eq!((&inner["above"], &outer["above"]), (&outer["id"], &Value::Null));
    assert_eq!((&inner["session"], &inner["beneath"]), (&"outer".into(), &true.into()));
    assert_eq!(outer["gsh"], env!("CARGO_PKG_VERSION"));
}

/// Bodies stand in a record by length and hash, and of what goes to a file of secrets not even those.
#[test]
fn what_is_written_is_told_by_length_and_hash() {
    let hash = |text: &str| gsh::store::hash(text.as_bytes());
    for (file, is_secret) in
        [("notes.txt", false), (".env", true), ("sub/server.key", true), (".env.example", false)]
    {
        let body = "the body of it\n";
        let gsh = Gsh::new(GSH).args(["-c", &format!("gsh-canary-deny; cat > {file} <<'X'\n{body}X")]);
        let opened = event(&gsh.run().records(), "opened").clone();
        let told = &opened["here_documents"][0];
        assert_eq!(told["sha256"] == hash(body).as_str(), !is_secret, "{file}: {opened}");
        assert_eq!(
            (told["length"] == 15, told["withheld"] == true),
            (!is_secret, is_secret),
            "{file}: {opened}"
        );
        assert!(!opened.to_string().contains("the body"), "{opened}");
        let printed = format!("gsh-canary-deny; echo unguessable-horse > {file}");
        let opened = event(&Gsh::new(GSH).args(["-c", &printed]).run().records(), "opened").clone();
        assert_eq!(!opened.to_string().contains("unguessable-horse"), is_secret, "{file}: {opened}");
        let input = serde_json::json!({ "file_path": format!("/p/{file}"), "content": body });
        let call = serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Write",
            "tool_input": input, "tool_use_id": "t",
        });
        let run = Gsh::new(GSH).args(["hook", "claude"]).stdin(call.to_string()).run();
        let opened = event(&run.records(), "opened").clone();
        assert_eq!(opened["origin"], "agent");
        let given = opened["args"][0].as_str().expect("what it was given");
        assert_eq!(given.contains(&hash(&input.to_string())), !is_secret, "{file}: {given}");
        assert_eq!(given.contains("withheld"), is_secret, "{file}: {given}");
        assert!(!opened.to_string().contains("the body"), "{opened}");
    }
}

/// Off by default; where the user wants it, with what was found and without secrets. A project cannot want it.
#[test]
fn the_debug_log_is_wanted_and_holds_no_secret() {
    let text = "gsh-canary-deny; TOKEN=abcd1234efgh5678 frob --password hunter22x";
    let wanted = "[audit]\ndebug = true\n";
    for (user, project, written) in [("# none\n", "", false), (wanted, "", true), ("# none\n", wanted, false)]
    {
        let mut gsh = Gsh::new(GSH).config(user);
        if !project.is_empty() {
            gsh = gsh.project_file(".gsh/config.toml", project);
        }
        let run = gsh.args(["-c", text]).run();
        let folder = run.at("home/.local/state/gsh/debug");
        let found: Vec<String> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| std::fs::read_to_string(entry.path()).expect("text"))
            .collect();
        assert_eq!(found.len(), usize::from(written), "{user}{project}");
        for text in found {
            let id = event(&run.records(), "opened")["id"].clone();
            let line: Value = serde_json::from_str(text.trim_end()).expect("one line");
            assert_eq!(line["id"], id);
            assert!(line["facts"].as_str().is_some_and(|facts| facts.contains("invocations")), "{line}");
            assert!(!text.contains("abcd1234") && !text.contains("hunter22"), "{text}");
        }
    }
}

/// What comes is printed as it comes, once it is closed; the reader's end is the end.
#[test]
fn records_are_followed() {
    use std::io::{BufRead, BufReader};
    let gsh = Gsh::new(GSH).args(["-c", "pwd"]).run().machine;
    let mut following =
        gsh.detached(["audit", "tail", "-f", "-n", "0", "--json"]).spawn().expect("it starts");
    let mut lines = BufReader::new(following.stdout.take().expect("its output")).lines();
    let (told, heard) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        while let Some(Ok(line)) = lines.next() {
            if told.send(line).is_err() {
                break;
            }
        }
    });
    // It begins where the files end when it starts, which nobody can see: so there is one after another.
    let mut line = None;
    for _ in 0..100 {
        let output = gsh.detached(["-c", "gsh-canary-deny"]).output().expect("it ends");
        assert_eq!(output.status.code(), Some(126));
        line = heard.recv_timeout(Duration::from_millis(500)).ok();
        if line.is_some() {
            break;
        }
    }
    let line: Value = serde_json::from_str(&line.expect("a record")).expect("JSON");
    assert_eq!((&line["verdict"], &line["closed"]["outcome"]), (&"deny".into(), &"not run".into()), "{line}");
    drop(heard);
    following.kill().expect("ended");
    following.wait().expect("its end");
    reading.join().expect("the reader ends");
}

/// On a narrow screen nothing is broken over two lines, and the columns stand below each other; an empty record, an
/// unknown name and a line that is no record are told in words, and without colours where no terminal is.
#[test]
fn the_record_is_readable_on_a_narrow_screen() {
    let gsh = Gsh::new(GSH).env("GSH_SESSION", "work").env("GSH_AGENT", "claude");
    for args in [&["audit"][..], &["audit", "search", "x"], &["audit", "verify"], &["audit", "stats"]] {
        let mut screen = gsh.beside_of_size(args, 60, 30);
        assert_eq!(screen.wait(), 0, "{args:?}");
        screen.wait_for_any(&["no record", "0 records"]);
    }
    let long = format!("gsh-canary-deny {}", "one-word ".repeat(20));
    let gsh = ["ls", "gsh-canary-deny", long.as_str(), "unknown-tool-x --now"]
        .iter()
        .fold(gsh, |gsh, text| gsh.args(["-c", *text]).run().machine.again());
    let mut screen = gsh.beside_of_size(&["audit"], 60, 30);
    screen.wait();
    screen.wait_for("unknown-tool-x");
    let lines: Vec<String> = screen.lines().into_iter().filter(|line| !line.is_empty()).collect();
    assert_eq!(lines.len(), 4, "{}", screen.text());
    for (line, command) in
        lines.iter().zip(["ls", "gsh-canary-deny", "gsh-canary-deny one", "unknown-tool-x"])
    {
        let column = line.find(command).map(|at| line[..at].chars().count());
        assert_eq!(column, Some(28), "{line}");
    }
    assert!(screen.is_coloured());
    let id = event(&screen_records(&gsh), "opened")["id"].as_str().expect("a name").to_owned();
    let mut screen = gsh.beside_of_size(&["audit", "show", &id], 60, 40);
    screen.wait();
    screen.wait_for("closed ");
    let lines = screen.lines();
    assert!(
        lines.iter().all(|line| line.is_empty() || line.get(11..12) == Some(" ")),
        "{}",
        lines.join("\n")
    );
    assert!(
        lines.iter().any(|line| line.contains("nobody: there is no terminal") || line.contains("nobody"))
    );
    let run = gsh.args(["audit", "show", "nothing-of-this-name"]).run();
    assert_eq!((run.status, run.stdout().as_str()), (Some(2), ""), "{}", run.stderr());
    let day = gsh::audit::keep::days(&run.at("home/.local/state/gsh/audit")).remove(0);
    let mut text = std::fs::read_to_string(&day).expect("records");
    text.push_str("no record\n");
    std::fs::write(&day, text).expect("written");
    let run = run.machine.again().args(["audit", "stats"]).run();
    assert!(
        run.stdout().starts_with("4 records, 1 asked") && !run.stdout().contains('\u{1b}'),
        "{}",
        run.stdout()
    );
    assert!(
        run.stdout().contains("floor: canary") && run.stdout().contains("highest: 1 a day"),
        "{}",
        run.stdout()
    );
    assert!(run.stderr().contains("1 line is no record"), "{}", run.stderr());
}

fn screen_records(gsh: &Gsh) -> Vec<Value> {
    crate::common::machine::records(&gsh.at("home/.local/state/gsh/audit"))
}
