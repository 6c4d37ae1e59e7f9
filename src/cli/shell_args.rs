//! bash's own option grammar, as bash reads it: long options first (with one dash or two), then
//! letters with `-` and `+`, then operands. What is read here is only what gsh must know; the
//! options themselves reach bash as they were given.

mod names;

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use self::names::{FINDS_FILES, LETTERS, LONG, LONG_WITH_ARGUMENT, NAMES, SHOPT};
use crate::request::ReadingOptions;

/// Whether a text may mean something else with this name after `-O`, so that it is asked about in every mode.
#[must_use]
pub fn changes_meaning(name: &str) -> bool {
    SHOPT.contains(&name)
}

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
    /// `-e`: an error is its end.
    pub errexit: bool,
}

/// Why bash would not start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadOption {
    /// What is wrong, without the name of the shell.
    pub message: String,
    /// The words to the one that is wrong, which bash itself would tell of.
    pub words: Vec<OsString>,
}

impl BadOption {
    /// The call in which bash itself says what is wrong, and runs nothing.
    #[must_use]
    pub fn into_call(self, argv0: OsString) -> ShellCall {
        ShellCall {
            text: Text::Nothing,
            argv0,
            name: None,
            args: Vec::new(),
            options: self.words,
            reading: ReadingOptions::default(),
            login: false,
            errexit: false,
        }
    }
}

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
    let read = reader.long_options().and_then(|()| reader.letters()).and_then(|()| reader.text());
    match read {
        Ok((text, name)) => Ok(reader.finish(argv0, text, name)),
        Err(message) => Err(BadOption { message, words: words.get(..reader.at).unwrap_or(words).to_vec() }),
    }
}

#[derive(Default)]
struct Reader<'a> {
    words: &'a [OsString],
    at: usize,
    options: Vec<OsString>,
    reading: ReadingOptions,
    login: bool,
    errexit: bool,
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
    fn long_options(&mut self) -> Result<(), String> {
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
                    return Err(format!("{name}: option requires an argument"));
                }
            } else if double && !name.is_empty() {
                self.take_option();
                let word = String::from_utf8_lossy(word);
                return Err(format!("{word}: invalid option"));
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
            b"debugger" => self.reading.expansion = true,
            _ => {}
        }
    }

    fn letters(&mut self) -> Result<(), String> {
        if self.nothing {
            return Ok(());
        }
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

    fn letter(&mut self, sign: u8, letter: u8) -> Result<(), String> {
        let on = sign == b'-';
        match letter {
            // Without a name, bash lists the names and goes on.
            b'o' => self.take_option().map_or(Ok(()), |name| self.named(on, name)),
            // Without a name here too.
            b'O' => self.take_option().map_or(Ok(()), |name| self.shopt(name)),
            known if LETTERS.contains(&known) => {
                self.known(on, known);
                Ok(())
            }
            other => {
                Err(format!("{}{}: invalid option", char::from(sign), char::from(other).escape_default()))
            }
        }
    }

    /// `c`, `s`, `l` and `D` mean the same with either sign.
    fn known(&mut self, on: bool, letter: u8) {
        match letter {
            b'c' => self.command = true,
            b's' => self.stdin = true,
            b'l' => self.login = true,
            b'D' => self.reading.noexec = true,
            b'e' => self.errexit = on,
            b'i' => self.reading.interactive = on,
            b'n' => self.reading.noexec = on,
            b'x' => self.reading.xtrace = on,
            // Assignments anywhere, `!` for history, no braces: other words out of the same text.
            b'k' | b'H' => self.reading.expansion |= on,
            b'B' => self.reading.expansion |= !on,
            _ => {}
        }
    }

    fn named(&mut self, on: bool, name: &OsStr) -> Result<(), String> {
        let Some(name) = name.to_str().filter(|name| NAMES.contains(name)) else {
            return Err(format!("{}: invalid option name", name.to_string_lossy()));
        };
        match name {
            "errexit" => self.errexit = on,
            "posix" => self.reading.posix = on,
            "xtrace" => self.reading.xtrace = on,
            "noexec" => self.reading.noexec = on,
            "keyword" | "histexpand" => self.reading.expansion |= on,
            "braceexpand" => self.reading.expansion |= !on,
            "interactive-comments" => self.reading.shopt |= !on,
            _ => {}
        }
        Ok(())
    }

    fn shopt(&mut self, name: &OsStr) -> Result<(), String> {
        match name.to_str() {
            Some(name) if FINDS_FILES.contains(&name) => self.reading.expansion = true,
            Some(name) if changes_meaning(name) => self.reading.shopt = true,
            _ => return Err(format!("{}: invalid shell option name", name.to_string_lossy())),
        }
        Ok(())
    }

    /// Where the text is, and the name that stands after the text of `-c`.
    fn text(&mut self) -> Result<(Text, Option<OsString>), String> {
        if self.nothing {
            return Ok((Text::Nothing, None));
        }
        if self.command {
            let command = self.take().ok_or("-c: option requires an argument")?;
            return Ok((Text::Command(command.clone()), self.take().cloned()));
        }
        let file = if self.stdin { None } else { self.take() };
        Ok((file.map_or(Text::Stdin, |file| Text::File(file.clone())), None))
    }

    fn finish(self, argv0: OsString, text: Text, name: Option<OsString>) -> ShellCall {
        let args = self.words.get(self.at..).unwrap_or_default().to_vec();
        let Self { options, reading, login, errexit, .. } = self;
        ShellCall { text, argv0, name, args, options, reading, login, errexit }
    }
}

#[cfg(test)]
mod tests;
