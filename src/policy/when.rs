//! When a rule counts: in which modes, for calls through which entry, by which agent.

use serde::{Deserialize, Serialize};

use super::{Mode, Verdict};
use crate::request::Entry;

/// The conditions of a rule. What is empty or None is no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct When {
    /// Only in these modes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// Only for requests that came in through these entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Entry>,
    /// Only for these agents, by their names (`claude`, `codex` …).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// Only where a terminal is at hand and questions are not switched off, or only where not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interactive: Option<bool>,
}

/// Who a request comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Agent {
    /// Nobody can tell.
    #[default]
    Unknown,
    /// No agent: a person's own shell, a job of the machine.
    None,
    /// The agent of this name.
    Named(String),
}

/// A call, as far as rules depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// How the request came in.
    pub entry: Entry,
    /// Who sent it.
    pub agent: Agent,
    /// A terminal is at hand and questions are not switched off.
    pub interactive: bool,
    /// It comes from an agent that was started beneath gsh.
    pub nested: bool,
}

/// `gsh -c` by somebody unknown, with a terminal.
impl Default for Caller {
    fn default() -> Self {
        Self { entry: Entry::Command, agent: Agent::Unknown, interactive: true, nested: false }
    }
}

/// Why a rule does not count now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// Its last day is over.
    Expired,
    /// It lifts questions, and the session was refused too often in a row.
    Refused,
    /// Another mode is on.
    Mode,
    /// The request came in another way.
    Entry,
    /// Another agent, or none, sent it.
    Agent,
    /// It is for calls with a terminal and this is none, or the other way about.
    Interactive,
}

impl Idle {
    /// The word for it in listings.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Refused => "rests after refusals",
            Self::Mode => "other modes",
            Self::Entry => "other entries",
            Self::Agent => "other agents",
            Self::Interactive => "other terminals",
        }
    }
}

impl When {
    /// Whether it sets no condition.
    #[must_use]
    pub fn is_always(&self) -> bool {
        *self == Self::default()
    }

    /// Why a rule with this action does not count for the call; None when it counts. A condition that
    /// cannot be told holds for a rule that tightens and not for one that allows.
    #[must_use]
    pub fn idle(&self, action: Verdict, mode: Mode, caller: &Caller) -> Option<Idle> {
        let named = |agent: &String| match &caller.agent {
            // Beneath a command that was let through anything can bear an agent's name.
            _ if caller.nested => action > Verdict::Allow,
            Agent::Named(name) => name == agent,
            Agent::None => false,
            Agent::Unknown => action > Verdict::Allow,
        };
        if !self.modes.is_empty() && !self.modes.contains(&mode) {
            Some(Idle::Mode)
        } else if !self.entries.is_empty() && !self.entries.contains(&caller.entry) {
            Some(Idle::Entry)
        } else if !self.agents.is_empty() && !self.agents.iter().any(named) {
            Some(Idle::Agent)
        } else if self.interactive.is_some_and(|wanted| wanted != caller.interactive) {
            Some(Idle::Interactive)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions() {
        let always = When::default();
        let plan = When { modes: vec![Mode::Plan], ..When::default() };
        let hooks = When { entries: vec![Entry::Hook, Entry::Script], ..When::default() };
        let codex = When { agents: vec!["codex".into()], ..When::default() };
        let alone = When { interactive: Some(false), ..When::default() };
        let caller = |agent| Caller { agent, ..Caller::default() };
        let by = |name: &str| caller(Agent::Named(name.into()));
        let nested = |name| Caller { nested: true, ..by(name) };
        let hook = Caller { entry: Entry::Hook, ..Caller::default() };
        let ci = Caller { interactive: false, ..Caller::default() };
        use Verdict::{Allow, Deny};
        for (when, action, mode, caller, expected) in [
            (&always, Deny, Mode::Default, &by("x"), None),
            (&plan, Deny, Mode::Plan, &by("x"), None),
            (&plan, Deny, Mode::Default, &by("x"), Some(Idle::Mode)),
            (&hooks, Allow, Mode::Default, &hook, None),
            (&hooks, Allow, Mode::Default, &ci, Some(Idle::Entry)),
            (&codex, Allow, Mode::Default, &by("codex"), None),
            (&codex, Deny, Mode::Default, &by("claude"), Some(Idle::Agent)),
            (&codex, Deny, Mode::Default, &caller(Agent::None), Some(Idle::Agent)),
            (&codex, Deny, Mode::Default, &caller(Agent::Unknown), None),
            (&codex, Allow, Mode::Default, &caller(Agent::Unknown), Some(Idle::Agent)),
            (&codex, Allow, Mode::Default, &nested("codex"), Some(Idle::Agent)),
            (&codex, Deny, Mode::Default, &nested("claude"), None),
            (&alone, Deny, Mode::Default, &ci, None),
            (&alone, Deny, Mode::Default, &hook, Some(Idle::Interactive)),
        ] {
            assert_eq!(when.idle(action, mode, caller), expected, "{when:?} {caller:?}");
        }
    }
}
