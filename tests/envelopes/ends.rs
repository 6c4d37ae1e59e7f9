//! The same from end to end: a process of an agent's name starts gsh with its envelope.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use super::texts;
use crate::common::machine::{Gsh, Run};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// Runs a script of an agent's name; TEXT is the file that holds its text, MOMENT now.
fn agent(name: &str, text: &str, prepare: impl FnOnce(&Gsh, i64)) -> Run {
    let moment = jiff::Timestamp::now().as_millisecond();
    let script = format!("#!/bin/bash\n\"{GSH}\" -c \"$(< text)\"\necho \"status $?\"\n");
    let gsh = Gsh::new(GSH).project_file(name, &script).config("[permissions]\n");
    let home = gsh.at("home");
    let text =
        text.replace("/home/dev", home.to_str().expect("text")).replace("1795000000000", &moment.to_string());
    fs::write(gsh.at("project/text"), text).expect("written");
    let program = gsh.at("project").join(name);
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    prepare(&gsh, moment);
    gsh.program(program).run()
}

fn snapshot_of_claude(gsh: &Gsh, moment: i64) {
    let folder = gsh.at("home/.claude/shell-snapshots");
    fs::create_dir_all(&folder).expect("made");
    let path = folder.join(format!("snapshot-bash-{moment}-k3x9q1.sh"));
    fs::write(path, texts::snapshot().replace("/usr/bin:/bin", &std::env::var("PATH").expect("set")))
        .expect("written");
}

fn opened(run: &Run) -> Vec<Value> {
    run.records().into_iter().filter(|record| record["event"] == "opened").collect()
}

#[test]
fn claude_codes_command_runs_with_all_that_is_around_it() {
    let note = format!("/tmp/claude-{:08x}-cwd", std::process::id());
    let text = |command: &str| texts::claude(command).replace("/tmp/claude-b3ef-cwd", &note);
    let run = agent("claude", &text("greet you && cd . && ls text"), snapshot_of_claude);
    let noted = fs::read_to_string(&note).unwrap_or_default();
    let _ = fs::remove_file(&note);
    assert!(run.stdout().starts_with("hello you\ntext\nstatus 0"), "{}{}", run.stdout(), run.stderr());
    assert_eq!(noted.trim_end(), run.at("project").canonicalize().expect("there").to_string_lossy());
    let records = opened(&run);
    assert_eq!(records[0]["command"], "greet you && cd . && ls text");
    assert_eq!(records[0]["envelope"]["agent"], "claude");
    assert!(
        records[0]["envelope"]["sha256"].is_string() && records[0]["inexact"].is_null(),
        "{}",
        records[0]
    );

    let refused = agent("claude", &text("gsh-unknown --all"), snapshot_of_claude);
    assert!(refused.stdout().contains("status 126"), "{}", refused.stdout());
    assert!(
        refused.stderr().contains("gsh-unknown --all") && !refused.stderr().contains("eval"),
        "{}",
        refused.stderr()
    );
    assert!(!fs::exists(&note).unwrap_or(true), "nothing of it ran");
}

#[test]
fn typed_by_hand_it_asks() {
    let text = texts::claude("ls text");
    let other = agent("not-an-agent", &text, snapshot_of_claude);
    assert!(other.stdout().contains("status 126"), "{}", other.stdout());
    assert!(opened(&other)[0]["envelope"].is_null());
    let stale = agent("claude", &text, |gsh, moment| snapshot_of_claude(gsh, moment - 600_000));
    assert!(stale.stdout().contains("status 126"), "{}", stale.stdout());
    assert_eq!(opened(&stale)[0]["envelope"]["part"], "unrecognised");
    // A process that a command took over is no agent's child: what it starts in its own place is analysed.
    let nested = agent("claude", &texts::claude("./again"), |gsh, moment| {
        snapshot_of_claude(gsh, moment);
        let own = gsh.at("home/.config/gsh/config.toml");
        fs::write(own, "[permissions.'process.execute']\n'./again' = 'allow'\n").expect("written");
        let again = gsh.at("project/again");
        fs::write(&again, format!("#!/bin/bash\nexec \"{GSH}\" -c \"$(< text)\"\n")).expect("written");
        fs::set_permissions(&again, PermissionsExt::from_mode(0o755)).expect("executable");
    });
    let records = opened(&nested);
    assert_eq!(
        (&records[0]["verdict"], &records[0]["envelope"]["agent"]),
        (&"allow".into(), &"claude".into())
    );
    assert_eq!((&records[1]["verdict"], &records[1]["envelope"]), (&"ask".into(), &Value::Null));
}

/// Puts Codex's files into the home, a link to gsh in the place of its shell, and its text for a command into the
/// project.
pub(crate) fn with_codex(gsh: &Gsh, command: &str) {
    let moment = jiff::Timestamp::now().as_millisecond();
    let folder = gsh.at("home/.codex/shell_snapshots");
    fs::create_dir_all(&folder).expect("made");
    fs::create_dir_all(gsh.at("home/bin")).expect("made");
    symlink(GSH, gsh.at("home/bin/bash")).expect("linked");
    let name = format!("0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000.{moment}000000.sh");
    fs::write(folder.join(name), "# Snapshot file\n").expect("written");
    let text = texts::codex(command).replace("exec '/bin/bash'", "exec '/home/dev/bin/bash'");
    let home = gsh.at("home").to_str().expect("text").to_owned();
    let text = text.replace("/home/dev", &home).replace("1795000000000", &moment.to_string());
    fs::write(gsh.at("project/text"), text).expect("written");
    let program = gsh.at("project/codex");
    fs::set_permissions(program, PermissionsExt::from_mode(0o755)).expect("executable");
}

#[test]
fn codexs_command_is_decided_by_both_and_runs_once() {
    let run = agent("codex", "", |gsh, _| with_codex(gsh, "printf '%s\\n' \"$0\" once"));
    assert!(run.stdout().contains("bash\nonce\nstatus 0"), "{}{}", run.stdout(), run.stderr());
    let records = opened(&run);
    assert_eq!(records.len(), 2, "{records:#?}");
    assert_eq!(
        (&records[0]["command"], &records[0]["envelope"]["agent"]),
        (&records[1]["command"], &"codex".into())
    );
}

#[test]
fn words_behind_codexs_command_are_its_own() {
    let run = agent("codex", "", |gsh, _| {
        with_codex(gsh, "printf '%s\\n' \"$0 $1\"; touch \"$2\"");
        let text = gsh.at("project/text");
        let whole = fs::read_to_string(&text).expect("written") + " 'name' 'a b' 'made'";
        fs::write(text, whole).expect("written");
    });
    assert!(run.stdout().contains("name a b\nstatus 0"), "{}{}", run.stdout(), run.stderr());
    assert!(run.at("project/made").exists());
    assert_eq!(opened(&run).len(), 2);
}

/// gsh is the shell, and stands in front of each command: both decide, one asks, and it runs once.
#[test]
fn a_command_with_gsh_in_front_runs_once() {
    let note = format!("/tmp/claude-{:08x}-cwd", std::process::id().wrapping_add(1 << 24));
    let program = fs::canonicalize(GSH).expect("there").display().to_string();
    let text = |command: &str| {
        let inner = texts::claude(command).replace("/tmp/claude-b3ef-cwd", &note);
        format!("'{program}' -c {}", texts::quoted(&inner))
    };
    let run = agent("claude", &text("greet you; echo x >> count; cat count"), snapshot_of_claude);
    let noted = fs::remove_file(&note);
    assert!(run.stdout().contains("hello you\nx\nstatus 0"), "{}{}", run.stdout(), run.stderr());
    assert!(noted.is_ok(), "the text around it ran");
    let records = opened(&run);
    assert_eq!(records.len(), 2, "{records:#?}");
    assert_eq!(records[0]["command"], "greet you; echo x >> count; cat count");
    let refused = agent("claude", &text("gsh-canary-deny"), snapshot_of_claude);
    assert!(refused.stdout().contains("status 126"), "{}", refused.stdout());
    assert_eq!(opened(&refused).len(), 1, "the first of both refuses");
}
