//! What the tables claim, as command lines: for tests that hold a claim against the program itself.

use super::table::{Command, Effect, Opt, Slot, What};
use super::{Role, tables};

/// The option names of a program, or of the subcommand that the further words name. None without a table.
#[must_use]
pub fn options(words: &[&str]) -> Option<Vec<&'static str>> {
    let (name, subs) = words.split_first()?;
    let mut command = super::find(name)?;
    for sub in subs {
        command = command.subcommand(sub)?;
    }
    Some(command.names.iter().map(|(name, _)| *name).chain(command.help.iter().copied()).collect())
}

/// The names of all programs with a table, and of their subcommands, as words.
#[must_use]
pub fn names() -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    for (name, command) in tables::PROGRAMS {
        named(&mut vec![name], command, &mut found);
    }
    found
}

fn named(path: &mut Vec<&'static str>, command: &'static Command, found: &mut Vec<Vec<&'static str>>) {
    found.push(path.clone());
    for (name, sub) in command.subcommands {
        path.push(name);
        named(path, sub, found);
        path.pop();
    }
}

/// A command line for every option that a table shows as harmless, with a value and operands of the
/// kinds it names, and one for the operands alone.
#[must_use]
pub fn lines() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for (name, command) in tables::PROGRAMS {
        below(&mut vec![name], command, &mut found);
    }
    found
}

fn below(path: &mut Vec<&'static str>, command: &'static Command, found: &mut Vec<Vec<String>>) {
    let operands: Option<Vec<String>> = command.slots.iter().map(operand).collect();
    if let (None, Some(operands)) = (command.reader, operands) {
        let line = |option: Vec<String>| -> Vec<String> {
            path.iter().map(|word| (*word).to_owned()).chain(option).chain(operands.clone()).collect()
        };
        found.push(line(Vec::new()));
        let harmless = command.options.iter().filter(|option| !does_more(option));
        for option in harmless {
            let Some(value) =
                option.value.map_or(Some(Vec::new()), |what| example(what).map(|word| vec![word]))
            else {
                continue;
            };
            for name in option.names.iter().filter(|name| name.starts_with('-') && **name != "-NUM") {
                let given = match (name.starts_with("--"), option.optional, value.first()) {
                    (true, _, Some(value)) => vec![format!("{name}={value}")],
                    (false, true, Some(value)) => vec![format!("{name}{value}")],
                    (false, false, Some(value)) => vec![(*name).to_owned(), value.clone()],
                    (_, _, None) => vec![(*name).to_owned()],
                };
                found.push(line(given));
            }
        }
    }
    for (name, sub) in command.subcommands {
        path.push(name);
        below(path, sub, found);
        path.pop();
    }
}

fn does_more(option: &Opt) -> bool {
    option.second.is_some()
        || option
            .effects
            .iter()
            .any(|effect| !matches!(effect, Effect::Output(_) | Effect::NoFirst | Effect::Operands(_)))
}

fn operand(slot: &Slot) -> Option<String> {
    example(slot.what)
}

/// A word of a harmless kind.
fn example(what: What) -> Option<String> {
    let word = match what {
        What::Use(Role::Read | Role::ReadTree | Role::SearchTree) => "a.txt",
        What::Use(Role::List) => "src",
        What::Use(Role::Pattern) => "a",
        What::Data | What::Plain => "1",
        What::OneOf(words) => words.first()?,
        What::Remote => "origin",
        _ => return None,
    };
    Some(word.to_owned())
}
