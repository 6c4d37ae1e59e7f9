//! Rules that agents keep in files of their own, carried over: read as the agent reads them, and written so
//! that gsh never allows what the agent would not have.
//!
//! A rule is *carried* when it means the same here, *tightened* when gsh's rule allows less or refuses more,
//! and else *not carried*, with the reason. What a command reads, writes, destroys, sends or leaves running is
//! judged by gsh's own rules beside it.

mod carry;
mod claude;
mod codex;
mod cursor;
pub mod files;
mod gemini;
mod json;
mod maker;
mod opencode;
mod paths;
mod starlark;
pub mod targets;
#[cfg(test)]
mod tests;
mod words;

use super::new_rule::NewRule;
use crate::policy::{Mode, Verdict};

use carry::{Lost, Meaning, Shadow};

/// An agent whose rules can be carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Cursor, its command line and its editor.
    Cursor,
}

impl Client {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode, Self::Cursor];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
        }
    }

    /// Which of several rules that match holds there.
    fn wins(self) -> Wins {
        match self {
            Self::Claude | Self::Codex | Self::Cursor => Wins::Strictest,
            Self::Gemini | Self::Opencode => Wins::Last,
        }
    }
}

/// Which of several rules that match holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wins {
    /// A refusal before a question before an allow.
    Strictest,
    /// The last, in the order they are given in here.
    Last,
}

/// For whom a file of an agent speaks, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The user, everywhere; also the machine's owner.
    User,
    /// Everyone in the project.
    Project,
    /// The user in the project.
    Local,
}

/// A file of an agent, as read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFile {
    /// Its path.
    pub path: String,
    /// What it says.
    pub text: String,
    /// For whom.
    pub level: Level,
}

/// Where it is read, and for whom.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Around {
    /// The user's home.
    pub home: Option<String>,
    /// The project root.
    pub root: Option<String>,
    /// The rules hold for this agent alone.
    pub only_agent: bool,
}

/// What became of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It means the same.
    Carried,
    /// gsh's rule allows less or refuses more: in what.
    Tightened(String),
    /// There is no rule of gsh for it: why.
    NotCarried(String),
}

/// One rule of an agent, and what it became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceRule {
    /// The agent's file.
    pub file: String,
    /// The line in it, from 1.
    pub line: usize,
    /// For whom the file speaks.
    pub level: Level,
    /// The rule as it stands there.
    pub rule: String,
    /// What it says; None where that cannot be told.
    pub action: Option<Verdict>,
    /// What became of it.
    pub fate: Fate,
    /// The rules it became, lowest first.
    pub rules: Vec<NewRule>,
    /// What a later file's rule replaces it by; None where nothing is replaced.
    key: Option<String>,
    shadow: Shadow,
}

/// All rules of an agent's files, in the order of their weight where the last one wins there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Whose.
    pub client: Client,
    /// The rules.
    pub rules: Vec<SourceRule>,
}

/// A file that cannot be read as its agent writes it: nothing is carried over then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {why}; nothing is carried over until it is put right")]
pub struct Unreadable {
    file: String,
    line: usize,
    why: String,
}

/// Carries over the rules of an agent's files.
///
/// # Errors
/// When one of them cannot be read as its agent would.
pub fn import(client: Client, files: &[AgentFile], around: &Around) -> Result<Imported, Unreadable> {
    let mut rules = vec![];
    for file in files {
        let page = Page { file, around };
        let read = match client {
            Client::Claude => claude::read(&page),
            Client::Codex => codex::read(&page),
            Client::Gemini => gemini::read(&page),
            Client::Opencode => opencode::read(&page),
            Client::Cursor => cursor::read(&page),
        };
        let found = read.map_err(|(line, why)| Unreadable { file: file.path.clone(), line, why })?;
        rules.push(found);
    }
    let mut rules = match client {
        Client::Gemini => gemini::by_weight(rules.into_iter().flatten().collect()),
        Client::Opencode => opencode::merged(rules),
        _ => rules.into_iter().flatten().map(|weighed| weighed.rule).collect(),
    };
    shadowed(&mut rules, client.wins());
    if around.only_agent {
        let made = rules.iter_mut().flat_map(|rule| &mut rule.rules);
        made.for_each(|rule| rule.when.agents = vec![client.word().to_owned()]);
    }
    Ok(Imported { client, rules })
}

/// A rule with its priority among those of its agent.
struct Weighed {
    rule: SourceRule,
    weight: u32,
}

/// A file of an agent while it is read.
struct Page<'a> {
    file: &'a AgentFile,
    around: &'a Around,
}

/// Where a file cannot be read, and why.
type ReadError = (usize, String);

impl Page<'_> {
    fn text(&self) -> &str {
        &self.file.text
    }

    fn home(&self) -> Option<&str> {
        self.around.home.as_deref()
    }

    /// A rule with what it means here.
    fn rule(&self, line: usize, rule: String, action: Verdict, meaning: Result<Meaning, Lost>) -> Weighed {
        let (fate, rules, shadow) = match meaning {
            Ok(meaning) if meaning.stricter.is_empty() => (Fate::Carried, meaning.rules, Shadow::Nothing),
            Ok(meaning) => (Fate::Tightened(meaning.stricter.join("; ")), meaning.rules, Shadow::Nothing),
            Err(lost) => (Fate::NotCarried(lost.why), vec![], lost.shadow),
        };
        let rule = SourceRule {
            file: self.file.path.clone(),
            line,
            level: self.file.level,
            rule,
            action: Some(action),
            fate,
            rules,
            key: None,
            shadow,
        };
        Weighed { rule, weight: 0 }
    }

    /// What is no rule that could be read.
    fn unread(&self, line: usize, rule: String, why: &str, shadow: Shadow) -> Weighed {
        let mut found = self.rule(line, rule, Verdict::Deny, Err(Lost { why: why.to_owned(), shadow }));
        found.rule.action = None;
        found
    }
}

/// A refusal or question that could not be carried may cover a part of what an allow covers: such an allow
/// is not carried either.
fn shadowed(rules: &mut [SourceRule], wins: Wins) {
    for at in 0..rules.len() {
        let Some((allow, others)) = rules.get(at).map(|rule| (rule, &*rules)) else { continue };
        if allow.action != Some(Verdict::Allow) || allow.rules.is_empty() {
            continue;
        }
        let lost = others.iter().enumerate().find(|(index, other)| {
            other.action != Some(Verdict::Allow)
                && (wins == Wins::Strictest || *index > at)
                && allow.rules.iter().any(|rule| other.shadow.covers(rule))
        });
        let Some((_, lost)) = lost else { continue };
        let (place, text) = (format!("{}:{}", lost.file, lost.line), lost.rule.clone());
        let why = format!("{text} ({place}) may refuse a part of it and could not be carried");
        if let Some(rule) = rules.get_mut(at) {
            (rule.fate, rule.rules) = (Fate::NotCarried(why), vec![]);
        }
    }
}

/// The verdict that an agent's word means.
fn verdict(word: &str) -> Option<Verdict> {
    match word {
        "allow" => Some(Verdict::Allow),
        "ask" | "prompt" | "ask_user" => Some(Verdict::Ask),
        "deny" | "forbidden" => Some(Verdict::Deny),
        _ => None,
    }
}

/// The mode that an agent calls so.
fn mode(word: &str) -> Option<Mode> {
    match word {
        "default" => Some(Mode::Default),
        "plan" => Some(Mode::Plan),
        "autoEdit" | "auto_edit" => Some(Mode::AcceptEdits),
        "yolo" => Some(Mode::Bypass),
        _ => None,
    }
}

/// The line of a byte of a text, from 1.
fn line_of(text: &str, byte: usize) -> usize {
    text.bytes().take(byte).filter(|byte| *byte == b'\n').count() + 1
}
