//! The panel on a terminal emulator's screen: sizes, keys, resizing, stopping; the terminal afterwards.

use std::io::Read;
use std::time::{Duration, Instant};

use gsh::ask::{Help, Keeps, Manner, Panel, Question, Style, ask_at};
use gsh::pipeline::{Checked, check};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use portable_pty::CommandBuilder;

use crate::common::machine::{Gsh, PATIENCE, Screen, records};
use crate::common::{fixture, policy};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const ASKED: &str = "gsh-test-no-such-program --flag; exit 7";

/// This very program, called with a text: asks about it at its terminal, keeps nothing, runs nothing,
/// and says what was answered.
#[test]
fn asking_side() {
    let Ok(text) = std::env::var("GSH_TEST_PANEL") else { return };
    let request = fixture::request(&text);
    let Checked { script, facts, decision } = check(&request, &policy::builtin_policy(), &fixture::host());
    let question =
        Question { request: &request, decision: &decision, script: &script, facts: &facts, record: "" };
    let keeps = Keeps {
        session: true,
        project: Some("/home/dev/proj/.gsh/config.toml".to_owned()),
        user: Some("~/.config/gsh/config.toml".to_owned()),
    };
    let covered = |pattern: &str| vec![format!("past {pattern}"); 12];
    let help = Help { covered: &covered, keeps, ..Help::none() };
    let var = |name: &str| std::env::var(name).ok();
    let manner = Manner {
        plain: var("GSH_TEST_PLAIN").is_some(),
        style: Style::of(var("TERM").as_deref(), var("NO_COLOR").as_deref()),
        terminals: Vec::new(),
        ..Manner::default()
    };
    // Its own name: `/dev/tty` is one file for all terminals, and so is the lock on it.
    let terminal = std::fs::read_link("/proc/self/fd/0").expect("a terminal");
    let answer = ask_at(&terminal, &Panel::new(&question, &help), &help, &manner);
    std::fs::write(var("GSH_TEST_ANSWER").expect("a place"), format!("{answer:?}")).expect("the answer");
}

/// A question at a terminal of its own, and where its answer will be.
struct Asking {
    screen: Screen,
    folder: tempfile::TempDir,
}

impl Asking {
    /// What was answered in the end.
    fn answer(mut self) -> String {
        assert_eq!(self.screen.wait(), 0, "{}", self.screen.text());
        assert!(self.screen.is_cooked());
        std::fs::read_to_string(self.folder.path().join("answer")).expect("an answer")
    }
}

fn asking(text: &str, (columns, rows): (u16, u16), variables: &[(&str, &str)]) -> Asking {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = CommandBuilder::new(std::env::current_exe().expect("our own file"));
    command.args(["--exact", "panel::asking_side", "--nocapture", "--test-threads=1"]);
    command.env_clear();
    command.env("GSH_TEST_PANEL", text);
    command.env("GSH_TEST_ANSWER", folder.path().join("answer"));
    command.env("TERM", "xterm");
    for (name, value) in variables {
        command.env(name, value);
    }
    let mut screen = Screen::start(command, columns, rows, None);
    screen.wait_for("gsh asks: ");
    screen.wait_for(if variables.iter().any(|(name, _)| *name == "GSH_TEST_PLAIN") {
        "Type yes"
    } else {
        "Tab"
    });
    std::thread::sleep(Duration::from_millis(300));
    Asking { screen, folder }
}

/// Presses keys one by one, as a hand does; `~` is Escape, `!` Enter.
fn press(screen: &mut Screen, keys: &str) {
    for key in keys.chars() {
        let key = match key {
            '~' => "\u{1b}".to_owned(),
            '!' => "\r".to_owned(),
            key => key.to_string(),
        };
        screen.type_keys(&key);
        std::thread::sleep(Duration::from_millis(80));
    }
}

/// A hostile text for each way to mislead an eye.
fn hostile() -> Vec<String> {
    vec![
        "frobnicate \u{1b}[2J\u{1b}[1;1H\u{1b}]0;title\u{7}\u{9b}31m# ls".to_owned(),
        "frobnicate \u{202e}txt.exe\u{2066} \u{200b}\u{feff}".to_owned(),
        format!("frobnicate {}", "x".repeat(10_000)),
        format!("frobnicate{}ls", "\n".repeat(300)),
        format!("frobnicate {}", "日本語👩🏽‍💻".repeat(80)),
        format!("frobnicate 1{}ls -la", " ".repeat(2_000)),
        "frobnicate \r\u{8}\u{8}\u{8}\u{b}\u{c}\u{85}\u{2028}ls".to_owned(),
    ]
}

#[test]
fn no_text_paints_outside_the_frame_in_any_window() {
    for text in hostile() {
        for size in [(24, 6), (40, 12), (80, 24), (132, 43), (400, 60)] {
            let mut asking = asking(&text, size, &[("NO_COLOR", "1")]);
            for _ in 0..3 {
                let lines = asking.screen.lines();
                let begin = lines.iter().rposition(|line| line.starts_with("+-- gsh asks:"));
                let begin = begin.unwrap_or_else(|| panic!("no title at {size:?}: {lines:#?}"));
                let outside =
                    lines[begin..].iter().find(|line| !line.is_empty() && !line.starts_with(['|', ':', '+']));
                assert_eq!(outside, None, "{size:?}: {lines:#?}");
                let hidden = |c: char| {
                    c.is_control() || matches!(c, '\u{202e}' | '\u{2066}' | '\u{200b}' | '\u{feff}')
                };
                assert!(!lines.concat().contains(hidden), "{lines:#?}");
                assert!(!asking.screen.is_coloured());
                press(&mut asking.screen, "j");
            }
            asking.screen.type_keys("\u{3}");
            assert_eq!(asking.answer(), "Ok(Denied { reason: None })");
        }
    }
}

#[test]
fn colours_are_only_there_where_they_are_wanted() {
    for (variables, expected) in
        [(&[][..], true), (&[("NO_COLOR", "1")][..], false), (&[("TERM", "dumb")][..], false)]
    {
        let mut asking = asking("npm run dev -x", (80, 24), variables);
        assert_eq!(asking.screen.is_coloured(), expected, "{variables:?}");
        let shown = asking.screen.text();
        for part in ["| npm run dev -x", "| - Run npm run dev -x", "[y] allow once", "[s] for this session"] {
            assert!(shown.contains(part), "{part:?} in {shown}");
        }
        press(&mut asking.screen, "y");
        assert_eq!(asking.answer(), "Ok(Once)");
    }
}

#[test]
fn every_answer_can_be_given() {
    let table = [
        ("y", "Ok(Once)"),
        ("sy", "Ok(Session)"),
        ("my", "Ok(Minutes(15))"),
        ("m\u{7f}\u{7f}90y", "Ok(Minutes(90))"),
        (
            "ay",
            "Ok(Always { patterns: [Kept { capability: ProcessExecute, pattern: \"npm run dev -x\" }], scope: Project })",
        ),
        ("apy", "scope: User })"),
        ("ae\u{7f}\u{7f}*!y", "pattern: \"npm run dev *\" }], scope: Project })"),
        ("n!", "Ok(Denied { reason: None })"),
        ("~no such thing!", "Ok(Denied { reason: Some(\"no such thing\") })"),
        ("d~", "Ok(DeniedSession { reason: None })"),
        ("\t\ty", "Ok(Once)"),
        ("?~y", "Ok(Once)"),
        ("s~a~m~y", "Ok(Once)"),
    ];
    for (keys, expected) in table {
        let mut asking = asking("npm run dev -x", (132, 43), &[]);
        press(&mut asking.screen, keys);
        let answer = asking.answer();
        assert!(answer.contains(expected), "{keys:?}: {answer}");
    }
}

#[test]
fn what_is_kept_is_on_the_screen_before_it_is_kept() {
    let mut asking = asking("npm run dev -x", (80, 24), &[]);
    press(&mut asking.screen, "a");
    asking.screen.wait_for("process.execute \"npm run dev -x\"");
    asking.screen.wait_for("kept for this project, in /home/dev/proj/.gsh/config.toml");
    asking.screen.wait_for("it would have covered 12 commands of the record:");
    asking.screen.wait_for("and 2 more");
    press(&mut asking.screen, "!   ");
    press(&mut asking.screen, "~s");
    asking.screen.wait_for("until this session ends");
    // The panel before is painted over, not left above.
    assert!(!asking.screen.text().contains("allow always?"), "{}", asking.screen.text());
    press(&mut asking.screen, "~\t");
    asking.screen.wait_for("rule: process.execute \"*\" (built in)");
    asking.screen.wait_for("runs: npm run dev -x in /home/dev/proj (not fully explained)");
    asking.screen.type_keys("\u{3}");
    assert_eq!(asking.answer(), "Ok(Denied { reason: None })");
}

#[test]
fn a_paste_answers_nothing() {
    let mut asking = asking("npm run dev -x", (80, 24), &[]);
    for paste in ["yes\r", "y\n", "yy", "sy", "\u{1b}[200~y\u{1b}[201~", "\u{1b}y"] {
        asking.screen.type_keys(paste);
        std::thread::sleep(Duration::from_millis(150));
        assert!(!asking.screen.text().contains("allowed"), "{paste:?}: {}", asking.screen.text());
    }
    press(&mut asking.screen, "y");
    assert_eq!(asking.answer(), "Ok(Once)");
}

/// The user's words that this program's terminals are theirs; more of `[ask]` may follow.
fn vouched() -> String {
    let holder = std::env::current_exe().expect("this program");
    format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string())
}

/// gsh itself asks about a text, at a terminal that the user vouched for.
fn gsh_asks(text: &str, more: &str, (columns, rows): (u16, u16)) -> Screen {
    Gsh::new(GSH).config(&(vouched() + more)).args(["-c", text]).pty(columns, rows)
}

#[test]
fn another_size_is_painted_anew_and_read_anew() {
    let text = "gsh-test-no-such-program\n".repeat(12) + "exit 7";
    let mut screen = gsh_asks(&text, "", (80, 43));
    screen.wait_for("[y] allow once");
    screen.resize(40, 12);
    screen.wait_for("+ 1/");
    std::thread::sleep(Duration::from_millis(300));
    press(&mut screen, "y");
    screen.wait_for("not all shown yet: [j]");
    screen.resize(132, 43);
    screen.wait_for("[Tab] details  [?] keys");
    assert!(!screen.text().contains("not all shown"), "{}", screen.text());
    std::thread::sleep(Duration::from_millis(300));
    press(&mut screen, "y");
    assert_eq!(screen.wait(), 7, "{}", screen.text());
}

#[test]
fn plain_lines_are_answered_by_words() {
    let table = [
        (&["yes"][..], "Ok(Once)"),
        (&["y"][..], "Ok(Denied { reason: None })"),
        (&[""][..], "Ok(Denied { reason: None })"),
        (&["use make"][..], "Ok(Denied { reason: Some(\"use make\") })"),
        (&["never"][..], "Ok(DeniedSession { reason: None })"),
        (&["details", "yes"][..], "Ok(Once)"),
        (&["session", "no", "yes"][..], "Ok(Once)"),
        (&["session", "yes"][..], "Ok(Session)"),
        (&["5 minutes", "yes"][..], "Ok(Minutes(5))"),
        (&["always", "1", "yes"][..], "pattern: \"npm run dev -x\""),
        (&["always", "npm*", "yes"][..], "pattern: \"npm*\""),
        (&["always", "make", "yes"][..], "Ok(Once)"),
        (&["\u{4}"][..], "Ok(Denied { reason: None })"),
    ];
    for (words, expected) in table {
        let mut asking = asking("npm run dev -x", (132, 43), &[("GSH_TEST_PLAIN", "1")]);
        assert!(
            !asking.screen.text().contains('|') && !asking.screen.is_coloured(),
            "{}",
            asking.screen.text()
        );
        for word in words {
            asking.screen.type_keys(&format!("{word}\r"));
            std::thread::sleep(Duration::from_millis(150));
        }
        let answer = asking.answer();
        assert!(answer.contains(expected), "{words:?}: {answer}");
    }
}

#[test]
fn the_plain_question_is_a_setting() {
    for (keys, status) in [("yes\r", 7), ("\u{3}", 126), ("\u{4}", 126)] {
        let mut screen = gsh_asks(ASKED, "plain = true\n", (80, 24));
        screen.type_keys("yes\r");
        screen.wait_for("or a reason to deny:");
        std::thread::sleep(Duration::from_millis(300));
        screen.type_keys(keys);
        assert_eq!(screen.wait(), status, "{keys:?}: {}", screen.text());
    }
}

/// An interactive bash that starts gsh, with the words of its own that are given.
fn in_a_shell(line: &str) -> Screen {
    let config = vouched();
    let shell = Gsh::new("/bin/bash").config(&config).args(["--norc", "--noprofile", "-i"]);
    let mut screen = shell.env("PS1", "ready> ").env("GSH", GSH).env("ASKED", ASKED).pty(100, 40);
    screen.wait_for("ready>");
    screen.type_keys(line);
    screen
}

/// The process whose number the screen tells as `pid-N-`.
fn told_pid(screen: &mut Screen) -> Pid {
    let shown = screen.text();
    let number = shown.split("pid-").filter_map(|rest| rest.split_once('-')?.0.parse().ok()).last();
    Pid::from_raw(number.unwrap_or_else(|| panic!("no process on\n{shown}")))
}

const TOLD: &str = "bash -c 'echo pid-$$-; exec \"$GSH\" -c \"$ASKED\"'; echo \"end-$?\"\r";

#[test]
fn a_question_cannot_be_stopped_by_a_key_or_a_polite_signal() {
    let mut screen = in_a_shell(TOLD);
    screen.wait_for("allow once");
    std::thread::sleep(Duration::from_millis(300));
    screen.type_keys("\u{1a}");
    kill(told_pid(&mut screen), Signal::SIGTSTP).expect("it runs");
    std::thread::sleep(Duration::from_millis(200));
    assert!(!screen.text().contains("ready> \n") && !screen.text().contains("Stopped"), "{}", screen.text());
    press(&mut screen, "y");
    screen.wait_for("end-7");
}

#[test]
fn a_question_that_was_stopped_goes_on_where_it_was() {
    let mut screen = in_a_shell(TOLD);
    screen.wait_for("allow once");
    kill(told_pid(&mut screen), Signal::SIGSTOP).expect("it runs");
    screen.wait_for("Stopped");
    screen.type_keys("echo still-$((1 + 1)); fg\r");
    screen.wait_for("still-2");
    std::thread::sleep(Duration::from_millis(300));
    let last = |screen: &mut Screen| screen.text().matches("allow once").count();
    assert_eq!(last(&mut screen), 2, "{}", screen.text());
    press(&mut screen, "y");
    screen.wait_for("end-");
    assert!(screen.text().contains("allowed once"), "{}", screen.text());
}

#[test]
fn killed_outright_the_shell_has_its_terminal_again() {
    let mut screen = in_a_shell(TOLD);
    screen.wait_for("allow once");
    assert!(!screen.is_cooked());
    kill(told_pid(&mut screen), Signal::SIGKILL).expect("it runs");
    screen.wait_for("end-137");
    screen.type_keys("stty -a | grep -o ' icanon'; echo settings-$((1 + 1))\r");
    screen.wait_for("settings-2");
    assert!(screen.text().contains(" icanon"), "{}", screen.text());
}

#[test]
fn one_question_at_a_time_and_the_next_one_says_that_it_waits() {
    let line = "bash -c '\"$GSH\" -c \"$ASKED\" & \"$GSH\" -c \"$ASKED\"; wait $!; echo \"all-$?\"'\r";
    let mut screen = in_a_shell(line);
    screen.wait_for("one more question waits until this one is answered");
    screen.wait_for("allow once");
    assert_eq!(screen.text().matches("allow once").count(), 1, "{}", screen.text());
    std::thread::sleep(Duration::from_millis(400));
    press(&mut screen, "y");
    screen.wait_for("allowed once");
    let begun = Instant::now();
    while screen.text().matches("[y] allow once").count() < 2 {
        assert!(begun.elapsed() < PATIENCE, "{}", screen.text());
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(400));
    press(&mut screen, "y");
    screen.wait_for("all-7");
}

#[test]
fn a_terminal_that_hangs_up_is_a_no_on_record() {
    let config = vouched();
    let gsh = Gsh::new(GSH).config(&config).args(["-c", "gsh-test-no-such-program; touch made"]);
    let pair = nix::pty::openpty(None, None).expect("a terminal");
    let own = nix::fcntl::FcntlArg::F_SETFD(nix::fcntl::FdFlag::FD_CLOEXEC);
    nix::fcntl::fcntl(&pair.master, own).expect("an end of our own");
    let mut child = gsh.on(&pair.slave);
    drop(pair.slave);
    let mut leader = std::fs::File::from(pair.master);
    let mut shown = Vec::new();
    while !String::from_utf8_lossy(&shown).contains("allow once") {
        let mut chunk = [0; 1024];
        let length = leader.read(&mut chunk).expect("its output");
        shown.extend_from_slice(&chunk[..length]);
    }
    drop(leader);
    let status = child.wait().expect("its end");
    assert!(!status.success(), "{status:?}");
    assert!(!gsh.at("project/made").exists());
    let told = records(&gsh.at("home/.local/state/gsh/audit"));
    assert!(told.iter().any(|line| line["by"]["nobody"].is_string()), "{told:?}");
}

#[test]
fn a_key_pressed_before_a_resized_panel_could_be_read_is_none() {
    let words: Vec<String> = (0..300).map(|number| format!("word{number}")).collect();
    let mut screen = gsh_asks(&format!("gsh-test-no-such-program {}", words.join(" ")), "", (80, 24));
    screen.wait_for("next page");
    std::thread::sleep(Duration::from_millis(400));
    // The last page is on the screen of this size.
    screen.resize(200, 60);
    screen.type_keys("y");
    std::thread::sleep(Duration::from_millis(600));
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
}

#[test]
fn a_key_that_is_held_down_answers_nothing() {
    let mut screen = gsh_asks("gsh-test-no-such-program", "", (80, 24));
    for _ in 0..50 {
        screen.type_keys("y");
        std::thread::sleep(Duration::from_millis(30));
    }
    screen.wait_for("allow once");
    std::thread::sleep(Duration::from_millis(400));
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
}
