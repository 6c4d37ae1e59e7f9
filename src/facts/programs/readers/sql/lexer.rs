//! SQL's words, quotes and comments, where the dialects agree on them.

use super::Dialect;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A bare word, in lower case.
    Word(String),
    /// A name in quotes (of MySQL perhaps a text).
    Quoted(String),
    /// A text in quotes.
    Text(String),
    Number,
    Symbol(char),
    /// `::`
    Cast,
    End,
}

/// The words of a text.
pub(super) fn lex(dialect: Dialect, text: &str) -> Result<Vec<Token>, String> {
    if text.chars().any(|letter| letter.is_control() && letter != '\n' && letter != '\t') {
        return Err("a control character".to_owned());
    }
    let mut lexer = Lexer { dialect, rest: text, tokens: Vec::new() };
    while let Some(letter) = lexer.rest.chars().next() {
        lexer.step(letter)?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'a> {
    dialect: Dialect,
    rest: &'a str,
    tokens: Vec<Token>,
}

fn begins_word(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_' || !letter.is_ascii()
}

fn in_word(letter: char) -> bool {
    begins_word(letter) || letter.is_ascii_digit() || letter == '$'
}

impl<'a> Lexer<'a> {
    fn skip(&mut self, count: usize) {
        self.rest = self.rest.get(count..).unwrap_or_default();
    }

    /// Takes what is before `end`, and `end` too.
    fn until(&mut self, end: &str) -> Option<&'a str> {
        let (before, after) = self.rest.split_once(end)?;
        self.rest = after;
        Some(before)
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|letter| !in_word(letter)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn step(&mut self, letter: char) -> Result<(), String> {
        let two = self.rest.get(..2).unwrap_or_default();
        let next = self.rest.chars().nth(1);
        match letter {
            _ if letter.is_ascii_whitespace() => self.skip(1),
            _ if two == "--" => {
                let plain = self
                    .rest
                    .get(2..)
                    .is_none_or(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']));
                if self.dialect == Dialect::Mysql && !plain {
                    return Err("`--` without a blank".to_owned());
                }
                self.line();
            }
            '#' if self.dialect == Dialect::Mysql => self.line(),
            _ if two == "/*" => self.comment()?,
            _ if two == "//" => return Err("`//`".to_owned()),
            '\'' => {
                let text = self.quoted('\'')?;
                self.tokens.push(Token::Text(text));
            }
            '"' => {
                let name = self.quoted('"')?;
                self.tokens.push(Token::Quoted(name));
            }
            '`' if self.dialect != Dialect::Postgres => {
                let name = self.quoted('`')?;
                self.tokens.push(Token::Quoted(name));
            }
            '[' if self.dialect == Dialect::Sqlite => {
                let name = self.until("]").ok_or("an open bracket")?;
                self.tokens.push(Token::Quoted(name.trim_start_matches('[').to_owned()));
            }
            '$' if matches!(self.dialect, Dialect::Postgres | Dialect::Duckdb) => self.dollar()?,
            ';' => {
                self.skip(1);
                self.tokens.push(Token::End);
            }
            '\\' if self.dialect == Dialect::Mysql && matches!(next, Some('G' | 'g')) => {
                self.skip(2);
                self.tokens.push(Token::End);
            }
            '#' if self.dialect == Dialect::Postgres => {
                self.skip(1);
                self.tokens.push(Token::Symbol('#'));
            }
            '\\' | '`' | '#' | '{' | '}' | '$' => return Err(format!("`{letter}`")),
            ':' if next == Some(':') => {
                self.skip(2);
                self.tokens.push(Token::Cast);
            }
            // psql puts a variable there.
            ':' if next.is_some_and(|next| begins_word(next) || matches!(next, '\'' | '"' | '{')) => {
                return Err("a variable".to_owned());
            }
            _ if letter.is_ascii_digit() => self.number()?,
            _ if self.dialect == Dialect::Plain && !letter.is_ascii() => return Err(format!("`{letter}`")),
            _ if begins_word(letter) => {
                let word = self.word().to_lowercase();
                self.tokens.push(Token::Word(word));
            }
            _ => {
                self.skip(letter.len_utf8());
                self.tokens.push(Token::Symbol(letter));
            }
        }
        Ok(())
    }

    fn line(&mut self) {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        // The client of MySQL looks for its commands in comments as well.
        if self.rest.get(..end).is_some_and(|comment| comment.contains('\\')) {
            self.tokens.push(Token::Word("\\".to_owned()));
        }
        self.skip(end);
    }

    /// `/* … */`: MySQL executes some, and whether they nest differs.
    fn comment(&mut self) -> Result<(), String> {
        self.skip(2);
        let comment = self.until("*/").ok_or("an open comment")?;
        if comment.starts_with(['!', '+', 'M'])
            || comment.contains("/*")
            || comment.contains(['\\', '\'', '"', '`', ';'])
        {
            return Err("a comment that is more than one".to_owned());
        }
        Ok(())
    }

    /// A quote, itself doubled inside. Where a backslash would keep it open in one dialect and not in
    /// another, it is not read.
    fn quoted(&mut self, quote: char) -> Result<String, String> {
        let mut value = String::new();
        let mut letters = self.rest.char_indices().skip(1).peekable();
        let mut odd = false;
        while let Some((at, letter)) = letters.next() {
            if letter != quote {
                odd = letter == '\\' && !odd;
                value.push(letter);
                continue;
            }
            if odd {
                return Err("a backslash before a quote".to_owned());
            }
            if letters.next_if(|(_, next)| *next == quote).is_none() {
                self.skip(at + 1);
                return Ok(value);
            }
            value.push(quote);
        }
        Err("an open quote".to_owned())
    }

    /// `$tag$ … $tag$`, `$1`.
    fn dollar(&mut self) -> Result<(), String> {
        let after = self.rest.get(1..).unwrap_or_default();
        let digits = after.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(after.len());
        if digits > 0 {
            self.skip(1 + digits);
            self.tokens.push(Token::Number);
            return if self.rest.starts_with(in_word) { Err("`$`".to_owned()) } else { Ok(()) };
        }
        let end = after.find('$').ok_or("`$`")?;
        let (tag, _) = after.split_at(end);
        if !tag.chars().all(|letter| in_word(letter) && letter != '$') {
            return Err("`$`".to_owned());
        }
        self.skip(end + 2);
        let text = self.until(&format!("${tag}$")).ok_or("an open quote")?;
        self.tokens.push(Token::Text(text.to_owned()));
        Ok(())
    }

    /// A number must end where a word cannot begin: `1into` is read in two ways.
    fn number(&mut self) -> Result<(), String> {
        let word = self.word();
        let lower = word.to_ascii_lowercase();
        let exponent = lower.strip_suffix('e').is_some_and(is_digits) && self.rest.starts_with(['+', '-']);
        let plain = is_digits(&lower)
            || lower.split_once('e').is_some_and(|(left, right)| is_digits(left) && is_digits(right))
            || lower
                .strip_prefix("0x")
                .is_some_and(|hex| !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
        if !plain && !exponent {
            return Err(format!("`{word}`"));
        }
        if exponent {
            self.skip(1);
            if !self.rest.starts_with(|letter: char| letter.is_ascii_digit()) || !is_digits(self.word()) {
                return Err(format!("`{word}`"));
            }
        }
        self.tokens.push(Token::Number);
        Ok(())
    }
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
