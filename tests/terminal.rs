//! Commands on a terminal of their own, seen from a person's terminal.

use std::time::{Duration, Instant};

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
    };
    let ended = gsh::run::pty::run(program).expect("it runs");
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
