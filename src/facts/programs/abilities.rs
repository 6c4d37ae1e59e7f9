//! What a program can be made to do by the words it is given, whatever they are: for those who judge rules.

use super::own::Programs;
use super::table::{Command, Effect, Language, Reader, Slot, What};
use super::{find, tables};

/// What some words make a program do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Runs a command that is among its words.
    pub wraps: bool,
    /// Runs code that is among its words, in a file, or on its standard input.
    pub runs_code: bool,
    /// Is several programs: the first operand says which.
    pub has_subcommands: bool,
}

/// What a program with a built-in table can do; None without one. What only a subcommand does does not count.
#[must_use]
pub fn abilities(name: &str) -> Option<Abilities> {
    let command = find(name)?;
    let code = command.reader.is_some_and(reader_runs_code);
    Some(Abilities {
        wraps: wraps(command, false),
        runs_code: code || words_of(command).any(is_code) || effects_of(command).any(is_code_input),
        has_subcommands: command.has_subcommands(),
    })
}

/// The names of all built-in tables.
pub fn names() -> impl Iterator<Item = &'static str> {
    tables::PROGRAMS.iter().map(|(name, _)| *name)
}

impl Programs {
    /// Whether a command that begins with these words can be a wrapper around another, as far as any table
    /// tells.
    #[must_use]
    pub fn may_wrap(&self, words: &[&str]) -> bool {
        let Some((name, rest)) = words.split_first() else { return true };
        find(name).into_iter().chain(self.own_tables(name)).any(|command| wraps_after(command, rest))
    }
}

fn wraps_after(command: &'static Command, words: &[&str]) -> bool {
    let sub = words.split_first().and_then(|(name, rest)| Some((command.subcommand(name)?, rest)));
    match sub {
        Some((sub, rest)) => wraps(command, false) || wraps_after(sub, rest),
        None => wraps(command, true),
    }
}

/// Whether it is a wrapper, or (`deep`) a subcommand of it is.
fn wraps(command: &Command, deep: bool) -> bool {
    let subcommands = command.subcommands.iter().chain(command.patterns);
    command.wrapper.is_some()
        || command.reader.is_some_and(reader_wraps)
        || words_of(command).any(|what| matches!(what, What::Command | What::Language(Language::EnvSplit)))
        || (deep && subcommands.into_iter().any(|(_, sub)| wraps(sub, true)))
}

fn reader_wraps(reader: Reader) -> bool {
    matches!(
        reader,
        Reader::Find | Reader::Fd | Reader::Xargs | Reader::Parallel | Reader::Busybox | Reader::Python
    )
}

fn reader_runs_code(reader: Reader) -> bool {
    matches!(reader, Reader::Shell | Reader::Python | Reader::Parallel | Reader::Trap)
}

fn is_code(what: What) -> bool {
    matches!(
        what,
        What::Code
            | What::Shell
            | What::ShellCode
            | What::ShellFile
            | What::ShellWords
            | What::Language(Language::AwkProgram | Language::SedScript)
    )
}

fn is_code_input(effect: &Effect) -> bool {
    matches!(effect, Effect::Code | Effect::ShellInput)
}

/// What its words are for.
fn words_of(command: &Command) -> impl Iterator<Item = What> {
    let of_options = command.options.iter().flat_map(|option| [option.value, option.second]).flatten();
    let operands = effects_of(command).filter_map(|effect| match effect {
        Effect::Operands(slots) => Some(*slots),
        _ => None,
    });
    let slots = operands.flatten().chain(command.slots);
    of_options.chain(slots.map(|slot: &Slot| slot.what))
}

/// What it, or an option of it, does.
fn effects_of(command: &Command) -> impl Iterator<Item = &'static Effect> {
    let own = [command.effects, command.alone, command.bare].into_iter().flatten();
    own.chain(command.options.iter().flat_map(|option| option.effects))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_programs() {
        let able = |name: &str| abilities(name).unwrap_or_else(|| panic!("{name} has no table"));
        for name in ["bash", "sh", "python3", "node", "perl", "awk"] {
            assert!(able(name).runs_code, "{name}");
        }
        for name in ["env", "xargs", "sudo", "timeout", "find", "nice"] {
            assert!(able(name).wraps, "{name}");
        }
        for name in ["git", "npm", "cargo", "docker", "kubectl"] {
            assert!(able(name).has_subcommands, "{name}");
        }
        for name in ["ls", "cat", "rm", "mkdir", "echo", "grep"] {
            assert_eq!(able(name), Abilities::default(), "{name}");
        }
        assert_eq!(abilities("no-such-program"), None);
        let programs = Programs::default();
        for (words, wraps) in [
            (&[][..], true),
            (&["timeout"], true),
            (&["timeout", "5", "x"], true),
            (&["python3"], true),
            (&["npm"], true),
            (&["npm", "exec"], true),
            (&["npm", "publish"], false),
            (&["rm"], false),
            (&["frob"], false),
        ] {
            assert_eq!(programs.may_wrap(words), wraps, "{words:?}");
        }
    }
}
