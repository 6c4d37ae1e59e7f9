//! gsh's own words: options before the shell's, and verbs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::audit::{Audit, AuditCall};
use super::grants::{Grants, GrantsCall, ModeVerb};
use super::jobs::{Jobs, JobsCall};
use super::manual;
use super::rules::{Rules, RulesCall};
use super::setup::{self, SetupCall};
use super::shell_args::{self, ShellCall};
use super::simulate::Simulate;
use crate::ask::dialog::MOST_MINUTES;
use crate::commands::hook;
use crate::entry::typed::Typist;
use crate::policy::{Mode, Verdict, duration};
use crate::store::pending::Reply;

/// The first words that are verbs.
const VERBS: [&str; 24] = [
    "approvals",
    "approve",
    "audit",
    "brief",
    "check",
    "completions",
    "doctor",
    "explain",
    "grants",
    "help",
    "hook",
    "init",
    "jobs",
    "man",
    "mode",
    "refuse",
    "rules",
    "simulate",
    "status",
    "trust",
    "typed",
    "untrust",
    "version",
    "wrap",
];
/// Under these names gsh is a shell and nothing else.
const SHELL_NAMES: [&str; 4] = ["bash", "gsh-bash", "sh", "zsh"];

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Call {
    /// Be a shell.
    Shell {
        /// bash's part.
        shell: ShellCall,
        /// Our part.
        own: Own,
    },
    /// Decide, run nothing.
    Check(CheckCall),
    /// Show the whole reasoning.
    Explain(CheckCall),
    /// Show what is known of a program.
    ExplainProgram(String),
    /// Something with the rules.
    Rules(RulesCall),
    /// Something with the grants.
    Grants(GrantsCall),
    /// Say the mode, or forget the refusals.
    Mode {
        /// Forget them.
        reset: bool,
    },
    /// Something with jobs.
    Jobs(JobsCall),
    /// Look at the records.
    Audit(AuditCall),
    /// Decide the commands of transcripts and histories.
    Simulate(crate::commands::simulate::Call),
    /// Say what is in force.
    Status {
        /// As JSON.
        json: bool,
    },
    /// Show a project's file and trust it as it is.
    Trust {
        /// The file, instead of this project's.
        file: Option<PathBuf>,
        /// Do not ask back.
        yes: bool,
    },
    /// Say which files are trusted.
    TrustList {
        /// As JSON.
        json: bool,
    },
    /// Trust it no longer.
    Untrust {
        /// The file, instead of this project's.
        file: Option<PathBuf>,
    },
    /// Show the questions that wait, and take answers.
    Approvals {
        /// As JSON, without taking any.
        json: bool,
        /// Only this one.
        only: Option<String>,
    },
    /// Answer a question.
    Answer {
        /// Its name.
        id: String,
        /// The answer.
        reply: Reply,
    },
    /// Something about agents: set them up, start them, look after them.
    Setup(SetupCall),
    /// Answer one event of this agent's hook.
    Hook(&'static str),
    /// Decide the line that a person's shell hands over.
    Typed(TypedCall),
    /// Print this text and succeed.
    Print(String),
}

/// What a person's own shell asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypedCall {
    /// Whether a line may run.
    Line {
        /// Which shell it was typed at.
        at: Typist,
        /// The shell knows that the text is whole.
        whole: bool,
    },
    /// Whether gsh may be taken out of that shell.
    Off,
}

/// Our own options of a shell call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Own {
    /// `--mode` and its short forms.
    pub mode: Option<Mode>,
    /// `--config`.
    pub config: Option<PathBuf>,
    /// `--non-interactive`.
    pub non_interactive: bool,
    /// `--allow`, `--ask`, `--deny`, in order.
    pub rules: Vec<(Verdict, String)>,
    /// `--timeout`.
    pub timeout: Option<Duration>,
}

/// What `check` and `explain` decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckCall {
    /// Where the text is.
    pub what: What,
    /// The directory it would start in, instead of ours.
    pub cwd: Option<PathBuf>,
    /// The mode.
    pub mode: Option<Mode>,
    /// A configuration instead of the user's.
    pub config: Option<PathBuf>,
    /// Rules of the command line, in order.
    pub rules: Vec<(Verdict, String)>,
    /// With the reasons.
    pub why: bool,
    /// As JSON.
    pub json: bool,
}

/// Where a text to check is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Here.
    Command(OsString),
    /// In a script.
    File(PathBuf),
    /// One JSON object per line of standard input.
    Batch,
}

/// What is wrong with a command line. The exit status is 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Usage(pub String);

/// Reads a whole command line, `argv[0]` first.
///
/// # Errors
/// When it is neither a shell's nor ours.
pub fn read(mut argv: Vec<OsString>) -> Result<Call, Usage> {
    let argv0 = if argv.is_empty() { OsString::from("gsh") } else { argv.remove(0) };
    if is_shell_name(&argv0) {
        return shell(argv0, &argv, Own::default());
    }
    let (own, rest) = own_options(&argv)?;
    let Some(first) = rest.first() else { return shell(argv0, rest, own) };
    match first.to_str() {
        // The one place where it means "no verbs" and not yet "no options": bash options follow.
        Some("--") => shell(argv0, rest.get(1..).unwrap_or_default(), own),
        Some("--help") => Ok(Call::Print(Typed::command().render_help().to_string())),
        Some("--version" | "version") => Ok(Call::Print(format!("gsh {}\n", env!("CARGO_PKG_VERSION")))),
        Some(verb) if VERBS.contains(&verb) => {
            if own != Own::default() {
                return Err(Usage(format!("give options of `{verb}` after the word `{verb}`")));
            }
            as_meant(rest)
        }
        _ => shell(argv0, rest, own),
    }
}

fn is_shell_name(argv0: &OsStr) -> bool {
    let base = Path::new(argv0).file_name().unwrap_or(argv0).as_bytes();
    let base = base.strip_prefix(b"-").unwrap_or(base);
    // A login shell never takes a verb: whoever starts it expects a shell.
    argv0.as_bytes().starts_with(b"-") || SHELL_NAMES.iter().any(|name| name.as_bytes() == base)
}

fn shell(argv0: OsString, words: &[OsString], own: Own) -> Result<Call, Usage> {
    let as_shell = is_shell_name(&argv0);
    match shell_args::read(argv0.clone(), words) {
        Ok(shell) => Ok(Call::Shell { shell, own }),
        Err(bad) if as_shell => Ok(Call::Shell { shell: bad.into_call(argv0), own }),
        Err(bad) => Err(Usage(bad.message)),
    }
}

/// Ours stand first; the first word that is none of them ends them.
fn own_options(argv: &[OsString]) -> Result<(Own, &[OsString]), Usage> {
    let mut own = Own::default();
    let mut at = 0;
    while let Some(word) = argv.get(at).and_then(|word| word.to_str()) {
        let (name, attached) = match word.split_once('=') {
            Some((name, value)) => (name, Some(OsString::from(value))),
            None => (word, None),
        };
        let mut value = || {
            let given = attached.clone().or_else(|| {
                at += 1;
                argv.get(at).cloned()
            });
            given.ok_or_else(|| Usage(format!("{name}: option requires an argument")))
        };
        match name {
            "--mode" => own.mode = Some(mode(&value()?.to_string_lossy()).map_err(Usage)?),
            "--config" => own.config = Some(value()?.into()),
            "--allow" | "--ask" | "--deny" => {
                let text = value()?.into_string();
                let text = text.map_err(|_| Usage(format!("{name}: a rule is text in UTF-8")))?;
                own.rules
                    .extend(Verdict::from_word(name.trim_start_matches('-')).map(|action| (action, text)));
            }
            "--timeout" => {
                let text = value()?.to_string_lossy().into_owned();
                let wrong = || Usage(format!("--timeout: {text}: not a time like 90, 90s, 5m or 2h"));
                own.timeout = Some(duration::parse(&text).ok_or_else(wrong)?);
            }
            _ => match flag(word) {
                Some(Flag::Mode(mode)) => own.mode = Some(mode),
                Some(Flag::NonInteractive) => own.non_interactive = true,
                None => break,
            },
        }
        at += 1;
    }
    Ok((own, argv.get(at..).unwrap_or_default()))
}

enum Flag {
    Mode(Mode),
    NonInteractive,
}

fn flag(word: &str) -> Option<Flag> {
    Some(match word {
        "--yolo" => Flag::Mode(Mode::Bypass),
        "--plan" => Flag::Mode(Mode::Plan),
        "--accept-edits" => Flag::Mode(Mode::AcceptEdits),
        "--dont-ask" => Flag::Mode(Mode::DontAsk),
        "--non-interactive" => Flag::NonInteractive,
        _ => return None,
    })
}

pub(super) fn mode(word: &str) -> Result<Mode, String> {
    serde_json::from_value(word.into())
        .map_err(|_| format!("--mode: {word}: not one of default, plan, accept-edits, bypass, dont-ask"))
}

/// The verbs as typed.
#[derive(Debug, Parser)]
#[command(
    name = "gsh",
    about = "A guarded shell: takes bash's arguments, or one of these verbs",
    after_help = "As a shell: gsh [--mode MODE | --yolo | --plan | --accept-edits | --dont-ask] [--config FILE]\n\
                  \x20           [--allow RULE] [--ask RULE] [--deny RULE] [--non-interactive] [--timeout TIME]\n\
                  \x20           [--] [bash's options] [-c TEXT [NAME ARGS...] | FILE ARGS...]"
)]
struct Typed {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Decide a command and run nothing: 0 allow, 10 review, 11 ask, 12 deny
    Check(Checked),
    /// Show how a command is understood and decided
    Explain(Explained),
    /// Commands that go on without their caller
    Jobs(Jobs),
    /// The effective rules, and changes to them
    Rules(Rules),
    /// What was answered for this session and still holds
    Grants(Grants),
    /// The mode here, and how often the session was refused
    Mode(ModeVerb),
    /// The records: who decided, why, what came of it
    Audit(Audit),
    /// How often transcripts and histories would have been asked about, and which rules would change that
    Simulate(Simulate),
    /// What is in force here, and from where
    Status(Output),
    /// Show this project's configuration and trust it as it is
    Trust(Trust),
    /// Trust this project's configuration no longer
    Untrust(Untrust),
    /// Questions of commands without a person's terminal: a list that takes answers
    Approvals(Approvals),
    /// Allow one of them, this once or for longer
    Approve(Approve),
    /// Refuse one of them
    Refuse(Refuse),
    /// Point an agent at gsh by its own settings, or put them back
    Init(setup::Init),
    /// Start an agent with every door to gsh closed, for this run only
    Wrap(setup::Wrap),
    /// Prove that an agent's commands come to gsh; status 1 when they pass by
    Doctor(setup::Doctor),
    /// For the shell integration: decide the line in GSH_LINE, and leave running it to the shell
    #[command(hide = true)]
    Typed(TypedVerb),
    /// What an agent should know beforehand
    Brief(setup::Brief),
    /// A manual page, of gsh or of one verb: `gsh man audit | man -l -`
    Man {
        /// The verb
        verb: Option<String>,
    },
    /// What a shell takes to complete the words of gsh
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Answer one event of an agent's hook, from standard input, in its dialect
    Hook(Hook),
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
struct Checked {
    /// The text
    #[arg(short = 'c', value_name = "TEXT", group = "what", allow_hyphen_values = true)]
    command: Option<OsString>,
    /// A script
    #[arg(group = "what")]
    file: Option<PathBuf>,
    /// JSON Lines from standard input, {"id":…,"command":"…","cwd":"…"}, one answer a line
    #[arg(long, group = "what")]
    batch: bool,
    #[command(flatten)]
    setting: Setting,
    /// With the reasons
    #[arg(long)]
    why: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("text").required(true))]
struct Explained {
    /// The text
    #[arg(short = 'c', value_name = "TEXT", group = "text", allow_hyphen_values = true)]
    command: Option<OsString>,
    /// A script
    #[arg(group = "text")]
    file: Option<PathBuf>,
    /// Instead of a text: what gsh knows of a program
    #[arg(long, value_name = "NAME", group = "text", conflicts_with = "json")]
    program: Option<String>,
    #[command(flatten)]
    setting: Setting,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// Where and how a text would be decided.
#[derive(Debug, Args)]
struct Setting {
    /// The directory it would start in
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// default, plan, accept-edits, bypass or dont-ask
    #[arg(long, value_parser = mode)]
    mode: Option<Mode>,
    /// A configuration instead of the user's
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A rule that allows, above those of all files
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// A rule that asks
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// A rule that refuses
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
}

impl Setting {
    /// The rules, those that refuse last.
    fn rules(&mut self) -> Vec<(Verdict, String)> {
        let given = [
            (Verdict::Allow, &mut self.allow),
            (Verdict::Ask, &mut self.ask),
            (Verdict::Deny, &mut self.deny),
        ];
        given
            .into_iter()
            .flat_map(|(action, texts)| texts.drain(..).map(move |text| (action, text)))
            .collect()
    }
}

#[derive(Debug, Args)]
struct TypedVerb {
    /// The shell that it was typed at
    #[arg(long, value_parser = ["bash", "zsh", "fish"], required_unless_present = "off")]
    shell: Option<String>,
    /// The shell knows that the text is whole
    #[arg(long)]
    whole: bool,
    /// Ask whether gsh may be taken out of this shell
    #[arg(long, conflicts_with_all = ["shell", "whole"])]
    off: bool,
}

impl TypedVerb {
    fn into_call(self) -> Call {
        let at = self.shell.as_deref().and_then(Typist::named);
        Call::Typed(at.map_or(TypedCall::Off, |at| TypedCall::Line { at, whole: self.whole }))
    }
}

#[derive(Debug, Args)]
struct Output {
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Trust {
    /// A project's .gsh/config.toml, instead of this one's
    #[arg(conflicts_with = "list")]
    file: Option<PathBuf>,
    /// Do not ask back
    #[arg(long, conflicts_with = "list")]
    yes: bool,
    /// Which files are trusted, since when, and whether they still are as they were
    #[arg(long)]
    list: bool,
    /// As JSON
    #[arg(long, requires = "list")]
    json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = hook::help())]
struct Hook {
    /// The agent whose hook it is
    #[arg(value_parser = hook::agent)]
    agent: &'static str,
}

#[derive(Debug, Args)]
struct Untrust {
    /// A file that is trusted, instead of this project's
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct Approvals {
    /// Print them as JSON and take no answer
    #[arg(long)]
    json: bool,
    /// Show this one alone, and end with it
    #[arg(long, value_name = "ID", conflicts_with = "json")]
    only: Option<String>,
}

#[derive(Debug, Args)]
struct Approve {
    /// The question's name
    id: String,
    /// Exactly this, until the session that asks ends
    #[arg(long, conflicts_with = "minutes")]
    session: bool,
    /// Exactly this in that session, for so many minutes from now on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_MINUTES)))]
    minutes: Option<u32>,
}

impl Approve {
    fn into_call(self) -> Call {
        let reply = match self.minutes {
            Some(minutes) => Reply::Minutes(minutes),
            None if self.session => Reply::Session,
            None => Reply::Once,
        };
        Call::Answer { id: self.id, reply }
    }
}

#[derive(Debug, Args)]
struct Refuse {
    /// The question's name
    id: String,
    /// Why: whoever asked reads it
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// And exactly this again, until the session that asks ends
    #[arg(long)]
    session: bool,
}

impl Refuse {
    fn into_call(self) -> Call {
        let Self { id, reason, session } = self;
        let reply = if session { Reply::RefusedSession { reason } } else { Reply::Refused { reason } };
        Call::Answer { id, reply }
    }
}

fn as_meant(words: &[OsString]) -> Result<Call, Usage> {
    let words = std::iter::once(OsString::from("gsh")).chain(words.iter().cloned());
    let typed = match Typed::try_parse_from(words) {
        Ok(typed) => typed,
        Err(error) if error.use_stderr() => {
            return Err(Usage(error.render().to_string().trim_end().to_owned()));
        }
        Err(help) => return Ok(Call::Print(help.render().to_string())),
    };
    Ok(match typed.verb {
        Verb::Check(checked) => Call::Check(checked.into_call()?),
        Verb::Explain(Explained { program: Some(name), .. }) => Call::ExplainProgram(name),
        Verb::Explain(explained) => Call::Explain(explained.into_call()?),
        Verb::Rules(rules) => Call::Rules(rules.into_call()?),
        Verb::Grants(grants) => Call::Grants(grants.into_call()),
        Verb::Mode(verb) => Call::Mode { reset: verb.resets() },
        Verb::Jobs(jobs) => Call::Jobs(jobs.into_call()),
        Verb::Audit(audit) => Call::Audit(audit.into_call()),
        Verb::Simulate(simulate) => Call::Simulate(simulate.into_call()),
        Verb::Status(Output { json }) => Call::Status { json },
        Verb::Trust(Trust { list: true, json, .. }) => Call::TrustList { json },
        Verb::Trust(Trust { file, yes, .. }) => Call::Trust { file, yes },
        Verb::Untrust(Untrust { file }) => Call::Untrust { file },
        Verb::Approvals(Approvals { json, only }) => Call::Approvals { json, only },
        Verb::Approve(approve) => approve.into_call(),
        Verb::Refuse(refuse) => refuse.into_call(),
        Verb::Init(init) => Call::Setup(init.into_call()),
        Verb::Wrap(wrap) => Call::Setup(wrap.into_call()),
        Verb::Doctor(doctor) => Call::Setup(doctor.into_call()),
        Verb::Typed(typed) => typed.into_call(),
        Verb::Brief(brief) => Call::Setup(brief.into_call()),
        Verb::Man { verb } => Call::Print(manual::page(Typed::command(), verb.as_deref()).map_err(Usage)?),
        Verb::Completions { shell } => Call::Print(manual::completions(Typed::command(), shell)),
        Verb::Hook(Hook { agent }) => Call::Hook(agent),
    })
}

impl Explained {
    fn into_call(self) -> Result<CheckCall, Usage> {
        let Self { command, file, setting, json, .. } = self;
        Checked { command, file, batch: false, setting, why: false, json }.into_call()
    }
}

impl Checked {
    fn into_call(self) -> Result<CheckCall, Usage> {
        let what = match (self.command, self.file, self.batch) {
            (Some(command), None, false) => What::Command(command),
            (None, Some(file), false) => What::File(file),
            (None, None, true) => What::Batch,
            _ => return Err(Usage("give one of -c TEXT, FILE and --batch".to_owned())),
        };
        let Self { mut setting, why, json, .. } = self;
        let rules = setting.rules();
        let Setting { cwd, mode, config, .. } = setting;
        Ok(CheckCall { what, cwd, mode, config, rules, why, json })
    }
}

#[cfg(test)]
mod tests;
