//! A text that is sent to a running job: what it makes the job do.
//!
//! To a job that runs what it reads (a shell, an interpreter, a program with a way to start others by keys) the
//! text is a script, read in a state of which nothing is known: what was sent before may have set any variable,
//! entered any folder and defined any function. To any other job it is data, for what was started to read it.

use std::path::Path;

use super::arg::Arg;
use super::gather::Gatherer;
use super::state::{State, Stream};
use super::{EffectKind, Facts};
use crate::host::Host;
use crate::report::Span;
use crate::request::Request;
use crate::syntax::{self, Cause, Limits};

/// What is said of a program that runs its input as code.
pub(super) const RUNS_INPUT: &str = "it runs its standard input as code";
/// What is said of a shell whose script is not known.
pub(super) const READS_SCRIPT: &str = "the script it reads is not known here";

/// Programs that start others by keys, or that have a shell at their far side.
const ESCAPES: [&str; 26] = [
    "cmus", "ed", "ex", "expect", "ftp", "gdb", "less", "lftp", "lldb", "man", "mc", "more", "most", "mutt",
    "nano", "ranger", "rlwrap", "screen", "script", "sftp", "ssh", "su", "telnet", "tmux", "vifm", "w3m",
];

impl Gatherer<'_> {
    /// Writes down what a text would do that is sent to the job of this command.
    pub(super) fn sent(&mut self, request: &Request) {
        let command = request.name.clone().unwrap_or_default();
        // The end of what it reads makes it do nothing new.
        let obeys = !request.text.is_empty() && self.obeys(&command, request);
        let span = Span { start: 0, end: request.text.len() };
        let foreign = request.options.foreign;
        self.effect(EffectKind::Input { command: command.clone(), obeys, foreign }, None, span);
        if !obeys {
            return;
        }
        let text = request.as_text();
        // What is left open becomes another line with what is sent next.
        let whole = text.strip_suffix('\n').is_some_and(|line| !line.ends_with('\\'));
        if !whole && !text.is_empty() || text.is_empty() && !request.text.is_empty() {
            self.doubt(Cause::OpaqueCode, "what it is the beginning of is not known here", span, true);
        }
        self.inside = Some(span);
        let mut state = State { forgets: true, opaque: true, ..State::default() };
        state.disturb();
        let script = syntax::parse(command.as_bytes(), &Limits::default());
        self.script(&mut state, &script, &Stream::Text(Arg::literal(text, span)));
    }

    /// Whether the job runs what it reads, as far as can be told; a command that is not understood may.
    fn obeys(&self, command: &str, request: &Request) -> bool {
        let facts = alone(command, &request.cwd, (self.host, self.programs));
        let by_name = facts.invocations.iter().any(|invocation| {
            let name = invocation.words.first().and_then(Arg::text).unwrap_or_default();
            ESCAPES.contains(&name.rsplit('/').next().unwrap_or_default())
        });
        let by_keys = facts.effects.iter().any(|effect| matches!(effect.kind, EffectKind::Interactive));
        let by_input = facts
            .problems
            .iter()
            .any(|doubt| doubt.grave || [RUNS_INPUT, READS_SCRIPT].contains(&doubt.problem.detail.as_str()));
        by_name || by_keys || by_input
    }
}

/// What the command does by itself.
fn alone(command: &str, cwd: &Path, (host, programs): (&dyn Host, &super::programs::Programs)) -> Facts {
    let script = syntax::parse(command.as_bytes(), &Limits::default());
    let mut walk = Gatherer::new(host, programs);
    let mut state = State { cwd: cwd.to_str().map(str::to_owned), ..State::default() };
    walk.script(&mut state, &script, &Stream::Any);
    walk.facts
}
