//! Compound commands, function definitions, and the redirections behind them.

use tree_sitter::Node;

use super::heredoc::is_boundary;
use super::lower::{children, parts};
use super::parse::{Read, Reader};
use super::word::Reading;
use super::{Command, Statement, Word};

/// Words that bash takes for its own where a command's name may stand.
const RESERVED: [&str; 22] = [
    "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "while", "until", "for", "select",
    "function", "{", "}", "!", "[[", "]]", "in", "coproc", "time",
];

/// Whether bash gives `word` a meaning of its own where a command's name may stand.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

impl<'t> Reader<'t> {
    /// A command that is neither a list nor a pipeline, ending at `end`.
    pub(super) fn compound(&mut self, node: Node<'t>, end: usize) -> Read<Command> {
        let start = self.pos;
        let command = match node.kind() {
            "command"
            | "declaration_command"
            | "unset_command"
            | "variable_assignment"
            | "variable_assignments"
            | "file_redirect"
            | "herestring_redirect" => {
                return self.simple(end).map(Command::Simple);
            }
            "test_command" if !self.looking_at("[[") => return self.simple(end).map(Command::Simple),
            "test_command" => self.test(node)?,
            "compound_statement" if self.looking_at("((") => {
                self.token("((")?;
                Command::Arithmetic(self.arithmetic("))", true)?)
            }
            "compound_statement" => Command::Group(self.group(node)?),
            "subshell" => Command::Subshell(self.subshell(node)?),
            "if_statement" => self.if_clause(node)?,
            "while_statement" => self.while_clause(node)?,
            "for_statement" => self.for_clause(node)?,
            "c_style_for_statement" => self.arithmetic_for(node)?,
            "case_statement" => self.case_clause(node)?,
            "function_definition" => return self.function(node, end),
            kind => return self.doubt(&format!("unknown-construct: {kind}")),
        };
        self.redirected(command, start, end)
    }

    /// The redirections of a compound command, which has been read up to the current byte.
    fn redirected(&mut self, command: Command, start: usize, end: usize) -> Read<Command> {
        if !self.peek(0).is_none_or(is_boundary) {
            return self.doubt("keyword-glued");
        }
        if self.pos >= end {
            return if self.pos == end { Ok(command) } else { self.doubt("gap-text") };
        }
        let simple = self.simple(end)?;
        if !simple.words.is_empty() || !simple.assignments.is_empty() {
            return self.doubt("redirect-args");
        }
        let redirections = simple.redirections;
        if redirections.is_empty() {
            return Ok(command);
        }
        let span = self.span(start, self.pos);
        Ok(Command::Redirected { command: Box::new(command), redirections, span })
    }

    /// `{ …; }`
    fn group(&mut self, node: Node<'t>) -> Read<Vec<Statement>> {
        if !self.looking_at("{") || !matches!(self.peek(1), Some(b' ' | b'\t' | b'\n')) {
            return self.doubt("brace-group");
        }
        self.token("{")?;
        let body = self.body(&parts(node), node.end_byte().saturating_sub(1))?;
        self.keyword("}")?;
        Ok(body)
    }

    /// `( … )`
    fn subshell(&mut self, node: Node<'t>) -> Read<Vec<Statement>> {
        self.token("(")?;
        if self.peek(0) == Some(b'(') {
            return self.doubt("dparen");
        }
        let body = self.body(&parts(node), node.end_byte().saturating_sub(1))?;
        self.token(")")?;
        Ok(body)
    }

    fn if_clause(&mut self, node: Node<'t>) -> Read<Command> {
        let all = children(node);
        let close = node.end_byte().saturating_sub(2);
        let arm_end = |kinds: &[&str]| {
            let found = all.iter().find(|child| kinds.contains(&child.kind()));
            found.map_or(close, Node::start_byte)
        };
        let mut arms = vec![self.arm("if", &all, arm_end(&["elif_clause", "else_clause"]))?];
        let mut otherwise = Vec::new();
        let clauses: Vec<_> =
            all.iter().filter(|child| matches!(child.kind(), "elif_clause" | "else_clause")).collect();
        for (index, clause) in clauses.iter().enumerate() {
            let stop = clauses.get(index + 1).map_or(close, |next| next.start_byte());
            if clause.start_byte() != self.pos {
                return self.doubt("structure");
            }
            if clause.kind() == "elif_clause" {
                arms.push(self.arm("elif", &children(**clause), stop)?);
            } else {
                self.keyword("else")?;
                otherwise = self.body(&parts(**clause), stop)?;
            }
        }
        self.keyword("fi")?;
        Ok(Command::If { arms, otherwise })
    }

    /// `if …; then …` or `elif …; then …`, up to the byte `stop`.
    fn arm(
        &mut self,
        keyword: &str,
        all: &[Node<'t>],
        stop: usize,
    ) -> Read<(Vec<Statement>, Vec<Statement>)> {
        let Some(then) = all.iter().position(|child| child.kind() == "then") else {
            return self.doubt("structure");
        };
        let (before, after) = all.split_at(then);
        let named = |nodes: &[Node<'t>]| -> Vec<Node<'t>> {
            let clause = |node: &Node<'_>| matches!(node.kind(), "elif_clause" | "else_clause");
            nodes.iter().copied().filter(|node| node.is_named() && !clause(node)).collect()
        };
        self.keyword(keyword)?;
        let then_at = after.first().map_or(stop, Node::start_byte);
        let condition = self.body(&named(before), then_at)?;
        self.keyword("then")?;
        let body = self.body(&named(after), stop)?;
        Ok((condition, body))
    }

    fn while_clause(&mut self, node: Node<'t>) -> Read<Command> {
        let mut nodes = parts(node);
        let Some(body) = nodes.pop() else { return self.doubt("structure") };
        let keyword = if self.looking_at("until") { "until" } else { "while" };
        self.keyword(keyword)?;
        let condition = self.body(&nodes, body.start_byte())?;
        let body = self.do_group(body)?;
        Ok(Command::Loop { condition, body })
    }

    fn do_group(&mut self, node: Node<'t>) -> Read<Vec<Statement>> {
        if node.kind() == "compound_statement" {
            return self.group(node);
        }
        if node.kind() != "do_group" || node.start_byte() != self.pos {
            return self.doubt("structure");
        }
        self.keyword("do")?;
        let body = self.body(&parts(node), node.end_byte().saturating_sub(4))?;
        self.keyword("done")?;
        Ok(body)
    }

    fn for_clause(&mut self, node: Node<'t>) -> Read<Command> {
        let Some(group) = node.child_by_field_name("body") else { return self.doubt("structure") };
        self.keyword(if self.looking_at("select") { "select" } else { "for" })?;
        self.gap(false)?;
        let Some(name) = self.name() else { return self.doubt("variable-name") };
        if !self.peek(0).is_some_and(is_boundary) {
            return self.doubt("variable-name");
        }
        self.gap(true)?;
        let mut words = None;
        if self.looking_at("in") && self.pos < group.start_byte() {
            self.keyword("in")?;
            words = Some(self.words_of_line()?);
        }
        self.gap(false)?;
        if self.peek(0) == Some(b';') {
            self.pos += 1;
        }
        self.gap(true)?;
        let body = self.do_group(group)?;
        Ok(Command::For { name, words, body })
    }

    /// Words up to a `;` or the end of the line.
    fn words_of_line(&mut self) -> Read<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.gap(false)?;
            match self.peek(0) {
                Some(b';' | b'\n') => return Ok(words),
                _ => words.push(self.word(Reading::Plain)?),
            }
        }
    }

    fn arithmetic_for(&mut self, node: Node<'t>) -> Read<Command> {
        let Some(group) = node.child_by_field_name("body") else { return self.doubt("structure") };
        self.keyword("for")?;
        self.gap(false)?;
        self.token("((")?;
        let header = self.arithmetic("))", true)?;
        self.gap(false)?;
        if self.peek(0) == Some(b';') {
            self.pos += 1;
        }
        self.gap(true)?;
        let body = self.do_group(group)?;
        Ok(Command::ArithmeticFor { header, body })
    }

    fn case_clause(&mut self, node: Node<'t>) -> Read<Command> {
        self.keyword("case")?;
        self.gap(false)?;
        let subject = self.word(Reading::Plain)?;
        self.gap(true)?;
        self.keyword("in")?;
        let items: Vec<_> = parts(node).into_iter().filter(|part| part.kind() == "case_item").collect();
        let close = node.end_byte().saturating_sub(4);
        let mut arms = Vec::new();
        for (index, item) in items.iter().enumerate() {
            self.gap(true)?;
            if item.start_byte() > self.pos {
                return self.doubt("gap-text");
            }
            let stop = items.get(index + 1).map_or(close, Node::start_byte);
            arms.push(self.case_item(*item, stop)?);
        }
        self.gap(true)?;
        self.keyword("esac")?;
        Ok(Command::Case { subject, arms })
    }

    /// One arm; without a `;;` of its own it ends at `stop`.
    fn case_item(&mut self, item: Node<'t>, stop: usize) -> Read<(Vec<Word>, Vec<Statement>)> {
        if self.looking_at("esac") {
            return self.doubt("reserved-word");
        }
        if self.peek(0) == Some(b'(') {
            self.pos += 1;
        }
        let mut patterns = Vec::new();
        loop {
            self.gap(false)?;
            patterns.push(self.word(Reading::Plain)?);
            self.gap(false)?;
            match self.peek(0) {
                Some(b'|') => self.pos += 1,
                _ => break,
            }
        }
        self.token(")")?;
        let all = children(item);
        let ends = |child: &&Node<'_>| matches!(child.kind(), ";;" | ";&" | ";;&");
        let (terminator, until) = match all.iter().find(ends) {
            Some(found) => (Some(found.kind()), found.start_byte()),
            None => (None, stop),
        };
        let named: Vec<_> = parts(item)
            .into_iter()
            .filter(|part| part.start_byte() >= self.pos || part.end_byte() > self.pos)
            .collect();
        let body = self.statements(&named, until)?;
        if let Some(terminator) = terminator {
            self.token(terminator)?;
        }
        Ok((patterns, body))
    }

    /// `name() BODY` and `function name BODY`, with a group or a subshell as its body.
    fn function(&mut self, node: Node<'t>, end: usize) -> Read<Command> {
        let start = self.pos;
        let Some(body) = node.child_by_field_name("body") else { return self.doubt("structure") };
        let keyword = self.looking_at("function") && matches!(self.peek(8), Some(b' ' | b'\t'));
        if keyword {
            self.keyword("function")?;
            self.gap(false)?;
        }
        let name_at = self.pos;
        while self.peek(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte)) {
            self.pos += 1;
        }
        let name = self.slice(name_at, self.pos).to_owned();
        if name.is_empty() || is_reserved(&name) || !self.peek(0).is_some_and(is_boundary) {
            return self.doubt("function-name");
        }
        self.gap(false)?;
        if !keyword || self.peek(0) == Some(b'(') {
            self.token("(")?;
            self.gap(false)?;
            self.token(")")?;
        }
        self.gap(true)?;
        let is_group = body.kind() == "compound_statement" && !self.looking_at("((");
        if body.start_byte() != self.pos || !(is_group || body.kind() == "subshell") {
            return self.doubt("function-body");
        }
        let body = Box::new(self.compound(body, end)?);
        Ok(Command::Function { name, body, span: self.span(start, self.pos) })
    }

    /// `[[ … ]]`
    fn test(&mut self, node: Node<'t>) -> Read<Command> {
        let start = self.pos;
        self.keyword("[[")?;
        let mut words: Vec<Word> = Vec::new();
        loop {
            self.gap(false)?;
            if self.looking_at("]]") && self.peek(2).is_none_or(is_boundary) {
                break;
            }
            let after = words.last().and_then(Word::bare).unwrap_or_default();
            let word = if after == "=~" {
                self.word(Reading::Regex)?
            } else {
                match self.test_operator() {
                    Some(operator) => operator,
                    None => self.word(Reading::Plain)?,
                }
            };
            words.push(word);
        }
        if self.pos + 2 != node.end_byte() || words.is_empty() {
            return self.doubt("bracket");
        }
        self.keyword("]]")?;
        Ok(Command::Test { words, span: self.span(start, self.pos) })
    }

    fn test_operator(&mut self) -> Option<Word> {
        let operator = ["&&", "||", "(", ")", "<", ">"].into_iter().find(|each| self.looking_at(each))?;
        if self.peek(1) == Some(b'(') && matches!(operator, "<" | ">") {
            return None;
        }
        let start = self.pos;
        self.pos += operator.len();
        Some(Word::plain(operator, self.span(start, self.pos)))
    }
}
