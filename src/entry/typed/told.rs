//! What the shell tells of a line's words, as text that the analysis follows.
//!
//! Entries end with the byte 0x1f; their fields are parted by 0x1e: `a NAME VALUE` an alias, `f NAME TEXT` a function
//! of bash, `o NAME` a function that is not shown, `v NAME VALUE` a variable that is not exported.

use std::fmt::Write as _;

use crate::syntax::quote;

/// The definitions.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// As text of bash.
    pub(super) text: String,
    /// What cannot be written as such.
    pub(super) doubt: Option<String>,
}

impl Told {
    pub(super) fn of(handed: &str) -> Self {
        let mut told = Self::default();
        for entry in handed.split_terminator('\u{1f}') {
            let fields: Vec<&str> = entry.splitn(3, '\u{1e}').collect();
            told.entry(&fields);
        }
        told
    }

    fn entry(&mut self, fields: &[&str]) {
        let name = fields.get(1).copied().unwrap_or_default();
        let known = match (fields, is_name(name)) {
            (["v", _, value], _) if is_variable(name) => writeln!(self.text, "{name}={}", quote(value)),
            (["a", _, value], true) if is_plain(value) => {
                let itself = value.split_whitespace().next() == Some(name);
                let head = if itself { "command " } else { "" };
                writeln!(self.text, "{name} () {{\n{head}{value} \"$@\"\n}}")
            }
            (["f", _, text], true) => writeln!(self.text, "{text}"),
            // Its body is a word that nothing is known of.
            (["a" | "o", ..], true) => writeln!(self.text, "{name} () {{\n\"$gsh_not_shown\" \"$@\"\n}}"),
            _ => Err(std::fmt::Error),
        };
        if known.is_err() && self.doubt.is_none() {
            self.doubt = Some("the shell has a name for something that gsh cannot follow".to_owned());
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.+-:@".contains(c))
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether an alias is the beginning of one simple command. One that ends with a blank replaces the next word too.
fn is_plain(value: &str) -> bool {
    !value.trim().is_empty()
        && !value.ends_with([' ', '\t'])
        && !value.contains(['\n', ';', '|', '&', '(', ')', '{', '}', '<', '>', '$', '`', '\\', '#', '!'])
        && value.matches('\'').count().is_multiple_of(2)
        && value.matches('"').count().is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_become_text_or_a_doubt() {
        let table = [
            ("", "", false),
            ("a\u{1e}ll\u{1e}ls -l\u{1f}", "ll () {\nls -l \"$@\"\n}\n", false),
            ("a\u{1e}ls\u{1e}ls --color=auto\u{1f}", "ls () {\ncommand ls --color=auto \"$@\"\n}\n", false),
            ("a\u{1e}x\u{1e}a; b\u{1f}", "x () {\n\"$gsh_not_shown\" \"$@\"\n}\n", false),
            ("a\u{1e}x\u{1e}A=1 b\u{1f}", "x () {\nA=1 b \"$@\"\n}\n", false),
            ("a\u{1e}x\u{1e}sudo \u{1f}", "x () {\n\"$gsh_not_shown\" \"$@\"\n}\n", false),
            ("o\u{1e}nvm\u{1f}", "nvm () {\n\"$gsh_not_shown\" \"$@\"\n}\n", false),
            ("f\u{1e}g\u{1e}g () \n{ \n    ls\n}\u{1f}", "g () \n{ \n    ls\n}\n", false),
            ("v\u{1e}d\u{1e}a b\u{1f}", "d='a b'\n", false),
            ("v\u{1e}d[0]\u{1e}a b\u{1f}", "", true),
            ("a\u{1e}a(b\u{1e}x\u{1f}", "", true),
            ("z\u{1e}a\u{1f}", "", true),
            ("a", "", true),
        ];
        for (handed, text, doubt) in table {
            let told = Told::of(handed);
            assert_eq!((told.text.as_str(), told.doubt.is_some()), (text, doubt), "{handed:?}");
        }
    }
}
