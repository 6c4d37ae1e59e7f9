//! What an interactive shell that said what it holds makes of a line: aliases that it replaces, functions that it
//! has, options by which it reads.

use std::rc::Rc;

use super::Invocation;
use super::arg::Arg;
use super::gather::Gatherer;
use super::state::{Function, State, Stream};
use super::survey::Told;
use crate::report::Span;
use crate::syntax::{self, Cause, Command, Piece, Simple, Statement};

/// Builtins with which a shell comes to read or call otherwise; what they do to it is asked of it.
const TURNING: &[&str] = &["alias", "enable", "set", "shopt", "trap", "unalias"];

impl Gatherer<'_> {
    /// Whether what was walked may have changed the shell in ways that were not followed.
    pub(super) fn strays(&self) -> bool {
        let turns = |invocation: &Invocation| {
            let name = invocation.words.first().and_then(Arg::text);
            name.is_some_and(|name| TURNING.contains(&name))
        };
        self.facts.problems.iter().any(|doubt| !doubt.execution) || self.facts.invocations.iter().any(turns)
    }

    /// Says where the shell does not read as ever.
    pub(super) fn manner(&mut self, state: &State, text: &str) {
        let manner = Rc::clone(&state.manner);
        self.posix |= manner.posix;
        let (whole, cause) = (Span::default(), Cause::ExecutingEnvironment);
        if let Some(name) = &manner.other {
            self.doubt(cause, format!("with the option {name} the shell may do something else"), whole, true);
        }
        if manner.globs && text.contains(['*', '?', '[', '{', '(']) {
            self.doubt(cause, "an option changes which files a pattern finds", whole, false);
        }
        if manner.moves && text.contains("cd") && text.contains([';', '&', '|', '\n']) {
            self.doubt(cause, "an option changes where cd leads", whole, false);
        }
    }

    /// Calls a function as the shell printed it.
    pub(super) fn call_told(
        &mut self,
        state: &mut State,
        (name, told): (&str, &Told),
        argv: Vec<Arg>,
        stdin: &Stream,
    ) -> Stream {
        let span = argv.first().map_or_else(Span::default, |word| word.span);
        let Some(body) = told.body() else {
            self.doubt(Cause::ShadowedProgram, format!("the function {name} is not understood"), span, true);
            state.disturb();
            return Stream::Any;
        };
        let outer = self.inside;
        self.inside = Some(self.span(span));
        let expanded = std::mem::replace(&mut self.expanded, true);
        let stream = self.call(state, name, &Function::Known(body), argv, stdin);
        (self.inside, self.expanded) = (outer, expanded);
        stream
    }

    /// A command whose first word the shell replaces by the text of an alias; None where it does not.
    pub(super) fn replaced(&mut self, state: &mut State, simple: &Simple, stdin: &Stream) -> Option<Stream> {
        if self.expanded || state.expands.is_empty() {
            return None;
        }
        let name = unquoted(simple)?;
        let text = state.expands.get(name).filter(|_| !self.expanding.iter().any(|other| other == name))?;
        if !self.step(simple.span) {
            return Some(Stream::Any);
        }
        let Some(body) = self.in_place(state, simple, text) else {
            let detail = format!("the alias {name} stands for more than gsh follows: {text}");
            self.doubt(Cause::ShadowedProgram, detail, simple.span, true);
            state.disturb();
            return Some(Stream::Any);
        };
        let outer = self.inside;
        self.inside = Some(self.span(simple.span));
        self.expanding.push(name.to_owned());
        let stream = self.deeper(|walk| walk.statements(state, &body, stdin));
        self.expanding.pop();
        self.inside = outer;
        Some(stream)
    }

    /// The alias's own commands, with the words behind its name behind the last of them and what stands before
    /// it before the first.
    fn in_place(&self, state: &State, simple: &Simple, text: &str) -> Option<Vec<Statement>> {
        let words = simple.words.get(1..).unwrap_or_default();
        let next = words.first().and_then(|word| match word.pieces.as_slice() {
            [Piece::Text { text, quoted: false }] => Some(text.as_str()),
            _ => None,
        });
        // Its last blank makes the next word one that is replaced as well.
        let goes_on =
            text.ends_with([' ', '\t']) && next.is_some_and(|next| state.expands.contains_key(next));
        // In those the name would be replaced once more.
        let nests = words
            .iter()
            .flat_map(|word| &word.pieces)
            .any(|piece| matches!(piece, Piece::Substitution { .. } | Piece::Process { .. }));
        let early = simple
            .redirections
            .iter()
            .any(|each| each.span.start < simple.words.first().map_or(0, |word| word.span.start));
        let script = syntax::parse(text.as_bytes(), &self.limits);
        let commented = text.contains('#') || text.contains("<<");
        if goes_on || nests || early || commented || !script.problems.is_empty() {
            return None;
        }
        let mut body = script.body;
        head(body.first_mut()?)?.assignments.splice(0..0, simple.assignments.iter().cloned());
        let last = body.last_mut().filter(|last| !last.background)?;
        let tail = tail(&mut last.command).filter(|_| !text.trim_end().ends_with([';', '&', '|']))?;
        tail.words.extend(words.iter().cloned());
        tail.redirections.extend(simple.redirections.iter().cloned());
        Some(body)
    }
}

/// The first word, where it is one that an alias may stand for.
fn unquoted(simple: &Simple) -> Option<&str> {
    match simple.words.first()?.pieces.as_slice() {
        [Piece::Text { text, quoted: false }] => Some(text),
        _ => None,
    }
}

fn head(first: &mut Statement) -> Option<&mut Simple> {
    let mut command = &mut first.command;
    loop {
        command = match command {
            Command::Simple(simple) => return Some(simple),
            Command::Pipeline { parts, .. } => parts.first_mut()?,
            Command::AndOr { left, .. } => left,
            _ => return None,
        };
    }
}

fn tail(last: &mut Command) -> Option<&mut Simple> {
    let mut command = last;
    loop {
        command = match command {
            Command::Simple(simple) => return Some(simple),
            Command::Pipeline { parts, .. } => parts.last_mut()?,
            Command::AndOr { right, .. } => right,
            _ => return None,
        };
    }
}
