//! What agents run when they start: scripts that read the user's start-up files and tell what those define.
//!
//! Such a script changes with every version, so it is not known byte for byte. It is accepted where it is read
//! without a doubt and every command in it is one that such a script needs, with no file written but the named
//! ones. That it was the agent that called was checked before.

use std::path::Path;

use super::View;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{self, Command, ParameterForm, Piece, Redirection, RedirectionOperator, Simple, Word};

/// What a script may do beside looking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The files that it may write, as they are spelled.
    pub(super) writes: &'a [&'a str],
    /// It may print the whole environment, which nobody but the agent reads.
    pub(super) prints_secrets: bool,
}

/// Commands that define, list and print.
const KNOWN: [&str; 37] = [
    ":", "[", "[[", "alias", "base64", "break", "cat", "command", "compgen", "continue", "cut", "declare",
    "echo", "exit", "export", "false", "grep", "head", "local", "printf", "pwd", "read", "return", "set",
    "shift", "shopt", "sort", "tail", "test", "tr", "true", "type", "typeset", "unalias", "unset", "wc",
    "sed",
];

/// The start-up files of shells, below a home.
const START_UP: [&str; 8] =
    [".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin"];

/// Whether the text is such a script.
pub(super) fn is_plain(text: &str, view: &View<'_>, rules: &Rules<'_>) -> bool {
    let script = syntax::parse(text.as_bytes(), &syntax::Limits::default());
    let fine = script.problems.is_empty();
    let mut looker = Looker { view, rules: *rules, handing: Vec::new(), inside: false, fine };
    looker.script(&script);
    looker.fine
}

struct Looker<'a> {
    view: &'a View<'a>,
    rules: Rules<'a>,
    /// Functions that only run what they are given: their words are looked at where they are called.
    handing: Vec<String>,
    /// Within such a function.
    inside: bool,
    fine: bool,
}

impl Looker<'_> {
    fn needs(&mut self, holds: bool) {
        self.fine &= holds;
    }

    fn is_known(&self, words: &[Word]) -> bool {
        let Some(name) = words.first().and_then(literal) else { return false };
        let rest = words.get(1..).unwrap_or_default();
        match name.as_str() {
            "source" | "." => matches!(rest, [file] if self.is_start_up(file)),
            "env" => {
                self.rules.prints_secrets && rest.iter().all(|word| literal(word).as_deref() == Some("-0"))
            }
            "awk" => rest.iter().all(|word| {
                literal(word).is_some_and(|text| !text.contains(['|', '>', '<']))
                    && !literal(word).is_some_and(|text| {
                        text.contains("system") || text.contains("getline") || text.starts_with("-f")
                    })
            }),
            // Only the replacing of text: its other commands write and run.
            "sed" => rest.iter().all(|word| literal(word).is_some_and(|text| is_replacing(&text))),
            // `command NAME` runs it; `command -v NAME` looks for it.
            "command" => {
                matches!(rest.first().and_then(literal).as_deref(), Some("-v" | "-V")) || self.is_known(rest)
            }
            // A name of an option that loads code.
            "export" | "declare" | "typeset" | "local" | "read" | "unset" | "printf" | "test" | "[" => {
                rest.iter().all(|word| literal(word).is_none_or(|text| !text.contains('[') || text == "["))
            }
            name if self.handing.iter().any(|own| own == name) => self.is_known(rest),
            name => KNOWN.contains(&name),
        }
    }

    /// `~/.bashrc` and its kin, spelled from a home, and the user's own.
    fn is_start_up(&self, file: &Word) -> bool {
        let Some((base, name)) = spelled(file)
            .and_then(|text| text.rsplit_once('/').map(|(base, name)| (base.to_owned(), name.to_owned())))
        else {
            // `"$rc"`, `"$ENV"`: a variable that the script set to one.
            return spelled(file).is_some_and(|text| matches!(text.as_str(), "$rc" | "$ENV"));
        };
        let home = ["$HOME", "~", "$ZDOTDIR"].contains(&base.as_str())
            || self.view.host.homes().iter().any(|home| home == Path::new(&base));
        home && START_UP.contains(&name.as_str())
    }
}

impl Visit for Looker<'_> {
    fn command(&mut self, command: &Command) {
        self.needs(!matches!(command, Command::NotUnderstood(_) | Command::ArithmeticFor { .. }));
        // A function that would take the place of a command, or of one that hands on, is none of such a script.
        if let Command::Function { name, .. } = command {
            self.needs(!self.inside && !KNOWN.contains(&name.as_str()) && !self.handing.contains(name));
            self.inside = true;
            visit::walk_command(self, command);
            self.inside = false;
            self.handing.push(name.clone());
        } else {
            visit::walk_command(self, command);
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let known = if self.inside { hands_on(&simple.words) } else { self.is_known(&simple.words) };
        self.needs(simple.words.is_empty() || known);
        for assignment in &simple.assignments {
            let name = assignment.name.as_str();
            self.needs(!crate::facts::is_obeyed(name) || name == "IFS");
        }
        visit::walk_simple(self, simple);
    }

    fn redirection(&mut self, redirection: &Redirection) {
        let target = spelled(&redirection.target).unwrap_or_default();
        let reads = matches!(
            redirection.operator,
            RedirectionOperator::Read | RedirectionOperator::HereDocument | RedirectionOperator::HereString
        );
        let copies = matches!(
            redirection.operator,
            RedirectionOperator::DuplicateInput | RedirectionOperator::DuplicateOutput
        ) && target.bytes().all(|byte| byte.is_ascii_digit());
        let harmless =
            reads || copies || target == "/dev/null" || self.rules.writes.contains(&target.as_str());
        self.needs(harmless);
        self.word(&redirection.target);
    }
}

/// Whether a command of a function runs what the function was given, or looks for it.
fn hands_on(words: &[Word]) -> bool {
    let words: Option<Vec<String>> = words.iter().map(spelled).collect();
    let words = words.unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(words.as_slice(), ["$@"] | ["command", "-p", "$@"] | ["command", "-v", "$1"])
}

/// A word without expansions, its quotes removed.
fn literal(word: &Word) -> Option<String> {
    let text = |piece: &Piece| match piece {
        Piece::Text { text, .. } => Some(text.clone()),
        _ => None,
    };
    word.pieces.iter().map(text).collect()
}

/// A word's text with its plain variables spelled as `$NAME`.
fn spelled(word: &Word) -> Option<String> {
    let mut text = String::new();
    for piece in &word.pieces {
        match piece {
            Piece::Text { text: part, .. } => text.push_str(part),
            Piece::Tilde(tilde) => text.push_str(tilde),
            Piece::Parameter { name, form: ParameterForm::Plain, .. } => {
                text.push('$');
                text.push_str(name);
            }
            _ => return None,
        }
    }
    Some(text)
}

/// `s/…/…/` with no flag that runs or writes, and `/…/d`.
fn is_replacing(text: &str) -> bool {
    let replaces = text.strip_prefix("s/").is_some_and(|rest| {
        let flags = rest.rsplit('/').next().unwrap_or_default();
        rest.matches('/').count() == 2 && flags.chars().all(|flag| matches!(flag, 'g' | 'I'))
    });
    let deletes = text.starts_with('/') && text.ends_with("/d") && text.matches('/').count() == 2;
    (replaces || deletes || matches!(text, "-n" | "-E")) && !text.contains(['\n', ';', '{'])
}
