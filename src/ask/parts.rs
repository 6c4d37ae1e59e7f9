//! The parts of a compound text: each command with what joins it to the one before, and why it asks.

use std::collections::HashSet;

use super::layout::{Line, Mark, shorten};
use super::{Question, sanitize};
use crate::decision::Judged;
use crate::decision::grant::asking;
use crate::facts::Doubt;
use crate::policy::Verdict;
use crate::report::Span;
use crate::syntax::visit::{Visit, walk_command, walk_piece};
use crate::syntax::{Command, Connective, Piece, Redirection, Script, Simple, Statement};

/// So many parts are listed one by one; of more, only those that ask.
const LISTED: usize = 30;
/// So much of a part is repeated; the whole text stands beside the list.
const REPEATED: usize = 160;

/// One command of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// What joins it to what stands before, as typed.
    joined: &'static str,
    /// How deep it stands in others.
    depth: usize,
    span: Span,
}

/// The parts in order, and what is asked about that belongs to none of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// Nothing when the text is one command.
    pub(super) lines: Vec<Line>,
    /// What asks, where no part does.
    pub(super) others: Vec<Line>,
    /// How many parts there are.
    pub(super) all: usize,
    /// How many of them ask.
    pub(super) asking: usize,
}

impl Parts {
    /// How many there are and how many ask, in words.
    pub(super) fn summary(&self) -> String {
        let asks = match self.asking {
            0 => "none asks by itself".to_owned(),
            1 => "1 asks (*)".to_owned(),
            more => format!("{more} ask (*)"),
        };
        format!("{} commands, {asks}:", self.all)
    }
}

/// The parts of a question's text.
pub(super) fn parts(question: &Question<'_>) -> Parts {
    let parts = Finder::parts(question.script);
    let whys = whys(question);
    if parts.len() < 2 {
        let others = whys.into_iter().map(|why| why.line("")).collect();
        return Parts { others, ..Parts::default() };
    }
    let (mut by_part, mut others) = (vec![Vec::new(); parts.len()], Vec::new());
    for why in whys {
        match innermost(&parts, why.span).and_then(|index| by_part.get_mut(index)) {
            Some(own) => own.push(why),
            None => others.push(why.line("")),
        }
    }
    let text = question.request.as_text();
    // The same once more asks for the same, which is asked once.
    let asking: HashSet<&str> = parts
        .iter()
        .zip(&by_part)
        .filter(|(_, whys)| !whys.is_empty())
        .map(|(part, _)| part.text(text))
        .collect();
    let all = parts.len() <= LISTED;
    let (mut quiet, mut count) = (0, 0);
    let mut lines = Vec::new();
    for (part, whys) in parts.iter().zip(&by_part) {
        let asks = asking.contains(part.text(text));
        count += usize::from(asks);
        if all || !whys.is_empty() {
            lines.push(part.line(text, asks));
            lines.extend(whys.iter().map(|why| why.line("       ")));
        } else {
            quiet += 1;
        }
    }
    if quiet > 0 {
        lines.push(Line::plain(format!("{quiet} more parts ask for nothing else and are not listed here")));
    }
    Parts { lines, others, all: parts.len(), asking: count }
}

impl Part {
    fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.span.start..self.span.end).unwrap_or_default()
    }

    fn line(&self, text: &str, asks: bool) -> Line {
        let shown = shorten(&sanitize::line(self.text(text)), REPEATED);
        let (mark, sign) = if asks { (Mark::Asks, '*') } else { (Mark::Plain, ' ') };
        let joined = self.joined;
        Line::new(mark, format!("{joined:>4} {sign} {:indent$}{shown}", "", indent = self.depth * 2))
    }
}

/// The smallest part around a place.
fn innermost(parts: &[Part], span: Span) -> Option<usize> {
    let around = |part: &Part| part.span.start <= span.start && span.end <= part.span.end;
    let found = parts.iter().enumerate().filter(|(_, part)| around(part));
    found.min_by_key(|(_, part)| part.span.end - part.span.start).map(|(index, _)| index)
}

/// One reason to ask.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Why {
    text: String,
    span: Span,
}

impl Why {
    fn line(&self, indent: &str) -> Line {
        Line::new(Mark::Asks, format!("{indent}- {}", sanitize::line(&self.text)))
    }
}

fn whys(question: &Question<'_>) -> Vec<Why> {
    let of_request = |judged: &Judged| Why { text: reason(judged), span: judged.request.span };
    let of_doubt = |doubt: &Doubt| Why {
        text: format!("not understood: {}", doubt.problem.detail),
        span: doubt.problem.span,
    };
    // What a rule decides on is told by its request; the doubt behind it would say it twice.
    let mut all: Vec<Why> = asking(question.decision).map(of_request).collect();
    let told = !all.is_empty();
    all.extend(question.facts.problems.iter().filter(|doubt| !(doubt.execution && told)).map(of_doubt));
    let mut found: Vec<Why> = Vec::new();
    for why in all {
        if !found.contains(&why) {
            found.push(why);
        }
    }
    if found.is_empty() {
        found.push(Why { text: question.decision.reason.clone(), span: Span::new(usize::MAX, usize::MAX) });
    }
    found
}

fn reason(judged: &Judged) -> String {
    let denied = if judged.verdict == Verdict::Deny { " (denied)" } else { "" };
    let own = judged.matched.rule.as_ref().and_then(|rule| rule.reason.as_deref());
    match own.or(judged.matched.reason.as_deref()) {
        Some(why) => format!("{}: {why}{denied}", judged.request.display),
        None => format!("{}{denied}", judged.request.display),
    }
}

/// Finds the commands of a script.
#[derive(Default)]
struct Finder {
    parts: Vec<Part>,
    joined: &'static str,
    depth: usize,
}

impl Finder {
    fn parts(script: &Script) -> Vec<Part> {
        let mut finder = Self::default();
        finder.script(script);
        finder.parts
    }

    fn add(&mut self, span: Span) {
        let joined = std::mem::take(&mut self.joined);
        self.parts.push(Part { joined, depth: self.depth, span });
    }

    /// What stands in something that this word opens.
    fn within(&mut self, opening: &'static str, act: impl FnOnce(&mut Self)) {
        self.joined = opening;
        self.depth += 1;
        act(self);
        self.depth -= 1;
    }
}

impl Visit for Finder {
    fn statements(&mut self, statements: &[Statement]) {
        for (index, statement) in statements.iter().enumerate() {
            let before = index.checked_sub(1).and_then(|before| statements.get(before));
            if let Some(before) = before {
                self.joined = if before.background { "&" } else { ";" };
            }
            self.command(&statement.command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Pipeline { parts, .. } => {
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        self.joined = "|";
                    }
                    self.command(part);
                }
            }
            Command::AndOr { left, operator, right, .. } => {
                self.command(left);
                self.joined = if *operator == Connective::And { "&&" } else { "||" };
                self.command(right);
            }
            Command::Group(body) => self.within("{", |finder| finder.statements(body)),
            Command::Subshell(body) => self.within("(", |finder| finder.statements(body)),
            Command::If { .. } => self.within("if", |finder| walk_command(finder, command)),
            Command::Loop { .. } => self.within("loop", |finder| walk_command(finder, command)),
            Command::For { .. } | Command::ArithmeticFor { .. } => {
                self.within("for", |finder| walk_command(finder, command));
            }
            Command::Case { .. } => self.within("case", |finder| walk_command(finder, command)),
            Command::Function { span, .. } => {
                self.add(*span);
                self.within("()", |finder| walk_command(finder, command));
            }
            Command::Test { span, .. } => {
                self.add(*span);
                walk_command(self, command);
            }
            Command::NotUnderstood(problem) => self.add(problem.span),
            Command::Simple(_) | Command::Arithmetic(_) | Command::Redirected { .. } => {
                walk_command(self, command);
            }
        }
    }

    fn simple(&mut self, simple: &Simple) {
        self.add(simple.span);
        crate::syntax::visit::walk_simple(self, simple);
    }

    fn redirection(&mut self, redirection: &Redirection) {
        self.word(&redirection.target);
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Substitution { script, .. } => self.within("$(", |finder| finder.script(script)),
            Piece::Process { script, output: false } => self.within("<(", |finder| finder.script(script)),
            Piece::Process { script, output: true } => self.within(">(", |finder| finder.script(script)),
            _ => walk_piece(self, piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::shown;
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let parts = shown(text, parts);
        parts.lines.into_iter().chain(parts.others).map(|line| line.text).collect()
    }

    #[test]
    fn each_part_stands_with_its_operator_and_its_reason() {
        let why = "what this program does is not fully explained";
        let table: [(&str, Vec<String>); 7] = [
            ("frobnicate x", vec![format!("- Run frobnicate x: {why}")]),
            (
                "ls && frobnicate x",
                vec![
                    "       ls".into(),
                    "  && * frobnicate x".into(),
                    format!("       - Run frobnicate x: {why}"),
                ],
            ),
            (
                "rm a.txt; rm a.txt",
                vec![
                    "     * rm a.txt".into(),
                    "       - Delete /home/dev/proj/a.txt: a file would be deleted or moved away".into(),
                    "   ; * rm a.txt".into(),
                ],
            ),
            (
                "ls | wc -l; (frobnicate x)",
                vec![
                    "       ls".into(),
                    "   |   wc -l".into(),
                    "   ( *   frobnicate x".into(),
                    format!("       - Run frobnicate x: {why}"),
                ],
            ),
            (
                "ls & rm a.txt",
                vec![
                    "     * ls".into(),
                    "       - Leave running: ls: it keeps running after the call".into(),
                    "   & * rm a.txt".into(),
                    "       - Delete /home/dev/proj/a.txt: a file would be deleted or moved away".into(),
                ],
            ),
            (
                "if ls; then frobnicate; fi",
                vec![
                    "  if     ls".into(),
                    "     *   frobnicate".into(),
                    format!("       - Run frobnicate: {why}"),
                ],
            ),
            (
                "echo $(frobnicate)",
                vec![
                    "       echo $(frobnicate)".into(),
                    "  $( *   frobnicate".into(),
                    format!("       - Run frobnicate: {why}"),
                ],
            ),
        ];
        for (text, expected) in table {
            assert_eq!(lines(text), expected, "{text}");
        }
    }

    #[test]
    fn a_summary_counts_them() {
        let table = [
            ("ls; rm a.txt; rm a.txt; frobnicate", "4 commands, 3 ask (*):"),
            ("ls && frobnicate", "2 commands, 1 asks (*):"),
            ("f() { frobnicate; }; ls; f", "4 commands, 1 asks (*):"),
        ];
        for (text, expected) in table {
            assert_eq!(shown(text, parts).summary(), expected, "{text}");
        }
    }

    #[test]
    fn long_lists_say_what_they_leave_out() {
        let text = "ls; ".repeat(LISTED) + "frobnicate";
        let found = lines(&text);
        assert!(found.iter().any(|line| line.contains("* frobnicate")), "{found:?}");
        assert!(found.iter().any(|line| line.starts_with("30 more parts")), "{found:?}");
    }

    #[test]
    fn what_no_part_holds_is_said_all_the_same() {
        let found = lines("echo 'a");
        assert!(found.iter().any(|line| line.contains("not understood")), "{found:?}");
    }
}
