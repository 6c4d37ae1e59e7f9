//! What must not be written: secrets of every shape in every place, and nothing of everyday commands.

use std::path::{Path, PathBuf};

use gsh::audit::redact::Secrets;
use serde_json::{Value, json};

use crate::common::cases::rows;
use crate::common::machine::{Gsh, Run};
use crate::common::secrets;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

fn leaks(text: &str, secret: &str) -> bool {
    let mut known = Secrets::default();
    known.learn_text(text);
    let mut kept = text.to_owned();
    for body in gsh::syntax::document_bodies(text).into_iter().rev() {
        kept.replace_range(body, "");
    }
    known.redact(&kept).0.contains(secret)
}

#[test]
fn secrets_are_taken_out_whatever_their_form() {
    let mut leaked = Vec::new();
    let (plain, shaped) = (secrets::plain(), secrets::shaped());
    assert!(plain.len() + shaped.len() >= 200 && secrets::FORMS.len() >= 60, "{}", shaped.len());
    for (forms, values) in [(secrets::FORMS, &plain), (secrets::FORMS, &shaped), (secrets::PLACES, &shaped)] {
        for form in forms {
            for value in values {
                let text = form.replace("@@", &format!("{value}@")).replacen(
                    '@',
                    value,
                    usize::from(!form.contains("@@")) * 9,
                );
                if leaks(&text, value) {
                    leaked.push(text);
                    break;
                }
            }
        }
    }
    assert!(leaked.is_empty(), "{} forms leak:\n{}", leaked.len(), leaked.join("\n"));
}

#[test]
fn everyday_commands_stay_as_they_are() {
    let mut changed = Vec::new();
    let everyday = rows(include_str!("cases/readonly.txt")).into_iter().map(|row| row.command);
    let tempting = include_str!("cases/tempting.txt").lines().map(str::to_owned);
    let all: Vec<String> = everyday.chain(tempting).collect();
    assert!(all.len() >= 300);
    for text in all {
        let mut known = Secrets::default();
        known.learn_text(&text);
        let (kept, count) = known.redact(&text);
        if count > 0 {
            changed.push(format!("{text}\n  -> {kept}"));
        }
    }
    assert!(changed.is_empty(), "{} are changed:\n{}", changed.len(), changed.join("\n"));
}

/// Places of a secret in what comes in, one after the other with new secrets, and what was given away so far.
struct Giving {
    machine: Option<Gsh>,
    values: Vec<String>,
    given: Vec<(String, String)>,
}

impl Giving {
    fn new(machine: Gsh) -> Self {
        let values = secrets::shaped().into_iter().chain(secrets::plain()).collect();
        Self { machine: Some(machine), values, given: Vec::new() }
    }

    /// The next secret, given away in this place.
    fn next(&mut self, place: &str) -> String {
        let value = self.values[(self.given.len() * 7) % self.values.len()].clone();
        self.given.push((place.to_owned(), value.clone()));
        value
    }

    /// A call of gsh, which must end with this status.
    fn call(&mut self, what: impl FnOnce(Gsh) -> Gsh, status: i32) -> Run {
        let run = what(self.machine.take().expect("a machine")).run();
        assert_eq!(run.status, Some(status), "{}{}", run.stdout(), run.stderr());
        run
    }

    fn calls(&mut self, what: impl FnOnce(Gsh) -> Gsh, status: i32) {
        let run = self.call(what, status);
        self.machine = Some(run.machine.again());
    }

    /// One event of an agent's hook.
    fn hook(&mut self, agent: &str, tool: &str, input: &Value) {
        let event = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": tool,
            "tool_input": input, "tool_use_id": "t", "turn_id": "u",
        });
        let agent = agent.to_owned();
        let run =
            what_of(self.machine.take().expect("a machine").args(["hook", &agent]).stdin(event.to_string()));
        self.machine = Some(run.machine.again());
    }

    /// Every file below a folder that holds one of them, but for the named places.
    fn leaks(&self, folder: &Path, but: &[PathBuf]) -> Vec<String> {
        let mut found = Vec::new();
        for file in files(folder).into_iter().filter(|file| !but.iter().any(|place| file.starts_with(place)))
        {
            let text = String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
            let held = self.given.iter().filter(|(_, value)| text.contains(value.as_str()));
            found.extend(held.map(|(place, value)| format!("{}: {value} of {place}", file.display())));
        }
        found
    }
}

fn what_of(machine: Gsh) -> Run {
    machine.run()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let all = entries.map(|entry| entry.path());
    all.flat_map(|path| if path.is_dir() && !path.is_symlink() { files(&path) } else { vec![path] }).collect()
}

/// By every door and in every place of what comes in by it, with the debug log on: a script's body, standard input,
/// arguments, variables, typed lines with their aliases, and what agents' tools are given. Nothing of it runs: the
/// floor's inert word is in each text.
#[test]
fn no_door_leaves_a_secret_on_disk() {
    let mut doors = Giving::new(Gsh::new(GSH).config("[audit]\ndebug = true\n"));
    let inputs = tempfile::tempdir().expect("a folder");
    let script = inputs.path().join("script");
    let (one, two) = (doors.next("a script's assignment"), doors.next("a script's option"));
    let body = format!("gsh-canary-deny\nexport DB_PASSWORD={one}\nfrob --password {two}\n");
    std::fs::write(&script, &body).expect("written");
    doors.calls(|gsh| gsh.args([&script]), 126);
    let one = doors.next("standard input");
    doors.calls(|gsh| gsh.stdin(format!("TOKEN={one} gsh-canary-deny\n")), 126);
    let one = doors.next("an argument");
    doors.calls(|gsh| gsh.args(["-c", "gsh-canary-deny \"$2\"", "name", "--token", &one]), 126);
    let one = doors.next("a variable");
    doors.calls(|gsh| gsh.env("SOME_API_KEY", &one).args(["-c", "gsh-canary-deny \"$SOME_API_KEY\""]), 126);
    let (one, two) = (doors.next("a typed line"), doors.next("an alias"));
    let line = format!("gsh-canary-deny --password {one}; k");
    let known = format!("alias k='frob --token {two}'\n");
    doors.calls(
        |gsh| {
            gsh.env("GSH_LINE", line).env("GSH_DEFINED", known).args(["typed", "--shell", "bash", "--whole"])
        },
        126,
    );
    for form in secrets::FORMS.iter().filter(|form| !form.contains("@@")).step_by(3) {
        let value = doors.next(form);
        let command = format!("gsh-canary-deny; {}", form.replace('@', &value));
        doors.hook("claude", "Bash", &json!({ "command": command }));
    }
    let value = doors.next("a written file");
    doors.hook(
        "claude",
        "Write",
        &json!({ "file_path": "/p/a", "content": format!("password = \"{value}\"\n") }),
    );
    let value = doors.next("a difference");
    let input = json!({ "file_path": "/p/a", "old_string": "x", "new_string": format!("token: {value}") });
    doors.hook("claude", "Edit", &input);
    let (one, two) = (doors.next("an address"), doors.next("a parameter"));
    let url = format!("https://u:{one}@x.example/?access_token={two}");
    doors.hook("claude", "WebFetch", &json!({ "url": url, "prompt": "read" }));
    let (one, two) = (doors.next("a field"), doors.next("a nested field"));
    let input = json!({ "password": one, "options": { "connection": format!("postgres://u:{two}@h/d") } });
    doors.hook("claude", "mcp__db__query", &input);
    let value = doors.next("a patch");
    let patch = format!("*** Begin Patch\n*** Add File: a\n+API_KEY={value}\n*** End Patch\n");
    doors.hook("codex", "apply_patch", &json!({ "command": patch }));
    let root = doors.machine.as_ref().expect("a machine").at("");
    let state = root.join("home/.local/state/gsh");
    assert!(files(&state.join("debug")).len() == 1 && files(&state.join("audit")).len() == 1);
    // A question that waits holds the true bytes, for its owner alone.
    let leaks = doors.leaks(&root, &[state.join("pending")]);
    assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    assert!(doors.given.len() > 30);
}

/// A job's log holds what the job writes, for its owner alone; what is said of its command holds no secret.
#[test]
fn a_jobs_record_holds_no_secret() {
    let mut doors = Giving::new(Gsh::new(GSH));
    let (one, two) = (doors.next("a job's option"), doors.next("a job's address"));
    let text = format!("sh -c 'sleep 30' x --token {one} https://u:{two}@x.example & echo started");
    let run = doors.call(|gsh| gsh.args(["--yolo", "-c", &text]), 0);
    let state = run.at("home/.local/state/gsh");
    let log = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "log");
    let jobs: Vec<PathBuf> = files(&state.join("jobs")).into_iter().filter(|path| !log(path)).collect();
    let leaks = doors.leaks(&state, &[]);
    let listed = run.machine.again().args(["jobs", "list"]).run();
    let shown = listed.stdout();
    let stopped = listed.machine.again().args(["jobs", "stop", "1"]).run();
    stopped.machine.again().args(["jobs", "wait", "1"]).run();
    assert!(!jobs.is_empty() && leaks.is_empty(), "{jobs:?} {}", leaks.join("\n"));
    assert!(shown.len() > 10 && !shown.contains(&one), "{shown}");
}
