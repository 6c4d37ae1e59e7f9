//! Who may change what gsh holds: its configuration, trust, grants, records. A person at a terminal of
//! their own, and nobody beneath a command that gsh let through.

use super::world::here;
use crate::ask::{Unavailable, sanitize, terminal};

/// Nothing when the caller may change gsh's own things; else why not and what to do.
///
/// # Errors
/// When this process runs beneath a call of gsh, or its terminal is not known to be a person's.
pub fn may_change() -> Result<(), String> {
    let (surrounds, _, policy) = here();
    if surrounds.above.is_some() {
        return Err("this changes gsh itself, and nothing that gsh runs may do that: a person can, in a \
                    terminal of their own"
            .to_owned());
    }
    terminal::persons(&policy.knobs.terminals).map(drop).map_err(|why| {
        let help = match &why {
            Unavailable::NotAPersons(kind) => format!(
                ". If only people sit behind that terminal, say so in ~/.config/gsh/config.toml: [ask] \
                 terminals = [\"{}\"]",
                sanitize::line(kind)
            ),
            _ => String::new(),
        };
        format!("this changes gsh itself, which takes a person at a terminal: {why}{help}")
    })
}
