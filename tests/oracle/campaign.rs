//! Many scripts through many cages, and the account of it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cage::Workshop;
use crate::cases::rows;
use crate::checks;
use crate::compare::{self, Understood};
use crate::counts::{Counted, Counts};
use crate::generate::{Manner, Numbers, Sample, sample};
use crate::inside::Outcome;
use crate::kinds::kinds;
use crate::known::KNOWN;
use crate::mutate::mutant;
use crate::nested::nested;
use crate::state::{stateful, working};
use crate::world;

/// Scripts of one cage.
const BATCH: usize = 100;

/// Scripts of an ordinary test run.
const ORDINARY: usize = 1_000;

/// The most that may be not understood of everyday scripts, in percent.
const EVERYDAY_LIMIT: usize = 20;

/// Where a script comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Everyday,
    Nasty,
    State,
    Mutant,
    Nested,
    Given,
}

/// What is known of some scripts.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Count {
    /// All of them.
    pub(crate) all: usize,
    but_execution: usize,
    /// Understood but for where paths lead.
    pub(crate) but_paths: usize,
    /// Not understood.
    pub(crate) not: usize,
    starts: usize,
    stopped: usize,
}

/// All that a run found out.
#[derive(Debug, Default)]
struct Account {
    by_source: BTreeMap<Source, Count>,
    counts: Counts,
    /// Why everyday scripts were not understood.
    doubts: BTreeMap<String, (usize, String)>,
    disagreements: Vec<String>,
    /// How often each known kind may have been met.
    known: BTreeMap<&'static str, usize>,
    failures: Vec<String>,
}

/// Runs as many scripts as the environment asks for.
pub(crate) fn run(shop: &Workshop) -> ExitCode {
    if let Ok(path) = std::env::var("GSH_ORACLE_FILE") {
        return given(shop, &path);
    }
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let many = number("GSH_ORACLE").and_then(|many| usize::try_from(many).ok()).unwrap_or(ORDINARY);
    let seed = number("GSH_ORACLE_SEED").unwrap_or(1);
    println!("oracle: {many} scripts, seed {seed}");
    let texts = everyday_texts();
    let account = Mutex::new(Account::default());
    let next = AtomicUsize::new(0);
    let lanes = thread::available_parallelism().map_or(2, |lanes| lanes.get().min(8));
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                loop {
                    let from = next.fetch_add(BATCH, Ordering::Relaxed);
                    if from >= many {
                        return;
                    }
                    let scripts: Vec<Script> =
                        (from..many.min(from + BATCH)).map(|index| script(seed, index, &texts)).collect();
                    let done = batch(shop, &scripts);
                    let Ok(mut account) = account.lock() else { return };
                    account.take(done);
                }
            });
        }
    });
    let mut account = account.into_inner().unwrap_or_default();
    account.recheck(shop);
    match checks::wrong(shop) {
        Ok(wrong) => account.failures.extend(wrong),
        Err(error) => account.failures.push(error.to_string()),
    }
    account.report()
}

/// Shows what each text of a file does, and what the facts say; texts end at a line `%%`.
fn given(shop: &Workshop, path: &str) -> ExitCode {
    let Ok(text) = std::fs::read_to_string(path) else { return ExitCode::FAILURE };
    let scripts = text.split("%%\n").map(|text| Script::plain(text.trim_end_matches('\n'), Source::Given));
    for done in batch(shop, &scripts.collect::<Vec<_>>()) {
        match done {
            Ok(done) => println!("{}", shown(&done)),
            Err(error) => println!("failure: {error}"),
        }
    }
    ExitCode::SUCCESS
}

/// A script and where it comes from.
struct Script {
    text: String,
    source: Source,
    rows: BTreeSet<&'static str>,
    pairs: BTreeSet<(&'static str, &'static str)>,
}

impl Script {
    fn made(made: Sample, source: Source) -> Self {
        Self { text: made.text, source, rows: made.rows, pairs: made.pairs }
    }

    fn plain(text: impl Into<String>, source: Source) -> Self {
        Self { text: text.into(), source, rows: BTreeSet::new(), pairs: BTreeSet::new() }
    }
}

fn script(seed: u64, index: usize, texts: &[String]) -> Script {
    let own = seed.wrapping_mul(1_000_003).wrapping_add(u64::try_from(index).unwrap_or(0));
    let mut numbers = Numbers::new(own);
    match index % 9 {
        0 | 1 => Script::made(sample(own, Manner::Everyday), Source::Everyday),
        2 | 3 => Script::made(sample(own, Manner::Nasty), Source::Nasty),
        4 => {
            let works = numbers.below(3) == 0;
            let text = if works { working(&mut numbers, "m1") } else { stateful(&mut numbers, "m1") };
            let rows = BTreeSet::from([if works { "working program" } else { "state" }]);
            Script { rows, ..Script::plain(text, Source::State) }
        }
        5 => {
            let made = [sample(own, Manner::Everyday).text, sample(own, Manner::Nasty).text];
            let texts = if numbers.below(3) == 0 { made.as_slice() } else { texts };
            Script::plain(mutant(&mut numbers, texts), Source::Mutant)
        }
        _ => Script::made(nested(&mut numbers), Source::Nested),
    }
}

/// Everyday texts of the case files, which harm nothing.
fn everyday_texts() -> Vec<String> {
    let shapes = include_str!("../cases/shapes.txt").split("%%\n").filter(|text| !text.starts_with('#'));
    let shapes = shapes.map(|text| text.trim_end_matches('\n').to_owned());
    let readers = rows(include_str!("../cases/readonly.txt")).into_iter();
    let readers = readers.filter(|row| !row.kind.is_empty()).map(|row| row.command);
    shapes.chain(readers).filter(|text| !text.is_empty()).collect()
}

/// One script with what came of it.
pub(crate) struct Done {
    /// The script.
    pub(crate) text: String,
    source: Source,
    rows: BTreeSet<&'static str>,
    pairs: BTreeSet<(&'static str, &'static str)>,
    kinds: BTreeSet<&'static str>,
    count: Count,
    /// What the facts do not hold.
    pub(crate) missing: Vec<String>,
    /// What they hold.
    pub(crate) listed: Vec<String>,
    doubts: Vec<String>,
    outcome: Outcome,
}

fn batch(shop: &Workshop, scripts: &[Script]) -> Vec<io::Result<Done>> {
    let mut cage = match shop.cage(None) {
        Ok(cage) => cage,
        Err(error) => return vec![Err(error)],
    };
    let host = world::host(&cage.things);
    if !compare::sees_what_is_missing(&host) {
        return vec![Err(io::Error::other("the comparison sees nothing"))];
    }
    let mut done = Vec::new();
    for script in scripts {
        // bash cannot be given a NUL in an argument.
        if script.text.contains('\0') {
            continue;
        }
        let outcome = match cage.run(&script.text) {
            Ok(outcome) => outcome,
            Err(error) => {
                done.push(Err(io::Error::other(format!("{error}, at {:?}", script.text))));
                return done;
            }
        };
        let facts = compare::facts(&script.text, &host);
        let understood = compare::understood(&facts);
        let missing = compare::disagreement(&facts, &outcome);
        let count = Count {
            all: 1,
            but_execution: usize::from(understood == Understood::ButExecution),
            but_paths: usize::from(understood == Understood::ButPaths),
            not: usize::from(understood == Understood::Not),
            starts: outcome.starts.len(),
            stopped: usize::from(outcome.stopped),
        };
        let mut listed: Vec<String> = facts.invocations.iter().map(|each| each.text()).collect();
        listed.extend(facts.problems.iter().map(|doubt| format!("doubt: {}", doubt.problem.detail)));
        let doubts =
            facts.problems.iter().filter(|doubt| !doubt.execution).map(|doubt| doubt.problem.detail.clone());
        let doubts = doubts.collect();
        let kinds = kinds(&compare::read(&script.text));
        let (text, source) = (script.text.clone(), script.source);
        let (rows, pairs) = (script.rows.clone(), script.pairs.clone());
        done.push(Ok(Done { text, source, rows, pairs, kinds, count, missing, listed, doubts, outcome }));
    }
    done
}

impl Count {
    /// Adds others.
    pub(crate) fn add(&mut self, other: Self) {
        self.all += other.all;
        self.but_execution += other.but_execution;
        self.but_paths += other.but_paths;
        self.not += other.not;
        self.starts += other.starts;
        self.stopped += other.stopped;
    }

    /// A part of all, in percent.
    pub(crate) fn percent(&self, part: usize) -> usize {
        part * 100 / self.all.max(1)
    }
}

impl Account {
    fn take(&mut self, all: Vec<io::Result<Done>>) {
        for done in all {
            let done = match done {
                Ok(done) => done,
                Err(error) => {
                    self.failures.push(error.to_string());
                    continue;
                }
            };
            self.by_source.entry(done.source).or_default().add(done.count);
            self.counts.take(&Counted {
                rows: &done.rows,
                pairs: &done.pairs,
                kinds: &done.kinds,
                count: done.count,
            });
            if done.source == Source::Everyday {
                for doubt in &done.doubts {
                    let entry = self.doubts.entry(doubt.clone()).or_insert((0, done.text.clone()));
                    entry.0 += 1;
                    if done.text.len() < entry.1.len() {
                        entry.1.clone_from(&done.text);
                    }
                }
            }
            if !done.missing.is_empty() {
                match KNOWN.iter().find(|known| (known.fits)(&done)) {
                    Some(known) => *self.known.entry(known.reason).or_default() += 1,
                    None => self.disagreements.push(shown(&done)),
                }
            }
        }
    }

    /// The known disagreements must still be there.
    fn recheck(&mut self, shop: &Workshop) {
        let scripts: Vec<Script> =
            KNOWN.iter().map(|known| Script::plain(known.script, Source::Given)).collect();
        for done in batch(shop, &scripts) {
            match done {
                Ok(done) if done.missing.is_empty() => {
                    self.failures
                        .push(format!("no longer a disagreement, take it out of KNOWN: {:?}", done.text));
                }
                Ok(_) => {}
                Err(error) => self.failures.push(error.to_string()),
            }
        }
    }

    /// In a campaign: what it is most often that everyday scripts are not understood for.
    fn tell_doubts(&self) {
        if std::env::var_os("GSH_ORACLE").is_none() {
            return;
        }
        let mut doubts: Vec<_> = self.doubts.iter().collect();
        doubts.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (doubt, (count, example)) in doubts.into_iter().take(20) {
            let example: String = example.chars().take(120).collect();
            println!("{count:6} times in everyday scripts: {doubt}, as in {example:?}");
        }
    }

    fn report(mut self) -> ExitCode {
        self.failures.extend(self.counts.report());
        for (source, count) in &self.by_source {
            println!(
                "{source:?}: {} scripts, {} starts, {}% not understood ({}% but for paths), {}% left to rules for programs, {} stopped",
                count.all,
                count.starts,
                count.percent(count.not + count.but_paths),
                count.percent(count.but_paths),
                count.percent(count.but_execution),
                count.stopped
            );
        }
        self.tell_doubts();
        let everyday = self.by_source.get(&Source::Everyday).copied().unwrap_or_default();
        if everyday.percent(everyday.not + everyday.but_paths) > EVERYDAY_LIMIT {
            self.failures
                .push(format!("more than {EVERYDAY_LIMIT}% of the everyday scripts are not understood"));
        }
        for each in self.disagreements.iter().take(200) {
            println!("{each}");
        }
        for (reason, count) in &self.known {
            println!("known: {count} times: {reason}");
        }
        for each in &self.failures {
            println!("failure: {each}");
        }
        println!("oracle: {} disagreements, {} failures", self.disagreements.len(), self.failures.len());
        if self.disagreements.is_empty() && self.failures.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

/// A script, what the facts do not hold of it, all that bash did, and the facts.
fn shown(done: &Done) -> String {
    let starts = done.outcome.starts.iter().map(|start| format!("{:?} in {}", start.argv, start.cwd));
    let did: Vec<String> = starts.chain(done.outcome.changed.iter().cloned()).collect();
    let between = "\n           ";
    format!(
        "==== {:?}\n{}\n  missing: {}\n  bash:    {}\n  said:    {}\n  facts:   {}",
        done.source,
        done.text,
        done.missing.join(between),
        did.join(between),
        done.outcome.errors.trim_end().replace('\n', between),
        done.listed.join(between)
    )
}
