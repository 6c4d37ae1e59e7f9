//! Commands on a terminal of their own, seen from a person's terminal.

mod adopted;
mod killed;
mod programs;
mod typed;

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::CommandBuilder;

use crate::common::machine::{Gsh, PATIENCE, Screen};

/// The program under test is this very file's program: called with a text, it runs it on a terminal
/// of its own, as gsh does.
#[test]
fn relay_side() {
    let Some(text) = std::env::var_os("GSH_TEST_RELAY") else { return };
    let program = gsh::sys::process::Program {
        path: "/bin/bash".into(),
        argv: vec!["bash".into(), "-c".into(), text],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into()), ("TERM".into(), "xterm".into())],
        stdin: None,
        script: None,
    };
    let ended = gsh::run::pty::run(program, Default::default()).expect("it runs").ended;
    println!("\nend: {ended:?}");
    // It stays until a line is typed, so that the terminal can be looked at.
    std::io::stdin().read_line(&mut String::new()).expect("a line");
}

fn relayed(text: &str) -> Screen {
    let mut command = CommandBuilder::new(std::env::current_exe().expect("our own file"));
    command.args(["--exact", "terminal::relay_side", "--nocapture"]);
    command.env("GSH_TEST_RELAY", text);
    Screen::start(command, 80, 24, None)
}

#[test]
fn keys_reach_the_command_and_its_size_is_the_terminals() {
    let mut screen = relayed("stty size; read -r line; echo \"<$line>\"; exit 3");
    screen.wait_for("24 80");
    screen.type_keys("hello\r");
    screen.wait_for("<hello>");
    screen.wait_for("end: Status(3)");
}

#[test]
fn an_interrupt_key_reaches_the_command() {
    let mut screen = relayed("echo ready; sleep 60");
    screen.wait_for("ready");
    screen.type_keys("\x03");
    screen.wait_for("end: Signal(2)");
}

#[test]
fn the_terminal_is_as_before_afterwards() {
    let mut screen = relayed("stty -echo; stty echo; echo done");
    screen.wait_for("end: Status(0)");
    screen.type_keys("after");
    screen.wait_for("after");
}

#[test]
fn the_builder_gives_a_program_its_own_machine() {
    let gsh = Gsh::new("/bin/bash")
        .config("# config\n")
        .project_file("src/x", "text")
        .args(["-c", "cat src/x; cat; echo \"$A $HOME\" >&2; exit 4"])
        .stdin("typed")
        .env("A", "b");
    let home = gsh.at("home").display().to_string();
    let run = gsh.run();
    assert_eq!((run.status, run.signal, run.stdout().as_str()), (Some(4), None, "texttyped"));
    assert_eq!(run.stderr(), format!("b {home}\n"));
    assert!(run.records().is_empty());
    assert_eq!(
        std::fs::read_to_string(run.machine.at("home/.config/gsh/config.toml")).ok().as_deref(),
        Some("# config\n")
    );
}

#[test]
fn the_builder_drives_a_screen() {
    let mut screen = Gsh::new("/bin/bash").args(["-c", "read -r x; echo \"<$x>\"; exit 5"]).pty(40, 10);
    screen.type_keys("a b\r");
    screen.wait_for("<a b>");
    assert_eq!(screen.wait(), 5);
    assert!(crate::common::machine::records(std::path::Path::new("/nonexistent")).is_empty());
    assert!(screen.text().contains("<a b>"));
}

/// Whether a process runs; one that only waits for its parent to notice its end does not.
fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

#[test]
fn a_killed_gsh_leaves_no_command_behind() {
    // The command does not mind that its terminal is hung up.
    let text = "trap '' HUP; echo \"pids $$ $PPID end\"; until [ -e go ]; do sleep 0.1; done; echo x > made";
    let mut screen = Gsh::new(env!("CARGO_BIN_EXE_gsh")).args(["--yolo", "-c", text]).pty(80, 24);
    screen.wait_for(" end");
    let shown = screen.text();
    let pids: Vec<&str> =
        shown.split_whitespace().skip_while(|word| *word != "pids").skip(1).take(2).collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| runs(pid)), "{shown}");
    kill(Pid::from_raw(screen.pid()), Signal::SIGKILL).expect("it runs");
    let begun = Instant::now();
    while pids.iter().any(|pid| runs(pid)) {
        assert!(begun.elapsed() < PATIENCE, "still there: {pids:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::fs::write(screen.at("project/go"), "").expect("the sign to go on");
    assert!(!screen.at("project/made").exists());
}

/// One more call on a machine, without a terminal: its status, output and errors.
fn told(gsh: &Gsh, args: &[&str]) -> (i32, String, String) {
    let output = gsh.detached(args).output().expect("its end");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1), text(&output.stdout), text(&output.stderr))
}

/// Presses keys again and again until the screen shows this: whoever gets them may have been busy.
fn press_until(screen: &mut Screen, keys: &str, text: &str) {
    crate::jobs::wait_until(text, || {
        screen.type_keys(keys);
        std::thread::sleep(Duration::from_millis(100));
        screen.text().contains(text)
    });
}

/// Waits until a program takes the terminal's keys one by one.
fn wait_for_raw(screen: &mut Screen) {
    crate::jobs::wait_until("the terminal's keys are taken", || !screen.is_cooked());
}

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const ASKED: &str = "gsh-test-no-such-program; touch made";

/// The configuration in which this test program's terminals are the user's.
fn vouched() -> String {
    let holder = std::env::current_exe().expect("this program");
    format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string())
}

/// bash on a terminal, with a line that starts gsh in some way: what is told of whom it cannot ask.
fn refused(config: &str, line: &str) -> String {
    let bash = Gsh::new("/bin/bash").config(config).env("GSH", GSH).env("ASKED", ASKED);
    let mut screen = bash.args(["-c", line]).pty(120, 30);
    screen.wait_for("Why nobody: ");
    let _status = screen.wait();
    let shown = screen.text();
    assert!(!shown.contains("gsh asks") && !screen.at("project/made").exists(), "{line}: {shown}");
    let why = shown.lines().find_map(|line| line.split_once("Why nobody: "));
    why.map(|(_, why)| why.trim_end().to_owned()).unwrap_or_default()
}

#[test]
fn whose_terminal_it_is_decides_who_is_asked() {
    let own = std::env::current_exe().expect("this program").display().to_string();
    let stranger = format!("the terminal may not be a person's: {own} holds it.");
    let script = "the terminal may not be a person's: /usr/bin/script holds it.";
    let vouched = vouched();
    let table: [(&str, &str, &str, &str); 8] = [
        ("a holder that nobody knows", "", "\"$GSH\" -c \"$ASKED\"", &stranger),
        (
            "a holder of another kind than those vouched for",
            "[ask]\nterminals = [\"tmux\", \"sshd\", \"container\", \"serial\"]\n",
            "\"$GSH\" -c \"$ASKED\"",
            &stranger,
        ),
        (
            "a new terminal that a gated command opens for itself",
            &vouched,
            "script -qec '\"$GSH\" -c \"$ASKED\"' /dev/null",
            script,
        ),
        (
            "the same in a session of its own",
            &vouched,
            "setsid --wait script -qec '\"$GSH\" -c \"$ASKED\"' /dev/null",
            script,
        ),
        (
            "no controlling terminal",
            &vouched,
            "setsid --wait \"$GSH\" -c \"$ASKED\"",
            "there is no terminal to ask at.",
        ),
        (
            "a background process group",
            &vouched,
            "set -m; \"$GSH\" -c \"$ASKED\" & wait",
            "gsh runs in the background of this terminal.",
        ),
        (
            "a program in front that reads keys one by one",
            &vouched,
            "stty -icanon -echo; \"$GSH\" -c \"$ASKED\"; stty sane",
            "a program uses the whole terminal.",
        ),
        (
            "an environment that pretends",
            "",
            "TERM_PROGRAM=xterm XTERM_VERSION=1 WINDOWID=1 SSH_TTY=/dev/tty \"$GSH\" -c \"$ASKED\"",
            &stranger,
        ),
    ];
    for (what, config, line, expected) in table {
        let found = refused(config, line);
        // Where an agent runs these tests, it is named instead of "a program".
        let named =
            found.ends_with("uses the whole terminal.") && expected.ends_with("uses the whole terminal.");
        assert!(found == expected || named, "{what}: {found}");
    }
}

#[test]
fn a_vouched_holder_may_be_asked_through() {
    let mut screen = Gsh::new(GSH).config(&vouched()).args(["-c", ASKED]).pty(80, 24);
    screen.wait_for("gsh asks");
    std::thread::sleep(Duration::from_millis(400));
    screen.type_keys("y");
    screen.wait_for("allowed once");
    assert_eq!(screen.wait(), 0, "{}", screen.text());
    assert!(screen.at("project/made").exists());
}

/// gsh on a terminal whose leader end `others` hold as well; what it says in the end.
fn with_others(others: impl FnOnce(&OwnedFd) -> Vec<Child>) -> String {
    let gsh = Gsh::new(GSH).config(&vouched()).args(["-c", ASKED]);
    let pair = openpty(None, None).expect("a terminal");
    fcntl(&pair.master, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC)).expect("an end of our own");
    let mut others = others(&pair.master);
    let mut child = gsh.on(&pair.slave);
    drop(pair.slave);
    let mut leader = std::fs::File::from(pair.master);
    let mut shown = String::new();
    let mut chunk = [0; 1024];
    while !shown.contains("go on without it") && !shown.contains("Tab") {
        let Ok(length) = leader.read(&mut chunk) else { break };
        shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
    }
    if shown.contains("Tab") {
        std::thread::sleep(Duration::from_millis(400));
        leader.write_all(b"\x03").expect("a key");
    }
    child.wait().expect("its end");
    for other in &mut others {
        other.kill().expect("it runs");
        other.wait().expect("its end");
    }
    assert!(!gsh.at("project/made").exists());
    shown
}

#[test]
fn one_stranger_among_the_holders_is_enough() {
    assert!(with_others(|_| vec![]).contains("gsh asks"));
    let shown = with_others(|leader| {
        let end = Stdio::from(leader.try_clone().expect("one more"));
        vec![Command::new("/bin/sleep").arg("60").stdin(end).spawn().expect("a stranger")]
    });
    assert!(shown.contains("sleep holds it") && !shown.contains("gsh asks"), "{shown}");
}

#[test]
fn an_agent_that_holds_the_terminal_is_no_person() {
    // A program of an agent's name is no emulator, whoever owns its file.
    let folder = tempfile::tempdir().expect("a folder");
    let agent = folder.path().join("claude");
    std::fs::copy("/usr/bin/script", &agent).expect("a program of that name");
    let line = format!("{} -qec '\"$GSH\" -c \"$ASKED\"' /dev/null", agent.display());
    let found = refused(&vouched(), &line);
    assert_eq!(found, format!("the terminal may not be a person's: {} holds it.", agent.display()));
    // Where it only reads the person's keys one by one, it is named.
    let bash = folder.path().join("codex");
    std::fs::copy("/bin/bash", &bash).expect("a program of that name");
    let line = format!("stty -icanon -echo; {} -c '\"$GSH\" -c \"$ASKED\"; true'; stty sane", bash.display());
    assert_eq!(refused(&vouched(), &line), "codex uses the whole terminal.");
}

/// A holder in another process namespace is not to be seen from inside: unknown, until vouched for.
#[test]
fn a_holder_that_is_hidden_is_unknown() {
    let inside = "unshare --user --map-root-user --pid --fork --mount-proc \"$GSH\" -c \"$ASKED\"";
    let mut tried = Command::new("unshare");
    tried.args(["--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "true"]);
    if !tried.stderr(Stdio::null()).status().is_ok_and(|status| status.success()) {
        eprintln!("no namespaces on this machine: the case is only in ask/terminal.rs");
        return;
    }
    let found = refused(&vouched(), inside);
    assert_eq!(found, "the terminal may not be a person's: container holds it.");
    let config = "[ask]\nterminals = [\"container\"]\n";
    let bash = Gsh::new("/bin/bash").config(config).env("GSH", GSH).env("ASKED", ASKED);
    let mut screen = bash.args(["-c", inside]).pty(80, 24);
    screen.wait_for("gsh asks");
    std::thread::sleep(Duration::from_millis(400));
    screen.type_keys("\u{3}");
    screen.wait_for("declined");
}
