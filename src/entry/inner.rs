//! Shells that an allowed command starts, where a door leads them here again.
//!
//! A folder of doors on `PATH` stays for what an agent runs: an agent that is started beneath gsh finds it too. But then
//! the `sh -c` of an allowed `npm test` comes here as well. What a command does was decided with it, as it is where its
//! shell is `/bin/sh`; to ask again for each of its lines would ask a person what they have answered. So such a text is
//! decided as in bypass mode: what the floor, a refusing rule or a protected path says still holds.
//!
//! Where a known agent is in between, its commands are decided in the ordinary mode; so they are where the command
//! above is no more than how a wrapped launcher (`gsh wrap -- npx AGENT`) starts the agent, which only what the wrapping
//! left of its process can tell. A program that merely bears an agent's name gains nothing by it: it gives up this mode,
//! its session has no grants, and rules that allow something to an agent do not count for it.

use super::shell::Asked;
use super::world::Surrounds;
use crate::policy::{Mode, Policy};
use crate::store::session::Found;

/// The names under which gsh is nothing but a shell that somebody else looked for.
const NAMES: [&str; 3] = ["bash", "sh", "zsh"];

/// Whether an allowed command started this as its shell, with no agent in between.
fn is_inner(asked: &Asked, surrounds: &Surrounds) -> bool {
    let name = std::path::Path::new(&asked.argv0).file_name().and_then(|name| name.to_str());
    // What was let through for this very shell (an agent's envelope starts gsh again) is taken as that.
    surrounds.above.as_ref().is_some_and(|above| above.call.passed.is_none() && !above.call.launches)
        && surrounds.session.found == Found::Above
        && asked.mode.is_none()
        && name.is_some_and(|name| NAMES.contains(&name))
}

/// The mode to decide in.
pub(super) fn mode(asked: &Asked, surrounds: &Surrounds) -> Option<(Mode, String)> {
    let held = surrounds.mode(asked.mode);
    match held {
        Some((Mode::Plan, _)) => held,
        _ if is_inner(asked, surrounds) => {
            Some((Mode::Bypass, "the command above, which was allowed".to_owned()))
        }
        _ => held,
    }
}

/// The mode of what is started in turn: that of the call above, which an agent beneath must not be laxer than.
pub(super) fn handed_on(asked: &Asked, surrounds: &Surrounds, policy: &Policy) -> Mode {
    let above = surrounds.above.as_ref().filter(|_| is_inner(asked, surrounds));
    above.map_or(policy.mode, |above| above.call.mode)
}
