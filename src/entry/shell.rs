//! gsh called as a shell: a text from the command line, a file or standard input to its end.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::inner;
use super::inside;
use super::steer::{FAILED, REFUSED, Refused, refusal};
use super::world::Surrounds;
use crate::ask::queue::{Elsewhere, patience};
use crate::ask::{Manner, Refusal, Style, Unavailable};
use crate::audit::Context;
use crate::config::line;
use crate::config::load::Options;
use crate::decision::INTERNAL_ERROR;
use crate::envelope::Opened;
use crate::host::Host;
use crate::pipeline;
use crate::policy::duration;
use crate::policy::knobs::{Knobs, Pty, Way, WithoutTerminal};
use crate::policy::{Agent, Caller, Mode, Policy, Verdict};
use crate::request::{Entry, ReadingOptions, Request, Setting};
use crate::run::environment::{self, Variable};
use crate::run::shell::Shell;
use crate::run::supervise::Limit;
use crate::run::{Ending, Means, Plan, Source, Supervision, TerminalUse};
use crate::store::calls::Call;
use crate::store::jobs::Jobs;
use crate::store::safe::make_folder;
use crate::sys::signal::die_of;

/// A longer text is not read further. What is shorter may still be beyond the limits of reading, which
/// is for the decision to say.
const LONGEST_TEXT: u64 = 16 << 20;

/// A shell's call, as meant.
#[derive(Debug)]
pub struct Asked {
    /// Where the text is.
    pub text: Given,
    /// `argv[0]`.
    pub argv0: OsString,
    /// `$0`, where the caller names it.
    pub name: Option<OsString>,
    /// `$1` and on.
    pub args: Vec<OsString>,
    /// bash's options as given.
    pub options: Vec<OsString>,
    /// Those that change the reading.
    pub reading: ReadingOptions,
    /// The mode given with the call.
    pub mode: Option<Mode>,
    /// A configuration in the place of the user's.
    pub config: Option<PathBuf>,
    /// Nobody may be asked.
    pub non_interactive: bool,
    /// Rules of the command line, in order.
    pub rules: Vec<(Verdict, String)>,
    /// How long the command may keep its caller, as given with the call.
    pub timeout: Option<Duration>,
}

/// Where a text is.
#[derive(Debug, Clone)]
pub enum Given {
    /// Here.
    Command(OsString),
    /// In this file.
    File(OsString),
    /// On standard input.
    Stdin,
    /// Nowhere: bash prints something of its own and ends.
    Nothing,
}

/// Why a text could not be had. The status is bash's.
#[derive(Debug, thiserror::Error)]
enum NoText {
    #[error("{}: {source}", name.display())]
    File { name: PathBuf, source: io::Error },
    #[error("{}: is a directory", .0.display())]
    Directory(PathBuf),
    #[error("{0}: too long to be decided: more than {max} MiB", max = LONGEST_TEXT >> 20)]
    TooLong(String),
    #[error("standard input: {0}")]
    Stdin(io::Error),
    #[error("no interactive shell yet; give it a text: gsh -c TEXT, gsh FILE, or a script on standard input")]
    Interactive,
}

impl NoText {
    fn status(&self) -> u8 {
        match self {
            Self::File { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::File { .. } | Self::Directory(_) | Self::TooLong(_) => 126,
            Self::Stdin(_) | Self::Interactive => 2,
        }
    }
}

/// Decides the call's text and runs it, if it may run. The process ends as the command did.
#[must_use]
pub fn run(asked: Asked) -> ExitCode {
    let text = match text(&asked.text) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("gsh: {error}");
            return ExitCode::from(error.status());
        }
    };
    let mut surrounds = Surrounds::of_process();
    let cwd = std::env::current_dir().unwrap_or_default();
    surrounds.remember_first(&cwd);
    let machine = surrounds.machine(&cwd);
    if let Some(word) = machine.var("GSH_MODE").filter(|word| Mode::from_word(word).is_none()) {
        eprintln!("gsh: GSH_MODE: {word}: not one of default, plan, accept-edits, bypass, dont-ask");
        return ExitCode::from(2);
    }
    if surrounds.above.is_some() && (asked.config.is_some() || asked.rules.iter().any(loosens)) {
        eprintln!(
            "gsh: beneath another gsh its configuration holds: --config and --allow are not taken here"
        );
        return ExitCode::from(2);
    }
    let (opened, machine) =
        inside::open(request(&asked, text.clone(), cwd), &asked.options, &surrounds, machine);
    let timeout = match timeout(&asked, &machine) {
        Ok(timeout) => timeout,
        Err(word) => {
            eprintln!("gsh: GSH_TIMEOUT: {word}: not a time like 90, 90s, 5m or 2h");
            return ExitCode::from(2);
        }
    };
    let quiet = quiet(&asked, &machine);
    let policy = surrounds.policy(&machine, options(&asked, &surrounds, quiet));
    let shell = match Shell::find(policy.knobs.shell.as_deref().map(Path::new)) {
        Ok(shell) => shell,
        Err(error) => {
            eprintln!("gsh: {error}");
            return ExitCode::from(FAILED);
        }
    };
    let as_json = machine.var("GSH_JSON").as_deref() == Some("1");
    if policy.mode == Mode::Plan
        && let Some(folder) = policy.plan.as_deref().and_then(|plan| Path::new(plan).parent())
    {
        // Without it the plan cannot be written, which the command then says itself.
        let _ = make_folder(folder);
    }
    let call = Call { passed: inside::pass(&opened, &machine), ..call(&asked, &policy, &surrounds) };
    let mut means = means(asked, (text, &opened), &policy, (&surrounds, quiet, shell));
    means.plan.limit = limit(timeout, &policy.knobs);
    means.plan.call = Some((surrounds.calls.clone(), call.clone()));
    if let Some(lineage) = &surrounds.lineage {
        // Where it cannot be left, GSH_MODE alone tells those beneath.
        let _ = surrounds.calls.enter(&lineage.own, &call);
    }
    let request = &opened.request;
    let ending = pipeline::run(request, &policy, &machine, means);
    if let Some(lineage) = &surrounds.lineage {
        surrounds.calls.leave(&lineage.own);
    }
    match ending {
        Ending::Ran(outcome) => outcome.imitate(),
        // Only what is typed into another shell is left to that.
        Ending::Left => ExitCode::from(FAILED),
        Ending::Refused(_, Refusal::NobodyToAsk(Unavailable::Abandoned(signal))) => {
            // The question and its end are on record: now the signal may do what it came for.
            die(signal)
        }
        Ending::Refused(decision, by) => {
            let damage = policy.damage.as_deref();
            let refused = Refused { text: &request.text, decision: &decision, by: &by, damage };
            eprint!("{}", refusal(refused, as_json));
            ExitCode::from(if decision.reason == INTERNAL_ERROR { FAILED } else { REFUSED })
        }
        Ending::Failed(failure) => {
            eprintln!("gsh: {failure}");
            ExitCode::from(FAILED)
        }
    }
}

/// Ends by this signal, or with the status that tells of it.
fn die(signal: i32) -> ExitCode {
    die_of(signal);
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
}

fn text(given: &Given) -> Result<Vec<u8>, NoText> {
    use std::os::unix::ffi::OsStrExt;
    match given {
        Given::Command(text) => Ok(text.as_bytes().to_vec()),
        Given::Nothing => Ok(Vec::new()),
        Given::File(name) => {
            let name = PathBuf::from(name);
            if name.is_dir() {
                return Err(NoText::Directory(name));
            }
            match std::fs::File::open(&name).and_then(limited) {
                Ok(text) => text.ok_or_else(|| NoText::TooLong(name.display().to_string())),
                Err(source) => Err(NoText::File { name, source }),
            }
        }
        Given::Stdin if io::stdin().is_terminal() => Err(NoText::Interactive),
        Given::Stdin => {
            let text = limited(io::stdin().lock()).map_err(NoText::Stdin)?;
            text.ok_or_else(|| NoText::TooLong("standard input".to_owned()))
        }
    }
}

/// All there is; None when that is more than can be decided, maybe without end.
fn limited(source: impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    source.take(LONGEST_TEXT + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= LONGEST_TEXT).then_some(text))
}

/// The time limit of the call: its own, or the environment's.
fn timeout(asked: &Asked, host: &dyn Host) -> Result<Option<Duration>, String> {
    match (asked.timeout, host.var("GSH_TIMEOUT").filter(|word| !word.is_empty())) {
        (Some(given), _) => Ok(Some(given)),
        (None, Some(word)) => duration::parse(&word).map(Some).ok_or(word),
        (None, None) => Ok(None),
    }
}

/// The limit that holds; a time of zero is none.
fn limit(given: Option<Duration>, knobs: &Knobs) -> Option<Limit> {
    let after = given.unwrap_or(knobs.timeout);
    (!after.is_zero()).then_some(Limit { after, status: knobs.timeout_status })
}

/// Whether nobody may be asked.
fn quiet(asked: &Asked, host: &dyn Host) -> bool {
    asked.non_interactive
        || host.var("GSH_NON_INTERACTIVE").as_deref() == Some("1")
        || host.var("CI").as_deref() == Some("true")
}

/// Whether a rule of the command line makes anything milder.
fn loosens((action, _): &(Verdict, String)) -> bool {
    *action < Verdict::Ask
}

pub(super) fn options(asked: &Asked, surrounds: &Surrounds, quiet: bool) -> Options {
    let has_terminal = surrounds.lineage.as_ref().is_some_and(|lineage| lineage.own.terminal != 0);
    let agent = surrounds.session.agent.clone();
    let rules = asked.rules.iter().map(|(action, text)| (*action, text.as_str()));
    Options {
        mode: inner::mode(asked, surrounds),
        config: asked.config.clone(),
        layers: line::layer(rules).into_iter().collect(),
        caller: Caller { entry: asked.entry(), agent, interactive: has_terminal && !quiet, nested: false },
        ..Options::new()
    }
}

/// The call as those beneath it must know it.
fn call(asked: &Asked, policy: &Policy, surrounds: &Surrounds) -> Call {
    let above = surrounds.above.as_ref().map(|above| &above.call);
    let mut rules = above.map(|call| call.rules.clone()).unwrap_or_default();
    rules.extend(asked.rules.iter().cloned());
    Call {
        mode: inner::handed_on(asked, surrounds, policy),
        session: surrounds.session.id.clone(),
        parents: surrounds.session.parents.clone(),
        folders: surrounds.folders.clone(),
        config: asked.config.clone().or_else(|| above.and_then(|call| call.config.clone())),
        rules,
        passed: None,
    }
}

impl Asked {
    fn entry(&self) -> Entry {
        match self.text {
            Given::Command(_) | Given::Nothing => Entry::Command,
            Given::File(_) => Entry::Script,
            Given::Stdin => Entry::Stdin,
        }
    }
}

fn request(asked: &Asked, text: Vec<u8>, cwd: PathBuf) -> Request {
    Request {
        setting: Setting::default(),
        text,
        cwd,
        name: asked.name.as_ref().map(|name| name.to_string_lossy().into_owned()),
        args: asked.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
        options: asked.reading,
        entry: asked.entry(),
    }
}

pub(super) fn means(
    asked: Asked,
    (text, opened): (Vec<u8>, &Opened),
    policy: &Policy,
    (surrounds, quiet, shell): (&Surrounds, bool, Shell),
) -> Means {
    let (mut environment, removed) = environment::for_shell(surrounds.environment.clone());
    let context = Context { removed, rules: asked.rules.clone(), ..surrounds.context() };
    set(&mut environment, "GSH_MODE", inner::handed_on(&asked, surrounds, policy).word());
    let context = Context { envelope: opened.mark.clone(), ..context };
    let source = match &asked.text {
        Given::Command(_) => Source::Command { name: asked.name },
        Given::File(name) => Source::File { name: name.clone() },
        Given::Stdin => Source::Stdin,
        Given::Nothing => Source::Nothing,
    };
    let passed = inside::passed(&opened.request, &asked.options, surrounds);
    let manner = Manner { passed, ..manner(policy, surrounds, quiet, &environment) };
    let plan = Plan {
        inside: (opened.request.text != text).then(|| opened.request.text.clone()),
        text,
        source,
        direct: None,
        shell,
        argv0: asked.argv0,
        options: asked.options,
        args: asked.args,
        environment,
        terminal: match policy.knobs.pty {
            Pty::Auto => TerminalUse::WhenInteractive,
            Pty::Always => TerminalUse::Always,
            Pty::Never => TerminalUse::Never,
        },
        limit: None,
        call: None,
        jobs: surrounds.folders.as_ref().map(|folders| Jobs::in_state(&folders.state)),
        supervision: match policy.knobs.way {
            Way::Auto => Supervision::Auto,
            Way::Exec => Supervision::None,
            Way::Pipes => Supervision::Always,
        },
    };
    Means {
        plan,
        asks: Some(manner),
        ledger: surrounds.ledger(policy),
        state: surrounds.folders.as_ref().map(|folders| folders.state.clone()),
        temporary: PathBuf::from("/tmp"),
        elsewhere: false,
        context,
    }
}

/// How a person is asked: here, or else where one is.
fn manner(policy: &Policy, surrounds: &Surrounds, quiet: bool, environment: &[Variable]) -> Manner {
    let knobs = &policy.knobs;
    let denies = knobs.on_ask_without_terminal == WithoutTerminal::Deny;
    let agent = match &surrounds.session.agent {
        Agent::Named(name) => Some(name.clone()),
        Agent::None | Agent::Unknown => None,
    };
    let wait = knobs.ask_wait.and_then(|seconds| u64::try_from(seconds).ok());
    let elsewhere = surrounds.folders.as_ref().filter(|_| !denies).map(|folders| Elsewhere {
        state: folders.state.clone(),
        session: surrounds.session.id.clone(),
        wait: patience(agent.as_deref(), wait),
        agent,
        keep: Duration::from_secs(u64::try_from(knobs.ask_keep).unwrap_or(u64::MAX)),
        without: knobs.on_ask_without_terminal,
        quiet,
        notify: knobs.notify.clone(),
        environment: environment.to_vec(),
    });
    let quiet = quiet || denies && !io::stderr().is_terminal();
    let variable = |name: &str| {
        environment.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.to_str())
    };
    let style = Style::of(variable("TERM"), variable("NO_COLOR"));
    Manner {
        plain: knobs.plain,
        terminals: knobs.terminals.clone(),
        style,
        quiet,
        elsewhere,
        ..Manner::default()
    }
}

fn set(environment: &mut Vec<Variable>, name: &str, value: &str) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.into(), value.into()));
}
