//! The descriptors through which a shell reads a script on its standard input: what the script does to them
//! could make the shell read something else.

use super::EffectKind;
use super::arg::Arg;
use super::gather::Gatherer;
use super::path::Target;
use super::state::State;
use crate::report::Span;
use crate::syntax::{Cause, Descriptor, Piece, Redirection, RedirectionOperator, Simple};

/// From here on bash keeps descriptors of its own.
const OWN: u32 = 10;
/// What is said of one that may be such a copy.
const THROUGH: &str = "the shell may be reading the script through this descriptor";

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
        if let Target::Known(place) = target
            && self.from_stdin
            && is_of_shell(&place.lexical)
        {
            self.doubt(Cause::UnknownConstruct, THROUGH, span, true);
        }
    }

    /// `exec <FILE`: bash goes on reading its script there.
    pub(super) fn other_input(&mut self, state: &mut State, argv: &[Arg], simple: &Simple) {
        let is_exec = argv.first().and_then(Arg::text) == Some("exec") && argv.len() == 1;
        let Some(redirection) = simple.redirections.iter().find(|each| is_input(each)) else { return };
        if !is_exec || !self.from_stdin {
            return;
        }
        state.reads_elsewhere = true;
        if !matches!(redirection.target.pieces.as_slice(), [Piece::Text { text, .. }] if matches!(text.as_str(), "-" | "/dev/null"))
        {
            let detail = "bash reads the rest of the script from there";
            self.unexplained(Cause::OpaqueCode, detail, redirection.span);
        }
    }
}

/// Whether a path names a descriptor that may be the shell's own copy. What is put in the place of a process
/// substitution has higher numbers.
fn is_of_shell(path: &str) -> bool {
    match path.strip_prefix("/dev/fd/") {
        Some(number) => number.parse().is_ok_and(|number: u32| (OWN..60).contains(&number)),
        None => path.starts_with("/proc/") && path.contains("/fd/"),
    }
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
