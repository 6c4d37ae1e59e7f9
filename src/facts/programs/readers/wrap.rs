//! Runners whose layout a table cannot say.

use super::{Refusal, joined};
use crate::facts::arg::Arg;
use crate::facts::programs::apply::{only_help, settle};
use crate::facts::programs::scan::scan;
use crate::facts::programs::table::{ANYTHING, Command};
use crate::facts::programs::{Fill, Inner, Input, Reading, Wrapper};
use crate::report::Span;
use crate::syntax::Cause;

/// The most words of `parallel` that are tried.
const VALUES: usize = 16;

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
    reading.arity = 0;
    reading.wrapper = Some(Wrapper::Multiplying);
    // Without a command the words are printed.
    let echo = vec![Arg::literal("echo", Span::default())];
    let command =
        scan.operands.first().and_then(|(first, _)| argv.get(*first..)).map_or(echo, <[Arg]>::to_vec);
    reading.inner.push(Inner::Command {
        argv: command,
        fill: Fill::Input(token),
        directory: None,
        assignments: Vec::new(),
    });
}

/// `parallel OPTIONS COMMAND ::: WORDS`: a shell reads the command with each word put in. It is looked through
/// only; what else it does with its words is not told.
pub(super) fn parallel(words: &[Arg], reading: &mut Reading) {
    reading.unexplained(Cause::OpaqueCode, "parallel runs its words", None);
    reading.input = Input::Code;
    reading.wrapper = Some(Wrapper::Multiplying);
    let valued = [
        "-j",
        "--jobs",
        "-n",
        "-N",
        "-a",
        "--arg-file",
        "-I",
        "--delay",
        "--timeout",
        "-S",
        "--colsep",
        "-C",
    ];
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next_if(|word| word.head().starts_with('-')) {
        if word.text().is_some_and(|text| valued.contains(&text)) {
            rest.next();
        }
    }
    let is_source = |word: &Arg| word.head().starts_with(":::");
    let mut command = Vec::new();
    while let Some(word) = rest.next_if(|word| !is_source(word)) {
        command.push(word.clone());
    }
    let command = joined(&command);
    let values: Vec<&Arg> = rest.filter(|word| !is_source(word)).take(VALUES).collect();
    if values.is_empty() {
        let words = Arg::any(Cause::DynamicWord, command.span);
        reading.glances.extend(with(&command, &words));
    }
    for value in values {
        reading.glances.extend(with(&command, value));
    }
}

/// The shell's text with a value put in, or at its end.
fn with(command: &Arg, value: &Arg) -> Option<Vec<Arg>> {
    let text = command.text()?;
    let mut whole = Arg { span: command.span, ..Arg::default() };
    let (mut pieces, value) = (text.split("{}").peekable(), [value.clone()]);
    while let Some(piece) = pieces.next() {
        whole.push_text(piece);
        if pieces.peek().is_some() || !text.contains("{}") {
            if !text.is_empty() && !text.contains("{}") {
                whole.push_text(" ");
            }
            super::append(&mut whole, &value[0]);
        }
    }
    Some(vec![whole])
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
