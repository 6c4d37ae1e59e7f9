//! What is known of each agent, in one table: the word that rules use for it, the names of its programs, and
//! how long it lets a command wait for an answer.

/// What is known of one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The word for it in rules, records and listings.
    pub name: &'static str,
    /// The names of its programs, processes and scripts.
    pub programs: &'static [&'static str],
    /// For so many seconds a question may keep it waiting: less than it gives a command. None where its own limit
    /// is not known.
    pub seconds: Option<u64>,
}

const fn known(name: &'static str, programs: &'static [&'static str], seconds: Option<u64>) -> Known {
    Known { name, programs, seconds }
}

/// Every agent that is known.
pub const AGENTS: &[Known] = &[
    // A person types there.
    known("aider", &["aider"], Some(270)),
    known("amp", &["amp"], None),
    known("auggie", &["auggie"], None),
    // Moves the command to the background after 120 s.
    known("claude", &["claude"], Some(100)),
    // Kills after 30 s.
    known("cline", &["cline"], Some(20)),
    // Returns "still running" early and asks again; the command goes on.
    known("codex", &["codex"], Some(100)),
    // Ends what printed nothing for 180 s.
    known("continue", &["cn"], Some(150)),
    // Returns "still running" early.
    known("copilot", &["copilot"], Some(100)),
    known("crush", &["crush"], None),
    known("cursor", &["cursor-agent"], None),
    known("droid", &["droid"], None),
    // Ends what printed nothing for 300 s.
    known("gemini", &["gemini"], Some(270)),
    // Their limits are set with each call.
    known("goose", &["goose", "goosed"], Some(100)),
    known("kilocode", &["kilocode"], None),
    // Kills after 30 s.
    known("mini-swe-agent", &["mini-swe-agent"], Some(20)),
    // Ends after 120 s.
    known("opencode", &["opencode"], Some(100)),
    // Interrupts what printed nothing for 30 s.
    known("openhands", &["openhands"], Some(20)),
    known("pi", &["pi"], Some(100)),
    known("plandex", &["plandex"], None),
    // Ends after 120 s.
    known("qwen", &["qwen"], Some(100)),
    known("roo", &[], None),
    known("swe-agent", &["sweagent", "swerex-remote"], None),
    known("vibe", &["vibe"], None),
    known("zed", &["zed"], None),
];

/// The agent that this word means.
#[must_use]
pub fn named(word: &str) -> Option<&'static Known> {
    AGENTS.iter().find(|agent| agent.name == word)
}

/// The agent that a program, process or script of this name is.
#[must_use]
pub fn of_program(name: &str) -> Option<&'static Known> {
    let name = [".js", ".mjs", ".cjs", ".py"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    AGENTS.iter().find(|agent| agent.programs.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_and_program_means_one_agent() {
        for (index, agent) in AGENTS.iter().enumerate() {
            assert_eq!(named(agent.name), Some(agent));
            for program in agent.programs {
                let found = AGENTS.iter().position(|other| other.programs.contains(program));
                assert_eq!(found, Some(index), "{program}");
            }
        }
        let found = |name| of_program(name).map(|agent| agent.name);
        assert_eq!(
            (found("cn"), found("qwen.js"), found("claudette")),
            (Some("continue"), Some("qwen"), None)
        );
    }
}
