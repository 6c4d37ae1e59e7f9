//! bash's own option grammar, as bash reads it: long options first (with one dash or two), then
//! letters with `-` and `+`, then operands. What is read here is only what gsh must know; the
//! options themselves reach bash as they were given.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::request::ReadingOptions;

/// Long options without an argument.
const LONG: [&str; 14] = [
    "debug",
    "debugger",
    "dump-po-strings",
    "dump-strings",
    "help",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "posix",
    "pretty-print",
    "restricted",
    "verbose",
    "version",
];
/// Long options with one.
const LONG_WITH_ARGUMENT: [&str; 2] = ["init-file", "rcfile"];
/// Letters that take no argument and that both `-` and `+` may stand before.
const LETTERS: &[u8] = b"abefhikmnprtuvxBCEHPTlscD";
/// Names after `-o`.
const NAMES: [&str; 27] = [
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "keyword",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "onecmd",
    "physical",
    "pipefail",
    "posix",
    "privileged",
    "verbose",
    "vi",
    "xtrace",
];

/// Where the text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// In the argument after `-c`.
    Command(OsString),
    /// In this file.
    File(OsString),
    /// On standard input.
    Stdin,
    /// Nowhere: bash prints something of its own (`--version`, `--help`) and ends.
    Nothing,
}

/// A call of gsh as a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellCall {
    /// Where the text is.
    pub text: Text,
    /// `argv[0]`.
    pub argv0: OsString,
    /// The word after the text of `-c`: its `$0`.
    pub name: Option<OsString>,
    /// `$1` and on.
    pub args: Vec<OsString>,
    /// The options as given, without the end of options.
    pub options: Vec<OsString>,
    /// Those that change how the text is read.
    pub reading: ReadingOptions,
    /// A login shell: its start-up files run first.
    pub login: bool,
}

/// Why bash would not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOption(pub String);

/// Reads the words of a shell's command line.
///
/// # Errors
/// What bash would say; it ends with status 2 then.
pub fn read(argv0: OsString, words: &[OsString]) -> Result<ShellCall, BadOption> {
    let base = Path::new(&argv0).file_name().unwrap_or(&argv0).as_bytes();
    let login = argv0.as_bytes().starts_with(b"-");
    let mut reader = Reader { words, at: 0, login, ..Reader::default() };
    // Called `sh`, bash reads by POSIX's rules.
    reader.reading.posix = base.strip_prefix(b"-").unwrap_or(base) == b"sh";
    reader.long_options()?;
    reader.letters()?;
    reader.finish(argv0)
}

#[derive(Default)]
struct Reader<'a> {
    words: &'a [OsString],
    at: usize,
    options: Vec<OsString>,
    reading: ReadingOptions,
    login: bool,
    command: bool,
    stdin: bool,
    nothing: bool,
}

impl<'a> Reader<'a> {
    fn take(&mut self) -> Option<&'a OsString> {
        let word = self.words.get(self.at)?;
        self.at += 1;
        Some(word)
    }

    fn take_option(&mut self) -> Option<&'a OsString> {
        let word = self.take()?;
        self.options.push(word.clone());
        Some(word)
    }

    /// They must stand before all letters; the first word that is none ends them.
    fn long_options(&mut self) -> Result<(), BadOption> {
        while let Some(word) = self.words.get(self.at).map(|word| word.as_bytes()) {
            let Some(single) = word.strip_prefix(b"-") else { return Ok(()) };
            let (name, double) = match single.strip_prefix(b"-") {
                Some(name) => (name, true),
                None => (single, false),
            };
            let known = |list: &[&str]| list.iter().any(|long| long.as_bytes() == name);
            if known(&LONG) {
                self.take_option();
                self.long(name);
            } else if known(&LONG_WITH_ARGUMENT) {
                self.take_option();
                if self.take_option().is_none() {
                    let name = String::from_utf8_lossy(name);
                    return Err(BadOption(format!("{name}: option requires an argument")));
                }
            } else if double && !name.is_empty() {
                let word = String::from_utf8_lossy(word);
                return Err(BadOption(format!("{word}: invalid option")));
            } else {
                return Ok(());
            }
        }
        Ok(())
    }

    fn long(&mut self, name: &[u8]) {
        match name {
            b"posix" => self.reading.posix = true,
            b"login" => self.login = true,
            b"help" | b"version" => self.nothing = true,
            b"dump-strings" | b"dump-po-strings" | b"pretty-print" => self.reading.noexec = true,
            b"debugger" => self.reading.shopt = true,
            _ => {}
        }
    }

    fn letters(&mut self) -> Result<(), BadOption> {
        while let Some(word) = self.words.get(self.at).map(|word| word.as_bytes()) {
            let Some((sign @ (b'-' | b'+'), letters)) = word.split_first() else { return Ok(()) };
            if *sign == b'-' && matches!(letters, b"" | b"-") {
                self.at += 1;
                return Ok(());
            }
            self.take_option();
            for letter in letters {
                self.letter(*sign, *letter)?;
            }
        }
        Ok(())
    }

    fn letter(&mut self, sign: u8, letter: u8) -> Result<(), BadOption> {
        let on = sign == b'-';
        match letter {
            // Without a name, bash lists the names and goes on.
            b'o' => self.take_option().map_or(Ok(()), |name| self.named(on, name)),
            b'O' => {
                self.reading.shopt |= self.take_option().is_some();
                Ok(())
            }
            known if LETTERS.contains(&known) => {
                self.known(on, known);
                Ok(())
            }
            other => Err(BadOption(format!(
                "{}{}: invalid option",
                char::from(sign),
                char::from(other).escape_default()
            ))),
        }
    }

    /// `c`, `s`, `l` and `D` mean the same with either sign.
    fn known(&mut self, on: bool, letter: u8) {
        match letter {
            b'c' => self.command = true,
            b's' => self.stdin = true,
            b'l' => self.login = true,
            b'D' => self.reading.noexec = true,
            b'i' => self.reading.interactive = on,
            b'n' => self.reading.noexec = on,
            b'x' => self.reading.xtrace = on,
            // Assignments anywhere, `!` for history, no braces: other words out of the same text.
            b'k' | b'H' => self.reading.shopt |= on,
            b'B' => self.reading.shopt |= !on,
            _ => {}
        }
    }

    fn named(&mut self, on: bool, name: &OsStr) -> Result<(), BadOption> {
        let Some(name) = name.to_str().filter(|name| NAMES.contains(name)) else {
            return Err(BadOption(format!("{}: invalid option name", name.to_string_lossy())));
        };
        match name {
            "posix" => self.reading.posix = on,
            "xtrace" => self.reading.xtrace = on,
            "noexec" => self.reading.noexec = on,
            "keyword" | "histexpand" => self.reading.shopt |= on,
            "braceexpand" | "interactive-comments" => self.reading.shopt |= !on,
            _ => {}
        }
        Ok(())
    }

    fn finish(mut self, argv0: OsString) -> Result<ShellCall, BadOption> {
        let mut name = None;
        let text = if self.nothing {
            Text::Nothing
        } else if self.command {
            let Some(command) = self.take() else {
                return Err(BadOption("-c: option requires an argument".to_owned()));
            };
            name = self.take().cloned();
            Text::Command(command.clone())
        } else if self.stdin {
            Text::Stdin
        } else {
            self.take().map_or(Text::Stdin, |file| Text::File(file.clone()))
        };
        let args = self.words.get(self.at..).unwrap_or_default().to_vec();
        let Self { options, reading, login, .. } = self;
        Ok(ShellCall { text, argv0, name, args, options, reading, login })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<ShellCall, BadOption> {
        parse_as("bash", line)
    }

    fn parse_as(argv0: &str, line: &str) -> Result<ShellCall, BadOption> {
        let words: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
        read(argv0.into(), &words)
    }

    /// The text, the name with the arguments, and the options.
    fn shape(call: &ShellCall) -> (String, String, String) {
        let text = match &call.text {
            Text::Command(text) => format!("c:{}", text.display()),
            Text::File(file) => format!("f:{}", file.display()),
            Text::Stdin => "stdin".to_owned(),
            Text::Nothing => "nothing".to_owned(),
        };
        let join = |words: &[OsString]| words.join(OsStr::new(" ")).to_string_lossy().into_owned();
        let mut operands = Vec::from_iter(call.name.clone());
        operands.extend(call.args.iter().cloned());
        (text, join(&operands), join(&call.options))
    }

    #[test]
    fn command_lines_are_taken_apart() {
        let table = [
            ("-c CMD", "c:CMD", "", "-c"),
            ("-lc CMD", "c:CMD", "", "-lc"),
            ("-c -l CMD", "c:CMD", "", "-c -l"),
            ("-l -c CMD n a b", "c:CMD", "n a b", "-l -c"),
            ("-ec CMD", "c:CMD", "", "-ec"),
            ("-cu CMD", "c:CMD", "", "-cu"),
            ("-eu -o pipefail -c CMD", "c:CMD", "", "-eu -o pipefail -c"),
            ("-euo pipefail -c CMD", "c:CMD", "", "-euo pipefail -c"),
            ("-co pipefail CMD", "c:CMD", "", "-co pipefail"),
            ("+x -O extglob +O nullglob -c CMD", "c:CMD", "", "+x -O extglob +O nullglob -c"),
            ("--norc --noprofile -c CMD", "c:CMD", "", "--norc --noprofile -c"),
            ("-norc -c CMD", "c:CMD", "", "-norc -c"),
            ("--rcfile F --init-file G -i", "stdin", "", "--rcfile F --init-file G -i"),
            ("-c -- -x n", "c:-x", "n", "-c"),
            ("-c - CMD", "c:CMD", "", "-c"),
            ("-s -- a b", "stdin", "a b", "-s"),
            ("script a -c b", "f:script", "a -c b", ""),
            ("-e -- -script a", "f:-script", "a", "-e"),
            ("- script", "f:script", "", ""),
            ("", "stdin", "", ""),
            ("--version -c CMD", "nothing", "CMD", "--version -c"),
        ];
        for (line, text, operands, options) in table {
            let found = parse(line).map(|call| shape(&call));
            assert_eq!(found, Ok((text.to_owned(), operands.to_owned(), options.to_owned())), "{line}");
        }
    }

    #[test]
    fn options_that_change_the_reading_are_seen() {
        let none = ReadingOptions::default();
        let table = [
            ("-c CMD", none),
            ("-ic CMD", ReadingOptions { interactive: true, ..none }),
            ("-O extglob -c CMD", ReadingOptions { shopt: true, ..none }),
            ("+B -c CMD", ReadingOptions { shopt: true, ..none }),
            ("-kc CMD", ReadingOptions { shopt: true, ..none }),
            ("--posix -c CMD", ReadingOptions { posix: true, ..none }),
            ("-o posix -c CMD", ReadingOptions { posix: true, ..none }),
            ("--posix +o posix -c CMD", none),
            ("-xc CMD", ReadingOptions { xtrace: true, ..none }),
            ("-x +x -c CMD", none),
            ("-n script", ReadingOptions { noexec: true, ..none }),
            ("--dump-strings script", ReadingOptions { noexec: true, ..none }),
        ];
        for (line, reading) in table {
            assert_eq!(parse(line).map(|call| call.reading), Ok(reading), "{line}");
        }
        let names =
            [("sh", true, false), ("-sh", true, true), ("/bin/sh", true, false), ("-bash", false, true)];
        for (name, posix, login) in names {
            let found = parse_as(name, "-c CMD").map(|call| (call.reading.posix, call.login));
            assert_eq!(found, Ok((posix, login)), "{name}");
        }
        assert_eq!(parse("-lc CMD").map(|call| call.login), Ok(true));
    }

    #[test]
    fn bash_agrees_on_what_it_accepts() {
        let table = [
            "-c exit",
            "-c --norc exit",
            "--nope -c exit",
            "-z -c exit",
            "+z -c exit",
            "-c",
            "-o nope -c exit",
            "-o pipefail -c exit",
            "+o errexit -c exit",
            "-euxo pipefail -c exit",
            "--rcfile",
            "--rcfile F -c exit",
            "-login -c exit",
            "-c -e -- exit",
            "-Bc exit",
            "-Ic exit",
            "--posix -lc exit",
            "-abefhkmnptuvxBCEHPTc exit",
        ];
        for line in table {
            // Only words like `exit` and options are ever run here.
            let shell = std::process::Command::new("/bin/bash")
                .args(line.split_whitespace())
                .env_clear()
                .stdin(std::process::Stdio::null())
                .output();
            let Ok(shell) = shell else { return };
            assert_eq!(parse(line).is_err(), shell.status.code() == Some(2), "{line}");
            if let Err(BadOption(message)) = parse(line) {
                let said = String::from_utf8_lossy(&shell.stderr);
                assert!(said.lines().next().is_some_and(|first| first.ends_with(&message)), "{line}: {said}");
            }
        }
    }
}
