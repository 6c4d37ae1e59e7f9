//! The walk's frame: what it carries, its limits, and its start.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::rc::Rc;

use super::arg::Arg;
use super::leaving::Exits;
use super::programs::{Programs, Wrapper};
use super::state::{Elsewhere, State, Stream};
use super::survey::Survey;
use super::tool::of_tool;
use super::{Doubt, Effect, EffectKind, Facts, Found};
use crate::host::Host;
use crate::report::Span;
use crate::request::{Entry, Request};
use crate::syntax::{self, Cause, Limits, Problem, Script};

/// How many commands one text may lead to, with all that its functions, loops and inner texts repeat.
const STEPS: usize = 8_000;

/// How deep texts may nest in texts (`sh -c`, `eval`, functions, wrappers).
pub(super) const DEPTH: usize = 24;

/// How many compound commands may stand in each other over all texts and functions: the walk is
/// recursive, and its stack must be enough in any caller.
const LEVELS: usize = 160;

/// What all expansions, copies and look-ups of a text may cost: the unit is about a character of a word.
const WORK: usize = 512 << 10;

/// What a word, a variable or a name in a folder costs where it is copied or compared.
pub(super) const ITEM: usize = 16;

/// How much effects may weigh: each may become a question, and all rules are held against it.
const EFFECTS: usize = 6000;

/// What an effect weighs beside a file that is read with many others.
const EFFECT: usize = 2;

/// Walks a script and writes down its facts.
pub(super) struct Gatherer<'a> {
    pub host: &'a dyn Host,
    pub programs: &'a Programs,
    pub facts: Facts,
    pub steps: usize,
    /// What is left of [`WORK`]; in a cell because looking something up costs as well.
    work: Cell<usize>,
    /// Effects so far, and the files that they list.
    effects: usize,
    /// The problems written down so far.
    known: HashSet<Problem>,
    pub depth: usize,
    pub levels: usize,
    /// Functions being called, outermost first.
    pub calls: Vec<String>,
    /// Variables that each of them made its own.
    pub locals: Vec<BTreeSet<String>>,
    /// Functions that were called somewhere.
    pub called: BTreeSet<String>,
    /// Wrappers around the command being read, outermost first.
    pub wrappers: Vec<(String, Wrapper)>,
    /// Where an inner text stands in the outer one; spans of the inner text become this.
    pub inside: Option<Span>,
    /// POSIX mode: assignments before a special builtin last, and no function takes such a name.
    pub posix: bool,
    /// How what is written down now was found.
    pub found: Found,
    /// A shell that may not be bash reads this text.
    pub other_shell: bool,
    /// The command runs beside others (`&`, a pipeline): a function that calls itself here is a bomb.
    pub beside: bool,
    /// Process substitutions made so far, for their names.
    pub substitutions: usize,
    /// What the shell may hold where a part of it is left early.
    pub exits: Exits,
    /// The shell reads the text from its standard input.
    pub from_stdin: bool,
    pub limits: Limits,
    /// The shell says what it holds after a text that sets aliases, before another one is read.
    pub answers: bool,
    /// Aliases whose text is being read.
    pub expanding: Vec<String>,
    /// What is read has had its aliases replaced: the body of a function that the shell printed.
    pub expanded: bool,
}

/// What a script would do when it runs as the request says.
#[must_use]
pub fn gather(script: &Script, request: &Request, host: &dyn Host, programs: &Programs) -> Facts {
    gather_after(&Past::default(), script, request, host, programs)
}

/// The same for a shell that has run other texts before.
#[must_use]
pub fn gather_after(
    past: &Past,
    script: &Script,
    request: &Request,
    host: &dyn Host,
    programs: &Programs,
) -> Facts {
    if let Some(tool) = &request.tool {
        return of_tool(tool, &request.cwd.to_string_lossy(), host);
    }
    let mut walk = Gatherer::new(host, programs);
    if request.options.input {
        walk.sent(request);
        return walk.facts;
    }
    let args = || request.args.iter().map(|arg| Arg::literal(arg, Span::default())).collect();
    let mut state = match &past.0 {
        Some(left) => walk.copied(left),
        None => State {
            cwd: request.cwd.to_str().map(str::to_owned),
            // A person's own shell may have been given some (`set --`).
            positional: (request.entry != Entry::Typed).then(args),
            ..State::default()
        },
    };
    walk.facts.starts = request.setting.starts;
    walk.options(request);
    if !request.setting.doubt.is_empty() {
        walk.doubt(Cause::UnsupportedShell, request.setting.doubt.as_str(), Span::default(), true);
    }
    walk.manner(&state, request.as_text());
    walk.prelude(&mut state, &request.setting.prelude);
    // A job reads what it is sent later, each text decided by itself; its start gives it nothing.
    let nothing = Stream::Text(Arg::literal("", Span::default()));
    walk.script(&mut state, script, if request.options.leaves { &nothing } else { &Stream::Any });
    if request.options.leaves {
        let by = (!walk.facts.invocations.is_empty()).then_some(0);
        walk.effect(EffectKind::Background, by, Span { start: 0, end: request.text.len() });
    }
    state.strays |= walk.strays();
    Facts { left: Past(Some(Rc::new(state))), ..walk.facts }
}

/// What the texts that a shell has run left in it: where the next one starts from.
#[derive(Debug, Clone, Default)]
pub struct Past(Option<Rc<State>>);

impl Past {
    /// Whether nothing has run.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The same in a shell that is known to be in this directory now.
    #[must_use]
    pub fn at(self, cwd: &Path) -> Self {
        let Some(state) = self.0 else { return self };
        let state = State { cwd: cwd.to_str().map(str::to_owned), tentative: false, ..(*state).clone() };
        Self(Some(Rc::new(state)))
    }

    /// The same in a shell that waits at its prompt in this directory: what ran before has run, so the machine
    /// can be asked again.
    #[must_use]
    pub fn waiting(self, cwd: Option<&Path>) -> Self {
        let Some(state) = self.0 else { return self };
        let state = State {
            cwd: cwd.and_then(Path::to_str).map(str::to_owned),
            tentative: false,
            git_aliases: BTreeMap::new(),
            links: BTreeMap::new(),
            written: BTreeMap::new(),
            pipes: BTreeMap::new(),
            disturbed: false,
            relinked: false,
            opaque: false,
            removed: false,
            ..(*state).clone()
        };
        Self(Some(Rc::new(state)))
    }

    /// Whether something ran that may have changed the shell in ways that are not known here.
    #[must_use]
    pub fn strays(&self) -> bool {
        self.0.as_ref().is_some_and(|state| state.strays)
    }

    /// The same in a shell that said this of itself.
    #[must_use]
    pub fn surveyed(self, survey: &Survey) -> Self {
        let mut state = self.0.map_or_else(State::default, |state| (*state).clone());
        survey.tell(&mut state);
        Self(Some(Rc::new(state)))
    }

    /// Where the shell reads the rest of the script that was on its standard input, if no more there.
    #[must_use]
    pub fn elsewhere(&self) -> Option<Elsewhere> {
        self.0.as_ref().and_then(|state| state.elsewhere)
    }
}

/// What one argument list would do by the built-in tables, run from `cwd` (the words of a raw text that no
/// parser could read).
#[must_use]
pub fn gather_words(argv: Vec<Arg>, cwd: &Path, host: &dyn Host) -> Facts {
    let programs = Programs::default();
    let mut walk = Gatherer::new(host, &programs);
    let mut state =
        State { cwd: cwd.to_str().map(str::to_owned), positional: Some(Vec::new()), ..State::default() };
    walk.invoke(&mut state, argv, &Stream::Any);
    walk.facts
}

impl<'a> Gatherer<'a> {
    pub(super) fn new(host: &'a dyn Host, programs: &'a Programs) -> Self {
        Self {
            host,
            programs,
            facts: Facts::default(),
            steps: STEPS,
            work: Cell::new(WORK),
            effects: 0,
            known: HashSet::new(),
            depth: 0,
            levels: 0,
            calls: Vec::new(),
            locals: Vec::new(),
            called: BTreeSet::new(),
            wrappers: Vec::new(),
            inside: None,
            posix: false,
            found: Found::Read,
            other_shell: false,
            beside: false,
            substitutions: 0,
            exits: Exits::default(),
            from_stdin: false,
            limits: Limits::default(),
            answers: false,
            expanding: Vec::new(),
            expanded: false,
        }
    }

    /// Shell options that make the text mean something else than what was parsed.
    fn options(&mut self, request: &Request) {
        let options = request.options;
        self.posix = options.posix;
        self.from_stdin = matches!(request.entry, Entry::Stdin | Entry::Interactive);
        self.answers = request.entry == Entry::Interactive;
        for (set, what, grave) in [
            (options.shopt, "a shopt option changes how the text is read", true),
            (options.expansion, "an option changes how words are expanded", false),
        ] {
            if set {
                self.doubt(Cause::ExecutingEnvironment, what, Span::default(), grave);
            }
        }
    }

    /// What the shell was told before: it stays known, and nothing is asked for it.
    fn prelude(&mut self, state: &mut State, text: &str) {
        if text.is_empty() {
            return;
        }
        let script = syntax::parse(text.as_bytes(), &self.limits);
        let before = std::mem::take(&mut self.facts);
        self.with_lines(state, |walk, state| walk.sequence(state, &script.body, &Stream::Any, true));
        self.facts = before;
        self.known = self.facts.problems.iter().map(|doubt| doubt.problem.clone()).collect();
        self.called.clear();
        if let Some(problem) = script.problems.first() {
            let detail = format!("what its caller defined before: {}", problem.detail);
            self.doubt(problem.cause, detail, Span::default(), true);
        }
    }

    /// A whole text: its problems, then what it runs.
    pub(super) fn script(&mut self, state: &mut State, script: &Script, stdin: &Stream) -> Stream {
        for problem in &script.problems {
            self.doubt(problem.cause, problem.detail.as_str(), problem.span, true);
        }
        self.with_lines(state, |walk, state| walk.sequence(state, &script.body, stdin, true))
    }

    /// A span of the text being walked, in the outermost text.
    pub(super) fn span(&self, span: Span) -> Span {
        self.inside.unwrap_or(span)
    }

    /// Something that cannot be told; `grave` when what it hides may be anything.
    pub(super) fn doubt(&mut self, cause: Cause, detail: impl Into<String>, span: Span, grave: bool) {
        self.note((cause, detail.into(), span), grave, false);
    }

    /// A program, option or code that gsh has no reading of: the rules for running programs decide.
    pub(super) fn unexplained(&mut self, cause: Cause, detail: impl Into<String>, span: Span) {
        self.note((cause, detail.into(), span), false, true);
    }

    fn note(&mut self, (cause, detail, span): (Cause, String, Span), grave: bool, execution: bool) {
        let problem = Problem { cause, detail, span: self.span(span) };
        if self.known.insert(problem.clone()) {
            self.facts.problems.push(Doubt { problem, grave, execution });
        }
    }

    /// A limit was reached.
    pub(super) fn limit(&mut self, what: &str, span: Span) {
        self.doubt(Cause::Limit, format!("limit reached: {what}"), span, true);
    }

    /// Pays for work; false when there is none left for it, and then no command after this one is read.
    pub(super) fn pays(&self, amount: usize) -> bool {
        let left = self.work.get().saturating_sub(amount);
        self.work.set(left);
        left > 0
    }

    /// A copy of the shell, whose work grows with all that the shell knows.
    pub(super) fn copied(&self, state: &State) -> State {
        // It is joined with the first again, or dropped: each entry is looked at twice. Without pay it is
        // empty, and the command that it is for ends the walk.
        if self.pays(state.size() * 2 * ITEM) { state.clone() } else { State::default() }
    }

    /// Whether there is budget for one more command; says so once when there is not.
    pub(super) fn step(&mut self, span: Span) -> bool {
        if !self.pays(0) {
            self.limit("the work of all expansions", span);
            return false;
        }
        if self.steps == 0 || self.depth > DEPTH || self.levels > LEVELS {
            self.limit("commands or nesting", span);
            return false;
        }
        self.steps -= 1;
        true
    }

    /// Writes down an effect.
    pub(super) fn effect(&mut self, kind: EffectKind, by: Option<usize>, span: Span) {
        let files = match &kind {
            EffectKind::ReadTree { files: Some(files), .. } => files.len(),
            _ => 0,
        };
        self.effects += EFFECT + files;
        if self.effects > EFFECTS {
            self.work.set(0);
            return self.limit("effects", span);
        }
        self.descriptor_path(&kind, span);
        self.facts.effects.push(Effect { kind, by, span: self.span(span), found: self.found });
    }

    /// Runs `body` one level deeper.
    pub(super) fn deeper<T>(&mut self, body: impl FnOnce(&mut Self) -> T) -> T {
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }
}
