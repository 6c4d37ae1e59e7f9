//! From an event to a reply: what a tool's use means is decided, asked about and recorded as a command is.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::event::{Event, Kind, usable};
use super::reply::Reply;
use super::tools::{Meant, given, meant, title};
use super::{Dialect, words};
use crate::ask::queue::Elsewhere;
use crate::ask::{Hearing, Manner, Outcome};
use crate::audit::{Context, Hooked};
use crate::config::load::Options;
use crate::decision::Decision;
use crate::entry::world::Surrounds;
use crate::host::Host;
use crate::pipeline;
use crate::policy::agents::named;
use crate::policy::knobs::{Gate, HookAllow, HookShell, WithoutTerminal};
use crate::policy::{Agent, Caller, Layer, Mode, Policy, Verdict};
use crate::request::{Act, Entry, ReadingOptions, Request, Setting, Tool};
use crate::review::Reviewer;
use crate::store::passes::{Pass, Passes};
use crate::store::session::is_shell;
use crate::store::sessions::Sessions;
use crate::sys::agents;
use crate::sys::apart::Report;
use crate::sys::machine::Machine;
use crate::sys::proc::Process;

/// The reply to an event.
#[must_use]
pub(super) fn reply(dialect: &Dialect, event: &Event, report: &Report) -> Reply {
    let begun = Instant::now();
    let surrounds = Surrounds::of_process();
    if let Err(why) = end_passes(&surrounds, event) {
        return Reply::Failed(words::failed(&why));
    }
    match event.kind {
        Kind::BeforeTool | Kind::Permission => {}
        Kind::Prompt => {
            begin_turn(&surrounds);
            return Reply::Silent;
        }
        Kind::AfterTool | Kind::Other => return Reply::Silent,
    }
    let judged = event.directory().map_err(|odd| odd.to_string());
    let judged = judged.and_then(|cwd| judge((dialect, event), surrounds, cwd, (begun, report)));
    judged.unwrap_or_else(|why| Reply::Failed(words::failed(&why)))
}

/// Judges a tool's use in this directory.
fn judge(
    (dialect, event): (&Dialect, &Event),
    mut surrounds: Surrounds,
    cwd: PathBuf,
    (begun, report): (Instant, &Report),
) -> Result<Reply, String> {
    surrounds.session.agent = Agent::Named(dialect.agent.to_owned());
    surrounds.remember_first(&cwd);
    let machine = surrounds.machine(&cwd);
    if machine.var("GSH_MODE").is_some_and(|word| Mode::from_word(&word).is_none()) {
        return Err("GSH_MODE is none of the modes".to_owned());
    }
    let says = |name: &str, word: &str| machine.var(name).as_deref() == Some(word);
    let quiet = says("GSH_NON_INTERACTIVE", "1") || says("CI", "true");
    let attended = !says("CLAUDE_CODE_SESSION_ATTENDED", "0") && !is_alone(&surrounds, dialect.agent);
    let dialogue = event.kind == Kind::Permission || event.asks && !quiet && attended;
    let policy = surrounds.policy(&machine, options(&surrounds, dialogue));
    let (surrounds, machine, policy) = (&surrounds, &machine, &policy);
    let court = Court { dialect, event, surrounds, machine, policy, quiet, dialogue, begun };
    Ok(court.reply(cwd, report))
}

fn options(surrounds: &Surrounds, interactive: bool) -> Options {
    let agent = surrounds.session.agent.clone();
    Options {
        mode: surrounds.mode(None),
        caller: Caller { entry: Entry::Hook, agent, interactive, nested: false },
        ..Options::new()
    }
}

/// The process of the agent: the nearest above us that is no shell.
fn agent(surrounds: &Surrounds) -> Option<&Process> {
    surrounds.lineage.as_ref()?.above.iter().find(|process| !is_shell(process))
}

/// Whether the agent was started so that nobody is asked at it, and does not tell its hook.
fn is_alone(surrounds: &Surrounds, name: &str) -> bool {
    let Some(hook) = named(name).and_then(|known| known.hook) else { return false };
    let process = agent(surrounds).filter(|_| !hook.alone.is_empty());
    // An editor that runs the agent within itself is of another name, and has a dialogue.
    let process = process.filter(|process| agents::agent(process).is_some_and(|known| known.name == name));
    process.is_some_and(|process| !process.reads_a_terminal() || hook.is_alone(&process.words()))
}

/// What was asked before in the agent's dialogue is over.
fn end_passes(surrounds: &Surrounds, event: &Event) -> Result<(), String> {
    let (Some(folders), Some(agent)) = (&surrounds.folders, agent(surrounds)) else { return Ok(()) };
    let ended = Passes::of(folders).end(agent, event.session.as_deref());
    ended.map_err(|error| format!("an old approval could not be taken away: {error}"))
}

/// Its user said something: what was refused in the turn before rests no longer. What is beneath a command of ours
/// may be a model's word.
fn begin_turn(surrounds: &Surrounds) {
    let resting = !surrounds.memory.resting.is_empty();
    if let (true, Some(folders), None) = (resting, &surrounds.folders, &surrounds.above) {
        // What cannot be noted rests on.
        let _ = Sessions::of(folders).change(&surrounds.session.id, |memory| memory.resting.clear());
    }
}

/// All that an event is judged with.
struct Court<'a> {
    dialect: &'a Dialect,
    event: &'a Event,
    surrounds: &'a Surrounds,
    machine: &'a Machine,
    policy: &'a Policy,
    quiet: bool,
    dialogue: bool,
    begun: Instant,
}

impl Court<'_> {
    fn reply(&self, cwd: PathBuf, report: &Report) -> Reply {
        match meant(self.event, self.dialect) {
            Meant::Shell { .. } if self.policy.knobs.hook.shell == HookShell::Leave => Reply::Silent,
            Meant::Shell { texts, folders } => {
                let folders = folders.iter().map(|folder| usable(cwd.join(folder)));
                match folders.collect::<Result<Vec<_>, _>>() {
                    Ok(folders) => self.of_texts(&texts, &folders, report),
                    Err(odd) => Reply::Failed(words::failed(&odd.to_string())),
                }
            }
            Meant::Tool(tool) => {
                let request = self.of_tool(tool, cwd);
                if self.is_left(&request) {
                    return Reply::Silent;
                }
                self.one(&request, report)
            }
        }
    }

    /// Each text by itself: the first that may not run refuses all, and one that asks makes all ask.
    fn of_texts(&self, texts: &[String], folders: &[PathBuf], report: &Report) -> Reply {
        let mut all = Reply::Silent;
        let places = folders.iter().flat_map(|folder| texts.iter().map(move |text| (folder, text)));
        for (folder, text) in places {
            let request = Request { text: text.clone().into_bytes(), ..self.request(folder.clone()) };
            match self.one(&request, report) {
                refused @ (Reply::Deny { .. } | Reply::Failed(_)) => return refused,
                Reply::Silent => {}
                Reply::Allow(_) if matches!(all, Reply::Ask(_)) => {}
                next => all = next,
            }
        }
        all
    }

    fn request(&self, cwd: PathBuf) -> Request {
        Request {
            text: Vec::new(),
            cwd,
            name: None,
            args: Vec::new(),
            options: ReadingOptions::default(),
            entry: Entry::Hook,
            setting: Setting::default(),
            tool: None,
        }
    }

    fn of_tool(&self, tool: Tool, cwd: PathBuf) -> Request {
        Request {
            text: title(&tool).into_bytes(),
            args: vec![given(&self.event.input)],
            tool: Some(tool),
            ..self.request(cwd)
        }
    }

    /// Whether the gate leaves a tool to the agent: gsh has no table for it, and no rule of a person names it.
    fn is_left(&self, request: &Request) -> bool {
        let unknown = |tool: &Tool| tool.acts.iter().all(|act| matches!(act, Act::Use(_)));
        if self.policy.knobs.hook.gate == Gate::All || !request.tool.as_ref().is_some_and(unknown) {
            return false;
        }
        let decision = pipeline::check(request, self.policy, self.machine).decision;
        let by_default = |rule: &crate::policy::Rule| rule.layer <= Layer::Baseline;
        decision.requests.iter().all(|judged| judged.matched.rule.as_deref().is_none_or(by_default))
            && decision.verdict != Verdict::Deny
    }

    fn one(&self, request: &Request, report: &Report) -> Reply {
        let waits = || report.waits();
        let hearing = self.hearing(&waits);
        let what = String::from_utf8_lossy(&request.text);
        match pipeline::hear(request, self.policy, self.machine, &hearing) {
            Err(failure) => Reply::Failed(words::failed(&failure.to_string())),
            Ok((decision, outcome)) => self.said(request, &what, (&decision, outcome)),
        }
    }

    fn said(&self, request: &Request, what: &str, (decision, outcome): (&Decision, Outcome)) -> Reply {
        match outcome {
            Outcome::Refused(by) => {
                let text = words::refused(what, decision, &by, self.policy.damage.as_deref());
                Reply::Deny { text, floor: decision.floor.is_some() }
            }
            Outcome::Asks { why } => {
                // Who is asked without our word may be another model.
                if self.event.asks {
                    self.leave_pass(request);
                }
                Reply::Ask(words::asking(what, decision, why.as_deref()))
            }
            Outcome::Allowed { answered: true } => {
                self.leave_pass(request);
                Reply::Allow("gsh: the user allowed it".to_owned())
            }
            Outcome::Allowed { answered: false } if self.has_no_say(request) => Reply::Silent,
            Outcome::Allowed { answered: false } => Reply::Allow(words::allowed(decision)),
        }
    }

    /// Whether the agent's own rules hold where nothing here refuses: for its own affairs, and where it is set so.
    fn has_no_say(&self, request: &Request) -> bool {
        let own = |tool: &Tool| tool.acts.iter().all(|act| matches!(act, Act::Mention(_)));
        self.policy.knobs.hook.allow == HookAllow::Leave || request.tool.as_ref().is_some_and(own)
    }

    /// A command that a person approves here is not asked about again by the shell. Beneath a command of ours a
    /// model may have made up the event.
    fn leave_pass(&self, request: &Request) {
        let (Some(folders), Some(agent)) = (&self.surrounds.folders, agent(self.surrounds)) else { return };
        let Ok(directory) = std::fs::canonicalize(&request.cwd) else { return };
        if request.tool.is_some() || self.surrounds.above.is_some() {
            return;
        }
        let pass = Pass {
            agent: self.dialect.agent.to_owned(),
            session: self.event.session.clone(),
            call: self.event.call.clone(),
            text: crate::store::hash(&request.text),
            directory,
        };
        // Without it the shell asks once more.
        let _ = Passes::of(folders).give(agent, pass);
    }

    fn hearing<'w>(&self, before_asking: &'w dyn Fn()) -> Hearing<'w> {
        let folders = self.surrounds.folders.as_ref();
        let hook = Hooked {
            event: self.event.name.clone(),
            session: self.event.session.clone(),
            call: self.event.call.clone(),
            tool: self.event.tool.clone(),
        };
        Hearing {
            asks: Some(self.manner()),
            dialogue: self.dialogue,
            before_asking,
            ledger: self
                .surrounds
                .ledger(self.policy)
                .map(|ledger| crate::ask::Ledger { bearer: None, ..ledger }),
            state: folders.map(|folders| folders.state.clone()),
            temporary: PathBuf::from("/tmp"),
            context: Context { hook: Some(hook), ..self.surrounds.context() },
        }
    }

    /// As for a command without a terminal, but no longer than the agent waits for its hook.
    fn manner(&self) -> Manner {
        let knobs = &self.policy.knobs;
        let denies = knobs.on_ask_without_terminal == WithoutTerminal::Deny;
        let set = knobs.ask_wait.and_then(|seconds| u64::try_from(seconds).ok());
        let seconds = set.unwrap_or(u64::MAX).min(self.dialect.seconds);
        let wait = Duration::from_secs(seconds).saturating_sub(self.begun.elapsed());
        let elsewhere = self.surrounds.folders.as_ref().filter(|_| !denies).map(|folders| Elsewhere {
            state: folders.state.clone(),
            session: self.surrounds.session.id.clone(),
            agent: Some(self.dialect.agent.to_owned()),
            wait,
            keep: Duration::from_secs(u64::try_from(knobs.ask_keep).unwrap_or(u64::MAX)),
            without: knobs.on_ask_without_terminal,
            quiet: self.quiet,
            notify: knobs.notify.clone(),
            environment: self.surrounds.environment.clone(),
        });
        // Beneath a command of ours a model may have made up the event, and what it says was said.
        let transcript = self.event.transcript.as_ref().filter(|_| self.surrounds.above.is_none());
        let transcript = transcript.map(PathBuf::from).filter(|path| path.is_absolute());
        let reviewer = self.surrounds.reviewer(self.policy).map(|mut reviewer| {
            reviewer.set.timeout = reviewer.set.timeout.min(wait);
            Reviewer { transcript, ..reviewer }
        });
        Manner { elsewhere, reviewer, ..Manner::default() }
    }
}
