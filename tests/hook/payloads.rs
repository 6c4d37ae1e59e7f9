//! Whatever stands in an event, a command that must be refused is refused, in words that the agent takes for a refusal.
//! The texts hold no more than the inert word that the floor always refuses, and none is run.

use gsh::entry::hook::event::{Event, Kind};
use gsh::entry::hook::reply::{Reply, Said};
use gsh::entry::hook::tools::{Meant, meant};
use gsh::entry::hook::{DIALECTS, Dialect, understood};
use gsh::policy::Verdict;
use gsh::request::{Entry, Request};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{command, heard, machine, project};
use crate::common::{builtin_policy, fixture};

const CANARY: &str = "gsh-canary-deny --all";

/// What an agent does on a reply, as it is known of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    Runs,
    Asks,
    Refuses,
}

/// Every agent runs the command on whatever it does not take for something else.
fn does(agent: &str, said: &Said) -> Does {
    let value: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let at = |path: &str| value.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let by_word = |word: &str, reason: &str| match word {
        // A refusal without its reason is none to some.
        "deny" | "block" if !reason.is_empty() => Does::Refuses,
        "ask" if !reason.is_empty() => Does::Asks,
        _ => Does::Runs,
    };
    let by_status = |word: Does| match said.status {
        2 if !said.stderr.trim().is_empty() => Does::Refuses,
        0 => word,
        _ => Does::Runs,
    };
    match agent {
        "claude" | "qwen" | "codex" => {
            let own = "/hookSpecificOutput/permissionDecision";
            by_status(match by_word(at(own), at(&format!("{own}Reason"))) {
                // Codex takes no question.
                Does::Asks if agent == "codex" => Does::Runs,
                does => does,
            })
        }
        "continue" => by_status(by_word(at("/decision"), at("/reason"))),
        "gemini" | "crush" => by_status(match by_word(at("/decision"), at("/reason")) {
            Does::Asks => Does::Runs,
            does => does,
        }),
        "copilot" if matches!(said.status, 1 | 2) => Does::Refuses,
        "copilot" => by_word(at("/permissionDecision"), at("/permissionDecisionReason")),
        "cursor" if said.status == 2 => Does::Refuses,
        "cursor" => by_status(by_word(at("/permission"), at("/agent_message"))),
        "cline" => {
            let cancels = value["cancel"] == true && !at("/errorMessage").is_empty();
            let instead = at("/overrideInput/commands/0");
            let says = instead.starts_with("printf '%s\\n' ") && instead.ends_with(" >&2; exit 126");
            if cancels || says { Does::Refuses } else { Does::Runs }
        }
        "windsurf" => by_status(Does::Runs),
        // The plugin.
        "opencode" | "amp" if said.status == 0 && at("/decision") == "allow" => Does::Runs,
        "opencode" | "amp" => Does::Refuses,
        other => panic!("nothing is known of {other}"),
    }
}

/// What is decided of an event, in process: the strictest of all that it means. None where it decides nothing.
fn decided(dialect: &Dialect, event: &Event) -> Option<Verdict> {
    let decide = |request: Request| {
        let request = Request { entry: Entry::Hook, ..request };
        gsh::pipeline::check(&request, &builtin_policy(), &fixture::host()).decision.verdict
    };
    match event.kind {
        Kind::BeforeTool | Kind::Permission => {}
        Kind::AfterTool | Kind::Prompt | Kind::Other => return None,
    }
    match meant(event, dialect) {
        Meant::Shell { texts, .. } => texts.iter().map(|text| decide(fixture::request(text))).max(),
        Meant::Tool(tool) => Some(decide(Request { tool: Some(tool), ..fixture::request("") })),
    }
}

/// What the agent does once this is said.
fn replied(dialect: &Dialect, bytes: &[u8]) -> Does {
    let text = "gsh: a reason".to_owned();
    let said = match understood(dialect, bytes) {
        Err(odd) => (dialect.say)(&Event::default(), &Reply::Failed(odd.to_string())),
        Ok(event) => (dialect.say)(
            &event,
            &match decided(dialect, &event) {
                None => Reply::Silent,
                Some(Verdict::Allow) => Reply::Allow(text),
                Some(Verdict::Deny) => Reply::Deny { text, floor: true },
                Some(_) => Reply::Ask(text),
            },
        ),
    };
    does(dialect.agent, &said)
}

/// Keys that some agent reads, and others.
const KEYS: [&str; 24] = [
    "command",
    "cmd",
    "commands",
    "script",
    "CommandLine",
    "command_line",
    "args",
    "workdir",
    "cwd",
    "path",
    "file_path",
    "tool_name",
    "toolName",
    "tool",
    "tool_input",
    "toolArgs",
    "input",
    "parameters",
    "name",
    "session_id",
    "description",
    "timeout",
    "",
    "\u{202e}x",
];

fn odd_value() -> impl Strategy<Value = Value> {
    let deep = (0..120).fold(json!("ls"), |inner, _| json!([inner]));
    prop_oneof![
        Just(json!("ls")),
        Just(json!("")),
        Just(json!(null)),
        Just(json!(true)),
        Just(json!(-1e308)),
        Just(json!(["ls"])),
        Just(json!([["ls"], 5])),
        Just(json!({ "command": "ls", "args": ["-l"] })),
        Just(json!({ "": {} })),
        Just(json!("x".repeat(20_000))),
        Just(deep),
        any::<String>().prop_map(Value::from),
    ]
}

/// Where the agent itself finds the command that it is about to run: nothing is put there.
fn is_commands(agent: &str, path: &str) -> bool {
    let known: &[&str] = match agent {
        "claude" | "codex" | "qwen" | "continue" | "gemini" | "crush" => {
            &["/tool_input", "/tool_input/command"]
        }
        "copilot" => &["/toolArgs", "/toolArgs/command"],
        "opencode" => &["/args", "/args/command"],
        "amp" => &["/args", "/args/cmd"],
        "cursor" => &["/command"],
        "windsurf" => &["/tool_info", "/tool_info/command_line"],
        "cline" => &["/tool_call", "/tool_call/input", "/tool_call/input/commands"],
        other => panic!("nothing is known of {other}"),
    };
    known.contains(&path)
}

/// Every object in a value, by its path.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    if let Value::Object(entries) = value {
        found.push(at.to_owned());
        for (key, inner) in entries.iter().filter(|(key, _)| !key.contains(['/', '~'])) {
            objects(inner, &format!("{at}/{key}"), found);
        }
    }
}

/// One change: at an object, a key of it or another one, and what stands there then; None takes it away.
type Change = (usize, usize, Option<Value>);

/// What no event may lose or change without being another one, which the agent would not send before a command.
fn changed(agent: &str, changes: &[Change]) -> Value {
    let mut event = command(agent, CANARY, fixture::PROJECT);
    for (object, key, value) in changes {
        let mut all = Vec::new();
        objects(&event, "", &mut all);
        let at = all[object % all.len()].clone();
        let Some(Value::Object(entries)) = event.pointer_mut(&at) else { continue };
        let own: Vec<String> = entries.keys().cloned().collect();
        let key = if key % 2 == 0 && !own.is_empty() {
            own[key % own.len()].clone()
        } else {
            KEYS[key % KEYS.len()].to_owned()
        };
        if is_commands(agent, &format!("{at}/{key}")) || kills(agent, &at, &key) {
            continue;
        }
        match value {
            Some(value) => drop(entries.insert(key, value.clone())),
            None => drop(entries.remove(&key)),
        }
    }
    event
}

/// Whether a text would make it an event of another kind, or another tool, which then runs another thing.
fn kills(agent: &str, at: &str, key: &str) -> bool {
    matches!(
        (agent, at, key),
        (_, "", "tool_name" | "toolName" | "tool") | ("cline", "/tool_call", "name" | "input")
    )
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0_usize..64, 0_usize..4096, prop::option::of(odd_value())), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Beside a command that must be refused anything may stand, and anything may be missing.
    #[test]
    fn no_event_lets_a_refused_command_run(changes in changes()) {
        for dialect in DIALECTS {
            let event = changed(dialect.agent, &changes);
            let does = replied(dialect, event.to_string().as_bytes());
            prop_assert_eq!(does, Does::Refuses, "{}: {}", dialect.agent, event);
        }
    }

    /// Whatever is no event of the agent's is refused.
    #[test]
    fn what_is_no_event_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0_usize..2000) {
        for dialect in DIALECTS {
            prop_assert_eq!(replied(dialect, &bytes), Does::Refuses, "{}", dialect.agent);
            // Cut short, with bytes behind it, with bytes of no text in it, with a key that stands twice.
            let whole = command(dialect.agent, CANARY, fixture::PROJECT).to_string().into_bytes();
            let at = cut % whole.len();
            let end = [whole.as_slice(), b" x"].concat();
            let odd = [&whole[..at], b"\xff", &whole[at..]].concat();
            let twice = String::from_utf8_lossy(&whole).replacen('{', "{\"a\":1,\"a\":2,", 1).into_bytes();
            for text in [&whole[..at], end.as_slice(), odd.as_slice(), twice.as_slice()] {
                prop_assert_eq!(replied(dialect, text), Does::Refuses, "{}: {:?}", dialect.agent, at);
            }
        }
    }

    /// Any object is read without a panic, and whatever is said of it is in the agent's form.
    #[test]
    fn whatever_is_said_is_well_formed(entries in prop::collection::vec((0_usize..4096, odd_value()), 0..8), text in "[a-z\n\"'$`\\\\]{1,40}") {
        let object: Map<String, Value> = entries.into_iter().map(|(at, value)| (KEYS[at % KEYS.len()].to_owned(), value)).collect();
        let bytes = Value::from(object).to_string().into_bytes();
        let text = format!("gsh: {text}");
        for dialect in DIALECTS {
            let event = understood(dialect, &bytes);
            prop_assume!(event.as_ref().is_ok_and(|event| event.kind.decides()) || event.is_err());
            let event = event.unwrap_or_else(|_| command_event(dialect));
            for (reply, expected) in [
                (Reply::Deny { text: text.clone(), floor: false }, &[Does::Refuses][..]),
                (Reply::Deny { text: text.clone(), floor: true }, &[Does::Refuses]),
                (Reply::Failed(text.clone()), &[Does::Refuses]),
                (Reply::Ask(text.clone()), &[Does::Refuses, Does::Asks]),
                (Reply::Allow(text.clone()), &[Does::Runs]),
                (Reply::Silent, &[Does::Runs]),
            ] {
                let said = (dialect.say)(&event, &reply);
                prop_assert!(expected.contains(&does(dialect.agent, &said)), "{}: {:?}: {:?}", dialect.agent, reply, said);
                let one = said.stdout.is_empty() || serde_json::from_str::<Map<String, Value>>(&said.stdout).is_ok();
                prop_assert!(one, "{}: {}", dialect.agent, said.stdout);
            }
        }
    }
}

fn command_event(dialect: &Dialect) -> Event {
    (dialect.read)(&command(dialect.agent, "ls", fixture::PROJECT)).expect("an event")
}

/// Makes an event's text one that no agent should send.
type Spoil<'a> = &'a dyn Fn(String) -> Vec<u8>;

/// The program itself, with events that no agent should send.
#[test]
fn the_program_refuses_what_is_malformed() {
    std::thread::scope(|scope| {
        for dialect in DIALECTS {
            scope.spawn(move || {
                let agent = dialect.agent;
                let deep = format!("{{\"decoy\":{}1{},", "[".repeat(400), "]".repeat(400));
                let spoilt: [(&str, Spoil<'_>); 6] = [
                    ("as it is", &String::into_bytes),
                    ("cut short", &|text| text.as_bytes()[..text.len() - 1].to_vec()),
                    ("no text", &|text| [b"{\"decoy\":\"\xff\xfe\",", &text.as_bytes()[1..]].concat()),
                    ("twice", &|text| [b"{\"decoy\":1,\"decoy\":2,", &text.as_bytes()[1..]].concat()),
                    ("deep", &|text| [deep.as_bytes(), &text.as_bytes()[1..]].concat()),
                    ("decoys", &|text| [b"{\"decoy\":{\"command\":\"ls\"},", &text.as_bytes()[1..]].concat()),
                ];
                for (name, spoil) in spoilt {
                    let machine = machine("on_ask_without_terminal = 'deny'\n");
                    let event = command(agent, CANARY, &project(&machine)).to_string();
                    let run = heard(machine, agent, spoil(event));
                    let status = u8::try_from(run.status.expect("an exit")).expect("a status");
                    let said = Said { stdout: run.stdout(), stderr: run.stderr(), status };
                    assert_eq!(does(agent, &said), Does::Refuses, "{agent}, {name}: {said:?}");
                }
            });
        }
    });
}
