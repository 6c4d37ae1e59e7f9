//! Words as the other parser reads them: quotes removed, every expansion a placeholder, and the commands
//! inside of them.

use brush_parser::ast::Word;
use brush_parser::word::{self, Parameter, ParameterExpr, WordPiece, WordPieceWithSource};

use super::other::{Other, Read, differs, too_much, unread};
use super::{documents, items};

/// Where a piece of a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    None,
    Double,
}

impl Other {
    /// A word's text.
    pub(super) fn word(&mut self, word: &Word) -> Read<String> {
        self.raw(&documents::restored(&word.value))
    }

    fn raw(&mut self, raw: &str) -> Read<String> {
        if !raw.contains(['\'', '"', '$', '`', '\\']) {
            return Ok(raw.to_owned());
        }
        let masked = documents::without_bodies(raw);
        let word = masked.as_deref().unwrap_or(raw);
        if !self.work.pay_word(word) {
            return Err(too_much());
        }
        let pieces = word::parse(word, &self.options).map_err(|_| unread(raw))?;
        self.joined(&pieces, Quotes::None)
    }

    /// The body of a here-document that is expanded.
    pub(super) fn body(&mut self, raw: &str) -> Read<String> {
        if !raw.contains(['$', '`', '\\']) {
            return Ok(raw.to_owned());
        }
        if !self.work.pay_word(raw) {
            return Err(too_much());
        }
        let pieces = word::parse_heredoc(raw, &self.options).map_err(|_| unread(raw))?;
        self.joined(&pieces, Quotes::Double)
    }

    /// What runs inside an arithmetic text.
    pub(super) fn expression(&mut self, raw: &str) -> Read<()> {
        self.body(raw).map(drop)
    }

    fn joined(&mut self, pieces: &[WordPieceWithSource], quotes: Quotes) -> Read<String> {
        let mut text = String::new();
        for piece in pieces {
            self.piece(&piece.piece, quotes, &mut text)?;
        }
        Ok(text)
    }

    fn piece(&mut self, piece: &WordPiece, quotes: Quotes, text: &mut String) -> Read<()> {
        match piece {
            WordPiece::Text(more) => text.push_str(&more.replace("\\\n", "")),
            WordPiece::SingleQuotedText(more) => text.push_str(more),
            WordPiece::AnsiCQuotedText(more) => text.push_str(&ansi(more).ok_or_else(|| unread(more))?),
            WordPiece::DoubleQuotedSequence(pieces) | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                text.push_str(&self.joined(pieces, Quotes::Double)?);
            }
            WordPiece::TildeExpansion(_) => return Err(differs("the other parser sees a tilde")),
            WordPiece::ParameterExpansion(parameter) => {
                text.push_str(items::PARAMETER);
                self.parameter(parameter)?;
            }
            WordPiece::CommandSubstitution(inner) => {
                text.push_str(items::SUBSTITUTION);
                self.text(&documents::restored(inner))?;
            }
            WordPiece::BackquotedCommandSubstitution(inner) => {
                text.push_str(items::SUBSTITUTION);
                self.text(&unescaped(inner, quotes))?;
            }
            WordPiece::EscapeSequence(escape) => {
                let escaped = escape.strip_prefix('\\').unwrap_or(escape);
                text.push_str(if escaped == "\n" { "" } else { escaped });
            }
            WordPiece::ArithmeticExpression(expression) => {
                text.push_str(items::ARITHMETIC);
                self.expression(&expression.value)?;
            }
        }
        Ok(())
    }

    /// What runs inside `${ … }`.
    fn parameter(&mut self, expansion: &ParameterExpr) -> Read<()> {
        let (parameter, operands) = operands(expansion);
        if let Some(Parameter::NamedWithIndex { index, .. }) = parameter {
            self.expression(index)?;
        }
        operands.into_iter().flatten().try_for_each(|operand| self.raw(operand).map(drop))
    }
}

/// The parameter of an expansion, and its operands as written.
fn operands(expansion: &ParameterExpr) -> (Option<&Parameter>, [Option<&str>; 2]) {
    let (parameter, first, second) = match expansion {
        ParameterExpr::Parameter { parameter, .. }
        | ParameterExpr::ParameterLength { parameter, .. }
        | ParameterExpr::Transform { parameter, .. } => (parameter, None, None),
        ParameterExpr::UseDefaultValues { parameter, default_value: operand, .. }
        | ParameterExpr::AssignDefaultValues { parameter, default_value: operand, .. }
        | ParameterExpr::IndicateErrorIfNullOrUnset { parameter, error_message: operand, .. }
        | ParameterExpr::UseAlternativeValue { parameter, alternative_value: operand, .. }
        | ParameterExpr::RemoveSmallestSuffixPattern { parameter, pattern: operand, .. }
        | ParameterExpr::RemoveLargestSuffixPattern { parameter, pattern: operand, .. }
        | ParameterExpr::RemoveSmallestPrefixPattern { parameter, pattern: operand, .. }
        | ParameterExpr::RemoveLargestPrefixPattern { parameter, pattern: operand, .. }
        | ParameterExpr::UppercaseFirstChar { parameter, pattern: operand, .. }
        | ParameterExpr::UppercasePattern { parameter, pattern: operand, .. }
        | ParameterExpr::LowercaseFirstChar { parameter, pattern: operand, .. }
        | ParameterExpr::LowercasePattern { parameter, pattern: operand, .. } => {
            (parameter, operand.as_deref(), None)
        }
        ParameterExpr::Substring { parameter, offset, length, .. } => {
            (parameter, Some(offset.value.as_str()), length.as_ref().map(|length| length.value.as_str()))
        }
        ParameterExpr::ReplaceSubstring { parameter, pattern, replacement, .. } => {
            (parameter, Some(pattern.as_str()), replacement.as_deref())
        }
        ParameterExpr::VariableNames { .. } | ParameterExpr::MemberKeys { .. } => return (None, [None; 2]),
    };
    (Some(parameter), [first, second])
}

/// Takes away the level of backslashes that backticks have of their own and the other parser leaves.
fn unescaped(inner: &str, quotes: Quotes) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner.chars().peekable();
    while let Some(c) = rest.next() {
        let special = |next: &char| matches!(next, '\\' | '$') || (quotes == Quotes::Double && *next == '"');
        match rest.next_if(|next| c == '\\' && special(next)) {
            Some(next) => text.push(next),
            None => text.push(c),
        }
    }
    text
}

/// The text that `$'…'` stands for; None where an escape is none of the plain ones.
fn ansi(raw: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'\\' {
            bytes.push(*first);
            continue;
        }
        let (kind, after) = rest.split_first()?;
        let (value, used) = match kind {
            b'a' => (7, 1),
            b'b' => (8, 1),
            b'e' | b'E' => (27, 1),
            b'f' => (12, 1),
            b'n' => (b'\n', 1),
            b'r' => (b'\r', 1),
            b't' => (b'\t', 1),
            b'v' => (11, 1),
            b'\\' | b'\'' | b'"' | b'?' => (*kind, 1),
            b'x' => number(after, 16, 2).map(|(value, used)| (value, used + 1))?,
            _ => number(rest, 8, 3)?,
        };
        bytes.push(value);
        rest = rest.get(used..)?;
    }
    String::from_utf8(bytes).ok()
}

fn number(digits: &[u8], radix: u32, most: usize) -> Option<(u8, usize)> {
    let values = digits.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix));
    let (value, used) = values.fold((0, 0), |(value, used), digit| (value * radix + digit, used + 1));
    if used == 0 { None } else { u8::try_from(value).ok().map(|value| (value, used)) }
}
