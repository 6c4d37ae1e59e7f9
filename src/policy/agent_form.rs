//! Rules in the form that agents' own settings use: `Bash(npm test:*)`, `Read(./secrets/**)`.

use super::Verdict;

/// What a rule in an agent's form means here: one pattern for a set of capabilities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentRule {
    /// The capabilities, as capability patterns.
    pub capabilities: &'static [&'static str],
    /// The pattern.
    pub pattern: String,
}

/// What a command needs to run at all. Leaving it running is left out: an agent's own allow for a
/// command says nothing of that.
const COMMAND: &[&str] = &["process.execute", "network.access", "git.modify"];

/// The agents' tools that gsh has capabilities for.
const TOOLS: &[(&str, &[&str])] = &[
    ("Bash", COMMAND),
    ("Shell", COMMAND),
    ("shell", COMMAND),
    ("run_shell", COMMAND),
    ("run_shell_command", COMMAND),
    ("ShellTool", COMMAND),
    ("Read", &["file.read"]),
    ("read_file", &["file.read"]),
    ("Write", &["file.write.*"]),
    ("write_file", &["file.write.*"]),
    ("Edit", &["file.write.*"]),
    ("MultiEdit", &["file.write.*"]),
    ("NotebookEdit", &["file.write.*"]),
    ("replace", &["file.write.*"]),
];

impl AgentRule {
    /// The rule for commands that match a pattern.
    #[must_use]
    pub fn of_command(pattern: &str) -> Self {
        Self { capabilities: COMMAND, pattern: pattern.to_owned() }
    }

    /// The capabilities it covers when it says this. What it refuses it refuses in the background too.
    pub fn capabilities_for(&self, action: Verdict) -> impl Iterator<Item = &'static str> + use<> {
        let background = *self.capabilities == *COMMAND && action != Verdict::Allow;
        self.capabilities.iter().copied().chain(background.then_some("process.background"))
    }
}

/// Translates a rule in an agent's form; None when it is none.
#[must_use]
pub fn translate(text: &str) -> Option<AgentRule> {
    if text.starts_with("mcp__") && !text.contains(['(', ' ']) {
        return Some(AgentRule { capabilities: &["tool.use"], pattern: text.to_owned() });
    }
    let (tool, inside) = match text.split_once('(') {
        Some((tool, rest)) => (tool, Some(rest.strip_suffix(')')?)),
        None => (text, None),
    };
    let (_, capabilities) = TOOLS.iter().find(|(name, _)| *name == tool)?;
    let pattern = match inside {
        None | Some("") => "*".to_owned(),
        Some(inside) if *capabilities == COMMAND => command_pattern(inside),
        Some(inside) => path_pattern(inside),
    };
    Some(AgentRule { capabilities, pattern })
}

/// `npm test:*` is the agents' way to write "and whatever follows".
fn command_pattern(inside: &str) -> String {
    match inside.strip_suffix(":*") {
        Some(head) => format!("{head} *"),
        None => inside.to_owned(),
    }
}

/// `//x` is the agents' absolute path; `**` and `*` are one thing here.
fn path_pattern(inside: &str) -> String {
    match inside.strip_prefix("//") {
        Some(rest) => format!("/{rest}"),
        None => inside.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations() {
        for (text, capabilities, pattern) in [
            ("Bash(npm test:*)", COMMAND, "npm test *"),
            ("Bash(git push)", COMMAND, "git push"),
            ("Bash", COMMAND, "*"),
            ("Bash()", COMMAND, "*"),
            ("Bash(echo (a))", COMMAND, "echo (a)"),
            ("run_shell(git diff*)", COMMAND, "git diff*"),
            ("Read(./secrets/**)", &["file.read"], "./secrets/**"),
            ("Read(//etc/*)", &["file.read"], "/etc/*"),
            ("Write(~/notes/*)", &["file.write.*"], "~/notes/*"),
            ("Edit", &["file.write.*"], "*"),
            ("mcp__files__read", &["tool.use"], "mcp__files__read"),
        ] {
            let expected = AgentRule { capabilities, pattern: pattern.to_owned() };
            assert_eq!(translate(text), Some(expected), "{text}");
        }
        for text in ["git push *", "Bash(npm test", "bash(x)", "file.read", "Unknown(x)", ""] {
            assert_eq!(translate(text), None, "{text}");
        }
    }
}
