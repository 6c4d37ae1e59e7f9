//! opencode: `permission` of its configuration: a tool or a pattern for tools, and an action or patterns with
//! actions. The last that matches holds; a project's file is laid over the user's, key by key.

use super::carry::{Lost, Meaning, Shadow, every_command, tool};
use super::json::{self, Node};
use super::words::{CommandPattern, Glyph};
use super::{Level, Page, ReadError, SourceRule, Weighed, verdict};
use crate::policy::Verdict;
use crate::policy::pattern::escape;

pub(super) fn read(page: &Page<'_>) -> Result<Vec<Weighed>, ReadError> {
    let root = json::read(page.text())?;
    let mut found = vec![];
    match root.get("permission") {
        Some(value) if value.text().is_some() => found.push(one(page, ("*", "*"), value)),
        Some(value) => {
            for (tool, value) in value.entries() {
                match value.text() {
                    Some(_) => found.push(one(page, (tool, "*"), value)),
                    None => found.extend(
                        value.entries().iter().map(|(pattern, value)| one(page, (tool, pattern), value)),
                    ),
                }
            }
        }
        None => {}
    }
    for (name, agent) in root.get("agent").map(Node::entries).unwrap_or_default() {
        if let Some(value) = agent.get("permission") {
            let why = "it holds for one of opencode's own agents, which gsh cannot tell";
            found.push(page.unread(value.line, format!("agent.{name}.permission"), why, Shadow::Nothing));
        }
    }
    if let Some(value) = root.get("permissions") {
        let why = "rules in the form of a list are not read yet";
        found.push(page.unread(value.line, "permissions".to_owned(), why, Shadow::All));
    }
    Ok(found)
}

/// The rules of all files as opencode joins them: a key that is there keeps its place.
pub(super) fn merged(files: Vec<Vec<Weighed>>) -> Vec<SourceRule> {
    let mut found: Vec<Weighed> = vec![];
    for weighed in files.into_iter().flatten() {
        let same = |known: &Weighed| weighed.rule.key.is_some() && known.rule.key == weighed.rule.key;
        match found.iter().position(same) {
            // What it replaces still holds where only the file below it is read.
            Some(at) => found.insert(at + 1, weighed),
            None => found.push(weighed),
        }
    }
    found.into_iter().map(|weighed| weighed.rule).collect()
}

fn one(page: &Page<'_>, (name, pattern): (&str, &str), value: &Node) -> Weighed {
    let shown = format!("{name} {pattern:?}: {}", value.text().unwrap_or("…"));
    let mut found = match value.text().and_then(verdict) {
        Some(action) => page.rule(value.line, shown, action, meaning(page, (name, pattern), action)),
        None => page.unread(value.line, shown, "its action is unknown", Shadow::All),
    };
    found.rule.key = Some(format!("{name}\n{pattern}"));
    found
}

fn meaning(page: &Page<'_>, (name, pattern): (&str, &str), action: Verdict) -> Result<Meaning, Lost> {
    let allows = action == Verdict::Allow;
    match name {
        "bash" => bash(page, pattern, action),
        "*" if pattern == "*" => {
            let mut all = every_command(action);
            all.rules.extend(tool("*".to_owned(), action).rules);
            Ok(all)
        }
        "edit" | "write" | "patch" => files(page, pattern, "file.write.*", action),
        "read" => files(page, pattern, "file.read", action),
        "external_directory" => {
            let shadow = if allows { Shadow::Nothing } else { Shadow::Files };
            Err(Lost::new(
                "gsh asks where something is written outside the project, and lets read there",
                shadow,
            ))
        }
        name if pattern == "*" && !"bash".starts_with(name.split(['*', '?']).next().unwrap_or_default()) => {
            Ok(tool(name.to_owned(), action))
        }
        name if name.contains(['*', '?']) => {
            Err(Lost::new("a pattern for tools that may mean commands as well", Shadow::All))
        }
        _ => Err(Lost::new("gsh knows this tool by its name alone", Shadow::Tools)),
    }
}

fn bash(page: &Page<'_>, pattern: &str, action: Verdict) -> Result<Meaning, Lost> {
    let glyphs = pattern.chars().map(|c| match c {
        '*' => Glyph::Run,
        '?' => Glyph::One,
        c => Glyph::Char(c),
    });
    let pattern = CommandPattern { tail_is_optional: true, ..CommandPattern::wild(glyphs.collect()) };
    if pattern.glyphs == [Glyph::Run] {
        return Ok(every_command(action));
    }
    pattern.meaning(action, page.home())
}

/// A pattern for files, relative to the project; its star crosses folders, as here.
fn files(page: &Page<'_>, pattern: &str, capability: &str, action: Verdict) -> Result<Meaning, Lost> {
    let allows = action == Verdict::Allow;
    let lost = |why: &str| Err(Lost::new(why, Shadow::Files));
    if pattern.split('/').any(|part| matches!(part, "." | "..")) {
        return lost("gsh has no pattern for it");
    }
    let plain: String =
        pattern.chars().map(|c| if c == '\\' { escape("\\") } else { c.to_string() }).collect();
    let is_rooted = plain.starts_with('/') || plain.starts_with("~/") || plain.starts_with("$HOME/");
    let in_project = page.file.level != Level::User;
    let patterns = match (allows, is_rooted) {
        (true, _) if plain.starts_with('*') => {
            return lost(
                "gsh lets reading and new files within the project be, and asks for what is delicate",
            );
        }
        (_, true) => vec![plain],
        (true, false) if in_project => vec![format!("./{plain}")],
        (true, false) => return lost("which folder it starts at depends on the project"),
        (false, false) if plain.starts_with('*') => vec![plain],
        (false, false) => vec![format!("*/{plain}")],
    };
    let meaning = Meaning::of(&[capability], &patterns, action);
    Ok(match allows {
        true if capability == "file.read" => meaning,
        true => meaning.stricter("what overwrites or deletes still asks"),
        false => meaning.stricter("also for what commands do to files, and in any folder"),
    })
}
