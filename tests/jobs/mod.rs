//! Supervised commands and the jobs that they become. Every text is harmless, and whatever it starts ends by
//! itself within seconds.

mod ended;
mod started;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gsh::sys::proc::Process;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::machine::{Gsh, Run};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
/// What a busy machine may take for what takes milliseconds on an idle one.
const SOON: Duration = Duration::from_secs(3);

fn yolo(text: &str) -> Gsh {
    Gsh::new(GSH).args(["--yolo", "-c", text])
}

/// A verb of `gsh jobs` on the machine of a run.
fn jobs(run: Run, args: &[&str]) -> Run {
    run.machine.again().program(GSH).args(["jobs"]).args(args.iter().copied()).run()
}

fn listed(run: Run) -> (Run, Vec<serde_json::Value>) {
    let run = jobs(run, &["--json"]);
    let list: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    let list = list.as_array().expect("a list").clone();
    (run, list)
}

pub(crate) fn is_alive(pid: i32) -> bool {
    Process::read(pid).is_some_and(|process| !process.is_dead())
}

pub(crate) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < SOON * 3, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn pids(job: &serde_json::Value) -> Vec<i32> {
    let list = job["pids"].as_array().expect("a list");
    list.iter().map(|pid| pid.as_i64().and_then(|pid| pid.try_into().ok()).expect("a number")).collect()
}

/// Ways to leave a process behind.
const LEAVING: [(&str, &str); 15] = [
    ("background", "sleep 8 & echo done"),
    ("redirected", "sleep 8 >/dev/null 2>&1 & echo done"),
    ("setsid", "setsid sleep 8 & echo done"),
    ("setsid -f", "setsid -f sleep 8; echo done"),
    ("nohup", "nohup sleep 8 2>/dev/null & echo done"),
    ("subshell", "(sleep 8 &); echo done"),
    ("double fork", "( (sleep 8; :) & ) ; echo done"),
    ("disown", "sleep 8 & disown; echo done"),
    ("set -m", "set -m; sleep 8 & echo done"),
    ("pipeline", "sleep 8 | cat & echo done"),
    ("interactive", "bash --norc -i -c 'sleep 8 & echo done' 2>/dev/null"),
    // gsh does not read it, but may run a script that has it.
    ("coproc", "bash coproc.sh"),
    ("env -i", "env -i /usr/bin/setsid -f /bin/sleep 8; echo done"),
    ("a language", "perl -e 'fork or exec \"sleep\", 8'; echo done"),
    ("closed", "sleep 8 <&- >&- 2>&- & echo done"),
];

#[test]
fn whatever_is_left_behind_becomes_a_job_and_keeps_nobody() {
    for (name, text) in LEAVING {
        let begun = Instant::now();
        let run = yolo(text).project_file("coproc.sh", "coproc sleep 8\necho done\n").run();
        assert!(begun.elapsed() < SOON, "{name}: its caller was kept for {:?}", begun.elapsed());
        assert_eq!(
            (run.status, run.stdout().as_str(), run.stderr().as_str()),
            (Some(0), "done\n", ""),
            "{name}"
        );
        let (run, list) = listed(run);
        assert_eq!(list.len(), 1, "{name}: {list:?}");
        assert_eq!(
            (&list[0]["state"], &list[0]["reason"]),
            (&"running".into(), &"left-behind".into()),
            "{name}"
        );
        let pids = pids(&list[0]);
        let sleeps = |pid: &&i32| Process::read(**pid).is_some_and(|process| process.name == "sleep");
        assert_eq!(pids.iter().filter(sleeps).count(), 1, "{name}: {list:?}");
        let run = jobs(run, &["stop", "1"]);
        assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""), "{name}");
        assert!(!pids.iter().any(|pid| is_alive(*pid)), "{name}");
        let (_, list) = listed(run);
        assert_eq!(list[0]["state"], "ended", "{name}");
    }
}

#[test]
fn jobs_of_a_gsh_beneath_are_one_each_and_its_sessions() {
    let inner = format!("{GSH} -c 'sleep 8 & echo in'; sleep 8 & echo out; {GSH} jobs --json");
    let run = yolo(&inner).run();
    let mut lines = run.stdout();
    let seen = lines.split_off("in\nout\n".len());
    assert_eq!(lines, "in\nout\n", "{}", run.stderr());
    // Beneath, the session's own are seen: that of the inner gsh, which the outer one has not let go yet.
    let seen: serde_json::Value = serde_json::from_str(&seen).expect("JSON");
    assert_eq!(seen.as_array().map(Vec::len), Some(1), "{seen}");
    let (run, list) = listed(run);
    assert_eq!(list.len(), 2, "{list:?}");
    assert_eq!(list[0]["session"], list[1]["session"]);
    // Another session's are not seen there.
    let record = run.at("home/.local/state/gsh/jobs/1.json");
    let text = std::fs::read_to_string(&record).expect("a record");
    let session = format!("\"session\":{}", list[0]["session"]);
    std::fs::write(&record, text.replace(&session, "\"session\":\"another\"")).expect("changed");
    let run =
        run.machine.again().args(["--yolo", "-c", &format!("{GSH} jobs stop 1; {GSH} jobs --json")]).run();
    assert!(run.stderr().contains("not this session's"), "{}", run.stderr());
    assert!(!run.stdout().contains("\"id\":1,"), "{}", run.stdout());
    assert_eq!(jobs(run, &["stop", "1", "2"]).status, Some(0));
}

#[test]
fn what_a_job_runs_is_beneath_its_call() {
    // The rule of the outer call holds for the inner one, though the outer gsh is gone by then.
    let later = format!("sleep 0.6\n{GSH} -c 'gsh-test-unknown x'\n");
    let args = ["--yolo", "--deny", "Bash(gsh-test-unknown:*)", "-c", "bash later.sh & echo out"];
    let run = Gsh::new(GSH).project_file("later.sh", &later).args(args).run();
    assert_eq!(run.stdout(), "out\n", "{}", run.stderr());
    let run = jobs(run, &["log", "-f", "1"]);
    assert!(run.stdout().contains("refused by policy: gsh-test-unknown x"), "{}", run.stdout());
}

#[test]
fn later_output_goes_to_the_log() {
    let run = yolo("(sleep 0.5; echo late; echo later >&2) & echo now").run();
    assert_eq!((run.stdout().as_str(), run.stderr().as_str()), ("now\n", ""));
    let run = jobs(run, &["log", "-f", "1"]);
    assert_eq!(run.stdout(), "late\nlater\n");
    let run = jobs(run, &["wait", "1"]);
    assert_eq!(run.status, Some(0));
    let run = jobs(run, &["clean", "--json"]);
    assert_eq!(run.stdout(), "[1]\n");
    assert_eq!(jobs(run, &[]).stdout(), "no jobs\n");
}

#[test]
fn output_of_a_process_substitution_still_arrives() {
    for _ in 0..5 {
        let run = yolo("echo one > >(sleep 0.01; cat; echo two)").run();
        assert_eq!((run.status, run.stdout().as_str()), (Some(0), "one\ntwo\n"));
        assert_eq!(listed(run).1.len(), 0);
    }
}

#[test]
fn a_limit_makes_a_job_of_a_command() {
    let text = "echo before; sleep 1; echo after; exit 5";
    type Given = fn(Gsh) -> Gsh;
    let table: [(Given, i32); 3] = [
        (|gsh| gsh.args(["--timeout", "200ms"]), 124),
        (|gsh| gsh.env("GSH_TIMEOUT", "0.2"), 124),
        (|gsh| gsh.config("[run]\ntimeout = \"200ms\"\ntimeout_status = 99\n"), 99),
    ];
    for (given, status) in table {
        let run = given(Gsh::new(GSH)).args(["--yolo", "-c", text]).run();
        assert_eq!((run.status, run.stdout().as_str()), (Some(status), "before\n"));
        assert_eq!(run.stderr(), "gsh: still running as job 1 (gsh jobs log 1)\n");
        let closed = run.records().pop().expect("a closing line");
        assert_eq!((&closed["outcome"], &closed["job"]), (&"limited".into(), &1.into()), "{closed}");
        assert_eq!(closed["bytes"], serde_json::json!([7, 0]));
        let run = jobs(run, &["wait", "1"]);
        assert_eq!(run.status, Some(5), "{}", run.stderr());
        assert_eq!(jobs(run, &["log", "1"]).stdout(), "after\n");
    }
    let run = Gsh::new(GSH).args(["--timeout", "20", "--yolo", "-c", "echo quick; exit 3"]).run();
    assert_eq!((run.status, run.stdout().as_str(), run.stderr().as_str()), (Some(3), "quick\n", ""));
    let run = Gsh::new(GSH).env("GSH_TIMEOUT", "soon").args(["-c", "echo x"]).run();
    assert_eq!(run.status, Some(2), "{}", run.stderr());
}

#[test]
fn without_a_place_for_jobs_a_limit_ends_the_command() {
    let gsh = Gsh::new(GSH).args(["--timeout", "200ms", "--yolo", "-c", "echo $$; sleep 8"]);
    std::fs::create_dir_all(gsh.at("home/.local/state/gsh")).expect("the folder");
    std::fs::write(gsh.at("home/.local/state/gsh/jobs"), "").expect("a file in its place");
    let run = gsh.run();
    assert_eq!(run.status, Some(124));
    assert!(run.stderr().contains("ended at its time limit"), "{}", run.stderr());
    assert!(!is_alive(run.stdout().trim().parse().expect("a pid")));
}

/// gsh in a group of its own, which can be stopped and killed.
struct Started {
    child: Child,
    machine: Gsh,
    /// What it printed first: numbers of processes.
    pids: Vec<i32>,
    output: BufReader<std::process::ChildStdout>,
}

fn started(text: &str) -> Started {
    let machine = Gsh::new(GSH);
    let mut child = Command::new(GSH)
        .args(["--yolo", "-c", text])
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", machine.at("home"))
        .current_dir(machine.at("project"))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("gsh starts");
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    let pids = line.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect();
    Started { child, machine, pids, output }
}

impl Started {
    fn tell(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a number");
        kill(Pid::from_raw(pid), signal).expect("it is there");
    }

    fn all_gone(&self) -> bool {
        !self.pids.iter().any(|pid| is_alive(*pid))
    }
}

/// Its own number, its parent's, and those of what it leaves in the background.
const TREE: &str = "sleep 8 & a=$!; (setsid sleep 8; :) & echo $$ $a $!; wait; exit 3";

#[test]
fn signals_reach_the_whole_tree_and_nothing_is_left() {
    // bash ignores SIGQUIT, always; what it becomes does not.
    let other = TREE.replace("wait;", "exec sleep 8;");
    for (signal, tree) in [
        (Signal::SIGTERM, TREE),
        (Signal::SIGHUP, TREE),
        (Signal::SIGINT, TREE),
        (Signal::SIGTERM, &other),
        (Signal::SIGQUIT, &other),
    ] {
        let mut gsh = started(tree);
        let main = gsh.pids[0];
        let name = if tree == TREE { "bash" } else { "sleep" };
        wait_until("it is there", || Process::read(main).is_some_and(|process| process.name == name));
        assert_eq!(gsh.pids.len(), 3);
        gsh.tell(signal);
        let status = gsh.child.wait().expect("its end");
        assert_eq!(status.signal(), Some(signal as i32), "{signal}: {status:?}");
        assert!(gsh.all_gone(), "{signal}");
        let (_, list) = listed(gsh.machine.program(GSH).args(["--version"]).run());
        assert_eq!(list.len(), 0, "{signal}: no job of what was to end");
    }
}

#[test]
fn a_command_that_handles_a_signal_goes_on() {
    let mut gsh = started("trap 'echo caught; exit 4' TERM; sleep 8 & echo $$; wait");
    gsh.tell(Signal::SIGTERM);
    let mut rest = String::new();
    gsh.output.read_to_string(&mut rest).expect("its output");
    assert_eq!((rest.as_str(), gsh.child.wait().expect("its end").code()), ("caught\n", Some(4)));
    let mut gsh = started("trap 'echo usr; exit 6' USR1; sleep 8 >/dev/null & echo $$; wait");
    gsh.tell(Signal::SIGUSR1);
    assert_eq!(gsh.child.wait().expect("its end").code(), Some(6));
    let run = gsh.machine.program(GSH).args(["jobs", "stop", "1"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
}

#[test]
fn a_stopped_gsh_stops_its_command() {
    let mut gsh =
        started("echo $$; read -t 0.5 < <(sleep 8) ; for i in {1..20}; do sleep 0.05; done; exit 7");
    let main = gsh.pids[0];
    let state = |pid| Process::read(pid).map(|process| process.state);
    gsh.tell(Signal::SIGTSTP);
    wait_until("the command stops", || state(main) == Some('T'));
    let own = i32::try_from(gsh.child.id()).expect("a number");
    wait_until("gsh stops", || state(own) == Some('T'));
    gsh.tell(Signal::SIGCONT);
    let status = gsh.child.wait().expect("its end");
    assert_eq!(status.code(), Some(7), "{status:?}");
    let run = gsh.machine.program(GSH).args(["jobs", "stop", "1"]).run();
    assert!(matches!(run.status, Some(0 | 1)));
}

#[test]
fn a_killed_gsh_leaves_nothing_running() {
    let mut gsh = started(TREE);
    gsh.tell(Signal::SIGKILL);
    assert_eq!(gsh.child.wait().expect("its end").signal(), Some(9));
    wait_until("the tree is gone", || gsh.all_gone());
    // And the pipe ends, so that nobody waits.
    let mut rest = String::new();
    gsh.output.read_to_string(&mut rest).expect("the end");
}

#[test]
fn a_killed_supervisor_leaves_nothing_running() {
    let mut gsh = started("sleep 8 & echo $$ $!; wait");
    let supervisor = Process::read(gsh.pids[0]).expect("the command").parent;
    assert_ne!(u32::try_from(supervisor), Ok(gsh.child.id()));
    kill(Pid::from_raw(supervisor), Signal::SIGKILL).expect("it is there");
    let status = gsh.child.wait().expect("its end");
    let mut said = String::new();
    gsh.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("its end");
    assert_eq!(status.code(), Some(125), "{said}");
    assert!(said.starts_with("gsh: its supervisor was killed"), "{said}");
    assert!(gsh.all_gone());
}

#[test]
fn a_job_without_its_supervisor_can_still_be_stopped() {
    let (run, list) = listed(yolo("(trap '' TERM; sleep 8; sleep 8) >/dev/null 2>&1 & echo up").run());
    let pids = pids(&list[0]);
    let supervisor = Process::read(pids[0]).expect("it runs").parent;
    kill(Pid::from_raw(supervisor), Signal::SIGKILL).expect("it is there");
    wait_until("it is gone", || !is_alive(supervisor));
    let (run, list) = listed(run);
    assert_eq!(list[0]["state"], "unsupervised", "{list:?}");
    let run = jobs(run, &["stop", "1", "--grace", "100ms"]);
    assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""));
    assert!(!pids.iter().any(|pid| is_alive(*pid)));
    assert_eq!(listed(run).1[0]["state"], "ended");
}

#[test]
fn after_a_restart_of_the_machine_jobs_are_lost() {
    let (run, list) = listed(yolo("sleep 8 >/dev/null & echo up").run());
    let pid = pids(&list[0])[0];
    let record = run.at("home/.local/state/gsh/jobs/1.json");
    let text = std::fs::read_to_string(&record).expect("a record");
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a name");
    std::fs::write(&record, text.replace(boot.trim(), "an-earlier-one")).expect("changed");
    let (run, list) = listed(run);
    assert_eq!((&list[0]["state"], &list[0]["pids"]), (&"lost".into(), &serde_json::json!([])));
    assert!(is_alive(pid), "nothing is done to a process that only has the number");
    std::fs::write(&record, text).expect("changed back");
    assert_eq!(jobs(run, &["stop", "1"]).status, Some(0));
}

#[test]
fn a_supervisor_holds_nothing_of_the_callers() {
    let (run, list) = listed(yolo("sleep 8 >/dev/null 2>&1 & echo up").run());
    let supervisor = Process::read(pids(&list[0])[0]).expect("it runs").parent;
    let held: Vec<PathBuf> = std::fs::read_dir(format!("/proc/{supervisor}/fd"))
        .expect("its descriptors")
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .collect();
    let fine = |path: &PathBuf| {
        let text = path.to_string_lossy().into_owned();
        text == "/dev/null" || text.starts_with("anon_inode:") || text.ends_with("/jobs/1.log")
    };
    // Its own end of the command's pipe ends with the last writer; the sleep is none.
    assert!(held.iter().all(fine), "{held:?}");
    let folder = std::fs::read_link(format!("/proc/{supervisor}/cwd")).expect("its folder");
    assert_eq!(folder, PathBuf::from("/"));
    assert_eq!(jobs(run, &["stop", "1"]).status, Some(0));
}

#[test]
fn streams_arrive_whole_and_in_order() {
    // An outer bash makes the pipes: two descriptors of one pipe, a reader that goes, a file.
    let both = "for i in {1..300}; do echo o$i; echo e$i >&2; done";
    let table = [
        (format!("\"$0\" --yolo -c '{both}; true &' 2>&1"), both.replace(" >&2", "")),
        (
            "\"$0\" --yolo -c 'head -c 30000000 /dev/zero; true &' | wc -c".to_owned(),
            "echo 30000000".to_owned(),
        ),
        (
            "\"$0\" --yolo -c 'while :; do echo y; done; true &' | head -n 2; echo ${PIPESTATUS[0]}"
                .to_owned(),
            "printf 'y\\ny\\n141\\n'".to_owned(),
        ),
        (
            "\"$0\" --yolo -c 'test -f /dev/stdout && echo file; true &' > f; cat f".to_owned(),
            "echo file".to_owned(),
        ),
        (
            "\"$0\" --yolo -c 'seq 1 200000; true &' | (sleep 0.3; sha256sum)".to_owned(),
            "seq 1 200000 | sha256sum".to_owned(),
        ),
    ];
    for (text, same) in table {
        let run = Gsh::new("/bin/bash").args(["-c", &text, GSH]).run();
        let bash = Command::new("/bin/bash").args(["-c", &same]).output().expect("bash");
        assert_eq!(run.stdout(), String::from_utf8_lossy(&bash.stdout), "{text}: {}", run.stderr());
    }
}

#[test]
fn verbs_say_what_they_cannot_do() {
    let run = yolo("sleep 8 & echo up").run();
    for (args, status, part) in [
        (&["log", "7"][..], 1, "there is no job 7"),
        (&["log", "web"], 1, "there is no job of the name web"),
        (&["attach", "1"], 1, "no terminal"),
        (&["send", "1", "text"], 1, "takes no text"),
        (&["start"], 2, "required"),
        (&["start", "--name", "7", "--", "cat"], 2, "not a name"),
        (&["wait", "1", "--timeout", "50ms"], 124, ""),
        (&["stop"], 2, "required"),
    ] {
        let machine = Gsh::new(GSH).env("XDG_STATE_HOME", run.at("home/.local/state"));
        let run = machine.args(["jobs"]).args(args.iter().copied()).run();
        assert_eq!(run.status, Some(status), "{args:?}: {}", run.stderr());
        assert!(run.stderr().contains(part), "{args:?}: {}", run.stderr());
    }
    assert_eq!(jobs(run, &["stop", "1"]).status, Some(0));
}
