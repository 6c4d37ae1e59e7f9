//! A text that could not be read, looked through for dangers that stand there plainly.

use crate::facts::arg::Arg;
use crate::facts::gather_words;
use crate::host::Host;
use crate::policy::floor::{self, Hit};
use crate::report::Span;
use crate::request::Request;
use crate::syntax::Script;

/// The most stretches of a text that are looked at.
const STRETCHES: usize = 512;

/// Longer words are no paths, and resolving one costs the square of its length.
const LONGEST: usize = 4096;

/// Entries of the floor that the raw text plainly holds: each stretch between operators is taken as
/// one command of blank-separated words. Used only to make an ask a deny, never the other way, and only
/// for a text that was not understood.
#[must_use]
pub fn hits(request: &Request, script: &Script, host: &dyn Host) -> Vec<Hit> {
    if script.problems.is_empty() {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(&request.text) else { return Vec::new() };
    // A joined line is one line, in every quotation but single quotes.
    let text = &text.replace("\\\n", "");
    let mut found = braces(text, request, host);
    let mut start = 0;
    for stretch in text.split(['\n', ';', '&', '|', '(', ')', '{', '}', '`']).take(STRETCHES) {
        let span = Span::new(start, start + stretch.len());
        start = span.end + 1;
        // A quote means that the text may be data; then nothing is plain.
        if stretch.contains(['"', '\'', '#', '<', '$', '\\']) {
            continue;
        }
        let mut words = stretch.split_ascii_whitespace().peekable();
        while words.peek().is_some_and(|word| matches!(*word, "then" | "do" | "else" | "!" | "if" | "while"))
        {
            words.next();
        }
        let words = words.filter(|word| word.len() <= LONGEST);
        let argv: Vec<Arg> = words.map(|word| Arg::literal(home(word, host), span)).collect();
        if argv.is_empty() || argv.len() > 64 {
            continue;
        }
        found.extend(floor::judge(&gather_words(argv, &request.cwd, host), host).hits);
    }
    found
}

/// Lines that are one word which braces make a command (`{rm,-r,x}`): the grammar does not read them.
fn braces(text: &str, request: &Request, host: &dyn Host) -> Vec<Hit> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).take(STRETCHES) {
        if !line.starts_with('{')
            || !line.contains(',')
            || line.contains([' ', '\t', '"', '\'', '\\', '$', '`'])
        {
            continue;
        }
        let span = Span::new(0, text.len());
        let argv =
            crate::facts::brace_words(line).into_iter().map(|word| Arg::literal(home(&word, host), span));
        found.extend(floor::judge(&gather_words(argv.collect(), &request.cwd, host), host).hits);
    }
    found
}

/// A leading `~` made the home, as the shell would.
fn home(word: &str, host: &dyn Host) -> String {
    match (word.strip_prefix('~'), host.homes().first()) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.display())
        }
        _ => word.to_owned(),
    }
}
