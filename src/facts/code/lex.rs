//! Tokens of a language that is not read: names, strings, signs. Comments are left out.

use super::Tongue;

/// The most tokens that are looked at.
const TOKENS: usize = 4096;

/// Stands for the home folder in a string that names it.
pub(super) const HOME: &str = "\u{1}";

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or number.
    Name(String),
    /// A string; `None` when something is put into it when it runs.
    Text(Option<String>),
    /// A string that is run by a shell as it stands (backticks, `qx`, `%x`).
    Command(Option<String>),
    /// A list of words (`qw`, `%w`).
    List(Vec<String>),
    /// Any other character; a newline is one.
    Sign(char),
}

/// The tokens of a text.
pub(super) fn tokens(tongue: Tongue, text: &str) -> Vec<Token> {
    let mut lexer = Lexer { tongue, rest: text, found: Vec::new() };
    while lexer.found.len() < TOKENS && lexer.step().is_some() {}
    lexer.found
}

struct Lexer<'a> {
    tongue: Tongue,
    rest: &'a str,
    found: Vec<Token>,
}

impl Lexer<'_> {
    fn step(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        if self.comment() {
            return Some(());
        }
        match first {
            '"' | '\'' if first == '"' || self.tongue != Tongue::Lisp => self.quoted(first, ""),
            '`' => {
                let text = self.delimited('`', '`', true);
                // JavaScript's is a string with holes, and a command after a `$`.
                let plain = self.tongue == Tongue::JavaScript
                    && self.found.last() != Some(&Token::Name("$".to_owned()));
                self.found.push(if plain { Token::Text(text) } else { Token::Command(text) });
            }
            '%' if self.tongue == Tongue::Ruby => self.percent(),
            _ if first.is_alphanumeric() || matches!(first, '_' | '$') => self.name(),
            _ => {
                self.rest = self.rest.get(first.len_utf8()..)?;
                if !matches!(first, ' ' | '\t' | '\r') {
                    self.found.push(Token::Sign(first));
                }
            }
        }
        Some(())
    }

    /// Skips a comment that begins here.
    fn comment(&mut self) -> bool {
        use Tongue::{JavaScript, Lisp, Lua, Perl, Php, Python, Ruby};
        let line = match self.tongue {
            Python | Perl | Ruby => self.rest.starts_with('#'),
            JavaScript => self.rest.starts_with("//"),
            Php => self.rest.starts_with("//") || self.rest.starts_with('#'),
            Lua => self.rest.starts_with("--"),
            Lisp => self.rest.starts_with(';'),
        };
        let block = matches!(self.tongue, JavaScript | Php) && self.rest.starts_with("/*");
        let end = match (line, block) {
            (true, _) => self.rest.find('\n'),
            (_, true) => self.rest.find("*/").map(|at| at + 2),
            _ => return false,
        };
        self.rest = end.and_then(|at| self.rest.get(at..)).unwrap_or_default();
        true
    }

    fn name(&mut self) {
        let part =
            |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '-' && self.tongue == Tongue::Lisp;
        let end = self.rest.find(|c: char| !part(c)).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let name = name.to_owned();
        self.rest = rest;
        let next = rest.chars().next();
        match (self.tongue, next) {
            (Tongue::Python, Some(quote @ ('"' | '\'')))
                if name.len() < 3 && name.chars().all(|c| "rbufRBUF".contains(c)) =>
            {
                self.quoted(quote, &name);
            }
            (Tongue::Perl, Some(open))
                if matches!(name.as_str(), "q" | "qq" | "qx" | "qw")
                    && !open.is_alphanumeric()
                    && !matches!(open, ' ' | ',' | ';' | '=') =>
            {
                let text = self.delimited(open, closing(open), name != "q");
                self.found.push(match (name.as_str(), text) {
                    ("qx", text) => Token::Command(text),
                    ("qw", Some(text)) => Token::List(text.split_whitespace().map(str::to_owned).collect()),
                    (_, text) => Token::Text(text),
                });
            }
            _ => self.found.push(Token::Name(name)),
        }
    }

    /// Ruby's `%x( … )`, `%w[ … ]`, `%q{ … }`.
    fn percent(&mut self) {
        let mut letters = self.rest.chars().skip(1);
        match (letters.next(), letters.next()) {
            (
                Some(kind @ ('x' | 'w' | 'q' | 'Q')),
                Some(open @ ('(' | '[' | '{' | '<' | '|' | '!' | '/')),
            ) => {
                self.rest = self.rest.get(2..).unwrap_or_default();
                let text = self.delimited(open, closing(open), kind != 'q');
                self.found.push(match (kind, text) {
                    ('x', text) => Token::Command(text),
                    ('w', Some(text)) => Token::List(text.split_whitespace().map(str::to_owned).collect()),
                    (_, text) => Token::Text(text),
                });
            }
            _ => {
                self.rest = self.rest.get(1..).unwrap_or_default();
                self.found.push(Token::Sign('%'));
            }
        }
    }

    /// A string in quotes, three of them in Python, after a prefix.
    fn quoted(&mut self, quote: char, prefix: &str) {
        let raw = prefix.contains(['r', 'R']);
        let format = prefix.contains(['f', 'F']);
        let triple: String = std::iter::repeat_n(quote, 3).collect();
        let text = if self.tongue == Tongue::Python && self.rest.starts_with(&triple) {
            let (body, rest) = self.rest.get(3..).unwrap_or_default().split_once(&triple).unwrap_or(("", ""));
            let body = if raw { Some(body.to_owned()) } else { unescaped(body, true) };
            self.rest = rest;
            body
        } else if raw {
            let (body, rest) = self.rest.get(1..).unwrap_or_default().split_once(quote).unwrap_or(("", ""));
            let body = body.to_owned();
            self.rest = rest;
            Some(body)
        } else {
            self.delimited(quote, quote, quote == '"')
        };
        self.found.push(Token::Text(text.filter(|text| !format || !text.contains('{'))));
    }

    /// The text between two delimiters, without its backslashes; None when it has holes, or does not end.
    fn delimited(&mut self, open: char, close: char, holes: bool) -> Option<String> {
        let body = self.rest.get(open.len_utf8()..)?;
        let (mut depth, mut escaped, mut end) = (0_usize, false, None);
        for (at, letter) in body.char_indices() {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                _ if letter == close && depth == 0 => {
                    end = Some(at);
                    break;
                }
                _ if letter == close => depth -= 1,
                _ if letter == open => depth += 1,
                _ => {}
            }
        }
        let Some(end) = end else {
            self.rest = "";
            return None;
        };
        let text = body.get(..end)?;
        self.rest = body.get(end + close.len_utf8()..)?;
        let all = matches!(self.tongue, Tongue::Python | Tongue::JavaScript | Tongue::Lua) || open != '\'';
        let named = if holes { self.homes(text) } else { text.to_owned() };
        if holes && self.has_hole(&named) {
            return None;
        }
        unescaped(&named, all)
    }

    /// Interpolations that name the home folder.
    fn homes(&self, text: &str) -> String {
        let names: &[&str] = match self.tongue {
            Tongue::Perl => &["$ENV{HOME}", "$ENV{'HOME'}", "$ENV{\"HOME\"}"],
            Tongue::Ruby => &["#{ENV['HOME']}", "#{ENV[\"HOME\"]}", "#{Dir.home}"],
            Tongue::JavaScript => &["${process.env.HOME}", "${os.homedir()}"],
            _ => &[],
        };
        names.iter().fold(text.to_owned(), |text, name| text.replace(name, HOME))
    }

    /// Whether a string in double quotes (or backticks) has something put into it.
    fn has_hole(&self, text: &str) -> bool {
        match self.tongue {
            Tongue::Perl => text.contains(['$', '@']),
            Tongue::Php => text.contains('$'),
            Tongue::Ruby => text.contains("#{"),
            Tongue::JavaScript => text.contains("${"),
            Tongue::Python | Tongue::Lua | Tongue::Lisp => false,
        }
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        other => other,
    }
}

/// A string's text: `all` backslash sequences, or only that of a quote and of itself.
fn unescaped(text: &str, all: bool) -> Option<String> {
    let mut made = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            made.push(letter);
            continue;
        }
        match letters.next()? {
            'n' if all => made.push('\n'),
            't' if all => made.push('\t'),
            'x' if all => {
                let digits: String = letters.by_ref().take(2).collect();
                made.push(char::from(u8::from_str_radix(&digits, 16).ok()?));
            }
            '\n' if all => {}
            other @ ('\\' | '\'' | '"' | '`' | '/' | '$' | '@' | '~') => made.push(other),
            other => made.extend(['\\', other]),
        }
    }
    Some(made)
}
