//! The items of our own reading.

use super::super::visit::{Visit, walk_command, walk_simple};
use super::super::{
    AssignedValue, Assignment, Command, Descriptor, Piece, Redirection, RedirectionOperator, Script, Simple,
    Word,
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
}

impl Visit for Own {
    fn command(&mut self, command: &Command) {
        match command {
            Command::For { name, words, .. } => {
                let words: Option<Vec<String>> = words.as_ref().map(|words| texts(words));
                self.items.loop_words(name, words.as_deref());
            }
            Command::Case { subject, arms } => {
                self.items.case_words(&[text(subject)]);
                arms.iter().for_each(|(patterns, _)| self.items.case_words(&texts(patterns)));
            }
            Command::Function { name, .. } => self.items.function(name),
            _ => {}
        }
        walk_command(self, command);
    }

    fn simple(&mut self, simple: &Simple) {
        let assignments: Vec<String> = simple.assignments.iter().map(assigned).collect();
        self.items.command(&assignments, &with_variables(simple));
        walk_simple(self, simple);
    }

    fn redirection(&mut self, redirection: &Redirection) {
        let descriptor = match &redirection.descriptor {
            None => String::new(),
            Some(Descriptor::Number(number)) => {
                if i32::try_from(*number).is_err() {
                    self.out_of_reach = Some("a descriptor beyond all numbers");
                }
                number.to_string()
            }
            // The other parser sees a word and a redirection behind it.
            Some(Descriptor::Variable(_)) => String::new(),
        };
        let target = text(&redirection.target);
        self.items.redirection(&descriptor, operator(redirection.operator), &target);
        self.word(&redirection.target);
    }
}

fn assigned(assignment: &Assignment) -> String {
    let mut written = assignment.name.clone();
    if let Some(subscript) = &assignment.subscript {
        written.push('[');
        written.push_str(subscript);
        written.push(']');
    }
    written.push_str(if assignment.append { "+=" } else { "=" });
    match &assignment.value {
        AssignedValue::Word(word) => written.push_str(&text(word)),
        AssignedValue::Array(words) => written.push_str(&items::array(&texts(words))),
    }
    written
}

/// The words, with the `{name}` of `{name}>` where it stands.
fn with_variables(simple: &Simple) -> Vec<String> {
    let mut words: Vec<(usize, String)> =
        simple.words.iter().map(|word| (word.span.start, text(word))).collect();
    for redirection in &simple.redirections {
        if let Some(Descriptor::Variable(name)) = &redirection.descriptor {
            words.push((redirection.span.start, format!("{{{name}}}")));
        }
    }
    words.sort_by_key(|(start, _)| *start);
    words.into_iter().map(|(_, word)| word).collect()
}

fn texts(words: &[Word]) -> Vec<String> {
    words.iter().map(text).collect()
}

fn text(word: &Word) -> String {
    let pieces = word.pieces.iter().map(|piece| match piece {
        Piece::Text { text, .. } | Piece::Tilde(text) => text.as_str(),
        Piece::Parameter { .. } => items::PARAMETER,
        Piece::Substitution { .. } => items::SUBSTITUTION,
        Piece::Process { output: true, .. } => items::PROCESS_OUTPUT,
        Piece::Process { .. } => items::PROCESS_INPUT,
        Piece::Arithmetic(_) => items::ARITHMETIC,
    });
    pieces.collect()
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
