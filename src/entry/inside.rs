//! A call's text and what is inside of it, where an agent put an envelope around a command.

use std::ffi::OsString;
use std::path::Path;

use super::world::Surrounds;
use crate::envelope::{self, Again, Opened};
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

/// What a call leaves for the gsh that its own text starts in its place: that very text, with those words, was let
/// through a moment ago.
pub(super) fn pass(opened: &Opened, machine: &Machine) -> Option<String> {
    let Again { shell, given } = opened.again.as_ref()?;
    let is_gsh = machine.real(shell).is_some_and(|real| is_this_program(&real));
    is_gsh.then(|| pass_of(&opened.request.cwd, given.iter().map(String::as_bytes)))
}

fn is_this_program(path: &Path) -> bool {
    std::env::current_exe().and_then(std::fs::canonicalize).is_ok_and(|own| own == path)
}

/// Whether the call that this process was a moment ago, or whose supervisor started it, let this very request
/// through: the name of its record then. That counts once.
pub(super) fn passed(request: &Request, options: &[OsString], surrounds: &Surrounds) -> Option<String> {
    let plain = matches!(options, [only] if only == "-c");
    let (above, lineage) = (surrounds.above.as_ref()?, surrounds.lineage.as_ref()?);
    let holder = lineage.all().nth(above.distance)?;
    let parent = lineage.above.first().is_some_and(|parent| supervise::is_supervisor(&parent.name));
    let continues = above.distance == 0 || above.distance <= 2 && parent;
    let words = request.name.iter().chain(&request.args).map(String::as_bytes);
    let given = std::iter::once(request.text.as_slice()).chain(words);
    let same = plain && continues && above.call.passed.as_ref() == Some(&pass_of(&request.cwd, given));
    let spent = Call { passed: None, ..above.call.clone() };
    let counts = same && surrounds.calls.enter(holder, &spent).is_ok();
    counts.then(|| above.call.record.clone().unwrap_or_default())
}

/// A directory, a text and the words that a shell is given with it.
fn pass_of<'g>(cwd: &'g Path, given: impl Iterator<Item = &'g [u8]>) -> String {
    let end: &[u8] = b"\0";
    let parts = std::iter::once(cwd.as_os_str().as_encoded_bytes()).chain(given);
    hash_of(&parts.flat_map(|part| [part, end]).collect::<Vec<_>>())
}
