//! Here-documents, split off before the grammar sees the text.
//!
//! The grammar ends their bodies at other lines than bash, and what then follows can hide anything.
//! So a small lexer finds each `<<` that bash would take for one, reads the bodies as bash does, and
//! leaves a redirection of the same length in place of the operator and blanks in place of the body.
//! Whatever leaves a doubt about where a body begins or ends is refused by name.

mod body;

use std::collections::{BTreeMap, BTreeSet};

/// One here-document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HereDocument {
    /// Its text, with the leading tabs removed where the operator says so.
    pub(super) body: String,
    /// Its delimiter was quoted: nothing in the body is expanded.
    pub(super) quoted: bool,
    /// The body without its end line, in the text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// One past the delimiter, in the text.
    pub(super) operator_end: usize,
}

/// A text without here-documents, and what was taken out, by the offset of each operator.
#[derive(Debug)]
pub(super) struct Split {
    pub(super) masked: String,
    pub(super) documents: BTreeMap<usize, HereDocument>,
    /// Where `<>` stood: the grammar does not know it and is shown `>|` in its place.
    pub(super) read_writes: BTreeSet<usize>,
}

impl Split {
    /// A text with nothing to take out.
    pub(super) fn untouched(text: &str) -> Self {
        Self { masked: text.to_owned(), documents: BTreeMap::new(), read_writes: BTreeSet::new() }
    }
}

/// A refusal: which check, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Doubt {
    pub(super) check: &'static str,
    pub(super) at: usize,
}

/// Where the bodies of here-documents stand. Where that cannot be told, all behind the first line with
/// a `<<` counts as one.
#[must_use]
pub fn document_bodies(text: &str) -> Vec<std::ops::Range<usize>> {
    match split(text) {
        Ok(split) => split.documents.values().map(|document| document.start..document.end).collect(),
        Err(_) => {
            let line = text.find("<<").and_then(|at| Some(at + text.get(at..)?.find('\n')? + 1));
            line.map(|start| start..text.len()).into_iter().collect()
        }
    }
}

/// Takes the here-documents out of `text`.
pub(super) fn split(text: &str) -> Result<Split, Doubt> {
    if !text.contains("<<") && !text.contains("<>") {
        return Ok(Split::untouched(text));
    }
    let mut lexer = Lexer::new(text, 0, text.as_bytes().to_vec());
    while lexer.pos < lexer.text.len() {
        lexer.step()?;
    }
    lexer.finish()
}

/// The offset of the `)` that closes a command substitution whose text begins at `start`. None when
/// it is not certain: no end, a `case`, or a here-document inside.
pub(super) fn closing_parenthesis(text: &str, start: usize) -> Option<usize> {
    let mut lexer = Lexer::new(text, start, Vec::new());
    lexer.inside = true;
    while lexer.pos < lexer.text.len() {
        lexer.step().ok()?;
        if !lexer.pending.is_empty() {
            return None;
        }
        if lexer.frames.is_empty() {
            return lexer.pos.checked_sub(1);
        }
    }
    None
}

/// What the lexer is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    /// Commands: the text itself, or a substitution, with its open parentheses.
    Code { parens: usize },
    /// Double quotes.
    Double,
    /// `${ … }`.
    Brace,
}

/// An operator whose body has not been read yet.
#[derive(Debug)]
struct Pending {
    operator: usize,
    operator_end: usize,
    delimiter: String,
    quoted: bool,
    strip_tabs: bool,
    /// How many frames were open at the operator.
    level: usize,
}

struct Lexer<'t> {
    whole: &'t str,
    text: &'t [u8],
    pos: usize,
    frames: Vec<Frame>,
    /// The outermost frame is itself a substitution.
    inside: bool,
    pending: Vec<Pending>,
    /// One past the last character that a backslash protects.
    escape_end: Option<usize>,
    /// How many frames were open at the outermost here-document of the substitution that is being read.
    document: Option<usize>,
    /// How many `((` were no arithmetic: each was searched for its end in vain.
    failures: usize,
    masked: Vec<u8>,
    documents: BTreeMap<usize, HereDocument>,
    read_writes: BTreeSet<usize>,
}

impl<'t> Lexer<'t> {
    fn new(whole: &'t str, pos: usize, masked: Vec<u8>) -> Self {
        Self {
            whole,
            text: whole.as_bytes(),
            pos,
            frames: vec![Frame::Code { parens: 0 }],
            inside: false,
            pending: Vec::new(),
            escape_end: None,
            document: None,
            failures: 0,
            masked,
            documents: BTreeMap::new(),
            read_writes: BTreeSet::new(),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos + ahead).copied()
    }

    fn doubt<T>(&self, check: &'static str) -> Result<T, Doubt> {
        Err(Doubt { check, at: self.pos.min(self.text.len()) })
    }

    fn step(&mut self) -> Result<(), Doubt> {
        match self.frames.last() {
            Some(Frame::Code { parens }) => self.code(*parens),
            Some(Frame::Double) => self.double(),
            Some(Frame::Brace) => self.brace(),
            None => self.doubt("heredoc-parens"),
        }
    }

    /// One element of commands.
    fn code(&mut self, parens: usize) -> Result<(), Doubt> {
        match self.peek(0) {
            Some(b'\\') => self.escape()?,
            Some(b'\'') => self.single(b'\'')?,
            Some(b'"') => self.push(Frame::Double, 1),
            Some(b'`') => self.backticks()?,
            Some(b'$') => self.dollar(true)?,
            Some(b'#') if self.at_word_start() => self.comment(),
            Some(b'<') if self.peek(1) == Some(b'<') => self.operator()?,
            Some(b'<') if self.peek(1) == Some(b'>') => self.read_write(),
            Some(b'<' | b'>') if self.peek(1) == Some(b'(') => self.push(Frame::Code { parens: 0 }, 2),
            Some(b'(') if self.peek(1) == Some(b'(') => self.double_parenthesis(parens)?,
            Some(b'(') => self.parens(parens + 1),
            Some(b')') => self.close_parenthesis(parens)?,
            Some(b'\n') => self.newline()?,
            Some(b'c') if self.is_case() => return self.doubt("heredoc-case"),
            // Bash writes a substitution anew from its tree, and forgets the `;` that comes next there: it
            // then runs `a; b` behind the body as `a b`.
            Some(b';') if self.document.is_some() => return self.doubt("heredoc-semicolon"),
            _ => self.pos += 1,
        }
        Ok(())
    }

    fn read_write(&mut self) {
        if let Some([first, second]) = self.masked.get_mut(self.pos..self.pos + 2) {
            (*first, *second) = (b'>', b'|');
        }
        self.read_writes.insert(self.pos);
        self.pos += 2;
    }

    fn parens(&mut self, count: usize) {
        if let Some(Frame::Code { parens }) = self.frames.last_mut() {
            *parens = count;
        }
        self.pos += 1;
    }

    fn close_parenthesis(&mut self, parens: usize) -> Result<(), Doubt> {
        if parens > 0 {
            self.parens(parens - 1);
        } else if self.frames.len() > 1 || self.inside {
            self.pop()?;
        } else {
            // The end of a pattern of `case`.
            self.pos += 1;
        }
        Ok(())
    }

    fn push(&mut self, frame: Frame, length: usize) {
        self.frames.push(frame);
        self.pos += length;
    }

    fn pop(&mut self) -> Result<(), Doubt> {
        let level = self.frames.len();
        if self.pending.iter().any(|pending| pending.level == level) {
            return self.doubt("heredoc-end");
        }
        self.frames.pop();
        self.document = self.document.filter(|level| *level <= self.frames.len());
        self.pos += 1;
        Ok(())
    }

    /// A `case` inside a substitution: its patterns hold unbalanced parentheses.
    fn is_case(&self) -> bool {
        let nested = self.frames.len() > 1 || self.inside;
        let word = self.text.get(self.pos..).is_some_and(|rest| rest.starts_with(b"case"));
        nested && word && self.at_word_start() && self.peek(4).is_none_or(is_boundary)
    }

    /// Whether the byte before is one after which bash begins a new token.
    fn at_word_start(&self) -> bool {
        let before = self.pos.checked_sub(1).and_then(|at| self.text.get(at));
        before.is_none_or(|byte| is_boundary(*byte)) && self.escape_end != Some(self.pos)
    }

    /// A backslash and what it protects; a joined line must not decide whether a comment begins.
    fn escape(&mut self) -> Result<(), Doubt> {
        if self.peek(1) == Some(b'\n') && self.peek(2) == Some(b'#') {
            return self.doubt("line-continuation");
        }
        self.pos += 2;
        self.escape_end = Some(self.pos);
        Ok(())
    }

    fn comment(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.pos += 1;
        }
    }

    /// `'…'`, or `$'…'` from its quote on when `escape` is a backslash.
    fn single(&mut self, escape: u8) -> Result<(), Doubt> {
        self.pos += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'\'' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' if escape == b'\\' => self.pos += 2,
                b'\n' if !self.pending.is_empty() => return self.doubt("heredoc-line"),
                _ => self.pos += 1,
            }
        }
        self.doubt("unclosed-quote")
    }

    fn double(&mut self) -> Result<(), Doubt> {
        match self.peek(0) {
            Some(b'\\') => self.pos += 2,
            Some(b'"') => self.pop()?,
            Some(b'`') => self.backticks()?,
            Some(b'$') => self.dollar(false)?,
            Some(b'\n') if !self.pending.is_empty() => return self.doubt("heredoc-line"),
            _ => self.pos += 1,
        }
        Ok(())
    }

    /// One element of `${ … }`. Quotes have other rules in there: none may stand in a text with `<<`.
    fn brace(&mut self) -> Result<(), Doubt> {
        match self.peek(0) {
            Some(b'}') => self.pop()?,
            Some(b'$') if self.peek(1) == Some(b'{') => self.push(Frame::Brace, 2),
            Some(b'$') if self.peek(1).is_none_or(|next| !b"([".contains(&next)) => self.pos += 1,
            Some(b'\'' | b'"' | b'`' | b'\\' | b'$' | b'\n' | b'{') => {
                return self.doubt("heredoc-expansion");
            }
            _ => self.pos += 1,
        }
        Ok(())
    }

    fn dollar(&mut self, unquoted: bool) -> Result<(), Doubt> {
        match (self.peek(1), self.peek(2)) {
            (Some(b'('), Some(b'(')) => {
                self.pos += 1;
                self.arithmetic(b'(', b')')?;
            }
            (Some(b'('), _) => self.push(Frame::Code { parens: 0 }, 2),
            (Some(b'{'), _) => self.push(Frame::Brace, 2),
            (Some(b'['), _) => {
                self.pos += 1;
                self.arithmetic(b'[', b']')?;
            }
            (Some(b'\''), _) if unquoted => {
                self.pos += 1;
                self.single(b'\\')?;
            }
            (Some(b'\\'), _) => self.pos += 1,
            (Some(b'$'), Some(b'{' | b'(' | b'[' | b'\'')) => return self.doubt("double-dollar"),
            // `$$`, `$#`: the second character must not be read again.
            (Some(b'$' | b'#'), _) => self.pos += 2,
            _ => self.pos += 1,
        }
        Ok(())
    }

    /// Skips `(( … ))` or `[ … ]` from its first bracket; a `<<` in there is a shift.
    fn arithmetic(&mut self, open: u8, close: u8) -> Result<(), Doubt> {
        let mut depth = 0usize;
        while let Some(byte) = self.peek(0) {
            match byte {
                _ if byte == open => depth += 1,
                _ if byte == close => {
                    depth -= 1;
                    // The second parenthesis must close right before the first, or bash runs a subshell.
                    if close == b')' && depth == 1 && self.peek(1) != Some(b')') {
                        return self.doubt("heredoc-parens");
                    }
                    if depth == 0 {
                        self.pos += 1;
                        return Ok(());
                    }
                }
                b'\'' | b'"' | b'`' | b'\\' | b'\n' => return self.doubt("heredoc-parens"),
                b'$' if self.peek(1).is_some_and(|next| b"([".contains(&next)) => {
                    return self.doubt("heredoc-parens");
                }
                _ => {}
            }
            self.pos += 1;
        }
        self.doubt("heredoc-parens")
    }

    /// `((` where a command may stand: arithmetic, or a subshell that begins with a subshell.
    fn double_parenthesis(&mut self, parens: usize) -> Result<(), Doubt> {
        let start = self.pos;
        if self.arithmetic(b'(', b')').is_ok() {
            return Ok(());
        }
        self.pos = start;
        self.failures += 1;
        let rest = self.text.get(start..).unwrap_or_default();
        if self.failures > 16 || rest.windows(2).any(|two| two == b"<<") {
            return self.doubt("heredoc-parens");
        }
        self.parens(parens + 1);
        Ok(())
    }

    /// Backticks are read by their own rule and as a text of their own; here they are only skipped.
    fn backticks(&mut self) -> Result<(), Doubt> {
        let start = self.pos;
        self.pos += 1;
        while let Some(byte) = self.peek(0) {
            match byte {
                b'`' => {
                    self.pos += 1;
                    return Ok(());
                }
                b'\\' => self.pos += 2,
                b'<' if self.peek(1) == Some(b'<') => return self.doubt("heredoc-backtick"),
                b'\n' if !self.pending.is_empty() => return self.doubt("heredoc-line"),
                _ => self.pos += 1,
            }
        }
        self.pos = start;
        self.doubt("unclosed-quote")
    }

    fn finish(mut self) -> Result<Split, Doubt> {
        if self.frames.len() > 1 {
            return self.doubt("unclosed-quote");
        }
        // The text ends on the operator's own line: bash takes the body to be empty.
        for pending in std::mem::take(&mut self.pending) {
            self.record(&pending, String::new(), self.text.len(), self.text.len());
        }
        match String::from_utf8(std::mem::take(&mut self.masked)) {
            Ok(masked) => Ok(Split { masked, documents: self.documents, read_writes: self.read_writes }),
            Err(_) => self.doubt("heredoc-delim"),
        }
    }
}

/// A byte that ends a word.
pub(super) fn is_boundary(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
