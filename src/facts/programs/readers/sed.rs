//! sed's language: which files a script reads and writes, and whether it runs commands.

use std::iter::Peekable;
use std::str::Chars;

use super::Refusal;
use crate::facts::arg::Arg;
use crate::facts::programs::{Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// The most files that one script may name.
const MOST_FILES: usize = 256;

/// Reads one script (or one `-e` piece of it).
///
/// Whether a delimiter in brackets (`s/[/]/x/`) ends the expression differs between seds. It must be
/// readable by the one rule; by the other it may be wrong, but must not do more than is told.
pub(super) fn script(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    let read = |brackets: bool, reading: &mut Reading| {
        Script { rest: text.chars().peekable(), brackets, span, reading }.read()
    };
    match (read(true, reading), read(false, reading)) {
        (Err(Fault::Wrong(detail)), _) => Err((Cause::OpaqueCode, detail)),
        (Err(Fault::Runs), _) | (_, Err(Fault::Runs)) => {
            Err((Cause::OpaqueCode, "the sed script runs a command".to_owned()))
        }
        (Ok(()), _) => Ok(()),
    }
}

/// Why a script is not explained.
enum Fault {
    /// It runs a command.
    Runs,
    /// It is not understood.
    Wrong(String),
}

fn refuse(detail: impl Into<String>) -> Fault {
    Fault::Wrong(detail.into())
}

struct Script<'a> {
    rest: Peekable<Chars<'a>>,
    /// A delimiter in brackets is part of the expression.
    brackets: bool,
    span: Span,
    reading: &'a mut Reading,
}

impl Script<'_> {
    fn read(&mut self) -> Result<(), Fault> {
        loop {
            self.skip(|letter| letter.is_whitespace() || letter == ';' || letter == '}');
            if self.rest.peek().is_none() {
                return Ok(());
            }
            self.addresses()?;
            self.command()?;
        }
    }

    fn skip(&mut self, test: impl Fn(char) -> bool) {
        while self.rest.next_if(|letter| test(*letter)).is_some() {}
    }

    fn blanks(&mut self) {
        self.skip(|letter| letter == ' ' || letter == '\t');
    }

    /// `1,/x/!`
    fn addresses(&mut self) -> Result<(), Fault> {
        if self.address()? {
            self.blanks();
            if self.rest.next_if_eq(&',').is_some() {
                self.blanks();
                self.rest.next_if(|letter| matches!(letter, '+' | '~'));
                if !self.address()? {
                    return Err(refuse("sed address"));
                }
            }
        }
        self.skip(|letter| matches!(letter, ' ' | '\t' | '!'));
        Ok(())
    }

    fn address(&mut self) -> Result<bool, Fault> {
        match self.rest.peek() {
            Some('0'..='9') => {
                self.skip(|letter| letter.is_ascii_digit() || letter == '~');
                Ok(true)
            }
            Some('$') => Ok(self.rest.next().is_some()),
            Some('/' | '\\') => {
                let mut delimiter = self.rest.next();
                if delimiter == Some('\\') {
                    delimiter = self.rest.next();
                }
                self.expression(delimiter)?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Goes past the next delimiter that no backslash protects.
    fn until(&mut self, delimiter: Option<char>) -> Result<(), Fault> {
        let delimiter = delimiter.filter(|letter| !matches!(letter, '\n' | '\\'));
        let delimiter = delimiter.ok_or_else(|| refuse("sed delimiter"))?;
        while let Some(letter) = self.rest.next() {
            if letter == delimiter {
                return Ok(());
            }
            if letter == '\\' {
                self.rest.next();
            }
        }
        Err(refuse("sed expression does not end"))
    }

    /// Goes past the delimiter that ends a regular expression.
    fn expression(&mut self, delimiter: Option<char>) -> Result<(), Fault> {
        if !self.brackets {
            return self.until(delimiter);
        }
        let end = delimiter.filter(|letter| !matches!(letter, '\n' | '\\'));
        let end = end.ok_or_else(|| refuse("sed delimiter"))?;
        while let Some(letter) = self.rest.next() {
            match letter {
                _ if letter == end => return Ok(()),
                '\\' => drop(self.rest.next()),
                '[' => self.bracket()?,
                _ => {}
            }
        }
        Err(refuse("sed expression does not end"))
    }

    /// The rest of a bracket expression.
    fn bracket(&mut self) -> Result<(), Fault> {
        self.rest.next_if_eq(&'^');
        self.rest.next_if_eq(&']');
        while let Some(letter) = self.rest.next() {
            match letter {
                ']' => return Ok(()),
                // Whether the backslash protects the bracket differs as well.
                '\\' if self.rest.peek() == Some(&']') => return Err(refuse("sed: \\] in brackets")),
                '[' => {
                    if let Some(kind) = self.rest.next_if(|letter| matches!(letter, ':' | '.' | '=')) {
                        self.class(kind);
                    }
                }
                _ => {}
            }
        }
        Err(refuse("sed brackets do not end"))
    }

    /// `alpha:]` of `[:alpha:]`.
    fn class(&mut self, kind: char) {
        while let Some(letter) = self.rest.next() {
            if letter == kind && self.rest.next_if_eq(&']').is_some() {
                return;
            }
        }
    }

    fn command(&mut self) -> Result<(), Fault> {
        match self.rest.next() {
            None => Err(refuse("sed command is missing")),
            Some('{' | '}') => Ok(()),
            Some('#') => {
                self.line();
                Ok(())
            }
            Some('=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F') => {
                self.end()
            }
            Some('l' | 'q' | 'Q' | 'L') => {
                self.blanks();
                self.skip(|letter| letter.is_ascii_digit());
                self.end()
            }
            Some('a' | 'i' | 'c') => {
                self.text();
                Ok(())
            }
            Some(':' | 'b' | 't' | 'T' | 'v') => {
                self.blanks();
                self.skip(|letter| !letter.is_whitespace() && letter != ';' && letter != '}');
                Ok(())
            }
            Some('s') => self.substitute(),
            Some('y') => {
                let delimiter = self.rest.next();
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.end()
            }
            Some('r' | 'R') => self.file(Role::Read),
            Some('w' | 'W') => self.file(Role::Write),
            Some('e') => {
                self.blanks();
                let command = self.line();
                Err(self.runs(command))
            }
            Some(other) => Err(refuse(format!("sed command {other}"))),
        }
    }

    /// Only blanks, a comment or a closing brace may follow.
    fn end(&mut self) -> Result<(), Fault> {
        self.blanks();
        match self.rest.peek() {
            None | Some(';' | '\n' | '}' | '#') => Ok(()),
            Some(other) => Err(refuse(format!("sed: {other} after a command"))),
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        while let Some(letter) = self.rest.next_if(|letter| *letter != '\n') {
            line.push(letter);
        }
        line
    }

    /// A command that a shell would run.
    fn runs(&mut self, command: String) -> Fault {
        self.reading.glances.push(vec![Arg::literal(command, self.span)]);
        Fault::Runs
    }

    /// The text of `a`, `i`, `c`: to the end of a line that no backslash continues.
    fn text(&mut self) {
        while let Some(letter) = self.rest.next() {
            match letter {
                '\\' => drop(self.rest.next()),
                '\n' => return,
                _ => {}
            }
        }
    }

    fn file(&mut self, role: Role) -> Result<(), Fault> {
        self.blanks();
        let name = self.line();
        if name.is_empty() {
            return Err(refuse("sed file name is missing"));
        }
        // Each one is compared with those before it.
        if self.reading.uses.len() > MOST_FILES {
            return Err(refuse("sed: too many files"));
        }
        let arg = Arg::literal(name, self.span);
        if !self.reading.uses.iter().any(|each| each.role == role && each.arg == arg) {
            self.reading.uses(role, &arg);
        }
        Ok(())
    }

    fn substitute(&mut self) -> Result<(), Fault> {
        let delimiter = self.rest.next();
        self.expression(delimiter)?;
        let before = self.rest.clone();
        self.until(delimiter)?;
        loop {
            match self.rest.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.rest.next()),
                // What stands in the expression's place is run with the rest of the line.
                Some('e') => {
                    let with = before.take_while(|letter| Some(*letter) != delimiter).collect();
                    return Err(self.runs(with));
                }
                Some('w') => {
                    self.rest.next();
                    return self.file(Role::Write);
                }
                _ => return self.end(),
            }
        }
    }
}
