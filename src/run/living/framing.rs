//! How statements are framed on the channel (see `run/living.rs`).

/// How statements are written for the shell, so that its count of lines is the script's.
#[derive(Debug, Default)]
pub(super) struct Framing {
    /// Lines that the shell has read, or knows of.
    lines: usize,
    /// Lines without a statement that it has not had yet.
    pub(super) blank: usize,
    /// The script may have made the count readonly: to put it right would break the statement.
    is_fixed: bool,
    /// There may be aliases: what stands at the end of a statement may be more than it looks.
    has_aliases: bool,
}

impl Framing {
    pub(super) fn framed(&mut self, text: &[u8], lines: usize, input: i32) -> Vec<u8> {
        self.lines += self.blank + lines;
        let mut bytes = vec![b'\n'; std::mem::take(&mut self.blank)];
        bytes.extend(b"{ ");
        bytes.extend(text);
        let end = match self.is_fixed {
            // What stands for a refused statement may have fewer lines than that.
            _ if !self.has_aliases && lines == super::lines(text) && ends_on_its_line(text) => format!("; }} 0>&{input}\n "),
            false => format!("\n}} 0>&\"$((LINENO={},{input}))\"\n ", self.lines),
            true => format!("\n}} 0>&{input}\n "),
        };
        bytes.extend(end.bytes());
        self.is_fixed |= fixes_lines(text);
        self.has_aliases |= may_make_aliases(text);
        bytes
    }

    /// The end of a script, as it is: nothing is left that its commands could read.
    pub(super) fn bare(&mut self, text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![b'\n'; self.blank];
        bytes.extend(text);
        bytes
    }
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

/// Whether a statement may make the count of lines readonly.
fn fixes_lines(text: &[u8]) -> bool {
    holds(text, b"LINENO") && [&b"readonly"[..], b"declare", b"typeset", b"local"].iter().any(|word| holds(text, word))
}

/// Whether a semicolon behind a statement ends it as a newline would: no comment, no here-document and no other
/// separator may stand at its end.
fn ends_on_its_line(text: &[u8]) -> bool {
    let last = text.trim_ascii_end().last();
    let is_plain = last.is_some_and(|last| last.is_ascii_alphanumeric() || b"'\"`)}]_-./=%+,:@*?~$".contains(last));
    is_plain && ![&b"#"[..], b"<<", b"\0", b"\r"].iter().any(|mark| holds(text, mark))
}

/// Whether what follows a statement may have aliases, by what it says or by a file that it reads.
fn may_make_aliases(text: &[u8]) -> bool {
    [&b"alias"[..], b"eval", b"source", b". "].iter().any(|word| holds(text, word))
}

#[cfg(test)]
mod tests {
    use super::super::failing;
    use super::*;

    fn written(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap_or_default()
    }

    #[test]
    fn statements_are_framed_so_that_lines_are_the_scripts() {
        let mut text = Framing::default();
        let end = |lines: usize| format!("\n}} 0>&\"$((LINENO={lines},60))\"\n ");
        assert_eq!(written(text.framed(b"a &", 1, 60)), format!("{{ a &{}", end(1)));
        text.blank += 2;
        assert_eq!(written(text.framed(b"b\nc", 2, 60)), "\n\n{ b\nc; } 0>&60\n ");
        let failing = failing(126);
        assert_eq!(written(text.framed(failing.as_bytes(), 1, 60)), format!("{{ {failing}; }} 0>&60\n "));
        assert_eq!(written(text.framed(b"alias a='b &'", 1, 60)), "{ alias a='b &'; } 0>&60\n ");
        assert_eq!(written(text.framed(b"a", 1, 60)), format!("{{ a{}", end(8)));
        text.blank += 1;
        assert_eq!(written(text.bare(b"d")), "\nd");
    }

    #[test]
    fn a_statement_ends_on_its_line_where_a_semicolon_is_as_good_as_a_newline() {
        for text in ["a", "a b ", "(a)", "{ a; }", "if a; then b; fi", "a=", "echo \"$x\"", "a\nb", "a > /dev/null"] {
            assert!(ends_on_its_line(text.as_bytes()), "{text:?}");
        }
        for text in
            ["", "a &", "a & ", "a;", "a \\&", "a # b", "cat <<E\nE", "cat <<<a", "a &\0", "a\r", "a\\", "!", "a |", "é"]
        {
            assert!(!ends_on_its_line(text.as_bytes()), "{text:?}");
        }
    }
}
