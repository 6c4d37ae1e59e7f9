//! Runners whose layout a table cannot say.

use super::Refusal;
use crate::facts::arg::Arg;
use crate::facts::programs::apply::{only_help, settle};
use crate::facts::programs::scan::scan;
use crate::facts::programs::table::{ANYTHING, Command};
use crate::facts::programs::{Fill, Inner, Reading, Wrapper};
use crate::report::Span;
use crate::syntax::Cause;

/// `xargs OPTIONS COMMAND WORDS`.
pub(super) fn xargs(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    if only_help(command, argv, start) {
        return;
    }
    let scan = scan(command, argv, start);
    settle(command, &scan, ANYTHING, argv, reading);
    let mut token = None;
    for found in scan.given("-I").chain(scan.given("-i")) {
        match found.value.as_ref().map(|value| value.text().ok_or(value)) {
            Some(Ok(text)) => token = Some(text.to_owned()),
            Some(Err(value)) => reading.unexplained(Cause::DynamicWord, value.display(), Some(found.index)),
            None => token = Some("{}".to_owned()),
        }
    }
    let Some((first, _)) = scan.operands.first() else { return };
    reading.arity = 0;
    reading.wrapper = Some(Wrapper::Multiplying);
    reading.inner.push(Inner::Command {
        argv: argv.get(*first..).unwrap_or_default().to_vec(),
        fill: Fill::Input(token),
        directory: None,
        assignments: Vec::new(),
    });
}

/// `env -S 'WORDS'`: plain words are the command; quotes and `$` are not followed.
pub(super) fn env_split(text: &str, span: Span, reading: &mut Reading) -> Result<(), Refusal> {
    if text.contains(['\'', '"', '\\', '$', '#']) {
        return Err((Cause::DynamicWord, text.to_owned()));
    }
    let (assignments, argv): (Vec<&str>, Vec<&str>) =
        text.split_whitespace().partition(|word| word.contains('='));
    let words = |list: Vec<&str>| list.into_iter().map(|word| Arg::literal(word, span)).collect::<Vec<_>>();
    reading.wrapper = Some(Wrapper::Transparent);
    reading.inner.push(Inner::Command {
        argv: words(argv),
        fill: Fill::None,
        directory: None,
        assignments: words(assignments),
    });
    // Options in the text, and the words after it, are not put together here.
    Err((Cause::UnknownOption, "-S".to_owned()))
}
