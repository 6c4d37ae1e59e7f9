//! How the decided bytes reach the shell: as the text of `-c`, where `$0`, the arguments and the
//! names in messages are those of the caller's form. A script file that was read for the decision
//! is opened by the shell under its own name, and what it gets is that copy ([`StandIn`]), so that a
//! file changed in between, or by itself while it runs, makes no difference. Where that cannot be had
//! the copy is the text of `-c`, which bash takes a little differently; one longer than one argument may
//! be is then sourced from a nameless file. A script on standard input stays one: the copy becomes the shell's standard input, so that
//! `read` in it finds the following lines.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;

use super::approved::{Plan, Source};
use super::script;
use crate::sys::pipe::{self, Identity};
use crate::sys::process::{self, Program};
use crate::sys::script::StandIn;

/// The longest text that fits in one argument, with room for its end.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

/// The shell's command line for the plan. The order is bash's: options, `-c`, the end of options.
pub(super) fn for_shell(plan: &Plan) -> io::Result<Program> {
    use std::os::unix::ffi::OsStringExt;
    let mut argv = vec![plan.argv0.clone()];
    argv.extend(plan.options.iter().cloned());
    let (mut stdin, mut script) = (None, None);
    let text = OsString::from_vec(plan.text.clone());
    match &plan.source {
        Source::Command { name } => {
            argv.extend(["--".into(), text]);
            argv.extend(name.clone());
        }
        Source::File { name } => {
            script = stand_in(plan, name);
            if script.is_none() {
                let text =
                    if names_its_file(&plan.text) { sourced(&plan.text, name)? } else { short_enough(text)? };
                argv.extend(["-c".into(), "--".into(), text, name.clone()]);
            } else {
                argv.extend(["--".into(), name.clone()]);
            }
        }
        // Nothing that it would take for a script.
        Source::Nothing => stdin = Some(std::fs::File::open("/dev/null")?.into()),
        Source::Stdin | Source::Statement { .. } => {
            if plan.source == Source::Stdin {
                stdin = Some(script_input(&plan.text)?);
            }
            // Arguments there are only after `-s`, which is among the options then. Whatever else stood last
            // might take a further word for its own.
            if !plan.args.is_empty() {
                argv.push("--".into());
            }
        }
        Source::Typed => argv = typed(plan),
    }
    argv.extend(plan.args.iter().cloned());
    let path = plan.shell.path().to_owned();
    Ok(Program { path, argv, environment: plan.environment.clone(), stdin, script })
}

/// An interactive shell that reads what we write: without an editor and a history of its own, and without the
/// start-up file of a person, which nobody decided. Long options stand first.
fn typed(plan: &Plan) -> Vec<OsString> {
    let is_long = |option: &&OsString| option.as_encoded_bytes().starts_with(b"--");
    let mut argv: Vec<OsString> = vec![plan.argv0.clone(), "--noediting".into(), "--norc".into()];
    argv.extend(plan.options.iter().filter(is_long).cloned());
    argv.extend(plan.options.iter().filter(|option| !is_long(option)).cloned());
    argv.extend(["+o", "history", "+H", "-i", "-s", "--"].map(OsString::from));
    argv
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

/// What the shell gets when it opens the script. Not where it reads files of a person's first, which might
/// open the script themselves; nor where the kernel does not allow it.
fn stand_in(plan: &Plan, name: &OsStr) -> Option<StandIn> {
    let reads_others = |option: &OsString| match option.as_encoded_bytes() {
        b"--login" | b"-login" => true,
        b"-noediting" | b"-noprofile" | b"-posix" | b"-restricted" | b"-pretty-print" => false,
        word => {
            let sign = word.starts_with(b"-") && !word.starts_with(b"--") || word.starts_with(b"+");
            sign && word.iter().any(|letter| b"il".contains(letter))
        }
    };
    let reads_others =
        plan.argv0.as_encoded_bytes().starts_with(b"-") || plan.options.iter().any(reads_others);
    let path = plan.environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let file = script::file_of(name, path);
    (!reads_others).then(|| StandIn::prepare(file.as_os_str(), &plan.text).ok()).flatten()
}

/// Whether a script looks for its own file by more than `$0`.
fn names_its_file(text: &[u8]) -> bool {
    super::contains(text, b"BASH_SOURCE")
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
