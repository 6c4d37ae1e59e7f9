//! `gsh rules lint`: what in the rules is wrong, never counts, or says more than was meant.

mod broad;
mod never;
mod odd;
mod seen;

use std::fmt::Write;

use serde::Serialize;

use super::list::visible;
use crate::config::read::Reading;
use crate::host::Host;
use crate::policy::pattern;
use crate::policy::shadow::{But, Shadow, shadows};
use crate::policy::{Capability, Layer, Policy, Rule, Verdict};
use crate::report::Report;

/// How much a finding matters, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not what was meant.
    Warning,
    /// Wrong: the file is damaged.
    Error,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// What kind of thing it is, in a word.
    pub code: &'static str,
    /// The file.
    pub file: String,
    /// The line, from 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The same with the lines of the file.
    #[serde(skip)]
    report: Option<String>,
}

/// What is looked at.
pub struct Given<'a> {
    /// The files.
    pub readings: &'a [Reading],
    /// The policy that they make.
    pub policy: &'a Policy,
    /// The machine, for what commands are matched as.
    pub host: &'a dyn Host,
}

/// Everything that is found, by file and line.
#[must_use]
pub fn findings(given: &Given<'_>) -> Vec<Finding> {
    let damage = given.readings.iter().flat_map(|reading| &reading.layer.damage);
    let mut found: Vec<Finding> = damage.map(Finding::of_report).collect();
    found.extend(shadows(given.policy).iter().map(of_shadow));
    for reading in given.readings {
        let layer = &reading.layer;
        let rules: Vec<&Rule> = layer.rules.iter().map(|each| &each.rule).collect();
        found.extend(never::findings(&rules, given));
        for rule in &rules {
            found.extend(odd::findings(rule));
            found.extend(broad::findings(rule));
            found.extend(Some(rule).filter(|_| !layer.trusted).and_then(|rule| untrusted(rule)));
        }
    }
    found.sort_by(|one, other| {
        let key =
            |finding: &Finding| (finding.file.clone(), finding.line, std::cmp::Reverse(finding.severity));
        key(one).cmp(&key(other))
    });
    // A rule in an agent's form is one for each of several capabilities; a rule can name several agents.
    found.dedup_by(|one, other| {
        let same = (&one.file, one.line, one.code) == (&other.file, other.line, other.code);
        same && one.report.is_none() && (one.code != "unknown-agent" || one.message == other.message)
    });
    found
}

/// What is found in one rule by itself.
#[must_use]
pub fn of_rule(rule: &Rule) -> Vec<Finding> {
    odd::findings(rule).into_iter().chain(broad::findings(rule)).collect()
}

/// The findings for a person.
#[must_use]
pub fn text(found: &[Finding], rules: usize) -> String {
    let mut text = String::new();
    for finding in found {
        // Writing to a string cannot fail.
        let _ = match &finding.report {
            Some(report) => writeln!(text, "{report}\n"),
            None => writeln!(
                text,
                "{}: {}:{}: {} [{}]\n    {}\n",
                finding.severity.word(),
                visible(&finding.file),
                finding.line,
                visible(&finding.message),
                finding.code,
                visible(&finding.help)
            ),
        };
    }
    let count =
        |severity, noun| counted(found.iter().filter(|finding| finding.severity == severity).count(), noun);
    let said = match found {
        [] => "nothing to say".to_owned(),
        _ => [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Note, "note")]
            .map(|(severity, noun)| count(severity, noun))
            .join(", "),
    };
    let _ = writeln!(text, "{}: {said}.", counted(rules, "rule"));
    text
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The findings as data: one JSON array.
#[must_use]
pub fn json(found: &[Finding]) -> String {
    serde_json::to_string_pretty(found).unwrap_or_default()
}

/// The exit status: 0 for nothing or notes, 1 for warnings, 2 for errors.
#[must_use]
pub fn status(found: &[Finding]) -> u8 {
    match found.iter().map(|finding| finding.severity).max() {
        None | Some(Severity::Note) => 0,
        Some(Severity::Warning) => 1,
        Some(Severity::Error) => 2,
    }
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl Finding {
    fn new(severity: Severity, code: &'static str, rule: &Rule, message: String, help: &str) -> Self {
        let file = rule.file.as_deref().unwrap_or(rule.layer.word()).to_owned();
        Self { severity, code, file, line: rule.line, message, help: help.to_owned(), report: None }
    }

    fn of_report(report: &Report) -> Self {
        Self {
            severity: Severity::Error,
            code: "damaged",
            file: report.file.clone(),
            line: report.position().map_or(0, |(line, _)| line),
            message: report.title.clone(),
            help: report
                .help
                .clone()
                .unwrap_or_else(|| "put it right: until then nothing is silent by default".into()),
            report: Some(report.render(false)),
        }
    }
}

/// Whether a rule is for the capability.
fn covers(rule: &Rule, capability: Capability) -> bool {
    pattern::matches(&rule.capability, capability.word())
}

/// `deny "npm publish *"`.
fn named(rule: &Rule) -> String {
    format!("{} \"{}\"", rule.action.word(), rule.pattern)
}

fn place(rule: &Rule) -> String {
    format!("{}:{}", rule.file.as_deref().unwrap_or(rule.layer.word()), rule.line)
}

fn of_shadow(shadow: &Shadow) -> Finding {
    let (rule, by) = (&shadow.rule, &shadow.by);
    let same_file = rule.file == by.file;
    let same = rule.action == by.action;
    let still = match shadow.but {
        Some(But::Mentions) => {
            "; it still counts for whole pipelines and lists, and for what gsh fully explains"
        }
        Some(But::Vouching) => "; it still vouches for exactly this text where gsh does not understand it",
        Some(But::Spelled) => " (in this spelling; it may count for another of the same command)",
        None => "",
    };
    let later = format!("{} at {}", named(by), place(by));
    let (code, message, help) = if by.floor.is_some() {
        (
            "shadowed",
            format!("{} never decides: the floor's own entry {later} refuses all of it", named(rule)),
            "take it away",
        )
    } else if same && rule.pattern == by.pattern && rule.capability == by.capability {
        ("duplicate", format!("{} stands again at {}", named(rule), place(by)), "take one of them away")
    } else if rule.action == Verdict::Deny && by.action == Verdict::Allow {
        let message = format!("what {} refuses {later} allows again, all of it{still}", named(rule));
        ("reopened", message, "the last rule that matches decides: put the refusal below it")
    } else {
        let message = format!("{} never decides: {later} matches all of it{still}", named(rule));
        (
            "shadowed",
            message,
            "the last rule that matches decides: put this one below that one, or take it away",
        )
    };
    // What another file says is another's matter, and what says the same does no harm.
    let shorthand = rule.layer == Layer::Overrides;
    let harmless = shorthand || (same && (code == "shadowed" || !same_file));
    let severity = if harmless { Severity::Note } else { Severity::Warning };
    Finding::new(severity, code, rule, message, help)
}

fn untrusted(rule: &Rule) -> Option<Finding> {
    let message = format!("{} has no effect: this file is not trusted", named(rule));
    let finding =
        Finding::new(Severity::Note, "untrusted", rule, message, "read the file, then run `gsh trust`");
    (rule.action == Verdict::Allow).then_some(finding)
}

#[cfg(test)]
mod tests;
