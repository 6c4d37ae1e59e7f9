//! A script that arrives on standard input: statement by statement it does what bash does, each statement is
//! decided as it arrives, and what it is decided with is what those before it left.

use std::io::{BufRead, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use crate::common::cases::rows;
use crate::common::machine::{Gsh, PATIENCE, Run, records};
use crate::common::{builtin_policy, fixture};
use gsh::facts::Past;
use gsh::policy::Verdict;
use gsh::request::{Entry, Request};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const SCRIPTS: &str = include_str!("stdin/scripts.txt");

/// What gsh does not understand, allowed as it stands so that bash can be compared with.
const VOUCHED: [&str; 19] = [
    "select x in p q; do echo \"$x\"; break; done",
    "fi",
    "echo a )",
    "echo 'never ended\necho x",
    "if true; then\necho x",
    "cat <<E\nno end",
    "bash",
    "bash -s x y",
    "r=2; echo never",
    "shopt -s expand_aliases",
    "shopt -s extglob",
    "case abc in !(x)) echo ext;; esac",
    "IFS=0123456789",
    "cat <<\"\"\nx\n",
    "cat <<''\nrm nothing\n",
    "unset LINENO",
    "kill %1",
    "alias later='echo now &'",
    "later",
];

/// How a script arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// All of it at once.
    AtOnce,
    /// A line when the one before was taken.
    ByLines,
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    status: i32,
    stdout: String,
    stderr: String,
}

fn run(program: &Path, home: &Path, script: &str, pace: Pace) -> Seen {
    let mut command = Command::new(program);
    command.arg0("bash").env_clear().env("PATH", "/usr/bin:/bin").env("LC_ALL", "C").env("HOME", home);
    command.env("GSH_MODE", "bypass").current_dir(home).process_group(0);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let input = child.stdin.take().expect("a pipe");
    let script = script.to_owned();
    let writer = std::thread::spawn(move || match pace {
        Pace::AtOnce => drop({ input }.write_all(script.as_bytes())),
        Pace::ByLines => by_lines(input, &script),
    });
    let (done, over) = channel::<()>();
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number"));
    let watchdog = std::thread::spawn(move || {
        // What hangs is ended with its group, and then differs.
        if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            let _gone = killpg(pid, Signal::SIGKILL);
        }
    });
    let output = child.wait_with_output().expect("its end");
    drop(done);
    watchdog.join().expect("the watchdog ends");
    writer.join().expect("the writer ends");
    let status = output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0));
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    // The numbers of processes differ.
    let stderr = text(&output.stderr).lines().map(without_numbers).collect();
    Seen { status, stdout: text(&output.stdout), stderr }
}

fn without_numbers(line: &str) -> String {
    let (head, tail) = line.split_at(line.find(": line ").map_or(0, |at| (at + 12).min(line.len())));
    // Where bash shows a wrong line, it shows the blank that gsh puts before each.
    let tail = tail.replace(|letter: char| letter.is_ascii_digit(), "N");
    format!("{}{tail}\n", head.replace(": ` ", ": `"))
}

/// A pipe with room for one piece can be written to when nothing is in it.
fn by_lines(mut input: ChildStdin, script: &str) {
    fcntl(&input, FcntlArg::F_SETPIPE_SZ(4096)).expect("a small pipe");
    for line in script.split_inclusive('\n') {
        let mut place = [PollFd::new(input.as_fd(), PollFlags::POLLOUT)];
        let patience = PollTimeout::try_from(PATIENCE).expect("a time");
        assert_eq!(poll(&mut place, patience), Ok(1), "nobody takes what stands before {line:?}");
        if input.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

/// Runs all of them by bash and by gsh. What differs twice is a difference.
fn all_at(pace: Pace) {
    let home = tempfile::tempdir().expect("a folder");
    std::fs::create_dir_all(home.path().join(".config/gsh")).expect("a folder below it");
    let vouched = VOUCHED.map(|text| format!("{text:?} = \"allow\"\n")).concat();
    let config = format!("[permissions.\"process.execute\"]\n{vouched}");
    std::fs::write(home.path().join(".config/gsh/config.toml"), config).expect("the configuration");
    let mut wrong = Vec::new();
    for script in SCRIPTS.split("---\n") {
        let both = || {
            [Path::new("/bin/bash"), Path::new(GSH)].map(|program| run(program, home.path(), script, pace))
        };
        let [bash, gsh] = both();
        if bash != gsh {
            let [bash, gsh] = both();
            if bash != gsh {
                wrong.push(format!("{script}  bash {bash:?}\n  gsh  {gsh:?}\n"));
            }
        }
    }
    assert!(SCRIPTS.split("---\n").count() >= 60);
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn at_once_it_does_what_bash_does() {
    all_at(Pace::AtOnce);
}

#[test]
fn line_by_line_it_does_what_bash_does() {
    all_at(Pace::ByLines);
}

/// A client that keeps one shell for all its commands, as agents do.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    fn of(machine: &Gsh) -> Self {
        let mut command = machine.detached(std::iter::empty::<&str>());
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output }
    }

    /// What a command prints, and its status; the next is sent only then.
    fn run(&mut self, command: &str) -> (String, String) {
        self.input.write_all(format!("{command}\necho \"END:$?\"\n").as_bytes()).expect("it listens");
        let mut printed = String::new();
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("its output");
            assert!(length > 0, "it ended behind {command:?}: {printed}");
            match line.strip_prefix("END:") {
                Some(status) => return (printed, status.trim().to_owned()),
                None => printed.push_str(&line),
            }
        }
    }

    fn end(mut self) -> Option<i32> {
        drop(self.input);
        self.child.wait().expect("its end").code()
    }
}

fn pair(printed: &str, status: &str) -> (String, String) {
    (printed.to_owned(), status.to_owned())
}

#[test]
fn a_client_keeps_its_shell() {
    let machine = Gsh::new(GSH).project_file("sub/file", "in it\n");
    let mut client = Client::of(&machine);
    assert_eq!(client.run("echo hello"), pair("hello\n", "0"));
    assert_eq!(client.run("cd sub; x=kept"), pair("", "0"));
    assert_eq!(client.run("cat file; echo $x"), pair("in it\nkept\n", "0"));
    assert_eq!(client.run("f() {\n echo \"f $1\"\n}"), pair("", "0"));
    assert_eq!(client.run("gsh-canary-deny now"), pair("", "126"));
    assert_eq!(client.run("f a && false"), pair("f a\n", "1"));
    assert_eq!(client.run("cat <<E\n$x\nE"), pair("kept\n", "0"));
    assert_eq!(client.run("(exit 9)"), pair("", "9"));
    assert_eq!(client.end(), Some(0));
    let all = records(&machine.at("home/.local/state/gsh/audit"));
    let opened = all.iter().filter(|record| record["event"] == "opened");
    let texts: Vec<&str> = opened.filter_map(|record| record["command"].as_str()).collect();
    assert_eq!(texts.iter().filter(|text| !text.starts_with("echo \"END")).count(), 8, "{texts:?}");
    let closed = |how: &str| all.iter().filter(|record| record["how"] == how).count();
    assert_eq!(closed("statement"), 7 + 8, "{all:?}");
}

#[test]
fn rules_are_read_anew_for_each_statement() {
    let machine = Gsh::new(GSH);
    let config = |action: &str| {
        let text = format!("[permissions.\"process.execute\"]\n\"echo thing\" = \"{action}\"\n");
        std::fs::write(machine.at("home/.config/gsh/config.toml"), text).expect("the configuration");
    };
    let mut client = Client::of(&machine);
    assert_eq!(client.run("echo thing"), pair("thing\n", "0"));
    config("deny");
    assert_eq!(client.run("echo thing"), pair("", "126"));
    config("allow");
    assert_eq!(client.run("echo thing"), pair("thing\n", "0"));
    client.end();
}

fn given(script: &str) -> Run {
    Gsh::new(GSH).stdin(script).run()
}

#[test]
fn a_refused_statement_fails_and_the_script_goes_on() {
    let run = given("echo a\ngsh-canary-deny\necho \"$? $LINENO\"\n");
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "a\n126 3\n"), "{}", run.stderr());
    assert!(run.stderr().contains("gsh-canary-deny"), "{}", run.stderr());
    for (script, status, stdout) in [
        ("gsh-canary-deny\n", 126, ""),
        ("gsh-canary-deny", 126, ""),
        ("gsh-canary-deny\necho \"$? $LINENO\"", 0, "126 2\n"),
        ("gsh-canary-deny\n\n# none\necho $?\n", 0, "126\n"),
        ("echo a\ngsh-canary-deny", 126, "a\n"),
        ("set -e\ngsh-canary-deny\necho never\n", 126, ""),
        ("exit() { return 0; }\ngsh-canary-deny\necho $?\n", 0, "126\n"),
        ("trap 'echo bye $?' EXIT\ngsh-canary-deny\n", 126, "bye 126\n"),
        ("if true; then\n gsh-canary-deny\nfi\necho \"$? $LINENO\"\n", 0, "126 4\n"),
        ("echo a; )\necho \"$?\"\n", 0, "126\n"),
        ("", 0, ""),
        ("\n\n", 0, ""),
    ] {
        let run = given(script);
        assert_eq!((run.status, run.stdout().as_str()), (Some(status), stdout), "{script}: {}", run.stderr());
    }
}

/// Agents start gsh by the name of a shell; what an allowed command starts so is not asked about again, but a
/// script's own statements are.
#[test]
fn the_first_statement_is_no_call_above_the_next() {
    for first in ["true", "echo a | cat", "cd /", "f() { :; }", "gsh-canary-deny", "exec 3</dev/null"] {
        let machine = Gsh::new(GSH);
        let link = machine.at("bash");
        std::os::unix::fs::symlink(GSH, &link).expect("a link");
        let run = machine.program(link).stdin(format!("{first}\n./frob 1\n./frob 2\n")).run();
        for asked in ["frob 1 needs", "frob 2 needs"] {
            assert!(run.stderr().contains(asked), "{first}: {}", run.stderr());
        }
        assert!(run.records().iter().all(|record| record["mode"] != "bypass"), "{first}");
    }
}

#[test]
fn what_the_call_was_given_holds_for_each_statement() {
    let machine = Gsh::new(GSH).project_file("frob", "#!/bin/sh\necho $1\n");
    let config = machine.at("home/other.toml");
    std::fs::write(&config, "mode = \"default\"\n").expect("a configuration");
    let machine = machine.args(["--allow", "sh frob *", "--deny", "echo never", "--config"]).args([config]);
    let run = machine.stdin("sh frob 1\nsh frob 2\necho never\necho $?\nsh frob 3\n").run();
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "1\n2\n126\n3\n"), "{}", run.stderr());
}

#[test]
fn what_came_before_counts() {
    for script in [
        "X=gsh-canary\n$X-deny\n",
        "cd /\ncd usr\ncd ../bin\nx=gsh-canary-deny\neval \"$x\"\n",
        "echo 'gsh-canary-deny' | cat\necho a | sh -c 'gsh-canary-deny'\n",
        "set -- gsh-canary-deny\n\"$1\"\n",
    ] {
        let run = given(script);
        assert_eq!(run.status, Some(126), "{script}: {}", run.stderr());
        assert!(run.stderr().contains("This is never done"), "{script}: {}", run.stderr());
    }
    // Data is never a statement, and a statement never data.
    let run = given("cat\ngsh-canary-deny\n");
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "gsh-canary-deny\n"));
    let run = given("dd bs=1 count=2 2>/dev/null\nabgsh-canary-deny\necho\n");
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "ab\n"), "{}", run.stderr());
    assert!(run.stderr().contains("refused: gsh-canary-deny"), "{}", run.stderr());
    let run = given("read -n 5 x\n12345gsh-canary-deny\necho $x\n");
    assert_eq!((run.status, run.stdout().as_str()), (Some(0), "12345\n"), "{}", run.stderr());
}

#[test]
fn a_script_cannot_reach_how_it_is_read() {
    for statement in [
        "exec 11<&-",
        "v=11; exec {v}<&-",
        "exec 10>&11",
        "x=12; exec 0<&$x",
        "exec 13>&10-",
        "read x <&11",
        "read x </dev/fd/11",
        "read -u 61 -n 1 x",
        "read -ru61 x",
        "n=61; read -u $n x",
        "builtin read -u 61 x",
        "f() { read -N 9 -u 61 x; }; f",
        "(while read -u 61 x; do :; done) &",
        "mapfile -n 1 -u 61 x",
        "readarray -u 11 x",
        "read x </dev/fd/61",
        "read x </dev/fd/6?",
        "cd /dev/fd; read x <61",
        "cd /; read x <dev/fd/61",
        "read x <fds/61",
        "read x <fds/6?",
        "ulimit -n 20",
        "ulimit -Sn 60",
        "ulimit -n20",
        "ulimit -n $((10 + 10))",
        "x=-n; ulimit $x 20",
        "set -H",
        "set -eH",
        "set -o histexpand",
        "set -o history",
        "cat /proc/1/fd/11",
        "cat /proc/$PPID/fd/11",
    ] {
        let machine = Gsh::new(GSH);
        std::os::unix::fs::symlink("/proc/self/fd", machine.at("project/fds")).expect("a link");
        let run = machine.stdin(format!("{statement}\necho after\n")).run();
        assert!(
            run.stderr().contains("approval") && run.stdout() == "after\n",
            "{statement}: {} {}",
            run.stdout(),
            run.stderr()
        );
    }
}

#[test]
fn a_script_that_goes_on_elsewhere_says_that_it_does_not() {
    let machine = Gsh::new(GSH).env("GSH_MODE", "bypass").project_file("rest", "echo in the rest\n");
    let allowed = "[permissions.\"process.execute\"]\n\"exec <rest\" = \"allow\"\n";
    let run = machine.config(allowed).stdin("echo a\nexec <rest\necho b\n").run();
    assert_eq!((run.status, run.stdout().as_str()), (Some(126), "a\n"), "{}", run.stderr());
    assert!(run.stderr().contains("Run it as a script of its own"), "{}", run.stderr());
}

#[test]
fn the_input_is_left_where_bash_would_leave_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for program in ["/bin/bash", GSH] {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "\"$0\" -s; cat", program]).env_clear().env("HOME", folder.path());
        command.env("PATH", "/usr/bin:/bin").current_dir(folder.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        input.write_all(b"echo a\nexit 3\nleft over\n").expect("it listens");
        drop(input);
        let output = child.wait_with_output().expect("its end");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a\nleft over\n", "{program}");
    }
}

#[test]
fn a_time_limit_is_the_whole_scripts() {
    let run = Gsh::new(GSH).env("GSH_TIMEOUT", "300ms").stdin("echo a\nsleep 20\necho b\n").run();
    assert_eq!((run.status, run.stdout().as_str()), (Some(124), "a\n"), "{}", run.stderr());
    assert!(run.stderr().contains("still running as job 1"), "{}", run.stderr());
    let stop = run.machine.again().args(["jobs", "stop", "1", "--grace", "0"]).run();
    assert_eq!(stop.status, Some(0), "{}", stop.stderr());
}

#[test]
fn a_signal_ends_the_shell_with_all_it_started() {
    let machine = Gsh::new(GSH).env("GSH_MODE", "bypass");
    let mut client = Client::of(&machine);
    let (number, _) = client.run("sleep 60 & echo $!");
    let sleeper = std::path::PathBuf::from(format!("/proc/{}", number.trim()));
    assert!(sleeper.exists(), "{number}");
    let pid = Pid::from_raw(i32::try_from(client.child.id()).expect("a number"));
    kill(pid, Signal::SIGTERM).expect("it is there");
    assert_eq!(client.child.wait().expect("its end").signal(), Some(15));
    let begun = Instant::now();
    while sleeper.exists() {
        assert!(begun.elapsed() < PATIENCE, "it goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The strictest verdict of a text's lines, each after those before it.
fn by_statements(lines: &[&str]) -> Verdict {
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut past = Past::default();
    let verdicts = lines.iter().map(|line| {
        let request = Request { entry: Entry::Check, ..fixture::request(line) };
        let checked = gsh::pipeline::check_after(&past, &request, &policy, &host);
        past = checked.facts.left;
        checked.decision.verdict
    });
    verdicts.max().expect("a line")
}

#[test]
fn statements_are_judged_as_strictly_as_the_whole() {
    let before = [
        "cd /",
        "cd src && x=1",
        "x=/ y=-rf",
        "rm() { ls \"$@\"; }",
        "cat() { command rm \"$@\"; }",
        "ln -s / link",
        "cd ..\ncd \"$OLDPWD\"",
        "set -- / -rf",
        "for x in a /; do :; done",
        "export HOME=/tmp",
        "alias ls='rm -rf'",
    ];
    let files = ["catastrophic", "lookalike", "readonly"].map(|name| {
        std::fs::read_to_string(format!("{}/tests/cases/{name}.txt", env!("CARGO_MANIFEST_DIR")))
            .expect("cases")
    });
    let commands: Vec<String> = files.iter().flat_map(|text| rows(text)).map(|row| row.command).collect();
    let (host, policy) = (fixture::host(), builtin_policy());
    let mut weaker = Vec::new();
    for (at, command) in commands.iter().enumerate() {
        let first = before[at % before.len()];
        let second = before[(at / before.len()) % before.len()];
        let whole = fixture::decide_on(&host, &policy, &format!("{first}\n{second}\n{command}\n")).verdict;
        let parts = by_statements(&[first, second, command]);
        if parts < whole {
            weaker.push(format!("{first} | {second} | {command}: {whole:?} became {parts:?}"));
        }
    }
    assert!(weaker.is_empty(), "{}:\n{}", weaker.len(), weaker.join("\n"));
}
