//! Allows that give more than a person thinks of.

use super::{Finding, Severity, covers, named};
use crate::facts::programs::{abilities, names};
use crate::policy::pattern::Pattern;
use crate::policy::{Capability, Rule, Verdict};

/// What is too broad about an allow.
pub(super) fn findings(rule: &Rule) -> Option<Finding> {
    if rule.action != Verdict::Allow {
        return None;
    }
    let pattern = Pattern::new(&rule.pattern);
    let (message, help) = everything(rule, &pattern)
        .or_else(|| Some(&pattern).filter(|_| covers(rule, Capability::ProcessExecute)).and_then(programs))?;
    let message = format!("{}: {message}", named(rule));
    // Reading is what most may do; what is lost is the question about secrets.
    let reads = rule.capability == Capability::FileRead.word();
    let severity = if reads { Severity::Note } else { Severity::Warning };
    Some(Finding::new(severity, "too-broad", rule, message, &help))
}

type Said = (String, String);

/// A pattern for everything, or for every file.
fn everything(rule: &Rule, pattern: &Pattern) -> Option<Said> {
    let all_files = pattern.covers(&Pattern::new("/*"));
    let home = matches!(rule.pattern.as_str(), "~/*" | "~/**" | "$HOME/*" | "$HOME/**");
    let (what, help) = Capability::ALL.into_iter().filter(|capability| covers(rule, *capability)).find_map(
        |capability| {
            Some(match capability {
                Capability::ProcessExecute if pattern.is_bare() => (
                    "every program may run, with whatever words",
                    "allow the programs that are needed, by name",
                ),
                Capability::FileWriteOutside if all_files || home => {
                    ("it may write everywhere, start-up files of other programs included", "name the folders")
                }
                Capability::FileWriteProject if pattern.is_bare() && rule.destroys => (
                    "it may delete everything in every project",
                    "name the folders of what can be made again",
                ),
                Capability::FileRead if all_files => (
                    "this also allows reading secrets, which ask by default",
                    "take it away: other reading is allowed by default",
                ),
                Capability::NetworkAccess if pattern.is_bare() => {
                    ("whatever it reads it may send to anybody", "allow the clients that are needed, by name")
                }
                Capability::GitModify if pattern.is_bare() => (
                    "that is `git reset --hard` and `git push`, too",
                    "allow the subcommands that are needed",
                ),
                Capability::ToolUse if pattern.is_bare() => {
                    ("every tool of every server", "allow tools by name, or a server's by `mcp__SERVER__*`")
                }
                _ => return None,
            })
        },
    )?;
    Some((what.to_owned(), help.to_owned()))
}

/// A pattern for a program that runs others, or is several.
fn programs(pattern: &Pattern) -> Option<Said> {
    let head = pattern.head().into_owned();
    if let Some((program, rest)) = head.split_once(' ') {
        return one_program(pattern, program, rest);
    }
    let free = |name: &&str| {
        pattern.covers(&Pattern::new(&format!("{name} *")))
            && abilities(name).is_some_and(|able| able.wraps || able.runs_code)
    };
    let found: Vec<&str> = names().filter(free).collect();
    let shown: Vec<&str> = found.iter().copied().take(5).collect();
    let more = if found.len() > shown.len() { " and others" } else { "" };
    let message = format!("it is also for {}{more}, which run whatever they are given", shown.join(", "));
    (!found.is_empty()).then(|| (message, "begin the pattern with the name of the program".to_owned()))
}

fn one_program(pattern: &Pattern, program: &str, rest: &str) -> Option<Said> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let able = abilities(name)?;
    // Whatever stands before the wildcard is only options: what it is to do follows.
    let only_options = rest.split_whitespace().all(|word| {
        word.starts_with('-') || word.contains('=') || word.bytes().all(|byte| byte.is_ascii_digit())
    });
    let open = only_options
        && pattern.exact().is_none()
        && pattern.covers(&Pattern::new(&format!("{program} {rest}x *")));
    if !open {
        return None;
    }
    if able.runs_code {
        let help = format!("name what it runs: `{program} SCRIPT *`");
        Some((format!("{name} runs whatever code it is given"), help))
    } else if able.wraps {
        let help = format!("allow what it runs, by name: `{program} COMMAND *`");
        Some((format!("{name} runs whatever command it is given"), help))
    } else if able.has_subcommands {
        let help = format!("allow the subcommands that are needed: `{program} SUBCOMMAND *`");
        Some((format!("{name} is many programs, and this allows all of them"), help))
    } else {
        None
    }
}
