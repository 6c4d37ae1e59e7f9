//! What has misled people at other programs' questions, held against ours: each case is a text or a
//! setting, and what must be on the screen or come of it.

use std::time::{Duration, Instant};

use crate::common::machine::{Gsh, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

fn gsh(text: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    Gsh::new(GSH).config(&config).args(["-c", text])
}

/// The question about a text, past the time in which keys are not taken.
fn question(text: &str) -> Screen {
    let mut screen = gsh(text).pty(80, 24);
    screen.wait_for("[Tab] details");
    std::thread::sleep(Duration::from_millis(300));
    screen
}

fn refuse(mut screen: Screen) {
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
    assert!(!screen.at("project/made").exists());
}

#[test]
fn what_is_shown_is_what_would_run() {
    let table: [(&str, String, &[&str]); 8] = [
        (
            "a letter without a width",
            "curl https://host.example/\u{200b}x".into(),
            &["| curl https://host.example/<U+200B>x"],
        ),
        (
            "a line that erases itself",
            "gsh-test-none made #\u{1b}[2K\u{1b}[1Gls -la".into(),
            &["| gsh-test-none made #\\e[2K\\e[1Gls -la"],
        ),
        ("a line written over", "gsh-test-none made #\rls -la".into(), &["| gsh-test-none made #\\rls -la"]),
        (
            "the part that matters behind a long beginning",
            format!("A={0} B={0} gsh-test-none made", "p".repeat(400)),
            &["| - Run gsh-test-none made"],
        ),
        (
            "the text and no summary of it",
            "gsh-test-none --exact 'a  b'".into(),
            &["| gsh-test-none --exact 'a  b'"],
        ),
        (
            "a name of letters that look like others",
            "curl -sSL https://\u{456}nstall.example.com/x".into(),
            &["xn--nstall-ovf.example.com", "letters outside ASCII"],
        ),
        ("a host behind a right-to-left turn", "curl https://\u{202e}moc.example/x".into(), &["<U+202E>"]),
        ("what is not closed", "gsh-test-none \"unterminated".into(), &["not understood: "]),
    ];
    for (what, text, expected) in table {
        let mut screen = question(&text);
        let shown = screen.text();
        for part in expected {
            assert!(shown.contains(part), "{what}: {part:?} in\n{shown}");
        }
        refuse(screen);
    }
}

#[test]
fn the_whole_text_can_be_read_before_it_is_answered() {
    let text: String = (0..40).map(|n| format!("echo {n}\n")).collect::<String>() + "gsh-test-none made";
    let mut screen = question(&text);
    // What asks is on the first page, whatever stands before it in the text.
    assert!(screen.text().contains("- Run gsh-test-none made"), "{}", screen.text());
    screen.type_keys("y");
    screen.wait_for("not all shown yet");
    for _ in 0..20 {
        if screen.text().lines().any(|line| line.trim_end() == "| gsh-test-none made") {
            return refuse(screen);
        }
        screen.type_keys("j");
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("the last line was on no page:\n{}", screen.text());
}

#[test]
fn no_key_but_the_one_that_says_so_approves() {
    // Delete, Backspace, Enter, Home, function keys, a mouse report, an answer to a terminal's own question.
    let keys = [
        "\u{1b}[3~",
        "\u{7f}",
        "\r",
        "\u{1b}[H",
        "\u{1b}OP",
        "\u{1b}[<0;1;1M",
        "\u{1b}[24;80R",
        "\u{1b}[?1;2c",
    ];
    let mut screen = question("gsh-test-none; touch made");
    for key in keys {
        screen.type_keys(key);
        std::thread::sleep(Duration::from_millis(120));
    }
    assert!(!screen.text().contains("allowed"), "{}", screen.text());
    refuse(screen);
}

#[test]
fn enter_while_a_refusal_is_written_refuses() {
    let mut screen = question("gsh-test-none; touch made");
    screen.type_keys("n");
    screen.wait_for("Reason");
    screen.type_keys("y\r");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
    screen.wait_for("Their reason: y");
    assert!(!screen.at("project/made").exists());
}

#[test]
fn without_a_terminal_the_answer_is_no_at_once_and_says_how_to_allow() {
    for text in ["gsh-test-none made", "rm -rf ./data", "touch made; gsh-test-none"] {
        let begun = Instant::now();
        let args = ["--wait", GSH, "-c", text];
        let run = Gsh::new("/usr/bin/setsid").project_file("data/x", "").args(args).run();
        assert_eq!(run.status, Some(126), "{text}: {}", run.stderr());
        assert!(begun.elapsed() < Duration::from_secs(5), "{text}");
        assert!(
            run.stderr().contains("Why nobody: there is no terminal to ask at."),
            "{text}: {}",
            run.stderr()
        );
        assert!(run.at("project/data/x").exists() && !run.at("project/made").exists(), "{text}");
    }
    let run = Gsh::new("/usr/bin/setsid").args(["--wait", GSH, "-c", "npm run made"]).run();
    assert!(run.stderr().contains("\"Bash(npm run made)\" = \"allow\""), "{}", run.stderr());
}

#[test]
fn a_terminal_that_cannot_be_opened_troubles_nothing_that_is_allowed() {
    let run = Gsh::new("/usr/bin/setsid").args(["--wait", GSH, "-c", "ls"]).run();
    assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""));
}

#[test]
fn what_is_allowed_is_not_explained_away() {
    let run = gsh("ls | grep '\\.json$' | wc -l").run();
    assert_eq!((run.status, run.stderr().as_str()), (Some(0), ""));
}

#[test]
fn keys_that_a_command_leaves_behind_answer_no_question() {
    // Typed while the command before the question runs, as a program that fakes input would.
    let holder = std::env::current_exe().expect("this program");
    let config = format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string());
    let line = "sleep 1; \"$GSH\" -c 'gsh-test-none; touch made'";
    let mut screen = Gsh::new("/bin/bash").config(&config).env("GSH", GSH).args(["-c", line]).pty(80, 24);
    screen.type_keys("y\ry\n");
    screen.wait_for("[Tab] details");
    std::thread::sleep(Duration::from_millis(400));
    assert!(!screen.text().contains("allowed"), "{}", screen.text());
    refuse(screen);
}
