//! The items of the other parser's reading: its tree of commands. Words are in [`super::words`].

use brush_parser::ast::{
    AndOr, AndOrList, Assignment, AssignmentValue, CaseClauseCommand, Command, CommandPrefixOrSuffixItem,
    CompoundCommand, CompoundList, ExtendedTestExpr, IoFileRedirectKind, IoFileRedirectTarget,
    IoHereDocument, IoRedirect, Pipeline, ProcessSubstitutionKind, RedirectList, SimpleCommand, Word,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::super::Cause;
use super::documents;
use super::items::{self, Items};
use super::work::Work;

/// Why there is no second reading.
pub(super) type Read<T> = Result<T, (Cause, String)>;

/// What the other parser finds in `text`.
pub(super) fn items(text: &str) -> Read<Items> {
    // Pattern lists stay off, as bash has them at its start; a tilde is a character here.
    let options = ParserOptions {
        enable_extended_globbing: false,
        tilde_expansion_at_word_start: false,
        tilde_expansion_after_colon: false,
        ..ParserOptions::default()
    };
    let mut other = Other { items: Items::default(), options, work: Work::new() };
    other.text(text)?;
    Ok(other.items)
}

/// The walk over the other parser's tree.
pub(super) struct Other {
    pub(super) items: Items,
    pub(super) options: ParserOptions,
    pub(super) work: Work,
}

impl Other {
    /// A text of commands: the whole, or one inside a substitution.
    pub(super) fn text(&mut self, text: &str) -> Read<()> {
        if !Work::allows_text(text) {
            return Err(too_much());
        }
        let unread = || unread(text);
        let helped = documents::without_expansions(text);
        let tokens =
            uncached_tokenize_str(helped.as_deref().unwrap_or(text), &self.options.tokenizer_options())
                .map_err(|_| unread())?;
        if !self.work.pay_tokens(&tokens) {
            return Err(too_much());
        }
        let program = parse_tokens(&tokens, &self.options).map_err(|_| unread())?;
        program.complete_commands.iter().try_for_each(|list| self.list(list))
    }

    fn list(&mut self, list: &CompoundList) -> Read<()> {
        list.0.iter().try_for_each(|item| self.and_or(&item.0))
    }

    fn and_or(&mut self, list: &AndOrList) -> Read<()> {
        self.pipeline(&list.first)?;
        list.additional.iter().try_for_each(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => self.pipeline(pipeline),
        })
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Read<()> {
        pipeline.seq.iter().try_for_each(|command| self.command(command))
    }

    fn command(&mut self, command: &Command) -> Read<()> {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections) => {
                self.compound(compound)?;
                self.redirections(redirections.as_ref())
            }
            Command::Function(function) => {
                let name = self.word(&function.fname)?;
                self.items.function(&name);
                self.compound(&function.body.0)?;
                self.redirections(function.body.1.as_ref())
            }
            Command::ExtendedTest(test, redirections) => {
                self.test(&test.expr)?;
                self.redirections(redirections.as_ref())
            }
        }
    }

    fn compound(&mut self, compound: &CompoundCommand) -> Read<()> {
        match compound {
            CompoundCommand::Arithmetic(arithmetic) => self.expression(&arithmetic.expr.value),
            CompoundCommand::ArithmeticForClause(clause) => {
                for part in [&clause.initializer, &clause.condition, &clause.updater].into_iter().flatten() {
                    self.expression(&part.value)?;
                }
                self.list(&clause.body.list)
            }
            CompoundCommand::BraceGroup(group) => self.list(&group.list),
            CompoundCommand::Subshell(subshell) => self.list(&subshell.list),
            CompoundCommand::ForClause(clause) => {
                let words = match &clause.values {
                    Some(words) => Some(self.words(words)?),
                    None => None,
                };
                self.items.loop_words(&clause.variable_name, words.as_deref());
                self.list(&clause.body.list)
            }
            CompoundCommand::CaseClause(clause) => self.case(clause),
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition)?;
                self.list(&clause.then)?;
                for arm in clause.elses.iter().flatten() {
                    arm.condition.iter().try_for_each(|condition| self.list(condition))?;
                    self.list(&arm.body)?;
                }
                Ok(())
            }
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0)?;
                self.list(&clause.1.list)
            }
            CompoundCommand::Coprocess(_) => Err(differs("the other parser sees a coprocess")),
        }
    }

    fn case(&mut self, clause: &CaseClauseCommand) -> Read<()> {
        let subject = self.word(&clause.value)?;
        self.items.case_words(&[subject]);
        for arm in &clause.cases {
            let patterns = self.words(&arm.patterns)?;
            self.items.case_words(&patterns);
            arm.cmd.iter().try_for_each(|body| self.list(body))?;
        }
        Ok(())
    }

    fn test(&mut self, test: &ExtendedTestExpr) -> Read<()> {
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(word).map(drop),
            ExtendedTestExpr::BinaryTest(_, left, right) => {
                self.word(left)?;
                self.word(right).map(drop)
            }
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) -> Read<()> {
        let (mut assignments, mut words) = (Vec::new(), Vec::new());
        for item in simple.prefix.iter().flat_map(|prefix| &prefix.0) {
            match item {
                CommandPrefixOrSuffixItem::AssignmentWord(assignment, word) => {
                    assignments.push(self.assignment(assignment, word)?);
                }
                other => words.extend(self.item(other)?),
            }
        }
        if let Some(name) = &simple.word_or_name {
            words.push(self.word(name)?);
        }
        for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
            words.extend(self.item(item)?);
        }
        self.items.command(&assignments, &words);
        Ok(())
    }

    /// A word of a simple command, unless it is a redirection.
    fn item(&mut self, item: &CommandPrefixOrSuffixItem) -> Read<Option<String>> {
        match item {
            CommandPrefixOrSuffixItem::IoRedirect(redirection) => {
                self.redirection(redirection)?;
                Ok(None)
            }
            CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => {
                self.word(word).map(Some)
            }
            CommandPrefixOrSuffixItem::ProcessSubstitution(kind, subshell) => {
                self.list(&subshell.list)?;
                Ok(Some(process(kind).to_owned()))
            }
        }
    }

    fn assignment(&mut self, assignment: &Assignment, word: &Word) -> Read<String> {
        let AssignmentValue::Array(elements) = &assignment.value else { return self.word(word) };
        let mut words = Vec::with_capacity(elements.len());
        for (key, value) in elements {
            let value = self.word(value)?;
            words.push(match key {
                Some(key) => format!("[{}]={value}", self.word(key)?),
                None => value,
            });
        }
        let operator = if assignment.append { "+=" } else { "=" };
        Ok(format!("{}{operator}{}", assignment.name, items::array(&words)))
    }

    fn redirections(&mut self, list: Option<&RedirectList>) -> Read<()> {
        list.iter().flat_map(|list| &list.0).try_for_each(|redirection| self.redirection(redirection))
    }

    fn redirection(&mut self, redirection: &IoRedirect) -> Read<()> {
        let (descriptor, operator, target) = match redirection {
            IoRedirect::File(descriptor, kind, target) => {
                (*descriptor, file_operator(kind), self.file_target(target)?)
            }
            IoRedirect::HereDocument(descriptor, document) => (*descriptor, "<<", self.document(document)?),
            IoRedirect::HereString(descriptor, word) => (*descriptor, "<<<", self.word(word)?),
            IoRedirect::OutputAndError(word, append) => {
                (None, if *append { "&>>" } else { "&>" }, self.word(word)?)
            }
        };
        let descriptor = descriptor.map(|number| number.to_string()).unwrap_or_default();
        self.items.redirection(&descriptor, operator, &target);
        Ok(())
    }

    fn file_target(&mut self, target: &IoFileRedirectTarget) -> Read<String> {
        match target {
            IoFileRedirectTarget::Filename(word) | IoFileRedirectTarget::Duplicate(word) => self.word(word),
            IoFileRedirectTarget::Fd(number) => Ok(number.to_string()),
            IoFileRedirectTarget::ProcessSubstitution(kind, subshell) => {
                self.list(&subshell.list)?;
                Ok(process(kind).to_owned())
            }
        }
    }

    fn document(&mut self, document: &IoHereDocument) -> Read<String> {
        if document.requires_expansion {
            self.body(&document.doc.value)
        } else {
            Ok(document.doc.value.clone())
        }
    }

    fn words(&mut self, words: &[Word]) -> Read<Vec<String>> {
        words.iter().map(|word| self.word(word)).collect()
    }
}

fn process(kind: &ProcessSubstitutionKind) -> &'static str {
    match kind {
        ProcessSubstitutionKind::Read => items::PROCESS_INPUT,
        ProcessSubstitutionKind::Write => items::PROCESS_OUTPUT,
    }
}

fn file_operator(kind: &IoFileRedirectKind) -> &'static str {
    match kind {
        IoFileRedirectKind::Read => "<",
        IoFileRedirectKind::Write => ">",
        IoFileRedirectKind::Append => ">>",
        IoFileRedirectKind::ReadAndWrite => "<>",
        IoFileRedirectKind::Clobber => ">|",
        IoFileRedirectKind::DuplicateInput => "<&",
        IoFileRedirectKind::DuplicateOutput => ">&",
    }
}

/// The other parser cannot be given this.
pub(super) fn too_much() -> (Cause, String) {
    (Cause::Limit, "too much nesting".to_owned())
}

pub(super) fn differs(what: &str) -> (Cause, String) {
    (Cause::ParsersDiffer, what.to_owned())
}

/// The other parser rejects `text`.
pub(super) fn unread(text: &str) -> (Cause, String) {
    let start: String = text.chars().take(40).map(|c| if c.is_control() { ' ' } else { c }).collect();
    (Cause::ParsersDiffer, format!("the other parser does not read `{start}`"))
}
