//! The second reading: an independent parser reads the same text, and both must find the same.
//!
//! Both readings become a set of [`items`](self::items): what commands stand in the text (also in
//! substitutions, here-documents and function bodies), their words with quotes removed, redirections and
//! assignments. A difference says nothing about who is right, only that the text is not understood.
//!
//! The other parser is not built for hostile input: it recurses, and goes back over what it has read.
//! So it only sees texts that the strict reading has understood, within its limits and those of
//! [`work`](self::work). A build without the feature `cross-check` has `absent.rs` in the place of this.

mod documents;
mod items;
mod other;
mod own;
#[cfg(test)]
mod tests;
mod words;
mod work;

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::parse::problem;
use super::{Cause, Command, Piece, Problem, Script, Statement};
use crate::report::Span;
use items::{Items, first_difference};
use own::Own;

/// Whether this build reads every compound text a second time, by an independent parser.
#[must_use]
pub const fn cross_check_is_on() -> bool {
    true
}

/// Reads `text` again and says where that differs from `script`, which must have no problems.
pub(super) fn differs(text: &str, script: &Script) -> Option<Problem> {
    if is_one_literal_command(text, script) {
        return None;
    }
    let span = Span::new(0, text.len());
    let own = Own::of(script);
    let (cause, detail) = match own.out_of_reach {
        Some(what) => (Cause::Limit, what.to_owned()),
        None => difference(text, own.items)?,
    };
    Some(problem(cause, format!("second-reading: {detail}"), span))
}

fn difference(text: &str, own: Items) -> Option<(Cause, String)> {
    // An `unwrap` in there, on a text of a stranger, must not end this process.
    match catch_unwind(AssertUnwindSafe(|| other::items(text))) {
        Ok(Ok(other)) => first_difference(own, other).map(|detail| (Cause::ParsersDiffer, detail)),
        Ok(Err(why)) => Some(why),
        Err(_) => Some((Cause::ParsersDiffer, "the other parser failed".to_owned())),
    }
}

/// Bytes that mean something to the shell. Quotes are not among them: without the others they can hide
/// nothing.
const SPECIAL: [char; 21] = [
    '\n', ';', '&', '|', '<', '>', '(', ')', '$', '`', '\\', '#', '{', '}', '!', '*', '?', '[', ']', '~', '^',
];

/// One program and its words, plain or quoted: there is nothing to read otherwise. That the script
/// says so is not enough, for it may be wrong.
fn is_one_literal_command(text: &str, script: &Script) -> bool {
    let [Statement { command: Command::Simple(simple), background: false, .. }] = script.body.as_slice()
    else {
        return false;
    };
    let literal = |piece: &Piece| matches!(piece, Piece::Text { .. });
    let bare = simple.assignments.is_empty() && simple.redirections.is_empty();
    bare && !text.contains(SPECIAL) && simple.words.iter().all(|word| word.pieces.iter().all(literal))
}
