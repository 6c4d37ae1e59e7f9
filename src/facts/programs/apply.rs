//! From words told apart to a reading: roles, inner commands, effects.

use std::ops::Range;

use super::readers;
use super::scan::{Scan, scan, scan_through, slots, splits};
use super::table::{Command, Doing, Effect, Printed, Slot, What, fits};
use super::{Act, Fill, Inner, Input, Output, Reading, Role, Unexplained, Use, Wrapper};
use crate::facts::arg::Arg;
use crate::report::Span;
use crate::syntax::Cause;

/// Reads the words from `start` on (what stands before them names the command) into `reading`.
pub(super) fn apply(command: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    if only_help(command, argv, start) {
        reading.arity = command.arity;
        reading.housekeeping.extend(command.housekeeping);
        return;
    }
    let mut scan = scan(command, argv, start);
    reading.arity = command.arity;
    reading.can_read |= command
        .slots
        .iter()
        .any(|slot| matches!(slot.what, What::Use(Role::Read | Role::ReadTree | Role::SearchTree)));
    if let Some((index, word)) = scan.operands.first().filter(|_| command.has_subcommands()).cloned() {
        reading.names.push(index);
        reading.names_may_follow |= scan.problems.iter().any(|(_, _, at)| *at < index);
        if let Some(sub) = word.text().and_then(|name| command.subcommand(name)) {
            settle(command, &scan, &[], argv, reading);
            return descend(sub, argv, index + 1, reading);
        }
        if word.text().is_none() || command.slots.is_empty() {
            reading.unexplained(cause_of(&word), format!("subcommand {}", word.display()), Some(index));
            if word.text().is_some() && command.arity > 0 {
                // The word names what it does, though the table does not know it.
                reading.arity = command.arity + 1;
            }
        }
        if !command.slots.is_empty() {
            scan = scan_through(command, argv, start);
        }
    }
    settle(command, &scan, slots(command, &scan), argv, reading);
    if let Some(check) = command.check {
        readers::check(check, &scan, reading);
    }
}

fn descend(sub: &'static Command, argv: &[Arg], start: usize, reading: &mut Reading) {
    match sub.reader {
        Some(reader) => readers::take(reader, sub, argv, start, reading),
        None => apply(sub, argv, start, reading),
    }
}

/// `--help` alone.
pub(super) fn only_help(command: &Command, argv: &[Arg], start: usize) -> bool {
    matches!(argv.get(start..), Some([only]) if only.text().is_some_and(|text| command.help.contains(&text)))
}

fn cause_of(word: &Arg) -> Cause {
    if word.text().is_some() { Cause::UnknownOption } else { Cause::DynamicWord }
}

/// Effects that change others, wherever among the words they were told.
#[derive(Default)]
struct Later {
    /// Operands of the first role have the second.
    casts: Vec<(Role, Role)>,
    /// Files that are not obeyed, or not used, after all.
    spared: Vec<&'static str>,
}

impl Later {
    /// Takes away what is spared: files that would be obeyed, and of the uses in `own`, which are not among
    /// the words. How many uses went.
    fn spare(&self, own: Range<usize>, reading: &mut Reading) -> usize {
        let spared = |name: &str| self.spared.contains(&name);
        let before = reading.uses.len();
        let mut place = 0..;
        reading.uses.retain(|each| {
            let is_own = place.next().is_some_and(|place: usize| own.contains(&place));
            !(is_own && each.arg.text().is_some_and(spared))
        });
        reading.loads.retain(|each| !spared(each));
        before - reading.uses.len()
    }
}

/// Everything the options and operands do.
pub(super) fn settle(
    command: &'static Command,
    scan: &Scan,
    slots: &'static [Slot],
    argv: &[Arg],
    reading: &mut Reading,
) {
    for (cause, word, index) in &scan.problems {
        reading.unexplained(*cause, word.clone(), Some(*index));
    }
    let mut later = Later::default();
    let own = reading.uses.len();
    let dry =
        scan.found.iter().flat_map(|found| found.option.effects).any(|each| matches!(each, Effect::Dry));
    let spared = reading.spared.clone();
    let held = |effect: &&Effect| match effect {
        Effect::Act(_) | Effect::Unexplained(_) | Effect::Use(..) | Effect::Code | Effect::ShellInput => !dry,
        Effect::Runs(name) => !spared.iter().any(|spare| covers(spare, name)),
        _ => true,
    };
    effects(command.effects.iter().filter(held), &mut later, reading);
    let given = reading.uses.len();
    reading.housekeeping.extend(command.housekeeping);
    if !command.prefer.is_empty() {
        reading.prefer = command.prefer;
    }
    for found in &scan.found {
        let what = match (&found.value, found.option.value) {
            (Some(value), Some(what)) => Some((value, what)),
            _ => None,
        };
        if let Some((value, what)) = what {
            word(what, value, found.index, reading);
        }
        if let (Some(value), Some(what)) = (&found.second, found.option.second) {
            word(what, value, found.index, reading);
        }
        let before = reading.unexplained.len();
        effects(found.option.effects.iter(), &mut later, reading);
        for unexplained in reading.unexplained.iter_mut().skip(before) {
            unexplained.detail = found.option.names.join(" ");
            unexplained.index = Some(found.index);
        }
    }
    name_destroyed(scan, reading);
    let settled = reading.uses.len() - later.spare(own..given, reading);
    let filled = place(command, scan, slots, argv, reading);
    if !filled && (!command.has_subcommands() || scan.operands.is_empty()) {
        effects(command.alone.iter().filter(held), &mut later, reading);
    }
    if scan.operands.is_empty() && scan.found.is_empty() {
        effects(command.bare.iter(), &mut later, reading);
    }
    for each in reading.uses.iter_mut().skip(settled) {
        if let Some((_, to)) = later.casts.iter().rev().find(|(from, _)| *from == each.role) {
            each.role = *to;
        }
    }
    let escalates = command.wrapper == Some(Wrapper::Escalating);
    if command.wrapper.is_some() && (escalates || !reading.inner.is_empty()) {
        reading.wrapper = command.wrapper;
    }
    finish_output(reading);
}

/// Says what a remote destruction takes away: what stands there, or else what its options name. No pattern
/// is ever offered for it.
fn name_destroyed(scan: &Scan, reading: &mut Reading) {
    let Some(Act::DestroyRemote { what }) =
        reading.acts.iter_mut().find(|act| matches!(act, Act::DestroyRemote { what } if what.is_empty()))
    else {
        return;
    };
    let operands = scan.operands.iter().map(|(_, arg)| arg.display());
    *what = operands.collect::<Vec<_>>().join(" ");
    if what.is_empty() {
        let values = scan.found.iter().filter_map(|found| found.value.as_ref().map(Arg::display));
        *what = values.collect::<Vec<_>>().join(" ");
    }
    reading.arity = 0;
}

/// Gives each operand its place. Whether there were any (of a wrapper: whether a command was given).
fn place(
    command: &Command,
    scan: &Scan,
    slots: &'static [Slot],
    argv: &[Arg],
    reading: &mut Reading,
) -> bool {
    let count = scan.operands.len();
    let fixed = slots.iter().filter(|slot| !slot.repeated).count();
    let mut repeats = count.saturating_sub(fixed);
    let mut operands = scan.operands.iter().peekable();
    let mut assignments = Vec::new();
    for slot in slots {
        match slot.what {
            What::Command | What::ShellWords => {
                let Some((index, _)) = operands.next() else { return false };
                let rest = argv.get(*index..).unwrap_or_default();
                inner(slot.what, rest, assignments, reading);
                return true;
            }
            What::Assignment => {
                while let Some((_, arg)) = operands.next_if(|(_, arg)| arg.head().contains('=')) {
                    assignments.push(arg.clone());
                }
                continue;
            }
            _ => {}
        }
        let take = if slot.repeated { std::mem::take(&mut repeats) } else { 1 };
        let mut taken = 0;
        while let Some((index, arg)) = (taken < take).then(|| operands.next()).flatten() {
            taken += 1;
            word(slot.what, arg, *index, reading);
        }
        if let (0, Some(path)) = (taken, slot.default) {
            word(slot.what, &Arg::literal(path, Span::default()), 0, reading);
        }
    }
    if !command.has_subcommands() || !slots.is_empty() {
        for (index, arg) in operands {
            reading.unexplained(Cause::UnknownOption, format!("operand {}", arg.display()), Some(*index));
        }
    }
    count > 0
}

/// The words of a wrapper's inner command.
fn inner(what: What, words: &[Arg], assignments: Vec<Arg>, reading: &mut Reading) {
    if let What::ShellWords = what {
        reading.inner.push(Inner::Shell { text: readers::joined(words), args: Vec::new(), posix: true });
        return;
    }
    let directory = reading.directory.take();
    reading.inner.push(Inner::Command { argv: words.to_vec(), fill: Fill::None, directory, assignments });
}

/// What one word is for.
pub(super) fn word(what: What, arg: &Arg, index: usize, reading: &mut Reading) {
    let dash = arg.text() == Some("-");
    match what {
        What::Use(Role::Read | Role::ReadTree | Role::SearchTree | Role::List) | What::Out if dash => {}
        What::Use(role) => {
            // Who takes a file's name may take an address.
            if matches!(role, Role::Read | Role::ReadTree | Role::Load) && arg.head().contains("://") {
                reading.act(Doing::Network);
            }
            reading.uses.push(Use { role, arg: arg.clone() });
            // What it obeys is code of its own, or may name some.
            if role == Role::Load {
                reading.unexplained(Cause::OpaqueCode, arg.display(), Some(index));
            }
        }
        What::Out => reading.uses.push(Use { role: Role::Write, arg: arg.clone() }),
        What::Data | What::Assignment | What::Command | What::ShellWords => {}
        What::ShellFile => {
            reading.uses(Role::Load, arg);
            reading.inner.push(Inner::ShellFile(arg.clone()));
        }
        What::Directory => {
            // Whether a second folder is seen from the first one is each program's own affair.
            if reading.directory.is_some() && !arg.head().starts_with('/') {
                reading.unexplained(Cause::DynamicPath, "a second folder to work in", Some(index));
            }
            reading.directory = Some(arg.clone());
        }
        What::Shell => {
            reading.inner.push(Inner::Shell { text: arg.clone(), args: Vec::new(), posix: true });
        }
        What::ShellCode => {
            reading.glances.push(vec![arg.clone()]);
            reading.unexplained(Cause::OpaqueCode, arg.display(), Some(index));
        }
        What::Code => reading.unexplained(Cause::OpaqueCode, arg.display(), Some(index)),
        What::Unexplained => reading.unexplained(Cause::UnknownOption, arg.display(), Some(index)),
        What::Plain => {
            if !is_plain(arg) {
                reading.unexplained(Cause::DynamicWord, arg.display(), Some(index));
            }
        }
        What::Package => {
            if !is_package(arg) {
                reading.unexplained(Cause::DynamicWord, arg.display(), Some(index));
            }
        }
        What::Remote => remote(arg, index, reading),
        What::Local | What::Setting => told_apart(what, arg, index, reading),
        What::OneOf(words) => {
            if !words.iter().any(|each| is_one(each, arg)) {
                reading.unexplained(Cause::UnknownOption, arg.display(), Some(index));
            }
        }
        What::Act(doing) => reading.act(doing),
        What::Language(language) => readers::language(language, arg, index, reading),
    }
}

/// Whether the word is this one, or one of those that it is a pattern for.
fn is_one(word: &str, arg: &Arg) -> bool {
    match word.strip_suffix('*') {
        // What begins so is one of them, however it goes on.
        Some(head) if !head.is_empty() => arg.head().starts_with(head) && !splits(arg),
        _ => arg.text().is_some_and(|text| text == word || fits(word, text)),
    }
}

/// A name or number without anything a shell would evaluate.
fn is_plain(arg: &Arg) -> bool {
    arg.text().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// A file, where `http://…`, `msl:…` and `@file` would be more than that; a name, where `name=value` sets it.
fn told_apart(what: What, arg: &Arg, index: usize, reading: &mut Reading) {
    let is_file = matches!(what, What::Local);
    match arg.text() {
        Some(text) if is_file && !text.contains(':') && !text.starts_with('@') => {
            word(What::Use(Role::Read), arg, index, reading);
        }
        Some(text) if !is_file && !text.contains('=') => {}
        Some(text) => reading.unexplained(Cause::UnknownOption, text, Some(index)),
        None => reading.unexplained(Cause::DynamicWord, arg.display(), Some(index)),
    }
}

/// A package's name, perhaps with a version: no path, no address, no repository of a forge.
fn is_package(arg: &Arg) -> bool {
    let Some(text) = arg.text() else { return false };
    // One `/`, between a scope and its package.
    let slashes = if text.starts_with('@') { 1 } else { 0 };
    text.starts_with(|first: char| first == '@' || first.is_ascii_alphanumeric())
        && text.matches('/').count() == slashes
        && !text.contains("..")
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "@/._-+~^=<>!*,[] ".contains(letter))
}

/// `ext::COMMAND` runs a program; what is not known may be that.
fn remote(arg: &Arg, index: usize, reading: &mut Reading) {
    match arg.text() {
        // An address is not a configured remote.
        Some(text) if text.contains("://") => reading.act(Doing::Network),
        Some(text) if !text.contains("::") => {}
        Some(text) => reading.unexplained(Cause::OpaqueCode, text, Some(index)),
        None => reading.unexplained(Cause::DynamicWord, arg.display(), Some(index)),
    }
}

fn effects(list: impl Iterator<Item = &'static Effect>, later: &mut Later, reading: &mut Reading) {
    for effect in list {
        match effect {
            Effect::Recast(from, to) => later.casts.push((*from, *to)),
            Effect::NoFirst | Effect::Operands(_) | Effect::Dry => {}
            Effect::Act(doing) => reading.act(*doing),
            Effect::Unexplained(cause) => reading.unexplained(*cause, "", None),
            Effect::Output(printed) => reading.output = output(*printed),
            Effect::Runs(name) => reading.executes_settings.push((*name).to_owned()),
            Effect::Spares("destroy-remote") => {
                reading.acts.retain(|act| !matches!(act, Act::DestroyRemote { .. }));
            }
            Effect::Spares(name) => {
                reading.executes_settings.retain(|each| !covers(name, each));
                reading.spared.push((*name).to_owned());
                later.spared.push(name);
            }
            Effect::Loads(path) => reading.loads.push((*path).to_owned()),
            Effect::Use(role, path) => {
                reading.uses.push(Use { role: *role, arg: Arg::literal(*path, Span::default()) });
            }
            Effect::Code => reading.input = Input::Code,
            Effect::ShellInput => reading.input = Input::Shell,
        }
    }
}

/// Whether `pager.*` names this setting.
fn covers(spare: &str, name: &str) -> bool {
    spare == name || spare.strip_suffix('*').is_some_and(|head| name.starts_with(head))
}

fn output(printed: Printed) -> Output {
    match printed {
        Printed::Any => Output::Any,
        Printed::Nothing => Output::Nothing,
        Printed::InputLines => Output::InputLines,
        Printed::Input => Output::Input,
        Printed::Number => Output::Number,
        Printed::Name => Output::Name,
        Printed::GitRef => Output::GitRef,
        Printed::Paths => Output::Paths { roots: Vec::new(), name: None },
        Printed::Listing => Output::Listing,
        Printed::CurrentDirectory => Output::CurrentDirectory,
    }
}

/// What is printed depends on the operands.
fn finish_output(reading: &mut Reading) {
    match &mut reading.output {
        Output::Paths { roots, name } => {
            let looked =
                reading.uses.iter().filter(|each| matches!(each.role, Role::List | Role::SearchTree));
            // Below the current directory the printed paths are bare: a name may begin with `-`.
            roots.extend(looked.map(|each| each.arg.clone()).filter(|arg| arg.text() != Some(".")));
            if roots.is_empty() {
                *name = path_pattern(&reading.uses);
            }
        }
        Output::Input if reading.uses.iter().any(|each| each.role == Role::Read) => {
            reading.output = Output::InputLines;
        }
        _ => {}
    }
}

/// The name that every printed path has, where one pattern selects them (`git ls-files '*.rs'`).
fn path_pattern(uses: &[Use]) -> Option<String> {
    let mut patterns = uses.iter().filter(|each| each.role == Role::Pattern);
    let text = patterns.next()?.arg.text()?;
    if patterns.next().is_some() || text.starts_with(':') {
        return None;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    // A plain word may name a folder, and a `[` or `\\` is read a little differently by git.
    (name.contains('*') && !name.contains(['[', '\\'])).then(|| name.to_owned())
}

impl Reading {
    /// Notes why it is not fully explained.
    pub(super) fn unexplained(&mut self, cause: Cause, detail: impl Into<String>, index: Option<usize>) {
        self.unexplained.push(Unexplained { cause, detail: detail.into(), index });
    }

    /// Notes an effect once.
    pub(super) fn act(&mut self, doing: Doing) {
        let act = doing.act();
        if !self.acts.contains(&act) {
            self.acts.push(act);
        }
    }

    /// Notes what a word is for.
    pub(super) fn uses(&mut self, role: Role, arg: &Arg) {
        self.uses.push(Use { role, arg: arg.clone() });
    }
}
