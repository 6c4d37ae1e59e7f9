//! The question as text: pure, so that what a person sees can be tested line by line.

use super::sanitize;
use crate::decision::{Decision, Judged};
use crate::policy::{Capability, Verdict};
use crate::request::Request;

/// The keys, on the last page and on those before it.
const KEYS: &str = "+-- [y] allow once   [n] or [Esc] deny   [d] deny with a reason";
const KEYS_BEFORE: &str = "+-- [n] or [Esc] deny   [d] deny with a reason   [y] after the last page";
/// The line above the body, and one free line above and below all.
const AROUND: usize = 3;

/// A question, complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Panel {
    verb: String,
    capability: String,
    command: Vec<String>,
    directory: String,
    effects: Vec<String>,
    risks: Vec<String>,
    /// What to do instead.
    prefer: Vec<String>,
    rules: Vec<String>,
}

impl Panel {
    /// The question that this decision puts.
    #[must_use]
    pub fn new(request: &Request, decision: &Decision) -> Self {
        let asking: Vec<&Judged> =
            decision.requests.iter().filter(|judged| judged.verdict != Verdict::Allow).collect();
        let first = asking.first().map(|judged| judged.request.capability);
        let mut effects = unique(asking.iter().map(|judged| &judged.request.display));
        effects.extend(
            decision.not_understood.iter().map(|problem| format!("not understood: {}", problem.detail)),
        );
        let mut risks = unique(asking.iter().flat_map(|judged| &judged.request.risks));
        if sanitize::has_lookalikes(&request.text) {
            risks.push("letters outside ASCII: one may look like another".to_owned());
        }
        let mut rules: Vec<String> = asking.iter().map(|judged| rule(judged)).collect();
        rules.dedup();
        if rules.is_empty() {
            rules.push(decision.reason.clone());
        }
        Self {
            verb: first.map_or("Run", verb).to_owned(),
            capability: first.map(name).unwrap_or_default(),
            command: sanitize::lines(&request.text),
            directory: sanitize::line(&request.cwd.to_string_lossy()),
            effects: effects.iter().map(|text| sanitize::line(text)).collect(),
            risks: risks.iter().map(|text| sanitize::line(text)).collect(),
            prefer: decision.preferred().into_iter().map(str::to_owned).collect(),
            rules: rules.iter().map(|text| sanitize::line(text)).collect(),
        }
    }

    /// Everything, one line each, nothing cut.
    #[must_use]
    pub fn plain_lines(&self) -> Vec<String> {
        let mut lines = vec![format!("gsh asks: {} ({})", self.verb, self.capability)];
        lines.extend(self.command.iter().map(|line| format!("  {line}")));
        lines.push(format!("in {}", self.directory));
        lines.extend(self.effects.iter().map(|line| format!("- {line}")));
        lines.extend(self.risks.iter().map(|line| format!("! {line}")));
        lines.extend(self.prefer.iter().map(|line| format!("instead: {line}")));
        lines.extend(self.rules.iter().map(|line| format!("rule: {line}")));
        lines
    }

    /// How many pages there are in a window of this size.
    #[must_use]
    pub fn pages(&self, columns: usize, rows: usize) -> usize {
        self.body(columns).len().div_ceil(page_length(columns, rows)).max(1)
    }

    /// One page, from 0, as lines that fit the window. What is not on it is counted.
    #[must_use]
    pub fn page(&self, columns: usize, rows: usize, page: usize) -> Vec<String> {
        let body = self.body(columns);
        let length = page_length(columns, rows);
        let pages = self.pages(columns, rows);
        let shown: Vec<&String> = body.iter().skip(page.saturating_mul(length)).take(length).collect();
        let mut lines = vec![fit(&format!("+-- gsh asks: {} [{}]", self.verb, self.capability), columns)];
        lines.extend(shown.iter().map(|line| format!("| {line}")));
        let hidden = body.len() - shown.len();
        if hidden > 0 {
            lines.extend(wrap(&more(page + 1, pages, hidden), columns));
        }
        lines.extend(wrap(if page + 1 < pages { KEYS_BEFORE } else { KEYS }, columns));
        lines
    }

    fn body(&self, columns: usize) -> Vec<String> {
        let width = columns.saturating_sub(2).max(1);
        let mut body = Vec::new();
        for line in &self.command {
            body.extend(wrap(line, width));
        }
        body.push(String::new());
        body.extend(wrap(&format!("in {}", self.directory), width));
        let marked = |mark: &str, lines: &[String]| -> Vec<String> {
            lines.iter().flat_map(|line| wrap(&format!("{mark} {line}"), width)).collect()
        };
        body.extend(marked("-", &self.effects));
        body.extend(marked("!", &self.risks));
        body.extend(marked("instead:", &self.prefer));
        body.extend(marked("rule:", &self.rules));
        body
    }
}

fn more(page: usize, pages: usize, hidden: usize) -> String {
    format!("+-- page {page}/{pages}: {hidden} more lines; Tab shows the next page")
}

/// What is left of the window for the body, so that nothing of a page scrolls away.
fn page_length(columns: usize, rows: usize) -> usize {
    let below = wrap(&more(99, 99, 999), columns).len() + wrap(KEYS_BEFORE, columns).len();
    rows.saturating_sub(AROUND + below).max(1)
}

/// Cut by columns, never by bytes; a wide letter counts as the two it takes.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let (mut line, mut used) = (String::new(), 0);
    for character in text.chars() {
        let takes = console::measure_text_width(character.encode_utf8(&mut [0; 4]));
        if used + takes > width && !line.is_empty() {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        line.push(character);
        used += takes;
    }
    lines.push(line);
    lines
}

fn fit(text: &str, width: usize) -> String {
    wrap(text, width.max(1)).into_iter().next().unwrap_or_default()
}

fn unique<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for text in texts {
        if !seen.contains(text) {
            seen.push(text.clone());
        }
    }
    seen
}

/// The rule that asks, and where it stands.
fn rule(judged: &Judged) -> String {
    match &judged.matched.rule {
        Some(rule) => {
            let place = rule
                .file
                .as_deref()
                .map_or_else(|| "built in".to_owned(), |file| format!("{file}:{}", rule.line));
            format!("{} \"{}\" ({place})", rule.capability, rule.pattern)
        }
        None => judged.matched.reason.clone().unwrap_or_else(|| "the default".to_owned()),
    }
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
    serde_json::to_value(capability)
        .ok()
        .and_then(|value| Some(value.as_str()?.to_owned()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(command: &str) -> Panel {
        Panel {
            verb: "Run".to_owned(),
            capability: "process.execute".to_owned(),
            command: sanitize::lines(command.as_bytes()),
            directory: "/p".to_owned(),
            effects: vec!["runs make".to_owned()],
            risks: vec!["unusual".to_owned()],
            prefer: vec!["another way".to_owned()],
            rules: vec!["process.execute \"*\" (built in)".to_owned()],
        }
    }

    #[test]
    fn a_small_question_is_one_page() {
        let expected = [
            "+-- gsh asks: Run [process.execute]",
            "| make all",
            "| ",
            "| in /p",
            "| - runs make",
            "| ! unusual",
            "| instead: another way",
            "| rule: process.execute \"*\" (built in)",
            "+-- [y] allow once   [n] or [Esc] deny   [d] deny with a reason",
        ];
        assert_eq!(panel("make all").page(80, 24, 0), expected);
    }

    #[test]
    fn every_size_shows_everything_on_some_page() {
        let text = (0..60).map(|n| format!("echo line-{n:02} of a long script\n")).collect::<String>();
        let panel = panel(&text);
        for (columns, rows) in [(80, 24), (40, 12), (20, 8), (10, 6), (1, 1)] {
            let pages = panel.pages(columns, rows);
            let mut all = String::new();
            for page in 0..pages {
                let lines = panel.page(columns, rows, page);
                if columns >= 10 {
                    let wide = lines.iter().find(|line| console::measure_text_width(line) > columns);
                    assert_eq!(wide, None, "{columns}x{rows}");
                }
                all.extend(lines.iter().filter_map(|line| line.strip_prefix("| ")).flat_map(str::chars));
                assert!(pages == 1 || lines.concat().contains("more"), "{columns}x{rows} page {page}");
                assert!(columns < 20 || lines.len() + 2 <= rows.max(12), "{columns}x{rows}: {}", lines.len());
                let last = page + 1 == pages;
                assert_eq!(lines.concat().contains("allow once"), last, "{columns}x{rows} page {page}");
            }
            for n in 0..60 {
                assert!(all.contains(&format!("line-{n:02}")), "line {n} at {columns}x{rows}");
            }
        }
    }

    #[test]
    fn wide_letters_count_double() {
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("", 4), [""]);
    }
}
