//! The ways out of a text before its end: errors that drop the rest of a line, `return`, `break`, and
//! redirections that fail before their command runs.

use super::arg::Arg;
use super::gather::Gatherer;
use super::state::{State, Value, is_number, unknown};
use crate::syntax::{
    Arithmetic, Command, Descriptor, Piece, Redirection, RedirectionOperator, Simple, Statement,
};

/// Variables that bash itself made readonly.
const FIXED: &[&str] = &["BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"];

/// Whether no new value can be given to a variable.
pub(super) fn is_readonly(state: &State, name: &str) -> bool {
    state.readonly.contains(name) || FIXED.contains(&name)
}

/// What the shell may hold where a part is left early.
#[derive(Debug, Default)]
pub(super) struct Exits {
    /// An error here drops the rest of the line that began last.
    line: Option<Box<State>>,
    /// The same since the last newline inside of a compound command: what follows there would not run, but it
    /// is read as a line of its own would be.
    inner: Option<Box<State>>,
    /// For each function and sourced text that runs, outermost first: where it was returned from.
    returns: Vec<Option<Box<State>>>,
    /// The same for loops of the innermost of them.
    breaks: Vec<Option<Box<State>>>,
}

impl Gatherer<'_> {
    /// An expansion here may fail, and bash goes on with the next line.
    pub(super) fn may_abort(&mut self, state: &State) {
        let now = self.copied(state);
        add(&mut self.exits.inner, now.clone());
        add(&mut self.exits.line, now);
    }

    /// A function, or what was set for one command, ends: these variables and the parameters are others again
    /// where an error dropped the line inside of it.
    pub(super) fn forget(&mut self, names: impl IntoIterator<Item = String>, parameters: bool) {
        let names: Vec<String> = names.into_iter().collect();
        for aborted in [&mut self.exits.line, &mut self.exits.inner].into_iter().flatten() {
            for name in &names {
                aborted.vars.insert(name.clone(), Value::Text(unknown()));
            }
            if parameters {
                aborted.positional = None;
            }
        }
    }

    /// A new line of the text begins, or the text ends: errors of the line before end here. The same for a
    /// line of a compound command's body.
    pub(super) fn next_line(&mut self, state: &mut State, whole: bool) {
        let inner = self.exits.inner.take();
        if let Some(aborted) = if whole { self.exits.line.take() } else { inner } {
            state.join(&aborted);
        }
    }

    /// Runs a part that nothing leaves but its own end: another shell, or a copy of this one.
    pub(super) fn apart<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.exits);
        let result = body(self);
        self.exits = outer;
        result
    }

    /// Runs the lines of a text.
    pub(super) fn with_lines<T>(
        &mut self,
        state: &mut State,
        body: impl FnOnce(&mut Self, &mut State) -> T,
    ) -> T {
        let outer = (self.exits.line.take(), self.exits.inner.take());
        let result = body(self, state);
        self.next_line(state, true);
        (self.exits.line, self.exits.inner) = outer;
        result
    }

    /// Runs what `return` ends.
    pub(super) fn with_return<T>(
        &mut self,
        state: &mut State,
        body: impl FnOnce(&mut Self, &mut State) -> T,
    ) -> T {
        self.exits.returns.push(None);
        let outer = std::mem::take(&mut self.exits.breaks);
        let result = body(self, state);
        self.exits.breaks = outer;
        if let Some(left) = self.exits.returns.pop().flatten() {
            state.join(&left);
        }
        result
    }

    /// Runs a loop's body.
    pub(super) fn with_break(&mut self, state: &mut State, body: impl FnOnce(&mut Self, &mut State)) {
        self.exits.breaks.push(None);
        body(self, state);
        if let Some(left) = self.exits.breaks.pop().flatten() {
            state.join(&left);
        }
    }

    /// `return`, `break`, `continue`.
    pub(super) fn leave(&mut self, state: &State, name: &str, words: &[Arg]) {
        let now = self.copied(state);
        if name == "return" {
            if let Some(last) = self.exits.returns.last_mut() {
                add(last, now);
            }
            return;
        }
        // `break 2` leaves more than one loop.
        let several = words.len() > 1;
        let frames = self.exits.breaks.iter_mut().rev();
        for frame in frames.take(if several { usize::MAX } else { 1 }) {
            add(frame, now.clone());
        }
    }

    /// Whether the command never comes back to the list (`exit`, `return`).
    pub(super) fn leaves(&self, state: &State, command: &Command) -> bool {
        match command {
            Command::Simple(simple) => self.leaves_simply(state, simple),
            Command::Group(body) => {
                let last = body.last().filter(|last| !last.background);
                let defines = |each: &Statement| matches!(each.command, Command::Function { .. });
                last.is_some_and(|last| self.leaves(state, &last.command)) && !body.iter().any(defines)
            }
            _ => false,
        }
    }

    fn leaves_simply(&self, state: &State, simple: &Simple) -> bool {
        if simple.redirections.iter().any(can_fail) || !simple.assignments.is_empty() {
            return false;
        }
        let mut words = simple.words.iter().map(|word| word.pieces.as_slice());
        let Some([Piece::Text { text: name, .. }]) = words.next() else { return false };
        let returns = name == "return" && !self.exits.returns.is_empty();
        // A status that cannot be read is an error that may be none of an end.
        let plain = words.all(|word| match word {
            [Piece::Text { text, .. }] => is_number(text),
            [Piece::Parameter { name, .. }] => name == "?",
            _ => false,
        });
        (name == "exit" || returns)
            && plain
            && simple.words.len() <= 2
            && !state.functions.contains_key(name.as_str())
    }

    /// Whether evaluating it may be an error: division by nothing, a number that is none, bad syntax. Where
    /// it stands in a word, bash drops the rest of the line then.
    pub(super) fn arithmetic_fails(&self, state: &State, arithmetic: &Arithmetic) -> bool {
        let names = arithmetic.names.iter().all(|name| match self.value(state, name, arithmetic.span) {
            None => true,
            Some(Value::Text(arg)) => arg.text().is_some_and(|text| text.is_empty() || is_plain(text)),
            Some(_) => false,
        });
        // `$name` puts its text there, and nothing in place of nothing.
        let mut filled = arithmetic.names.iter().filter(|name| arithmetic.text.contains(&format!("${name}")));
        let filled =
            filled.all(|name| self.text_of_variable(state, name).is_some_and(|text| is_plain(&text)));
        let braced = arithmetic.text.contains("${");
        let empty = arithmetic.text.trim().is_empty();
        !(names
            && filled
            && !braced
            && arithmetic.scripts.is_empty()
            && (empty || is_sound(&arithmetic.text)))
    }
}

fn add(to: &mut Option<Box<State>>, now: State) {
    match to {
        Some(before) => before.join(&now),
        None => *to = Some(Box::new(now)),
    }
}

/// Whether the redirection may fail, and its command does not run then.
pub(super) fn can_fail(redirection: &Redirection) -> bool {
    let target = match redirection.target.pieces.as_slice() {
        [Piece::Text { text, .. }] => text.as_str(),
        _ => "",
    };
    if matches!(redirection.descriptor, Some(Descriptor::Variable(_))) {
        return true;
    }
    match redirection.operator {
        RedirectionOperator::HereDocument | RedirectionOperator::HereString => false,
        RedirectionOperator::DuplicateInput | RedirectionOperator::DuplicateOutput => {
            !matches!(target, "0" | "1" | "2" | "-" | "/dev/null")
        }
        _ => target != "/dev/null",
    }
}

/// Whether `${name:OPERAND}` may be an error: a length below zero is one where the value is short.
pub(super) fn slice_fails(operand: &str) -> bool {
    let (offset, length) = operand.split_once(':').unwrap_or((operand, "0"));
    let offset = offset.trim();
    let (offset, length) = (offset.strip_prefix('-').unwrap_or(offset), length.trim());
    !(is_plain(offset) && is_plain(length)) || offset.starts_with('-') || length.starts_with('-')
}

/// A decimal number as arithmetic reads it: a leading zero makes it octal.
fn is_plain(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    is_number(text) && (digits.len() == 1 || !digits.starts_with('0')) && digits.len() < 19
}

/// Operators, a longer one before any that it begins with.
const OPERATORS: &[&str] = &[
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "&=",
    "|=", "^=", "+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "&", "|", "^", ",",
];

/// Whether the text is arithmetic that cannot fail: numbers and names in their places, no division but by a
/// number that is not zero, assignments at its beginning only.
fn is_sound(text: &str) -> bool {
    let mut rest = text.trim_start();
    let mut operand = false;
    let mut depth = 0_usize;
    // The last name may be assigned: nothing but `(`, `,` or an assignment stands before it.
    let (mut free, mut named) = (true, false);
    while !rest.is_empty() {
        let word: usize =
            rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$')).count();
        if word > 0 {
            let (token, after) = rest.split_at(word);
            let bare = !token.starts_with('$') && !token.starts_with(|c: char| c.is_ascii_digit());
            if operand || token.starts_with(|c: char| c.is_ascii_digit()) && !is_plain(token) {
                return false;
            }
            (operand, named, free) = (true, bare && free, false);
            rest = after.trim_start();
            continue;
        }
        if let Some(after) = rest.strip_prefix('(') {
            if operand {
                return false;
            }
            depth += 1;
            (free, named) = (true, false);
            rest = after.trim_start();
            continue;
        }
        if let Some(after) = rest.strip_prefix(')') {
            if !operand || depth == 0 {
                return false;
            }
            depth -= 1;
            (free, named) = (false, false);
            rest = after.trim_start();
            continue;
        }
        let Some(sign) = OPERATORS.iter().find(|each| rest.starts_with(**each)) else { return false };
        let Some(after) = rest.get(sign.len()..) else { return false };
        rest = after.trim_start();
        match *sign {
            // A number may follow that begins with another sign; steps change a name only.
            "++" | "--" if operand && named => {}
            "++" | "--" => return false,
            "!" | "~" if !operand => {}
            "!" | "~" => return false,
            "+" | "-" if !operand => {}
            _ if !operand => return false,
            "/" | "%" | "**" => {
                let digits: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
                if !is_plain(&digits) || digits == "0" {
                    return false;
                }
                operand = false;
            }
            "=" | "+=" | "-=" | "*=" | "&=" | "|=" | "^=" | "<<=" | ">>=" => {
                if !named {
                    return false;
                }
                (operand, free) = (false, true);
                named = false;
                continue;
            }
            "," => {
                (operand, free, named) = (false, true, false);
                continue;
            }
            _ => operand = false,
        }
        (free, named) = (false, false);
    }
    operand && depth == 0
}

#[cfg(test)]
mod tests {
    use super::{is_sound, slice_fails};

    #[test]
    fn what_can_fail_in_arithmetic() {
        for sound in [
            "1",
            "n+1",
            "$n + 1",
            "n++",
            "x = 5",
            "a / 2",
            "(a + b) * 3 % 7",
            "x = y = 1",
            "-n",
            "i += 2, j--",
        ] {
            assert!(is_sound(sound), "{sound}");
        }
        let unsound = [
            "1/0",
            "a/b",
            "a % n",
            "2 ** -1",
            "08",
            "1 +",
            "1 2",
            "1 = 2",
            "a + b = 2",
            "1?2",
            "99#1",
            "0x",
            "(1",
            "5 --3",
            "v /= 0",
            "a b",
            ")",
            "1++",
        ];
        for text in unsound {
            assert!(!is_sound(text), "{text}");
        }
    }

    #[test]
    fn what_can_fail_in_a_slice() {
        for sound in ["1", "0:7", " -4", " -4:2", "2: 3"] {
            assert!(!slice_fails(sound), "{sound}");
        }
        for text in ["0:-9", "08", "1-", "", "1:", "::", " --1"] {
            assert!(slice_fails(text), "{text}");
        }
    }
}
