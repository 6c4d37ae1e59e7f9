//! `gsh hook AGENT`: every dialect with every outcome, what each agent's tools mean, and the passes that an answer in
//! an agent's own dialogue leaves for its shell.

mod payloads;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Stdio;

use gsh::decision::Decision;
use gsh::entry::hook::tools::{Meant, meant, title};
use gsh::entry::hook::{self, DIALECTS, event::Event};
use gsh::policy::{Subject, Verdict};
use gsh::request::{Entry, Request};
use serde_json::{Value, json};

use crate::common::machine::{Gsh, PATIENCE, Run, records, starting};
use crate::common::{builtin_policy, fixture};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// An event before a tool is used, as this agent writes it.
fn before(agent: &str, tool: &str, input: &Value, cwd: &str) -> Value {
    match agent {
        "claude" | "codex" | "qwen" | "continue" => json!({
            "session_id": "s1", "transcript_path": "/t", "cwd": cwd, "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": "c1",
        }),
        "gemini" => json!({
            "session_id": "s1", "cwd": cwd, "hook_event_name": "BeforeTool", "tool_name": tool,
            "tool_input": input, "timestamp": "2026-01-01T00:00:00Z",
        }),
        "copilot" => json!({
            "sessionId": "s1", "timestamp": 1, "cwd": cwd, "toolName": tool, "toolArgs": input,
        }),
        "crush" => json!({
            "event": "PreToolUse", "session_id": "s1", "cwd": cwd, "tool_name": tool, "tool_input": input,
        }),
        "cursor" if tool == "Shell" => json!({
            "hook_event_name": "beforeShellExecution", "conversation_id": "s1", "generation_id": "g1",
            "workspace_roots": [cwd], "command": input["command"], "cwd": cwd,
        }),
        "cursor" => json!({
            "hook_event_name": "preToolUse", "conversation_id": "s1", "generation_id": "g1",
            "workspace_roots": [cwd], "tool_name": tool, "tool_input": input,
        }),
        "cline" => json!({
            "clineVersion": "3.0.65", "taskId": "s1", "hookName": "tool_call", "workspaceRoots": [cwd],
            "tool_call": { "id": "c1", "name": tool, "input": input },
            "preToolUse": { "toolName": tool, "parameters": input },
        }),
        "windsurf" => json!({
            "agent_action_name": tool, "trajectory_id": "s1", "execution_id": "e1", "tool_info": input,
        }),
        "opencode" | "amp" => json!({
            "event": "tool.execute.before", "tool": tool, "session": "s1", "call": "c1", "args": input,
            "directory": cwd,
        }),
        other => panic!("no event of {other}"),
    }
}

/// The same for a command.
fn command(agent: &str, text: &str, cwd: &str) -> Value {
    let plain = json!({ "command": text });
    let (tool, input) = match agent {
        "gemini" | "qwen" => ("run_shell_command", plain),
        "copilot" | "crush" | "opencode" => ("bash", plain),
        "cursor" => ("Shell", plain),
        "cline" => ("run_commands", json!({ "commands": [text] })),
        "windsurf" => ("pre_run_command", json!({ "command_line": text, "cwd": cwd })),
        "amp" => ("Bash", json!({ "cmd": text })),
        _ => ("Bash", plain),
    };
    before(agent, tool, &input, cwd)
}

/// No rules but the built-in ones.
const PLAIN: &str = "mode = 'default'\n";

fn machine(config: &str) -> Gsh {
    Gsh::new(GSH).config(config)
}

/// Beside gsh nothing of the caller's: no terminal, as agents start their hooks.
fn heard(machine: Gsh, agent: &str, event: impl Into<Vec<u8>>) -> Run {
    machine.program("/usr/bin/setsid").args(["--wait", GSH, "hook", agent]).stdin(event).run()
}

fn project(machine: &Gsh) -> String {
    machine.at("project").canonicalize().expect("a project").to_string_lossy().into_owned()
}

const REFUSING: &str = "on_ask_without_terminal = 'deny'\n[permissions.'process.execute']\n\
                        'gsh-test-no *' = { action = 'deny', reason = 'say no' }\n";

const READS: &str = "gsh: it only reads";
const ASKS: &str = "gsh asks about gsh-test-unknown x: what this program does is not fully explained";
const NOBODY: &str = "gsh: not run: gsh-test-unknown x needs the user's approval: what this program does is not \
                      fully explained.\nNobody could be asked (there is no terminal to ask at): ask the user to \
                      allow it, or go on without it.";
const DENIED: &str = "gsh: refused by policy: gsh-test-no y: say no (rule \"gsh-test-no *\" at CONFIG:3).\nDo not \
                      retry it or reach the same effect another way: take a different approach, or ask the user to \
                      change that.";
const FLOOR: &str = "gsh: refused: gsh-canary-deny: canary: it is the inert word that is always refused, so that a \
                     guard can be tested (gsh-canary-deny). No rule, mode or approval can allow this.\nDo not look \
                     for another way to the same effect: choose a narrower target, or ask the user to do it \
                     themselves.";
const ODD: &str = "gsh: refused, since it could not be decided: the hook's input is not a JSON object.\nDo not \
                   retry it as it is; tell the user what gsh said.";
const LATE: &str = "gsh: refused, since it could not be decided: deciding took too long.\nDo not retry it as it \
                    is; tell the user what gsh said.";
const DEAD: &str = "gsh: refused, since it could not be decided: deciding ended without a result.\nDo not retry it \
                    as it is; tell the user what gsh said.";

/// What an agent's hook prints and how it ends: standard output, where `$` is the text in JSON; standard error, where
/// `$` is the text; the status.
type Form = (&'static str, &'static str, i32);

const SILENT: Form = ("", "", 0);
const BLOCKED: Form = ("", "$\n", 2);

/// How a dialect says yes, what it makes of a question, and how it says no; and that it could not decide.
type Row = (&'static str, Form, (&'static str, Form), Form, Form);

const FORMS: &[Row] = &[
    (
        "claude",
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":$}}"#,
            "",
            0,
        ),
        (
            ASKS,
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":$}}"#,
                "",
                0,
            ),
        ),
        CLAUDE_DENIES,
        BLOCKED,
    ),
    (
        "qwen",
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":$}}"#,
            "",
            0,
        ),
        (
            ASKS,
            (
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":$}}"#,
                "",
                0,
            ),
        ),
        CLAUDE_DENIES,
        BLOCKED,
    ),
    ("codex", SILENT, (NOBODY, CLAUDE_DENIES), CLAUDE_DENIES, BLOCKED),
    (
        "continue",
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":$}}"#,
            "",
            0,
        ),
        (NOBODY, (r#"{"decision":"block","reason":$}"#, "$\n", 2)),
        (r#"{"decision":"block","reason":$}"#, "$\n", 2),
        BLOCKED,
    ),
    (
        "gemini",
        (r#"{"decision":"allow","reason":$}"#, "", 0),
        (NOBODY, (r#"{"decision":"deny","reason":$}"#, "", 0)),
        (r#"{"decision":"deny","reason":$}"#, "", 0),
        BLOCKED,
    ),
    (
        "copilot",
        (r#"{"permissionDecision":"allow","permissionDecisionReason":$}"#, "", 0),
        (ASKS, (r#"{"permissionDecision":"ask","permissionDecisionReason":$}"#, "", 0)),
        (r#"{"permissionDecision":"deny","permissionDecisionReason":$}"#, "", 0),
        (r#"{"permissionDecision":"deny","permissionDecisionReason":$}"#, "$\n", 2),
    ),
    (
        "crush",
        (r#"{"decision":"allow"}"#, "", 0),
        (NOBODY, (r#"{"decision":"deny","reason":$}"#, "", 0)),
        (r#"{"decision":"deny","reason":$}"#, "", 0),
        BLOCKED,
    ),
    (
        "cursor",
        (r#"{"permission":"allow"}"#, "", 0),
        (ASKS, (r#"{"permission":"ask","user_message":$,"agent_message":$}"#, "", 0)),
        (r#"{"permission":"deny","user_message":$,"agent_message":$}"#, "", 0),
        (r#"{"permission":"deny","user_message":$,"agent_message":$}"#, "$\n", 2),
    ),
    ("cline", (r#"{"cancel":false}"#, "", 0), (NOBODY, INSTEAD), INSTEAD, CANCELS),
    ("windsurf", SILENT, (NOBODY, BLOCKED), BLOCKED, BLOCKED),
    (
        "opencode",
        (r#"{"decision":"allow"}"#, "", 0),
        (NOBODY, (r#"{"decision":"deny","reason":$}"#, "$\n", 2)),
        (r#"{"decision":"deny","reason":$}"#, "$\n", 2),
        (r#"{"decision":"deny","reason":$}"#, "$\n", 2),
    ),
    (
        "amp",
        (r#"{"decision":"allow"}"#, "", 0),
        (NOBODY, (r#"{"decision":"deny","reason":$}"#, "$\n", 2)),
        (r#"{"decision":"deny","reason":$}"#, "$\n", 2),
        (r#"{"decision":"deny","reason":$}"#, "$\n", 2),
    ),
];

const CLAUDE_DENIES: Form = (
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":$}}"#,
    "",
    0,
);
const CANCELS: Form = (r#"{"cancel":true,"errorMessage":$}"#, "", 0);
/// The command that says the refusal instead of the refused one: `~` is the text in the shell's quotes, in JSON.
const INSTEAD: Form =
    (r#"{"cancel":false,"overrideInput":{"commands":["printf '%s\\n' ~ >&2; exit 126"]}}"#, "", 0);

fn check(agent: &str, run: &Run, (out, err, status): Form, text: &str) {
    let file = run.at("home/.config/gsh/config.toml").to_string_lossy().into_owned();
    let text = text.replace("CONFIG", &file);
    let packed = |text: &str| serde_json::to_string(text).expect("JSON");
    let quoted = packed(&format!("'{}'", text.replace('\'', r"'\''")));
    let out = out.replace('$', &packed(&text)).replace('~', quoted.trim_matches('"'));
    let out = if out.is_empty() { out } else { out + "\n" };
    let told = (run.stdout(), run.stderr(), run.status);
    assert_eq!(told, (out, err.replace('$', &text), Some(status)), "{agent}");
}

#[test]
fn every_dialect_says_every_outcome() {
    let mut agents: Vec<&str> = FORMS.iter().map(|form| form.0).collect();
    agents.sort_unstable();
    assert_eq!(agents, DIALECTS.iter().map(|dialect| dialect.agent).collect::<Vec<_>>());
    std::thread::scope(|scope| {
        for (agent, allows, (question, asks), denies, fails) in FORMS {
            scope.spawn(move || {
                let hear = |text: &str| {
                    let machine = machine(REFUSING);
                    let event = command(agent, text, &project(&machine)).to_string();
                    heard(machine, agent, event)
                };
                check(agent, &hear("ls -la"), *allows, READS);
                check(agent, &hear("gsh-test-unknown x"), *asks, question);
                check(agent, &hear("gsh-test-no y"), *denies, DENIED);
                // The floor ends a run that nothing less would stop.
                let floor = if *agent == "cline" { CANCELS } else { *denies };
                check(agent, &hear("gsh-canary-deny"), floor, FLOOR);
                check(agent, &heard(machine(REFUSING), agent, "{\"hook_event_name\": "), *fails, ODD);
                check(agent, &heard(machine(REFUSING), agent, "[1]"), *fails, ODD);
                late_and_dead(agent, *fails);
            });
        }
    });
}

/// A decision that does not come, and one whose process is killed.
#[cfg(debug_assertions)]
fn late_and_dead(agent: &str, fails: Form) {
    let machine = machine(REFUSING).env("GSH_TEST_PATIENCE", "300");
    let mut call = machine.detached(["hook", agent]);
    let turn = starting();
    // Its input never ends.
    let mut child = call.stdin(Stdio::piped()).spawn().expect("it starts");
    drop(turn);
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(b"{").expect("written");
    let output = child.wait_with_output().expect("its end");
    drop(input);
    let status = output.status.code();
    check(
        agent,
        &Run { status, signal: None, stdout: output.stdout, stderr: output.stderr, machine },
        fails,
        LATE,
    );
    let machine = self::machine(REFUSING);
    let fault = machine.at("fault");
    std::fs::write(&fault, "hook").expect("written");
    let event = command(agent, "ls", &project(&machine)).to_string();
    check(agent, &heard(machine.env("GSH_TEST_FAULT", fault), agent, event), fails, DEAD);
}

#[cfg(not(debug_assertions))]
fn late_and_dead(_agent: &str, _fails: Form) {}

#[test]
fn what_cannot_be_judged_is_refused() {
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(17 << 20));
    let deep = format!("{}1{}", "{\"a\":".repeat(500), "}".repeat(500));
    let of = |name: &str, more: Value| {
        let mut event = json!({ "hook_event_name": name, "session_id": "s1", "cwd": "/" });
        event.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        event.to_string()
    };
    let bash = json!({ "command": "ls" });
    let table = [
        (long, "longer than 16 MiB"),
        (deep, "not a JSON object"),
        (String::new(), "not a JSON object"),
        ("\"ls\"".to_owned(), "not a JSON object"),
        ("{}".to_owned(), "no `hook_event_name`"),
        (of("PreTool", json!({ "tool_name": "Bash", "tool_input": bash })), "the hook event `PreTool`"),
        (of("PreToolUse", json!({ "tool_input": bash })), "no `tool_name`"),
        (
            of("PreToolUse", json!({ "tool_name": "Bash", "tool_input": bash, "cwd": "/no/such/place" })),
            "the directory /no/such/place",
        ),
        (
            of("PreToolUse", json!({ "tool_name": "Bash", "tool_input": bash, "cwd": "relative" })),
            "the directory relative",
        ),
    ];
    for (event, why) in table {
        let run = heard(machine(PLAIN), "claude", event);
        assert_eq!((run.status, run.stdout().as_str()), (Some(2), ""), "{why}");
        assert!(run.stderr().starts_with("gsh: refused") && run.stderr().contains(why), "{}", run.stderr());
    }
    let bad_mode = machine(PLAIN).env("GSH_MODE", "lax");
    let event = command("claude", "ls", &project(&bad_mode)).to_string();
    assert_eq!(heard(bad_mode, "claude", event).status, Some(2));
    let unknown = machine(PLAIN).args(["hook", "nobody"]).run();
    assert_eq!(unknown.status, Some(2));
    let help = machine(PLAIN).args(["hook", "--help"]).run().stdout();
    for dialect in DIALECTS {
        assert!(help.contains(dialect.agent), "{}: {help}", dialect.agent);
    }
}

/// Other events than those before a tool: nothing is said where nothing is asked.
#[test]
fn other_events() {
    let permission = |text: &str| {
        json!({ "hook_event_name": "PermissionRequest", "session_id": "s1", "tool_name": "Bash",
                "tool_input": { "command": text } })
    };
    let allowed =
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
    let table: Vec<(&str, Value, &str)> = vec![
        ("claude", json!({ "hook_event_name": "PostToolUse", "tool_name": "Bash", "session_id": "s1" }), ""),
        ("claude", json!({ "hook_event_name": "UserPromptSubmit", "prompt": "x", "session_id": "s1" }), ""),
        ("claude", json!({ "hook_event_name": "SessionStart", "session_id": "s1" }), ""),
        ("gemini", json!({ "hook_event_name": "AfterTool", "tool_name": "x" }), ""),
        ("gemini", json!({ "hook_event_name": "BeforeAgent", "prompt": "x" }), ""),
        ("copilot", json!({ "toolName": "bash", "toolArgs": {}, "toolResult": {} }), ""),
        ("copilot", json!({ "prompt": "x", "sessionId": "s1" }), ""),
        ("crush", json!({ "event": "post_tool_use" }), ""),
        ("cursor", json!({ "hook_event_name": "afterFileEdit" }), ""),
        ("windsurf", json!({ "agent_action_name": "post_run_command" }), ""),
        ("cline", json!({ "hookName": "TaskStart" }), r#"{"cancel":false}"#),
        ("opencode", json!({ "event": "chat.message" }), r#"{"decision":"allow"}"#),
        ("codex", permission("ls"), allowed),
        ("codex", permission("gsh-test-unknown"), ""),
        ("claude", permission("ls"), allowed),
        ("claude", permission("gsh-test-unknown"), ""),
        (
            "copilot",
            json!({ "hookName": "permissionRequest", "toolName": "bash", "toolArgs": "{\"command\":\"ls\"}" }),
            r#"{"behavior":"allow"}"#,
        ),
    ];
    for (agent, event, expected) in table {
        let run = heard(machine(PLAIN), agent, event.to_string());
        let told = (run.status, run.stdout());
        assert_eq!((told.0, told.1.trim_end()), (Some(0), expected), "{agent} {event} {:#?}", run.records());
        assert_eq!(run.stderr(), "", "{agent} {event}");
    }
    let run = heard(machine(PLAIN), "codex", permission("gsh-canary-deny").to_string());
    let said: Value = serde_json::from_str(&run.stdout()).expect("JSON");
    let decision = &said["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "deny");
    assert!(decision["message"].as_str().is_some_and(|text| text.contains("canary")), "{said}");
}

/// What a use of a tool asks for: each request with its verdict, as one line.
fn told(decision: &Decision) -> String {
    let mut told = String::new();
    for each in decision.requests.iter().filter(|each| {
        !matches!(each.request.subject, Subject::Mention(_)) || each.request.display.starts_with("Use")
    }) {
        let subject = match &each.request.subject {
            Subject::Path(forms) => forms.join(" = "),
            Subject::Command { written, .. } => written.clone(),
            Subject::Mention(text) => format!("({text})"),
        };
        let destroys = each.request.destroys.map(|destroys| format!(" {destroys:?}")).unwrap_or_default();
        let end = if told.is_empty() { "" } else { "; " };
        write!(told, "{end}{} {} {subject}{destroys}", each.verdict.word(), each.request.capability.word())
            .expect("a text");
    }
    if let Some(floor) = &decision.floor {
        assert_eq!(decision.verdict, Verdict::Deny);
        write!(told, "; floor {floor}").expect("a text");
    }
    if told.is_empty() { "own".to_owned() } else { told }
}

/// What a row of the table means, as its hook reads it.
pub(crate) fn meant_by(agent: &str, tool: &str, input: &str) -> Meant {
    let input: Value = serde_json::from_str(input).unwrap_or_else(|error| panic!("{input}: {error}"));
    let dialect = hook::of(agent).expect("a dialect");
    let event: Event = (dialect.read)(&before(agent, tool, &input, fixture::PROJECT)).expect("an event");
    meant(&event, dialect)
}

fn meaning(agent: &str, tool: &str, input: &str) -> String {
    match meant_by(agent, tool, input) {
        Meant::Shell { texts, folders } => {
            let at = if folders == [""] { String::new() } else { format!(" in {}", folders.join(" and ")) };
            format!("shell {}{at}", texts.join(" | "))
        }
        Meant::Tool(tool) => {
            let text = title(&tool).into_bytes();
            let request = Request { text, entry: Entry::Hook, tool: Some(tool), ..fixture::request("") };
            told(&gsh::pipeline::check(&request, &builtin_policy(), &fixture::host()).decision)
        }
    }
}

/// Each agent's tools, with what they ask for.
#[test]
fn tools_mean_what_they_do() {
    let table = include_str!("cases/hook.txt");
    let rows: Vec<&str> =
        table.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    assert!(rows.len() > 100, "{}", rows.len());
    let mut wrong = String::new();
    for row in rows {
        let parts: Vec<&str> = row.split(" ~ ").collect();
        let [agent, tool, input, expected] = parts.as_slice() else { panic!("{row}") };
        let found = meaning(agent, tool, input);
        if found != *expected {
            writeln!(wrong, "{agent} ~ {tool} ~ {input} ~ {found}").expect("a text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Whatever was reported of tools of this kind comes to the decision as the very text, by every agent's hook.
#[test]
fn what_a_hook_is_told_is_decided_as_it_stands() {
    let files = [include_str!("cases/reported.txt"), include_str!("cases/sneaky.txt")];
    let rows: Vec<String> =
        files.iter().flat_map(|file| crate::common::cases::rows(file)).map(|row| row.command).collect();
    assert!(rows.len() > 150, "{}", rows.len());
    for dialect in DIALECTS {
        for text in &rows {
            let event = command(dialect.agent, text, fixture::PROJECT);
            // What goes through an agent's JSON comes out of it again.
            let packed: Value = serde_json::from_str(&event.to_string()).expect("JSON");
            let event = (dialect.read)(&packed).expect("an event");
            match meant(&event, dialect) {
                Meant::Shell { texts, .. } => {
                    assert_eq!(texts, std::slice::from_ref(text), "{}", dialect.agent)
                }
                Meant::Tool(tool) => panic!("{}: {text:?} is {tool:?}", dialect.agent),
            }
        }
    }
}

/// What an agent does in its own process: it tells its hook, it starts commands. `claude` is a shell of that name.
fn agent(config: &str, script: &str) -> Run {
    let machine = machine(config);
    let (program, at) = (machine.at("claude"), project(&machine));
    std::fs::copy("/bin/bash", &program).expect("a program of that name");
    let event = |text: &str, session: &str| {
        let mut event = command("claude", text, &at);
        event["session_id"] = session.into();
        event.to_string()
    };
    let other =
        json!({ "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": at, "tool_name": "Bash" });
    let permission = {
        let mut event = command("claude", RUN, &at);
        event["hook_event_name"] = "PermissionRequest".into();
        event.to_string()
    };
    for (name, event) in [
        ("ask", event(RUN, "s1")),
        ("ask-s2", event(RUN, "s2")),
        ("ls", event("ls", "s1")),
        ("ls-s2", event("ls", "s2")),
        ("after", other.to_string()),
        ("permission", permission),
    ] {
        std::fs::write(machine.at(&format!("project/{name}.json")), event).expect("an event");
    }
    let script = format!(
        "hook() {{ '{GSH}' hook claude < $1.json >/dev/null; }}\nrun() {{ '{GSH}' -c \"$1\"; }}\n{script}"
    );
    let script = script.replace("RUN", RUN);
    std::fs::write(machine.at("script"), script).expect("a script");
    let script = machine.at("script");
    let args = [std::ffi::OsString::from("--wait"), program.into(), script.into()];
    machine.program("/usr/bin/setsid").args(args).run()
}

/// Asks, and harms nobody.
const RUN: &str = "touch ../passed";

#[test]
fn an_answer_in_the_agents_dialogue_is_a_pass_once() {
    // What the agent does, and whether its last command ran.
    let table = [
        ("hook ask; run 'RUN'", true),
        ("hook ask; hook permission; run 'RUN'", true),
        ("run 'RUN'", false),
        ("hook ask; run 'RUN '", false),
        ("hook ask; run 'RUN; true'", false),
        ("hook ask; cd /tmp; run 'RUN'", false),
        ("hook ask; run 'RUN'; rm -f ../passed; run 'RUN'", false),
        ("hook ask; hook after; run 'RUN'", false),
        ("hook ask; hook ls; run 'RUN'", false),
        // Another session of the same agent neither ends it nor may use it.
        ("hook ask; hook ls-s2; run 'RUN'", true),
        ("export CLAUDE_CODE_SESSION_ID=s1; hook ask; run 'RUN'", true),
        ("export CLAUDE_CODE_SESSION_ID=s2; hook ask; run 'RUN'", false),
        ("export CLAUDE_CODE_SESSION_ID=s2; hook ask-s2; run 'RUN'", true),
        // Somebody else's child, and a command that makes up its own event.
        ("hook ask; /bin/sh -c \"'GSH' -c 'RUN'; exit \\$?\"", false),
        ("run \"'GSH' hook claude < ask.json\" >/dev/null; run 'RUN'", false),
        // Nobody sits at it, so nobody said yes.
        ("export CLAUDE_CODE_SESSION_ATTENDED=0; hook ask; run 'RUN'", false),
        ("export CI=true; hook ask; run 'RUN'", false),
    ];
    for (script, ran) in table {
        let config = "on_ask_without_terminal = 'deny'\n[permissions]\n\"Bash(touch:*)\" = 'ask'\n";
        let run = agent(config, &script.replace("GSH", GSH));
        let there = run.at("passed").exists();
        assert_eq!((there, run.status), (ran, Some(if ran { 0 } else { 126 })), "{script}: {}", run.stderr());
        let by = run
            .records()
            .iter()
            .rev()
            .find_map(|line| line["by"]["dialogue"]["agent"].as_str().map(str::to_owned));
        assert_eq!(by.as_deref() == Some("claude"), ran || script.contains("rm -f"), "{script}");
    }
}

#[test]
fn a_pass_lifts_no_refusal() {
    let run = agent("[permissions]\n\"Bash(touch:*)\" = 'deny'\n", "hook ask; run 'RUN'");
    assert_eq!((run.status, run.at("passed").exists()), (Some(126), false), "{}", run.stderr());
}

#[test]
fn what_is_set_for_hooks() {
    let unknown = |agent: &str, tool: &str| before(agent, tool, &json!({ "a": 1 }), "/");
    let bash = |text: &str| command("claude", text, "/");
    let asks = |said: &Value| said["hookSpecificOutput"]["permissionDecision"].clone();
    let table = [
        ("", unknown("claude", "mcp__a__b"), json!("ask")),
        ("[hook]\ngate = 'side-effect'\n", unknown("claude", "mcp__a__b"), Value::Null),
        (
            "[hook]\ngate = 'side-effect'\n[permissions.'tool.use']\n'mcp__a__*' = 'deny'\n",
            unknown("claude", "mcp__a__b"),
            json!("deny"),
        ),
        ("[permissions.'tool.use']\n'mcp__a__*' = 'allow'\n", unknown("claude", "mcp__a__b"), json!("allow")),
        (
            "[permissions.'tool.use']\n'subagent:x' = 'deny'\n",
            before("claude", "Task", &json!({ "subagent_type": "x" }), "/"),
            json!("deny"),
        ),
        ("[hook]\nshell = 'leave'\n", bash("gsh-canary-deny"), Value::Null),
        ("[hook]\nallow = 'leave'\n", bash("ls"), Value::Null),
        ("[hook]\nallow = 'leave'\n", bash("gsh-canary-deny"), json!("deny")),
        ("mode = 'dont-ask'\n", bash("gsh-test-unknown"), json!("deny")),
        ("mode = 'plan'\n", before("claude", "Edit", &json!({ "file_path": "/tmp/x" }), "/"), json!("deny")),
        ("mode = 'bypass'\n", unknown("claude", "mcp__a__b"), json!("allow")),
        (
            "mode = 'bypass'\n",
            before("claude", "Write", &json!({ "file_path": "/x/.git/hooks/a" }), "/"),
            json!("ask"),
        ),
    ];
    for (config, event, expected) in table {
        let config = if config.is_empty() { PLAIN } else { config };
        let run = heard(machine(config), "claude", event.to_string());
        let said: Value = serde_json::from_str(&run.stdout()).unwrap_or_default();
        assert_eq!((asks(&said), run.status), (expected, Some(0)), "{config} {event} {}", run.stderr());
    }
}

/// What nobody is sure to be asked about is no question for the agent's dialogue.
#[test]
fn modes_of_the_agent_in_which_nobody_is_asked() {
    for (mode, expected) in [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("plan", "ask"),
        ("bypassPermissions", "deny"),
        ("dontAsk", "deny"),
        ("auto", "deny"),
    ] {
        let machine = machine("on_ask_without_terminal = 'deny'\n");
        let mut event = command("claude", "gsh-test-unknown", &project(&machine));
        event["permission_mode"] = mode.into();
        let run = heard(machine, "claude", event.to_string());
        let said: Value = serde_json::from_str(&run.stdout()).expect("JSON");
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], expected, "{mode}");
    }
}

/// Who asks at a terminal only cannot ask without one, nor where it was started to work alone; it tells neither.
#[test]
fn an_agent_that_nobody_sits_at_is_told_of_a_question_that_waits() {
    // The program, the agent, its own words, whether its input is a terminal, and what the hook replies.
    for (name, agent, words, seated, expected) in [
        ("copilot", "copilot", "", true, "ask"),
        ("copilot", "copilot", "-p x", true, "deny"),
        ("copilot", "copilot", "--prompt=x", true, "deny"),
        ("copilot", "copilot", "", false, "deny"),
        ("qwen", "qwen", "", true, "ask"),
        ("qwen", "qwen", "-p x", true, "deny"),
        ("cursor-agent", "cursor", "--print x", true, "deny"),
        // The editor has a dialogue without any terminal.
        ("cursor", "cursor", "", false, "ask"),
        // It tells by a variable.
        ("claude", "claude", "-p x", false, "ask"),
    ] {
        let machine = machine("on_ask_without_terminal = 'auto'\n");
        let program = machine.at(name);
        std::fs::copy("/bin/bash", &program).expect("a program of that name");
        let event = command(agent, "gsh-test-unknown", &project(&machine)).to_string();
        std::fs::write(machine.at("event.json"), event).expect("an event");
        let script = format!("'{GSH}' hook {agent} < ../event.json > ../reply.json\ntrue\n");
        std::fs::write(machine.at("script"), script).expect("a script");
        let script = machine.at("script").display().to_string();
        let words = [script.as_str()].into_iter().chain(words.split_terminator(' ')).map(str::to_owned);
        let words: Vec<String> = words.collect();
        let machine = if seated {
            let mut screen = machine.program(program).args(words.clone()).pty(100, 24);
            assert_eq!(screen.wait(), 0, "{}", screen.text());
            screen.into_machine()
        } else {
            let alone = ["--wait".to_owned(), program.display().to_string()];
            machine.program("/usr/bin/setsid").args(alone.into_iter().chain(words.clone())).run().machine
        };
        let reply = std::fs::read_to_string(machine.at("reply.json")).expect("a reply");
        let said: Value = serde_json::from_str(&reply).expect("JSON");
        let paths = ["/hookSpecificOutput/permissionDecision", "/permissionDecision", "/permission"];
        let word = paths.iter().find_map(|path| said.pointer(path)).and_then(Value::as_str);
        assert_eq!(word, Some(expected), "{name} {words:?} {seated}: {reply}");
        // What was asked is kept for an answer that comes later, and the model is told how.
        assert_eq!(reply.contains("gsh approve"), expected == "deny", "{reply}");
    }
}

/// A record says who used which tool and what was decided, and nothing of what was to be written.
#[test]
fn every_reply_is_on_record() {
    let machine = self::machine(PLAIN);
    let input = json!({ "file_path": "src/new.txt", "content": "correct horse battery staple" });
    let event = before("claude", "Write", &input, &project(&machine)).to_string();
    let run = heard(machine, "claude", event);
    let records = run.records();
    let opened = &records[0];
    let expected = json!({ "event": "PreToolUse", "session": "s1", "call": "c1", "tool": "Write" });
    assert_eq!(
        (&opened["entry"], &opened["agent"], &opened["hook"]),
        (&"hook".into(), &"claude".into(), &expected)
    );
    assert_eq!((&opened["verdict"], &opened["command"]), (&"allow".into(), &"Write src/new.txt".into()));
    assert_eq!(opened["tool"]["acts"][0]["write"]["path"], "src/new.txt");
    let given = opened["args"][0].as_str().expect("what it was given");
    assert!(given.starts_with("input of ") && given.contains(" bytes, sha256 "), "{given}");
    assert_eq!((&records[1]["outcome"], &records[1]["how"]), (&"not observed".into(), &"agent".into()));
    assert!(!format!("{records:?}").contains("horse"), "{records:?}");
    let machine = run.machine.again().program(GSH);
    let config = machine.at("other.toml");
    std::fs::write(&config, "[permissions.'file.write.project']\n'*/new.txt' = 'deny'\n").expect("a file");
    let args = ["audit".into(), "replay".into(), "--config".into(), config.into_os_string()];
    let replayed = machine.args(args).run();
    assert!(replayed.stdout().contains("Write src/new.txt"), "{}{}", replayed.stdout(), replayed.stderr());
    assert!(replayed.stdout().contains("deny"), "{}", replayed.stdout());
}

/// A machine on whose terminals a person sits, and whose questions wait.
fn watched() -> Gsh {
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let config = format!(
        "on_ask_without_terminal = 'queue'\n[ask]\nterminals = [{holder:?}]\n[permissions]\n\"Bash(touch:*)\" = 'ask'\n"
    );
    machine(&config)
}

/// Starts a hook with an event.
fn hear(machine: &Gsh, agent: &str, event: &Value) -> std::process::Child {
    let mut call = machine.detached(["hook", agent]);
    let turn = starting();
    let mut child = call.stdin(Stdio::piped()).spawn().expect("it starts");
    drop(turn);
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(event.to_string().as_bytes()).expect("written");
    child
}

/// The one question that waits.
fn question(machine: &Gsh) -> Value {
    let begun = std::time::Instant::now();
    while begun.elapsed() < PATIENCE {
        let output = machine.detached(["approvals", "--json"]).output().expect("it runs");
        let list: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        if let Some(question) = list["questions"].get(0) {
            return question.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("nobody asks");
}

fn approve(machine: &Gsh, question: &Value) {
    let id = question["id"].as_str().expect("a name");
    let mut screen = machine.beside_of_size(&["approve", id], 100, 24);
    assert_eq!(screen.wait(), 0, "{}", screen.text());
}

/// Where the agent cannot ask, its question is answered elsewhere, and its shell does not ask again.
#[test]
fn a_question_is_answered_elsewhere() {
    let machine = watched();
    let child = hear(&machine, "codex", &command("codex", RUN, &project(&machine)));
    let waiting = question(&machine);
    assert_eq!((&waiting["command"], &waiting["agent"]), (&RUN.into(), &"codex".into()));
    approve(&machine, &waiting);
    let output = child.wait_with_output().expect("its end");
    let said = (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned());
    assert_eq!(said, (Some(0), String::new()), "{}", String::from_utf8_lossy(&output.stderr));
    let ran = machine.detached(["--non-interactive", "-c", RUN]).output().expect("it runs");
    assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stderr));
    let again = machine.detached(["--non-interactive", "-c", RUN]).output().expect("it runs");
    assert_eq!(again.status.code(), Some(126), "once is once");
}

/// Whoever answers sees what a tool would change, and the record does not.
#[test]
fn a_write_is_asked_about_with_its_difference() {
    let machine = watched().project_file("a.txt", "one\ntwo\n");
    let input = json!({ "file_path": "a.txt", "content": "one\nthree\n" });
    let child = hear(&machine, "gemini", &before("gemini", "write_file", &input, &project(&machine)));
    let waiting = question(&machine);
    assert_eq!(waiting["command"], "write_file a.txt");
    let shown = waiting.to_string();
    assert!(shown.contains("-two") && shown.contains("+three"), "{shown}");
    approve(&machine, &waiting);
    let output = child.wait_with_output().expect("its end");
    let said: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&said["decision"], output.status.code()), (&"allow".into(), Some(0)));
    let records = records(&machine.at("home/.local/state/gsh/audit"));
    assert!(!format!("{records:?}").contains("three"), "{records:?}");
    // Another content is another question.
    let input = json!({ "file_path": "a.txt", "content": "four\n" });
    let quiet = machine.env("GSH_NON_INTERACTIVE", "1");
    let event = before("gemini", "write_file", &input, &project(&quiet)).to_string();
    let said: Value = serde_json::from_str(&heard(quiet, "gemini", event).stdout()).expect("JSON");
    assert_eq!(said["decision"], "deny");
}

/// The plugin of opencode, in the runtime that is at hand.
#[test]
fn the_plugin_refuses_what_gsh_does_not_allow() {
    let plugin = concat!(env!("CARGO_MANIFEST_DIR"), "/shell-integration/opencode/gsh.js");
    let node = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|folder| folder.join("node")).find(|node| node.is_file())
    });
    let Some(node) = node else {
        eprintln!("SKIPPED: no node to run the plugin with");
        return;
    };
    let machine = machine(PLAIN);
    std::fs::copy(plugin, machine.at("gsh.mjs")).expect("a plugin");
    let script = "const { Gsh } = await import(process.argv[1]);\n\
        const hooks = await Gsh({ directory: process.cwd() });\n\
        for (const command of ['ls', 'gsh-canary-deny']) {\n\
          const call = { tool: 'bash', sessionID: 's', callID: 'c' };\n\
          try { await hooks['tool.execute.before'](call, { args: { command } }); console.log('runs'); }\n\
          catch (error) { console.log(error.message.split(':').slice(0, 3).join(':')); }\n\
        }";
    let at = machine.at("gsh.mjs");
    let args: Vec<std::ffi::OsString> =
        vec!["--input-type=module".into(), "-e".into(), script.into(), at.into()];
    let run = machine.program(node).env("GSH_PROGRAM", GSH).args(args).run();
    assert_eq!(run.stdout(), "runs\ngsh: refused: gsh-canary-deny\n", "{}", run.stderr());
    let machine = run.machine.again().env("GSH_PROGRAM", "/no/such/gsh");
    let at = machine.at("gsh.mjs");
    let args: Vec<std::ffi::OsString> =
        vec!["--input-type=module".into(), "-e".into(), script.into(), at.into()];
    let run = machine.args(args).run();
    assert!(
        !run.stdout().contains("runs") && run.stdout().contains("could not be started"),
        "{}",
        run.stdout()
    );
}
