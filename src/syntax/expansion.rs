//! `$name`, `${…}` and arithmetic.
//!
//! Operands and expressions are read in their plain forms only: quotes, nested commands and
//! subscripts follow other rules in there than anywhere else, and anything in them may run.

use std::collections::BTreeSet;

use super::parse::{Read, Reader};
use super::scan::is_name_byte;
use super::word::push_text;
use super::{Arithmetic, ParameterForm, Piece, Word};

/// Operators with a fallback operand, a longer one before any that it begins with.
const FALLBACKS: [&str; 8] = [":-", ":=", ":?", ":+", "-", "=", "?", "+"];

/// Operators that make another text of the value, in the same order.
const EDITS: [&str; 11] = ["##", "#", "%%", "%", "//", "/", "^^", "^", ",,", ",", ":"];

impl Reader<'_> {
    /// The name of a parameter right here: a variable, one digit, or one special character.
    pub(super) fn parameter_name(&mut self) -> Option<String> {
        if let Some(name) = self.name() {
            return Some(name);
        }
        let byte = self.peek(0).filter(|byte| byte.is_ascii_digit() || b"@*#?-$!".contains(byte))?;
        self.pos += 1;
        Some(char::from(byte).to_string())
    }

    /// `${ … }` from its dollar sign on.
    pub(super) fn parameter(&mut self, quoted: bool) -> Read<Piece> {
        self.pos += 2;
        if self.peek(0) == Some(b'#') && self.peek(1) != Some(b'}') {
            self.pos += 1;
            let name = self.subscripted_name()?;
            self.end_of_parameter()?;
            return Ok(Piece::Parameter { name, form: ParameterForm::Length, quoted });
        }
        if self.peek(0) == Some(b'!') {
            return self.indirect(quoted);
        }
        let name = self.subscripted_name()?;
        if self.peek(0) == Some(b'}') {
            self.pos += 1;
            return Ok(Piece::Parameter { name, form: ParameterForm::Plain, quoted });
        }
        let form = self.parameter_form(quoted)?;
        Ok(Piece::Parameter { name, form, quoted })
    }

    /// `${!name}`, and none of the other things that begin so (`${!name@}`, `${!name[@]}`, `${!:-…}`).
    fn indirect(&mut self, quoted: bool) -> Read<Piece> {
        self.pos += 1;
        match self.name() {
            Some(name) if self.peek(0) == Some(b'}') => {
                self.pos += 1;
                Ok(Piece::Parameter { name, form: ParameterForm::Indirect, quoted })
            }
            _ => self.doubt("indirect"),
        }
    }

    fn end_of_parameter(&mut self) -> Read<()> {
        if self.peek(0) != Some(b'}') {
            return self.doubt("expansion");
        }
        self.pos += 1;
        Ok(())
    }

    /// A name with `[@]`, `[*]` or `[number]`, or a number.
    fn subscripted_name(&mut self) -> Read<String> {
        let start = self.pos;
        if self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
            while self.peek(0).is_some_and(|byte| byte.is_ascii_digit()) {
                self.pos += 1;
            }
            return Ok(self.slice(start, self.pos).to_owned());
        }
        let Some(name) = self.parameter_name() else { return self.doubt("expansion") };
        if self.peek(0) != Some(b'[') {
            return Ok(name);
        }
        let rest = self.text.get(self.pos + 1..).unwrap_or_default();
        let length = match rest.first() {
            Some(b'@' | b'*') => 1,
            _ => {
                let sign = usize::from(rest.first() == Some(&b'-'));
                let digits = rest.iter().skip(sign).take_while(|byte| byte.is_ascii_digit()).count();
                if digits == 0 { 0 } else { sign + digits }
            }
        };
        if length == 0 || rest.get(length) != Some(&b']') {
            return self.doubt("subscript");
        }
        self.pos += length + 2;
        Ok(self.slice(start, self.pos).to_owned())
    }

    fn parameter_form(&mut self, quoted: bool) -> Read<ParameterForm> {
        if let Some(operator) = FALLBACKS.into_iter().find(|each| self.looking_at(each)) {
            self.pos += operator.len();
            let operand = self.fallback(quoted)?;
            return Ok(ParameterForm::Fallback { operator: operator.to_owned(), operand });
        }
        let Some(operator) = EDITS.into_iter().find(|each| self.looking_at(each)) else {
            return self.doubt("expansion");
        };
        self.pos += operator.len();
        let start = self.pos;
        while let Some(byte) = self.peek(0).filter(|byte| *byte != b'}') {
            let plain = match operator {
                // Offsets are arithmetic: a name in there is evaluated.
                ":" => byte.is_ascii_digit() || b" :-".contains(&byte),
                _ => is_operand_byte(byte) || self.names_parameter(),
            };
            let escaped = byte == b'\\' && operator != ":" && self.escapes_operand();
            if !plain && !escaped {
                return self.doubt("expansion-operand");
            }
            self.pos += 1 + usize::from(escaped);
        }
        let operand = self.slice(start, self.pos).to_owned();
        self.end_of_parameter()?;
        Ok(ParameterForm::Edit { operator: operator.to_owned(), operand })
    }

    /// A backslash before a plain character of a pattern.
    fn escapes_operand(&self) -> bool {
        self.peek(1).is_some_and(|next| b"/.*?[]#%^-:,+@ ".contains(&next))
    }

    /// `$name` at this byte, and no other expansion.
    fn names_parameter(&self) -> bool {
        let next = self.peek(1);
        self.peek(0) == Some(b'$') && next.is_some_and(|byte| is_name_byte(&byte))
    }

    /// The operand of `${name:-…}`: plain characters, `$name`, `${name}` and `$( … )`. Quotes are read
    /// only outside double quotes, where they are what they are in any word.
    fn fallback(&mut self, quoted: bool) -> Read<Word> {
        let start = self.pos;
        let mut pieces = Vec::new();
        loop {
            match self.peek(0) {
                Some(b'}') => break,
                Some(b'$') if self.names_parameter() => self.dollar(quoted, &mut pieces)?,
                Some(b'$') if self.peek(1) == Some(b'{') => pieces.push(self.plain_braces(quoted)?),
                Some(b'$') if self.peek(1) == Some(b'(') && self.peek(2) != Some(b'(') => {
                    self.dollar(quoted, &mut pieces)?;
                }
                Some(b'"') if !quoted => self.double(&mut pieces)?,
                Some(b'\'') if !quoted => self.single(&mut pieces)?,
                Some(b'~') if self.pos == start && !quoted => {
                    let length = self.tilde_length();
                    let tilde = self.slice(start, start + length).to_owned();
                    pieces.push(Piece::Tilde(tilde));
                    self.pos += length;
                }
                Some(byte) if is_operand_byte(byte) => {
                    push_text(&mut pieces, self.slice(self.pos, self.pos + 1).to_owned().as_str(), quoted);
                    self.pos += 1;
                }
                _ => return self.doubt("expansion-operand"),
            }
        }
        let span = self.span(start, self.pos);
        self.end_of_parameter()?;
        Ok(Word { pieces, span })
    }

    fn tilde_length(&self) -> usize {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        rest.iter().take_while(|byte| !b"/}:$".contains(byte)).count()
    }

    /// `${name}`
    fn plain_braces(&mut self, quoted: bool) -> Read<Piece> {
        self.pos += 2;
        let Some(name) = self.parameter_name() else { return self.doubt("expansion-operand") };
        self.end_of_parameter()?;
        Ok(Piece::Parameter { name, form: ParameterForm::Plain, quoted })
    }

    /// An arithmetic text up to `close`, with the opening already read.
    pub(super) fn arithmetic(&mut self, close: &str, statement: bool) -> Read<Arithmetic> {
        let start = self.pos;
        let (mut names, mut scripts) = (Vec::new(), Vec::new());
        let mut depth = 0usize;
        loop {
            if depth == 0 && self.looking_at(close) {
                break;
            }
            let Some(byte) = self.peek(0) else { return self.doubt("arith") };
            match byte {
                b'(' => depth += 1,
                b')' if depth == 0 => return self.doubt("dparen"),
                b')' => depth -= 1,
                b'$' if self.peek(1) == Some(b'(') && self.peek(2) != Some(b'(') => {
                    scripts.push(self.substitution()?);
                    continue;
                }
                b'$' => {
                    names.push(self.arithmetic_parameter()?);
                    continue;
                }
                b'0'..=b'9' => {
                    while self.peek(0).is_some_and(|byte| is_name_byte(&byte)) {
                        self.pos += 1;
                    }
                    continue;
                }
                _ if is_name_byte(&byte) => {
                    names.extend(self.name());
                    continue;
                }
                b';' if statement => {}
                b' ' | b'\t' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<' | b'>' | b'=' | b'!' | b'&' | b'|'
                | b'^' | b'~' | b'?' | b':' | b',' => {}
                _ => return self.doubt("arith"),
            }
            self.pos += 1;
        }
        let text = self.slice(start, self.pos).to_owned();
        let span = self.span(start, self.pos);
        self.pos += close.len();
        let mut known = BTreeSet::new();
        names.retain(|name: &String| known.insert(name.clone()));
        Ok(Arithmetic { text, names, scripts, span })
    }

    /// `$name`, `${name}` or `${#name}` in arithmetic.
    fn arithmetic_parameter(&mut self) -> Read<String> {
        self.pos += 1;
        let braced = self.peek(0) == Some(b'{');
        if braced {
            self.pos += 1;
            if self.peek(0) == Some(b'#') && self.peek(1) != Some(b'}') {
                self.pos += 1;
                let name = self.subscripted_name()?;
                self.end_of_parameter()?;
                return Ok(name);
            }
        }
        let Some(name) = self.parameter_name() else { return self.doubt("arith") };
        if braced {
            self.end_of_parameter()?;
        }
        Ok(name)
    }
}

/// What an operand may hold besides expansions.
fn is_operand_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./-+:,=@%~*?[]!^# ".contains(&byte) || byte >= 0x80
}
