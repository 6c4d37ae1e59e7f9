//! The debug log, off by default: all that was found on the way to a decision, for whoever wants to know why a
//! command was misread. Secrets are left out of it as of the record; contents of here-documents are not, unless
//! they are for a file of secrets.

use std::io;
use std::path::Path;

use jiff::Timestamp;
use serde_json::json;

use super::keep;
use super::record::{Opening, writes_secrets};
use super::redact::Secrets;
use crate::sys::file::{Locked, open_append, private_folder};

/// So much is kept of what a text holds: facts of a long script are long.
const MOST: usize = 256 * 1024;

/// Writes what was found, under the name of its record.
///
/// # Errors
/// When it cannot be written; the record stands without it.
pub(super) fn add(state: &Path, opening: &Opening<'_>, (id, secrets): (&str, &Secrets)) -> io::Result<()> {
    let folder = state.join("debug");
    let path = folder.join(format!("{}.jsonl", Timestamp::now().strftime("%Y-%m-%d")));
    let found = match writes_secrets(opening.decision) {
        true => "withheld: something is written to a file of secrets".to_owned(),
        false => format!("{:#?}", opening.facts),
    };
    let cut = found.floor_char_boundary(MOST);
    let facts = secrets.redact(found.get(..cut).unwrap_or_default()).0;
    let line = json!({ "id": id, "time": Timestamp::now(), "facts": facts, "cut": cut < found.len() });
    private_folder(&folder)?;
    if !path.exists() {
        let _ = keep::sweep(&path, opening.policy.knobs.audit_keep_days);
    }
    Locked::new(&open_append(&path)?)?.append(format!("{line}\n").as_bytes())
}
