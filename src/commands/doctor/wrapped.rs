//! The agent as `gsh wrap` would start it, and as it did.

use super::{Door, Place, shell};
use crate::commands::doors::folder::Doors;
use crate::commands::doors::{View, Which, leads_to_gsh};
use crate::commands::wrap;
use crate::policy::agents::Known;
use crate::store::calls::Calls;
use crate::sys::passwd;

/// Its shell then; None where nothing was wrapped here yet, or it starts no shell.
pub(super) fn door(agent: &'static Known, place: &Place<'_>) -> Option<Door> {
    let doors = Doors::of(place.folders);
    if agent.shell.order.is_empty() || leads_to_gsh(&doors.bash(), &place.program) != Which::This {
        return None;
    }
    let environment = wrap::closed(place.environment.clone(), &doors, agent);
    let var = |name: &str| wrap::value(&environment, name);
    let passwd = passwd::shell_of(nix::unistd::geteuid().as_raw());
    let view = View { var: &var, home: &place.folders.home, project: place.project, passwd };
    let found = view.shell(agent);
    let wrapped = Place {
        folders: place.folders,
        project: place.project,
        program: place.program.clone(),
        environment: environment.clone(),
    };
    let tried = shell(agent, found.as_ref(), &wrapped);
    Some(Door { door: "wrap", ..tried })
}

/// Its processes that were started so and still run.
pub(super) fn running(agent: &Known) -> Vec<i32> {
    let all = Calls::of_user().all_wrapped().into_iter();
    let mut own: Vec<i32> =
        all.filter(|(_, wrapped)| wrapped.agent.as_deref() == Some(agent.name)).map(|(pid, _)| pid).collect();
    own.sort_unstable();
    own
}
