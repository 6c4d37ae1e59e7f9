//! Gemini CLI: `[[rule]]` of its policy files. The rule of the highest priority that matches holds.

use toml::de::{DeTable, DeValue};

use super::carry::{Lost, Meaning, Shadow, every_command, tool};
use super::words::{CommandPattern, Glyph};
use super::{Page, ReadError, SourceRule, Weighed, line_of, mode, verdict};
use crate::policy::{Verdict, When};

type Table<'t> = DeTable<'t>;

/// What may stand in a rule and is understood.
const KNOWN: &[&str] = &[
    "toolName",
    "commandPrefix",
    "commandRegex",
    "decision",
    "priority",
    "modes",
    "interactive",
    "denyMessage",
    "allowRedirection",
    "mcpName",
];

/// The highest priority within a file, and what a file of the machine's owner adds.
const TIER: u32 = 1000;

pub(super) fn read(page: &Page<'_>) -> Result<Vec<Weighed>, ReadError> {
    let parsed = DeTable::parse(page.text()).map_err(|error| {
        (line_of(page.text(), error.span().map_or(0, |span| span.start)), error.message().to_owned())
    })?;
    let rules = parsed.get_ref().get("rule").and_then(|rules| rules.get_ref().as_array());
    let mut found = vec![];
    for rule in rules.into_iter().flat_map(|rules| rules.iter()) {
        let line = line_of(page.text(), rule.span().start);
        match rule.get_ref().as_table() {
            Some(table) => found.extend(of_table(page, line, table)),
            None => found.push(page.unread(line, "rule".to_owned(), "it is no table", Shadow::All)),
        }
    }
    Ok(found)
}

/// Lowest weight first; of one weight the strictest last.
pub(super) fn by_weight(mut rules: Vec<Weighed>) -> Vec<SourceRule> {
    rules.sort_by_key(|weighed| (weighed.weight, weighed.rule.action));
    rules.into_iter().map(|weighed| weighed.rule).collect()
}

fn of_table(page: &Page<'_>, line: usize, table: &Table<'_>) -> Vec<Weighed> {
    let shown = shown(table);
    let priority = number(table, "priority");
    let decision = text(table, "decision").as_deref().and_then(verdict);
    let (Some(action), Some(priority)) = (decision, priority.filter(|priority| *priority < TIER)) else {
        return vec![page.unread(line, shown, "its decision or priority is unknown", Shadow::All)];
    };
    let tier = if page.file.path.starts_with("/etc/") { TIER } else { 0 };
    let tools = texts(table, "toolName");
    let tools = if tools.is_empty() { vec![String::new()] } else { tools };
    let each = tools.iter().map(|tool| {
        let meaning =
            of_tool(page, table, tool, action).and_then(|meaning| conditioned(table, action, meaning));
        let mut found = page.rule(line, shown.clone(), action, meaning);
        found.weight = tier + priority;
        found
    });
    each.collect()
}

/// The rule on one line.
fn shown(table: &Table<'_>) -> String {
    let value = |value: &DeValue<'_>| match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Array(items) => {
            let items = items.iter().filter_map(|item| item.get_ref().as_str());
            format!("{:?}", items.collect::<Vec<_>>())
        }
        _ => "…".to_owned(),
    };
    let mut parts: Vec<_> =
        table.iter().map(|(key, each)| (key.span().start, key, value(each.get_ref()))).collect();
    parts.sort_by_key(|(at, ..)| *at);
    parts.iter().map(|(_, key, value)| format!("{} = {value}", key.get_ref())).collect::<Vec<_>>().join(", ")
}

fn of_tool(page: &Page<'_>, table: &Table<'_>, name: &str, action: Verdict) -> Result<Meaning, Lost> {
    let (prefixes, regex) = (texts(table, "commandPrefix"), text(table, "commandRegex"));
    let is_shell = matches!(name, "run_shell_command" | "ShellTool");
    let names_command = !prefixes.is_empty() || regex.is_some();
    if table.contains_key("mcpName") {
        let server = text(table, "mcpName").unwrap_or_default();
        return Ok(tool(format!("mcp__{server}__{}", if name.is_empty() { "*" } else { name }), action));
    }
    if is_shell || (name.is_empty() && names_command) {
        return shell(page, &prefixes, regex.as_deref(), action);
    }
    let allows = action == Verdict::Allow;
    let of_files = |capability: &str| {
        Ok(Meaning::of(&[capability], &["*".to_owned()], action)
            .stricter("also for what commands do to files"))
    };
    match name {
        "" | "*" if allows => Err(Lost::new("it would allow tools that gsh cannot tell", Shadow::Nothing)),
        "" | "*" => {
            let mut all = every_command(action);
            all.rules.extend(tool("*".to_owned(), action).rules);
            Ok(all)
        }
        "read_file" | "read_many_files" | "write_file" | "replace" if allows => Err(Lost::new(
            "gsh has files judged by their paths, whatever reads or writes them",
            Shadow::Nothing,
        )),
        "read_file" | "read_many_files" => of_files("file.read"),
        "write_file" | "replace" => of_files("file.write.*"),
        name => Ok(tool(name.replace('?', "\\?"), action)),
    }
}

fn shell(
    page: &Page<'_>,
    prefixes: &[String],
    regex: Option<&str>,
    action: Verdict,
) -> Result<Meaning, Lost> {
    let mut whole = Meaning::default();
    if prefixes.is_empty() && regex.is_none() {
        return Ok(every_command(action));
    }
    let patterns = prefixes.iter().map(|prefix| Ok(CommandPattern::prefix(prefix)));
    for pattern in patterns.chain(regex.map(of_regex)) {
        let meaning = pattern?.meaning(action, page.home())?;
        whole.rules.extend(meaning.rules);
        whole = meaning.stricter.into_iter().fold(whole, Meaning::stricter);
    }
    Ok(whole)
}

/// A regular expression that is plain text, with or without "anything" at its end: it is anchored at its
/// beginning only.
fn of_regex(regex: &str) -> Result<CommandPattern, Lost> {
    let body = regex.strip_suffix(".*").unwrap_or(regex);
    let mut glyphs = vec![];
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        let literal = match c {
            '\\' => chars.next().filter(|c| !c.is_alphanumeric()),
            '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => None,
            c => Some(c),
        };
        let Some(literal) = literal else {
            let head: String =
                glyphs.iter().filter_map(|g| if let Glyph::Char(c) = g { Some(*c) } else { None }).collect();
            // What may be missing or repeated is not sure to be there.
            let sure = head.rsplit_once(' ').map_or(String::new(), |(sure, _)| format!("{sure} "));
            let plain =
                sure.chars().all(|c| c.is_alphanumeric() || " _-./=".contains(c)) && !regex.contains('|');
            let shadow = Shadow::Commands(if plain { sure } else { String::new() });
            return Err(Lost::new("gsh has no regular expressions over commands", shadow));
        };
        glyphs.push(Glyph::Char(literal));
    }
    glyphs.push(Glyph::Run);
    Ok(CommandPattern { tail_is_optional: true, ..CommandPattern::wild(glyphs) })
}

/// The conditions of a rule put on what it means.
fn conditioned(table: &Table<'_>, action: Verdict, mut meaning: Meaning) -> Result<Meaning, Lost> {
    let allows = action == Verdict::Allow;
    let mut when = When::default();
    if let Some(odd) = table.keys().map(|key| key.get_ref()).find(|key| !KNOWN.contains(&&***key)) {
        if allows {
            return Err(Lost::command(format!("gsh has no condition `{odd}`")));
        }
        meaning = meaning.stricter(format!("whatever its `{odd}`"));
    }
    let words = texts(table, "modes");
    let modes: Option<Vec<_>> = words.iter().map(|word| mode(word)).collect();
    match modes {
        Some(modes) => when.modes = modes,
        None if allows => return Err(Lost::command("one of its modes is unknown")),
        None => meaning = meaning.stricter("in every mode"),
    }
    if let Some(value) = table.get("interactive") {
        match value.get_ref().as_bool() {
            Some(truth) => when.interactive = Some(truth),
            None if allows => return Err(Lost::command("its `interactive` is no truth value")),
            None => meaning = meaning.stricter("with and without a terminal"),
        }
    }
    let reason = text(table, "denyMessage").filter(|_| !allows);
    for rule in &mut meaning.rules {
        rule.when = when.clone();
        rule.reason.clone_from(&reason);
    }
    Ok(meaning)
}

fn text(table: &Table<'_>, key: &str) -> Option<String> {
    table.get(key)?.get_ref().as_str().map(str::to_owned)
}

/// A text or a list of texts.
fn texts(table: &Table<'_>, key: &str) -> Vec<String> {
    match table.get(key).map(|value| value.get_ref()) {
        Some(DeValue::String(text)) => vec![text.to_string()],
        Some(DeValue::Array(items)) => {
            items.iter().filter_map(|item| item.get_ref().as_str()).map(str::to_owned).collect()
        }
        _ => vec![],
    }
}

fn number(table: &Table<'_>, key: &str) -> Option<u32> {
    match table.get(key).map(|value| value.get_ref()) {
        None => Some(0),
        Some(DeValue::Integer(number)) => number.as_str().parse().ok(),
        Some(_) => None,
    }
}
