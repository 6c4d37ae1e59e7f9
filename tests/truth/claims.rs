//! Claims of reading, tried.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gsh::facts::{EffectKind, Facts};
use gsh::host::table::TableHost;
use gsh::host::{GitState, Node, Program};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Places, Policy, Verdict};
use gsh::request::{Entry, ReadingOptions, Request, Setting};

use crate::cage::{Cage, Workshop};
use crate::inside::Outcome;
use crate::world::{self, HOME, PROJECT};

/// Lines of one cage.
const BATCH: usize = 50;

/// Of so many lines an ordinary run tries one.
const ORDINARY: usize = 5;

/// The time one line gets, in milliseconds: some interpreters start slowly under a tracer.
const LINE_TIME: u64 = 8_000;

/// All that was found out.
#[derive(Debug, Default)]
struct Account {
    silent: usize,
    tried: usize,
    stopped: usize,
    programs: BTreeSet<String>,
    contradictions: Vec<String>,
    failures: Vec<String>,
}

/// Tries the claims; whether none was contradicted.
pub(crate) fn run(shop: &Workshop, all: bool) -> bool {
    let mut lines = quiet_lines();
    if !all && std::env::var_os("GSH_TRUTH").is_none() {
        lines = lines.into_iter().step_by(ORDINARY).collect();
    }
    if all {
        lines.extend(gsh::facts::programs::claims::lines().iter().map(|words| quoted(words)));
    }
    let installed = installed();
    let account = Mutex::new(Account::default());
    let next = AtomicUsize::new(0);
    let lanes = std::thread::available_parallelism().map_or(2, |lanes| lanes.get().min(8));
    std::thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    let Some(batch) = lines.get(from..lines.len().min(from + BATCH)) else { return };
                    if batch.is_empty() {
                        return;
                    }
                    try_batch(shop, batch, &installed, &account);
                }
            });
        }
    });
    let account = account.into_inner().unwrap_or_default();
    println!(
        "truth: {} lines, {} silent, {} tried with {} programs, {} did not end in time, {} contradicted",
        lines.len(),
        account.silent,
        account.tried,
        account.programs.len(),
        account.stopped,
        account.contradictions.len()
    );
    for text in account.contradictions.iter().chain(&account.failures) {
        println!("    {text}");
    }
    account.contradictions.is_empty() && account.failures.is_empty()
}

/// The lines that a table's cases call quiet, and the read-only commands of the case file.
fn quiet_lines() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(root.join("src/facts/programs/tests"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let mut quiet = file.ends_with("quiet.txt");
        for line in text.lines() {
            match line.strip_prefix("= ") {
                Some(kind) => quiet = kind == "quiet",
                // `$x` stands for a word that is not known there.
                None if quiet && !line.is_empty() && !line.starts_with('#') && !line.contains(['$', '#']) => {
                    found.push(line.to_owned());
                }
                None => {}
            }
        }
    }
    found
}

/// Words as a text for the shell.
fn quoted(words: &[String]) -> String {
    words.iter().map(|word| gsh::syntax::quote(word)).collect::<Vec<_>>().join(" ")
}

/// The programs of this machine that the cage shows.
pub(crate) fn installed() -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    for folder in ["/usr/sbin", "/usr/bin"] {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            found.insert(entry.file_name().to_string_lossy().into_owned(), entry.path());
        }
    }
    found
}

fn try_batch(
    shop: &Workshop,
    lines: &[String],
    installed: &BTreeMap<String, PathBuf>,
    account: &Mutex<Account>,
) {
    let (policy, mut cage) = (policy(), None::<(Cage, TableHost)>);
    for line in lines {
        if cage.is_none() {
            match shop.cage(None) {
                Ok(new) => {
                    let host = host(&new, installed);
                    cage = Some((new, host));
                }
                Err(error) => return note(account, |account| account.failures.push(error.to_string())),
            }
        }
        let Some((running, host)) = &mut cage else { return };
        let checked = gsh::pipeline::check(&request(line), &policy, host);
        if checked.decision.verdict != Verdict::Allow || !checked.decision.reads_only {
            continue;
        }
        note(account, |account| account.silent += 1);
        let name = checked
            .facts
            .invocations
            .first()
            .and_then(|first| first.words.first()?.text().map(str::to_owned));
        let Some(name) = name.filter(|name| installed.contains_key(name)) else { continue };
        match running.run_for(line, LINE_TIME) {
            Ok(outcome) => {
                let wrong = contradictions(&checked.facts, &outcome);
                note(account, |account| {
                    account.tried += 1;
                    account.stopped += usize::from(outcome.stopped);
                    account.programs.insert(name.clone());
                    if !wrong.is_empty() {
                        account.contradictions.push(format!("{line}: {}", wrong.join(", ")));
                    }
                });
            }
            Err(error) => {
                note(account, |account| account.failures.push(format!("{line}: {error}")));
                cage = None;
            }
        }
    }
}

fn note(account: &Mutex<Account>, change: impl FnOnce(&mut Account)) {
    if let Ok(mut account) = account.lock() {
        change(&mut account);
    }
}

/// What a line did that nothing told of.
fn contradictions(facts: &Facts, outcome: &Outcome) -> Vec<String> {
    let kept: Vec<&str> =
        facts.invocations.iter().flat_map(|each| each.housekeeping.iter().copied()).collect();
    let mut wrong: Vec<String> = outcome
        .changed
        .iter()
        .filter(|path| !kept.iter().any(|pattern| covers(pattern, path)))
        .map(|path| format!("changed {path}"))
        .collect();
    let network = facts.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Network { .. }));
    if !network {
        wrong.extend(outcome.reached.iter().map(|address| format!("reached for {address}")));
    }
    let strange =
        outcome.starts.iter().filter(|start| !start.path.starts_with("/usr/") && start.path.starts_with('/'));
    // Some start themselves once more.
    let strange = strange.filter(|start| start.path != "/proc/self/exe");
    let strange =
        strange.filter(|start| !["/bin/", "/sbin/", "/lib"].iter().any(|head| start.path.starts_with(head)));
    wrong.extend(strange.map(|start| format!("started {}", start.path)));
    wrong
}

/// Whether a housekeeping pattern (relative to the project, or in the home) names a path or what is in it.
fn covers(pattern: &str, path: &str) -> bool {
    let whole = match pattern.strip_prefix("~/") {
        Some(rest) => format!("{HOME}/{rest}"),
        None if pattern.starts_with('/') => pattern.to_owned(),
        None => format!("{PROJECT}/{pattern}"),
    };
    match whole.split_once('*') {
        Some((head, tail)) => path.starts_with(head) && path.ends_with(tail),
        // The folders that lead to it may be new too.
        None => {
            path == whole || path.starts_with(&format!("{whole}/")) || whole.starts_with(&format!("{path}/"))
        }
    }
}

pub(crate) fn request(text: &str) -> Request {
    Request {
        setting: Setting::default(),
        text: text.as_bytes().to_vec(),
        cwd: PathBuf::from(PROJECT),
        name: None,
        args: Vec::new(),
        options: ReadingOptions::default(),
        entry: Entry::Check,
        tool: None,
    }
}

pub(crate) fn policy() -> Policy {
    let places = Places {
        home: Some(HOME.to_owned()),
        project: Some(PROJECT.to_owned()),
        temporaries: vec!["/tmp".to_owned()],
        path_folders: vec!["/usr/bin".to_owned()],
        homes: vec![HOME.to_owned()],
    };
    compose(Vec::new(), Composition::new(places, "2026-01-01"))
}

pub(crate) fn host(cage: &Cage, installed: &BTreeMap<String, PathBuf>) -> TableHost {
    let mut host = world::host(&cage.things);
    for (name, path) in installed {
        host.add(path, Node::File);
        host.programs.insert(name.clone(), Program { path: path.clone(), trusted: true });
    }
    host.git = Some(GitState { head: Some("main".to_owned()), ..GitState::default() });
    host
}
