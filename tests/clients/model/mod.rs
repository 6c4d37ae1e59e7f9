//! A model of our own, on the loopback interface: it speaks as much of four protocols as the agents need, asks for
//! the commands of its script one after the other, and keeps what the agents' tools answered.

mod chat;
mod gemini;
mod http;
mod messages;
mod responses;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value, json};

use http::{Asked, Reply};

/// What ends a conversation.
const DONE: &str = "DONE";
/// The names under which agents offer their shell.
const SHELLS: [&str; 7] =
    ["Bash", "bash", "exec_command", "shell_command", "shell", "run_shell_command", "run_commands"];

/// The running model.
pub(crate) struct Model {
    /// Where it listens.
    pub(crate) url: String,
    heard: Arc<Mutex<Heard>>,
}

/// What it was told.
#[derive(Debug, Default)]
struct Heard {
    script: Vec<String>,
    /// The next command is not asked for yet.
    holds: bool,
    results: Vec<String>,
    paths: Vec<String>,
    tools: Vec<String>,
}

/// One request, as all protocols have it.
struct Turn {
    /// The tools that are offered: name, and the schema of what they take.
    tools: Vec<(String, Value)>,
    /// What tools answered so far, as texts, oldest first.
    results: Vec<String>,
}

/// What the model says next.
enum Next {
    /// A call of this tool, with this input, as the so-and-so-many-th.
    Call { name: String, input: Value, number: usize },
    /// Text.
    Text(&'static str),
}

impl Model {
    /// Starts it; it ends with the process.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let url = format!("http://{}", listener.local_addr()?);
        let heard = Arc::new(Mutex::new(Heard::default()));
        let shared = Arc::clone(&heard);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let heard = Arc::clone(&shared);
                std::thread::spawn(move || serve(stream, &heard));
            }
        });
        Ok(Self { url, heard })
    }

    /// Begins a conversation in which it asks for these commands.
    pub(crate) fn script(&self, commands: &[&str]) {
        let script = commands.iter().map(|command| (*command).to_owned()).collect();
        *lock(&self.heard) = Heard { script, ..Heard::default() };
    }

    /// Waits with every command but the first until it is told to go on.
    pub(crate) fn hold(&self) {
        lock(&self.heard).holds = true;
    }

    /// Goes on.
    pub(crate) fn go_on(&self) {
        lock(&self.heard).holds = false;
    }

    /// What the tools answered in this conversation.
    pub(crate) fn results(&self) -> Vec<String> {
        lock(&self.heard).results.clone()
    }

    /// What was asked of it, for whoever wants to know why nothing came.
    pub(crate) fn told(&self) -> String {
        let heard = lock(&self.heard);
        format!("requests {:?}, tools {:?}", heard.paths, heard.tools)
    }
}

fn lock(heard: &Mutex<Heard>) -> MutexGuard<'_, Heard> {
    heard.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Answers every request of one connection.
fn serve(mut stream: TcpStream, heard: &Mutex<Heard>) {
    while let Ok(Some(asked)) = http::read(&mut stream) {
        let reply = reply(&asked, heard);
        if http::write(&mut stream, &reply).is_err() {
            return;
        }
    }
}

fn reply(asked: &Asked, heard: &Mutex<Heard>) -> Reply {
    lock(heard).paths.push(format!("{} {}", asked.method, asked.path));
    let path = asked.path.split('?').next().unwrap_or_default();
    let speaks: fn(&Value, &str, &mut dyn FnMut(Turn) -> Next) -> Reply = match path {
        _ if path.ends_with("/count_tokens") => return Reply::Json(json!({ "input_tokens": 10 })),
        _ if path.contains(":countTokens") => return Reply::Json(json!({ "totalTokens": 10 })),
        _ if path.ends_with("/messages") => messages::reply,
        _ if path.ends_with("/responses") => responses::reply,
        _ if path.ends_with("/chat/completions") => chat::reply,
        _ if path.contains("enerateContent") => gemini::reply,
        _ if path.ends_with("/models") => {
            let models = json!([{ "id": "fake-model", "object": "model", "created": 0, "owned_by": "us" }]);
            return Reply::Json(json!({ "object": "list", "data": models }));
        }
        _ => return Reply::Json(json!({})),
    };
    speaks(&asked.body, &asked.path, &mut |turn| next(turn, heard))
}

/// What comes next: as many commands of the script as there are results are over.
fn next(turn: Turn, shared: &Mutex<Heard>) -> Next {
    let mut heard = lock(shared);
    let shell = turn.tools.iter().find(|(name, _)| SHELLS.contains(&name.as_str()));
    let Some((name, schema)) = shell else { return Next::Text(DONE) };
    heard.tools = turn.tools.iter().map(|(name, _)| name.clone()).collect();
    let number = turn.results.len();
    heard.results = turn.results;
    while heard.holds && number > 0 && number < heard.script.len() {
        drop(heard);
        std::thread::sleep(std::time::Duration::from_millis(20));
        heard = lock(shared);
    }
    match heard.script.get(number) {
        Some(command) => Next::Call { name: name.clone(), input: input(schema, command), number },
        None => Next::Text(DONE),
    }
}

/// What the tool is given: the command where its schema has it, and what else the schema demands.
fn input(schema: &Value, command: &str) -> Value {
    let mut input = Map::new();
    let demanded = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, of) in schema["properties"].as_object().into_iter().flatten() {
        let value = match (name.as_str(), of["type"].as_str()) {
            ("commands", _) => json!([command]),
            ("command" | "cmd", Some("array")) => json!(["bash", "-lc", command]),
            ("command" | "cmd", _) => json!(command),
            _ if !demanded.contains(&json!(name)) => continue,
            (_, Some("boolean")) => json!(false),
            (_, Some("number" | "integer")) => json!(60),
            _ => json!("a test"),
        };
        input.insert(name.clone(), value);
    }
    Value::Object(input)
}

/// All text in a value, whatever its form.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => match (fields.get("text"), fields.get("output")) {
            (Some(inner), _) | (None, Some(inner)) => text(inner),
            (None, None) => value.to_string(),
        },
        Value::Null => String::new(),
        other => other.to_string(),
    }
}
