//! From what is meant to its end.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use super::audit::AuditCall;
use super::grants::GrantsCall;
use super::jobs::with_jobs;
use super::rules::{Files, RulesCall};
use super::setup;
use super::shell_args::{ShellCall, Text};
use super::verbs::{Call, CheckCall, Own, TypedCall, Usage, What, read};
use crate::ask::queue::BELL;
use crate::ask::sanitize;
use crate::commands::audit::{self, Look};
use crate::commands::rules::change::{self, Here, Wanted};
use crate::commands::rules::lint::Severity;
use crate::commands::status::Situation;
use crate::commands::{approvals, check, explain, grants, hook, rules, status, trust};
use crate::config::edit::{Change, Editor};
use crate::config::line;
use crate::config::load::{Options, composed, reading_of, readings};
use crate::config::new_rule::NewRule;
use crate::config::read::Reading;
use crate::entry::guard::{self, By};
use crate::entry::shell::{self, Asked, Given};
use crate::entry::typed;
use crate::entry::world::{Surrounds, here};
use crate::host::Host;
use crate::pipeline;
use crate::policy::agent_form::translate;
use crate::policy::{Layer, Policy, Rule};
use crate::run::Outcome;
use crate::store::pending::{NotAnswered, Queue, Reply};
use crate::store::reviews::Reviews;
use crate::store::sessions::Sessions;
use crate::sys::machine::Machine;

/// Usage errors, as bash has them.
const USAGE: u8 = 2;

/// What the program does with its command line.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| eprintln!("gsh: internal error: {panic}")));
    match read(std::env::args_os().collect()) {
        Ok(call) => call_of(call),
        Err(Usage(message)) => {
            eprintln!("gsh: {message}");
            ExitCode::from(USAGE)
        }
    }
}

fn call_of(call: Call) -> ExitCode {
    match call {
        Call::Shell { shell, own } => shell::run(asked(shell, own)),
        Call::Check(call) => checked(&call),
        Call::Explain(call) => explained(&call),
        Call::ExplainProgram(name) => match here().2.programs.shown(&name) {
            Some(text) => print(&text),
            None => said(Err(format!(
                "gsh has no table for {name}: what it does is asked about. [programs.{name}] in your \
                 configuration can say it."
            ))),
        },
        Call::Rules(call) => ruled(&call),
        Call::Grants(call) => granted(&call),
        Call::Mode { reset: false } => print(&grants::mode_text(&here().2)),
        Call::Mode { reset: true } => changing(|surrounds, sessions| {
            grants::reset(sessions, &surrounds.session.id).map_err(|error| error.to_string())
        }),
        Call::Jobs(call) => with_jobs(call),
        Call::Audit(call) => audited(&call),
        Call::Simulate(call) => super::simulate::run(&call),
        Call::Status { json } => {
            let (surrounds, _, policy) = here();
            let enforced = status::by_reading();
            let situation = Situation {
                failure: surrounds.folders.as_ref().and_then(|folders| Reviews::of(folders).last_failure()),
                folders: surrounds.folders.as_ref(),
                session: &surrounds.session,
                beneath: surrounds.above.is_some(),
                enforced: &enforced,
            };
            print(&if json { status::json(&policy, &situation) } else { status::text(&policy, &situation) })
        }
        Call::Trust { file, yes } => with_place(|place| trust::trust(place, file.as_deref(), yes)),
        Call::TrustList { json } => said(trust::list(Surrounds::of_process().folders.as_ref(), json)),
        Call::Untrust { file } => with_place(|place| trust::untrust(place, file.as_deref())),
        Call::Approvals { json: true, .. } => said(questions()),
        Call::Approvals { only, .. } => said(approvals(only)),
        Call::Answer { id, reply } => said(answered(&id, reply)),
        Call::Setup(call) => setup::run(call),
        Call::Hook(agent) => hook::run(agent),
        Call::Typed(TypedCall::Line { at, whole }) => typed::run(at, whole),
        Call::Typed(TypedCall::Off) => typed::off(),
        Call::Print(text) => print(&text),
    }
}

/// Lists what the rules of an agent become and, if this is a person, writes them.
fn imported(wanted: &rules::import::Wanted, dry_run: bool) -> ExitCode {
    if let Some(why) = (!dry_run).then(guard::may_change).and_then(Result::err) {
        return failed(&why);
    }
    let (surrounds, machine, _) = here();
    let (folders, root) = (surrounds.folders, machine.project());
    let home = folders.as_ref().map(|folders| folders.home.clone());
    let write = |layer, new: &[NewRule]| {
        let folders = folders.as_ref().ok_or_else(|| "there is no home folder to write to".to_owned())?;
        let editor = Editor::new(folders, root.as_deref(), layer).map_err(|error| error.to_string())?;
        editor.apply(Change::Add(new)).map(|edited| edited.file).map_err(|error| error.to_string())
    };
    let writer: Option<rules::import::Writer<'_>> = if dry_run { None } else { Some(&write) };
    said(rules::import::run(wanted, &rules::import::Here { home, root: root.clone() }, writer))
}

fn with_place(act: impl FnOnce(trust::Place<'_>) -> Result<String, trust::NotTrusted>) -> ExitCode {
    let (surrounds, machine, policy) = here();
    said(act(trust::Place { folders: surrounds.folders.as_ref(), machine: &machine, policy: &policy }))
}

/// The user's queue.
fn queue(surrounds: &Surrounds) -> Result<Queue, String> {
    let folders = surrounds.folders.as_ref().ok_or("there is no home folder, and so no queue")?;
    Ok(Queue::below(&folders.state))
}

fn questions() -> Result<String, String> {
    let (surrounds, _, _) = here();
    guard::not_beneath(&surrounds)?;
    Ok(approvals::json(&queue(&surrounds)?))
}

fn approvals(only: Option<String>) -> Result<String, String> {
    let terminal = guard::may_answer(By::Keys)?;
    let (surrounds, _, policy) = here();
    let queue = queue(&surrounds)?;
    if let Some(id) = only.as_ref().filter(|id| queue.find(id).is_none()) {
        return Err(NotAnswered::NoQuestion(sanitize::line(id)).to_string());
    }
    let bell = policy.knobs.notify.iter().any(|entry| entry == BELL);
    approvals::run(&approvals::Listening { queue: &queue, terminal: &terminal, only, bell })
}

fn answered(id: &str, reply: Reply) -> Result<String, String> {
    let terminal = guard::may_answer(By::Words)?;
    let (surrounds, _, _) = here();
    approvals::answer(&queue(&surrounds)?, id, reply, &terminal).map_err(|why| why.to_string())
}

fn audited(call: &AuditCall) -> ExitCode {
    let (manner, look) = (&call.manner, Look::of_stdout());
    match audit::run(&call.call, manner, look) {
        Ok(audit::Said { bytes, status }) => {
            let printed = print_bytes(&bytes);
            if !matches!(call.call, audit::Call::Tail { follow: true, .. }) {
                return if status == 0 { printed } else { ExitCode::from(status) };
            }
            match audit::follow(manner, look, &mut io::stdout().lock()) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => failed(&error),
            }
        }
        Err(error) => failed(&error),
    }
}

fn ruled(call: &RulesCall) -> ExitCode {
    match call {
        RulesCall::Schema => print(&rules::schema::text()),
        RulesCall::Lint { json, files } => judged(files, |readings, policy, machine| {
            let found = rules::lint::findings(&rules::lint::Given { readings, policy, host: machine });
            let count = readings.iter().map(|reading| reading.layer.rules.len()).sum();
            let text = if *json { rules::lint::json(&found) } else { rules::lint::text(&found, count) };
            (text, rules::lint::status(&found))
        }),
        RulesCall::Test(files) => judged(files, |readings, policy, _| {
            let outcome = rules::test::run(readings, policy);
            let status = rules::test::status(&outcome);
            (outcome.text, status)
        }),
        RulesCall::List { json } => {
            let (_, _, policy) = here();
            print(&if *json { rules::list::json(&policy) } else { rules::list::text(&policy) })
        }
        RulesCall::Change(call) => changed(call),
        RulesCall::Import { wanted, dry_run } => imported(wanted, *dry_run),
    }
}

fn granted(call: &GrantsCall) -> ExitCode {
    match call {
        GrantsCall::List { json } => {
            let surrounds = Surrounds::of_process();
            let (session, memory) = (&surrounds.session.id, &surrounds.memory);
            print(&if *json { grants::json(session, memory) } else { grants::text(session, memory) })
        }
        GrantsCall::Revoke(id) => {
            changing(|surrounds, sessions| grants::revoke(sessions, &surrounds.session.id, Some(id)))
        }
        GrantsCall::Clear => {
            changing(|surrounds, sessions| grants::revoke(sessions, &surrounds.session.id, None))
        }
    }
}

/// Changes what is remembered of this session, if this is a person.
fn changing(change: impl FnOnce(&Surrounds, &Sessions) -> Result<String, String>) -> ExitCode {
    if let Err(why) = guard::may_change() {
        return failed(&why);
    }
    let surrounds = Surrounds::of_process();
    match &surrounds.folders {
        Some(folders) => said(change(&surrounds, &Sessions::of(folders))),
        None => failed("there is no home folder that sessions are remembered in"),
    }
}

fn changed(call: &change::Call) -> ExitCode {
    // What is only shown changes nothing.
    if let Some(why) = (!call.dry_run).then(guard::may_change).and_then(Result::err) {
        return failed(&why);
    }
    let (surrounds, machine, _) = here();
    let (project, cwd) = (machine.project(), std::env::current_dir().unwrap_or_default());
    let here = Here {
        folders: surrounds.folders.as_ref(),
        project: project.as_deref(),
        cwd: &cwd,
        policy: &|| here().2,
    };
    let done = change::run(call, &here).map(|said| {
        said.warnings.iter().for_each(|warning| eprintln!("gsh: warning: {warning}"));
        if let Wanted::Add(new) = &call.wanted {
            odd(new).iter().for_each(|warning| eprintln!("gsh: warning: {warning}"));
        }
        said.text
    });
    said(done)
}

/// What `rules lint` warns of in a new rule by itself.
fn odd(new: &NewRule) -> Vec<String> {
    let make = |capability: &str, pattern: &str| Rule::new(Layer::User, capability, pattern, new.action);
    // A rule in an agent's form is looked at as the first that it means.
    let meant = translate(&new.capability).and_then(|agents| {
        agents.capabilities_for(new.action).next().map(|capability| make(capability, &agents.pattern))
    });
    let rule = meant.unwrap_or_else(|| make(&new.capability, &new.pattern));
    let warned = rules::lint::of_rule(&rule).into_iter().filter(|finding| finding.severity > Severity::Note);
    warned.map(|finding| format!("{}: {} ({})", finding.code, finding.message, finding.help)).collect()
}

/// Looks at the files in force, or at those that are named.
fn judged(files: &Files, look: impl Fn(&[Reading], &Policy, &Machine) -> (String, u8)) -> ExitCode {
    let (surrounds, machine, policy) = here();
    let (places, options) = (policy.places, Options::new());
    let readings = if files.paths.is_empty() {
        readings(surrounds.folders.as_ref(), &places, &options)
    } else {
        let named = files.paths.iter().map(|path| {
            reading_of(path, files.layer, &places).map_err(|error| format!("{}: {error}", path.display()))
        });
        match named.collect::<Result<Vec<_>, _>>() {
            Ok(readings) => readings,
            Err(error) => return failed(&error),
        }
    };
    let policy = composed(&readings, places, &options);
    let (text, status) = look(&readings, &policy, &machine);
    print(&text);
    ExitCode::from(status)
}

fn asked(shell: ShellCall, own: Own) -> Asked {
    let text = match shell.text {
        Text::Command(text) => Given::Command(text),
        Text::File(file) => Given::File(file),
        Text::Stdin => Given::Stdin,
        Text::Nothing => Given::Nothing,
    };
    Asked {
        text,
        argv0: shell.argv0,
        name: shell.name,
        args: shell.args,
        options: shell.options,
        reading: shell.reading,
        errexit: shell.errexit,
        mode: own.mode,
        config: own.config,
        non_interactive: own.non_interactive,
        rules: own.rules,
        timeout: own.timeout,
        job: None,
        ended: Outcome::imitate,
    }
}

/// As the command would be decided here; a mode that is given is a question of what would be.
fn options(call: &CheckCall, surrounds: &Surrounds) -> Options {
    let given = call.mode.map(|mode| (mode, "the command line".to_owned()));
    let rules = call.rules.iter().map(|(action, text)| (*action, text.as_str()));
    Options {
        mode: given.or_else(|| surrounds.mode(None)),
        config: call.config.clone(),
        layers: line::layer(rules).into_iter().collect(),
        ..Options::new()
    }
}

fn directory(call: &CheckCall) -> PathBuf {
    let current = std::env::current_dir().unwrap_or_default();
    call.cwd.as_ref().map_or_else(|| current.clone(), |cwd| current.join(cwd))
}

/// The text of `check` and `explain`.
fn text(what: &What) -> Result<Vec<u8>, String> {
    use std::os::unix::ffi::OsStrExt;
    match what {
        What::Command(text) => Ok(text.as_bytes().to_vec()),
        What::File(file) => std::fs::read(file).map_err(|error| format!("{}: {error}", file.display())),
        What::Batch => Err("explain takes one text, not a batch".to_owned()),
    }
}

fn checked(call: &CheckCall) -> ExitCode {
    if let Some(cwd) = call.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
        return failed(&format!("--cwd: {}: not a directory", cwd.display()));
    }
    let (surrounds, cwd) = (Surrounds::of_process(), directory(call));
    if call.what == What::Batch {
        let output = BufWriter::new(io::stdout().lock());
        return match check::batch(&surrounds, &cwd, &options(call, &surrounds), io::stdin().lock(), output) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => failed(&error.to_string()),
        };
    }
    let text = match text(&call.what) {
        Ok(text) => text,
        Err(error) => return failed(&error),
    };
    let started = Instant::now();
    let machine = surrounds.machine(&cwd);
    let policy = surrounds.policy(&machine, options(call, &surrounds));
    let checked = pipeline::check(&check::request(text, cwd), &policy, &machine);
    let printed = if call.json {
        check::json(&checked, started.elapsed().as_micros()).map_err(|error| error.to_string())
    } else {
        Ok(check::text(&checked, call.why))
    };
    match printed {
        Ok(text) => {
            print(&text);
            ExitCode::from(check::status(checked.decision.verdict))
        }
        Err(error) => failed(&error),
    }
}

fn explained(call: &CheckCall) -> ExitCode {
    let text = match text(&call.what) {
        Ok(text) => text,
        Err(error) => return failed(&error),
    };
    let (surrounds, cwd) = (Surrounds::of_process(), directory(call));
    let machine = surrounds.machine(&cwd);
    let policy = surrounds.policy(&machine, options(call, &surrounds));
    let source = String::from_utf8_lossy(&text).into_owned();
    let checked = pipeline::check(&check::request(text, cwd), &policy, &machine);
    if call.json {
        return match check::json(&checked, 0) {
            Ok(text) => print(&text),
            Err(error) => failed(&error.to_string()),
        };
    }
    print(&explain::text(&checked, &source, &policy))
}

pub(super) fn said<E: std::fmt::Display>(result: Result<String, E>) -> ExitCode {
    match result {
        Ok(text) => print(&text),
        Err(error) => failed(&error.to_string()),
    }
}

pub(super) fn failed(message: &str) -> ExitCode {
    eprintln!("gsh: {message}");
    ExitCode::from(USAGE)
}

/// A reader that went away (`gsh rules list | head`) is no failure.
pub(super) fn print(text: &str) -> ExitCode {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> ExitCode {
    let mut output = io::stdout().lock();
    match output.write_all(bytes).and_then(|()| output.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => failed(&error.to_string()),
        _ => ExitCode::SUCCESS,
    }
}
