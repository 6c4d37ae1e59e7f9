//! Cursor: `permissions.{allow,deny}` of its command line, where a refusal holds before an allow, and the
//! allow lists of its editor.

use super::carry::{Lost, Meaning, Shadow, every_command, tool};
use super::json;
use super::paths::{Access, FilePattern};
use super::words::{CommandPattern, Glyph};
use super::{Page, ReadError, Weighed, verdict};
use crate::policy::Verdict;
use crate::policy::pattern::escape;

pub(super) fn read(page: &Page<'_>) -> Result<Vec<Weighed>, ReadError> {
    let root = json::read(page.text())?;
    let mut found = vec![];
    for (key, value) in root.get("permissions").map(json::Node::entries).unwrap_or_default() {
        let action = verdict(key).filter(|_| value.is_array());
        for item in value.items() {
            let text = item.text().unwrap_or_default();
            found.push(match action {
                Some(action) => {
                    page.rule(item.line, format!("{key} {text}"), action, meaning(page, text, action))
                }
                None => {
                    page.unread(item.line, format!("{key} {text}"), "such a list is unknown", Shadow::All)
                }
            });
        }
    }
    for (key, of) in
        [("terminalAllowlist", terminal as fn(&Page<'_>, &str) -> _), ("mcpAllowlist", allowed_tool)]
    {
        let list = root.get(key).filter(|value| !value.is_object());
        for item in list.map(json::Node::items).unwrap_or_default() {
            let Some(text) = item.text() else { continue };
            found.push(page.rule(item.line, format!("{key} {text}"), Verdict::Allow, of(page, text)));
        }
    }
    Ok(found)
}

fn meaning(page: &Page<'_>, text: &str, action: Verdict) -> Result<Meaning, Lost> {
    let parts = text.trim().split_once('(').and_then(|(tool, rest)| Some((tool, rest.strip_suffix(')')?)));
    let Some((name, inside)) = parts else { return Err(Lost::new("it has no brackets", Shadow::All)) };
    let inside = inside.trim();
    let files = |access| FilePattern { page, access, action }.meaning(Some(inside));
    match name {
        "Shell" => shell(page, inside, action),
        "Read" | "Write" if inside.is_empty() && action == Verdict::Allow => {
            Err(Lost::new("what an empty rule allows is not documented", Shadow::Nothing))
        }
        "Read" => files(Access::Read),
        "Write" => files(Access::Write),
        "Mcp" => match inside.split_once([',', ':']) {
            Some((server, tool)) => mcp(server.trim(), tool.trim(), action),
            None => Err(Lost::new("it names no server and tool", Shadow::Tools)),
        },
        _ => Err(Lost::new("gsh has no capability for it", Shadow::Tools)),
    }
}

/// The first word of a command, with wildcards.
fn shell(page: &Page<'_>, inside: &str, action: Verdict) -> Result<Meaning, Lost> {
    let allows = action == Verdict::Allow;
    if matches!(inside, "*" | "**") {
        return Ok(every_command(action));
    }
    let is_word = !inside.is_empty() && !inside.contains([' ', ':']);
    if allows && !is_word {
        return Err(Lost::command("only a rule for the first word is documented"));
    }
    let head = inside.split_once(':').map_or(inside, |(head, _)| head);
    let glyph = |c| match c {
        '*' => Glyph::Run,
        '?' => Glyph::One,
        c => Glyph::Char(c),
    };
    let glyphs: Vec<Glyph> = head.chars().map(glyph).collect();
    let runs_on = glyphs.contains(&Glyph::Run) || glyphs.contains(&Glyph::One);
    if allows
        && runs_on
        && (glyphs.last() != Some(&Glyph::Run)
            || glyphs.iter().filter(|g| **g != Glyph::Run).any(|g| *g == Glyph::One)
            || glyphs.iter().filter(|g| **g == Glyph::Run).count() > 1)
    {
        return Err(Lost::command("a star stays within the first word there and goes on here"));
    }
    let open = glyphs.last() != Some(&Glyph::Run);
    let pattern = CommandPattern { glyphs, open, tail_is_optional: true };
    let meaning = pattern.meaning(action, page.home())?;
    Ok(if is_word { meaning } else { meaning.stricter("whatever follows the words") })
}

fn mcp(server: &str, name: &str, action: Verdict) -> Result<Meaning, Lost> {
    if action == Verdict::Allow && (server.contains('*') || server.is_empty()) {
        return Err(Lost::new("the server must be named", Shadow::Nothing));
    }
    let spelled = |text: &str| escape(text).replace("\\*", "*");
    Ok(tool(format!("mcp__{}__{}", spelled(server), spelled(name)), action))
}

/// An entry of the editor's list. How the editor compares it with a command is not documented.
fn terminal(page: &Page<'_>, text: &str) -> Result<Meaning, Lost> {
    let meaning = CommandPattern::exact(text).meaning(Verdict::Allow, page.home())?;
    Ok(meaning.stricter("only this very command: how the editor compares it is not documented"))
}

fn allowed_tool(_: &Page<'_>, text: &str) -> Result<Meaning, Lost> {
    match text.split_once(':') {
        Some((server, name)) => mcp(server.trim(), name.trim(), Verdict::Allow),
        None => Err(Lost::new("it names no server and tool", Shadow::Nothing)),
    }
}
