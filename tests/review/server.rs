//! An endpoint on this machine that answers as it is told, and remembers what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

/// What the next caller gets.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A status with a body.
    Body(u16, String),
    /// Nothing, for as long as the caller waits.
    Silent,
    /// The head, then a byte now and then.
    Drip,
    /// Half of what was promised.
    Half,
    /// The end of the connection.
    Close,
    /// More than anybody reads.
    Huge,
    /// Go elsewhere on the same server.
    Redirect,
    /// These bytes, whatever they are.
    Raw(Vec<u8>),
    /// The head, then pieces of a body without end.
    Chunks,
    /// Head lines without end.
    Heads,
    /// The head itself, a byte now and then.
    DripHead,
    /// This, once a file is there; nothing where the caller goes away before.
    After(PathBuf, Box<Act>),
    /// The first for a review; for a glance at the session the others in their order, the last again and again.
    ByTask(Box<Act>, Vec<Act>),
}

/// What a caller sent.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) head: String,
    pub(super) body: Value,
}

/// The endpoint: the acts in their order, the last one again and again.
pub(super) struct Server {
    pub(super) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: Arc<AtomicUsize>,
}

impl Asked {
    /// Whether it asks for a glance at the session.
    pub(super) fn is_glance(&self) -> bool {
        self.body.to_string().contains("one word and nothing else")
    }
}

impl Server {
    pub(super) fn start(acts: &[Act]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("its address"));
        let (asked, acts) = (Arc::new(Mutex::new(Vec::<Asked>::new())), acts.to_vec());
        let seen = Arc::clone(&asked);
        let left = Arc::new(AtomicUsize::new(0));
        let gone = Arc::clone(&left);
        // It ends with the tests' process.
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = seen.lock().unwrap_or_else(PoisonError::into_inner).len();
                let mut act = acts.get(number).or(acts.last()).cloned().unwrap_or(Act::Close);
                if let Some(request) = read(&stream) {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Act::ByTask(review, glances) = act {
                        let before = seen.iter().filter(|asked| asked.is_glance()).count();
                        let glance = glances.get(before).or(glances.last()).cloned().unwrap_or(Act::Close);
                        act = if request.is_glance() { glance } else { *review };
                    }
                    seen.push(request);
                }
                let gone = Arc::clone(&gone);
                std::thread::spawn(move || answer(stream, &act, &gone));
            }
        });
        Self { url, asked, left }
    }

    /// How many callers went away before they had an answer.
    pub(super) fn left(&self) -> usize {
        self.left.load(Ordering::SeqCst)
    }

    /// What was asked so far.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Asked { head, body: serde_json::from_slice(&body).ok()? })
}

/// What cannot be sent the caller did not wait for.
fn answer(mut stream: TcpStream, act: &Act, left: &AtomicUsize) {
    let whole = |status: u16, more: &str, body: &str| {
        format!(
            "HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n{more}\r\n{body}",
            body.len()
        )
    };
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let _ = match act {
        Act::Body(status, body) => stream.write_all(whole(*status, "", body).as_bytes()),
        Act::Redirect => stream.write_all(whole(302, "location: /v1/elsewhere\r\n", "").as_bytes()),
        Act::Close => Ok(()),
        Act::Half => stream.write_all(format!("{head}content-length: 4000\r\n\r\n{{\"choices\"").as_bytes()),
        Act::Silent => {
            // Until the caller goes away.
            let mut byte = [0];
            let gone = stream.read(&mut byte).map(drop);
            left.fetch_add(1, Ordering::SeqCst);
            gone
        }
        Act::After(file, act) => {
            stream.set_read_timeout(Some(Duration::from_millis(10))).expect("a pause");
            let mut byte = [0];
            while !file.exists() {
                if matches!(stream.read(&mut byte), Ok(0)) {
                    left.fetch_add(1, Ordering::SeqCst);
                    return;
                }
            }
            return answer(stream, act, left);
        }
        Act::ByTask(..) => Ok(()),
        Act::Raw(bytes) => stream.write_all(bytes),
        Act::Chunks => {
            let mut sent = stream.write_all(format!("{head}transfer-encoding: chunked\r\n\r\n").as_bytes());
            while sent.is_ok() {
                sent = stream.write_all(b"4\r\n    \r\n");
            }
            sent
        }
        Act::Heads => {
            let mut sent = stream.write_all(head.as_bytes());
            while sent.is_ok() {
                sent = stream.write_all(b"x-more: 0123456789\r\n");
            }
            sent
        }
        Act::DripHead => {
            let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\nx-more: ");
            while sent.is_ok() {
                std::thread::sleep(Duration::from_millis(50));
                sent = stream.write_all(b"y");
            }
            sent
        }
        Act::Drip => {
            let mut sent = stream.write_all(format!("{head}content-length: 4000\r\n\r\n").as_bytes());
            while sent.is_ok() {
                std::thread::sleep(Duration::from_millis(50));
                sent = stream.write_all(b" ");
            }
            sent
        }
        Act::Huge => {
            let mut sent = stream.write_all(format!("{head}content-length: 900000000\r\n\r\n").as_bytes());
            let piece = vec![b'x'; 64 * 1024];
            while sent.is_ok() {
                sent = stream.write_all(&piece);
            }
            sent
        }
    };
}

/// A chat completion that says this.
pub(super) fn says(text: &str) -> Act {
    Act::Body(
        200,
        json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] }).to_string(),
    )
}

/// A chat completion that wants a tool used.
pub(super) fn uses(tool: &str, arguments: &Value) -> Act {
    let function = json!({ "name": tool, "arguments": arguments.to_string() });
    let call = json!({ "id": "call-1", "type": "function", "function": function });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    Act::Body(200, json!({ "choices": [{ "message": message }] }).to_string())
}

/// A verdict as text.
pub(super) fn verdict(decision: &str, risk: &str) -> String {
    json!({ "decision": decision, "riskLevel": risk, "userAuthorization": "unknown", "reversible": true,
            "rationale": "as the test wants it" })
    .to_string()
}
