//! Faults that tools of this kind have had in running commands, each as what must be seen here instead. Every
//! text is harmless, and whatever it starts ends by itself within seconds.
//!
//! What is left behind, signals, streams under load and killed callers are in `jobs.rs`; hundreds of scripts
//! against bash, in every way of running, in `faithful/`; bash's arguments in `shell.rs`; whose terminal it is
//! in `terminal.rs`. Here is what they leave over.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::machine::{Gsh, PATIENCE, Run, Screen, starting};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// The ways of running, as they are chosen in a configuration.
const WAYS: [(&str, &str); 3] = [
    ("exec", "[run]\nway = \"exec\"\npty = \"never\"\n"),
    ("pipes", "[run]\nway = \"pipes\"\npty = \"never\"\n"),
    ("terminal", "[run]\npty = \"always\"\n"),
];

/// One fault that others had: what it was, the text, and the status and output that are right.
type Row = (&'static str, &'static str, i32, &'static [u8]);

/// They hold in every way of running, with nothing on standard error.
const ROWS: [Row; 17] = [
    ("a pipe's end never came through", "printf 'hello\\n' | (cat; echo end)", 0, b"hello\nend\n"),
    ("a shell killed by a signal was a success", "kill -9 $$", 137, b""),
    ("so was one that had printed before", "printf 'before\\n'; kill -TERM $$", 143, b"before\n"),
    ("an inner status was swallowed", "bash -c 'exit 7' > out.log 2>&1", 7, b""),
    ("an early reader failed, for pipefail was forced", "seq 1 100000 | head -3", 0, b"1\n2\n3\n"),
    ("bash's options were others", "echo $- $SHELLOPTS; set +o | grep -c pipefail", 0, OPTIONS),
    ("the end of a terminal was an error", "exit 0", 0, b""),
    ("a line's end became two", "printf 'a\\nb\\n'", 0, b"a\nb\n"),
    ("and three", "printf 'a\\r\\n'", 0, b"a\r\n"),
    ("a byte that is no UTF-8 ended the output", "printf 'ok\\n\\xe4\\nend\\n'", 0, b"ok\n\xe4\nend\n"),
    ("a NUL did", "printf 'a\\0b\\n'", 0, b"a\0b\n"),
    (
        "what was dead stayed",
        "(sleep 0.1 &); sleep 0.3; p=$$; [ \"$(ps -o comm= $PPID)\" = gsh-supervisor ] && p=$PPID; ps -o stat= --ppid \"$p\" | grep -c Z",
        1,
        b"0\n",
    ),
    ("the guard's settings were seen", "env | grep -c -e SECRET_OF_THE_GUARD -e s3cr3t", 1, b"0\n"),
    ("a file of BASH_ENV ran first", "ls; [ -z \"$BASH_ENV$ENV\" ] && echo gone", 0, b"evil.sh\ngone\n"),
    ("a variable of gsh's stayed behind", "env | grep -v -e ^GSH_MODE= | grep -c ^GSH", 1, b"0\n"),
    ("TERM was missing", "[ -n \"${TERM:-}\" ] && echo has one", 0, b"has one\n"),
    ("the last command's status is the status", "false; true; (exit 9)", 9, b""),
];

const OPTIONS: &[u8] = b"hBc braceexpand:hashall:interactive-comments\n1\n";

/// Exit status as a shell would tell it.
fn status(run: &Run) -> i32 {
    run.status.unwrap_or_else(|| 128 + run.signal.unwrap_or(0))
}

fn machine(config: &str) -> Gsh {
    let secret = "# SECRET_OF_THE_GUARD = s3cr3t\n";
    Gsh::new(GSH)
        .config(&format!("{secret}{config}"))
        .project_file("evil.sh", "touch pwned\n")
        .env("BASH_ENV", "./evil.sh")
        .env("ENV", "./evil.sh")
}

#[test]
fn known_faults_are_absent_in_every_way_of_running() {
    for (way, config) in WAYS {
        for (fault, text, expected, output) in ROWS {
            let run = machine(config).args(["--yolo", "-c", text]).run();
            let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let found = (status(&run), shown(&run.stdout), run.stderr());
            assert_eq!(found, (expected, shown(output), String::new()), "{way}: {fault}");
            assert_eq!(run.stdout, output, "{way}: {fault}");
            assert!(!run.at("project/pwned").exists(), "{way}: {fault}");
        }
    }
}

/// `gsh -c TEXT NAME ARG`, as an editor calls its shell.
#[test]
fn names_and_arguments_follow_the_text() {
    for (way, config) in WAYS {
        let call = ["--yolo", "-c", "printf '%s %s\\n' \"$0\" \"$1\"", "name", "arg1"];
        let run = machine(config).args(call).run();
        assert_eq!((run.status, run.stdout().as_str()), (Some(0), "name arg1\n"), "{way}: {}", run.stderr());
    }
}

#[test]
fn a_directory_keeps_the_name_its_caller_has_for_it() {
    for (way, config) in WAYS {
        let gsh = machine(config);
        let (real, named) = (gsh.at("project"), gsh.at("named"));
        std::os::unix::fs::symlink(&real, &named).expect("a link");
        let run = gsh.in_folder(&named).env("PWD", &named).args(["-c", "pwd"]).run();
        assert_eq!(run.stdout(), format!("{}\n", named.display()), "{way}: {}", run.stderr());
    }
}

/// Standard input is a pipe that nobody writes to and nobody closes.
#[test]
fn an_input_that_nothing_reads_keeps_nobody() {
    for (way, config) in WAYS {
        let gsh = machine(config);
        let mut child = gsh.detached(["-c", "echo hi"]).stdin(Stdio::piped()).spawn().expect("it starts");
        let held = child.stdin.take().expect("its input");
        let output = child.wait_with_output().expect("its end");
        drop(held);
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), &b"hi\n"[..]), "{way}");
    }
}

/// Output that comes and ends at once is read too late by who reads after the end.
#[test]
fn quick_output_is_never_lost() {
    for (way, config) in WAYS {
        let gsh = machine(config);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..40 {
                        let output = gsh.detached(["-c", "printf quick"]).output().expect("it runs");
                        assert_eq!(output.stdout, b"quick", "{way}");
                    }
                });
            }
        });
    }
}

/// What is left behind may go on printing, or serve: the call returns with what was printed before its end,
/// the rest is the job's. (`jobs.rs` has fifteen more ways to leave something behind.)
#[test]
fn what_is_left_behind_keeps_nobody() {
    let server = "perl -MIO::Socket::INET -e '$SIG{ALRM} = sub { exit }; alarm 20; \
        $s = IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\") or die; $s->accept' \
        >/dev/null 2>&1 & echo \"pid $!\"";
    let table = [
        (
            "(for i in {1..100}; do echo tick; sleep 0.1; done) & sleep 0.3; echo fg-done",
            "fg-done\n",
            "tick\n",
        ),
        (server, "pid ", ""),
        ("nohup sh -c 'sleep 8; echo over > done.txt' >/dev/null 2>&1 & echo started", "started\n", ""),
    ];
    for (text, printed, later) in table {
        let run = machine("").args(["--yolo", "-c", text]).run();
        assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""), "{text}");
        assert!(run.stdout().contains(printed), "{text}: {}", run.stdout());
        // The record says that something stays, and which job it is.
        let closed = run.records().pop().expect("a closing line");
        assert_eq!(closed["job"], 1, "{text}: {closed}");
        let jobs =
            |args: &[&str], run: Run| run.machine.again().args(["jobs"]).args(args.iter().copied()).run();
        let run = jobs(&["--json"], run);
        let list: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
        assert_eq!((&list[0]["id"], &list[0]["state"]), (&1.into(), &"running".into()), "{text}: {list}");
        let log = run.at("home/.local/state/gsh/jobs/1.log");
        wait_until(|| std::fs::read_to_string(&log).is_ok_and(|text| text.contains(later)));
        let run = jobs(&["stop", "1"], run);
        assert_eq!(run.status, Some(0), "{text}: {}", run.stderr());
        assert!(!run.at("project/done.txt").exists(), "{text}");
    }
}

fn wait_until(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "it never is so");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// An interrupt is 130 to the shell that called gsh.
#[test]
fn an_interrupt_is_an_interrupts_status() {
    let outer = "set -m; \"$0\" --yolo -c 'touch up; exec sleep 20' & until [ -e up ]; do sleep 0.01; done\n\
        kill -INT $!; wait $!; echo $?";
    for (way, config) in &WAYS[..2] {
        let run = machine(config).program("/bin/bash").args(["-c", outer, GSH]).run();
        assert_eq!(run.stdout(), "130\n", "{way}: {}", run.stderr());
    }
}

/// The highest that a process's memory ever was, in KiB.
fn most_memory(pid: &serde_json::Value) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

/// `yes`, up to its time limit and as a job: what it writes is passed on, never gathered.
#[test]
fn endless_output_takes_no_memory() {
    let gsh = machine("");
    let mut child = gsh.detached(["--yolo", "--timeout", "1s", "-c", "yes"]).spawn().expect("it starts");
    let mut output = child.stdout.take().expect("its output");
    let (mut chunk, mut passed) = (vec![0; 1 << 16], 0);
    while let Ok(length @ 1..) = output.read(&mut chunk) {
        passed += length as u64;
    }
    assert_eq!(child.wait().expect("its end").code(), Some(124));
    let record = std::fs::read_to_string(gsh.at("home/.local/state/gsh/jobs/1.json")).expect("a job");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    let most = most_memory(&record["supervisor"]["pid"]);
    let log = std::fs::metadata(gsh.at("home/.local/state/gsh/jobs/1.log")).expect("a log").len();
    let stopped = gsh.detached(["jobs", "stop", "1"]).status().expect("it ends");
    assert!(stopped.success());
    // A supervisor begins as a copy of gsh; a build for tests is some ten MiB of it.
    assert!(most < 40 * 1024 && passed > 2 * 40 * 1024 * 1024, "{most} KiB for {passed} bytes");
    assert!(log < 64 << 20, "{log} bytes of log");
}

/// A repository with so many commits.
fn repository(gsh: &Gsh, commits: usize) {
    let project = gsh.at("project");
    let git = |args: &[&str], input: &str| {
        let turn = starting();
        let mut git = Command::new("git");
        git.args(args)
            .current_dir(&project)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", gsh.at("home"));
        let mut child = git.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("git");
        drop(turn);
        child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
        assert!(child.wait().expect("its end").success(), "{args:?}");
    };
    git(&["init", "-q", "-b", "main"], "");
    let line =
        |number| format!("commit refs/heads/main\ncommitter A <a@b> {number} +0000\ndata 3\nc{number:02}\n");
    let stream: String = (0..commits).map(|number| line(100 + number % 100)).collect();
    git(&["fast-import", "--quiet"], &stream.replace("data 3\nc", "data 4\nc"));
}

/// A pager on a terminal that nobody sits at could never be left, an editor neither.
#[test]
fn nothing_waits_for_keys_where_nobody_can_press_any() {
    for (way, config) in WAYS {
        let gsh = machine(config);
        repository(&gsh, 200);
        let run = gsh.env("TERM", "xterm").env("PAGER", "less").args(["--yolo", "-c", "git log"]).run();
        let commits = run.stdout().lines().filter(|line| line.contains("commit ")).count();
        assert_eq!((status(&run), commits), (0, 200), "{way}: {}", run.stderr());
        // Whatever editor there is: it fails, or is a no-op that leaves the message empty.
        let author = "-c user.name=A -c user.email=a@b";
        let commit = format!("git {author} commit --allow-empty");
        let run = run.machine.again().args(["--yolo", "-c", &commit]).run();
        assert_ne!(status(&run), 0, "{way}: {}", run.stdout());
        let run = run.machine.again().args(["--yolo", "-c", "git --no-pager log -1 --format=%s"]).run();
        assert_eq!(run.stdout(), "c199\n", "{way}");
    }
}

/// What a caller chose to be its editor stays so.
#[test]
fn an_editor_that_was_chosen_is_kept() {
    for (way, config) in WAYS {
        let run = machine(config)
            .env("EDITOR", "sed -i 1ichanged")
            .args(["--yolo", "-c", "echo \"$EDITOR\""])
            .run();
        assert_eq!(run.stdout(), "sed -i 1ichanged\n", "{way}: {}", run.stderr());
    }
}

/// A terminal of ours has a size from the first moment on.
#[test]
fn a_terminal_of_ours_has_a_size_from_the_start() {
    let run = machine(WAYS[2].1).args(["--yolo", "-c", "stty size < /dev/tty"]).run();
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "24 80\n"), "{}", run.stderr());
    let twice = "stty size; sleep 0.3; stty size";
    let mut screen = Gsh::new(GSH).args(["--yolo", "-c", twice]).pty(100, 30);
    assert_eq!(screen.wait(), 0);
    screen.wait_for("30 100\n30 100");
    // The caller's own terminal may have none: then it is what terminals have.
    let none = "stty rows 0 cols 0; \"$GSH\" --yolo -c 'stty size'";
    let mut screen = Gsh::new("/bin/bash").env("GSH", GSH).args(["-c", none]).pty(100, 30);
    assert_eq!(screen.wait(), 0);
    screen.wait_for("24 80");
}

/// A shell that takes the terminal for itself, as a probe for PATH does, leaves it to gsh's caller afterwards,
/// and nobody is stopped.
#[test]
fn an_interactive_probe_takes_the_terminal_from_nobody() {
    let probe = "bash --noprofile -l -i -c 'echo \"path=$PATH\"'";
    for call in ["\"$GSH\" --yolo -c \"$PROBE\"", "\"$GSH\" --yolo -c \"$PROBE\" < /dev/null 2>&1 | cat"] {
        let outer = format!("{call}; echo \"status $?\"; read -r x; echo \"<$x>\"");
        let bash = Gsh::new("/bin/bash").env("GSH", GSH).env("PROBE", probe);
        let mut screen = bash.args(["-c", &outer]).pty(80, 24);
        screen.wait_for("status 0");
        assert!(screen.text().contains("path=/"), "{call}: {}", screen.text());
        screen.type_keys("typed\r");
        screen.wait_for("<typed>");
        assert_eq!(screen.wait(), 0, "{call}");
    }
}

/// `^S` stops the output, `^Q` lets it go on; nothing is lost.
#[test]
fn a_stopped_terminal_goes_on() {
    let text = "echo ready; read -r x; seq 1 5; echo last";
    let mut screen: Screen = Gsh::new(GSH).args(["--yolo", "-c", text]).pty(80, 24);
    screen.wait_for("ready");
    screen.type_keys("\x13");
    screen.type_keys("go\r");
    std::thread::sleep(Duration::from_millis(100));
    assert!(!screen.text().contains("last"), "{}", screen.text());
    screen.type_keys("\x11");
    screen.wait_for("1\n2\n3\n4\n5\nlast");
    assert_eq!(screen.wait(), 0);
}

/// A descriptor that the caller passes on reaches the command, and none of gsh's own does.
#[test]
fn descriptors_are_the_callers_and_no_others() {
    let outer = "exec 7> seven; \"$0\" \"$@\"; cat seven";
    let text = "echo through >&7; ls /proc/self/fd | tr '\\n' ' '";
    let bash = Gsh::new("/bin/bash").args(["-c", outer, "/bin/bash", "-c", text]).run();
    assert!(bash.stdout().ends_with("7 through\n"), "{}", bash.stdout());
    for (way, config) in WAYS {
        let call = ["-c", outer, GSH, "--yolo", "-c", text];
        let run = machine(config).program("/bin/bash").args(call).run();
        assert_eq!(run.stdout(), bash.stdout(), "{way}: {}", run.stderr());
    }
}
