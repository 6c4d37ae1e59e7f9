//! Records as entries of systemd's journal: fields of a name and a value, in the form that the journal's socket
//! and `systemd-journal-remote` take.

use jiff::Timestamp;

use super::{Level, told};
use crate::audit::query::Entry;

/// One entry as the socket takes it.
#[must_use]
pub(super) fn entry(entry: &Entry) -> Vec<u8> {
    let priority = match Level::of(entry) {
        Level::Usual => "6",
        Level::Asked => "5",
        Level::Refused => "4",
        Level::Floor => "3",
    };
    let mut bytes = Vec::new();
    field(&mut bytes, "MESSAGE", entry.command.shown());
    field(&mut bytes, "PRIORITY", priority);
    field(&mut bytes, "SYSLOG_IDENTIFIER", "gsh");
    for (name, value) in told(entry).into_iter().filter(|(name, _)| *name != "command") {
        field(&mut bytes, &format!("GSH_{}", name.to_ascii_uppercase()), &value);
    }
    bytes
}

/// One entry as a file of entries has it, which says its time itself.
#[must_use]
pub(super) fn in_a_file(one: &Entry) -> Vec<u8> {
    let time = one.time.parse::<Timestamp>().map_or(0, Timestamp::as_microsecond);
    let mut bytes = format!("__REALTIME_TIMESTAMP={time}\n").into_bytes();
    bytes.extend(entry(one));
    bytes.push(b'\n');
    bytes
}

/// A value of one line as such; any other with its length.
fn field(bytes: &mut Vec<u8>, name: &str, value: &str) {
    bytes.extend_from_slice(name.as_bytes());
    if value.contains(|letter: char| letter.is_control()) {
        bytes.push(b'\n');
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
    } else {
        bytes.push(b'=');
    }
    bytes.extend_from_slice(value.as_bytes());
    bytes.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_become_a_field() {
        for (value, expected) in [
            ("ls -l", &b"A=ls -l\n"[..]),
            ("ls\nPRIORITY=0", b"A\n\x0d\0\0\0\0\0\0\0ls\nPRIORITY=0\n"),
            ("", b"A=\n"),
        ] {
            let mut bytes = Vec::new();
            field(&mut bytes, "A", value);
            assert_eq!(bytes, expected, "{value:?}");
        }
    }
}
