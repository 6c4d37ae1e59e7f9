//! What is kept: records, rules and trust, as others found theirs lost, forged, leaked or emptied. Some of
//! these faults have their test where the part is: many writers, forged records, control characters
//! (`tests/record.rs`), links planted in shared folders (`src/audit/log.rs`), scripts that change under an
//! answer (`tests/grants.rs`), rules added at the same time (`tests/edit.rs`).

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use gsh::config::edit::{Outcome, Scope, Setting, always};
use gsh::config::new_rule::NewRule;
use gsh::config::read::{Origin, read};
use gsh::config::trust;
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Layer, Verdict};
use gsh::store::places::Folders;

use crate::common::fixture;
use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// A machine whose terminals are a person's.
fn machine(rules: &str) -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n{rules}"))
}

fn folders(home: &Path) -> Folders {
    Folders::new(&|name| (name == "HOME").then(|| home.into())).expect("a home")
}

fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        found.push(entry.path());
        if entry.file_type().expect("a kind").is_dir() {
            below(&entry.path(), found);
        }
    }
}

fn records_text(run: &crate::common::machine::Run) -> String {
    run.records().iter().map(|record| format!("{record}\n")).collect()
}

/// Headers, assignments, and operands whose name gives the secret away; with a plain name that becomes one.
#[test]
fn no_secret_of_a_command_is_in_its_record() {
    for (text, secrets) in [
        (
            "KEY=\"sk-test-123\" gsh-canary-deny -H \"Authorization: Bearer sk-test-123\" https://example.com",
            &["sk-test-123"][..],
        ),
        ("gsh-canary-deny config set telegram.token=123:abc", &["123:abc"]),
        ("gsh-canary-deny --set db.password=pa55word-of-it", &["pa55word-of-it"]),
    ] {
        let run = Gsh::new(GSH).args(["-c", text]).run();
        assert_eq!(run.status, Some(126), "{text}: {}", run.stderr());
        let kept = records_text(&run);
        assert!(kept.contains("gsh-canary-deny"), "{kept}");
        secrets.iter().for_each(|secret| assert!(!kept.contains(secret), "{kept}"));
    }
}

/// Under a mask that hides nothing, after commands that ran, asked and were refused.
#[test]
fn all_that_is_kept_is_the_owners_alone() {
    let mut gsh = machine("");
    for text in ["ls", "unknown-tool-x", "gsh-canary-deny"] {
        let masked = format!("umask 000; exec \"$0\" -c '{text}'");
        let run = gsh.program("/bin/sh").args(["-c", &masked, GSH]).run();
        gsh = run.machine.again();
    }
    let state = gsh.at("home/.local/state/gsh");
    let mut found = vec![state.clone()];
    below(&state, &mut found);
    assert!(found.iter().any(|path| path.extension().is_some_and(|kind| kind == "jsonl")), "{found:?}");
    for path in found {
        let mode = std::fs::symlink_metadata(&path).expect("data").permissions().mode() & 0o777;
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

/// A project's file that leads elsewhere is not written through.
#[test]
fn no_rule_is_written_through_a_planted_link() {
    let gsh = machine("").project_file(".gsh/kept", "");
    let victim = gsh.at("home/victim");
    std::fs::write(&victim, "mine\n").expect("written");
    symlink(&victim, gsh.at("project/.gsh/config.toml")).expect("a link");
    let mut screen = gsh.beside(&["rules", "add", "make *", "allow", "--project"]);
    screen.wait();
    assert_eq!(std::fs::read_to_string(&victim).expect("read"), "mine\n", "{}", screen.text());
}

/// What cannot be read as it was meant neither runs silently nor is written anew, and the words say where.
#[test]
fn a_damaged_file_loosens_nothing_and_stays() {
    for (text, says) in [
        ("", "config.toml is damaged"),
        ("[permissions.\"process.execute\"]\n\"touch *\" = \"deny\"\nthis is no line\n", "config.toml:2"),
        (
            "[[permissions.rules]]\ncapability = \"process.execute\"\npattern = [\"touch *\"]\naction = \"deny\"\n",
            "config.toml:3",
        ),
        ("[permissions]\nrules = \"touch *\"\n", "config.toml:2"),
    ] {
        let run = Gsh::new(GSH).config(text).args(["-c", "touch x"]).run();
        assert_eq!(run.status, Some(126), "{text}: {}", run.stderr());
        assert!(run.stderr().contains(says), "{text}: {}", run.stderr());
        assert!(!run.at("project/x").exists());
        let kept = std::fs::read_to_string(run.at("home/.config/gsh/config.toml")).expect("read");
        assert_eq!(kept, text, "the file is as it was");
    }
}

/// The machine owner's file that nobody can read is not the same as none.
#[test]
fn a_managed_file_that_is_damaged_is_not_none() {
    let places = crate::common::builtin_policy().places;
    let of = |text: Option<&str>| {
        let origin = Origin {
            layer: Layer::Managed,
            path: Path::new("/etc/gsh/managed.toml"),
            root: None,
            home: None,
        };
        let layers = text.map(|text| read(text, &origin).layer).into_iter().collect();
        let policy = compose(layers, Composition::new(places.clone(), "2026-01-01"));
        fixture::decide_on(&fixture::host(), &policy, "touch x")
    };
    assert_eq!(of(None).verdict, Verdict::Allow);
    let damaged = of(Some("[[[ nothing\n"));
    assert_eq!(damaged.verdict, Verdict::Ask);
    assert!(damaged.reason.contains("managed.toml:1"), "{}", damaged.reason);
}

/// Commands with long or odd bodies: what "always" could keep is short, one line, of the command alone, and
/// the file that takes it is sound.
#[test]
fn what_an_answer_keeps_is_a_short_rule_that_can_be_read_again() {
    let body = "x".repeat(15_000);
    for (text, words) in [
        ("git commit -m \"$(cat <<'EOF'\nfix: handle a:b (c) 'd'\nEOF\n)\"".to_owned(), "git commit"),
        (
            "gh issue create --title T --body \"$(cat <<'EOF'\n## Heading\n2026-03-26 task-name\nEOF\n)\""
                .to_owned(),
            "gh issue create",
        ),
        (format!("cat > ./a.md <<'EOF'\n{body}\nEOF"), ""),
        (format!("npm run dev <<'EOF'\n{body}\nEOF"), "npm run dev"),
    ] {
        let decision = fixture::decide_on(&fixture::host(), &crate::common::builtin_policy(), &text);
        let patterns = &decision.suggestions;
        for pattern in patterns {
            assert!(pattern.len() < 100 && !pattern.contains('\n'), "{pattern}");
            assert!(!words.is_empty() && pattern.starts_with(words), "{pattern}");
            assert!(!pattern.contains("EOF"), "{pattern}");
        }
        let home = tempfile::tempdir().expect("a folder");
        let folders = folders(home.path());
        let setting = Setting { folders: &folders, project: None, forbids_trust: false };
        let before = [NewRule::new("process.execute", "make *", Verdict::Allow)];
        let kept = |rules: &[NewRule]| matches!(always(setting, rules, Scope::User), Outcome::Written { .. });
        assert!(kept(&before));
        let rule = |pattern: &String| NewRule::new("process.execute", pattern, Verdict::Allow);
        assert!(kept(&patterns.iter().map(rule).collect::<Vec<_>>()) || patterns.is_empty());
        let file = folders.user_file();
        let written = std::fs::read_to_string(&file).expect("read");
        let origin = Origin { layer: Layer::User, path: &file, root: None, home: home.path().to_str() };
        let layer = read(&written, &origin).layer;
        assert!(layer.damage.is_empty(), "{written}");
        assert_eq!(layer.rules.len(), 1 + patterns.len(), "{written}");
    }
}

/// What was refused is on record, with what refused it and when.
#[test]
fn a_refusal_is_on_record() {
    for (config, by, rule) in [
        ("[permissions]\n", "floor", None),
        ("[permissions.\"process.execute\"]\n\"frobnicate *\" = \"deny\"\n", "rule", Some("frobnicate *")),
    ] {
        let text = if rule.is_some() { "frobnicate --all" } else { "gsh-canary-deny" };
        let run = Gsh::new(GSH).config(config).args(["-c", text]).run();
        assert_eq!(run.status, Some(126));
        let records = run.records();
        let opened = &records[0];
        assert_eq!((&opened["verdict"], &opened["decided_by"]), (&"deny".into(), &by.into()), "{opened}");
        assert!(opened["time"].as_str().is_some_and(|time| time.parse::<jiff::Timestamp>().is_ok()));
        match rule {
            None => assert_eq!(opened["floor"], "canary", "{opened}"),
            Some(pattern) => {
                let rules = opened["requests"].as_array().expect("requests");
                let named = rules.iter().map(|each| &each["rule"]);
                let found = named.filter(|rule| rule["pattern"] == pattern && rule["line"] == 2);
                assert!(found.count() > 0, "{opened}");
            }
        }
        assert_eq!(records[1]["outcome"], "not run");
    }
}

/// The rule of a project stands in the list, with its file and that it has no effect yet.
#[test]
fn what_a_project_allows_is_listed_with_its_standing() {
    let file = "[permissions.\"process.execute\"]\n\"touch *\" = \"allow\"\n";
    let run = Gsh::new(GSH).project_file(".gsh/config.toml", file).args(["rules"]).run();
    let listed = run.stdout();
    let line = listed.lines().find(|line| line.contains("touch *")).unwrap_or_default();
    assert!(line.contains("untrusted"), "{listed}");
    assert!(listed.contains(".gsh/config.toml"), "{listed}");
}

/// Trust given to one project while others write theirs.
#[test]
fn trust_given_at_the_same_time_is_all_kept() {
    let home = tempfile::tempdir().expect("a folder");
    let folders = folders(home.path());
    let file = |number: usize| home.path().join(format!("p{number}/.gsh/config.toml"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (folders, file) = (&folders, file(number));
            scope.spawn(move || {
                std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
                std::fs::write(&file, "mode = \"plan\"\n").expect("written");
                for _ in 0..5 {
                    trust::trust(folders, &file, b"mode = \"plan\"\n").expect("trusted");
                }
            });
        }
    });
    let kept = trust::entries(&folders).expect("a list");
    assert_eq!(kept.len(), 8);
    assert!(kept.iter().all(|(_, _, standing)| *standing == trust::Standing::AsTrusted), "{kept:?}");
}
