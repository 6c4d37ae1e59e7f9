//! How statements are written for a shell that lives on ([`super`] shows the frame).

use std::io;
use std::os::unix::ffi::OsStrExt;

use super::line::octal;
use crate::run::contains;
use crate::sys::pipe::Private;
use crate::sys::process::Program;

/// What fails with this status and does nothing else, whatever functions and aliases there are: in POSIX mode no
/// function stands before `exit`.
pub(super) fn failing(status: u8) -> String {
    format!("(POSIXLY_CORRECT=1; \\exit {status})")
}

/// How many lines a statement has, which comes without its last newline.
#[must_use]
pub fn lines(text: &[u8]) -> usize {
    1 + text.iter().filter(|byte| **byte == b'\n').count()
}

/// How statements are written for the shell, so that its count of lines is the script's.
#[derive(Debug, Default)]
pub(super) struct Framing {
    /// Lines that the shell has read, or knows of.
    lines: usize,
    /// Lines without a statement that it has not had yet.
    blank: usize,
    /// The script may have made the count readonly: to put it right would break the statement.
    is_fixed: bool,
    /// There may be aliases: what stands at the end of a statement may be more than it looks.
    has_aliases: bool,
}

impl Framing {
    /// Lines that the shell shall count and gets nothing of.
    pub(super) fn skip(&mut self, lines: usize) {
        self.blank += lines;
    }

    pub(super) fn framed(&mut self, text: &[u8], lines: usize, input: i32) -> Vec<u8> {
        self.lines += self.blank + lines;
        let mut bytes = vec![b'\n'; std::mem::take(&mut self.blank)];
        bytes.extend(b"{ ");
        bytes.extend(text);
        // What stands for a refused statement may have fewer lines than that.
        let is_plain = !self.has_aliases && lines == self::lines(text) && ends_on_its_line(text);
        let end = match self.is_fixed {
            _ if is_plain => format!("; }} 0>&{input}\n "),
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

/// Whether a statement may make the count of lines readonly.
fn fixes_lines(text: &[u8]) -> bool {
    let ways = [&b"readonly"[..], b"declare", b"typeset", b"local"];
    contains(text, b"LINENO") && ways.iter().any(|word| contains(text, word))
}

/// Whether a semicolon behind a statement ends it as a newline would: no comment, no here-document and no other
/// separator may stand at its end.
fn ends_on_its_line(text: &[u8]) -> bool {
    let ends = b"'\"`)}]_-./=%+,:@*?~$";
    let is_plain = |last: &u8| last.is_ascii_alphanumeric() || ends.contains(last);
    text.trim_ascii_end().last().is_some_and(is_plain)
        && ![&b"#"[..], b"<<", b"\0", b"\r"].iter().any(|mark| contains(text, mark))
}

/// Whether what follows a statement may have aliases, by what it says or by a file that it reads.
fn may_make_aliases(text: &[u8]) -> bool {
    [&b"alias"[..], b"eval", b"source", b". "].iter().any(|word| contains(text, word))
}

/// What a shell has to run before all else, which leaves nothing behind: `$_` is what it would be.
pub(super) fn taking(input: Option<&Private>, others: &[Private], program: &Program) -> io::Result<Vec<u8>> {
    let Some(input) = input else { return Ok(vec![]) };
    let variable =
        |name: &str| program.environment.iter().find(|(each, _)| each == name).map(|(_, value)| value);
    if ["BASH_FUNC_exec%%", "BASH_FUNC_:%%"].iter().any(|name| variable(name).is_some()) {
        return Err(io::Error::other(
            "an exported function is named `exec` or `:`, which the shell needs to read a script; unset it first",
        ));
    }
    let last = variable("_").or(program.argv.first()).map_or(&b""[..], |text| text.as_bytes());
    // The number that one keeps for the shell's copy is one that the next in line still has.
    let mut bytes: Vec<u8> = others.iter().rev().flat_map(|each| each.taking().into_bytes()).collect();
    bytes.extend(input.taking().bytes());
    bytes.extend(b"{ \\: ");
    bytes.extend(octal(last));
    bytes.extend(b"; } 2>&-; ");
    Ok(bytes)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(written(text.framed(failing.as_bytes(), 2, 60)), format!("{{ {failing}{}", end(8)));
        assert_eq!(written(text.framed(b"alias a='b &'", 1, 60)), "{ alias a='b &'; } 0>&60\n ");
        assert_eq!(written(text.framed(b"a", 1, 60)), format!("{{ a{}", end(10)));
        text.blank += 1;
        assert_eq!(written(text.bare(b"d")), "\nd");
    }
    #[test]
    fn a_statement_ends_on_its_line_where_a_semicolon_is_as_good_as_a_newline() {
        let plain =
            ["a", "a b ", "(a)", "{ a; }", "if a; then b; fi", "a=", "\"$x\"", "a\nb", "a > /dev/null"];
        let others = [
            "",
            "a &",
            "a & ",
            "a;",
            "a \\&",
            "a # b",
            "cat <<E\nE",
            "a <<<b",
            "a &\0",
            "a\r",
            "a\\",
            "!",
            "é",
        ];
        for (texts, ends) in [(&plain[..], true), (&others[..], false)] {
            for text in texts {
                assert_eq!(ends_on_its_line(text.as_bytes()), ends, "{text:?}");
            }
        }
    }
}
