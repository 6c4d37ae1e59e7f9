//! SQL, as far as it must be told that a text only reads: every statement begins with a verb that reads,
//! no word of it changes anything, and every function is a known one. Whatever the dialects read
//! differently is not explained.

use super::Refusal;
use super::sql_words::{CLIENT, DENIED, DENIED_TABLES, DOT, KEYWORDS, PRAGMAS, PURE, SCANS, SETTINGS};
use crate::facts::arg::Arg;
use crate::facts::programs::{Act, Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// Whose SQL it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// PostgreSQL, through psql.
    Postgres,
    /// MySQL and MariaDB, through their client.
    Mysql,
    /// SQLite, through its shell.
    Sqlite,
    /// DuckDB: a name can be a file.
    Duckdb,
    /// Any other.
    Plain,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
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

/// Reads a text that one option or operand gives.
pub(super) fn text(dialect: Dialect, text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    let read = match dialect {
        Dialect::Postgres if text.starts_with('\\') => backslash(text),
        Dialect::Sqlite | Dialect::Duckdb if text.starts_with('.') => dot(text),
        _ => statements(dialect, text, span, reading),
    };
    read.map_err(|detail| (Cause::OpaqueCode, format!("sql: {detail}")))
}

/// One command of psql. In its words a backtick runs a program and a colon puts a variable in.
fn backslash(text: &str) -> Result<(), String> {
    let rest = text.get(1..).unwrap_or_default();
    let name = rest.split_whitespace().next().unwrap_or_default();
    let describes =
        name.starts_with('d') && name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'+');
    let known = describes
        || matches!(
            name,
            "l" | "l+"
                | "list"
                | "z"
                | "sf"
                | "sf+"
                | "sv"
                | "sv+"
                | "conninfo"
                | "copyright"
                | "lo_list"
                | "?"
                | "h"
                | "help"
        );
    match known && !rest.contains(['\\', '`', ':', '\n', '\r', '|']) {
        true => Ok(()),
        false => Err(format!("\\{name}")),
    }
}

/// One command of the shells of SQLite and DuckDB, by its whole name.
fn dot(text: &str) -> Result<(), String> {
    let name = text.split_whitespace().next().unwrap_or_default();
    match DOT.contains(&name) && !text.contains(['\n', '\r', '|']) {
        true => Ok(()),
        false => Err(name.to_owned()),
    }
}

fn statements(dialect: Dialect, text: &str, span: Span, reading: &mut Reading) -> Result<(), String> {
    let tokens = match lex(dialect, text) {
        Ok(tokens) => tokens,
        Err(detail) => {
            let lower = text.to_lowercase();
            if dialect.is_remote() && ["drop ", "truncate "].iter().any(|verb| lower.contains(verb)) {
                destroys(text.chars().take(40).collect(), reading);
            }
            return Err(detail);
        }
    };
    if matches!(dialect, Dialect::Mysql | Dialect::Plain) {
        let first =
            |line: &str| line.split(|letter: char| !letter.is_alphanumeric()).next().map(str::to_lowercase);
        if let Some(word) = text
            .lines()
            .filter_map(|line| first(line.trim_start()))
            .find(|word| CLIENT.contains(&word.as_str()))
        {
            return Err(word);
        }
    }
    let mut read = Ok(());
    for statement in tokens.split(|token| *token == Token::End).filter(|statement| !statement.is_empty()) {
        if dialect.is_remote()
            && let Some(what) = destroyed(statement)
        {
            destroys(what, reading);
        }
        read = read.and(judge(dialect, statement));
        if dialect == Dialect::Duckdb {
            read = read.and(files(statement, span, reading));
        }
    }
    read
}

impl Dialect {
    fn is_remote(self) -> bool {
        !matches!(self, Self::Sqlite | Self::Duckdb)
    }
}

fn destroys(what: String, reading: &mut Reading) {
    reading.acts.push(Act::DestroyRemote { what });
    reading.arity = 0;
}

/// What a statement takes away: `DROP …`, `TRUNCATE …`, `ALTER … DROP …`, `DELETE FROM …` of everything.
fn destroyed(statement: &[Token]) -> Option<String> {
    let word = |token: &Token, wanted: &str| matches!(token, Token::Word(word) if word == wanted);
    let begins = |wanted: &str| statement.first().is_some_and(|token| word(token, wanted));
    let at = |wanted: &str| statement.iter().position(|token| word(token, wanted));
    let from = if begins("drop") || begins("truncate") || (begins("alter") && at("drop").is_some()) {
        0
    } else {
        let from = at("delete")?;
        let rest = statement.get(from..)?;
        if !word(rest.get(1)?, "from") || rest.iter().any(|token| word(token, "where")) {
            return None;
        }
        from
    };
    let words = statement.iter().skip(from).take(8).map(|token| match token {
        Token::Word(word) | Token::Quoted(word) | Token::Text(word) => word.clone(),
        Token::Symbol(letter) => letter.to_string(),
        Token::Number | Token::Cast | Token::End => "…".to_owned(),
    });
    Some(words.collect::<Vec<_>>().join(" ").replace(" . ", "."))
}

/// Whether one statement only reads.
fn judge(dialect: Dialect, statement: &[Token]) -> Result<(), String> {
    let first = statement.iter().find(|token| **token != Token::Symbol('('));
    let Some(Token::Word(verb)) = first else { return Err("not a statement".to_owned()) };
    let reads = match verb.as_str() {
        "select" | "explain" | "values" | "with" | "show" => true,
        "table" => matches!(dialect, Dialect::Postgres | Dialect::Mysql | Dialect::Duckdb),
        "describe" | "desc" => matches!(dialect, Dialect::Mysql | Dialect::Duckdb | Dialect::Plain),
        "from" | "summarize" => dialect == Dialect::Duckdb,
        "use" => return only_name(statement, dialect == Dialect::Mysql),
        "pragma" => return pragma(dialect, statement),
        _ => false,
    };
    if !reads {
        return Err(verb.to_uppercase());
    }
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        let calls = statement.get(at + 1) == Some(&Token::Symbol('('));
        match token {
            Token::Word(word) => {
                let shown = verb == "show" && word == "create" && at == 1;
                let replaces = word == "replace" && calls;
                if DENIED.contains(&word.as_str()) && !shown && !replaces {
                    return Err(word.to_uppercase());
                }
                if calls
                    && !is_known(dialect, word, before, at.checked_sub(2).and_then(|at| statement.get(at)))
                {
                    return Err(format!("{word}()"));
                }
            }
            // SQLite calls what a text in front of a bracket names, and has tables that read files.
            Token::Quoted(name) | Token::Text(name)
                if calls && !names(dialect, before)
                    || DENIED_TABLES.contains(&name.to_lowercase().as_str()) =>
            {
                return Err(format!("{name}()"));
            }
            _ => {}
        }
    }
    Ok(())
}

/// `use NAME`.
fn only_name(statement: &[Token], allowed: bool) -> Result<(), String> {
    match statement {
        [_, Token::Word(_) | Token::Quoted(_)] if allowed => Ok(()),
        _ => Err("USE".to_owned()),
    }
}

/// What stands before a word in brackets says that it is named, not called: `AS t (a, b)`, `WITH t (n) AS`,
/// `x::numeric (10, 2)`.
fn names(dialect: Dialect, before: Option<&Token>) -> bool {
    match before {
        Some(Token::Cast) => dialect == Dialect::Postgres,
        Some(Token::Word(word)) => {
            word == "as" || matches!(word.as_str(), "with" | "recursive") && dialect != Dialect::Plain
        }
        _ => false,
    }
}

fn is_known(dialect: Dialect, word: &str, before: Option<&Token>, qualifier: Option<&Token>) -> bool {
    if before == Some(&Token::Symbol('.')) {
        return matches!(qualifier, Some(Token::Word(schema)) if schema == "pg_catalog")
            && PURE.contains(&word);
    }
    let pragma = word.strip_prefix("pragma_").is_some_and(|name| PRAGMAS.contains(&name));
    KEYWORDS.contains(&word)
        || PURE.contains(&word)
        || names(dialect, before)
        || dialect == Dialect::Sqlite && pragma
        || dialect == Dialect::Duckdb && SCANS.contains(&word)
}

/// `PRAGMA table_info(t)`, `PRAGMA user_version`; with a value most of them change something.
fn pragma(dialect: Dialect, statement: &[Token]) -> Result<(), String> {
    let rest = match statement {
        [_, Token::Word(_), Token::Symbol('.'), rest @ ..] | [_, rest @ ..] => rest,
        [] => &[],
    };
    let reads = match rest {
        [Token::Word(name)] => PRAGMAS.contains(&name.as_str()) || SETTINGS.contains(&name.as_str()),
        [
            Token::Word(name),
            Token::Symbol('('),
            Token::Word(_) | Token::Quoted(_) | Token::Text(_) | Token::Number,
            Token::Symbol(')'),
        ] => PRAGMAS.contains(&name.as_str()),
        _ => false,
    };
    match reads && matches!(dialect, Dialect::Sqlite | Dialect::Duckdb) {
        true => Ok(()),
        false => Err("PRAGMA".to_owned()),
    }
}

/// DuckDB reads a file where a table's name is one, and where a function is given its name, which then must
/// stand there as it is.
fn files(statement: &[Token], span: Span, reading: &mut Reading) -> Result<(), String> {
    const PLAIN: &[&str] = &["csv", "tsv", "txt", "parquet", "json", "jsonl", "ndjson"];
    for (at, token) in statement.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| statement.get(before));
        match token {
            Token::Word(word)
                if SCANS.contains(&word.as_str()) && statement.get(at + 1) == Some(&Token::Symbol('(')) =>
            {
                let rest = statement.iter().skip(at + 2);
                let plain = rest.take_while(|token| **token != Token::Symbol(')')).all(|token| match token {
                    Token::Text(_) | Token::Word(_) | Token::Number => true,
                    Token::Symbol(letter) => matches!(letter, ',' | '=' | '[' | ']'),
                    _ => false,
                });
                if !plain {
                    return Err(format!("{word}()"));
                }
            }
            Token::Quoted(name) | Token::Text(name) => {
                let table =
                    matches!(before, Some(Token::Word(word)) if matches!(word.as_str(), "from" | "join"));
                let plain = name.rsplit_once('.').is_some_and(|(_, end)| PLAIN.contains(&end));
                if name.contains("://")
                    || table && name.contains(':')
                    || name.contains(['*', '?', '['])
                    || table && !plain
                {
                    return Err(name.clone());
                }
                reading.uses(Role::Read, &Arg::literal(name.as_str(), span));
            }
            Token::Symbol('.') => {
                if let (Some(Token::Word(left)), Some(Token::Word(right))) = (before, statement.get(at + 1)) {
                    reading.uses(Role::Read, &Arg::literal(format!("{left}.{right}"), span));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn lex(dialect: Dialect, text: &str) -> Result<Vec<Token>, String> {
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

#[cfg(test)]
mod tests {
    use super::{Dialect, text};
    use crate::facts::programs::{Act, Reading};
    use crate::report::Span;

    fn reads(dialect: Dialect, sql: &str) -> bool {
        text(dialect, sql, Span::default(), &mut Reading::default()).is_ok()
    }

    #[test]
    fn texts_of_several_lines() {
        use Dialect::{Mysql, Postgres, Sqlite};
        for (dialect, sql, expected) in [
            (Postgres, "select 1;\nselect 2 -- drop\n", true),
            (Postgres, "select 1 -- x\rdrop table t", false),
            (Postgres, "select 1;\n\\! id", false),
            (Postgres, "\\dt\n\\! id", false),
            (Postgres, "select $a$ it's; drop table t $a$", true),
            (Postgres, "select $a$ x $b$ $a$; drop table t", false),
            (Mysql, "select 1 # it's\n", true),
            (Mysql, "select 1 # it's\n; drop table t -- '", false),
            (Mysql, "select a,\nsystem id", false),
            (Mysql, "select 'a\nb'", true),
            (Mysql, "select 1 -- \\! id\n", false),
            (Sqlite, "select 1\n.shell id", true),
            (Sqlite, ".tables\n.shell id", false),
        ] {
            assert_eq!(reads(dialect, sql), expected, "{dialect:?}: {sql}");
        }
    }

    #[test]
    fn what_is_destroyed_is_named() {
        for (sql, expected) in [
            ("drop table if exists public.users", "drop table if exists public.users"),
            ("TRUNCATE orders", "truncate orders"),
            ("select 1; delete from orders", "delete from orders"),
            ("alter table t drop column c", "alter table t drop column c"),
            ("delete from orders where id = 1", ""),
            ("update t set a = 1", ""),
        ] {
            let mut reading = Reading::default();
            assert!(text(Dialect::Postgres, sql, Span::default(), &mut reading).is_err(), "{sql}");
            let found = reading.acts.iter().find_map(|act| match act {
                Act::DestroyRemote { what } => Some(what.clone()),
                _ => None,
            });
            assert_eq!(found.unwrap_or_default(), expected, "{sql}");
        }
    }
}
