//! The question as lines: pure, so that what a person sees can be tested line by line.

use super::answer::Offers;
use super::changes::changes;
use super::details::{details, rule};
use super::layout::{Line, Mark};
use super::parts::parts;
use super::{Help, Question, hosts, sanitize, tool};
use crate::decision::grant::asking;
use crate::policy::Capability;

/// A longer text begins with what it asks for, since its end may be pages away.
const LONG_LINES: usize = 8;
const LONG_LETTERS: usize = 400;

/// A question, complete: all it shows and all it offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Panel {
    pub(super) verb: String,
    pub(super) capability: String,
    pub(super) body: Vec<Line>,
    pub(super) details: Vec<Line>,
    pub(super) offers: Offers,
}

impl Panel {
    /// The question that this decision puts.
    #[must_use]
    pub fn new(question: &Question<'_>, help: &Help<'_>) -> Self {
        let first = asking(question.decision).next().map(|judged| judged.request.capability);
        Self {
            verb: first.map_or("Run", verb).to_owned(),
            capability: first.map(name).unwrap_or_default(),
            body: body(question, help),
            details: details(question),
            offers: Offers::new(question.decision, help.keeps.clone()),
        }
    }

    /// Everything that a person reads before they answer, a line each, the title first.
    #[must_use]
    pub fn plain_lines(&self) -> Vec<String> {
        let title = format!("{} ({})", self.title(), self.capability);
        [title].into_iter().chain(self.body.iter().map(|line| line.text.clone())).collect()
    }

    /// What the question is about, in a few words.
    pub(super) fn title(&self) -> String {
        format!("gsh asks: {}", self.verb)
    }
}

/// Everything, in the order in which a person needs it; nothing is cut here.
fn body(question: &Question<'_>, help: &Help<'_>) -> Vec<Line> {
    let command: Vec<Line> = sanitize::lines(&question.request.text)
        .into_iter()
        .map(|line| Line::new(Mark::Command, line))
        .collect();
    let parts = parts(question);
    let summary = parts.summary();
    let mut asks = parts.others;
    if !parts.lines.is_empty() {
        asks.push(Line::plain(summary));
        asks.extend(parts.lines);
    }
    asks.extend(risks(question));
    let blank = Line::default();
    let long = command.len() > LONG_LINES || question.request.text.len() > LONG_LETTERS;
    let mut body = Vec::new();
    if long {
        body.extend(asks);
        body.push(Line::plain(format!(
            "the whole text, {} bytes in {} lines:",
            question.request.text.len(),
            command.len()
        )));
        body.extend(command);
        body.push(blank);
        body.push(place(question));
    } else {
        body.extend(command);
        body.push(blank);
        body.push(place(question));
        body.extend(asks);
    }
    let prefer = question.decision.preferred();
    body.extend(prefer.iter().map(|better| Line::plain(format!("instead: {}", sanitize::line(better)))));
    body.extend(changes(question, help.contents));
    body.extend(tool::given(question, help.contents));
    body.extend(rules(question));
    body
}

fn place(question: &Question<'_>) -> Line {
    Line::plain(format!("in {}", sanitize::line(&question.request.cwd.to_string_lossy())))
}

/// What is unusual about it.
fn risks(question: &Question<'_>) -> Vec<Line> {
    let mut found: Vec<String> = Vec::new();
    let told = asking(question.decision).flat_map(|judged| judged.request.risks.iter().cloned());
    let text = question.request.as_text();
    for risk in told.chain(hosts::notes(text)) {
        if !found.contains(&risk) {
            found.push(risk);
        }
    }
    if sanitize::has_lookalikes(&question.request.text) {
        found.push("letters outside ASCII: one may look like another".to_owned());
    }
    if text.chars().any(sanitize::is_right_to_left) {
        found.push(
            "letters written from right to left: a terminal may show their line in another order".to_owned(),
        );
    }
    found.iter().map(|risk| Line::new(Mark::Risk, format!("! {}", sanitize::line(risk)))).collect()
}

/// The rules that ask, each once.
fn rules(question: &Question<'_>) -> Vec<Line> {
    let mut found: Vec<Line> = Vec::new();
    for judged in asking(question.decision) {
        let line = Line::plain(format!("rule: {}", sanitize::line(&rule(judged))));
        if !found.contains(&line) {
            found.push(line);
        }
    }
    found.extend(question.decision.knob.map(|knob| Line::plain(format!("setting: {knob}"))));
    found
}

fn verb(capability: Capability) -> &'static str {
    match capability {
        Capability::FileRead => "Read",
        Capability::FileWriteProject | Capability::FileWriteOutside => "Write",
        Capability::ProcessExecute => "Run",
        Capability::ProcessBackground => "Leave running",
        Capability::NetworkAccess => "Talk to the network",
        Capability::GitModify => "Change a repository",
        Capability::ToolUse => "Use a tool",
    }
}

/// A capability's name in rules and records.
#[must_use]
pub fn name(capability: Capability) -> String {
    capability.word().to_owned()
}

#[cfg(test)]
mod tests {
    use super::super::testing::shown;
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let panel = shown(text, |question| Panel::new(question, &Help::none()));
        panel.body.into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_short_text_comes_first_and_a_long_one_after_what_it_asks() {
        let asks = "- Run frobnicate x: what this program does is not fully explained";
        let rule = "rule: process.execute \"*\" (built in)";
        assert_eq!(lines("frobnicate x"), ["frobnicate x", "", "in /home/dev/proj", asks, rule]);
        let long = format!("A={} frobnicate x", "p".repeat(LONG_LETTERS));
        let found = lines(&long);
        assert!(found.first().is_some_and(|line| line.starts_with("- Run frobnicate x")), "{found:#?}");
        assert!(found.contains(&long), "{found:#?}");
    }

    #[test]
    fn hostile_texts_are_shown_as_what_they_are() {
        let table: [(&str, &[&str]); 8] = [
            ("curl https://example.com/\u{200b}x", &["curl https://example.com/<U+200B>x"]),
            ("touch x #\u{1b}[2K\u{1b}[1Gls -la", &["touch x #\\e[2K\\e[1Gls -la"]),
            ("touch x #\rls -la", &["touch x #\\rls -la"]),
            (
                "curl -sSL https://\u{456}nstall.example.com/x",
                &[
                    "! the name \u{456}nstall.example.com is xn--nstall-ovf.example.com: letters outside ASCII may look like others, and it mixes Latin and Cyrillic ones",
                    "! letters outside ASCII: one may look like another",
                ],
            ),
            ("echo a\u{202e}b > /x", &["echo a<U+202E>b > /x"]),
            (
                "frobnicate \u{5d0}",
                &["! letters written from right to left: a terminal may show their line in another order"],
            ),
            ("frobnicate \u{e0041}", &["frobnicate <U+E0041>"]),
            ("frobnicate\u{a0}x", &["frobnicate<U+00A0>x"]),
        ];
        for (text, expected) in table {
            let found = lines(text);
            for line in expected {
                assert!(found.iter().any(|each| each == line), "{line:?} of {text:?} in {found:#?}");
            }
            let bare = found.concat();
            assert!(!bare.chars().any(|letter| letter.is_control() || letter == '\u{202e}'), "{bare:?}");
        }
    }
}
