//! Programs that use the whole terminal pass through: what they show, their own screen, a change of its size,
//! and the keys that they are given. Those that this machine has.

use std::path::Path;

use super::adopted::shell_at;
use super::{GSH, press_until};
use crate::common::machine::{Gsh, Screen};

fn has(program: &str) -> bool {
    let found =
        ["/usr/bin", "/usr/local/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists());
    if !found {
        eprintln!("SKIPPED: there is no {program} on this machine");
    }
    found
}

/// gsh with a text, below a shell that says when it is back.
fn begun(gsh: &Gsh, text: &str) -> Screen {
    std::fs::write(gsh.at("project/text"), text).expect("the text");
    shell_at(gsh, &format!("echo before; {GSH} --yolo -c \"$(cat text)\"; echo \"back $?\"; read -r x"))
}

/// It has left its screen, and the terminal is the shell's.
fn ended(mut screen: Screen, taken: bool) {
    screen.wait_for("back 0");
    assert!(!screen.is_taken() && screen.is_cooked());
    assert!(!taken || screen.text().contains("before"), "the screen from before is shown: {}", screen.text());
    screen.type_keys("\r");
    screen.wait();
}

#[test]
fn vim_passes_through() {
    if !has("vim") {
        return;
    }
    let gsh = Gsh::new(GSH).project_file("a.txt", "first line\n");
    let mut screen = begun(&gsh, "vim -u NONE -N a.txt");
    screen.wait_for("first line");
    assert!(screen.is_taken());
    screen.type_keys("onew line\x1b:set columns? lines?\r");
    screen.wait_for("lines=24");
    screen.resize(60, 18);
    press_until(&mut screen, "\r:set lines? columns?\r", "lines=18");
    screen.type_keys("\r:wq\r");
    ended(screen, true);
    assert_eq!(std::fs::read_to_string(gsh.at("project/a.txt")).expect("the file"), "first line\nnew line\n");
}

#[test]
fn less_passes_through() {
    if !has("less") {
        return;
    }
    let lines: String = (1..=200).map(|number| format!("line {number}\n")).collect();
    let gsh = Gsh::new(GSH).project_file("a.txt", &lines);
    let mut screen = begun(&gsh, "less a.txt");
    screen.wait_for("line 23");
    assert!(screen.is_taken());
    screen.type_keys("G");
    screen.wait_for("line 200");
    screen.resize(80, 10);
    press_until(&mut screen, "g", "line 9\n");
    screen.type_keys("/line 77\r");
    screen.wait_for("line 77");
    screen.type_keys("q");
    ended(screen, true);
}

#[test]
fn top_and_htop_pass_through() {
    for (program, text, shows) in [("top", "top -d 0.2", "PID"), ("htop", "htop -d 2", "PID")] {
        if !has(program) {
            continue;
        }
        let gsh = Gsh::new(GSH);
        let mut screen = begun(&gsh, text);
        screen.wait_for(shows);
        screen.resize(100, 30);
        screen.type_keys("q");
        ended(screen, false);
    }
}

#[test]
fn pythons_own_prompt_passes_through() {
    if !has("python3") {
        return;
    }
    let gsh = Gsh::new(GSH).env("PYTHON_HISTORY", "/dev/null").env("PYTHON_BASIC_REPL", "1");
    let mut screen = begun(&gsh, "python3 -q");
    screen.wait_for(">>>");
    screen.type_keys("6 * 7\r");
    screen.wait_for("42");
    screen.type_keys("import os; os.isatty(0), os.isatty(1), os.get_terminal_size().columns\r");
    screen.wait_for("(True, True, 80)");
    screen.type_keys("while True: pass\r");
    screen.wait_for("...");
    screen.type_keys("\r");
    press_until(&mut screen, "\x03", "KeyboardInterrupt");
    screen.type_keys("exit()\r");
    ended(screen, false);
}

#[test]
fn a_terminals_answers_reach_who_asked() {
    // The program asks the terminal where its cursor is; the terminal (this test) answers by typing.
    let gsh = Gsh::new(GSH);
    let text = "stty raw -echo; printf '\\033[6n'; head -c 6 | od -An -c; stty sane; echo asked";
    let mut screen = begun(&gsh, text);
    screen.wait_for("before");
    super::wait_for_raw(&mut screen);
    screen.type_keys("\x1b[5;9R");
    screen.wait_for("033   [   5   ;   9   R");
    screen.wait_for("asked");
    ended(screen, false);
}

#[test]
fn a_full_screen_program_that_becomes_a_job_leaves_the_persons_screen() {
    if !has("vim") {
        return;
    }
    let gsh = Gsh::new(GSH).project_file("a.txt", "first line\n");
    let line = format!(
        "echo before; {GSH} --timeout 1s --yolo -c 'vim -u NONE -N a.txt'; echo \"back $?\"; read -r x"
    );
    let mut screen = shell_at(&gsh, &line);
    screen.wait_for("first line");
    screen.wait_for("back 124");
    assert!(!screen.is_taken() && screen.is_cooked() && screen.text().contains("before"));
    screen.type_keys("\r");
    screen.wait();
    // Whoever sits down there is in it again.
    let mut screen = shell_at(&gsh, &format!("{GSH} jobs attach 1; echo \"left $?\"; read -r x"));
    screen.wait_for("first line");
    assert!(screen.is_taken());
    screen.type_keys("\x1d");
    screen.wait_for("left 0");
    assert!(!screen.is_taken() && screen.is_cooked());
    screen.type_keys("\r");
    screen.wait();
    let mut screen = shell_at(&gsh, &format!("{GSH} jobs attach 1; echo \"left $?\"; read -r x"));
    screen.wait_for("first line");
    screen.type_keys(":q\r");
    screen.wait_for("gsh: job 1 is over");
    screen.wait_for("left 0");
    assert!(!screen.is_taken() && screen.is_cooked());
    screen.type_keys("\r");
    screen.wait();
}
