//! A use of an agent's tool to facts: the same effects that a command has, so that the same rules, the same
//! protected paths and the same floor hold.

use super::arg::Arg;
use super::path::{self, Located, Target};
use super::{Change, Effect, EffectKind, Facts, Found, Invocation};
use crate::host::{Host, Node};
use crate::report::Span;
use crate::request::{Act, Tool};

/// All that a use of a tool in this directory would do.
#[must_use]
pub(super) fn of_tool(tool: &Tool, cwd: &str, host: &dyn Host) -> Facts {
    let mut finder = Finder { cwd, host, facts: Facts::default() };
    for act in &tool.acts {
        finder.act(&tool.name, act);
    }
    finder.facts
}

struct Finder<'a> {
    cwd: &'a str,
    host: &'a dyn Host,
    facts: Facts,
}

impl Finder<'_> {
    fn act(&mut self, name: &str, act: &Act) {
        match act {
            Act::Read(path) => self.on_paths(&[name, path], path, |target, _| EffectKind::Read(target)),
            Act::List(path) => self.on_paths(&[name, path], path, |target, _| EffectKind::List(target)),
            Act::Search(path) if self.holds_a_home(path) => {
                self.alone(&[name], EffectKind::Tool { name: name.to_owned(), quiet: false });
            }
            Act::Search(path) => self.on_paths(&[name, path], path, |target, node| match node {
                Node::Directory => EffectKind::ReadTree { tree: target, narrow: true, files: None },
                _ => EffectKind::Read(target),
            }),
            Act::Write { path, .. } => self.write(name, path, Change::Write),
            Act::Edit { path, .. } => self.write(name, path, Change::Patch),
            Act::Delete(path) => self.write(name, path, Change::Delete),
            Act::Move { from, to } => {
                self.on_paths(&[name, from], from, |target, _| EffectKind::Read(target));
                self.write(name, from, Change::Move);
                self.write(name, to, Change::Put);
            }
            Act::Fetch(url) => self.alone(&["fetch", url], EffectKind::Network { query: false }),
            Act::Query(text) => self.alone(&["search", text], EffectKind::Network { query: true }),
            Act::Use(subject) => {
                self.alone(&[name], EffectKind::Tool { name: subject.clone(), quiet: false });
            }
            Act::Mention(subject) => {
                self.alone(&[name], EffectKind::Tool { name: subject.clone(), quiet: true });
            }
        }
    }

    fn write(&mut self, name: &str, path: &str, change: Change) {
        self.on_paths(&[name, path], path, |target, _| EffectKind::Write { target, change });
    }

    fn alone(&mut self, words: &[&str], kind: EffectKind) {
        let by = self.invocation(words);
        self.effect(kind, by);
    }

    /// Whether a search reaches all of a home, where secrets are kept.
    fn holds_a_home(&self, path: &str) -> bool {
        let places = self.readings(path).into_iter().filter_map(|reading| self.place(&reading));
        let homes = self.host.homes();
        places.into_iter().any(|place| homes.iter().any(|home| home.starts_with(&place.real)))
    }

    /// What an agent may take a path for: as it stands, without blanks around it, below the home, an address.
    fn readings(&self, path: &str) -> Vec<String> {
        let trimmed = path.trim();
        let home = trimmed.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let home = home.and_then(|rest| Some(format!("{}{rest}", self.host.var("HOME")?)));
        let url = trimmed.strip_prefix("file://").map(str::to_owned);
        let mut readings = vec![path.to_owned()];
        for reading in [Some(trimmed.to_owned()), home, url].into_iter().flatten() {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        readings
    }

    fn place(&self, path: &str) -> Option<Located> {
        path::locate(self.host, Some(self.cwd), path)
    }

    /// The effect at every place that is meant.
    fn on_paths(&mut self, words: &[&str], path: &str, kind: impl Fn(Target, Node) -> EffectKind) {
        let by = self.invocation(words);
        for place in self.readings(path).iter().filter_map(|reading| self.place(reading)).collect::<Vec<_>>()
        {
            let node = place.node;
            self.effect(kind(Target::Known(place), node), by);
        }
    }

    /// The tool as what does it: named in panels and records, and asking for nothing by itself.
    fn invocation(&mut self, words: &[&str]) -> usize {
        let span = Span::default();
        self.facts.invocations.push(Invocation {
            words: words.iter().map(|word| Arg::literal(*word, span)).collect(),
            base: None,
            cwd: Some(self.cwd.to_owned()),
            explained: true,
            builtin: true,
            arity: 0,
            housekeeping: Vec::new(),
            spellings: Vec::new(),
            prefer: "",
            wrapped_in: Vec::new(),
            glimpsed: false,
            wrapper: None,
            span,
        });
        self.facts.invocations.len() - 1
    }

    fn effect(&mut self, kind: EffectKind, by: usize) {
        self.facts.effects.push(Effect { kind, by: Some(by), span: Span::default(), found: Found::Read });
    }
}
