//! Compilers and interpreters whose words mean more than a table can say.

use crate::facts::arg::{Arg, Hole, HoleKind, Part};
use crate::facts::programs::apply::{apply, only_help, settle};
use crate::facts::programs::scan::{Scan, scan, slots};
use crate::facts::programs::table::{ANYTHING, Command};
use crate::facts::programs::{Fill, Inner, Reading, Role, Wrapper};
use crate::report::Span;
use crate::syntax::Cause;

/// Modules that are the program of this name.
const MODULES: &[(&str, &str)] = &[
    ("bandit", "bandit"),
    ("black", "black"),
    ("codespell_lib", "codespell"),
    ("coverage", "coverage"),
    ("flake8", "flake8"),
    ("IPython", "ipython"),
    ("isort", "isort"),
    ("jupyter", "jupyter"),
    ("mypy", "mypy"),
    ("nox", "nox"),
    ("pip", "pip"),
    ("pre_commit", "pre-commit"),
    ("pylint", "pylint"),
    ("pyright", "pyright"),
    ("pytest", "pytest"),
    ("ruff", "ruff"),
    ("tox", "tox"),
    ("uv", "uv"),
    ("yamllint", "yamllint"),
];

/// `python OPTIONS -m MODULE WORDS`: the table's subcommands are modules.
pub(super) fn python(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    if only_help(command, argv, start) {
        return;
    }
    let mut all = scan(command, argv, start);
    let value = |name| all.given(name).find_map(|found| Some((found.index, found.value.clone()?)));
    let (module, code) = (value("-m"), value("-c"));
    let Some((index, module)) = module else {
        if let Some(code) = code {
            // It stands in place of the script; what is on standard input is data.
            all.operands.push(code);
            return settle(command, &all, ANYTHING, argv, reading);
        }
        return settle(command, &all, slots(command, &all), argv, reading);
    };
    // `-mMODULE` is one word, `-m MODULE` are two.
    let (letters, name) = (argv.get(index).map(Arg::head).unwrap_or_default(), module.head());
    let end = index + if letters.len() > name.len() && letters.ends_with(name) { 1 } else { 2 };
    let mut before = scan(command, argv.get(..end).unwrap_or_default(), start);
    before.operands.push((index, module.clone()));
    settle(command, &before, ANYTHING, argv, reading);
    match module.text() {
        None => reading.unexplained(Cause::DynamicWord, module.display(), Some(index)),
        Some(name) => match (command.subcommand(name), MODULES.iter().find(|(module, _)| *module == name)) {
            (Some(table), _) => apply(table, argv, end, reading),
            (None, Some((_, program))) => {
                let mut inner = vec![Arg::literal(*program, module.span)];
                inner.extend(argv.get(end..).unwrap_or_default().iter().cloned());
                reading.wrapper = Some(Wrapper::Transparent);
                reading.inner.push(Inner::Command {
                    argv: inner,
                    fill: Fill::None,
                    directory: None,
                    assignments: Vec::new(),
                });
            }
            (None, None) => reading.unexplained(Cause::OpaqueCode, format!("-m {name}"), Some(index)),
        },
    }
    reading.arity = 0;
}

/// A word `@FILE` is replaced by the words in a file, options among them; what follows `--` can be options
/// of another program.
pub(super) fn arg_file(scan: &Scan, reading: &mut Reading) {
    for (index, word) in
        scan.operands.iter().filter(|(_, word)| word.head().len() > 1 && word.head().starts_with('-'))
    {
        reading.unexplained(Cause::UnknownOption, word.display(), Some(*index));
    }
    let values = scan.found.iter().flat_map(|found| {
        [&found.value, &found.second].into_iter().flatten().map(move |value| (found.index, value))
    });
    for (index, word) in scan.operands.iter().map(|(index, arg)| (*index, arg)).chain(values) {
        let first = word.parts.first();
        if word.head().starts_with('@') {
            reading.unexplained(Cause::OpaqueCode, word.display(), Some(index));
        } else if let Some(Part::Hole(Hole { kind: HoleKind::Any(_), .. })) = first {
            reading.unexplained(Cause::DynamicWord, word.display(), Some(index));
        }
    }
}

/// Where `gcc` writes: what `-o` says, or a file named after each source, or `a.out`.
pub(super) fn compiler(scan: &Scan, reading: &mut Reading) {
    arg_file(scan, reading);
    let only_reads = ["-fsyntax-only", "-E", "-M", "-MM", "-###"].iter().any(|name| scan.has(name));
    if only_reads || scan.has("-o") || scan.operands.is_empty() {
        return;
    }
    let ending = match (scan.has("-S"), scan.has("-c")) {
        (true, _) => ".s",
        (false, true) => ".o",
        (false, false) => return reading.uses(Role::Write, &Arg::literal("a.out", Span::default())),
    };
    for (index, source) in &scan.operands {
        match source.text() {
            Some(text) => {
                let name = text.rsplit('/').next().unwrap_or(text);
                let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
                reading.uses(Role::Write, &Arg::literal(format!("{stem}{ending}"), source.span));
            }
            None => reading.unexplained(Cause::DynamicPath, source.display(), Some(*index)),
        }
    }
}

/// A word after a switch of `tsc` may turn it off.
pub(super) fn tsc(scan: &Scan, reading: &mut Reading) {
    arg_file(scan, reading);
    for (index, word) in &scan.operands {
        let turns =
            |text: &str| ["false", "null", "undefined"].iter().any(|off| off.eq_ignore_ascii_case(text));
        if word.text().is_none_or(turns) {
            reading.unexplained(Cause::UnknownOption, word.display(), Some(*index));
        }
    }
}
