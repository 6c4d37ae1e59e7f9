//! `gsh init`: files before, after, and back again.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// A machine whose terminals count as a person's.
fn machine() -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    Gsh::new(GSH).config(&format!("[ask]\nterminals = [{holder:?}]\n"))
}

/// A person's call; what it said, and how it ended.
fn person(machine: Gsh, line: &str) -> (Gsh, i32, String) {
    typed(machine, line, "")
}

fn typed(machine: Gsh, line: &str, answer: &str) -> (Gsh, i32, String) {
    let mut screen = machine.args(line.split(' ')).pty(200, 80);
    if !answer.is_empty() {
        screen.wait_for("Type yes:");
        screen.type_keys(answer);
    }
    let status = i32::try_from(screen.wait()).expect("a status");
    screen.wait_for_any(&["is set up", "as it was before", "nothing is set up", "gsh: "]);
    let text = screen.text();
    (screen.into_machine().again(), status, text)
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
}

/// The file with our paths by short names.
fn short(machine: &Gsh, text: &str) -> String {
    let link = machine.at("home/.local/share/gsh/bin/bash").display().to_string();
    let real = fs::canonicalize(GSH).expect("the program").display().to_string();
    text.replace(&link, "LINK").replace(&real, "GSH")
}

/// A matched hook as it stands at this indentation.
fn matched(matcher: &str, rest: &str) -> String {
    format!(
        "      {{\n        \"matcher\": \"{matcher}\",\n        \"hooks\": [\n          {{\n            \"type\": \"command\",\n            {rest}\n          }}\n        ]\n      }}"
    )
}

fn hooks(event: &str, matcher: &str, rest: &str) -> String {
    format!("{{\n  \"hooks\": {{\n    \"{event}\": [\n{}\n    ]\n  }}\n}}\n", matched(matcher, rest))
}

/// For each agent: what is typed after `init`, the file, its text before (none, or with comments and other keys),
/// and after.
fn table() -> Vec<(&'static str, &'static str, Option<&'static str>, String)> {
    let claude = "home/.claude/settings.json";
    let mut all = vec![
        ("claude", claude, None, "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL\": \"LINK\"\n  }\n}\n".to_owned()),
        (
            "claude",
            claude,
            Some("{\n    // mine\n    \"model\": \"x\",\n    \"env\": {\n        \"A\": \"1\" // one\n    },\n    \"z\": [1, 2]\n}\n"),
            "{\n    // mine\n    \"model\": \"x\",\n    \"env\": {\n        \"A\": \"1\", // one\n        \"CLAUDE_CODE_SHELL\": \"LINK\"\n    },\n    \"z\": [1, 2]\n}\n".to_owned(),
        ),
        (
            "claude --door hook",
            claude,
            Some("{\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Edit\", \"hooks\": [] } // theirs\n    ]\n  }\n}\n"),
            format!(
                "{{\n  \"hooks\": {{\n    \"PreToolUse\": [\n      {{ \"matcher\": \"Edit\", \"hooks\": [] }}, // theirs\n{}\n    ]\n  }}\n}}\n",
                matched("*", "\"command\": \"GSH hook claude\",\n            \"timeout\": 120,\n            \"onFailure\": \"block\"")
            ),
        ),
        (
            "codex",
            "home/.codex/hooks.json",
            None,
            hooks("PreToolUse", ".*", "\"command\": \"GSH hook codex\",\n            \"timeout\": 120"),
        ),
        (
            "gemini",
            "home/.gemini/settings.json",
            None,
            hooks("BeforeTool", ".*", "\"command\": \"GSH hook gemini\",\n            \"timeout\": 290000"),
        ),
        (
            "qwen",
            "home/.qwen/settings.json",
            None,
            hooks("PreToolUse", ".*", "\"command\": \"GSH hook qwen\",\n            \"timeout\": 120"),
        ),
        ("opencode", "home/.config/opencode/opencode.json", None, "{\n  \"shell\": \"LINK\"\n}\n".to_owned()),
        (
            "opencode",
            "home/.config/opencode/opencode.jsonc",
            Some("{\n\t\"$schema\": \"x\", // trailing\n\t\"shell\": \"/bin/zsh\",\n\t\"agent\": {},\n}\n"),
            "{\n\t\"$schema\": \"x\", // trailing\n\t\"shell\": \"LINK\",\n\t\"agent\": {},\n}\n".to_owned(),
        ),
        ("pi", "home/.pi/agent/settings.json", Some("{\"a\": 1}\n"), "{\n  \"a\": 1,\n  \"shellPath\": \"LINK\"\n}\n".to_owned()),
        ("aider", "home/.aider.conf.yml", None, "set-env:\n  - SHELL=LINK\n".to_owned()),
        (
            "aider",
            "home/.aider.conf.yml",
            Some("# mine\nmodel: x\nset-env:\n  - A=1 # one\nread: [a.md]\n"),
            "# mine\nmodel: x\nset-env:\n  - A=1 # one\n  - SHELL=LINK\nread: [a.md]\n".to_owned(),
        ),
        ("cline", "home/.cline/hooks/PreToolUse", None, "#!/bin/sh\n# Made by gsh init cline.\nexec GSH hook cline\n".to_owned()),
    ];
    let listed = |event: &str, entry: &str| {
        format!(
            "{{\n  \"version\": 1,\n  \"hooks\": {{\n    \"{event}\": [\n      {{\n        {entry}\n      }}\n    ]\n  }}\n}}\n"
        )
    };
    let copilot = listed(
        "preToolUse",
        "\"type\": \"command\",\n        \"bash\": \"GSH hook copilot\",\n        \"timeoutSec\": 120",
    );
    all.extend([
        ("copilot", "home/.copilot/hooks/gsh.json", None, copilot),
        (
            "vscode --project",
            "project/.github/hooks/gsh-vscode.json",
            None,
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"type\": \"command\",\n        \"command\": \"GSH hook claude\",\n        \"timeout\": 120\n      }\n    ]\n  }\n}\n".to_owned(),
        ),
        (
            "cursor",
            "home/.cursor/hooks.json",
            None,
            listed("beforeShellExecution", "\"command\": \"GSH hook cursor\",\n        \"timeout\": 120,\n        \"failClosed\": true"),
        ),
        (
            "crush",
            "home/.config/crush/crush.json",
            Some("{\n  \"hooks\": {}\n}\n"),
            "{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"name\": \"gsh\",\n        \"matcher\": \".*\",\n        \"command\": \"GSH hook crush\",\n        \"timeout\": 120\n      }\n    ]\n  }\n}\n".to_owned(),
        ),
        (
            "windsurf --project",
            "project/.windsurf/hooks.json",
            None,
            "{\n  \"hooks\": {\n    \"pre_run_command\": [\n      {\n        \"command\": \"GSH hook windsurf\",\n        \"show_output\": true\n      }\n    ]\n  }\n}\n".to_owned(),
        ),
        ("claude --project", "project/.claude/settings.json", None, "{\n  \"env\": {\n    \"CLAUDE_CODE_SHELL\": \"LINK\"\n  }\n}\n".to_owned()),
    ]);
    all
}

#[test]
fn each_agent_is_set_up_once_and_put_back_exactly() {
    for (line, file, before, after) in table() {
        let machine = machine();
        let path = machine.at(file);
        if let Some(text) = before {
            write(&path, text);
        }
        let (machine, status, text) = person(machine, &format!("init {line} --yes"));
        assert_eq!(status, 0, "{line}: {text}");
        assert_eq!(read(&path).map(|text| short(&machine, &text)), Some(after.clone()), "{line}");
        let (machine, status, text) = person(machine, &format!("init {line} --yes"));
        assert!(status == 0 && text.contains("is set up already"), "{line}: {text}");
        let agent = line.split(' ').next().expect("a word");
        let (machine, status, text) = person(machine, &format!("init {agent} --undo --yes"));
        assert_eq!(status, 0, "{line}: {text}");
        assert_eq!(read(&path).as_deref(), before, "{line}");
        assert!(!machine.at("home/.local/share/gsh/bin/bash").is_symlink(), "{line}: the link is gone");
        let (_, _, text) = person(machine, &format!("init {agent} --undo --yes"));
        assert!(text.contains("nothing is set up for"), "{line}: {text}");
    }
}

#[test]
fn what_others_changed_since_stays() {
    let machine = machine();
    let path = machine.at("home/.claude/settings.json");
    write(&path, "{ \"env\": { \"CLAUDE_CODE_SHELL\": \"/bin/zsh\" }, \"a\": 1 }\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("mode");
    let (machine, ..) = person(machine, "init claude --door both --yes");
    let text = read(&path).expect("there").replace("\"a\": 1", "\"a\": 2 /* later */");
    write(&path, &text);
    let (machine, status, text) = person(machine, "init claude --undo --yes");
    assert_eq!(status, 0, "{text}");
    let left = read(&path).expect("there");
    assert!(left.contains("\"/bin/zsh\"") && left.contains("\"a\": 2 /* later */"), "{left}");
    assert!(!left.contains("gsh") && !left.contains("hooks"), "{left}");
    let mode = fs::metadata(&path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o640);
    drop(machine);
}

#[test]
fn a_link_serves_all_agents_and_settings_may_be_links() {
    let machine = machine();
    let (real, path) = (machine.at("dotfiles/claude.json"), machine.at("home/.claude/settings.json"));
    write(&real, "{}\n");
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    symlink(&real, &path).expect("linked");
    let (machine, status, text) = person(machine, "init claude --yes");
    assert!(status == 0 && path.is_symlink(), "{text}");
    assert!(read(&real).expect("there").contains("CLAUDE_CODE_SHELL"));
    let (machine, ..) = person(machine, "init opencode --yes");
    let (machine, ..) = person(machine, "init claude --undo --yes");
    assert!(machine.at("home/.local/share/gsh/bin/bash").is_symlink(), "opencode has it still");
    assert_eq!(read(&real).as_deref(), Some("{}\n"));
    let (machine, ..) = person(machine, "init opencode --undo --yes");
    assert!(!machine.at("home/.local/share/gsh/bin/bash").is_symlink());
}

#[test]
fn only_a_person_sets_up_and_only_after_it_was_shown() {
    let path = |machine: &Gsh| machine.at("home/.claude/settings.json");
    let run = machine().args(["init", "claude", "--yes"]).run();
    assert_eq!((run.status, path(&run.machine).exists()), (Some(2), false), "{}", run.stderr());
    assert!(run.stderr().contains("takes a person at a terminal"), "{}", run.stderr());
    let (machine, status, text) = typed(machine(), "init claude", "no\r");
    assert!(status == 2 && text.contains("+    \"CLAUDE_CODE_SHELL\""), "{text}");
    assert!(text.contains("nothing was changed") && !path(&machine).exists(), "{text}");
    let (machine, status, _) = typed(machine, "init claude", "yes\r");
    assert!(status == 0 && path(&machine).exists());
    // To look takes nobody.
    let run = machine.args(["init", "pi", "--print"]).run();
    assert!(run.status == Some(0) && run.stdout().contains("shellPath"), "{}", run.stderr());
    assert!(!run.at("home/.pi").exists());
    let beneath = "[permissions.'process.execute']\n'./s.sh' = 'allow'\n";
    let gsh =
        Gsh::new(GSH).config(beneath).project_file("s.sh", &format!("#!/bin/bash\n{GSH} init pi --yes\n"));
    fs::set_permissions(gsh.at("project/s.sh"), PermissionsExt::from_mode(0o755)).expect("executable");
    let run = gsh.args(["-c", "./s.sh"]).run();
    assert!(run.stderr().contains("nothing that gsh runs may do that"), "{}", run.stderr());
}

#[test]
fn what_stands_in_the_way_is_said() {
    // The line, a file and its text, what is said.
    for (line, file, text, said) in [
        ("init claude --yes", "home/.claude/settings.json", "{ \"env\": 1 }", "add this yourself"),
        ("init aider --yes", "home/.aider.conf.yml", "set-env: [A=1]\n", "  - SHELL="),
        ("init cline --yes", "home/.cline/hooks/PreToolUse", "#!/bin/sh\n", "is there already"),
        ("init cloude --yes", "home/x", "", "did you mean `claude`?"),
        ("init zed --yes", "home/x", "", "gsh wrap -- zed"),
        ("init cline --door shell --yes", "home/x", "", "/bin/bash, which is built in"),
        ("init aider --door hook --yes", "home/x", "", "--door shell"),
        ("init continue --yes", "home/x", "", "a hook would be no door"),
        ("init continue --door hook --yes", "home/x", "", "gsh wrap -- cn"),
        (
            "init claude --print",
            "project/.claude/settings.local.json",
            "{\"env\":{\"CLAUDE_CODE_SHELL\":\"/bin/sh\"}}",
            "holds over this file",
        ),
        ("init codex --print", "home/x", "", "you trusted it there"),
        ("init crush --print", "home/x", "", "fails or is too slow lets the command run"),
        ("init", "home/x", "", "mini-swe-agent   gsh wrap"),
    ] {
        let machine = machine();
        write(&machine.at(file), text);
        let mut screen = machine.args(line.split(' ')).pty(400, 120);
        screen.wait();
        screen.wait_for(said);
        let machine = screen.into_machine();
        assert_eq!(read(&machine.at(file)).as_deref(), Some(text), "{line}");
    }
}

#[test]
fn a_terminal_that_is_not_known_is_told_how_it_becomes_one() {
    let mut screen = Gsh::new(GSH).args(["init", "terminal"]).pty(200, 30);
    screen.wait_for("terminals = [");
    let mut screen = machine().args(["init", "terminal"]).pty(200, 30);
    screen.wait_for("counts as a person's");
}
