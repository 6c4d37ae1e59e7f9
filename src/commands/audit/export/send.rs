//! Records on their way to a collector. What was not taken is an error, so that whoever sends can send again.

use std::fmt::Display;
use std::io::Write;
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::time::Duration;

use super::{Format, TOGETHER, host, journal, otlp, syslog};
use crate::audit::query::Entry;

/// A collector that says nothing for so long is none.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where the journal listens.
const JOURNAL: &str = "/run/systemd/journal/socket";

/// Where records go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A collector's address.
    Http(String),
    /// A socket in the file system, message by message.
    Unix(PathBuf),
    /// A host and port, message by message.
    Udp(String),
    /// A host and port, one connection.
    Tcp(String),
}

impl Place {
    /// From its word: `http://HOST:PORT`, `unix:PATH` or a path, `udp:HOST:PORT`, `tcp:HOST:PORT`, `journal`.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word.split_once(':') {
            Some(("http" | "https", _)) => Self::Http(word.to_owned()),
            Some(("unix", path)) => Self::Unix(path.into()),
            Some(("udp", address)) => Self::Udp(address.to_owned()),
            Some(("tcp", address)) => Self::Tcp(address.to_owned()),
            None if word == "journal" => Self::Unix(JOURNAL.into()),
            _ if word.starts_with('/') => Self::Unix(word.into()),
            _ => return None,
        })
    }
}

/// Sends all of them; how many were sent is in the error, too.
pub(super) fn send(entries: &[Entry], format: Format, place: &Place) -> Result<usize, String> {
    match (format, place) {
        (Format::Otlp, Place::Http(address)) => to_collector(entries, address),
        (Format::Syslog, Place::Unix(path)) => {
            each(entries, &datagram(path)?, |entry| syslog::message(entry, &host()).into_bytes())
        }
        (Format::Journal, Place::Unix(path)) => each(entries, &datagram(path)?, journal::entry),
        (Format::Syslog, Place::Udp(address)) => {
            let socket = udp(address).map_err(|error| told(address, &error))?;
            let send = |bytes: &[u8]| socket.send(bytes).map(drop);
            each(entries, &send, |entry| syslog::message(entry, &host()).into_bytes())
        }
        (Format::Syslog, Place::Tcp(address)) => to_stream(entries, address),
        _ => {
            Err("--to: otlp goes to http://HOST:PORT, syslog to unix:PATH, udp:HOST:PORT or tcp:HOST:PORT, \
                  journal to unix:PATH"
                .to_owned())
        }
    }
}

fn told(place: impl Display, error: &dyn Display) -> String {
    format!("{place}: {error}")
}

type Send<'a> = dyn Fn(&[u8]) -> std::io::Result<()> + 'a;

/// One message for each record.
fn each(entries: &[Entry], send: &Send<'_>, make: impl Fn(&Entry) -> Vec<u8>) -> Result<usize, String> {
    for (sent, entry) in entries.iter().enumerate() {
        send(&make(entry))
            .map_err(|error| format!("{error}; {sent} records were sent, the next is {}", entry.id))?;
    }
    Ok(entries.len())
}

fn datagram(path: &std::path::Path) -> Result<impl Fn(&[u8]) -> std::io::Result<()>, String> {
    let socket = UnixDatagram::unbound().and_then(|socket| {
        socket.set_write_timeout(Some(PATIENCE))?;
        socket.connect(path).map(|()| socket)
    });
    let socket = socket.map_err(|error| told(path.display(), &error))?;
    Ok(move |bytes: &[u8]| socket.send(bytes).map(drop))
}

fn udp(address: &str) -> std::io::Result<UdpSocket> {
    let target = address.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
    let socket = UdpSocket::bind(if target.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(target).map(|()| socket)
}

/// Each message with its length before it (RFC 6587).
fn to_stream(entries: &[Entry], address: &str) -> Result<usize, String> {
    let connected = || -> std::io::Result<TcpStream> {
        let target = address.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::NotFound)?;
        let stream = TcpStream::connect_timeout(&target, PATIENCE)?;
        stream.set_write_timeout(Some(PATIENCE)).map(|()| stream)
    };
    let stream = connected().map_err(|error| told(address, &error))?;
    let send = |bytes: &[u8]| {
        let mut stream = &stream;
        stream.write_all(&[format!("{} ", bytes.len()).as_bytes(), bytes].concat())
    };
    each(entries, &send, |entry| syslog::message(entry, &host()).into_bytes())
}

/// Requests to the HTTP receiver of a collector.
fn to_collector(entries: &[Entry], address: &str) -> Result<usize, String> {
    let (scheme, rest) = address.split_once("://").unwrap_or(("http", address));
    let rest = rest.trim_end_matches('/');
    let path = if rest.contains('/') { "" } else { "/v1/logs" };
    let url = format!("{scheme}://{rest}{path}");
    let config = ureq::Agent::config_builder().timeout_global(Some(PATIENCE)).max_redirects(0).build();
    let (agent, host) = (ureq::Agent::new_with_config(config), host());
    let mut sent = 0;
    for part in entries.chunks(TOGETHER) {
        let body = otlp::request(part, &host).to_string();
        let answer = agent.post(&url).content_type("application/json").send(&body);
        let mut answer = answer.map_err(|error| format!("{url}: {error}; {sent} records were sent"))?;
        let text = answer.body_mut().read_to_string().unwrap_or_default();
        let said: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let rejected = &said["partialSuccess"]["rejectedLogRecords"];
        // A number of 64 bits may be a text.
        if !matches!(rejected.to_string().trim_matches('"'), "null" | "0" | "") {
            return Err(format!(
                "{url}: the collector took not all: {}; {sent} records were sent",
                said["partialSuccess"]
            ));
        }
        sent += part.len();
    }
    Ok(sent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places() {
        for (word, expected) in [
            ("http://localhost:4318", Some(Place::Http("http://localhost:4318".into()))),
            ("unix:/dev/log", Some(Place::Unix("/dev/log".into()))),
            ("/dev/log", Some(Place::Unix("/dev/log".into()))),
            ("udp:localhost:514", Some(Place::Udp("localhost:514".into()))),
            ("tcp:[::1]:601", Some(Place::Tcp("[::1]:601".into()))),
            ("journal", Some(Place::Unix(JOURNAL.into()))),
            ("localhost", None),
            ("ftp:x", None),
        ] {
            assert_eq!(Place::from_word(word), expected, "{word}");
        }
    }

    #[test]
    fn a_form_goes_only_where_it_is_understood() {
        for (format, word) in [
            (Format::Csv, "udp:127.0.0.1:9"),
            (Format::Otlp, "udp:127.0.0.1:9"),
            (Format::Syslog, "http://127.0.0.1:9"),
            (Format::Journal, "tcp:127.0.0.1:9"),
        ] {
            let place = Place::from_word(word).expect("a place");
            assert!(send(&[], format, &place).is_err_and(|why| why.contains("--to")), "{word}");
        }
    }
}
