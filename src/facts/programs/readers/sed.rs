//! sed's language: which files a script reads and writes, and whether it runs commands.

use std::iter::Peekable;
use std::str::Chars;

use super::Refusal;
use crate::facts::arg::Arg;
use crate::facts::programs::{Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// Reads one script (or one `-e` piece of it).
pub(super) fn script(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    Script { rest: text.chars().peekable(), span, reading }.read()
}

fn refuse(detail: impl Into<String>) -> Refusal {
    (Cause::OpaqueCode, detail.into())
}

struct Script<'a> {
    rest: Peekable<Chars<'a>>,
    span: Span,
    reading: &'a mut Reading,
}

impl Script<'_> {
    fn read(&mut self) -> Result<(), Refusal> {
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
    fn addresses(&mut self) -> Result<(), Refusal> {
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

    fn address(&mut self) -> Result<bool, Refusal> {
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
                self.until(delimiter)?;
                self.skip(|letter| matches!(letter, 'I' | 'M'));
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Goes past the next delimiter that no backslash protects.
    fn until(&mut self, delimiter: Option<char>) -> Result<(), Refusal> {
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

    fn command(&mut self) -> Result<(), Refusal> {
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
            Some('e') => Err(refuse("sed command e runs a command")),
            Some(other) => Err(refuse(format!("sed command {other}"))),
        }
    }

    /// Only blanks, a comment or a closing brace may follow.
    fn end(&mut self) -> Result<(), Refusal> {
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

    fn file(&mut self, role: Role) -> Result<(), Refusal> {
        self.blanks();
        let name = self.line();
        if name.is_empty() {
            return Err(refuse("sed file name is missing"));
        }
        self.reading.uses(role, &Arg::literal(name, self.span));
        Ok(())
    }

    fn substitute(&mut self) -> Result<(), Refusal> {
        let delimiter = self.rest.next();
        self.until(delimiter)?;
        self.until(delimiter)?;
        loop {
            match self.rest.peek() {
                Some('g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9') => drop(self.rest.next()),
                Some('e') => return Err(refuse("sed flag e runs a command")),
                Some('w') => {
                    self.rest.next();
                    return self.file(Role::Write);
                }
                _ => return self.end(),
            }
        }
    }
}
