//! All that holds at the moment when one of a call's texts is decided.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use super::shell::Asked;
use super::steer::{FAILED, REFUSED, Refused, refusal};
use super::world::Surrounds;
use super::{inner, inside};
use crate::ask::queue::{Elsewhere, patience};
use crate::ask::terminal::persons;
use crate::ask::{Manner, Refusal, Style, Unavailable};
use crate::audit::{Context, new_id};
use crate::config::line;
use crate::config::load::Options;
use crate::decision::INTERNAL_ERROR;
use crate::envelope::{Mark, Opened};
use crate::facts::Past;
use crate::host::Host;
use crate::pipeline::{self, Checked};
use crate::policy::duration;
use crate::policy::knobs::{Knobs, Pty, Way, WithoutTerminal};
use crate::policy::reviewing::Reviewing;
use crate::policy::{Agent, Caller, Mode, Policy, Verdict};
use crate::request::{Request, Setting};
use crate::run::environment::{self, Variable};
use crate::run::living::Living;
use crate::run::shell::{NoShell, Shell};
use crate::run::supervise::Limit;
use crate::run::{Ending, Means, Outcome, Plan, Runner, Source, Supervision, TerminalUse};
use crate::store::calls::Call;
use crate::store::jobs::Jobs;
use crate::store::safe::make_folder;
use crate::sys::machine::Machine;

/// A call's text, with the machine and the policy as they are now.
#[derive(Debug)]
pub(super) struct Moment {
    asked: Asked,
    surrounds: Surrounds,
    /// What runs.
    text: Vec<u8>,
    /// What is judged.
    opened: Opened,
    machine: Machine,
    timeout: Option<Duration>,
    quiet: bool,
    /// What holds.
    pub(super) policy: Policy,
    /// The real shell.
    pub(super) shell: Shell,
}

/// How a text ended, and its caller heard of it.
#[derive(Debug)]
pub(super) enum End {
    /// It ran.
    Ran(Outcome),
    /// It did not, and this is the status for that.
    NotRun(u8),
    /// This signal ended the question about it.
    Abandoned(i32),
}

impl Moment {
    /// As things are now; the status of gsh where that cannot be had, or is not allowed.
    pub(super) fn now(asked: &Asked, text: &[u8]) -> Result<Self, ExitCode> {
        Self::with(asked, text, Surrounds::of_process())
    }

    /// The same for a further text of this call.
    pub(super) fn anew(&self, text: &[u8]) -> Result<Self, ExitCode> {
        Self::with(&self.asked, text, self.surrounds.anew())
    }

    /// For a text that another shell runs.
    pub(super) fn elsewhere(
        asked: Asked,
        request: Request,
        surrounds: Surrounds,
        (machine, policy): (Machine, Policy),
    ) -> Result<Self, NoShell> {
        let shell = Shell::find(policy.knobs.shell.as_deref().map(Path::new))?;
        let text = request.text.clone();
        let opened = Opened { request, mark: Mark::None, path: None, again: None };
        Ok(Self { asked, surrounds, text, opened, machine, timeout: None, quiet: false, policy, shell })
    }

    /// The same, with what it runs beneath told.
    pub(super) fn with(asked: &Asked, text: &[u8], mut surrounds: Surrounds) -> Result<Self, ExitCode> {
        let cwd = std::env::current_dir().unwrap_or_default();
        surrounds.remember_first(&cwd);
        let machine = surrounds.machine(&cwd);
        let wrong = |what: String, status: u8| {
            eprintln!("gsh: {what}");
            ExitCode::from(status)
        };
        if let Some(word) = machine.var("GSH_MODE").filter(|word| Mode::from_word(word).is_none()) {
            let what = format!("GSH_MODE: {word}: not one of default, plan, accept-edits, bypass, dont-ask");
            return Err(wrong(what, 2));
        }
        if surrounds.above.is_some() && (asked.config.is_some() || asked.rules.iter().any(loosens)) {
            let what = "beneath another gsh its configuration holds: --config and --allow are not taken here";
            return Err(wrong(what.to_owned(), 2));
        }
        let request = request(asked, text.to_vec(), cwd);
        let (opened, machine) = inside::open(request, &asked.options, &surrounds, machine);
        let timeout = timeout(asked, &machine)
            .map_err(|word| wrong(format!("GSH_TIMEOUT: {word}: not a time like 90, 90s, 5m or 2h"), 2))?;
        let quiet = quiet(asked, &machine);
        let policy = surrounds.policy(&machine, options(asked, &surrounds, quiet));
        let machine = match surrounds.machine_in_shell(&opened.request.cwd) {
            Some(told) => {
                // What may not be the project was found out above.
                let _refused = told.widen(&policy.knobs.allow_roots);
                told
            }
            None => machine,
        };
        let shell = Shell::find(policy.knobs.shell.as_deref().map(Path::new))
            .map_err(|error| wrong(error.to_string(), FAILED))?;
        let (asked, text) = (asked.clone(), text.to_vec());
        Ok(Self { asked, surrounds, text, opened, machine, timeout, quiet, policy, shell })
    }

    /// What is judged.
    pub(super) fn request(&self) -> &Request {
        &self.opened.request
    }

    /// The machine that it is judged on.
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Whether the shell can be given one statement after the other: it must be bash, as it reads a script.
    pub(super) fn takes_statements(&self) -> bool {
        let is_bash = self.shell.path().file_name().is_some_and(|name| name == "bash");
        let mut options = self.asked.options.iter().filter_map(|option| option.to_str());
        let odd = options.any(|option| match option.strip_prefix("--") {
            Some(long) => matches!(long, "verbose" | "restricted"),
            None => option.starts_with('-') && option.contains(['v', 'r', 'n']),
        });
        let restricted = self.asked.argv0.as_encoded_bytes().ends_with(b"rbash");
        is_bash
            && !odd
            && !restricted
            && !self.asked.reading.interactive
            && self.policy.knobs.pty != Pty::Always
    }

    /// Whether it can be given what is typed.
    pub(super) fn takes_typed(&self) -> bool {
        self.shell.path().file_name().is_some_and(|name| name == "bash")
    }

    /// Whether a person sits at the terminal, and it can move a cursor.
    pub(super) fn takes_editor(&self) -> bool {
        let moves = self.machine.var("TERM").is_some_and(|kind| !kind.is_empty() && kind != "dumb");
        moves && io::stdout().is_terminal() && !self.quiet && persons(&self.policy.knobs.terminals).is_ok()
    }

    /// Where what is typed is kept; None without a home.
    pub(super) fn history_file(&self) -> Option<PathBuf> {
        let state = &self.surrounds.folders.as_ref()?.state;
        make_folder(state).ok()?;
        Some(state.join("history"))
    }

    /// The file that the shell at a person's terminal reads when it starts.
    pub(super) fn start_up(&self) -> Option<PathBuf> {
        let rc = self.policy.knobs.interactive.rc.as_deref()?;
        Some(match rc.strip_prefix("~/") {
            Some(below) => Path::new(self.policy.places.home.as_deref()?).join(below),
            None => rc.into(),
        })
    }

    /// Whether a start-up file would be refused, were it a command.
    pub(super) fn denies(&self, text: &[u8]) -> bool {
        let request = Request { text: text.to_vec(), ..self.opened.request.clone() };
        let checked = pipeline::check(&request, &self.policy, &self.machine);
        checked.decision.verdict == Verdict::Deny
    }

    /// What would be decided of a line now; nothing runs and nothing is recorded.
    pub(super) fn foreseen(&self, line: &str, past: &Past) -> Checked {
        let cwd = std::env::current_dir().unwrap_or_default();
        let request = request(&self.asked, line.as_bytes().to_vec(), cwd);
        pipeline::check_after(past, &request, &self.policy, &self.machine)
    }

    /// Decides the text and runs it.
    pub(super) fn run(&self, source: Source, living: Option<&Living>) -> Ending {
        if self.policy.mode == Mode::Plan
            && let Some(folder) = self.policy.plan.as_deref().and_then(|plan| Path::new(plan).parent())
        {
            // Without it the plan cannot be written, which the command then says itself.
            let _ = make_folder(folder);
        }
        let record = new_id();
        let call = Call { record: Some(record.clone()), ..self.call() };
        let mut means = self.means(source);
        means.context.id = Some(record);
        means.plan.job = self.asked.job.clone();
        means.plan.limit = limit(self.timeout, &self.policy.knobs);
        means.plan.call = Some((self.surrounds.calls.clone(), call.clone()));
        means.plan.living = living.cloned();
        means.context.follows = !means.plan.past().is_empty();
        if let Some(lineage) = &self.surrounds.lineage {
            // Where it cannot be left, GSH_MODE alone tells those beneath.
            let _ = self.surrounds.calls.enter(&lineage.own, &call);
        }
        let ending = pipeline::run(&self.opened.request, &self.policy, &self.machine, means);
        let lives_on = matches!(&ending, Ending::Ran(outcome) if outcome.ended.is_none());
        if let Some(lineage) = self.surrounds.lineage.as_ref().filter(|_| !lives_on) {
            self.surrounds.calls.leave(&lineage.own);
        }
        ending
    }

    /// Tells the caller why it did not run, if it did not.
    pub(super) fn tell(&self, ending: Ending) -> End {
        match ending {
            Ending::Ran(outcome) => End::Ran(outcome),
            // Only what is typed into another shell is left to that.
            Ending::Left | Ending::Unclear | Ending::Unsaid => End::NotRun(FAILED),
            Ending::Refused(_, Refusal::NobodyToAsk(Unavailable::Abandoned(signal))) => {
                End::Abandoned(signal)
            }
            Ending::Refused(decision, by) => {
                let damage = self.policy.damage.as_deref();
                let text = &self.opened.request.text;
                let refused = Refused { text, decision: &decision, by: &by, damage };
                let as_json = self.machine.var("GSH_JSON").as_deref() == Some("1");
                eprint!("{}", refusal(refused, as_json));
                End::NotRun(if decision.reason == INTERNAL_ERROR { FAILED } else { REFUSED })
            }
            Ending::Failed(failure) => {
                eprintln!("gsh: {failure}");
                End::NotRun(FAILED)
            }
        }
    }

    fn call(&self) -> Call {
        let passed = inside::pass(&self.opened, &self.machine);
        Call { passed, ..call(&self.asked, &self.policy, &self.surrounds) }
    }

    pub(super) fn means(&self, source: Source) -> Means {
        let (asked, policy, surrounds) = (&self.asked, &self.policy, &self.surrounds);
        let (mut environment, mut removed) = environment::for_shell(surrounds.environment.clone());
        removed.extend(without_key(&mut environment, &policy.knobs.reviewer));
        let envelope = self.opened.mark.clone();
        let context = Context { removed, envelope, rules: asked.rules.clone(), ..surrounds.context() };
        set(&mut environment, "GSH_MODE", inner::handed_on(asked, surrounds, policy).word());
        let judged = &self.opened.request;
        let passed = inside::passed(judged, &asked.options, surrounds);
        let manner = Manner { passed, ..manner(policy, surrounds, self.quiet, &environment) };
        let plan = Plan {
            inside: (judged.text != self.text).then(|| judged.text.clone()),
            text: self.text.clone(),
            source,
            direct: None,
            shell: self.shell.clone(),
            argv0: asked.argv0.clone(),
            options: asked.options.clone(),
            args: asked.args.clone(),
            environment,
            terminal: match policy.knobs.pty {
                Pty::Auto => TerminalUse::WhenInteractive,
                Pty::Always => TerminalUse::Always,
                Pty::Never => TerminalUse::Never,
            },
            limit: None,
            call: None,
            job: None,
            jobs: surrounds.folders.as_ref().map(|folders| Jobs::in_state(&folders.state)),
            supervision: match policy.knobs.way {
                Way::Auto => Supervision::Auto,
                Way::Exec => Supervision::None,
                Way::Pipes => Supervision::Always,
            },
            living: None,
            edits: false,
            left: Past::default(),
        };
        Means {
            plan,
            asks: Some(manner),
            ledger: surrounds.ledger(policy),
            state: surrounds.folders.as_ref().map(|folders| folders.state.clone()),
            temporary: PathBuf::from("/tmp"),
            runner: Runner::Own,
            context,
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
        tool: None,
    }
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
        record: None,
        launches: surrounds.wrapped.as_ref().is_some_and(|wrapped| wrapped.launches),
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
        reviewer: surrounds.reviewer(policy),
        ..Manner::default()
    }
}

/// Takes the reviewer's key out: no command sees it. Its name, if it was there.
fn without_key(environment: &mut Vec<Variable>, reviewer: &Reviewing) -> Option<String> {
    let name = reviewer.key_env.as_deref()?;
    let before = environment.len();
    environment.retain(|(known, _)| known != name);
    (environment.len() < before).then(|| name.to_owned())
}

fn set(environment: &mut Vec<Variable>, name: &str, value: &str) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.into(), value.into()));
}
