//! What the people concerned want: rules in layers, composed into one list.
//!
//! Two operators, never mixed: along the layers the last matching rule wins (`Policy::evaluate`);
//! across the requests of one command the strictest verdict wins (the decision stage). Layers that
//! may only tighten are folded in by strictness.
#![forbid(clippy::disallowed_methods)]

pub mod agent_form;
pub mod agents;
pub mod compose;
mod covers;
pub mod defaults;
pub mod duration;
pub mod evaluate;
pub mod floor;
pub mod forms;
pub mod knobs;
pub mod meaning;
pub mod pattern;
pub mod plain;
pub mod protected;
pub mod reviewing;
pub mod rules;
mod settle;
pub mod shadow;
mod standing;
pub mod when;
pub mod words;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use compose::{LayerInfo, LayerRule, LayerRules, LayerState, Policy};
pub use defaults::Places;
pub use knobs::Knobs;
use serde::{Deserialize, Serialize};
pub use standing::Refused;
pub use when::{Agent, Caller, Idle, When};

use crate::report::Span;

/// What may happen to a request, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It happens silently.
    Allow,
    /// A reviewer judges; without one, a person is asked.
    Review,
    /// A person is asked.
    Ask,
    /// It does not happen.
    Deny,
}

/// What a command asks to be allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Capability {
    /// Read a file's content.
    #[serde(rename = "file.read")]
    FileRead,
    /// Write inside a project root.
    #[serde(rename = "file.write.project")]
    FileWriteProject,
    /// Write anywhere else.
    #[serde(rename = "file.write.outsideProject")]
    FileWriteOutside,
    /// Run a program whose effects are not fully explained.
    #[serde(rename = "process.execute")]
    ProcessExecute,
    /// Leave something running.
    #[serde(rename = "process.background")]
    ProcessBackground,
    /// Talk to the network on purpose.
    #[serde(rename = "network.access")]
    NetworkAccess,
    /// Change a git repository.
    #[serde(rename = "git.modify")]
    GitModify,
    /// Use an agent's tool that gsh has no table for.
    #[serde(rename = "tool.use")]
    ToolUse,
}

/// How a write destroys what was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Destroys {
    /// The content of an existing file is lost.
    Overwrite,
    /// Owner, group, mode or attributes change.
    Mode,
    /// One file or empty directory is gone.
    Delete,
    /// A tree is gone.
    Recursive,
}

/// One thing that a command asks to be allowed.
#[derive(Debug, Clone)]
pub struct CapabilityRequest {
    /// What it asks for.
    pub capability: Capability,
    /// What rules match.
    pub subject: Subject,
    /// What would be lost.
    pub destroys: Option<Destroys>,
    /// A read-only request of a tabled client to its own service (`network.access` only).
    pub query: bool,
    /// The command as written has other rights than the caller (`sudo`); a rule for the inner
    /// command alone never covers it.
    pub escalates: bool,
    /// One line for a person.
    pub display: String,
    /// It may be no command at all: it counts only where a rule names it.
    pub carried: bool,
    /// Other spellings of a command, or what is in a folder that is taken as a whole: rules that refuse or ask may match them, rules that allow may not.
    pub spellings: Vec<String>,
    /// "Always" patterns, most specific first; empty when none may be offered.
    pub suggestions: Vec<String>,
    /// Real paths of the files whose content is what runs: an answer is bound to it.
    pub code: Vec<String>,
    /// The directory that a command runs in; None for a path, and where it cannot be told.
    pub directory: Option<String>,
    /// What is unusual, for a person.
    pub risks: Vec<String>,
    /// What to do instead; empty when nothing better is known.
    pub prefer: &'static str,
    /// Where it stands in the text.
    pub span: Span,
}

impl CapabilityRequest {
    /// A request that loses nothing, takes no other rights and offers no pattern.
    #[must_use]
    pub fn new(capability: Capability, subject: Subject, display: String, span: Span) -> Self {
        Self {
            capability,
            subject,
            destroys: None,
            query: false,
            escalates: false,
            display,
            carried: false,
            spellings: Vec::new(),
            suggestions: Vec::new(),
            code: Vec::new(),
            directory: None,
            risks: Vec::new(),
            prefer: "",
            span,
        }
    }
}

/// What rules match.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// The forms of one path (lexical, real): each is judged, the strictest holds. A directory ends
    /// without a slash.
    Path(Vec<String>),
    /// One invocation's text and, where wrappers were removed, its inner texts.
    Command {
        /// As written, without leading assignments and redirections.
        written: String,
        /// With one and more wrappers removed, outermost first.
        inner: Vec<String>,
        /// An allow rule must match every text (escalating and multiplying wrappers); else the
        /// innermost is enough. Ask and deny rules need only one.
        allow_needs_all: bool,
    },
    /// A text that is judged only by rules that name something (no bare `*`), and is allowed when
    /// none matches: a fully explained invocation, a pipeline, a list, the whole script.
    Mention(String),
}

/// Where a rule comes from; the order is the order of composition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Synthesised defaults.
    Builtin,
    /// Each layer's shorthand allow and ask catch-alls.
    Overrides,
    /// MCP discovery.
    Baseline,
    /// The user's file.
    User,
    /// The project's file.
    Project,
    /// The user's own state for this project.
    UserProject,
    /// `--allow`, `--ask`, `--deny`.
    CommandLine,
    /// This session's grants and denials.
    Session,
    /// The machine's owner; tighten-only.
    Managed,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    /// Which capabilities; `*` is any run of characters.
    pub capability: String,
    /// Which subjects, in the pattern language of `pattern`.
    pub pattern: String,
    /// What it says.
    pub action: Verdict,
    /// It also covers requests that destroy.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destroys: bool,
    /// It was written by an answer ("always", a grant): it lifts an ask and never a deny, and is not a
    /// person's own hand.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lifts: bool,
    /// The files of code that an answer was about: it covers no request that runs others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub code: Vec<String>,
    /// The one directory that an answer was given for: the same words elsewhere are another command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// Its layer.
    pub layer: Layer,
    /// The file that holds it; None for builtin rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<Arc<str>>,
    /// Its line in that file, from 1; 0 for builtin rules.
    pub line: usize,
    /// The writer's reason, shown to the model when it decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Arc<str>>,
    /// The last day it holds, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Arc<str>>,
    /// When it counts; None for always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Arc<When>>,
    /// The name of the entry that it is of a floor of the user's or the machine owner's own: nothing
    /// lifts it, not even a later rule of its own file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Arc<str>>,
}

/// What the rules say of one request.
#[derive(Debug, Clone)]
pub struct Match {
    /// What holds.
    pub verdict: Verdict,
    /// The rule that decided; None when a builtin default that is no rule did.
    pub rule: Option<Arc<Rule>>,
    /// In words, when no rule's own reason says it.
    pub reason: Option<String>,
    /// It is a write to a path that asks in every mode; no mode and no grant lowers it.
    pub protected: bool,
    /// A file that can only tighten says so; bypass does not lower it.
    pub held: bool,
}

/// What a layer can forbid whatever other layers say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forbidden {
    /// The mode bypass: it becomes the default mode.
    Bypass,
    /// Trust in project files: they only tighten.
    Trust,
    /// A reviewer: what it would be asked, a person is asked.
    Review,
}

/// How strict gsh is as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As evaluated.
    #[default]
    Default,
    /// Only what is fully explained and reads.
    Plan,
    /// Edits inside the project need no question.
    AcceptEdits,
    /// Ask and review become allow, with stated exceptions.
    Bypass,
    /// Ask becomes deny.
    DontAsk,
}
