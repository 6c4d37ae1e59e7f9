//! What bash did against what the facts say.

use gsh::facts::arg::{Arg, Below, Hole, HoleKind, Part};
use gsh::facts::path::{Target, is_below};
use gsh::facts::programs::{Programs, Wrapper};
use gsh::facts::{Change, Doubt, EffectKind, Facts, Invocation, gather, glob};
use gsh::host::table::TableHost;
use gsh::request::{Entry, ReadingOptions, Request, Setting};
use gsh::syntax::{Cause, Limits, Script, parse};

use crate::inside::{Outcome, Start};
use crate::world::PROJECT;

/// How much of a text the facts understand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Understood {
    /// All of it.
    Wholly,
    /// All but what rules for running programs decide.
    ButExecution,
    /// Every command, but not where some path leads.
    ButPaths,
    /// Not all of it.
    Not,
}

/// A text as it is read.
pub(crate) fn read(text: &str) -> Script {
    parse(text.as_bytes(), &Limits::default())
}

/// The facts of a text on the cage's machine.
pub(crate) fn facts(text: &str, host: &TableHost) -> Facts {
    let request = Request {
        setting: Setting::default(),
        text: text.as_bytes().to_vec(),
        cwd: PROJECT.into(),
        name: None,
        args: Vec::new(),
        options: ReadingOptions::default(),
        entry: Entry::Command,
        tool: None,
    };
    gather(&read(text), &request, host, &Programs::default())
}

/// How much these facts understand.
pub(crate) fn understood(facts: &Facts) -> Understood {
    // A program without a table excuses only itself; code that is not read, and a builtin that is not
    // explained (`mapfile -C`), may run anything.
    let path = |doubt: &Doubt| {
        doubt.problem.cause == Cause::DynamicPath || doubt.problem.detail.starts_with("where ")
    };
    let only = |doubt: &Doubt| doubt.execution && doubt.problem.cause != Cause::OpaqueCode;
    if facts.problems.is_empty() {
        Understood::Wholly
    } else if facts
        .invocations
        .iter()
        .any(|each| each.builtin && !each.explained && !facts.problems.iter().all(path))
    {
        Understood::Not
    } else if facts.problems.iter().all(only) {
        Understood::ButExecution
    } else if facts.problems.iter().all(|doubt| path(doubt) || only(doubt)) {
        Understood::ButPaths
    } else {
        Understood::Not
    }
}

/// Everything that bash did and the facts should hold, as far as they claim to understand.
pub(crate) fn disagreement(facts: &Facts, outcome: &Outcome) -> Vec<String> {
    match understood(facts) {
        Understood::Wholly | Understood::ButExecution => missing(facts, outcome),
        Understood::ButPaths => {
            let programs = |each: &String| each.starts_with("started") && each.ends_with(']');
            missing(facts, outcome).into_iter().filter(programs).collect()
        }
        Understood::Not => Vec::new(),
    }
}

/// Everything that bash did and the facts do not hold. Leniently, a substitution may print nothing.
pub(crate) fn missing(facts: &Facts, outcome: &Outcome) -> Vec<String> {
    let starts = outcome.starts.iter().filter_map(|start| missing_start(facts, start));
    let changes = outcome.changed.iter().filter(|path| !explains_change(facts, path));
    starts.chain(changes.map(|path| format!("changed {path}"))).collect()
}

/// The comparison itself, held against an outcome that these facts do not hold.
pub(crate) fn sees_what_is_missing(host: &TableHost) -> bool {
    let start = |argv: &[&str], cwd: &str| Start {
        cwd: cwd.to_owned(),
        path: String::new(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
    };
    let outcome = Outcome {
        starts: vec![
            start(&["ls", "m1"], PROJECT),
            start(&["ls", "m1", "m2"], PROJECT),
            start(&["rm", "m1"], PROJECT),
            start(&["ls", "m1"], "/"),
        ],
        changed: vec![format!("{PROJECT}/m3"), format!("{PROJECT}/m4")],
        ..Outcome::default()
    };
    missing(&facts("ls m1 > m3", host), &outcome).len() == 4
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
    Reader { repeats }.words_fit(&invocation.words, argv)
}

/// How words are held against a call.
#[derive(Clone, Copy)]
struct Reader {
    /// A word with a hole may stand for several of its kind.
    repeats: bool,
}

/// A mark between words where a hole was split.
const SPLIT: char = '\u{1}';

impl Reader {
    fn words_fit(self, words: &[Arg], argv: &[String]) -> bool {
        let Some((word, rest)) = words.split_first() else { return argv.is_empty() };
        let holes = || word.parts.iter().filter_map(hole);
        let several = holes().any(|hole| hole.splits) || (self.repeats && holes().next().is_some());
        let most = if several { argv.len() } else { argv.len().min(1) };
        let least = if holes().all(|hole| hole.splits)
            && word.parts.iter().all(|part| hole(part).is_some())
            && several
        {
            0
        } else {
            1
        };
        (least..=most).any(|count| {
            let (taken, left) = argv.split_at(count);
            let fits = if self.repeats {
                self.each_fits(word, taken) || self.run_fits(word, taken)
            } else {
                self.run_fits(word, taken)
            };
            fits && self.words_fit(rest, left)
        })
    }

    fn each_fits(self, word: &Arg, taken: &[String]) -> bool {
        taken.iter().all(|text| self.run_fits(word, std::slice::from_ref(text)))
    }

    fn run_fits(self, word: &Arg, taken: &[String]) -> bool {
        let text = taken.join("\u{1}");
        // What a command prints may always be nothing, which is no word, or an empty one.
        let empty = text.is_empty() && word.parts.iter().all(|part| hole(part).is_some());
        empty || self.parts_fit(&word.parts, &text)
    }

    fn parts_fit(self, parts: &[Part], text: &str) -> bool {
        let Some((part, rest)) = parts.split_first() else { return text.is_empty() };
        let hole = match part {
            Part::Text(known) => {
                return text
                    .strip_prefix(without_numbers(known).as_str())
                    .is_some_and(|left| self.parts_fit(rest, left));
            }
            Part::Hole(hole) => hole,
        };
        let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
        ends.into_iter().any(|end| {
            let (value, left) = text.split_at(end);
            self.hole_fits(hole, value) && self.parts_fit(rest, left)
        })
    }

    fn hole_fits(self, hole: &Hole, value: &str) -> bool {
        if !hole.splits && value.contains(SPLIT) {
            return false;
        }
        // Unquoted, lines become words, each of the kind; quoted, they stay lines, each of the kind.
        let between = if hole.splits { SPLIT } else { '\n' };
        if let HoleKind::OneOf(values) = &hole.kind {
            let whole = values.iter().any(|each| each == value);
            let words: Vec<&str> = values.iter().flat_map(|each| each.split_ascii_whitespace()).collect();
            return whole
                || value.split(between).all(|piece| {
                    values.iter().any(|each| each == piece) || (hole.splits && words.contains(&piece))
                });
        }
        value.split(between).all(|word| kind_fits(&hole.kind, word))
    }
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

fn kind_fits(kind: &HoleKind, word: &str) -> bool {
    match kind {
        HoleKind::Any(_) | HoleKind::OneOf(_) => true,
        HoleKind::Number => {
            !word.is_empty() && word.trim_start_matches('-').chars().all(|c| c.is_ascii_digit())
        }
        // A program that fails, or a repository without a branch, prints nothing.
        HoleKind::Name => !word.starts_with('-') && !word.contains('/'),
        HoleKind::GitRef => !word.starts_with('-'),
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
        EffectKind::Write { target: Target::Known(place), change } => {
            let tree = matches!(change, Change::DeleteTree | Change::ModeTree | Change::Move);
            place.real == path
                || place.entry == path
                || (tree && is_below(path, &place.real))
                || is_made_from(&place.real, path)
        }
        EffectKind::Write { target: Target::Below { root, .. }, .. } => is_below(path, &root.real),
        EffectKind::Write { target: Target::Unknown { .. }, .. } => true,
        _ => false,
    })
}

/// `mktemp` puts other letters in place of the template's last `X`s.
fn is_made_from(template: &str, path: &str) -> bool {
    let head = template.trim_end_matches('X');
    template.len() >= head.len() + 3 && path.len() == template.len() && path.starts_with(head)
}
