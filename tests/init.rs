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

/// A file of hooks with these events, each with this entry.
fn events(head: &str, all: &[(&str, &str)]) -> String {
    let event = |(name, entry): &(&str, &str)| {
        format!("    \"{name}\": [\n      {{\n        {entry}\n      }}\n    ]")
    };
    let all: Vec<String> = all.iter().map(event).collect();
    format!("{{\n{head}  \"hooks\": {{\n{}\n  }}\n}}\n", all.join(",\n"))
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
    let cursor_entry =
        "\"command\": \"GSH hook cursor\",\n        \"timeout\": 120,\n        \"failClosed\": true";
    let matched_entry = format!("{cursor_entry},\n        \"matcher\": \"Write|Delete|Grep\"");
    let cursor = events(
        "  \"version\": 1,\n",
        &[
            ("beforeShellExecution", cursor_entry),
            ("beforeMCPExecution", cursor_entry),
            ("beforeReadFile", cursor_entry),
            ("subagentStart", cursor_entry),
            ("preToolUse", &matched_entry),
        ],
    );
    let windsurf_entry = "\"command\": \"GSH hook windsurf\",\n        \"show_output\": true";
    let windsurf = events(
        "",
        &["pre_run_command", "pre_read_code", "pre_write_code", "pre_mcp_tool_use"]
            .map(|event| (event, windsurf_entry)),
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
            cursor,
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
            windsurf,
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

/// Pointing an agent at gsh opens nothing: a script that sets a machine up may do it, and a terminal that gsh does not
/// know. What an agent started may not; nor may anybody but a person put it back.
#[test]
fn a_new_user_needs_no_terminal_that_gsh_knows() {
    let path = |machine: &Gsh| machine.at("home/.claude/settings.json");
    let set = |run: &crate::common::machine::Run| path(&run.machine).exists();
    // Whoever runs these tests may be an agent.
    let by_agent = gsh::sys::agents::above_us().is_some();
    let run = Gsh::new(GSH).args(["init", "claude", "--yes"]).run();
    assert_eq!((run.status, set(&run)), (Some(if by_agent { 2 } else { 0 }), !by_agent), "{}", run.stderr());
    if by_agent {
        assert!(run.stderr().contains("started this, and this changes gsh itself"), "{}", run.stderr());
    } else {
        let said = run.stdout();
        assert!(
            said.contains("is set up") && said.contains("gsh init terminal") && said.contains("gsh doctor"),
            "{said}"
        );
        let back = run.machine.again().args(["init", "claude", "--undo", "--yes"]).run();
        assert_eq!((back.status, set(&back)), (Some(2), true), "{}", back.stderr());
        for part in ["takes a person at a terminal", "gsh init claude --undo --print", "gsh init terminal"] {
            assert!(back.stderr().contains(part), "{part}: {}", back.stderr());
        }
        let asked = Gsh::new(GSH).args(["init", "claude"]).run();
        assert!(!set(&asked) && asked.stderr().contains("give --yes"), "{}", asked.stderr());
    }
    let machine = Gsh::new(GSH);
    let script = format!("#!/bin/bash\n'{GSH}' init claude --yes; exit\n");
    write(&machine.at("codex"), &script);
    fs::set_permissions(machine.at("codex"), fs::Permissions::from_mode(0o755)).expect("executable");
    let codex = machine.at("codex");
    let run = machine.program(codex).run();
    assert!(!set(&run) && run.stderr().contains("Codex started this"), "{}", run.stderr());
}

/// What the link is stands where it is shown.
#[test]
fn the_link_is_explained() {
    let run = Gsh::new(GSH).args(["init", "claude", "--print"]).run();
    assert!(run.stdout().contains("gsh by the name of a shell"), "{}", run.stdout());
}

#[test]
fn hard_links_stay_and_what_is_read_only_is_left() {
    let machine = machine();
    let (path, other) = (machine.at("home/.claude/settings.json"), machine.at("dotfiles.json"));
    write(&path, "{ \"a\": 1 }\n");
    fs::hard_link(&path, &other).expect("a second name");
    let (machine, status, text) = person(machine, "init claude --yes");
    assert_eq!(status, 0, "{text}");
    assert!(read(&other).is_some_and(|text| text.contains("CLAUDE_CODE_SHELL")), "{text}");
    let (machine, status, text) = person(machine, "init claude --undo --yes");
    assert_eq!((status, read(&other).as_deref()), (0, Some("{ \"a\": 1 }\n")), "{text}");
    assert_eq!(read(&path), read(&other));
    drop(machine);

    let machine = self::machine();
    let path = machine.at("home/.claude/settings.json");
    let mode = |mode| {
        fs::set_permissions(machine.at("home/.claude/settings.json"), fs::Permissions::from_mode(mode))
    };
    write(&path, "{}\n");
    mode(0o444).expect("mode");
    let mut screen = machine.beside(&["init", "claude", "--yes"]);
    assert_eq!(screen.wait(), 2);
    screen.wait_for("is read-only, so nothing was changed");
    screen.wait_for("chmod u+w it first");
    assert_eq!(read(&path).as_deref(), Some("{}\n"));
    assert!(!machine.at("home/.local/share/gsh/bin/bash").is_symlink(), "nothing of it was made");
    mode(0o644).expect("mode");
    assert_eq!(machine.beside(&["init", "claude", "--yes"]).wait(), 0);
    mode(0o400).expect("mode");
    assert_eq!(machine.beside(&["init", "claude", "--undo", "--yes"]).wait(), 2);
    assert!(read(&path).is_some_and(|text| text.contains("CLAUDE_CODE_SHELL")));
}

#[test]
fn what_stands_in_the_way_is_said() {
    // The line, a file and its text, what is said.
    for (line, file, text, said) in [
        ("init claude --yes", "home/.claude/settings.json", "{ \"env\": 1 }", "add this yourself"),
        ("init aider --yes", "home/.aider.conf.yml", "set-env: [A=1]\n", "  - SHELL="),
        ("init cline --yes", "home/.cline/hooks/PreToolUse", "#!/bin/sh\n", "is there already"),
        ("init cloude --yes", "home/x", "", "did you mean `claude`?"),
        ("init amp --yes", "home/x", "", "asked by a plugin"),
        ("init --undo", "home/x", "", "<WHAT>"),
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
