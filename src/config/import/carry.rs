//! What a rule of an agent means here, or why it cannot be said.

use crate::config::new_rule::NewRule;
use crate::policy::Verdict;
use crate::policy::pattern::Pattern;

/// The rules of gsh for a rule of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub(super) rules: Vec<NewRule>,
    /// In what they allow less or refuse more; empty when they mean the same.
    pub(super) stricter: Vec<String>,
}

/// Why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) why: String,
    pub(super) shadow: Shadow,
}

/// What a rule that could not be carried may say something about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shadow {
    /// Nothing that gsh would allow.
    Nothing,
    /// Commands whose text begins so.
    Commands(String),
    /// Any file.
    Files,
    /// Any tool.
    Tools,
    /// Anything.
    All,
}

impl Shadow {
    /// Whether it may say something about what a rule matches.
    pub(super) fn covers(&self, rule: &NewRule) -> bool {
        let of_files = rule.capability.starts_with("file.");
        let of_tools = rule.capability == "tool.use";
        match self {
            Self::Nothing => false,
            Self::Commands(head) => {
                let own = Pattern::new(&rule.pattern);
                !of_files && !of_tools && (own.head().starts_with(head) || head.starts_with(&*own.head()))
            }
            Self::Files => of_files,
            Self::Tools => of_tools,
            Self::All => true,
        }
    }
}

impl Lost {
    pub(super) fn new(why: impl Into<String>, shadow: Shadow) -> Self {
        Self { why: why.into(), shadow }
    }

    /// A rule for commands of which nothing certain is known.
    pub(super) fn command(why: impl Into<String>) -> Self {
        Self::new(why, Shadow::Commands(String::new()))
    }
}

impl Meaning {
    /// One rule for each pattern and capability.
    pub(super) fn of(capabilities: &[&str], patterns: &[String], action: Verdict) -> Self {
        let each = patterns.iter().flat_map(|pattern| {
            capabilities.iter().map(move |capability| NewRule::new(capability, pattern, action))
        });
        Self { rules: each.collect(), stricter: vec![] }
    }

    /// Adds in what it is stricter.
    pub(super) fn stricter(mut self, why: impl Into<String>) -> Self {
        let why = why.into();
        if !self.stricter.contains(&why) {
            self.stricter.push(why);
        }
        self
    }
}

/// What a command needs to run; leaving it running is not part of an agent's allow.
pub(super) const RUNS: &[&str] = &["process.execute", "network.access", "git.modify"];

/// The rules for commands that match a pattern. Every command asks for `process.execute` or is mentioned
/// there, so one rule refuses it; an allow must name all that running it takes.
pub(super) fn commands(patterns: &[String], action: Verdict) -> Meaning {
    match action {
        Verdict::Allow => Meaning::of(RUNS, patterns, action),
        _ => Meaning::of(&["process.execute"], patterns, action),
    }
}

/// The rules for every command. What refuses all must count for commands that are fully explained too, which
/// a bare `*` does not.
pub(super) fn every_command(action: Verdict) -> Meaning {
    match action {
        Verdict::Allow => commands(&["*".to_owned()], action).stricter(
            "programs that run with other rights (sudo), and what leaves something running, still ask",
        ),
        _ => commands(&["?*".to_owned()], action)
            .stricter("lists and pipelines are judged by it as a whole as well"),
    }
}

/// The rules for a tool that gsh has no table for.
pub(super) fn tool(pattern: String, action: Verdict) -> Meaning {
    Meaning::of(&["tool.use"], &[pattern], action)
}
