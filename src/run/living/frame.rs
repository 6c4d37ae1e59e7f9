//! How statements are written for a shell that lives on ([`super`] shows the frame).

use std::io;
use std::os::unix::ffi::OsStrExt;

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
        let end = match self.is_fixed {
            false => format!("\n}} 0>&\"$((LINENO={},{input}))\"\n ", self.lines),
            true => format!("\n}} 0>&{input}\n "),
        };
        bytes.extend(end.bytes());
        self.is_fixed |= fixes_lines(text);
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
    let holds = |word: &[u8]| text.windows(word.len()).any(|window| window == word);
    holds(b"LINENO") && [&b"readonly"[..], b"declare", b"typeset", b"local"].iter().any(|word| holds(word))
}

/// What a shell has to run before all else, which leaves nothing behind: `$_` is what it would be.
pub(super) fn taking(
    input: Option<&Private>,
    told: Option<&Private>,
    program: &Program,
) -> io::Result<Vec<u8>> {
    let Some(input) = input else { return Ok(vec![]) };
    let variable =
        |name: &str| program.environment.iter().find(|(each, _)| each == name).map(|(_, value)| value);
    if ["BASH_FUNC_exec%%", "BASH_FUNC_:%%"].iter().any(|name| variable(name).is_some()) {
        return Err(io::Error::other(
            "an exported function is named `exec` or `:`, which the shell needs to read a script; unset it first",
        ));
    }
    let last = variable("_").or(program.argv.first()).map_or(&b""[..], |text| text.as_bytes());
    // The number that the first keeps for the shell's copy is one that the second still has.
    let mut bytes = told.map(Private::taking).unwrap_or_default().into_bytes();
    bytes.extend(input.taking().bytes());
    bytes.extend(b"{ \\: '");
    bytes.extend(last.split(|byte| *byte == b'\'').collect::<Vec<_>>().join(&b"'\\''"[..]));
    bytes.extend(b"'; } 2>&-; ");
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
        assert_eq!(written(text.framed(b"a", 1, 60)), format!("{{ a{}", end(1)));
        text.blank += 2;
        assert_eq!(written(text.framed(b"b\nc", 2, 60)), format!("\n\n{{ b\nc{}", end(5)));
        let failing = failing(126);
        assert_eq!(written(text.framed(failing.as_bytes(), 1, 60)), format!("{{ {failing}{}", end(6)));
        text.blank += 1;
        assert_eq!(written(text.bare(b"d")), "\nd");
    }
}
