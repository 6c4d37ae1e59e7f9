//! What a variable holds at one point of a script.

use super::arg::{Arg, Hole, HoleKind};
use super::gather::Gatherer;
use super::state::{State, Value};
use crate::report::Span;
use crate::syntax::Cause;

impl Gatherer<'_> {
    pub(super) fn default_home(&self) -> Option<String> {
        self.host.homes().first().and_then(|path| path.to_str().map(str::to_owned))
    }

    /// A variable's text, when all of it is known.
    pub(super) fn text_of_variable(&self, state: &State, name: &str) -> Option<String> {
        match state.vars.get(name) {
            Some(Value::Text(arg)) => arg.text().map(str::to_owned),
            Some(_) => None,
            None if name == "PWD" => state.cwd.clone(),
            None => self.host.var(name),
        }
    }

    /// A variable's value; None when it is unset.
    pub(super) fn value(&self, state: &State, name: &str, span: Span) -> Option<Value> {
        let hole = |kind| Some(Value::Text(Arg::hole(Hole { kind, splits: true }, span)));
        if let Some(value) = state.vars.get(name) {
            return (*value != Value::Unset).then(|| value.clone());
        }
        match name {
            "?" | "#" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID"
            | "SRANDOM" | "EPOCHSECONDS" | "COLUMNS" | "LINES" | "OPTIND" | "SHLVL" => hole(HoleKind::Number),
            "-" | "HOSTNAME" | "BASH_VERSION" | "HOSTTYPE" | "MACHTYPE" | "OSTYPE" => hole(HoleKind::Name),
            "_" | "0" | "OLDPWD" | "BASH_COMMAND" | "FUNCNAME" | "PIPESTATUS" | "REPLY" | "OPTARG" => {
                hole(HoleKind::Any(Cause::DynamicWord))
            }
            "PWD" => match &state.cwd {
                Some(cwd) => Some(Value::Text(Arg::literal(cwd, span))),
                None => hole(HoleKind::Any(Cause::DynamicPath)),
            },
            "IFS" => Some(Value::Text(Arg::literal(" \t\n", span))),
            _ if name.bytes().all(|byte| byte.is_ascii_digit()) => self.positional(state, name, span),
            _ if state.forgets && name != "HOME" => hole(HoleKind::Any(Cause::DynamicWord)),
            _ => self.host.var(name).map(|text| Value::Text(Arg::literal(text, span))),
        }
    }

    fn positional(&self, state: &State, name: &str, span: Span) -> Option<Value> {
        let Some(args) = &state.positional else {
            return Some(Value::Text(Arg::any(Cause::DynamicWord, span)));
        };
        let index: usize = name.parse().ok()?;
        args.get(index.checked_sub(1)?).map(|arg| Value::Text(arg.clone()))
    }
}
