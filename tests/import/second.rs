//! What an agent says of a command, a path or a tool, read apart from gsh: each agent's file fills this in.

use super::typed::Typed;

/// What is said, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Says {
    Allow,
    Ask,
    Deny,
}

/// A test of a command, a path or a name.
type Test<T> = Box<dyn Fn(&T) -> bool>;

/// What a rule is about.
pub(crate) enum About {
    Commands(Test<Typed>),
    Reads(Test<str>),
    Writes(Test<str>),
    Tools(Test<str>),
    /// Nothing that can be decided here.
    Other,
}

/// One rule as the agent reads it.
pub(crate) struct Spoken {
    /// Which file of the set, and the line in it.
    pub(crate) at: (usize, usize),
    pub(crate) says: Says,
    pub(crate) about: About,
    /// It allows redirections as well, where the agent asks about them.
    pub(crate) redirects: bool,
    /// Words, paths or names that it matches.
    pub(crate) samples: Vec<Vec<String>>,
}

/// All rules of an agent's files; where the last one wins in the order of their weight.
pub(crate) struct Second {
    pub(crate) rules: Vec<Spoken>,
    pub(crate) strictest_wins: bool,
    /// Programs that it looks through, and variables before a command that it overlooks.
    pub(crate) looks_through: &'static [&'static str],
    pub(crate) overlooks: &'static [&'static str],
    /// It compares with what is typed, so a redirection counts for it.
    pub(crate) redirection_asks: bool,
    /// The rules that gsh says it did not carry.
    pub(crate) lost: Vec<usize>,
}

/// Which rules of a reading are asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Which {
    All,
    Only(usize),
    /// Those that were carried.
    Carried,
}

impl Second {
    fn settled<'a>(&self, matching: impl Iterator<Item = &'a Spoken>) -> Option<&'a Spoken> {
        if self.strictest_wins { matching.max_by_key(|rule| rule.says) } else { matching.last() }
    }

    pub(crate) fn of_command(&self, typed: &Typed, which: Which) -> Option<Says> {
        let of = |rule: &&Spoken| matches!(&rule.about, About::Commands(test) if test(typed));
        let rule = self.settled(self.picked(which).filter(of))?;
        let asks = self.redirection_asks && typed.redirection.is_some() && !rule.redirects;
        Some(if asks { rule.says.max(Says::Ask) } else { rule.says })
    }

    pub(crate) fn of_path(&self, path: &str, write: bool, which: Which) -> Option<Says> {
        self.settled(self.picked(which).filter(|rule| match &rule.about {
            About::Reads(test) => !write && test(path),
            About::Writes(test) => write && test(path),
            _ => false,
        }))
        .map(|rule| rule.says)
    }

    pub(crate) fn of_tool(&self, name: &str, which: Which) -> Option<Says> {
        self.settled(
            self.picked(which).filter(|rule| matches!(&rule.about, About::Tools(test) if test(name))),
        )
        .map(|rule| rule.says)
    }

    fn picked(&self, which: Which) -> impl Iterator<Item = &Spoken> {
        let counts = move |at: usize| match which {
            Which::All => true,
            Which::Only(only) => only == at,
            Which::Carried => !self.lost.contains(&at),
        };
        self.rules.iter().enumerate().filter(move |(at, _)| counts(*at)).map(|(_, rule)| rule)
    }

    /// Whether gsh sees the same command where the agent sees another text: it looks through what only passes
    /// a command on, overlooks variables that only carry data, calls a program of PATH by its name, and has the
    /// target of a redirection judged as a write.
    pub(crate) fn sees_less(&self, typed: &Typed) -> bool {
        let through = |name: &&str| !matches!(*name, "sudo" | "xargs") && !self.looks_through.contains(name);
        let data = |(name, _): &(&str, &str)| {
            matches!(*name, "NODE_ENV" | "LANG" | "FOO") && !self.overlooks.contains(name)
        };
        (self.redirection_asks && typed.redirection.is_some())
            || typed.wrapper.first().is_some_and(through)
            || typed.assignments.iter().any(data)
            || !typed.folder.is_empty()
    }
}

/// A piece of a wildcard pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wild {
    Is(char),
    One,
    Any,
}

/// Whether the whole text matches.
pub(crate) fn matches_wild(pattern: &[Wild], text: &str) -> bool {
    // Which places of the pattern can be reached with the text read so far.
    let step = |from: Vec<bool>| {
        let mut reached = from;
        for at in 0..pattern.len() {
            if reached[at] && pattern[at] == Wild::Any {
                reached[at + 1] = true;
            }
        }
        reached
    };
    let mut reached = vec![false; pattern.len() + 1];
    reached[0] = true;
    reached = step(reached);
    for c in text.chars() {
        let mut next = vec![false; pattern.len() + 1];
        for (at, piece) in pattern.iter().enumerate().filter(|(at, _)| reached[*at]) {
            match piece {
                Wild::Any => next[at] = true,
                Wild::One => next[at + 1] = true,
                Wild::Is(wanted) => next[at + 1] |= *wanted == c,
            }
        }
        reached = step(next);
    }
    reached[pattern.len()]
}

/// The texts that a pattern of an agent matches, as words: wildcards become words of some kind.
pub(crate) fn sampled(pattern: &str) -> Vec<Vec<String>> {
    ["x", "two", "main"]
        .iter()
        .map(|word| split(&pattern.replace("\\*", "STAR").replace('*', word).replace("STAR", "*")))
        .collect()
}

/// The words of a simple text with quotes.
pub(crate) fn split(text: &str) -> Vec<String> {
    let (mut words, mut word): (Vec<String>, Option<String>) = (vec![], None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|inner| *inner != c));
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Ignore patterns: whether one matches a path, or a folder above it.
pub(crate) fn ignored(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (["**"], rest) => !rest.is_empty(),
        (["**", after @ ..], rest) => (0..=rest.len()).any(|skip| ignored(after, &rest[skip..])),
        ([part, after @ ..], [name, rest @ ..]) => matches_wild(&part_of(part), name) && ignored(after, rest),
        (_, []) => false,
    }
}

/// A part of an ignore pattern; of a set of characters only small letters are used here.
fn part_of(part: &str) -> Vec<Wild> {
    let part = part.replace("[a-z]", "?");
    part.chars()
        .map(|c| match c {
            '*' => Wild::Any,
            '?' => Wild::One,
            c => Wild::Is(c),
        })
        .collect()
}

/// The parts of a path.
pub(crate) fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}
