//! From bytes to a [`Script`]: the checks of the raw text, the grammar, and what bounds them.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{ControlFlow, Range};

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::heredoc::{self, HereDocument, Split};
use super::quiet::quiet;
use super::{Cause, Command, Problem, Script, Statement, second};
use crate::report::Span;

/// What a text may cost. None of these is a time: a slow machine changes no reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The length of the text.
    pub bytes: usize,
    /// The length of what is left of it without blanks and the bodies of here-documents. The grammar
    /// looks ahead over the whole rest for some tokens, so its worst time grows with the square of this.
    pub code: usize,
    /// How deeply commands may stand in commands.
    pub depth: usize,
    /// How many nodes the grammar may find in the text.
    pub nodes: usize,
    /// How often the grammar may report progress (it does so every hundred steps).
    pub progress: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 128 * 1024, code: 24 * 1024, depth: 64, nodes: 200_000, progress: 2_500 }
    }
}

/// Every text inside backticks or a here-document costs this many nodes more: a parser of its own.
const NODES_PER_TEXT: usize = 200;

/// How often a text is read again with the ends of lines that the grammar lost. One time shows all that
/// are not inside a part that was lost itself.
const MOST_REPAIRS: usize = 4;

/// More than this many problems say nothing more to a person.
const MOST_PROBLEMS: usize = 64;

/// Reads a text as bash would.
///
/// It always gives a script. What was not understood is in [`Script::problems`]; when that is empty,
/// every byte of the text is accounted for by the script.
#[must_use]
pub fn parse(text: &[u8], limits: &Limits) -> Script {
    let budget = Budget::new(limits);
    if text.len() > limits.bytes {
        let detail = format!("text-length: more than {} bytes", limits.bytes);
        return refused(problem(Cause::Limit, detail, Span::new(0, text.len())));
    }
    match std::str::from_utf8(text) {
        Err(error) => {
            let start = error.valid_up_to();
            let span = Span::new(start, text.len().min(start + error.error_len().unwrap_or(1)));
            let valid = text.get(..start).and_then(|head| std::str::from_utf8(head).ok()).unwrap_or("");
            let mut script = read(valid, &Place { budget: &budget, depth: 0, outer: None });
            script.problems.insert(0, problem(Cause::ParseError, "odd-char: not UTF-8", span));
            script
        }
        Ok(text) => {
            let mut script = read(text, &Place { budget: &budget, depth: 0, outer: None });
            script.problems.truncate(MOST_PROBLEMS);
            if script.problems.is_empty() {
                script.problems.extend(second::differs(text, &script));
            }
            script
        }
    }
}

pub(super) fn problem(cause: Cause, detail: impl Into<String>, span: Span) -> Problem {
    Problem { cause, detail: detail.into(), span }
}

fn refused(problem: Problem) -> Script {
    let statement = Statement {
        command: Command::NotUnderstood(problem.clone()),
        background: false,
        on_new_line: false,
        span: problem.span,
    };
    Script { body: vec![statement], problems: vec![problem] }
}

/// What is left of the limits; shared by a text and all texts inside it.
pub(super) struct Budget {
    progress: Cell<usize>,
    nodes: Cell<usize>,
    code: usize,
    pub(super) depth: usize,
}

impl Budget {
    fn new(limits: &Limits) -> Self {
        Self {
            progress: Cell::new(limits.progress),
            nodes: Cell::new(limits.nodes),
            code: limits.code,
            depth: limits.depth,
        }
    }

    fn spend(purse: &Cell<usize>, amount: usize) -> bool {
        match purse.get().checked_sub(amount) {
            Some(rest) => {
                purse.set(rest);
                true
            }
            None => false,
        }
    }
}

/// Where a text stands: inside how many others, and which span its parts get when its own offsets
/// mean nothing in the outermost text.
#[derive(Clone, Copy)]
pub(super) struct Place<'b> {
    pub(super) budget: &'b Budget,
    pub(super) depth: usize,
    pub(super) outer: Option<Span>,
}

impl Place<'_> {
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        self.outer.unwrap_or(Span::new(start, end))
    }
}

/// Reads one text, the outermost or one inside backticks or a here-document.
pub(super) fn read(text: &str, place: &Place<'_>) -> Script {
    if let Some(limit) = entry_limit(text, place) {
        return refused(limit);
    }
    let mut problems: Vec<Problem> = odd_character(text, place).into_iter().collect();
    let split = match heredoc::split(text) {
        Ok(split) => split,
        Err(doubt) => {
            let start = text.floor_char_boundary(doubt.at);
            let span = place.span(start, text.ceil_char_boundary(start + 1));
            problems.push(problem(Cause::UnknownConstruct, doubt.check, span));
            Split::untouched(text)
        }
    };
    let mut shown = split.masked.clone();
    let (mut script, mut lost) = read_as(&shown, &split, place, problems.clone());
    for _ in 0..MOST_REPAIRS {
        if lost.is_empty() {
            break;
        }
        shown = with_ends(&shown, &lost);
        let (again, still) = read_as(&shown, &split, place, problems.clone());
        if again.problems.len() >= script.problems.len() {
            break;
        }
        (script, lost) = (again, still);
    }
    script
}

/// Reads a text with the structure that the grammar finds in `shown`, which has the text's length. The
/// lines that the grammar lost come along: stretches of blanks and comments, with a newline behind them,
/// where a simple command ends for bash and goes on for the grammar.
fn read_as(
    shown: &str,
    split: &Split,
    place: &Place<'_>,
    mut problems: Vec<Problem>,
) -> (Script, Vec<Range<usize>>) {
    let tree = match grammar(shown, place) {
        Ok(tree) => tree,
        Err(limit) => {
            problems.push(limit.clone());
            return (Script { problems, ..refused(limit) }, Vec::new());
        }
    };
    // Where the grammar fails it gets a second try with quoted characters made harmless.
    let second = tree.root_node().has_error().then(|| quiet(shown)).flatten();
    let second =
        second.and_then(|quiet| grammar(&quiet, place).ok()).filter(|tree| !tree.root_node().has_error());
    let tree = second.unwrap_or(tree);
    let survey = match survey(&tree, place) {
        Ok(survey) => survey,
        Err(limit) => {
            problems.push(limit.clone());
            return (Script { problems, ..refused(limit) }, Vec::new());
        }
    };
    problems.extend(survey.broken.clone());
    let mut reader = Reader {
        text: split.masked.as_bytes(),
        whole: &split.masked,
        documents: &split.documents,
        read_writes: &split.read_writes,
        substitutions: Some(survey.substitutions),
        place: *place,
        pos: 0,
        problems,
        lost: Vec::new(),
        crossed: false,
    };
    let body = reader.program(tree.root_node());
    (Script { body, problems: reader.problems }, reader.lost)
}

/// The text with a `;` where the grammar lost the end of a line. Behind a simple command it says the same
/// to bash; only the grammar sees it, and the reading from the bytes must fit what it finds then.
fn with_ends(shown: &str, lost: &[Range<usize>]) -> String {
    let mut bytes = shown.as_bytes().to_vec();
    for stretch in lost {
        for byte in bytes.get_mut(stretch.clone()).into_iter().flatten() {
            *byte = b' ';
        }
        if let Some(first) = bytes.get_mut(stretch.start) {
            *first = b';';
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| shown.to_owned())
}

/// Check `odd-char`: characters that bash and a person read differently. Control characters and the
/// blanks of Unicode are word characters to bash, separators to the grammar, and invisible.
fn odd_character(text: &str, place: &Place<'_>) -> Option<Problem> {
    text.char_indices().find(|(_, c)| is_odd(*c)).map(|(at, c)| {
        let detail = format!("odd-char: U+{:04X}", u32::from(c));
        problem(Cause::UnknownConstruct, detail, place.span(at, at + c.len_utf8()))
    })
}

/// Whether `c` may not stand in a text at all.
pub(super) fn is_odd(c: char) -> bool {
    let blank = matches!(c, ' ' | '\t' | '\n');
    let invisible =
        matches!(u32::from(c), 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2069 | 0xFEFF | 0x180E);
    !blank && (c.is_control() || c.is_whitespace() || invisible)
}

/// Whether a text inside others is one too many, or too deep.
fn entry_limit(text: &str, place: &Place<'_>) -> Option<Problem> {
    let span = place.span(0, text.len());
    if place.depth > place.budget.depth {
        let detail = format!("nesting: deeper than {}", place.budget.depth);
        return Some(problem(Cause::Limit, detail, span));
    }
    let paid = place.depth == 0 || Budget::spend(&place.budget.nodes, NODES_PER_TEXT);
    (!paid).then(|| problem(Cause::Limit, "nodes: too many texts in this text", span))
}

/// The steps of the grammar grow with the square of these counts, and the work of one step with the
/// count itself: counting steps would stop it late. No text that a person could judge comes near them.
fn costly_shape(text: &str) -> Option<&'static str> {
    let (mut open, mut deepest, mut closed, mut bars, mut patterns) =
        (0usize, 0usize, 0usize, 0usize, 0usize);
    let (mut sums, mut brackets, mut documents) = (0usize, 0usize, 0usize);
    let mut before = b' ';
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => {
                open += 1;
                deepest = deepest.max(open);
                patterns += usize::from(b"@?*+!".contains(&before));
                sums += usize::from(before == b'(');
            }
            b'[' => {
                sums += usize::from(before == b'$');
                let after = bytes.get(at + 1).is_some_and(|after| !b" \t\n[".contains(after));
                brackets += usize::from(before == b']' || after && b" \t\n;&|(".contains(&before));
            }
            b')' if open == 0 => closed += 1,
            b')' => open -= 1,
            b'|' => bars += 1,
            b'<' => documents += usize::from(before == b'<'),
            _ => {}
        }
        before = byte;
    }
    let counts = [
        (deepest, 512, "nesting: too many open parentheses"),
        (closed, 512, "nesting: too many closing parentheses"),
        (bars, 1280, "bar-count: too many bars"),
        (patterns, 1024, "pattern-count: too many pattern lists"),
        (sums, 1024, "arith-count: too many arithmetic texts"),
        (brackets, 512, "bracket-count: too many words that begin with a bracket"),
        (documents, 512, "document-count: too many here-documents"),
    ];
    counts.into_iter().find(|(count, most, _)| count > most).map(|(_, _, shape)| shape)
}

/// What a hundred steps of the grammar cost. Once it has met an error each step may go back over all
/// that follows, so its work grows with the text, which is not understood anyway: only a few kilobytes more
/// are read then, for the dangers that can still be seen in them.
fn step_cost(state: &ParseState, length: usize) -> usize {
    if state.has_error() { 60 * (length / 1024).max(1) } else { 1 }
}

/// Runs the grammar, unless it would need more steps than are left.
fn grammar(text: &str, place: &Place<'_>) -> Result<Tree, Problem> {
    let limit = |detail: &str| problem(Cause::Limit, detail, place.span(0, text.len()));
    if let Some(shape) = costly_shape(text) {
        return Err(limit(shape));
    }
    if text.bytes().filter(|byte| !b" \t\n".contains(byte)).count() > place.budget.code {
        return Err(limit("code-length: too much outside here-documents"));
    }
    let mut parser = Parser::new();
    if parser.set_language(&tree_sitter_bash::LANGUAGE.into()).is_err() {
        return Err(limit("grammar: built for another parser"));
    }
    let bytes = text.as_bytes();
    let purse = &place.budget.progress;
    let mut progress = |state: &ParseState| {
        if Budget::spend(purse, step_cost(state, bytes.len())) {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser
        .parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
        .ok_or_else(|| limit("parse-steps: too much work"))
}

/// What one walk over the whole tree found.
struct Survey<'t> {
    /// Substitutions by the offset of their first byte.
    substitutions: HashMap<usize, Node<'t>>,
    /// The first place where the grammar failed: anything else in the tree may then be wrong too.
    broken: Option<Problem>,
}

fn survey<'t>(tree: &'t Tree, place: &Place<'_>) -> Result<Survey<'t>, Problem> {
    let mut found = Survey { substitutions: HashMap::new(), broken: None };
    let mut cursor = tree.walk();
    loop {
        let node = cursor.node();
        if !Budget::spend(&place.budget.nodes, 1) {
            return Err(problem(Cause::Limit, "nodes: too many", place.span(0, node.end_byte())));
        }
        if matches!(node.kind(), "command_substitution" | "process_substitution") {
            found.substitutions.insert(node.start_byte(), node);
        }
        if found.broken.is_none() && (node.is_error() || node.is_missing()) {
            let detail = if node.is_missing() {
                format!("error-node: {} is missing", node.kind())
            } else {
                "error-node: the grammar does not read this".to_owned()
            };
            let span = place.span(node.start_byte(), node.end_byte());
            found.broken = Some(problem(Cause::ParseError, detail, span));
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return Ok(found);
            }
        }
    }
}

/// A refusal of one check; it becomes the [`Problem`] of the smallest statement around it.
pub(super) type Read<T> = Result<T, Box<Problem>>;

/// The state of one reading. The tree says what statement stands where; `pos` is the first byte that
/// is not yet accounted for, and only checked bytes move it.
pub(super) struct Reader<'t> {
    pub(super) text: &'t [u8],
    pub(super) whole: &'t str,
    pub(super) documents: &'t BTreeMap<usize, HereDocument>,
    /// Where `<>` stands, which the text shows as `>|`.
    pub(super) read_writes: &'t BTreeSet<usize>,
    /// None: the text is not in any tree (the body of a here-document).
    pub(super) substitutions: Option<HashMap<usize, Node<'t>>>,
    pub(super) place: Place<'t>,
    pub(super) pos: usize,
    pub(super) problems: Vec<Problem>,
    /// From the end of a simple command to behind the newline that the grammar did not see.
    pub(super) lost: Vec<Range<usize>>,
    /// The gap read last ended a line.
    pub(super) crossed: bool,
}

impl Reader<'_> {
    /// The byte at `pos + ahead`.
    pub(super) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos + ahead).copied()
    }

    pub(super) fn looking_at(&self, text: &str) -> bool {
        self.text.get(self.pos..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    /// The text between two offsets; both are at ASCII bytes or ends, so it is never cut in a character.
    pub(super) fn slice(&self, start: usize, end: usize) -> &str {
        self.whole.get(start..end).unwrap_or_default()
    }

    /// The whole characters that these bytes are of.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        self.place.span(self.whole.floor_char_boundary(start), self.whole.ceil_char_boundary(end))
    }

    /// A refusal by a named check, at the current byte.
    pub(super) fn doubt<T>(&self, check: &str) -> Read<T> {
        let span = self.span(self.pos.min(self.text.len()), (self.pos + 1).min(self.text.len()));
        Err(Box::new(problem(Cause::UnknownConstruct, check, span)))
    }

    /// Goes one level down; every level is left by [`Reader::leave`].
    pub(super) fn enter(&mut self) -> Read<()> {
        if self.place.depth >= self.place.budget.depth {
            let detail = format!("nesting: deeper than {}", self.place.budget.depth);
            return Err(Box::new(problem(Cause::Limit, detail, self.span(self.pos, self.text.len()))));
        }
        self.place.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.place.depth -= 1;
    }
}
