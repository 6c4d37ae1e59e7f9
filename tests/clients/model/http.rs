//! As much of HTTP as a local client needs.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

/// A request larger than this is no agent's.
const MOST: u64 = 64 << 20;

/// A request.
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) body: Value,
}

/// What is answered.
pub(super) enum Reply {
    /// One object.
    Json(Value),
    /// Events of a stream: a name, unless the protocol has none, and the data.
    Events(Vec<(Option<&'static str>, String)>),
}

/// The next request of a connection; None at its end. A body that is no JSON is null.
pub(super) fn read(stream: &mut TcpStream) -> io::Result<Option<Asked>> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').unwrap_or_default();
        match (name.to_ascii_lowercase().as_str(), value.trim()) {
            ("content-length", value) => length = value.parse().unwrap_or(0),
            ("transfer-encoding", value) => chunked = value.contains("chunked"),
            ("expect", _) => stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?,
            _ => {}
        }
    }
    let body = if chunked { chunks(&mut reader)? } else { exactly(&mut reader, length)? };
    Ok(Some(Asked { method, path, body: serde_json::from_slice(&body).unwrap_or_default() }))
}

fn exactly(reader: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(length.min(MOST)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut all = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = u64::from_str_radix(line.trim().split(';').next().unwrap_or_default(), 16).unwrap_or(0);
        all.extend(exactly(reader, length)?);
        // The end of the line behind every chunk, the last and empty one too.
        reader.read_line(&mut String::new())?;
        if length == 0 {
            return Ok(all);
        }
    }
}

/// Writes an answer; the connection ends with it.
pub(super) fn write(stream: &mut TcpStream, reply: &Reply) -> io::Result<()> {
    let (kind, body) = match reply {
        Reply::Json(value) => ("application/json", value.to_string()),
        Reply::Events(events) => ("text/event-stream", events.iter().map(event).collect()),
    };
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    stream.flush()?;
    stream.shutdown(std::net::Shutdown::Write)
}

fn event((name, data): &(Option<&'static str>, String)) -> String {
    let name = name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {data}\n\n")
}
