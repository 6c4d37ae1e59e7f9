//! `gsh trust`, from the first look to the edit that ends it.

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

const FILE: &str = "mode = \"plan\"\non_mixed = \"ask\"\n[permissions.\"process.execute\"]\n\"frob *\" = \"allow\"\n\
                    \"make *\" = \"ask\"\n\"curl *\" = \"deny\"\n[programs.frobnicate]\noperands = 'read*'\n";

fn project() -> Gsh {
    Gsh::new(GSH).config(&own("")).project_file(".gsh/config.toml", FILE)
}

/// The user's file, which vouches for the terminals of these tests.
fn own(rest: &str) -> String {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    format!("{rest}[ask]\nterminals = [{holder:?}]\n")
}

/// What was said, and how it ended.
struct Said {
    status: Option<i32>,
    text: String,
    machine: Gsh,
}

/// A call with pipes.
fn call(machine: Gsh, args: &[&str]) -> Said {
    let run = machine.args(args.iter().copied()).run();
    let text = format!("{}{}", run.stdout(), run.stderr());
    Said { status: run.status, text, machine: run.machine.again() }
}

/// A person's call, at a terminal wide and high enough for all of it.
fn typed(machine: Gsh, args: &[&str], answer: &str) -> Said {
    let mut screen = machine.args(args.iter().copied()).pty(220, 60);
    if !answer.is_empty() {
        screen.wait_for("Type yes:");
        screen.type_keys(answer);
    }
    let status = i32::try_from(screen.wait()).ok();
    // The last words may still be on their way: each way out ends in one of these.
    screen.wait_for_any(&["trusted as it stands", "trusted already", "no longer", "it was not", "gsh: "]);
    let text = screen.text();
    Said { status, text, machine: screen.into_machine().again() }
}

impl Said {
    #[track_caller]
    fn says(self, status: i32, parts: &[&str]) -> Gsh {
        assert_eq!(self.status, Some(status), "{}", self.text);
        for part in parts {
            assert!(self.text.contains(part), "{part:?} in\n{}", self.text);
        }
        self.machine
    }
}

#[test]
fn it_says_in_words_what_trust_would_change() {
    call(project(), &["trust", "--yes"]).says(2, &["takes a person at a terminal"]);
    typed(project(), &["trust"], "no\r").says(
        2,
        &[
            "Trusted, it loosens:\n  allow process.execute \"frob *\" (line 4)\n  takes its word for what frobnicate does",
            "where a rule of yours refuses:\n  ask process.execute \"make *\" (line 5)",
            "It tightens, trusted or not:\n  deny process.execute \"curl *\" (line 6)\n  mode = \"plan\" (line 1)",
            "Without effect in such a file:\n  on_mixed = \"ask\" (line 2)",
            "--- nothing was trusted before\n+++ ",
            "+\"frob *\" = \"allow\"\n",
            "nothing was trusted: type the word yes",
        ],
    );
}

#[test]
fn an_edit_is_shown_against_what_was_trusted() {
    let machine = typed(project(), &["trust"], "yes\r").says(0, &["trusted as it stands"]);
    let machine = typed(machine, &["trust"], "").says(0, &["trusted already"]);
    let edited = FILE.replace("frob *", "rm *") + "# \u{202e}x\n";
    let machine = machine.project_file(".gsh/config.toml", &edited);
    let seen = typed(machine, &["trust"], "\r");
    assert!(!seen.text.contains("+\"curl"), "only what changed: {}", seen.text);
    let machine = seen.says(
        2,
        &["--- as trusted 20", "-\"frob *\" = \"allow\"\n+\"rm *\" = \"allow\"\n", "+# <U+202E>x\n"],
    );
    let machine = call(machine, &["trust", "--list"])
        .says(0, &["changed: trusted no more", "project/.gsh/config.toml"]);
    let machine = typed(machine, &["trust", "--yes"], "").says(0, &[]);
    let listed = call(machine, &["trust", "--list", "--json"]);
    let list: serde_json::Value = serde_json::from_str(&listed.text).expect("JSON");
    assert_eq!(list["trusted"][0]["state"], "as-trusted");
    assert!(list["trusted"][0]["hash"].as_str().is_some_and(|hash| hash.len() == 64), "{list}");

    let machine = typed(listed.machine, &["untrust"], "").says(0, &["no longer trusted"]);
    let machine = typed(machine, &["untrust"], "").says(0, &["it was not trusted"]);
    call(machine, &["trust", "--list"]).says(0, &["no file is trusted"]);
}

#[test]
fn other_files_by_name() {
    let machine = project();
    let (file, elsewhere) = (machine.at("project/.gsh/config.toml"), machine.at("run"));
    let name = file.to_str().expect("text").to_owned();
    let inside = machine.at("project");
    let machine = typed(machine.in_folder(elsewhere), &["trust"], "").says(2, &["nothing here needs trust"]);
    let machine = typed(machine, &["trust", "--yes", &name], "").says(0, &["trusted as it stands"]);
    let machine = typed(machine, &["trust", "--yes", "/etc/passwd"], "")
        .says(2, &["is not the .gsh/config.toml of a project"]);
    let machine = call(machine.in_folder(inside), &["explain", "-c", "frob x"]);
    assert!(!machine.text.contains("nobody trusted"), "{}", machine.text);
    std::fs::remove_file(&file).expect("removed");
    typed(machine.machine, &["untrust", &name], "").says(0, &["no longer trusted"]);
}

/// A user's file that leads into a repository is the repository's.
#[test]
fn a_users_file_in_a_repository_needs_trust_too() {
    let machine = Gsh::new(GSH);
    let (kept, config) = (machine.at("dotfiles/gsh.toml"), machine.at("home/.config/gsh/config.toml"));
    std::fs::create_dir_all(machine.at("dotfiles/.git")).expect("made");
    std::fs::write(&kept, "[permissions.\"process.execute\"]\n\"frob *\" = \"allow\"\n").expect("written");
    std::os::unix::fs::symlink(&kept, &config).expect("linked");
    let machine = call(machine, &["check", "-c", "frob x"]).says(11, &[]);
    call(machine, &["explain", "-c", "frob x"])
        .says(0, &["a file in a project allows this", "gsh.toml:2), but nobody trusted it: gsh trust"]);
}

#[test]
fn where_trust_is_forbidden() {
    let machine = typed(project(), &["trust", "--yes"], "").says(0, &[]);
    let machine = machine.config(&own("forbid = [\"trust\"]\n"));
    let machine = typed(machine, &["trust", "--yes"], "")
        .says(2, &["home/.config/gsh/config.toml forbids trust in project files"]);
    let machine = call(machine, &["status"]).says(
        0,
        &["untrusted", "trust in it is forbidden by", "no effect: allow process.execute \"frob *\" (line 4)"],
    );
    let status = call(machine, &["status", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&status.text).expect("JSON");
    let layers = json["layers"].as_array().expect("layers");
    let project = layers.iter().find(|layer| layer["layer"] == "project").expect("the project's");
    assert!(project["trust_forbidden_by"].as_str().is_some_and(|file| file.ends_with("config.toml")));
    let machine = call(status.machine, &["explain", "-c", "frob x"])
        .says(0, &["the project's file allows this", "config.toml:4), but", "forbids trust in such files"]);
    // Taking trust back is never forbidden.
    typed(machine, &["untrust"], "").says(0, &["no longer trusted"]);
}

#[test]
fn what_an_untrusted_file_asked_for_is_listed() {
    let machine = project().project_file(".gsh/config.toml", &FILE.replace("plan", "bypass"));
    let machine = call(machine, &["status"]).says(
        0,
        &[
            "no effect: on_mixed = \"ask\" (line 2)",
            "no effect: mode = \"bypass\" (line 1)",
            "no effect: allow process.execute \"frob *\" (line 4)",
            "no effect: takes its word for what frobnicate does (line 7)",
        ],
    );
    let machine = call(machine, &["explain", "-c", "frob x"])
        .says(0, &["the project's file allows this", "config.toml:4), but nobody trusted it: gsh trust"]);
    let listed = call(machine, &["rules"]);
    let line = listed.text.lines().find(|line| line.contains("frob *")).expect("listed");
    assert!(line.contains("config.toml:4") && line.contains("[untrusted: no effect]"), "{line}");
    let other = call(listed.machine, &["explain", "-c", "other x"]);
    assert!(!other.text.contains("nobody trusted"), "{}", other.text);
}
