//! The time of one decision in process: a warm one, with many rules. Targets: 0.1 ms for a 60-byte
//! command with 100 rules.

#[path = "../tests/common/fixture.rs"]
mod fixture;

use divan::{Bencher, black_box};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Layer, LayerRules, Places, Policy, Rule, Verdict};

fn main() {
    divan::main();
}

/// This many rules of a user for commands that do not occur.
fn layer(rules: usize) -> LayerRules {
    layer_of(rules, Kind::Prefix)
}

/// What the patterns of many rules look like.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Exact,
    Prefix,
    Wild,
}

const KINDS: [Kind; 3] = [Kind::Exact, Kind::Prefix, Kind::Wild];

fn layer_of(rules: usize, kind: Kind) -> LayerRules {
    let pattern = |index| match kind {
        Kind::Exact => format!("tool{index} run now"),
        Kind::Prefix => format!("tool{index} run *"),
        Kind::Wild => format!("*tool{index} run*"),
    };
    let rule = |index| Rule::new(Layer::User, "process.execute", &pattern(index), Verdict::Allow);
    LayerRules::of_rules(Layer::User, (0..rules).map(rule).collect())
}

fn policy(rules: usize) -> Policy {
    composed(layer(rules))
}

fn composed(layer: LayerRules) -> Policy {
    let places = Places {
        home: Some("/home/dev".to_owned()),
        project: Some(fixture::PROJECT.to_owned()),
        temporaries: vec!["/tmp".to_owned()],
        path_folders: vec!["/usr/bin".to_owned()],
        homes: vec!["/home/dev".to_owned()],
    };
    let with = Composition::new(places, "2026-01-01");
    compose(vec![layer], with)
}

const COMMANDS: &[&str] = &[
    "git log --oneline -20 -- src/main.rs src/lib.rs | head -n 10",
    "git status",
    "find . -name '*.rs' -exec grep -l 'fn main' {} + | sort | uniq",
    "cd src && for f in *.rs; do echo \"== $f\"; head -2 \"$f\"; done",
    "sudo timeout 5 npm run build -- --mode production --out dist",
];

#[divan::bench(args = COMMANDS)]
fn warm_decision_with_100_rules(bencher: Bencher<'_, '_>, command: &str) {
    let (host, policy) = (fixture::host(), policy(100));
    bencher.bench_local(|| fixture::decide_on(&host, &policy, black_box(command)));
}

/// Target: within 1.2 of each other, whatever the number.
#[divan::bench(args = KINDS, consts = [10, 1_000, 10_000])]
fn warm_decision_by_number_of_rules<const RULES: usize>(bencher: Bencher<'_, '_>, kind: Kind) {
    let (host, policy) = (fixture::host(), composed(layer_of(RULES, kind)));
    bencher.bench_local(|| fixture::decide_on(&host, &policy, black_box("npm run build")));
}

#[divan::bench(args = COMMANDS)]
fn reading_only(command: &str) -> gsh::syntax::Script {
    gsh::syntax::parse(black_box(command).as_bytes(), &gsh::syntax::Limits::default())
}

/// What a process pays that decides once: the layers composed, and the first command judged.
#[divan::bench(args = KINDS, consts = [0, 10, 100, 1_000, 10_000])]
fn compose_and_decide_once<const RULES: usize>(bencher: Bencher<'_, '_>, kind: Kind) {
    let host = fixture::host();
    let layers = || layer_of(RULES, kind);
    bencher
        .with_inputs(layers)
        .bench_local_values(|layer| fixture::decide_on(&host, &composed(layer), black_box("npm run build")));
}

/// Lengths in bytes of the texts whose decision time must grow no faster than they do.
const LENGTHS: [usize; 4] = [1 << 10, 10 << 10, 100 << 10, 1 << 20];

/// `line` again and again up to `length` bytes.
fn repeated(line: &str, length: usize) -> String {
    line.repeat(length.div_ceil(line.len()))
}

fn growth(bencher: Bencher<'_, '_>, line: &str, length: usize) {
    let (host, policy) = (fixture::host(), policy(100));
    let text = repeated(line, length);
    bencher.bench_local(|| fixture::decide_on(&host, &policy, black_box(&text)));
}

#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_plain_commands(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "git status && ls src | sort\n", length);
}

#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_assignments_and_substitutions(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "a=\"$(basename \"$PWD\")\"; echo \"${a:-none} $((1+2))\"\n", length);
}

/// Unclosed brackets make the grammar guess; its recovery is what may be slow.
#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_what_the_grammar_cannot_read(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "echo $( [[ a ${ ( case x in\n", length);
}

#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_one_word(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "echo;a=b", length);
}

/// The most statements that a length can hold.
#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_dense_commands(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "a\n", length);
}

#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_doubled_variables(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "x=$x$x;", length);
}

/// Every copy of the shell's state holds what was assigned before it.
#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_variables_and_copies(bencher: Bencher<'_, '_>, length: usize) {
    let (host, policy) = (fixture::host(), policy(100));
    let lines = (0..length / 16).map(|index| format!("v{index}=1 && (ls)\n"));
    let text: String = lines.collect();
    bencher.bench_local(|| fixture::decide_on(&host, &policy, black_box(&text)));
}

/// A pattern is looked up on the machine each time.
#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_patterns(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "cat *;", length);
}

/// Every effect is held against all rules.
#[divan::bench(args = LENGTHS, max_time = 3)]
fn by_length_of_redirections(bencher: Bencher<'_, '_>, length: usize) {
    growth(bencher, "> a ", length);
}

/// What the grammar takes the square of its length for.
const BAD: [&str; 8] = ["((a", "@(a|b)", "a|", ")", "[a] ", "[[ (", "$[", "cat <<A;"];

#[divan::bench(args = BAD, consts = [1024, 4096, 16384, 65536], max_time = 2)]
fn what_the_grammar_is_slow_at<const LENGTH: usize>(bencher: Bencher<'_, '_>, line: &str) {
    growth(bencher, line, LENGTH);
}
