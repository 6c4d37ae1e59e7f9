//! A shell at a terminal: what a person types with the editor, and what an agent types without one.

mod programs;
mod state;

use crate::common::machine::{Gsh, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// The configuration in which this test program's terminals are a person's.
fn vouched() -> String {
    let holder = std::env::current_exe().expect("this program");
    format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string())
}

/// A person's shell in bypass mode, at its first prompt.
fn persons() -> Screen {
    let mut screen = Gsh::new(GSH).config(&vouched()).args(["--yolo"]).pty(100, 30);
    screen.wait_for("[bypass]> ");
    screen
}

/// A shell at a terminal that may be anybody's, at its first prompt.
fn anybodys(gsh: Gsh) -> Screen {
    let mut screen = gsh.pty(100, 40);
    screen.wait_for("# ");
    screen
}

/// Types a line and waits for what it shows. The keys for `EXPECTED` must not be in the line itself.
fn enter(screen: &mut Screen, line: &str, expected: &str) {
    assert!(!line.contains(expected), "{line} shows {expected} by being typed");
    screen.type_keys(&format!("{line}\r"));
    screen.wait_for(expected);
}

/// Presses a key when this program is in front of the terminal: before, it would be another's.
fn press_at(screen: &mut Screen, program: &str, key: &str) {
    super::jobs::wait_until("it is in front", || screen.in_front() == program);
    screen.type_keys(key);
}

#[test]
fn what_a_statement_leaves_the_next_one_finds() {
    let mut screen = persons();
    std::fs::write(screen.at("project/lib.sh"), "greet() { echo \"hello $1\"; }\n").expect("written");
    enter(&mut screen, "cd /usr; export A=one", "/usr [bypass]> ");
    enter(&mut screen, "printf '<%s>\\n' \"$A$PWD\"; (exit 7)", "</usr>".replace('<', "<one").as_str());
    screen.wait_for("/usr [bypass] 7> ");
    enter(&mut screen, "echo \"was $?\"", "was 7");
    enter(&mut screen, "cd - >/dev/null; . ./lib.sh; echo re\"ad\"", "read\n/tmp");
    enter(&mut screen, "greet 'you' | tr a-z A-Z", "HELLO YOU");
    screen.type_keys("exit 3\r");
    assert_eq!(screen.wait(), 3);
    let records = screen.records();
    let typed = records.iter().filter(|record| record["entry"] == "interactive").count();
    assert!(typed >= 6, "{records:#?}");
}

#[test]
fn the_line_editor_of_bash_itself_may_be_turned_on_and_off() {
    let mut screen = persons();
    enter(&mut screen, "set -o vi; echo on\"e\"", "one");
    enter(&mut screen, "[[ -o vi ]] && echo is-\"on\"", "is-on");
    enter(&mut screen, "set +o vi; echo tw\"o\"; (exit 3)", "two");
    screen.wait_for("[bypass] 3> ");
    enter(&mut screen, "[[ -o vi ]] || echo is-\"off $?\"", "is-off 1");
}

#[test]
fn a_path_below_the_home_is_completed_and_stays_written_so() {
    let mut screen = persons();
    std::fs::create_dir_all(screen.at("home/documents")).expect("a folder");
    for (typed, completed) in [("ls ~/docu\t", "ls ~/documents/"), ("ls $HOME/docu\t", "ls $HOME/documents/")]
    {
        screen.type_keys(typed);
        screen.wait_for(completed);
        screen.type_keys("\x15");
    }
    enter(&mut screen, ":explain", "which line?");
}

#[test]
fn keys_that_make_signals_are_the_commands() {
    let mut screen = persons();
    screen.type_keys("echo run'ning'; sleep 60\r");
    press_at(&mut screen, "sleep", "\x03");
    screen.wait_for("[bypass] 130> ");
    screen.type_keys("echo sl'eeps'; sleep 61\r");
    press_at(&mut screen, "sleep", "\x1a");
    screen.wait_for("Stopped");
    enter(&mut screen, "bg; echo back\"ground\"", "background");
    screen.type_keys("fg\r");
    screen.wait_for("fg\nsleep 61");
    press_at(&mut screen, "sleep", "\x03");
    enter(&mut screen, "jobs; echo none-\"left\"", "none-left\n/tmp");
    screen.type_keys("abandoned");
    screen.wait_for("> abandoned");
    screen.type_keys("\x03");
    super::jobs::wait_until("a new prompt", || screen.lines().last().is_some_and(|line| line.ends_with('>')));
    enter(&mut screen, "echo still-\"here\"", "still-here\n/tmp");
    super::jobs::wait_until("keys are taken", || !screen.is_cooked());
    screen.type_keys("\x04");
    assert_eq!(screen.wait(), 0);
}

#[test]
fn a_statement_may_have_many_lines_and_a_paste_is_one() {
    let mut screen = Gsh::new(GSH).config(&vouched()).pty(100, 30);
    screen.wait_for("> ");
    screen.type_keys("for x in a b; do\r");
    screen.type_keys("echo \"<$x>\"\r");
    screen.type_keys("done\r");
    screen.wait_for("<a>\n<b>");
    screen.type_keys("\x1b[200~touch one\ntouch two\ngsh-test-no-such-program\x1b[201~\r");
    screen.wait_for("gsh asks");
    screen.wait_for("touch two");
    std::thread::sleep(std::time::Duration::from_millis(400));
    screen.type_keys("\x1b");
    screen.wait_for("Reason");
    screen.type_keys("\r");
    screen.wait_for("126> ");
    assert!(!screen.at("project/one").exists() && !screen.at("project/two").exists());
    screen.type_keys("exit\r");
    screen.wait();
    let asked = screen.records().iter().filter(|record| record["verdict"] == "ask").count();
    assert_eq!(asked, 1);
}

#[test]
fn a_refused_line_says_why_and_the_shell_lives_on() {
    let mut screen = Gsh::new(GSH).config(&vouched()).pty(100, 30);
    screen.wait_for("> ");
    screen.type_keys("gsh-canary-deny\r");
    screen.wait_for("gsh: refused: gsh-canary-deny");
    screen.wait_for("126> ");
    enter(&mut screen, "echo \"was $?\"", "was 126");
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn the_verdict_is_told_in_words_while_a_line_is_typed() {
    let mut screen = Gsh::new(GSH).config(&vouched()).env("NO_COLOR", "1").pty(160, 30);
    screen.wait_for("> ");
    for (line, told) in [
        ("echo a", "[allow]"),
        ("gsh-canary-deny", "[deny: "),
        ("git push", "[ask: "),
        ("$x", "[ask, not understood: "),
    ] {
        screen.type_keys(line);
        screen.wait_for(told);
        screen.type_keys("\x15");
    }
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn lines_are_remembered_but_for_private_ones() {
    let mut screen = persons();
    enter(&mut screen, "echo kept\"-line\"", "kept-line");
    enter(&mut screen, " echo pri\"vate\"", "private");
    screen.type_keys("exit\r");
    screen.wait();
    let history = std::fs::read_to_string(screen.at("home/.local/state/gsh/history")).expect("a history");
    assert!(history.contains("kept") && !history.contains("pri"), "{history}");
    let mut screen = screen.into_machine().again().args(["--yolo"]).pty(100, 30);
    screen.wait_for("[bypass]> ");
    screen.type_keys("\x1b[A\x1b[A\r");
    screen.wait_for("kept-line");
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn words_are_completed() {
    let mut screen = persons();
    std::fs::write(screen.at("project/a-long-name"), "inside\n").expect("written");
    screen.type_keys("cat a-lo\t\r");
    screen.wait_for("inside");
    screen.type_keys("git --no-pager versi\t");
    screen.wait_for("version");
    screen.type_keys("\x15exit\r");
    screen.wait();
}

#[test]
fn a_person_tells_gsh_by_a_colon() {
    let mut screen = Gsh::new(GSH).config(&vouched()).pty(120, 40);
    screen.wait_for("> ");
    enter(&mut screen, ":mode plan", "[plan]> ");
    enter(&mut screen, ":explain gsh-canary-deny", "deny: ");
    enter(&mut screen, ":undo-grant", "nothing was granted");
    enter(&mut screen, ":help", ":undo-grant");
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn each_statement_is_decided_with_what_is_on_disk_then() {
    let mut screen = Gsh::new(GSH).config(&vouched()).pty(100, 30);
    screen.wait_for("> ");
    enter(&mut screen, "echo be\"fore\"", "before");
    let rule = "[permissions.\"process.execute\"]\n\"echo *\" = \"deny\"\n";
    std::fs::write(screen.at("home/.config/gsh/config.toml"), vouched() + rule).expect("written");
    enter(&mut screen, "echo after", "gsh: refused by policy: echo after");
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn full_screen_programs_have_the_terminal_and_its_size() {
    let mut screen = persons();
    screen.resize(90, 20);
    enter(&mut screen, "stty size", "20 90");
    std::fs::write(screen.at("project/text"), "first\nlast line\n".repeat(40)).expect("written");
    screen.type_keys("less text\r");
    screen.wait_for("first\nlast line");
    super::jobs::wait_until("less has the screen", || screen.is_taken());
    screen.type_keys("q");
    super::jobs::wait_until("the screen is given back", || !screen.is_taken());
    enter(&mut screen, "echo a\"fter\"", "after");
    screen.type_keys("exit\r");
    screen.wait();
}

#[test]
fn an_agent_that_types_finds_the_shell_it_expects() {
    let mut screen = anybodys(Gsh::new(GSH).args(["--yolo"]));
    enter(&mut screen, "export PS1='PRO''MPT:' ; export PS2='' ; export PS0=''", "\nPROMPT:");
    enter(&mut screen, "cd /usr; x=5; echo do\"ne\"", "done\nPROMPT:");
    enter(&mut screen, "echo \"<$x$PWD>\"", "<5/usr>\nPROMPT:");
    screen.type_keys("if true; then\recho in\"ner\"\rfi\r");
    screen.wait_for("inner\nPROMPT:");
    enter(&mut screen, "gsh-canary-deny", "refused: gsh-canary-deny");
    enter(&mut screen, "echo EXIT$?CODE", "EXIT126CODE\nPROMPT:");
    // Before, the terminal gathers a line, and cuts one of this length.
    super::jobs::wait_until("bytes are read", || !screen.is_cooked());
    let long = "y".repeat(6000);
    enter(&mut screen, &format!("clear; echo {long} | wc -c"), "6001\nPROMPT:");
    enter(&mut screen, "read -r l; echo \"<$l>\"\rfor the command", "<for the command>\nPROMPT:");
    screen.type_keys("exit 7\r");
    assert_eq!(screen.wait(), 7);
}

#[test]
fn who_is_no_person_cannot_tell_gsh_anything() {
    let mut screen = anybodys(Gsh::new(GSH));
    enter(&mut screen, ":mode bypass", "not run");
    screen.type_keys("exit\r");
    screen.wait();
    assert!(!screen.text().contains("[bypass]"));
}
