//! Arguments that are literals, or made of literals in ways that are known.

use super::Tongue;
use super::calls::Code;
use super::lex::{HOME, Token};
use crate::facts::decode;

/// How many values may stand in each other.
const DEPTH: usize = 32;

/// A call's argument: every text of it, when all is literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(String),
    List(Vec<String>),
    Unknown,
}

impl Code<'_> {
    /// The arguments from here to the closing bracket, or to the end of the statement.
    pub(super) fn arguments(&self, start: usize) -> Vec<Value> {
        let mut args = Vec::new();
        let mut at = start;
        while args.len() < 64 {
            if matches!(self.token(at), None | Some(Token::Sign(')' | ';' | '}'))) {
                break;
            }
            let (value, next) = self.value(at);
            args.push(value);
            at = next;
            if !self.is(at, ',') {
                break;
            }
            at += 1;
        }
        args
    }

    /// One argument: literals put together, or a list of them. What follows it.
    fn value(&self, start: usize) -> (Value, usize) {
        if self.depth.get() > DEPTH {
            return (Value::Unknown, self.tokens.len());
        }
        self.depth.set(self.depth.get() + 1);
        let value = self.nested(start);
        self.depth.set(self.depth.get() - 1);
        value
    }

    fn nested(&self, start: usize) -> (Value, usize) {
        let mut at = self.after_newlines(start);
        if self.is(at, '[') {
            let (mut items, mut known) = (Vec::new(), true);
            at = self.after_newlines(at + 1);
            while !self.is(at, ']') {
                let (item, next) = self.value(at);
                match item {
                    Value::Text(text) => items.push(text),
                    _ => known = false,
                }
                at = self.after_newlines(next + usize::from(self.is(next, ',')));
                if self.token(at).is_none() || next == start {
                    return (Value::Unknown, at);
                }
            }
            let value = if known { Value::List(items) } else { Value::Unknown };
            return self.to_end(value, at + 1);
        }
        if let Some(Token::List(items)) = self.token(at) {
            return self.to_end(Value::List(items.clone()), at + 1);
        }
        let mut text = String::new();
        loop {
            match self.operand(at) {
                Some((piece, next)) => {
                    text.push_str(&piece);
                    at = self.after_newlines(next);
                }
                None => return self.to_end(Value::Unknown, at),
            }
            // Strings side by side are one.
            let beside = matches!(self.token(at), Some(Token::Text(_)));
            let joins = self.is(at, '+')
                || self.is(at, '.')
                    && !matches!(self.tongue, Tongue::Python | Tongue::JavaScript | Tongue::Ruby);
            match (beside, joins) {
                (true, _) => {}
                (_, true) => at = self.after_newlines(at + 1 + usize::from(self.is(at + 1, '.'))),
                _ => return self.to_end(Value::Text(text), at),
            }
        }
    }

    /// The value if the argument ends here, else an unknown one; and where it ends.
    fn to_end(&self, value: Value, at: usize) -> (Value, usize) {
        let at = self.after_newlines(at);
        let ends =
            |at: usize| matches!(self.token(at), None | Some(Token::Sign(',' | ')' | ']' | ';' | '}')));
        if ends(at) {
            return (value, at);
        }
        let (mut depth, mut end) = (0_usize, at);
        while let Some(token) = self.token(end) {
            match token {
                Token::Sign('(' | '[' | '{') => depth += 1,
                Token::Sign(')' | ']' | '}') if depth > 0 => depth -= 1,
                Token::Sign(',' | ')' | ']' | ';' | '}') if depth == 0 => break,
                _ => {}
            }
            end += 1;
        }
        // A condition after a statement changes nothing of what it does (`system "x" if y`).
        let modified = matches!(self.name(at), Some("if" | "unless" | "or" | "and"));
        let newline = self.is(at.saturating_sub(1), '\n');
        (if modified || newline { value } else { Value::Unknown }, end)
    }

    fn after_newlines(&self, at: usize) -> usize {
        let mut at = at;
        while self.is(at, '\n') && self.token(at).is_some() {
            at += 1;
        }
        at
    }

    /// A literal, or a call that makes a known text: the home folder, a decoder. What follows it.
    fn operand(&self, at: usize) -> Option<(String, usize)> {
        if let Token::Text(text) = self.token(at)? {
            return Some((text.clone()?, self.after_methods(at + 1)));
        }
        // A qualified name: the last part tells.
        let mut end = at;
        self.name(end)?;
        while (self.is(end + 1, '.') || self.is(end + 1, ':'))
            && (self.name(end + 2).is_some() || self.is(end + 2, ':'))
        {
            end += 2 + usize::from(self.is(end + 2, ':'));
        }
        let name = self.name(end)?;
        if matches!(name, "HOME" | "ENV" | "environ" | "homedir" | "home" | "getenv" | "get") {
            let names_home = |token: &Token| matches!(token, Token::Text(Some(text)) | Token::Name(text) if text == "HOME");
            let close = self
                .tokens
                .iter()
                .skip(end)
                .take(5)
                .position(|token| matches!(token, Token::Sign(']' | ')' | '}')));
            let inside = self.tokens.get(end..end + close.map_or(1, |at| at + 1))?;
            let home = inside.iter().any(names_home) || matches!(name, "homedir" | "home");
            let next = if name == "HOME" { end + 1 } else { end + close.map_or(1, |at| at + 1) };
            return home.then(|| (HOME.to_owned(), self.after_methods(next)));
        }
        let open = self.is(end + 1, '(').then_some(end + 2)?;
        let (argument, close) = self.value(open);
        let Value::Text(text) = argument else { return None };
        let close = close + self.tokens.get(close..)?.iter().position(|token| *token == Token::Sign(')'))?;
        let made = match name {
            "expanduser" | "expand_path" => match text.strip_prefix('~') {
                Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{HOME}{rest}"),
                _ => text,
            },
            "Path" | "str" | "String" | "abspath" | "realpath" | "resolve" | "join" => text,
            "b64decode" | "atob" | "from" | "decode_base64" | "decode64" | "strict_decode64"
            | "base64_decode" => decode::base64(&text)?,
            "fromhex" | "unhexlify" => decode::hex(&text)?,
            _ => return None,
        };
        Some((made, self.after_methods(close + 1)))
    }

    /// Skips methods that leave a text as it is.
    fn after_methods(&self, at: usize) -> usize {
        let mut at = at;
        while self.is(at, '.')
            && matches!(self.name(at + 1), Some("decode" | "toString" | "strip" | "trim" | "to_s" | "chomp"))
        {
            at += 2;
            if self.is(at, '(') {
                let close = self.tokens.iter().skip(at).position(|token| *token == Token::Sign(')'));
                at += close.map_or(1, |close| close + 1);
            }
        }
        at
    }
}
