//! Names that a text itself gave another meaning: aliases of the shell and of git, links.
//!
//! None of these makes a command understood. They are followed for the dangers that they lead to.

use super::arg::Arg;
use super::gather::Gatherer;
use super::path::{self, Target};
use super::state::State;
use crate::host::Node;
use crate::report::Span;
use crate::syntax::quote;

impl Gatherer<'_> {
    /// A command's name that `alias` gave a text.
    pub(super) fn alias(&mut self, state: &State, name: &str, argv: &[Arg]) {
        let Some(text) = state.aliases.get(name) else { return };
        let mut whole = text.clone();
        for word in argv.iter().skip(1) {
            whole.push(' ');
            whole.push_str(&word.text().map_or_else(|| word.display(), quote));
        }
        let mut own = state.clone();
        // A name is not replaced again in its own text.
        own.aliases.remove(name);
        let span = argv.first().map_or_else(Span::default, |word| word.span);
        self.glance_here(&own, &Arg::literal(whole, span));
    }

    /// `git config alias.NAME TEXT` for later, and what a subcommand stands for.
    pub(super) fn git_alias(&mut self, state: &mut State, words: &[Arg]) {
        let Some((at, given)) = subcommand(words) else { return };
        let Some(name) = words.get(at).and_then(Arg::text) else { return };
        let rest = words.get(at + 1..).unwrap_or_default();
        if name == "config" {
            let mut operands = rest
                .iter()
                .filter_map(Arg::text)
                .filter(|word| !word.starts_with('-'))
                .skip_while(|word| *word == "set");
            if let (Some(key), Some(text)) = (operands.next(), operands.next())
                && let Some(name) = key.strip_prefix("alias.")
            {
                state.git_aliases.insert(name.to_owned(), text.to_owned());
            }
            return;
        }
        let Some(text) = given.get(name).or_else(|| state.git_aliases.get(name)).cloned() else { return };
        let span = words.get(at).map_or_else(Span::default, |word| word.span);
        let mut own = state.clone();
        own.git_aliases.remove(name);
        if let Some(command) = text.strip_prefix('!') {
            self.glance(&own, &Arg::literal(command, span));
            return;
        }
        let mut argv = vec![Arg::literal("git", span)];
        argv.extend(text.split_whitespace().map(|word| Arg::literal(word, span)));
        argv.extend(rest.iter().cloned());
        self.glance_at_words(&own, argv);
    }

    /// `ln -s TARGET LINK`: paths through the link lead to its target from now on.
    pub(super) fn made_link(&mut self, state: &mut State, words: &[Arg]) {
        let options: String = words.iter().map(Arg::head).filter(|word| word.starts_with('-')).collect();
        let operands: Vec<&str> =
            words.iter().skip(1).filter_map(Arg::text).filter(|word| !word.starts_with('-')).collect();
        let (true, [target, link]) = (options.contains('s'), operands.as_slice()) else { return };
        let Some(mut place) = path::locate(self.host, state.cwd.as_deref(), link) else { return };
        if place.node == Node::Directory && !options.contains(['n', 'T']) {
            let inside = format!("{link}/{}", path::name(target));
            match path::locate(self.host, state.cwd.as_deref(), &inside) {
                Some(inside) => place = inside,
                None => return,
            }
        }
        let folder = path::parent(&place.lexical);
        if let Some(target) = path::locate(self.host, Some(&folder), target) {
            state.links.insert(place.lexical, target.lexical);
        }
    }

    /// Where these places lead through links that the text made. A last component that is one counts only
    /// where the change `follows` it.
    pub(super) fn through_links(&self, state: &State, targets: &[Target], follows: bool) -> Vec<Target> {
        let mut found = Vec::new();
        for place in targets.iter().filter_map(|target| match target {
            Target::Known(place) | Target::Below { root: place, .. } => Some(place),
            Target::Unknown { .. } => None,
        }) {
            for (link, target) in &state.links {
                let Some(rest) = place.lexical.strip_prefix(link.as_str()) else { continue };
                let reached = rest.starts_with('/') || follows && rest.is_empty();
                if reached && let Some(real) = path::locate(self.host, None, &format!("{target}{rest}")) {
                    found.push(Target::Known(real));
                }
            }
        }
        found
    }
}

/// Aliases that `-c` gives for one command.
type Given = std::collections::BTreeMap<String, String>;

/// The place of git's subcommand, and the aliases that stand before it.
fn subcommand(words: &[Arg]) -> Option<(usize, Given)> {
    let mut given = Given::new();
    let mut at = 1;
    while let Some(text) = words.get(at)?.text().filter(|text| text.starts_with('-')) {
        let valued =
            matches!(text, "-c" | "-C" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path");
        let setting = words.get(at + 1).and_then(Arg::text).filter(|_| text == "-c");
        if let Some((name, value)) =
            setting.and_then(|setting| setting.strip_prefix("alias.")).and_then(|rest| rest.split_once('='))
        {
            given.insert(name.to_owned(), value.to_owned());
        }
        at += 1 + usize::from(valued);
    }
    Some((at, given))
}
