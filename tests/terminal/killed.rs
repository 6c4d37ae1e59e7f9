//! Whoever is killed on a terminal: what is left of the command, and of the person's terminal.

use std::os::fd::OwnedFd;
use std::time::Duration;

use gsh::sys::proc::Process;
use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::adopted::{child_of, list, logged, shell_at};
use super::{GSH, told};
use crate::common::machine::{Gsh, Screen};
use crate::jobs::{is_alive, wait_until};

/// Its own number, and those of what it leaves in the background.
const TREE: &str = "sleep 60 & a=$!; (setsid sleep 60; :) & echo \"pids $$ $a $! end\"; wait; exit 3";

/// gsh below a shell at a terminal, and the numbers that its command showed.
fn running(gsh: &Gsh, text: &str) -> (Screen, i32, Vec<i32>) {
    std::fs::write(gsh.at("project/text"), text).expect("the text");
    let line = format!("{GSH} --yolo -c \"$(cat text)\"; echo \"status $?\"; read -r x");
    let mut screen = shell_at(gsh, &line);
    screen.wait_for(" end");
    let shown = screen.text();
    let words = shown.split_whitespace().skip_while(|word| *word != "pids").skip(1);
    let pids: Vec<i32> = words.map_while(|word| word.parse().ok()).collect();
    assert!(!pids.is_empty(), "{shown}");
    let front = child_of(screen.pid());
    (screen, front, pids)
}

#[test]
fn signals_reach_the_whole_tree_on_a_terminal_and_nothing_is_left() {
    let other = TREE.replace("wait;", "exec sleep 60;");
    let table = [
        (Signal::SIGTERM, TREE),
        (Signal::SIGHUP, TREE),
        (Signal::SIGINT, TREE),
        (Signal::SIGTERM, &other),
        (Signal::SIGQUIT, &other),
    ];
    for (signal, text) in table {
        let gsh = Gsh::new(GSH);
        let (mut screen, front, pids) = running(&gsh, text);
        let name = if text == TREE { "bash" } else { "sleep" };
        wait_until("it is there", || Process::read(pids[0]).is_some_and(|process| process.name == name));
        kill(Pid::from_raw(front), signal).expect("it runs");
        screen.wait_for(&format!("status {}", 128 + signal as i32));
        assert!(screen.is_cooked(), "{signal}");
        screen.type_keys("\r");
        screen.wait();
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{signal}");
        assert_eq!(list(&gsh).len(), 0, "{signal}: no job of what was to end");
    }
}

#[test]
fn a_killed_gsh_gives_the_terminal_back_and_leaves_nothing() {
    let gsh = Gsh::new(GSH);
    let (mut screen, front, pids) = running(&gsh, TREE);
    assert!(!screen.is_cooked());
    kill(Pid::from_raw(front), Signal::SIGKILL).expect("it runs");
    screen.wait_for("status 137");
    wait_until("the terminal is as before", || screen.is_cooked());
    wait_until("the tree is gone", || !pids.iter().any(|pid| is_alive(*pid)));
    screen.type_keys("\r");
    screen.wait();
    assert_eq!(list(&gsh).len(), 0);
}

#[test]
fn a_killed_supervisor_ends_what_runs_on_a_terminal() {
    let gsh = Gsh::new(GSH);
    let (mut screen, _, pids) = running(&gsh, TREE);
    let supervisor = Process::read(pids[0]).expect("the command").parent;
    kill(Pid::from_raw(supervisor), Signal::SIGKILL).expect("it is there");
    screen.wait_for("its supervisor was killed");
    screen.wait_for("status 125");
    assert!(screen.is_cooked());
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    screen.type_keys("\r");
    screen.wait();
}

#[test]
fn a_job_whose_supervisor_is_killed_has_lost_its_terminal() {
    let gsh = Gsh::new(GSH);
    let text = "trap '' HUP TERM; echo \"pids $$\"; sleep 60; sleep 60";
    let call = format!("{GSH} jobs start --pty -c \"$0\"");
    assert_eq!(told(&gsh, &["--yolo", "-c", &call, text]).0, 0);
    let log = logged(&gsh, "1", "\n");
    let main: i32 = log.trim().strip_prefix("pids ").expect("a pid").parse().expect("a number");
    let supervisor = Process::read(main).expect("the command").parent;
    let mut screen = gsh.beside(&["jobs", "attach", "1"]);
    screen.wait_for("leaves it");
    wait_until("it is written down", || !crate::jobs::pids(&list(&gsh)[0]).is_empty());
    kill(Pid::from_raw(supervisor), Signal::SIGKILL).expect("it is there");
    screen.wait_for("gsh: job 1 ");
    assert_eq!((screen.wait(), screen.is_cooked()), (0, true));
    wait_until("it is noticed", || list(&gsh)[0]["state"] == "unsupervised");
    let (status, _, errors) = told(&gsh, &["jobs", "attach", "1"]);
    assert!(status == 1 && errors.contains("has lost its supervisor"), "{errors}");
    assert_eq!(told(&gsh, &["jobs", "stop", "1", "--grace", "100ms"]).0, 0);
    assert!(!is_alive(main));
}

/// gsh as the first program of a terminal that is then closed; the numbers that its command wrote down.
fn closed(gsh: &Gsh, text: &str) -> Vec<i32> {
    let pair = openpty(None, None).expect("a terminal");
    let leader: OwnedFd = pair.master;
    nix::fcntl::fcntl(&leader, nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC)).expect("ours");
    let machine = gsh;
    let mut child = machine.on_with(&pair.slave, &["--yolo", "-c", text]);
    drop(pair.slave);
    let file = gsh.at("project/pids");
    wait_until("it runs", || std::fs::read_to_string(&file).is_ok_and(|text| text.ends_with('\n')));
    let text = std::fs::read_to_string(&file).expect("its numbers");
    drop(leader);
    let _its_end = child.wait().expect("its end");
    text.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect()
}

#[test]
fn a_closed_terminal_keeps_what_bash_keeps() {
    // Who stays, in the order of the numbers: bash at a terminal that is closed keeps the same.
    let table: [(&str, &[bool]); 3] = [
        ("sleep 60 & echo $$ $! >pids; wait", &[false, false]),
        (
            "nohup bash -c '>deaf; exec sleep 60' >/dev/null & until [ -e deaf ]; do sleep 0.01; done; (setsid sleep 60 & echo $$ $! >pids.part); echo $! >>pids.part; \
          mv pids.part pids; wait",
            &[false, true, true],
        ),
        ("trap '' HUP; echo $$ >pids; exec sleep 60", &[true]),
    ];
    for (text, stay) in table {
        let gsh = Gsh::new(GSH);
        let pids = closed(&gsh, text);
        assert_eq!(pids.len(), stay.len(), "{text}");
        wait_until("who does not stay is gone", || {
            pids.iter().zip(stay).all(|(pid, stays)| *stays || !is_alive(*pid))
        });
        std::thread::sleep(Duration::from_millis(50));
        assert!(pids.iter().zip(stay).all(|(pid, stays)| is_alive(*pid) == *stays), "{text}: {pids:?}");
        let jobs = list(&gsh);
        assert_eq!(jobs.len(), usize::from(stay.contains(&true)), "{text}: {jobs:?}");
        if !jobs.is_empty() {
            assert_eq!(told(&gsh, &["jobs", "stop", "1"]).0, 0, "{text}");
        }
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{text}");
    }
}
