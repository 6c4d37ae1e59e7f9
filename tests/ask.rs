//! Asking a person at a terminal of their own, seen on the screen of a terminal emulator.

use std::path::Path;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::common::machine::{Gsh, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// The text that is asked about: an unknown program that no machine has.
const ASKED: &str = "gsh-test-no-such-program --flag; exit 7";

/// gsh on a terminal that this test program holds and the user vouched for.
fn asked(text: &str, columns: u16, rows: u16) -> Screen {
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    Gsh::new(GSH).config(&config).args(["-c", text]).pty(columns, rows)
}

/// Past the time in which keys are not taken.
fn let_the_person_read() {
    std::thread::sleep(Duration::from_millis(400));
}

#[test]
fn yes_runs_it_once() {
    let mut screen = asked(ASKED, 80, 24);
    screen.wait_for("allow once");
    let shown = screen.text();
    for part in ["gsh-test-no-such-program --flag", "process.execute", "deny"] {
        assert!(shown.contains(part), "no {part:?} on\n{shown}");
    }
    let_the_person_read();
    screen.type_keys("y");
    assert_eq!(screen.wait(), 7, "{}", screen.text());
}

#[test]
fn no_and_escape_and_interrupt_refuse() {
    for keys in ["n", "\u{1b}", "\u{3}"] {
        let mut screen = asked(ASKED, 80, 24);
        screen.wait_for("allow once");
        let_the_person_read();
        screen.type_keys(keys);
        if keys != "\u{3}" {
            screen.wait_for("Reason (Enter for none)");
            screen.type_keys("\r");
        }
        assert_eq!(screen.wait(), 126, "{keys:?}: {}", screen.text());
        screen.wait_for("gsh: the user declined");
        assert!(screen.is_cooked());
    }
}

#[test]
fn enter_and_what_was_typed_before_answer_nothing() {
    let mut screen = asked(ASKED, 80, 24);
    // Typed ahead, before there is a question.
    screen.type_keys("y\n");
    screen.wait_for("allow once");
    let_the_person_read();
    for keys in ["\r", " ", "\n", "yes\r", "y\r", "\u{1b}[3~", "\u{1b}y", "\u{7f}", "\u{1a}", "q"] {
        screen.type_keys(keys);
        std::thread::sleep(Duration::from_millis(100));
    }
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
}

#[test]
fn a_reason_goes_with_the_refusal() {
    let mut screen = asked(ASKED, 80, 24);
    screen.wait_for("allow once");
    let_the_person_read();
    screen.type_keys("n");
    screen.wait_for("Reason (Enter for none)");
    screen.type_keys("use maker\u{7f} instead\r");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
    screen.wait_for("use make instead");
}

#[test]
fn hostile_text_is_made_visible_and_narrow_windows_hold_it() {
    let text = "gsh-test-no-such-program $'\\u202e' \u{202e}evil";
    let mut screen = asked(text, 40, 12);
    screen.wait_for("[n] or [Esc] deny");
    let shown = screen.text();
    assert!(!shown.contains('\u{202e}'), "{shown}");
    let_the_person_read();
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126);
}

#[test]
fn a_terminal_that_nobody_vouched_for_is_not_asked() {
    let mut screen = Gsh::new(GSH).args(["-c", ASKED]).pty(80, 24);
    assert_eq!(screen.wait(), 126);
    screen.wait_for("nobody could be asked");
    assert!(!screen.text().contains("allow once"), "{}", screen.text());
}

#[test]
fn the_floor_and_denials_ask_nobody() {
    let mut screen = asked("gsh-canary-deny", 80, 24);
    assert_eq!(screen.wait(), 126);
    assert!(!screen.text().contains("allow once"), "{}", screen.text());
}

#[test]
fn switched_off_questions_are_refusals() {
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    let gsh = || Gsh::new(GSH).config(&config);
    for (args, name, value) in [
        (vec!["--non-interactive", "-c", ASKED], "X", ""),
        (vec!["-c", ASKED], "GSH_NON_INTERACTIVE", "1"),
        (vec!["-c", ASKED], "CI", "true"),
    ] {
        let mut screen = gsh().args(args).env(name, value).pty(80, 24);
        assert_eq!(screen.wait(), 126, "{name}");
        assert!(!screen.text().contains("allow once"), "{}", screen.text());
    }
}

#[test]
fn an_allowed_command_has_a_terminal_of_the_right_size() {
    let mut screen = Gsh::new(GSH)
        .args(["--yolo", "-c", "stty size; [ -t 0 ] && [ -t 1 ] && echo on a terminal"])
        .pty(100, 30);
    screen.wait_for("on a terminal");
    assert!(screen.text().contains("30 100"), "{}", screen.text());
    assert_eq!(screen.wait(), 0);
}

/// An interactive bash on the test's terminal, which starts gsh as its own words say; `$GO` is a file
/// that the test may make.
fn in_a_shell(line: &str, go: &Path) -> Screen {
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    let shell = Gsh::new("/bin/bash").config(&config).args(["--norc", "--noprofile", "-i"]);
    let mut screen =
        shell.env("PS1", "ready> ").env("GSH", GSH).env("ASKED", ASKED).env("GO", go).pty(80, 24);
    screen.wait_for("ready>");
    screen.type_keys(line);
    screen
}

#[test]
fn from_the_background_nobody_is_asked_and_the_shell_goes_on() {
    let mut screen = in_a_shell("\"$GSH\" -c \"$ASKED\" & wait; echo \"end: $?\"\r", Path::new(""));
    screen.wait_for("gsh runs in the background of this terminal");
    screen.wait_for("end: 0");
    assert!(!screen.text().contains("allow once"), "{}", screen.text());
    // Its settings are the shell's own, and its keys reach the shell.
    screen.type_keys("echo goes-$((1 + 1))\r");
    screen.wait_for("goes-2");
    screen.type_keys("exit 3\r");
    assert_eq!(screen.wait(), 3, "{}", screen.text());
}

#[test]
fn lines_of_others_begin_at_the_left_during_a_question() {
    let folder = tempfile::tempdir().expect("a folder");
    let go = folder.path().join("go");
    let other = "until [ -e \"$GO\" ]; do sleep 0.1; done; printf 'other-%s\\n' 1 2";
    let mut screen = in_a_shell(&format!("({other}) & \"$GSH\" -c \"$ASKED\"\r"), &go);
    screen.wait_for("allow once");
    std::fs::write(&go, "").expect("the sign to go on");
    screen.wait_for("other-2");
    let shown = screen.text();
    assert!(shown.lines().any(|line| line == "other-2"), "{shown}");
    let_the_person_read();
    screen.type_keys("\u{3}");
    screen.wait_for("declined");
}

#[test]
fn yes_counts_only_after_the_last_page() {
    let text: String = (0..60).map(|n| format!("gsh-test-no-such-program --line={n}\n")).collect();
    let mut screen = asked(&(text + "exit 7"), 80, 24);
    screen.wait_for("page 1/");
    let_the_person_read();
    for page in 2.. {
        screen.type_keys("y");
        screen.wait_for("not all shown yet: [j]");
        screen.type_keys(if page % 2 == 0 { "j" } else { "\u{1b}[6~" });
        screen.wait_for(&format!("page {page}/"));
        if screen.text().contains("rule:") {
            break;
        }
    }
    screen.type_keys("y");
    assert_eq!(screen.wait(), 7, "{}", screen.text());
}

#[test]
fn an_abandoned_question_is_on_record_and_the_signal_ends_gsh() {
    for (signal, name) in
        [(Signal::SIGTERM, "Terminated"), (Signal::SIGHUP, "Hangup"), (Signal::SIGINT, "Interrupt")]
    {
        for keys in ["", "n"] {
            let mut screen = asked(ASKED, 80, 24);
            screen.wait_for("allow once");
            let_the_person_read();
            screen.type_keys(keys);
            if keys == "n" {
                screen.wait_for("Reason");
            }
            assert!(!screen.is_cooked());
            kill(Pid::from_raw(screen.pid()), signal).expect("it runs");
            screen.wait_for_death(name);
            assert!(screen.is_cooked(), "{name}");
            let records = screen.records();
            let told: Vec<_> =
                records.iter().map(|record| (record["event"].as_str(), record["why"].as_str())).collect();
            let expected = [
                (Some("opened"), None),
                (Some("PermissionRequested"), None),
                (Some("PermissionDenied"), None),
                (Some("closed"), Some("question abandoned")),
            ];
            assert_eq!(told, expected);
            assert!(records[2]["by"]["nobody"].as_str().is_some_and(|why| why.contains("abandoned")));
        }
    }
}

#[test]
fn the_reason_line_ends_also_without_a_reason() {
    for keys in ["\u{4}", "\u{3}", "\u{1b}", "\r"] {
        let mut screen = asked(ASKED, 80, 24);
        screen.wait_for("allow once");
        let_the_person_read();
        screen.type_keys("n");
        screen.wait_for("Reason (Enter for none):");
        screen.type_keys(keys);
        assert_eq!(screen.wait(), 126, "{keys:?}");
        screen.wait_for("the user declined");
        let shown = screen.text();
        assert!(shown.lines().any(|line| line.starts_with("gsh: the user declined")), "{shown}");
    }
}
