//! A reviewer and a person at the same question: the first answer counts, and from the first key on the person's alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gsh::sys::proc::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::server::{Act, Server, says, verdict};
use super::{asks, executable, machine};
use crate::common::machine::{Gsh, Screen};
use crate::jobs::wait_until;

/// A machine whose reviewer races with the person at its terminal.
fn racing(reviewer: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program");
    let top = format!("ask.terminals = [{:?}]", holder.display().to_string());
    // Here somebody may be asked.
    machine(&format!("{reviewer}race = true\n"), &top).env("GSH_NON_INTERACTIVE", "0")
}

fn open(gsh: Gsh) -> Screen {
    let mut screen = gsh.args(["-c", "./work now"]).pty(100, 24);
    screen.wait_for("a reviewer is asked too");
    screen.wait_for("allow once");
    screen
}

/// Past the time in which keys are not taken.
fn let_the_person_read() {
    std::thread::sleep(Duration::from_millis(400));
}

fn settled(screen: &Screen) -> Value {
    let records = screen.records();
    let of = |record: &&Value| {
        record["event"]
            .as_str()
            .is_some_and(|event| matches!(event, "PermissionGranted" | "PermissionDenied"))
    };
    records.iter().rev().find(of).cloned().unwrap_or_else(|| panic!("nothing was settled: {records:#?}"))
}

fn go(screen: &Screen) -> PathBuf {
    screen.at("go")
}

/// A server that answers once the file is there.
fn waiting(folder: &Path, act: Act) -> Server {
    Server::start(&[Act::After(folder.join("go"), Box::new(act))])
}

/// The machine's folder is known only once it is made, and the server's address stands in its configuration.
fn raced(act: Act) -> (Server, Screen) {
    let gsh = racing("url = \"http://127.0.0.1:1/v1\"\nmodel = \"m\"\ntimeout = \"60s\"\n");
    let server = waiting(&gsh.at(""), act);
    let path = gsh.at("home/.config/gsh/config.toml");
    let config = std::fs::read_to_string(&path).expect("read");
    let gsh = gsh.config(&config.replace("http://127.0.0.1:1/v1", &server.url));
    (server, open(gsh))
}

#[test]
fn the_reviewer_may_be_first() {
    for (decision, status) in [("allow", 0), ("deny", 126)] {
        let (server, mut screen) = raced(says(&verdict(decision, "low")));
        wait_until("it is asked", || server.asked().len() == 1);
        std::fs::write(go(&screen), "").expect("written");
        assert_eq!(screen.wait(), status, "{}", screen.text());
        screen.wait_for("the reviewer answered first");
        assert!(screen.is_cooked());
        assert_eq!(screen.at("project/ran").exists(), status == 0);
        let settled = settled(&screen);
        assert_eq!(settled["by"], "reviewer", "{settled}");
        assert_eq!(settled["review"]["verdict"], decision, "{settled}");
    }
}

#[test]
fn from_the_first_key_on_it_is_the_persons() {
    // No key of these answers; what the reviewer would say is not heard any more.
    for (key, answer, status) in [("?", "\t", 0), ("j", "y", 0), ("\r", "y", 0), ("x", "\u{3}", 126)] {
        let (server, mut screen) = raced(says(&verdict(if status == 0 { "deny" } else { "allow" }, "low")));
        wait_until("it is asked", || server.asked().len() == 1);
        let_the_person_read();
        screen.type_keys(key);
        wait_until("nobody waits for it", || server.left() == 1);
        std::fs::write(go(&screen), "").expect("written");
        if key != "?" {
            screen.wait_for("you answer; the reviewer is asked no longer");
        }
        std::thread::sleep(Duration::from_millis(100));
        screen.type_keys(answer);
        if answer == "\t" {
            screen.wait_for("you answer");
            std::thread::sleep(Duration::from_millis(100));
            screen.type_keys("y");
        }
        assert_eq!(screen.wait(), status, "{key:?}: {}", screen.text());
        assert_eq!(screen.at("project/ran").exists(), status == 0, "{key:?}");
        let settled = settled(&screen);
        assert_eq!(settled["by"], "person", "{key:?}: {settled}");
        assert_eq!(settled["review"]["cause"], "cancelled", "{key:?}: {settled}");
        assert_eq!(server.asked().len(), 1);
    }
}

#[test]
fn an_answer_that_settles_nothing_leaves_the_question_open() {
    for (act, said, verdict) in [
        (says(&verdict("allow", "high")), "yet above max_allow_risk", "allow"),
        (Act::Body(500, "broken".to_owned()), "the reviewer gave no answer", "unavailable"),
        (says("I like it."), "the reviewer gave no answer", "unavailable"),
    ] {
        let (server, mut screen) = raced(act);
        wait_until("it is asked", || server.asked().len() == 1);
        std::fs::write(go(&screen), "").expect("written");
        screen.wait_for(said);
        let_the_person_read();
        assert!(!screen.at("project/ran").exists());
        screen.type_keys("y");
        assert_eq!(screen.wait(), 0, "{}", screen.text());
        let settled = settled(&screen);
        assert_eq!((&settled["by"], &settled["review"]["verdict"]), (&"person".into(), &verdict.into()));
    }
}

/// A reviewer that leaves processes behind in every way, and writes down who they are.
fn straying(gsh: &Gsh) {
    let (judge, pids) = (gsh.at("judge"), gsh.at("pids"));
    let script = format!(
        "#!/bin/sh\nsleep 600 & echo $! >> '{0}'\nsetsid sh -c 'echo $$ >> \"{0}\"; exec sleep 600' &\n\
         (setsid sh -c 'echo $$ >> \"{0}\"; exec sleep 600' &)\necho $$ >> '{0}'\nwait\nsleep 600\n",
        pids.display()
    );
    std::fs::write(&judge, script).expect("the judge");
    executable(gsh, "judge");
}

fn strays(folder: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(folder.join("pids")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

fn are_gone(pids: &[i32]) -> bool {
    pids.iter().all(|pid| Process::read(*pid).is_none_or(|process| process.is_dead()))
}

fn with_strays() -> Screen {
    let gsh = racing("program = [\"/no/judge\"]\ntimeout = \"60s\"\n");
    straying(&gsh);
    let path = gsh.at("home/.config/gsh/config.toml");
    let config = std::fs::read_to_string(&path).expect("read");
    let config = config.replace("/no/judge", &gsh.at("judge").to_string_lossy());
    let gsh = gsh.config(&config);
    let screen = open(gsh);
    wait_until("all of it is there", || strays(&screen.at("")).len() == 4);
    screen
}

#[test]
fn a_losing_program_is_ended_with_all_that_it_started() {
    let mut screen = with_strays();
    let pids = strays(&screen.at(""));
    assert!(!are_gone(&pids), "{pids:?}");
    let_the_person_read();
    screen.type_keys("j");
    wait_until("all of it is gone", || are_gone(&pids));
    screen.wait_for("asked no longer");
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
}

#[test]
fn whoever_ends_gsh_ends_the_reviewer() {
    for (signal, name) in
        [(Signal::SIGTERM, "Terminated"), (Signal::SIGHUP, "Hangup"), (Signal::SIGKILL, "Killed")]
    {
        let mut screen = with_strays();
        let pids = strays(&screen.at(""));
        kill(Pid::from_raw(screen.pid()), signal).expect("it runs");
        screen.wait_for_death(name);
        wait_until("all of it is gone", || are_gone(&pids));
        assert!(!screen.at("project/ran").exists());
        if signal != Signal::SIGKILL {
            let settled = settled(&screen);
            assert_eq!(settled["review"]["cause"], "cancelled", "{settled}");
            assert!(screen.is_cooked());
        }
    }
}

#[test]
fn without_a_person_at_the_terminal_the_reviewer_comes_first_as_ever() {
    let server = Server::start(&[says(&verdict("allow", "low"))]);
    let run = super::work(racing(&asks(&server)), "now");
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    assert_eq!(super::settled(&run)["by"], "reviewer");
    // Lines that are read aloud are edited by the terminal, which shows no key before Enter.
    let gsh = racing(&asks(&server));
    let path = gsh.at("home/.config/gsh/config.toml");
    let config = std::fs::read_to_string(&path).expect("read");
    let mut screen =
        gsh.config(&format!("ask.plain = true\n{config}")).args(["-c", "./work now"]).pty(80, 24);
    assert_eq!(screen.wait(), 0, "{}", screen.text());
    assert!(!screen.text().contains("asked too"), "{}", screen.text());
}
