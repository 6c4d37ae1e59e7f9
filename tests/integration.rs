//! A person's own bash, zsh and fish with gsh looking over their shoulder, seen on a screen.

mod off;
mod paste;
mod plugins;
mod reported;
mod tmux;

use std::fs;
use std::path::Path;

use crate::common::machine::{Gsh, PATIENCE, Screen};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const PROMPT: &str = "P> ";

/// A shell, and what it reads first.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    program: &'static str,
    args: &'static [&'static str],
    rc: &'static str,
    prompt: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "bash",
        program: "/bin/bash",
        args: &["--noprofile", "-i"],
        rc: "home/.bashrc",
        prompt: "PS1='P> '\nHISTFILE=$HOME/history\n",
    },
    Kind {
        name: "zsh",
        program: "/usr/bin/zsh",
        args: &["-d", "-i"],
        rc: "home/.zshrc",
        prompt: "PS1='P> '\nunsetopt promptsp\n",
    },
    Kind {
        name: "fish",
        program: "/usr/bin/fish",
        args: &["-i"],
        rc: "home/.config/fish/config.fish",
        prompt: "set -g fish_greeting\nfunction fish_prompt; echo -n 'P> '; end\n",
    },
];

impl Kind {
    /// The shell at its first prompt, with these lines before gsh's.
    fn with(self, lines: &str, program: &str) -> Screen {
        self.on(self.machine(lines, program))
    }

    fn machine(self, lines: &str, program: &str) -> Gsh {
        self.around(lines, "", program)
    }

    /// With these lines before gsh's, and those after them.
    fn around(self, before: &str, after: &str, program: &str) -> Gsh {
        let holder = std::env::current_exe().expect("this program");
        let gsh = Gsh::new(self.program)
            .config(&format!("[ask]\nterminals = [{:?}]\n", holder.display().to_string()))
            .project_file("some-file", "its text\n")
            .args(self.args.iter().copied())
            .env("LANG", "C.UTF-8");
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("shell-integration")
            .join(format!("gsh.{}", self.name));
        let rc = format!("{}{before}\nsource {} {program}\n{after}\n", self.prompt, script.display());
        let path = gsh.at(self.rc);
        fs::create_dir_all(path.parent().expect("a folder")).expect("its folder");
        fs::write(path, rc).expect("what it reads first");
        gsh
    }

    fn on(self, gsh: Gsh) -> Screen {
        let mut screen = gsh.pty(100, 40);
        screen.wait_for(PROMPT);
        screen
    }

    fn plain(self) -> Screen {
        self.with("", GSH)
    }
}

/// Those that are here; the others are named.
fn kinds() -> Vec<Kind> {
    let (here, absent): (Vec<Kind>, Vec<Kind>) =
        KINDS.into_iter().partition(|kind| Path::new(kind.program).exists());
    for kind in absent {
        eprintln!("SKIPPED: no {} on this machine", kind.program);
    }
    here
}

fn bash() -> Kind {
    KINDS[0]
}

/// Types a line that is allowed; what it prints is not what it says.
fn runs(screen: &mut Screen, word: &str) {
    screen.type_keys(&format!("echo {word} | tr a-z A-Z\r"));
    screen.wait_for(&word.to_uppercase());
}

/// A line that asks, and prints this in capitals when it runs.
fn asks(screen: &mut Screen, word: &str) {
    screen.type_keys(&format!("gsh-test-no-such-program; echo {word} | tr a-z A-Z\r"));
    screen.wait_for("gsh asks");
    screen.wait_for("deny for this session");
    // Keys of the first moment are dropped.
    std::thread::sleep(std::time::Duration::from_millis(400));
}

/// Wipes the screen, and waits until this is gone from it.
fn wiped(screen: &mut Screen, gone: &str) {
    screen.type_keys("\u{c}");
    let begun = std::time::Instant::now();
    while screen.text().contains(gone) {
        assert!(begun.elapsed() < PATIENCE, "{gone} stays:\n{}", screen.text());
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

const CLEAR: &str = "\u{15}";

/// Empties the line that was given back. While gsh still speaks there is no editor that would hear the key, and an
/// editor paints the prompt before the line.
fn cleared(screen: &mut Screen) {
    let begun = std::time::Instant::now();
    let mut empty = 0;
    while empty < 3 {
        assert!(begun.elapsed() < PATIENCE, "the line stays:\n{}", screen.text());
        screen.type_keys(CLEAR);
        std::thread::sleep(std::time::Duration::from_millis(50));
        let text = screen.text();
        let last = text.trim_end().lines().last().map(str::trim_end);
        empty = if last == Some(PROMPT.trim_end()) { empty + 1 } else { 0 };
    }
}

#[test]
fn an_allowed_line_runs_and_leaves_a_record() {
    for kind in kinds() {
        let mut screen = kind.plain();
        runs(&mut screen, "first");
        runs(&mut screen, "second");
        let opened: Vec<_> =
            screen.records().into_iter().filter(|record| record["event"] == "opened").collect();
        let of = |record: &serde_json::Value| (record["entry"].clone(), record["origin"].clone());
        assert!(opened.len() == 2, "{}: {opened:?}", kind.name);
        assert!(opened.iter().all(|record| of(record) == ("typed".into(), "person".into())), "{opened:?}");
    }
}

#[test]
fn a_refused_line_does_not_run_and_stays_to_be_corrected() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for("not run: canary");
        cleared(&mut screen);
        runs(&mut screen, "after");
        let text = screen.text();
        assert!(!text.contains("not found") && !text.contains("nknown command"), "{}: {text}", kind.name);
    }
}

#[test]
fn an_asked_line_runs_after_a_yes_only() {
    for kind in kinds() {
        let mut screen = kind.plain();
        asks(&mut screen, "approved");
        screen.type_keys("y");
        screen.wait_for("APPROVED");
        wiped(&mut screen, "gsh");
        for key in ["\u{1b}", "\u{3}"] {
            asks(&mut screen, "declined");
            screen.type_keys(key);
            if key == "\u{1b}" {
                screen.wait_for("Reason");
                screen.type_keys("\r");
            }
            screen.wait_for("gsh: not run");
            cleared(&mut screen);
            runs(&mut screen, "goes-on");
            assert!(!screen.text().contains("DECLINED"), "{}: {}", kind.name, screen.text());
            wiped(&mut screen, "gsh");
        }
    }
}

#[test]
fn a_text_of_several_lines_is_decided_when_it_is_whole() {
    for kind in kinds().into_iter().filter(|kind| kind.name != "fish") {
        let mut screen = kind.plain();
        screen.type_keys("for x in a b\r");
        screen.type_keys("do echo \"<$x>\" | tr ab XY\r");
        screen.type_keys("done\r");
        screen.wait_for("<Y>");
        runs(&mut screen, "after");
        assert!(!screen.text().contains("gsh"), "{}: {}", kind.name, screen.text());
    }
}

#[test]
fn a_pasted_block_is_one_question() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys(
            "\u{1b}[200~gsh-test-no-such-program\necho two | tr a-z A-Z\necho three | tr a-z A-Z\u{1b}[201~",
        );
        screen.wait_for("echo three");
        screen.type_keys("\r");
        screen.wait_for("deny for this session");
        let text = screen.text();
        let panel = text.split("gsh asks").nth(1).unwrap_or_default().to_owned();
        assert!(["echo two", "echo three"].iter().all(|line| panel.contains(line)), "{}: {text}", kind.name);
        assert!(!text.contains("TWO"), "{}: {text}", kind.name);
        std::thread::sleep(std::time::Duration::from_millis(400));
        screen.type_keys("y");
        screen.wait_for("THREE");
        assert_eq!(screen.text().matches("gsh asks").count(), 1, "{}", screen.text());
    }
}

/// A program in gsh's place.
fn stand_in(gsh: &Gsh, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = gsh.at("stand-in");
    fs::write(&path, text).expect("a program");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("that can run");
    path.display().to_string()
}

#[test]
fn a_gsh_that_gives_no_answer_holds_or_lets_run_as_the_person_said() {
    let broken = [
        "",
        "#!/bin/sh\nexit 1\n",
        "#!/bin/sh\nexit 0\n",
        "#!/bin/sh\nkill -9 $$\n",
        "#!/bin/sh\nsleep 2; exit 1\n",
    ];
    for kind in kinds() {
        for text in broken {
            for word in ["strict", "warn"] {
                let place = tempfile::tempdir().expect("a folder");
                let set = if kind.name == "fish" { "set -g GSH_WHEN_BROKEN " } else { "GSH_WHEN_BROKEN=" };
                let program = place.path().join("stand-in");
                let gsh = kind.machine(&format!("{set}{word}"), &program.display().to_string());
                if !text.is_empty() {
                    fs::copy(stand_in(&gsh, text), &program).expect("it is there");
                }
                let mut screen = kind.on(gsh);
                screen.type_keys("echo broken | tr a-z A-Z\r");
                screen.wait_for("gives no answer");
                if word == "warn" {
                    screen.wait_for("BROKEN");
                    wiped(&mut screen, "gsh");
                    runs(&mut screen, "again");
                    assert!(!screen.text().contains("gives no answer"), "{}: told once", kind.name);
                } else {
                    screen.wait_for("gsh_off switches it off");
                    cleared(&mut screen);
                    screen.type_keys("gsh_off\r");
                    screen.wait_for("Type the word off");
                    screen.type_keys("off");
                    screen.wait_for("without it: off");
                    screen.type_keys("\r");
                    screen.wait_for("off in this shell");
                    let ran = screen.text().lines().any(|line| line.trim() == "BROKEN");
                    assert!(!ran, "{}: {}", kind.name, screen.text());
                    runs(&mut screen, "without");
                }
            }
        }
    }
}

#[test]
fn a_person_switches_it_off_and_who_may_be_none_does_not() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys("gsh_off\r");
        screen.wait_for("off in this shell");
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for_any(&["not found", "nknown command"]);
        // A terminal that nobody vouched for may be an agent's.
        let mut screen = kind.on(kind.machine("", GSH).config(""));
        screen.type_keys("gsh_off\r");
        screen.wait_for("not switched off");
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for("not run: canary");
    }
}

#[test]
fn editing_and_completion_are_as_before() {
    for kind in kinds() {
        let mut screen = kind.plain();
        screen.type_keys("cat some-f\t");
        screen.wait_for("some-file");
        screen.type_keys("\r");
        screen.wait_for("its text");
        // The beginning and the end of the line are edited.
        screen.type_keys("cho edited | tr a-z A-\u{1}e\u{5}Z\r");
        screen.wait_for("EDITED");
    }
}

#[test]
fn what_the_person_set_for_their_own_commands_does_not_reach_it() {
    // As bash-preexec, starship and their kin do: a DEBUG trap, PS0, PROMPT_COMMAND.
    let others =
        "n=0\nbefore() { n=$((n + 1)); }\ntrap before DEBUG\nPS0='(ps0)'\nPROMPT_COMMAND='last=$?'\n";
    let mut screen = bash().with(others, GSH);
    screen.type_keys("set -eu\r");
    screen.wait_for("(ps0)");
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("not run: canary");
    screen.type_keys(CLEAR);
    runs(&mut screen, "alive");
    screen.type_keys("set +e; false\r");
    screen.type_keys("echo \"status $?\"\r");
    screen.wait_for("status 1");
    screen.type_keys("trap -p DEBUG\r");
    screen.wait_for("trap -- 'before' DEBUG");
}

#[test]
fn history_is_as_it_was_typed_and_what_it_makes_is_seen_first() {
    let mut screen = bash().plain();
    runs(&mut screen, "one");
    screen.type_keys("gsh-canary-deny x\r");
    screen.wait_for("not run: canary");
    screen.type_keys(CLEAR);
    screen.type_keys("echo gsh-canary-deny\r");
    screen.wait_for("\ngsh-canary-deny");
    // The word after `!!:` is what runs, not what was typed.
    screen.type_keys("!!:1 x\r");
    screen.wait_for("P> gsh-canary-deny x");
    screen.type_keys("\r");
    screen.wait_for("not run: canary");
    screen.type_keys(CLEAR);
    screen.type_keys("exit\r");
    let _status = screen.wait();
    let kept = fs::read_to_string(screen.at("home/history")).expect("the history");
    assert_eq!(kept, "echo one | tr a-z A-Z\necho gsh-canary-deny\nexit\n");
}

#[test]
fn what_the_shell_knows_of_a_words_meaning_is_what_is_decided() {
    let known = "alias look='ls -a'\nalias trick='gsh-canary-deny'\nhidden() { gsh-canary-deny; }\nplace=/\n";
    let mut screen = bash().with(known, GSH);
    screen.type_keys("look\r");
    screen.wait_for("some-file");
    for line in ["trick x", "hidden", "rm -r $place"] {
        screen.type_keys(&format!("{line}\r"));
        screen.wait_for("gsh: not run: ");
        screen.type_keys(CLEAR);
        wiped(&mut screen, "gsh");
        runs(&mut screen, "next");
        wiped(&mut screen, "NEXT");
    }
    // Another meaning than bash's asks.
    let zsh = KINDS[1];
    if Path::new(zsh.program).exists() {
        let mut screen = zsh.plain();
        screen.type_keys("echo a # ; b\r");
        screen.wait_for("in its own way");
    }
}

/// A person's call of `gsh init`; what it said.
fn init(machine: Gsh, line: &str) -> (Gsh, String) {
    let mut screen = machine.program(GSH).again().args(line.split(' ')).pty(200, 200);
    screen.wait_for_any(&["is set up", "set up already", "as it was before", "nothing is set up"]);
    let _status = screen.wait();
    let text = screen.text();
    (screen.into_machine(), text)
}

#[test]
fn init_writes_one_block_that_holds_and_takes_it_out_again() {
    for kind in kinds() {
        let mut machine = kind.machine("", "/nonexistent");
        let file = if kind.name == "fish" { "home/.config/fish/conf.d/gsh.fish" } else { kind.rc };
        let before = (kind.name != "fish").then(|| format!("{}# mine, without an end", kind.prompt));
        let rc = machine.at(kind.rc);
        fs::write(&rc, before.clone().unwrap_or_else(|| kind.prompt.to_owned())).expect("what was there");
        let (after, said) = init(machine, &format!("init {} --yes", kind.name));
        assert!(said.contains("is set up; "), "{said}");
        machine = after;
        let text = fs::read_to_string(machine.at(file)).expect("the file");
        assert!(text.starts_with(before.as_deref().unwrap_or_default()), "{text}");
        assert_eq!(text.matches("# >>> gsh").count(), 1, "{text}");
        let (after, said) = init(machine, &format!("init {} --yes", kind.name));
        assert!(said.contains("set up already"), "{said}");
        let mut screen = kind.on(after.program(kind.program).again().args(kind.args.iter().copied()));
        screen.type_keys("gsh-canary-deny x\r");
        screen.wait_for("not run: canary");
        let (machine, said) = init(screen.into_machine(), &format!("init {} --undo --yes", kind.name));
        assert!(said.contains("as it was before"), "{said}");
        assert_eq!(fs::read_to_string(machine.at(file)).ok(), before, "{}", kind.name);
        let script = machine.at(&format!("home/.local/share/gsh/shell/gsh.{}", kind.name));
        assert!(!script.exists(), "{}", kind.name);
    }
}
