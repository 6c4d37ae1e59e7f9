//! The agents' tools: which of them run a command, which read, write or fetch what, by the names that each agent has
//! for them. A tool that is not known, or whose input has another shape than expected, is asked about as a whole.

use serde_json::Value;

use super::Dialect;
use super::acts::{acts, touched};
use super::command::{commands, folders};
use super::event::{Event, text};
use super::names::{Sort, sort};
use crate::request::{Act, Tool};
use crate::store::hash;

/// What the use of a tool means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meant {
    /// The texts that a shell is to run, each by itself.
    Shell {
        /// The texts.
        texts: Vec<String>,
        /// The folders that the tool may be told to run them in; an empty one stands for the event's.
        folders: Vec<String>,
    },
    /// Anything else.
    Tool(Tool),
}

/// What the use of a tool means to this agent.
#[must_use]
pub fn meant(event: &Event, dialect: &Dialect) -> Meant {
    let name = event.tool.as_str();
    let input = &event.input;
    if let Some(tool) = underscored(name, input, dialect) {
        return Meant::Tool(tool);
    }
    let sort = sort(name);
    if sort == Some(Sort::Shell)
        && let Some(texts) = commands(input)
    {
        return Meant::Shell { texts, folders: folders(input, dialect.folders) };
    }
    let of_server = sort.is_none().then(|| server(name, input)).flatten();
    let name = of_server.as_deref().unwrap_or(name);
    let acts = sort.and_then(|sort| acts(sort, input, dialect.hooks_subagents));
    let input = if acts.is_some() { String::new() } else { shown(input) };
    Meant::Tool(Tool {
        name: name.to_owned(),
        acts: acts.unwrap_or_else(|| {
            let touched = sort.map(|sort| touched(sort, &event.input)).unwrap_or_default();
            [vec![Act::Use(name.to_owned())], touched].concat()
        }),
        input,
    })
}

/// A tool of a server, where a `_` parts the two names. Rules that refuse it by the agent's own spelling hold as well.
fn underscored(name: &str, input: &Value, dialect: &Dialect) -> Option<Tool> {
    let own = dialect.underscored?;
    if own.contains(&name) || name.starts_with("mcp__") {
        return None;
    }
    let (server, tool) = name.split_once('_')?;
    let full = format!("mcp__{server}__{tool}");
    let acts = vec![Act::Use(full.clone()), Act::Mention(name.to_owned())];
    Some(Tool { name: full, acts, input: shown(input) })
}

/// A tool of a server, where one tool of the agent stands for all of them.
fn server(name: &str, input: &Value) -> Option<String> {
    let key = match name {
        "use_mcp_tool" => "tool_name",
        "access_mcp_resource" => "uri",
        _ => return None,
    };
    Some(format!("mcp__{}__{}", text(input, "server_name")?, text(input, key)?))
}

/// The input of a tool, for a person.
fn shown(input: &Value) -> String {
    if input.is_null() { String::new() } else { serde_json::to_string_pretty(input).unwrap_or_default() }
}

/// What a use of a tool is called in questions, refusals and records, without what it is given.
#[must_use]
pub fn title(tool: &Tool) -> String {
    let mut text = tool.name.clone();
    for act in &tool.acts {
        let subject = match act {
            Act::Read(path) | Act::List(path) | Act::Search(path) | Act::Delete(path) => path.clone(),
            Act::Write { path, .. } | Act::Edit { path, .. } => path.clone(),
            Act::Move { from, to } => format!("{from} {to}"),
            Act::Fetch(subject) | Act::Query(subject) => subject.clone(),
            Act::Use(subject) | Act::Mention(subject) if *subject == tool.name => continue,
            Act::Use(subject) | Act::Mention(subject) => subject.clone(),
        };
        text.push(' ');
        text.push_str(&subject);
    }
    text
}

/// What an answer is bound to beside the title, and all that a record tells of what the tool is given: how long it
/// is, and its hash.
#[must_use]
pub fn given(input: &Value) -> String {
    let bytes = serde_json::to_vec(input).unwrap_or_default();
    format!("input of {} bytes, sha256 {}", bytes.len(), hash(&bytes))
}
