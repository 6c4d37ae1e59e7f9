//! Beside what people have in their shells: widgets that others wrap, hooks around a command, options that are odd.
//! Each is loaded before gsh's file and after it. The editor works on, what is refused is refused, what hooks are
//! told is what was typed.

use std::path::Path;

use super::{CLEAR, GSH, KINDS, Kind, PROMPT, bash, cleared, runs};
use crate::common::machine::{Gsh, PATIENCE, Screen};

const ZSH: Kind = KINDS[1];
const FISH: Kind = KINDS[2];

fn is_here(program: &str) -> bool {
    let here = Path::new(program).exists();
    if !here {
        eprintln!("SKIPPED: no {program} on this machine");
    }
    here
}

/// Empties the line that was given back, with the keys of vi where it is so.
fn emptied(screen: &mut Screen, vi: bool) {
    if vi {
        // Before the line is back, the terminal would echo the key.
        let begun = std::time::Instant::now();
        while !screen.text().trim_end().lines().last().is_some_and(|line| line.starts_with(PROMPT)) {
            assert!(begun.elapsed() < PATIENCE, "no prompt:\n{}", screen.text());
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // An escape and what follows it at once are one key.
        screen.type_keys("\u{1b}");
        std::thread::sleep(std::time::Duration::from_millis(700));
        screen.type_keys("dd");
        std::thread::sleep(std::time::Duration::from_millis(100));
        screen.type_keys("i");
    }
    cleared(screen);
}

/// The same lines before gsh's and after them.
fn both(kind: Kind, lines: &str, look: impl Fn(&mut Screen)) {
    for (before, after) in [(lines, ""), ("", lines)] {
        let mut screen = kind.on(kind.around(before, after, GSH));
        look(&mut screen);
    }
}

/// An allowed line, an edited one, a refused one, and an allowed one after it.
fn works(screen: &mut Screen) {
    runs(screen, "plugin");
    screen.type_keys("cho edited | tr a-z A-\u{1}e\u{5}Z\r");
    screen.wait_for("EDITED");
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("not run: canary");
    cleared(screen);
    runs(screen, "after");
    let text = screen.text();
    assert!(!text.contains("not found") && !text.contains("No such widget"), "{text}");
}

#[test]
fn zsh_plugins_of_the_distribution_wrap_it_or_are_wrapped() {
    let suggestions = "/usr/share/zsh-autosuggestions/zsh-autosuggestions.zsh";
    let colours = "/usr/share/zsh-syntax-highlighting/zsh-syntax-highlighting.zsh";
    let found: Vec<&str> = [suggestions, colours].into_iter().filter(|file| is_here(file)).collect();
    if !is_here(ZSH.program) || found.is_empty() {
        return;
    }
    let lines: String = found.iter().map(|file| format!("source {file}\n")).collect();
    both(ZSH, &lines, |screen| {
        works(screen);
        if found.contains(&suggestions) {
            // What is suggested and taken is decided as what is typed. The terminal's own keys bring it in.
            screen.type_keys("echo taken | tr a-z A-Z\r");
            screen.wait_for("TAKEN");
            screen.type_keys("\u{c}echo ta");
            screen.wait_for("echo taken");
            screen.type_keys("\u{5}\r");
            screen.wait_for("TAKEN");
        }
    });
}

#[test]
fn zsh_widgets_that_accept_a_line_in_their_own_way_go_on() {
    if !is_here(ZSH.program) {
        return;
    }
    // As a plugin does that does something at an empty line.
    let lines = "enter() { [[ -n $BUFFER ]] || BUFFER='echo empty | tr a-z A-Z'; zle .accept-line; }\n\
                 zle -N accept-line enter";
    let mut screen = ZSH.on(ZSH.around(lines, "", GSH));
    screen.type_keys("\r");
    screen.wait_for("EMPTY");
    works(&mut screen);
    // One that puts another line in the place of the decided one: that is decided, too.
    let lines = "enter() { BUFFER=${BUFFER/echo harmless/gsh-canary-deny}; zle .accept-line; }\nzle -N accept-line enter";
    let mut screen = ZSH.on(ZSH.around(lines, "", GSH));
    screen.type_keys("echo harmless | cat\r");
    screen.wait_for("not run: canary");
    // One that comes after gsh and asks nobody: it is told, once.
    let lines = "enter() { zle .accept-line; }\nzle -N accept-line enter";
    let mut screen = ZSH.on(ZSH.around("", lines, GSH));
    runs(&mut screen, "first");
    screen.wait_for("this line was not decided");
    screen.type_keys("\u{c}");
    runs(&mut screen, "second");
    assert!(!screen.text().contains("not decided"), "{}", screen.text());
}

/// Hooks as bash-preexec and its kin have them: a DEBUG trap that is armed by the last of the prompt's commands, and
/// tells what stands in the history.
const PREEXEC: &str = "\
armed=
told() {
  [[ -n $armed && -z ${COMP_LINE-}${READLINE_POINT-} ]] || return 0
  armed=
  local entry=$(HISTTIMEFORMAT= history 1)
  echo \"before<${entry#*[0-9]  }>\"
}
ended() { local status=$?; echo \"after<$status>\"; return $status; }
arm() { armed=yes; }
trap told DEBUG
";

#[test]
fn bash_hooks_before_and_after_a_command_are_told_what_was_typed() {
    let ways = [
        "PROMPT_COMMAND=(ended arm)",
        "PROMPT_COMMAND=\"${PROMPT_COMMAND:+$PROMPT_COMMAND; }ended; arm\"",
        "PROMPT_COMMAND=(ended \"${PROMPT_COMMAND[@]}\" arm)",
    ];
    for way in ways {
        let lines = format!("{PREEXEC}{way}");
        for (before, after) in [(lines.as_str(), ""), ("", lines.as_str())] {
            let mut screen = bash().on(bash().around(before, after, GSH));
            screen.wait_for("after<0>");
            screen.type_keys("(exit 7)\r");
            screen.wait_for("before<(exit 7)>");
            screen.wait_for("after<7>");
            screen.type_keys("gsh-canary-deny x\r");
            screen.wait_for("not run: canary");
            cleared(&mut screen);
            screen.type_keys("echo typed | tr a-z A-Z\r");
            screen.wait_for("TYPED");
            screen.wait_for("before<echo typed | tr a-z A-Z>");
            let text = screen.text();
            assert!(!text.contains("before<gsh-canary") && !text.contains("before<__gsh"), "{way}: {text}");
            assert_eq!(text.matches("before<").count(), 2, "{way}: {text}");
        }
    }
}

#[test]
fn a_bash_of_ones_own_keeps_traps_keys_and_options() {
    let table = [
        // A DEBUG trap that fails, as with `extdebug` it would hold a command back.
        "trap 'false' DEBUG",
        "shopt -s extdebug",
        "shopt -s extdebug; trap 'true' DEBUG; shopt -u extdebug",
        "set -o functrace; trap ':' DEBUG",
        "trap 'seen=1' ERR; set -E",
        // As atuin does: a program behind a key, which changes the line.
        "found() { READLINE_LINE='echo found'; READLINE_POINT=10; }; bind -x '\"\\C-t\": found'",
        "set -o posix",
        "set -o vi",
        "set -u",
        "shopt -s nocasematch extglob failglob",
        "PS1=$'one\\nP> '",
        "PS0='$(true)'",
        "IFS=:",
        "LC_ALL=C",
        "alias ll='ls -l'",
        "set -o noglob",
        "shopt -s expand_aliases; alias builtin=false local=false bind=false",
    ];
    for lines in table {
        eprintln!("{lines}");
        for (before, after) in [(lines, ""), ("", lines)] {
            let mut screen = bash().on(bash().around(before, after, GSH));
            screen.type_keys("echo own | tr a-z A-Z\r");
            screen.wait_for("OWN");
            screen.type_keys("gsh-canary-deny x\r");
            screen.wait_for("not run: canary");
            emptied(&mut screen, lines.contains("vi"));
            if lines.contains("found()") {
                screen.type_keys("\u{14}");
                screen.wait_for("P> echo found");
                screen.type_keys(" | tr a-z A-Z\r");
                screen.wait_for("FOUND");
            }
            screen.type_keys("echo after | tr a-z A-Z\r");
            screen.wait_for("AFTER");
        }
    }
}

#[test]
fn keys_that_are_taken_after_it_are_told_of_once() {
    let lines = "bind '\"\\C-m\": accept-line'\nbind '\"\\C-j\": accept-line'";
    let mut screen = bash().on(bash().around("", lines, GSH));
    runs(&mut screen, "first");
    screen.wait_for("a line ran undecided");
    screen.type_keys("\u{c}");
    runs(&mut screen, "second");
    assert!(!screen.text().contains("undecided"), "{}", screen.text());
    // Where they are gsh's, nothing is said: of empty lines, blocks, refusals.
    let mut screen = bash().plain();
    screen.type_keys("\r\recho a | cat; echo b\r");
    screen.type_keys("\u{1b}[200~echo one\necho two\u{1b}[201~\r");
    screen.wait_for("\ntwo");
    // What is typed before the prompt stands there is shown twice.
    cleared(&mut screen);
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("not run: canary");
    cleared(&mut screen);
    runs(&mut screen, "after");
    assert!(!screen.text().contains("undecided"), "{}", screen.text());
}

#[test]
fn a_shell_that_ends_at_an_error_does_not_end_at_a_refusal() {
    for (kind, lines) in [(bash(), "set -e"), (bash(), "set -eu"), (ZSH, "setopt err_exit no_unset")] {
        if !is_here(kind.program) {
            continue;
        }
        let mut screen = kind.on(kind.around("", lines, GSH));
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for("not run: canary");
        cleared(&mut screen);
        runs(&mut screen, "alive");
        screen.type_keys("false\r");
        let _status = screen.wait();
    }
}

#[test]
fn a_zsh_of_ones_own_keeps_its_options_and_hooks() {
    if !is_here(ZSH.program) {
        return;
    }
    let table = [
        "emulate sh; PS1='P> '",
        "emulate ksh; PS1='P> '",
        "setopt ksh_arrays sh_word_split",
        "setopt no_unset warn_create_global",
        "setopt null_glob extended_glob glob_subst",
        "setopt interactive_comments rc_quotes",
        "setopt xtrace; PS4=; unsetopt xtrace",
        "bindkey -v",
        "IFS=:",
        "preexec() { print -r -- \"before<$1>\"; }",
        "precmd() { print -r -- \"after<$?>\"; }",
        "TRAPDEBUG() { : }",
        "alias print=false local=false",
        "unsetopt bang_hist",
    ];
    for lines in table {
        eprintln!("{lines}");
        both(ZSH, lines, |screen| {
            screen.type_keys("echo own | tr a-z A-Z\r");
            screen.wait_for("OWN");
            screen.type_keys("gsh-canary-deny x\r");
            screen.wait_for("not run: canary");
            emptied(screen, lines.contains("-v"));
            screen.type_keys("echo after | tr a-z A-Z\r");
            screen.wait_for("AFTER");
            if lines.contains("before<") {
                screen.wait_for("before<echo after | tr a-z A-Z>");
                assert!(!screen.text().contains("before<gsh-canary"), "{}", screen.text());
            }
        });
    }
}

#[test]
fn a_fish_of_ones_own_keeps_its_events_and_prompts() {
    if !is_here(FISH.program) {
        return;
    }
    let lines = "function told --on-event fish_preexec; echo \"before<$argv>\"; end\n\
                 function ended --on-event fish_postexec; echo \"after<$status>\"; end\n\
                 function fish_right_prompt; echo -n right; end\n\
                 bind \\ct 'commandline -r \"echo found\"'\n\
                 bind \\r execute";
    both(FISH, lines, |screen| {
        screen.wait_for("right");
        screen.type_keys("false\r");
        screen.wait_for("before<false>");
        screen.wait_for("after<1>");
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for("not run: canary");
        cleared_right(screen);
        screen.type_keys("\u{14} | tr a-z A-Z\r");
        screen.wait_for("FOUND");
        assert!(!screen.text().contains("before<gsh-canary"), "{}", screen.text());
    });
}

/// Empties a line whose prompt has something at its right.
fn cleared_right(screen: &mut Screen) {
    let begun = std::time::Instant::now();
    let is_empty = |screen: &mut Screen| {
        let text = screen.text();
        let last = text.trim_end().lines().last().unwrap_or_default().to_owned();
        last.starts_with("P>") && last.replace("right", "").trim_end() == "P>"
    };
    while !is_empty(screen) {
        assert!(begun.elapsed() < crate::common::machine::PATIENCE, "{}", screen.text());
        screen.type_keys(CLEAR);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A program in gsh's place, at this path.
fn stand_in(gsh: &Gsh, path: &str, text: &str, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::write(gsh.at(path), text).expect("a program");
    std::fs::set_permissions(gsh.at(path), std::fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn a_gsh_that_hangs_is_given_up_and_one_that_cannot_run_is_told_of() {
    let table = [
        ("#!/bin/sh\nsleep 600\n", 0o755),
        ("#!/bin/sh\ntrap '' TERM INT; while :; do sleep 1; done\n", 0o755),
        ("#!/bin/sh\necho run\nsleep 600\n", 0o755),
        ("#!/bin/sh\nexit 0\n", 0o644),
        ("#!/bin/sh\necho run; exit 5\n", 0o755),
        ("#!/bin/sh\nkill -SEGV $$\n", 0o755),
    ];
    for kind in super::kinds() {
        for (text, mode) in table {
            eprintln!("{}: {text}", kind.name);
            let place = tempfile::tempdir().expect("a folder");
            let program = place.path().join("stand-in");
            // With a short patience, so that the test has one.
            let gsh = kind.machine("", &format!("{} 2", program.display()));
            stand_in(&gsh, "stand-in", text, mode);
            std::fs::copy(gsh.at("stand-in"), &program).expect("it is there");
            let mut screen = kind.on(gsh);
            screen.type_keys("echo hangs | tr a-z A-Z\r");
            screen.wait_for("gives no answer");
            cleared(&mut screen);
            assert!(!screen.text().lines().any(|line| line.trim() == "HANGS"), "{}", screen.text());
        }
    }
}
