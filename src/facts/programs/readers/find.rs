//! find's expressions.

use std::rc::Rc;

use crate::facts::arg::{Arg, Below, Hole, HoleKind};
use crate::facts::programs::apply::apply;
use crate::facts::programs::scan::splits;
use crate::facts::programs::table::Command;
use crate::facts::programs::{Fill, Inner, Output, Reading, Role, Wrapper};
use crate::report::Span;
use crate::syntax::Cause;

/// Tests and actions without an argument that only look or print.
const PLAIN: &[&str] = &[
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-true",
    "-false",
    "-daystart",
    "-depth",
    "-d",
    "-empty",
    "-executable",
    "-readable",
    "-writable",
    "-nogroup",
    "-nouser",
    "-noleaf",
    "-mount",
    "-xdev",
    "-follow",
    "-warn",
    "-nowarn",
    "-ignore_readdir_race",
    "-noignore_readdir_race",
    "-prune",
    "-print",
    "-print0",
    "-ls",
    "-quit",
];
/// Those with one argument.
const VALUED: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-mmin",
    "-mtime",
    "-used",
    "-size",
    "-type",
    "-xtype",
    "-fstype",
    "-gid",
    "-group",
    "-uid",
    "-user",
    "-inum",
    "-links",
    "-lname",
    "-ilname",
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-regextype",
    "-perm",
    "-context",
    "-maxdepth",
    "-mindepth",
    "-printf",
];
/// Those whose one argument is a file that is looked at.
const LOOKS: &[&str] = &["-newer", "-anewer", "-cnewer", "-samefile"];
/// Those that may make the name pattern not hold for all results.
const BRANCHES: &[&str] = &["-o", "-or", "-not", "!", ",", "-printf", "-ls"];

/// Reads the words after `find`.
pub(super) fn read(words: &[Arg], start: usize, reading: &mut Reading) {
    if matches!(words, [only] if matches!(only.text(), Some("--help" | "-help" | "--version" | "-version"))) {
        return;
    }
    let mut finder = Finder { words, at: 0, start, roots: Vec::new(), name: None, branches: false };
    finder.options(reading);
    finder.roots(reading);
    while finder.at < words.len() {
        finder.primary(reading);
    }
    finder.finish(reading);
}

/// `fd PATTERN ROOT… -x COMMAND`: the words after `-x`, up to a `;`, are run for what is found.
pub(super) fn fd(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    let runs = |word: &Arg| matches!(word.text(), Some("-x" | "-X" | "--exec" | "--exec-batch"));
    let Some(at) = argv.iter().skip(start).position(runs).map(|at| at + start) else {
        return apply(command, argv, start, reading);
    };
    let tail = argv.get(at + 1..).unwrap_or_default();
    let end = tail.iter().position(|word| word.text() == Some(";")).unwrap_or(tail.len());
    let mut words = argv.get(..at).unwrap_or_default().to_vec();
    words.extend(tail.iter().skip(end + 1).cloned());
    apply(command, &words, start, reading);
    reading.unexplained(Cause::OpaqueCode, "it runs a command for what it finds", Some(at));
    reading.output = Output::Any;
    let mut run: Vec<Arg> = tail.iter().take(end).cloned().collect();
    if run.is_empty() {
        return;
    }
    if !run.iter().any(|word| word.head().contains('{')) {
        run.push(Arg::literal("{}", Span::default()));
    }
    let listed = reading.uses.iter().filter(|each| matches!(each.role, Role::List | Role::SearchTree));
    let roots = listed.map(|each| each.arg.clone()).collect();
    // Anything that chooses among what is there leaves some of it alone.
    let chooses = words.iter().skip(start).any(|word| {
        [
            "-e",
            "-S",
            "-o",
            "-d",
            "--extension",
            "--size",
            "--owner",
            "--changed",
            "--change-",
            "--max-depth",
            "--exact-depth",
        ]
        .iter()
        .any(|option| word.head().starts_with(option))
    });
    let pattern = words.iter().skip(start).find(|word| !word.head().starts_with('-')).and_then(Arg::text);
    let broad = matches!(pattern, None | Some("" | "." | ".*" | "*" | "^" | "$"));
    let name = (chooses || !broad).then(|| "what fd chooses".to_owned());
    reading.wrapper = Some(Wrapper::Multiplying);
    let fill = Fill::Paths { roots, token: "{}".to_owned(), name };
    reading.inner.push(Inner::Command { argv: run, fill, directory: None, assignments: Vec::new() });
}

struct Finder<'a> {
    words: &'a [Arg],
    at: usize,
    start: usize,
    roots: Vec<Arg>,
    name: Option<String>,
    branches: bool,
}

impl Finder<'_> {
    fn refuse(&self, cause: Cause, detail: impl Into<String>, reading: &mut Reading) {
        reading.unexplained(cause, detail, Some(self.start + self.at.saturating_sub(1)));
    }

    fn options(&mut self, reading: &mut Reading) {
        while let Some(text) = self.words.get(self.at).and_then(Arg::text) {
            match text {
                "-H" | "-L" | "-P" => self.at += 1,
                "-D" => self.at += 2,
                _ if text.starts_with("-O") => self.at += 1,
                "--" => {
                    self.at += 1;
                    return;
                }
                _ => break,
            }
        }
        if self.at > self.words.len() {
            self.refuse(Cause::UnknownOption, "-D", reading);
        }
    }

    fn roots(&mut self, reading: &mut Reading) {
        while let Some(word) = self.words.get(self.at) {
            let head = word.head();
            if head.starts_with('-') || matches!(word.text(), Some("(" | ")" | "!" | ",")) {
                break;
            }
            self.at += 1;
            if word.may_be_option() {
                self.refuse(Cause::DynamicWord, word.display(), reading);
            }
            self.roots.push(word.clone());
        }
        if self.roots.is_empty() {
            self.roots.push(Arg::literal(".", Span::default()));
        }
        for root in &self.roots {
            reading.uses(Role::List, root);
        }
    }

    fn primary(&mut self, reading: &mut Reading) {
        let Some(word) = self.words.get(self.at) else { return };
        self.at += 1;
        let Some(text) = word.text() else {
            return self.refuse(Cause::DynamicWord, word.display(), reading);
        };
        self.branches |= BRANCHES.contains(&text);
        match text {
            "-delete" => {
                for root in &self.roots {
                    reading.uses(Role::DeleteTree, &self.matched(root));
                }
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => self.exec(text, reading),
            "-fprint" | "-fprint0" | "-fls" => self.file(Role::Write, reading),
            "-fprintf" => {
                self.file(Role::Write, reading);
                self.value(reading);
            }
            "-files0-from" => {
                self.file(Role::Read, reading);
                self.refuse(Cause::DynamicPath, text, reading);
            }
            _ if LOOKS.contains(&text) => self.file(Role::List, reading),
            _ if text.starts_with("-newer") && text.len() == 8 => self.newer(text, reading),
            _ if VALUED.contains(&text) => {
                let value = self.value(reading).and_then(|value| value.text().map(str::to_owned));
                if text == "-name" && self.name.is_none() {
                    self.name = value;
                }
            }
            _ if PLAIN.contains(&text) => {}
            _ => self.refuse(Cause::UnknownOption, text, reading),
        }
    }

    /// `-newerXY`: a file, or a time when it ends in `t`.
    fn newer(&mut self, text: &str, reading: &mut Reading) {
        if text.ends_with('t') {
            self.value(reading);
        } else {
            self.file(Role::List, reading);
        }
    }

    fn value(&mut self, reading: &mut Reading) -> Option<Arg> {
        let value = self.words.get(self.at).cloned();
        self.at += 1;
        match &value {
            None => self.refuse(Cause::UnknownOption, "a value is missing", reading),
            Some(word) if splits(word) => {
                self.refuse(Cause::DynamicWord, word.display(), reading);
            }
            Some(_) => {}
        }
        value
    }

    fn file(&mut self, role: Role, reading: &mut Reading) {
        if let Some(file) = self.value(reading) {
            reading.uses(role, &file);
        }
    }

    /// What an action here reaches below a starting point: what a `-name` before it lets through, or
    /// everything. A test after the action, or one of several branches, lets nothing out.
    fn matched(&self, root: &Arg) -> Arg {
        match (root.text(), &self.name) {
            (Some(text), Some(name)) if !self.branches => {
                let place = Below { root: text.to_owned(), name: Some(name.clone()) };
                Arg::hole(
                    Hole { kind: HoleKind::Below(Rc::new(vec![place])), splits: false, lines: false },
                    root.span,
                )
            }
            _ => root.clone(),
        }
    }

    /// The words up to `;`, or up to a `+` after `{}`.
    fn exec(&mut self, text: &str, reading: &mut Reading) {
        let tail = self.words.get(self.at..).unwrap_or_default();
        let end = tail.iter().enumerate().position(|(index, word)| match word.text() {
            Some(";") => true,
            Some("+") => index > 0 && tail.get(index - 1).and_then(Arg::text) == Some("{}"),
            _ => false,
        });
        let Some(end) = end else {
            self.at = self.words.len();
            return self.refuse(Cause::UnknownOption, format!("{text} does not end"), reading);
        };
        let argv: Vec<Arg> = tail.iter().take(end).cloned().collect();
        self.at += end + 1;
        if argv.iter().any(splits) {
            self.refuse(Cause::DynamicWord, text, reading);
        }
        let in_place = text.ends_with("dir");
        let name = self.name.clone().filter(|_| !self.branches);
        let fill = Fill::Paths { roots: self.roots.clone(), token: "{}".to_owned(), name };
        let directory = in_place.then(|| Arg::any(Cause::DynamicPath, Span::default()));
        reading.wrapper = Some(Wrapper::Multiplying);
        reading.inner.push(Inner::Command { argv, fill, directory, assignments: Vec::new() });
    }

    fn finish(self, reading: &mut Reading) {
        reading.output = if self.words.iter().any(|word| matches!(word.text(), Some("-printf" | "-ls")))
            || !reading.inner.is_empty()
        {
            Output::Any
        } else {
            Output::Paths { roots: self.roots, name: self.name.filter(|_| !self.branches) }
        };
    }
}
