//! What a body that runs again and again may change in the shell.

use std::collections::{BTreeMap, BTreeSet};

use super::state::{Function, is_number};
use crate::syntax::{Arithmetic, AssignedValue, Command, Piece, Simple, Statement, Word};

/// Whether an arithmetic text assigns to a variable.
pub(super) fn assigns(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let rest = text.get(at + name.len()..).unwrap_or("").trim_start();
        let head = text.get(..at).unwrap_or("").trim_end();
        let assigned = rest.starts_with('=') && !rest.starts_with("==");
        let compound = rest.bytes().take(3).position(|byte| byte == b'=').is_some_and(|at| {
            at > 0 && rest.get(..at).is_some_and(|sign| sign.chars().all(|c| "+-*/%&|^<>".contains(c)))
        });
        assigned
            || compound
            || rest.starts_with("++")
            || rest.starts_with("--")
            || head.ends_with("++")
            || head.ends_with("--")
    })
}

/// What running statements again and again may change in the shell.
#[derive(Default)]
pub(super) struct Changes {
    /// Assigned variables, with whether every value is a number.
    pub assigned: BTreeMap<String, bool>,
    /// The directory.
    pub moves: bool,
    /// Functions that are defined.
    pub functions: BTreeSet<String>,
    /// Anything at all (`eval`, `source`).
    pub anything: bool,
    /// A command's name is only known when it runs.
    pub dynamic: bool,
    /// How many commands were looked at.
    pub commands: usize,
    /// The names of those that may be functions.
    pub called: BTreeSet<String>,
}

impl Changes {
    pub(super) fn scan(&mut self, body: &[Statement]) {
        for statement in body {
            self.scan_command(&statement.command);
        }
    }

    /// The functions that the shell says it has, where one of them is called.
    pub(super) fn scan_told(&mut self, functions: &BTreeMap<String, Function>) {
        let mut seen = BTreeSet::new();
        while let Some(name) = self.called.iter().find(|name| !seen.contains(*name)).cloned() {
            if let Some(Function::Told(told)) = functions.get(&name) {
                match told.body() {
                    Some(body) => self.scan_command(&body),
                    None => self.anything = true,
                }
            }
            seen.insert(name);
        }
    }

    pub(super) fn scan_command(&mut self, command: &Command) {
        self.commands += 1;
        match command {
            Command::Simple(simple) => self.scan_simple(simple),
            // Elements of a pipeline and subshells keep their changes to themselves.
            Command::Pipeline { parts, .. } if parts.len() > 1 => {}
            Command::Pipeline { parts, .. } => parts.iter().for_each(|part| self.scan_command(part)),
            Command::AndOr { left, right, .. } => {
                self.scan_command(left);
                self.scan_command(right);
            }
            Command::Group(body) => self.scan(body),
            Command::Subshell(_) | Command::Test { .. } | Command::NotUnderstood(_) => {}
            Command::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.scan(condition);
                    self.scan(body);
                }
                self.scan(otherwise);
            }
            Command::Loop { condition, body } => {
                self.scan(condition);
                self.scan(body);
            }
            Command::For { name, body, .. } => {
                self.assigned.insert(name.clone(), false);
                self.scan(body);
            }
            Command::ArithmeticFor { header, body } => {
                self.numbers(header, |_, _| true);
                self.scan(body);
            }
            Command::Case { arms, .. } => arms.iter().for_each(|(_, body)| self.scan(body)),
            Command::Function { name, body, .. } => {
                self.functions.insert(name.clone());
                self.scan_command(body);
            }
            Command::Arithmetic(arithmetic) => self.numbers(arithmetic, assigns),
            Command::Redirected { command, .. } => self.scan_command(command),
        }
    }

    fn numbers(&mut self, arithmetic: &Arithmetic, which: impl Fn(&str, &str) -> bool) {
        for name in arithmetic.names.iter().filter(|name| which(&arithmetic.text, name)) {
            self.assigned.entry(name.clone()).or_insert(true);
        }
    }

    fn scan_simple(&mut self, simple: &Simple) {
        if simple.words.is_empty() {
            for assignment in &simple.assignments {
                let number = matches!(&assignment.value, AssignedValue::Word(word) if numeric(word));
                let entry = self.assigned.entry(assignment.name.clone()).or_insert(true);
                *entry &= number && assignment.subscript.is_none();
            }
            return;
        }
        let texts: Vec<String> = simple.words.iter().map(literal).collect();
        let mut words =
            texts.iter().map(String::as_str).skip_while(|w| matches!(*w, "command" | "builtin" | "time"));
        match words.next() {
            Some(name) if name.contains('\u{0}') => self.dynamic = true,
            Some("cd" | "pushd" | "popd") => self.moves = true,
            Some("read" | "mapfile" | "readarray" | "getopts" | "printf" | "unset") => {
                for name in words.filter(|word| !word.starts_with('-')) {
                    self.assigned.insert(name.to_owned(), false);
                }
            }
            Some("export" | "declare" | "local" | "typeset" | "readonly" | "let") => {
                for word in words.filter(|word| !word.starts_with('-')) {
                    let name = word.split(['=', '+', '[']).next().unwrap_or(word);
                    self.assigned.insert(name.to_owned(), false);
                }
            }
            Some("eval" | "source" | "." | "shift" | "set") => self.anything = true,
            Some(name) => {
                self.called.insert(name.to_owned());
            }
            None => {}
        }
    }
}

fn numeric(word: &Word) -> bool {
    match word.pieces.as_slice() {
        [Piece::Arithmetic(_)] => true,
        [Piece::Text { text, .. }] => is_number(text),
        _ => false,
    }
}

fn literal(word: &Word) -> String {
    word.pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text { text, .. } => text.as_str(),
            _ => "\u{0}",
        })
        .collect()
}
