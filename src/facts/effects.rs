//! What words and redirections do to paths.

use std::path::Path;

use super::arg::{Arg, Hole, HoleKind, Part};
use super::expand::document;
use super::gather::{Gatherer, ITEM};
use super::glob;
use super::path::{self, Target};
use super::programs::{Reading, Role, Use};
use super::state::{State, Stream};
use super::{Change, EffectKind};
use crate::host::Node;
use crate::report::Span;
use crate::syntax::{Cause, Redirection, RedirectionOperator};

/// So many effects of a command are told before those that only look at a name are left out: they ask for
/// nothing, and a pattern can find thousands.
const NAMES_TOLD: usize = 128;

impl Gatherer<'_> {
    /// Writes down what each used word does; false when one of them cannot be told.
    pub(super) fn uses(&mut self, state: &mut State, reading: &Reading, by: usize) -> bool {
        let before = self.facts.problems.len();
        let cwd = self.directory(state, reading);
        let first = self.facts.effects.len();
        for each in &reading.uses {
            if !self.pays(0) {
                self.limit("the work of all expansions", each.arg.span);
                break;
            }
            match each.role {
                Role::Pattern => {}
                Role::PutTo => self.put(state, cwd.as_deref(), (reading, each), by),
                Role::SearchTree | Role::ReadTree => {
                    for tree in self.targets(state, cwd.as_deref(), &each.arg, true) {
                        self.read_tree(state, reading, (each, tree), by);
                    }
                }
                Role::Open => {
                    self.plain_use(state, cwd.as_deref(), (Role::Read, &each.arg), by);
                    let targets = path::targets(self.host, cwd.as_deref(), &each.arg);
                    if targets
                        .iter()
                        .any(|target| !matches!(target, Target::Known(place) if place.node == Node::File))
                    {
                        self.plain_use(state, cwd.as_deref(), (Role::Create, &each.arg), by);
                    }
                }
                role => self.plain_use(state, cwd.as_deref(), (role, &each.arg), by),
            }
        }
        // Only what comes after this command sees what it changed.
        state.disturbed |= self
            .facts
            .effects
            .iter()
            .skip(first)
            .any(|effect| matches!(&effect.kind, EffectKind::Write { target, .. } if disturbs(target)));
        self.facts.problems.len() == before
    }

    fn plain_use(&mut self, state: &mut State, cwd: Option<&str>, (role, arg): (Role, &Arg), by: usize) {
        let change = match role {
            Role::Create => Some(Change::Create),
            Role::Append => Some(Change::Append),
            Role::Write => Some(Change::Write),
            Role::Edit => Some(Change::Edit),
            Role::Delete => Some(Change::Delete),
            Role::DeleteTree => Some(Change::DeleteTree),
            Role::MoveFrom => Some(Change::Move),
            Role::Mode => Some(Change::Mode),
            Role::ModeTree => Some(Change::ModeTree),
            Role::Device => Some(Change::Device),
            _ => None,
        };
        let reads = change.is_none();
        // A pipe that bash makes for `<( … )` is no file of anybody.
        if reads && arg.text().is_some_and(|text| state.pipes.contains_key(text)) {
            return;
        }
        if role == Role::List {
            // A name that is looked at tells nothing, whatever it is.
            if self.facts.effects.len() < NAMES_TOLD {
                for target in path::targets(self.host, cwd, arg) {
                    self.effect(EffectKind::List(target), Some(by), arg.span);
                }
            }
            return;
        }
        let mut targets = self.targets(state, cwd, arg, reads);
        if !reads && !state.links.is_empty() {
            let follows = !matches!(role, Role::Delete | Role::DeleteTree | Role::MoveFrom);
            targets.extend(self.through_links(state, &targets, follows));
        }
        for target in targets {
            let kind = match (change, role) {
                (Some(change), _) => EffectKind::Write { target, change },
                (None, _) => {
                    if let Target::Below { root, .. } = &target {
                        let detail = format!("which files below {} it reads cannot be listed", root.lexical);
                        self.doubt(Cause::DynamicPath, detail, arg.span, false);
                    }
                    EffectKind::Read(target)
                }
            };
            self.effect(kind, Some(by), arg.span);
        }
    }

    /// Copies and moves land on the destination, or below it when it is a directory.
    fn put(&mut self, state: &mut State, cwd: Option<&str>, (reading, to): (&Reading, &Use), by: usize) {
        let sources: Vec<&Arg> = reading
            .uses
            .iter()
            .filter(|each| matches!(each.role, Role::Read | Role::ReadTree | Role::MoveFrom | Role::List))
            .map(|each| &each.arg)
            .collect();
        for target in self.targets(state, cwd, &to.arg, false) {
            let Target::Known(folder) = &target else {
                self.effect(EffectKind::Write { target, change: Change::Put }, Some(by), to.arg.span);
                continue;
            };
            if folder.node != Node::Directory {
                let change = Change::Write;
                self.effect(EffectKind::Write { target, change }, Some(by), to.arg.span);
                continue;
            }
            if sources.is_empty() {
                // Under which names is its own affair.
                let change = Change::Put;
                self.effect(EffectKind::Write { target, change }, Some(by), to.arg.span);
                continue;
            }
            for source in &sources {
                let landing = source
                    .text()
                    .map(|text| format!("{}/{}", folder.lexical.trim_end_matches('/'), path::name(text)))
                    .and_then(|text| path::locate(self.host, cwd, &text));
                let landing = landing.map_or_else(|| target.clone(), Target::Known);
                self.effect(
                    EffectKind::Write { target: landing, change: Change::Put },
                    Some(by),
                    to.arg.span,
                );
            }
        }
    }

    /// What git prints of files: any word that may be a path (or `REVISION:PATH`, or `-L1,5:PATH`) is one
    /// whose content is read, from the folder or from history.
    pub(super) fn contents(&mut self, state: &State, reading: &Reading, words: &[Arg], by: usize) {
        let cwd = self.directory(state, reading);
        for word in words.iter().skip(2) {
            let Some(text) = word.text().filter(|text| !text.starts_with('-') || text.starts_with("-L"))
            else {
                continue;
            };
            let path = text.rsplit(':').next().unwrap_or(text);
            let path = path.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(path, |it| it.1);
            let pattern = glob::is_pattern(path);
            if !pattern && !path.contains(['.', '/']) || path.len() > 4096 {
                continue;
            }
            let found = if pattern {
                let mut found = glob::expand(self.host, cwd.as_deref(), path, &|names| self.pays(names))
                    .unwrap_or_default();
                // A pattern of git's matches hidden names too.
                let here = cwd.as_deref().and_then(|cwd| self.host.list(Path::new(cwd))).unwrap_or_default();
                found.extend(here.into_iter().filter(|name| glob::matches(path, name)));
                found
            } else {
                vec![path.to_owned()]
            };
            for path in found {
                if let Some(place) = path::locate(self.host, cwd.as_deref(), &path)
                    .filter(|place| place.node != Node::Directory)
                {
                    self.effect(EffectKind::Read(Target::Known(place)), Some(by), word.span);
                }
            }
        }
    }

    /// An unquoted word that may become several: where a program reads files by its words, each of them
    /// may be one. False when there is such a word.
    pub(super) fn several_words(&mut self, reading: &Reading, words: &[Arg]) -> bool {
        let only_data = reading.uses.iter().all(|each| each.role == Role::List) && !reading.can_read;
        if only_data {
            return true;
        }
        let several = words.iter().skip(1).find(|word| {
            word.parts.iter().any(|part| matches!(part, Part::Hole(hole) if hole.splits && matches!(hole.kind, HoleKind::Any(_))))
        });
        let Some(word) = several else { return true };
        self.doubt(
            Cause::DynamicWord,
            format!("{} may become several words", word.display()),
            word.span,
            false,
        );
        false
    }

    /// The directory the program resolves its operands in.
    pub(super) fn directory(&self, state: &State, reading: &Reading) -> Option<String> {
        let Some(arg) = &reading.directory else { return state.cwd.clone() };
        match path::targets(self.host, state.cwd.as_deref(), arg).as_slice() {
            [Target::Known(place)] => Some(place.lexical.clone()),
            _ => None,
        }
    }

    /// The places of a word, with a doubt for those that cannot be told.
    fn targets(&mut self, state: &State, cwd: Option<&str>, arg: &Arg, reads: bool) -> Vec<Target> {
        let mut found = path::targets(self.host, cwd, arg);
        self.pays(found.len() * 4 * ITEM);
        if let [Target::Below { root, name }] = found.as_slice()
            && let Some(files) = self.enumerate(state, &root.lexical, name.as_deref())
        {
            let listed: Vec<Target> = files
                .iter()
                .filter_map(|file| path::locate(self.host, cwd, file))
                .map(Target::Known)
                .collect();
            // Deleting or changing a set is judged as the set, and as each file of it.
            if reads {
                return listed;
            }
        }
        for target in &mut found {
            // After an earlier part changed links, the path may lead elsewhere than it does now.
            if let Target::Known(place) | Target::Below { root: place, .. } = target
                && (state.relinked || state.opaque && !reads)
                && !is_device(&place.lexical)
            {
                place.stale = true;
                let detail = format!("an earlier part may change where {} leads", place.lexical);
                self.doubt(Cause::DynamicPath, detail, arg.span, !reads);
            }
            if let Target::Unknown { shown, cause, .. } = target {
                let detail = format!("where {shown} leads is only known when it runs");
                self.doubt(*cause, detail, arg.span, !reads);
            }
        }
        found
    }

    /// Redirections: what they read and write, the input they give, and whether output goes elsewhere.
    pub(super) fn redirections(
        &mut self,
        state: &mut State,
        redirections: &[Redirection],
        by: Option<usize>,
    ) -> (Option<Stream>, bool) {
        let mut input = None;
        let mut captured = false;
        for redirection in redirections {
            match redirection.operator {
                RedirectionOperator::HereDocument | RedirectionOperator::HereString => {
                    let text = self.single(state, &redirection.target);
                    input = Some(document(text, redirection.operator == RedirectionOperator::HereString));
                }
                RedirectionOperator::Read => {
                    input = Some(self.redirect_file(state, redirection, None, by));
                }
                RedirectionOperator::DuplicateInput => self.duplicate(state, redirection, by, &mut input),
                RedirectionOperator::DuplicateOutput => {
                    let mut none = None;
                    self.duplicate(state, redirection, by, &mut none);
                    captured = true;
                }
                operator => {
                    let change = match operator {
                        RedirectionOperator::Append | RedirectionOperator::AppendBoth => Change::Append,
                        RedirectionOperator::ReadWrite => Change::Edit,
                        _ => Change::Write,
                    };
                    self.redirect_file(state, redirection, Some(change), by);
                    captured |= !matches!(
                        redirection.descriptor,
                        Some(crate::syntax::Descriptor::Number(number)) if number != 1
                    );
                }
            }
        }
        (input, captured)
    }

    /// `<&` and `>&`: a copy of a descriptor, or a file.
    fn duplicate(
        &mut self,
        state: &mut State,
        redirection: &Redirection,
        by: Option<usize>,
        input: &mut Option<Stream>,
    ) {
        let word = self.single(state, &redirection.target);
        let copies = word.text().is_some_and(|text| {
            let digits = text.strip_suffix('-').unwrap_or(text);
            digits.bytes().all(|byte| byte.is_ascii_digit())
        });
        if copies {
            return self.descriptor(redirection, word.text().unwrap_or_default());
        }
        let change = (redirection.operator == RedirectionOperator::DuplicateOutput).then_some(Change::Write);
        if change.is_none() {
            *input = Some(Stream::Any);
        }
        self.redirect_to(state, &word, change, (by, redirection.span));
    }

    fn redirect_file(
        &mut self,
        state: &mut State,
        redirection: &Redirection,
        change: Option<Change>,
        by: Option<usize>,
    ) -> Stream {
        let fields = self.fields(state, std::slice::from_ref(&redirection.target));
        let word = match fields.as_slice() {
            [only] => only.clone(),
            _ => Arg::any(Cause::DynamicPath, redirection.target.span),
        };
        self.redirect_to(state, &word, change, (by, redirection.span))
    }

    fn redirect_to(
        &mut self,
        state: &mut State,
        word: &Arg,
        change: Option<Change>,
        (by, span): (Option<usize>, Span),
    ) -> Stream {
        let head = word.head();
        if head.starts_with("/dev/tcp/") || head.starts_with("/dev/udp/") {
            self.effect(EffectKind::Network { query: false }, by, span);
            return Stream::Download;
        }
        if let Some(stream) = word.text().and_then(|text| state.pipes.get(text)) {
            return stream.clone();
        }
        let cwd = state.cwd.clone();
        let reads = change.is_none();
        let mut targets = self.targets(state, cwd.as_deref(), word, reads);
        if !reads && !state.links.is_empty() {
            targets.extend(self.through_links(state, &targets, true));
        }
        for target in targets {
            let kind = match change {
                Some(change) => {
                    state.disturbed |= disturbs(&target);
                    EffectKind::Write { target, change }
                }
                None => EffectKind::Read(target),
            };
            self.effect(kind, by, span);
        }
        Stream::Any
    }
}

/// Whether a write there can change what the machine would answer later.
fn disturbs(target: &Target) -> bool {
    !matches!(target, Target::Known(place) if is_device(&place.real))
}

/// The devices and descriptors that hold nothing.
#[must_use]
pub fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero" | "/dev/full")
        || path.strip_prefix("/dev/fd/").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The words that a stream's text or lines become as arguments (`xargs`).
pub(super) fn stream_words(stream: &Stream, span: Span) -> Vec<Arg> {
    match stream {
        Stream::Text(arg) => match arg.text() {
            Some(text) if !text.contains(['\'', '"', '\\']) => {
                let words = text.split([' ', '\t', '\n', '\0']).filter(|word| !word.is_empty());
                words.map(|word| Arg::literal(word, span)).collect()
            }
            _ => vec![Arg::any(Cause::DynamicWord, span)],
        },
        Stream::Lines(kind) => vec![Arg::hole(Hole { kind: kind.clone(), splits: true, lines: false }, span)],
        Stream::Any | Stream::Download => vec![Arg::any(Cause::DynamicWord, span)],
    }
}

/// Replaces a word inside an argument list.
pub(super) fn replace(argv: &[Arg], token: &str, with: &Arg) -> Vec<Arg> {
    argv.iter()
        .map(|arg| {
            let Some(text) = arg.text().filter(|text| !token.is_empty() && text.contains(token)) else {
                return arg.clone();
            };
            if text == token {
                return Arg { span: arg.span, ..with.clone() };
            }
            let mut made = Arg { span: arg.span, ..Arg::default() };
            for (index, piece) in text.split(token).enumerate() {
                if index > 0 {
                    for part in &with.parts {
                        match part {
                            Part::Text(text) => made.push_text(text),
                            Part::Hole(hole) => made.push_hole(hole.clone()),
                        }
                    }
                }
                made.push_text(piece);
            }
            made
        })
        .collect()
}
