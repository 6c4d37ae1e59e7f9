//! Whether commands are ever matched as a pattern is spelled: a few that look like it are read, and what
//! rules would see of them is held against it.

use std::collections::BTreeSet;

use super::{Given, covers};
use crate::decision::requests::requests;
use crate::facts::gather;
use crate::policy::pattern::{Pattern, Token};
use crate::policy::{Capability, CapabilityRequest, Rule, Subject, Verdict};
use crate::request::{Entry, ReadingOptions, Request, Setting};
use crate::syntax;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Seen {
    /// Some command is matched, or nothing can be said.
    Yes,
    /// What is read is matched as this.
    As(String),
    /// Bash would not read it.
    NotRead,
    /// It is matched so, but asks for these capabilities.
    Other(Vec<&'static str>),
    /// An allow that only matches what is allowed without it.
    AsMention,
}

/// What stands for the wildcards.
const FILLS: &[&str] =
    &["x", "-x", "x y", "./x", "1", "$X", "--x=y z", "main", "a.b", "h.example:a b", "https://h.example/a"];

/// Whether some command is matched by a rule for commands.
pub(super) fn of(rule: &Rule, given: &Given<'_>) -> Seen {
    let pattern = Pattern::new(&rule.pattern);
    let tokens = pattern.tokens();
    let open = [tokens.first(), tokens.last()].iter().all(|end| *end == Some(&Token::Many));
    if tokens.is_empty() || open {
        return Seen::Yes;
    }
    let mut tally = Tally::default();
    for text in candidates(&tokens) {
        if tally.looks_at(&text, (rule, &pattern), given) {
            return Seen::Yes;
        }
    }
    tally.verdict(rule, &pattern)
}

/// Texts that look like the pattern.
fn candidates(tokens: &[Token]) -> Vec<String> {
    let without = match tokens {
        [before @ .., Token::Plain(' '), Token::Many] => Some(before),
        _ => None,
    };
    let filled = |tokens: &[Token], fill: &str| -> String {
        let of = |token: &Token| match token {
            Token::Plain(c) => c.to_string(),
            Token::One => "x".to_owned(),
            Token::Many => fill.to_owned(),
        };
        tokens.iter().map(of).collect()
    };
    let mut found: Vec<String> = without.into_iter().map(|tokens| filled(tokens, "x")).collect();
    found.extend(FILLS.iter().map(|fill| filled(tokens, fill)));
    // What is quoted can hold anything.
    found.push(filled(tokens, "'").replacen('\'', " 'x ", 1));
    found.sort_by_key(|text| text.contains('$'));
    found
}

/// What was seen of the texts that were read.
#[derive(Default)]
struct Tally {
    read: bool,
    mentioned: bool,
    spelled_so: bool,
    asked: BTreeSet<Capability>,
    first: Option<String>,
}

impl Tally {
    /// Reads a text; whether the rule matches something of it.
    fn looks_at(&mut self, text: &str, (rule, pattern): (&Rule, &Pattern), given: &Given<'_>) -> bool {
        let background = covers(rule, Capability::ProcessBackground);
        let script = syntax::parse(text.as_bytes(), &syntax::Limits::default());
        if !script.problems.is_empty() {
            return false;
        }
        self.read = true;
        let texts = [Some(text.to_owned()), background.then(|| format!("{text} &"))];
        texts.into_iter().flatten().any(|text| {
            let asked = asked(&text, given);
            asked.iter().any(|request| self.is_matched(request, rule, pattern))
        })
    }

    fn is_matched(&mut self, request: &CapabilityRequest, rule: &Rule, pattern: &Pattern) -> bool {
        let (texts, mention) = match &request.subject {
            Subject::Path(_) => (vec![], false),
            Subject::Command { written, inner, .. } => ([written].into_iter().chain(inner).collect(), false),
            Subject::Mention(text) => (vec![text], true),
        };
        if !mention {
            self.asked.insert(request.capability);
        }
        if self.first.is_none() {
            self.first = texts.first().map(|text| (*text).clone());
        }
        if !texts.iter().any(|text| pattern.matches(text)) {
            return false;
        }
        self.spelled_so = true;
        let counts = covers(rule, request.capability);
        // An allow of what is only mentioned allows what is allowed.
        let idle = mention && rule.action == Verdict::Allow;
        self.mentioned |= counts && idle;
        counts && !idle
    }

    fn verdict(self, rule: &Rule, pattern: &Pattern) -> Seen {
        let vouches = rule.action == Verdict::Allow && pattern.exact().is_some();
        match self.first {
            // The one kind of rule that is for what cannot be read.
            _ if !self.read && vouches => Seen::Yes,
            _ if !self.read => Seen::NotRead,
            _ if self.mentioned => Seen::AsMention,
            _ if self.spelled_so => Seen::Other(self.asked.iter().map(|each| each.word()).collect()),
            Some(first) => Seen::As(first),
            None => Seen::Yes,
        }
    }
}

fn asked(text: &str, given: &Given<'_>) -> Vec<CapabilityRequest> {
    let root = given.policy.places.project.as_deref().unwrap_or("/");
    let request = Request {
        setting: Setting::default(),
        text: text.as_bytes().to_vec(),
        cwd: root.into(),
        name: None,
        args: vec![],
        options: ReadingOptions::default(),
        entry: Entry::Check,
        tool: None,
    };
    let script = syntax::parse(&request.text, &syntax::Limits::default());
    requests(&gather(&script, &request, given.host, &given.policy.programs))
}
