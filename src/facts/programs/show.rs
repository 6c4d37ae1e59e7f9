//! The tables as a person reads them.

use std::fmt::Write;

use super::table::{Command, Effect, Opt, Slot, What};
use super::tables;

/// One program's table as text.
pub(super) fn table(name: &str, command: &Command) -> String {
    let mut out = String::new();
    one(&mut out, name, command, 0);
    out
}

/// The built-in tables, a line each: names, number of subcommands, where it is written down.
pub(super) fn overview() -> String {
    let mut out = String::from(
        "# The programs that gsh knows\n\nMade from the tables in `src/facts/programs/`; \
         `gsh explain --program NAME` shows one in full.\n\n| program | subcommands | by | source |\n|---|---|---|---|\n",
    );
    for (name, command) in tables::PROGRAMS {
        let count = command.subcommands.len() + command.patterns.len();
        let count = if count == 0 { String::new() } else { count.to_string() };
        let by = if command.reader.is_some() { "reader" } else { "table" };
        // A bar would end the cell.
        let name = name.replace('|', "\\|");
        put(&mut out, format_args!("| `{name}` | {count} | {by} | {} |\n", command.source));
    }
    out
}

fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = out.write_fmt(text);
}

fn one(out: &mut String, name: &str, command: &Command, depth: usize) {
    let indent = "  ".repeat(depth);
    put(out, format_args!("{indent}{name}\n"));
    let mut line = |what: &str, text: String| {
        if !text.is_empty() {
            put(out, format_args!("{indent}  {what}: {text}\n"));
        }
    };
    line("written down in", command.source.to_owned());
    line("instead", command.prefer.to_owned());
    line("is a wrapper", command.wrapper.map(|kind| kebab(&format!("{kind:?}"))).unwrap_or_default());
    if command.reader.is_some() {
        line("options", "read by code of its own".to_owned());
    }
    line("operands", slots(command.slots));
    line("does", effects(command.effects));
    line("alone", effects(command.alone));
    line("without a word", effects(command.bare));
    line("writes for itself", command.housekeeping.join(" "));
    line("only prints", command.help.join(" "));
    for option in command.options {
        put(out, format_args!("{indent}  {}\n", option_line(option)));
    }
    // Names that share a table stand together.
    let mut subs: Vec<(String, &Command)> = Vec::new();
    for (name, sub) in command.subcommands.iter().chain(command.patterns) {
        match subs.iter_mut().find(|(_, each)| std::ptr::eq(*each, *sub)) {
            Some((names, _)) => {
                names.push(' ');
                names.push_str(name);
            }
            None => subs.push(((*name).to_owned(), sub)),
        }
    }
    for (names, sub) in subs {
        one(out, &names, sub, depth + 1);
    }
}

fn option_line(option: &Opt) -> String {
    let mut text = option.names.join(" ");
    if let Some(value) = option.value {
        let value = what(value);
        text.push_str(&if option.optional { format!("[={value}]") } else { format!(" {value}") });
    }
    if let Some(second) = option.second {
        text.push(' ');
        text.push_str(&what(second));
    }
    if !option.effects.is_empty() {
        text.push_str(": ");
        text.push_str(&effects(option.effects));
    }
    text
}

fn slots(list: &[Slot]) -> String {
    let one = |slot: &Slot| {
        let more = if slot.repeated { "…" } else { "" };
        let default = slot.default.map(|path| format!(" ({path})")).unwrap_or_default();
        format!("{}{more}{default}", what(slot.what))
    };
    list.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn what(what: What) -> String {
    match what {
        What::Use(role) => kebab(&format!("{role:?}")),
        What::Language(language) => kebab(&format!("{language:?}")),
        What::Act(doing) => kebab(&format!("{doing:?}")),
        What::OneOf(words) => words.join("|"),
        other => kebab(&format!("{other:?}")),
    }
}

fn effects(list: &[Effect]) -> String {
    list.iter().map(effect).collect::<Vec<_>>().join(", ")
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::Recast(from, to) => {
            format!("{} instead of {}", kebab(&format!("{to:?}")), kebab(&format!("{from:?}")))
        }
        Effect::NoFirst => "takes the first operand's place".to_owned(),
        Effect::Operands(list) => format!("operands {}", slots(list)),
        Effect::Act(doing) => kebab(&format!("{doing:?}")),
        Effect::Unexplained(cause) => format!("not explained ({})", cause.word()),
        Effect::Output(printed) => format!("prints {}", kebab(&format!("{printed:?}"))),
        Effect::Runs(name) => format!("runs the git setting {name}"),
        Effect::Spares("destroy-remote") => "destroys nothing".to_owned(),
        Effect::Spares(name) => format!("spares {name}"),
        Effect::Loads(path) => format!("obeys {path}"),
        Effect::Use(role, path) => format!("{} {path}", kebab(&format!("{role:?}"))),
        Effect::Code => "its input is code".to_owned(),
        Effect::ShellInput => "its input is a text for a shell".to_owned(),
        Effect::Dry => "does not do what it does else".to_owned(),
    }
}

/// `SearchTree` is `search-tree`.
fn kebab(name: &str) -> String {
    let mut kebab = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !kebab.is_empty() {
            kebab.push('-');
        }
        kebab.push(letter.to_ascii_lowercase());
    }
    kebab
}
