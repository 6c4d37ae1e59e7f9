//! Rules of a command line: `--allow`, `--ask` and `--deny`.

use crate::policy::agent_form::{self, AgentRule};
use crate::policy::{Layer, LayerRules, Rule, Verdict};

use super::schema::names_capability;

/// The layer of these rules; None without any.
#[must_use]
pub fn layer<'a>(rules: impl Iterator<Item = (Verdict, &'a str)>) -> Option<LayerRules> {
    let rules: Vec<Rule> = rules.flat_map(|(action, text)| self::rules(action, text)).collect();
    (!rules.is_empty()).then(|| LayerRules::of_rules(Layer::CommandLine, rules))
}

/// What one rule means: `CAPABILITY PATTERN`, a rule in an agent's form, or a pattern for commands.
fn rules(action: Verdict, text: &str) -> Vec<Rule> {
    let text = text.trim();
    let make = |capability: &str, pattern: &str| Rule::new(Layer::CommandLine, capability, pattern, action);
    if let Some((capability, pattern)) = text.split_once(' ')
        && capability.contains('.')
        && names_capability(capability)
    {
        return vec![make(capability, pattern.trim_start())];
    }
    let meant = agent_form::translate(text).unwrap_or_else(|| AgentRule::of_command(text));
    meant.capabilities_for(action).map(|capability| make(capability, &meant.pattern)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        for (action, text, expected) in [
            (Verdict::Allow, "file.read ~/x/*", &["file.read ~/x/*"][..]),
            (Verdict::Deny, "Read(//etc/*)", &["file.read /etc/*"]),
            (
                Verdict::Allow,
                "npm test *",
                &["process.execute npm test *", "network.access npm test *", "git.modify npm test *"],
            ),
            (
                Verdict::Ask,
                "Bash(make:*)",
                &[
                    "process.execute make *",
                    "network.access make *",
                    "git.modify make *",
                    "process.background make *",
                ],
            ),
            (Verdict::Deny, "tool.use mcp__db__*", &["tool.use mcp__db__*"]),
        ] {
            let layer = layer([(action, text)].into_iter()).expect("rules");
            let found: Vec<_> = layer
                .rules
                .iter()
                .map(|found| format!("{} {}", found.rule.capability, found.rule.pattern))
                .collect();
            assert_eq!(found, expected, "{text}");
            assert!(layer.rules.iter().all(|found| found.rule.action == action && found.rule.line == 0));
        }
        assert!(layer(std::iter::empty()).is_none());
    }
}
