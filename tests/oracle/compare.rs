//! What bash did against what the facts say.

use gsh::facts::arg::{Arg, Below, Hole, HoleKind, Part};
use gsh::facts::path::{Target, is_below};
use gsh::facts::programs::Wrapper;
use gsh::facts::{EffectKind, Facts, Invocation, gather, glob};
use gsh::host::table::TableHost;
use gsh::request::{Entry, ReadingOptions, Request};
use gsh::syntax::{Limits, parse};

use crate::inside::{Outcome, Start};
use crate::world::PROJECT;

/// How much of a text the facts understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Understood {
    /// All of it.
    Wholly,
    /// All but what rules for running programs decide.
    ButExecution,
    /// Not all of it.
    Not,
}

/// The facts of a text on the cage's machine.
pub(crate) fn facts(text: &str, host: &TableHost) -> Facts {
    let request = Request {
        text: text.as_bytes().to_vec(),
        cwd: PROJECT.into(),
        name: None,
        args: Vec::new(),
        options: ReadingOptions::default(),
        entry: Entry::Command,
    };
    gather(&parse(text.as_bytes(), &Limits::default()), &request, host)
}

/// How much these facts understand.
pub(crate) fn understood(facts: &Facts) -> Understood {
    match facts.problems.iter().all(|doubt| doubt.execution) {
        true if facts.problems.is_empty() => Understood::Wholly,
        true => Understood::ButExecution,
        false => Understood::Not,
    }
}

/// Everything that bash did and the facts do not hold.
pub(crate) fn missing(facts: &Facts, outcome: &Outcome) -> Vec<String> {
    let starts = outcome.starts.iter().filter_map(|start| missing_start(facts, start));
    let changes = outcome.changed.iter().filter(|path| !explains_change(facts, path));
    starts.chain(changes.map(|path| format!("changed {path}"))).collect()
}

fn missing_start(facts: &Facts, start: &Start) -> Option<String> {
    let argv: Vec<String> = start.argv.iter().map(|word| without_numbers(word)).collect();
    let mut same = facts.invocations.iter().filter(|each| lists(each, &argv)).peekable();
    if same.peek().is_none() {
        return Some(format!("started {:?}", start.argv));
    }
    let here = same.any(|each| each.cwd.as_ref().is_none_or(|cwd| *cwd == start.cwd));
    (!here).then(|| format!("started {:?} in {}", start.argv, start.cwd))
}

/// Whether an invocation is this call, or may be.
fn lists(invocation: &Invocation, argv: &[String]) -> bool {
    let repeats = invocation.wrapped_in.iter().any(|(_, kind)| *kind == Wrapper::Multiplying);
    words_fit(&invocation.words, argv, repeats)
}

fn words_fit(words: &[Arg], argv: &[String], repeats: bool) -> bool {
    let Some((word, rest)) = words.split_first() else { return argv.is_empty() };
    let holes = || word.parts.iter().filter_map(hole);
    let several = holes().any(|hole| hole.splits) || (repeats && holes().next().is_some());
    let most = if several { argv.len() } else { argv.len().min(1) };
    let least = if holes().all(|hole| hole.splits) && word.parts.iter().all(|part| hole(part).is_some()) && several {
        0
    } else {
        1
    };
    (least..=most).any(|count| {
        let (taken, left) = argv.split_at(count);
        let fits = if repeats { each_fits(word, taken) || run_fits(word, taken) } else { run_fits(word, taken) };
        fits && words_fit(rest, left, repeats)
    })
}

/// Which descriptor a process substitution gets is bash's affair.
fn without_numbers(text: &str) -> String {
    let mut pieces = text.split("/dev/fd/");
    let mut made = pieces.next().unwrap_or("").to_owned();
    for piece in pieces {
        made.push_str("/dev/fd/");
        made.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    made
}

fn hole(part: &Part) -> Option<&Hole> {
    match part {
        Part::Hole(hole) => Some(hole),
        Part::Text(_) => None,
    }
}

fn each_fits(word: &Arg, taken: &[String]) -> bool {
    taken.iter().all(|text| run_fits(word, std::slice::from_ref(text)))
}

/// A mark between words where a hole was split.
const SPLIT: char = '\u{1}';

fn run_fits(word: &Arg, taken: &[String]) -> bool {
    let text = taken.join("\u{1}");
    // What a command prints may always be nothing, which is no word, or an empty one.
    let empty = text.is_empty() && word.parts.iter().all(|part| hole(part).is_some());
    empty || parts_fit(&word.parts, &text)
}

fn parts_fit(parts: &[Part], text: &str) -> bool {
    let Some((part, rest)) = parts.split_first() else { return text.is_empty() };
    let hole = match part {
        Part::Text(known) => return text.strip_prefix(without_numbers(known).as_str()).is_some_and(|left| parts_fit(rest, left)),
        Part::Hole(hole) => hole,
    };
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.into_iter().any(|end| {
        let (value, left) = text.split_at(end);
        hole_fits(hole, value) && parts_fit(rest, left)
    })
}

fn hole_fits(hole: &Hole, value: &str) -> bool {
    if !hole.splits && value.contains(SPLIT) {
        return false;
    }
    // Unquoted, lines become words, each of the kind; quoted, they stay lines, each of the kind.
    let between = if hole.splits { SPLIT } else { '\n' };
    if let HoleKind::OneOf(values) = &hole.kind {
        let whole = values.iter().any(|each| each == value);
        let words: Vec<&str> = values.iter().flat_map(|each| each.split_ascii_whitespace()).collect();
        return whole || value.split(between).all(|piece| values.iter().any(|each| each == piece) || (hole.splits && words.contains(&piece)));
    }
    value.split(between).all(|word| kind_fits(&hole.kind, word))
}

fn kind_fits(kind: &HoleKind, word: &str) -> bool {
    match kind {
        HoleKind::Any(_) | HoleKind::OneOf(_) => true,
        HoleKind::Number => !word.is_empty() && word.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()),
        HoleKind::Name => !word.is_empty() && !word.starts_with('-') && !word.contains('/'),
        HoleKind::GitRef => !word.is_empty() && !word.starts_with('-'),
        HoleKind::Below(places) => places.iter().any(|place| is_place(place, word)),
    }
}

fn is_place(place: &Below, word: &str) -> bool {
    let named = |name: &String| glob::matches(name, word.rsplit('/').next().unwrap_or(word));
    let below = match place.root.as_str() {
        "." => !word.starts_with(['-', '/']),
        root => is_below(word, root),
    };
    below && place.name.as_ref().is_none_or(named)
}

fn explains_change(facts: &Facts, path: &str) -> bool {
    facts.effects.iter().any(|effect| match &effect.kind {
        EffectKind::Write { target: Target::Known(place), .. } => place.real == path || place.entry == path,
        EffectKind::Write { target: Target::Below { root, .. }, .. } => is_below(path, &root.real),
        EffectKind::Write { target: Target::Unknown { .. }, .. } => true,
        _ => false,
    })
}
