//! The operators of here-documents with their delimiters, and the bodies on the lines that follow.

use super::{Doubt, HereDocument, Lexer, Pending, is_boundary};

/// Here-documents on one line.
const MOST_ON_A_LINE: usize = 16;

impl Lexer<'_> {
    /// `<<<`, or `<<` with its delimiter.
    pub(super) fn operator(&mut self) -> Result<(), Doubt> {
        if self.peek(2) == Some(b'<') {
            self.pos += 3;
            return Ok(());
        }
        let level = self.frames.len();
        if self.pending.iter().any(|pending| pending.level != level) {
            return self.doubt("heredoc-nested");
        }
        if self.pending.len() >= MOST_ON_A_LINE {
            return self.doubt("heredoc-line");
        }
        if level > 1 || self.inside {
            self.document.get_or_insert(level);
        }
        let operator = self.pos;
        self.pos += 2;
        let strip_tabs = self.peek(0) == Some(b'-');
        if strip_tabs {
            self.pos += 1;
        }
        while matches!(self.peek(0), Some(b' ' | b'\t')) {
            self.pos += 1;
        }
        let (delimiter, quoted) = self.delimiter()?;
        // A number right before another operator is that operator's descriptor to bash.
        let number = !quoted && delimiter.bytes().all(|byte| byte.is_ascii_digit());
        let descriptor = number && matches!(self.peek(0), Some(b'<' | b'>'));
        if descriptor || !self.peek(0).is_none_or(is_boundary) {
            return self.doubt("heredoc-delim");
        }
        self.mask(operator, self.pos, b'_');
        if let Some(first) = self.masked.get_mut(operator) {
            *first = b'<';
        }
        let operator_end = self.pos;
        self.pending.push(Pending { operator, operator_end, delimiter, quoted, strip_tabs, level });
        Ok(())
    }

    fn delimiter(&mut self) -> Result<(String, bool), Doubt> {
        let quote = self.peek(0);
        if let Some(quote @ (b'\'' | b'"')) = quote {
            let start = self.pos + 1;
            let rest = self.text.get(start..).unwrap_or_default();
            let Some(length) = rest.iter().position(|byte| *byte == quote) else {
                return self.doubt("heredoc-delim");
            };
            let inner = self.whole.get(start..start + length).unwrap_or_default();
            let special = inner.contains('\n') || (quote == b'"' && inner.contains(['\\', '$', '`']));
            if special {
                return self.doubt("heredoc-delim");
            }
            self.pos = start + length + 1;
            return Ok((inner.to_owned(), true));
        }
        let escaped = quote == Some(b'\\');
        let start = self.pos + usize::from(escaped);
        self.pos = start;
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.:+-".contains(&byte)) {
            self.pos += 1;
        }
        if self.pos == start {
            return self.doubt("heredoc-delim");
        }
        Ok((self.whole.get(start..self.pos).unwrap_or_default().to_owned(), escaped))
    }

    /// A newline of commands: the bodies of the line's operators follow.
    pub(super) fn newline(&mut self) -> Result<(), Doubt> {
        let level = self.frames.len();
        if self.pending.iter().any(|pending| pending.level != level) {
            return self.doubt("heredoc-nested");
        }
        self.pos += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending)?;
        }
        Ok(())
    }

    fn body(&mut self, pending: &Pending) -> Result<(), Doubt> {
        let start = self.pos;
        let mut body = String::new();
        loop {
            if self.pos >= self.text.len() {
                if self.frames.len() > 1 || self.inside {
                    return self.doubt("heredoc-end");
                }
                self.record(pending, body, start, self.text.len());
                return Ok(());
            }
            let line = self.line(pending)?;
            let content = if pending.strip_tabs { line.text.trim_start_matches('\t') } else { &line.text };
            if content == pending.delimiter {
                if line.joined {
                    return self.doubt("heredoc-continuation");
                }
                self.record(pending, body, start, self.pos);
                self.pos = line.next;
                return Ok(());
            }
            // Inside a substitution bash also ends a body at a line that only begins like its end.
            let nested = self.frames.len() > 1 || self.inside;
            if nested && content.starts_with(&pending.delimiter) && content.contains(')') {
                return self.doubt("heredoc-end");
            }
            body.push_str(content);
            if line.ended {
                body.push('\n');
            }
            self.pos = line.next;
        }
    }

    /// The line at `pos`. In a body that is expanded, a backslash joins it with the next one, as bash
    /// does before it looks for the end line.
    fn line(&mut self, pending: &Pending) -> Result<Line, Doubt> {
        let mut text = String::new();
        let (mut at, mut joined) = (self.pos, false);
        loop {
            let rest = self.text.get(at..).unwrap_or_default();
            let length = rest.iter().position(|byte| *byte == b'\n');
            let end = at + length.unwrap_or(rest.len());
            let part = self.whole.get(at..end).unwrap_or_default();
            self.mask(at, end, b' ');
            let backslashes = part.bytes().rev().take_while(|byte| *byte == b'\\').count();
            let ended = length.is_some();
            if pending.quoted || backslashes % 2 == 0 {
                text.push_str(part);
                return Ok(Line { text, joined, ended, next: (end + 1).min(self.text.len()) });
            }
            if !ended {
                return self.doubt("heredoc-continuation");
            }
            text.push_str(part.get(..part.len() - 1).unwrap_or_default());
            (at, joined) = (end + 1, true);
        }
    }

    pub(super) fn record(&mut self, pending: &Pending, body: String, start: usize, end: usize) {
        let document =
            HereDocument { body, quoted: pending.quoted, start, end, operator_end: pending.operator_end };
        self.documents.insert(pending.operator, document);
    }

    fn mask(&mut self, start: usize, end: usize, with: u8) {
        if let Some(range) = self.masked.get_mut(start..end) {
            range.fill(with);
        }
    }
}

/// A line of a body, joined with those it continues on.
struct Line {
    text: String,
    joined: bool,
    ended: bool,
    next: usize,
}
