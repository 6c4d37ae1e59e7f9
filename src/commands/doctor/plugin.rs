//! The plugin, loaded as its agent loads it, in a runtime that is at hand.

use std::path::Path;

use super::Place;
use super::proof::{Proof, Trial, first_line};
use crate::commands::doors::View;
use crate::policy::agents::Known;
use crate::sys::process::Ended;

/// Programs that run such a plugin as its agent does.
const RUNTIMES: [&str; 2] = ["bun", "node"];

/// Loads a plugin and tells it of a command, which it refuses by throwing.
const CALLER: &str = "const { readFileSync } = await import('node:fs');\n\
    const [path, tool, command] = process.argv.slice(-3);\n\
    const text = readFileSync(path).toString('base64');\n\
    const plugin = Object.values(await import('data:text/javascript;base64,' + text))[0];\n\
    const hooks = await plugin({ directory: process.cwd(), worktree: process.cwd() });\n\
    const call = { tool, sessionID: 'doctor', callID: 'doctor' };\n\
    try { await hooks['tool.execute.before'](call, { args: { command } }); console.log('runs'); }\n\
    catch (error) { console.log('refused ' + error.message); }\n";

/// What comes of a word that must be refused and one that must run; None where nothing is here to run it.
pub(super) fn proof(agent: &Known, file: &Path, place: &Place<'_>) -> Option<Proof> {
    let var = |name: &str| {
        let found = place.environment.iter().find(|(known, _)| known == name);
        found.and_then(|(_, value)| value.clone().into_string().ok())
    };
    let view = View { var: &var, home: &place.folders.home, project: place.project, passwd: None };
    let runtime = RUNTIMES.iter().find_map(|name| view.on_path(name))?;
    let trial = Trial::new(agent, place);
    let tool = agent.hook.and_then(|hook| hook.tool).unwrap_or("bash");
    let tell = |command: &str| {
        let words = ["--input-type=module", "-e", CALLER, "--"].map(Into::into).into_iter();
        let given = [file.as_os_str().to_owned(), tool.into(), command.into()];
        let name = runtime.file_name().unwrap_or_default().to_owned();
        let argv = std::iter::once(name).chain(words).chain(given).collect();
        trial.run(runtime.clone(), argv, None)
    };
    let (refused, plain) = (tell(&trial.refused()), tell(&format!("echo {}", trial.session)));
    let said =
        refused.as_ref().map(|run| first_line(if run.stdout.is_empty() { &run.stderr } else { &run.stdout }));
    let ran = plain.is_some_and(|run| run.ended == Some(Ended::Status(0)) && run.stdout.starts_with(b"runs"));
    Some(Proof {
        tried: vec![runtime.display().to_string(), file.display().to_string()],
        denied: refused.is_some_and(|run| run.stdout.starts_with(b"refused ")),
        ran,
        recorded: trial.records().map(|entries| entries.iter().any(|entry| entry.verdict == "deny")),
        said: said.unwrap_or_default(),
    })
}

/// What is said of one that was not seen at work.
pub(super) fn unseen(agent: &Known, tried: bool) -> String {
    let before = if tried { "" } else { "; nothing here runs it (node, bun)" };
    format!("{before}; that {} loads it shows once it ran a command: look again then", agent.title)
}
