//! How the decided bytes reach the shell: as the text of `-c`, where `$0`, the arguments and the
//! names in messages are those of the caller's form. A script file that was read for the decision
//! is run from that copy in the same way, so that a file changed in between, or by itself while it
//! runs, makes no difference. A text longer than one argument may be is sourced from a nameless
//! file. A script on standard input stays one: the copy becomes the shell's standard input, so that
//! `read` in it finds the following lines.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;

use super::approved::{Plan, Source};
use crate::sys::pipe::{self, Identity};
use crate::sys::process::{self, Program};

/// The longest text that fits in one argument, with room for its end.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// The shell's command line for the plan. The order is bash's: options, `-c`, the end of options.
pub(super) fn for_shell(plan: &Plan) -> io::Result<Program> {
    use std::os::unix::ffi::OsStringExt;
    let mut argv = vec![plan.argv0.clone()];
    argv.extend(plan.options.iter().cloned());
    let mut stdin = None;
    let text = OsString::from_vec(plan.text.clone());
    match &plan.source {
        Source::Command { name } => {
            argv.extend(["--".into(), text]);
            argv.extend(name.clone());
        }
        Source::File { name } => {
            let text =
                if names_its_file(&plan.text) { sourced(&plan.text, name)? } else { short_enough(text)? };
            argv.extend(["-c".into(), "--".into(), text, name.clone()]);
        }
        Source::Nothing => {}
        Source::Stdin => {
            stdin = Some(script_input(&plan.text)?);
            argv.extend(["-s".into(), "--".into()]);
        }
        Source::Statement { .. } => argv.extend(["-s".into(), "--".into()]),
    }
    argv.extend(plan.args.iter().cloned());
    let path = plan.shell.path().to_owned();
    Ok(Program { path, argv, environment: plan.environment.clone(), stdin })
}

/// The script as the shell's standard input: a pipe where there was one, for programs that read what follows
/// them behave differently with a file (`head`, `wc`).
fn script_input(text: &[u8]) -> io::Result<OwnedFd> {
    let piped = Identity::of_standard(0).is_waited_on().then(|| pipe::filled(text));
    match piped {
        Some(Ok(pipe)) => Ok(pipe),
        // A longer one than a pipe holds.
        Some(Err(_)) | None => Ok(process::nameless_file(text)?.into()),
    }
}

/// Whether a script looks for its own file by more than `$0`.
fn names_its_file(text: &[u8]) -> bool {
    text.windows(b"BASH_SOURCE".len()).any(|part| part == b"BASH_SOURCE")
}

/// Such a script is sourced by its name, which bash reads whole before its first command, so that it
/// cannot change itself. That the file is still what was decided is made sure of just before.
fn sourced(decided: &[u8], name: &std::ffi::OsStr) -> io::Result<OsString> {
    use std::os::unix::ffi::OsStrExt;
    if std::fs::read(name)? != decided {
        return Err(io::Error::other("the script changed after it was decided"));
    }
    // Without a slash `.` would search PATH first.
    let here = if name.as_bytes().contains(&b'/') { "" } else { "shopt -u sourcepath; " };
    Ok(format!("{here}. \"$0\"").into())
}

/// A text that is too long for an argument is read from a nameless file that the shell inherits.
fn short_enough(text: OsString) -> io::Result<OsString> {
    use std::os::unix::ffi::OsStrExt;
    if text.len() < LONGEST_ARGUMENT {
        return Ok(text);
    }
    let file = process::nameless_file(text.as_bytes())?;
    // A duplicate without close-on-exec, for the shell to open by its number.
    let inherited = nix::fcntl::fcntl(&file, nix::fcntl::FcntlArg::F_DUPFD(10))?;
    Ok(format!(". /proc/self/fd/{inherited}").into())
}
