//! Programs between gsh and a shell, above or beneath: GNU parallel, git, direnv, watch.

use std::os::unix::fs::PermissionsExt;

use super::place::{Caller, Place, Seen, Shell, caller, find};

pub(super) fn callers() -> Vec<Caller> {
    vec![
        caller("parallel", &["parallel", "perl"], |place, text| {
            let mut command = place.command("parallel");
            command.env("PARALLEL_SHELL", place.shell()).env("PARALLEL_HOME", place.at("kept/parallel"));
            place.run(command.args(["--will-cite", "-k", "-j1", "-n0", text, ":::", "a", "b"]), "")
        }),
        caller("a git hook", &["git"], |place, text| {
            repository(place, &format!("#!{}\n{text}\n", place.shell()));
            place.run(
                git(place, &["commit", "-q", "--allow-empty", "-m", "one"]).env("GIT_EDITOR", "true"),
                "",
            )
        })
        .without(&super::words::DECIDED),
    ]
}

fn git(place: &Place, args: &[&str]) -> std::process::Command {
    let mut command = place.command("git");
    for (name, value) in GIT {
        command.env(name, value);
    }
    command.args(args);
    command
}

/// Who commits, and when.
const GIT: [(&str, &str); 7] = [
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "a"),
    ("GIT_AUTHOR_EMAIL", "a@example.invalid"),
    ("GIT_COMMITTER_NAME", "a"),
    ("GIT_COMMITTER_EMAIL", "a@example.invalid"),
    ("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z"),
    ("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z"),
];

/// A repository with this hook, which runs before each commit.
fn repository(place: &Place, hook: &str) {
    let made = place.run(&mut git(place, &["init", "-q"]), "");
    assert_eq!(made.status, "0", "{made:?}");
    place.write("work/.git/hooks/pre-commit", hook);
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(place.at("work/.git/hooks/pre-commit"), mode).expect("a mode");
}

fn below_git(place: &Place, shell: Shell<'_>, text: &str) -> Seen {
    place.fresh(shell);
    repository(place, "#!/bin/sh\necho \"hook $0 $#\"; test ! -e stop\n");
    let mut command = git(place, &["config", "alias.hi", "!echo hi; pwd"]);
    place.run(&mut command, "");
    let mut command = place.command(&place.shell());
    command.envs(GIT).env("GIT_EDITOR", "echo edited >").args(["-c", text]);
    Seen { files: place.files(), ..place.run(&mut command, "") }
}

#[test]
fn git_beneath_gsh_runs_hooks_aliases_and_editors_as_beneath_bash() {
    if find("git").is_none() {
        return println!("\n**** git SKIPPED: not installed ****\n");
    }
    let place = Place::new();
    for text in [
        "git commit -q --allow-empty -m one && git log --format='%H %s'",
        "touch stop; git commit -q --allow-empty -m one; echo $?",
        "mkdir -p below; cd below; git hi there",
        "git commit -q --allow-empty; git log --format=%s",
        "git -c core.pager=cat log; echo $?",
        "git commit -q --allow-empty -m one; git rebase -q -x 'echo between' --root; git log --format=%s",
    ] {
        let bash = below_git(&place, Shell::Bash, text);
        assert_eq!(below_git(&place, Shell::Gsh(super::BYPASS), text), bash, "{text}");
    }
}

fn direnv(place: &Place, shell: Shell<'_>) -> Seen {
    place.fresh(shell);
    // It takes `bash` from PATH.
    std::fs::rename(place.at("bin/gsh"), place.at("bin/bash")).expect("renamed");
    place.write("work/.envrc", "export HELLO=\"there $(echo you)\"\nPATH_add tools\n");
    let call = |args: &[&str]| {
        let mut command = place.command("direnv");
        command.env("PATH", format!("{}:/usr/bin:/bin", place.text_at("bin")));
        place.run(command.args(args), "")
    };
    call(&["allow", "."]);
    call(&["exec", ".", "/bin/sh", "-c", "echo \"$HELLO\"; echo \"$PATH\""])
}

#[test]
fn direnv_is_refused_aloud_since_what_it_evaluates_is_not_to_be_seen() {
    if find("direnv").is_none() {
        return println!("\n**** direnv SKIPPED: not installed ****\n");
    }
    let place = Place::new();
    let bash = direnv(&place, Shell::Bash);
    assert!(bash.stdout.starts_with("there you\n"), "{bash:?}");
    // Its text is `eval` of what a program prints: no mode silences that.
    for config in [super::DEFAULT, super::BYPASS] {
        let gsh = direnv(&place, Shell::Gsh(config));
        assert!(gsh.status != "0" && gsh.stderr.contains("gsh: not run"), "{gsh:?}");
        assert!(gsh.stderr.contains("only known when it runs"), "{gsh:?}");
    }
}

fn watched(place: &Place, shell: Shell<'_>, text: &str, shows: &str) -> Vec<String> {
    place.fresh(shell);
    let mut screen = place.screen("watch", &["-t", "-n", "60", "-x", &place.shell(), "-c", text]);
    screen.wait_for(shows);
    let lines = screen.lines();
    screen.type_keys("\x03");
    screen.wait();
    lines
}

#[test]
fn watch_shows_what_gsh_prints() {
    if find("watch").is_none() {
        return println!("\n**** watch SKIPPED: not installed ****\n");
    }
    let place = Place::new();
    let text = "echo one; echo two >&2; (sleep 0.05; echo last); exit 3";
    let bash = watched(&place, Shell::Bash, text, "last");
    assert_eq!(watched(&place, Shell::Gsh(super::BYPASS), text, "last"), bash);
    let refused =
        watched(&place, Shell::Gsh(super::DEFAULT), "touch ran; gsh-canary-deny", "gsh-canary-deny");
    assert!(refused[0].starts_with("gsh: refused"), "{refused:?}");
    assert!(!place.at("work/ran").exists());
}

#[test]
fn parallel_goes_on_with_the_commands_that_may_run() {
    if find("parallel").is_none() {
        return println!("\n**** parallel SKIPPED: not installed ****\n");
    }
    let place = Place::new();
    place.fresh(Shell::Gsh(super::DEFAULT));
    let mut command = place.command("parallel");
    command.env("PARALLEL_SHELL", place.shell()).env("PARALLEL_HOME", place.at("kept/parallel"));
    command.args(["--will-cite", "-k", "-j4", ":::", "echo one", "touch ran; gsh-canary-deny", "echo three"]);
    let seen = place.run(&mut command, "");
    assert_eq!((seen.status.as_str(), seen.stdout.as_str()), ("1", "one\nthree\n"), "{seen:?}");
    assert!(seen.stderr.contains("gsh: refused") && !place.at("work/ran").exists(), "{seen:?}");
}
