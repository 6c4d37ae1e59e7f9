//! How long a question may keep its caller waiting: each agent ends or leaves a command after a time of its own,
//! and the refusal has to be there before.

use std::time::Duration;

/// For a caller that is not known: most agents give a command two minutes.
const UNKNOWN: u64 = 100;

/// The agents whose own limit is known, and the seconds to wait, which are some less.
const AGENTS: [(&str, u64); 13] = [
    // Moves the command to the background after 120 s.
    ("claude", 100),
    // Kills after 30 s.
    ("cline", 20),
    // Ends what printed nothing for 180 s.
    ("continue", 150),
    // Returns "still running" early and asks again; the command goes on.
    ("codex", 100),
    ("copilot", 100),
    // Ends what printed nothing for 300 s.
    ("gemini", 270),
    // Kills after 30 s.
    ("mini-swe-agent", 20),
    // Ends after 120 s.
    ("opencode", 100),
    ("qwen", 100),
    // Interrupts what printed nothing for 30 s.
    ("openhands", 20),
    // Their limits are set with each call.
    ("goose", 100),
    ("pi", 100),
    // A person types there.
    ("aider", 270),
];

/// How long to wait for this caller. What the user set (`[ask] wait`) is bounded by the agent's own limit.
#[must_use]
pub fn patience(agent: Option<&str>, set: Option<u64>) -> Duration {
    let known = AGENTS.iter().find(|(name, _)| Some(*name) == agent).map(|(_, seconds)| *seconds);
    Duration::from_secs(match (known, set) {
        (Some(known), Some(set)) => set.min(known),
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => UNKNOWN,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_comes_before_the_agents_own_limit() {
        for (agent, set, seconds) in [
            (None, None, 100),
            (None, Some(7), 7),
            (None, Some(600), 600),
            (Some("claude"), None, 100),
            (Some("cline"), None, 20),
            (Some("cline"), Some(600), 20),
            (Some("cline"), Some(5), 5),
            (Some("someone"), None, 100),
        ] {
            assert_eq!(patience(agent, set), Duration::from_secs(seconds), "{agent:?} {set:?}");
        }
    }
}
