//! The items of our own reading.

use super::super::{
    Arithmetic, AssignedValue, Assignment, Command, Descriptor, ParameterForm, Piece, Redirection,
    RedirectionOperator, Script, Simple, Statement, Word,
};
use super::items::{self, Items};

/// What our reading found.
#[derive(Debug, Default)]
pub(super) struct Own {
    pub(super) items: Items,
    /// Something that the other parser cannot be given.
    pub(super) out_of_reach: Option<&'static str>,
}

impl Own {
    pub(super) fn of(script: &Script) -> Self {
        let mut own = Self::default();
        own.statements(&script.body);
        own
    }

    fn statements(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.command(&statement.command);
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline { parts, .. } => parts.iter().for_each(|part| self.command(part)),
            Command::AndOr { left, right, .. } => {
                self.command(left);
                self.command(right);
            }
            Command::Group(body) | Command::Subshell(body) => self.statements(body),
            Command::ArithmeticFor { header, body } => {
                self.arithmetic(header);
                self.statements(body);
            }
            Command::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.statements(condition);
                    self.statements(body);
                }
                self.statements(otherwise);
            }
            Command::Loop { condition, body } => {
                self.statements(condition);
                self.statements(body);
            }
            Command::For { name, words, body } => {
                let words = words.as_ref().map(|words| self.words(words));
                self.items.loop_words(name, words.as_deref());
                self.statements(body);
            }
            Command::Case { subject, arms } => self.case(subject, arms),
            Command::Function { name, body, .. } => {
                self.items.function(name);
                self.command(body);
            }
            Command::Test { words, .. } => {
                self.words(words);
            }
            Command::Arithmetic(arithmetic) => self.arithmetic(arithmetic),
            Command::NotUnderstood(_) => {}
            Command::Redirected { command, redirections, .. } => {
                self.command(command);
                self.redirections(redirections);
            }
        }
    }

    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        for script in &arithmetic.scripts {
            self.statements(&script.body);
        }
    }

    fn case(&mut self, subject: &Word, arms: &[(Vec<Word>, Vec<Statement>)]) {
        let subject = self.word(subject);
        self.items.case_words(&[subject]);
        for (patterns, body) in arms {
            let patterns = self.words(patterns);
            self.items.case_words(&patterns);
            self.statements(body);
        }
    }

    fn simple(&mut self, simple: &Simple) {
        let assignments: Vec<String> = simple.assignments.iter().map(|each| self.assignment(each)).collect();
        let words = self.words(&simple.words);
        self.items.command(&assignments, &words);
        self.redirections(&simple.redirections);
    }

    fn assignment(&mut self, assignment: &Assignment) -> String {
        let mut text = assignment.name.clone();
        if let Some(subscript) = &assignment.subscript {
            text.push('[');
            text.push_str(subscript);
            text.push(']');
        }
        text.push_str(if assignment.append { "+=" } else { "=" });
        match &assignment.value {
            AssignedValue::Word(word) => self.append(word, &mut text),
            AssignedValue::Array(words) => text.push_str(&items::array(&self.words(words))),
        }
        text
    }

    fn redirections(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            let descriptor = match &redirection.descriptor {
                None => String::new(),
                Some(Descriptor::Number(number)) => {
                    if i32::try_from(*number).is_err() {
                        self.out_of_reach = Some("a descriptor beyond all numbers");
                    }
                    number.to_string()
                }
                Some(Descriptor::Variable(name)) => format!("{{{name}}}"),
            };
            let target = self.word(&redirection.target);
            self.items.redirection(&descriptor, operator(redirection.operator), &target);
        }
    }

    fn words(&mut self, words: &[Word]) -> Vec<String> {
        words.iter().map(|word| self.word(word)).collect()
    }

    fn word(&mut self, word: &Word) -> String {
        let mut text = String::new();
        self.append(word, &mut text);
        text
    }

    fn append(&mut self, word: &Word, text: &mut String) {
        for piece in &word.pieces {
            match piece {
                Piece::Text { text: more, .. } | Piece::Tilde(more) => text.push_str(more),
                Piece::Parameter { form, .. } => {
                    text.push_str(items::PARAMETER);
                    if let ParameterForm::Fallback { operand, .. } = form {
                        self.word(operand);
                    }
                }
                Piece::Substitution { script, .. } => {
                    text.push_str(items::SUBSTITUTION);
                    self.statements(&script.body);
                }
                Piece::Process { script, output } => {
                    text.push_str(if *output { items::PROCESS_OUTPUT } else { items::PROCESS_INPUT });
                    self.statements(&script.body);
                }
                Piece::Arithmetic(arithmetic) => {
                    self.arithmetic(arithmetic);
                    text.push_str(items::ARITHMETIC);
                }
            }
        }
    }
}

fn operator(operator: RedirectionOperator) -> &'static str {
    match operator {
        RedirectionOperator::Read => "<",
        RedirectionOperator::Write => ">",
        RedirectionOperator::Clobber => ">|",
        RedirectionOperator::Append => ">>",
        RedirectionOperator::ReadWrite => "<>",
        RedirectionOperator::WriteBoth => "&>",
        RedirectionOperator::AppendBoth => "&>>",
        RedirectionOperator::DuplicateInput => "<&",
        RedirectionOperator::DuplicateOutput => ">&",
        RedirectionOperator::HereDocument => "<<",
        RedirectionOperator::HereString => "<<<",
    }
}
