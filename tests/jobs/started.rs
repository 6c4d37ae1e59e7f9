//! Jobs that are started as such, and what is sent to them. Every text is harmless.

use std::time::{Duration, Instant};

use super::{is_alive, pids, wait_until};
use crate::common::machine::{Gsh, PATIENCE, records};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// One more call on a machine: its status, output and errors.
fn told(gsh: &Gsh, args: &[&str]) -> (i32, String, String) {
    let output = gsh.detached(args).output().expect("its end");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

fn logged(gsh: &Gsh, id: &str, text: &str) {
    let begun = Instant::now();
    loop {
        let log = told(gsh, &["jobs", "log", id]).1;
        if log.contains(text) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "no {text:?} in the log: {log:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Everything that starts is allowed, and what is sent where the rules say so.
const ALLOWS: &str = "[permissions.\"process.background\"]\n\"*\" = \"allow\"\n\"stdin:asks*\" = \"ask\"\n\
                      [permissions.\"process.execute\"]\n\"*\" = \"allow\"\n";

#[test]
fn a_job_that_is_started_is_one_at_once() {
    type Row<'a> = (&'a [&'a str], &'a str, bool);
    let table: [Row<'_>; 4] = [
        (&["jobs", "start", "--", "cat"], "cat", false),
        (&["jobs", "start", "--pty", "--name", "it", "--", "cat", "-A"], "cat -A", true),
        (&["jobs", "start", "-c", "cat | cat"], "cat | cat", false),
        (&["jobs", "start", "--", "sleep", "8"], "sleep 8", false),
    ];
    for (args, command, terminal) in table {
        let gsh = Gsh::new(GSH).config(ALLOWS);
        let args: Vec<&str> = ["jobs", "--json"].iter().chain(&args[1..]).copied().collect();
        let (status, printed, errors) = told(&gsh, &args);
        assert_eq!(status, 0, "{args:?}: {errors}");
        let job: serde_json::Value = serde_json::from_str(&printed).expect("JSON");
        assert_eq!(
            (&job["id"], &job["command"], &job["reason"], &job["terminal"], &job["input"]),
            (&1.into(), &command.into(), &"started".into(), &terminal.into(), &true.into()),
            "{job}"
        );
        let closed = records(&gsh.at("home/.local/state/gsh/audit")).pop().expect("a closing line");
        assert_eq!(closed["job"], 1, "{closed}");
        let pids = pids(&job);
        assert_eq!(told(&gsh, &["jobs", "stop", "1"]).0, 0, "{args:?}");
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{args:?}");
    }
}

#[test]
fn a_job_that_ends_at_once_is_still_to_be_looked_at() {
    let gsh = Gsh::new(GSH).config(ALLOWS);
    assert_eq!(told(&gsh, &["jobs", "start", "-c", "echo out; echo err >&2; exit 7"]).1, "1\n");
    assert_eq!(told(&gsh, &["jobs", "wait", "1"]).0, 7);
    assert_eq!(told(&gsh, &["jobs", "log", "1"]).1, "out\nerr\n");
    let log: serde_json::Value =
        serde_json::from_str(&told(&gsh, &["jobs", "log", "1", "--json"]).1).expect("JSON");
    assert_eq!(log["log"], "out\nerr\n");
    let (status, printed, _) = told(&gsh, &["jobs", "start", "--", "gsh-test-no-such-program"]);
    assert_eq!((status, printed.as_str()), (0, "2\n"));
    assert_eq!(told(&gsh, &["jobs", "wait", "2"]).0, 127);
    assert_eq!(told(&gsh, &["jobs", "clean", "--json"]).1, "[1,2]\n");
    assert_eq!(std::fs::read_dir(gsh.at("home/.local/state/gsh/jobs")).expect("a folder").count(), 0);
}

#[test]
fn a_start_is_decided_as_something_that_stays() {
    let execute = "[permissions.\"process.execute\"]\n\"*\" = \"allow\"\n";
    for (config, word, part) in [
        ("", "cat", "needs the user's approval"),
        (execute, "cat", "it keeps running after the call"),
        (ALLOWS, "gsh-canary-deny", "This is never done"),
    ] {
        let gsh = Gsh::new(GSH).config(config);
        let (status, printed, errors) = told(&gsh, &["jobs", "start", "--", word]);
        assert_eq!((status, printed.as_str()), (126, ""), "{word}: {errors}");
        assert!(errors.contains(part), "{word}: {errors}");
        assert_eq!(told(&gsh, &["jobs"]).1, "no jobs\n");
    }
}

#[test]
fn what_is_sent_is_read_and_decided() {
    let gsh = Gsh::new(GSH).config(ALLOWS).project_file("asks", "#!/bin/bash\ncat\n");
    for (args, id) in [
        (&["jobs", "start", "--name", "data", "--", "cat"][..], "1\n"),
        (&["jobs", "start", "--name", "shell", "--", "bash", "--norc"], "2\n"),
        (&["jobs", "start", "--pty", "--name", "tty", "--", "bash", "--norc"], "3\n"),
    ] {
        assert_eq!(told(&gsh, args).1, id, "{args:?}");
    }
    let sent: [(&str, &[&str], i32, &str); 9] = [
        ("data", &["any", "text; gsh-canary-deny"], 0, "any text; gsh-canary-deny\n"),
        ("data", &["-n", "--", "-x"], 0, "-n -- -x\n"),
        ("shell", &["echo $((40 + 2))"], 0, "42\n"),
        ("shell", &["gsh-canary-deny x"], 126, ""),
        ("shell", &["cd /; 'gsh-canary'-deny"], 126, ""),
        ("shell", &["echo 'open"], 126, ""),
        ("shell", &["--no-newline", "echo part"], 126, ""),
        ("tty", &["tty"], 0, "/dev/pts/"),
        ("tty", &["gsh-canary-deny"], 126, ""),
    ];
    for (job, text, status, shows) in sent {
        let args: Vec<&str> = if text[0] == "--no-newline" {
            vec!["jobs", "send", "--no-newline", job, text[1]]
        } else {
            ["jobs", "send", job].into_iter().chain(text.iter().copied()).collect()
        };
        let (ended, _, errors) = told(&gsh, &args);
        assert_eq!(ended, status, "{args:?}: {errors}");
        logged(&gsh, job, shows);
    }
    assert!(!told(&gsh, &["jobs", "log", "shell"]).1.contains("canary"));
    let (_, _, errors) = told(&gsh, &["jobs", "send", "tty", "--end"]);
    assert!(errors.contains("its input is a terminal and has no end"), "{errors}");
    assert_eq!(told(&gsh, &["jobs", "send", "data", "--end"]).0, 0);
    assert_eq!(told(&gsh, &["jobs", "wait", "data"]).0, 0);
    let (status, _, errors) = told(&gsh, &["jobs", "send", "data", "more"]);
    assert_eq!((status, errors.as_str()), (1, "gsh: job 1 is over\n"));
    assert_eq!(told(&gsh, &["jobs", "stop", "2", "3"]).0, 0);
}

#[test]
fn what_is_sent_may_need_an_approval() {
    // Only what starts is allowed; what a shell reads asks each time.
    let config = "[permissions.\"process.background\"]\n\"cat\" = \"allow\"\n\"bash *\" = \"allow\"\n\
                  [permissions.\"process.execute\"]\n\"bash *\" = \"allow\"\n";
    let gsh = Gsh::new(GSH).config(config);
    let session = |args: &[&str], name: &str| {
        let output = gsh.detached(args).env("GSH_SESSION", name).output().expect("its end");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert_eq!(session(&["jobs", "start", "--", "cat"], "a").0, Some(0));
    assert_eq!(session(&["jobs", "start", "--", "bash", "--norc"], "a").0, Some(0));
    for (job, name, status, part) in
        [("1", "a", Some(0), ""), ("1", "b", Some(126), "cat"), ("2", "a", Some(126), "keeps running")]
    {
        let (ended, errors) = session(&["jobs", "send", job, "true"], name);
        assert_eq!(ended, status, "{job} {name}: {errors}");
        assert!(errors.contains(part), "{job} {name}: {errors}");
    }
    assert_eq!(told(&gsh, &["jobs", "stop", "1", "2"]).0, 0);
}

#[test]
fn beneath_a_command_a_job_is_started_and_sent_to_but_nobody_sits_down() {
    let text = format!(
        "{GSH} jobs start --name inner -- cat; {GSH} jobs send inner hello; {GSH} jobs attach inner; echo $?"
    );
    let gsh = Gsh::new(GSH);
    let (status, printed, errors) = told(&gsh, &["--yolo", "-c", &text]);
    assert_eq!((status, printed.as_str()), (0, "1\n1\n"), "{errors}");
    assert!(errors.contains("takes a person at a terminal"), "{errors}");
    logged(&gsh, "inner", "hello");
    assert_eq!(told(&gsh, &["jobs", "stop", "inner"]).0, 0);
}

#[test]
fn a_jobs_state_survives_the_end_of_whoever_started_it() {
    let gsh = Gsh::new(GSH).config(ALLOWS);
    // The shell that started it is killed right after; so is one that waits for it.
    let line = format!("{GSH} jobs start --name it -- cat; kill -KILL $$");
    let mut shell = std::process::Command::new("/bin/bash");
    shell.args(["-c", &line]).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", gsh.at("home"));
    shell.env("XDG_STATE_HOME", gsh.at("home/.local/state")).current_dir(gsh.at("project"));
    let output = shell.output().expect("its end");
    assert_eq!(output.stdout, b"1\n", "{}", String::from_utf8_lossy(&output.stderr));
    let list: serde_json::Value = serde_json::from_str(&told(&gsh, &["jobs", "--json"]).1).expect("JSON");
    assert_eq!(list[0]["state"], "running");
    let main = pids(&list[0])[0];
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(main), nix::sys::signal::Signal::SIGKILL)
        .expect("there");
    wait_until("its end is written down", || told(&gsh, &["jobs"]).1.contains("killed (9)"));
}
