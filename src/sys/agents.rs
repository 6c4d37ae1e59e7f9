//! Programs that type on a model's behalf, as far as they can be told by name.

use std::path::Path;

use super::proc::{Lineage, Process};
use super::raw;
use crate::host::Starter;
use crate::policy::agents::{Known, of_program};

/// Programs that run others' scripts.
const RUNNERS: [&str; 6] = ["bun", "deno", "node", "nodejs", "uv", "pypy"];

/// Folders of installed packages.
const PACKAGES: [&str; 3] = ["node_modules", "site-packages", "dist-packages"];

/// How far up is looked; deeper nests are not made by hand.
const DEPTH: usize = 64;

/// The agent that a process is, by its name, its program or the script it runs.
#[must_use]
pub fn agent(process: &Process) -> Option<&'static Known> {
    // This is asked about everything above, for every command, and each look into `/proc` has its price.
    of_program(&process.name).or_else(|| {
        let base = process.program().as_deref().and_then(base_name);
        base.as_deref().and_then(of_program).or_else(|| {
            let runner = base.as_deref().unwrap_or(&process.name);
            runs_scripts(runner).then(|| script(&process.words())).flatten()
        })
    })
}

fn runs_scripts(program: &str) -> bool {
    RUNNERS.contains(&program) || program.starts_with("python")
}

fn base_name(path: &Path) -> Option<String> {
    path.file_name().and_then(|name| name.to_str()).map(str::to_owned)
}

/// The agent whose script a runner runs, by its name or by the package that it is in.
fn script(words: &[String]) -> Option<&'static Known> {
    let path = Path::new(words.iter().skip(1).find(|word| !word.starts_with('-'))?);
    let packages = || path.iter().skip_while(|part| !PACKAGES.iter().any(|folder| part == folder));
    let by_folder = || packages().filter_map(|part| part.to_str()).find_map(of_program);
    base_name(path).and_then(|name| of_program(&name)).or_else(by_folder)
}

/// The nearest agent that a process was started by.
#[must_use]
pub fn above(process: &Process) -> Option<String> {
    process.ancestors(DEPTH).iter().find_map(agent).map(|agent| agent.name.to_owned())
}

/// Editors that ask the user's shell for its environment when they start.
const EDITORS: [&str; 5] = ["code", "code-insiders", "codium", "cursor", "windsurf"];

/// The agent, or the editor, that started a process itself.
#[must_use]
pub fn starter(lineage: &Lineage) -> Option<Starter> {
    let parent = lineage.above.first()?;
    let program = parent.program();
    let editor = || {
        let base = program.as_deref().and_then(base_name)?;
        EDITORS.contains(&base.as_str()).then(|| "editor".to_owned())
    };
    let agent = agent(parent).map(|known| known.name.to_owned()).or_else(helper(parent)).or_else(editor)?;
    Some(Starter { agent, program, started: raw::started_at(parent.started) })
}

/// The agent whose helper program starts commands for it (the one of Codex's sandbox).
fn helper(process: &Process) -> impl FnOnce() -> Option<String> {
    let name = process.name.clone();
    move || {
        let (head, _) = name.split_once("-linux-san")?;
        of_program(head).map(|known| known.name.to_owned())
    }
}

/// The nearest agent that we were started by.
#[must_use]
pub fn above_us() -> Option<String> {
    Process::own().and_then(|own| above(&own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_tell_which_agent_a_runner_runs() {
        let table: [(&str, &[&str], Option<&str>); 8] = [
            ("node", &["node", "/usr/bin/gemini"], Some("gemini")),
            ("node", &["node", "--no-warnings", "/opt/x/qwen.js", "-p"], Some("qwen")),
            ("node", &["node", "/lib/node_modules/@x/codex/bin/cli.js"], Some("codex")),
            ("python3.12", &["python3", "/home/u/.local/bin/aider"], Some("aider")),
            ("python3", &["python3", "-m", "http.server"], None),
            ("node", &["node", "server.js", "claude"], None),
            ("bash", &["bash", "/usr/bin/claude"], None),
            ("node", &["node", "/home/u/goose/server.js"], None),
        ];
        for (runner, words, expected) in table {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let found = runs_scripts(runner).then(|| script(&words)).flatten().map(|agent| agent.name);
            assert_eq!(found, expected, "{words:?}");
        }
    }
}
