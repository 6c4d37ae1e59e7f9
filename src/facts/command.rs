//! Compound commands: lists, pipelines, loops, functions, and how state flows through them.

use std::rc::Rc;

use super::EffectKind;
use super::arg::{Arg, Hole, HoleKind, Part};
use super::builtin;
use super::changes::Changes;
use super::gather::{Gatherer, ITEM};
use super::leaving::can_fail;
use super::state::{Function, State, Stream, Value, unknown};
use crate::report::Span;
use crate::syntax::{Cause, Command, Connective, Redirection, Script, Statement, Word};

/// How often a loop's body is read again when a round changes what the next one finds.
const ROUNDS: usize = 3;

impl Gatherer<'_> {
    /// Statements in order; the stream is what they print, when only one of them prints.
    pub(super) fn statements(&mut self, state: &mut State, body: &[Statement], stdin: &Stream) -> Stream {
        self.sequence(state, body, stdin, false)
    }

    /// Statements, perhaps those of a whole text (an error may end a line of it, and the next one runs).
    pub(super) fn sequence(
        &mut self,
        state: &mut State,
        body: &[Statement],
        stdin: &Stream,
        whole: bool,
    ) -> Stream {
        let mut output = None;
        for statement in body {
            state.settle();
            if statement.on_new_line {
                self.next_line(state, whole);
            }
            if !self.step(statement.span) {
                return Stream::Any;
            }
            let printed = if statement.background {
                self.background(state, statement, stdin)
            } else {
                self.command(state, &statement.command, stdin)
            };
            output = Some(if output.is_none() { printed } else { Stream::Any });
        }
        self.uncalled(state, body);
        match (output, body) {
            (Some(stream), [_]) => stream,
            // Assignments and `cd` before the last statement print nothing, but telling that apart
            // is not worth the risk of a wrong text.
            _ => Stream::Any,
        }
    }

    fn background(&mut self, state: &mut State, statement: &Statement, stdin: &Stream) -> Stream {
        let first = self.facts.invocations.len();
        let before = std::mem::replace(&mut self.beside, true);
        self.subshell(state, |walk, own| walk.command(own, &statement.command, stdin));
        self.beside = before;
        let by = (self.facts.invocations.len() > first).then_some(first);
        self.effect(EffectKind::Background, by, statement.span);
        Stream::Any
    }

    /// Bodies of functions that this list defines and nothing in the text calls: judged with
    /// unknown arguments, since something outside the text may call them.
    fn uncalled(&mut self, state: &State, body: &[Statement]) {
        let mut defined = Vec::new();
        body.iter().for_each(|statement| definitions(&statement.command, &mut defined));
        for (name, body) in defined {
            if !self.called.contains(name) && self.calls.is_empty() {
                let mut own = State { positional: None, ..self.copied(state) };
                self.deeper(|walk| walk.command(&mut own, body, &Stream::Any));
            }
        }
    }

    /// One command of any form, one level deeper.
    pub(super) fn command(&mut self, state: &mut State, command: &Command, stdin: &Stream) -> Stream {
        self.levels += 1;
        let stream = if self.step(Span::default()) { self.form(state, command, stdin) } else { Stream::Any };
        self.levels -= 1;
        stream
    }

    fn form(&mut self, state: &mut State, command: &Command, stdin: &Stream) -> Stream {
        match command {
            Command::Simple(simple) => self.simple(state, simple, stdin),
            Command::Pipeline { parts, span, negated } => {
                let stream = self.pipeline(state, parts, *span, stdin);
                if *negated {
                    state.settle();
                }
                stream
            }
            Command::AndOr { left, operator, right, .. } => {
                self.and_or(state, (left, *operator, right), stdin);
                Stream::Any
            }
            Command::Group(body) => self.statements(state, body, stdin),
            Command::Subshell(body) => self.subshell(state, |walk, own| walk.statements(own, body, stdin)),
            Command::If { arms, otherwise } => self.branches(state, arms, otherwise, stdin),
            Command::Loop { condition, body } => self.repeat(
                state,
                stdin,
                |walk, state| {
                    walk.statements(state, condition, stdin);
                    walk.statements(state, body, stdin);
                },
                (&[condition, body], &[]),
            ),
            Command::For { name, words, body } => self.for_each(state, (name, words.as_deref(), body), stdin),
            Command::ArithmeticFor { header, body } => {
                for name in &header.names {
                    state.vars.entry(name.clone()).or_insert_with(|| Value::Text(number(header.span)));
                }
                self.arithmetic(state, header);
                self.repeat(
                    state,
                    stdin,
                    |walk, state| {
                        for name in &header.names {
                            walk.set_variable(state, name, Value::Text(number(header.span)), header.span);
                        }
                        walk.statements(state, body, stdin);
                    },
                    (&[body], &header.names),
                )
            }
            Command::Case { subject, arms } => self.case(state, (subject, arms), stdin),
            Command::Function { name, body, span } => {
                if self.posix && builtin::is_special(name) {
                    self.doubt(
                        Cause::UnknownConstruct,
                        "in POSIX mode no function has this name",
                        *span,
                        true,
                    );
                }
                if name == "command_not_found_handle" {
                    let detail = "bash calls this function for every program that is not there";
                    self.doubt(Cause::ExecutingEnvironment, detail, *span, true);
                }
                state.functions.insert(name.clone(), Function::Known(Rc::new((**body).clone())));
                Stream::Any
            }
            Command::Test { words, span } => self.test(state, words, *span),
            Command::Arithmetic(arithmetic) => {
                self.arithmetic(state, arithmetic);
                self.assign_numbers(state, arithmetic);
                Stream::Any
            }
            Command::Redirected { command, redirections, .. } => {
                self.redirected(state, command, redirections, stdin)
            }
            // Its problem is among the script's problems.
            Command::NotUnderstood(_) => Stream::Any,
        }
    }

    fn pipeline(&mut self, state: &mut State, parts: &[Command], span: Span, stdin: &Stream) -> Stream {
        if let [only] = parts {
            return self.command(state, only, stdin);
        }
        let before = std::mem::replace(&mut self.beside, true);
        let first = self.facts.invocations.len();
        let mut stream = stdin.clone();
        self.pays(stream.size());
        let mut texts = Vec::new();
        for part in parts {
            let from = self.facts.invocations.len();
            stream = self.subshell(state, |walk, own| walk.command(own, part, &stream));
            texts.push(self.texts_since(from));
        }
        self.beside = before;
        if self.facts.invocations.len() > first {
            let text = texts.join(" | ");
            self.pays(text.len());
            let span = self.span(span);
            self.facts.mentions.push((text, span));
        }
        stream
    }

    /// The commands written down since `from`, as one text (only the outer ones, not what wrappers run).
    fn texts_since(&self, from: usize) -> String {
        let depth = self.wrappers.len();
        let outer = self.facts.invocations.iter().skip(from).filter(|each| each.wrapped_in.len() == depth);
        outer.map(super::Invocation::text).collect::<Vec<_>>().join("; ")
    }

    /// Runs a list; what holds behind it if all of `a && b && c` succeeded.
    fn and_or(
        &mut self,
        state: &mut State,
        (left, operator, right): (&Command, Connective, &Command),
        stdin: &Stream,
    ) -> Option<State> {
        let from = self.facts.invocations.len();
        let done = match left {
            Command::AndOr { left, operator: inner, right, .. } => {
                self.levels += 1;
                let done =
                    self.step(Span::default()).then(|| self.and_or(state, (left, *inner, right), stdin));
                self.levels -= 1;
                done.flatten().filter(|_| operator == Connective::And)
            }
            _ => {
                self.command(state, left, stdin);
                None
            }
        };
        let middle = self.facts.invocations.len();
        let mut after = done.unwrap_or_else(|| self.copied(state));
        // After `&&` the directory was entered; otherwise nobody knows.
        match operator {
            Connective::And => after.tentative = false,
            Connective::Or => after.settle(),
        }
        self.command(&mut after, right, stdin);
        // `cd DIR && …` and `cd DIR || exit`: what follows the list runs where the list leaves it.
        let settled = operator == Connective::Or && self.leaves(&after, right);
        if !settled {
            state.join(&after);
        }
        let (first, second) = (self.range_text(from, middle), self.texts_since(middle));
        if !first.is_empty() && !second.is_empty() {
            let sign = if operator == Connective::And { "&&" } else { "||" };
            let span = self.span(Span::default());
            self.pays(first.len() + second.len());
            self.facts.mentions.push((format!("{first} {sign} {second}"), span));
        }
        (operator == Connective::And).then_some(after)
    }

    fn range_text(&self, from: usize, to: usize) -> String {
        let depth = self.wrappers.len();
        let range = self.facts.invocations.get(from..to).unwrap_or_default();
        let outer = range.iter().filter(|each| each.wrapped_in.len() == depth);
        outer.map(super::Invocation::text).collect::<Vec<_>>().join("; ")
    }

    fn branches(
        &mut self,
        state: &mut State,
        arms: &[(Vec<Statement>, Vec<Statement>)],
        otherwise: &[Statement],
        stdin: &Stream,
    ) -> Stream {
        let mut ends = Vec::new();
        for (condition, body) in arms {
            if !self.step(Span::default()) {
                break;
            }
            self.statements(state, condition, stdin);
            let mut inside = self.copied(state);
            self.statements(&mut inside, body, stdin);
            ends.push(inside);
        }
        self.statements(state, otherwise, stdin);
        for end in &ends {
            self.pays(end.size() * ITEM);
            state.join(end);
        }
        Stream::Any
    }

    /// A body that runs any number of times: what it assigns is unknown before and after it, but for what it
    /// sets of its own at the beginning of each round.
    fn repeat(
        &mut self,
        state: &mut State,
        _stdin: &Stream,
        body: impl Fn(&mut Self, &mut State),
        (parts, own): (&[&[Statement]], &[String]),
    ) -> Stream {
        let mut found = Changes::default();
        for part in parts {
            found.scan(part);
        }
        // A called function's changes count too; which one is called is not worth telling here.
        for function in state.functions.values() {
            match function {
                Function::Known(body) | Function::Maybe(body) => found.scan_command(body),
                Function::Told(_) => {}
                Function::Ambiguous => found.anything = true,
            }
        }
        found.scan_told(&state.functions);
        self.pays(found.commands * ITEM);
        let mut inside = self.copied(state);
        if found.anything {
            inside.vars.values_mut().for_each(|value| *value = Value::Text(unknown()));
            inside.cwd = None;
            inside.positional = None;
        }
        // A function defined in the body is another one in the next round.
        for name in &found.functions {
            inside.functions.insert(name.clone(), Function::Ambiguous);
        }
        for (name, numeric) in &found.assigned {
            let value = if *numeric { number(Span::default()) } else { unknown() };
            inside.vars.insert(name.clone(), Value::Text(value));
        }
        if found.moves {
            inside.cwd = None;
        }
        let before = self.copied(&inside);
        self.with_break(&mut inside, &body);
        // What one round changes the next one finds.
        let mut next = before;
        for _ in 0..ROUNDS {
            if !next.widen(&inside, own) {
                break;
            }
            let mut round = self.copied(&next);
            self.with_break(&mut round, &body);
            inside.join(&round);
        }
        state.join(&inside);
        Stream::Any
    }

    fn for_each(
        &mut self,
        state: &mut State,
        (name, words, body): (&str, Option<&[Word]>, &[Statement]),
        stdin: &Stream,
    ) -> Stream {
        let items = match words {
            Some(words) => self.fields(state, words),
            None => state.positional.clone().unwrap_or_else(|| vec![unknown()]),
        };
        let value = one_of(&items);
        self.repeat(
            state,
            stdin,
            |walk, state| {
                walk.set_variable(state, name, Value::Text(value.clone()), Span::default());
                walk.statements(state, body, stdin);
            },
            (&[body], &[name.to_owned()]),
        )
    }

    fn case(&mut self, state: &mut State, (subject, arms): (&Word, &[Arm]), stdin: &Stream) -> Stream {
        self.single(state, subject);
        for (patterns, body) in arms {
            if !self.step(subject.span) {
                break;
            }
            for pattern in patterns {
                self.single(state, pattern);
            }
            // An arm may fall through to the next (`;&`), so each starts where any before it may end.
            let mut inside = self.copied(state);
            self.statements(&mut inside, body, stdin);
            state.join(&inside);
        }
        Stream::Any
    }

    fn redirected(
        &mut self,
        state: &mut State,
        command: &Command,
        redirections: &[Redirection],
        stdin: &Stream,
    ) -> Stream {
        let (input, captured) = self.redirections(state, redirections, None);
        let before = redirections.iter().any(can_fail).then(|| self.copied(state));
        let stream = self.command(state, command, input.as_ref().unwrap_or(stdin));
        if let Some(before) = before {
            state.join(&before);
        }
        if captured { Stream::Any } else { stream }
    }

    /// Runs `body` in a copy of the shell: what it changes in the shell is lost, what it changes on
    /// the machine is not.
    fn subshell<T>(&mut self, state: &mut State, body: impl FnOnce(&mut Self, &mut State) -> T) -> T {
        let mut own = self.copied(state);
        let result = self.apart(|walk| body(walk, &mut own));
        state.machine_of(&own);
        result
    }

    /// `$( … )`: a subshell, and what it prints.
    pub(super) fn substitution(&mut self, state: &mut State, script: &Script, span: Span) -> Stream {
        if !self.step(span) {
            return Stream::Any;
        }
        self.deeper(|walk| walk.subshell(state, |walk, own| walk.script(own, script, &Stream::Any)))
    }

    /// `<( … )`: a subshell, and the path bash puts in its place.
    pub(super) fn process(&mut self, state: &mut State, script: &Script, output: bool, span: Span) -> String {
        self.substitutions += 1;
        let path = format!("/dev/fd/{}", 1000 - self.substitutions.min(900));
        if self.step(span) {
            let before = std::mem::replace(&mut self.beside, true);
            let stream =
                self.deeper(|walk| walk.subshell(state, |walk, own| walk.script(own, script, &Stream::Any)));
            self.beside = before;
            let held = if output { Stream::Any } else { stream };
            state.pipes.insert(path.clone(), held);
        }
        path
    }
}

/// Patterns and body of one arm of `case`.
type Arm = (Vec<Word>, Vec<Statement>);

/// The loop variable's value: one of the items.
fn one_of(items: &[Arg]) -> Arg {
    let span = items.first().map_or_else(Span::default, |arg| arg.span);
    if let [Arg { parts, .. }] = items
        && let [Part::Hole(hole)] = parts.as_slice()
    {
        return Arg::hole(Hole { kind: hole.kind.clone(), splits: true, lines: false }, span);
    }
    let mut texts = Vec::new();
    for item in items {
        match item.alternatives(super::path::ENUMERATED) {
            Some(more) => texts.extend(more),
            None => return Arg::any(Cause::DynamicWord, span),
        }
    }
    if texts.len() > super::path::ENUMERATED {
        return Arg::any(Cause::Limit, span);
    }
    let glob = items.first().and_then(|arg| arg.glob.clone());
    match texts.as_slice() {
        [only] => Arg { glob, ..Arg::literal(only, span) },
        _ => Arg {
            glob,
            ..Arg::hole(Hole { kind: HoleKind::OneOf(Rc::new(texts)), splits: true, lines: false }, span)
        },
    }
}

fn number(span: Span) -> Arg {
    Arg::hole(Hole { kind: HoleKind::Number, splits: true, lines: false }, span)
}

/// The functions that a command defines, with their bodies, wherever in a list or pipeline they stand;
/// those inside of groups and other bodies are found with the statements there.
fn definitions<'a>(command: &'a Command, found: &mut Vec<(&'a String, &'a Command)>) {
    match command {
        Command::Function { name, body, .. } => found.push((name, body)),
        Command::AndOr { left, right, .. } => {
            [left, right].into_iter().for_each(|each| definitions(each, found))
        }
        Command::Pipeline { parts, .. } => parts.iter().for_each(|each| definitions(each, found)),
        _ => {}
    }
}
