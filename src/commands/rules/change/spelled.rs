//! Rules as they are typed.

use std::path::Path;

use crate::config::edit::Which;
use crate::config::new_rule::NewRule;
use crate::config::schema::names_capability;
use crate::policy::Verdict;
use crate::policy::agent_form::{AgentRule, translate};

/// The rule that a text means: `CAPABILITY PATTERN`, a rule in an agent's form, or a pattern for commands,
/// which covers all that a command may need; with a capability, a pattern.
///
/// # Errors
/// When it could be either a path to read or to write, or means nothing.
pub fn new_rule(text: &str, capability: Option<&str>, action: Verdict) -> Result<NewRule, String> {
    if text.trim().is_empty() {
        return Err("a rule is a pattern, `CAPABILITY PATTERN`, or like `Bash(npm test:*)`".to_owned());
    }
    if let Some(capability) = capability {
        return Ok(NewRule::new(capability, text, action));
    }
    if let Some((capability, pattern)) = with_capability(text) {
        return Ok(NewRule::new(capability, pattern, action));
    }
    if translate(text).is_some() {
        return Ok(NewRule::new(text, "*", action));
    }
    if ["/", "~/", "./", "../", "$HOME/"].iter().any(|start| text.starts_with(start)) {
        return Err(format!(
            "`{text}` looks like a path: say --capability file.read or file.write.*, or process.execute if it \
             is a program"
        ));
    }
    let command = format!("Bash({text})");
    match translate(&command) == Some(AgentRule::of_command(text)) {
        true => Ok(NewRule::new(&command, "*", action)),
        false => Err(format!("`{text}` means something else to agents: say --capability process.execute")),
    }
}

/// The rule that is named by what it says.
pub(super) fn which(text: &str) -> Which {
    match with_capability(text) {
        Some((capability, pattern)) => {
            Which::Says { capability: Some(capability.to_owned()), pattern: pattern.to_owned() }
        }
        None => Which::Says { capability: None, pattern: text.to_owned() },
    }
}

fn with_capability(text: &str) -> Option<(&str, &str)> {
    let (capability, pattern) = text.split_once(' ')?;
    (capability.contains('.') && names_capability(capability)).then(|| (capability, pattern.trim_start()))
}

/// `FILE:LINE`, as listings show it.
pub(super) fn place(text: &str) -> Option<(&str, usize)> {
    let (file, line) = text.rsplit_once(':')?;
    let is_path = file.starts_with(['/', '.']) || file.ends_with(".toml");
    let is_number = !line.is_empty() && line.bytes().all(|byte| byte.is_ascii_digit());
    (is_path && is_number && !file.contains(' ') || is_number && file.ends_with(".toml"))
        .then(|| Some((file, line.parse().ok()?)))?
}

/// Whether a file as typed is this one.
pub(super) fn is_file(typed: &str, path: &Path, cwd: &Path) -> bool {
    let typed = cwd.join(typed);
    typed == path
        || std::fs::canonicalize(typed).is_ok_and(|real| Some(real) == std::fs::canonicalize(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_as_typed() {
        for (text, capability, expected) in [
            ("npm test *", None, Ok(("Bash(npm test *)", "*"))),
            ("npm test *", Some("process.execute"), Ok(("process.execute", "npm test *"))),
            ("Bash(npm test:*)", None, Ok(("Bash(npm test:*)", "*"))),
            ("Read(~/notes/**)", None, Ok(("Read(~/notes/**)", "*"))),
            ("mcp__db__read", None, Ok(("mcp__db__read", "*"))),
            ("file.read ~/x/*", None, Ok(("file.read", "~/x/*"))),
            ("git.modify git push *", None, Ok(("git.modify", "git push *"))),
            ("/srv/x", Some("file.write.*"), Ok(("file.write.*", "/srv/x"))),
            ("/srv/x", None, Err("looks like a path")),
            ("docker run x:*", None, Err("say --capability")),
            (" ", None, Err("a rule is a pattern")),
        ] {
            let found = new_rule(text, capability, Verdict::Ask);
            match (&found, expected) {
                (Ok(rule), Ok(expected)) => {
                    assert_eq!((rule.capability.as_str(), rule.pattern.as_str()), expected, "{text}");
                }
                (Err(why), Err(part)) => assert!(why.contains(part), "{text}: {why}"),
                _ => panic!("{text}: {found:?}"),
            }
        }
    }

    #[test]
    fn places_as_typed() {
        for (text, expected) in [
            ("/h/.config/gsh/config.toml:12", Some(("/h/.config/gsh/config.toml", 12))),
            (".gsh/config.toml:3", Some((".gsh/config.toml", 3))),
            ("/home/a b/config.toml:3", Some(("/home/a b/config.toml", 3))),
            ("nc localhost:80", None),
            ("curl localhost:80", None),
            ("npm test:*", None),
            ("config.toml:", None),
        ] {
            assert_eq!(place(text), expected, "{text}");
        }
    }
}
