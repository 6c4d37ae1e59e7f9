//! Texts for shells whose language is not read, and texts that could not be read: what stands there plainly.

use super::arg::Arg;
use super::gather::Gatherer;
use super::state::State;
use crate::host::Host;
use crate::report::Span;
use crate::syntax::Cause;

/// The most stretches of a text that are looked at.
const STRETCHES: usize = 512;

/// Each stretch of a text between operators as one command of blank-separated words, with its place. What
/// holds a quote may be data, and is left out.
#[must_use]
pub fn stretches(text: &str, host: &dyn Host) -> Vec<Vec<Arg>> {
    let mut found = Vec::new();
    let mut start = 0;
    for stretch in text.split(['\n', ';', '&', '|', '(', ')', '{', '}', '`']).take(STRETCHES) {
        let span = Span::new(start, start + stretch.len());
        start = span.end + 1;
        if stretch.contains(['"', '\'', '#', '<', '$', '\\']) {
            continue;
        }
        let mut words = stretch.split_ascii_whitespace().peekable();
        while words.peek().is_some_and(|word| KEYWORDS.contains(word)) {
            words.next();
        }
        let words = words.filter(|word| word.len() <= LONGEST);
        let argv: Vec<Arg> = words.map(|word| Arg::literal(home(word, host), span)).collect();
        if !argv.is_empty() && argv.len() <= 64 {
            found.push(argv);
        }
    }
    found
}

/// Longer words are no paths, and resolving one costs the square of its length.
const LONGEST: usize = 4096;

/// Words of some shell that a command may follow.
const KEYWORDS: &[&str] =
    &["then", "do", "else", "!", "if", "while", "and", "or", "not", "begin", "noglob", "nocorrect"];

/// A leading `~` made the home, as the shell would.
#[must_use]
pub fn home(word: &str, host: &dyn Host) -> String {
    match (word.strip_prefix('~'), host.homes().first()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.display())
        }
        _ => word.to_owned(),
    }
}

impl Gatherer<'_> {
    /// Looks at the plain commands of a text that could not be read.
    pub(super) fn plain_commands(&mut self, state: &State, text: &str) {
        for argv in stretches(text, self.host) {
            self.glance_at_words(state, argv);
        }
    }

    /// PowerShell or cmd: their language is not read. A person is told of the dangers that stand in the text.
    pub(super) fn windows_shell(&mut self, state: &State, words: &[Arg], input: Option<&str>) {
        let span = words.first().map_or_else(Span::default, |word| word.span);
        let is_switch = |word: &Arg| {
            let text = word.text().unwrap_or_default().to_ascii_lowercase();
            matches!(
                text.as_str(),
                "/c" | "/k"
                    | "/s"
                    | "-c"
                    | "-command"
                    | "-commandwithargs"
                    | "-e"
                    | "-ec"
                    | "-encodedcommand"
            )
        };
        let given =
            words.iter().skip(1).position(is_switch).map(|at| words.get(at + 2..).unwrap_or_default());
        let text: Vec<String> =
            given.unwrap_or_default().iter().map(Arg::display).chain(input.map(str::to_owned)).collect();
        if text.is_empty() {
            return;
        }
        let text = text.join(" ");
        self.doubt(Cause::UnsupportedShell, notes(&text), span, true);
        self.plain_commands(state, &text);
    }
}

/// What a person is told of a text for a shell of Windows.
fn notes(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let deep = lower
        .split_ascii_whitespace()
        .any(|word| word == "/s" || "-recurse".starts_with(word) && word.len() > 1);
    let mut found: Vec<String> = Vec::new();
    for stretch in lower.split([';', '|', '&', '(', ')', '{', '}', '\n', '"', '\'']) {
        let Some(first) = stretch.split_ascii_whitespace().next() else { continue };
        let name = first.trim_start_matches('@').trim_end_matches(".exe").trim_end_matches(".com");
        let Some((_, what)) = DANGERS.iter().find(|(names, _)| names.contains(&name)) else { continue };
        let below = if deep && *what == DELETES { ", with all that is in its folders" } else { "" };
        let note = format!("{name} {what}{below}");
        if !found.contains(&note) {
            found.push(note);
        }
    }
    if found.is_empty() {
        return "gsh reads the language of bash and POSIX shells only".to_owned();
    }
    format!("gsh does not read this shell's language, but {}", found.join(", "))
}

const DELETES: &str = "deletes files";

/// Commands of Windows' shells, and what they do.
const DANGERS: &[(&[&str], &str)] = &[
    (&["del", "erase", "rd", "rmdir", "remove-item", "ri", "rm"], DELETES),
    (&["format", "format-volume", "clear-disk", "diskpart", "initialize-disk"], "erases a drive"),
    (&["taskkill", "stop-process", "spps", "kill"], "ends processes"),
    (&["shutdown", "stop-computer", "restart-computer"], "turns the machine off"),
    (&["reg", "remove-itemproperty", "bcdedit", "vssadmin"], "changes the system's settings or backups"),
    (&["iex", "invoke-expression"], "runs a text that is made when it runs"),
];

#[cfg(test)]
mod tests {
    use super::notes;

    #[test]
    fn dangers_of_windows_shells_are_named() {
        for (text, expected) in [
            ("del /s /q C:\\x", "del deletes files, with all that is in its folders"),
            ("rd /s C:\\x", "rd deletes files, with all that is in its folders"),
            ("rmdir x", "rmdir deletes files"),
            ("dir & format D:", "format erases a drive"),
            ("taskkill.exe /F /IM x", "taskkill ends processes"),
            (
                "Get-Item x | Remove-Item -Recurse",
                "remove-item deletes files, with all that is in its folders",
            ),
            ("Stop-Process -Name x", "stop-process ends processes"),
        ] {
            assert_eq!(notes(text), format!("gsh does not read this shell's language, but {expected}"));
        }
        for text in ["echo del", "Write-Output format", "dir"] {
            assert_eq!(notes(text), "gsh reads the language of bash and POSIX shells only", "{text}");
        }
    }
}
