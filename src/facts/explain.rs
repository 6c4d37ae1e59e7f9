//! Whether a command is fully explained: by its table, and by nothing around it that would run.

use std::path::Path;

use super::arg::Arg;
use super::gather::Gatherer;
use super::glob;
use super::identity::Identity;
use super::path;
use super::programs::Reading;
use super::state::State;
use crate::host::Node;
use crate::report::Span;
use crate::syntax::Cause;

impl Gatherer<'_> {
    /// Whether the reading is full and nothing around it executes; says what is not.
    pub(super) fn explain(
        &mut self,
        state: &State,
        words: &[Arg],
        reading: &Reading,
        identity: &Identity,
        span: Span,
    ) -> bool {
        let mut explained = true;
        if let Some((cause, detail)) = &identity.doubt {
            self.unexplained(*cause, detail.clone(), span);
            explained = false;
        }
        for gap in &reading.unexplained {
            let at = gap.index.and_then(|index| words.get(index)).map_or(span, |word| word.span);
            match gap.cause {
                Cause::UnknownProgram
                | Cause::UnknownOption
                | Cause::OpaqueCode
                | Cause::UnsupportedShell => {
                    self.unexplained(gap.cause, gap.detail.clone(), at);
                }
                Cause::DynamicWord | Cause::DynamicPath => {
                    let shown = gap.index.and_then(|index| words.get(index)).map(Arg::display);
                    let detail = shown.map_or_else(
                        || gap.detail.clone(),
                        |shown| format!("{shown} is only known when it runs"),
                    );
                    self.doubt(gap.cause, detail, at, false);
                }
                _ => self.doubt(gap.cause, gap.detail.clone(), at, true),
            }
            explained = false;
        }
        explained & self.loads(state, reading, span) & self.settings(state, reading, span)
    }

    /// Files that the command would obey where it works.
    fn loads(&mut self, state: &State, reading: &Reading, span: Span) -> bool {
        if reading.loads.is_empty() {
            return true;
        }
        let cwd = match &reading.directory {
            Some(_) => self.directory(state, reading),
            None => state.cwd.clone(),
        };
        // In a folder that cannot be told, or is not there yet, may be any of them.
        let elsewhere = reading.directory.is_some()
            && cwd.as_deref().is_none_or(|cwd| self.host.list(Path::new(cwd)).is_none());
        // After an earlier part wrote something, what is not there now may be there then.
        let obeyed = reading
            .loads
            .iter()
            .find(|load| elsewhere || state.disturbed || self.is_there(cwd.as_deref(), load));
        if let Some(load) = obeyed {
            self.unexplained(Cause::ExecutingEnvironment, format!("it obeys {load} here"), span);
        }
        obeyed.is_none()
    }

    /// Whether a file that a command would obey exists, here or in a folder above up to the project's root:
    /// most tools look there, too. A name may be a pattern.
    fn is_there(&self, cwd: Option<&str>, load: &str) -> bool {
        let root = self.host.project();
        let mut above = Path::new(cwd.unwrap_or_default())
            .ancestors()
            .skip(1)
            .take_while(|folder| root.as_ref().is_some_and(|root| folder.starts_with(root)));
        self.is_in(cwd, load) || above.any(|folder| self.is_in(folder.to_str(), load))
    }

    fn is_in(&self, cwd: Option<&str>, load: &str) -> bool {
        if glob::is_pattern(load) {
            let found = glob::expand(self.host, cwd, load, &|names| self.pays(names));
            return found.is_none_or(|found| !found.is_empty());
        }
        path::locate(self.host, cwd, load).is_none_or(|place| place.node != Node::Missing)
    }

    /// Git settings and hooks that the command would execute.
    fn settings(&mut self, state: &State, reading: &Reading, span: Span) -> bool {
        if reading.executes_settings.is_empty() {
            return true;
        }
        let dir = match &reading.directory {
            Some(arg) => {
                path::targets(self.host, state.cwd.as_deref(), arg).into_iter().next().and_then(|t| match t {
                    path::Target::Known(place) => Some(place.real),
                    _ => None,
                })
            }
            None => state.cwd.clone(),
        };
        let Some(dir) = dir else {
            self.doubt(Cause::ExecutingEnvironment, "which repository this is cannot be told", span, false);
            return false;
        };
        if state.disturbed {
            self.doubt(
                Cause::ExecutingEnvironment,
                "an earlier part may have changed the repository's settings",
                span,
                false,
            );
            return false;
        }
        let Some(git) = self.host.git(Path::new(&dir)) else { return true };
        let hit = git.settings.iter().find(|(key, value)| {
            !harmless_setting(key, value) && reading.executes_settings.iter().any(|each| names(each, key))
        });
        let hook = git.hooks.iter().find(|hook| reading.executes_settings.contains(&format!("hook:{hook}")));
        let what = match (hit, hook) {
            (Some((key, value)), _) => format!("the repository's setting {key} runs {value}"),
            (None, Some(hook)) => format!("the repository's hook {hook} runs"),
            (None, None) => return true,
        };
        self.unexplained(Cause::ExecutingEnvironment, what, span);
        false
    }
}

/// Whether a setting's value runs nothing.
fn harmless_setting(key: &str, value: &str) -> bool {
    let boolean = matches!(value, "" | "true" | "false" | "yes" | "no" | "on" | "off" | "0" | "1");
    match key {
        "core.fsmonitor" => boolean,
        // Every signature is then shown to a program that another setting names.
        "log.showsignature" => matches!(value, "false" | "no" | "off" | "0"),
        "core.pager" | "core.editor" | "sequence.editor" => {
            matches!(value, "" | "cat" | "less" | "more" | "true")
        }
        "core.hookspath" => value.ends_with(".husky/_") || value.ends_with(".husky"),
        // A format may ask for the same with `%G`.
        _ if key == "format.pretty" || key.starts_with("pretty.") => !value.contains("%G"),
        _ if key.starts_with("filter.lfs.") => value.starts_with("git-lfs ") || boolean,
        _ if key.starts_with("pager.") => boolean,
        _ => boolean,
    }
}

/// Whether a table's entry (`diff.*.textconv`, `core.fsmonitor`) names this setting.
fn names(entry: &str, key: &str) -> bool {
    if let Some((head, tail)) = entry.split_once('*') {
        return key.len() >= head.len() + tail.len() && key.starts_with(head) && key.ends_with(tail);
    }
    entry == key
}
