//! What goes on without its caller, on a terminal of gsh's own; and sitting down at it.

use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{GSH, told};
use crate::common::machine::{Gsh, PATIENCE, Screen};
use crate::jobs::{is_alive, pids, wait_until};

/// A command on a person's terminal, on a machine that others can look at.
pub(super) fn at_terminal(gsh: &Gsh, args: &[&str]) -> Screen {
    gsh.beside_of_size(args, 80, 24)
}

pub(super) fn list(gsh: &Gsh) -> Vec<serde_json::Value> {
    let list: serde_json::Value = serde_json::from_str(&told(gsh, &["jobs", "--json"]).1).expect("JSON");
    list.as_array().expect("a list").clone()
}

/// Waits for a text in a job's log.
pub(super) fn logged(gsh: &Gsh, id: &str, text: &str) -> String {
    let begun = Instant::now();
    loop {
        let log = told(gsh, &["jobs", "log", id]).1;
        if log.contains(text) {
            return log;
        }
        assert!(begun.elapsed() < PATIENCE, "no {text:?} in the log: {log:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_limit_makes_a_job_of_a_command_on_a_terminal() {
    let gsh = Gsh::new(GSH);
    let text = "echo before; sleep 1; stty size; echo after; exit 5";
    let mut screen = at_terminal(&gsh, &["--timeout", "300ms", "--yolo", "-c", text]);
    screen.wait_for("gsh: still running as job 1 (gsh jobs log 1)");
    assert_eq!(screen.wait(), 124);
    assert!(screen.text().contains("before") && !screen.text().contains("after"), "{}", screen.text());
    assert!(screen.is_cooked());
    let jobs = list(&gsh);
    assert_eq!((&jobs[0]["reason"], &jobs[0]["terminal"]), (&"limit".into(), &true.into()), "{jobs:?}");
    assert_eq!(told(&gsh, &["jobs", "wait", "1"]).0, 5);
    assert_eq!(told(&gsh, &["jobs", "log", "1"]).1, "24 80\r\nafter\r\n");
    assert!(told(&gsh, &["jobs"]).1.contains("yes  echo before"), "{}", told(&gsh, &["jobs"]).1);
}

/// Ways to leave a process behind, on a terminal.
const LEAVING: [(&str, &str); 8] = [
    ("background", "sleep 8 & echo done"),
    ("nohup", "nohup sleep 8 >/dev/null 2>&1 & echo done"),
    ("nohup, its file", "nohup sleep 8 & echo done"),
    ("setsid", "setsid sleep 8 & echo done"),
    ("double fork", "( (sleep 8; :) & ) ; echo done"),
    (
        "a daemon",
        "perl -MPOSIX -e 'fork && exit; setsid; fork && exit; close STDIN; exec \"sleep\", 8'; echo done",
    ),
    ("interactive", "bash --norc -i -c 'sleep 8 & echo done'"),
    ("closed", "sleep 8 <&- >&- 2>&- & echo done"),
];

#[test]
fn whatever_is_left_behind_on_a_terminal_becomes_a_job() {
    for (name, text) in LEAVING {
        let gsh = Gsh::new(GSH);
        let mut screen = at_terminal(&gsh, &["--yolo", "-c", text]);
        assert_eq!(screen.wait(), 0, "{name}: {}", screen.text());
        screen.wait_for("done");
        assert!(screen.is_cooked(), "{name}");
        let jobs = list(&gsh);
        assert_eq!(jobs.len(), 1, "{name}: {jobs:?}");
        assert_eq!(
            (&jobs[0]["state"], &jobs[0]["reason"]),
            (&"running".into(), &"left-behind".into()),
            "{name}"
        );
        let pids = pids(&jobs[0]);
        assert!(!pids.is_empty(), "{name}");
        assert_eq!(told(&gsh, &["jobs", "stop", "1"]), (0, String::new(), String::new()), "{name}");
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{name}");
    }
}

#[test]
fn later_output_on_a_terminal_goes_to_a_log_that_is_bounded() {
    let gsh = Gsh::new(GSH);
    let text = "(sleep 0.3; for i in {1..300000}; do echo \"this is line number $i of many lines\"; done; echo last) & echo up";
    let mut screen = at_terminal(&gsh, &["--yolo", "-c", text]);
    screen.wait_for("up");
    assert_eq!(screen.wait(), 0);
    assert_eq!(told(&gsh, &["jobs", "wait", "1"]).0, 0);
    let log = gsh.at("home/.local/state/gsh/jobs/1.log");
    let length = |path: &std::path::Path| std::fs::metadata(path).expect("there").len();
    let (now, before) = (length(&log), length(&log.with_extension("log.old")));
    assert!(now < 9 << 20 && before < 9 << 20, "{now} {before}");
    let text = std::fs::read_to_string(&log).expect("text");
    assert!(text.ends_with("line number 300000 of many lines\r\nlast\r\n"), "{:?}", &text[text.len() - 80..]);
}

/// A job that says what is typed, and how large its window is when that changes.
const ECHOES: &str = "trap 'echo told' INT; trap 'stty size' WINCH; echo ready; \
                      while :; do if read -r x; then echo \"<$x>\"; else sleep 0.05; fi; done";

#[test]
fn one_sits_down_at_a_job_one_at_a_time() {
    let gsh = Gsh::new(GSH);
    let begun =
        told(&gsh, &["--yolo", "-c", &format!("{GSH} jobs start --pty --name echo -c \"$0\""), ECHOES]);
    assert_eq!((begun.0, begun.1.as_str()), (0, "1\n"), "{}", begun.2);
    logged(&gsh, "echo", "ready");
    for round in ["one", "two"] {
        let mut screen = gsh.beside_of_size(&["jobs", "attach", "echo"], 70, 20);
        screen.wait_for("gsh: this is job 1, trap");
        assert!(screen.text().contains("^] leaves it, and it goes on"), "{}", screen.text());
        screen.wait_for("ready");
        screen.type_keys(&format!("{round}\r"));
        screen.wait_for(&format!("<{round}>"));
        let mut second = gsh.beside(&["jobs", "attach", "1"]);
        second.wait_for("one at a time");
        assert_eq!(second.wait(), 1);
        // bash says it once it has read a line.
        screen.resize(66, 21);
        crate::terminal::press_until(&mut screen, "\r", "21 66");
        screen.wait_for("21 66");
        screen.type_keys("\x03");
        screen.wait_for("told");
        screen.type_keys("\x1d");
        screen.wait_for("gsh: job 1 goes on");
        assert_eq!(screen.wait(), 0);
        assert!(screen.is_cooked());
    }
    // What was shown to the guest is in the log, once.
    assert_eq!(logged(&gsh, "1", "<two>").matches("<one>").count(), 1);
    assert_eq!(told(&gsh, &["jobs", "stop", "echo"]).0, 0);
    let (status, _, errors) = told(&gsh, &["jobs", "attach", "1"]);
    assert_eq!((status, errors.as_str()), (1, "gsh: job 1 is over\n"));
}

#[test]
fn a_job_that_is_stopped_at_its_terminal_goes_on_when_somebody_sits_down() {
    let gsh = Gsh::new(GSH);
    let text = "echo ready; sleep 1; read -r x; echo \"<$x>\"; read -r y; exit 6";
    let call = format!("{GSH} jobs start --pty -c \"$0\"");
    assert_eq!(told(&gsh, &["--yolo", "-c", &call, text]).0, 0);
    logged(&gsh, "1", "ready");
    let mut screen = gsh.beside(&["jobs", "attach", "1"]);
    screen.wait_for("leaves it");
    screen.wait_for("ready");
    screen.type_keys("\x1a");
    screen.wait_for("gsh: job 1 is stopped; `gsh jobs attach 1` continues it");
    assert_eq!(screen.wait(), 0);
    assert!(screen.is_cooked());
    let mut screen = gsh.beside(&["jobs", "attach", "1"]);
    screen.wait_for("leaves it");
    screen.type_keys("again\r");
    screen.wait_for("<again>");
    screen.type_keys("\r");
    screen.wait_for("gsh: job 1 is over");
    assert_eq!((screen.wait(), screen.is_cooked()), (0, true));
    assert_eq!(told(&gsh, &["jobs", "wait", "1"]).0, 6);
}

#[test]
fn whoever_sits_at_a_job_and_is_ended_gets_their_terminal_back() {
    for signal in [Signal::SIGKILL, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT] {
        let gsh = Gsh::new(GSH);
        let call = format!("{GSH} jobs start --pty -c \"$0\"");
        assert_eq!(told(&gsh, &["--yolo", "-c", &call, ECHOES]).0, 0);
        logged(&gsh, "1", "ready");
        // A shell keeps the terminal open, as a person's does.
        let line = format!("{GSH} jobs attach 1; echo over; read -r x");
        let mut screen = shell_at(&gsh, &line);
        screen.wait_for("leaves it");
        screen.type_keys("typed\r");
        screen.wait_for("<typed>");
        assert!(!screen.is_cooked());
        kill(Pid::from_raw(child_of(screen.pid())), signal).expect("it runs");
        screen.wait_for("over");
        wait_until("the terminal is as before", || screen.is_cooked());
        assert_eq!(list(&gsh)[0]["state"], "running", "{signal}");
        // And somebody else can sit down.
        let mut next = gsh.beside(&["jobs", "attach", "1"]);
        next.wait_for("leaves it");
        next.type_keys("next\r");
        next.wait_for("<next>");
        next.type_keys("\x1d");
        assert_eq!(next.wait(), 0);
        assert_eq!(told(&gsh, &["jobs", "stop", "1"]).0, 0);
        screen.type_keys("\r");
        screen.wait();
    }
}

/// bash on a terminal, with one line.
pub(super) fn shell_at(gsh: &Gsh, line: &str) -> Screen {
    gsh.program_beside("/bin/bash", &["--norc", "-c", line])
}

/// The one process below another.
pub(super) fn child_of(pid: i32) -> i32 {
    let mut found = None;
    wait_until("it has a child", || {
        found = gsh::sys::tree::below(pid).first().map(|process| process.pid);
        found.is_some()
    });
    found.expect("a child")
}
