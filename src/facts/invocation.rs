//! Simple commands: what their name is, what a table says of their words, what follows from it.

use std::collections::BTreeSet;

use super::arg::{Arg, Hole, HoleKind, Part};
use super::builtin;
use super::environment::{self, Seen};
use super::gather::{Gatherer, ITEM};
use super::identity::Identity;
use super::leaving::can_fail;
use super::path::Target;
use super::programs::{Act, Input, Reading};
use super::spelling::spellings;
use super::state::{Function, State, Stream, Value, either, unknown};
use super::{Change, EffectKind, Found, Invocation, text_of};
use crate::report::Span;
use crate::syntax::{
    AssignedValue, Assignment, Cause, Piece, Redirection, RedirectionOperator, Simple, Word,
};

impl Gatherer<'_> {
    /// Assignments, words and redirections.
    pub(super) fn simple(&mut self, state: &mut State, simple: &Simple, stdin: &Stream) -> Stream {
        if let Some(stream) = self.replaced(state, simple, stdin) {
            return stream;
        }
        let argv = if is_declaration(&simple.words) {
            self.declaration_fields(state, &simple.words)
        } else {
            self.fields(state, &simple.words)
        };
        let by = (!argv.is_empty()).then_some(self.facts.invocations.len());
        let (input, captured) = self.redirections(state, &simple.redirections, by);
        let stdin = input.as_ref().unwrap_or(stdin);
        if argv.is_empty() {
            for assignment in &simple.assignments {
                self.assign(state, assignment);
            }
            return Stream::Any;
        }
        self.prints_variables(state, simple, by);
        self.other_input(state, &argv, simple);
        let reads = argv.first().and_then(Arg::text) == Some("read");
        let mut saved = Vec::new();
        for assignment in &simple.assignments {
            let name = assignment.name.clone();
            saved.push((name.clone(), state.vars.get(&name).cloned(), state.exported.contains(&name)));
            // A field separator for one `read` changes nothing else.
            if reads && name == "IFS" {
                self.assigned_value(state, assignment);
                continue;
            }
            let found = self.facts.problems.len();
            state.exported.insert(name.clone());
            self.assign(state, assignment);
            if self.facts.problems.len() == found {
                let text = self.text_of_variable(state, &name);
                self.environment(&name, text.as_deref(), Seen::Program, assignment.span);
            }
        }
        let keeps = argv.first().and_then(Arg::text).is_some_and(|name| {
            let lasting = matches!(
                name,
                "export" | "readonly" | "declare" | "typeset" | "local" | "eval" | "." | "source"
            );
            // A shell in POSIX mode keeps what stands before a special builtin.
            lasting || builtin::is_special(name)
        });
        // Where a redirection fails, nothing of the command runs.
        let before = simple.redirections.iter().any(can_fail).then(|| self.copied(state));
        let stream = self.invoke(state, argv, stdin);
        if let Some(before) = before {
            state.join(&before);
        }
        self.forget(saved.iter().map(|(name, ..)| name.clone()), false);
        for (name, value, exported) in saved.into_iter().rev() {
            // `x=1 export x` keeps the value, and an evaluated text may.
            let value = match (keeps, value) {
                (false, value) => value,
                (true, Some(Value::Text(old))) => Some(Value::Text(match state.vars.get(&name) {
                    Some(Value::Text(new)) => either(&old, new),
                    _ => unknown(),
                })),
                (true, _) => Some(Value::Text(unknown())),
            };
            match value {
                Some(value) => state.vars.insert(name.clone(), value),
                None => state.vars.remove(&name),
            };
            if !exported {
                state.exported.remove(&name);
            }
        }
        if captured {
            self.keep_written(state, &simple.redirections, stream);
            return Stream::Any;
        }
        stream
    }

    /// What a text writes into a file is remembered, for a look at it should the text run the file: the look
    /// can only find dangers, never explain.
    fn keep_written(&mut self, state: &mut State, redirections: &[Redirection], stream: Stream) {
        let [redirection] = redirections
            .iter()
            .filter(|each| each.operator == RedirectionOperator::Write)
            .collect::<Vec<_>>()[..]
        else {
            return;
        };
        let path = self.single(state, &redirection.target);
        if let (Some(path), Stream::Text(text)) = (path.text(), stream) {
            state.written.insert(path.to_owned(), text);
        }
    }

    /// The words of `export`, `declare` and their kin: `NAME=value` is not split.
    fn declaration_fields(&mut self, state: &mut State, words: &[Word]) -> Vec<Arg> {
        let mut args = Vec::new();
        for word in words {
            let assigns =
                matches!(word.pieces.first(), Some(Piece::Text { text, .. }) if is_assignment(text));
            if assigns {
                args.push(self.single(state, word));
            } else {
                args.extend(self.fields(state, std::slice::from_ref(word)));
            }
        }
        args
    }

    fn assigned_value(&mut self, state: &mut State, assignment: &Assignment) -> Value {
        let old = self.value(state, &assignment.name, assignment.span);
        match &assignment.value {
            AssignedValue::Array(words) => {
                let mut list = match (assignment.append, old) {
                    (true, Some(Value::Array(list))) => list,
                    (true, Some(Value::Text(arg))) => vec![arg],
                    _ => Vec::new(),
                };
                list.extend(self.fields(state, words));
                Value::Array(list)
            }
            AssignedValue::Word(word) => {
                let arg = self.single(state, word);
                if let Some(subscript) = &assignment.subscript {
                    self.subscript(state, subscript);
                    return Value::Text(Arg::any(Cause::DynamicWord, assignment.span));
                }
                match (assignment.append, old) {
                    (true, Some(Value::Text(mut head))) => {
                        for part in arg.parts {
                            match part {
                                Part::Text(text) => head.push_text(&text),
                                Part::Hole(hole) => head.push_hole(hole),
                            }
                        }
                        Value::Text(head)
                    }
                    (true, Some(_)) => Value::Text(Arg::any(Cause::DynamicWord, assignment.span)),
                    _ => Value::Text(arg),
                }
            }
        }
    }

    fn assign(&mut self, state: &mut State, assignment: &Assignment) {
        let value = self.assigned_value(state, assignment);
        self.set_variable(state, &assignment.name, value, assignment.span);
    }

    /// A variable is given a value: says so when that changes what runs.
    pub(super) fn environment(&mut self, name: &str, value: Option<&str>, seen: Seen, span: Span) {
        if environment::executes(name, value, seen) {
            let known = seen == Seen::Shell || environment::executes(name, value, Seen::Programs);
            let changes = if known { "changes" } else { "may change" };
            let detail = format!("setting {name} {changes} what runs");
            self.doubt(Cause::ExecutingEnvironment, detail, span, true);
        }
    }

    /// Runs an argument list in this shell.
    pub(super) fn invoke(&mut self, state: &mut State, argv: Vec<Arg>, stdin: &Stream) -> Stream {
        let Some(first) = argv.first() else { return Stream::Any };
        let span = first.span;
        self.pays(argv.len());
        if !self.step(span) {
            return Stream::Any;
        }
        let Some(name) = first.text().map(str::to_owned) else {
            return self.nameless(state, &argv, stdin);
        };
        if first.glob.is_some() {
            self.doubt(Cause::DynamicWord, "the command's name is a path pattern", span, true);
        }
        if name == "time" {
            let rest = argv.iter().skip(1).skip_while(|word| matches!(word.text(), Some("-p" | "--")));
            let rest: Vec<Arg> = rest.cloned().collect();
            if let Some(name) =
                rest.first().and_then(Arg::text).filter(|name| state.expands.contains_key(*name))
            {
                self.doubt(Cause::ShadowedProgram, format!("{name} is an alias"), span, true);
            }
            return self.invoke(state, rest, stdin);
        }
        if let Some(function) = state.functions.get(&name).cloned() {
            if let Function::Maybe(body) = function {
                let mut own = self.copied(state);
                self.call(&mut own, &name, &Function::Known(body), argv.clone(), stdin);
                let stream = self.program(state, &name, argv, stdin);
                state.join(&own);
                return if stream == Stream::Download { stream } else { Stream::Any };
            }
            return self.call(state, &name, &function, argv, stdin);
        }
        if !state.aliases.is_empty() {
            self.alias(state, &name, &argv);
            if self.answers && state.aliases.contains_key(&name) {
                self.doubt(Cause::ShadowedProgram, format!("{name} is an alias from here on"), span, true);
            }
        }
        self.program(state, &name, argv, stdin)
    }

    /// Runs what has this name beside functions.
    pub(super) fn program(
        &mut self,
        state: &mut State,
        name: &str,
        argv: Vec<Arg>,
        stdin: &Stream,
    ) -> Stream {
        let identity = self.identify(state, name);
        self.known(state, argv, &identity, stdin)
    }

    /// The command's name is not known before it runs.
    fn nameless(&mut self, state: &mut State, argv: &[Arg], stdin: &Stream) -> Stream {
        let Some(first) = argv.first() else { return Stream::Any };
        if let Some(names) = first.alternatives(8).filter(|names| !names.is_empty()) {
            for name in names {
                let mut words = vec![Arg::literal(name, first.span)];
                words.extend(argv.iter().skip(1).cloned());
                self.invoke(&mut self.copied(state), words, stdin);
            }
        }
        self.doubt(Cause::DynamicWord, "the command's name is only known when it runs", first.span, true);
        self.record(state, argv.to_vec(), None);
        state.disturb();
        Stream::Any
    }

    fn record(&mut self, state: &State, words: Vec<Arg>, reading: Option<&Reading>) -> usize {
        let span = words.first().map_or_else(Span::default, |word| word.span);
        self.facts.invocations.push(Invocation {
            words,
            base: None,
            cwd: state.cwd.clone(),
            explained: false,
            builtin: false,
            arity: reading.map_or(0, |reading| reading.arity),
            housekeeping: reading.map_or_else(Vec::new, |reading| reading.housekeeping.clone()),
            spellings: Vec::new(),
            prefer: reading.map_or("", |reading| reading.prefer),
            wrapped_in: self.wrappers.clone(),
            glimpsed: matches!(self.found, Found::Glimpsed | Found::Guessed),
            wrapper: reading.and_then(|reading| reading.wrapper),
            span: self.span(span),
        });
        self.facts.invocations.len() - 1
    }

    pub(super) fn call(
        &mut self,
        state: &mut State,
        name: &str,
        function: &Function,
        argv: Vec<Arg>,
        stdin: &Stream,
    ) -> Stream {
        let span = argv.first().map_or_else(Span::default, |word| word.span);
        self.called.insert(name.to_owned());
        if let Function::Told(told) = function {
            return self.call_told(state, (name, told), argv, stdin);
        }
        let Function::Known(body) = function else {
            self.doubt(
                Cause::ShadowedProgram,
                format!("which {name} this calls depends on what ran before"),
                span,
                true,
            );
            state.disturb();
            return Stream::Any;
        };
        if self.calls.iter().any(|calling| calling == name) {
            if self.beside {
                self.effect(EffectKind::ForkBomb, None, span);
            }
            self.doubt(Cause::Limit, format!("{name} calls itself"), span, true);
            return Stream::Any;
        }
        self.calls.push(name.to_owned());
        self.locals.push(BTreeSet::new());
        let outer = state.positional.replace(argv.into_iter().skip(1).collect());
        self.pays(state.size() * ITEM);
        let vars = state.vars.clone();
        let fixed = state.readonly.clone();
        let stream =
            self.deeper(|walk| walk.with_return(state, |walk, state| walk.command(state, body, stdin)));
        state.positional = outer;
        self.calls.pop();
        // What the function declared as its own ends with it.
        let locals = self.locals.pop().unwrap_or_default();
        self.forget(locals.iter().cloned(), true);
        for own in locals {
            if !fixed.contains(&own) {
                state.readonly.remove(&own);
            }
            match vars.get(&own) {
                Some(value) => state.vars.insert(own, value.clone()),
                None => state.vars.remove(&own),
            };
        }
        stream
    }

    /// A command whose name is known: its table, effects, inner commands, output.
    fn known(&mut self, state: &mut State, argv: Vec<Arg>, identity: &Identity, stdin: &Stream) -> Stream {
        // What flows into it may be looked through, or passed on.
        self.pays(stdin.size() / 8);
        let span = argv.first().map_or_else(Span::default, |word| word.span);
        let mut words = argv.clone();
        if let Some(first) = words.first_mut() {
            *first = Arg::literal(&identity.name, first.span);
        }
        let mut reading = self.programs.read(&words);
        if let Some(reading) = reading.as_mut().filter(|_| self.answers && identity.name == "alias") {
            // Nothing runs, and what it is to mean is known before it is used.
            reading.unexplained.clear();
        }
        if let Some(reading) = &mut reading {
            reading.skips_hidden = identity.name == "rg" && !words.iter().skip(1).any(shows_hidden);
        }
        let index = self.record(state, argv, reading.as_ref());
        if let Some(invocation) = self.facts.invocations.get_mut(index) {
            invocation.base.clone_from(&identity.base);
            invocation.spellings =
                reading.as_ref().map_or_else(Vec::new, |reading| spellings(&words, reading));
        }
        let Some(reading) = reading else {
            self.unexplained(Cause::UnknownProgram, format!("gsh has no table for {}", identity.name), span);
            self.opaque_words(&words);
            self.carried(state, &identity.name, &words);
            state.disturb();
            return if *stdin == Stream::Download { Stream::Download } else { Stream::Any };
        };
        let mut explained = self.explain(state, &words, &reading, identity, span);
        let first = self.facts.effects.len();
        explained &= self.uses(state, &reading, index);
        self.links(state, &words, first);
        if identity.name == "git" {
            self.contents(state, &reading, &words, index);
            self.git_alias(state, &words);
        }
        if identity.name == "ln" {
            self.made_link(state, &words);
        }
        explained &= self.several_words(&reading, &words);
        self.acts(state, &reading, index, span);
        if reading.acts.iter().any(|act| matches!(act, Act::GitModify)) {
            state.disturb();
            state.relinked = true;
        }
        self.code_input(state, &reading, stdin, (index, span));
        if !reading.unexplained.is_empty() {
            self.opaque_words(&words);
            self.hidden(state, (&reading, &words), stdin, index);
        }
        if let Some(invocation) = self.facts.invocations.get_mut(index) {
            invocation.explained = explained;
            invocation.builtin = identity.builtin;
        }
        let inner = self.inner(state, &reading, (&identity.name, index), stdin);
        self.builtin(state, &identity.name, &words, stdin);
        if !explained && !identity.builtin {
            state.disturb();
        }
        inner.unwrap_or_else(|| self.output(state, &reading, &words, stdin))
    }

    /// Whether what comes after must not trust links any more: this command made, moved or copied some.
    /// `first` is its first effect.
    fn links(&mut self, state: &mut State, words: &[Arg], first: usize) {
        let mine = self.facts.effects.iter().skip(first);
        let writes: Vec<Change> = mine
            .filter_map(|effect| match &effect.kind {
                EffectKind::Write { target, change } if !matches!(target, Target::Known(place) if super::is_device(&place.real)) => Some(*change),
                _ => None,
            })
            .collect();
        state.removed |=
            writes.iter().any(|change| matches!(change, Change::Move | Change::Delete | Change::DeleteTree));
        let name = words.first().and_then(Arg::text).unwrap_or_default();
        let harmless = match name {
            // A copy of one file's content is no link, unless an option says otherwise.
            "cp" | "install" => words.iter().skip(1).all(|word| {
                let head = word.head();
                !head.starts_with('-')
                    || !head.starts_with("--") && !head.contains(['a', 'd', 'R', 'r', 'P', 's', 'l'])
            }),
            "touch" | "mkdir" | "tee" | "rm" | "rmdir" | "dd" | "sed" | "truncate" | "chmod" | "sort"
            | "mktemp" => true,
            _ => {
                writes.iter().all(|change| {
                    matches!(change, Change::Create | Change::Append | Change::Write | Change::Edit)
                }) && name != "ln"
            }
        };
        state.relinked |= !writes.is_empty() && !harmless;
    }

    /// Words of an unexplained command that can be anything: no rule's pattern covers them.
    fn opaque_words(&mut self, words: &[Arg]) {
        for word in words.iter().skip(1) {
            let opaque =
                word.parts.iter().any(|part| matches!(part, Part::Hole(Hole { kind: HoleKind::Any(_), .. })));
            if opaque {
                let detail = format!("{} is only known when it runs", word.display());
                self.doubt(Cause::DynamicWord, detail, word.span, false);
            }
        }
    }

    fn acts(&mut self, state: &State, reading: &Reading, index: usize, span: Span) {
        for act in &reading.acts {
            let kind = match act {
                Act::Network { query } => EffectKind::Network { query: *query },
                Act::GitModify => EffectKind::GitModify,
                Act::Push(push) => {
                    let directory = self.directory(state, reading).filter(|_| !state.disturbed);
                    EffectKind::Push { push: push.clone(), directory }
                }
                Act::Background => EffectKind::Background,
                Act::Power => EffectKind::Power,
                Act::KillAll => EffectKind::KillAll,
                Act::DeleteUser => EffectKind::DeleteUser,
                Act::RevealSecrets => EffectKind::RevealSecrets,
                Act::Canary => EffectKind::Canary,
                Act::Disarm => EffectKind::Disarm,
                Act::DestroyRemote { what } => EffectKind::DestroyRemote { what: what.clone() },
                Act::Interactive => EffectKind::Interactive,
                Act::ShellState => {
                    self.doubt(
                        Cause::ExecutingEnvironment,
                        "it changes how the shell reads what follows",
                        span,
                        true,
                    );
                    continue;
                }
            };
            self.effect(kind, Some(index), span);
        }
    }

    /// A program that runs its standard input as code.
    fn code_input(&mut self, state: &State, reading: &Reading, stdin: &Stream, (index, span): (usize, Span)) {
        if reading.input == Input::Data {
            return;
        }
        if *stdin == Stream::Download {
            self.effect(EffectKind::RunsDownload, Some(index), span);
        }
        if let (Input::Shell, Stream::Text(text)) = (reading.input, stdin) {
            self.look(state, text);
        }
        self.unexplained(Cause::OpaqueCode, super::sent::RUNS_INPUT, span);
    }

    /// The words of a subject for messages.
    pub(super) fn written(&self, index: usize) -> String {
        self.facts.invocations.get(index).map(|each| text_of(&each.words)).unwrap_or_default()
    }
}

/// Whether an option makes ripgrep look into hidden and ignored files.
fn shows_hidden(word: &Arg) -> bool {
    let head = word.head();
    let letters = head.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    word.text().is_none()
        || letters.is_some_and(|letters| letters.contains(['u', '.']))
        || ["-g", "--glob", "--iglob", "--type-add", "--hidden", "--no-ignore", "--unrestricted"]
            .iter()
            .any(|option| head.starts_with(option))
}

fn is_declaration(words: &[Word]) -> bool {
    let first = words.first().map(|word| word.pieces.as_slice());
    matches!(first, Some([Piece::Text { text, .. }])
        if matches!(text.as_str(), "export" | "declare" | "local" | "typeset" | "readonly"))
}

/// Whether a text begins as `NAME=` or `NAME+=`.
fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
