//! Running what was approved, as bash would have run it.
//!
//! Three ways, chosen by [`Plan`]:
//! - **direct**: one literal simple command is executed itself. There is no second reading at all.
//! - **shell**: the real shell gets the decided bytes.
//! - **terminal**: the same, on a pseudo-terminal of ours, so that nothing it starts keeps the
//!   person's terminal as its own ([`pty`]).

mod approved;
pub mod direct;
mod ending;
pub mod environment;
mod handing;
pub mod living;
pub mod pty;
pub mod reads;
pub mod script;
pub mod sent;
pub mod shell;
pub mod supervise;

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use thiserror::Error;

pub use self::approved::{Approved, ForJob, Plan, Source, Supervision, TerminalUse};
pub use self::ending::{Ending, Failure, LEFT, Means, Runner};
use self::supervise::Watch;
use crate::audit::redact::Secrets;
use crate::audit::{Closing, Supervised};
use crate::facts::{EffectKind, Facts};
use crate::store::jobs::Origin;
use crate::syntax::Script;
use crate::sys::process::{self, Ended, Program};
use crate::sys::signal::die_of;

/// How something was run, for the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The program itself.
    Direct,
    /// The real shell.
    Shell,
    /// The real shell or the program, on a terminal of ours.
    Terminal,
    /// Nothing was: a job read it.
    Sent,
    /// A shell that had statements before, and may have more.
    Statement,
}

impl How {
    /// The word used in records.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Shell => "shell",
            Self::Terminal => "terminal",
            Self::Sent => "sent",
            Self::Statement => "statement",
        }
    }
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How it was run.
    pub how: How,
    /// How it ended; None where its shell lives on, which alone knows.
    pub ended: Option<Ended>,
    /// How long it took.
    pub duration: Duration,
    /// What its supervisor saw, where it had one.
    pub watched: Option<Supervised>,
}

/// Why a job may have no place, and what to do.
pub const NO_PLACE: &str = "the folder gsh/jobs below $XDG_STATE_HOME (~/.local/state) cannot be written; \
    is the disk full?";

impl Outcome {
    /// What the record says of it.
    fn closing(self) -> Closing {
        let (status, signal) = match self.ended {
            Some(Ended::Status(status)) => (Some(status), None),
            Some(Ended::Signal(signal)) => (None, Some(signal)),
            None => return Closing::NotObserved { how: self.how.word() },
        };
        let milliseconds = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX);
        Closing::Ended { how: self.how.word(), status, signal, milliseconds, watched: self.watched }
    }

    fn tell_of_limit(self) {
        match self.watched {
            Some(Supervised { limited: true, job: Some(job), .. }) => {
                eprintln!("gsh: still running as job {job} (gsh jobs log {job})");
            }
            Some(Supervised { limited: true, job: None, .. }) => {
                eprintln!(
                    "gsh: ended at its time limit, since there is no place to keep a job in: {NO_PLACE}"
                );
            }
            _ => {}
        }
    }

    /// Ends as the command did: with its status, or by its signal.
    #[must_use]
    pub fn imitate(self) -> ExitCode {
        self.tell_of_limit();
        match self.ended {
            None => ExitCode::SUCCESS,
            Some(Ended::Status(status)) => ExitCode::from(u8::try_from(status & 0xff).unwrap_or(u8::MAX)),
            Some(Ended::Signal(signal)) => {
                die_of(signal);
                ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
            }
        }
    }
}

/// Why nothing ran, or why its end is not known.
#[derive(Debug, Error)]
pub enum RunError {
    /// The shell could not be started.
    #[error("cannot start {}: {source}", program.display())]
    Start {
        /// What was to be started.
        program: std::path::PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It ran, and its end was not seen.
    #[error("{0}")]
    Lost(io::Error),
    /// The job did not read it.
    #[error("{0}")]
    NotSent(pty::NotSeated),
    /// The text could not be handed over.
    #[error("cannot run the command: {0}")]
    Machine(#[from] io::Error),
}

fn way(plan: &Plan) -> (How, bool) {
    if let Some(ForJob::Send(_)) = &plan.job {
        return (How::Sent, true);
    }
    if plan.living.is_some() {
        return (How::Statement, true);
    }
    if on_terminal(plan) {
        return (How::Terminal, true);
    }
    let stays = matches!(plan.supervision, Supervision::By(_));
    (if plan.direct.is_some() { How::Direct } else { How::Shell }, stays)
}

fn on_terminal(plan: &Plan) -> bool {
    match &plan.job {
        Some(ForJob::Start(start)) => return start.pty,
        Some(ForJob::Send(_)) => return false,
        None => {}
    }
    if plan.living.is_some() {
        return false;
    }
    match plan.terminal {
        TerminalUse::Never => false,
        TerminalUse::Always => true,
        TerminalUse::WhenInteractive => process::is_terminal(0) && process::is_terminal(1),
    }
}

/// What the record says of a run.
#[must_use]
pub fn closing(ran: &Result<Outcome, RunError>) -> Closing {
    match ran {
        Ok(outcome) => outcome.closing(),
        Err(RunError::Lost(_)) => Closing::Orphaned,
        Err(_) => Closing::NotRun { why: "it could not be started" },
    }
}

/// Runs it, once. Where it is not supervised, this returns only when that failed.
///
/// # Errors
/// When it could not be started or waited for.
pub fn run(approved: Approved) -> Result<Outcome, RunError> {
    let mut plan = approved.into_plan();
    if let Some(living) = &plan.living {
        return living.run(&plan);
    }
    let begun = Instant::now();
    let terminal = on_terminal(&plan);
    if let Some(ForJob::Send(send)) = &plan.job {
        let ended = Some(sent::send(send, &plan.text).map_err(RunError::NotSent)?);
        return Ok(Outcome { how: How::Sent, ended, duration: begun.elapsed(), watched: None });
    }
    let nobody = ![0, 2].into_iter().any(process::is_terminal);
    // Who starts a job on a terminal may sit down at it later.
    if nobody && terminal && plan.start().is_none() {
        plan.environment = environment::for_nobody(plan.environment);
    } else if nobody && plan.edits {
        plan.environment = environment::without_keys(plan.environment);
    }
    let done =
        |how, (ended, watched)| Outcome { how, ended: Some(ended), duration: begun.elapsed(), watched };
    let run = |program| start(program, (&plan.supervision, terminal));
    let (how, ended) = first_or_shell(&plan, run)?;
    Ok(done(if terminal { How::Terminal } else { how }, ended))
}

/// Runs the program itself where there is one, and the shell where there is none, or where the kernel has
/// something against it (no `#!` line, gone, not executable): bash has its own words and ways for that.
fn first_or_shell<T>(plan: &Plan, start: impl Fn(Program) -> io::Result<T>) -> Result<(How, T), RunError> {
    if let Some(program) = direct(plan) {
        match start(program) {
            Ok(ended) => return Ok((How::Direct, ended)),
            // It ran, so it must not run again.
            Err(error) if !is_of_exec(&error) => return Err(RunError::Lost(error)),
            Err(_) => {}
        }
    }
    let program = handing::for_shell(plan)?;
    let path = program.path.clone();
    match start(program) {
        Ok(ended) => Ok((How::Shell, ended)),
        Err(error) if is_of_exec(&error) => Err(RunError::Start { program: path, source: error }),
        Err(error) => Err(RunError::Lost(error)),
    }
}

/// Whether an error is one of starting a program: nothing of it ran.
fn is_of_exec(error: &io::Error) -> bool {
    use nix::errno::Errno;
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(
        errno,
        Some(
            Errno::ENOENT
                | Errno::EACCES
                | Errno::ENOEXEC
                | Errno::ENOTDIR
                | Errno::EISDIR
                | Errno::ELOOP
                | Errno::ENAMETOOLONG
                | Errno::E2BIG
                | Errno::ENOMEM
                | Errno::EAGAIN
                | Errno::EPERM
                | Errno::ETXTBSY
                | Errno::ELIBBAD
                | Errno::EINVAL
                | Errno::EMFILE
                | Errno::ENFILE
        )
    )
}

fn start(
    program: Program,
    (supervision, terminal): (&Supervision, bool),
) -> io::Result<(Ended, Option<Supervised>)> {
    let watched = match supervision {
        Supervision::By(watch) if terminal && watch.start.is_some() => {
            pty::start(program, (**watch).clone())?
        }
        Supervision::By(watch) if terminal => pty::run(program, (**watch).clone())?,
        Supervision::By(watch) => supervise::run(program, (**watch).clone())?,
        _ if terminal => pty::run(program, Watch::default())?,
        _ => return Err(process::become_program(program)),
    };
    Ok((watched.ended, Some(watched.supervised())))
}

/// The plan with what follows from the text: whether its program can be executed itself, and whether it
/// must be supervised; and the way it will be run, as far as that can be told before, with whether gsh stays
/// to see its end.
#[must_use]
pub fn completed(plan: Plan, script: &Script, facts: &Facts, decision: &str) -> (Plan, (How, bool)) {
    let watched = match plan.supervision {
        _ if plan.living.is_some() => true,
        Supervision::None => false,
        Supervision::Always | Supervision::By(_) => true,
        Supervision::Auto => plan.limit.is_some() || supervise::may_stay(facts),
    };
    let watched = watched && plan.source != Source::Nothing;
    let supervision = if watched || on_terminal(&plan) || plan.start().is_some() {
        let directory = std::env::current_dir().unwrap_or_default();
        let call = plan.call.as_ref().map(|(_, call)| call);
        let origin = Origin::new(&shown(&plan), &directory, decision, call);
        Supervision::By(Box::new(Watch {
            limit: plan.limit.filter(|_| plan.start().is_none()),
            late_output: contains(&plan.text, b">("),
            jobs: plan.jobs.clone(),
            origin: Origin { name: plan.start().and_then(|start| start.name.clone()), ..origin },
            call: plan.call.clone(),
            start: plan.start().cloned(),
        }))
    } else {
        Supervision::None
    };
    let direct = direct::of_plan(&plan, script, facts);
    let edits = facts.effects.iter().any(|effect| may_edit(&effect.kind));
    let plan = Plan { direct, edits, supervision, left: facts.left.clone(), ..plan };
    let way = way(&plan);
    (plan, way)
}

/// The command as a job's record tells it: its log may hold secrets, its record does not.
fn shown(plan: &Plan) -> Vec<u8> {
    let bytes = plan.inside.as_deref().unwrap_or(&plan.text);
    match std::str::from_utf8(bytes) {
        Ok(text) => Secrets::taken_out_of(text).into_owned().into_bytes(),
        Err(_) => bytes.to_vec(),
    }
}

/// Whether what has this effect may begin an editor: git does for a message, and some programs are nothing else.
fn may_edit(kind: &EffectKind) -> bool {
    matches!(kind, EffectKind::Interactive | EffectKind::GitModify)
}

fn direct(plan: &Plan) -> Option<Program> {
    let direct = plan.direct.as_ref()?;
    let directory = std::env::current_dir().ok()?;
    // PWD may name the same directory by way of links; bash keeps such a name.
    let named = plan.environment.iter().find(|(name, _)| name == "PWD").map(|(_, value)| value.clone());
    let logical = named.filter(|named| {
        std::path::Path::new(named).is_absolute()
            && std::fs::canonicalize(named).is_ok_and(|real| real == directory)
    });
    let pwd = logical.unwrap_or_else(|| directory.into_os_string());
    let environment = environment::for_program(plan.environment.clone(), direct.path.as_os_str(), &pwd);
    let argv = direct.argv.iter().map(OsString::from).collect();
    Some(Program { path: direct.path.clone(), argv, environment, stdin: None, script: None })
}

/// Whether this stands anywhere in a text.
fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::direct::Direct;
    use super::*;

    fn plan(text: &str, source: Source) -> Option<Plan> {
        Some(Plan {
            text: text.into(),
            inside: None,
            source,
            direct: None,
            shell: shell::Shell::find(None).ok()?,
            argv0: "bash".into(),
            options: vec![],
            args: vec![],
            environment: vec![],
            terminal: TerminalUse::Never,
            limit: None,
            jobs: None,
            call: None,
            job: None,
            supervision: Supervision::By(Box::default()),
            living: None,
            edits: false,
            left: crate::facts::Past::default(),
        })
    }

    fn ended(plan: Option<Plan>) -> Option<(How, Ended)> {
        run(Approved::for_tests(plan?)).ok().and_then(|outcome| Some((outcome.how, outcome.ended?)))
    }

    fn with(options: &[&str], args: &[&str], plan: Option<Plan>) -> Option<Plan> {
        plan.map(|plan| Plan {
            options: options.iter().map(OsString::from).collect(),
            args: args.iter().map(OsString::from).collect(),
            ..plan
        })
    }

    #[test]
    fn texts_run_with_their_names_and_arguments() {
        let command = |name: Option<&str>| Source::Command { name: name.map(OsString::from) };
        let file = Source::File { name: "./dir/script".into() };
        type Row<'a> = (&'a [&'a str], &'a [&'a str], &'a str, Source, i32);
        let table: [Row<'_>; 9] = [
            (&["-c"], &[], "[ \"$0\" = bash ] && exit 3", command(None), 3),
            (&["-c"], &["a", "b c"], "[ \"$0/$1/$2\" = 'n/a/b c' ] && exit 4", command(Some("n")), 4),
            (&["-ec"], &[], "false; exit 0", command(None), 1),
            (&["-c"], &[], "-x; exit 7", command(None), 7),
            (&["-e"], &[], "false; exit 0", file.clone(), 1),
            (&[], &["x"], "[ \"$0/$1\" = ./dir/script/x ] && exit 5", file.clone(), 5),
            (
                &["-s"],
                &["x"],
                "read line\nleft over\n[ \"$line/$1\" = 'left over/x' ] && exit 6",
                Source::Stdin,
                6,
            ),
            (&["-s"], &[], "exit 8", Source::Stdin, 8),
            (&[], &[], "exit $(( 250 + 8 ))", file, 2),
        ];
        for (options, args, text, source, status) in table {
            let found = ended(with(options, args, plan(text, source)));
            assert_eq!(found, Some((How::Shell, Ended::Status(status))), "{text}");
        }
    }

    #[test]
    fn a_script_finds_its_own_file_and_runs_as_decided() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let path = folder.path().join("script");
        // On a machine that lets nobody watch another process it is sourced, and only if it is as decided.
        let text = "[ \"${BASH_SOURCE[0]}\" = \"$0\" ] && [ -f \"$0\" ] && exit 5";
        assert!(std::fs::write(&path, text).is_ok());
        let source = || Source::File { name: path.clone().into() };
        assert_eq!(ended(plan(text, source())), Some((How::Shell, Ended::Status(5))));
        let changed = ended(plan(&format!("{text}; exit 6"), source()));
        let decided = |status| Some((How::Shell, Ended::Status(status)));
        assert!(changed == decided(5) || changed.is_none(), "{changed:?}");
        let late = format!("echo 'exit 6' >\"$0\"; exec 2>&-; x=$(:); {text}");
        let changed = ended(plan(&late, source()));
        assert!(changed == decided(5) || changed.is_none(), "{changed:?}");
    }

    #[test]
    fn a_long_script_is_run_whole() {
        let text = format!("{}\n[ \"$0/$1\" = n/x ] && exit 9\n", ": # padding\n".repeat(20_000));
        let found = ended(with(&[], &["x"], plan(&text, Source::File { name: "n".into() })));
        assert_eq!(found, Some((How::Shell, Ended::Status(9))));
    }

    #[test]
    fn direct_commands_need_no_shell_and_fall_back_to_it() {
        let table = [("/bin/false", How::Direct, 1), ("/nonexistent/false", How::Shell, 11)];
        for (path, how, status) in table {
            let found = plan("exit 11", Source::Command { name: None }).map(|plan| Plan {
                direct: Some(Direct { path: PathBuf::from(path), argv: vec!["false".into()] }),
                options: vec!["-c".into()],
                ..plan
            });
            assert_eq!(ended(found), Some((how, Ended::Status(status))), "{path}");
        }
    }
}
