//! The text of one file to the rules and settings of a layer. Every mistake becomes a report with its
//! place; what is right beside it still counts.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};

use super::rule::RuleReader;
use super::schema::{
    ASK, AUDIT, HOOK, INTERACTIVE, LIMITS, NOTIFY, PERSON, REFUSALS, RUN, SHELL, SUBAGENTS, TOP, Wrong,
    forbidden, modes, verdicts,
};
use crate::facts::programs::{OwnTable, Source};
use crate::policy::duration;
use crate::policy::knobs::{Gate, HookAllow, HookShell, Limits, Prompt, Pty, Settings, Way, WithoutTerminal};
use crate::policy::meaning::Said;
use crate::policy::{Layer, LayerRules, Rule, Verdict};
use crate::report::{Report, Span};

/// A value with its place.
pub(super) type Value<'t> = toml::Spanned<DeValue<'t>>;

/// Where a file stands.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The layer it is read for.
    pub layer: Layer,
    /// Its path.
    pub path: &'a Path,
    /// Where its relative patterns start.
    pub root: Option<&'a str>,
    /// The user's home, for examples.
    pub home: Option<&'a str>,
}

/// The examples of one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The rule.
    pub rule: Rule,
    /// Subjects it must match.
    pub matches: Vec<String>,
    /// Subjects it must not match.
    pub not_matches: Vec<String>,
}

/// A file as read.
#[derive(Debug)]
pub struct Reading {
    /// What it says; its mistakes are the layer's damage.
    pub layer: LayerRules,
    /// The examples of its rules.
    pub examples: Vec<Example>,
}

/// Reads a file's text.
#[must_use]
pub fn read(text: &str, origin: &Origin<'_>) -> Reading {
    let file: Arc<str> = origin.path.to_string_lossy().into();
    let mut page = Page::new(text, Arc::clone(&file));
    let (sound, errors) = salvage(text);
    for error in errors {
        let span = error.span().unwrap_or_default();
        page.reports.push(Report::at(error.message(), &file, &page.source, span.into()));
    }
    let (table, _) = DeTable::parse_recoverable(&sound);
    let mut layer = LayerRules { path: Some(file), present: true, ..LayerRules::empty(origin.layer) };
    let mut rules = RuleReader::new(origin);
    for (key, value) in table.get_ref() {
        match &**key.get_ref() {
            "permissions" => rules.permissions(&mut page, value),
            name @ ("forbid" | "floor" | "reviewer")
                if !matches!(origin.layer, Layer::User | Layer::Managed) =>
            {
                page.wrong(key.span().into(), &Wrong::NotHere(name.to_owned()));
            }
            "floor" => rules.floor(&mut page, value),
            "forbid" => layer.forbids = page.words(value, &forbidden()).unwrap_or_default(),
            "programs" => layer.programs = programs(&mut page, value),
            name => {
                layer.said.extend(page.said(name, key.span().start, value));
                top(&mut page, &mut layer, name, key.span().into(), value);
            }
        }
    }
    layer.rules = rules.rules;
    layer.damage = page.reports;
    Reading { layer, examples: rules.examples }
}

/// The tables of `[programs.NAME]`, in the notation of the built-in ones.
fn programs(page: &mut Page, value: &Value<'_>) -> Vec<OwnTable> {
    let mut found = vec![];
    for (key, value) in page.table(value).into_iter().flatten() {
        let names = key.get_ref().to_string();
        let read = toml::de::ValueDeserializer::from(value.clone());
        let made = match Source::deserialize(read) {
            Ok(source) => {
                OwnTable::new(&names, source, page.line(key.span().start)).map_err(|why| (key.span(), why))
            }
            Err(error) => Err((error.span().unwrap_or(key.span()), error.message().to_owned())),
        };
        match made {
            Ok(table) => found.push(table),
            Err((span, why)) => page.wrong(span.into(), &Wrong::Table { names, why }),
        }
    }
    found
}

/// How many broken lines are passed over in one file.
const MOST_BROKEN: usize = 64;

/// The text with what is no TOML blanked out, so that every place stays where it is, and the errors. A
/// parser stops at what it cannot read; what stands below it may still refuse something.
fn salvage(text: &str) -> (Cow<'_, str>, Vec<toml::de::Error>) {
    let mut sound = Cow::Borrowed(text);
    let mut errors = vec![];
    while errors.len() < MOST_BROKEN {
        let Err(error) = DeTable::parse(&sound) else { break };
        let at = error.span().map_or(0, |span| span.start);
        errors.push(error);
        match blanked(&sound, at) {
            Some(blanked) => sound = Cow::Owned(blanked),
            None => break,
        }
    }
    (sound, errors)
}

/// The text without the line of a byte; without the whole section when that line is its header, whose
/// keys would otherwise fall to the section above. None when nothing is there to take away.
fn blanked(text: &str, byte: usize) -> Option<String> {
    let start = text.get(..byte)?.rfind('\n').map_or(0, |at| at + 1);
    let line_end =
        |from: usize| text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at);
    let mut end = line_end(start);
    let is_header = |from: usize| {
        text.get(from..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with('['))
    };
    if is_header(start) {
        while end < text.len() && !is_header(end + 1) {
            end = line_end(end + 1);
        }
    }
    let (before, broken, after) = (text.get(..start)?, text.get(start..end)?, text.get(end..)?);
    let blank: String = broken.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    (blank != broken).then(|| format!("{before}{blank}{after}"))
}

/// One key of a file's top other than the rules.
fn top(page: &mut Page, layer: &mut LayerRules, name: &str, key: Span, value: &Value<'_>) {
    use Verdict::{Allow, Ask, Deny, Review};
    let settings = &mut layer.settings;
    match name {
        "mode" => layer.mode = page.word(value, &modes()),
        "on_unresolved" => settings.on_unresolved = page.word(value, &verdicts(&[Review, Ask, Deny])),
        "on_mixed" => settings.on_mixed = page.word(value, &verdicts(&[Review, Ask, Deny])),
        "on_review_unavailable" => {
            settings.on_review_unavailable = page.word(value, &verdicts(&[Allow, Ask, Deny]));
        }
        "on_ask_without_terminal" => {
            let words = [
                ("auto", WithoutTerminal::Auto),
                ("queue", WithoutTerminal::Queue),
                ("deny", WithoutTerminal::Deny),
            ];
            settings.on_ask_without_terminal = page.word(value, &words);
        }
        "reviewer" => settings.reviewer = super::reviewer::read(page, value),
        "allow_roots" => settings.allow_roots = page.roots(value),
        "ask" => page.section(value, ASK, |page, key, value| match key {
            "terminals" => settings.terminals = page.texts(value),
            "plain" => settings.plain = page.truth(value),
            "denial_ends_all" => settings.denial_ends_all = page.truth(value),
            "wait" => settings.ask_wait = page.count(value),
            "keep" => settings.ask_keep = page.count(value),
            _ => settings.notify = page.notified(value),
        }),
        "audit" => page.section(value, AUDIT, |page, key, value| match key {
            "required" => settings.audit_required = page.truth(value),
            "debug" => settings.audit_debug = page.truth(value),
            _ => settings.audit_keep_days = page.count(value),
        }),
        "shell" => page.section(value, SHELL, |page, _, value| settings.shell = page.absolute(value)),
        "refusals" => page.section(value, REFUSALS, |page, key, value| {
            let count = page.any_count(value);
            match key {
                "in_a_row" => settings.refusals_in_a_row = count,
                _ => settings.refusals_in_all = count,
            }
        }),
        "subagents" => page.section(value, SUBAGENTS, |page, key, value| match key {
            "allow_grants" => settings.subagents_allow_grants = page.truth(value),
            _ => settings.subagents_default = page.word(value, &verdicts(&[Review, Ask, Deny])),
        }),
        "hook" => page.section(value, HOOK, |page, key, value| hook(page, settings, key, value)),
        "person" => page.section(value, PERSON, |page, key, value| match key {
            "enabled" => settings.person_enabled = page.truth(value),
            "auto_review" => settings.person_auto_review = page.truth(value),
            _ => settings.person_reviewer = page.text(value),
        }),
        "interactive" => page.section(value, INTERACTIVE, |page, key, value| match key {
            "rc" => settings.interactive_rc = page.root(value),
            _ => {
                settings.interactive_prompt =
                    page.word(value, &[("gsh", Prompt::Gsh), ("shell", Prompt::Shell)])
            }
        }),
        "run" => page.section(value, RUN, |page, key, value| run(page, settings, key, value)),
        "limits" => {
            page.section(value, LIMITS, |page, key, value| limit(page, &mut settings.limits, key, value))
        }
        _ => page.wrong(key, &Wrong::Key { key: name.to_owned(), known: TOP }),
    }
}

fn hook(page: &mut Page, settings: &mut Settings, key: &str, value: &Value<'_>) {
    match key {
        "gate" => {
            settings.hook_gate = page.word(value, &[("side-effect", Gate::SideEffect), ("all", Gate::All)]);
        }
        "shell" => {
            let words = [("decide", HookShell::Decide), ("leave", HookShell::Leave)];
            settings.hook_shell = page.word(value, &words);
        }
        _ => {
            let words = [("answer", HookAllow::Answer), ("leave", HookAllow::Leave)];
            settings.hook_allow = page.word(value, &words);
        }
    }
}

fn run(page: &mut Page, settings: &mut Settings, key: &str, value: &Value<'_>) {
    match key {
        "pty" => {
            let words = [("auto", Pty::Auto), ("always", Pty::Always), ("never", Pty::Never)];
            settings.pty = page.word(value, &words);
        }
        "way" => {
            let words = [("auto", Way::Auto), ("exec", Way::Exec), ("pipes", Way::Pipes)];
            settings.way = page.word(value, &words);
        }
        "timeout" => settings.timeout = page.duration(value),
        _ => {
            let status = page.count(value).and_then(|status| u8::try_from(status).ok());
            settings.timeout_status = status.or_else(|| page.wrong_type(value, "a status from 1 to 255"));
        }
    }
}

fn limit(page: &mut Page, limits: &mut Limits, key: &str, value: &Value<'_>) {
    let limit = match key {
        "bytes" => &mut limits.bytes,
        "depth" => &mut limits.depth,
        "nodes" => &mut limits.nodes,
        _ => &mut limits.progress,
    };
    *limit = page.count(value);
}

fn number<N: TryFrom<u64>>(value: &Value<'_>) -> Option<N> {
    let number = value.get_ref().as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok().and_then(|number| N::try_from(number).ok())
}

/// The text that is read, and what was found wrong in it.
pub(super) struct Page {
    file: Arc<str>,
    source: Arc<str>,
    /// Where its lines end.
    ends: Vec<usize>,
    reports: Vec<Report>,
}

impl Page {
    fn new(text: &str, file: Arc<str>) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at).collect();
        Self { file, source: text.into(), ends, reports: vec![] }
    }

    /// The file's name.
    pub(super) fn file(&self) -> Arc<str> {
        Arc::clone(&self.file)
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> usize {
        self.ends.partition_point(|end| *end < byte) + 1
    }

    /// What a key says, and each key of its section.
    fn said(&self, name: &str, at: usize, value: &Value<'_>) -> Vec<Said> {
        let text = |span: Range<usize>| self.source.get(span).unwrap_or_default().to_owned();
        let one = |name: String, at: usize, value: &Value<'_>| Said {
            name,
            value: text(value.span()),
            line: self.line(at),
        };
        match value.get_ref().as_table() {
            Some(table) => {
                let each = table.iter();
                each.map(|(key, value)| one(format!("{name}.{}", key.get_ref()), key.span().start, value))
                    .collect()
            }
            None => vec![one(name.to_owned(), at, value)],
        }
    }

    /// Reports something wrong.
    pub(super) fn wrong(&mut self, span: Span, wrong: &Wrong) {
        let report = Report::at(wrong.to_string(), &self.file, &self.source, span);
        self.reports.push(match wrong.help() {
            Some(help) => report.help(help),
            None => report,
        });
    }

    fn wrong_type<T>(&mut self, value: &Value<'_>, expected: &'static str) -> Option<T> {
        let found = value.get_ref().type_str();
        self.wrong(value.span().into(), &Wrong::Type { expected, found });
        None
    }

    /// Hands on the known keys of a table.
    pub(super) fn section(
        &mut self,
        value: &Value<'_>,
        known: &'static [&'static str],
        mut take: impl FnMut(&mut Self, &str, &Value<'_>),
    ) {
        let Some(table) = self.table(value) else { return };
        for (key, value) in table {
            if known.contains(&&**key.get_ref()) {
                take(self, key.get_ref(), value);
            } else {
                let key_text = key.get_ref().to_string();
                self.wrong(key.span().into(), &Wrong::Key { key: key_text, known });
            }
        }
    }

    pub(super) fn table<'v, 't>(&mut self, value: &'v Value<'t>) -> Option<&'v DeTable<'t>> {
        value.get_ref().as_table().or_else(|| self.wrong_type(value, "a table"))
    }

    /// One of a few words.
    pub(super) fn word<T: Copy>(&mut self, value: &Value<'_>, words: &[(&'static str, T)]) -> Option<T> {
        let word = self.text(value)?;
        let found = words.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant);
        if found.is_none() {
            let known = words.iter().map(|(known, _)| *known).collect();
            self.wrong(value.span().into(), &Wrong::Word { word, known });
        }
        found
    }

    pub(super) fn text(&mut self, value: &Value<'_>) -> Option<String> {
        value.get_ref().as_str().map(str::to_owned).or_else(|| self.wrong_type(value, "a string"))
    }

    /// Strings with their places.
    pub(super) fn spanned_texts(&mut self, value: &Value<'_>) -> Option<Vec<(String, Span)>> {
        let Some(values) = value.get_ref().as_array() else {
            return self.wrong_type(value, "an array of strings");
        };
        values.iter().map(|value| Some((self.text(value)?, value.span().into()))).collect()
    }

    /// Some of a few words.
    pub(super) fn words<T: Copy>(
        &mut self,
        value: &Value<'_>,
        words: &[(&'static str, T)],
    ) -> Option<Vec<T>> {
        let Some(values) = value.get_ref().as_array() else {
            return self.wrong_type(value, "an array of strings");
        };
        values.iter().map(|value| self.word(value, words)).collect()
    }

    pub(super) fn texts(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        self.spanned_texts(value).map(|texts| texts.into_iter().map(|(text, _)| text).collect())
    }

    pub(super) fn truth(&mut self, value: &Value<'_>) -> Option<bool> {
        value.get_ref().as_bool().or_else(|| self.wrong_type(value, "true or false"))
    }

    fn count(&mut self, value: &Value<'_>) -> Option<usize> {
        number(value).filter(|number| *number > 0).or_else(|| self.wrong_type(value, "a number above 0"))
    }

    pub(super) fn any_count(&mut self, value: &Value<'_>) -> Option<u32> {
        number(value).or_else(|| self.wrong_type(value, "a number"))
    }

    /// Known ways to tell of a question, and programs by absolute path.
    fn notified(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        let entries = self.spanned_texts(value)?;
        let known = |entry: &str| NOTIFY.contains(&entry) || entry.starts_with('/');
        let (good, bad): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(entry, _)| known(entry));
        for (entry, span) in bad {
            self.wrong(span, &Wrong::Notified(entry));
        }
        Some(good.into_iter().map(|(entry, _)| entry).collect())
    }

    /// A length of time: seconds, or a text with a unit.
    pub(super) fn duration(&mut self, value: &Value<'_>) -> Option<Duration> {
        let written = match value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str()),
            other => other.as_str(),
        };
        let expected = "a time (seconds, or a text like \"90s\", \"5m\", \"2h\")";
        written.and_then(duration::parse).or_else(|| self.wrong_type(value, expected))
    }

    pub(super) fn absolute(&mut self, value: &Value<'_>) -> Option<String> {
        let path = self.text(value)?;
        if path.starts_with('/') {
            return Some(path);
        }
        self.wrong(value.span().into(), &Wrong::NotAbsolute(path));
        None
    }

    /// A path, absolute or in the home.
    fn root(&mut self, value: &Value<'_>) -> Option<String> {
        let path = self.text(value)?;
        if path.starts_with("~/") { Some(path) } else { self.absolute(value) }
    }

    /// Folders, absolute or in the home.
    fn roots(&mut self, value: &Value<'_>) -> Option<Vec<String>> {
        let roots = self.spanned_texts(value)?;
        let (good, bad): (Vec<_>, Vec<_>) =
            roots.into_iter().partition(|(root, _)| root.starts_with('/') || root.starts_with("~/"));
        for (root, span) in bad {
            self.wrong(span, &Wrong::NotAbsolute(root));
        }
        Some(good.into_iter().map(|(root, _)| root).collect())
    }
}
