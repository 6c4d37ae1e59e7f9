//! Builtins that change the shell's own state: the directory, variables, functions.

use std::rc::Rc;

use super::arg::{Arg, Hole, HoleKind};
use super::changes::Changes;
use super::environment::Seen;
use super::gather::Gatherer;
use super::path;
use super::programs::Output;
use super::state::{Function, State, Stream, Value, unknown};
use crate::host::Node;
use crate::report::Span;
use crate::syntax::{self, Cause};

/// Names that bash runs itself, unless a path is given.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

/// Whether bash runs this name itself.
pub(super) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// POSIX's special builtins.
const SPECIAL: &[&str] = &[
    ".", ":", "break", "continue", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift",
    "source", "times", "trap", "unset",
];

/// Whether POSIX counts the name as a special builtin.
pub(super) fn is_special(name: &str) -> bool {
    SPECIAL.contains(&name)
}

impl Gatherer<'_> {
    /// What a builtin changes in the shell that runs it.
    pub(super) fn builtin(&mut self, state: &mut State, name: &str, words: &[Arg], stdin: &Stream) {
        match name {
            "cd" => self.change_directory(state, words),
            "pushd" | "popd" => state.cwd = None,
            "export" | "declare" | "local" | "typeset" | "readonly" => self.declare(state, name, words),
            "unset" => {
                for word in words.iter().skip(1) {
                    match word.text() {
                        Some(name) if name.starts_with('-') => {}
                        Some(name) => {
                            let outer = self.locals.split_last().map_or(&[][..], |(_, outer)| outer);
                            if outer.iter().any(|own| own.contains(name)) {
                                let detail =
                                    format!("{name} is a calling function's own, and another may show");
                                self.doubt(Cause::UnknownConstruct, detail, word.span, true);
                            }
                            self.set_variable(state, name, Value::Unset, word.span);
                            state.functions.remove(name);
                        }
                        None => self.unknown_name(word),
                    }
                }
            }
            "read" => {
                self.descriptor_option(words);
                self.read(state, words, stdin);
            }
            "ulimit" => self.fewer_descriptors(words),
            "trap" => self.trap(state, words),
            "printf" if words.get(1).and_then(Arg::text) == Some("-v") => {
                if let Some(name) = words.get(2).and_then(Arg::text) {
                    let value = self.formatted(words.get(3..).unwrap_or_default());
                    self.set_variable(state, name, Value::Text(value), Span::default());
                }
            }
            "mapfile" | "readarray" | "getopts" => {
                self.descriptor_option(words);
                for word in words.iter().skip(1) {
                    match word.text() {
                        Some(name) => self.set_variable(state, name, Value::Text(unknown()), word.span),
                        None => self.unknown_name(word),
                    }
                }
                if words.len() == 1 {
                    state.vars.insert("MAPFILE".to_owned(), Value::Text(unknown()));
                }
            }
            "shift" => {
                let count = words.get(1).map_or(Some(1), |word| word.text()?.parse::<usize>().ok());
                state.positional = match (state.positional.take(), count) {
                    // With too few of them, none goes.
                    (Some(args), Some(count)) if count > args.len() && !args.iter().any(Arg::may_split) => {
                        Some(args)
                    }
                    // Which ones go is only told by how many the first became.
                    (Some(args), Some(count)) if !args.iter().take(count).any(Arg::may_split) => {
                        Some(args.into_iter().skip(count).collect())
                    }
                    _ => None,
                };
            }
            "return" | "break" | "continue" => self.leave(state, name, words),
            "let" => words.iter().skip(1).for_each(|word| self.evaluated(state, word)),
            "set" => self.set(state, words),
            "wait" => {
                for name in words.iter().skip(1).filter_map(Arg::text) {
                    let name = name.strip_prefix("-p").unwrap_or(name);
                    if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
                        self.set_variable(state, name, Value::Text(unknown()), Span::default());
                    }
                }
            }
            "alias" => alias(state, words),
            _ => {}
        }
    }

    fn change_directory(&mut self, state: &mut State, words: &[Arg]) {
        let mut operands =
            words.iter().skip(1).filter(|word| !matches!(word.text(), Some("-P" | "-L" | "-e" | "--")));
        let target = match operands.next() {
            None => self.text_of_variable(state, "HOME").map(|home| Arg::literal(home, Span::default())),
            Some(word) if word.text() == Some("-") => None,
            Some(word) => Some(word.clone()),
        };
        let text = target.as_ref().and_then(Arg::text);
        let text = text.filter(|text| self.climbs_from_folders(state, text));
        let place = text.and_then(|text| path::locate(self.host, state.cwd.as_deref(), text));
        // When the directory cannot be entered, what follows runs where the shell was.
        state.tentative = false;
        let physical =
            words.iter().skip(1).any(|word| word.head().starts_with('-') && word.head().contains('P'));
        let moved = state.relinked || state.removed;
        let place = place.map(|place| {
            let lexical = if physical { place.real.clone() } else { place.lexical.clone() };
            path::Located { lexical, ..place }
        });
        state.cwd = match place {
            Some(place) if place.node == Node::Directory && !moved => Some(place.lexical),
            Some(place) if Some(&place.lexical) == state.cwd.as_ref() => Some(place.lexical),
            Some(place) if place.node == Node::Missing || moved => {
                state.tentative = place.node == Node::Missing || !self.lasts(&place.lexical);
                Some(place.lexical)
            }
            _ => None,
        };
    }

    /// Whether what stands before each `..` is a folder: bash refuses to leave one that is not there.
    fn climbs_from_folders(&self, state: &State, text: &str) -> bool {
        text.match_indices("/..").all(|(at, _)| {
            let before = text.get(..at).filter(|before| !before.is_empty()).unwrap_or("/");
            path::locate(self.host, state.cwd.as_deref(), before)
                .is_some_and(|place| place.node == Node::Directory)
        })
    }

    /// Whether a directory is there in any case: the root, what is in it, a home.
    fn lasts(&self, lexical: &str) -> bool {
        let home = self.host.homes().iter().any(|home| home.to_string_lossy() == lexical);
        home || lexical == "/" || path::parent(lexical) == "/"
    }

    /// What `printf` would print of these words.
    fn formatted(&self, words: &[Arg]) -> Arg {
        let mut argv = vec![Arg::literal("printf", Span::default())];
        argv.extend(words.iter().cloned());
        match self.programs.read(&argv).map(|reading| reading.output) {
            Some(Output::Text(text)) if self.formats_as_bash(words) => text,
            _ => unknown(),
        }
    }

    fn declare(&mut self, state: &mut State, name: &str, words: &[Arg]) {
        let mut exports = name == "export";
        let withdraws = exports
            && words
                .iter()
                .skip(1)
                .any(|word| word.text().is_some_and(|text| text.starts_with("-") && text.contains('n')));
        let mut fixes = name == "readonly";
        let mut own = matches!(name, "local" | "declare" | "typeset");
        let mut refers = false;
        let shows = shows_functions(words);
        for word in words.iter().skip(1) {
            let head = word.head().to_owned();
            if head.starts_with(['-', '+']) {
                exports |= head.starts_with('-') && head.contains('x');
                fixes |= head.starts_with('-') && head.contains('r');
                own &= !head.contains('g');
                refers |= name != "export" && head.starts_with('-') && head.contains('n');
                let rewrites = head.starts_with(['-', '+']) && head.contains(['i', 'l', 'u', 'c', 'f']);
                if name != "export" && !shows && (head.contains('n') || rewrites) {
                    self.doubt(
                        Cause::UnknownConstruct,
                        "an attribute of a variable or function changes what it holds",
                        word.span,
                        true,
                    );
                }
                continue;
            }
            let Some((variable, _)) = head.split_once('=') else {
                if own && let Some(locals) = self.locals.last_mut() {
                    locals.insert(head.clone());
                    self.set_variable(state, &head, Value::Unset, word.span);
                }
                if fixes {
                    state.readonly.insert(head.clone());
                }
                if word.text().is_none() {
                    self.doubt(
                        Cause::DynamicWord,
                        "which variable this sets is not known here",
                        word.span,
                        true,
                    );
                } else if exports {
                    let text = self.text_of_variable(state, &head);
                    self.environment(&head, text.as_deref(), Seen::Programs, word.span);
                    state.exported.insert(head.clone());
                    if withdraws {
                        state.exported.remove(&head);
                    }
                }
                continue;
            };
            // Appending is not followed, and outside a function `local` only fails.
            let apart = head.contains("+=") || name == "local" && self.locals.is_empty();
            let value = if apart { unknown() } else { word.after(variable.len() + 1) };
            let variable = variable.trim_end_matches('+').to_owned();
            if let Some(named) = value.text().filter(|_| refers) {
                state.references.insert(variable, named.to_owned());
                continue;
            }
            if let Some(locals) = self.locals.last_mut().filter(|_| own) {
                locals.insert(variable.clone());
            }
            if exports || self.host.var(&variable).is_some() {
                state.exported.insert(variable.clone());
            }
            self.set_variable(state, &variable, Value::Text(value), word.span);
            if fixes {
                state.readonly.insert(variable);
            }
        }
    }

    /// `read NAME …`: the variables hold a line of the input.
    fn read(&mut self, state: &mut State, words: &[Arg], stdin: &Stream) {
        let mut names = Vec::new();
        let mut whole = true;
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            whole &= !matches!(word.text(), Some("-d" | "-n" | "-N" | "-a"));
            match word.text() {
                Some("-a" | "-d" | "-i" | "-n" | "-N" | "-p" | "-t" | "-u") => {
                    let value = rest.next();
                    if word.text() == Some("-a")
                        && let Some(name) = value.and_then(Arg::text)
                    {
                        self.set_variable(state, name, Value::Text(unknown()), word.span);
                    }
                }
                Some(option) if option.starts_with('-') => {}
                Some(name) => names.push((name.to_owned(), word.span)),
                None => self.unknown_name(word),
            }
        }
        if names.is_empty() {
            state.vars.insert("REPLY".to_owned(), Value::Text(stdin.line(Span::default())));
        }
        let only = names.len() == 1 && whole;
        for (name, span) in names {
            let value = if only { trimmed(&stdin.line(span)) } else { Arg::any(Cause::DynamicWord, span) };
            self.set_variable(state, &name, Value::Text(value), span);
        }
    }

    fn unknown_name(&mut self, word: &Arg) {
        let detail = "which variable this changes is only known when it runs";
        self.doubt(Cause::DynamicWord, detail, word.span, true);
    }

    /// A trap that may run between any two commands must change nothing that later ones depend on; one
    /// for the end only is read where it stands.
    fn trap(&mut self, state: &State, words: &[Arg]) {
        let mut operands =
            words.iter().skip(1).skip_while(|word| matches!(word.text(), Some("--" | "-p" | "-l")));
        let Some(action) = operands.next() else { return };
        let at_end = operands.all(|word| {
            word.text()
                .is_some_and(|name| matches!(name.to_ascii_uppercase().as_str(), "EXIT" | "0" | "SIGEXIT"))
        });
        if at_end {
            return;
        }
        let mut changes = Changes::default();
        match action.text() {
            Some("-" | "") => return,
            Some(text) => {
                let script = syntax::parse(text.as_bytes(), &self.limits);
                changes.anything |= !script.problems.is_empty();
                changes.scan(&script.body);
                // So do the functions that it may call.
                for (name, function) in &state.functions {
                    if !text.contains(name.as_str()) {
                        continue;
                    }
                    match function {
                        Function::Known(body) | Function::Maybe(body) => changes.scan_command(body),
                        Function::Told(told) => match told.body() {
                            Some(body) => changes.scan_command(&body),
                            None => changes.anything = true,
                        },
                        Function::Ambiguous => changes.anything = true,
                    }
                }
            }
            None => changes.anything = true,
        }
        let changing = changes.anything
            || changes.moves
            || changes.dynamic
            || !changes.assigned.is_empty()
            || !changes.functions.is_empty();
        if changing {
            let detail = "a trap that may run at any time changes the shell's state";
            self.doubt(Cause::UnknownConstruct, detail, action.span, true);
        }
    }

    fn set(&mut self, state: &mut State, words: &[Arg]) {
        let switches = words.iter().skip(1).take_while(|word| word.text() != Some("--")).any(|word| {
            let text = word.head();
            text.starts_with('-') && text.contains('f') && !text.contains('o')
                || text.starts_with('-') && text.contains('P')
                || text.starts_with('+') && text.contains('B')
                || matches!(text, "noglob" | "braceexpand" | "physical" | "posix")
        });
        if switches {
            let span = words.first().map_or_else(Span::default, |word| word.span);
            self.doubt(Cause::ExecutingEnvironment, "it changes how later words are expanded", span, false);
        }
        let exports = words.iter().skip(1).take_while(|word| word.text() != Some("--")).find(|word| {
            let text = word.head();
            text == "allexport" || text.starts_with('-') && text.contains('a') && !text.contains('o')
        });
        if let Some(word) = exports {
            let detail = "every variable that is set from here on reaches programs";
            self.doubt(Cause::ExecutingEnvironment, detail, word.span, false);
        }
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            match word.text() {
                Some("--") => {
                    state.positional = Some(rest.cloned().collect());
                    return;
                }
                Some("-o" | "+o") => {
                    rest.next();
                }
                Some(option) if option.starts_with(['-', '+']) => {
                    if option.starts_with('-') && option.contains('o') {
                        rest.next();
                    }
                }
                _ => {
                    state.positional = None;
                    return;
                }
            }
        }
    }
}

/// `alias NAME=TEXT`: kept for a look at the text where the name is called.
fn alias(state: &mut State, words: &[Arg]) {
    for word in words.iter().skip(1).filter_map(Arg::text) {
        if let Some((name, text)) = word.split_once('=') {
            state.aliases.insert(name.to_owned(), text.to_owned());
        }
    }
}

/// A line as `read` may leave it: blanks around it removed or not, and nothing that a backslash changes.
fn trimmed(line: &Arg) -> Arg {
    let Some(texts) = line.alternatives(path::ENUMERATED) else { return line.clone() };
    if texts.iter().any(|text| text.contains('\\')) {
        return unknown();
    }
    let mut all: Vec<String> = texts.iter().map(|text| text.trim_matches([' ', '\t']).to_owned()).collect();
    all.extend(texts);
    all.sort();
    all.dedup();
    match all.as_slice() {
        [only] => Arg::literal(only, line.span),
        _ => Arg::hole(Hole { kind: HoleKind::OneOf(Rc::new(all)), splits: true, lines: false }, line.span),
    }
}

/// Whether `declare` and its like only show functions, with all of their words in plain sight.
fn shows_functions(words: &[Arg]) -> bool {
    let shows = |text: &str| {
        text.strip_prefix('-').is_some_and(|letters| letters.chars().all(|letter| "fFp".contains(letter)))
    };
    let is_option = |text: &str| text.starts_with(['-', '+']);
    words.iter().skip(1).all(|word| word.text().is_some_and(|text| !is_option(text) || shows(text)))
}

#[cfg(test)]
mod tests {
    use super::BUILTINS;

    #[test]
    fn the_list_is_sorted_for_its_search() {
        assert!(BUILTINS.is_sorted());
    }
}
