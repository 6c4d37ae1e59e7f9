//! Lines that fit a window: cut by columns, never by bytes, and never silently.

/// What a line is, beyond its words: only its colour follows from it, so nothing is lost without.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mark {
    /// The frame and everything plain.
    #[default]
    Plain,
    /// The text that runs.
    Command,
    /// What asks.
    Asks,
    /// What is unusual.
    Risk,
    /// A line that a write would add.
    Added,
    /// A line that a write would take away.
    Removed,
}

/// One line of a question.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    /// What it is.
    pub mark: Mark,
    /// Its text, made visible.
    pub text: String,
}

impl Line {
    /// A line of this kind.
    #[must_use]
    pub fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, text: text.into() }
    }

    /// A plain line.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(Mark::Plain, text)
    }

    /// The line in a frame of this width: what goes on begins with a colon.
    #[must_use]
    pub fn framed(&self, columns: usize) -> Vec<Self> {
        let pieces = wrap(&self.text, columns.saturating_sub(2).max(1));
        let edge = |index| if index == 0 { "|" } else { ":" };
        let framed = |(index, piece)| Self::new(self.mark, format!("{} {piece}", edge(index)));
        pieces.into_iter().enumerate().map(framed).collect()
    }
}

/// The size of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its width.
    pub columns: usize,
    /// Its height.
    pub rows: usize,
}

/// The columns that a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    text.chars().map(takes).sum()
}

/// The columns that a letter takes.
fn takes(letter: char) -> usize {
    if matches!(letter, ' '..='~') { 1 } else { console::measure_text_width(letter.encode_utf8(&mut [0; 4])) }
}

/// Pieces that fit; a wide letter counts as the two columns it takes.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for character in text.chars() {
        let takes = takes(character);
        if used + takes > columns && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push(character);
        used += takes;
    }
    lines.push(line);
    lines
}

/// Whole words on lines that fit; for our own words only.
#[must_use]
pub fn fill(words: &[String], columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if width(line) + 2 + width(word) <= columns => {
                line.push_str("  ");
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines.iter().flat_map(|line| wrap(line, columns)).collect()
}

/// The beginning that fits.
#[must_use]
pub fn fit(text: &str, columns: usize) -> String {
    wrap(text, columns.max(1)).into_iter().next().unwrap_or_default()
}

/// A text of at most so many letters, which says how many more there are.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    let mut letters = text.chars();
    let head: String = letters.by_ref().take(most).collect();
    match letters.count() {
        0 => head,
        more => format!("{head}… (and {more} more characters)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_by_columns() {
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("日", 1), ["日"]);
        assert_eq!(fit("abc", 2), "ab");
        assert_eq!((width("日a"), width("")), (3, 0));
        let words = ["[y] once".to_owned(), "[n] deny".to_owned(), "[Tab] details".to_owned()];
        assert_eq!(fill(&words, 20), ["[y] once  [n] deny", "[Tab] details"]);
        assert_eq!(shorten("abcdef", 4), "abcd… (and 2 more characters)");
    }

    #[test]
    fn a_cut_line_is_told_from_a_new_one() {
        let line = Line::new(Mark::Command, "abcdef");
        let texts: Vec<String> = line.framed(6).into_iter().map(|line| line.text).collect();
        assert_eq!(texts, ["| abcd", ": ef"]);
    }
}
