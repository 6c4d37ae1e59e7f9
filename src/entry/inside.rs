//! A call's text and what is inside of it, where an agent put an envelope around a command.

use std::ffi::OsString;
use std::path::Path;

use super::world::Surrounds;
use crate::envelope::{self, Opened};
use crate::host::Host;
use crate::request::Request;
use crate::run::supervise;
use crate::store::calls::Call;
use crate::store::hash_of;
use crate::sys::machine::Machine;

/// Opens the envelope; the machine is the one that the command will see.
pub(super) fn open(
    request: Request,
    options: &[OsString],
    surrounds: &Surrounds,
    machine: Machine,
) -> (Opened, Machine) {
    let options: Vec<&str> = options.iter().filter_map(|option| option.to_str()).collect();
    let opened = envelope::open(request, &options, &machine);
    let machine = match &opened.path {
        Some(path) if machine.var("PATH").as_ref() != Some(path) => {
            surrounds.machine_with_path(&opened.request.cwd, path)
        }
        _ => machine,
    };
    (opened, machine)
}

/// What a call leaves for the gsh that its own text starts in its place, with nothing but the command: that very
/// command was let through a moment ago.
pub(super) fn pass(opened: &Opened, machine: &Machine) -> Option<String> {
    let shell = opened.again.as_deref()?;
    let is_gsh = machine.real(shell).is_some_and(|real| is_this_program(&real));
    is_gsh.then(|| pass_of(&opened.request))
}

fn is_this_program(path: &Path) -> bool {
    std::env::current_exe().and_then(std::fs::canonicalize).is_ok_and(|own| own == path)
}

/// Whether the call that this process was a moment ago, or whose supervisor started it, let this very request
/// through: the name of its record then. That counts once.
pub(super) fn passed(request: &Request, options: &[OsString], surrounds: &Surrounds) -> Option<String> {
    let plain =
        matches!(options, [only] if only == "-c") && request.args.is_empty() && request.name.is_none();
    let (above, lineage) = (surrounds.above.as_ref()?, surrounds.lineage.as_ref()?);
    let holder = lineage.all().nth(above.distance)?;
    let parent = lineage.above.first().is_some_and(|parent| supervise::is_supervisor(&parent.name));
    let continues = above.distance == 0 || above.distance <= 2 && parent;
    let same = plain && continues && above.call.passed.as_ref() == Some(&pass_of(request));
    let spent = Call { passed: None, ..above.call.clone() };
    let counts = same && surrounds.calls.enter(holder, &spent).is_ok();
    counts.then(|| above.call.record.clone().unwrap_or_default())
}

fn pass_of(request: &Request) -> String {
    hash_of(&[request.text.as_slice(), request.cwd.as_os_str().as_encoded_bytes()])
}
