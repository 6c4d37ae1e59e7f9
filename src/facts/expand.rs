//! Words to arguments: the shell's expansions in bash's order, with holes for what is not known.

use std::rc::Rc;

use super::arg::{Arg, Hole, HoleKind, Part};
use super::brace::{self, Unit as BraceUnit};
use super::edit::{self, edited};
use super::field::{Unit, fixed, glued, push_list, push_parts, split};
use super::gather::{Gatherer, ITEM};
use super::glob;
use super::leaving;
use super::state::{State, Stream, Value};
use crate::report::Span;
use crate::syntax::{Cause, ParameterForm, Piece, Word};

/// The most fields one word may split into.
const FIELDS: usize = 2048;

impl Gatherer<'_> {
    /// Every field that the words expand to.
    pub(super) fn fields(&mut self, state: &mut State, words: &[Word]) -> Vec<Arg> {
        let mut args = Vec::new();
        for word in words {
            let more = self.field(state, word);
            let paid = self.pays(more.len() * ITEM);
            args.extend(more);
            if args.len() > FIELDS || !paid {
                self.limit("fields", word.span);
                break;
            }
        }
        args
    }

    /// The fields of one word: braces, expansions, splitting, path patterns.
    fn field(&mut self, state: &mut State, word: &Word) -> Vec<Arg> {
        // Most words have no brace; their tildes can stay what the reading made them.
        let braced = word.pieces.iter().any(has_brace);
        let units = brace_units(word, !braced);
        let Some(alternatives) = brace::expand(&units) else {
            self.limit("brace expansion", word.span);
            return vec![Arg::any(Cause::Limit, word.span)];
        };
        let expands = braced && alternatives.as_slice() != [units.as_slice()];
        let mut args = Vec::new();
        for alternative in alternatives {
            // Braces come before tildes: each word that they make has its own.
            let units = match expands.then(|| leading_tilde(&alternative)) {
                None if braced => self.units(state, word, &brace_units(word, true)),
                Some(Tilde::Doubtful) => {
                    args.push(Arg::any(Cause::DynamicPath, word.span));
                    continue;
                }
                None | Some(Tilde::Absent) => self.units(state, word, &alternative),
                Some(Tilde::User(user, rest)) => {
                    let mut units = Vec::new();
                    self.tilde(state, &user, &mut units);
                    units.extend(self.units(state, word, rest));
                    units
                }
            };
            if !self.affords(&units, word.span) {
                return vec![Arg::any(Cause::Limit, word.span)];
            }
            for field in split(units, state.separators()) {
                args.extend(self.paths(state, &field, word.span));
            }
        }
        args
    }

    /// A word where bash neither splits nor expands paths: assignments, redirection targets of one
    /// word, `case` subjects, here-document bodies.
    pub(super) fn single(&mut self, state: &mut State, word: &Word) -> Arg {
        let units: Vec<BraceUnit> = (0..word.pieces.len()).map(BraceUnit::Piece).collect();
        let mut arg = Arg { span: self.span(word.span), ..Arg::default() };
        let units = self.units(state, word, &units);
        if !self.affords(&units, word.span) {
            return Arg::any(Cause::Limit, word.span);
        }
        for unit in units {
            match unit {
                Unit::Char { character, .. } => arg.push_text(character.encode_utf8(&mut [0; 4])),
                Unit::Hole(mut hole) => {
                    hole.splits = false;
                    arg.push_hole(hole);
                }
                Unit::Break => arg.push_text(" "),
                Unit::Quotes => {}
            }
        }
        arg
    }

    /// Whether these units are within what all expansions of a text may come to.
    fn affords(&mut self, units: &[Unit], span: Span) -> bool {
        let paid = self.pays(units.len());
        if !paid {
            self.limit("the length of all expansions", span);
        }
        paid
    }

    fn units(&mut self, state: &mut State, word: &Word, alternative: &[BraceUnit]) -> Vec<Unit> {
        let mut units = Vec::new();
        let lone = word.pieces.iter().any(is_all_words);
        for unit in alternative {
            match unit {
                BraceUnit::Char(character, quoted) => {
                    units.push(Unit::Char { character: *character, active: !quoted, splits: false });
                }
                BraceUnit::Piece(index) => {
                    // The quotes of a lone "$@" make no word where there are no parameters.
                    if let Some(piece) = word.pieces.get(*index).filter(|piece| !(lone && is_empty(piece))) {
                        self.piece(state, piece, word.span, &mut units);
                    }
                }
            }
        }
        units
    }

    fn piece(&mut self, state: &mut State, piece: &Piece, span: Span, units: &mut Vec<Unit>) {
        match piece {
            Piece::Text { text, quoted } => {
                if *quoted {
                    units.push(Unit::Quotes);
                }
                units.extend(text.chars().map(|character| Unit::Char {
                    character,
                    active: !quoted,
                    splits: false,
                }));
            }
            Piece::Tilde(user) => self.tilde(state, user, units),
            Piece::Parameter { name, form, quoted } => {
                // Quotes make a word, even an empty one; only "$@" and its kin may make none.
                if *quoted && !is_all_words(piece) {
                    units.push(Unit::Quotes);
                }
                self.parameter(state, (name, form), *quoted, span, units);
            }
            Piece::Substitution { script, quoted } => {
                if *quoted {
                    units.push(Unit::Quotes);
                }
                let stream = self.substitution(state, script, span);
                push_parts(&stream.parts(*quoted), *quoted, units);
            }
            Piece::Process { script, output } => {
                let path = self.process(state, script, *output, span);
                units.extend(path.chars().map(fixed));
            }
            Piece::Arithmetic(arithmetic) => {
                self.arithmetic(state, arithmetic);
                if self.arithmetic_fails(state, arithmetic) {
                    self.may_abort(state);
                }
                self.assign_numbers(state, arithmetic);
                units.push(Unit::Hole(Hole { kind: HoleKind::Number, splits: false, lines: false }));
            }
        }
    }

    fn tilde(&mut self, state: &State, user: &str, units: &mut Vec<Unit>) {
        let user = user.strip_prefix('~').unwrap_or(user);
        let home = match user {
            "" => self.text_of_variable(state, "HOME").or_else(|| self.default_home()),
            "+" => state.cwd.clone(),
            "-" => None,
            name => self.host.home_of(name).and_then(|path| path.to_str().map(str::to_owned)),
        };
        match home {
            Some(home) => units.extend(home.chars().map(fixed)),
            None if matches!(user, "" | "+" | "-") => {
                units.push(Unit::Hole(Hole {
                    kind: HoleKind::Any(Cause::DynamicPath),
                    splits: false,
                    lines: false,
                }));
            }
            // bash leaves `~nobody-here` as it is.
            None => units.extend(format!("~{user}").chars().map(fixed)),
        }
    }

    fn parameter(
        &mut self,
        state: &mut State,
        (name, form): (&str, &ParameterForm),
        quoted: bool,
        span: Span,
        units: &mut Vec<Unit>,
    ) {
        if matches!(form, ParameterForm::Length) {
            units.push(Unit::Hole(Hole { kind: HoleKind::Number, splits: !quoted, lines: false }));
            return;
        }
        if matches!(form, ParameterForm::Plain) && matches!(name, "@" | "*") {
            self.all_positional(state, name == "@", quoted, units);
            return;
        }
        if matches!(name, "@" | "*") {
            self.may_abort(state);
            units.push(Unit::Hole(Hole {
                kind: HoleKind::Any(Cause::DynamicWord),
                splits: true,
                lines: true,
            }));
            return;
        }
        if let Some((array, subscript)) = name.split_once('[') {
            self.element(state, (array, subscript.trim_end_matches(']')), form, quoted, units);
            return;
        }
        let value = match form {
            ParameterForm::Indirect => self.indirect(state, name, span),
            _ => self.value(state, name, span),
        };
        let plain = matches!(form, ParameterForm::Plain | ParameterForm::Length | ParameterForm::Indirect);
        let parts = match (form, value) {
            (_, Some(Value::Text(arg))) if plain => arg.parts,
            (_, Some(Value::Array(list))) if plain => {
                list.into_iter().next().map(|arg| arg.parts).unwrap_or_default()
            }
            (ParameterForm::Plain | ParameterForm::Length | ParameterForm::Indirect, _) => unset(),
            (ParameterForm::Fallback { operator, operand }, value) => {
                return self.fallback(state, (name, operator, operand), value, quoted, units);
            }
            (ParameterForm::Edit { operator, operand }, value) => {
                self.pays(edit::cost(value.as_ref(), operand));
                if operator == ":" && leaving::slice_fails(operand) {
                    self.may_abort(state);
                }
                edited(value.as_ref(), operator, operand)
            }
        };
        push_parts(&parts, quoted, units);
    }

    /// `${name:-word}` and its kin.
    fn fallback(
        &mut self,
        state: &mut State,
        (name, operator, operand): (&str, &str, &Word),
        value: Option<Value>,
        quoted: bool,
        units: &mut Vec<Unit>,
    ) {
        let known = match &value {
            Some(Value::Text(arg)) => arg.text().map(|text| !text.is_empty() || !operator.starts_with(':')),
            Some(_) => None,
            None => Some(false),
        };
        let mut other = self.single(state, operand);
        if quoted {
            other.parts.iter_mut().for_each(|part| {
                if let Part::Hole(hole) = part {
                    hole.splits = false;
                }
            });
        }
        let kind = operator.trim_start_matches(':');
        let own = match value {
            Some(Value::Text(arg)) => arg.parts,
            _ => Vec::new(),
        };
        match (kind, known) {
            ("-" | "=" | "?", Some(true)) => push_parts(&own, quoted, units),
            ("-" | "=", Some(false)) => {
                if kind == "=" {
                    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                        self.may_abort(state);
                    }
                    self.set_variable(state, name, Value::Text(other.clone()), operand.span);
                }
                push_parts(&other.parts, quoted, units);
            }
            ("+", Some(true)) => push_parts(&other.parts, quoted, units),
            ("+" | "?", Some(false)) => {}
            _ => {
                let hole = Hole { kind: HoleKind::Any(Cause::DynamicWord), splits: !quoted, lines: false };
                if kind == "=" {
                    let arg = Arg::hole(hole.clone(), operand.span);
                    self.set_variable(state, name, Value::Text(arg), operand.span);
                }
                units.push(Unit::Hole(hole));
            }
        }
    }

    /// `${name[3]}`, `${name[@]}`.
    fn element(
        &mut self,
        state: &State,
        (array, subscript): (&str, &str),
        form: &ParameterForm,
        quoted: bool,
        units: &mut Vec<Unit>,
    ) {
        let list = match state.vars.get(array) {
            Some(Value::Array(list)) if matches!(form, ParameterForm::Plain) => {
                self.pays(list.len() * ITEM);
                Some(list.clone())
            }
            _ => None,
        };
        let fails = match form {
            ParameterForm::Edit { operator, operand } => operator == ":" && leaving::slice_fails(operand),
            ParameterForm::Fallback { operator, .. } => operator.ends_with('='),
            _ => false,
        };
        if fails {
            self.may_abort(state);
        }
        let Some(list) = list else {
            if !matches!(subscript, "@" | "*") {
                self.subscript(state, subscript);
            }
            units.push(Unit::Hole(Hole {
                kind: HoleKind::Any(Cause::DynamicWord),
                splits: true,
                lines: true,
            }));
            return;
        };
        if matches!(subscript, "@" | "*") {
            push_list(&list, quoted, subscript == "@", units);
        } else if let Some(arg) = subscript.parse::<usize>().ok().and_then(|index| list.get(index)) {
            push_parts(&arg.parts, quoted, units);
        } else {
            self.subscript(state, subscript);
            push_parts(&unset(), quoted, units);
        }
    }

    fn all_positional(&mut self, state: &State, separate: bool, quoted: bool, units: &mut Vec<Unit>) {
        match &state.positional {
            Some(args) => {
                self.pays(args.len() * ITEM);
                push_list(args, quoted, separate, units);
            }
            None => units.push(Unit::Hole(Hole {
                kind: HoleKind::Any(Cause::DynamicWord),
                splits: true,
                lines: false,
            })),
        }
    }

    /// Path expansion of one field.
    fn paths(&mut self, state: &State, field: &[Unit], span: Span) -> Vec<Arg> {
        let span = self.span(span);
        let mut arg = Arg { span, ..Arg::default() };
        let mut pattern = String::new();
        let mut wild = false;
        // The word before its first wildcard.
        let mut before = None;
        for unit in field {
            match unit {
                Unit::Char { character, active, .. } => {
                    if *active && before.is_none() && matches!(character, '*' | '?' | '[') {
                        before = Some(arg.clone());
                    }
                    arg.push_text(character.encode_utf8(&mut [0; 4]));
                    let special = matches!(character, '*' | '?' | '[' | '\\');
                    wild |= *active && special && *character != '\\';
                    if special && !(*active && *character != '\\') {
                        pattern.push('\\');
                    }
                    pattern.push(*character);
                }
                Unit::Hole(hole) => arg.push_hole(hole.clone()),
                Unit::Quotes | Unit::Break => {}
            }
        }
        let Some(text) = arg.text().map(str::to_owned) else {
            // What a pattern with an unknown part finds is not known from its first wildcard on.
            if let Some(mut head) = before {
                head.push_hole(Hole { kind: HoleKind::Any(Cause::DynamicWord), splits: true, lines: true });
                arg = head;
            }
            return vec![glued(arg, wild)];
        };
        if !wild || !glob::is_pattern(&pattern) {
            return vec![arg];
        }
        let glob: Rc<str> = Rc::from(pattern.as_str());
        arg.glob = Some(Rc::clone(&glob));
        if state.disturbed {
            let mut unknown = Arg::any(Cause::DynamicPath, span);
            unknown.glob = Some(glob);
            return vec![unknown];
        }
        if state.cwd.is_none() && !text.starts_with('/') {
            let mut unknown = Arg::any(Cause::DynamicPath, span);
            unknown.glob = Some(glob);
            return vec![unknown];
        }
        match glob::expand(self.host, state.cwd.as_deref(), &pattern, &|names| self.pays(names)) {
            None => {
                self.limit("path pattern", span);
                vec![Arg::any(Cause::Limit, span)]
            }
            Some(found) if found.is_empty() => vec![arg],
            Some(found) => found
                .into_iter()
                .map(|path| Arg { glob: Some(Rc::clone(&glob)), ..Arg::literal(path, span) })
                .collect(),
        }
    }
}

/// `$@` or `${name[@]}`: in quotes one word for each value, and none for none.
fn is_all_words(piece: &Piece) -> bool {
    matches!(piece, Piece::Parameter { name, .. } if name == "@" || name.ends_with("[@]"))
}

fn is_empty(piece: &Piece) -> bool {
    matches!(piece, Piece::Text { text, .. } if text.is_empty())
}

/// What an unset variable expands to: nothing here, but a start-up file may have set it.
pub(super) fn unset() -> Vec<Part> {
    vec![Part::Hole(Hole { kind: HoleKind::Any(Cause::DynamicWord), splits: true, lines: false })]
}

fn has_brace(piece: &Piece) -> bool {
    matches!(piece, Piece::Text { text, quoted: false } | Piece::Tilde(text) if text.contains('{'))
}

/// The units of a word before its braces expand: a tilde is only text then, unless it is to be kept.
fn brace_units(word: &Word, tildes: bool) -> Vec<BraceUnit> {
    let mut units = Vec::new();
    for (index, piece) in word.pieces.iter().enumerate() {
        match piece {
            Piece::Text { text, quoted: false } => {
                units.extend(text.chars().map(|character| BraceUnit::Char(character, false)));
            }
            Piece::Tilde(text) if !tildes => {
                units.extend(text.chars().map(|character| BraceUnit::Char(character, false)));
            }
            _ => units.push(BraceUnit::Piece(index)),
        }
    }
    units
}

/// The tilde of a word that braces made.
enum Tilde<'a> {
    Absent,
    /// The words after the tilde up to the first slash, and what follows.
    User(String, &'a [BraceUnit]),
    /// A tilde that may be one: after `=` or `:`, or one that an expansion goes on from.
    Doubtful,
}

fn leading_tilde(units: &[BraceUnit]) -> Tilde<'_> {
    let plain = |unit: &BraceUnit, wanted: char| *unit == BraceUnit::Char(wanted, false);
    let inside = units.windows(2).any(|pair| {
        matches!(pair, [before, tilde] if plain(tilde, '~') && (plain(before, '=') || plain(before, ':')))
    });
    if inside {
        return Tilde::Doubtful;
    }
    if !units.first().is_some_and(|unit| plain(unit, '~')) {
        return Tilde::Absent;
    }
    let end = units.iter().position(|unit| plain(unit, '/')).unwrap_or(units.len());
    let (prefix, rest) = units.split_at(end);
    let user: Option<String> = prefix
        .iter()
        .skip(1)
        .map(|unit| match unit {
            BraceUnit::Char(character, false) => Some(*character),
            _ => None,
        })
        .collect();
    match user {
        Some(user) if !user.starts_with(|first: char| first.is_ascii_digit()) => Tilde::User(user, rest),
        _ => Tilde::Doubtful,
    }
}

/// The stream that a word makes when it is a here-document or here-string.
pub(super) fn document(arg: Arg, newline: bool) -> Stream {
    let mut arg = arg;
    if newline {
        arg.push_text("\n");
    }
    Stream::Text(arg)
}
