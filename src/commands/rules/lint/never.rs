//! Rules that never count: their day is over, their conditions never meet, nothing is ever spelled as their
//! pattern is.

use super::seen::{self, Seen};
use super::{Finding, Given, Severity, covers, named};
use crate::facts::programs::names;
use crate::policy::forms::below_home;
use crate::policy::pattern::Pattern;
use crate::policy::{Capability, Forbidden, Layer, Mode, Rule, Verdict};
use crate::request::Entry;

/// What is found about the rules of one file.
pub(super) fn findings(rules: &[&Rule], given: &Given<'_>) -> Vec<Finding> {
    let by_itself = rules.iter().flat_map(|rule| {
        let project = given.policy.places.project.as_deref();
        let alone = given.policy.knobs.allow_roots.is_empty();
        [
            expired(rule, &given.policy.today),
            conditions(rule, &given.policy.forbids),
            path(rule, project).or_else(|| elsewhere(rule, project, alone)),
            tool(rule),
        ]
    });
    let mut found: Vec<Finding> = by_itself.flatten().collect();
    found.extend(commands(rules, given));
    found
}

fn never(rule: &Rule, message: String, help: &str) -> Finding {
    Finding::new(Severity::Warning, "never", rule, message, help)
}

fn expired(rule: &Rule, today: &str) -> Option<Finding> {
    let day = rule.expires.as_deref().filter(|day| *day < today)?;
    let message = format!("{} has expired: its last day was {day}", named(rule));
    Some(Finding::new(Severity::Warning, "expired", rule, message, "take it away, or give it another day"))
}

/// Conditions that never hold, or under which the rule is not heard.
fn conditions(rule: &Rule, forbids: &[Forbidden]) -> Option<Finding> {
    let when = rule.when.as_deref()?;
    let only = |mode| !when.modes.is_empty() && when.modes.iter().all(|each| *each == mode);
    let reads = covers(rule, Capability::FileRead) || covers(rule, Capability::NetworkAccess);
    let why = if only(Mode::Plan) && rule.action != Verdict::Deny && !reads {
        "in plan mode only what reads is allowed, whatever rules say"
    } else if only(Mode::Bypass) && forbids.contains(&Forbidden::Bypass) {
        "bypass is forbidden here"
    } else if when.interactive == Some(false) && when.entries == [Entry::Interactive] {
        "an interactive shell always has a terminal"
    } else {
        return None;
    };
    Some(never(
        rule,
        format!("{} never counts: {why}", named(rule)),
        "take it away, or change its conditions",
    ))
}

/// A path pattern that no path is spelled as.
fn path(rule: &Rule, project: Option<&str>) -> Option<Finding> {
    if !rule.capability.starts_with("file.") {
        return None;
    }
    let own = project.and_then(|root| rule.pattern.strip_prefix(root)?.strip_prefix('/'));
    let written = own.unwrap_or(&rule.pattern);
    let first = written.split(' ').next().unwrap_or_default();
    if rule.pattern.contains("//") {
        return Some(never(rule, format!("{}: no path has two slashes in a row", named(rule)), "write one"));
    }
    if below_home(written).is_none()
        && (written.starts_with('$') || (written.starts_with('~') && own.is_some()))
    {
        let message = format!("{}: only `~/` and `$HOME/` are known in a pattern", named(rule));
        return Some(never(rule, message, "write the path itself"));
    }
    if written.contains(' ') && names().any(|name| name == first) {
        let message = format!("{} looks like a command, and {} is about paths", named(rule), rule.capability);
        return Some(never(
            rule,
            message,
            "commands are matched by process.execute; of what they touch write the path",
        ));
    }
    None
}

/// A rule of a project's file for writes on the other side of its border, where no further folders
/// count as the project.
fn elsewhere(rule: &Rule, project: Option<&str>, alone: bool) -> Option<Finding> {
    let root = project.filter(|_| matches!(rule.layer, Layer::Project | Layer::UserProject))?;
    let pattern = Pattern::new(&rule.pattern);
    let head = pattern.head();
    let inside = head.strip_prefix(root).is_some_and(|rest| rest.starts_with('/'));
    let apart = !head.starts_with(root) && !root.starts_with(&*head);
    let (why, help) = match rule.capability.as_str() {
        "file.write.project" if apart && alone => {
            ("it lies outside of the project", "file.write.outsideProject")
        }
        "file.write.outsideProject" if inside => ("it lies in the project", "file.write.project"),
        _ => return None,
    };
    let message = format!("{} is only for what a link leads to: {why}", named(rule));
    Some(never(rule, message, &format!("writes there are {help}")))
}

fn tool(rule: &Rule) -> Option<Finding> {
    let only = rule.capability == Capability::ToolUse.word();
    let odd = rule.pattern.contains([' ', '(', ')', '/']);
    let message = format!("{}: no tool has such a name", named(rule));
    let help = "tools are named like mcp__SERVER__TOOL or skill:NAME";
    (only && odd).then(|| never(rule, message, help))
}

/// Rules for commands that no command is matched as. A rule in an agent's form stands for several: one is
/// enough.
fn commands(rules: &[&Rule], given: &Given<'_>) -> Vec<Finding> {
    let is_command = |rule: &&&Rule| {
        !rule.capability.starts_with("file.") && rule.capability != Capability::ToolUse.word()
    };
    let rules: Vec<&Rule> = rules.iter().filter(is_command).copied().collect();
    let same = |one: &&Rule, other: &&Rule| (one.line, &one.pattern) == (other.line, &other.pattern);
    let of_group = |group: &[&Rule]| {
        let seen: Vec<Seen> = group.iter().map(|rule| seen::of(rule, given)).collect();
        let any = seen.iter().any(|seen| matches!(seen, Seen::Yes));
        let (rule, seen) = group.first().zip(seen.into_iter().next())?;
        if any { None } else { said(rule, seen) }
    };
    rules.chunk_by(same).filter_map(of_group).collect()
}

fn said(rule: &Rule, seen: Seen) -> Option<Finding> {
    Some(match seen {
        Seen::Yes => return None,
        Seen::As(text) => {
            let message = format!("no command is matched as {}: this one is as `{text}`", named(rule));
            let help = "commands are matched without leading assignments and redirections, quoted only where \
                        needed, with single blanks";
            never(rule, message, help)
        }
        Seen::NotRead => {
            let message = format!("no command is matched as {}: bash would not read it", named(rule));
            never(rule, message, "are its quotes and brackets closed?")
        }
        Seen::Other(capabilities) => {
            let asked = if capabilities.is_empty() { "nothing".to_owned() } else { capabilities.join(", ") };
            let message =
                format!("{} is about {}, and such a command asks for {asked}", named(rule), rule.capability);
            never(rule, message, "`gsh explain -c COMMAND` shows what a command asks for")
        }
        Seen::AsMention => {
            let message = format!(
                "{} allows nothing that asks: whole pipelines and lists, and what gsh fully explains, need no rule",
                named(rule)
            );
            let help = "`gsh explain -c COMMAND` shows what a command asks for";
            Finding::new(Severity::Note, "needless", rule, message, help)
        }
    })
}
