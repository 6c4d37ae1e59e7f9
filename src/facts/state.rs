//! What the running shell would know: variables, functions, the directory, what flows in pipes.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::arg::{Arg, Hole, HoleKind, Part};
use super::survey::{Manner, Told};
use crate::report::Span;
use crate::syntax::{Cause, Command};

/// The most texts one value is followed through.
const FOLLOWED: usize = 16;

/// A shell's state at one point of a script.
#[derive(Debug, Clone, Default)]
pub(super) struct State {
    /// The directory, when it is known.
    pub cwd: Option<String>,
    /// The directory is one that is not there now: the shell is in it only if entering it succeeded.
    pub tentative: bool,
    /// Variables that the script set or unset.
    pub vars: BTreeMap<String, Value>,
    /// Variables that stand for other ones (`declare -n`), with their names.
    pub references: BTreeMap<String, String>,
    /// Words that a line's first word may stand for (`alias`).
    pub aliases: BTreeMap<String, String>,
    /// The same where this shell replaces them: an interactive one, which said so itself.
    pub expands: Rc<BTreeMap<String, String>>,
    /// How it said that it reads.
    pub manner: Rc<Manner>,
    /// Something ran that may have changed the shell in ways that are not followed here.
    pub strays: bool,
    /// The same for git's subcommands (`git config alias.NAME`).
    pub git_aliases: BTreeMap<String, String>,
    /// Links that the text made: their places and what they lead to.
    pub links: BTreeMap<String, String>,
    /// Those of them that programs started from here see.
    pub exported: BTreeSet<String>,
    /// Variables that may not be assigned any more.
    pub readonly: BTreeSet<String>,
    /// Functions.
    pub functions: BTreeMap<String, Function>,
    /// `$1` and on; None when they cannot be told.
    pub positional: Option<Vec<Arg>>,
    /// Something ran that may have changed what [`crate::host::Host`] would answer.
    pub disturbed: bool,
    /// Something ran that may have changed where paths lead (links, moved folders).
    pub relinked: bool,
    /// Variables of which nothing is written here may have been set in between.
    pub forgets: bool,
    /// Something ran that could do anything. Whoever allowed it allowed it to read; what is written or
    /// destroyed after it may still land elsewhere than it seems.
    pub opaque: bool,
    /// Something was deleted, so that a folder to enter may be gone.
    pub removed: bool,
    /// The shell has another standard input, and reads the rest of a script that was on it there.
    pub elsewhere: Option<Elsewhere>,
    /// What the text itself wrote into files last.
    pub written: BTreeMap<String, Arg>,
    /// What the paths that process substitutions made hold.
    pub pipes: BTreeMap<String, Stream>,
}

/// Where a shell reads the rest of its script, once that is no more where it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Elsewhere {
    /// There is no rest: `exec </dev/null`.
    Nowhere,
    /// In a file or a descriptor that nobody has looked at.
    Unread,
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// One text.
    Text(Arg),
    /// The elements of an array.
    Array(Vec<Arg>),
    /// Unset.
    Unset,
}

/// A function's body.
#[derive(Debug, Clone)]
pub(super) enum Function {
    /// The one it has here.
    Known(Rc<Command>),
    /// It is this one, or none is defined and the name is a program's.
    Maybe(Rc<Command>),
    /// The one that the shell says it has.
    Told(Rc<Told>),
    /// It depends on what ran before.
    Ambiguous,
}

/// What is known of the bytes that flow into a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Stream {
    /// Anything.
    #[default]
    Any,
    /// Anything, and it came from the network.
    Download,
    /// This text.
    Text(Arg),
    /// Lines, each of this kind.
    Lines(HoleKind),
}

impl Stream {
    /// What copying it, or looking through it, costs in characters.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(arg) => 1 + arg.length(),
            Self::Lines(HoleKind::OneOf(lines)) => 1 + lines.len(),
            _ => 1,
        }
    }

    /// The parts of a word that `$(…)` makes of the stream.
    pub(super) fn parts(&self, quoted: bool) -> Vec<Part> {
        let hole = |kind| vec![Part::Hole(Hole { kind, splits: !quoted, lines: true })];
        match self {
            Self::Any | Self::Download => hole(HoleKind::Any(Cause::DynamicWord)),
            Self::Lines(kind) => hole(kind.clone()),
            Self::Text(arg) => {
                let mut parts = arg.parts.clone();
                if let Some(Part::Text(text)) = parts.last_mut() {
                    text.truncate(text.trim_end_matches('\n').len());
                }
                parts.retain(|part| !matches!(part, Part::Text(text) if text.is_empty()));
                parts
            }
        }
    }

    /// The stream after a program passed on some of its lines.
    pub(super) fn some_lines(&self) -> Self {
        match self {
            Self::Text(arg) => arg.text().map_or(Self::Any, |text| {
                let lines: Vec<String> = text.lines().map(str::to_owned).collect();
                Self::Lines(HoleKind::OneOf(Rc::new(lines)))
            }),
            other => other.clone(),
        }
    }

    /// What `read NAME` puts into its variable.
    pub(super) fn line(&self, span: Span) -> Arg {
        match self.some_lines() {
            Self::Lines(HoleKind::OneOf(lines)) if lines.is_empty() => Arg::literal("", span),
            Self::Lines(kind) => Arg::hole(Hole { kind, splits: true, lines: false }, span),
            _ => Arg::any(Cause::DynamicWord, span),
        }
    }
}

impl Value {
    /// What copying it costs, in entries.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text(arg) => 1 + arg.length() / 64,
            Self::Array(list) => 1 + list.len(),
            Self::Unset => 1,
        }
    }
}

impl State {
    /// How many entries a copy of it has, long texts counted as several.
    pub(super) fn size(&self) -> usize {
        let values: usize = self.vars.values().map(Value::size).sum();
        let written: usize = self.written.values().map(|text| 1 + text.length() / 64).sum();
        let names = self.exported.len() + self.readonly.len() + self.functions.len() + self.pipes.len();
        1 + values + written + names + self.positional.as_ref().map_or(0, Vec::len)
    }

    /// The variable that a name stands for, through references.
    pub(super) fn referred<'a>(&'a self, name: &'a str) -> &'a str {
        let mut name = name;
        // References may lead in a circle.
        for _ in 0..self.references.len().min(8) {
            match self.references.get(name) {
                Some(other) => name = other,
                None => break,
            }
        }
        name
    }

    /// What splits fields here, where it is not blanks.
    pub(super) fn separators(&self) -> Option<&str> {
        match self.vars.get("IFS") {
            Some(Value::Text(arg)) => arg.text(),
            _ => None,
        }
    }

    /// Forgets a directory that may not have been entered.
    pub(super) fn settle(&mut self) {
        if std::mem::take(&mut self.tentative) {
            self.cwd = None;
        }
    }

    /// Something of which not everything is known ran.
    pub(super) fn disturb(&mut self) {
        self.disturbed = true;
        self.opaque = true;
        self.removed = true;
    }

    /// What holds after a part that may or may not have run; `self` is the state without it.
    pub(super) fn join(&mut self, other: &Self) {
        if self.cwd != other.cwd || self.tentative || other.tentative {
            self.cwd = None;
            self.tentative = false;
        }
        self.disturbed |= other.disturbed;
        self.relinked |= other.relinked;
        self.opaque |= other.opaque;
        self.strays |= other.strays;
        self.removed |= other.removed;
        self.elsewhere = self.elsewhere.and_then(|own| other.elsewhere.map(|its| own.max(its)));
        self.references.extend(copies(&other.references));
        self.aliases.extend(copies(&other.aliases));
        self.git_aliases.extend(copies(&other.git_aliases));
        self.links.extend(copies(&other.links));
        self.exported.extend(other.exported.iter().cloned());
        self.readonly.extend(other.readonly.iter().cloned());
        if self.positional != other.positional {
            self.positional = None;
        }
        let names: BTreeSet<String> = self.vars.keys().chain(other.vars.keys()).cloned().collect();
        for name in names {
            let (left, right) = (self.vars.get(&name), other.vars.get(&name));
            if left == right {
                continue;
            }
            let joined = match (left, right) {
                (Some(Value::Text(left)), Some(Value::Text(right))) => Value::Text(either(left, right)),
                _ => Value::Text(unknown()),
            };
            self.vars.insert(name, joined);
        }
        for (name, function) in &other.functions {
            let joined = match (self.functions.get(name), function) {
                (Some(Function::Known(left)), Function::Known(right)) if Rc::ptr_eq(left, right) => continue,
                (Some(Function::Told(left)), Function::Told(right)) if Rc::ptr_eq(left, right) => continue,
                (None, Function::Known(body) | Function::Maybe(body)) => Function::Maybe(Rc::clone(body)),
                (Some(Function::Maybe(left)), Function::Known(right) | Function::Maybe(right))
                    if Rc::ptr_eq(left, right) =>
                {
                    continue;
                }
                _ => Function::Ambiguous,
            };
            self.functions.insert(name.clone(), joined);
        }
        self.pipes.extend(other.pipes.iter().map(|(path, stream)| (path.clone(), stream.clone())));
    }

    /// Makes it the state before any round of a loop of which one round ends as `other`, and says whether that
    /// is another one. Each round gives these variables new values.
    pub(super) fn widen(&mut self, other: &Self, own: &[String]) -> bool {
        let machine = |state: &Self| (state.disturbed, state.relinked, state.opaque, state.removed);
        let names: BTreeSet<String> = self.vars.keys().chain(other.vars.keys()).cloned().collect();
        let vague = |value: Option<&Value>, now: Option<&Value>| match value {
            Some(Value::Text(old)) => {
                *old == unknown() || number(old) && matches!(now, Some(Value::Text(new)) if number(new))
            }
            _ => false,
        };
        let changed: Vec<String> = names
            .into_iter()
            .filter(|name| {
                let (old, new) = (self.vars.get(name), other.vars.get(name));
                old != new && !vague(old, new) && !own.contains(name)
            })
            .collect();
        let same = |name: &String, function: &Function| match (self.functions.get(name), function) {
            (Some(Function::Known(left)), Function::Known(right))
            | (Some(Function::Maybe(left)), Function::Maybe(right)) => Rc::ptr_eq(left, right),
            (Some(Function::Told(left)), Function::Told(right)) => Rc::ptr_eq(left, right),
            (left, Function::Ambiguous) => matches!(left, Some(Function::Ambiguous)),
            (left, _) => matches!(left, Some(Function::Ambiguous)),
        };
        let redefined: Vec<String> = other
            .functions
            .iter()
            .filter(|(name, body)| !same(name, body))
            .map(|(name, _)| name.clone())
            .collect();
        let moved = self.cwd.is_some() && self.cwd != other.cwd;
        let shifted = self.positional.is_some() && self.positional != other.positional;
        let more = machine(self) != machine(other)
            || moved
            || shifted
            || !changed.is_empty()
            || !redefined.is_empty();
        self.join(other);
        for name in changed {
            self.vars.insert(name, Value::Text(unknown()));
        }
        for name in redefined {
            self.functions.insert(name, Function::Ambiguous);
        }
        more
    }

    /// The state at some later, unknown moment of this shell (`trap`): nothing that can be assigned or
    /// entered until then is known.
    pub(super) fn later(&self) -> Self {
        let vars = self.vars.keys().map(|name| (name.clone(), Value::Text(unknown()))).collect();
        Self {
            cwd: None,
            vars,
            positional: None,
            disturbed: true,
            relinked: true,
            forgets: true,
            ..self.clone()
        }
    }

    /// What happened on the machine happened, whatever becomes of the shell that did it.
    pub(super) fn machine_of(&mut self, other: &Self) {
        self.disturbed |= other.disturbed;
        self.relinked |= other.relinked;
        self.opaque |= other.opaque;
        self.removed |= other.removed;
        self.git_aliases.extend(copies(&other.git_aliases));
        self.links.extend(copies(&other.links));
        self.written.extend(other.written.iter().map(|(path, text)| (path.clone(), text.clone())));
    }

    /// The state of a shell started as a program: only exported variables, no functions.
    pub(super) fn for_child(&self, positional: Vec<Arg>) -> Self {
        let vars = self.vars.iter().filter(|(name, _)| self.exported.contains(*name));
        Self {
            cwd: self.cwd.clone(),
            tentative: self.tentative,
            vars: vars.map(|(name, value)| (name.clone(), value.clone())).collect(),
            references: BTreeMap::new(),
            aliases: BTreeMap::new(),
            expands: Rc::default(),
            manner: Rc::default(),
            strays: false,
            git_aliases: self.git_aliases.clone(),
            links: self.links.clone(),
            exported: self.exported.clone(),
            readonly: BTreeSet::new(),
            functions: BTreeMap::new(),
            positional: Some(positional),
            disturbed: self.disturbed,
            relinked: self.relinked,
            opaque: self.opaque,
            removed: self.removed,
            elsewhere: None,
            written: self.written.clone(),
            forgets: self.forgets,
            pipes: self.pipes.clone(),
        }
    }
}

fn copies(map: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    map.iter().map(|(key, value)| (key.clone(), value.clone()))
}

/// A text of which nothing is known.
pub(super) fn unknown() -> Arg {
    Arg::any(Cause::DynamicWord, Span::default())
}

/// One of two texts.
pub(super) fn either(left: &Arg, right: &Arg) -> Arg {
    if number(left) && number(right) {
        return Arg::hole(Hole { kind: HoleKind::Number, splits: true, lines: false }, right.span);
    }
    let (Some(mut texts), Some(more)) = (left.alternatives(FOLLOWED), right.alternatives(FOLLOWED)) else {
        return unknown();
    };
    texts.extend(more);
    texts.sort();
    texts.dedup();
    if texts.len() > FOLLOWED {
        return unknown();
    }
    Arg::hole(Hole { kind: HoleKind::OneOf(Rc::new(texts)), splits: true, lines: false }, right.span)
}

fn number(arg: &Arg) -> bool {
    arg.text().is_some_and(is_number)
        || matches!(arg.parts.as_slice(), [Part::Hole(Hole { kind: HoleKind::Number, .. })])
}

/// Decimal digits, perhaps with a sign.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
