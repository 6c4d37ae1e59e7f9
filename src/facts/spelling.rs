//! Other spellings of a command, for the rules that refuse or ask: without the options that stand before its
//! subcommand, and, where an unknown program may run its words, each tail of them.

use super::arg::Arg;
use super::gather::{Gatherer, ITEM};
use super::programs::Reading;
use super::{Invocation, path, text_of};
use crate::report::Span;

/// The most words of one command that are taken for the name of another one.
const TRIED: usize = 32;

/// After these a program that runs others is known to name one.
const BEFORE_A_COMMAND: &[&str] = &["--", "exec", "run", "x", "dlx", "shell"];

/// The command without what stands before the words that name what it does; an applet by its own name.
pub(super) fn spellings(words: &[Arg], reading: &Reading) -> Vec<String> {
    let program = reading.applet.unwrap_or(0);
    let mut found = Vec::new();
    if let Some(applet) = reading.applet {
        found.push(text_of(words.get(applet..).unwrap_or_default()));
    }
    let [first, rest @ ..] = reading.names.as_slice() else { return found };
    let after = |at: usize| words.get(at + 1..).unwrap_or_default().iter();
    let named = [program].into_iter().chain(reading.names.iter().copied());
    let last = rest.last().unwrap_or(first);
    let plain: Vec<Arg> = named.filter_map(|at| words.get(at)).chain(after(*last)).cloned().collect();
    if plain.len() < words.len() {
        found.push(text_of(&plain));
    }
    if reading.names_may_follow {
        let later = words.iter().enumerate().skip(first + 1).filter(|(_, word)| is_name(word));
        let later = later.take(TRIED).map(|(at, word)| {
            let program = words.get(program).into_iter();
            let plain: Vec<Arg> = program.chain([word]).chain(after(at)).cloned().collect();
            text_of(&plain)
        });
        found.extend(later);
    }
    found
}

impl Gatherer<'_> {
    /// Each tail of the words that begins with what may be a program's name; of a known program only behind
    /// the words that announce one.
    pub(super) fn tails(&mut self, words: &[Arg], known: bool) {
        let announced = |word: &Arg| word.text().is_some_and(|text| BEFORE_A_COMMAND.contains(&text));
        let first = if known { words.iter().position(announced) } else { Some(0) };
        let Some(first) = first else { return };
        let starts = words.iter().enumerate().skip(first + 1).filter(|(_, word)| is_name(word));
        let starts: Vec<(usize, Span)> = starts.take(TRIED).map(|(at, word)| (at, word.span)).collect();
        for (at, span) in starts {
            let mut tail = words.get(at..).unwrap_or_default().to_vec();
            let text = text_of(&tail);
            if !self.pays(text.len() / 8 + ITEM) {
                // Says that the limit is reached.
                self.step(span);
                return;
            }
            let span = self.span(span);
            self.facts.carried.push((text, span));
            let base = tail.first().and_then(Arg::text).map(path::name).map(str::to_owned);
            if let (Some(name), Some(first)) = (base, tail.first_mut())
                && first.text() != Some(&name)
            {
                *first = Arg::literal(name, first.span);
                self.facts.carried.push((text_of(&tail), span));
            }
            let reading = self.programs.read(&tail);
            let more = reading.map_or_else(Vec::new, |reading| spellings(&tail, &reading));
            self.facts.carried.extend(more.into_iter().map(|text| (text, span)));
        }
    }
}

impl Invocation {
    /// Every text of it that a rule which refuses or asks may match, with its place.
    pub(super) fn texts(&self) -> Vec<(String, Span)> {
        let texts =
            [self.text()].into_iter().chain(self.text_by_name()).chain(self.spellings.iter().cloned());
        texts.map(|text| (text, self.span)).collect()
    }
}

/// Whether the word may be the name of a program or of a subcommand.
fn is_name(word: &Arg) -> bool {
    let plain = |letter: char| letter.is_alphanumeric() || "_-./+@:".contains(letter);
    word.text().is_some_and(|text| {
        !text.starts_with('-') && text.chars().any(char::is_alphanumeric) && text.chars().all(plain)
    })
}
