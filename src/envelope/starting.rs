//! What agents run when they start: scripts that read the user's start-up files and tell what those define.
//!
//! Such a script changes with every version, so it is not known byte for byte. It is accepted where it is read
//! without a doubt and every command in it is one that such a script needs, with no file written but the named
//! ones. That it was the agent that called was checked before.

use std::path::Path;

use super::View;
use crate::syntax::visit::{self, Visit};
use crate::syntax::{
    self, AssignedValue, Command, ParameterForm, Piece, Redirection, RedirectionOperator, Simple, Word,
};

/// What a script may do beside looking.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules<'a> {
    /// The files that it may write, as they are spelled.
    pub(super) writes: &'a [&'a str],
    /// It may print the whole environment, which nobody but the agent reads.
    pub(super) prints_secrets: bool,
}

/// Commands that define, list and print.
const KNOWN: [&str; 15] = [
    ":", "break", "continue", "echo", "exit", "false", "pwd", "return", "set", "shift", "shopt", "tr",
    "true", "type", "unalias",
];

/// Commands whose words are looked at, besides these.
const JUDGED: [&str; 18] = [
    "source", ".", "env", "awk", "sed", "command", "compgen", "grep", "alias", "export", "declare",
    "typeset", "local", "read", "printf", "test", "[", "unset",
];

/// Tests of `[[` that take a text for an expression, and run what stands in a subscript of it.
const EVALUATING: [&str; 8] = ["-v", "-R", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// Variables that say which start-up file is read.
const LEADING: [&str; 3] = ["HOME", "ZDOTDIR", "rc"];

/// Programs that print what they are given.
const FILTERS: [&str; 7] = ["base64", "cat", "cut", "head", "sort", "tail", "wc"];

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
            "awk" => matches!(rest, [code] if literal(code).is_some_and(|code| is_plain_awk(&code))),
            // Only the replacing of text: its other commands write and run.
            "sed" => rest.iter().all(|word| literal(word).is_some_and(|text| is_replacing(&text))),
            // `command NAME` runs it; `command -v NAME` looks for it.
            "command" => {
                matches!(rest.first().and_then(literal).as_deref(), Some("-v" | "-V")) || self.is_known(rest)
            }
            "compgen" => rest.iter().all(|word| literal(word).is_some_and(|text| lists(&text))),
            "grep" => greps(rest),
            name if FILTERS.contains(&name) => {
                rest.iter().all(|word| literal(word).is_some_and(|text| filters(&text)))
            }
            "alias" => rest.iter().all(|word| literal(word).is_some_and(|text| text.starts_with('-'))),
            "export" | "declare" | "typeset" | "local" | "read" => defines(rest),
            "printf" => !rest.first().and_then(literal).is_some_and(|text| text.starts_with("-v")),
            "test" | "[" => rest.iter().all(|word| {
                is_no_subscript(word)
                    && !literal(word).is_some_and(|text| matches!(text.as_str(), "-v" | "-R"))
            }),
            "unset" => rest.iter().all(|word| literal(word).is_some() && is_no_subscript(word)),
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
        match command {
            Command::NotUnderstood(_) | Command::ArithmeticFor { .. } | Command::Arithmetic(_) => {
                self.needs(false)
            }
            Command::For { name, .. } => self.needs(is_free(name)),
            Command::Test { words, .. } => {
                let evaluates = |text: String| EVALUATING.contains(&text.as_str());
                self.needs(!words.iter().filter_map(literal).any(evaluates));
            }
            _ => {}
        }
        // A function that would take the place of a command, or of one that hands on, is none of such a script.
        if let Command::Function { name, .. } = command {
            let taken = [&KNOWN[..], &FILTERS, &JUDGED].iter().any(|names| names.contains(&name.as_str()));
            self.needs(!self.inside && !taken && !self.handing.contains(name));
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
            let leads = matches!(&assignment.value, AssignedValue::Word(file)
                if assignment.name == "rc" && self.is_start_up(file) && spelled(file).as_deref() != Some("$rc"));
            self.needs(is_free(&assignment.name) || leads);
        }
        visit::walk_simple(self, simple);
    }

    fn piece(&mut self, piece: &Piece) {
        let evaluates = match piece {
            Piece::Arithmetic(_) | Piece::Parameter { form: ParameterForm::Indirect, .. } => true,
            Piece::Parameter { form: ParameterForm::Edit { operator, .. }, .. } if operator == ":" => true,
            Piece::Parameter { name, .. } => name.contains('[') && !name.ends_with("[@]"),
            _ => false,
        };
        self.needs(!evaluates);
        visit::walk_piece(self, piece);
    }

    fn redirection(&mut self, redirection: &Redirection) {
        let target = spelled(&redirection.target).unwrap_or_default();
        let reads = match redirection.operator {
            RedirectionOperator::HereDocument | RedirectionOperator::HereString => true,
            // Of files nothing is read but what the shell itself reads.
            RedirectionOperator::Read => {
                matches!(redirection.target.pieces.as_slice(), [Piece::Process { .. }])
            }
            _ => false,
        };
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

/// Whether a program of awk runs nothing and reads nothing but its input.
fn is_plain_awk(code: &str) -> bool {
    const ACTING: [&str; 8] = ["|", ">", "<", "system", "getline", "ARGV", "ARGC", "@"];
    !code.starts_with('-') && !ACTING.iter().any(|acting| code.contains(acting))
}

/// Whether a word is no name with a subscript, which bash would evaluate.
fn is_no_subscript(word: &Word) -> bool {
    literal(word).is_none_or(|text| !text.contains('[') || text == "[")
}

/// Whether a variable of this name may be set: neither programs nor the shell obey it, and no start-up file is found
/// by it.
fn is_free(name: &str) -> bool {
    (name == "IFS" || !crate::facts::is_obeyed(name)) && !LEADING.contains(&name)
}

/// Whether the words of a command that sets variables only list some, or set such as may be set.
fn defines(words: &[Word]) -> bool {
    let options: Vec<String> =
        words.iter().filter_map(literal).filter(|text| text.starts_with('-')).collect();
    let has = |letters: &[char]| options.iter().any(|option| option.contains(letters));
    let lists = has(&['f', 'F', 'p']);
    // A value that is evaluated, or a second name for another variable.
    let plain = !has(&['i', 'n']);
    plain
        && words.iter().all(is_no_subscript)
        && (lists
            || words.iter().all(|word| {
                let Some(Piece::Text { text, .. }) = word.pieces.first() else { return false };
                let name = text.split_once('=').map_or(text.as_str(), |(name, _)| name);
                text.starts_with('-') || !name.is_empty() && is_free(name.trim_end_matches('+'))
            }))
}

/// Whether a word of `compgen` only says what it lists: others run a command, call a function, or expand a text.
fn lists(word: &str) -> bool {
    word.strip_prefix('-').is_none_or(|flags| flags.chars().all(|flag| "Aabcdefgjksuv".contains(flag)))
        && word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
}

/// Whether a word of a filter is an option, or a number that belongs to one, and names no file.
fn filters(word: &str) -> bool {
    let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    // `-o FILE` and `-T FOLDER` of sort.
    let option =
        word.len() > 1 && word.starts_with('-') && !word.starts_with("--") && !word.contains(['/', 'o', 'T']);
    number || option
}

/// One pattern, so that what is searched comes from elsewhere than from a file.
fn greps(words: &[Word]) -> bool {
    let words: Option<Vec<String>> = words.iter().map(literal).collect();
    let Some(words) = words else { return false };
    let (options, rest): (Vec<&String>, Vec<&String>) = words.iter().partition(|word| word.starts_with('-'));
    rest.len() <= 1
        && options
            .iter()
            .all(|option| option.bytes().skip(1).all(|byte| b"EFGPacehinoqsvwxz".contains(&byte)))
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
