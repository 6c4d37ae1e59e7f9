//! What may be left when all is over: records, and nothing else that grows.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::callers::Callers;
use crate::kinds;

/// What all that is remembered of sessions may take.
const SESSIONS: u64 = 64 << 10;

/// How many descriptors this process holds.
pub(crate) fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").map(|entries| entries.count()).unwrap_or_default()
}

/// Looks at everything; what is wrong.
pub(crate) fn everything(callers: &Callers, count: usize, descriptors_before: usize) -> Vec<String> {
    let mut wrong = Vec::new();
    let now = descriptors();
    if now != descriptors_before {
        wrong.push(format!("{now} descriptors in the callers, {descriptors_before} before"));
    }
    wrong.extend(jobs(callers));
    wrong.extend(questions(callers));
    let state = callers.at("home/.local/state/gsh");
    let (files, size) = under(&state.join("sessions"));
    println!("sessions: {files} files, {size} bytes");
    if size > SESSIONS {
        wrong.push(format!("{size} bytes of sessions"));
    }
    wrong.extend(records(callers, count));
    wrong.extend(calls(callers));
    wrong.extend(odd_files(&state));
    wrong
}

fn said(callers: &Callers, args: &[&str]) -> (bool, String) {
    let child = callers.start(&mut callers.gsh(args, "default"));
    let pid = child.id();
    let output = child.wait_with_output().expect("its end");
    callers.forget(pid);
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&text).into_owned())
}

fn jobs(callers: &Callers) -> Vec<String> {
    let folder = callers.at("home/.local/state/gsh/jobs");
    let (files, size) = under(&folder);
    let (fine, cleaned) = said(callers, &["jobs", "clean", "--json"]);
    println!("jobs: {files} files, {size} bytes; {} were forgotten", cleaned.matches(',').count() + 1);
    let (left, _) = under(&folder);
    let named = || said(callers, &["jobs", "--json"]).1;
    if fine && left == 0 {
        vec![]
    } else {
        vec![format!("{left} files of jobs after clean: {cleaned}{}", named())]
    }
}

/// Questions end with their time, and what is over goes when the next one is asked, a minute later: their files
/// are made older than that.
fn questions(callers: &Callers) -> Vec<String> {
    let folder = callers.at("home/.local/state/gsh/pending");
    let (files, _) = under(&folder);
    let before = SystemTime::now() - Duration::from_secs(90);
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let file = fs::File::options().write(true).open(entry.path());
        let _folder = file.and_then(|file| file.set_modified(before));
    }
    let _refused = said(callers, &["-c", "gsh-test-unknown last"]);
    let (left, size) = under(&folder);
    println!("questions: {files} files, {left} after the time of all but one, {size} bytes");
    // The last question, and the lock.
    if left > 2 { vec![format!("{left} files of questions")] } else { vec![] }
}

fn records(callers: &Callers, count: usize) -> Vec<String> {
    let folder = callers.at("home/.local/state/gsh/audit");
    let files = fs::read_dir(&folder).into_iter().flatten().flatten();
    let texts: Vec<String> = files.filter_map(|file| fs::read_to_string(file.path()).ok()).collect();
    let events = |name: &str| {
        let mark = format!("{{\"event\":\"{name}\"");
        texts.iter().flat_map(|text| text.lines()).filter(|line| line.starts_with(&mark)).count()
    };
    let (opened, closed) = (events("opened"), events("closed"));
    let (calls, killed) = kinds::calls(count);
    let (holds, verified) = said(callers, &["audit", "verify"]);
    println!("records: {opened} opened, {closed} closed, {calls} calls, {killed} of them killed");
    println!("verify: {}", verified.trim());
    let mut wrong = Vec::new();
    if !holds {
        wrong.push(format!("the chain of records: {verified}"));
    }
    // One more was asked for afterwards.
    if opened != calls + 1 {
        wrong.push(format!("{opened} records of {} calls", calls + 1));
    }
    if closed + killed < opened {
        wrong.push(format!("{} records were never closed, {killed} calls were killed", opened - closed));
    }
    wrong
}

/// The entries of calls that are over: taken away by one call in many, so that few are there at any time.
fn calls(callers: &Callers) -> Vec<String> {
    let own = callers.at("home").to_string_lossy().into_owned();
    let folder = gsh::store::calls::Calls::of_user();
    let entries = fs::read_dir(folder.folder()).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| fs::read_to_string(entry.path()).is_ok_and(|text| text.contains(&own)));
    let left = ours.count();
    println!("entries of calls: {left}");
    if left > 500 { vec![format!("{left} entries of calls")] } else { vec![] }
}

/// What somebody was still about to put in its place.
fn odd_files(folder: &Path) -> Vec<String> {
    let mut odd = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            odd.extend(odd_files(&path));
        } else if entry.file_name().to_string_lossy().starts_with('.') && entry.file_name() != ".lock" {
            odd.push(format!("left behind: {}", path.display()));
        }
    }
    odd
}

/// How many files are below a folder, and how long they are.
fn under(folder: &Path) -> (usize, u64) {
    let mut all = (0, 0);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let more = match entry.metadata() {
            Ok(meta) if meta.is_dir() => under(&entry.path()),
            Ok(meta) => (1, meta.len()),
            Err(_) => (0, 0),
        };
        all = (all.0 + more.0, all.1 + more.1);
    }
    all
}
