//! What a living shell says of itself, after something ran in it that could not be followed: its functions,
//! aliases, variables and options, in the form in which bash prints them.
//!
//! The parts end with a NUL each: a mark that nothing in the shell could know before, the options of `set`, those of `shopt`, then what `trap -p`,
//! `declare -p` and `alias -p` print, then the name and the text of each function, and a mark again. Where any of it
//! is in another form there is no survey, and what is not known stays so.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::arg::Arg;
use super::quoted::{self, Held};
use super::state::{Function, State, Value, unknown};
use crate::report::Span;
use crate::syntax::{self, Command, Limits};

/// Options of `set` with which a text is read as ever.
const PLAIN_SET: &[&str] = &[
    "allexport",
    "braceexpand",
    "emacs",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "histexpand",
    "history",
    "ignoreeof",
    "interactive-comments",
    "monitor",
    "noclobber",
    "nolog",
    "notify",
    "nounset",
    "pipefail",
    "privileged",
    "verbose",
    "vi",
    "xtrace",
];

/// Options of `shopt` with which patterns find other files.
const GLOBS: &[&str] = &["dotglob", "extglob", "failglob", "globstar", "nocaseglob", "nullglob"];

/// Options of `shopt` with which a directory may be another one than the one that was named.
const MOVES: &[&str] = &["cdable_vars", "cdspell"];

/// Options of `shopt` with which a text does something else.
const GRAVE: &[&str] = &[
    "array_expand_once",
    "assoc_expand_once",
    "extdebug",
    "inherit_errexit",
    "lastpipe",
    "localvar_inherit",
    "localvar_unset",
    "nocasematch",
    "progcomp_alias",
    "restricted_shell",
    "xpg_echo",
];

/// bash's own numbers.
const NUMBERS: &[&str] = &[
    "BASHPID",
    "COLUMNS",
    "EPOCHSECONDS",
    "EUID",
    "LINENO",
    "LINES",
    "OPTIND",
    "PPID",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

/// bash's own names.
const NAMES: &[&str] = &["BASH_VERSION", "HOSTNAME", "HOSTTYPE", "MACHTYPE", "OSTYPE"];

/// bash's own variables that may hold anything, as the reader knows.
const ANYTHING: &[&str] = &["BASH_COMMAND", "FUNCNAME", "OLDPWD", "PIPESTATUS", "PWD", "_"];

/// bash's own variables of which the reader knows nothing: what they hold changes by itself.
const CHANGING: &[&str] =
    &["DIRSTACK", "EPOCHREALTIME", "GROUPS", "HISTCMD", "OPTERR", "PS1", "PS2", "SHELLOPTS"];

/// What a shell said of itself.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// What programs get from it: names and values.
    pub environment: Vec<(String, String)>,
    /// Something of its own runs between two statements, so that it must be asked again after each.
    pub is_restless: bool,
    vars: BTreeMap<String, Value>,
    references: BTreeMap<String, String>,
    fixed: BTreeSet<String>,
    aliases: BTreeMap<String, String>,
    functions: BTreeMap<String, String>,
    manner: Manner,
}

/// How a shell reads, where it is not as ever.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// Patterns find other files.
    pub globs: bool,
    /// `cd` may lead elsewhere.
    pub moves: bool,
    /// In POSIX mode.
    pub posix: bool,
    /// An option with which texts do something else.
    pub other: Option<String>,
}

/// A function as the shell prints it, read when it is called first.
#[derive(Debug)]
pub(super) struct Told {
    text: String,
    body: OnceCell<Option<Rc<Command>>>,
}

impl Told {
    /// Its body; None where it was not understood.
    pub(super) fn body(&self) -> Option<Rc<Command>> {
        self.body
            .get_or_init(|| {
                let script = syntax::parse(self.text.as_bytes(), &Limits::default());
                let [statement] = script.body.as_slice() else { return None };
                match &statement.command {
                    Command::Function { body, .. } if script.problems.is_empty() => {
                        Some(Rc::new((**body).clone()))
                    }
                    _ => None,
                }
            })
            .clone()
    }
}

impl Survey {
    /// Reads what it said between two of these marks; None where that is not whole, or not in the form that is known.
    #[must_use]
    pub fn read(told: &[u8], mark: &str) -> Option<Self> {
        let text = std::str::from_utf8(told).ok()?;
        let mut parts = text.split('\0');
        if parts.next()? != mark {
            return None;
        }
        let mut survey = Self::default();
        let (set, shopt) = (parts.next()?, parts.next()?);
        survey.options(set, shopt);
        let expands = shopt.split(':').any(|name| name == "expand_aliases");
        survey.is_restless |= parts.next()?.lines().any(|line| !line.ends_with(" EXIT"));
        survey.variables(parts.next()?)?;
        let aliases = parts.next()?;
        if expands {
            survey.aliases = quoted::aliases(aliases)?;
        }
        loop {
            let name = parts.next()?;
            if name == mark {
                return Some(survey);
            }
            survey.functions.insert(name.to_owned(), parts.next()?.to_owned());
        }
    }

    fn options(&mut self, set: &str, shopt: &str) {
        let on = |all: &'static [&'static str]| shopt.split(':').find(|name| all.contains(name));
        self.manner.globs = on(GLOBS).is_some() || !set.split(':').any(|name| name == "braceexpand");
        self.manner.moves = on(MOVES).is_some();
        self.manner.other = on(GRAVE).map(str::to_owned);
        for name in set.split(':').filter(|name| !PLAIN_SET.contains(name)) {
            match name {
                "noglob" => self.manner.globs = true,
                "physical" => self.manner.moves = true,
                "posix" => self.manner.posix = true,
                other => self.manner.other = Some(other.to_owned()),
            }
        }
    }

    fn variables(&mut self, text: &str) -> Option<()> {
        for variable in quoted::variables(text)? {
            let (name, flags) = (variable.name, variable.flags);
            if let ("PROMPT_COMMAND", Some(held)) = (name, &variable.held) {
                self.is_restless |= *held != Held::Text(String::new());
            }
            if flags.contains('x')
                && let Some(Held::Text(value)) = &variable.held
            {
                self.environment.push((name.to_owned(), value.clone()));
            }
            if is_as_ever(name, variable.held.as_ref()) {
                continue;
            }
            if name == "IFS" && variable.held == Some(Held::Text(" \t\n".to_owned())) {
                continue;
            }
            // What is assigned to such a one is not what it then holds.
            if flags.contains(['r', 'i', 'l', 'u', 'c', 't']) {
                self.fixed.insert(name.to_owned());
            }
            // What programs get is known from there; of a list they get nothing.
            let is_own = NUMBERS.contains(&name) || NAMES.contains(&name);
            let is_text = matches!(variable.held, Some(Held::Text(_)));
            if flags.contains('x') && !flags.contains('n') && is_text && !is_own {
                continue;
            }
            // Those of bash, and those by which it tells this, hold something else by then.
            if CHANGING.contains(&name) || name.starts_with("BASH") || name.starts_with("_gsh_") {
                self.vars.insert(name.to_owned(), Value::Text(unknown()));
                continue;
            }
            match (&variable.held, flags.contains('n')) {
                (Some(Held::Text(other)), true) => {
                    self.references.insert(name.to_owned(), other.clone());
                }
                (Some(held), _) => {
                    self.vars.insert(name.to_owned(), value(held));
                }
                (None, _) => {}
            }
        }
        Some(())
    }

    /// Puts what was said in the place of what was known or not known.
    pub(super) fn tell(&self, state: &mut State) {
        state.vars.clone_from(&self.vars);
        state.references.clone_from(&self.references);
        state.exported = self.environment.iter().map(|(name, _)| name.clone()).collect();
        state.readonly.clone_from(&self.fixed);
        state.aliases.clear();
        state.expands = Rc::new(self.aliases.clone());
        state.manner = Rc::new(self.manner.clone());
        state.positional = None;
        (state.forgets, state.strays) = (false, self.is_restless);
        let before = std::mem::take(&mut state.functions);
        for (name, text) in &self.functions {
            let function = match before.get(name) {
                // Read already.
                Some(Function::Told(told)) if told.text == *text => Function::Told(Rc::clone(told)),
                _ => Function::Told(Rc::new(Told { text: text.clone(), body: OnceCell::new() })),
            };
            state.functions.insert(name.clone(), function);
        }
    }
}

/// Whether it is one of bash's own and holds what the reader takes it to hold.
fn is_as_ever(name: &str, held: Option<&Held>) -> bool {
    let text = match held {
        Some(Held::Text(text)) => text.as_str(),
        _ => "",
    };
    let is_name = || text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.()".contains(c));
    match name {
        _ if ANYTHING.contains(&name) => true,
        _ if NUMBERS.contains(&name) => !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()),
        _ if NAMES.contains(&name) => !text.is_empty() && is_name() && !text.contains(".."),
        _ => false,
    }
}

fn value(held: &Held) -> Value {
    let literal = |text: &String| Arg::literal(text, Span::default());
    match held {
        Held::Text(text) => Value::Text(literal(text)),
        Held::List(list) => Value::Array(list.iter().map(literal).collect()),
        Held::Other => Value::Text(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_bash_says_is_taken_in() {
        let told = "gsh-survey\0braceexpand:noglob\0expand_aliases:lastpipe\0trap -- 'x' SIGUSR1\n\0\
                    declare -x A=\"1\"\ndeclare -- b=\"2\"\ndeclare -r c=\"3\"\ndeclare -- _gsh_s=\"0\"\n\0\
                    alias ll='ls -l'\n\0f\0f () \n{ \n    ls\n}\n\0gsh-survey\0";
        let survey = Survey::read(told.as_bytes(), "gsh-survey").expect("a survey");
        assert_eq!(survey.environment, [("A".to_owned(), "1".to_owned())]);
        assert!(
            survey.is_restless && survey.manner.globs && survey.manner.other.as_deref() == Some("lastpipe")
        );
        let mut state = State::default();
        survey.tell(&mut state);
        assert_eq!(state.vars.keys().collect::<Vec<_>>(), ["_gsh_s", "b", "c"]);
        assert!(state.readonly.contains("c") && state.expands.contains_key("ll"));
        assert!(matches!(state.functions.get("f"), Some(Function::Told(told)) if told.body().is_some()));
        let cut = told.strip_suffix("gsh-survey\0").expect("its end");
        assert!(Survey::read(cut.as_bytes(), "gsh-survey").is_none());
        assert!(Survey::read(told.as_bytes(), "gsh-other").is_none());
    }

    #[test]
    fn what_programs_get_keeps_its_attributes_and_lists() {
        let told = "m\0braceexpand\0\0\0declare -xl A=\"a\"\ndeclare -x B=\"b\"\n\
                    declare -ax C=([0]=\"ls\" [1]=\"x\")\n\0\0m\0";
        let mut state = State::default();
        Survey::read(told.as_bytes(), "m").expect("a survey").tell(&mut state);
        assert!(state.readonly.contains("A") && !state.readonly.contains("B"));
        assert!(matches!(state.vars.get("C"), Some(Value::Array(list)) if list.len() == 2));
        assert_eq!(state.vars.len(), 1);
    }

    #[test]
    fn a_name_of_bash_that_holds_something_else_is_not_taken_as_ever() {
        for (printed, told) in [
            ("declare -- COLUMNS=\"80\"", false),
            ("declare -- COLUMNS=\"/ x\"", true),
            ("declare -x LINES=\"/ x\"", true),
            ("declare -- HOSTNAME=\"box.example\"", false),
            ("declare -- HOSTNAME=\"../..\"", true),
            ("declare -- BASH_X=\"gsh-canary-deny\"", true),
            ("declare -- PS1=\"gsh-canary-deny\"", true),
            ("declare -- _gsh_s=\"gsh-canary-deny\"", true),
            ("declare -- PWD=\"/\"", false),
        ] {
            let text = format!("m\0braceexpand\0\0\0{printed}\n\0\0m\0");
            let mut state = State::default();
            Survey::read(text.as_bytes(), "m").expect("a survey").tell(&mut state);
            assert_eq!(!state.vars.is_empty(), told, "{printed}");
        }
    }

    #[test]
    fn a_function_with_the_name_of_a_mark_ends_nothing() {
        let told = "m1\0braceexpand\0\0\0\0\0gsh-survey\0gsh-survey () \n{ \n    :\n}\n\0\
                    ls\0ls () \n{ \n    gsh-canary-deny\n}\n\0m1\0";
        let mut state = State::default();
        Survey::read(told.as_bytes(), "m1").expect("a survey").tell(&mut state);
        assert!(state.functions.contains_key("ls"));
    }
}
