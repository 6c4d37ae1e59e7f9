//! The witnesses of the named checks (`tests/cases/checks.txt`) in the cage: bash really does something with
//! each of their texts that the reading does not hold, or refuses it.

use std::io;

use crate::cage::Workshop;
use crate::cases::rows;
use crate::compare;
use crate::world;

/// What bash says of a text that it does not read, or of a command that it read and does not find.
const REFUSALS: [&str; 4] = ["syntax error", "unexpected EOF", "not a valid identifier", "command not found"];

/// The rows that are no witnesses.
///
/// # Errors
/// When the cage fails.
pub(crate) fn wrong(shop: &Workshop) -> io::Result<Vec<String>> {
    let mut cage = shop.cage(None)?;
    let host = world::host(&cage.things);
    let mut found = Vec::new();
    let table = include_str!("../cases/checks.txt");
    let lines: String = table
        .lines()
        .filter(|line| !line.starts_with("## "))
        .map(|line| line.split('\t').take(2).collect::<Vec<_>>().join("\t") + "\n")
        .collect();
    let rows = rows(&lines);
    for row in &rows {
        let outcome = cage.run(&row.command)?;
        let facts = compare::facts(&row.command, &host);
        // Some texts bash drops without a word: then not even the command before the fault runs.
        let silent = outcome.starts.is_empty() && facts.invocations.iter().any(|each| !each.builtin);
        let refused = silent || REFUSALS.iter().any(|words| outcome.errors.contains(words));
        if !refused && compare::missing(&facts, &outcome).is_empty() {
            found.push(format!("{}: bash does with {:?} what was read: {outcome:?}", row.kind, row.command));
        }
    }
    println!(
        "oracle: {} texts that one check refuses, {} of them read as bash does",
        rows.len(),
        found.len()
    );
    Ok(found)
}
