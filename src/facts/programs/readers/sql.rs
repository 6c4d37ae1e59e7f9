//! SQL, as far as it must be told that a text only reads: every statement begins with a verb that reads,
//! no word of it changes anything, and every function is a known one. Whatever the dialects read
//! differently is not explained.

mod lexer;
mod words;

use lexer::{Token, lex};
use words::{CLIENT, DENIED, DENIED_TABLES, DOT, KEYWORDS, PRAGMAS, PURE, SCANS, SECRETS, SETTINGS};

use super::Refusal;
use crate::facts::arg::Arg;
use crate::facts::programs::table::Doing;
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
    match DOT.contains(name) && !text.contains(['\n', '\r', '|']) {
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
        if let Some(word) =
            text.lines().filter_map(|line| first(line.trim_start())).find(|word| CLIENT.contains(word))
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
        if tells_passwords(statement) {
            reading.act(Doing::RevealSecrets);
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

/// Whether it looks at where the server keeps passwords.
fn tells_passwords(statement: &[Token]) -> bool {
    let name = |token: &Token| match token {
        Token::Word(name) => Some(name.clone()),
        Token::Quoted(name) => Some(name.to_lowercase()),
        _ => None,
    };
    let names: Vec<String> = statement.iter().filter_map(name).collect();
    names.iter().any(|name| SECRETS.contains(name))
        || names.windows(2).any(|pair| matches!(pair, [left, right] if left == "mysql" && right == "user"))
        || names.windows(3).any(|three| three == ["show", "create", "user"])
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
                if DENIED.contains(word) && !shown && !replaces {
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
                if calls && !names(dialect, before) || DENIED_TABLES.contains(&name.to_lowercase()) =>
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
            && PURE.contains(word);
    }
    let pragma = word.strip_prefix("pragma_").is_some_and(|name| PRAGMAS.contains(name));
    KEYWORDS.contains(word)
        || PURE.contains(word)
        || names(dialect, before)
        || dialect == Dialect::Sqlite && pragma
        || dialect == Dialect::Duckdb && SCANS.contains(word)
}

/// `PRAGMA table_info(t)`, `PRAGMA user_version`; with a value most of them change something.
fn pragma(dialect: Dialect, statement: &[Token]) -> Result<(), String> {
    let rest = match statement {
        [_, Token::Word(_), Token::Symbol('.'), rest @ ..] | [_, rest @ ..] => rest,
        [] => &[],
    };
    let reads = match rest {
        [Token::Word(name)] => PRAGMAS.contains(name) || SETTINGS.contains(name),
        [
            Token::Word(name),
            Token::Symbol('('),
            Token::Word(_) | Token::Quoted(_) | Token::Text(_) | Token::Number,
            Token::Symbol(')'),
        ] => PRAGMAS.contains(name),
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
                if SCANS.contains(word) && statement.get(at + 1) == Some(&Token::Symbol('(')) =>
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
