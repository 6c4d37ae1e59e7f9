//! Reading a text from its beginning, byte for byte.

/// What is left of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Exactly this comes next.
    pub(super) fn literal(&mut self, text: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(text)?;
        Some(())
    }

    /// Takes this if it comes next.
    pub(super) fn takes(&mut self, text: &str) -> bool {
        self.literal(text).is_some()
    }

    /// One of these comes next.
    pub(super) fn any_of(&mut self, texts: &[&str]) -> Option<()> {
        texts.iter().any(|text| self.takes(text)).then_some(())
    }

    /// Takes as many letters of this kind as come next; at least one.
    pub(super) fn run(&mut self, kind: impl Fn(char) -> bool) -> Option<&'a str> {
        let end = self.rest.find(|letter| !kind(letter)).unwrap_or(self.rest.len());
        let (head, rest) = self.rest.split_at_checked(end).filter(|(head, _)| !head.is_empty())?;
        self.rest = rest;
        Some(head)
    }

    /// A variable's name.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let name = self.run(|c| c.is_ascii_alphanumeric() || c == '_')?;
        (!name.starts_with(|c: char| c.is_ascii_digit())).then_some(name)
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Option<()> {
        self.rest.is_empty().then_some(())
    }

    /// A word that is literal as it stands, or quoted.
    pub(super) fn word(&mut self) -> Option<String> {
        if self.rest.starts_with('\'') { self.quoted() } else { self.plain().map(str::to_owned) }
    }

    /// A word of letters that mean nothing to a shell.
    fn plain(&mut self) -> Option<&'a str> {
        let word = self.run(|c| c.is_ascii_alphanumeric() || "/._+-:@%,=".contains(c))?;
        // More of the word may follow, in a form that is not read here.
        let ends = self.rest.is_empty() || self.rest.starts_with([' ', '\n', ';', ')', '|', '&']);
        ends.then_some(word)
    }

    /// A text in single quotes, in which a single quote is `'"'"'` or `'\''`: what the shell makes of it.
    pub(super) fn quoted(&mut self) -> Option<String> {
        let mut text = String::new();
        self.literal("'")?;
        loop {
            let end = self.rest.find('\'')?;
            text.push_str(self.rest.get(..end)?);
            self.rest = self.rest.get(end + 1..)?;
            if self.any_of(&["\"'\"'", "\\''"]).is_none() {
                break;
            }
            text.push('\'');
        }
        // A word goes on until a blank or an operator.
        let ends = self.rest.is_empty() || self.rest.starts_with([' ', '\n', ';', ')', '|', '&', ':']);
        ends.then_some(text)
    }

    /// A text in double quotes in which nothing is expanded: what the shell makes of it.
    pub(super) fn double_quoted(&mut self) -> Option<String> {
        self.literal("\"")?;
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = self.rest.get(at + 1..)?;
                    return Some(text);
                }
                '$' | '`' => return None,
                '\\' => match letters.next()?.1 {
                    '\n' => {}
                    next @ ('$' | '`' | '"' | '\\') => text.push(next),
                    next => text.extend(['\\', next]),
                },
                letter => text.push(letter),
            }
        }
        None
    }

    /// What separates commands: a `;` or a newline, and blanks around it.
    pub(super) fn gap(&mut self) -> Option<()> {
        let semicolon = self.takes(";");
        let blanks = self.blanks().unwrap_or_default();
        (semicolon || blanks.contains('\n')).then_some(())
    }

    /// Blanks and newlines; at least one.
    pub(super) fn blanks(&mut self) -> Option<&'a str> {
        self.run(|c| matches!(c, ' ' | '\t' | '\n'))
    }

    /// Each of these, with a gap between one and the next.
    pub(super) fn apart(&mut self, parts: &[&str]) -> Option<()> {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.gap()?;
            }
            self.literal(part)?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_read_as_the_shell_reads_them() {
        let quoted = |text: &str| {
            let mut scan = Scan::new(text);
            scan.quoted().map(|word| (word, scan.rest().to_owned()))
        };
        let found = |word: &str, rest: &str| Some((word.to_owned(), rest.to_owned()));
        assert_eq!(quoted("'a b' c"), found("a b", " c"));
        assert_eq!(quoted("'a'\"'\"'b'"), found("a'b", ""));
        assert_eq!(quoted(r"'a'\''b'"), found("a'b", ""));
        assert_eq!(quoted("'a'; b; 'c'"), found("a", "; b; 'c'"));
        assert_eq!(quoted("''"), found("", ""));
        for text in ["'a", "a", "'a'b", "'a'$x", "'a'\"b\"", "'a''b'", "'a'\"'\""] {
            assert_eq!(quoted(text), None, "{text}");
        }
        let double = |text: &str| Scan::new(text).double_quoted();
        assert_eq!(double(r#""a \"b\" \\ \n""#), Some(r#"a "b" \ \n"#.to_owned()));
        for text in [r#""a $x""#, "\"`a`\"", "\"a", "a"] {
            assert_eq!(double(text), None, "{text}");
        }
    }
}
