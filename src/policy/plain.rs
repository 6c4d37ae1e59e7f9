//! A text that could not be read, looked through for dangers that stand there plainly.

use crate::facts::arg::Arg;
use crate::facts::foreign::{home, stretches};
use crate::facts::gather_words;
use crate::host::Host;
use crate::policy::floor::{self, Hit};
use crate::report::Span;
use crate::request::Request;
use crate::syntax::Script;

/// The most lines of a text that are looked at.
const LINES: usize = 512;

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
    for argv in stretches(text, host) {
        found.extend(floor::judge(&gather_words(argv, &request.cwd, host), host).hits);
    }
    found
}

/// Lines that are one word which braces make a command (`{rm,-r,x}`): the grammar does not read them.
fn braces(text: &str, request: &Request, host: &dyn Host) -> Vec<Hit> {
    let mut found = Vec::new();
    for line in text.lines().map(str::trim).take(LINES) {
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
