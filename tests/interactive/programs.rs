//! Programs that take the terminal, at gsh's own prompt: they have it, they leave it, and it is as before.

use std::path::Path;

use super::super::jobs::wait_until;
use super::{enter, persons, press_at};
use crate::common::machine::Screen;

/// The shell, where this machine has the program.
fn with(program: &str) -> Option<Screen> {
    let found = Path::new("/usr/bin").join(program).exists();
    assert!(found || std::env::var_os("CI_NEEDS_ALL").is_none(), "{program} is not here");
    found.then(persons)
}

/// Leaves the shell, after it has shown that the terminal is as before.
fn leave(mut screen: Screen) {
    wait_until("the screen is given back", || !screen.is_taken());
    enter(
        &mut screen,
        "clear; stty -a | grep -cw -e '-icanon' -e '-echo' -e '-isig' -e '-opost'; echo sa\"ne\"",
        "0\nsane\n/tmp",
    );
    screen.type_keys("exit\r");
    assert_eq!(screen.wait(), 0);
}

#[test]
fn vim_is_stopped_resized_and_continued() {
    let Some(mut screen) = with("vim") else { return };
    std::fs::write(screen.at("project/text"), "first line\n").expect("written");
    screen.type_keys("vim -u NONE -N text\r");
    screen.wait_for("first line");
    wait_until("vim has the screen", || screen.is_taken());
    press_at(&mut screen, "vim", "\x1a");
    screen.wait_for("Stopped");
    wait_until("the screen is given back", || !screen.is_taken());
    enter(&mut screen, "echo mean\"while\"", "meanwhile\n/tmp");
    screen.type_keys("fg\r");
    wait_until("vim has the screen again", || screen.is_taken());
    screen.wait_for("first line");
    screen.resize(70, 20);
    wait_until("vim has heard of its size", || {
        screen.type_keys("\x1b:echo 'wide' &columns\r");
        screen.text().contains("wide 70")
    });
    screen.type_keys("\x1b:1s/first/changed/\r:wq\r");
    wait_until("the screen is given back", || !screen.is_taken());
    enter(&mut screen, "cat text", "changed line");
    leave(screen);
}

#[test]
fn top_and_htop_show_what_runs() {
    for program in ["top", "htop"] {
        let Some(mut screen) = with(program) else { continue };
        screen.type_keys(&format!("{program}\r"));
        screen.wait_for("PID");
        press_at(&mut screen, program, "q");
        wait_until("the shell is back", || screen.in_front() != program);
        leave(screen);
    }
}

#[test]
fn a_repl_of_python_reads_lines() {
    let Some(mut screen) = with("python3") else { return };
    screen.type_keys("/usr/bin/python3 -q -I\r");
    screen.wait_for(">>> ");
    enter(&mut screen, "print(6 * 7)", "42\n>>> ");
    screen.type_keys("\x04");
    screen.wait_for("[bypass]");
    leave(screen);
}

#[test]
fn tmux_has_a_terminal_of_its_own_and_gives_this_one_back() {
    let Some(mut screen) = with("tmux") else { return };
    let socket = screen.at("run/tmux").display().to_string();
    screen
        .type_keys(&format!("tmux -S {socket} -f /dev/null new-session 'echo with\"in\"; read -r answer'\r"));
    screen.wait_for("within");
    assert!(screen.is_taken());
    screen.type_keys("\r");
    wait_until("the screen is given back", || !screen.is_taken());
    screen.wait_for("[exited]");
    leave(screen);
}
