//! Nothing of a job is left once it is stopped. Every text is harmless.

use std::process::Command;
use std::time::Duration;

use gsh::sys::proc::Process;

use super::{is_alive, jobs, listed, pids, wait_until, yolo};

/// Every generation starts the next in a session of its own and goes; told to end, it does not.
const CHAIN: &str = "trap '' TERM HUP INT\necho >> beats\nsleep 0.03\n\
    [ \"$1\" -gt 0 ] && setsid bash chain.sh $(( $1 - 1 )) &\nsleep 0.02\n";

#[test]
fn stop_catches_what_forks_away_from_it() {
    let has_groups = gsh::sys::cgroup::Group::new().is_ok();
    if !has_groups {
        eprintln!(
            "SKIPPED: no control group may be made here; only what is stopped before it is killed is tested"
        );
    }
    for word in ["", "control groups"] {
        let gsh = yolo("bash chain.sh 200 & bash chain.sh 200 & trap '' TERM; sleep 0.2; echo up")
            .project_file("chain.sh", CHAIN);
        std::fs::write(gsh.at("fault"), word).expect("what is done without");
        let fault = gsh.at("fault");
        let run = gsh.env("GSH_TEST_FAULT", fault).run();
        assert_eq!(run.stdout(), "up\n", "{}", run.stderr());
        let beats = run.at("project/beats");
        let (run, list) = listed(run);
        let supervisor = supervisor(&list[0]);
        let run = jobs(run, &["stop", "1", "--grace", "200ms"]);
        assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""), "without {word:?}");
        let length = || std::fs::metadata(&beats).expect("beats").len();
        let before = length();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(length(), before, "something of it still runs, without {word:?}");
        assert!(before > 4, "it did run");
        let groups =
            std::fs::read_dir("/sys/fs/cgroup/unified").or_else(|_| std::fs::read_dir("/sys/fs/cgroup"));
        let name = format!("gsh-{supervisor}");
        let left =
            groups.is_ok_and(|mut all| all.any(|each| each.is_ok_and(|each| each.file_name() == *name)));
        assert!(!left, "its control group is removed");
    }
}

/// The process that looks after a job.
fn supervisor(job: &serde_json::Value) -> i32 {
    Process::read(pids(job)[0])
        .map(|process| {
            let above = process.ancestors(8);
            above.iter().find(|each| each.name == "gsh-supervisor").map_or(0, |each| each.pid)
        })
        .unwrap_or(0)
}

/// Everything below a process is moved into one group and ended at once, also what does not mind signals.
#[test]
fn a_control_group_ends_all_that_is_in_it() {
    let Ok(group) = gsh::sys::cgroup::Group::new() else {
        eprintln!("SKIPPED: no control group may be made here");
        return;
    };
    let text = "trap '' TERM HUP INT; (sleep 60; sleep 60) & setsid sleep 60 & wait; sleep 60";
    let mut outer = Command::new("/bin/bash");
    let mut outer = outer.args(["-c", &format!("bash -c \"{text}\" & wait")]).spawn().expect("bash");
    let root = i32::try_from(outer.id()).expect("a number");
    wait_until("all of it runs", || gsh::sys::tree::below(root).len() >= 4);
    let below = gsh::sys::tree::below(root);
    group.end_below(root).expect("all is moved");
    outer.wait().expect("its end");
    wait_until("all is gone", || !below.iter().any(|process| is_alive(process.pid)));
}
