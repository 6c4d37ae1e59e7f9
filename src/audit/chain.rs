//! Each line of a day's file carries the hash of itself and of the line before, so that what is changed,
//! taken out or put in later shows. The writers take turns by a lock on the file.
//!
//! The first line of a file names the newest other file and a hash in it. What the chain cannot show:
//! that the last lines of all are gone, or that all was written anew by somebody who may write the files.
//! Who wants to know that keeps a hash elsewhere (`gsh audit verify --expect HASH`) or sends the records
//! away as they come.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::keep;
use crate::sys::file::{Locked, open_append};

/// What stands before the hash at a line's end.
const MARK: &str = ",\"chain\":\"";
/// The hash and what closes the line.
const CLOSING: usize = 64 + 2;
/// What is read of a file's end: more than a mark, a hash and the line's end take.
const TAIL: usize = 128;
/// A line is never longer; further back no line's end is looked for.
const LONGEST: usize = 8 << 20;

/// Appends one record as a line, in one write.
///
/// # Errors
/// When the file cannot be locked, read or written.
pub(super) fn append(file: &File, path: &Path, record: &Value, keep_days: usize) -> io::Result<()> {
    let locked = Locked::new(file)?;
    let (mut tail, mut length) = locked.tail(TAIL)?;
    if tail.last().is_some_and(|last| *last != b'\n') {
        set_torn_aside(&locked, path, length)?;
        (tail, length) = locked.tail(TAIL)?;
    }
    let line = if length == 0 {
        let mut first = record.clone();
        if let Some(object) = first.as_object_mut() {
            object.insert("follows".to_owned(), follows(path));
            let removed = keep::sweep(path, keep_days);
            if !removed.is_empty() {
                object.insert("removed".to_owned(), json!(removed));
            }
        }
        linked("", &first.to_string())
    } else {
        let before = match hash_in(&tail) {
            Some(hash) => hash,
            None => of_last_line(&locked)?,
        };
        linked(&before, &record.to_string())
    };
    locked.append(line.as_bytes())
}

/// The line for a record behind one with this hash.
pub(super) fn linked(before: &str, record: &str) -> String {
    let body = record.strip_suffix('}').unwrap_or(record);
    format!("{body}{MARK}{}\"}}\n", hash(before, body))
}

/// The parts of a line: what is hashed, and the hash it carries.
pub(super) fn parts(line: &str) -> Option<(&str, &str)> {
    let at = line.len().checked_sub(MARK.len() + CLOSING)?;
    let (body, rest) = line.split_at_checked(at)?;
    let hash = rest.strip_prefix(MARK)?.strip_suffix("\"}")?;
    Some((body, hash))
}

/// The hash of a line's body behind one with this hash.
pub(super) fn hash(before: &str, body: &str) -> String {
    crate::store::hash_of(&[before.as_bytes(), b"\n", body.as_bytes()])
}

/// The hash that stands for a line; one that carries none stands for itself.
pub(super) fn standing(line: &str) -> String {
    match parts(line) {
        Some((_, hash)) => hash.to_owned(),
        None => crate::store::hash(line.as_bytes()),
    }
}

fn hash_in(tail: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(tail.get(tail.len().checked_sub(CLOSING + 1 + MARK.len())?..)?).ok()?;
    parts(text.strip_suffix('\n')?).map(|(_, hash)| hash.to_owned())
}

fn of_last_line(locked: &Locked<'_>) -> io::Result<String> {
    let (bytes, _) = locked.tail(LONGEST)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().next_back().map(standing).unwrap_or_default())
}

/// A line without its end is what a crash left: it goes to a file beside, and its place is free.
fn set_torn_aside(locked: &Locked<'_>, path: &Path, length: u64) -> io::Result<()> {
    let (bytes, _) = locked.tail(LONGEST)?;
    let torn = bytes.iter().rev().take_while(|byte| **byte != b'\n').count();
    let start = length.saturating_sub(torn as u64);
    let text = bytes.get(bytes.len() - torn..).unwrap_or_default();
    let aside = open_append(&path.with_extension("torn"))?;
    Locked::new(&aside)?.append(&[text, b"\n"].concat())?;
    locked.cut(start).map(drop)
}

/// The newest other file, and the hash at its end now.
fn follows(path: &Path) -> Value {
    let own = path.file_name();
    let newest = keep::days(path.parent().unwrap_or(path)).into_iter().rfind(|day| day.file_name() != own);
    let Some(newest) = newest else { return Value::Null };
    let Ok(text) = end_of(&newest) else { return Value::Null };
    let last = text.split_inclusive('\n').rfind(|line| line.ends_with('\n'));
    let hash = last.map(|line| standing(line.trim_end()));
    json!({ "file": newest.file_name().map(|name| name.to_string_lossy()), "chain": hash })
}

fn end_of(path: &Path) -> io::Result<String> {
    use std::os::unix::fs::FileExt;
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LONGEST as u64);
    let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
    file.read_exact_at(&mut bytes, start)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What was found in one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The file.
    pub path: PathBuf,
    /// How many lines it has.
    pub lines: usize,
    /// The last line has no end: its writer was stopped in the middle.
    pub torn: bool,
    /// The hash at its end.
    pub head: String,
    /// What is wrong, by line (0: the whole file).
    pub wrong: Vec<(usize, String)>,
}

/// Checks the chain of all files in a folder, oldest first; whether `expected` is one of the hashes.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn verify(folder: &Path, expected: Option<&str>) -> io::Result<(Vec<Verified>, bool)> {
    let days = keep::days(folder);
    let mut seen: Vec<(String, std::collections::HashSet<String>)> = Vec::new();
    let (mut all, mut removed, mut follows) = (Vec::new(), Vec::<String>::new(), Vec::new());
    for path in days {
        let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
        let (found, hashes, first) = verify_file(&path, &text);
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        removed.extend(
            first["removed"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned),
        );
        follows.push((all.len(), first["follows"].clone()));
        seen.push((name, hashes));
        all.push(found);
    }
    for (index, follows) in follows {
        let (Some(file), Some(hash)) = (follows["file"].as_str(), follows["chain"].as_str()) else {
            continue;
        };
        let wrong = match seen.iter().find(|(name, _)| name == file) {
            Some((_, hashes)) if hashes.contains(hash) => continue,
            Some(_) => format!("{file}, which it follows, has lost or changed its end"),
            None if removed.iter().any(|name| name == file) => continue,
            None => format!("{file}, which it follows, is gone"),
        };
        if let Some(found) = all.get_mut(index) {
            found.wrong.insert(0, (1, wrong));
        }
    }
    let has_expected = expected.is_none_or(|hash| seen.iter().any(|(_, hashes)| hashes.contains(hash)));
    Ok((all, has_expected))
}

fn verify_file(path: &Path, text: &str) -> (Verified, std::collections::HashSet<String>, Value) {
    let mut found =
        Verified { path: path.to_owned(), lines: 0, torn: false, head: String::new(), wrong: Vec::new() };
    let (mut before, mut hashes, mut first) = (String::new(), std::collections::HashSet::new(), Value::Null);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(line) = line.strip_suffix('\n') else {
            found.torn = true;
            break;
        };
        found.lines += 1;
        if index == 0 {
            first = serde_json::from_str(line).unwrap_or_default();
        }
        match parts(line) {
            None => found.wrong.push((index + 1, "this is no record".to_owned())),
            Some((body, hash)) if self::hash(&before, body) != hash => {
                let why =
                    "it does not follow from the line before: something was changed, taken out or put in";
                found.wrong.push((index + 1, why.to_owned()));
            }
            Some(_) => {}
        }
        before = standing(line);
        hashes.insert(before.clone());
    }
    found.head = before;
    (found, hashes, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, count: usize) {
        let file = open_append(path).expect("opened");
        for index in 0..count {
            append(&file, path, &json!({ "event": "opened", "id": index }), 14).expect("appended");
        }
    }

    fn problems(folder: &Path) -> Vec<(usize, usize)> {
        let (found, _) = verify(folder, None).expect("read");
        let all = found.iter().enumerate();
        all.flat_map(|(file, found)| found.wrong.iter().map(move |(line, _)| (file, *line))).collect()
    }

    #[test]
    fn a_change_shows_where_it_was_made() {
        type Change = fn(&mut Vec<String>);
        let table: &[(Change, &[(usize, usize)])] = &[
            (|_| {}, &[]),
            (|lines| lines[1] = lines[1].replace(":1", ":7"), &[(0, 2)]),
            (|lines| drop(lines.remove(1)), &[(0, 2)]),
            (|lines| lines.swap(1, 2), &[(0, 2), (0, 3), (0, 4)]),
            (|lines| lines.insert(2, "{\"event\":\"closed\"}".to_owned()), &[(0, 3), (0, 4)]),
            (|lines| lines.truncate(3), &[(1, 1)]),
            (|lines| lines.clear(), &[(1, 1)]),
        ];
        for (change, expected) in table {
            let folder = tempfile::tempdir().expect("a folder");
            let first = folder.path().join("2026-01-01.jsonl");
            write(&first, 4);
            write(&folder.path().join("2026-01-02.jsonl"), 2);
            let text = fs::read_to_string(&first).expect("read");
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            change(&mut lines);
            fs::write(&first, lines.iter().map(|line| format!("{line}\n")).collect::<String>())
                .expect("written");
            assert_eq!(problems(folder.path()), *expected);
        }
    }

    #[test]
    fn a_day_that_is_gone_shows_unless_its_time_was_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let day = |day: u8| folder.path().join(format!("2026-01-{day:02}.jsonl"));
        [1, 2, 3].into_iter().for_each(|each| write(&day(each), 2));
        fs::remove_file(day(2)).expect("removed");
        assert_eq!(problems(folder.path()), [(1, 1)]);
        let folder = tempfile::tempdir().expect("a folder");
        let day = |day: u8| folder.path().join(format!("2026-01-{day:02}.jsonl"));
        [1, 2, 17, 18].into_iter().for_each(|each| write(&day(each), 2));
        assert!(!day(1).exists() && !day(2).exists() && day(17).exists());
        assert_eq!(problems(folder.path()), []);
        write(&folder.path().join("2031-01-01.jsonl"), 1);
        assert!(day(17).exists(), "a leap of the clock takes nothing away");
    }

    /// Writers that began before midnight end their records in that day's file, while others begin the next one.
    #[test]
    fn midnight_among_writers_leaves_one_chain() {
        const WRITERS: usize = 12;
        const RECORDS: usize = 40;
        let folder = tempfile::tempdir().expect("a folder");
        let day = |day: u8| folder.path().join(format!("2026-01-{day:02}.jsonl"));
        write(&day(1), 1);
        std::thread::scope(|scope| {
            for writer in 0..WRITERS {
                let day = &day;
                scope.spawn(move || {
                    for number in 0..RECORDS {
                        let opened = if number < RECORDS / 2 { 1 } else { 2 };
                        // The last record of the day is closed when the next one has begun.
                        let path = day(opened);
                        let file = open_append(&path).expect("opened");
                        let id = format!("{writer}-{number}");
                        append(&file, &path, &json!({ "event": "opened", "id": id }), 14).expect("appended");
                        if number + 1 == RECORDS / 2 {
                            let next = day(2);
                            let other = open_append(&next).expect("opened");
                            append(&other, &next, &json!({ "event": "opened", "id": "n" }), 14)
                                .expect("appended");
                        }
                        append(&file, &path, &json!({ "event": "closed", "id": id }), 14).expect("appended");
                    }
                });
            }
        });
        assert_eq!(problems(folder.path()), []);
        let (found, _) = verify(folder.path(), None).expect("read");
        let lines: usize = found.iter().map(|file| file.lines).sum();
        assert_eq!((found.len(), lines), (2, 1 + WRITERS * (2 * RECORDS + 1)));
    }

    #[test]
    fn a_torn_line_is_set_aside() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("2026-01-01.jsonl");
        write(&path, 2);
        let whole = fs::read_to_string(&path).expect("read");
        fs::write(&path, format!("{whole}{{\"event\":\"op")).expect("written");
        let (found, _) = verify(folder.path(), None).expect("read");
        assert!(found.iter().all(|found| found.torn && found.wrong.is_empty()));
        write(&path, 1);
        let (found, has) =
            verify(folder.path(), Some(&standing(whole.lines().next().expect("a line")))).expect("read");
        assert!(has && found.iter().all(|found| !found.torn && found.wrong.is_empty() && found.lines == 3));
        assert_eq!(fs::read_to_string(path.with_extension("torn")).expect("kept"), "{\"event\":\"op\n");
        assert!(!verify(folder.path(), Some("0")).expect("read").1);
    }
}
