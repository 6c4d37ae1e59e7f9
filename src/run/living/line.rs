//! The lines that a shell at a terminal is given. Each is one line, since bash would show a prompt for each
//! further one, and whatever in it comes from a statement is written in octal: no part of it means anything.

use crate::run::contains;

/// As which descriptors the shell has what it is told and what it tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) told: i32,
    pub(super) door: i32,
}

/// A line being put together.
#[derive(Debug, Default)]
pub(super) struct Frame<'a> {
    /// What runs.
    pub(super) text: &'a [u8],
    /// As which descriptor it has the caller's standard input.
    pub(super) input: i32,
    /// What `$?` is at its beginning; None leaves it as it is.
    pub(super) status: Option<u8>,
    /// It shows no prompt, and tells how statements end.
    pub(super) quiet: bool,
    /// In quiet: its prompts, put back while the statement runs, since that may ask for them.
    pub(super) held: Option<&'a [u8]>,
    /// In quiet: the statement is what bash does before a prompt, and the prompt is told.
    pub(super) prompts: bool,
    /// It says what it holds, between two of these marks.
    pub(super) looks: Option<&'a str>,
}

/// What bash runs before a prompt.
const BEFORE_PROMPT: &[u8] = b"\\builtin eval \"${PROMPT_COMMAND[@]/%/$'\\n'}\"";

impl Frame<'_> {
    /// The line.
    pub(super) fn line(&self, Numbers { told, door }: Numbers) -> Vec<u8> {
        let mut line = Vec::new();
        if let Some(held) = self.held.filter(|held| !held.is_empty()) {
            line.extend(b"\\builtin eval ");
            line.extend(octal(held));
            line.extend(b"; ");
        }
        if !self.prompts && turns_editor(self.text) {
            line.extend(b"\\builtin . <(\\builtin printf %s ");
            line.extend(octal(self.text));
            line.push(b')');
        } else {
            line.extend(b"\\builtin eval ");
            line.extend(octal(if self.prompts { BEFORE_PROMPT } else { self.text }));
        }
        line.extend(self.begins(door).bytes());
        if self.quiet {
            line.extend(format!("; \\builtin printf '?%s\\0' \"$?\" >&{told}").bytes());
        }
        if self.prompts {
            line.extend(self.shows(told).bytes());
        }
        if self.held.is_some() {
            line.extend(holds(told).bytes());
        }
        if let Some(mark) = self.looks {
            line.extend(looks(told, mark).bytes());
        }
        line.push(b'\n');
        line
    }

    /// The prompt is told, and may ask for `$?`. What fails before `||` ends no shell.
    fn shows(&self, told: i32) -> String {
        let status = self.status.unwrap_or(0);
        let sign = if status == 0 { "&&" } else { "||" };
        format!("; (\\exit {status}) {sign} \\builtin printf 'p%s\\0' \"${{PS1@P}}\" >&{told}")
    }

    /// The shell says at the door that it has read the line, and waits. A word that an interrupted line has
    /// left there is taken first. The status of this is what the statement finds in `$?`.
    fn begins(&self, door: i32) -> String {
        let status = self.status.map_or_else(|| "$s".to_owned(), |status| status.to_string());
        format!(
            " 0<&\"$({{ s=$?; \\builtin read -t 0 -u {door} && \\builtin read -r -u {door}; \\builtin printf r >&{door}; \
             \\builtin read -r -u {door}; }} 2>/dev/null; \\builtin printf {}; \\builtin exit {status})\"",
            self.input
        )
    }
}

/// The prompts are told and taken away.
fn holds(told: i32) -> String {
    format!(
        "; {{ \\builtin printf h; \\builtin declare -p PS0 PS1 PS2 PROMPT_COMMAND || \\builtin :; \\builtin printf '\\0'; }} \
         >&{told} 2>/dev/null; \\builtin unset -v PS0 PROMPT_COMMAND; PS1='\\[\\]' PS2="
    )
}

/// In a subshell, so that nothing of the shell changes: in POSIX mode no function stands before `unset`, and no
/// alias before what begins with a backslash. Where a trap would run in there as well (`set -T`) it could say what it
/// likes: then there is no such file as `/dev/nullT`, and nothing is said.
fn looks(told: i32, mark: &str) -> String {
    let tell = |what: &str| format!("\\builtin {what}; \\builtin printf '\\0'; ");
    let [vars, aliases, function] = ["declare -p", "alias -p", "declare -f -- \"$_gsh_f\""].map(tell);
    format!(
        "; (_gsh_s=$? _gsh_o=$SHELLOPTS; POSIXLY_CORRECT=1; \\unset -f builtin; \\set +eux -f; \
         \\builtin printf '%s\\0' {mark} \"$_gsh_o\" \"$BASHOPTS\"; \\trap -p; \\trap - DEBUG ERR RETURN; \
         \\builtin printf '\\0'; {vars}{aliases}IFS=$'\\n'; for _gsh_f in $(\\builtin compgen -A function); do \
         \\builtin printf '%s\\0' \"$_gsh_f\"; {function}done; \\builtin printf '{mark}\\0'; \\exit $_gsh_s) \
         2>/dev/null </dev/null${{-//[!T]/}} >&{told}"
    )
}

/// Whether a statement may turn bash's own line editor on or off (`set -o vi`). bash then changes what it reads
/// from at once, and is lost where that is an `eval`; where it reads a file it waits.
fn turns_editor(text: &[u8]) -> bool {
    let words: Vec<&[u8]> =
        text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).collect();
    let is_editor = |word: &[u8]| {
        let plain: Vec<u8> = word.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
        plain == b"vi" || plain == b"emacs"
    };
    (contains(text, b"set") || contains(text, b"shopt")) && words.iter().any(|word| is_editor(word))
}

/// A text as one word.
pub(super) fn octal(text: &[u8]) -> Vec<u8> {
    let mut word = b"$'".to_vec();
    for byte in text {
        word.extend(format!("\\{byte:03o}").bytes());
    }
    word.push(b'\'');
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_the_line_editor_on_or_off_is_told() {
        let turns = ["set -o vi", "set +o emacs", "a; set -eo vi; b", "{ set -o 'vi'; }", "shopt -so vi"];
        let others = ["", "set -o pipefail", "vi file", "emacs", "set -- visit", "echo vi"];
        for (texts, expected) in [(&turns[..], true), (&others[..], false)] {
            for text in texts {
                assert_eq!(turns_editor(text.as_bytes()), expected, "{text}");
            }
        }
    }

    #[test]
    fn a_statement_is_one_line_of_which_no_part_is_its_own() {
        let text = "a'b\n!\\\"$x \u{e9}; ls";
        let frame = Frame { text: text.as_bytes(), input: 60, ..Frame::default() };
        let line = String::from_utf8(frame.line(Numbers { told: 61, door: 62 })).expect("text");
        assert_eq!(line.matches('\n').count(), 1, "{line}");
        let word = line.split_once("$'").and_then(|(_, rest)| rest.split_once('\'')).map(|(word, _)| word);
        assert!(word.expect("a word").chars().all(|c| c == '\\' || c.is_digit(8)), "{line}");
    }
}
