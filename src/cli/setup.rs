//! `gsh init`, `wrap`, `doctor` and `brief` as typed, as meant, and done.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::dispatch::{failed, print, said};
use crate::commands::{brief, doctor, init, wrap};
use crate::entry::guard;
use crate::entry::world::{Surrounds, here};
use crate::host::Host;
use crate::policy::Mode;
use crate::store::places::Folders;
use crate::sys::machine::Machine;

/// What is to be done about agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetupCall {
    /// Set one up, or put it back.
    Init(init::Call),
    /// Say what this terminal counts as.
    Terminal,
    /// Start one with every door closed.
    Wrap(wrap::Call),
    /// Prove that the doors are closed.
    Doctor(doctor::Call),
    /// Say what one should know beforehand.
    Brief(Option<String>),
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The agent, your own `bash`, `zsh`, `fish` or `tmux`, or `terminal`; without one, the list of those that are known
    what: Option<String>,
    /// Show the changes and make none
    #[arg(long, conflicts_with = "yes")]
    print: bool,
    /// Put everything back as it was
    #[arg(long, requires = "what", conflicts_with_all = ["project", "user", "door"])]
    undo: bool,
    /// Do not ask back
    #[arg(long)]
    yes: bool,
    /// In this project's files
    #[arg(long, conflicts_with = "user")]
    project: bool,
    /// In your own files, as is done without this too
    #[arg(long)]
    user: bool,
    /// By which doors: without this the shell where a file can name it, else the hook
    #[arg(long)]
    door: Option<Typed>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Typed {
    /// gsh is its shell
    Shell,
    /// Its hook asks gsh
    Hook,
    /// Both
    Both,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Wrap {
    /// The session's name
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// default, plan, accept-edits, bypass or dont-ask
    #[arg(long, value_parser = super::verbs::mode)]
    mode: Option<Mode>,
    /// Which agent it is, where its program's name does not tell
    #[arg(long, value_name = "AGENT")]
    agent: Option<String>,
    /// Say which doors are closed, and start nothing
    #[arg(long)]
    print: bool,
    /// The agent and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// The agent; without one, those that are found here
    agent: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

/// As typed.
#[derive(Debug, Args)]
pub(super) struct Brief {
    /// The agent, for words that fit it
    agent: Option<String>,
}

impl Init {
    pub(super) fn into_call(self) -> SetupCall {
        let Self { what, print, undo, yes, project, user: _, door } = self;
        if what.as_deref() == Some("terminal") {
            return SetupCall::Terminal;
        }
        let door = door.map(|door| match door {
            Typed::Shell => init::Door::Shell,
            Typed::Hook => init::Door::Hook,
            Typed::Both => init::Door::Both,
        });
        SetupCall::Init(init::Call { agent: what, print, undo, yes, project, door })
    }
}

impl Wrap {
    pub(super) fn into_call(self) -> SetupCall {
        let Self { session, mode, agent, print, words } = self;
        SetupCall::Wrap(wrap::Call { session, mode, agent, print, words })
    }
}

impl Doctor {
    pub(super) fn into_call(self) -> SetupCall {
        SetupCall::Doctor(doctor::Call { agent: self.agent, json: self.json })
    }
}

impl Brief {
    pub(super) fn into_call(self) -> SetupCall {
        SetupCall::Brief(self.agent)
    }
}

/// Does it.
pub(super) fn run(call: SetupCall) -> ExitCode {
    match call {
        SetupCall::Init(call) => with_folders(|folders, machine, _| {
            let project = machine.project();
            let unasked = init::unasked(&here().2);
            let place = init::Place { folders, project: project.as_deref(), program: program()?, unasked };
            init::run(&call, &place).map_err(|why| why.to_string())
        }),
        SetupCall::Terminal => {
            let (surrounds, _, policy) = here();
            print(&init::terminal(&policy, surrounds.folders.as_ref()))
        }
        SetupCall::Wrap(call) => with_folders(|folders, machine, surrounds| {
            guard::not_beneath(surrounds)?;
            let project = machine.project();
            let (project, environment) = (project.as_deref(), surrounds.environment.clone());
            wrap::run(&call, wrap::Place { folders, project, program: program()?, environment })
        }),
        SetupCall::Doctor(call) => examined(&call),
        SetupCall::Brief(agent) => said(brief::text(&here().2, agent.as_deref())),
    }
}

fn examined(call: &doctor::Call) -> ExitCode {
    let mut open = false;
    let printed = with_folders(|folders, machine, surrounds| {
        guard::not_beneath(surrounds)?;
        let project = machine.project();
        let (project, environment) = (project.as_deref(), surrounds.environment.clone());
        let found = doctor::run(call, &doctor::Place { folders, project, program: program()?, environment })?;
        open = found.open;
        Ok(found.text)
    });
    if open && printed == ExitCode::SUCCESS { ExitCode::FAILURE } else { printed }
}

/// gsh's own file, where every link leads.
fn program() -> Result<std::path::PathBuf, String> {
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    own.map_err(|error| format!("gsh cannot tell where its own file is: {error}"))
}

fn with_folders(act: impl FnOnce(&Folders, &Machine, &Surrounds) -> Result<String, String>) -> ExitCode {
    let (surrounds, machine, _) = here();
    match surrounds.folders.clone() {
        Some(folders) => said(act(&folders, &machine, &surrounds)),
        None => failed("there is no home folder"),
    }
}
