//! Switching it off: one word for a person, and not for what types like one.

use std::path::Path;

use super::{GSH, KINDS, Kind, kinds, runs};
use crate::common::machine::Screen;

/// What no command prints: the word was taken.
const OFF: &str = "off in this shell";

/// After it a refused word is refused as before.
fn still_on(screen: &mut Screen) {
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("not run: canary");
    assert!(!screen.text().contains(OFF), "{}", screen.text());
}

#[test]
fn a_person_switches_it_off_and_the_keys_are_the_shells_again() {
    for kind in kinds() {
        let mut screen = kind.plain();
        runs(&mut screen, "before");
        let records = screen.records().len();
        screen.type_keys("gsh_off\r");
        screen.wait_for(OFF);
        assert!(!screen.text().contains("not decided"), "{}: {}", kind.name, screen.text());
        runs(&mut screen, "without");
        screen.type_keys("echo edi\u{1}\u{5}ted | tr a-z A-Z\r");
        screen.wait_for("EDITED");
        assert_eq!(screen.records().len(), records, "{}: a line was decided", kind.name);
        // In this one shell: the next one has it.
        let mut next = kind.on(screen.into_machine());
        still_on(&mut next);
    }
}

/// A program that is called like an agent holds the shell, and types into it through a terminal of its own.
#[test]
fn beneath_an_agent_the_word_does_nothing() {
    let Some(python) =
        ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists())
    else {
        eprintln!("SKIPPED: no python3 on this machine");
        return;
    };
    for kind in kinds() {
        let gsh = kind.machine("", GSH);
        let agent = gsh.at("claude");
        std::os::unix::fs::symlink(python, &agent).expect("a link");
        // A terminal within the terminal: keys go in, what is shown comes out.
        let text = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))";
        let mut args = vec!["-c".to_owned(), text.to_owned(), kind.program.to_owned()];
        args.extend(kind.args.iter().map(|arg| (*arg).to_owned()));
        let mut screen = kind.on(gsh.program(agent).again().args(args));
        screen.type_keys("gsh_off\r");
        screen.wait_for("not switched off");
        still_on(&mut screen);
    }
}

/// An agent that has only taken the shell's place in front of the same terminal: the terminal is the person's.
#[test]
fn an_agent_at_a_persons_terminal_does_not_switch_it_off() {
    for kind in kinds() {
        let gsh = kind.machine("", GSH);
        let agent = gsh.at("codex");
        std::fs::copy("/bin/sh", &agent).expect("a program of that name");
        let words: Vec<&str> = std::iter::once(kind.program).chain(kind.args.iter().copied()).collect();
        let text = format!("{}; exit $?", words.join(" "));
        let mut screen = kind.on(gsh.program(agent).again().args(["-c".to_owned(), text]));
        screen.type_keys("gsh_off\r");
        screen.wait_for_any(&["not switched off: a person answers, and the agent codex started this"]);
        still_on(&mut screen);
    }
}

#[test]
fn what_gsh_started_does_not_switch_it_off() {
    for kind in kinds() {
        let gsh = kind.machine("", GSH);
        // A shell that an allowed command of gsh starts, at the person's terminal.
        let words: Vec<&str> = std::iter::once(kind.program).chain(kind.args.iter().copied()).collect();
        let text = format!("{}; true", words.join(" "));
        let mut screen = gsh.program(GSH).again().args(["-c", &text]).pty(100, 40);
        screen.wait_for("[Tab] details");
        std::thread::sleep(std::time::Duration::from_millis(400));
        screen.type_keys("y");
        screen.wait_for(super::PROMPT);
        screen.type_keys("gsh_off\r");
        screen.wait_for("not switched off");
        still_on(&mut screen);
    }
}

#[test]
fn a_line_that_names_what_gsh_put_into_the_shell_asks() {
    for kind in kinds() {
        for line in ["unset -f __gsh_enter", "__gsh_proven=x", "echo $__gsh_second"] {
            let mut screen = kind.plain();
            screen.type_keys(&format!("{line}\r"));
            screen.wait_for("gsh asks");
            screen.wait_for("it names what gsh has put into this shell");
        }
    }
}

#[test]
fn keys_and_hooks_are_not_taken_away_unasked() {
    let table: [(Kind, &[&str]); 3] = [
        (
            KINDS[0],
            &["bind '\"\\C-m\": accept-line'", "bind -f other", "exec bash", "bash --norc", "enable -f bind"],
        ),
        (
            KINDS[1],
            &["bindkey '^M' .accept-line", "zle -A .accept-line accept-line", "exec zsh -f", "zsh -f"],
        ),
        (KINDS[2], &["bind \\r execute", "functions -e gsh_off", "exec fish --no-config"]),
    ];
    for (kind, lines) in table {
        if !Path::new(kind.program).exists() {
            eprintln!("SKIPPED: no {} on this machine", kind.program);
            continue;
        }
        for line in lines {
            let mut screen = kind.plain();
            screen.type_keys(&format!("{line}\r"));
            screen.wait_for("gsh asks");
        }
    }
}
