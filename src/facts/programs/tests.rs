//! Tables of command lines in `tests/`, a file a family. A line `= quiet` begins lines that are explained
//! and do nothing but reading, `= loud` lines that are never that, `= exact` lines `command => reading`.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::facts::arg::{Hole, HoleKind};
use crate::report::Span;

const FAMILIES: &[&str] = &[
    concat!("= quiet\n", include_str!("tests/quiet.txt")),
    concat!("= loud\n", include_str!("tests/loud.txt")),
    concat!("= exact\n", include_str!("tests/exact.txt")),
    include_str!("tests/cloud.txt"),
    include_str!("tests/core.txt"),
    include_str!("tests/databases.txt"),
    include_str!("tests/git.txt"),
    include_str!("tests/languages.txt"),
    include_str!("tests/network.txt"),
    include_str!("tests/packages.txt"),
    include_str!("tests/tools.txt"),
];

fn read(argv: &[Arg]) -> Option<Reading> {
    Programs::default().read(argv)
}

/// A tiny splitter: blanks, both quotes, backslashes; `$…` and `<(…)` are unknown text, `#N` a number.
fn words(line: &str) -> Vec<Arg> {
    let mut words = Vec::new();
    let mut word: Option<Arg> = None;
    let mut letters = line.chars().peekable();
    let mut quote = None;
    while let Some(letter) = letters.next() {
        if letter == ' ' && quote.is_none() {
            words.extend(word.take());
            continue;
        }
        let current = word.get_or_insert_with(Arg::default);
        match (letter, quote) {
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None) => current.push_text(&letters.next().unwrap_or('\\').to_string()),
            ('\\', Some('"')) if matches!(letters.peek(), Some('"' | '\\' | '$')) => {
                current.push_text(&letters.next().unwrap_or('\\').to_string());
            }
            ('$', None | Some('"')) if letters.peek().is_some_and(char::is_ascii_alphabetic) => {
                while letters.next_if(char::is_ascii_alphabetic).is_some() {}
                let kind = HoleKind::Any(Cause::DynamicWord);
                current.push_hole(Hole { kind, splits: quote.is_none(), lines: false });
            }
            ('#', None | Some('"')) if letters.next_if_eq(&'N').is_some() => {
                current.push_hole(Hole { kind: HoleKind::Number, splits: false, lines: false });
            }
            ('<', None) if letters.peek() == Some(&'(') => {
                for inner in letters.by_ref() {
                    if inner == ')' {
                        break;
                    }
                }
                let kind = HoleKind::Name;
                current.push_text("/dev/fd/");
                current.push_hole(Hole { kind, splits: false, lines: false });
            }
            _ => current.push_text(&letter.to_string()),
        }
    }
    words.extend(word);
    words
}

/// What a reading says, in one line.
fn render(reading: &Reading) -> String {
    let mut all = Vec::new();
    all.extend(
        reading
            .uses
            .iter()
            .map(|each| format!("{}:{}", kebab(&format!("{:?}", each.role)), each.arg.display())),
    );
    all.extend(reading.acts.iter().map(|act| match act {
        Act::Push(push) => format!(
            "push({}{}{}{}{}{})",
            if push.force { "force " } else { "" },
            if push.lease { "lease " } else { "" },
            if push.delete { "delete " } else { "" },
            if push.all { "all " } else { "" },
            push.remote.as_ref().map(Arg::display).unwrap_or_default(),
            push.refspecs.iter().map(|each| format!(" {}", each.display())).collect::<String>(),
        ),
        Act::Network { query } => if *query { "query" } else { "network" }.to_owned(),
        other => kebab(&format!("{other:?}")),
    }));
    all.extend(reading.directory.iter().map(|arg| format!("in:{}", arg.display())));
    all.extend(reading.inner.iter().map(|inner| match inner {
        Inner::Command { argv, fill, assignments, .. } => {
            let line: Vec<String> = assignments.iter().chain(argv).map(Arg::display).collect();
            let fill = match fill {
                Fill::None => String::new(),
                Fill::Input(token) => format!(" +input{}", token.as_deref().unwrap_or_default()),
                Fill::Paths { roots, name, .. } => {
                    let roots: Vec<String> = roots.iter().map(Arg::display).collect();
                    format!(
                        " +paths({}{})",
                        roots.join(" "),
                        name.as_ref().map(|n| format!(" {n}")).unwrap_or_default()
                    )
                }
            };
            format!("run({}{fill})", line.join(" "))
        }
        Inner::Shell { text, args, posix } => {
            let args: String = args.iter().map(|arg| format!(" {}", arg.display())).collect();
            format!("{}({}{args})", if *posix { "sh" } else { "other-sh" }, text.display())
        }
        Inner::ShellInput { .. } => "sh-input".to_owned(),
        Inner::ShellFile(file) => format!("sh-file({})", file.display()),
    }));
    all.extend(reading.wrapper.iter().map(|wrapper| kebab(&format!("{wrapper:?}"))));
    if reading.input != Input::Data {
        all.push("input-code".to_owned());
    }
    let mut causes: Vec<String> =
        reading.unexplained.iter().map(|each| kebab(&format!("!{:?}", each.cause))).collect();
    causes.dedup();
    all.extend(causes);
    all.join(" ")
}

fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() && !kebab.ends_with('!') {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}

/// Explained, and nothing but reading, in every command it runs too.
fn is_quiet(argv: &[Arg]) -> bool {
    let Some(reading) = read(argv) else { return false };
    reading.unexplained.is_empty()
        && reading.input == Input::Data
        && reading.acts.iter().all(|act| matches!(act, Act::Network { query: true }))
        && reading.wrapper != Some(Wrapper::Escalating)
        && reading.uses.iter().all(|each| {
            let harmless =
                [Role::Read, Role::Open, Role::ReadTree, Role::SearchTree, Role::List, Role::Pattern];
            harmless.contains(&each.role) || each.arg.text() == Some("/dev/null")
        })
        && reading.inner.iter().all(|inner| match inner {
            Inner::Command { argv, fill: Fill::Input(None), .. } => {
                let mut argv = argv.clone();
                argv.push(Arg::any(Cause::DynamicWord, Span::default()));
                is_quiet(&argv)
            }
            Inner::Command { argv, .. } => is_quiet(argv),
            Inner::Shell { text, .. } => {
                text.text().is_some_and(|text| text.split("&&").all(|one| is_quiet(&words(one))))
            }
            Inner::ShellInput { .. } | Inner::ShellFile(_) => false,
        })
}

/// The lines of one kind, of all families.
fn lines(kind: &str) -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().flat_map(move |family| {
        let mut is_kind = false;
        family.lines().filter(move |line| {
            if let Some(begins) = line.strip_prefix("= ") {
                is_kind = begins == kind;
                return false;
            }
            is_kind && !line.is_empty() && !line.starts_with("# ")
        })
    })
}

/// The program of each line, without folders.
fn programs_of(kind: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for line in lines(kind) {
        if let Some(name) = words(line).first().and_then(Arg::text) {
            *found.entry(name.to_owned()).or_default() += 1;
        }
    }
    found
}

#[test]
fn reading_is_explained() {
    let loud: Vec<String> = lines("quiet")
        .filter(|line| !is_quiet(&words(line)))
        .map(|line| {
            format!(
                "{line} => {:?}",
                read(&words(line)).map(|reading| (render(&reading), reading.unexplained))
            )
        })
        .collect();
    assert!(loud.is_empty(), "not quiet:\n{}", loud.join("\n"));
}

#[test]
fn harm_is_never_quiet() {
    let quiet: Vec<&str> = lines("loud").filter(|line| is_quiet(&words(line))).collect();
    assert!(quiet.is_empty(), "quiet:\n{}", quiet.join("\n"));
}

#[test]
fn readings() {
    let mut wrong = Vec::new();
    for line in lines("exact") {
        let (command, expected) = line.split_once(" =>").unwrap_or((line, ""));
        let found = read(&words(command)).map_or("none".to_owned(), |reading| render(&reading));
        if found != expected.trim() {
            wrong.push(format!("{command} => {found}"));
        }
    }
    assert!(wrong.is_empty(), "differs:\n{}", wrong.join("\n"));
}

/// An unknown word in place of any word of a quiet line never makes a program with dangerous options quiet.
#[test]
fn unknown_words_are_not_explained() {
    for line in lines("quiet") {
        let argv = words(line);
        let Some(command) = argv.first().and_then(Arg::text).and_then(find) else { continue };
        if command.pure || command.reader.is_some() || command.has_subcommands() || command.style.raw {
            continue;
        }
        let mut more = argv.clone();
        more.insert(1, Arg::any(Cause::DynamicWord, Span::default()));
        assert!(!is_quiet(&more), "quiet with an unknown first word: {line}");
    }
}

/// Every program and every subcommand: an option that no table can name is never explained.
#[test]
fn an_unknown_option_is_never_quiet() {
    type Place = *const table::Command;
    fn deeper(
        path: &mut Vec<&'static str>,
        command: &'static table::Command,
        quiet: &mut Vec<String>,
        seen: &mut BTreeSet<(Place, Place)>,
    ) {
        let mut argv: Vec<Arg> = path.iter().map(|word| Arg::literal(*word, Span::default())).collect();
        argv.push(Arg::literal("--gsh-no-such-option", Span::default()));
        // A program that takes every word as data has no options to know.
        if !command.style.raw && is_quiet(&argv) {
            quiet.push(path.join(" "));
        }
        for (name, sub) in command.subcommands.iter().chain(command.patterns) {
            // Of names that share a table one is enough.
            if seen.insert((std::ptr::from_ref(command), std::ptr::from_ref(*sub))) {
                path.push(name);
                deeper(path, sub, quiet, seen);
                path.pop();
            }
        }
    }
    let (mut quiet, mut seen) = (Vec::new(), BTreeSet::new());
    for (name, command) in tables::PROGRAMS {
        deeper(&mut vec![name], command, &mut quiet, &mut seen);
    }
    // They read what begins with a dash as text, or refuse it.
    quiet.retain(|name| {
        !matches!(name.as_str(), "echo" | "printf" | "test" | "[" | "true" | "false" | ":" | "trap")
    });
    assert!(quiet.is_empty(), "{quiet:?}");
}

/// A table without cases is a claim that nobody looked at.
#[test]
fn every_table_has_cases() {
    let mut tables: BTreeMap<*const table::Command, Vec<&str>> = BTreeMap::new();
    for (name, command) in tables::PROGRAMS {
        tables.entry(std::ptr::from_ref(*command)).or_default().push(name);
    }
    let (quiet, loud, exact) = (programs_of("quiet"), programs_of("loud"), programs_of("exact"));
    let without = |kinds: &[&BTreeMap<String, usize>]| -> BTreeSet<&str> {
        let has =
            |names: &Vec<&str>| names.iter().any(|name| kinds.iter().any(|kind| kind.contains_key(*name)));
        tables.values().filter(|names| !has(names)).filter_map(|names| names.first().copied()).collect()
    };
    let mut silent: BTreeSet<&str> = without(&[&quiet]);
    // The first is always refused, the other asks its mirrors whatever it is told.
    silent.retain(|name| !matches!(*name, "gsh-canary-deny" | "cpan"));
    let mut asking: BTreeSet<&str> = without(&[&loud, &exact]);
    // No option and no operand of theirs can do more than read.
    asking.retain(|name| find(name).is_some_and(|command| !command.pure));
    assert!(
        silent.is_empty() && asking.is_empty(),
        "no quiet line: {silent:?}\nno loud or exact line: {asking:?}"
    );
}

/// Programs that agents use most.
const MOST_USED: &str = "ls cat head tail wc grep rg find fd sed awk cut sort uniq tr tee xargs cp mv rm mkdir rmdir touch ln chmod \
    chown stat file du df ps kill date echo env which basename dirname realpath readlink diff cmp comm tar gzip zip unzip \
    less man tree jq git docker kubectl curl wget ssh scp rsync make gcc python3 node npm cargo pip gh go terraform aws \
    psql sqlite3";

#[test]
fn the_most_used_have_many_cases() {
    let kinds = ["quiet", "loud", "exact"].map(programs_of);
    let count = |name: &str| -> usize { kinds.iter().filter_map(|kind| kind.get(name)).sum() };
    let few: Vec<(&str, usize)> = MOST_USED
        .split_whitespace()
        .map(|name| (name, count(name)))
        .filter(|(_, count)| *count < 20)
        .collect();
    assert!(few.is_empty(), "{few:?}");
}

#[test]
fn every_table_says_where_it_is_from() {
    let without: Vec<&str> =
        tables::PROGRAMS.iter().filter(|(_, table)| table.source.is_empty()).map(|(name, _)| *name).collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn names_are_sorted() {
    assert!(tables::PROGRAMS.is_sorted_by(|left, right| left.0 < right.0));
    assert!(tables::PROGRAMS.len() > 250, "{}", tables::PROGRAMS.len());
}

/// Lines that the tables' format cannot hold.
#[test]
fn scripts_of_several_lines() {
    let with = |program: &str, script: &str| {
        [program, script, "a.txt"].map(|word| Arg::literal(word, Span::default())).to_vec()
    };
    assert!(is_quiet(&with("awk", "{\n  n += $1 # sum | > system\n}\nEND { print n }")));
    assert!(is_quiet(&with("awk", "{ print $1 }\n$2 > 5 { n++ }")));
    assert!(!is_quiet(&with("awk", "{ print $1,\n $2 > \"out\" }")));
    assert!(!is_quiet(&with("awk", "{ print $1 \\\n > \"out\" }")));
    assert!(is_quiet(&with("sed", "/a/a\\\nw out\np")));
    assert!(!is_quiet(&with("sed", "/a/a\\\ntext\nw out")));
    assert!(!is_quiet(&with("sed", "# comment\ne id")));
    assert!(!is_quiet(&with("sed", "s/a/b\\\nc/w out")));
}

/// What is printed, where a word made of it may be trusted to be of a kind.
#[test]
fn outputs() {
    let kind =
        |line: &str| read(&words(line)).map(|reading| format!("{:?}", reading.output)).unwrap_or_default();
    for line in
        ["ls -l", "cat -n a", "git rev-parse --show-toplevel", "seq -f %g.x 3", "git ls-files -s", "date +%D"]
    {
        assert_eq!(kind(line), "Any", "{line}");
    }
    for (line, start) in [
        ("ls", "Listing"),
        ("git ls-files src", "Paths"),
        ("rg --files", "Paths"),
        ("find . -name a", "Paths"),
        ("find . -ls", "Any"),
        ("cat", "Input"),
        ("cat a", "InputLines"),
        ("head -5", "InputLines"),
        ("head -c5", "Any"),
        ("wc -l a", "Number"),
        ("date +%s", "Number"),
        ("date +%Y-%m-%d", "Name"),
        ("git rev-parse HEAD", "GitRef"),
        ("pwd", "CurrentDirectory"),
        ("echo a b", "Text"),
        ("echo -e a", "Text"),
        ("echo -e 'a\\c'", "Any"),
        ("echo -e -n", "Any"),
        ("printf '%s\\n' a", "Text"),
        ("printf '\\162\\155'", "Text"),
        ("printf '\\xff'", "Any"),
        ("printf %d 1", "Any"),
    ] {
        assert!(kind(line).starts_with(start), "{line} prints {}", kind(line));
    }
}
