//! A word after expansion, as far as it can be told before it runs.

use std::rc::Rc;

use crate::report::Span;
use crate::syntax::Cause;

/// One element of a program's argument list: known text with holes where a value is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arg {
    /// Text and holes, in order; no two texts stand side by side.
    pub parts: Vec<Part>,
    /// The word it came from.
    pub span: Span,
    /// The path pattern that made this word (or that stands here because nothing matched), as one
    /// text in which a backslash protects what was quoted.
    pub glob: Option<Rc<str>>,
}

/// A stretch of an [`Arg`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Known characters.
    Text(String),
    /// Unknown characters.
    Hole(Hole),
}

/// Characters that are not known, and what is known of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hole {
    /// What they can be.
    pub kind: HoleKind,
    /// Unquoted: the value may become no word, or several, each of this kind.
    pub splits: bool,
    /// It stands for the lines of some output: none, one, or several of this kind with newlines between.
    pub lines: bool,
}

/// What a hole can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoleKind {
    /// Exactly one of these texts.
    OneOf(Rc<Vec<String>>),
    /// Decimal digits, perhaps signed when arithmetic made it.
    Number,
    /// Letters, digits, `.`, `_`, `:` and `-`, not starting with `-` and without `/`: a date, a hash.
    Name,
    /// A name that git gives to a commit: never starts with `-`, may hold `/`.
    GitRef,
    /// A path at or below one of these places.
    Below(Rc<Vec<Below>>),
    /// Any characters at all.
    Any(Cause),
}

/// Paths at or below a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Below {
    /// The place, as the printed paths begin (`.`, `src`, `/home/dev`).
    pub root: String,
    /// A pattern that every last component matches; None for every path.
    pub name: Option<String>,
}

impl Arg {
    /// A word of known text.
    #[must_use]
    pub fn literal(text: impl Into<String>, span: Span) -> Self {
        Self { parts: vec![Part::Text(text.into())], span, glob: None }
    }

    /// A word of which nothing is known.
    #[must_use]
    pub fn any(cause: Cause, span: Span) -> Self {
        Self::hole(Hole { kind: HoleKind::Any(cause), splits: true, lines: false }, span)
    }

    /// A word that is one hole.
    #[must_use]
    pub fn hole(hole: Hole, span: Span) -> Self {
        Self { parts: vec![Part::Hole(hole)], span, glob: None }
    }

    /// The whole text, if it is known.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The bytes of its known text.
    #[must_use]
    pub fn length(&self) -> usize {
        self.parts.iter().map(|part| if let Part::Text(text) = part { text.len() } else { 1 }).sum()
    }

    /// Whether it may turn into no word at all, or into several.
    #[must_use]
    pub fn may_split(&self) -> bool {
        let one_word = |text: &String| !text.is_empty() && !text.contains([' ', '\t', '\n', '*', '?', '[']);
        self.parts.iter().any(|part| match part {
            Part::Hole(Hole { kind: HoleKind::OneOf(texts), splits, .. }) => {
                *splits && !texts.iter().all(one_word)
            }
            Part::Hole(hole) => hole.splits && !matches!(hole.kind, HoleKind::Number),
            Part::Text(_) => false,
        })
    }

    /// The known text at the start, up to the first hole.
    #[must_use]
    pub fn head(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Every text it can be, when that is a short list: no hole but `OneOf`, at most `limit` texts.
    #[must_use]
    pub fn alternatives(&self, limit: usize) -> Option<Vec<String>> {
        let mut found = vec![String::new()];
        for part in &self.parts {
            match part {
                Part::Text(text) => found.iter_mut().for_each(|each| each.push_str(text)),
                Part::Hole(Hole { kind: HoleKind::OneOf(values), .. }) => {
                    if found.len().saturating_mul(values.len()) > limit {
                        return None;
                    }
                    found = found
                        .iter()
                        .flat_map(|head| values.iter().map(move |value| format!("{head}{value}")))
                        .collect();
                }
                Part::Hole(_) => return None,
            }
        }
        Some(found)
    }

    /// Whether the word could begin with `-` (or be split into one that does) without saying so.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        let could = |hole: &Hole| match &hole.kind {
            HoleKind::OneOf(values) => values.iter().any(|value| value.starts_with('-')),
            HoleKind::Number | HoleKind::Any(_) => true,
            HoleKind::Below(places) => places.iter().any(|place| place.root.starts_with('-')),
            HoleKind::Name | HoleKind::GitRef => false,
        };
        // A first part that may be empty leaves the word to begin with what follows it.
        let dash = |part: Option<&Part>| matches!(part, Some(Part::Text(text)) if text.starts_with('-'));
        let starts =
            matches!(self.parts.first(), Some(Part::Hole(hole)) if could(hole) || dash(self.parts.get(1)));
        let later = self.parts.iter().skip(1).any(
            |part| matches!(part, Part::Hole(hole) if hole.splits && matches!(hole.kind, HoleKind::Any(_))),
        );
        starts || later
    }

    /// The rest after the first `count` bytes of [`Arg::head`]; `count` must not exceed its length.
    #[must_use]
    pub fn after(&self, count: usize) -> Self {
        let mut parts = self.parts.clone();
        if let Some(Part::Text(text)) = parts.first_mut() {
            text.drain(..count.min(text.len()));
            if text.is_empty() {
                parts.remove(0);
            }
        }
        Self { parts, span: self.span, glob: None }
    }

    /// Appends known text.
    pub fn push_text(&mut self, more: &str) {
        if more.is_empty() {
            return;
        }
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push_str(more),
            _ => self.parts.push(Part::Text(more.to_owned())),
        }
    }

    /// Appends a hole.
    pub fn push_hole(&mut self, hole: Hole) {
        self.parts.push(Part::Hole(hole));
    }

    /// For a person: known text as it is, each hole as `…`.
    #[must_use]
    pub fn display(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Hole(_) => "…",
            })
            .collect()
    }
}
