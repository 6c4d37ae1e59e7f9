//! Scripts from a grammar: what bash can be told, in two manners. Every command has a marker of its
//! own (`m1`, `m2` …), so that a program that was started can be held against what the facts list.

mod around;
mod constructs;

use std::collections::BTreeSet;

/// How scripts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As coding agents write them.
    Everyday,
    /// As nobody does who means well.
    Nasty,
}

/// A script and the constructs it holds.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    /// The script.
    pub(crate) text: String,
    /// The constructs.
    pub(crate) rows: BTreeSet<&'static str>,
    /// Constructs that were put inside of others, the inner first.
    pub(crate) pairs: BTreeSet<(&'static str, &'static str)>,
}

/// Numbers by xorshift: the same seed, the same scripts.
#[derive(Debug, Clone)]
pub(crate) struct Numbers(u64);

impl Numbers {
    /// From a seed.
    pub(crate) fn new(seed: u64) -> Self {
        // A well mixed start, never zero.
        Self((seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1)
    }

    /// Below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let high = usize::try_from(self.0 >> 33).unwrap_or(0);
        high % bound.max(1)
    }

    /// One of some.
    pub(crate) fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

/// Makes the script of a seed.
pub(crate) fn sample(seed: u64, manner: Manner) -> Sample {
    let mut maker =
        Maker { numbers: Numbers::new(seed), manner, markers: 0, names: 0, rows: BTreeSet::new() };
    let count = 1 + maker.numbers.below(2);
    let depth = 1 + maker.numbers.below(3);
    let text = maker.statements(count, depth);
    Sample { text, rows: maker.rows, pairs: BTreeSet::new() }
}

/// Makes one script.
struct Maker {
    numbers: Numbers,
    manner: Manner,
    markers: usize,
    names: usize,
    rows: BTreeSet<&'static str>,
}

/// Programs whose operands are free.
const PROGRAMS: &[&str] = &[
    "ls",
    "cat",
    "head -5",
    "tail -n 3",
    "wc -l",
    "grep x",
    "du -sh",
    "stat",
    "sort",
    "file",
    "ls -la",
    "diff a.txt",
    "grep -rn x",
    "rg y",
    "find",
];

/// Programs that change what they are given.
const CHANGERS: &[&str] = &[
    "rm",
    "rm -f",
    "touch",
    "mkdir -p",
    "git add",
    "git diff --",
    "rm -rf",
    "chmod 644",
    "git log -1 --",
    "cp a.txt",
];

/// Programs that are given what another prints.
const FILTERS: &[&str] = &[
    "cat",
    "head -1",
    "sort",
    "wc -l",
    "tail -1",
    "grep m",
    "uniq",
    "tr a b",
    "sed s/a/b/",
    "cut -c1-3",
    "nl",
];

impl Maker {
    fn chance(&mut self, percent: usize) -> bool {
        self.numbers.below(100) < percent
    }

    fn nasty(&mut self, percent: usize) -> bool {
        self.manner == Manner::Nasty && self.chance(percent)
    }

    fn row(&mut self, name: &'static str) {
        self.rows.insert(name);
    }

    fn marker(&mut self) -> String {
        self.markers += 1;
        format!("m{}", self.markers)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    /// Statements, each closed by `;`, `&` or a newline.
    fn statements(&mut self, count: usize, depth: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            let statement = self.command(depth);
            text.push_str(&statement);
            if statement.ends_with('\n') {
                continue;
            }
            let end = match self.numbers.below(if self.manner == Manner::Nasty { 12 } else { 8 }) {
                0..=3 => "; ",
                4..=6 => "\n",
                7 => " &\n",
                8 => " & ",
                9 => ";\n\n",
                10 => " # it's $(ls no) `ls no` \\\n",
                _ => "\n# note \" ' ( {\n",
            };
            if end.contains('&') {
                self.row("background");
            }
            text.push_str(end);
        }
        text
    }

    fn body(&mut self, depth: usize) -> String {
        let count = 1 + self.numbers.below(2);
        self.statements(count, depth)
    }

    fn command(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.simple(0);
        }
        let inner = depth - 1;
        let everyday = self.manner == Manner::Everyday;
        match self.numbers.below(if everyday { 30 } else { 50 }) {
            0..=7 => self.simple(inner),
            8..=10 => self.list(inner),
            11..=13 => self.pipeline(inner),
            14 | 15 => self.redirected(inner),
            16 | 17 => self.wrapped(inner),
            18 => self.conditional(inner),
            19 | 20 => self.looped(inner),
            21 => self.case(inner),
            22 => self.grouped(inner),
            23 | 24 => self.here_document(inner),
            25 => self.moved(inner),
            26 => self.assigned(inner),
            27 => self.function(inner),
            28 | 29 => self.inner_shell(inner),
            30..=32 => self.inner_shell(inner),
            33 | 34 => self.function(inner),
            35 => self.hidden(inner),
            36 => self.shell_state(inner),
            37 => self.looped(inner),
            38 => self.assigned(inner),
            39 => self.here_document(inner),
            40 => self.odd(inner),
            41 => self.odd(inner),
            42 => self.wrapped(inner),
            43 => self.hidden(inner),
            44 | 45 => self.working(),
            _ => self.stateful(),
        }
    }

    /// A program, its marker, and a few words.
    fn simple(&mut self, depth: usize) -> String {
        self.row("simple");
        let everyday = self.manner == Manner::Everyday;
        // In everyday scripts a value that is only known later is mostly printed.
        let prints = everyday && self.chance(20);
        let changes = !prints && self.chance(if everyday { 9 } else { 30 });
        let mut text = (*self.numbers.pick(if changes { CHANGERS } else { PROGRAMS })).to_owned();
        if prints {
            "echo".clone_into(&mut text);
        }
        if self.nasty(15) {
            text = match self.numbers.below(5) {
                0 => format!("\\{text}"),
                1 => format!("/usr/bin/{text}"),
                2 => format!("command {text}"),
                3 => format!("'{}'{}", &text[..1], &text[1..]),
                _ => format!("\"{}\"$''{}", &text[..1], &text[1..]),
            };
            self.row("disguised name");
        }
        let marker = self.marker();
        text.push(' ');
        text.push_str(&marker);
        for _ in 0..self.numbers.below(3) {
            let word = if changes || self.chance(40) {
                self.marker()
            } else {
                self.word(depth, !everyday || prints)
            };
            text.push_str(if self.nasty(6) { " \\\n  " } else { " " });
            text.push_str(&word);
        }
        text
    }

    fn word(&mut self, depth: usize, dynamic: bool) -> String {
        let marker = self.marker();
        let all = match self.manner {
            Manner::Nasty => 34,
            Manner::Everyday if dynamic => 21,
            Manner::Everyday => 15,
        };
        let choice = self.numbers.below(all);
        if depth == 0 && matches!(choice, 16..=20 | 25..=27) {
            return marker;
        }
        let inner = depth.saturating_sub(1);
        let (row, text) = match choice {
            0..=4 => ("plain word", marker),
            5 | 6 => {
                ("file", self.one_of("a.txt b.txt src src/main.rs README.md /tmp/old ~/notes.txt ./file.txt"))
            }
            7 => ("single quotes", format!("'{marker} it \"is\" $(ls no) `ls no`'")),
            8 => ("double quotes", format!("\"{marker} b\\\"c \\$x 'd'\"")),
            9 => ("glob", self.one_of("*.txt src/*.rs [ab].txt ?.txt *.none ./* **/*.rs")),
            10 => ("braces", format!("{{{marker},b}}.txt")),
            11 => ("tilde", self.one_of("~ ~/notes.txt ~/x ~dev/y")),
            12 => ("known variable", self.one_of("$HOME \"$HOME/x\" ${HOME} \"${USER}\"")),
            13 => ("fallback", format!("\"${{unset:-{marker}}}\"")),
            14 => ("ansi quotes", format!("$'{marker}\\t\\x41'")),
            15 => ("arithmetic", "$((1 + 2))".to_owned()),
            16 | 17 => ("substitution", format!("$({})", self.substituted(inner))),
            18 => ("substitution", format!("\"$({})\"", self.substituted(inner))),
            19 => ("backticks", format!("`{}`", self.flat())),
            20 => ("process substitution", format!("<({})", self.substituted(inner))),
            other => self.odd_word(other, inner, &marker),
        };
        self.row(row);
        text
    }

    /// A word that nobody writes every day.
    fn odd_word(&mut self, choice: usize, inner: usize, marker: &str) -> (&'static str, String) {
        match choice {
            21 => ("positional", "\"$@\"".to_owned()),
            22 => ("braces", self.one_of("{1..3} a{b,c{d,e}} {a,} {a} x{1..2}{a,b} '{'a,b}")),
            23 => ("backticks", format!("\"`{}`\"`{}`", self.flat(), self.flat())),
            24 => ("backticks", format!("`ls \\`{}\\``", self.flat())),
            25 => ("fallback", format!("${{unset:-$({})}}", self.substituted(inner))),
            26 => {
                let (first, second) = (self.substituted(inner), self.substituted(inner));
                ("fallback", format!("\"${{unset:+$({first})}}${{HOME:-$({second})}}\""))
            }
            27 => ("process substitution", format!("a<({})b", self.substituted(inner))),
            28 => ("fallback", format!("\"${{unset-'{}'}}\"", self.marker())),
            29 => (
                "edit",
                self.one_of("${HOME##*/} ${HOME%/*} \"${HOME/e/x}\" ${#HOME} ${HOME:1:3} ${USER^^} ${!v9}"),
            ),
            30 => ("escapes", format!("{marker}\\ \\;\\&\\*")),
            31 => ("odd word", self.one_of("= {} } ! a=b a=~ -- a#b \\# '' $ - [ a[1]=2 % @")),
            32 => ("arithmetic", format!("$(( $({}) + 1 ))", self.flat())),
            _ => ("unset variable", self.one_of("$unset \"$unset\" x$unset ${unset} $* $# $? $0 $$")),
        }
    }

    /// One of the words of a text.
    fn one_of(&mut self, words: &str) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        (*self.numbers.pick::<&str>(&words)).to_owned()
    }

    /// A command without any quote, backslash or backtick.
    fn flat(&mut self) -> String {
        let program = *self.numbers.pick(&["ls", "cat", "wc -l", "grep x", "stat"]);
        format!("{program} {}", self.marker())
    }

    /// What stands in a `$( … )`.
    fn substituted(&mut self, depth: usize) -> String {
        let bounded = self.manner == Manner::Everyday && self.chance(60);
        match self.numbers.below(if bounded { 5 } else { 8 }) {
            0 => "date +%s".to_owned(),
            1 => "basename a/b.txt".to_owned(),
            2 => "git rev-parse HEAD".to_owned(),
            3 => "find . -name '*.rs'".to_owned(),
            4 => "echo one two".to_owned(),
            5 => {
                let text = self.body(depth);
                text.trim_end_matches(' ').to_owned()
            }
            _ => self.command(depth),
        }
    }

    fn list(&mut self, depth: usize) -> String {
        self.row("list");
        let mut text = self.plain(depth);
        for _ in 0..1 + self.numbers.below(2) {
            let operator = *self.numbers.pick(&[" && ", " || ", " && ", " &&\n  "]);
            let next = self.plain(depth);
            text = format!("{text}{operator}{next}");
        }
        text
    }

    /// A command that does not end in a here-document.
    fn plain(&mut self, depth: usize) -> String {
        let text = self.command(depth);
        if text.ends_with('\n') { format!("{{ {text}}}") } else { text }
    }

    fn pipeline(&mut self, depth: usize) -> String {
        self.row("pipeline");
        let mut text = self.plain(depth);
        for _ in 0..1 + self.numbers.below(2) {
            let operator = if self.nasty(20) { " |& " } else { " | " };
            let next = match self.numbers.below(6) {
                0..=2 => (*self.numbers.pick(FILTERS)).to_owned(),
                3 if self.manner == Manner::Everyday => {
                    text = "find src -name '*.rs'".to_owned();
                    format!("xargs {}", self.flat())
                }
                3 => format!("xargs {}", self.flat()),
                4 => format!("while read -r line; do {}done", self.body(depth)),
                _ => self.plain(depth),
            };
            text = format!("{text}{operator}{next}");
        }
        if self.chance(10) {
            self.row("negation");
            return format!("! {text}");
        }
        if self.chance(8) {
            self.row("time");
            return format!("time {text}");
        }
        text
    }

    fn conditional(&mut self, depth: usize) -> String {
        self.row("if");
        let condition = self.condition(depth);
        let (yes, no) = (self.body(depth), self.body(depth));
        match self.numbers.below(3) {
            0 => format!("if {condition}then {yes}fi"),
            1 => format!("if {condition}then {yes}else {no}fi"),
            _ => format!("if {condition}then {yes}elif {}then {no}fi", self.condition(depth)),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.numbers.below(7) {
            0 => "[ -f a.txt ]; ".to_owned(),
            1 | 5 => "[[ -d src && ! -e none ]]; ".to_owned(),
            2 => "true; ".to_owned(),
            3 => format!("[ \"$({})\" = x ]; ", self.substituted(depth.min(1))),
            4 => "((1 < 2))\n".to_owned(),
            _ => self.statements(1, depth),
        }
    }

    fn working(&mut self) -> String {
        self.row("working program");
        let marker = self.marker();
        let text = crate::state::working(&mut self.numbers, &marker);
        if text.contains("<<") { format!("{text}\n") } else { text }
    }

    fn stateful(&mut self) -> String {
        self.row("state");
        let marker = self.marker();
        crate::state::stateful(&mut self.numbers, &marker)
    }
}
