//! What a variable holds at one point of a script.

use super::arg::{Arg, Hole, HoleKind};
use super::environment::{self, Seen};
use super::gather::{Gatherer, ITEM};
use super::leaving::is_readonly;
use super::state::{State, Value, either, unknown};
use crate::report::Span;
use crate::syntax::Cause;

/// The longest text that is followed through variables.
const LONGEST: usize = 64 * 1024;

impl Gatherer<'_> {
    /// Gives a variable a value, by whatever route: says so when that changes what runs.
    pub(super) fn set_variable(&mut self, state: &mut State, name: &str, value: Value, span: Span) {
        let name = &state.referred(name).to_owned();
        let value = match value {
            Value::Text(arg) if arg.length() > LONGEST => {
                self.limit("the length of a variable", span);
                Value::Text(Arg::any(Cause::Limit, span))
            }
            other => other,
        };
        let value = if is_readonly(state, name) { self.refused(state, name, value, span) } else { value };
        let text = match &value {
            Value::Text(arg) => arg.text().map(str::to_owned),
            Value::Array(_) | Value::Unset => None,
        };
        if self.host.var(name).is_some() {
            state.exported.insert(name.to_owned());
        }
        // What is taken away leads nowhere else.
        let reaches = value != Value::Unset && state.exported.contains(name);
        let seen = if reaches { Seen::Programs } else { Seen::Shell };
        self.environment(name, text.as_deref(), seen, span);
        if let Some(text) = text.filter(|text| environment::runs_its_value(name, text)) {
            self.glance(state, &Arg::literal(text, span));
        }
        state.vars.insert(name.to_owned(), value);
    }

    /// What a variable holds that may not be assigned any more, after it was: bash refuses, and may drop the
    /// rest of the line; which of the two values holds is not worth a guess.
    fn refused(&mut self, state: &State, name: &str, value: Value, span: Span) -> Value {
        self.doubt(Cause::UnknownConstruct, format!("{name} may be readonly"), span, true);
        self.may_abort(state);
        match (state.vars.get(name), value) {
            (Some(Value::Text(old)), Value::Text(new)) => Value::Text(either(old, &new)),
            _ => Value::Text(unknown()),
        }
    }

    pub(super) fn default_home(&self) -> Option<String> {
        self.host.homes().first().and_then(|path| path.to_str().map(str::to_owned))
    }

    /// A variable's text, when all of it is known.
    pub(super) fn text_of_variable(&self, state: &State, name: &str) -> Option<String> {
        let name = state.referred(name);
        match state.vars.get(name) {
            Some(Value::Text(arg)) => arg.text().map(str::to_owned),
            Some(_) => None,
            None if name == "PWD" => state.cwd.clone(),
            None => self.host.var(name),
        }
    }

    /// A variable's value; None when it is unset.
    pub(super) fn value(&self, state: &State, name: &str, span: Span) -> Option<Value> {
        let hole = |kind| Some(Value::Text(Arg::hole(Hole { kind, splits: true, lines: false }, span)));
        let name = state.referred(name);
        if let Some(value) = state.vars.get(name) {
            self.pays(value.size() * ITEM);
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

    /// The value of the variable whose name a variable holds. It is told for the dangers in it only: the
    /// name may also be one that bash looks up in another way.
    pub(super) fn indirect(&mut self, state: &State, name: &str, span: Span) -> Option<Value> {
        self.doubt(Cause::UnknownConstruct, "indirect", span, true);
        let named = self.text_of_variable(state, name)?;
        self.value(state, &named, span)
    }

    fn positional(&self, state: &State, name: &str, span: Span) -> Option<Value> {
        let Some(args) = &state.positional else {
            return Some(Value::Text(Arg::any(Cause::DynamicWord, span)));
        };
        let index: usize = name.parse().ok()?;
        // What stands before it may have become no argument, or several, and so may itself.
        if args.iter().take(index).any(Arg::may_split) {
            return Some(Value::Text(Arg::any(Cause::DynamicWord, span)));
        }
        args.get(index.checked_sub(1)?).map(|arg| Value::Text(arg.clone()))
    }
}
