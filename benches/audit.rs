//! What a record costs, and how long 100,000 of them take to be read. Targets: `stats` and `search` within two
//! seconds; an appended record at most a few times a bare append of the same line.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use gsh::audit::query::{Filter, each_day, newest, openings, read};
use gsh::audit::{Closing, Context, Opening, Record, chain};
use gsh::commands::audit::Look;
use gsh::commands::audit::tally::Counting;
use gsh::host::table::TableHost;
use gsh::host::witness::Witness;
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Places, Policy};
use gsh::request::{Entry, ReadingOptions, Request, Setting};

const RECORDS: usize = 100_000;
const TEXTS: [&str; 5] = [
    "git status",
    "ls -la src",
    "grep -rn main src | head",
    "curl -H \"Authorization: Bearer abcdefgh12345678\" https://example.com/x?token=abcd1234efgh",
    "npm test && git commit -m 'a message of some length' && git push origin HEAD",
];

fn main() {
    // `cargo test --benches` only wants to see that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let host = TableHost::default().with_files(&["/p/src/main.rs", "/tmp/", "/usr/bin/git"]);
    let policy = compose(Vec::new(), Composition::new(Places::default(), "2026-01-01"));
    let folder = tempfile::tempdir().expect("a folder");
    cost(&host, &policy, folder.path());
    let audit = folder.path().join("many");
    fs::create_dir_all(&audit).expect("a folder");
    write_many(&host, &policy, &audit);
    let timed = |name: &str, work: &dyn Fn() -> usize| {
        let started = Instant::now();
        let found = work();
        println!("{name:<10} {:>7.0} ms  ({found})", started.elapsed().as_secs_f64() * 1000.0);
    };
    timed("stats", &|| {
        let mut counting = Counting::by(&jiff::tz::TimeZone::UTC);
        each_day(&audit, &Filter::default(), &mut |_, day| {
            day.entries.iter().for_each(|entry| counting.add(entry));
        })
        .expect("read");
        counting.end().text(Look::plain(100)).len()
    });
    timed("tail", &|| newest(&audit, &Filter::default(), 20).expect("read").len());
    let session = Filter { session: Some("s".to_owned()), ..Filter::default() };
    timed("session", &|| read(&audit, &session).expect("read").len());
    timed("openings", &|| openings(&audit, &Filter::default()).expect("read").len());
    let filter = Filter { text: Some("origin HEAD".to_owned()), ..Filter::default() };
    timed("search", &|| read(&audit, &filter).expect("read").len());
    timed("verify", &|| chain::verify(&audit, None).expect("read").0.iter().map(|file| file.lines).sum());
}

fn record(
    host: &TableHost,
    policy: &Policy,
    text: &str,
) -> (std::time::Duration, std::time::Duration, Record) {
    let request = Request {
        setting: Setting::default(),
        text: text.into(),
        cwd: "/p".into(),
        name: None,
        args: vec![],
        options: ReadingOptions::default(),
        entry: Entry::Command,
        tool: None,
    };
    let bare = Instant::now();
    let plain = gsh::pipeline::check(&request, policy, host);
    let bare = bare.elapsed();
    drop(plain);
    let started = Instant::now();
    let witness = Witness::new(host);
    let checked = gsh::pipeline::check(&request, policy, &witness);
    let context = Context { session: Some("s".into()), ..Context::default() };
    let opening = Opening {
        request: &request,
        policy,
        decision: &checked.decision,
        facts: &checked.facts,
        answers: witness.into_answers(),
        context: &context,
    };
    let record = Record::new(&opening);
    (bare, started.elapsed(), record)
}

/// Deciding with and without a record; a linked append against a bare one.
fn cost(host: &TableHost, policy: &Policy, folder: &Path) {
    for text in TEXTS {
        let mut times: Vec<(std::time::Duration, std::time::Duration)> = Vec::new();
        for _ in 0..300 {
            let (bare, with, _) = record(host, policy, text);
            times.push((bare, with));
        }
        let median = |pick: fn(&(std::time::Duration, std::time::Duration)) -> std::time::Duration| {
            let mut all: Vec<_> = times.iter().map(pick).collect();
            all.sort();
            all[all.len() / 2].as_secs_f64() * 1e6
        };
        let (bare, with) = (median(|pair| pair.0), median(|pair| pair.1));
        let line = record(host, policy, text).2.json().to_string();
        let (linked, plain) = appends(host, policy, folder, text);
        println!(
            "{:<40.40} decided {bare:>6.0} µs, with its record {with:>6.0} µs; {} bytes, opened and closed in {linked:.1} µs, bare {plain:.1} µs",
            text,
            line.len()
        );
    }
}

/// A record opened and closed, and the same two lines appended to a plain file.
fn appends(host: &TableHost, policy: &Policy, folder: &Path, text: &str) -> (f64, f64) {
    const TIMES: u32 = 1000;
    let records: Vec<Record> = (0..TIMES).map(|_| record(host, policy, text).2).collect();
    let lines: Vec<String> = records.iter().map(|record| record.json().to_string() + "\n").collect();
    let started = Instant::now();
    for record in records {
        let opened = gsh::audit::open(Some(folder), folder, record, 14).expect("opened");
        opened.close(&Closing::NotRun { why: "a measurement" }).expect("closed");
    }
    let linked = started.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES);
    let path = folder.join("bare");
    let started = Instant::now();
    for line in lines {
        let mut file = OpenOptions::new().append(true).create(true).open(&path).expect("a file");
        file.write_all(line.as_bytes()).expect("written");
        file.write_all(b"{\"event\":\"closed\"}\n").expect("written");
    }
    (linked, started.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES))
}

fn write_many(host: &TableHost, policy: &Policy, folder: &Path) {
    let mut texts = Vec::new();
    for day in 1..=10 {
        let mut lines = String::new();
        for index in 0..RECORDS / 10 {
            let text = TEXTS[index % TEXTS.len()];
            if texts.len() < TEXTS.len() {
                texts.push(record(host, policy, text).2.json().to_string());
            }
            let line =
                texts[index % texts.len()].replacen("\"id\":\"", &format!("\"id\":\"{day}-{index}-"), 1);
            lines.push_str(&line);
            lines.push('\n');
            let id = serde_json::from_str::<serde_json::Value>(&line).expect("a record")["id"].clone();
            lines.push_str(&serde_json::json!({ "event": "closed", "id": id, "time": "2026-01-01T00:00:00Z", "outcome": "not observed", "how": "direct" }).to_string());
            lines.push('\n');
        }
        fs::write(folder.join(format!("2026-01-{day:02}.jsonl")), lines).expect("written");
    }
    let size: u64 = fs::read_dir(folder)
        .expect("listed")
        .flatten()
        .map(|entry| entry.metadata().expect("data").len())
        .sum();
    println!("{RECORDS} records, {} MB", size / 1_000_000);
}
