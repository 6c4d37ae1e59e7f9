//! What a shell holds after something that could not be followed, and what is judged by it.

use super::{GSH, enter, persons, vouched};
use crate::common::machine::{Gsh, Screen};

const LIBRARY: &str = "\
greet() { echo \"hello $1\"; }
danger() { gsh-canary-deny; }
alias shows='printf \"<%s>\\n\" shown'
alias nope='gsh-canary-deny'
alias ls='ls -1'
export PATH=\"$PWD/bin:$PATH\"
what=gsh-canary-deny
";

/// A shell in default mode whose person has let a file be read.
fn after_a_library(text: &str) -> Screen {
    let gsh = Gsh::new(GSH).config(&vouched());
    let gsh = gsh.project_file("lib.sh", text).project_file("bin/uname", "#!/bin/sh\necho other\n");
    let mut screen = gsh.pty(120, 40);
    screen.wait_for("> ");
    enter(&mut screen, ":mode bypass", "[bypass]> ");
    enter(&mut screen, ". ./lib.sh; echo re\"ad\"", "read\n/tmp");
    enter(&mut screen, ":mode default", "default (from");
    screen
}

fn leave(mut screen: Screen) {
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn functions_aliases_and_variables_of_a_file_are_read_where_they_are_used() {
    let mut screen = after_a_library(LIBRARY);
    enter(&mut screen, "greet 'you'", "hello you");
    enter(&mut screen, "shows", "<shown>");
    enter(&mut screen, "shows more", "<more>");
    enter(&mut screen, "for x in 1 2; do greet \"n$x\"; done", "hello n2");
    for line in ["danger", "nope now", "true && nope", "$what"] {
        screen.type_keys(&format!("{line}\r"));
        screen.wait_for("126> ");
        enter(&mut screen, "clear; echo go\"ne\"", "gone\n/tmp");
    }
    // A quoted name is no alias.
    enter(&mut screen, ":explain \\nope", "ask: ");
    let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(screen.at("project/bin/uname"), runs).expect("it runs");
    enter(&mut screen, ":explain uname", "ask: Run uname");
    leave(screen);
}

#[test]
fn looking_leaves_nothing_behind() {
    let mut screen = after_a_library("f() { :; }\nset -u\ntrap 'true' USR1\nfalse\n");
    enter(&mut screen, ":mode bypass", "[bypass]> ");
    enter(&mut screen, ". ./lib.sh || echo \"s\"tatus=$?", "status=1");
    enter(&mut screen, "compgen -v | grep -c _gsh_", "0\n/tmp");
    enter(&mut screen, "echo \"[$-]\"; trap -p; echo \"fds:\" $(ls /proc/self/fd)", "USR1");
    screen.wait_for("fds: 0 1 2 3\n");
    leave(screen);
}

#[test]
fn options_and_what_runs_by_itself_are_known_as_well() {
    let mut screen =
        after_a_library("shopt -s nullglob\nPROMPT_COMMAND='later=$((${later:-0} + 1))'\nPS1='mine> '\n");
    enter(&mut screen, ":explain ls *.c", "an option changes which files a pattern finds");
    enter(&mut screen, ":explain ls", "allow: ");
    assert!(!screen.text().contains("mine> "), "{}", screen.text());
    enter(&mut screen, "echo \"<$PS1>\"", "<mine> >");
    assert_eq!(screen.text().matches("mine> ").count(), 1, "{}", screen.text());
    leave(screen);
}

#[test]
fn an_alias_that_is_set_means_what_it_says_from_the_next_line_on() {
    let mut screen = Gsh::new(GSH).config(&vouched()).pty(120, 40);
    screen.wait_for("> ");
    enter(&mut screen, "alias gone='gsh-canary-deny' ll='ls -a'; echo s\"et\"", "set\n/tmp");
    enter(&mut screen, "gone", "refused: gone (canary");
    enter(&mut screen, "ll", "..");
    enter(&mut screen, "unalias gone; echo un\"set\"", "unset\n/tmp");
    enter(&mut screen, ":explain gone", "ask: ");
    leave(screen);
}

#[test]
fn a_start_up_file_is_read_where_the_configuration_names_it() {
    let gsh = Gsh::new(GSH).config(&(vouched() + "[interactive]\nrc = \"~/.rc\"\nprompt = \"shell\"\n"));
    std::fs::write(gsh.at("home/.rc"), "alias hi='echo \"h\"i'\nPS1='[\\W] $? % '\n").expect("written");
    let mut screen = gsh.pty(100, 30);
    screen.wait_for("[project] 0 % ");
    enter(&mut screen, "hi the\"re\"", "hi there");
    enter(&mut screen, "(exit 3)", "[project] 3 % ");
    leave(screen);
}

#[test]
fn a_start_up_file_that_would_be_refused_is_not_read() {
    let gsh = Gsh::new(GSH).config(&(vouched() + "[interactive]\nrc = \"~/.rc\"\n"));
    std::fs::write(gsh.at("home/.rc"), "alias hi='echo hi'\ngsh-canary-deny\n").expect("written");
    let mut screen = gsh.pty(100, 30);
    screen.wait_for(".rc: not read: what it does is refused");
    screen.wait_for("> ");
    enter(&mut screen, ":explain hi", "ask: ");
    leave(screen);
}

#[test]
fn typing_grants_nothing_and_an_answer_once_neither() {
    let gsh = Gsh::new(GSH).config(&vouched()).project_file("tool.sh", "echo \"r\"an\n");
    let mut screen = gsh.pty(100, 40);
    screen.wait_for("> ");
    enter(&mut screen, "echo typ\"ed\"", "typed\n/tmp");
    screen.type_keys("bash tool.sh\r");
    screen.wait_for("gsh asks");
    std::thread::sleep(std::time::Duration::from_millis(400));
    screen.type_keys("y");
    screen.wait_for("\nran");
    enter(&mut screen, ":undo-grant", "nothing was granted");
    leave_with_records(screen, "person");
}

fn leave_with_records(mut screen: Screen, origin: &str) {
    screen.type_keys("exit\r");
    screen.wait();
    let records = screen.records();
    let typed: Vec<_> = records.iter().filter(|record| record["entry"] == "interactive").collect();
    assert!(!typed.is_empty() && typed.iter().all(|record| record["origin"] == origin), "{typed:#?}");
}

#[test]
fn an_interrupt_at_any_moment_of_a_beginning_line_ends_it_and_no_more() {
    let mut screen = persons();
    for round in 0..40_u64 {
        screen.type_keys("sleep 1\r");
        // From before the line has left the editor to after the command has begun.
        std::thread::sleep(std::time::Duration::from_micros(round * 400));
        screen.type_keys("\x03");
        // What is typed before the key is heard goes with it.
        let expected = format!("at {round}.");
        let came = (0..15).any(|_| {
            screen.type_keys(&format!("echo \"at \"{round}.\r"));
            let end = std::time::Instant::now() + std::time::Duration::from_secs(2);
            while std::time::Instant::now() < end && !screen.text().contains(&expected) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            screen.text().contains(&expected)
        });
        assert!(came, "it hangs:\n{}", screen.text());
        let failed = screen.text().contains("not found") || screen.text().contains("syntax error");
        assert!(!failed, "a part of a line ran:\n{}", screen.text());
    }
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn a_line_that_the_terminal_cut_does_not_run() {
    let mut screen = persons();
    screen.type_keys("echo be\"gun\"; sleep 6\r");
    screen.wait_for("\nbegun");
    super::super::jobs::wait_until("it is in front", || screen.in_front() == "sleep");
    screen.type_keys(&format!("touch cut; : {}; rm -f kept\r", "y".repeat(6000)));
    screen.wait_for("kept only 4095 bytes");
    assert!(!screen.at("project/cut").exists());
    super::super::jobs::wait_until("keys are taken", || !screen.is_cooked());
    let long = "y".repeat(6000);
    screen.type_keys(&format!("\x1b[200~clear; echo {long} | wc -c\x1b[201~\r"));
    screen.wait_for("6001\n");
    screen.type_keys("exit\r");
    screen.wait();
}
