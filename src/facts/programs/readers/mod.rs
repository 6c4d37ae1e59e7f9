//! Readers for what a table cannot say: small languages and odd option grammars.

mod awk;
mod builtin;
mod check;
mod client;
mod escape;
mod find;
mod jq;
mod languages;
mod misc;
mod partly;
mod sed;
mod shell;
mod sql;
mod tar;
mod transfer;
mod turning;
mod values;
mod wrap;

use super::Reading;
use super::apply::only_help;
use super::table::{Command, Language, Reader};
use crate::facts::arg::{Arg, Hole, HoleKind, Part};
use crate::syntax::Cause;
use sql::Dialect;

pub(super) use check::check;

/// Texts of a dynamic word that are looked at one by one.
const ALTERNATIVES: usize = 16;

/// Lets a reader of its own take the words from `start` on.
pub(super) fn take(
    reader: Reader,
    command: &'static Command,
    argv: &[Arg],
    start: usize,
    reading: &mut Reading,
) {
    if only_help(command, argv, start) {
        reading.arity = command.arity;
        return;
    }
    let words = argv.get(start..).unwrap_or_default();
    match reader {
        Reader::Find => find::read(words, start, reading),
        Reader::Tar => tar::read(command, argv, start, reading),
        Reader::Echo => builtin::echo(words, reading),
        Reader::Printf => builtin::printf(words, start, reading),
        Reader::Test => builtin::test(words, start, reading),
        Reader::Shell => shell::shell(argv, start, reading),
        Reader::Trap => shell::trap(words, reading),
        Reader::Xargs => wrap::xargs(command, argv, start, reading),
        Reader::Parallel => wrap::parallel(words, reading),
        Reader::Fd => find::fd(command, argv, start, reading),
        Reader::Patch => partly::patch(words, reading),
        Reader::Packages => partly::packages(command, argv, start, reading),
        Reader::Dd => misc::dd(words, start, reading),
        Reader::Kill => misc::kill(words, start, reading),
        Reader::Busybox => misc::busybox(argv, start, reading),
        Reader::Ps => misc::ps(words, start, reading),
        Reader::Gsh => misc::gsh(words, reading),
        Reader::Python => languages::python(command, argv, start, reading),
    }
}

/// A text in a small language.
pub(super) fn language(language: Language, arg: &Arg, index: usize, reading: &mut Reading) {
    if let Language::GitFormat = language {
        return check::git_format(arg, reading);
    }
    // Of a declaration only the name matters, whatever the value is.
    let named = matches!(language, Language::Declaration) && arg.head().contains('=');
    let texts = if named { Some(vec![arg.head().to_owned()]) } else { texts(arg) };
    let Some(texts) = texts else {
        return reading.unexplained(Cause::DynamicWord, arg.display(), Some(index));
    };
    for text in texts {
        let read = match language {
            Language::SedScript => sed::script(&text, arg.span, reading),
            Language::AwkProgram => awk::program(&text, arg.span, reading),
            Language::JqProgram => jq::program(&text, reading),
            Language::GitSetting => check::git_setting(&text),
            Language::GitFormat => Ok(()),
            Language::Declaration => builtin::declaration(&text),
            Language::EnvSplit => wrap::env_split(&text, arg.span, reading),
            Language::SqlPostgres => sql::text(Dialect::Postgres, &text, arg.span, reading),
            Language::SqlMysql => sql::text(Dialect::Mysql, &text, arg.span, reading),
            Language::SqlSqlite => sql::text(Dialect::Sqlite, &text, arg.span, reading),
            Language::SqlDuckdb => sql::text(Dialect::Duckdb, &text, arg.span, reading),
            Language::SqlPlain => sql::text(Dialect::Plain, &text, arg.span, reading),
            Language::Host => {
                client::host(&text, reading);
                Ok(())
            }
            Language::Database => {
                client::database(&text, reading);
                Ok(())
            }
            Language::AtFile => {
                client::at_file(&text, arg.span, reading);
                Ok(())
            }
            Language::Image => {
                client::image(&text, arg.span, reading);
                Ok(())
            }
            Language::Forge => {
                client::forge(&text, reading);
                Ok(())
            }
            Language::Url => client::url(&text, arg.span, reading),
            Language::PathOrUrl => client::path_or_url(&text, arg.span, reading),
            Language::PipeFile => client::pipe_file(&text, arg.span, reading),
            Language::YqProgram => client::yq(&text, reading),
        };
        if let Err((cause, detail)) = read {
            reading.unexplained(cause, detail, Some(index));
        }
    }
}

/// What a reader could not explain.
type Refusal = (Cause, String);

/// Every text the word can be, a number standing for every number.
fn texts(arg: &Arg) -> Option<Vec<String>> {
    let mut plain = Arg { span: arg.span, ..Arg::default() };
    for part in &arg.parts {
        match part {
            Part::Text(text) => plain.push_text(text),
            Part::Hole(Hole { kind: HoleKind::Number, splits: false, lines: false }) => plain.push_text("1"),
            Part::Hole(hole) => plain.push_hole(hole.clone()),
        }
    }
    plain.alternatives(ALTERNATIVES)
}

/// The words joined by blanks.
pub(super) fn joined(words: &[Arg]) -> Arg {
    let mut all = Arg { span: words.first().map(|word| word.span).unwrap_or_default(), ..Arg::default() };
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            all.push_text(" ");
        }
        append(&mut all, word);
    }
    all
}

/// Puts one word's text and holes after another's.
fn append(all: &mut Arg, word: &Arg) {
    for part in &word.parts {
        match part {
            Part::Text(text) => all.push_text(text),
            Part::Hole(hole) => all.push_hole(hole.clone()),
        }
    }
}
