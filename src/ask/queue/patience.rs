//! How long a question may keep its caller waiting: each agent ends or leaves a command after a time of its own,
//! and the refusal has to be there before.

use std::time::Duration;

use crate::policy::agents;

/// For a caller that is not known: most agents give a command two minutes.
const UNKNOWN: u64 = 100;

/// How long to wait for this caller. What the user set (`[ask] wait`) is bounded by the agent's own limit.
#[must_use]
pub fn patience(agent: Option<&str>, set: Option<u64>) -> Duration {
    let known = agent.and_then(agents::named).and_then(|agent| agent.seconds);
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
