//! The language of patterns: `*` is any run of characters, `/` included; `?` is one; a trailing ` *`
//! makes the arguments optional; everything else is itself. Anchored at both ends, case-sensitive.
//! `\*`, `\?` and `\\` are the plain characters.
//!
//! The pieces between the stars are looked for from left to right, each once, so a hostile subject
//! costs no backtracking over stars.

use std::borrow::Cow;

/// One compiled pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(Form);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// Nothing but stars and plain characters: matched as it is written, since most rules are never
    /// asked twice and taking a pattern apart costs more than matching it.
    Written(Box<str>),
    /// What stands between the stars; never empty.
    Pieces(Vec<Piece>),
}

/// What stands between two stars.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    /// Characters that stand for themselves.
    Literal(Box<str>),
    /// Characters and gaps of one character (`None`).
    Gapped(Vec<Option<char>>),
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// A character that stands for itself.
    Plain(char),
    /// Any one character.
    One,
    /// Any run of characters.
    Many,
}

impl Pattern {
    /// Reads a pattern; every text is one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(if is_spelled_out(text) { Form::Pieces(pieces(text)) } else { Form::Written(text.into()) })
    }

    /// Whether the whole subject matches.
    #[must_use]
    pub fn matches(&self, subject: &str) -> bool {
        match &self.0 {
            Form::Written(text) => matches_written(text, subject),
            Form::Pieces(pieces) => {
                matches_pieces(pieces, subject)
                    || without_tail(pieces).is_some_and(|pieces| matches_pieces(&pieces, subject))
            }
        }
    }

    /// The text it matches, if it has no wildcard.
    #[must_use]
    pub fn exact(&self) -> Option<&str> {
        match &self.0 {
            Form::Written(text) => Some(&**text).filter(|text| !text.contains('*')),
            Form::Pieces(pieces) => match pieces.as_slice() {
                [Piece::Literal(text)] => Some(text),
                _ => None,
            },
        }
    }

    /// The characters before its first wildcard.
    #[must_use]
    pub fn head(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Written(text) => text.split('*').next().unwrap_or_default().into(),
            Form::Pieces(pieces) => match pieces.first() {
                Some(Piece::Literal(text)) => (&**text).into(),
                Some(Piece::Gapped(chars)) => chars.iter().map_while(|c| *c).collect(),
                None => Cow::default(),
            },
        }
    }

    /// What it is made of, from left to right.
    #[must_use]
    pub fn tokens(&self) -> Vec<Token> {
        let plain = |text: &str| text.chars().map(Token::Plain).collect::<Vec<_>>();
        let pieces: Vec<Vec<Token>> = match &self.0 {
            Form::Written(text) => text.split('*').map(plain).collect(),
            Form::Pieces(pieces) => {
                let of = |piece: &Piece| match piece {
                    Piece::Literal(text) => plain(text),
                    Piece::Gapped(chars) => {
                        chars.iter().map(|c| c.map_or(Token::One, Token::Plain)).collect()
                    }
                };
                pieces.iter().map(of).collect()
            }
        };
        pieces.join(&Token::Many)
    }

    /// Runs of a few bytes that every subject it matches holds.
    #[must_use]
    pub fn grams(&self) -> Vec<Gram> {
        match &self.0 {
            // What the optional tail needs not every subject holds.
            Form::Written(text) => {
                text.strip_suffix(" *").unwrap_or(text).split('*').flat_map(grams).collect()
            }
            Form::Pieces(pieces) => {
                let pieces = without_tail(pieces).map_or(Cow::Borrowed(pieces), Cow::Owned);
                let literals = pieces.iter().filter_map(|piece| match piece {
                    Piece::Literal(text) => Some(grams(text).collect::<Vec<_>>()),
                    Piece::Gapped(_) => None,
                });
                literals.flatten().collect()
            }
        }
    }

    /// Whether it names nothing: only stars.
    #[must_use]
    pub fn is_bare(&self) -> bool {
        match &self.0 {
            Form::Written(text) => !text.is_empty() && text.bytes().all(|byte| byte == b'*'),
            Form::Pieces(_) => false,
        }
    }
}

/// A few bytes in a row.
pub type Gram = [u8; 4];

/// Every run of a few bytes in a text.
pub fn grams(text: &str) -> impl Iterator<Item = Gram> {
    text.as_bytes().windows(size_of::<Gram>()).filter_map(|window| window.try_into().ok())
}

/// Whether a pattern matches a subject, for one that is asked once.
#[must_use]
pub fn matches(pattern: &str, subject: &str) -> bool {
    if is_spelled_out(pattern) {
        Pattern::new(pattern).matches(subject)
    } else {
        matches_written(pattern, subject)
    }
}

/// Whether a pattern has more than stars and plain characters.
fn is_spelled_out(pattern: &str) -> bool {
    pattern.bytes().any(|byte| matches!(byte, b'?' | b'\\'))
}

fn matches_written(pattern: &str, subject: &str) -> bool {
    between_stars(pattern, subject)
        || pattern
            .strip_suffix(" *")
            .is_some_and(|before| !before.is_empty() && between_stars(before, subject))
}

fn between_stars(pattern: &str, subject: &str) -> bool {
    let Some((first, mut rest)) = pattern.split_once('*') else { return pattern == subject };
    let Some(mut left) = subject.strip_prefix(first) else { return false };
    while let Some((piece, more)) = rest.split_once('*') {
        match left.split_once(piece) {
            Some((_, after)) => (left, rest) = (after, more),
            None => return false,
        }
    }
    left.ends_with(rest)
}

/// The pieces of a pattern that ends in ` *` without that ending: what comes before it matches too.
fn without_tail(pieces: &[Piece]) -> Option<Vec<Piece>> {
    let [before @ .., last, end] = pieces else { return None };
    let last = last.without_space().filter(|last| !before.is_empty() || !last.is_empty())?;
    end.is_empty().then(|| before.iter().cloned().chain([last]).collect())
}

fn matches_pieces(pieces: &[Piece], subject: &str) -> bool {
    let [first, rest @ ..] = pieces else { return false };
    let Some(mut left) = first.strip_from_start(subject) else { return false };
    let Some((last, middle)) = rest.split_last() else { return left.is_empty() };
    for piece in middle {
        match piece.skip_past(left) {
            Some(after) => left = after,
            None => return false,
        }
    }
    last.ends(left)
}

/// The pieces of a pattern that has more than stars and plain characters.
fn pieces(text: &str) -> Vec<Piece> {
    let (mut pieces, mut piece) = (vec![], vec![]);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' => pieces.push(Piece::new(std::mem::take(&mut piece))),
            '?' => piece.push(None),
            '\\' => piece.push(Some(chars.next_if(|c| matches!(c, '*' | '?' | '\\')).unwrap_or('\\'))),
            c => piece.push(Some(c)),
        }
    }
    pieces.push(Piece::new(piece));
    pieces
}

impl Piece {
    fn new(chars: Vec<Option<char>>) -> Self {
        match chars.iter().copied().collect::<Option<String>>() {
            Some(text) => Self::Literal(text.into()),
            None => Self::Gapped(chars),
        }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Literal(text) if text.is_empty())
    }

    fn without_space(&self) -> Option<Self> {
        match self {
            Self::Literal(text) => text.strip_suffix(' ').map(|text| Self::Literal(text.into())),
            Self::Gapped(chars) => match chars.split_last() {
                Some((Some(' '), before)) => Some(Self::new(before.to_vec())),
                _ => None,
            },
        }
    }

    fn strip_from_start<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Literal(piece) => text.strip_prefix(&**piece),
            Self::Gapped(piece) => {
                let mut chars = text.chars();
                let all = piece.iter().all(|want| chars.next().is_some_and(|c| want.is_none_or(|w| w == c)));
                all.then_some(chars.as_str())
            }
        }
    }

    /// What follows its leftmost occurrence.
    fn skip_past<'t>(&self, text: &'t str) -> Option<&'t str> {
        match self {
            Self::Literal(piece) => text.find(&**piece).and_then(|at| text.get(at + piece.len()..)),
            Self::Gapped(_) => {
                let starts = text.char_indices().map(|(at, _)| at);
                starts.filter_map(|at| text.get(at..)).find_map(|tail| self.strip_from_start(tail))
            }
        }
    }

    fn ends(&self, text: &str) -> bool {
        match self {
            Self::Literal(piece) => text.ends_with(&**piece),
            Self::Gapped(piece) => {
                let mut chars = text.chars();
                piece.iter().rev().all(|want| chars.next_back().is_some_and(|c| want.is_none_or(|w| w == c)))
            }
        }
    }
}

/// The pattern that matches exactly this text.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn matching() {
        for (pattern, yes, no) in [
            (
                "git status",
                &["git status"][..],
                &["git status -s", "git statu", "Git status", " git status"][..],
            ),
            ("git status *", &["git status", "git status -s", "git status "], &["git statuses", "git"]),
            ("ls *", &["ls", "ls -l"], &["lsof", "lsof -i"]),
            ("ls*", &["ls", "lsof -i"], &["l"]),
            ("*", &["", "a", "a/b c"], &[]),
            ("**", &["", "a"], &[]),
            ("?", &["a", "ä"], &["", "ab"]),
            ("a?c*", &["abc", "aäcd"], &["ac", "a"]),
            ("*.env", &["/p/.env", "x.env"], &["/p/.env.local"]),
            ("*/.ssh/*", &["/home/u/.ssh/id"], &["/home/u/.ssh"]),
            ("curl * | sh", &["curl a | sh", "curl -s a b | sh"], &["curl | sh", "curl a | sh x"]),
            ("a*b*a", &["aba", "axbya"], &["ab", "aa"]),
            ("a*a", &["aa", "axa"], &["a"]),
            ("ab*ba", &["abba"], &["aba"]),
            ("*?b", &["ab", "xab"], &["b"]),
            ("*a?c*", &["xabcx", "aaabc"], &["xacx"]),
            (r"a\*", &["a*"], &["ab", r"a\*"]),
            (r"a\?\\", &[r"a?\"], &["ab"]),
            (r"a\b", &[r"a\b"], &["ab"]),
            ("", &[""], &["a"]),
            (" *", &[" ", " x"], &[""]),
            ("npm * *", &["npm x", "npm x y"], &["npm"]),
            ("x ? *", &["x y", "x y z"], &["x", "x yy"]),
        ] {
            let compiled = Pattern::new(pattern);
            for subject in yes {
                assert!(compiled.matches(subject), "{pattern:?} should match {subject:?}");
            }
            for subject in no {
                assert!(!compiled.matches(subject), "{pattern:?} should not match {subject:?}");
            }
        }
    }

    #[test]
    fn heads() {
        for (pattern, head, exact, bare) in [
            ("git push *", "git push ", None, false),
            ("a?c", "a", None, false),
            ("*", "", None, true),
            ("**", "", None, true),
            ("*a", "", None, false),
            ("", "", Some(""), false),
            (r"a\*b", "a*b", Some("a*b"), false),
        ] {
            let compiled = Pattern::new(pattern);
            assert_eq!(compiled.head(), head, "{pattern:?}");
            assert_eq!(compiled.exact(), exact, "{pattern:?}");
            assert_eq!(compiled.is_bare(), bare, "{pattern:?}");
        }
    }

    /// The language as its definition reads, at whatever cost.
    fn slow(pattern: &[char], subject: &[char]) -> bool {
        match pattern {
            [] => subject.is_empty(),
            ['*', rest @ ..] => (0..=subject.len()).any(|at| slow(rest, &subject[at..])),
            ['?', rest @ ..] => !subject.is_empty() && slow(rest, &subject[1..]),
            [c, rest @ ..] => subject.first() == Some(c) && slow(rest, &subject[1..]),
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(pattern in "[ab?*/]{0,8}", subject in "[ab/]{0,10}") {
            let letters = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(Pattern::new(&pattern).matches(&subject), slow(&letters(&pattern), &letters(&subject)));
        }

        #[test]
        fn every_subject_holds_its_grams(pattern in "[ab *?\\\\]{0,12}", subject in "[ab ?*\\\\]{0,12}") {
            let pattern = Pattern::new(&pattern);
            let held = grams(&subject).collect::<Vec<_>>();
            prop_assert!(!pattern.matches(&subject) || pattern.grams().iter().all(|gram| held.contains(gram)));
        }

        #[test]
        fn written_and_taken_apart_are_one(pattern in "[ab */]{0,8}", subject in "[ab /]{0,10}") {
            let (written, apart) = (Pattern::new(&pattern), Pattern(Form::Pieces(pieces(&pattern))));
            prop_assert_eq!(written.matches(&subject), apart.matches(&subject));
            prop_assert_eq!(written.exact(), apart.exact());
            prop_assert_eq!(written.head(), apart.head());
        }

        #[test]
        fn an_escaped_text_matches_itself_alone(text in "[ab*?\\\\ ]{0,8}", other in "[ab*?\\\\ ]{0,8}") {
            let pattern = Pattern::new(&escape(&text));
            prop_assert!(pattern.matches(&text));
            prop_assert_eq!(pattern.matches(&other), text == other);
            prop_assert_eq!(pattern.exact(), Some(text.as_str()));
        }
    }
}
