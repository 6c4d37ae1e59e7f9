//! Commands on a terminal of their own, seen from a person's terminal.

use crate::common::machine::{Gsh, Screen};
use portable_pty::CommandBuilder;

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
