//! Words: quotes, escapes and the places where expansions begin.

use super::heredoc::is_boundary;
use super::parse::{Read, Reader};
use super::{Piece, Word};
use crate::report::Span;

/// What kind of word is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// A word between blanks.
    Plain,
    /// The value of an assignment: it may be empty, and a tilde may follow any colon.
    Assigned,
    /// What follows `=~`: parentheses and bars are its own.
    Regex,
}

impl Word {
    /// The text of a word without quotes and expansions.
    pub(super) fn bare(&self) -> Option<String> {
        let plain = |piece: &Piece| match piece {
            Piece::Text { text, quoted: false } => Some(text.clone()),
            Piece::Tilde(text) => Some(text.clone()),
            _ => None,
        };
        self.pieces.iter().map(plain).collect()
    }

    /// A word that is one unquoted text.
    pub(super) fn plain(text: &str, span: Span) -> Self {
        Self { pieces: vec![Piece::Text { text: text.to_owned(), quoted: false }], span }
    }
}

/// Appends text, to the last piece where that is of the same kind.
pub(super) fn push_text(pieces: &mut Vec<Piece>, more: &str, quoted: bool) {
    match pieces.last_mut() {
        Some(Piece::Text { text, quoted: same }) if *same == quoted => text.push_str(more),
        _ => pieces.push(Piece::Text { text: more.to_owned(), quoted }),
    }
}

impl Reader<'_> {
    /// One word, up to the byte that ends it for bash.
    pub(super) fn word(&mut self, reading: Reading) -> Read<Word> {
        let start = self.pos;
        let mut pieces = Vec::new();
        let mut parens = 0usize;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'(' | b')' | b'|' if reading == Reading::Regex => {
                    parens = if byte == b'(' {
                        parens + 1
                    } else {
                        parens - usize::from(byte == b')' && parens > 0)
                    };
                    self.character(&mut pieces, false);
                }
                b' ' | b'\t' if parens > 0 => return self.doubt("regex"),
                b'<' | b'>' if self.peek(1) == Some(b'(') => self.process(reading, &mut pieces)?,
                _ if is_boundary(byte) => break,
                b'\\' => self.backslash(start, &mut pieces)?,
                b'\'' => self.single(&mut pieces)?,
                b'"' => self.double(&mut pieces)?,
                b'`' => self.backticks(false, &mut pieces)?,
                b'$' => self.dollar(false, &mut pieces)?,
                _ => self.character(&mut pieces, false),
            }
        }
        if self.pos == start && reading != Reading::Assigned {
            return self.doubt("word-expected");
        }
        mark_tildes(&mut pieces, reading);
        Ok(Word { pieces, span: self.span(start, self.pos) })
    }

    /// Takes one whole character as text.
    fn character(&mut self, pieces: &mut Vec<Piece>, quoted: bool) {
        let rest = self.whole.get(self.pos..).unwrap_or_default();
        let length = rest.chars().next().map_or(1, char::len_utf8);
        push_text(pieces, rest.get(..length).unwrap_or_default(), quoted);
        self.pos += length;
    }

    fn process(&mut self, reading: Reading, pieces: &mut Vec<Piece>) -> Read<()> {
        if reading == Reading::Regex {
            return self.doubt("regex");
        }
        let output = self.peek(0) == Some(b'>');
        let script = self.substitution()?;
        pieces.push(Piece::Process { script, output });
        Ok(())
    }

    /// A backslash outside quotes.
    fn backslash(&mut self, start: usize, pieces: &mut Vec<Piece>) -> Read<()> {
        match self.peek(1) {
            None => self.doubt("trailing-backslash"),
            Some(b'\n') => {
                // Bash joins the two halves before it looks for words and operators, the grammar after.
                let ends = matches!(self.peek(2), Some(b' ' | b'\t' | b'\n') | None);
                if !ends || self.pos == start {
                    return self.doubt("line-continuation");
                }
                self.pos += 2;
                Ok(())
            }
            Some(_) => {
                self.pos += 1;
                self.character(pieces, true);
                Ok(())
            }
        }
    }

    /// `'…'`
    pub(super) fn single(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        let rest = self.whole.get(self.pos + 1..).unwrap_or_default();
        let Some(length) = rest.find('\'') else { return self.doubt("unclosed-quote") };
        push_text(pieces, rest.get(..length).unwrap_or_default(), true);
        self.pos += length + 2;
        Ok(())
    }

    /// `"…"`
    pub(super) fn double(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.pos += 1;
        push_text(pieces, "", true);
        loop {
            match self.peek(0) {
                None => return self.doubt("unclosed-quote"),
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                _ => self.quoted_part(b"$`\"\\", pieces)?,
            }
        }
    }

    /// One element inside double quotes or of a body; a backslash escapes only `escapable`.
    fn quoted_part(&mut self, escapable: &[u8], pieces: &mut Vec<Piece>) -> Read<()> {
        match (self.peek(0), self.peek(1)) {
            (Some(b'\\'), Some(b'\n')) => {
                // A name that goes on behind the joined line would be another variable.
                let before = self.pos.checked_sub(1).and_then(|at| self.text.get(at));
                if matches!(pieces.last(), Some(Piece::Parameter { .. })) && before != Some(&b'}') {
                    return self.doubt("line-continuation");
                }
                self.pos += 2;
            }
            (Some(b'\\'), Some(next)) if escapable.contains(&next) => {
                self.pos += 1;
                self.character(pieces, true);
            }
            (Some(b'`'), _) => self.backticks(true, pieces)?,
            (Some(b'$'), _) => self.dollar(true, pieces)?,
            _ => self.character(pieces, true),
        }
        Ok(())
    }

    /// A here-document's body whose delimiter was not quoted.
    pub(super) fn expanded_body(&mut self) -> Read<Vec<Piece>> {
        let mut pieces = vec![Piece::Text { text: String::new(), quoted: true }];
        while self.peek(0).is_some() {
            self.quoted_part(b"$`\\", &mut pieces)?;
        }
        Ok(pieces)
    }

    /// `` `…` ``: bash first removes one level of backslashes, then reads the text on its own.
    fn backticks(&mut self, quoted: bool, pieces: &mut Vec<Piece>) -> Read<()> {
        let start = self.pos;
        let mut inner = String::new();
        let mut rest = self.whole.get(self.pos + 1..).unwrap_or_default().char_indices();
        let length = loop {
            match rest.next() {
                None => return self.doubt("unclosed-quote"),
                Some((at, '`')) => break at,
                Some((_, '\\')) => match rest.next() {
                    None => return self.doubt("unclosed-quote"),
                    Some((_, '\\')) if quoted => return self.doubt("backtick"),
                    Some((_, next)) => {
                        if !(matches!(next, '\\' | '$' | '`') || (quoted && next == '"')) {
                            inner.push('\\');
                        }
                        inner.push(next);
                    }
                },
                Some((_, other)) => inner.push(other),
            }
        };
        // Whether a comment can hide the closing backtick is not the same in all of bash.
        let comment =
            inner.starts_with('#') || [" #", "\t#", "\n#", ";#"].iter().any(|at| inner.contains(at));
        if comment || (inner.contains("<<") && inner.contains('\n')) {
            return self.doubt("backtick");
        }
        self.pos = start + length + 2;
        let script = self.apart(&inner, (start, self.pos));
        self.problems.extend(script.problems.iter().cloned());
        pieces.push(Piece::Substitution { script, quoted });
        Ok(())
    }

    /// A `$` and what it begins.
    pub(super) fn dollar(&mut self, quoted: bool, pieces: &mut Vec<Piece>) -> Read<()> {
        match (self.peek(1), self.peek(2)) {
            (Some(b'('), Some(b'(')) => {
                self.pos += 3;
                pieces.push(Piece::Arithmetic(self.arithmetic("))", false)?));
            }
            (Some(b'('), _) => {
                let script = self.substitution()?;
                pieces.push(Piece::Substitution { script, quoted });
            }
            (Some(b'['), _) => {
                self.pos += 2;
                pieces.push(Piece::Arithmetic(self.arithmetic("]", false)?));
            }
            (Some(b'{'), _) => {
                let parameter = self.parameter(quoted)?;
                pieces.push(parameter);
            }
            (Some(b'\''), _) if !quoted => self.escaped(pieces)?,
            (Some(b'"'), _) if !quoted => return self.doubt("dollar-quote"),
            (Some(b'\\'), Some(b'\n')) => return self.doubt("line-continuation"),
            // Looking for the end of quotes bash takes the second dollar sign for a new beginning.
            (Some(b'$'), Some(b'{' | b'(' | b'[')) => return self.doubt("double-dollar"),
            (Some(b'$'), Some(b'\'' | b'"')) if !quoted => return self.doubt("double-dollar"),
            _ => {
                self.pos += 1;
                match self.parameter_name() {
                    Some(name) => {
                        pieces.push(Piece::Parameter { name, form: super::ParameterForm::Plain, quoted })
                    }
                    None => push_text(pieces, "$", quoted),
                }
            }
        }
        Ok(())
    }

    /// `$'…'`
    fn escaped(&mut self, pieces: &mut Vec<Piece>) -> Read<()> {
        self.pos += 2;
        let mut bytes = Vec::new();
        loop {
            match (self.peek(0), self.peek(1)) {
                (None, _) | (Some(b'\\'), None) => return self.doubt("unclosed-quote"),
                (Some(b'\''), _) => {
                    self.pos += 1;
                    break;
                }
                (Some(b'\\'), Some(escape)) => bytes.push(self.escape(escape)?),
                (Some(byte), _) => {
                    bytes.push(byte);
                    self.pos += 1;
                }
            }
        }
        match String::from_utf8(bytes) {
            Ok(text) => {
                push_text(pieces, &text, true);
                Ok(())
            }
            Err(_) => self.doubt("ansi-quote"),
        }
    }

    /// One escape of `$'…'`; those whose meaning depends on the locale or that cut the word are refused.
    fn escape(&mut self, escape: u8) -> Read<u8> {
        self.pos += 2;
        let value = match escape {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'v' => 11,
            b'\\' | b'\'' | b'"' | b'?' => escape,
            b'x' => self.digits(16, 2)?,
            b'0'..=b'7' => {
                self.pos -= 1;
                self.digits(8, 3)?
            }
            _ => return self.doubt("ansi-quote"),
        };
        if value == 0 { self.doubt("ansi-quote") } else { Ok(value) }
    }

    fn digits(&mut self, radix: u32, most: usize) -> Read<u8> {
        let mut value = None;
        for _ in 0..most {
            let Some(digit) = self.peek(0).and_then(|byte| char::from(byte).to_digit(radix)) else { break };
            value = Some(value.unwrap_or(0) * radix + digit);
            self.pos += 1;
        }
        match value.map(u8::try_from) {
            Some(Ok(value)) => Ok(value),
            _ => self.doubt("ansi-quote"),
        }
    }
}

/// Turns an unquoted `~…` into a piece of its own where bash looks for one: at the start of a word,
/// behind the `=` of `NAME=` and behind the colons that follow.
fn mark_tildes(pieces: &mut Vec<Piece>, reading: Reading) {
    if reading == Reading::Regex {
        return;
    }
    let assigned = reading == Reading::Assigned;
    let mut after_name = assigned;
    let count = pieces.len();
    let mut marked = Vec::with_capacity(count);
    for (index, piece) in std::mem::take(pieces).into_iter().enumerate() {
        let Piece::Text { text, quoted: false } = piece else {
            marked.push(piece);
            continue;
        };
        if index == 0 && !assigned {
            after_name = names_variable(&text);
        }
        split_tildes(&text, index == 0, after_name, index + 1 == count, &mut marked);
    }
    *pieces = marked;
}

fn names_variable(text: &str) -> bool {
    let name = text.bytes().take_while(super::scan::is_name_byte).count();
    let digit = text.starts_with(|c: char| c.is_ascii_digit());
    name > 0 && !digit && text.get(name..).is_some_and(|rest| rest.starts_with('='))
}

fn split_tildes(text: &str, first: bool, assigns: bool, last: bool, marked: &mut Vec<Piece>) {
    let mut plain = String::new();
    let mut rest = text;
    let mut allowed = first;
    while let Some(next) = rest.chars().next() {
        let end = || rest.find(|c| c == '/' || (assigns && c == ':'));
        if next == '~'
            && allowed
            && let Some(end) = end().or_else(|| last.then_some(rest.len()))
        {
            let (tilde, after) = rest.split_at(end);
            if !plain.is_empty() {
                push_text(marked, &std::mem::take(&mut plain), false);
            }
            marked.push(Piece::Tilde(tilde.to_owned()));
            rest = after;
            allowed = false;
            continue;
        }
        allowed = assigns && (next == ':' || (next == '=' && !plain.contains('=')));
        plain.push(next);
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    if !plain.is_empty() {
        push_text(marked, &plain, false);
    }
}
