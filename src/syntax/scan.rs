//! Simple commands, read from their bytes: assignments, words and redirections.

use std::collections::{BTreeMap, BTreeSet};

use super::compound::is_reserved;
use super::parse::{Place, Read, Reader, problem, read};
use super::word::Reading;
use super::{
    AssignedValue, Assignment, Cause, Descriptor, Piece, Redirection, RedirectionOperator, Script, Simple,
    Word, heredoc,
};

/// Redirection operators, a longer one before any that it begins with.
const OPERATORS: [(&str, RedirectionOperator); 10] = [
    ("<<<", RedirectionOperator::HereString),
    ("<>", RedirectionOperator::ReadWrite),
    ("<&", RedirectionOperator::DuplicateInput),
    ("<", RedirectionOperator::Read),
    ("&>>", RedirectionOperator::AppendBoth),
    ("&>", RedirectionOperator::WriteBoth),
    (">>", RedirectionOperator::Append),
    (">|", RedirectionOperator::Clobber),
    (">&", RedirectionOperator::DuplicateOutput),
    (">", RedirectionOperator::Write),
];

impl Reader<'_> {
    /// A simple command that ends exactly at `end`, where something must stand that ends it for bash.
    pub(super) fn simple(&mut self, end: usize) -> Read<Simple> {
        let mut simple = Simple::default();
        let start = self.pos;
        let mut last = self.pos;
        let mut newline = None;
        while self.pos < end {
            self.gap(false)?;
            if self.pos >= end {
                break;
            }
            match (self.peek(0), self.peek(1)) {
                (Some(b'\n'), _) => {
                    // What follows is read only to find the other lines that were lost.
                    if last > start {
                        self.lost.push(last..self.pos + 1);
                    }
                    newline.get_or_insert(self.pos);
                    self.pos += 1;
                    continue;
                }
                (Some(b'&'), Some(b'>')) => self.redirection(&mut simple, None)?,
                (Some(b'<' | b'>'), next) if next != Some(b'(') => self.redirection(&mut simple, None)?,
                (Some(b';' | b'&' | b'|' | b'(' | b')'), _) => return self.doubt("operator-in-command"),
                _ => self.part(&mut simple)?,
            }
            last = self.pos;
        }
        if let Some(newline) = newline {
            self.pos = newline;
            return self.doubt("newline-in-command");
        }
        if last > end {
            return self.doubt("gap-text");
        }
        self.gap(false)?;
        if !self.peek(0).is_none_or(|byte| b"\n;&|)".contains(&byte)) {
            return self.doubt("gap-text");
        }
        self.pos = last;
        simple.span = self.span(start, last);
        self.check_name(&simple)?;
        Ok(simple)
    }

    /// An assignment, a word, or a redirection with its descriptor.
    fn part(&mut self, simple: &mut Simple) -> Read<()> {
        if let Some((descriptor, length)) = self.descriptor()? {
            self.pos += length;
            return self.redirection(simple, Some(descriptor));
        }
        let leading = simple.words.is_empty();
        if leading && let Some(assignment) = self.assignment()? {
            simple.assignments.push(assignment);
            return Ok(());
        }
        let start = self.pos;
        let word = self.word(Reading::Plain)?;
        if is_subscripted(self.slice(start, self.pos)) {
            return self.doubt("subscript");
        }
        simple.words.push(word);
        Ok(())
    }

    /// `2` or `{name}` right before a redirection operator.
    fn descriptor(&self) -> Read<Option<(Descriptor, usize)>> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        let braced = rest.first() == Some(&b'{');
        let accepts: fn(&u8) -> bool = if braced { is_name_byte } else { u8::is_ascii_digit };
        let skip = usize::from(braced);
        let length = rest.iter().skip(skip).take_while(|byte| accepts(byte)).count();
        let close = skip + length;
        let total = close + skip;
        let operator = matches!(rest.get(total), Some(b'<' | b'>')) && rest.get(total + 1) != Some(&b'(');
        if length == 0 || !operator || (braced && rest.get(close) != Some(&b'}')) {
            return Ok(None);
        }
        let text = self.slice(self.pos + skip, self.pos + close);
        if braced {
            let named = !text.starts_with(|c: char| c.is_ascii_digit());
            return Ok(named.then(|| (Descriptor::Variable(text.to_owned()), total)));
        }
        match text.parse() {
            Ok(number) => Ok(Some((Descriptor::Number(number), total))),
            Err(_) => self.doubt("redirect-op"),
        }
    }

    fn redirection(&mut self, simple: &mut Simple, descriptor: Option<Descriptor>) -> Read<()> {
        let start = self.pos;
        if self.documents.contains_key(&self.pos) {
            let target = self.here_document()?;
            let span = self.span(start, self.pos);
            let operator = RedirectionOperator::HereDocument;
            simple.redirections.push(Redirection { descriptor, operator, target, span });
            return Ok(());
        }
        let found = OPERATORS.into_iter().find(|(text, _)| self.looking_at(text));
        let Some((text, operator)) = found else { return self.doubt("redirect-op") };
        if text == "<" && self.peek(1) == Some(b'<') {
            return self.doubt("heredoc");
        }
        let operator = match self.read_writes.contains(&self.pos) {
            true => RedirectionOperator::ReadWrite,
            false => operator,
        };
        self.pos += text.len();
        if self.looking_at("\\\n") {
            return self.doubt("line-continuation");
        }
        self.gap(false)?;
        let duplicates =
            matches!(operator, RedirectionOperator::DuplicateInput | RedirectionOperator::DuplicateOutput);
        let close = duplicates && self.peek(0) == Some(b'-');
        if close && !self.peek(1).is_none_or(heredoc::is_boundary) {
            // Bash closes the descriptor and reads the rest as a word.
            return self.doubt("redirect-args");
        }
        let target = self.word(Reading::Plain)?;
        let number = target.bare().is_some_and(|bare| bare.bytes().all(|byte| byte.is_ascii_digit()));
        if number && matches!(self.peek(0), Some(b'<' | b'>')) {
            // Bash takes the number for the descriptor of the next operator.
            return self.doubt("redirect-args");
        }
        let span = self.span(start, self.pos);
        simple.redirections.push(Redirection { descriptor, operator, target, span });
        Ok(())
    }

    /// The body of the here-document whose operator stands here.
    fn here_document(&mut self) -> Read<Word> {
        let Some(document) = self.documents.get(&self.pos) else { return self.doubt("heredoc") };
        self.pos = document.operator_end;
        let span = self.span(document.start, document.end);
        if document.quoted {
            let pieces = vec![Piece::Text { text: document.body.clone(), quoted: true }];
            return Ok(Word { pieces, span });
        }
        let (documents, read_writes) = (BTreeMap::new(), BTreeSet::new());
        let mut reader = Reader {
            text: document.body.as_bytes(),
            whole: &document.body,
            documents: &documents,
            read_writes: &read_writes,
            substitutions: None,
            place: Place { outer: Some(span), ..self.place },
            pos: 0,
            problems: Vec::new(),
            lost: Vec::new(),
            crossed: false,
        };
        let pieces = reader.expanded_body();
        self.problems.append(&mut reader.problems);
        Ok(Word { pieces: pieces?, span })
    }

    /// A command substitution in a text that is in no tree: its end is found by the lexer of
    /// here-documents, and what is inside is read as a text of its own.
    pub(super) fn substitution_apart(&mut self) -> Read<Script> {
        let start = self.pos + 2;
        let Some(close) = heredoc::closing_parenthesis(self.whole, start) else {
            return self.doubt("substitution");
        };
        let script = self.apart(self.slice(start, close), (self.pos, close + 1));
        self.problems.extend(script.problems.iter().cloned());
        self.pos = close + 1;
        Ok(script)
    }

    /// Reads a text that stands between `from` and `to` but is not a part of this one.
    pub(super) fn apart(&self, text: &str, (from, to): (usize, usize)) -> Script {
        let place = Place { depth: self.place.depth + 1, outer: Some(self.span(from, to)), ..self.place };
        read(text, &place)
    }

    /// A leading assignment, if one stands here.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let start = self.pos;
        let Some(name) = self.name() else { return Ok(None) };
        let mut subscript = None;
        if self.peek(0) == Some(b'[') {
            let rest = self.text.get(self.pos + 1..).unwrap_or_default();
            let length = rest.iter().take_while(|byte| is_name_byte(byte)).count();
            if rest.get(length) != Some(&b']') || length == 0 {
                return self.doubt("subscript");
            }
            subscript = Some(self.slice(self.pos + 1, self.pos + 1 + length).to_owned());
            self.pos += length + 2;
        }
        let append = self.looking_at("+=");
        if !append && self.peek(0) != Some(b'=') {
            self.pos = start;
            return Ok(None);
        }
        self.pos += 1 + usize::from(append);
        let value = if self.peek(0) == Some(b'(') {
            AssignedValue::Array(self.array()?)
        } else {
            AssignedValue::Word(self.word(Reading::Assigned)?)
        };
        let span = self.span(start, self.pos);
        Ok(Some(Assignment { name, subscript, append, value, span }))
    }

    /// `( … )` behind a `=`.
    fn array(&mut self) -> Read<Vec<Word>> {
        self.token("(")?;
        let mut words = Vec::new();
        loop {
            self.gap(true)?;
            match self.peek(0) {
                Some(b')') => break,
                Some(b'[') => return self.doubt("subscript"),
                _ => words.push(self.word(Reading::Plain)?),
            }
        }
        self.token(")")?;
        if !self.peek(0).is_none_or(heredoc::is_boundary) {
            return self.doubt("adjacent-words");
        }
        Ok(words)
    }

    /// A variable's name; nothing is read when none stands here.
    pub(super) fn name(&mut self) -> Option<String> {
        let rest = self.text.get(self.pos..).unwrap_or_default();
        if rest.first().is_none_or(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let length = rest.iter().take_while(|byte| is_name_byte(byte)).count();
        let name = self.slice(self.pos, self.pos + length).to_owned();
        self.pos += length;
        (length > 0).then_some(name)
    }

    /// What bash would take for a word of its own in the place of a command's name.
    fn check_name(&self, simple: &Simple) -> Read<()> {
        let first = simple.words.first().and_then(|word| Some((word, word.bare()?)));
        match first {
            Some((_, name)) if name == "time" && simple.assignments.is_empty() => self.check_time(simple),
            Some((word, name)) if is_reserved(&name) && name != "time" => {
                Err(Box::new(problem(Cause::ParseError, format!("reserved-word: {name}"), word.span)))
            }
            _ => Ok(()),
        }
    }

    /// `time [-p] [--] COMMAND`, where the command is a plain one.
    fn check_time(&self, simple: &Simple) -> Read<()> {
        let mut rest = simple.words.iter().skip(1).peekable();
        for option in ["-p", "--"] {
            rest.next_if(|word| word.bare().as_deref() == Some(option));
        }
        let Some(word) = rest.next() else { return Ok(()) };
        let head = match word.pieces.first() {
            Some(Piece::Text { text, .. }) => text.as_str(),
            _ => "",
        };
        let name_length = head.bytes().take_while(is_name_byte).count();
        let assigns = name_length > 0 && head.get(name_length..).is_some_and(is_assigning);
        let reserved = word.bare().is_some_and(|bare| is_reserved(&bare));
        if assigns || reserved || head.starts_with('-') {
            return Err(Box::new(problem(Cause::UnknownConstruct, "time", word.span)));
        }
        Ok(())
    }
}

fn is_assigning(rest: &str) -> bool {
    rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('[')
}

pub(super) fn is_name_byte(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Check `subscript`: a word of the form `NAME[…]=`. Bash expands such a subscript even where the
/// word is only an argument, and by rules of its own.
fn is_subscripted(raw: &str) -> bool {
    let name = raw.bytes().take_while(is_name_byte).count();
    let Some(rest) = raw.get(name..).and_then(|rest| rest.strip_prefix('[')) else { return false };
    let plain = rest.bytes().take_while(|byte| is_name_byte(byte) || b"@*".contains(byte)).count();
    let is_plain = rest.get(plain..).is_some_and(|rest| rest.starts_with(']'));
    name > 0 && !is_plain && (rest.contains("]=") || rest.contains("]+="))
}
