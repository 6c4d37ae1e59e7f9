//! `gsh doctor` and `gsh wrap`: agents' ways of starting a shell, with gsh behind the door, with another shell, with
//! nothing.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::Value;

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// A machine with links to gsh in `links`, and settings that name them.
fn machine() -> Gsh {
    let machine = Gsh::new(GSH);
    fs::create_dir_all(machine.at("links")).expect("made");
    for name in ["bash", "gsh"] {
        symlink(GSH, machine.at("links").join(name)).expect("linked");
    }
    machine
}

fn filled(machine: &Gsh, text: &str) -> String {
    text.replace('@', &machine.at("links").display().to_string())
}

fn file(machine: &Gsh, path: &str, text: &str) {
    let path = machine.at(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, filled(machine, text)).expect("written");
}

/// The finding of one agent, and the exit status.
fn doctor(machine: Gsh, agent: &str) -> (Value, Option<i32>) {
    let run = machine.args(["doctor", agent, "--json"]).run();
    let answer: Value =
        serde_json::from_str(&run.stdout()).unwrap_or_else(|_| panic!("{}{}", run.stdout(), run.stderr()));
    (answer["agents"][0].clone(), run.status)
}

type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str, &'a str);

/// The agent; its environment (`@` is the folder of links); files; the state of the shell's door; what is said of it.
const SHELLS: &[Row<'_>] = &[
    ("claude", &[("CLAUDE_CODE_SHELL", "@/bash")], &[], "closed", "$CLAUDE_CODE_SHELL"),
    ("claude", &[("CLAUDE_CODE_SHELL", "@/gsh")], &[], "open", "on PATH"),
    ("claude", &[("SHELL", "/bin/bash")], &[], "open", "$SHELL"),
    (
        "claude",
        &[],
        &[("home/.claude/settings.json", "{\"env\":{\"CLAUDE_CODE_SHELL\":\"@/bash\"}}")],
        "closed",
        ".claude/settings.json",
    ),
    (
        "claude",
        &[],
        &[
            ("home/.claude/settings.json", "{\"env\":{\"CLAUDE_CODE_SHELL\":\"@/bash\"}}"),
            ("project/.claude/settings.json", "{\"env\":{\"CLAUDE_CODE_SHELL\":\"/bin/bash\"}}"),
        ],
        "open",
        "project/.claude/settings.json",
    ),
    ("gemini", &[("PATH", "@:/usr/bin:/bin")], &[], "closed", "`bash` on PATH"),
    ("gemini", &[("PATH", "/usr/bin:/bin:@")], &[], "open", "`bash` on PATH"),
    ("qwen", &[("PATH", "@:/usr/bin:/bin")], &[], "closed", "`bash` on PATH"),
    ("opencode", &[("SHELL", "@/gsh")], &[], "closed", "$SHELL"),
    (
        "opencode",
        &[("SHELL", "@/gsh")],
        &[("project/opencode.json", "{\"shell\": \"/bin/bash\"}")],
        "open",
        "opencode.json",
    ),
    ("copilot", &[("COPILOT_BASH_PATH", "@/gsh")], &[], "closed", "$COPILOT_BASH_PATH"),
    ("copilot", &[("SHELL", "@/gsh")], &[], "open", "built into it"),
    ("cline", &[("SHELL", "@/gsh")], &[], "open", "built into it"),
    ("continue", &[("SHELL", "@/gsh")], &[], "closed", "$SHELL"),
    ("aider", &[("SHELL", "@/bash")], &[], "closed", "$SHELL"),
    ("aider", &[], &[("home/.aider.conf.yml", "set-env:\n  - SHELL=@/bash\n")], "closed", ".aider.conf.yml"),
    ("pi", &[], &[("home/.pi/agent/settings.json", "{\"shellPath\": \"@/gsh\"}")], "closed", "shellPath"),
    ("pi", &[], &[("home/.pi/agent/settings.json", "{\"shellPath\": \"@/none\"}")], "open", "built into it"),
    ("zed", &[("SHELL", "@/bash")], &[], "closed", "$SHELL"),
    ("openhands", &[("PATH", "@:/usr/bin:/bin")], &[], "closed", "`bash` on PATH"),
    ("mini-swe-agent", &[("SHELL", "@/gsh")], &[], "open", "built into it"),
    ("crush", &[("SHELL", "@/gsh")], &[], "unknown", "not known"),
];

#[test]
fn each_way_to_start_a_shell_is_tried() {
    for (agent, variables, files, state, by) in SHELLS {
        let mut machine = machine();
        for (path, text) in *files {
            file(&machine, path, text);
        }
        for (name, value) in *variables {
            let value = filled(&machine, value);
            machine = machine.env(name, value);
        }
        let (found, status) = doctor(machine, agent);
        let door = &found["doors"][0];
        assert_eq!(door["state"], *state, "{agent} {variables:?}: {found:#}");
        assert!(door["by"].as_str().is_some_and(|text| text.contains(by)), "{agent}: {door:#}");
        assert_eq!(status, Some(i32::from(*state != "closed")), "{agent}: {found:#}");
        if *state == "closed" {
            assert_eq!(door["proof"]["recorded"], true, "{agent}: {door:#}");
        }
    }
}

#[test]
fn warnings_name_what_goes_wrong_without_a_word() {
    type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a [(&'a str, &'a str)], &'a str);
    let cases: [Case<'_>; 6] = [
        ("claude", &[("CLAUDE_CODE_SHELL", "@/gsh")], &[], "passed over without a word"),
        ("gemini", &[("PATH", "/usr/bin:/bin:@")], &[], "stands before"),
        (
            "opencode",
            &[],
            &[
                ("home/.config/opencode/opencode.json", "{\"shell\": \"@/gsh\"}"),
                ("project/opencode.jsonc", "{\"shell\": \"/bin/bash\" /* theirs */}"),
            ],
            "holds over that of",
        ),
        (
            "claude",
            &[],
            &[("home/.claude/settings.json", "{ \"env\": ")],
            "settings.json cannot be read: Expected value",
        ),
        ("cline", &[("BASH_ENV", "/x")], &[], "a socket as standard input"),
        (
            "codex",
            &[],
            &[(
                "home/.local/state/gsh/audit/2026-01-01.jsonl",
                "{\"time\":\"2026-01-01T10:00:00Z\",\"envelope\":{\"agent\":\"codex\",\"part\":\"unrecognised\"}}\n",
            )],
            "last at 2026-01-01T10:00:00Z",
        ),
    ];
    for (agent, variables, files, said) in cases {
        let mut machine = machine();
        for (path, text) in files {
            file(&machine, path, text);
        }
        for (name, value) in variables {
            let value = filled(&machine, value);
            machine = machine.env(name, value);
        }
        let (found, _) = doctor(machine, agent);
        assert!(found["warnings"].to_string().contains(said), "{agent}: {found:#}");
    }
    let machine = machine();
    fs::create_dir_all(machine.at("home/.local/share/gsh/bin")).expect("made");
    symlink("/nonexistent/gsh", machine.at("home/.local/share/gsh/bin/bash")).expect("linked");
    let (found, _) = doctor(machine, "claude");
    assert!(found["warnings"].to_string().contains("no gsh any more"), "{found:#}");
}

/// An agent that was updated: what it puts around its commands is another text than gsh knows. Who runs the agent is
/// told by doctor; who runs another is not.
#[test]
fn an_agent_whose_text_changed_is_told_of() {
    // The program, the agent, the options and the text, and whether doctor tells of it.
    let exec = "exec '/bin/bash' -c 'ls'";
    let table: [(&str, &str, &[&str], &str, bool); 17] = [
        ("claude", "claude", &["-c"], "newly-wrapped 'ls' && pwd -P >| /tmp/claude-0a1b-cwd", true),
        ("claude", "claude", &["-c"], "env", false),
        ("gemini", "gemini", &["-c"], "( trap 'jobs > /tmp/x' EXIT; ls )", true),
        ("zed", "zed", &["-i", "-c"], "(ls) < /dev/null", true),
        ("zed", "zed", &["-i", "-c"], "(ls) </dev/null", false),
        ("codex", "codex", &["-c"], &format!("__CODEX_KEPT_0=\"${{A-}}\"\n{exec}"), true),
        ("codex", "codex", &["-c"], &format!(". '/x/shell_snapshots/y.sh'; {exec}"), true),
        ("codex", "codex", &["-lc"], "echo '# Snapshot file'; alias | sort > /tmp/x", true),
        ("codex", "codex", &["-lc"], "ls", false),
        ("copilot", "copilot", &["-l", "-c"], "printf '__copilot_env_2__'; env", true),
        ("copilot", "copilot", &["--norc", "--noprofile", "-c"], "ls", false),
        ("opencode", "opencode", &["-l", "-c"], "__oc_here=$PWD\n. ~/.bashrc\neval \"ls\"", true),
        ("opencode", "opencode", &["-c"], "ls", false),
        ("openhands", "openhands", &["-c"], "set +H; PROMPT_COMMAND='PS1=\"###PS1JSON###\"'", true),
        ("sweagent", "swe-agent", &["-c"], "ls\necho EXITCODE=$?", true),
        ("code", "vscode", &["-i", "-l", "-c"], "'/x/code' -e 'JSON.stringify(process.env)'", true),
        ("qwen", "qwen", &["-c"], "ls", false),
    ];
    for (name, agent, options, text, told) in table {
        let machine = machine();
        let program = machine.at(name);
        fs::copy("/bin/bash", &program).expect("a program of that name");
        let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
        // It stays, as an agent does: its last command would take its place.
        let script = "\"$@\"; true".to_owned();
        let words = ["-c".to_owned(), script, name.to_owned(), GSH.to_owned()];
        let args = words.into_iter().chain(options).chain([text.to_owned()]);
        let run = machine.env("GSH_NON_INTERACTIVE", "1").program(program).args(args).run();
        let is_marked = |record: &Value| record["envelope"]["part"] == "unrecognised";
        assert_eq!(run.records().iter().any(is_marked), told, "{text}: {:#?}", run.records());
        let machine = run.machine.again().program(GSH);
        let warns = |found: &Value| found["warnings"].to_string().contains("this gsh does not know");
        let (found, _) = doctor(machine, agent);
        assert_eq!(warns(&found), told, "{agent}: {text}: {found:#}");
    }
}

#[test]
fn without_a_name_those_that_are_here_are_looked_at() {
    let machine = machine();
    let run = machine.args(["doctor"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stdout());
    assert!(run.stdout().contains("no agent that gsh knows is found"), "{}", run.stdout());
    let machine = run.machine.again();
    program(&machine, "bin/cline", "");
    let path = format!("{}:/usr/bin:/bin", machine.at("bin").display());
    let run = machine.env("PATH", path).args(["doctor"]).run();
    assert_eq!(run.status, Some(1));
    for part in ["Cline CLI: OPEN", "shell open: built into it", "gsh init cline, or gsh wrap -- cline"] {
        assert!(run.stdout().contains(part), "{part}: {}", run.stdout());
    }
}

fn program(machine: &Gsh, path: &str, text: &str) {
    file(machine, path, text);
    fs::set_permissions(machine.at(path), fs::Permissions::from_mode(0o755)).expect("executable");
}

/// A stand-in for an agent that starts its shell in this way, wrapped.
fn wrapped(agent: &str, script: &str) -> (String, String) {
    let machine = Gsh::new(GSH)
        .config("[permissions.'process.execute']\n'gsh-test-denied *' = 'deny'\n'./s.sh' = 'allow'\n");
    program(&machine, &format!("bin/{agent}"), &format!("#!/usr/bin/env bash\n{script}\n"));
    let path = format!("{}:/usr/bin:/bin", machine.at("bin").display());
    let run = machine.env("PATH", path).args(["wrap", "--session", "mine", "--", agent, "an arg"]).run();
    (run.stdout(), run.stderr())
}

#[test]
fn a_wrapped_agent_finds_every_door_closed() {
    for (agent, start) in [
        ("claude", "\"$CLAUDE_CODE_SHELL\" -c"),
        ("opencode", "\"$SHELL\" -c"),
        ("copilot", "\"$COPILOT_BASH_PATH\" --norc --noprofile -c"),
        ("gemini", "bash -c"),
        ("gemini", "sh -c"),
        ("qwen", "/usr/bin/env bash -c"),
        // Built in: by BASH_ENV.
        ("cline", "/bin/bash -c"),
        ("codex", "/bin/bash -lc"),
        ("goose", "/usr/bin/bash -euo pipefail -c"),
    ] {
        let script = format!(
            "{start} 'gsh-canary-deny x'; echo \"status $?\"\n{start} 'echo \"ran $0 $1 $GSH_SESSION\"' name 'a b'\n\
             {start} 'exit 7'; echo \"status $?\"\necho \"agent $GSH_AGENT $1\""
        );
        let (stdout, stderr) = wrapped(agent, &script);
        let expected = format!("status 126\nran name a b mine\nstatus 7\nagent {agent} an arg\n");
        assert_eq!(stdout, expected, "{agent} {start}: {stderr}");
        assert!(stderr.contains("gsh: closed: "), "{agent}: {stderr}");
    }
}

#[test]
fn what_a_wrapped_agent_cannot_be_kept_from_is_said() {
    for (agent, said) in [
        ("mini-swe-agent", "open: mini-SWE-agent starts /bin/sh"),
        ("crush", "open: Crush starts no shell that can be told. Its hook can ask gsh"),
        ("stranger", "is no agent that gsh knows"),
    ] {
        let (_, stderr) = wrapped(agent, "");
        assert!(stderr.contains(said), "{agent}: {stderr}");
    }
    let run = Gsh::new(GSH).args(["wrap", "--print", "--", "gsh-test-none"]).run();
    assert!(run.stderr().contains("is not found on PATH"), "{}", run.stderr());
}

#[test]
fn the_door_of_bash_env_is_passed_once() {
    // Beneath gsh the variable is gone, options stay, and a script file is no command.
    for (call, expected) in [
        ("/bin/bash -c 'echo \"${BASH_ENV-none}\"'", "none\n"),
        ("/bin/bash -euc 'echo $-'", "ehuBc\n"),
        ("/bin/bash -o pipefail -c 'false | true; echo $?'", "1\n"),
        ("echo 'gsh-canary-deny x' > s; /bin/bash s 2>/dev/null; echo $?", "127\n"),
        ("echo 'echo in' | /bin/bash", "in\n"),
    ] {
        let (stdout, stderr) = wrapped("cline", call);
        assert_eq!(stdout, expected, "{call}: {stderr}");
    }
}

#[test]
fn what_an_allowed_command_starts_is_not_asked_about_again() {
    // The floor and refusing rules hold all the same; an agent that is started there is asked about as ever.
    let inner = "#!/bin/bash\nbash -c 'gsh-test-unknown x; echo \"bash $?\"'; sh -c 'gsh-test-unknown x; echo \"sh $?\"'\n\
                 bash -c 'gsh-canary-deny x'; echo \"floor $?\"; bash -c 'gsh-test-denied x'; echo \"rule $?\"\n\
                 gsh-other() { :; }; bash -c 'echo $GSH_MODE'\n";
    let script = format!(
        "cat > s.sh <<'EOF'\n{inner}EOF\nchmod +x s.sh; bash -c ./s.sh; bash -c 'gsh-test-unknown x'; echo \"first $?\""
    );
    let (stdout, stderr) = wrapped("gemini", &script);
    assert_eq!(stdout, "bash 127\nsh 127\nfloor 126\nrule 126\ndefault\nfirst 126\n", "{stderr}");
    let nested = "#!/bin/bash\nprintf '#!/bin/bash\\nbash -c \"gsh-test-unknown x\"; echo nested $?; exit\\n' > qwen; chmod +x qwen; ./qwen\n";
    let script = format!("cat > s.sh <<'EOF'\n{nested}EOF\nchmod +x s.sh; bash -c ./s.sh");
    let (stdout, stderr) = wrapped("gemini", &script);
    assert_eq!(stdout, "nested 126\n", "{stderr}");
}

/// `npx` starts an agent by the shell that it finds on PATH. What that call lets through is an agent that nobody
/// knows, and no command whose shells were decided with it.
#[test]
fn an_agent_that_a_launcher_starts_is_asked_about() {
    let launcher = "#!/bin/bash\nsh -c \"$2\"\n";
    let agent = "#!/bin/bash\nbash -c 'gsh-test-unknown x'; echo \"its own $?\"\nbash -c ./s.sh\n";
    let inner = "#!/bin/bash\nbash -c 'gsh-test-unknown x'; echo \"of its command $?\"\n";
    for (name, own) in [("npx", 126), ("stranger", 127)] {
        let machine = Gsh::new(GSH)
            .config("[permissions.'process.execute']\n'./s.sh' = 'allow'\n'./agent' = 'allow'\n");
        program(&machine, &format!("bin/{name}"), launcher);
        program(&machine, "project/agent", agent);
        program(&machine, "project/s.sh", inner);
        let path = format!("{}:/usr/bin:/bin", machine.at("bin").display());
        let run = machine.env("PATH", path).args(["wrap", "--", name, "-y", "./agent"]).run();
        assert_eq!(run.stdout(), format!("its own {own}\nof its command 127\n"), "{name}: {}", run.stderr());
    }
}

/// Codex runs a hook only once its user trusted it; what it asked since says more than its file.
#[test]
fn a_hook_that_nobody_trusted_is_open() {
    let hooks = "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\".*\",\"hooks\":[{\"type\":\"command\",\"command\":\"@/gsh hook codex\"}]}]}}";
    let state = |name: &str, more: &str| {
        format!("[hooks.state.\"{name}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:00\"\n{more}")
    };
    let at = "HOME/.codex/hooks.json";
    for (config, later, asks, expected, said) in [
        (None, false, false, "open", "nobody trusted it yet"),
        (Some(state(at, "")), false, false, "closed", "hooks.json"),
        (Some(state(at, "enabled = false\n")), false, false, "open", "switched off in"),
        (Some(state("/other/hooks.json", "")), false, false, "open", "nobody trusted it yet"),
        (Some(state(at, "")), true, false, "unknown", "changed after it was trusted"),
        (None, false, true, "closed", "hooks.json"),
    ] {
        let mut machine = machine();
        file(&machine, "home/.codex/hooks.json", hooks);
        if let Some(config) = &config {
            let home = machine.at("home").display().to_string();
            file(&machine, "home/.codex/config.toml", &config.replace("HOME", &home));
        }
        if later {
            let own = fs::File::open(machine.at("home/.codex/hooks.json")).expect("there");
            let moment = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
            own.set_modified(moment).expect("set");
        }
        if asks {
            machine = asked(machine, "codex");
        }
        let (found, _) = doctor(machine, "codex");
        let door = &found["doors"][1];
        assert_eq!(door["state"], expected, "{config:?}: {found:#}");
        assert_eq!(door["asked"].is_string(), asks, "{door:#}");
        assert!(door["by"].as_str().is_some_and(|by| by.contains(said)), "{door:#}");
        // Setting up anew what stands there would change nothing.
        let first = if expected == "open" { "what is said of its hook" } else { "gsh init codex" };
        assert_eq!(found["help"], format!("{first}, or gsh wrap -- codex"), "{found:#}");
    }
}

/// What is said to close a door does so: a hook that only a project's file can have is set up there.
#[test]
fn what_closes_a_door_can_be_typed() {
    for (agent, help) in [
        ("claude", "gsh init claude, or gsh wrap -- claude"),
        ("vscode", "gsh init vscode --project"),
        ("cursor", "gsh init cursor"),
        ("goose", "gsh wrap -- goose"),
        ("amp", "nothing that is known"),
    ] {
        assert_eq!(doctor(machine(), agent).0["help"], help, "{agent}");
    }
}

/// The same machine, after an agent asked its hook about a command.
fn asked(machine: Gsh, agent: &str) -> Gsh {
    let cwd = machine.at("project").display().to_string();
    let event = match agent {
        "opencode" => serde_json::json!({
            "event": "tool.execute.before", "tool": "bash", "session": "s", "directory": cwd, "args": {"command": "ls"},
        }),
        _ => serde_json::json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": cwd, "tool_name": "Bash",
            "tool_input": {"command": "ls"},
        }),
    };
    let run = machine.args(["hook", agent]).stdin(event.to_string()).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    run.machine.again()
}

/// A plugin is loaded as its agent loads it; that the agent does so shows only the record.
#[test]
fn a_plugin_is_closed_where_it_was_seen() {
    let node = ["bun", "node"].iter().any(|name| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    });
    let path = std::env::var("PATH").unwrap_or_default();
    let real = include_str!("../shell-integration/opencode/gsh.js");
    let lax = "// gsh\nexport const Gsh = async () => ({ 'tool.execute.before': async () => {} })\n";
    for (text, asks, expected) in
        [(real, false, "unknown"), (real, true, "closed"), (lax, false, "open"), (lax, true, "open")]
    {
        if !node && text == lax {
            eprintln!("SKIPPED: no node to load a plugin with");
            continue;
        }
        let mut machine = machine().env("PATH", &path).env("GSH_PROGRAM", GSH);
        file(&machine, "home/.config/opencode/plugin/gsh.js", text);
        if asks {
            machine = asked(machine, "opencode");
        }
        let (found, _) = doctor(machine, "opencode");
        let door = &found["doors"][1];
        assert_eq!(door["state"], expected, "{found:#}");
        assert_eq!(door["proof"].is_object(), node, "{found:#}");
        if node && text == real {
            assert_eq!(
                (&door["proof"]["denied"], &door["proof"]["ran"]),
                (&true.into(), &true.into()),
                "{door:#}"
            );
        }
    }
}

/// A machine on which this agent was wrapped once, and where that left the folder of doors.
fn wrapped_once(agent: &str) -> (Gsh, String) {
    let machine = Gsh::new(GSH);
    program(&machine, &format!("bin/{agent}"), "#!/bin/bash\n");
    let path = format!("{}:/usr/bin:/bin", machine.at("bin").display());
    let run = machine.env("PATH", &path).args(["wrap", "--", agent]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    (run.machine.again(), path)
}

/// A bash on a socket does not read the file of BASH_ENV, unless another shell was above it.
#[test]
fn a_shell_on_a_socket_is_tried_on_one() {
    for (level, state) in [("0", "open"), ("1", "closed")] {
        let (machine, _) = wrapped_once("cline");
        let by = machine.at("home/.local/share/gsh/doors/bash-env.sh");
        let (found, _) = doctor(machine.env("BASH_ENV", by).env("SHLVL", level), "cline");
        assert_eq!(found["doors"][0]["state"], state, "SHLVL={level}: {found:#}");
        let warned = found["warnings"].to_string().contains("a socket as standard input");
        assert_eq!(warned, level == "0", "{found:#}");
    }
}

/// What `gsh wrap` starts is safe, wherever `gsh doctor` is started.
#[test]
fn what_is_wrapped_is_told_from_what_is_started_plainly() {
    let (machine, _) = wrapped_once("cn");
    let (found, status) = doctor(machine, "continue");
    assert_eq!((&found["doors"][0]["state"], status), (&"open".into(), Some(1)), "{found:#}");
    let wrap = &found["doors"][1];
    assert_eq!((&wrap["door"], &wrap["state"]), (&"wrap".into(), &"closed".into()), "{found:#}");
    assert_eq!((&wrap["proof"]["denied"], &found["open"]), (&true.into(), &true.into()), "{found:#}");
    // One runs: it looks from a plain environment, as another terminal would.
    let (machine, path) = wrapped_once("cn");
    let plain = "env -u BASH_ENV -u SHELL -u SHLVL PATH=/usr/bin:/bin";
    program(
        &machine,
        "bin/cn",
        &format!("#!/bin/bash\n{plain} '{GSH}' doctor continue; echo \"status $?\"\n"),
    );
    let run = machine.env("PATH", path).args(["wrap", "--", "cn"]).run();
    let said = run.stdout();
    assert!(said.contains("Continue CLI: closed where it runs now, by `gsh wrap` (process "), "{said}");
    assert!(said.contains("shell open: built into it") && said.contains("wrap closed: $SHELL"), "{said}");
    assert!(said.ends_with("status 0\n"), "{said}");
}

/// The model of Codex may name another shell, which the agent's own starts.
#[test]
fn another_shell_that_the_model_names_is_tried_as_well() {
    let (machine, _) = wrapped_once("codex");
    let (found, _) = doctor(machine, "codex");
    let doors = found["doors"].as_array().cloned().unwrap_or_default();
    for door in doors.iter().filter(|door| door["door"] != "hook" && door["state"] == "closed") {
        let how = door["other"]["tried"].to_string();
        assert_eq!(door["other"]["denied"], true, "{door:#}");
        assert!(how.contains("exec ") && how.contains(" -c "), "{how}");
    }
    assert!(doors.iter().any(|door| door["door"] == "wrap"), "{found:#}");
}

/// A hook that refuses when it is asked is no closed door where the agent does not ask it.
#[test]
fn hooks_that_the_agent_does_not_ask_are_open() {
    let own = |group: &str, more: &str| {
        format!(
            "{{\"hooks\":{{\"PreToolUse\":[{{{group}\"hooks\":[{{\"type\":\"command\",\"command\":\"HOOK hook claude\"{more}}}]}}]}}}}"
        )
    };
    let block = r#","onFailure":"block""#;
    for (settings, state, holds) in [
        (own("\"matcher\":\"*\",", ""), "closed", false),
        (own("", block), "closed", true),
        (own("\"matcher\":\"Edit|Write\",", ""), "open", false),
        (own("\"matcher\":\"B.*h\",", ""), "unknown", false),
        (own("", ",\"async\":true"), "open", false),
        (own("", ",\"if\":\"Bash(git *)\""), "unknown", false),
        (own("", "").replacen('{', "{\"disableAllHooks\":true,", 1), "open", false),
        // What another hook says is not said by ours.
        (own("", "},{\"type\":\"command\",\"command\":\"other\",\"onFailure\":\"block\""), "closed", false),
    ] {
        let machine = machine();
        program(
            &machine,
            "hooks/gsh",
            "#!/bin/bash\ncase \"$(cat)\" in *gsh-canary-deny*) echo no >&2; exit 2;; esac\n",
        );
        let hook = machine.at("hooks/gsh").display().to_string();
        file(&machine, "home/.claude/settings.json", &settings.replace("HOOK", &hook));
        let (found, _) = doctor(machine, "claude");
        assert_eq!(found["doors"][1]["state"], state, "{settings}: {found:#}");
        assert_eq!(found["doors"][1]["holds"], holds, "{settings}: {found:#}");
    }
}

/// An agent that never asks its hooks: one that stands there closes nothing, and none is missed.
#[test]
fn a_hook_that_is_never_asked_is_no_door() {
    let (found, _) = doctor(machine(), "continue");
    let doors = found["doors"].as_array().expect("its doors");
    assert_eq!((doors.len(), &doors[0]["door"]), (1, &"shell".into()), "{found:#}");
    assert_eq!(found["help"], "gsh wrap -- cn");
    let machine = machine();
    let settings = r#"{"hooks":{"PreToolUse":[{"matcher":"*","hooks":[{"type":"command","command":"GSH hook continue"}]}]}}"#;
    file(&machine, "home/.continue/settings.json", &settings.replace("GSH", GSH));
    let (found, status) = doctor(machine, "continue");
    let door = &found["doors"][1];
    assert_eq!((&door["state"], status), (&"open".into(), Some(1)), "{found:#}");
    assert!(door["by"].to_string().contains("asks none of them"), "{found:#}");
}

/// A hook of gsh's, played by a script named so.
#[test]
fn hooks_are_asked_as_the_agent_asks_them() {
    let settings = |text: &str| {
        format!(
            "{{\"hooks\":{{\"PreToolUse\":[{{\"matcher\":\"Bash\",\"hooks\":[{{\"command\":\"{text} hook claude\"}}]}}]}}}}"
        )
    };
    let refuse = "case \"$event\" in *gsh-canary-deny*)";
    for (body, state) in [
        (
            format!("{refuse} echo '{{\"hookSpecificOutput\":{{\"permissionDecision\":\"deny\"}}}}';; esac"),
            "closed",
        ),
        (format!("{refuse} echo no >&2; exit 2;; esac"), "closed"),
        (format!("{refuse} echo broken >&2; exit 1;; esac"), "open"),
        ("exit 2".to_owned(), "closed"),
        ("exit 0".to_owned(), "open"),
    ] {
        let machine = machine();
        program(&machine, "hooks/gsh", &format!("#!/bin/bash\nevent=$(cat)\n{body}\n"));
        let hook = machine.at("hooks/gsh").display().to_string();
        file(&machine, "home/.claude/settings.json", &settings(&hook));
        let (found, _) = doctor(machine, "claude");
        assert_eq!(found["doors"][1]["state"], state, "{body}: {found:#}");
        let nothing_runs = found["warnings"].to_string().contains("nothing runs");
        assert_eq!(nothing_runs, body == "exit 2", "{body}: {found:#}");
        let weak = found["warnings"].to_string().contains("only the hook is closed");
        assert_eq!(found["doors"][1]["holds"], false, "{found:#}");
        assert_eq!((weak, &found["open"]), (state == "closed", &Value::from(state != "closed")), "{found:#}");
    }
}
