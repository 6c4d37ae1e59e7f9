//! `gsh wrap`: starts an agent with every door closed that can be closed from outside, for this run only. No file of
//! the agent is changed.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use super::doors::folder::Doors;
use super::doors::{Found, View, Which, is_program, leads_to_gsh};
use crate::policy::Mode;
use crate::policy::agents::{AGENTS, Form, Known, Source, named, of_program};
use crate::run::environment::Variable;
use crate::store::calls::{Calls, Wrapped};
use crate::store::places::Folders;
use crate::sys::passwd;
use crate::sys::proc::Process;
use crate::sys::process::{Program, become_program};

/// What is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The session's name.
    pub session: Option<String>,
    /// The mode its commands are decided in.
    pub mode: Option<Mode>,
    /// The agent that it is, where its program's name does not tell.
    pub agent: Option<String>,
    /// Only say which doors are closed.
    pub print: bool,
    /// The agent's words.
    pub words: Vec<OsString>,
}

/// Where it is started.
#[derive(Debug)]
pub struct Place<'a> {
    /// The user's folders.
    pub folders: &'a Folders,
    /// The project's root.
    pub project: Option<&'a Path>,
    /// gsh's own file.
    pub program: PathBuf,
    /// The environment to start from.
    pub environment: Vec<Variable>,
}

/// What is started, and what is said before.
struct Start {
    program: Program,
    agent: Option<&'static Known>,
    wrapped: Wrapped,
    said: String,
}

/// Programs that start another one by a shell that they find on `PATH`: what that runs is the agent.
const LAUNCHERS: [&str; 8] = ["bun", "bunx", "npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg"];

/// Starts the agent in the place of this process. Returns what there is to say where nothing is to be started.
///
/// # Errors
/// When the agent cannot be found or started, or the folder of doors cannot be made.
pub fn run(call: &Call, place: Place<'_>) -> Result<String, String> {
    let print = call.print;
    let start = start(call, place)?;
    if print {
        let silent = start.agent.map_or(&[][..], |agent| agent.silent);
        let know = silent.iter().map(|silent| format!("gsh: know of it: {silent}\n"));
        return Ok(std::iter::once(start.said).chain(know).collect());
    }
    eprint!("{}", start.said);
    mark(&start.wrapped)?;
    let name = start.program.path.display().to_string();
    Err(format!("{name}: {}", become_program(start.program)))
}

/// Leaves word of what this process becomes, so that its commands are told from those of what it runs.
fn mark(wrapped: &Wrapped) -> Result<(), String> {
    let own = Process::own().ok_or("wrapping takes /proc, by which its commands are known later")?;
    Calls::of_user().wrap(&own, wrapped).map_err(|error| error.to_string())
}

fn start(call: &Call, place: Place<'_>) -> Result<Start, String> {
    let word = call.words.first().ok_or("give the agent to start: gsh wrap -- AGENT ARGS")?;
    let agent = agent(call, word)?;
    let doors = Doors::of(place.folders);
    doors.make(&place.program).map_err(|error| error.to_string())?;
    let path = find(word, &place.environment, &doors.bin)?;
    let mut environment = place.environment;
    close(&mut environment, &doors, (agent, call));
    let session = value(&environment, "GSH_SESSION").unwrap_or_default();
    let launches = path.file_name().and_then(OsStr::to_str).is_some_and(|name| LAUNCHERS.contains(&name));
    let wrapped = Wrapped { agent: agent.map(|agent| agent.name.to_owned()), session, launches };
    let var = |name: &str| value(&environment, name);
    let passwd = passwd::shell_of(geteuid().as_raw());
    let view = View { var: &var, home: &place.folders.home, project: place.project, passwd };
    let said = said(agent, &view, &place.program);
    let (path, mut argv) = interpreted(path);
    argv.extend(call.words.iter().skip(1).cloned());
    Ok(Start {
        program: Program { path, argv, environment, stdin: None, script: None },
        agent,
        wrapped,
        said,
    })
}

fn agent(call: &Call, word: &OsStr) -> Result<Option<&'static Known>, String> {
    match &call.agent {
        Some(name) => {
            named(name).map(Some).ok_or_else(|| format!("gsh knows no agent `{name}`; `gsh init` lists them"))
        }
        None => Ok(Path::new(word).file_name().and_then(OsStr::to_str).and_then(of_program)),
    }
}

/// The program's file, looked for as a shell does, but never among the doors.
fn find(word: &OsStr, environment: &[Variable], doors: &Path) -> Result<PathBuf, String> {
    let shown = word.to_string_lossy();
    if word.as_bytes().contains(&b'/') {
        let path = std::path::absolute(word).map_err(|error| error.to_string())?;
        return if is_program(&path) { Ok(path) } else { Err(format!("{shown} is no program")) };
    }
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let folders = path.unwrap_or_default();
    let mut files =
        std::env::split_paths(&folders).filter(|folder| folder != doors).map(|folder| folder.join(word));
    files.find(|file| is_program(file)).ok_or_else(|| format!("{shown} is not found on PATH"))
}

/// A script that asks PATH for its shell would find a door, and be taken for a command: its real shell is named.
fn interpreted(path: PathBuf) -> (PathBuf, Vec<OsString>) {
    let own = vec![path.clone().into_os_string()];
    let mut line = String::new();
    let head = std::fs::File::open(&path).map(|file| file.take(256));
    if head.and_then(|head| BufReader::new(head).read_line(&mut line)).is_err() {
        return (path, own);
    }
    let mut words = line.strip_prefix("#!").unwrap_or_default().split_whitespace();
    let shell = match (words.next(), words.next()) {
        (Some("/usr/bin/env" | "/bin/env"), Some(name @ ("bash" | "sh" | "zsh"))) => name,
        _ => return (path, own),
    };
    let real = ["/bin", "/usr/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(shell));
    match real.into_iter().find(|file| is_program(file)) {
        Some(real) => (real, [OsString::from(shell)].into_iter().chain(own).collect()),
        None => (path, own),
    }
}

/// An environment from which an agent starts with its doors closed.
#[must_use]
pub fn closed(mut environment: Vec<Variable>, doors: &Doors, agent: &Known) -> Vec<Variable> {
    let call = Call { session: None, mode: None, agent: None, print: true, words: vec![] };
    close(&mut environment, doors, (Some(agent), &call));
    environment
}

/// The variables that close doors.
fn close(environment: &mut Vec<Variable>, doors: &Doors, (agent, call): (Option<&Known>, &Call)) {
    let shell = doors.bash().into_os_string();
    // Those of other agents too: one may start another.
    for source in AGENTS.iter().flat_map(|agent| agent.shell.order) {
        if let Source::Variable(name) = source {
            set(environment, name, &shell);
        }
    }
    let old = environment.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let others: Vec<PathBuf> =
        std::env::split_paths(&old.unwrap_or_default()).filter(|path| *path != doors.bin).collect();
    if let Ok(path) = std::env::join_paths(std::iter::once(doors.bin.clone()).chain(others)) {
        set(environment, "PATH", &path);
    }
    set(environment, "BASH_ENV", doors.bash_env.as_os_str());
    // A bash with a socket as its standard input takes itself for one of rshd where no shell is above it, and reads
    // ~/.bashrc in the place of BASH_ENV.
    let level = value(environment, "SHLVL").and_then(|level| level.parse::<u32>().ok());
    if level.unwrap_or_default() == 0 {
        set(environment, "SHLVL", OsStr::new("1"));
    }
    let name = agent.map_or("wrap", |agent| agent.name);
    let session = call.session.clone().unwrap_or_else(|| {
        let now = jiff::Timestamp::now().as_second();
        format!("{name}-{}-{now}", std::process::id())
    });
    set(environment, "GSH_SESSION", OsStr::new(&session));
    if let Some(agent) = agent {
        set(environment, "GSH_AGENT", OsStr::new(agent.name));
    }
    if let Some(mode) = call.mode {
        set(environment, "GSH_MODE", OsStr::new(mode.word()));
    }
}

fn set(environment: &mut Vec<Variable>, name: &str, value: &OsStr) {
    environment.retain(|(known, _)| known != name);
    environment.push((name.into(), value.to_owned()));
}

/// A variable of an environment, if it is text.
#[must_use]
pub fn value(environment: &[Variable], name: &str) -> Option<String> {
    let found = environment.iter().find(|(known, _)| known == name);
    found.and_then(|(_, value)| value.clone().into_string().ok())
}

/// Which doors are closed, and which are not.
fn said(agent: Option<&Known>, view: &View<'_>, program: &Path) -> String {
    let mut text = String::new();
    let Some(agent) = agent else {
        let _ = writeln!(
            text,
            "gsh: this program is no agent that gsh knows. Closed: what looks at $SHELL, finds bash, sh or zsh on \
             PATH, or starts `bash -c` itself. Open: what starts another shell by its path, or none at all."
        );
        return text;
    };
    let line = match view.shell(agent) {
        None if agent.shell.order.is_empty() => {
            format!("open: {} starts no shell that can be told. {}", agent.title, by_hook(agent))
        }
        None => format!("open: the shell of {} is not found here", agent.title),
        Some(found) => shell(agent, &found, program),
    };
    let _ = writeln!(text, "gsh: {line}");
    text
}

fn shell(agent: &Known, found: &Found, program: &Path) -> String {
    if leads_to_gsh(&found.path, program) != Which::No {
        return format!("closed: {} starts gsh as its shell, by {}", agent.title, found.by);
    }
    if reads_bash_env(agent, &found.path) {
        return format!(
            "closed: {} starts {} ({}), which becomes gsh by BASH_ENV",
            agent.title,
            found.path.display(),
            found.by
        );
    }
    format!(
        "open: {} starts {} ({}), and nothing from outside changes that. {}",
        agent.title,
        found.path.display(),
        found.by,
        by_hook(agent)
    )
}

/// Whether the shell is a bash that reads the file of `BASH_ENV` when it is started in this agent's way.
#[must_use]
pub fn reads_bash_env(agent: &Known, path: &Path) -> bool {
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let is_bash =
        path.file_name() == Some(OsStr::new("bash")) && real.file_name() == Some(OsStr::new("bash"));
    let argv = agent.shell.argv.first().copied().unwrap_or_default();
    is_bash && argv.contains(&"CMD") && !argv.contains(&"-i")
}

fn by_hook(agent: &Known) -> String {
    match agent.asked_hook() {
        Some(hook) if hook.form == Form::Plugin => format!("Its plugin asks gsh: gsh init {}", agent.name),
        Some(_) => format!("Its hook can ask gsh: gsh init {} --door hook", agent.name),
        None => "It has no hook that is known".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn scripts_that_ask_path_for_a_shell_get_the_real_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("agent");
        for (head, runs) in [
            ("#!/usr/bin/env bash\n", Some("bash")),
            ("#!/usr/bin/env node\n", None),
            ("#!/bin/bash\n", None),
            ("\u{7f}ELF", None),
        ] {
            std::fs::write(&path, head).expect("written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("mode");
            let (program, argv) = interpreted(path.clone());
            assert_eq!(program.file_name().and_then(OsStr::to_str), runs.or(Some("agent")), "{head}");
            assert_eq!(argv.len(), 1 + usize::from(runs.is_some()));
            assert_eq!(argv.last().map(Path::new), Some(path.as_path()));
        }
    }

    #[test]
    fn every_agents_variable_is_set() {
        let doors = Doors { bin: "/d/bin".into(), bash_env: "/d/e".into() };
        let call = Call {
            session: Some("s".into()),
            mode: Some(Mode::Plan),
            agent: None,
            print: false,
            words: vec![],
        };
        let mut environment =
            vec![("PATH".into(), "/a:/d/bin:/b".into()), ("SHELL".into(), "/bin/zsh".into())];
        close(&mut environment, &doors, (named("codex"), &call));
        let found = |name| value(&environment, name);
        for (name, expected) in [
            ("PATH", "/d/bin:/a:/b"),
            ("SHELL", "/d/bin/bash"),
            ("CLAUDE_CODE_SHELL", "/d/bin/bash"),
            ("COPILOT_BASH_PATH", "/d/bin/bash"),
            ("BASH_ENV", "/d/e"),
            ("SHLVL", "1"),
            ("GSH_SESSION", "s"),
            ("GSH_AGENT", "codex"),
            ("GSH_MODE", "plan"),
        ] {
            assert_eq!(found(name).as_deref(), Some(expected), "{name}");
        }
    }
}
