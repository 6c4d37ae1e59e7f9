//! Commands inside commands: wrappers, `sh -c`, `eval`, scripts on standard input.

use std::rc::Rc;

use super::arg::{Arg, Below, Hole, HoleKind};
use super::effects::{replace, stream_words};
use super::environment::Seen;
use super::gather::Gatherer;
use super::path::{self, Target};
use super::programs::{Fill, Inner, Reading, Role, Wrapper};
use super::state::{State, Stream, Value};
use super::{EffectKind, Found};
use crate::report::Span;
use crate::syntax::{self, Cause};

/// Which shell reads an inner text.
enum Reader<'a> {
    /// This one, now (`eval`).
    Here,
    /// This one, at some later moment (`trap`).
    Later,
    /// A new one, with these words after the text.
    Child(&'a [Arg]),
}

impl Gatherer<'_> {
    /// Everything a command runs inside itself. The stream is what the innermost prints, when the
    /// command passes exactly that on.
    pub(super) fn inner(
        &mut self,
        state: &mut State,
        reading: &Reading,
        (name, index): (&str, usize),
        stdin: &Stream,
    ) -> Option<Stream> {
        if reading.inner.is_empty() {
            return None;
        }
        let span = self.facts.invocations.get(index).map_or_else(Span::default, |each| each.span);
        // With a file of its own for the words (`xargs -a`), the input is not what it reads.
        let elsewhere = reading.wrapper == Some(Wrapper::Multiplying)
            && reading.uses.iter().any(|each| each.role == Role::Read);
        let stdin = if elsewhere { &Stream::Any } else { stdin };
        let same_shell = matches!(name, "eval" | "command" | "builtin" | "exec" | "." | "source" | "trap");
        let wraps = reading.wrapper.is_some();
        if let Some(kind) = reading.wrapper {
            let text = self.written(index);
            self.wrappers.push((text, kind));
        }
        let before = self.found;
        if self.found == Found::Read
            && matches!(name, "ssh" | "docker" | "podman" | "kubectl" | "docker-compose")
        {
            self.found = Found::Elsewhere;
        }
        let mut last = None;
        for inner in &reading.inner {
            let before = self.facts.problems.len();
            let stream = self.deeper(|walk| {
                if same_shell {
                    walk.one(state, inner, (name, span), stdin)
                } else {
                    // A program knows nothing of this shell's functions, and ends nothing of it.
                    let mut own = walk.copied(state);
                    own.functions.clear();
                    if name == "env" && walk.takes_away(index) {
                        own.vars.values_mut().for_each(|value| *value = Value::Text(super::state::unknown()));
                        own.forgets = true;
                    }
                    let stream = walk.apart(|walk| walk.one(&mut own, inner, (name, span), stdin));
                    state.machine_of(&own);
                    stream
                }
            });
            last = Some(stream);
            // A file or input that runs as code is the runner's own doing.
            let own = matches!(inner, Inner::ShellFile(_) | Inner::ShellInput { .. });
            let code = self.facts.problems.iter().skip(before).any(|doubt| doubt.execution);
            if own
                && code
                && let Some(invocation) = self.facts.invocations.get_mut(index)
            {
                invocation.explained = false;
            }
        }
        self.found = before;
        if wraps {
            self.wrappers.pop();
        }
        let passes = reading.wrapper == Some(Wrapper::Transparent) || matches!(name, "eval" | "sh" | "bash");
        if passes && reading.inner.len() == 1 { last } else { Some(Stream::Any) }
    }

    /// Whether `env` takes variables away.
    fn takes_away(&self, index: usize) -> bool {
        let words = self.facts.invocations.get(index).map(|each| each.words.as_slice()).unwrap_or_default();
        words.iter().skip(1).any(|word| {
            let head = word.head();
            head == "-"
                || head.starts_with("--unset")
                || head.starts_with("--ignore")
                || head.starts_with('-') && !head.starts_with("--") && head.contains(['u', 'i'])
        })
    }

    fn one(
        &mut self,
        state: &mut State,
        inner: &Inner,
        (name, span): (&str, Span),
        stdin: &Stream,
    ) -> Stream {
        // Which shell `sh`, `awk` or `su` start is the machine's affair.
        let other = match name {
            "bash" | "rbash" => false,
            "eval" | "trap" | "." | "source" => self.other_shell,
            _ => self.other_shell || !matches!(inner, Inner::Command { .. }),
        };
        let before = std::mem::replace(&mut self.other_shell, other);
        let stream = self.read_inner(state, inner, (name, span), stdin);
        self.other_shell = before;
        stream
    }

    fn read_inner(
        &mut self,
        state: &mut State,
        inner: &Inner,
        (name, span): (&str, Span),
        stdin: &Stream,
    ) -> Stream {
        match inner {
            Inner::Command { argv, fill, directory, assignments } => {
                let functions = !matches!(name, "command" | "builtin" | "exec");
                self.inner_command(state, (argv, fill, functions), directory.as_ref(), assignments, stdin)
            }
            Inner::Shell { text, args, posix } => {
                let shell = match name {
                    "eval" => Reader::Here,
                    "trap" => Reader::Later,
                    _ => Reader::Child(args),
                };
                self.shell_text(state, text, (shell, *posix), stdin)
            }
            Inner::ShellInput { posix } => match stdin {
                Stream::Text(text) => {
                    let text = text.clone();
                    self.shell_text(state, &text, (Reader::Child(&[]), *posix), &Stream::Any)
                }
                stream => {
                    if *stream == Stream::Download {
                        self.effect(EffectKind::RunsDownload, None, span);
                    }
                    self.doubt(Cause::OpaqueCode, super::sent::READS_SCRIPT, span, true);
                    state.disturb();
                    Stream::Any
                }
            },
            Inner::ShellFile(file) => self.shell_file(state, file, (name, span), stdin),
        }
    }

    fn inner_command(
        &mut self,
        state: &mut State,
        (argv, fill, functions): (&[Arg], &Fill, bool),
        directory: Option<&Arg>,
        assignments: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        for assignment in assignments {
            self.set_for_child(state, assignment);
        }
        if let Some(directory) = directory {
            state.cwd = match path::targets(self.host, state.cwd.as_deref(), directory).as_slice() {
                [Target::Known(place)] => Some(place.lexical.clone()),
                _ => None,
            };
        }
        let span = argv.first().map_or_else(Span::default, |word| word.span);
        let (argv, stdin) = match fill {
            Fill::None => (argv.to_vec(), stdin.clone()),
            Fill::Input(None) => {
                let mut argv = argv.to_vec();
                argv.extend(stream_words(stdin, span));
                (argv, Stream::Any)
            }
            Fill::Input(Some(token)) => (replace(argv, token, &stdin.line(span)), Stream::Any),
            Fill::Paths { roots, token, name } => {
                (replace(argv, token, &below(roots, name.as_deref(), span)), Stream::Any)
            }
        };
        match argv.first().and_then(Arg::text).map(str::to_owned).filter(|_| !functions) {
            Some(name) if state.functions.contains_key(&name) => {
                if !self.step(span) {
                    return Stream::Any;
                }
                self.program(state, &name, argv, &stdin)
            }
            _ => self.invoke(state, argv, &stdin),
        }
    }

    /// `NAME=value` of `env` and its kin.
    fn set_for_child(&mut self, state: &mut State, assignment: &Arg) {
        let head = assignment.head().to_owned();
        let Some((name, _)) = head.split_once('=') else {
            self.doubt(
                Cause::ExecutingEnvironment,
                "which variable is set is not known here",
                assignment.span,
                true,
            );
            return;
        };
        let value = assignment.after(name.len() + 1);
        self.environment(name, value.text(), Seen::Program, assignment.span);
        state.vars.insert(name.to_owned(), Value::Text(value));
        state.exported.insert(name.to_owned());
    }

    /// A text that a shell reads.
    fn shell_text(
        &mut self,
        state: &mut State,
        text: &Arg,
        (shell, posix): (Reader<'_>, bool),
        stdin: &Stream,
    ) -> Stream {
        let Some(literal) = text.text() else {
            self.doubt(
                Cause::OpaqueCode,
                "the text this shell runs is only known when it runs",
                text.span,
                true,
            );
            state.disturb();
            return Stream::Any;
        };
        if !self.step(text.span) {
            return Stream::Any;
        }
        if !posix {
            self.doubt(
                Cause::UnsupportedShell,
                "gsh reads the language of bash and POSIX shells only",
                text.span,
                true,
            );
        }
        let script = syntax::parse(literal.as_bytes(), &self.limits);
        let outer = self.inside;
        self.inside = Some(self.span(text.span));
        // What could not be read may still show a danger plainly.
        if !script.problems.is_empty() {
            self.plain_commands(state, literal);
        }
        if self.other_shell {
            self.dialect(literal, &script);
        }
        let stream = match shell {
            Reader::Here => self.script(state, &script, stdin),
            Reader::Later => self.apart(|walk| walk.script(&mut state.later(), &script, stdin)),
            Reader::Child(args) => {
                // A shell started with `-c TEXT NAME ARGS`: the name is `$0`.
                let mut child = state.for_child(args.iter().skip(1).cloned().collect());
                let stream = self.apart(|walk| walk.script(&mut child, &script, stdin));
                state.machine_of(&child);
                stream
            }
        };
        self.inside = outer;
        stream
    }

    /// The same for a text that this very shell reads.
    pub(super) fn look_here(&mut self, state: &State, text: &Arg) {
        self.shell_text(&mut state.clone(), text, (Reader::Here, true), &Stream::Any);
    }

    /// A text that a shell may come to run: a look at it can only find dangers, never explain.
    pub(super) fn look(&mut self, state: &State, text: &Arg) {
        if text.text().is_some() {
            let mut own = self.copied(state);
            self.apart(|walk| walk.shell_text(&mut own, text, (Reader::Child(&[]), true), &Stream::Any));
        }
    }

    /// A script file that a shell runs.
    fn shell_file(
        &mut self,
        state: &mut State,
        file: &Arg,
        (name, span): (&str, Span),
        stdin: &Stream,
    ) -> Stream {
        let path = file.text().unwrap_or_default();
        let stream = match path {
            "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "-" => Some(stdin.clone()),
            path => state.pipes.get(path).cloned(),
        };
        match stream {
            Some(Stream::Text(text)) => {
                let shell = if matches!(name, "." | "source") { Reader::Here } else { Reader::Child(&[]) };
                self.with_return(state, |walk, state| {
                    walk.shell_text(state, &text, (shell, true), &Stream::Any)
                })
            }
            Some(Stream::Download) => {
                self.effect(EffectKind::RunsDownload, None, span);
                self.doubt(Cause::OpaqueCode, "it runs what it downloads", file.span, true);
                Stream::Any
            }
            _ => {
                if let Some(text) = state.written.get(path).cloned() {
                    self.look(state, &text);
                }
                let detail = format!("it runs the script {}", file.display());
                self.unexplained(Cause::OpaqueCode, detail, file.span);
                state.disturb();
                if matches!(name, "." | "source") {
                    state.vars.values_mut().for_each(|value| *value = Value::Text(super::state::unknown()));
                    self.doubt(
                        Cause::OpaqueCode,
                        "the file it reads may change what follows",
                        file.span,
                        false,
                    );
                }
                Stream::Any
            }
        }
    }
}

/// The word that stands for the paths below some starting points.
fn below(roots: &[Arg], name: Option<&str>, span: Span) -> Arg {
    let mut places = Vec::new();
    for root in roots {
        match root.text() {
            Some(root) => places.push(Below { root: root.to_owned(), name: name.map(str::to_owned) }),
            None => return Arg::any(Cause::DynamicPath, span),
        }
    }
    if places.is_empty() {
        places.push(Below { root: ".".to_owned(), name: name.map(str::to_owned) });
    }
    Arg::hole(Hole { kind: HoleKind::Below(Rc::new(places)), splits: false, lines: false }, span)
}
