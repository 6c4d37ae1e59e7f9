//! Options and operands of an argument list, by a table's option grammar.

use super::table::{Command, Effect, Opt, Slot, What, fits};
use crate::facts::arg::{Arg, HoleKind, Part};
use crate::facts::programs::Role;
use crate::syntax::Cause;

/// Words told apart.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// Options in order, with their values.
    pub(super) found: Vec<Found>,
    /// Operands with their places in the argument list.
    pub(super) operands: Vec<(usize, Arg)>,
    /// What could not be told: cause, detail, place.
    pub(super) problems: Vec<(Cause, String, usize)>,
}

/// An option that was given.
#[derive(Debug)]
pub(super) struct Found {
    /// Its entry in the table.
    pub(super) option: &'static Opt,
    /// Its value.
    pub(super) value: Option<Arg>,
    /// Its second value.
    pub(super) second: Option<Arg>,
    /// Its place in the argument list.
    pub(super) index: usize,
}

impl Scan {
    /// Whether this option was given, under any of its names.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given(name).next().is_some()
    }

    /// Each time this option was given.
    pub(super) fn given<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Found> {
        self.found.iter().filter(move |found| found.option.names.contains(&name))
    }
}

/// Tells options and operands apart from `start` on. Of a command with subcommands, or that runs
/// another command, it stops at the first operand, which is then the only one.
pub(super) fn scan(command: &'static Command, argv: &[Arg], start: usize) -> Scan {
    told(command, argv, start, command.style.first || command.has_subcommands())
}

/// The same for a command whose first operand turned out to be no subcommand.
pub(super) fn scan_through(command: &'static Command, argv: &[Arg], start: usize) -> Scan {
    told(command, argv, start, command.style.first)
}

fn told(command: &'static Command, argv: &[Arg], start: usize, stops: bool) -> Scan {
    let mut scanner = Scanner { command, argv, next: start, stops, scan: Scan::default() };
    scanner.run();
    scanner.scan
}

struct Scanner<'a> {
    command: &'static Command,
    argv: &'a [Arg],
    next: usize,
    stops: bool,
    scan: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) {
        while let Some(arg) = self.argv.get(self.next) {
            let index = self.next;
            self.next += 1;
            let head = arg.head();
            let dash = if arg.text() == Some("-") { self.lookup("-") } else { None };
            if let Some(option) = dash {
                self.found(option, None, index);
            } else if self.command.style.raw || arg.text() == Some("-") && !self.stops {
                self.operand(index, arg, false);
            } else if arg.text() == Some("--") {
                return self.rest();
            } else if head.starts_with("--") {
                self.long(index, arg);
            } else if head.starts_with('-') && arg.text() != Some("-") {
                self.short(index, arg);
            } else if head.starts_with('+') && self.plus(index, arg) {
                continue;
            } else if self.stops && !arg.may_be_option() {
                self.next = index;
                return self.rest();
            } else {
                self.operand(index, arg, true);
            }
        }
    }

    /// Every further word is an operand. The words of a command that is run are for its own table.
    fn rest(&mut self) {
        let runs = |slot: &Slot| matches!(slot.what, What::Command | What::ShellWords);
        let before = self.command.slots.iter().position(runs).unwrap_or(usize::MAX);
        let tail = self.argv.get(self.next..).unwrap_or_default();
        for (offset, arg) in tail.iter().enumerate() {
            if self.scan.operands.len() < before {
                self.operand(self.next + offset, arg, false);
            } else {
                self.scan.operands.push((self.next + offset, arg.clone()));
            }
        }
    }

    fn problem(&mut self, cause: Cause, index: usize) {
        let word = self.argv.get(index).map(Arg::display).unwrap_or_default();
        self.scan.problems.push((cause, word, index));
    }

    fn operand(&mut self, index: usize, arg: &Arg, may_be_option: bool) {
        let dangerous = may_be_option && arg.may_be_option() && !begins_with_number(arg);
        if !self.command.pure && (dangerous || self.shifts(arg)) {
            self.problem(Cause::DynamicWord, index);
        }
        self.scan.operands.push((index, arg.clone()));
    }

    /// Whether the word may become several and so move others to another operand's place.
    fn shifts(&self, arg: &Arg) -> bool {
        let one_place = matches!(self.command.slots, [slot] if slot.repeated);
        !one_place && splits(arg)
    }

    /// `+10`, `+%F`: an option where the table lists it.
    fn plus(&mut self, index: usize, arg: &Arg) -> bool {
        let digits = arg.text().is_some_and(|text| is_number(text.get(1..).unwrap_or_default()));
        let found = if digits { self.lookup("+NUM") } else { None };
        match found.or_else(|| self.lookup("+TEXT")) {
            Some(option) => {
                self.found(option, Some(arg.after(1)), index);
                true
            }
            None => false,
        }
    }

    fn lookup(&self, name: &str) -> Option<&'static Opt> {
        let names = self.command.names;
        let at = names.binary_search_by(|(each, _)| (*each).cmp(name)).ok()?;
        self.command.options.get(names.get(at)?.1)
    }

    /// The option behind a pattern of names (`--*-id`), the most particular first.
    fn pattern(&self, name: &str) -> Option<&'static Opt> {
        let fitting = self.command.names.iter().filter(|(each, _)| fits(each, name));
        let (_, place) = fitting.max_by_key(|(each, _)| each.len())?;
        self.command.options.get(*place)
    }

    /// A long name, or the beginning of just one.
    fn long_option(&self, name: &str) -> Option<&'static Opt> {
        if let Some(option) = self.lookup(name).or_else(|| self.pattern(name)) {
            return Some(option);
        }
        if self.command.style.exact || name.len() < 3 {
            return None;
        }
        let from = self.command.names.partition_point(|(each, _)| *each < name);
        let mut places =
            self.command.names.get(from..)?.iter().take_while(|(each, _)| each.starts_with(name));
        let first = places.next()?.1;
        places.all(|(_, place)| *place == first).then(|| self.command.options.get(first)).flatten()
    }

    fn long(&mut self, index: usize, arg: &Arg) {
        let head = arg.head();
        let equals = head.find('=');
        let name = head.get(..equals.unwrap_or(head.len())).unwrap_or_default();
        if equals.is_none() && arg.text().is_none() {
            return self.unknown(index, arg);
        }
        let Some(option) = self.long_option(name) else { return self.unknown(index, arg) };
        match (equals, option.value) {
            (Some(_), None) => self.problem(Cause::UnknownOption, index),
            (Some(at), Some(_)) => self.found(option, Some(arg.after(at + 1)), index),
            (None, Some(_)) if !option.optional => self.take_next(option, index),
            (None, _) => self.found(option, None, index),
        }
    }

    /// `-x`, `-xyz`, `-xVALUE`, `-maxdepth`, `-5`.
    fn short(&mut self, index: usize, arg: &Arg) {
        let head = arg.head();
        let name = head.split_once('=').map_or(head, |(name, _)| name);
        let whole = if name.len() > 2 || self.command.style.words { self.lookup(name) } else { None };
        if let Some(option) = whole.filter(|_| name.len() < head.len() || arg.text().is_some()) {
            let attached = (name.len() < head.len()).then(|| arg.after(name.len() + 1));
            return match (attached, option.value) {
                (Some(_), None) => self.problem(Cause::UnknownOption, index),
                (None, Some(_)) if !option.optional => self.take_next(option, index),
                (value, _) => self.found(option, value, index),
            };
        }
        if self.command.style.words && !is_number(head.get(1..).unwrap_or_default()) {
            return self.unknown(index, arg);
        }
        self.cluster(index, arg);
    }

    fn cluster(&mut self, index: usize, arg: &Arg) {
        let head = arg.head();
        let mut letters = head.char_indices().skip(1).peekable();
        while let Some((at, letter)) = letters.next() {
            let end = at + letter.len_utf8();
            let digits = letter.is_ascii_digit().then(|| self.lookup("-NUM")).flatten();
            let mut name = [0_u8; 5];
            let option = digits.or_else(|| self.lookup(dashed(letter, &mut name)));
            let Some(option) = option else { return self.problem(Cause::UnknownOption, index) };
            let more = end < head.len() || arg.parts.len() > 1;
            match option.value {
                None => self.found(option, None, index),
                Some(_) if more => {
                    let sign = self.command.style.equals && head.as_bytes().get(end) == Some(&b'=');
                    return self.found(option, Some(arg.after(end + usize::from(sign))), index);
                }
                Some(_) if option.optional => self.found(option, None, index),
                Some(_) => return self.take_next(option, index),
            }
            if digits.is_some() {
                while letters.next_if(|(_, next)| next.is_ascii_digit()).is_some() {}
            }
        }
        if arg.parts.len() > 1 {
            self.unknown_tail(index);
        }
    }

    /// Letters that are not known, after some that are.
    fn unknown_tail(&mut self, index: usize) {
        if !self.command.pure {
            self.problem(Cause::DynamicWord, index);
        }
    }

    fn take_next(&mut self, option: &'static Opt, index: usize) {
        match self.next_value(option.value) {
            Some(value) => self.found(option, Some(value), index),
            None => self.problem(Cause::UnknownOption, index),
        }
    }

    fn found(&mut self, option: &'static Opt, value: Option<Arg>, index: usize) {
        let second = if option.second.is_some() { self.next_value(option.second) } else { None };
        self.scan.found.push(Found { option, value, second, index });
    }

    /// The next word, whatever it looks like.
    fn next_value(&mut self, what: Option<What>) -> Option<Arg> {
        let value = self.argv.get(self.next)?;
        if matches!(what, Some(What::Data)) && self.hides(value) {
            self.problem(Cause::UnknownOption, self.next);
        }
        if splits(value) && !self.command.pure {
            self.problem(Cause::DynamicWord, self.next);
        }
        self.next += 1;
        Some(value.clone())
    }

    /// Whether a value would be an option that does harm if the one before it took none: not every version
    /// of a program agrees with the table about that.
    fn hides(&self, value: &Arg) -> bool {
        let head = value.head();
        let name = head.split_once('=').map_or(head, |(name, _)| name);
        let short = || head.get(..2).filter(|name| name.starts_with('-') && *name != "--");
        let option = self.lookup(name).or_else(|| self.lookup(short()?));
        name.len() > 1 && name.starts_with('-') && option.is_some_and(harms)
    }

    fn unknown(&mut self, index: usize, arg: &Arg) {
        if arg.text().is_some() {
            self.problem(Cause::UnknownOption, index);
        } else {
            self.unknown_tail(index);
        }
    }
}

/// Whether the option does more than read.
fn harms(option: &Opt) -> bool {
    let reads = |role: Role| {
        matches!(role, Role::Read | Role::ReadTree | Role::SearchTree | Role::List | Role::Pattern)
    };
    let value = match option.value {
        Some(What::Use(role)) => !reads(role),
        Some(What::Out | What::Shell | What::ShellCode | What::ShellFile | What::Code | What::Act(_)) => true,
        _ => false,
    };
    let does = |effect: &Effect| match effect {
        Effect::Act(_) | Effect::Unexplained(_) | Effect::Code | Effect::ShellInput => true,
        Effect::Use(role, _) | Effect::Recast(_, role) => !reads(*role),
        _ => false,
    };
    value || option.effects.iter().any(does)
}

/// Whether the word may become no word, or several.
pub(super) fn splits(arg: &Arg) -> bool {
    arg.parts
        .iter()
        .any(|part| matches!(part, Part::Hole(hole) if hole.splits && matches!(hole.kind, HoleKind::Any(_))))
}

/// A number may be negative, but no table has an option of digits that does harm.
fn begins_with_number(arg: &Arg) -> bool {
    let number = |part: &Part| matches!(part, Part::Hole(hole) if matches!(hole.kind, HoleKind::Number));
    arg.parts.first().is_some_and(number) && !splits(arg)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn dashed(letter: char, buffer: &mut [u8; 5]) -> &str {
    buffer[0] = b'-';
    let length = letter.encode_utf8(&mut buffer[1..]).len();
    std::str::from_utf8(&buffer[..=length]).unwrap_or("-")
}

/// The operand places that hold, after the options had their say.
pub(super) fn slots(command: &'static Command, scan: &Scan) -> &'static [Slot] {
    let mut slots = command.slots;
    let mut skip = false;
    for effect in scan.found.iter().flat_map(|found| found.option.effects) {
        match effect {
            Effect::Operands(other) => slots = other,
            Effect::NoFirst => skip = true,
            _ => {}
        }
    }
    if skip { slots.get(1..).unwrap_or_default() } else { slots }
}
