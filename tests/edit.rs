//! Changes of rules by the verbs, as a person at a terminal makes them, several at once, and when the
//! system fails.

use std::path::Path;

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// A machine whose terminals are a person's.
fn machine(rules: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n{rules}"))
}

/// Runs to its end at a terminal, where it shows this.
fn say(gsh: &Gsh, args: &[&str], status: u32, shown: &str) {
    let mut screen = gsh.beside(args);
    let found = screen.wait();
    screen.wait_for(shown);
    assert_eq!(found, status, "{args:?}: {}", screen.text());
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn rules_are_added_moved_removed_and_promoted() {
    let gsh = machine("# mine\n[permissions.'process.execute']\n'npm *' = 'ask'   # as ever\n");
    let user = gsh.at("home/.config/gsh/config.toml");
    let before = read(&user);
    for (args, status, shown) in [
        (&["rules", "add", "npm test *", "allow", "--dry-run"][..], 0, "+capability = \"Bash(npm test *)\""),
        (&["rules", "add", "npm test *", "allow"], 0, "config.toml:8  allow git.modify npm test *"),
        (
            &[
                "rules",
                "add",
                "npm publish *",
                "deny",
                "--reason",
                "by the pipeline",
                "--expires",
                "2040-01-01",
            ],
            0,
            "added",
        ),
        (&["rules", "add", "~/notes/*", "allow"], 2, "looks like a path"),
        (&["rules", "add", "./notes/*", "allow", "--capability", "file.read"], 2, "relative"),
        (&["rules", "add", "npm x", "allow", "--expires", "soon"], 2, "not a day"),
        (&["rules", "add", "x", "maybe"], 2, "not one of"),
        (
            &["rules", "add", "make *", "allow", "--project"],
            0,
            ".gsh/config.toml:2  allow process.execute make *",
        ),
        (&["rules", "add", "make clean", "deny", "--own"], 0, "projects/"),
        (&["rules", "add", "make clean", "allow", "--project"], 0, "still refused"),
        (&["rules", "move", "npm *", "--bottom"], 0, "moved"),
        (&["rules", "move", "npm test *", "--after", "npm publish *"], 0, "moved"),
        (&["rules", "remove", "npm none"], 2, "no rule of a file here"),
        (&["rules", "remove", "make clean"], 2, "--project, --own"),
        (&["rules", "remove", "make clean", "--project"], 0, "removed"),
        (&["rules", "remove", "npm publish *"], 0, "removed"),
        (&["rules", "promote", "make *"], 0, "promoted to"),
        (&["rules", "promote", "npm *"], 2, "no rule of a file here"),
    ] {
        say(&gsh, args, status, shown);
    }
    let after = read(&user);
    assert!(after.starts_with(before.split("'npm *'").next().expect("a head")), "{after}");
    assert!(after.contains("# as ever") && !after.contains("publish"), "{after}");
    let last = "capability = \"Bash(make *)\"\naction = \"allow\"\nlifts = \"ask\"\n";
    assert!(after.ends_with(last), "{after}");
    assert_eq!(read(&gsh.at("project/.gsh/config.toml")), "");
    let run = gsh.args(["check", "-c", "npm test && make all"]).run();
    assert_eq!(run.status, Some(11), "npm comes last and asks: {}", run.stdout());
}

#[test]
fn a_line_names_a_rule_and_trust_is_kept() {
    let gsh = machine("");
    say(&gsh, &["rules", "add", "make *", "allow", "--project"], 0, "");
    say(&gsh, &["rules", "add", "npm *", "allow", "--project"], 0, "");
    let check = |gsh: Gsh, text: &str| {
        let run = gsh.again().args(["check", "-c", text]).run();
        (run.status, run.machine.again())
    };
    let (status, gsh) = check(gsh, "npm test");
    assert_eq!(status, Some(0), "a new file is trusted, and stays so");
    let place = format!("{}:2", gsh.at("project/.gsh/config.toml").display());
    say(&gsh, &["rules", "remove", &place], 0, "");
    let (status, gsh) = check(gsh, "make");
    assert_eq!(status, Some(11));
    let (status, gsh) = check(gsh, "npm test");
    assert_eq!(status, Some(0));
    let gsh = gsh.project_file(".gsh/config.toml", "# by another hand\n");
    say(&gsh, &["rules", "add", "npm *", "allow", "--project"], 0, "is not trusted");
    assert_eq!(check(gsh, "npm test").0, Some(11));
}

#[test]
fn nobody_but_a_person_changes_rules() {
    for verb in ["add x allow", "remove :1", "move x --top", "promote x"] {
        let gsh = machine("");
        let before = read(&gsh.at("home/.config/gsh/config.toml"));
        let run = gsh.args(["rules"]).args(verb.split(' ')).run();
        assert_eq!(run.status, Some(2), "{verb}: {}", run.stderr());
        assert!(run.stderr().contains("takes a person"), "{verb}: {}", run.stderr());
        assert_eq!(read(&run.at("home/.config/gsh/config.toml")), before);
    }
}

#[test]
fn what_is_only_shown_needs_nobody() {
    let gsh = machine("");
    let before = read(&gsh.at("home/.config/gsh/config.toml"));
    let run = gsh.args(["rules", "add", "bash *", "allow", "--dry-run"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    assert!(run.stdout().contains("bash *"), "{}", run.stdout());
    assert!(run.stderr().contains("too-broad"), "{}", run.stderr());
    assert_eq!(read(&run.at("home/.config/gsh/config.toml")), before);
}

/// Two hundred processes, each with a rule, and every fourth with the trust of the project's file to keep.
#[test]
fn many_processes_lose_nothing() {
    let gsh = machine("# mine\n").program("/bin/bash");
    let before = read(&gsh.at("home/.config/gsh/config.toml"));
    let script = format!(
        "for n in {{0..199}}; do file=--user; ((n % 4)) || file=--project
         '{GSH}' rules add \"tool-$n\" allow $file >/dev/null & pids+=($!); done
         for pid in \"${{pids[@]}}\"; do wait \"$pid\" || failed=1; done; echo \"failed${{failed:-0}}\""
    );
    say(&gsh, &["-c", &script], 0, "failed0");
    let (user, project) =
        (read(&gsh.at("home/.config/gsh/config.toml")), read(&gsh.at("project/.gsh/config.toml")));
    assert!(user.starts_with(&before));
    for number in 0..200 {
        let file = if number % 4 == 0 { &project } else { &user };
        assert_eq!(file.matches(&format!("\"Bash(tool-{number})\"")).count(), 1, "{number}");
    }
    let run = gsh.program(GSH).args(["check", "-c", "tool-0; tool-1; tool-199"]).run();
    assert_eq!(run.status, Some(0), "the project's file is trusted: {}", run.stdout());
}

/// Whenever a process is killed, the file is the old one or the new one, and nobody waits for its lock.
#[test]
fn who_is_killed_leaves_a_whole_file() {
    let gsh = machine("# mine\n").program("/bin/bash");
    let file = gsh.at("home/.config/gsh/config.toml");
    let before = read(&file);
    let script = format!(
        "for n in {{0..40}}; do '{GSH}' rules add \"tool-$n\" allow & sleep \"0.0$((n / 10))$((n % 10))\"
         kill -9 $!; wait $!; done 2>/dev/null >&2; echo \"done$n\""
    );
    say(&gsh, &["-c", &script], 0, "done40");
    let after = read(&file);
    assert!(after.starts_with(&before));
    let rules = after.matches("[[permissions.rules]]").count();
    assert_eq!(after.matches("\naction = \"allow\"\n").count(), rules, "{after}");
    let gsh = gsh.program(GSH);
    say(&gsh, &["rules", "add", "make *", "allow"], 0, "added");
    assert_eq!(read(&file).matches("[[permissions.rules]]").count(), rules + 1);
}

/// The disk takes no byte more.
#[test]
fn what_cannot_be_written_leaves_the_old_file() {
    let gsh = machine("# mine\n").program("/bin/bash");
    let folder = gsh.at("home/.config/gsh");
    let before = read(&folder.join("config.toml"));
    let script = format!("ulimit -f 0; exec '{GSH}' rules add 'make *' allow");
    say(&gsh, &["-c", &script], 2, "config.toml: File too large");
    assert_eq!(read(&folder.join("config.toml")), before);
    assert_eq!(std::fs::read_dir(&folder).expect("a folder").count(), 1, "nothing is left beside it");
}
