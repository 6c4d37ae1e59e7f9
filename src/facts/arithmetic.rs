//! Arithmetic and `[[ ]]`: what bash evaluates in them must be plain, for it may hold code.

use super::arg::{Arg, Hole, HoleKind, Part};
use super::changes::assigns;
use super::gather::{Gatherer, ITEM};
use super::state::{State, Stream, Value, is_number};
use crate::report::Span;
use crate::syntax::{Arithmetic, Cause, Word};

impl Gatherer<'_> {
    /// `[[ … ]]`: its words are expanded; operands that bash would evaluate as arithmetic or as a
    /// variable's name must be plain.
    pub(super) fn test(&mut self, state: &mut State, words: &[Word], span: Span) -> Stream {
        let args: Vec<Arg> = words.iter().map(|word| self.single(state, word)).collect();
        for (index, arg) in args.iter().enumerate() {
            let Some(operator) = arg.text() else { continue };
            let arithmetic = matches!(operator, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge");
            let named = matches!(operator, "-v" | "-R");
            let operands = match index.checked_sub(1) {
                Some(before) if arithmetic => vec![args.get(before), args.get(index + 1)],
                _ if named => vec![args.get(index + 1)],
                _ => continue,
            };
            for operand in operands.into_iter().flatten() {
                if !plain_operand(operand) || arithmetic && !self.holds_numbers(state, operand) {
                    self.doubt(
                        Cause::UnknownConstruct,
                        "bash may run code in this operand of [[ ]]",
                        span,
                        true,
                    );
                }
            }
        }
        Stream::Any
    }

    /// Whether every variable that a known text names holds a plain number, if bash evaluates the text.
    fn holds_numbers(&self, state: &State, operand: &Arg) -> bool {
        let Some(text) = operand.text() else { return true };
        let names = text
            .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
            .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'));
        names.into_iter().all(|name| match self.value(state, name, operand.span) {
            None => true,
            Some(Value::Text(arg)) => {
                plain_operand(&arg) && arg.text().is_none_or(|text| is_number(text.trim()) || text.is_empty())
            }
            Some(_) => false,
        })
    }

    /// A text that bash evaluates as arithmetic when it reads it: a subscript, an operand of `let`.
    pub(super) fn evaluated(&mut self, state: &State, operand: &Arg) {
        if !self.holds_numbers(state, operand) {
            let detail = format!("{} is arithmetic, and a variable in it may hold code", operand.display());
            self.doubt(Cause::UnknownConstruct, detail, operand.span, true);
        }
    }

    /// A subscript.
    pub(super) fn subscript(&mut self, state: &State, text: &str) {
        self.evaluated(state, &Arg::literal(text, Span::default()));
    }

    /// Variables that an arithmetic text assigns hold numbers.
    pub(super) fn assign_numbers(&mut self, state: &mut State, arithmetic: &Arithmetic) {
        for name in arithmetic.names.iter().filter(|name| assigns(&arithmetic.text, name)) {
            let number = Hole { kind: HoleKind::Number, splits: true, lines: false };
            let value = Value::Text(Arg::hole(number, arithmetic.span));
            self.set_variable(state, name, value, arithmetic.span);
        }
    }

    /// Arithmetic: a variable in it must hold a plain number, for bash evaluates its text.
    pub(super) fn arithmetic(&mut self, state: &mut State, arithmetic: &Arithmetic) {
        // The text is looked through for each of its names.
        self.pays(arithmetic.names.len() * (ITEM + arithmetic.text.len() / 32));
        for script in &arithmetic.scripts {
            let parts = self.substitution(state, script, arithmetic.span).parts(true);
            if !plain_operand(&Arg { parts, ..Arg::default() }) {
                let detail = "arithmetic evaluates what this command prints, which may hold code";
                self.doubt(Cause::UnknownConstruct, detail, arithmetic.span, true);
            }
        }
        for name in &arithmetic.names {
            let fine = match self.value(state, name, arithmetic.span) {
                None => true,
                Some(Value::Text(arg)) => plain_operand(&arg) && self.holds_numbers(state, &arg),
                Some(_) => false,
            };
            if !fine {
                let detail = format!("arithmetic evaluates the text of {name}, which may hold code");
                self.doubt(Cause::UnknownConstruct, detail, arithmetic.span, true);
            }
        }
    }
}

/// A number, or a name that holds one: nothing that arithmetic would expand further.
fn plain_operand(arg: &Arg) -> bool {
    match arg.parts.as_slice() {
        [] => true,
        [Part::Text(text)] => {
            let text = text.trim();
            is_number(text) || text.is_empty() || text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        }
        parts => parts.iter().all(|part| match part {
            Part::Text(text) => text.bytes().all(|b| b.is_ascii_digit()),
            Part::Hole(Hole { kind: HoleKind::Number, .. }) => true,
            Part::Hole(Hole { kind: HoleKind::OneOf(values), .. }) => values.iter().all(|v| is_number(v)),
            Part::Hole(_) => false,
        }),
    }
}
