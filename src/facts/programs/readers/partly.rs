//! Programs of which only what they write, or remove, is told: they stay unexplained.

use crate::facts::arg::Arg;
use crate::facts::programs::apply::apply;
use crate::facts::programs::table::Command;
use crate::facts::programs::{Reading, Role};
use crate::report::Span;
use crate::syntax::Cause;

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
