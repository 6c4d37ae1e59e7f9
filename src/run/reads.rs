//! Whether bash would begin to run what it has read of a script, or read on.

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::contains;
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
    /// It says what is wrong with it, and ends.
    Never,
}

/// What bash says of a text that ends too early.
const TOO_EARLY: [&str; 4] =
    ["unexpected end of file", "unexpected EOF", "unexpected token `EOF'", "delimited by end-of-file"];

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
    // A panic is for the decision to refuse.
    let parsed = catch_unwind(AssertUnwindSafe(|| syntax::parse(text, limits).problems.is_empty()));
    let is_understood = parsed.unwrap_or(false);
    let found = if is_understood && !has_empty_delimiter(text) { Reads::All } else { ask(text, shell) };
    if found == Reads::All && continues(text, shell) { Reads::More } else { found }
}

/// Whether there may be a here-document that goes to the next empty line: the parser takes none for it.
fn has_empty_delimiter(text: &[u8]) -> bool {
    contains(text, b"<<") && (contains(text, b"''") || contains(text, b"\"\""))
}

/// A backslash at the end of the line takes the next one in, unless it stands in a comment, where a quote is
/// none.
fn continues(text: &[u8], shell: &Shell) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes % 2 == 0 {
        return false;
    }
    let mut quoted = line.get(..line.len() - 1).unwrap_or_default().to_vec();
    quoted.push(b'\'');
    ask(&quoted, shell) == Reads::More
}

/// Whether a line can end what was open before it. In long constructs most lines cannot, and reading all of
/// it for each of them would take long.
fn may_end(before: &[u8], line: &[u8]) -> bool {
    let (Ok(before), Ok(line)) = (std::str::from_utf8(before), std::str::from_utf8(line)) else {
        return true;
    };
    let told = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    // A line that ends in an operator is gone on with by any line; behind a `#` there may be one as well.
    let goes_on = before
        .lines()
        .rev()
        .find(told)
        .is_none_or(|line| line.contains('#') || line.trim_end().ends_with(['\\', '|', '&']));
    let plain = |text: &str| text.replace(['\'', '"', '\\', '$'], "");
    let delimits = before.contains("<<") && plain(before).contains(plain(line).trim());
    goes_on || delimits || ENDS.iter().any(|end| line.contains(end))
}

/// What the real shell says. A text may be wrong only because it sets no options here.
fn ask(text: &[u8], shell: &Shell) -> Reads {
    match said(text, shell, &[]) {
        Reads::Never => said(text, shell, &["-O", "extglob"]),
        found => found,
    }
}

fn said(text: &[u8], shell: &Shell, options: &[&str]) -> Reads {
    let Ok(file) = nameless_file(text) else { return Reads::All };
    let fixed = ["bash", "--norc", "--noprofile", "-n"];
    let program = Program {
        path: shell.path().to_owned(),
        argv: fixed.iter().chain(options).map(OsString::from).collect(),
        environment: vec![("LC_ALL".into(), "C".into())],
        stdin: Some(file.into()),
        script: None,
    };
    let Ok(errors) = child::errors_of(program) else { return Reads::All };
    let errors = String::from_utf8_lossy(&errors);
    let first = errors.lines().next().unwrap_or_default();
    if TOO_EARLY.iter().any(|sign| first.contains(sign)) {
        Reads::More
    } else if first.contains("syntax error") || first.contains("unexpected") {
        Reads::Never
    } else {
        Reads::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is made of each line of a text.
    fn lines(text: &str) -> Vec<Reads> {
        let Ok(shell) = Shell::find(None) else { return vec![] };
        let (mut found, mut so_far, mut begins) = (vec![], String::new(), 0);
        for line in text.split_inclusive('\n') {
            so_far.push_str(line);
            found.push(reads(so_far.as_bytes(), begins, &shell, &Limits::default()));
            begins = so_far.len();
        }
        found
    }

    #[test]
    fn a_statement_ends_where_bash_would_run_it() {
        let one_statement = [
            "echo a\n",
            "echo a; echo b &\n",
            "echo a \\\n b\n",
            "echo a &&\necho b\n",
            "echo a |\n# why\n\ncat\n",
            "echo a | # why\ncat\n",
            "echo 'a\nb'\n",
            "echo \"a\n$(echo b\n)\"\n",
            "if true; then\n echo a\nelse\n echo b\nfi\n",
            "f() {\n echo a\n if b; then\n c\n fi\n echo d\n}\n",
            "f()\n{\n echo a\n}\n",
            "for x in a b\ndo\n echo $x\ndone | cat\n",
            "case a in\n a) echo;;\n *) echo b\nesac\n",
            "cat <<E\na b\n}\nE\n",
            "cat <<'END' <<-B\n$a\nEND\n\tb\n\tB\n",
            "cat << \"E\"; echo 'x\na\nE'\nE\n",
            "x=(a\n b\n)\n",
            "[[ a = a &&\n b = b ]]\n",
            "echo # a \\\n",
            "echo '\\'\n",
            "(( a = 1 +\n 2 ))\n",
            "while read l; do\n echo $l\n done <<E\n1\nE\n",
            "shopt -s extglob; echo !(a|b)\n",
        ];
        for text in one_statement {
            let found = lines(text);
            let (last, before) = found.split_last().unwrap_or((&Reads::Never, &[]));
            assert_eq!(*last, Reads::All, "{text}");
            assert!(before.iter().all(|each| *each == Reads::More), "{text}: {found:?}");
        }
        for text in ["echo a; }\n", "fi\n", "echo ( a\n", "for x in a; done\n"] {
            assert_eq!(lines(text), [Reads::Never], "{text}");
        }
    }
}
