//! Shells, and the builtins that run texts.

use crate::facts::arg::Arg;
use crate::facts::programs::{Inner, Reading, Role};
use crate::syntax::Cause;

/// Long options of bash that change nothing about what runs.
const LONG: &[&str] = &["--norc", "--noprofile", "--login", "--verbose", "--restricted", "--noediting"];
/// Letters of `set` that change nothing that is not told elsewhere.
const LETTERS: &str = "abehlmnprtuvxCET";
/// Names for `-o`.
const NAMES: &[&str] = &[
    "allexport",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "history",
    "ignoreeof",
    "monitor",
    "noclobber",
    "noexec",
    "nolog",
    "notify",
    "nounset",
    "onecmd",
    "pipefail",
    "privileged",
    "verbose",
    "vi",
    "xtrace",
];

/// `bash -lc TEXT ARGS`, `sh FILE`, `bash -s`, `sh`.
pub(super) fn shell(argv: &[Arg], start: usize, reading: &mut Reading) {
    let name = argv.first().and_then(Arg::text).unwrap_or_default();
    let posix = matches!(name, "bash" | "sh" | "dash" | "ash" | "rbash");
    let words = argv.get(start..).unwrap_or_default();
    if matches!(words, [only] if matches!(only.text(), Some("--version" | "--help"))) {
        return;
    }
    reading.arity = 0;
    // Only its syntax is looked at.
    if let ([flag, file], true) = (words, posix)
        && flag.text() == Some("-n")
        && file.text().is_some_and(|file| !file.starts_with(['-', '+']))
    {
        return reading.uses(Role::Read, file);
    }
    let mut options = Options::default();
    let rest = options.read(words, start, reading);
    let operands = words.get(rest..).unwrap_or_default();
    match operands.split_first() {
        Some((text, args)) if options.text => {
            reading.inner.push(Inner::Shell { text: text.clone(), args: args.to_vec(), posix });
        }
        Some((file, _)) if !options.input => {
            reading.uses(Role::Load, file);
            reading.inner.push(Inner::ShellFile(file.clone()));
        }
        None if options.text => reading.unexplained(Cause::UnknownOption, "-c without a text", None),
        _ => reading.inner.push(Inner::ShellInput { posix }),
    }
}

/// What the options say.
#[derive(Default)]
struct Options {
    /// `-c`
    text: bool,
    /// `-s`
    input: bool,
}

impl Options {
    /// Reads the options; the place of the first operand.
    fn read(&mut self, words: &[Arg], start: usize, reading: &mut Reading) -> usize {
        let mut at = 0;
        while let Some(word) = words.get(at) {
            if word.may_be_option() {
                reading.unexplained(Cause::DynamicWord, word.display(), Some(start + at));
                return at;
            }
            let head = word.head();
            if !head.starts_with(['-', '+']) || head.len() < 2 {
                return at + usize::from(head == "-" && word.text().is_some());
            }
            at += 1;
            let Some(text) = word.text() else {
                reading.unexplained(Cause::DynamicWord, word.display(), Some(start + at - 1));
                continue;
            };
            if text == "--" {
                return at;
            }
            if text.starts_with("--") {
                self.long(text, &mut at, start, reading);
                continue;
            }
            // Taking an option away is rare, and what a shell then expands is another thing.
            if text.starts_with('+') {
                reading.unexplained(Cause::UnknownOption, text, Some(start + at - 1));
            }
            for letter in text.chars().skip(1) {
                self.letter(letter, words, &mut at, start, reading);
            }
        }
        at
    }

    fn long(&mut self, text: &str, at: &mut usize, start: usize, reading: &mut Reading) {
        if !LONG.contains(&text) {
            reading.unexplained(Cause::UnknownOption, text, Some(start + *at - 1));
            // `--rcfile FILE` and `--init-file FILE` take a value.
            *at += usize::from(matches!(text, "--rcfile" | "--init-file"));
        }
    }

    fn letter(&mut self, letter: char, words: &[Arg], at: &mut usize, start: usize, reading: &mut Reading) {
        match letter {
            'c' => self.text = true,
            's' => self.input = true,
            'l' => {}
            'o' | 'O' => {
                let value = words.get(*at).and_then(Arg::text).unwrap_or_default();
                *at += 1;
                let told = if letter == 'O' { value == "extglob" } else { NAMES.contains(&value) };
                if !told {
                    reading.unexplained(
                        Cause::UnknownOption,
                        format!("-{letter} {value}"),
                        Some(start + *at - 1),
                    );
                }
            }
            _ if LETTERS.contains(letter) => {}
            _ => reading.unexplained(Cause::UnknownOption, format!("-{letter}"), Some(start + *at - 1)),
        }
    }
}

/// `trap TEXT SIGNAL…`.
pub(super) fn trap(words: &[Arg], reading: &mut Reading) {
    let words = match words.first().and_then(Arg::text) {
        Some("-p" | "-l" | "-P") => return,
        Some("--") => words.get(1..).unwrap_or_default(),
        _ => words,
    };
    let [text, _, ..] = words else { return };
    if text.text().is_some_and(|text| text.is_empty() || text == "-") {
        return;
    }
    reading.inner.push(Inner::Shell { text: text.clone(), args: Vec::new(), posix: true });
}
