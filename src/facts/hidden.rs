//! Dangers inside what is not explained: code of other languages, texts that some program hands to a shell.
//!
//! Nothing here makes a command understood, and nothing that is not understood here is worth a word.

use super::arg::Arg;
use super::code::{Danger, Tongue, dangers};
use super::gather::Gatherer;
use super::path;
use super::programs::{Reading, Role};
use super::state::{State, Stream};
use super::{Change, EffectKind, Found, Invocation};
use crate::report::Span;

/// The longest text that is looked through.
const LONGEST: usize = 64 * 1024;

impl Gatherer<'_> {
    /// A text that a shell will run in a way that is not explained: only the dangers in it are worth telling.
    pub(super) fn glance(&mut self, state: &State, text: &Arg) {
        self.glimpse(Found::Glimpsed, |walk| walk.look(state, text));
    }

    /// The same for a text that this very shell reads.
    pub(super) fn glance_here(&mut self, state: &State, text: &Arg) {
        self.glimpse(Found::Glimpsed, |walk| walk.look_here(state, text));
    }

    /// The same for words that are a command.
    pub(super) fn glance_at_words(&mut self, state: &State, argv: Vec<Arg>) {
        self.glimpse(Found::Glimpsed, |walk| {
            walk.invoke(&mut state.clone(), argv, &Stream::Any);
        });
    }

    /// Words that may be a command or not: nothing is kept of them but their effects.
    pub(super) fn guess(&mut self, state: &State, argv: Vec<Arg>) {
        let (invocations, effects) = (self.facts.invocations.len(), self.facts.effects.len());
        let mentions = self.facts.mentions.len();
        self.glimpse(Found::Guessed, |walk| {
            walk.invoke(&mut state.clone(), argv, &Stream::Any);
        });
        let texts = self.facts.invocations.iter().skip(invocations).flat_map(Invocation::texts);
        self.facts.carried.extend(texts);
        self.facts.invocations.truncate(invocations);
        self.facts.mentions.truncate(mentions);
        self.facts.effects.iter_mut().skip(effects).for_each(|effect| effect.by = None);
    }

    fn glimpse(&mut self, found: Found, look: impl FnOnce(&mut Self)) {
        let problems = self.facts.problems.len();
        // What is less certain around it stays so.
        let found = if self.found == Found::Read { found } else { self.found };
        let before = std::mem::replace(&mut self.found, found);
        self.deeper(look);
        self.found = before;
        // That it may not be understood is told already.
        self.facts.problems.truncate(problems);
    }

    /// Looks through what a command that is not explained may come to run.
    pub(super) fn hidden(
        &mut self,
        state: &State,
        (reading, words): (&Reading, &[Arg]),
        stdin: &Stream,
        index: usize,
    ) {
        for glance in &reading.glances {
            match glance.as_slice() {
                [text] => self.glance(state, text),
                argv => self.glance_at_words(state, argv.to_vec()),
            }
        }
        let Some(name) = words.first().and_then(Arg::text) else { return };
        self.carried(state, name, words);
        let input = match stdin {
            Stream::Text(text) => text.text().filter(|text| text.len() < LONGEST),
            _ => None,
        };
        if let Some(tongue) = Tongue::of(name) {
            for text in codes(tongue, state, words, input) {
                self.code(state, (tongue, &text), index);
            }
        }
        match name {
            "vi" | "vim" | "nvim" | "view" | "gvim" | "ex" | "ed" | "red" => self.editor(state, words, input),
            "pwsh" | "powershell" | "pwsh.exe" | "powershell.exe" | "cmd" | "cmd.exe" => {
                self.windows_shell(state, words, input);
            }
            "make" | "gmake" => input.into_iter().flat_map(str::lines).for_each(|line| {
                let recipe =
                    line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
                if let Some(recipe) = recipe {
                    let recipe = recipe.trim_start_matches([' ', '@', '-', '+']);
                    self.glance(state, &Arg::literal(recipe, Span::default()));
                }
            }),
            "crontab" => input.into_iter().flat_map(str::lines).for_each(|line| {
                if let Some(command) = scheduled(line) {
                    self.glance(state, &Arg::literal(command, Span::default()));
                }
            }),
            _ => {}
        }
    }

    /// The dangers that a text in another language shows.
    fn code(&mut self, state: &State, (tongue, text): (Tongue, &str), index: usize) {
        let span = self.facts.invocations.get(index).map_or_else(Span::default, |each| each.span);
        let home = self.text_of_variable(state, "HOME").or_else(|| self.default_home()).unwrap_or_default();
        for danger in dangers(tongue, text, &home) {
            match danger {
                Danger::Shell(text) => self.glance(state, &Arg::literal(text, span)),
                Danger::Words(words) => {
                    let argv = words.into_iter().map(|word| Arg::literal(word, span)).collect();
                    self.glance_at_words(state, argv);
                }
                Danger::Path(role, place) => {
                    let change = match role {
                        Role::DeleteTree => Change::DeleteTree,
                        Role::Delete => Change::Delete,
                        Role::MoveFrom => Change::Move,
                        _ => Change::Write,
                    };
                    for target in path::targets(self.host, state.cwd.as_deref(), &Arg::literal(place, span)) {
                        self.glimpsed_effect(EffectKind::Write { target, change }, index, span);
                    }
                }
                Danger::KillAll => self.glimpsed_effect(EffectKind::KillAll, index, span),
                Danger::Forks => self.glimpsed_effect(EffectKind::ForkBomb, index, span),
            }
        }
    }

    fn glimpsed_effect(&mut self, kind: EffectKind, index: usize, span: Span) {
        self.glimpse(Found::Glimpsed, |walk| walk.effect(kind, Some(index), span));
    }

    /// Commands of an editor that run a shell: `!…`, `:r !…`, `:w !…`.
    fn editor(&mut self, state: &State, words: &[Arg], input: Option<&str>) {
        let mut after_option = false;
        let mut lines: Vec<&str> = Vec::new();
        for word in words.iter().skip(1).filter_map(Arg::text) {
            if let Some(command) = word.strip_prefix('+') {
                lines.push(command);
            } else if after_option {
                lines.push(word);
            }
            after_option = matches!(word, "-c" | "--cmd");
        }
        lines.extend(input.into_iter().flat_map(str::lines));
        for command in lines.into_iter().filter_map(shell_command) {
            self.glance(state, &Arg::literal(command, Span::default()));
        }
        let quoted = words.iter().filter_map(Arg::text).filter(|word| word.contains("system("));
        for text in quoted {
            for danger in dangers(Tongue::Lua, text, "") {
                if let Danger::Shell(text) = danger {
                    self.glance(state, &Arg::literal(text, Span::default()));
                }
            }
        }
    }
}

/// Every text in its language that an interpreter is given: as a word, as input, as a file that was just written.
fn codes(tongue: Tongue, state: &State, words: &[Arg], input: Option<&str>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = words.iter().skip(1);
    let mut operand = None;
    while let Some(text) = rest.next().map(|word| word.text().unwrap_or_default()) {
        if tongue.takes_code(text) || text == "eval" {
            found.extend(rest.next().and_then(Arg::text).map(str::to_owned));
        } else if let Some(code) = text.strip_prefix("--eval=").or_else(|| text.strip_prefix("--print=")) {
            found.push(code.to_owned());
        } else if text.len() > 2 && matches!(text.get(..2), Some("-e" | "-E" | "-c" | "-r")) {
            found.extend(text.get(2..).map(str::to_owned));
        } else if !text.starts_with('-') || text == "-" {
            operand = Some(text);
            break;
        }
    }
    match operand {
        None | Some("-" | "/dev/stdin") if found.is_empty() => found.extend(input.map(str::to_owned)),
        Some(file) => found.extend(state.written.get(file).and_then(Arg::text).map(str::to_owned)),
        None => {}
    }
    found.retain(|text| text.len() < LONGEST);
    found
}

/// The command of an editor's line: what stands after `!`, if only a range or a word that takes one is before.
fn shell_command(line: &str) -> Option<&str> {
    let (before, command) = line.split_once('!')?;
    let plain = before.trim_start_matches([':', ' ']).trim_end();
    let takes = matches!(
        plain,
        "" | "%" | "." | "$" | "r" | "w" | "e" | "silent" | "sil" | "exe" | "execute" | "read" | "write"
    );
    (takes || plain.bytes().all(|byte| byte.is_ascii_digit() || b",.$%".contains(&byte))).then_some(command)
}

/// The command of a crontab's line.
fn scheduled(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let fields = match line.as_bytes().first()? {
        b'#' => return None,
        b'@' => 1,
        b'*' | b'0'..=b'9' => 5,
        _ => return None,
    };
    let mut rest = line;
    for _ in 0..fields {
        rest = rest.trim_start().split_once([' ', '\t'])?.1;
    }
    Some(rest.trim())
}
