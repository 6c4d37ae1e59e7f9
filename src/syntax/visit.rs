//! A walk over everything in a script, for whoever looks at all of it: each method's default goes deeper.

use super::{
    Arithmetic, AssignedValue, Assignment, Command, ParameterForm, Piece, Redirection, Script, Simple,
    Statement, Word,
};

/// Sees the parts of a script in source order. A method that is replaced goes deeper by calling the
/// `walk_…` of the same part.
pub trait Visit {
    /// A script: the text itself, or one in a substitution.
    fn script(&mut self, script: &Script) {
        self.statements(&script.body);
    }

    /// Statements in a row.
    fn statements(&mut self, statements: &[Statement]) {
        statements.iter().for_each(|statement| self.command(&statement.command));
    }

    /// A command of any form.
    fn command(&mut self, command: &Command) {
        walk_command(self, command);
    }

    /// A simple command.
    fn simple(&mut self, simple: &Simple) {
        walk_simple(self, simple);
    }

    /// An assignment before a command, or alone.
    fn assignment(&mut self, assignment: &Assignment) {
        match &assignment.value {
            AssignedValue::Word(word) => self.word(word),
            AssignedValue::Array(words) => self.words(words),
        }
    }

    /// A redirection.
    fn redirection(&mut self, redirection: &Redirection) {
        self.word(&redirection.target);
    }

    /// Words in a row.
    fn words(&mut self, words: &[Word]) {
        words.iter().for_each(|word| self.word(word));
    }

    /// A word.
    fn word(&mut self, word: &Word) {
        word.pieces.iter().for_each(|piece| self.piece(piece));
    }

    /// A piece of a word.
    fn piece(&mut self, piece: &Piece) {
        walk_piece(self, piece);
    }

    /// An arithmetic text.
    fn arithmetic(&mut self, arithmetic: &Arithmetic) {
        arithmetic.scripts.iter().for_each(|script| self.script(script));
    }
}

/// Goes into what a command is made of.
pub fn walk_command<V: Visit + ?Sized>(visitor: &mut V, command: &Command) {
    match command {
        Command::Simple(simple) => visitor.simple(simple),
        Command::Pipeline { parts, .. } => parts.iter().for_each(|part| visitor.command(part)),
        Command::AndOr { left, right, .. } => {
            visitor.command(left);
            visitor.command(right);
        }
        Command::Group(body) | Command::Subshell(body) => visitor.statements(body),
        Command::If { arms, otherwise } => {
            for (condition, body) in arms {
                visitor.statements(condition);
                visitor.statements(body);
            }
            visitor.statements(otherwise);
        }
        Command::Loop { condition, body } => {
            visitor.statements(condition);
            visitor.statements(body);
        }
        Command::For { words, body, .. } => {
            visitor.words(words.as_deref().unwrap_or_default());
            visitor.statements(body);
        }
        Command::ArithmeticFor { header, body } => {
            visitor.arithmetic(header);
            visitor.statements(body);
        }
        Command::Case { subject, arms } => {
            visitor.word(subject);
            for (patterns, body) in arms {
                visitor.words(patterns);
                visitor.statements(body);
            }
        }
        Command::Function { body, .. } => visitor.command(body),
        Command::Test { words, .. } => visitor.words(words),
        Command::Arithmetic(arithmetic) => visitor.arithmetic(arithmetic),
        Command::Redirected { command, redirections, .. } => {
            visitor.command(command);
            redirections.iter().for_each(|redirection| visitor.redirection(redirection));
        }
        Command::NotUnderstood(_) => {}
    }
}

/// Goes into what a simple command is made of.
pub fn walk_simple<V: Visit + ?Sized>(visitor: &mut V, simple: &Simple) {
    simple.assignments.iter().for_each(|assignment| visitor.assignment(assignment));
    visitor.words(&simple.words);
    simple.redirections.iter().for_each(|redirection| visitor.redirection(redirection));
}

/// Goes into what a piece of a word is made of.
pub fn walk_piece<V: Visit + ?Sized>(visitor: &mut V, piece: &Piece) {
    match piece {
        Piece::Parameter { form: ParameterForm::Fallback { operand, .. }, .. } => visitor.word(operand),
        Piece::Substitution { script, .. } | Piece::Process { script, .. } => visitor.script(script),
        Piece::Arithmetic(arithmetic) => visitor.arithmetic(arithmetic),
        Piece::Text { .. } | Piece::Tilde(_) | Piece::Parameter { .. } => {}
    }
}
