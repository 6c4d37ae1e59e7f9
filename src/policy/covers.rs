//! Whether one pattern matches whatever another does.
//!
//! The pattern that is to match more is run as an automaton over all that the other matches at once: from
//! each place in the other one it is known at which places this one can be. It is exact; only where that
//! would take too long is the answer no.

use std::collections::{BTreeSet, HashSet};

use super::pattern::{Pattern, Token};

/// How many places are looked at before the answer is no.
const MOST: usize = 4096;

/// A character that stands in none of the patterns that are compared, in a sample.
const FRESH: char = '\u{1}';

impl Pattern {
    /// Whether it matches every subject that the other matches.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        if let Some(text) = other.exact() {
            return self.matches(text);
        }
        // Almost every pair ends here.
        if !self.matches(&other.sample()) {
            return false;
        }
        let automaton = Automaton::new(self);
        readings(other).iter().all(|tokens| automaton.takes_all(tokens))
    }

    /// A subject that it matches, with a character for each wildcard that stands in no pattern.
    #[must_use]
    pub fn sample(&self) -> String {
        let of = |token: &Token| match token {
            Token::Plain(c) => *c,
            Token::One | Token::Many => FRESH,
        };
        self.tokens().iter().map(of).collect()
    }
}

/// A pattern as it is written, and without the tail that is optional.
fn readings(pattern: &Pattern) -> Vec<Vec<Token>> {
    let tokens = pattern.tokens();
    let without = match tokens.as_slice() {
        [before @ .., Token::Plain(' '), Token::Many] if !before.is_empty() => Some(before.to_vec()),
        _ => None,
    };
    [tokens].into_iter().chain(without).collect()
}

/// A pattern that runs over subjects. A place is before a token, or behind the last.
struct Automaton {
    /// The readings one behind the other, each with None at its end.
    tokens: Vec<Option<Token>>,
    starts: Vec<usize>,
    /// The characters that it tells apart; None for any other.
    alphabet: Vec<Option<char>>,
}

/// Where an automaton can be.
type Places = BTreeSet<usize>;

impl Automaton {
    fn new(pattern: &Pattern) -> Self {
        let (mut tokens, mut starts) = (vec![], vec![]);
        for reading in readings(pattern) {
            starts.push(tokens.len());
            tokens.extend(reading.into_iter().map(Some));
            tokens.push(None);
        }
        let plain = tokens.iter().filter_map(|token| match token {
            Some(Token::Plain(c)) => Some(Some(*c)),
            _ => None,
        });
        let alphabet: BTreeSet<Option<char>> = plain.chain([None]).collect();
        Self { tokens, starts, alphabet: alphabet.into_iter().collect() }
    }

    /// Whether it matches everything that the tokens match.
    fn takes_all(&self, tokens: &[Token]) -> bool {
        let start = self.closed(self.starts.iter().copied());
        let mut waiting = vec![(0, start.clone())];
        let mut known = HashSet::from([(0, start)]);
        while let Some((at, places)) = waiting.pop() {
            // Whatever stands before, something can follow that ends the other pattern.
            if places.is_empty() || known.len() > MOST {
                return false;
            }
            let next: Vec<(usize, Places)> = match tokens.get(at) {
                None if places.iter().any(|place| self.tokens.get(*place) == Some(&None)) => continue,
                None => return false,
                Some(Token::Plain(c)) => vec![(at + 1, self.after(&places, Some(*c)))],
                Some(Token::One) => self.each(at + 1, &places).collect(),
                Some(Token::Many) => self.each(at, &places).chain([(at + 1, places.clone())]).collect(),
            };
            for next in next {
                if known.insert(next.clone()) {
                    waiting.push(next);
                }
            }
        }
        true
    }

    /// Where it can be after any one character.
    fn each<'a>(&'a self, at: usize, places: &'a Places) -> impl Iterator<Item = (usize, Places)> + 'a {
        self.alphabet.iter().map(move |c| (at, self.after(places, *c)))
    }

    /// Where it can be after a character; None is one that it has no name for.
    fn after(&self, places: &Places, c: Option<char>) -> Places {
        let moved = places.iter().filter_map(|place| match self.tokens.get(*place)?.as_ref()? {
            Token::Plain(own) => (Some(*own) == c).then_some(place + 1),
            Token::One => Some(place + 1),
            Token::Many => Some(*place),
        });
        self.closed(moved)
    }

    /// With the places behind stars, which can match nothing.
    fn closed(&self, places: impl Iterator<Item = usize>) -> Places {
        let mut closed = Places::new();
        for mut place in places {
            while closed.insert(place) && self.tokens.get(place) == Some(&Some(Token::Many)) {
                place += 1;
            }
        }
        closed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn pairs() {
        for (wide, narrow, expected) in [
            ("*", "git push *", true),
            ("*", "", true),
            ("**", "*", true),
            ("git *", "git push *", true),
            ("git *", "git", true),
            ("git *", "git *", true),
            ("git *", "git*", false),
            ("git*", "git *", true),
            ("git push *", "git *", false),
            ("git push", "git push *", false),
            ("git push*", "git push --force *", true),
            ("* --force *", "git push --force *", true),
            ("* --force", "git push --force", true),
            ("* --force", "git push --force *", false),
            ("npm run *", "npm run build", true),
            ("npm run *", "npm run build *", true),
            ("npm r?n *", "npm run *", true),
            ("npm run *", "npm r?n *", false),
            ("curl * | *sh", "curl * | sh", true),
            ("curl * | sh", "curl * | *sh", false),
            ("?*", "*", false),
            ("?*", "a*", true),
            ("*?", "?*", true),
            ("*a*b*", "*b*a*b", true),
            ("*a*b*", "*b*a*", false),
            ("/srv/*", "/srv/a/*", true),
            ("/srv/*", "/srv", false),
            ("*.env", "/home/u/*.env", true),
            ("*/.ssh/*", "/home/u/.ssh/*", true),
            (r"a\*", "a*", false),
            ("a*", r"a\*", true),
            (r"a\*", r"a\*", true),
            ("ls *", "ls -la ?", true),
            ("ls ?", "ls *", false),
            ("x * *", "x *", false),
            ("x *", "x * *", true),
        ] {
            let found = Pattern::new(wide).covers(&Pattern::new(narrow));
            assert_eq!(found, expected, "{wide:?} over {narrow:?}");
        }
    }

    #[test]
    fn what_would_take_too_long_is_not_covered_and_ends() {
        let wide = "*a".to_owned() + &"?".repeat(40) + "b*";
        assert!(!Pattern::new(&wide).covers(&Pattern::new("*a*a?*b*")));
    }

    proptest! {
        #[test]
        fn what_it_covers_it_matches(
            wide in "[ab ?*\\\\]{0,7}", narrow in "[ab ?*\\\\]{0,7}", subjects in prop::collection::vec("[abc ?*\\\\]{0,8}", 24)
        ) {
            let (wide, narrow) = (Pattern::new(&wide), Pattern::new(&narrow));
            let escape = subjects.into_iter().find(|subject| narrow.matches(subject) && !wide.matches(subject));
            prop_assert!(!(wide.covers(&narrow) && escape.is_some()), "{:?}", escape);
        }

        /// Where it is not covered, a short subject shows it.
        #[test]
        fn what_it_does_not_cover_something_shows(wide in "[a ?*]{0,4}", narrow in "[a ?*]{0,4}") {
            let (wide, narrow) = (Pattern::new(&wide), Pattern::new(&narrow));
            let mut texts = vec![String::new()];
            for length in 0..7 {
                let longer = texts.iter().filter(|text| text.len() == length);
                let longer: Vec<_> = longer.flat_map(|text| ["a", " ", "x"].map(|c| format!("{text}{c}"))).collect();
                texts.extend(longer);
            }
            let shown = texts.iter().any(|subject| narrow.matches(subject) && !wide.matches(subject));
            prop_assert_eq!(wide.covers(&narrow), !shown);
        }

        #[test]
        fn a_sample_is_matched(pattern in "[ab ?*\\\\]{0,8}") {
            let pattern = Pattern::new(&pattern);
            prop_assert!(pattern.matches(&pattern.sample()));
        }
    }
}
