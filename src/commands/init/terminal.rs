//! `gsh init terminal`: what this terminal counts as, and what would make it a person's. It writes nothing: where
//! the terminal is not known to be a person's, whoever types here may be a model.

use crate::ask::{Unavailable, sanitize, terminal as seat};
use crate::policy::Policy;
use crate::store::places::Folders;

/// What somebody should know who sets an agent up where gsh could not ask; nothing where it could.
#[must_use]
pub fn unasked(policy: &Policy) -> Option<String> {
    seat::persons(&policy.knobs.terminals).is_err().then(|| {
        "at this terminal gsh cannot ask (`gsh init terminal` says why, and what changes it): what the rules ask about \
         is refused, or waits in `gsh approvals`"
            .to_owned()
    })
}

/// The text.
#[must_use]
pub fn text(policy: &Policy, folders: Option<&Folders>) -> String {
    let file = folders.map_or_else(
        || "gsh/config.toml of your configuration".to_owned(),
        |folders| sanitize::line(&folders.user_file().to_string_lossy()),
    );
    match seat::persons(&policy.knobs.terminals) {
        Ok(_) => "This terminal counts as a person's: questions are asked here.\n".to_owned(),
        Err(Unavailable::NotAPersons(kind)) => {
            let kind = sanitize::line(&kind);
            let mut kinds = policy.knobs.terminals.clone();
            kinds.push(kind.clone());
            let list: Vec<String> = kinds.iter().map(|kind| format!("{kind:?}")).collect();
            format!(
                "This terminal is held by {kind}, and gsh cannot see who types into that: a person, or a model.\n\
                 If only people do, put this into {file}, with an editor:\n\n\
                 [ask]\nterminals = [{}]\n\n\
                 It then holds for every terminal of {kind}. Do not, where an agent works in one of them.\n",
                list.join(", ")
            )
        }
        Err(why) => format!("Nobody can be asked here: {why}\n"),
    }
}
