//! One page with charts, whole in itself: no script, no font, nothing from elsewhere.

use std::collections::VecDeque;
use std::fmt::Write;

use jiff::tz::TimeZone;

use super::look::visible;
use super::tally::{Counting, Tally, rate};
use crate::audit::query::Entry;
use crate::commands::moment;

/// So many records are listed.
const LISTED: usize = 500;

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>gsh: the record</title><style>\
:root{color-scheme:light dark}body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.4rem}h2{font-size:1rem;margin:1.6rem 0 .4rem}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.15rem .6rem .15rem 0;vertical-align:top}td.n{text-align:right;width:5rem}\
td.b{width:45%}.bar{background:#4a7ebb;height:.8rem;border-radius:2px}code{font-size:.85rem;word-break:break-all}\
.allow{color:#2a7a2a}.deny{color:#b3261e}.ask,.review{color:#a06a00}svg{width:100%;height:6rem}\
</style></head><body>";

/// A page, while records come.
pub(super) struct Page<'z> {
    zone: &'z TimeZone,
    counting: Counting,
    /// The latest that were asked about or refused, oldest first.
    listed: VecDeque<Entry>,
}

impl<'z> Page<'z> {
    /// Nothing yet; by the days and hours of a zone.
    pub(super) fn by(zone: &'z TimeZone) -> Self {
        Self { zone, counting: Counting::by(zone), listed: VecDeque::new() }
    }

    /// More records, later ones than before.
    pub(super) fn add(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            self.counting.add(&entry);
            if entry.verdict != "allow" {
                self.listed.push_back(entry);
            }
        }
        self.listed.drain(..self.listed.len().saturating_sub(LISTED));
    }

    /// The page, and how many records there were.
    pub(super) fn end(self) -> (String, usize) {
        let tally = self.counting.end();
        let mut page = String::from(HEAD);
        let asked = tally.asked();
        // Writing to a string cannot fail, here and below.
        let _ = write!(
            page,
            "<h1>The record</h1><p>{} commands, {asked} asked ({}). Times are those of {}.</p>",
            tally.records,
            rate(asked, tally.records),
            escaped(&moment::name(self.zone))
        );
        page.push_str(&days(&tally));
        for (title, rows) in [
            ("Verdicts", &tally.verdicts),
            ("Decided by", &tally.decided_by),
            ("Answers", &tally.answers),
            ("Programs that were asked about", &tally.asked_programs),
            ("Rules that asked or refused", &tally.rules),
            ("Agents", &tally.agents),
            ("Sessions", &tally.sessions),
        ] {
            page.push_str(&bars(title, rows));
        }
        page.push_str(&list(self.listed.iter().rev(), self.zone));
        page.push_str("</body></html>\n");
        (page, tally.records)
    }
}

fn list<'e>(entries: impl Iterator<Item = &'e Entry>, zone: &TimeZone) -> String {
    let mut text = String::from(
        "<h2>The latest that were asked about or refused</h2><table><tr><th>time<th>verdict<th>by<th>command</tr>",
    );
    for entry in entries {
        let verdict = escaped(&entry.verdict);
        let _ = write!(
            text,
            "<tr><td>{}<td class=\"{verdict}\">{verdict}<td>{}<td><code title=\"{}\">{}</code></tr>",
            escaped(&moment::of_text(&entry.time, zone)),
            escaped(&entry.by()),
            escaped(&entry.reason),
            escaped(entry.command.shown())
        );
    }
    text + "</table>"
}

fn bars(title: &str, rows: &[(String, usize)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
    let mut text = format!("<h2>{title}</h2><table>");
    for (name, count) in rows {
        let width = count * 100 / most;
        let _ = write!(
            text,
            "<tr><td>{}<td class=\"n\">{count}<td class=\"b\"><div class=\"bar\" style=\"width:{width}%\"></div></tr>",
            escaped(name)
        );
    }
    text + "</table>"
}

/// Commands by day, and among them the questions.
fn days(tally: &Tally) -> String {
    let most = tally.days.iter().map(|(_, all, _)| *all).max().unwrap_or(0);
    if most == 0 {
        return String::new();
    }
    let step = 100.0 / tally.days.len() as f64;
    let mut text = String::from(
        "<h2>Commands by day (dark: questions)</h2><svg viewBox=\"0 0 100 20\" preserveAspectRatio=\"none\">",
    );
    for (index, (day, all, asked)) in tally.days.iter().enumerate() {
        for (count, colour) in [(all, "#9bb8d8"), (asked, "#4a7ebb")] {
            let (x, height) = (index as f64 * step, *count as f64 * 20.0 / most as f64);
            let _ = write!(
                text,
                "<rect x=\"{x:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\" fill=\"{colour}\"><title>{}: {all} commands, {asked} asked</title></rect>",
                20.0 - height,
                step * 0.85,
                escaped(day)
            );
        }
    }
    text + "</svg>"
}

fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for letter in visible(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::query::Text;

    #[test]
    fn hostile_text_stays_text() {
        let entry = Entry {
            time: "2026-01-01T00:00:00Z".into(),
            command: Text::Whole("<script>alert('x')</script>\u{1b}[2J".into()),
            verdict: "ask".into(),
            ..Entry::default()
        };
        let zone = TimeZone::UTC;
        let mut page = Page::by(&zone);
        page.add(vec![entry]);
        let page = page.end().0;
        assert!(!page.contains("<script") && !page.contains('\u{1b}'), "{page}");
        assert!(page.contains("&lt;script&gt;") && page.ends_with("</html>\n"));
    }
}
