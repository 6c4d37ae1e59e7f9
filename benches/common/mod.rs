//! What the benches of whole processes share.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

pub(crate) const GSH: &str = env!("CARGO_BIN_EXE_gsh");
/// So often each is measured, in turn with what it is compared with.
pub(crate) const PAIRS: usize = 200;

/// A program in the project, with a home and nothing of the caller's environment.
pub(crate) fn command(program: &str, home: &Path, project: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(project).env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The one in the middle, in milliseconds.
pub(crate) fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}
