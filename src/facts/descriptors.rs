//! The descriptors through which a shell reads a script on its standard input: what the script does to them
//! could make the shell read something else.

use super::EffectKind;
use super::arg::Arg;
use super::gather::Gatherer;
use super::path::Target;
use super::state::{Elsewhere, State};
use crate::report::Span;
use crate::syntax::{Cause, Descriptor, Piece, Redirection, RedirectionOperator, Simple};

/// From here on bash keeps descriptors of its own.
const OWN: u32 = 10;
/// What is said of one that may be such a copy.
const THROUGH: &str = "the shell may be reading the script through this descriptor";
/// More than bash and we need, wherever in the caller's our copies are.
const ENOUGH: u32 = 256;
/// What is put in the place of a process substitution has these numbers, or higher ones.
const SUBSTITUTIONS: u32 = 100;
/// What is said of a limit below that.
const FEWER: &str = "with so few descriptors the shell may lose the one through which it reads the script";

impl Gatherer<'_> {
    /// A descriptor is copied or closed: bash's own copy of its input must be neither.
    pub(super) fn descriptor(&mut self, redirection: &Redirection, word: &str) {
        let (source, closes) = word.strip_suffix('-').map_or((word, false), |source| (source, true));
        let is_own =
            |number: &str| !number.is_empty() && number.parse().map_or(true, |number: u32| number >= OWN);
        let closed = closes
            && match &redirection.descriptor {
                Some(Descriptor::Number(number)) => *number >= OWN,
                Some(Descriptor::Variable(_)) => true,
                None => false,
            };
        if self.from_stdin && (closed || is_own(source)) {
            self.doubt(Cause::UnknownConstruct, THROUGH, redirection.span, true);
        }
    }

    /// A path leads to a descriptor of a shell (`/proc/PID/fd/10`).
    pub(super) fn descriptor_path(&mut self, kind: &EffectKind, span: Span) {
        let (EffectKind::Read(target) | EffectKind::Write { target, .. }) = kind else { return };
        let leads = match target {
            Target::Known(place) => is_of_shell(&place.lexical) || is_of_shell(&place.real),
            Target::Below { root, .. } => {
                holds_those_of_shell(&root.lexical) || holds_those_of_shell(&root.real)
            }
            Target::Unknown { .. } => false,
        };
        if self.from_stdin && leads {
            self.doubt(Cause::UnknownConstruct, THROUGH, span, true);
        }
    }

    /// A builtin that the shell runs in itself is told a descriptor: `read -u 61`.
    pub(super) fn descriptor_option(&mut self, words: &[Arg]) {
        let mut rest = words.iter().skip(1);
        while let Some(word) = rest.next() {
            let Some((options, number)) = word.text().and_then(|text| text.split_once('u')) else { continue };
            let number = if number.is_empty() { rest.next().and_then(Arg::text) } else { Some(number) };
            let is_own =
                number.and_then(|number| number.parse().ok()).is_none_or(|number: u32| number >= OWN);
            if self.from_stdin && options.starts_with('-') && is_own {
                self.doubt(Cause::UnknownConstruct, THROUGH, word.span, true);
            }
        }
    }

    /// `ulimit -n 20`: the shell cannot put its own copies back where they were, and reads on from its caller.
    pub(super) fn fewer_descriptors(&mut self, words: &[Arg]) {
        let is_enough = |text: &str| match text.parse::<u32>() {
            Ok(number) => number >= ENOUGH,
            Err(_) => matches!(text, "" | "unlimited" | "hard" | "soft"),
        };
        let texts: Option<Vec<&str>> = words.iter().skip(1).map(Arg::text).collect();
        let lowers = texts.is_none_or(|texts| {
            let (options, values): (Vec<&str>, Vec<&str>) =
                texts.into_iter().partition(|text| text.starts_with('-'));
            let mut told = options.iter().filter_map(|option| option.split_once('n')).peekable();
            told.peek().is_some()
                && !(told.all(|(_, rest)| is_enough(rest)) && values.into_iter().all(is_enough))
        });
        if let Some(word) = words.first().filter(|_| self.from_stdin && lowers) {
            self.doubt(Cause::UnknownConstruct, FEWER, word.span, true);
        }
    }

    /// `exec <FILE`: bash goes on reading its script there.
    pub(super) fn other_input(&mut self, state: &mut State, argv: &[Arg], simple: &Simple) {
        let is_exec = argv.first().and_then(Arg::text) == Some("exec") && argv.len() == 1;
        let Some(redirection) = simple.redirections.iter().find(|each| is_input(each)) else { return };
        if !is_exec || !self.from_stdin {
            return;
        }
        let is_nothing = matches!(redirection.target.pieces.as_slice(),
            [Piece::Text { text, .. }] if matches!(text.as_str(), "-" | "/dev/null"));
        state.elsewhere = Some(if is_nothing { Elsewhere::Nowhere } else { Elsewhere::Unread });
        if !is_nothing {
            let detail = "bash reads the rest of the script from there";
            self.unexplained(Cause::OpaqueCode, detail, redirection.span);
        }
    }
}

/// Whether a path names a descriptor that may be the shell's own copy.
fn is_of_shell(path: &str) -> bool {
    match path.strip_prefix("/dev/fd/") {
        // What is no number is a pattern.
        Some(number) => number.parse().map_or(true, |number: u32| (OWN..SUBSTITUTIONS).contains(&number)),
        None => path.starts_with("/proc/") && path.contains("/fd/"),
    }
}

/// Whether a folder holds such descriptors, perhaps further below.
fn holds_those_of_shell(folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    matches!(folder, "" | "/dev" | "/dev/fd" | "/proc") || folder.starts_with("/proc/")
}

/// Whether it gives a shell another standard input.
fn is_input(redirection: &Redirection) -> bool {
    let standard = matches!(redirection.descriptor, None | Some(Descriptor::Number(0)));
    let reads = matches!(
        redirection.operator,
        RedirectionOperator::Read
            | RedirectionOperator::ReadWrite
            | RedirectionOperator::HereDocument
            | RedirectionOperator::HereString
            | RedirectionOperator::DuplicateInput
    );
    standard && reads
}
