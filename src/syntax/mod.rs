//! A text as bash would read it: an owned tree with a span for everything.
//!
//! tree-sitter-bash finds the statements; words, redirections and here-documents are read by our own
//! scanner over the same bytes, and both must account for every byte (see [`parse`]). Whatever is
//! left over is a [`Problem`], never a guess. Tree-sitter's nodes do not leave this folder.
#![forbid(clippy::disallowed_methods)]

mod compound;
mod expansion;
mod heredoc;
mod lower;
mod parse;
mod quiet;
mod quote;
mod scan;
#[cfg(feature = "cross-check")]
mod second;
#[cfg(not(feature = "cross-check"))]
#[path = "second/absent.rs"]
mod second;
pub mod visit;
mod word;

pub use heredoc::document_bodies;
pub use parse::{Limits, parse};
pub use quote::quote;
pub use second::cross_check_is_on;

use serde::{Deserialize, Serialize};

use crate::report::Span;

/// A text, read.
#[derive(Debug, Clone, Default)]
pub struct Script {
    /// What runs, in source order.
    pub body: Vec<Statement>,
    /// What was not understood. Empty means that the whole text was.
    pub problems: Vec<Problem>,
}

/// One command and how it is ended.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What runs.
    pub command: Command,
    /// Ended by `&`.
    pub background: bool,
    /// A newline ends what stands before it.
    pub on_new_line: bool,
    /// Where it stands.
    pub span: Span,
}

/// A command of any form.
#[derive(Debug, Clone)]
pub enum Command {
    /// Assignments, words and redirections.
    Simple(Simple),
    /// `a | b`, `! a`.
    Pipeline {
        /// Its elements, in order; more than one makes each a subshell.
        parts: Vec<Command>,
        /// Begins with `!`.
        negated: bool,
        /// Where it stands.
        span: Span,
    },
    /// `a && b`, `a || b`.
    AndOr {
        /// Runs first.
        left: Box<Command>,
        /// How the second depends on the first.
        operator: Connective,
        /// Runs depending on the first.
        right: Box<Command>,
        /// Where it stands.
        span: Span,
    },
    /// `{ …; }`.
    Group(Vec<Statement>),
    /// `( … )`.
    Subshell(Vec<Statement>),
    /// `if`, with its `elif` arms.
    If {
        /// Condition and body of each arm.
        arms: Vec<(Vec<Statement>, Vec<Statement>)>,
        /// The `else` body, empty when there is none.
        otherwise: Vec<Statement>,
    },
    /// `while` and `until`.
    Loop {
        /// What is tested.
        condition: Vec<Statement>,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `for NAME in WORDS` and `select`.
    For {
        /// The loop variable.
        name: String,
        /// What it runs over; None means `"$@"`.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `for ((a; b; c))`.
    ArithmeticFor {
        /// The three expressions in one text.
        header: Arithmetic,
        /// What is repeated.
        body: Vec<Statement>,
    },
    /// `case WORD in …`.
    Case {
        /// What is compared.
        subject: Word,
        /// Patterns and body of each arm.
        arms: Vec<(Vec<Word>, Vec<Statement>)>,
    },
    /// `name() BODY`.
    Function {
        /// Its name.
        name: String,
        /// Its body.
        body: Box<Command>,
        /// Where it stands.
        span: Span,
    },
    /// `[[ … ]]`: the operands and operators in order, operators as unquoted text.
    Test {
        /// Its words.
        words: Vec<Word>,
        /// Where it stands.
        span: Span,
    },
    /// `(( … ))`.
    Arithmetic(Arithmetic),
    /// A compound command with redirections of its own.
    Redirected {
        /// What is redirected.
        command: Box<Command>,
        /// To where.
        redirections: Vec<Redirection>,
        /// Where it stands.
        span: Span,
    },
    /// A part that could not be read; its problem is in [`Script::problems`] too.
    NotUnderstood(Problem),
}

/// How the second command of a list depends on the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Connective {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// A simple command in POSIX's sense.
#[derive(Debug, Clone, Default)]
pub struct Simple {
    /// Leading `NAME=value` words.
    pub assignments: Vec<Assignment>,
    /// The words, the command's name first. Empty when only assignments or redirections stand here.
    pub words: Vec<Word>,
    /// Redirections, in order.
    pub redirections: Vec<Redirection>,
    /// Where it stands.
    pub span: Span,
}

/// One `NAME=value`, `NAME+=value`, `NAME[i]=value` or `NAME=(…)`.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The subscript, a plain number or name.
    pub subscript: Option<String>,
    /// `+=`.
    pub append: bool,
    /// What is assigned.
    pub value: AssignedValue,
    /// Where it stands.
    pub span: Span,
}

/// The right side of an assignment.
#[derive(Debug, Clone)]
pub enum AssignedValue {
    /// One word (not split, no path expansion).
    Word(Word),
    /// `( … )`.
    Array(Vec<Word>),
}

/// A word before any expansion.
#[derive(Debug, Clone, Default)]
pub struct Word {
    /// Its pieces, in order.
    pub pieces: Vec<Piece>,
    /// Where it stands.
    pub span: Span,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Text with its quotes removed. Unquoted text may hold `* ? [ ] { } , ~` that bash expands;
    /// quoted (also backslash-escaped) text never does.
    Text {
        /// The characters.
        text: String,
        /// Whether quotes or a backslash protect it from expansion.
        quoted: bool,
    },
    /// As written: an unquoted `~`, `~user`, `~+` or `~-` at the start of the word (or after `=` or `:` of an
    /// assignment).
    Tilde(String),
    /// `$name`, `${name…}`.
    Parameter {
        /// The name, number or special character.
        name: String,
        /// What is done to the value.
        form: ParameterForm,
        /// Inside double quotes: no splitting, no path expansion.
        quoted: bool,
    },
    /// `$( … )` or backticks.
    Substitution {
        /// What runs.
        script: Script,
        /// Inside double quotes.
        quoted: bool,
    },
    /// `<( … )` or `>( … )`.
    Process {
        /// What runs.
        script: Script,
        /// `>( … )`: the command's input is written to.
        output: bool,
    },
    /// `$(( … ))`.
    Arithmetic(Arithmetic),
}

/// What a parameter expansion does to its value.
#[derive(Debug, Clone)]
pub enum ParameterForm {
    /// `$name`, `${name}`, also `${name[@]}` and `${name[3]}` with [`Piece::Parameter`]'s name
    /// holding the subscript.
    Plain,
    /// `${#name}`: a number.
    Length,
    /// `${!name}`: the value of the variable that `name` names.
    Indirect,
    /// `${name:-word}` `:=` `:?` `:+` (and without the colon): operator and operand.
    Fallback {
        /// `-`, `=`, `?` or `+`, with its colon if it has one.
        operator: String,
        /// The operand.
        operand: Word,
    },
    /// `#` `##` `%` `%%` `/` `//` `^` `,` `:` with an operand of plain characters and `$name`:
    /// the result is some text made from the value.
    Edit {
        /// The operator.
        operator: String,
        /// The operand as written.
        operand: String,
    },
}

/// An arithmetic text: only numbers, names, `$name`, `$( … )` and operators.
#[derive(Debug, Clone)]
pub struct Arithmetic {
    /// As written, without its parentheses.
    pub text: String,
    /// Every variable named in it.
    pub names: Vec<String>,
    /// What runs in it; bash evaluates what that prints.
    pub scripts: Vec<Script>,
    /// Where it stands.
    pub span: Span,
}

/// One redirection.
#[derive(Debug, Clone)]
pub struct Redirection {
    /// The descriptor before the operator: a number, or `{name}` as its name.
    pub descriptor: Option<Descriptor>,
    /// What it does.
    pub operator: RedirectionOperator,
    /// To or from where.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// What stands before a redirection operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(String),
}

/// A redirection operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedirectionOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `<<` and `<<-`: the target is the body. A quoted delimiter makes the body one quoted text.
    HereDocument,
    /// `<<<`
    HereString,
}

/// Something that was not understood, and why.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Problem {
    /// The class of the cause.
    pub cause: Cause,
    /// The named check that rejected it, or what is missing, for a person.
    pub detail: String,
    /// Where.
    pub span: Span,
}

/// Why something could not be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The grammar rejects the text, or bash would.
    ParseError,
    /// A construct that gsh does not read.
    UnknownConstruct,
    /// A word whose value is only known when it runs.
    DynamicWord,
    /// A path whose value is only known when it runs.
    DynamicPath,
    /// Code in a language that gsh does not read, or not literal.
    OpaqueCode,
    /// A program without a table.
    UnknownProgram,
    /// An option or operand that the program's table does not name.
    UnknownOption,
    /// The name is not the program it seems to be.
    ShadowedProgram,
    /// A variable or setting that changes what runs.
    ExecutingEnvironment,
    /// A limit was reached.
    Limit,
    /// Two readings of the text differ.
    ParsersDiffer,
    /// Another shell's language.
    UnsupportedShell,
}

impl Cause {
    /// The word that answers use.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::ParseError => "parse-error",
            Self::UnknownConstruct => "unknown-construct",
            Self::DynamicWord => "dynamic-word",
            Self::DynamicPath => "dynamic-path",
            Self::OpaqueCode => "opaque-code",
            Self::UnknownProgram => "unknown-program",
            Self::UnknownOption => "unknown-option",
            Self::ShadowedProgram => "shadowed-program",
            Self::ExecutingEnvironment => "executing-environment",
            Self::Limit => "limit",
            Self::ParsersDiffer => "parsers-differ",
            Self::UnsupportedShell => "unsupported-shell",
        }
    }
}
