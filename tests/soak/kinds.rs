//! What is called: each kind of command with the end that it must have.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::callers::{Callers, GSH};

/// One kind. A text may name gsh, as `GSH`, and the number of its call, as `NUMBER`.
struct Kind {
    name: &'static str,
    text: &'static str,
    how: How,
    /// The status, and what standard output is.
    ends: (i32, &'static str),
}

enum How {
    /// With `-c`, in this mode.
    Called(&'static str),
    /// The same with nobody to ask, not even later.
    Unheard,
    /// On standard input.
    Input,
    /// With a limit that is shorter than it.
    Limited,
    /// Becomes a job by its limit, which is stopped then.
    Stopped,
    /// This signal, once it has printed a line.
    Told(Signal),
}

const fn kind(name: &'static str, text: &'static str, how: How, ends: (i32, &'static str)) -> Kind {
    Kind { name, text, how, ends }
}

/// What is to end with gsh, and would not by itself for a while.
const LONG: &str = "sleep 300 & (setsid sleep 300; :) & echo up; wait";

const KINDS: [Kind; 22] = [
    kind("direct", "/bin/true", How::Called("default"), (0, "")),
    kind("direct, with output", "/bin/echo NUMBER", How::Called("default"), (0, "NUMBER\n")),
    kind("reading", "ls -a | wc -l", How::Called("default"), (0, "3\n")),
    kind("compound", "for i in 1 2 3; do echo $i; done | tail -1; exit 3", How::Called("bypass"), (3, "3\n")),
    kind("background", "sleep 0.2 & echo up", How::Called("bypass"), (0, "up\n")),
    kind(
        "background without output",
        "sleep 0.2 >/dev/null 2>&1 & echo up",
        How::Called("bypass"),
        (0, "up\n"),
    ),
    kind("session of its own", "(setsid sleep 0.3 &); echo up", How::Called("bypass"), (0, "up\n")),
    kind("late output", "(sleep 1; seq 1000) & echo up", How::Called("bypass"), (0, "up\n")),
    kind("waited for", "sleep 0.02 & wait; echo over", How::Called("bypass"), (0, "over\n")),
    kind("nested", "GSH -c 'sleep 0.1 & echo in'; echo out", How::Called("bypass"), (0, "in\nout\n")),
    kind("ended by SIGTERM", LONG, How::Told(Signal::SIGTERM), (128 + 15, "")),
    kind("ended by SIGINT", LONG, How::Told(Signal::SIGINT), (128 + 2, "")),
    kind("killed", LONG, How::Told(Signal::SIGKILL), (128 + 9, "")),
    kind(
        "killed while nested",
        "GSH -c 'sleep 300 & echo up; wait'; :",
        How::Told(Signal::SIGKILL),
        (128 + 9, ""),
    ),
    kind("adopted at its limit", "echo up; sleep 0.3; echo late", How::Limited, (124, "up\n")),
    kind("adopted and stopped", "echo up; (setsid sleep 300 &); sleep 300", How::Stopped, (124, "up\n")),
    kind("refused", "gsh-test-unknown NUMBER", How::Unheard, (126, "")),
    kind("asked in vain", "gsh-test-unknown NUMBER", How::Called("default"), (126, "")),
    kind("denied", "echo never; gsh-canary-deny NUMBER", How::Called("bypass"), (126, "")),
    kind("script on a pipe", "read -r line\nNUMBER\necho \"$line\"\nexit 4\n", How::Input, (4, "NUMBER\n")),
    kind("script that leaves something", "sleep 0.1 &\necho up\n", How::Input, (0, "up\n")),
    kind("dies", "kill -KILL $$", How::Called("bypass"), (128 + 9, "")),
];

/// How many of each kind are among so many commands.
pub(crate) fn counts(count: usize) -> String {
    KINDS.iter().enumerate().fold(String::new(), |mut all, (at, kind)| {
        let _ = write!(all, "{} {}; ", (count + KINDS.len() - 1 - at) / KINDS.len(), kind.name);
        all
    })
}

/// How many records so many commands leave, those inside others counted and those of gsh's verbs not; and how many
/// of them were killed before they could say how it went. A script on a pipe leaves one for each statement.
pub(crate) fn calls(count: usize) -> (usize, usize) {
    let of =
        |holds: fn(&Kind) -> bool| (0..count).filter(|number| holds(&KINDS[number % KINDS.len()])).count();
    let nested = of(|kind| kind.text.contains("GSH -c"));
    let inside = of(|kind| kind.text.contains("GSH -c") && matches!(kind.how, How::Told(_)));
    let more = |kind: &Kind| match kind.how {
        // What a line of it reads is no statement.
        How::Input => kind.text.lines().skip(1).filter(|line| *line != "NUMBER").count(),
        _ => 0,
    };
    let statements: usize = (0..count).map(|number| more(&KINDS[number % KINDS.len()])).sum();
    (count + nested + statements, of(|kind| matches!(kind.how, How::Told(Signal::SIGKILL))) + inside)
}

/// Runs the command of this number; what is wrong with its end.
pub(crate) fn run(callers: &Callers, number: usize) -> Result<(), String> {
    let kind = &KINDS[number % KINDS.len()];
    let fill = |text: &str| text.replace("GSH", GSH).replace("NUMBER", &number.to_string());
    let text = fill(kind.text);
    let mut command = match kind.how {
        How::Input => callers.gsh(&[], "bypass"),
        How::Called(mode) => callers.gsh(&["-c", &text], mode),
        How::Unheard => callers.gsh(&["-c", &text], "default"),
        How::Limited | How::Stopped | How::Told(_) => callers.gsh(&["-c", &text], "bypass"),
    };
    match kind.how {
        How::Input => drop(command.stdin(Stdio::piped())),
        How::Unheard => drop(command.env("GSH_NON_INTERACTIVE", "1")),
        How::Limited | How::Stopped => drop(command.env("GSH_TIMEOUT", "100ms")),
        How::Called(_) | How::Told(_) => {}
    }
    let mut child = callers.start(&mut command);
    let pid = child.id();
    let given = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(text.as_bytes()));
    let output = match kind.how {
        How::Told(signal) => told(child, signal),
        _ => child.wait_with_output(),
    };
    callers.forget(pid);
    let output = given.and(output).map_err(|error| format!("{}: {error}", kind.name))?;
    compare(kind, &output, &fill(kind.ends.1))?;
    if matches!(kind.how, How::Stopped) { stop(callers, &output) } else { Ok(()) }
}

/// Signals it once it has printed a line, and waits for its end.
fn told(mut child: Child, signal: Signal) -> std::io::Result<Output> {
    let mut from = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    from.read_line(&mut line)?;
    kill(Pid::from_raw(child.id().cast_signed()), signal)?;
    let status = child.wait()?;
    // What it left behind must not keep the pipe either.
    from.read_to_string(&mut line)?;
    let mut stderr = Vec::new();
    child.stderr.take().expect("a pipe").read_to_end(&mut stderr)?;
    Ok(Output { status, stdout: Vec::new(), stderr })
}

fn compare(kind: &Kind, output: &Output, stdout: &str) -> Result<(), String> {
    let status = output.status.code().unwrap_or(128 + output.status.signal().unwrap_or(0));
    let found = String::from_utf8_lossy(&output.stdout);
    if (status, found.as_ref()) == (kind.ends.0, stdout) {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}: {status} {found:?} {errors:?}, not {} {stdout:?}", kind.name, kind.ends.0))
}

/// Stops the job that this call told of.
fn stop(callers: &Callers, output: &Output) -> Result<(), String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    let number = errors.split("as job ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let child = callers.start(&mut callers.gsh(&["jobs", "stop", number], "default"));
    let pid = child.id();
    let stopped = child.wait_with_output().map_err(|error| error.to_string())?;
    callers.forget(pid);
    let said = String::from_utf8_lossy(&stopped.stderr);
    if stopped.status.success() { Ok(()) } else { Err(format!("job {number}: {said} after {errors}")) }
}
