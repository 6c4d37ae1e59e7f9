//! awk's language, as far as it must be told what is harmless: nothing runs, nothing is connected
//! to, and files are written only by name.

use super::Refusal;
use crate::facts::arg::Arg;
use crate::facts::programs::{Inner, Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// Names by which a program runs commands, reads other files or the environment.
const REFUSED: &[&str] = &[
    "system",
    "getline",
    "ENVIRON",
    "PROCINFO",
    "SYMTAB",
    "FUNCTAB",
    "ARGV",
    "ARGC",
    "extension",
    "include",
    "load",
    "namespace",
];
/// Texts that an awk program without any of them cannot do without to do harm.
const SUSPECT: &[&str] =
    &["system", "getline", "ENVIRON", "PROCINFO", "SYMTAB", "FUNCTAB", "ARG", "|", ">", "@", "extension"];

/// Reads a program. What it refuses may still show commands; those are told.
pub(super) fn program(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    let read = plain(text, span, reading);
    if read.is_err() {
        let shells = commands(text).into_iter().map(|command| Inner::Shell {
            text: Arg::literal(command, span),
            args: Vec::new(),
            posix: true,
        });
        reading.inner.extend(shells);
    }
    read
}

fn plain(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    let mut lexer = Lexer { text, at: 0, before: Before::Operator, depth: 0, print: None };
    while let Some(letter) = lexer.peek() {
        if let Some(target) = lexer.step(letter)? {
            reading.uses(target.0, &Arg::literal(target.1, span));
        }
    }
    Ok(())
}

/// Literal commands that a program would run: `system("…")`, and strings on either side of a `|`.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut head = String::new();
    while let Some((before, after)) = rest.split_once('"') {
        head.push_str(before);
        let (mut value, mut escaped, mut end) = (String::new(), false, after.len());
        for (at, letter) in after.char_indices() {
            if letter == '"' && !escaped {
                end = at;
                break;
            }
            if letter != '\\' || escaped {
                value.push(letter);
            }
            escaped = letter == '\\' && !escaped;
        }
        rest = after.get(end + 1..).unwrap_or_default();
        let before = head.trim_end();
        let called = before.strip_suffix('(').is_some_and(|before| before.trim_end().ends_with("system"));
        if called || before.ends_with('|') || rest.trim_start().starts_with('|') {
            found.push(value);
        }
        head.clear();
    }
    found
}

fn refuse(detail: impl Into<String>) -> Refusal {
    (Cause::OpaqueCode, format!("awk: {}", detail.into()))
}

/// What stands before a slash decides whether it divides or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Value,
    Operator,
    Unclear,
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    before: Before,
    depth: usize,
    /// The parenthesis depth of the `print` that is being read.
    print: Option<usize>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let letter = self.peek()?;
        self.at += letter.len_utf8();
        Some(letter)
    }

    /// Reads one token; a file that is written, if it names one.
    fn step(&mut self, letter: char) -> Result<Option<(Role, String)>, Refusal> {
        match letter {
            '"' => {
                self.string()?;
                self.before = Before::Value;
            }
            '#' => {
                while self.peek().is_some_and(|letter| letter != '\n') {
                    self.next();
                }
            }
            '/' => self.slash()?,
            'a'..='z' | 'A'..='Z' | '_' => self.name()?,
            '0'..='9' | '.' | '$' => {
                self.next();
                self.before = Before::Value;
            }
            '>' => return self.greater(),
            '|' if self.rest().starts_with("||") => self.operator(2),
            '|' => return Err(refuse("a pipe")),
            '@' => return Err(refuse("@")),
            '+' | '-' if self.rest().starts_with("++") || self.rest().starts_with("--") => {
                self.operator(2);
                self.before = Before::Unclear;
            }
            _ => self.punctuation(letter)?,
        }
        Ok(None)
    }

    fn operator(&mut self, length: usize) {
        self.at += length;
        self.before = Before::Operator;
    }

    fn punctuation(&mut self, letter: char) -> Result<(), Refusal> {
        self.next();
        match letter {
            ' ' | '\t' | '\r' => return Ok(()),
            '\\' => {
                return match self.next() {
                    Some('\n') => Ok(()),
                    _ => Err(refuse("a backslash")),
                };
            }
            '(' | '[' => self.depth += 1,
            ')' | ']' => self.depth = self.depth.saturating_sub(1),
            // After an operator the statement goes on in the next line.
            '\n' if self.before == Before::Operator => return Ok(()),
            ';' | '\n' | '{' | '}' => self.print = None,
            _ if letter.is_ascii_punctuation() && letter != '\'' && letter != '`' => {}
            _ => return Err(refuse(format!("{letter:?}"))),
        }
        self.before = match letter {
            ')' => Before::Unclear,
            ']' => Before::Value,
            _ => Before::Operator,
        };
        Ok(())
    }

    fn string(&mut self) -> Result<String, Refusal> {
        self.next();
        let mut value = String::new();
        while let Some(letter) = self.next() {
            match letter {
                '"' => return Ok(value),
                '\n' => break,
                '\\' => {
                    value.push(letter);
                    value.extend(self.next());
                }
                _ => value.push(letter),
            }
        }
        Err(refuse("a string does not end"))
    }

    fn name(&mut self) -> Result<(), Refusal> {
        let from = self.at;
        while self.peek().is_some_and(|letter| letter.is_ascii_alphanumeric() || letter == '_') {
            self.next();
        }
        let name = self.text.get(from..self.at).unwrap_or_default();
        if REFUSED.contains(&name) {
            return Err(refuse(name));
        }
        self.before = Before::Value;
        if matches!(name, "print" | "printf") {
            self.print = Some(self.depth);
        }
        if matches!(name, "print" | "printf" | "return" | "in" | "case" | "else" | "do" | "BEGIN" | "END") {
            self.before = Before::Operator;
        }
        Ok(())
    }

    fn slash(&mut self) -> Result<(), Refusal> {
        match self.before {
            Before::Value => self.operator(1),
            Before::Operator => self.expression()?,
            Before::Unclear => {
                self.must_be_harmless("a slash that may divide")?;
                self.operator(1);
            }
        }
        Ok(())
    }

    /// Where tokens cannot be told apart for sure, no token may be able to do harm.
    fn must_be_harmless(&self, why: &str) -> Result<(), Refusal> {
        if SUSPECT.iter().any(|word| self.text.contains(word)) { Err(refuse(why)) } else { Ok(()) }
    }

    fn expression(&mut self) -> Result<(), Refusal> {
        self.next();
        let mut bracket = false;
        while let Some(letter) = self.next() {
            match letter {
                '/' if bracket => self.must_be_harmless("a slash in brackets")?,
                '/' => {
                    self.before = Before::Value;
                    return Ok(());
                }
                '[' => bracket = true,
                ']' => bracket = false,
                '\\' => drop(self.next()),
                '\n' => break,
                _ => {}
            }
        }
        self.must_be_harmless("an expression does not end")
    }

    /// A comparison, or in a `print` the file it writes.
    fn greater(&mut self) -> Result<Option<(Role, String)>, Refusal> {
        if self.print != Some(self.depth) {
            let length = if self.rest().starts_with(">=") { 2 } else { 1 };
            self.operator(length);
            return Ok(None);
        }
        let appends = self.rest().starts_with(">>");
        self.operator(if appends { 2 } else { 1 });
        while self.peek().is_some_and(|letter| matches!(letter, ' ' | '\t')) {
            self.next();
        }
        if self.peek() != Some('"') {
            return Err(refuse("a file that is not named"));
        }
        let name = self.string()?;
        let after = self.rest().trim_start_matches([' ', '\t']).chars().next();
        let ends = matches!(after, None | Some(';' | '}' | '\n'));
        if !ends || name.contains('\\') || name.starts_with("/inet") {
            return Err(refuse("a file that is not plainly named"));
        }
        self.before = Before::Value;
        Ok(Some((if appends { Role::Append } else { Role::Write }, name)))
    }
}
