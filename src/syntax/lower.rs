//! From the tree to statements: lists, pipelines and what may stand between them.
//!
//! The tree is only asked which statement begins where. Everything between and around statements is
//! read from the bytes, and a statement that does not end exactly where the tree says is refused.

use tree_sitter::Node;

use super::heredoc::is_boundary;
use super::parse::{Read, Reader, problem};
use super::{
    Cause, Command, Connective, Descriptor, Problem, Redirection, RedirectionOperator, Script, Statement,
    Word,
};

/// A longer list of `&&` and `||` would nest too deeply for a tree that is dropped by recursion.
const LONGEST_LIST: usize = 512;

/// The named children of a node that are no comments.
pub(super) fn parts(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

/// All children of a node but its comments.
pub(super) fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).filter(|child| child.kind() != "comment").collect()
}

impl<'t> Reader<'t> {
    /// The whole text.
    pub(super) fn program(&mut self, root: Node<'t>) -> Vec<Statement> {
        let nodes = parts(root);
        match self.statements(&nodes, self.text.len()) {
            Ok(body) => body,
            Err(refusal) => vec![self.not_understood(*refusal)],
        }
    }

    /// Records a problem; the statement that takes the place of what was not understood.
    fn not_understood(&mut self, refusal: Problem) -> Statement {
        self.problems.push(refusal.clone());
        let span = refusal.span;
        Statement { command: Command::NotUnderstood(refusal), background: false, on_new_line: false, span }
    }

    /// Statements with their separators, up to the byte `stop`, where a closing word or the end is.
    pub(super) fn statements(&mut self, nodes: &[Node<'t>], stop: usize) -> Read<Vec<Statement>> {
        let mut body = Vec::new();
        for node in nodes {
            match self.statement(*node, stop) {
                Ok(statement) => body.push(statement),
                Err(refusal) => {
                    body.push(self.not_understood(*refusal));
                    body.extend(self.salvage(*node));
                    self.pos = self.pos.max(node.end_byte()).min(stop);
                    self.resume(stop);
                }
            }
        }
        self.gap(true)?;
        if self.pos != stop {
            return self.doubt("gap-text");
        }
        Ok(body)
    }

    /// Statements where bash wants at least one.
    pub(super) fn body(&mut self, nodes: &[Node<'t>], stop: usize) -> Read<Vec<Statement>> {
        let body = self.statements(nodes, stop)?;
        if body.is_empty() { self.doubt("empty-body") } else { Ok(body) }
    }

    /// After a refusal: goes on behind the next separator, if one follows at once.
    fn resume(&mut self, stop: usize) {
        while self.pos < stop && self.peek(0).is_some_and(|byte| b" \t\n;&".contains(&byte)) {
            self.pos += 1;
        }
    }

    /// What can still be read inside a part that the grammar failed on, so that later stages see
    /// plain dangers in there; the text as a whole stays not understood.
    fn salvage(&mut self, node: Node<'t>) -> Vec<Statement> {
        if !node.is_error() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for child in parts(node) {
            self.pos = child.start_byte();
            if let Ok(command) = self.command(child, child.end_byte()) {
                let span = self.span(child.start_byte(), child.end_byte());
                found.push(Statement { command, background: false, on_new_line: false, span });
            }
        }
        found
    }

    fn statement(&mut self, node: Node<'t>, stop: usize) -> Read<Statement> {
        let before = self.pos;
        self.crossed = false;
        self.gap(true)?;
        let on_new_line = self.crossed;
        // The grammar sometimes counts blanks before a word to the word.
        if node.start_byte() < before || node.start_byte() > self.pos {
            return self.doubt("gap-text");
        }
        let start = self.pos;
        let command = self.command(node, node.end_byte())?;
        let end = self.pos;
        let background = self.separator(stop)?;
        Ok(Statement { command, background, on_new_line, span: self.span(start, end) })
    }

    /// What ends a statement: `;`, `&`, a newline, or the closing word at `stop`.
    fn separator(&mut self, stop: usize) -> Read<bool> {
        self.gap(false)?;
        if self.pos >= stop {
            return Ok(false);
        }
        match (self.peek(0), self.peek(1)) {
            (Some(b'\n'), _) => Ok(false),
            (Some(b';'), next) if next != Some(b';') && next != Some(b'&') => {
                self.pos += 1;
                Ok(false)
            }
            (Some(b'&'), next) if next != Some(b'&') && next != Some(b'>') => {
                self.pos += 1;
                Ok(true)
            }
            _ => self.doubt("separator"),
        }
    }

    /// Skips blanks, comments and joined lines; newlines too where bash lets them stand.
    pub(super) fn gap(&mut self, newlines: bool) -> Read<()> {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'\n') if newlines => {
                    self.crossed = true;
                    self.pos += 1;
                }
                Some(b'\\') if self.peek(1) == Some(b'\n') => {
                    // Glued to a token the joined line belongs to it; see `word`.
                    if !self.after_blank() && !matches!(self.peek(2), Some(b' ' | b'\t' | b'\n') | None) {
                        return self.doubt("line-continuation");
                    }
                    self.pos += 2;
                }
                Some(b'#') if self.starts_comment() => {
                    while self.peek(0).is_some_and(|byte| byte != b'\n') {
                        self.pos += 1;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn byte_before(&self) -> Option<u8> {
        self.pos.checked_sub(1).and_then(|at| self.text.get(at)).copied()
    }

    fn after_blank(&self) -> bool {
        self.byte_before().is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n'))
    }

    /// A `#` begins a comment where a token may begin. Behind an operator it would too, but nobody
    /// writes that and the grammar reads it otherwise.
    fn starts_comment(&self) -> bool {
        self.after_blank() || matches!(self.byte_before(), Some(b';' | b'&' | b'|' | b'(' | b')'))
    }

    /// Reads a word of the shell's own, such as `then`: it must be set off on both sides.
    pub(super) fn keyword(&mut self, word: &str) -> Read<()> {
        if !self.looking_at(word) {
            return self.doubt("keyword-glued");
        }
        let alone = self.peek(word.len()).is_none_or(is_boundary);
        if !alone || !self.byte_before().is_none_or(is_boundary) {
            return self.doubt("keyword-glued");
        }
        self.pos += word.len();
        Ok(())
    }

    /// Reads an operator.
    pub(super) fn token(&mut self, token: &str) -> Read<()> {
        if !self.looking_at(token) {
            return self.doubt("token-text");
        }
        self.pos += token.len();
        Ok(())
    }

    /// One command of any form that must end at `end`: its node's end, or that of the redirections
    /// that the grammar hangs on a list but that belong to its last command.
    ///
    /// The grammar groups lists and pipelines otherwise than bash where redirections stand between, so
    /// only their elements are taken from it; the operators are read from the bytes and grouped here.
    pub(super) fn command(&mut self, node: Node<'t>, end: usize) -> Read<Command> {
        let start = self.pos;
        let Some(elements) = flatten(node, end) else {
            let span = self.span(start, end);
            return Err(Box::new(problem(Cause::Limit, "list-length: too many commands in a list", span)));
        };
        let mut elements = elements.into_iter();
        let (mut command, mut operator) = self.pipeline(&mut elements)?;
        while let Some(connective) = operator {
            self.gap(true)?;
            let (right, next) = self.pipeline(&mut elements)?;
            let (left, right) = (Box::new(command), Box::new(right));
            command = Command::AndOr { left, operator: connective, right, span: self.span(start, self.pos) };
            operator = next;
        }
        if elements.next().is_some() {
            return self.doubt("structure");
        }
        Ok(command)
    }

    /// A pipeline made of the next elements, and the `&&` or `||` behind it.
    fn pipeline(
        &mut self,
        elements: &mut std::vec::IntoIter<(Node<'t>, usize)>,
    ) -> Read<(Command, Option<Connective>)> {
        let start = self.pos;
        let mut parts = Vec::new();
        let mut negated = false;
        loop {
            let Some((node, end)) = elements.next() else { return self.doubt("structure") };
            if node.kind() == "negated_command" {
                if !parts.is_empty() {
                    return self.doubt("negation");
                }
                negated = true;
            }
            parts.push(self.element(node, end)?);
            if elements.len() == 0 {
                break;
            }
            let after = self.pos;
            self.gap(false)?;
            match (self.peek(0), self.peek(1)) {
                (Some(b'&'), Some(b'&')) | (Some(b'|'), Some(b'|')) => break,
                (Some(b'|'), Some(b'&')) => {
                    let last = parts.pop().map(|last| self.with_errors(last, after));
                    parts.extend(last);
                    self.pos += 2;
                }
                (Some(b'|'), _) => self.pos += 1,
                _ => return self.doubt("structure"),
            }
            self.gap(true)?;
        }
        let span = self.span(start, self.pos);
        let connective = match self.slice(self.pos, self.pos + 2) {
            "&&" if elements.len() > 0 => Some(Connective::And),
            "||" if elements.len() > 0 => Some(Connective::Or),
            _ => None,
        };
        self.pos += if connective.is_some() { 2 } else { 0 };
        match (parts.len(), negated, parts.pop()) {
            (1, false, Some(only)) => Ok((only, connective)),
            (_, _, last) => {
                parts.extend(last);
                Ok((Command::Pipeline { parts, negated, span }, connective))
            }
        }
    }

    /// What `|&` says: the errors too go into the pipe.
    fn with_errors(&self, command: Command, at: usize) -> Command {
        let span = self.span(at, at);
        let redirection = Redirection {
            descriptor: Some(Descriptor::Number(2)),
            operator: RedirectionOperator::DuplicateOutput,
            target: Word::plain("1", span),
            span,
        };
        match command {
            Command::Simple(mut simple) => {
                simple.redirections.push(redirection);
                Command::Simple(simple)
            }
            other => Command::Redirected { command: Box::new(other), redirections: vec![redirection], span },
        }
    }

    /// One element of a pipeline, with its `!`.
    fn element(&mut self, node: Node<'t>, end: usize) -> Read<Command> {
        let mut node = node;
        if node.kind() == "negated_command" {
            let [inner] = parts(node)[..] else { return self.doubt("negation") };
            self.keyword("!")?;
            if !matches!(self.peek(0), Some(b' ' | b'\t')) {
                return self.doubt("negation");
            }
            self.gap(false)?;
            node = inner;
        }
        if node.start_byte() > self.pos {
            return self.doubt("gap-text");
        }
        self.enter()?;
        let command = match node.kind() {
            "redirected_statement" => match node.child_by_field_name("body") {
                Some(body) => self.compound(body, end),
                None => self.simple(end).map(Command::Simple),
            },
            _ => self.compound(node, end),
        };
        self.leave();
        command
    }

    /// What runs inside `$( … )`, `<( … )` or `>( … )` at the current byte.
    pub(super) fn substitution(&mut self) -> Read<Script> {
        let Some(nodes) = &self.substitutions else { return self.substitution_apart() };
        let Some(node) = nodes.get(&self.pos).copied() else { return self.doubt("substitution") };
        let opening = self.slice(self.pos, self.pos + 2);
        let close = node.end_byte().saturating_sub(1);
        let opens = matches!(opening, "$(" | "<(" | ">(") && node.start_byte() == self.pos;
        if !opens || self.text.get(close) != Some(&b')') || close < self.pos + 2 {
            return self.doubt("substitution");
        }
        if opening == "$(" && self.peek(2) == Some(b'(') {
            return self.doubt("dparen");
        }
        self.pos += 2;
        let known = self.problems.len();
        let body = self.statements(&parts(node), close)?;
        self.pos = close + 1;
        let problems = self.problems.get(known..).unwrap_or_default().to_vec();
        Ok(Script { body, problems })
    }
}

/// The commands of a list or pipeline in order, each with the byte where it must end. None when there
/// are too many.
fn flatten(node: Node<'_>, end: usize) -> Option<Vec<(Node<'_>, usize)>> {
    let (mut found, mut open) = (Vec::new(), vec![(node, end)]);
    while let Some((node, end)) = open.pop() {
        let body = match node.kind() {
            "redirected_statement" => node.child_by_field_name("body"),
            _ => None,
        };
        match (node.kind(), body) {
            ("list" | "pipeline", _) => {
                let all = parts(node);
                let last = all.len();
                let ends =
                    |(index, part): (usize, Node<'_>)| if index + 1 == last { end } else { part.end_byte() };
                let each = all.iter().enumerate().map(|(index, part)| (*part, ends((index, *part))));
                open.extend(each.rev());
            }
            (_, Some(body)) if matches!(body.kind(), "list" | "pipeline" | "negated_command") => {
                open.push((body, end));
            }
            _ => found.push((node, end)),
        }
        if found.len() > LONGEST_LIST {
            return None;
        }
    }
    Some(found)
}
