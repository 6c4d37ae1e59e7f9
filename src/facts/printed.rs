//! What programs print: as far as their table says it, and paths as far as they can be told by looking.

use std::path::Path;
use std::rc::Rc;

use super::arg::{Arg, Below, HoleKind};
use super::decode;
use super::gather::{Gatherer, ITEM};
use super::path;
use super::programs::{Act, Output, Reading, Role};
use super::state::{State, Stream};
use crate::host::Node;
use crate::report::Span;

/// What listing a folder costs, in the unit of all expansions.
const FOLDER: usize = 16 * ITEM;

impl Gatherer<'_> {
    /// What the command prints, as far as that is known.
    pub(super) fn output(
        &mut self,
        state: &State,
        reading: &Reading,
        words: &[Arg],
        stdin: &Stream,
    ) -> Stream {
        let networked = reading.acts.iter().any(|act| matches!(act, Act::Network { .. }));
        let reads = reading.uses.iter().any(|each| matches!(each.role, Role::Read | Role::ReadTree));
        if let Stream::Text(input) = stdin
            && !reads
            && let Some(text) = input.text().and_then(|input| decode::decoded(words, input))
        {
            return Stream::Text(Arg::literal(text, input.span));
        }
        match &reading.output {
            _ if networked => Stream::Download,
            Output::Any if words.len() == 2 && words.first().and_then(Arg::text) == Some("dirname") => {
                match words.get(1).and_then(Arg::text).map(path::parent) {
                    Some(folder) if folder.is_empty() => Stream::Text(Arg::literal(".", Span::default())),
                    Some(folder) => Stream::Text(Arg::literal(folder, Span::default())),
                    None => Stream::Any,
                }
            }
            Output::Any if *stdin == Stream::Download && !reads => Stream::Download,
            Output::Any => Stream::Any,
            Output::Nothing => Stream::Text(Arg::default()),
            Output::Text(_) if !self.formats_as_bash(words) => Stream::Any,
            Output::Text(arg) => Stream::Text(arg.clone()),
            Output::InputLines if reads => Stream::Any,
            Output::InputLines => stdin.some_lines(),
            Output::Input if reads => Stream::Any,
            Output::Input => stdin.clone(),
            // With an operand the number is followed by its name.
            Output::Number if reads => Stream::Any,
            Output::Number => Stream::Lines(HoleKind::Number),
            Output::Name => Stream::Lines(HoleKind::Name),
            Output::GitRef => Stream::Lines(HoleKind::GitRef),
            Output::CurrentDirectory => match &state.cwd {
                Some(cwd) => Stream::Text(Arg::literal(cwd, Span::default())),
                None => Stream::Any,
            },
            Output::Listing => self.listing(state, reading, words),
            Output::Paths { roots, name } => self.printed_paths(state, reading, roots, name.as_deref()),
        }
    }

    /// Whether `echo` or `printf` prints these words here as bash does: other shells have fewer backslash
    /// sequences, and print options of `echo`.
    pub(super) fn formats_as_bash(&self, words: &[Arg]) -> bool {
        let own = |word: &Arg| {
            let text = word.text().unwrap_or_default();
            text.starts_with('-') && text.contains(['e', 'E'])
                || text.split('\\').skip(1).any(|rest| rest.starts_with(['x', 'u', 'U', 'e', 'E', 'c']))
        };
        !self.other_shell || !words.iter().any(own)
    }

    /// The paths a program prints: the files themselves when they can be listed, else their kind.
    pub(super) fn printed_paths(
        &mut self,
        state: &State,
        reading: &Reading,
        roots: &[Arg],
        name: Option<&str>,
    ) -> Stream {
        let cwd = self.directory(state, reading);
        let here = [Arg::literal("", Span::default())];
        let roots = if roots.is_empty() { &here } else { roots };
        let mut files = Vec::new();
        let mut places = Vec::new();
        let mut listed = !state.disturbed;
        for root in roots {
            let Some(text) = root.text() else { return Stream::Any };
            if text.starts_with('-') {
                return Stream::Any;
            }
            let below = path::locate(self.host, cwd.as_deref(), text);
            let found = below.and_then(|place| self.walk(&place.lexical, name));
            match found {
                Some(found) if listed => files.extend(found.into_iter().map(|rest| joined(text, &rest))),
                _ => listed = false,
            }
            // An unlistable tree still prints paths that begin as the starting point does.
            if text.is_empty() {
                listed &= cwd.is_some();
            }
            let shown = if text.is_empty() { "." } else { text };
            places.push(Below { root: shown.to_owned(), name: name.map(str::to_owned) });
        }
        // None now may be some later, so nothing found stays a kind.
        if listed && !files.is_empty() && files.len() <= path::ENUMERATED {
            return Stream::Lines(HoleKind::OneOf(Rc::new(files)));
        }
        if roots.iter().any(|root| root.text() == Some("")) {
            return Stream::Any;
        }
        Stream::Lines(HoleKind::Below(Rc::new(places)))
    }

    /// What `ls` prints: its operands, and the names in those that are folders.
    pub(super) fn listing(&self, state: &State, reading: &Reading, words: &[Arg]) -> Stream {
        let hidden = words.iter().skip(1).any(|word| {
            word.text().is_none_or(|text| text.starts_with('-') && text.contains(['a', 'A', 'f', 'U']))
        });
        let operands: Vec<&Arg> =
            reading.uses.iter().filter(|each| each.role == Role::List).map(|each| &each.arg).collect();
        let here = Arg::literal(".", Span::default());
        let operands = if operands.is_empty() { vec![&here] } else { operands };
        let mut texts = Vec::new();
        for operand in operands {
            let Some(text) = operand.text().filter(|_| !state.disturbed) else { return Stream::Any };
            let Some(place) = path::locate(self.host, state.cwd.as_deref(), text) else { return Stream::Any };
            texts.push(text.to_owned());
            if place.node == Node::Directory {
                let Some(names) = self.host.list(Path::new(&place.lexical)) else {
                    return Stream::Any;
                };
                texts.extend(names.into_iter().filter(|name| hidden || !name.starts_with('.')));
            }
        }
        if texts.len() > path::ENUMERATED {
            Stream::Any
        } else {
            Stream::Lines(HoleKind::OneOf(Rc::new(texts)))
        }
    }

    /// Every file at or below a place whose name matches, as absolute paths.
    pub(super) fn enumerate(&self, state: &State, root: &str, name: Option<&str>) -> Option<Vec<String>> {
        if state.disturbed {
            return None;
        }
        let found = self.walk(root, name)?;
        Some(found.into_iter().map(|rest| joined(root, &rest)).collect())
    }

    /// Paths below `root` (the empty text for itself) whose last component matches; None when there
    /// are too many to look at.
    fn walk(&self, root: &str, name: Option<&str>) -> Option<Vec<String>> {
        const LOOKED_AT: usize = 4096;
        let fits = |path: &str| name.is_none_or(|name| super::glob::matches(name, path::name(path)));
        let mut found = Vec::new();
        if fits(root) {
            found.push(String::new());
        }
        let mut waiting = vec![String::new()];
        let mut seen = 0;
        while let Some(dir) = waiting.pop() {
            let full = joined(root, &dir);
            if !self.pays(FOLDER) {
                return None;
            }
            for entry in self.host.list(Path::new(&full)).unwrap_or_default() {
                seen += 1;
                if seen > LOOKED_AT || !self.pays(2 * ITEM) {
                    return None;
                }
                let rest = joined(&dir, &entry);
                let path = joined(root, &rest);
                if fits(&path) {
                    found.push(rest.clone());
                }
                let path = Path::new(&path);
                if self.host.node(path) == Node::Directory && !self.host.is_link(path) {
                    waiting.push(rest);
                }
            }
        }
        Some(found)
    }
}

fn joined(head: &str, rest: &str) -> String {
    match (head, rest) {
        ("", rest) => rest.to_owned(),
        (head, "") => head.to_owned(),
        (head, rest) => format!("{}/{rest}", head.trim_end_matches('/')),
    }
}
