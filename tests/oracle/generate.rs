//! Scripts from a grammar: what bash can be told, in two manners. Every command has a marker of its
//! own (`m1`, `m2` …), so that a program that was started can be held against what the facts list.

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
    Sample { text, rows: maker.rows }
}

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

/// Files that exist.
const PRESENT: &[&str] =
    &["a.txt", "b.txt", "src", "src/main.rs", "README.md", "/tmp/old", "~/notes.txt", "./file.txt"];

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
            5 | 6 => ("file", (*self.numbers.pick(PRESENT)).to_owned()),
            7 => ("single quotes", format!("'{marker} it \"is\" $(ls no) `ls no`'")),
            8 => ("double quotes", format!("\"{marker} b\\\"c \\$x 'd'\"")),
            9 => (
                "glob",
                (*self.numbers.pick(&["*.txt", "src/*.rs", "[ab].txt", "?.txt", "*.none", "./*", "**/*.rs"]))
                    .to_owned(),
            ),
            10 => ("braces", format!("{{{marker},b}}.txt")),
            11 => ("tilde", (*self.numbers.pick(&["~", "~/notes.txt", "~/x", "~dev/y"])).to_owned()),
            12 => (
                "known variable",
                (*self.numbers.pick(&["$HOME", "\"$HOME/x\"", "${HOME}", "\"${USER}\""])).to_owned(),
            ),
            13 => ("fallback", format!("\"${{unset:-{marker}}}\"")),
            14 => ("ansi quotes", format!("$'{marker}\\t\\x41'")),
            15 => ("arithmetic", "$((1 + 2))".to_owned()),
            16 | 17 => ("substitution", format!("$({})", self.substituted(inner))),
            18 => ("substitution", format!("\"$({})\"", self.substituted(inner))),
            19 => ("backticks", format!("`{}`", self.flat())),
            20 => ("process substitution", format!("<({})", self.substituted(inner))),
            21 => ("positional", "\"$@\"".to_owned()),
            22 => (
                "braces",
                (*self.numbers.pick(&["{1..3}", "a{b,c{d,e}}", "{a,}", "{a}", "x{1..2}{a,b}", "'{'a,b}"]))
                    .to_owned(),
            ),
            23 => ("backticks", format!("\"`{}`\"`{}`", self.flat(), self.flat())),
            24 => ("backticks", format!("`ls \\`{}\\``", self.flat())),
            25 => ("fallback", format!("${{unset:-$({})}}", self.substituted(inner))),
            26 => (
                "fallback",
                format!(
                    "\"${{unset:+$({})}}${{HOME:-$({})}}\"",
                    self.substituted(inner),
                    self.substituted(inner)
                ),
            ),
            27 => ("process substitution", format!("a<({})b", self.substituted(inner))),
            28 => ("fallback", format!("\"${{unset-'{}'}}\"", self.marker())),
            29 => (
                "edit",
                (*self.numbers.pick(&[
                    "${HOME##*/}",
                    "${HOME%/*}",
                    "\"${HOME/e/x}\"",
                    "${#HOME}",
                    "${HOME:1:3}",
                    "${USER^^}",
                ]))
                .to_owned(),
            ),
            30 => ("escapes", format!("{marker}\\ \\;\\&\\*")),
            31 => (
                "odd word",
                (*self.numbers.pick(&[
                    "=", "{}", "}", "!", "a=b", "a=~", "--", "a#b", "\\#", "''", "$", "-", "[", "a[1]=2",
                    "%", "@",
                ]))
                .to_owned(),
            ),
            32 => ("arithmetic", format!("$(( $({}) + 1 ))", self.flat())),
            _ => (
                "unset variable",
                (*self.numbers.pick(&[
                    "$unset",
                    "\"$unset\"",
                    "x$unset",
                    "${unset}",
                    "$*",
                    "$#",
                    "$?",
                    "$0",
                    "$$",
                ]))
                .to_owned(),
            ),
        };
        self.row(row);
        text
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

    fn redirection(&mut self) -> String {
        let marker = self.marker();
        let file = match self.numbers.below(6) {
            0 => "/dev/null".to_owned(),
            1 => "out.txt".to_owned(),
            2 => format!("/tmp/{marker}"),
            3 => format!("~/{marker}"),
            4 => format!("\"$HOME/{marker}\""),
            _ => marker,
        };
        let nasty = self.manner == Manner::Nasty;
        match self.numbers.below(if nasty { 16 } else { 9 }) {
            0..=2 => format!("> {file}"),
            3 => format!(">> {file}"),
            4 => format!("2> {file}"),
            5 => "2>&1".to_owned(),
            6 => "< a.txt".to_owned(),
            7 => format!("&> {file}"),
            8 => "2>/dev/null".to_owned(),
            9 => format!(">| {file}"),
            10 => format!("3<>{file}"),
            11 => format!(">&{file}"),
            12 => format!("{{fd}}>{file}"),
            13 => format!("<<< \"$(ls {file})\""),
            14 => format!("> $(echo {file})"),
            _ => format!("5>{file} 1>&5"),
        }
    }

    fn redirected(&mut self, depth: usize) -> String {
        self.row("redirection");
        let mut text = self.plain(depth);
        for _ in 0..1 + self.numbers.below(2) {
            let redirection = self.redirection();
            text = format!("{text} {redirection}");
        }
        if self.nasty(25) {
            let (first, marker) = (self.redirection(), self.marker());
            text = format!("{first} ls {marker} -l; {text}");
        }
        if self.nasty(15) {
            self.row("lone redirection");
            let first = self.redirection();
            text = format!("{first}; {text}");
        }
        text
    }

    fn wrapped(&mut self, depth: usize) -> String {
        self.row("wrapper");
        let inner = self.simple(depth.min(1));
        let nasty = self.manner == Manner::Nasty;
        match self.numbers.below(if nasty { 24 } else { 12 }) {
            0 => format!("timeout 5 {inner}"),
            1 => format!("env A=1 {inner}"),
            2 => format!("nice -n 5 {inner}"),
            3 => format!("nohup {inner}"),
            4 => format!("sudo {inner}"),
            5 => format!("echo one two | xargs {}", self.flat()),
            6 => format!("find . -name '*.rs' -exec {} {{}} \\;", self.flat()),
            7 => format!("find src -type f -exec {} {{}} +", self.flat()),
            8 => format!("command {inner}"),
            9 => format!("find . -name '*.txt' | xargs -I{{}} {} {{}}", self.flat()),
            10 if nasty => format!("xargs -n1 {} < a.txt", self.flat()),
            10 => format!("find src -name '*.rs' | xargs -n1 {}", self.flat()),
            11 => format!("env {inner}"),
            12 => format!("env -i PATH=/usr/bin {inner}"),
            13 => format!("timeout -k 1 5 nice env B=2 {inner}"),
            14 => format!("setsid {inner}"),
            15 => format!("stdbuf -oL {inner}"),
            16 => format!("builtin command {inner}"),
            17 => format!("find . -maxdepth 1 -name '*.txt' -exec sh -c '{} \"$1\"' _ {{}} \\;", self.flat()),
            18 => format!("echo {} | xargs -n 1 -I% sh -c '{} %'", self.marker(), self.flat()),
            19 => format!("env -C src {inner}"),
            20 => format!("(exec {inner})"),
            21 => format!("xargs -0 -a a.txt {}", self.flat()),
            22 => format!("env -S '{}'", self.flat()),
            _ => format!("find . -name a.txt -execdir {} {{}} \\;", self.flat()),
        }
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

    fn looped(&mut self, depth: usize) -> String {
        self.row("loop");
        let (name, body) = (self.name(), self.body(depth));
        let nasty = self.manner == Manner::Nasty;
        // Everyday loops over what is only read then mostly print it.
        let program = if nasty || self.chance(50) { "ls" } else { "echo" };
        let user = format!("{program} {} \"${name}\"; ", self.marker());
        match self.numbers.below(if nasty { 13 } else { 6 }) {
            0 => format!("for {name} in a.txt b.txt; do {user}{body}done"),
            1 => format!("for {name} in *.txt; do {user}{body}done"),
            2 => format!("for {name} in $({}); do {user}{body}done", self.substituted(depth.min(1))),
            3 => format!("cat a.txt | while read -r {name}; do {user}{body}done"),
            4 => format!("while read -r {name}; do {user}{body}done < b.txt"),
            5 => format!("for {name} in 1 2; do {body}done"),
            6 => format!("for (({name}=0; {name}<2; {name}++)); do {user}{body}done"),
            7 => format!("until {body} true; do ls; done"),
            8 => format!("while {body} false; do ls; done"),
            9 => format!("set -- a 'b c'; for {name}; do {user}{body}done"),
            10 => format!("select {name} in a b; do {user}{body}break; done <<< 1"),
            11 => format!("for {name} in 'a b' -x \"$HOME\"; do ls {} ${name}; done", self.marker()),
            _ => format!(
                "while IFS= read -r {name} || [ -n \"${name}\" ]; do {user}done < <(printf 'a\\nb c')"
            ),
        }
    }

    fn case(&mut self, depth: usize) -> String {
        self.row("case");
        let (first, second) = (self.body(depth), self.body(depth));
        if self.nasty(50) {
            let text = self.flat();
            return format!("case $({text}) in (a|b) {first};& c) {second};;& *) {first}esac");
        }
        let end = |text: &str| text.trim_end().trim_end_matches(';').to_owned();
        format!("case \"$HOME\" in /root) {};; /home/*)\n{}\n;; *) ls none;; esac", end(&first), end(&second))
    }

    fn grouped(&mut self, depth: usize) -> String {
        self.row("group");
        let body = self.body(depth);
        match self.numbers.below(if self.manner == Manner::Nasty { 4 } else { 2 }) {
            0 => format!("( {body})"),
            1 => format!("{{ {body}}}"),
            2 => format!("({body})"),
            _ => format!("( {{ {body}}} )"),
        }
    }

    fn here_document(&mut self, depth: usize) -> String {
        self.row("here-document");
        let marker = self.marker();
        let tail = match self.numbers.below(6) {
            0 => " | sort".to_owned(),
            1 => format!(" && ls {}", self.marker()),
            2 => format!(" > {}", self.marker()),
            3 => format!("; rm {}", self.marker()),
            _ => String::new(),
        };
        let inner = self.substituted(depth.min(1));
        let flat = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 14 } else { 6 }) {
            0 => format!("cat <<EOF{tail}\n{marker} $HOME 'x\nEOF\n"),
            1 => format!("cat <<'EOF' {marker}{tail}\n$(ls no) `ls no` \\\nEOF\n"),
            2 => format!("cat <<-EOF{tail}\n\t{marker}\n\tEOF\n"),
            3 => format!("cat <<EOF{tail}\nsaid \"$({inner})\" and $((1+1))\nEOF\n"),
            4 => format!("bash <<'EOF'{tail}\n{flat}\nEOF\n"),
            5 => format!("git commit -m \"$(cat <<'EOF'\n{marker} it's (fine)\nEOF\n)\"{tail}\n"),
            6 => format!("sh <<EOF{tail}\n{flat} $HOME\nEOF\n"),
            7 => format!("cat <<A <<B{tail}\na\nA\n`{flat}`\nB\n"),
            8 => format!("cat <<EOF{tail}\n EOF\nEOF \n\\$(ls no) ${{unset:-$({flat})}}\nEOF\n"),
            9 => format!("<<EOF cat{tail}\n{marker}\\\nEOF\n$({flat})\nEOF\n"),
            10 => format!("cat <<\"E F\"{tail}\n$(ls no)\nE F\n{flat}\n"),
            11 => format!("bash -s {marker} <<'EOF'{tail}\n{flat} \"$1\"\nEOF\n"),
            12 => format!("cat <<EOF | sh{tail}\n{flat}\nEOF\n"),
            _ => format!("cat <<''{tail}\n$(ls no)\n\n{flat}\n"),
        }
    }

    fn moved(&mut self, depth: usize) -> String {
        self.row("directory");
        let next = self.plain(depth);
        let user = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 11 } else { 4 }) {
            0 => format!("cd src && {next}"),
            1 => format!("(cd docs; {user}) && {next}"),
            2 => format!("cd /tmp; {user}"),
            3 => format!("cd .. && {user} && {next}"),
            4 => format!("cd none || {user}; cd - && {next}"),
            5 => format!("pushd src; {user}; popd; {next}"),
            6 => format!("cd src | {user}; {next}"),
            7 => format!("cd \"$({user})\" && {next}"),
            8 => format!("cd; {user}; cd ~-; {next}"),
            9 => format!("cd src & {user}; CDPATH=/tmp cd src; {user}"),
            _ => format!("cd -P ./src/..//docs && {user}; PWD=/tmp; {user} \"$PWD\""),
        }
    }

    fn assigned(&mut self, depth: usize) -> String {
        self.row("assignment");
        let name = self.name();
        let marker = self.marker();
        let user = format!("ls ${name}; stat {marker} \"${{{name}}}\"");
        let inner = self.substituted(depth.min(1));
        match self.numbers.below(if self.manner == Manner::Nasty { 20 } else { 6 }) {
            0 => format!("{name}={marker}; {user}"),
            1 => format!("{name}=$({inner}); {user}"),
            2 => format!("A=1 {name}=2 ls {marker}"),
            3 => format!("export {name}=\"{marker} x\"; {user}"),
            4 => format!("{name}=\"$({inner})\" && {user}"),
            5 => format!("{name}=(a 'b c' *.txt); ls {marker} \"${{{name}[@]}}\""),
            6 => format!("{name}='a b  *.txt'; {user}"),
            7 => format!("{name}=a; {name}+=b; {user}; unset {name}; {user}"),
            8 => format!("{name}=ls; ${name} {marker}"),
            9 => format!("{name}='ls {marker}'; ${name}"),
            10 => format!("{name}=x; ({name}=y); {user}; {name}=z | cat; {user}"),
            11 => format!("{name}=x ls {marker} ${name}; {user}"),
            12 => format!("true && {name}=x || {name}=y; {user}"),
            13 => format!("{name}=x; if false; then {name}=y; fi; {user}"),
            14 => format!("IFS=:; {name}=a:b; {user}"),
            15 => format!("declare -r {name}={marker}; {name}=b; {user}"),
            16 => format!("read -r {name} rest < a.txt; {user}"),
            17 => format!("printf -v {name} '%s-x' {marker}; {user}"),
            18 => format!("{name}=~/x:~; {user}; local {name}=q; {user}"),
            _ => format!("ls ${{{name}:={marker}}}; {user}"),
        }
    }

    fn function(&mut self, depth: usize) -> String {
        self.row("function");
        let name = format!("f{}", self.name());
        let (marker, body) = (self.marker(), self.body(depth));
        let shadowed = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 11 } else { 3 }) {
            0 => format!("{name}() {{ ls \"$1\"; {body}}}; {name} {marker}"),
            1 => format!("function {name} {{ ls \"$@\"; }}\n{name} {marker} b"),
            2 => format!("{name}() {{\n{body}}}\n{name}"),
            3 => format!("ls() {{ command ls {marker}; {body}}}; ls x; {shadowed}"),
            4 => format!("{name}() {{ {body}}}; true && {name}; unset -f {name}; {name}"),
            5 => format!("{name}() ( cd src; {body}); {name} > {marker}; {shadowed}"),
            6 => format!("{name}() {{ {body}}} > {marker}; {name} | {name}"),
            7 => format!("rm() {{ ls {marker}; }}; export -f rm; bash -c 'rm x'; env rm y"),
            8 => format!("{name}() {{ shift; ls {marker} \"$@\" $#; }}; {name} a b c"),
            9 => format!(
                "if true; then {name}() {{ ls {marker}; }}; else {name}() {{ rm {marker}; }}; fi; {name}"
            ),
            _ => format!("{name}() {{ local x={marker}; cd src; v=$1; }}; {name} q; ls $v $x; {shadowed}"),
        }
    }

    fn quoted(text: &str) -> String {
        format!("'{}'", text.replace('\'', "'\\''"))
    }

    fn inner_shell(&mut self, depth: usize) -> String {
        self.row("inner shell");
        let text = self.body(depth);
        let text = Self::quoted(text.trim_end_matches(' '));
        let flat = self.flat();
        match self.numbers.below(if self.manner == Manner::Nasty { 24 } else { 4 }) {
            0 => format!("bash -c {text}"),
            1 => format!("sh -c '{flat} \"$1\"' name {}", self.marker()),
            2 => format!("echo '{flat}' | sh"),
            3 => format!("bash -lc {text}"),
            4 => format!("eval {text}"),
            5 => format!("eval \"{flat}\" '; {flat}'"),
            6 => format!("trap {text} EXIT"),
            7 => format!(". <(echo '{flat}')"),
            8 => format!("source /dev/stdin <<< '{flat}'"),
            9 => format!("bash <<< {text}"),
            10 => format!("printf '%s\\n' '{flat}' '{flat}' | bash"),
            11 => format!("bash -c \"{flat} $HOME\" && sh -c \"\\$(echo {flat})\""),
            12 => format!("x='{flat}'; eval \"$x\"; bash -c \"$x\""),
            13 => format!("bash -euo pipefail -c {text}"),
            14 => format!("bash <(echo '{flat}')"),
            15 => format!("sh -ec '{flat}; $0 {}' ls", self.marker()),
            16 => format!("eval 'eval \"{flat}\"'"),
            17 => format!("eval eval {flat} \\; {flat}"),
            18 => format!("bash -c 'eval \"$@\"' _ {flat}"),
            19 => format!("trap '{flat}' ERR; false; trap - ERR; trap '{flat}' DEBUG; true"),
            20 => format!("cat <(echo '{flat}') | bash -s"),
            21 => format!("bash -c '\"$@\"' _ {flat}"),
            22 => format!("exec 3< <(echo '{flat}'); bash <&3; bash /dev/fd/3"),
            _ => format!("echo {flat} > s.sh; bash s.sh; . ./s.sh"),
        }
    }

    /// Code where nobody looks for it.
    fn hidden(&mut self, depth: usize) -> String {
        self.row("hidden command");
        let text = self.flat();
        let name = self.name();
        let next = self.plain(depth.min(1));
        match self.numbers.below(28) {
            0 => format!("{name}[$({text})]=1; {next}"),
            1 => format!("[[ -v '{name}[$({text})]' ]]; {next}"),
            2 => format!("test -v '{name}[$({text})]'; {next}"),
            3 => format!("printf -v '{name}[$({text})]' x; {next}"),
            4 => format!("read '{name}[$({text})]' <<< x; {next}"),
            5 => format!("{name}='a[$({text})]'; (( {name} )); echo $(({name}))"),
            6 => format!("{name}='a[$({text})]'; [[ {name} -eq 0 ]]; let {name}"),
            7 => format!("{name}='$({text})'; : \"${{{name}@P}}\""),
            8 => format!("PS4='$({text}) '; set -x; {next}"),
            9 => format!("declare -n {name}='a[$({text})]'; : ${name}"),
            10 => format!("mapfile -C '{text}' -c 1 {name} < a.txt; {next}"),
            11 => format!("compgen -C '{text}' a; compgen -W '$({text})'; {next}"),
            12 => format!("shopt -s expand_aliases; alias ls='{text};'\nls x; {next}"),
            13 => format!("command_not_found_handle() {{ {text}; }}; nothing-such; {next}"),
            14 => format!("hash -p /usr/bin/rm ls; ls {}", self.marker()),
            15 => format!("unset '{name}[$({text})]'; {next}"),
            16 => format!("{name}=$({text}) : ; {next}"),
            17 => format!("echo \"${{{name}:-'$({text})'}}\" ${{HOME#$({text})}} ${{HOME/$({text})/x}}"),
            18 => format!("echo $[$({text})] $(( '$({text})' )) ${{HOME:$({text}):1}}"),
            19 => format!("{name}=([$({text})]=1 b=$({text})); declare -A q=([$({text})]=1)"),
            20 => format!("[[ a =~ $({text}) || x == $({text}) ]]; case $({text}) in $({text})) ;; esac"),
            21 => format!("{name}=text; {name}=a[\\$\\({text}\\)]; declare -i w; w=${name}"),
            22 => format!("BASH_ENV=<(echo '{text}') bash -c 'ls {}'", self.marker()),
            23 => format!("PATH=/tmp:$PATH; {next}; PATH= {text}"),
            24 => format!("coproc {text}; wait; coproc N {{ {text}; }}; wait"),
            25 => format!("set -- {text}; \"$@\"; $1 {}", self.marker()),
            26 => format!("PROMPT_COMMAND='{text}' bash -ic 'ls {}' 2>/dev/null; {next}", self.marker()),
            _ => format!("exec > {name}; {text}; enable -n echo; {next}"),
        }
    }

    fn shell_state(&mut self, depth: usize) -> String {
        self.row("shell state");
        let next = self.plain(depth);
        let marker = self.marker();
        let option = *self.numbers.pick(&[
            "set -e",
            "set -f",
            "shopt -s nullglob",
            "shopt -s dotglob",
            "set -o pipefail",
            "set -u",
            "shopt -s extglob",
            "shopt -s globstar",
            "set -n",
            "set +B",
            "shopt -s lastpipe",
            "set -o posix",
            "set -k",
            "shopt -s failglob",
            "shopt -s nocaseglob",
            "set -a",
            "exec 2>/dev/null",
            "umask 077",
            "IFS=,",
            "set -C",
            "exit",
            "return",
            "HOME=/tmp",
        ]);
        format!("{option}\nls {marker} *.txt none* ~ a,b; {next}")
    }

    /// Spellings that parsers stumble over.
    fn odd(&mut self, depth: usize) -> String {
        self.row("odd spelling");
        let (first, second, third) = (self.flat(), self.flat(), self.flat());
        let next = self.plain(depth);
        match self.numbers.below(26) {
            0 => format!("echo hi\n\\{first}"),
            1 => format!("echo `{first}` `{second}`"),
            2 => format!("{first} 2>/dev/null -l; >o {second} -a"),
            3 => format!("echo \"$ $({first})\" $\"x\"$({second})"),
            4 => format!("echo a\\ #b; {first} # no; {second}"),
            5 => format!("time {{ {first}; }}; ! time {second}; time -p {third}"),
            6 => format!("! ! {first}"),
            7 => format!("{first};{second}&{third}"),
            8 => format!("{first}&&{second}||{third}|cat"),
            9 => format!("if {first};then {second};fi>o;{third}"),
            10 => format!("((1)) && {first}; ( (({second}) ); {third} )"),
            11 => format!("{{ {first}; }};{{ {second};}}|cat;({third})"),
            12 => format!("a=(1 2\n3 # x\n4); {first} ${{a[1]}} \"${{a[*]}}\" ${{#a[@]}}"),
            13 => format!("for i in a b; {{ {first} $i; }}; for i in 1\ndo {second}\ndone"),
            14 => format!("case x in x) {first} ;; esac; case y in (y) {second};& *) {third}; esac"),
            15 => format!("echo $(case x in x) {first};; esac) $( ( {second} ) ) $(({third}) )"),
            16 => format!("[[ x = x ]] && {first}; [[ ! x ]] || {second}; [ 1 -lt 2 -a x ] && {third}"),
            17 => format!("\\\n{first} \\\n x; {second}\\\n y; l\\\ns {}", self.marker()),
            18 => format!("echo ${{unset:-`{first}`}} ${{unset:-<({second})}}; {third}"),
            19 => format!("{first} {{a,$({second})}}.x{{1..2}}; {third} \"{{a,b}}\" {{a,'b c'}}"),
            20 => format!("x=1 y=$({first}) {second}; z=\"a b\"c'd e' ls {} $z", self.marker()),
            21 => format!("function g() {{ {first}; }}; g; h () ( {second} ); h; k() {third}; k"),
            22 => format!("echo $'a\\'b' $({first}) '\\'; {second} \"\\\\\" \"\\`\" ; {third}"),
            23 => format!("{first} >&2 2>&1 >&- <&-; {second} 1>&2-; {third}"),
            24 => format!("until {first}; do {second}; break; done; while {third}; do break; done"),
            _ => format!("{first} | {next} | {{ {second}; }} |& ({third})"),
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
