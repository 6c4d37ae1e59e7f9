//! Claude Code: `permissions.{allow,ask,deny}` of its settings files, `Tool(what)` each. Of what matches a
//! refusal holds before a question, and that before an allow.

use super::carry::{Lost, Meaning, Shadow, every_command, tool};
use super::json;
use super::paths::{Access, FilePattern};
use super::words::{CommandPattern, Glyph};
use super::{Page, ReadError, Weighed, verdict};
use crate::config::new_rule::NewRule;
use crate::policy::Verdict;

pub(super) fn read(page: &Page<'_>) -> Result<Vec<Weighed>, ReadError> {
    let root = json::read(page.text())?;
    let mut found = vec![];
    let Some(permissions) = root.get("permissions") else { return Ok(found) };
    for (key, value) in permissions.entries() {
        let Some(action) = verdict(key).filter(|_| value.is_array()) else {
            let why = "this is no rule; gsh has modes and folders of its own";
            found.push(page.unread(value.line, format!("permissions.{key}"), why, Shadow::Nothing));
            continue;
        };
        for item in value.items() {
            let Some(text) = item.text() else {
                found.push(page.unread(item.line, format!("permissions.{key}"), "no text", Shadow::All));
                continue;
            };
            let meaning = meaning(page, text.trim(), action);
            found.push(page.rule(item.line, format!("{key} {text}"), action, meaning));
        }
    }
    Ok(found)
}

fn meaning(page: &Page<'_>, text: &str, action: Verdict) -> Result<Meaning, Lost> {
    let (tool_name, inside) = match text.split_once('(') {
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(inside) => (tool, Some(inside)),
            None => return Err(Lost::new("its bracket has no end", Shadow::All)),
        },
        None => (text, None),
    };
    let files = |access| FilePattern { page, access, action }.meaning(inside);
    let allows = action == Verdict::Allow;
    match tool_name {
        "Bash" => bash(page, inside, action).map(through_xargs),
        "Read" => files(Access::Read),
        "Edit" => files(Access::Write),
        "Write" | "MultiEdit" | "NotebookEdit" if allows && inside.is_some() => {
            Err(Lost::new("the agent consults paths of Read and Edit only", Shadow::Nothing))
        }
        "Write" | "MultiEdit" | "NotebookEdit" => files(Access::Write)
            .map(|meaning| meaning.stricter("the agent consults paths of Read and Edit only")),
        name if name.starts_with("mcp__") => mcp(name, inside, action),
        name => match inside {
            None | Some("*") if !name.is_empty() && name.chars().all(char::is_alphanumeric) => {
                Ok(tool(name.to_owned(), action))
            }
            _ => Err(Lost::new("gsh knows this tool by its name alone", Shadow::Tools)),
        },
    }
}

fn bash(page: &Page<'_>, inside: Option<&str>, action: Verdict) -> Result<Meaning, Lost> {
    let allows = action == Verdict::Allow;
    match inside {
        None | Some("*") => return Ok(every_command(action)),
        Some(inside) if inside.trim().is_empty() && allows => {
            return Err(Lost::command("what an empty rule allows is not documented"));
        }
        Some(inside) if inside.trim().is_empty() => return Ok(every_command(action)),
        Some(_) => {}
    }
    let inside = inside.unwrap_or_default();
    let Some(head) = inside.strip_suffix(":*") else {
        let pattern = if is_wild(inside) { CommandPattern::wild(glyphs(inside)) } else { exact(inside) };
        return pattern.meaning(action, page.home());
    };
    if head.trim().is_empty() {
        return match action {
            Verdict::Allow => Err(Lost::command("it names no command")),
            _ => Ok(every_command(action).stricter("it names no command, so it counts for all")),
        };
    }
    if allows || !head.contains('*') {
        return CommandPattern::prefix(head).meaning(action, page.home());
    }
    let open = CommandPattern { open: true, ..CommandPattern::wild(glyphs(head)) };
    Ok(open.meaning(action, page.home())?.stricter("its star is a wildcard here"))
}

/// The agent tries each rule behind `xargs` too. gsh sees words there that nobody knows yet, which a pattern
/// that ends in a word would not match.
fn through_xargs(mut meaning: Meaning) -> Meaning {
    let joined = |pattern: &str| [" | ", " || ", " && "].iter().any(|sign| pattern.contains(sign));
    let closed = |rule: &&NewRule| {
        !joined(&rule.pattern)
            && rule.action != Verdict::Allow
            && !rule.pattern.ends_with('*')
            && !rule.pattern.starts_with('*')
    };
    let behind = |rule: &NewRule| NewRule { pattern: format!("xargs {}", rule.pattern), ..rule.clone() };
    let more: Vec<_> = meaning.rules.iter().filter(closed).map(behind).collect();
    meaning.rules.extend(more);
    meaning
}

/// A text that stands for itself. A backslash protects a star, as in a pattern.
fn exact(inside: &str) -> CommandPattern {
    CommandPattern::wild(if inside.contains("\\*") {
        glyphs(inside)
    } else {
        inside.chars().map(Glyph::Char).collect()
    })
}

/// Whether a star stands in it that no backslash protects.
fn is_wild(text: &str) -> bool {
    glyphs(text).contains(&Glyph::Run)
}

fn glyphs(text: &str) -> Vec<Glyph> {
    let mut chars = text.chars().peekable();
    let mut found = vec![];
    while let Some(c) = chars.next() {
        found.push(match c {
            '*' => Glyph::Run,
            '\\' => Glyph::Char(chars.next_if(|next| matches!(next, '*' | '\\')).unwrap_or('\\')),
            c => Glyph::Char(c),
        });
    }
    found
}

/// A server's tools, all or one.
fn mcp(name: &str, inside: Option<&str>, action: Verdict) -> Result<Meaning, Lost> {
    let rest = name.strip_prefix("mcp__").unwrap_or_default();
    let server = rest.split_once("__").map_or(rest, |(server, _)| server);
    let plain = |text: &str| text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '*'));
    if inside.is_some_and(|inside| inside != "*") || !plain(rest) || server.is_empty() {
        return Err(Lost::new("gsh knows a tool by its name alone", Shadow::Tools));
    }
    if action == Verdict::Allow && server.contains('*') {
        return Err(Lost::new("the agent allows nothing by it: the server must be named", Shadow::Nothing));
    }
    let mut patterns = vec![name.to_owned()];
    if !rest.contains("__") && !server.contains('*') {
        patterns.push(format!("{name}__*"));
    }
    Ok(Meaning::of(&["tool.use"], &patterns, action))
}
