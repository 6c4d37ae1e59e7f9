//! Answers that last: what they let pass, where, and until when. At a terminal that the test holds.

use std::time::Duration;

use crate::common::machine::{Gsh, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// An unknown program that no machine has: it ends with 127 where it runs.
const ASKED: &str = "gsh-test-no-such-program --flag";
const RAN: u32 = 127;
const REFUSED: u32 = 126;

/// A machine whose terminals are this test's, in a session of its own.
fn machine() -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n")).env("GSH_SESSION", "first")
}

/// Answers a question with these keys, pressed as a hand does; the exit status and the machine.
fn answered(gsh: Gsh, text: &str, keys: &[&str]) -> (u32, Gsh) {
    let mut screen = gsh.again().args(["-c", text]).pty(100, 30);
    screen.wait_for("gsh asks: ");
    for key in keys {
        std::thread::sleep(Duration::from_millis(400));
        screen.type_keys(key);
    }
    let status = screen.wait();
    (status, screen.into_machine())
}

/// Runs a text without a terminal: what asks is refused.
fn runs(gsh: Gsh, text: &str) -> (Option<i32>, Gsh) {
    let run = gsh.again().args(["-c", text]).run();
    (run.status, run.machine)
}

fn then(gsh: Gsh, table: &[(&str, i32)]) -> Gsh {
    table.iter().fold(gsh, |gsh, (text, expected)| {
        let (status, gsh) = runs(gsh, text);
        assert_eq!(status, Some(*expected), "{text}");
        gsh
    })
}

#[test]
fn once_is_once() {
    let (status, gsh) = answered(machine(), ASKED, &["y"]);
    assert_eq!(status, RAN);
    then(gsh, &[(ASKED, 126)]);
}

#[test]
fn an_answer_for_the_session_covers_exactly_what_was_asked() {
    let (status, gsh) = answered(machine(), ASKED, &["s", "y"]);
    assert_eq!(status, RAN);
    let gsh = then(gsh, &[(ASKED, 127), ("gsh-test-no-such-program --other", 126), ("gsh-canary-deny", 126)]);
    let listed = gsh.again().args(["grants"]).run();
    assert!(listed.stdout().contains("gsh-test-no-such-program --flag"), "{}", listed.stdout());
    assert!(listed.stdout().contains("at /dev/pts/"), "{}", listed.stdout());
    then(listed.machine.env("GSH_SESSION", "second"), &[(ASKED, 126)]);
}

#[test]
fn minutes_end_with_the_session_at_the_latest() {
    let (status, gsh) = answered(machine(), ASKED, &["m", "y"]);
    assert_eq!(status, RAN);
    let listed = then(gsh, &[(ASKED, 127)]).again().args(["grants", "--json"]).run();
    let grants: serde_json::Value = serde_json::from_str(&listed.stdout()).expect("JSON");
    assert!(grants["grants"][0]["until"].is_string(), "{grants}");
}

#[test]
fn always_becomes_a_rule_that_later_sessions_have() {
    let (status, gsh) = answered(machine(), "npm run gsh-test-nothing", &["a", "y"]);
    assert_ne!(status, REFUSED);
    let file = gsh.at("project/.gsh/config.toml");
    let written = std::fs::read_to_string(&file).expect("the project's file");
    assert!(written.contains("npm run gsh-test-nothing") && written.contains("lifts"), "{written}");
    let check =
        gsh.env("GSH_SESSION", "second").again().args(["check", "-c", "npm run gsh-test-nothing"]).run();
    assert_eq!(check.status, Some(0), "{}", check.stdout());
}

#[test]
fn a_denial_for_the_session_asks_no_more() {
    let mut screen = machine().args(["-c", ASKED]).pty(100, 30);
    screen.wait_for("gsh asks: ");
    std::thread::sleep(Duration::from_millis(400));
    screen.type_keys("d");
    std::thread::sleep(Duration::from_millis(400));
    screen.type_keys("\r");
    assert_eq!(screen.wait(), REFUSED, "{}", screen.text());
    let run = screen.into_machine().again().args(["-c", ASKED]).run();
    assert_eq!(run.status, Some(126));
    assert!(run.stderr().contains("gsh grants revoke g1"), "{}", run.stderr());
}

#[test]
fn another_script_is_another_question() {
    let gsh = machine().project_file("s.sh", "exit 5\n");
    let (status, gsh) = answered(gsh, "bash s.sh", &["s", "y"]);
    assert_eq!(status, 5);
    let gsh = then(gsh, &[("bash s.sh", 5)]);
    let gsh = gsh.project_file("s.sh", "exit 6\n");
    then(gsh, &[("bash s.sh", 126)]);
}

#[test]
fn what_may_be_answered_only_once_offers_nothing_more() {
    for text in [
        "rm -rf src",
        "echo x > .git/hooks/pre-commit",
        "sudo gsh-test-no-such-program",
        "gsh-test-no-such-program --token 7f3kQ9zLw2Xv8Rt5Yb1N",
    ] {
        let gsh = machine().project_file("src/a", "");
        let mut screen: Screen = gsh.args(["-c", text]).pty(100, 30);
        screen.wait_for("gsh asks: ");
        std::thread::sleep(Duration::from_millis(400));
        assert!(!screen.text().contains("[s]"), "{}", screen.text());
        screen.type_keys("s");
        screen.type_keys("a");
        std::thread::sleep(Duration::from_millis(200));
        screen.type_keys("\u{3}");
        assert_eq!(screen.wait(), REFUSED, "{text}");
    }
}

/// A shell at one terminal starts two calls of one session; both want to ask.
fn two_at_once(second: &str) -> Screen {
    let gsh = machine();
    let line = format!("{GSH} -c '{ASKED}'; echo \"one $?\"; wait; echo end");
    let both = format!("({GSH} -c '{second}'; echo \"two $?\") & sleep 0.4; {line}");
    gsh.program("/bin/bash").args(["-c", &both]).pty(100, 40)
}

#[test]
fn an_answer_that_covers_the_next_question_answers_it() {
    for (keys, expected) in [(&["s", "y"][..], "127"), (&["n", "\r"], "126")] {
        let mut screen = two_at_once(ASKED);
        screen.wait_for("one more question waits");
        for key in keys {
            std::thread::sleep(Duration::from_millis(400));
            screen.type_keys(key);
        }
        screen.wait_for(&format!("one {expected}"));
        screen.wait_for(&format!("two {expected}"));
    }
}

#[test]
fn the_same_words_elsewhere_are_another_question() {
    let gsh =
        machine().project_file("s.sh", "#!/bin/sh\nexit 5\n").project_file("sub/s.sh", "#!/bin/sh\nexit 5\n");
    for file in ["project/s.sh", "project/sub/s.sh"] {
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(gsh.at(file), executable).expect("executable");
    }
    let (status, gsh) = answered(gsh, "./s.sh", &["s", "y"]);
    assert_eq!(status, 5);
    then(
        gsh,
        &[("./s.sh", 5), ("cd sub; ./s.sh", 126), ("cd sub && ./s.sh", 126), ("env -C sub ./s.sh", 126)],
    );
}

#[test]
fn the_script_of_any_interpreter_is_bound() {
    for text in ["python3 s.py", "python3 -u s.py a", "perl s.py", "python3.99 s.py"] {
        let gsh = machine().project_file("s.py", "exit(0)\n");
        let (status, gsh) = answered(gsh, text, &["s", "y"]);
        assert_ne!(status, REFUSED, "{text}");
        let (status, gsh) = runs(gsh, text);
        assert_ne!(status, Some(126), "{text}");
        then(gsh.project_file("s.py", "exit(1)\n"), &[(text, 126)]);
    }
    // Where there was no file, none may come.
    let (status, gsh) = answered(machine(), "bash s.sh", &["s", "y"]);
    assert_eq!(status, RAN);
    then(gsh.project_file("s.sh", "exit 0\n"), &[("bash s.sh", 126)]);
}

#[test]
fn a_denial_outlives_a_change_of_the_script() {
    let gsh = machine().project_file("s.sh", "exit 5\n");
    let (status, gsh) = answered(gsh, "bash s.sh", &["d", "\r"]);
    assert_eq!(status, REFUSED);
    let run = gsh.project_file("s.sh", "exit 6\n").again().args(["-c", "bash s.sh"]).run();
    assert!(run.stderr().contains("gsh grants revoke g1"), "{}", run.stderr());
}

#[test]
fn an_answer_about_a_file_covers_no_tree() {
    let (status, gsh) = answered(machine().project_file("kept", "x"), "rm kept", &["s", "y"]);
    assert_eq!(status, 0);
    let gsh = gsh.project_file("kept/a", "x");
    then(gsh, &[("rm -r kept", 126)]);
}

#[test]
fn an_answer_holds_in_its_directory() {
    let gsh = machine()
        .project_file("sub/x", "")
        .project_file("t.sh", "exit 5\n")
        .project_file("sub/t.sh", "exit 6\n");
    let (status, gsh) = answered(gsh, ASKED, &["s", "y"]);
    assert_eq!(status, RAN);
    let gsh = then(
        gsh,
        &[(ASKED, 127), (&format!("cd sub && {ASKED}"), 126), (&format!("{ASKED}; cd sub; {ASKED}"), 126)],
    );
    let (status, gsh) = answered(gsh, "bash ./t.sh", &["s", "y"]);
    assert_eq!(status, 5);
    then(
        gsh,
        &[("bash ./t.sh", 5), ("cd sub && bash ./t.sh", 126), ("bash ./t.sh; cd sub; bash ./t.sh", 126)],
    );
}
