//! Code of other languages, looked through for dangers that stand there plainly.
//!
//! This explains nothing: code stays something that gsh has no reading of. It finds calls that are known to
//! run a shell, start a program or change files, and whose arguments are literals.

mod calls;
mod lex;
mod values;

pub(super) use calls::dangers;

use super::programs::Role;

/// What a call with literal arguments would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Danger {
    /// Runs a text in a shell.
    Shell(String),
    /// Starts a program with these words.
    Words(Vec<String>),
    /// Does this to a path.
    Path(Role, String),
    /// Signals every process.
    KillAll,
    /// Starts copies of itself without end.
    Forks,
}

/// A language, as far as its strings and calls differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Lua,
    Lisp,
}

impl Tongue {
    /// What the program of this name runs.
    pub(super) fn of(program: &str) -> Option<Self> {
        let name = program.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
        Some(match name {
            "python" | "pypy" => Self::Python,
            "node" | "nodejs" | "deno" | "bun" => Self::JavaScript,
            "perl" => Self::Perl,
            "ruby" => Self::Ruby,
            "php" => Self::Php,
            "lua" | "luajit" => Self::Lua,
            "emacs" => Self::Lisp,
            _ => return None,
        })
    }

    /// Whether an option of this language's programs is followed by code.
    pub(super) fn takes_code(self, option: &str) -> bool {
        let letters = match self {
            Self::Python => "c",
            Self::JavaScript => "ep",
            Self::Perl => "eE",
            Self::Ruby | Self::Lua => "e",
            Self::Php => "rR",
            Self::Lisp => "",
        };
        match option.strip_prefix("--") {
            Some(name) => matches!(name, "eval" | "print" | "execute" | "run"),
            None => {
                option == "-eval"
                    || option.len() > 1
                        && option.starts_with('-')
                        && option.ends_with(|last| letters.contains(last))
            }
        }
    }
}
