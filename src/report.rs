//! What a person reads when something is wrong, with its place.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use serde::Serialize;

/// A half-open range of bytes of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(into = "[usize; 2]")]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

impl From<Span> for [usize; 2] {
    fn from(span: Span) -> Self {
        [span.start, span.end]
    }
}

/// Something wrong in a text, said so that a person can put it right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What is wrong, in one line.
    pub title: String,
    /// The file as it is shown.
    pub file: String,
    /// The whole text of that file; empty when it could not be read.
    pub source: Arc<str>,
    /// The bytes that are wrong; None when the whole file is meant.
    pub span: Option<Span>,
    /// What else is known.
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
}

impl Report {
    /// A report about bytes of a text.
    #[must_use]
    pub fn at(title: impl Into<String>, file: &str, source: &Arc<str>, span: Span) -> Self {
        let source = Arc::clone(source);
        Self { title: title.into(), file: file.into(), source, span: Some(span), notes: vec![], help: None }
    }

    /// A report about a file as a whole.
    #[must_use]
    pub fn of_file(title: impl Into<String>, file: &str) -> Self {
        let source = Arc::from("");
        Self { title: title.into(), file: file.into(), source, span: None, notes: vec![], help: None }
    }

    /// Adds something that is known.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Line and column, both from 1, the column in characters.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        self.span.map(|span| position(&self.source, span.start))
    }

    /// `file:line:column`, or the file alone.
    #[must_use]
    pub fn place(&self) -> String {
        match self.position() {
            Some((line, column)) => format!("{}:{line}:{column}", self.file),
            None => self.file.clone(),
        }
    }

    /// The report with its lines of source and a caret below what is wrong.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let mut group = Group::with_title(Level::ERROR.primary_title(self.title.as_str()));
        match self.span {
            Some(span) => {
                let range = self.on_boundaries(span);
                let snippet = Snippet::source(&*self.source).path(self.file.as_str()).line_start(1);
                group = group.element(snippet.annotation(AnnotationKind::Primary.span(range)));
            }
            None => group = group.element(Origin::path(self.file.as_str())),
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// The span as the renderer can slice it, whatever the caller counted.
    fn on_boundaries(&self, span: Span) -> Range<usize> {
        let length = self.source.len();
        let end = (span.end..=length).find(|at| self.source.is_char_boundary(*at)).unwrap_or(length);
        boundary_before(&self.source, span.start.min(end))..end
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// The line and column of a byte of a text, both from 1, the column in characters.
#[must_use]
pub fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..boundary_before(text, byte)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// The last place at or before a byte where the text can be cut.
fn boundary_before(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        for (text, byte, expected) in [
            ("", 0, (1, 1)),
            ("ab", 1, (1, 2)),
            ("a\nbc", 2, (2, 1)),
            ("ä=1", 2, (1, 2)),
            ("ä=1", 1, (1, 1)),
            ("a\n", 99, (2, 1)),
        ] {
            assert_eq!(position(text, byte), expected, "{text:?} at {byte}");
        }
    }

    #[test]
    fn shows_file_line_column_and_caret() {
        let source: Arc<str> = Arc::from("mode = \"default\"\nmod = 1\n");
        let report = Report::at("unknown key `mod`", "rules.toml", &source, Span::new(17, 20))
            .help("did you mean `mode`?");
        let text = report.to_string();
        assert_eq!(report.place(), "rules.toml:2:1");
        for part in ["error: unknown key `mod`", "rules.toml:2:1", "mod = 1", "^^^", "did you mean `mode`?"] {
            assert!(text.contains(part), "{part:?} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "no colour was asked for");
        assert!(report.render(true).contains('\u{1b}'));
    }

    #[test]
    fn any_span_can_be_shown() {
        let source: Arc<str> = Arc::from("ä");
        for span in [Span::new(1, 1), Span::new(0, 9), Span::new(7, 9), Span::new(2, 1)] {
            assert!(Report::at("t", "f", &source, span).to_string().contains("error: t"));
        }
        assert!(Report::of_file("cannot be read", "f").to_string().contains('f'));
    }
}
