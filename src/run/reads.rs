//! Whether bash would begin to run what it has read of a script, or read on.

use std::ffi::OsString;

use super::shell::Shell;
use crate::syntax::{self, Limits};
use crate::sys::child;
use crate::sys::process::{Program, nameless_file};

/// What bash makes of the text so far, which ends with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// It runs.
    All,
    /// It reads on.
    More,
}

/// What bash says of a text that ends too early.
const TOO_EARLY: [&str; 3] = ["unexpected end of file", "unexpected EOF", "delimited by end-of-file"];

/// What can end a construct that is longer than its line.
const ENDS: [&str; 9] = ["}", ")", "fi", "done", "esac", "'", "\"", "`", "]"];

/// Whether the text is complete; its last line begins at `last_line`, and what stands before was not. A text
/// that gsh understands is; of any other the real shell is asked, which runs nothing of it.
#[must_use]
pub fn reads(text: &[u8], last_line: usize, shell: &Shell, limits: &Limits) -> Reads {
    if let Some(before) = text.get(..last_line).filter(|before| !before.is_empty())
        && !may_end(before, text.get(last_line..).unwrap_or_default())
    {
        return Reads::More;
    }
    if syntax::parse(text, limits).problems.is_empty() {
        return if continues(text, limits) { Reads::More } else { Reads::All };
    }
    ask(text, shell)
}

/// A backslash at the end of the line takes the next one in, unless it stands in a comment, where a quote is
/// none.
fn continues(text: &[u8], limits: &Limits) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 0 {
        return false;
    }
    let mut quoted = line.get(..line.len() - 1).unwrap_or_default().to_vec();
    quoted.push(b'\'');
    !syntax::parse(&quoted, limits).problems.is_empty()
}

/// Whether a line can end what was open before it. In long constructs most lines cannot, and reading all of
/// it for each of them would take long.
fn may_end(before: &[u8], line: &[u8]) -> bool {
    let (Ok(before), Ok(line)) = (std::str::from_utf8(before), std::str::from_utf8(line)) else { return true };
    let told = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    // A line that ends in an operator is gone on with by any line; behind a `#` there may be one as well.
    let goes_on = before.lines().rev().find(told).is_none_or(|line| {
        line.contains('#') || line.trim_end().ends_with(['\\', '|', '&'])
    });
    let plain = |text: &str| text.replace(['\'', '"', '\\', '$'], "");
    let delimits = before.contains("<<") && plain(before).contains(plain(line).trim());
    goes_on || delimits || ENDS.iter().any(|end| line.contains(end))
}

/// What the real shell says, with nothing read at its start.
fn ask(text: &[u8], shell: &Shell) -> Reads {
    let Ok(file) = nameless_file(text) else { return Reads::All };
    let argv = ["bash", "--norc", "--noprofile", "-n"].map(OsString::from).to_vec();
    let program = Program {
        path: shell.path().to_owned(),
        argv,
        environment: vec![("LC_ALL".into(), "C".into())],
        stdin: Some(file.into()),
    };
    let Ok(said) = child::errors_of(program) else { return Reads::All };
    let said = String::from_utf8_lossy(&said);
    let first = said.lines().next().unwrap_or_default();
    if TOO_EARLY.iter().any(|sign| first.contains(sign)) { Reads::More } else { Reads::All }
}
