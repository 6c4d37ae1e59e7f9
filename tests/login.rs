//! gsh as the shell that a login starts: called `-gsh`, with the few variables that a login has.

use std::path::Path;

use crate::common::machine::{Gsh, Run, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// As `login` and `sshd` start the shell that `/etc/passwd` names; with bash, what a bash there says.
fn login(name: &str, program: &str, args: &str) -> Gsh {
    let line = format!("exec -a {name} {program} {args}");
    Gsh::new("/bin/bash")
        .args(["--norc", "--noprofile", "-c", &line])
        .env("SHELL", program)
        .env("USER", "dev")
        .env("LOGNAME", "dev")
}

/// At a terminal that a person vouched for.
fn at_terminal(name: &str) -> Screen {
    let holder = std::env::current_exe().expect("this program");
    login(name, GSH, "")
        .config(&format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string()))
        .pty(100, 30)
}

/// Waits for its prompt, which ends the last line.
fn ready(screen: &mut Screen) {
    let begun = std::time::Instant::now();
    while !screen.text().trim_end().ends_with(['$', '#', '>']) {
        assert!(begun.elapsed() < crate::common::machine::PATIENCE, "no prompt:\n{}", screen.text());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_login_at_a_terminal_is_a_shell() {
    let mut screen = at_terminal("-gsh");
    ready(&mut screen);
    screen.type_keys("echo logged-in | tr a-z A-Z\r");
    screen.wait_for("LOGGED-IN");
    // A word that is a verb elsewhere is a command here.
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("refused");
    screen.type_keys("cd /; pwd | tr / X\r");
    screen.wait_for("X");
    screen.type_keys("exit 7\r");
    assert_eq!(screen.wait(), 7, "{}", screen.text());
    let records = screen.records();
    assert!(records.iter().any(|record| record["entry"] == "interactive"), "{records:?}");
}

#[test]
fn what_a_login_runs_is_as_with_bash() {
    let plain = |run: Run| (run.status, run.stdout(), run.stderr());
    let bash = Path::new("/bin/bash");
    assert!(bash.exists());
    for (name, args) in [
        // `su - dev -c`, `ssh host command`, a program that looks for a login shell.
        ("-NAME", "-c 'echo one; exit 3'"),
        ("NAME", "-c 'echo one; exit 3'"),
        ("-NAME", "-c 'shopt -q login_shell && echo login'"),
        ("NAME", "-l -c 'shopt -q login_shell && echo login'"),
        ("NAME", "-c 'shopt -q login_shell || echo none'"),
        ("-NAME", "-c 'echo \"$1\"' name argument"),
        ("-NAME", "-s < /dev/null"),
    ] {
        let [ours, theirs] = [("gsh", GSH), ("bash", "/bin/bash")]
            .map(|(word, program)| {
                login(&name.replace("NAME", word), program, args).config("mode = \"bypass\"\n")
            })
            .map(|machine| plain(machine.run()));
        assert_eq!(ours, theirs, "{name} {args}");
    }
}

#[test]
fn a_verb_is_no_verb_for_a_login() {
    // It is a script of that name for bash, and so for us.
    let run = login("-gsh", GSH, "status").run();
    assert_eq!(run.status, Some(127), "{}", run.stderr());
    assert!(run.stderr().contains("No such file"), "{}", run.stderr());
}

#[test]
fn a_login_bash_becomes_gsh_or_stays_where_there_is_none() {
    // The line that the guide gives.
    let guide = include_str!("../docs/guide.md");
    let line = guide.lines().find(|line| line.contains("exec gsh")).expect("it gives one");
    for (found, expected) in [(true, "refused: gsh-canary-deny"), (false, "command not found")] {
        let gsh = Gsh::new("/bin/bash").args(["-l", "-i"]);
        let bin = gsh.at("bin");
        std::fs::create_dir_all(&bin).expect("a folder");
        if found {
            std::os::unix::fs::symlink(GSH, bin.join("gsh")).expect("a link");
        }
        let path =
            format!("export PATH={}:/usr/bin:/bin FROM_PROFILE=profile PS1='P> '\n{line}\n", bin.display());
        std::fs::write(gsh.at("home/.bash_profile"), path).expect("what it reads first");
        let mut screen = gsh.pty(100, 30);
        ready(&mut screen);
        screen.type_keys("echo $FROM_PROFILE | tr a-z A-Z\r");
        screen.wait_for("PROFILE");
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for(expected);
    }
}

#[test]
fn without_a_home_and_variables_a_login_still_has_a_shell() {
    let line = format!("exec env -i TERM=dumb bash --norc --noprofile -c 'exec -a -gsh {GSH}'");
    let mut screen = Gsh::new("/bin/bash").args(["-c", &line]).pty(100, 30);
    ready(&mut screen);
    screen.type_keys("echo bare | tr a-z A-Z\r");
    screen.wait_for("BARE");
}
