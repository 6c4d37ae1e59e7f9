//! The words of verdicts, capabilities, layers and modes, as they stand in files and records.

use super::{Capability, CapabilityRequest, Destroys, Forbidden, Layer, Mode, Rule, Verdict};

impl Verdict {
    /// All, mildest first.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Review, Self::Ask, Self::Deny];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Review => "review",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The verdict a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.word() == word)
    }
}

impl Capability {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::FileRead,
        Self::FileWriteProject,
        Self::FileWriteOutside,
        Self::ProcessExecute,
        Self::ProcessBackground,
        Self::NetworkAccess,
        Self::GitModify,
        Self::ToolUse,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::FileRead => "file.read",
            Self::FileWriteProject => "file.write.project",
            Self::FileWriteOutside => "file.write.outsideProject",
            Self::ProcessExecute => "process.execute",
            Self::ProcessBackground => "process.background",
            Self::NetworkAccess => "network.access",
            Self::GitModify => "git.modify",
            Self::ToolUse => "tool.use",
        }
    }

    /// Whether its subjects are paths.
    #[must_use]
    pub fn is_file(self) -> bool {
        matches!(self, Self::FileRead) || self.is_write()
    }

    /// Whether it writes files.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::FileWriteProject | Self::FileWriteOutside)
    }
}

impl Layer {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Overrides => "overrides",
            Self::Baseline => "baseline",
            Self::User => "user",
            Self::Project => "project",
            Self::UserProject => "user-project",
            Self::CommandLine => "command-line",
            Self::Session => "session",
            Self::Managed => "managed",
        }
    }
}

impl Forbidden {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Bypass, Self::Trust, Self::Review];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bypass => "bypass",
            Self::Trust => "trust",
            Self::Review => "review",
        }
    }
}

impl Mode {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Default, Self::Plan, Self::AcceptEdits, Self::Bypass, Self::DontAsk];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Plan => "plan",
            Self::AcceptEdits => "accept-edits",
            Self::Bypass => "bypass",
            Self::DontAsk => "dont-ask",
        }
    }

    /// The mode a word means.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// Whether going from the other mode to this one makes nothing easier. `plan` and `dont-ask` are
    /// not comparable: each refuses what the other may let pass.
    #[must_use]
    pub fn tightens(self, from: Self) -> bool {
        let rank = |mode| match mode {
            Self::Bypass => 0,
            Self::AcceptEdits => 1,
            Self::Default => 2,
            Self::Plan | Self::DontAsk => 3,
        };
        self == from || rank(self) > rank(from)
    }
}

impl Rule {
    /// A rule of a layer that says one thing and nothing else.
    #[must_use]
    pub fn new(layer: Layer, capability: &str, pattern: &str, action: Verdict) -> Self {
        Self {
            capability: capability.to_owned(),
            pattern: pattern.to_owned(),
            action,
            destroys: false,
            lifts: false,
            code: Vec::new(),
            layer,
            file: None,
            line: 0,
            reason: None,
            expires: None,
            when: None,
            floor: None,
            within: None,
        }
    }

    /// Whether it may cover what a request runs and destroys: what an answer left in a session does only for the
    /// files of code that were asked about, wherever the same words lead elsewhere, and never for a whole tree.
    #[must_use]
    pub fn may_cover(&self, request: &CapabilityRequest) -> bool {
        self.layer != Layer::Session
            || !self.lifts
            || (request.destroys != Some(Destroys::Recursive)
                && self.within.as_ref().is_none_or(|folder| request.directory.as_ref() == Some(folder))
                && request.code.iter().all(|file| self.code.contains(file)))
    }

    /// Where it stands: `file:line`, or its layer's name.
    #[must_use]
    pub fn place(&self) -> String {
        match &self.file {
            Some(file) if self.line > 0 => format!("{file}:{}", self.line),
            Some(file) => file.to_string(),
            None => self.layer.word().to_owned(),
        }
    }

    /// Whether a person wrote it by hand where a person's own will stands.
    #[must_use]
    pub fn is_hand_written(&self) -> bool {
        !self.lifts && matches!(self.layer, Layer::User | Layer::Managed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_files() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).ok(), Some(verdict.word().into()));
            assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
        }
        for capability in Capability::ALL {
            assert_eq!(serde_json::to_value(capability).ok(), Some(capability.word().into()));
        }
        for mode in Mode::ALL {
            assert_eq!(serde_json::to_value(mode).ok(), Some(mode.word().into()));
            assert_eq!(Mode::from_word(mode.word()), Some(mode));
        }
        for layer in [Layer::Builtin, Layer::UserProject, Layer::CommandLine, Layer::Managed] {
            assert_eq!(serde_json::to_value(layer).ok(), Some(layer.word().into()));
        }
    }

    #[test]
    fn modes_tighten() {
        for (to, from, tightens) in [
            (Mode::Plan, Mode::Default, true),
            (Mode::DontAsk, Mode::Bypass, true),
            (Mode::Default, Mode::Default, true),
            (Mode::Bypass, Mode::Default, false),
            (Mode::AcceptEdits, Mode::Default, false),
            (Mode::Plan, Mode::DontAsk, false),
            (Mode::DontAsk, Mode::Plan, false),
        ] {
            assert_eq!(to.tightens(from), tightens, "{} from {}", to.word(), from.word());
        }
    }
}
