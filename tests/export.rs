//! Records sent to what collects them, as each of these takes them: listeners on this machine's own sockets.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use serde_json::Value;

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");
const PATIENCE: Duration = Duration::from_secs(20);

/// A machine with three records: allowed, refused by the floor, and one whose text would like to be more.
fn machine() -> Gsh {
    let texts = ["ls", "gsh-canary-deny", "gsh-canary-deny \"a]b\"\nPRIORITY=0 \u{1b}[2J"];
    texts.iter().fold(Gsh::new(GSH), |gsh, text| gsh.args(["-c", text]).run().machine.again())
}

fn sent(gsh: Gsh, format: &str, to: &str) -> (Option<i32>, String) {
    let run = gsh.args(["audit", "export", "--format", format, "--to", to]).run();
    (run.status, format!("{}{}", run.stdout(), run.stderr()))
}

/// Takes one request and answers it with this text.
fn collector(answer: &'static str) -> (String, std::thread::JoinHandle<(String, String)>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("its address"));
    let taking = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
        loop {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let length = text.to_ascii_lowercase().split_once("content-length: ").and_then(|(_, rest)| {
                rest.split("\r\n").next().and_then(|number| number.trim().parse::<usize>().ok())
            });
            if let (Some((head, body)), Some(length)) = (text.split_once("\r\n\r\n"), length)
                && body.len() >= length
            {
                write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len())
                    .expect("sent");
                return (head.to_owned(), body.to_owned());
            }
            let count = stream.read(&mut part).expect("a part");
            assert!(count > 0, "the request ends early: {text}");
            bytes.extend_from_slice(&part[..count]);
        }
    });
    (address, taking)
}

fn value<'r>(record: &'r Value, key: &str) -> &'r Value {
    let attributes = record["attributes"].as_array().expect("attributes");
    let found = attributes.iter().find(|attribute| attribute["key"] == key);
    found.map_or(&Value::Null, |attribute| &attribute["value"]["stringValue"])
}

#[test]
fn an_opentelemetry_collector_gets_log_records() {
    let (address, taking) = collector("{\"partialSuccess\":{}}");
    assert_eq!(sent(machine(), "otlp", &address), (Some(0), "3 records sent\n".to_owned()));
    let (head, body) = taking.join().expect("taken");
    assert!(head.starts_with("POST /v1/logs HTTP/1.1"), "{head}");
    assert!(head.to_ascii_lowercase().contains("content-type: application/json"), "{head}");
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let scope = &body["resourceLogs"][0]["scopeLogs"][0];
    let records = scope["logRecords"].as_array().expect("records");
    assert_eq!(records.len(), 3);
    let severities: Vec<_> = records.iter().map(|record| record["severityNumber"].clone()).collect();
    assert_eq!(severities, [9, 17, 17]);
    assert_eq!(records[0]["body"]["stringValue"], "ls");
    assert!(records[0]["timeUnixNano"].as_str().is_some_and(|time| time.len() == 19), "{}", records[0]);
    assert_eq!(value(&records[0], "gsh.verdict"), "allow");
    assert_eq!(value(&records[1], "gsh.floor"), "canary");
    assert_eq!(value(&records[1], "gsh.ran"), "false");
    // The same as lines for a collector that reads files.
    let run = machine().args(["audit", "export", "--format", "otlp"]).run();
    assert_eq!(run.stdout().lines().count(), 1);
    assert!(serde_json::from_str::<Value>(&run.stdout()).is_ok_and(|line| line["resourceLogs"].is_array()));
}

#[test]
fn what_a_collector_does_not_take_is_told() {
    let (address, taking) =
        collector("{\"partialSuccess\":{\"rejectedLogRecords\":\"2\",\"errorMessage\":\"full\"}}");
    let (status, text) = sent(machine(), "otlp", &address);
    taking.join().expect("taken");
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("full") && text.contains("0 records were sent"), "{text}");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    for (format, place) in [
        ("otlp", format!("http://{free}")),
        ("syslog", format!("tcp:{free}")),
        ("syslog", "unix:/nonexistent/log".to_owned()),
    ] {
        let (status, text) = sent(machine(), format, &place);
        assert_eq!(status, Some(2), "{text}");
    }
}

/// The parts of a syslog message: the head, the values, the text.
fn parts(message: &str) -> (Vec<&str>, &str, &str) {
    let (head, rest) = message.split_once('[').expect("values");
    let end = rest.find("] \u{feff}").expect("a text");
    (head.split_whitespace().collect(), &rest[..end], &rest[end + "] \u{feff}".len()..])
}

fn are_messages(messages: &[String]) {
    assert_eq!(messages.len(), 3);
    for (message, (priority, kind)) in
        messages.iter().zip([("<86>1", "allow"), ("<83>1", "deny"), ("<83>1", "deny")])
    {
        let (head, values, _) = parts(message);
        assert_eq!((head[0], head[3], head[4], head[5]), (priority, "gsh", "-", kind), "{message}");
        assert!(head[1].ends_with('Z') && head[1].len() == 27, "{message}");
        assert!(values.starts_with("gsh@32473 id=\""), "{message}");
        assert!(!message.contains(['\n', '\u{1b}']), "{message}");
    }
    assert_eq!(parts(&messages[0]).2, "ls");
    assert!(parts(&messages[1]).1.contains("floor=\"canary\""), "{}", messages[1]);
}

#[test]
fn syslog_gets_messages_by_every_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log");
    let unix = UnixDatagram::bind(&path).expect("a socket");
    unix.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let udp = UdpSocket::bind("127.0.0.1:0").expect("a port");
    udp.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let udp_place = format!("udp:{}", udp.local_addr().expect("an address"));
    let unix_place = format!("unix:{}", path.display());
    let mut buffer = [0; 65536];
    let text = |count: usize, buffer: &[u8]| String::from_utf8(buffer[..count].to_vec()).expect("UTF-8");
    assert_eq!(sent(machine(), "syslog", &unix_place).0, Some(0));
    let messages: Vec<String> = (0..3)
        .map(|_| {
            let count = unix.recv(&mut buffer).expect("a message");
            text(count, &buffer)
        })
        .collect();
    are_messages(&messages);
    assert_eq!(sent(machine(), "syslog", &udp_place).0, Some(0));
    let messages: Vec<String> = (0..3)
        .map(|_| {
            let count = udp.recv(&mut buffer).expect("a message");
            text(count, &buffer)
        })
        .collect();
    are_messages(&messages);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let place = format!("tcp:{}", listener.local_addr().expect("an address"));
    let taking = std::thread::spawn(move || {
        let mut all = String::new();
        listener.accept().expect("a client").0.read_to_string(&mut all).expect("all of it");
        all
    });
    assert_eq!(sent(machine(), "syslog", &place).0, Some(0));
    let all = taking.join().expect("taken");
    let (mut rest, mut messages) = (all.as_str(), Vec::new());
    while let Some((length, after)) = rest.split_once(' ') {
        let (message, next) = after.split_at(length.parse().expect("a length"));
        messages.push(message.to_owned());
        rest = next;
    }
    are_messages(&messages);
}

#[test]
fn the_journal_gets_entries() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("journal");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a limit");
    assert_eq!(sent(machine(), "journal", &format!("unix:{}", path.display())).0, Some(0));
    let mut buffer = [0; 65536];
    for (index, priority) in ["6", "3", "3"].iter().enumerate() {
        let count = socket.recv(&mut buffer).expect("an entry");
        let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
        assert!(text.contains(&format!("\nPRIORITY={priority}\nSYSLOG_IDENTIFIER=gsh\n")), "{text}");
        assert!(text.contains("\nGSH_VERDICT="), "{text}");
        // A text of several lines comes with its length: it is no further field.
        assert_eq!(text.starts_with("MESSAGE\n"), index == 2, "{text}");
        assert_eq!(text.starts_with("MESSAGE=ls\n"), index == 0, "{text}");
    }
}
