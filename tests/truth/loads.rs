//! Files of a project that a program obeys, planted.

use gsh::host::{GitState, Node};
use gsh::policy::Verdict;

use crate::cage::Workshop;
use crate::claims::{host, installed, policy, request};
use crate::world::PROJECT;

const ROWS: &str = include_str!("loads.txt");

/// Plants every file; whether each was obeyed, and asked about.
pub(crate) fn run(shop: &Workshop) -> bool {
    let (installed, policy) = (installed(), policy());
    let Ok(mut cage) = shop.cage(None) else { return false };
    let (mut proved, mut wrong) = (0, Vec::new());
    for row in ROWS.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = row.split('\t').collect();
        let [program, command, file, content, ..] = parts[..] else {
            wrong.push(format!("not four parts: {row}"));
            continue;
        };
        if !installed.contains_key(program) {
            continue;
        }
        let decoded = |content: &str| content.replace("\\n", "\n").replace("\\t", "\t");
        let content = decoded(content);
        let mut machine = host(&cage, &installed);
        let verdict = |machine: &gsh::host::table::TableHost| {
            gsh::pipeline::check(&request(command), &policy, machine).decision.verdict
        };
        let before = verdict(&machine);
        machine.add(&std::path::Path::new(PROJECT).join(file), Node::File);
        if file == ".git/config" {
            machine.git = Some(GitState { settings: settings(&content), ..machine.git.unwrap_or_default() });
        }
        let after = verdict(&machine);
        // Something to show, where differences are what is asked for.
        let mut text = "echo more >> a.txt; echo '*.txt diff=x' > .git/info/attributes; ".to_owned();
        for planted in parts.get(2..).unwrap_or_default().chunks(2) {
            let [file, content] = planted else { continue };
            let folder = file.rsplit_once('/').map_or(".", |(folder, _)| folder);
            let (quoted, content) = (gsh::syntax::quote(file), gsh::syntax::quote(&decoded(content)));
            text.push_str(&format!("mkdir -p {folder}; printf %s {content} > {quoted}; "));
        }
        text.push_str(command);
        match cage.run_for(&text, 8_000) {
            Ok(outcome) if !outcome.changed.iter().any(|path| path == "/tmp/loaded") => {
                wrong.push(format!("{command} does not obey {file}: {}", outcome.errors));
            }
            Ok(_) => proved += 1,
            Err(error) => wrong.push(format!("{command}: {error}")),
        }
        let is_alias = content.contains("[alias]");
        if (before != Verdict::Allow && !is_alias) || after == Verdict::Allow {
            wrong.push(format!("{command} is {before:?} without {file} and {after:?} with it"));
        }
    }
    println!("loads: {proved} files proved to be obeyed");
    for text in &wrong {
        println!("    {text}");
    }
    wrong.is_empty()
}

/// The settings of a repository's file, as gsh's own reader of it names them.
fn settings(text: &str) -> Vec<(String, String)> {
    let mut section = String::new();
    let mut found = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name.replace(" \"", ".").replace('"', "");
        } else if let Some((key, value)) = line.split_once('=') {
            let value = value.trim().trim_matches('"');
            found.push((format!("{section}.{}", key.trim()), value.to_owned()));
        }
    }
    found
}
