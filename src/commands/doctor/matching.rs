//! Whether a hook that stands in an agent's file is asked about its commands.

use serde_json::Value;

use super::State;
use crate::config::agent_settings::is_ours;
use crate::policy::agents::Hook;

/// Why a hook is not asked, or may not be, in words.
pub(super) type Gap = (State, String);

/// The objects of ours in an entry: those that themselves hold a text with this end.
pub(super) fn of<'v>(entry: &'v Value, end: &str) -> Vec<&'v Value> {
    let mut found = vec![];
    collect(entry, end, &mut found);
    found
}

fn collect<'v>(value: &'v Value, end: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, end, found)),
        Value::Object(entries) => {
            if entries.values().any(|inner| inner.is_string() && is_ours(inner, end)) {
                found.push(value);
            }
            entries.values().for_each(|inner| collect(inner, end, found));
        }
        _ => {}
    }
}

/// What keeps a hook from being asked about commands; `group` is the entry that it stands in.
pub(super) fn gap(hook: &Hook, group: &Value, own: &Value) -> Option<Gap> {
    if own.get("async").and_then(Value::as_bool) == Some(true) {
        return Some((State::Open, "it says `async`, so that nobody waits for its answer".to_owned()));
    }
    if own.get("type").is_some_and(|kind| kind != "command") {
        return Some((State::Open, "its `type` is not `command`".to_owned()));
    }
    if own.get("if").or_else(|| group.get("if")).is_some() {
        return Some((State::Unknown, "it is asked only where its `if` holds".to_owned()));
    }
    let (tool, matcher) = (hook.tool?, group.get("matcher").filter(|matcher| !matcher.is_null())?);
    let text = matcher.as_str().unwrap_or_default();
    let why = |what: &str| format!("its matcher {matcher} {what} `{tool}`");
    match takes(text, tool) {
        _ if !matcher.is_string() => Some((State::Unknown, why("may not name the tool"))),
        Some(true) => None,
        Some(false) => Some((State::Open, why("does not name the tool"))),
        None => Some((State::Unknown, why("may not name the tool"))),
    }
}

/// Whether a matcher names a tool; None where only the agent can tell.
fn takes(matcher: &str, tool: &str) -> Option<bool> {
    let whole = matches!(matcher, "" | "*" | ".*" | "^.*$");
    let mut names = matcher.split(['|', ',']).map(|name| name.trim().trim_matches(['^', '$', '(', ')']));
    if whole || names.clone().any(|name| name == tool) {
        return Some(true);
    }
    // A plain word may be a part of the tool's name where it is read as a pattern.
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    names.all(|name| plain(name) && !tool.contains(name)).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn which_matchers_name_a_tool() {
        for (matcher, expected) in [
            ("", Some(true)),
            ("*", Some(true)),
            (".*", Some(true)),
            ("Bash", Some(true)),
            ("^Bash$", Some(true)),
            ("Edit|Bash", Some(true)),
            ("Edit, Bash", Some(true)),
            ("^(Edit|Bash)$", Some(true)),
            ("Edit|Write", Some(false)),
            ("bash", Some(false)),
            ("Bas", None),
            ("Ba.*", None),
            ("mcp__.*", None),
        ] {
            assert_eq!(takes(matcher, "Bash"), expected, "{matcher}");
        }
    }
}
