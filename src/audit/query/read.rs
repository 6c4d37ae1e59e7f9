//! Reading: a day at a time, its lines by as many threads as there are processors. Of a long record most is never
//! wanted, so a line that cannot fit is not parsed, and what follows an opening only where that fits.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Entry, Filter};
use crate::audit::keep;

/// The kind stands first in every line of ours, and the name behind it.
const OPENED: &str = "{\"event\":\"opened\"";
const NAME: &str = "\",\"id\":\"";

/// What a day's file holds.
#[derive(Debug, Default)]
pub struct Day {
    /// The records that fit, oldest first.
    pub entries: Vec<Entry>,
    /// How many lines are no records.
    pub broken: usize,
}

/// Reads the records that fit, oldest first. Lines that are none are left out: `verify` tells of them.
///
/// # Errors
/// When a file cannot be read.
pub fn read(folder: &Path, filter: &Filter) -> io::Result<Vec<Entry>> {
    let mut all = Vec::new();
    each_day(folder, filter, &mut |_, day| all.extend(day.entries))?;
    Ok(all)
}

/// Gives the records that fit away with their file, oldest first, a day at a time: no more than a day's are held.
///
/// # Errors
/// When a file cannot be read.
pub fn each_day(folder: &Path, filter: &Filter, take: &mut dyn FnMut(&Path, Day)) -> io::Result<()> {
    for day in days(folder, filter) {
        take(&day, of_day(&contents(&day)?, filter));
    }
    Ok(())
}

/// The newest of the records that fit, oldest first. Older days are not looked at once there are enough.
///
/// # Errors
/// When a file cannot be read.
pub fn newest(folder: &Path, filter: &Filter, count: usize) -> io::Result<Vec<Entry>> {
    let mut found: Vec<Vec<Entry>> = Vec::new();
    let mut wanted = count;
    for day in days(folder, filter).iter().rev() {
        if wanted == 0 {
            break;
        }
        let mut entries = of_day(&contents(day)?, filter).entries;
        entries.drain(..entries.len().saturating_sub(wanted));
        wanted -= entries.len();
        found.push(entries);
    }
    Ok(found.into_iter().rev().flatten().collect())
}

/// The records that fit as they were opened, without what became of them.
///
/// # Errors
/// When a file cannot be read.
pub fn openings(folder: &Path, filter: &Filter) -> io::Result<Vec<Entry>> {
    let mut all = Vec::new();
    for day in days(folder, filter) {
        let text = contents(&day)?;
        all.extend(parted(&text, &|part| opened(part, filter).entries).into_iter().flatten());
    }
    Ok(all)
}

/// The days that can hold what is wanted; a record's closing stands in the file of its opening.
#[must_use]
pub fn days(folder: &Path, filter: &Filter) -> Vec<PathBuf> {
    let since = filter.since.as_deref().and_then(|since| since.get(..10));
    let mut days = keep::days(folder);
    days.retain(|day| {
        since.is_none_or(|since| day.file_stem().is_some_and(|name| *name.to_string_lossy() >= *since))
    });
    days
}

/// The records of a text of lines, as it grows.
#[must_use]
pub fn of_text(text: &str) -> Vec<Entry> {
    let Part { mut entries, others, .. } = opened(text, &Filter::default());
    let found = followed(&others, &places(&entries)).found;
    add(&mut entries, found);
    entries
}

fn contents(path: &Path) -> io::Result<String> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    let bytes = fs::read(path).map_err(told)?;
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

fn of_day(text: &str, filter: &Filter) -> Day {
    let mut parts = parted(text, &|part| opened(part, filter));
    let mut entries: Vec<Entry> =
        parts.iter_mut().flat_map(|part| std::mem::take(&mut part.entries)).collect();
    let places = places(&entries);
    let followed: Vec<Followed> = std::thread::scope(|scope| {
        let places = &places;
        let running: Vec<_> =
            parts.iter().map(|part| scope.spawn(|| followed(&part.others, places))).collect();
        running.into_iter().filter_map(|part| part.join().ok()).collect()
    });
    let broken = parts.iter().map(|part| part.broken).chain(followed.iter().map(|part| part.broken)).sum();
    followed.into_iter().for_each(|part| add(&mut entries, part.found));
    Day { entries, broken }
}

/// What a work makes of a text's parts, each of whole lines, in their order.
fn parted<'t, T: Send>(text: &'t str, work: &(dyn Fn(&'t str) -> T + Sync)) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut parts, mut rest) = (Vec::new(), text);
    for left in (1..=threads).rev() {
        let middle = rest.floor_char_boundary(rest.len() / left);
        let cut =
            rest.get(middle..).and_then(|tail| tail.find('\n')).map_or(rest.len(), |at| middle + at + 1);
        let (part, after) = rest.split_at(cut);
        parts.push(part);
        rest = after;
    }
    std::thread::scope(|scope| {
        let running: Vec<_> = parts.into_iter().map(|part| scope.spawn(move || work(part))).collect();
        running.into_iter().filter_map(|part| part.join().ok()).collect()
    })
}

/// Some lines: the openings that fit, those that open nothing, how many are neither.
#[derive(Default)]
struct Part<'t> {
    entries: Vec<Entry>,
    others: Vec<&'t str>,
    broken: usize,
}

fn opened<'t>(text: &'t str, filter: &Filter) -> Part<'t> {
    let mut part = Part::default();
    for line in text.lines() {
        if !line.starts_with(OPENED) {
            part.others.push(line);
        } else if filter.may_fit(line) {
            match serde_json::from_str::<Entry>(line) {
                Ok(entry) => part.entries.extend(Some(entry).filter(|entry| filter.fits(entry))),
                Err(_) => part.broken += 1,
            }
        }
    }
    part
}

fn places(entries: &[Entry]) -> HashMap<String, usize> {
    entries.iter().enumerate().map(|(at, entry)| (entry.id.clone(), at)).collect()
}

/// What follows openings, with the place of each; how many lines are nothing of ours.
#[derive(Default)]
struct Followed {
    found: Vec<(usize, Value)>,
    broken: usize,
}

fn followed(lines: &[&str], places: &HashMap<String, usize>) -> Followed {
    let mut all = Followed::default();
    for line in lines {
        let Some(name) = name(line) else {
            all.broken += 1;
            continue;
        };
        let Some(place) = places.get(name) else { continue };
        match serde_json::from_str::<Map<String, Value>>(line) {
            Ok(mut object) => {
                object.shift_remove("chain");
                object.shift_remove("id");
                all.found.push((*place, Value::Object(object)));
            }
            Err(_) => all.broken += 1,
        }
    }
    all
}

/// The name of the record that a line belongs to; none of ours holds a sign that JSON would write otherwise.
fn name(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(NAME)?;
    rest.split_once('"').map(|(name, _)| name)
}

fn add(entries: &mut [Entry], found: Vec<(usize, Value)>) {
    for (place, value) in found {
        let Some(entry) = entries.get_mut(place) else { continue };
        if value["event"] == "closed" { entry.closed = Some(value) } else { entry.events.push(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(id: usize, command: &str) -> String {
        let value = serde_json::json!({
            "event": "opened", "id": format!("r{id}"), "time": format!("2026-01-0{id}T00:00:00Z"), "session": "s",
            "command": command, "verdict": "ask", "facts": { "programs": [command.split(' ').next()] },
        });
        format!("{value}\n")
    }

    fn following(id: usize, event: &str) -> String {
        format!("{{\"event\":\"{event}\",\"id\":\"r{id}\",\"time\":\"t\",\"chain\":\"c\"}}\n")
    }

    /// Three days with one record each, a line that is none, and one that belongs to nothing.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (id, command) in [(1, "ls -l"), (2, "echo \"a\\b\""), (3, "make é")] {
            let parts = [
                opening(id, command),
                following(id, "PermissionRequested"),
                "{\"event\":\"opened\",\"id\n".to_owned(),
                following(9, "closed"),
                following(id, "closed"),
            ];
            std::fs::write(folder.path().join(format!("2026-01-0{id}.jsonl")), parts.concat())
                .expect("written");
        }
        folder
    }

    fn ids(entries: &[Entry]) -> String {
        entries.iter().map(|entry| entry.id.clone() + " ").collect()
    }

    #[test]
    fn records_that_fit_are_whole() {
        let folder = folder();
        let text = |text: &str| Filter { text: Some(text.to_owned()), ..Filter::default() };
        let since = Filter { since: Some("2026-01-02T00".to_owned()), ..Filter::default() };
        let program = Filter { program: Some("make".to_owned()), ..Filter::default() };
        let session = Filter { session: Some("s".to_owned()), ..Filter::default() };
        for (filter, expected) in [
            (Filter::default(), "r1 r2 r3 "),
            (text("ls -"), "r1 "),
            (text("a\\b\""), "r2 "),
            (text("é"), "r3 "),
            // It stands in every line, and is neither command nor reason.
            (text("opened"), ""),
            (since, "r2 r3 "),
            (program, "r3 "),
            (session, "r1 r2 r3 "),
        ] {
            let entries = read(folder.path(), &filter).expect("read");
            assert_eq!(ids(&entries), expected, "{filter:?}");
            for entry in entries {
                assert_eq!((entry.events.len(), entry.closed.is_some()), (1, true), "{entry:?}");
                assert!(
                    entry.closed.is_some_and(|closed| closed["chain"].is_null() && closed["time"] == "t")
                );
            }
            assert_eq!(ids(&openings(folder.path(), &filter).expect("read")), expected);
        }
    }

    #[test]
    fn the_newest_are_the_last() {
        let folder = folder();
        for (count, expected) in [(0, ""), (1, "r3 "), (2, "r2 r3 "), (9, "r1 r2 r3 ")] {
            let found = newest(folder.path(), &Filter::default(), count).expect("read");
            assert_eq!(ids(&found), expected, "{count}");
        }
    }
}
