//! How often each construct, each pair of constructs and each kind of node was met, so that a campaign that
//! found nothing has looked.

use std::collections::{BTreeMap, BTreeSet};

use crate::campaign::Count;
use crate::kinds::KINDS;
use crate::nested::{CONTAINERS, CONTENTS};

/// From so many scripts on the counts below must be reached.
const CAMPAIGN: usize = 20_000;

/// Scripts with each construct, and with each kind of node.
const LEAST: usize = 100;

/// Scripts with one construct somewhere inside of another.
const LEAST_NESTED: usize = 10;

/// What must be found in a script, and the constructs of the generators that are of that sort.
const SORTS: &[(&str, &[&str])] = &[
    (
        "commands of every form",
        &[
            "simple",
            "list",
            "pipeline",
            "negation",
            "time",
            "group",
            "subshell",
            "if",
            "for",
            "while",
            "until",
            "case",
            "select",
            "function",
            "coproc",
            "test",
            "odd spelling",
            "disguised name",
        ],
    ),
    (
        "substitutions anywhere",
        &[
            "substitution",
            "substitution in an assignment",
            "substitution in a redirection",
            "substitution in a here-document",
            "substitution in a test",
            "substitution in arithmetic",
            "substitution in a case",
            "substitution in a fallback",
            "substitution in a subscript",
            "backticks",
            "process substitution",
        ],
    ),
    ("texts for a shell", &["inner shell", "eval"]),
    ("hidden command positions", &["hidden command"]),
    ("assignments that change what runs", &["environment", "assignment", "array", "shell state"]),
    (
        "redirections",
        &[
            "redirection",
            "lone redirection",
            "descriptors",
            "named descriptor",
            "files by redirection",
            "here-document",
        ],
    ),
    (
        "words",
        &[
            "plain word",
            "file",
            "single quotes",
            "double quotes",
            "ansi quotes",
            "quotes",
            "escapes",
            "odd word",
            "line continuation",
            "glob",
            "braces",
            "tilde",
            "known variable",
            "unset variable",
            "positional",
            "fallback",
            "edit",
            "indirect",
            "arithmetic",
        ],
    ),
    ("directories", &["directory", "directory left"]),
    ("effects of earlier statements", &["earlier effect", "state"]),
    ("bounded operands", &["bounded operand"]),
    ("background", &["background", "background job"]),
    ("text that is data", &["data"]),
    ("wrappers and programs", &["wrapper", "xargs", "working program"]),
];

/// What a script is counted under.
pub(crate) struct Counted<'a> {
    /// Its constructs.
    pub(crate) rows: &'a BTreeSet<&'static str>,
    /// Constructs in constructs, the inner first.
    pub(crate) pairs: &'a BTreeSet<(&'static str, &'static str)>,
    /// The kinds of its nodes.
    pub(crate) kinds: &'a BTreeSet<&'static str>,
    /// How it went.
    pub(crate) count: Count,
}

/// All counts.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    scripts: usize,
    rows: BTreeMap<&'static str, Count>,
    sorts: BTreeMap<&'static str, Count>,
    pairs: BTreeMap<(&'static str, &'static str), Count>,
    kinds: BTreeMap<&'static str, Count>,
}

impl Counts {
    /// Counts one script.
    pub(crate) fn take(&mut self, one: &Counted<'_>) {
        self.scripts += one.count.all;
        for row in one.rows {
            self.rows.entry(row).or_default().add(one.count);
        }
        for (sort, rows) in SORTS {
            if rows.iter().any(|row| one.rows.contains(row)) {
                self.sorts.entry(sort).or_default().add(one.count);
            }
        }
        for pair in one.pairs {
            self.pairs.entry(*pair).or_default().add(one.count);
        }
        for kind in one.kinds {
            self.kinds.entry(kind).or_default().add(one.count);
        }
    }

    /// Prints the counts; gives what was met too rarely, if there were enough scripts to say so.
    pub(crate) fn report(&self) -> Vec<String> {
        let mut rare = Vec::new();
        let few = |count: Option<&Count>| count.is_none_or(|count| count.all < LEAST);
        for (sort, rows) in SORTS {
            println!("{}", shown(sort, self.sorts.get(sort)));
            for row in *rows {
                println!("  {}", shown(row, self.rows.get(row)));
            }
            rare.extend(few(self.sorts.get(sort)).then(|| format!("too few scripts with {sort}")));
            let rows = rows.iter().filter(|row| few(self.rows.get(*row)));
            rare.extend(rows.map(|row| format!("too few scripts with: {row}")));
        }
        self.report_pairs(&mut rare);
        for kind in KINDS {
            let count = self.kinds.get(kind);
            println!("{}", shown(kind, count));
            rare.extend(few(count).then(|| format!("too few scripts with {kind}")));
        }
        let known: BTreeSet<&str> = SORTS.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
        let stray = self.rows.keys().filter(|row| !known.contains(*row));
        let stray: Vec<String> = stray.map(|row| format!("of no sort of construct: {row}")).collect();
        if self.scripts < CAMPAIGN { stray } else { [rare, stray].concat() }
    }

    fn report_pairs(&self, rare: &mut Vec<String>) {
        let outer: BTreeSet<&str> = CONTAINERS.iter().map(|(row, _)| *row).collect();
        let inner: BTreeSet<&str> = CONTAINERS.iter().chain(CONTENTS).map(|(row, _)| *row).collect();
        let all = inner.iter().flat_map(|inner| outer.iter().map(move |outer| (*inner, *outer)));
        let mut counts: Vec<(Count, (&str, &str))> = all
            .map(|pair| {
                let found = self.pairs.iter().find(|(known, _)| **known == pair);
                (found.map(|(_, count)| *count).unwrap_or_default(), pair)
            })
            .collect();
        counts.sort_by_key(|(count, _)| count.all);
        for (count, (inner, outer)) in counts.iter().filter(|(count, _)| count.all < LEAST_NESTED) {
            rare.push(format!("only {} scripts with {inner} inside of {outer}", count.all));
        }
        if let Some((least, (inner, outer))) = counts.first() {
            println!(
                "{} pairs of constructs, the rarest {inner} inside of {outer}: {}",
                counts.len(),
                least.all
            );
        }
        let blind: Vec<_> = counts.iter().filter(|(count, _)| count.not == count.all).collect();
        let of: BTreeSet<&str> = blind.iter().map(|(_, (_, outer))| *outer).collect();
        println!("{} of them were in no script that was compared, inside of {of:?}", blind.len());
    }
}

fn shown(name: &str, count: Option<&Count>) -> String {
    let count = count.copied().unwrap_or_default();
    format!(
        "{name:34} {:6} scripts, {:3}% not understood",
        count.all,
        count.percent(count.not + count.but_paths)
    )
}
