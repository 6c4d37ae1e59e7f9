//! Programs of which only what they write, or remove, is told: they stay unexplained.

use crate::facts::arg::Arg;
use crate::facts::programs::apply::apply;
use crate::facts::programs::table::{Command, Doing};
use crate::facts::programs::{Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

/// Options of `curl` and `wget` that name a file to write. A letter that means something else in one of the
/// two is told apart by the program.
const WRITES: &[&str] = &[
    "--output",
    "--output-document",
    "--output-file",
    "--append-output",
    "--dump-header",
    "--cookie-jar",
    "--save-cookies",
    "--trace",
    "--trace-ascii",
    "--stderr",
    "--etag-save",
    "--hsts",
    "--libcurl",
    "--download",
    "--warc-file",
];

/// `curl -o FILE URL`, `wget -O FILE URL`.
pub(super) fn fetch(words: &[Arg], reading: &mut Reading) {
    if matches!(words, [only] if matches!(only.text(), Some("--help" | "--version" | "-V" | "-h"))) {
        return;
    }
    reading.act(Doing::Network);
    reading.unexplained(Cause::UnknownOption, "what it does there is not known", None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let head = word.head();
        let file = if let Some((name, _)) = head.split_once('=').filter(|(name, _)| WRITES.contains(name)) {
            Some(word.after(name.len() + 1))
        } else if word.text().is_some_and(|text| WRITES.contains(&text)) {
            rest.next().cloned()
        } else {
            written_by_letter(word, &mut rest)
        };
        if let Some(file) = file.filter(|file| file.text() != Some("-")) {
            reading.uses(Role::Write, &file);
        }
    }
}

/// `-o FILE` and `-OFILE`, also at the end of letters put together (`-sSLo FILE`).
fn written_by_letter<'a>(word: &Arg, rest: &mut impl Iterator<Item = &'a Arg>) -> Option<Arg> {
    let head = word.head();
    if !head.starts_with('-') || head.starts_with("--") {
        return None;
    }
    let at = head.find(['o', 'O'])?;
    let after = word.after(at + 1);
    if after.parts.is_empty() {
        // curl's `-O` takes no value: what follows is no file then, but an address.
        let address = |file: &Arg| file.head().starts_with('-') || file.head().contains("://");
        return rest.next().filter(|file| !address(file)).cloned();
    }
    let letters = after
        .text()
        .is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_alphabetic()) && text.len() < 3);
    if letters {
        written_by_letter(&Arg::literal(format!("-{}", after.display()), word.span), rest)
    } else {
        Some(after)
    }
}

/// `patch FILE`, `patch -o FILE`.
pub(super) fn patch(words: &[Arg], reading: &mut Reading) {
    reading.unexplained(Cause::UnknownOption, "which files the patch changes is not known", None);
    let mut rest = words.iter();
    let mut operands = 0;
    while let Some(word) = rest.next() {
        match word.text() {
            Some("-o" | "--output" | "-r" | "--reject-file") => {
                if let Some(file) = rest.next() {
                    reading.uses(Role::Write, file);
                }
            }
            Some(
                "-i" | "--input" | "-p" | "-d" | "--directory" | "-F" | "-B" | "-V" | "-z" | "-Y" | "-D",
            ) => {
                rest.next();
            }
            Some(text) if text.starts_with('-') => {}
            _ => {
                operands += 1;
                // The second is the patch.
                if operands == 1 {
                    reading.uses(Role::Edit, word);
                }
            }
        }
    }
}

/// Packages without which nothing starts, with a file of each.
const VITAL: &[(&str, &str)] = &[
    ("libc6", "/usr/lib/libc.so.6"),
    ("glibc", "/usr/lib/libc.so.6"),
    ("musl", "/usr/lib/libc.so.6"),
    ("bash", "/bin/bash"),
    ("dash", "/bin/dash"),
];

/// `apt-get purge libc6`: removing some packages deletes what the floor keeps.
pub(super) fn packages(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    apply(command, argv, start, reading);
    let texts = || argv.iter().skip(start).filter_map(Arg::text);
    let removes = |text: &str| {
        let long =
            ["remove", "purge", "autoremove", "erase", "uninstall", "del", "--remove", "--purge", "--erase"];
        let letters = text.len() > 1 && text.starts_with('-') && !text.starts_with("--");
        long.contains(&text)
            || letters && text.contains(['r', 'P', 'R', 'e']) && !text.contains(['q', 'l', 'S'])
    };
    if !texts().any(removes) || reading.unexplained.is_empty() {
        return;
    }
    for text in texts() {
        let name = text.split([':', '=']).next().unwrap_or(text);
        if let Some((_, file)) = VITAL.iter().find(|(package, _)| *package == name) {
            reading.uses(Role::Delete, &Arg::literal(*file, Span::default()));
        }
    }
}
