//! Which kinds of node a script's tree holds. The matches name every variant: a new one does not compile here.

use std::collections::BTreeSet;

use gsh::syntax::{
    AssignedValue, Command, Connective, Descriptor, ParameterForm, Piece, Redirection, RedirectionOperator,
    Script, Simple, Statement, Word,
};

/// Every kind. The walk below finds no other.
pub(crate) const KINDS: &[&str] = &[
    "command: simple",
    "command: pipeline",
    "command: negated pipeline",
    "command: and",
    "command: or",
    "command: group",
    "command: subshell",
    "command: if",
    "command: loop",
    "command: for",
    "command: for without words",
    "command: arithmetic for",
    "command: case",
    "command: function",
    "command: test",
    "command: arithmetic",
    "command: redirected",
    "command: not understood",
    "statement: background",
    "assignment: word",
    "assignment: array",
    "assignment: subscript",
    "assignment: append",
    "piece: text",
    "piece: quoted text",
    "piece: tilde",
    "piece: parameter",
    "piece: indirect",
    "piece: length",
    "piece: fallback",
    "piece: edit",
    "piece: substitution",
    "piece: quoted substitution",
    "piece: process input",
    "piece: process output",
    "piece: arithmetic",
    "redirection: <",
    "redirection: >",
    "redirection: >|",
    "redirection: >>",
    "redirection: <>",
    "redirection: &>",
    "redirection: &>>",
    "redirection: <&",
    "redirection: >&",
    "redirection: <<",
    "redirection: <<<",
    "descriptor: number",
    "descriptor: variable",
];

/// The kinds of a script's nodes.
pub(crate) fn kinds(script: &Script) -> BTreeSet<&'static str> {
    let mut found = Found(BTreeSet::new());
    found.statements(&script.body);
    found.0
}

struct Found(BTreeSet<&'static str>);

impl Found {
    fn add(&mut self, kind: &'static str) {
        self.0.insert(kind);
    }

    fn statements(&mut self, body: &[Statement]) {
        for statement in body {
            if statement.background {
                self.add("statement: background");
            }
            self.command(&statement.command);
        }
    }

    fn scripts(&mut self, scripts: &[Script]) {
        scripts.iter().for_each(|script| self.statements(&script.body));
    }

    fn words(&mut self, words: &[Word]) {
        words.iter().for_each(|word| self.word(word));
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline { parts, negated, .. } => {
                self.add(if *negated { "command: negated pipeline" } else { "command: pipeline" });
                parts.iter().for_each(|part| self.command(part));
            }
            Command::AndOr { left, operator, right, .. } => {
                self.add(match operator {
                    Connective::And => "command: and",
                    Connective::Or => "command: or",
                });
                self.command(left);
                self.command(right);
            }
            Command::Group(body) => self.body("command: group", body),
            Command::Subshell(body) => self.body("command: subshell", body),
            Command::If { arms, otherwise } => {
                self.body("command: if", otherwise);
                for (condition, body) in arms {
                    self.statements(condition);
                    self.statements(body);
                }
            }
            Command::Loop { condition, body } => {
                self.body("command: loop", condition);
                self.statements(body);
            }
            Command::For { words, body, .. } => {
                let kind = if words.is_some() { "command: for" } else { "command: for without words" };
                self.body(kind, body);
                self.words(words.as_deref().unwrap_or_default());
            }
            Command::ArithmeticFor { header, body } => {
                self.body("command: arithmetic for", body);
                self.scripts(&header.scripts);
            }
            Command::Case { subject, arms } => {
                self.add("command: case");
                self.word(subject);
                for (patterns, body) in arms {
                    self.words(patterns);
                    self.statements(body);
                }
            }
            Command::Function { body, .. } => {
                self.add("command: function");
                self.command(body);
            }
            Command::Test { words, .. } => {
                self.add("command: test");
                self.words(words);
            }
            Command::Arithmetic(arithmetic) => {
                self.add("command: arithmetic");
                self.scripts(&arithmetic.scripts);
            }
            Command::Redirected { command, redirections, .. } => {
                self.add("command: redirected");
                self.command(command);
                redirections.iter().for_each(|redirection| self.redirection(redirection));
            }
            Command::NotUnderstood(_) => self.add("command: not understood"),
        }
    }

    fn body(&mut self, kind: &'static str, body: &[Statement]) {
        self.add(kind);
        self.statements(body);
    }

    fn simple(&mut self, simple: &Simple) {
        self.add("command: simple");
        for assignment in &simple.assignments {
            if assignment.subscript.is_some() {
                self.add("assignment: subscript");
            }
            if assignment.append {
                self.add("assignment: append");
            }
            match &assignment.value {
                AssignedValue::Word(word) => {
                    self.add("assignment: word");
                    self.word(word);
                }
                AssignedValue::Array(words) => {
                    self.add("assignment: array");
                    self.words(words);
                }
            }
        }
        self.words(&simple.words);
        simple.redirections.iter().for_each(|redirection| self.redirection(redirection));
    }

    fn redirection(&mut self, redirection: &Redirection) {
        match redirection.descriptor {
            Some(Descriptor::Number(_)) => self.add("descriptor: number"),
            Some(Descriptor::Variable(_)) => self.add("descriptor: variable"),
            None => {}
        }
        self.add(match redirection.operator {
            RedirectionOperator::Read => "redirection: <",
            RedirectionOperator::Write => "redirection: >",
            RedirectionOperator::Clobber => "redirection: >|",
            RedirectionOperator::Append => "redirection: >>",
            RedirectionOperator::ReadWrite => "redirection: <>",
            RedirectionOperator::WriteBoth => "redirection: &>",
            RedirectionOperator::AppendBoth => "redirection: &>>",
            RedirectionOperator::DuplicateInput => "redirection: <&",
            RedirectionOperator::DuplicateOutput => "redirection: >&",
            RedirectionOperator::HereDocument => "redirection: <<",
            RedirectionOperator::HereString => "redirection: <<<",
        });
        self.word(&redirection.target);
    }

    fn word(&mut self, word: &Word) {
        word.pieces.iter().for_each(|piece| self.piece(piece));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text { quoted, .. } => {
                self.add(if *quoted { "piece: quoted text" } else { "piece: text" })
            }
            Piece::Tilde(_) => self.add("piece: tilde"),
            Piece::Parameter { form, .. } => match form {
                ParameterForm::Plain => self.add("piece: parameter"),
                ParameterForm::Length => self.add("piece: length"),
                ParameterForm::Indirect => self.add("piece: indirect"),
                ParameterForm::Fallback { operand, .. } => {
                    self.add("piece: fallback");
                    self.word(operand);
                }
                ParameterForm::Edit { .. } => self.add("piece: edit"),
            },
            Piece::Substitution { script, quoted } => {
                let kind = if *quoted { "piece: quoted substitution" } else { "piece: substitution" };
                self.body(kind, &script.body);
            }
            Piece::Process { script, output } => {
                let kind = if *output { "piece: process output" } else { "piece: process input" };
                self.body(kind, &script.body);
            }
            Piece::Arithmetic(arithmetic) => {
                self.add("piece: arithmetic");
                self.scripts(&arithmetic.scripts);
            }
        }
    }
}
