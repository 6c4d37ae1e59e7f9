//! `gsh script.sh` and `#!/usr/bin/env gsh`: the whole is decided first, and one panel has all that asks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::common::machine::{Gsh, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// Twelve commands, of which three ask.
const TWELVE: &str = "#!/usr/bin/env gsh
# A release in small steps.
set -e
printf begun > begun.txt
ls src
cat README.md
for file in a b; do
  echo \"$file\"
done
gsh-test-first --clean
pwd
wc -l < README.md
gsh-test-second README.md
echo middle | tr a-z A-Z
gsh-test-third
";

/// Programs that nobody knows, and a machine that may ask at this test's terminals.
fn machine(script: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program");
    let gsh = Gsh::new(GSH)
        .config(&format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string()))
        .project_file("README.md", "a readme\n")
        .project_file("src/main.rs", "")
        .project_file("script.sh", script);
    let bin = gsh.at("bin");
    fs::create_dir_all(&bin).expect("a folder");
    for name in ["first", "second", "third"] {
        program(&bin.join(format!("gsh-test-{name}")), &format!("#!/bin/sh\necho ran-{name} | tr a-z A-Z\n"));
    }
    std::os::unix::fs::symlink(GSH, bin.join("gsh")).expect("a link");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    gsh.env("PATH", path)
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("that can run");
}

/// Past the time in which keys are dropped.
fn read_by_a_person() {
    std::thread::sleep(std::time::Duration::from_millis(400));
}

fn refuse(mut screen: Screen) {
    screen.type_keys("\u{3}");
    assert_eq!(screen.wait(), 126, "{}", screen.text());
    screen.wait_for("declined");
    assert!(!screen.at("project/begun.txt").exists(), "something ran");
    assert!(!screen.text().contains("RAN-"), "{}", screen.text());
}

#[test]
fn one_panel_sums_a_script_up_and_lists_what_asks() {
    let mut screen = machine(TWELVE).args(["script.sh"]).pty(100, 60);
    screen.wait_for("[Tab] details");
    let shown = screen.text();
    assert!(shown.contains("12 commands, 3 ask (*):"), "{shown}");
    for name in ["first --clean", "second README.md", "third"] {
        let why = format!("- Run gsh-test-{name}: what this program does is not fully explained");
        assert!(shown.contains(&why), "{why} in\n{shown}");
    }
    assert_eq!(shown.matches("gsh asks").count(), 1, "{shown}");
    read_by_a_person();
    refuse(screen);
}

#[test]
fn a_yes_lets_the_whole_run_and_asks_nothing_more() {
    let mut screen = machine(TWELVE).args(["script.sh"]).pty(100, 60);
    screen.wait_for("[Tab] details");
    read_by_a_person();
    screen.type_keys("y");
    screen.wait_for("RAN-THIRD");
    assert_eq!(screen.wait(), 0, "{}", screen.text());
    let shown = screen.text();
    assert!(["RAN-FIRST", "RAN-SECOND", "MIDDLE"].iter().all(|part| shown.contains(part)), "{shown}");
    assert!(screen.at("project/begun.txt").exists());
    let asked =
        screen.records().into_iter().filter(|record| record["event"] == "PermissionRequested").count();
    assert_eq!(asked, 1);
}

#[test]
fn a_script_that_names_gsh_in_its_first_line_is_decided_too() {
    let gsh = machine(TWELVE);
    let script = gsh.at("project/script.sh");
    program(&script, TWELVE);
    let mut screen = gsh.program(script).args(["one", "two"]).pty(100, 60);
    screen.wait_for("12 commands, 3 ask (*):");
    screen.wait_for("[Tab] details");
    read_by_a_person();
    refuse(screen);
    // What is all allowed runs, with its arguments and name.
    let quiet = "#!/usr/bin/env gsh\necho \"$#:$1:${0##*/}\"\n";
    let gsh = machine(quiet);
    let script = gsh.at("project/script.sh");
    program(&script, quiet);
    let run = gsh.program(script).args(["a b", "c"]).run();
    assert_eq!(
        (run.status, run.stdout().as_str(), run.stderr().as_str()),
        (Some(0), "2:a b:script.sh\n", "")
    );
}

#[test]
fn a_long_list_scrolls_and_is_answered_at_its_end_only() {
    let steps: String = (0..45).map(|n| format!("echo {n}\ngsh-test-first --step={n}\n")).collect();
    let script = format!("printf begun > begun.txt\n{steps}");
    let mut screen = machine(&script).args(["script.sh"]).pty(80, 24);
    screen.wait_for("91 commands, 45 ask (*):");
    screen.wait_for("page 1/");
    read_by_a_person();
    screen.type_keys("y");
    screen.wait_for("not all shown yet");
    // Every one that asks is on some page.
    let mut seen = String::new();
    for page in 2.. {
        seen += &screen.text();
        screen.type_keys("j");
        screen.wait_for(&format!("page {page}/"));
        if screen.text().contains(&format!("page {page}/{page}")) {
            seen += &screen.text();
            break;
        }
    }
    for n in 0..45 {
        assert!(seen.contains(&format!("* gsh-test-first --step={n}")), "{n} is on no page");
    }
    assert!(seen.contains("46 more parts ask for nothing else"), "{seen}");
    refuse(screen);
}

#[test]
fn without_a_person_nothing_of_a_script_runs() {
    let run = machine(TWELVE).program("/usr/bin/setsid").args(["--wait", GSH, "script.sh"]).run();
    assert_eq!(run.status, Some(126), "{}", run.stderr());
    assert!(run.stderr().contains("gsh-test-first"), "{}", run.stderr());
    assert!(!run.at("project/begun.txt").exists());
}

#[test]
fn one_refused_command_refuses_the_script() {
    let script = "printf begun > begun.txt\nls\ngsh-canary-deny x\n";
    let run = machine(script).args(["script.sh"]).run();
    assert_eq!(run.status, Some(126), "{}", run.stderr());
    assert!(run.stderr().contains("canary"), "{}", run.stderr());
    assert!(!run.at("project/begun.txt").exists());
}
