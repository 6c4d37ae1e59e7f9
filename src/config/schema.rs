//! The keys and words that a file may hold, and what is said of any other.

use crate::policy::pattern::Pattern;
use crate::policy::{Capability, Forbidden, Mode, Verdict};
use crate::request::Entry;

/// The keys of a file's top.
pub const TOP: &[&str] = &[
    "mode",
    "on_unresolved",
    "on_ask_without_terminal",
    "on_review_unavailable",
    "on_mixed",
    "allow_roots",
    "permissions",
    "ask",
    "audit",
    "shell",
    "run",
    "limits",
    "programs",
    "forbid",
    "floor",
    "refusals",
    "subagents",
    "reviewer",
    "hook",
    "person",
    "interactive",
];

/// The keys of an explicit rule; first those that its place in the file can say.
pub const RULE: &[&str] = &[
    "capability",
    "pattern",
    "action",
    "destroys",
    "lifts",
    "reason",
    "match",
    "not_match",
    "expires",
    "modes",
    "entry",
    "agent",
    "interactive",
];

/// Further keys of a rule whose capability and pattern are its place in the file.
pub const NESTED: &[&str] = RULE.split_at(2).1;

/// The keys of an entry of `[[floor]]`.
pub const FLOOR: &[&str] = &["name", "capability", "pattern", "reason", "match", "not_match"];

/// The keys of `[ask]`.
pub const ASK: &[&str] = &["denial_ends_all", "keep", "notify", "plain", "terminals", "wait"];

/// The keys of `[audit]`.
pub const AUDIT: &[&str] = &["debug", "keep_days", "required"];

/// The keys of `[shell]`.
pub const SHELL: &[&str] = &["path"];

/// The keys of `[run]`.
pub const RUN: &[&str] = &["pty", "timeout", "timeout_status", "way"];

/// The keys of `[refusals]`.
pub const REFUSALS: &[&str] = &["in_a_row", "in_all"];

/// The keys of `[hook]`.
pub const HOOK: &[&str] = &["allow", "gate", "shell"];

/// The keys of `[reviewer]`.
pub const REVIEWER: &[&str] = &[
    "cache",
    "classifier",
    "environment",
    "evidence_rounds",
    "key_command",
    "key_env",
    "max_allow_risk",
    "max_lag",
    "model",
    "program",
    "prompt",
    "race",
    "style",
    "timeout",
    "url",
];

/// The keys of `[subagents]`.
pub const SUBAGENTS: &[&str] = &["allow_grants", "default"];

/// The keys of `[person]`.
pub const PERSON: &[&str] = &["enabled", "auto_review", "reviewer"];

/// The keys of `[interactive]`.
pub const INTERACTIVE: &[&str] = &["prompt", "rc"];

/// The ways to tell of a question that need no program of one's own.
pub const NOTIFY: &[&str] = &["tmux", "desktop", "bell"];

/// The keys of `[limits]`.
pub const LIMITS: &[&str] = &["bytes", "depth", "nodes", "progress"];

/// What can be wrong in a file that is good TOML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Wrong {
    /// Nobody reads this key.
    #[error("unknown key `{key}`")]
    Key {
        /// As written.
        key: String,
        /// What is read there.
        known: &'static [&'static str],
    },
    /// No capability has this name, and no agent's tool.
    #[error("unknown capability `{0}`")]
    Capability(String),
    /// The value is not one of a few words.
    #[error("`{word}` is not one of {}", .known.join(", "))]
    Word {
        /// As written.
        word: String,
        /// What may stand there.
        known: Vec<&'static str>,
    },
    /// The value is of another type.
    #[error("{expected} is expected here, not {found}")]
    Type {
        /// What may stand there.
        expected: &'static str,
        /// What does.
        found: &'static str,
    },
    /// A key that must be there is not.
    #[error("this rule has no `{0}`")]
    Without(&'static str),
    /// A path pattern without a root.
    #[error("the pattern `{0}` is relative, and this file belongs to no project")]
    Relative(String),
    /// A path pattern that no real path matches.
    #[error("no path is ever spelled `{0}`")]
    Unreal(String),
    /// A path that is not absolute.
    #[error("`{0}` is not an absolute path")]
    NotAbsolute(String),
    /// Not a way to tell of a question.
    #[error("`{0}` is none of {known}, and no absolute path of a program", known = NOTIFY.join(", "))]
    Notified(String),
    /// Not a day.
    #[error("`{0}` is not a day of the form 2030-12-31")]
    Day(String),
    /// A program's table that breaks the notation.
    #[error("table of {names}: {why}")]
    Table {
        /// The programs.
        names: String,
        /// What is wrong.
        why: String,
    },
    /// An example that its rule does not match.
    #[error("the rule does not match its example `{0}`")]
    Unmatched(String),
    /// A counter-example that its rule matches.
    #[error("the rule matches `{0}`, which it should not")]
    Matched(String),
    /// A key for those whose file nobody in a project can change.
    #[error("`{0}` counts only in the user's file and in the managed one")]
    NotHere(String),
    /// A reviewer that cannot be one.
    #[error("this is no reviewer: {0}")]
    Reviewer(&'static str),
    /// A rule in an agent's form in another capability's table.
    #[error("`{0}` is no rule for this capability")]
    Elsewhere(String),
}

impl Wrong {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Key { key, known } => Some(match closest(key, known) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", known.join(", ")),
            }),
            Self::Capability(name) => {
                let known = Capability::ALL.map(Capability::word);
                Some(match closest(name, &known) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!(
                        "known: {}, patterns of them, and rules like `Bash(npm test:*)`",
                        known.join(", ")
                    ),
                })
            }
            Self::Word { word, known } => {
                closest(word, known).map(|meant| format!("did you mean `{meant}`?"))
            }
            Self::Relative(pattern) => {
                Some(format!("write `/…/{pattern}`, `~/{pattern}`, or `*/{pattern}` for any folder"))
            }
            Self::Unreal(pattern) if pattern.ends_with('/') => {
                let folder = pattern.trim_end_matches('/');
                Some(format!("write `{folder}` for the folder, `{folder}/*` for what is in it"))
            }
            Self::Notified(entry) if entry.contains("://") => Some(
                "gsh sends nothing by itself: name a program that does, such as a script with curl".into(),
            ),
            Self::Unreal(_) => {
                Some("rules see paths with `.` and `..` resolved: write the path itself".into())
            }
            _ => None,
        }
    }
}

/// Whether a text names at least one capability, by name or pattern.
#[must_use]
pub fn names_capability(text: &str) -> bool {
    let pattern = Pattern::new(text);
    Capability::ALL.iter().any(|capability| pattern.matches(capability.word()))
}

/// The words for verdicts.
#[must_use]
pub fn verdicts(allowed: &[Verdict]) -> Vec<(&'static str, Verdict)> {
    allowed.iter().map(|verdict| (verdict.word(), *verdict)).collect()
}

/// The words for entries.
#[must_use]
pub fn entries() -> Vec<(&'static str, Entry)> {
    Entry::ALL.iter().map(|entry| (entry.word(), *entry)).collect()
}

/// The words for what can be forbidden.
#[must_use]
pub fn forbidden() -> Vec<(&'static str, Forbidden)> {
    Forbidden::ALL.iter().map(|forbidden| (forbidden.word(), *forbidden)).collect()
}

/// The words for modes.
#[must_use]
pub fn modes() -> Vec<(&'static str, Mode)> {
    Mode::ALL.iter().map(|mode| (mode.word(), *mode)).collect()
}

/// The known word that a mistyped one is nearest to, if it is near at all.
#[must_use]
pub fn closest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let scored = known.iter().map(|candidate| (distance(word, candidate), *candidate));
    let (score, best) = scored.min_by_key(|(score, _)| *score)?;
    (score <= best.len().max(3) / 3).then_some(best)
}

/// How many letters must be added, taken away or changed.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (index, letter) in one.chars().take(64).enumerate() {
        let mut next = vec![index + 1];
        for ((column, letter_of_other), pair) in other.iter().enumerate().zip(row.windows(2)) {
            let [diagonal, above] = pair else { continue };
            let changed = diagonal + usize::from(!letter.eq_ignore_ascii_case(letter_of_other));
            let left = next.get(column).copied().unwrap_or(usize::MAX - 1);
            next.push(changed.min(above + 1).min(left + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words() {
        for (word, expected) in [
            ("mod", Some("mode")),
            ("permisions", Some("permissions")),
            ("on_unresolve", Some("on_unresolved")),
            ("Audit", Some("audit")),
            ("elephant", None),
            ("", None),
        ] {
            assert_eq!(closest(word, TOP), expected, "{word}");
        }
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn capabilities() {
        for (text, names) in
            [("file.read", true), ("file.*", true), ("*", true), ("file.reed", false), ("x*", false)]
        {
            assert_eq!(names_capability(text), names, "{text}");
        }
    }
}
