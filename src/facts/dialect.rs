//! What only bash reads as bash does. `sh` is another shell on many machines: to it `[[ a || b ]]` is a
//! command `b`, `((a))` a command `a`, and `$'…'` and `{a,b}` are other words.

use super::gather::Gatherer;
use crate::syntax::visit::{Visit, walk_command, walk_piece, walk_simple};
use crate::syntax::{AssignedValue, Cause, Command, Descriptor, Piece, Redirection, Script, Simple, Word};

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
}

impl Visit for Look<'_> {
    fn command(&mut self, command: &Command) {
        match command {
            Command::ArithmeticFor { .. } | Command::Arithmetic(_) => self.say("`((`"),
            Command::Test { .. } => self.say("`[[`"),
            _ => walk_command(self, command),
        }
    }

    fn simple(&mut self, simple: &Simple) {
        for assignment in &simple.assignments {
            if assignment.append || assignment.subscript.is_some() {
                self.say("`+=` or a subscript");
            }
            if let AssignedValue::Array(_) = &assignment.value {
                self.say("an array");
            }
        }
        if let Some([Piece::Text { text, .. }]) = simple.words.first().map(|word| word.pieces.as_slice())
            && BUILTINS.contains(&text.as_str())
        {
            self.say("a builtin of bash");
        }
        walk_simple(self, simple);
    }

    fn redirection(&mut self, redirection: &Redirection) {
        if let Some(Descriptor::Variable(_)) = redirection.descriptor {
            self.say("`{name}>`");
        }
        self.word(&redirection.target);
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
        if let Piece::Text { text, quoted: false } = piece
            && text.split_once('{').is_some_and(|(_, rest)| rest.contains(',') || rest.contains(".."))
        {
            self.say("braces");
        }
        walk_piece(self, piece);
    }
}
