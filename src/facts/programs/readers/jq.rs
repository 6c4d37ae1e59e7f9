//! jq's language: nothing in it writes or runs; it can print the environment and load modules.

use super::Refusal;
use crate::facts::programs::Reading;
use crate::facts::programs::table::Doing;
use crate::syntax::Cause;

/// Reads a filter.
pub(super) fn program(text: &str, reading: &mut Reading) -> Result<(), Refusal> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$');
    let mut from = 0;
    while let Some(start) = text.get(from..).and_then(|rest| rest.find(is_word)).map(|at| from + at) {
        let rest = text.get(start..).unwrap_or_default();
        let end = start + rest.find(|letter| !is_word(letter)).unwrap_or(rest.len());
        let field = text.get(..start).is_some_and(|before| before.ends_with('.'));
        match text.get(start..end).unwrap_or_default() {
            "env" if !field => reading.act(Doing::RevealSecrets),
            "$ENV" => reading.act(Doing::RevealSecrets),
            word @ ("import" | "include") if !field => {
                return Err((Cause::OpaqueCode, format!("jq: {word}")));
            }
            _ => {}
        }
        from = end;
    }
    Ok(())
}
