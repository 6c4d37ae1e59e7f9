//! What only bash reads as bash does. `sh` is another shell on many machines: to it `[[ a || b ]]` is a
//! command `b`, `((a))` a command `a`, and `$'…'` and `{a,b}` are other words.

use super::gather::Gatherer;
use crate::syntax::{
    AssignedValue, Cause, Command, Descriptor, ParameterForm, Piece, Redirection, Script, Simple, Statement,
    Word,
};

/// Builtins that other shells do not have: what follows them would run in another state.
const BUILTINS: [&str; 9] =
    ["declare", "typeset", "let", "mapfile", "readarray", "shopt", "pushd", "popd", "source"];

impl Gatherer<'_> {
    /// Says so where a shell that need not be bash reads `script`, whose text is `text`, otherwise.
    pub(super) fn dialect(&mut self, text: &str, script: &Script) {
        let mut look = Look { text, found: None };
        look.statements(&script.body);
        if let Some(what) = look.found {
            let detail = format!("a shell that is not bash reads {what} otherwise");
            self.doubt(Cause::UnsupportedShell, detail, crate::report::Span::default(), true);
        }
    }
}

/// The walk, and the first construct that it found.
struct Look<'t> {
    text: &'t str,
    found: Option<&'static str>,
}

impl Look<'_> {
    fn say(&mut self, what: &'static str) {
        self.found.get_or_insert(what);
    }

    fn statements(&mut self, body: &[Statement]) {
        body.iter().for_each(|statement| self.command(&statement.command));
    }

    fn words(&mut self, words: &[Word]) {
        words.iter().for_each(|word| self.word(word));
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
            Command::For { words, body, .. } => {
                self.words(words.as_deref().unwrap_or_default());
                self.statements(body);
            }
            Command::ArithmeticFor { .. } | Command::Arithmetic(_) => self.say("`((`"),
            Command::Case { subject, arms } => {
                self.word(subject);
                for (patterns, body) in arms {
                    self.words(patterns);
                    self.statements(body);
                }
            }
            Command::Function { body, .. } => self.command(body),
            Command::Test { .. } => self.say("`[[`"),
            Command::Redirected { command, redirections, .. } => {
                self.command(command);
                self.redirections(redirections);
            }
            Command::NotUnderstood(_) => {}
        }
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            if assignment.append || assignment.subscript.is_some() {
                self.say("`+=` or a subscript");
            }
            match &assignment.value {
                AssignedValue::Word(word) => self.word(word),
                AssignedValue::Array(_) => self.say("an array"),
            }
        }
        if let Some([Piece::Text { text, .. }]) = simple.words.first().map(|word| word.pieces.as_slice())
            && BUILTINS.contains(&text.as_str())
        {
            self.say("a builtin of bash");
        }
        self.words(&simple.words);
        self.redirections(&simple.redirections);
    }

    fn redirections(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            if let Some(Descriptor::Variable(_)) = redirection.descriptor {
                self.say("`{name}>`");
            }
            self.word(&redirection.target);
        }
    }

    fn word(&mut self, word: &Word) {
        // The tree does not keep how a text was quoted. A word inside of backticks has the span of all of
        // them, which holds it too.
        let written = self.text.get(word.span.start..word.span.end).unwrap_or_default();
        if written.contains("$'") || written.contains("$[") {
            self.say("`$'` or `$[`");
        }
        word.pieces.iter().for_each(|piece| self.piece(piece));
    }

    fn piece(&mut self, piece: &Piece) {
        match piece {
            Piece::Text { text, quoted: false } => {
                if text.split_once('{').is_some_and(|(_, rest)| rest.contains(',') || rest.contains("..")) {
                    self.say("braces");
                }
            }
            Piece::Parameter { form: ParameterForm::Fallback { operand, .. }, .. } => self.word(operand),
            Piece::Substitution { script, .. } | Piece::Process { script, .. } => {
                self.statements(&script.body);
            }
            Piece::Arithmetic(arithmetic) => {
                arithmetic.scripts.iter().for_each(|script| self.statements(&script.body));
            }
            Piece::Text { .. } | Piece::Tilde(_) | Piece::Parameter { .. } => {}
        }
    }
}
