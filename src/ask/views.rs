//! What each view of a question shows, and how it is cut to its window.

use super::answer::{Kept, Scope};
use super::dialog::{Always, Dialog, View, chosen_minutes, shown_minutes};
use super::layout::{Line, Mark, Window, fill, fit, shorten, width};
use super::line::Input;
use super::sanitize;
use crate::policy::pattern::Pattern;

/// So many covered commands are named; the rest is counted.
const COVERED: usize = 10;

/// What a view shows before it is cut.
struct Content {
    title: String,
    badge: String,
    body: Vec<Line>,
    /// The keys, one text each, and all of them in a few letters for a small window.
    keys: Vec<String>,
    letters: String,
}

/// A view, cut to its window.
#[derive(Debug, Default)]
pub(super) struct Cut {
    title: String,
    columns: usize,
    body: Vec<Line>,
    keys: Vec<String>,
    /// The lines of the body that a page holds.
    length: usize,
}

impl Cut {
    fn new(content: &Content, window: Window) -> Self {
        // The last column stays free: terminals differ in what follows a full line.
        let columns = window.columns.saturating_sub(1).max(4);
        let body: Vec<Line> = content.body.iter().flat_map(|line| line.framed(columns)).collect();
        let mut keys: Vec<String> = fill(&content.keys, columns.saturating_sub(4).max(1))
            .into_iter()
            .map(|line| format!("+-- {line}"))
            .collect();
        if keys.len() > (window.rows / 3).max(1) {
            keys = vec![fit(&format!("+-{}", content.letters), columns)];
        }
        // Beside the body: the title, the line about pages, the keys, and a free line at the end.
        let length = window.rows.saturating_sub(3 + keys.len()).max(1);
        Self { title: title(content, columns), columns, body, keys, length }
    }

    /// How many pages it has.
    pub(super) fn pages(&self) -> usize {
        self.body.len().div_ceil(self.length.max(1)).max(1)
    }

    /// One of its pages, with the note or what is on the others.
    pub(super) fn page(&self, page: usize, note: &str) -> Vec<Line> {
        let page = page.min(self.pages() - 1);
        let mut lines = vec![Line::plain(&self.title)];
        lines.extend(self.body.iter().skip(page * self.length).take(self.length).cloned());
        let hidden = self.body.len() - (lines.len() - 1);
        let about = match (note, hidden) {
            ("", 0) => String::new(),
            ("", hidden) => about_pages(page + 1, self.pages(), hidden, self.columns),
            (note, _) => format!("+ {note}"),
        };
        if !about.is_empty() {
            lines.push(Line::plain(fit(&about, self.columns)));
        }
        lines.extend(self.keys.iter().map(Line::plain));
        lines
    }
}

/// What the dialogue shows now, cut to its window.
pub(super) fn cut(dialog: &Dialog<'_>) -> Cut {
    Cut::new(&content(dialog), dialog.window)
}

fn title(content: &Content, columns: usize) -> String {
    let title = format!("+-- {}", content.title);
    if content.badge.is_empty() {
        return fit(&title, columns);
    }
    let badge = format!("[{}]", content.badge);
    match columns.checked_sub(width(&title) + width(&badge) + 1) {
        Some(free) => format!("{title} {:-<free$}{badge}", ""),
        None => fit(&title, columns),
    }
}

/// How much is not on this page, and the keys to it.
fn about_pages(page: usize, pages: usize, hidden: usize, columns: usize) -> String {
    let long = format!("+-- page {page}/{pages}: {hidden} more lines, [j] next page, [k] page before");
    if width(&long) <= columns { long } else { format!("+ {page}/{pages}: {hidden} more, [j]") }
}

fn content(dialog: &Dialog<'_>) -> Content {
    match &dialog.view {
        View::Question => question(dialog),
        View::Details => {
            let body = dialog.panel.details.clone();
            simple("details", body, &["[Tab] back"], "Tab=back j k")
        }
        View::Keys => simple("keys", keys_explained(dialog), &["[Tab] back"], "Tab=back j k"),
        View::Session => {
            let body =
                kept("until this session ends, allowed without a question:", &dialog.panel.offers.exact);
            simple("allow for the session?", body, &["[y] keep", "[n] back"], "y=keep n=back")
        }
        View::Minutes(typed) => minutes(dialog, &shown_minutes(typed.as_deref())),
        View::Always(always) => self::always(dialog, always),
        View::Edit(always, input) => edit(dialog, always, input),
        View::Reason { input, session } => reason(input, *session),
    }
}

fn simple(title: &str, body: Vec<Line>, keys: &[&str], letters: &str) -> Content {
    Content {
        title: title.to_owned(),
        badge: String::new(),
        body,
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        letters: letters.to_owned(),
    }
}

fn question(dialog: &Dialog<'_>) -> Content {
    let (keys, letters): (Vec<String>, Vec<&str>) =
        offered(dialog).into_iter().map(|(letter, key, _)| (key, letter)).unzip();
    let rival = dialog.help.rival.map(|rival| Line::new(Mark::Asks, rival.told()));
    Content {
        title: dialog.panel.title(),
        badge: dialog.panel.capability.clone(),
        body: rival.into_iter().chain(dialog.panel.body.iter().cloned()).collect(),
        keys,
        letters: letters.join("/"),
    }
}

/// The keys of the question: in a few letters, in a few words, and in full.
fn offered(dialog: &Dialog<'_>) -> Vec<(&'static str, String, String)> {
    let offers = &dialog.panel.offers;
    let pattern = offers.always.first().and_then(|part| part.patterns.first());
    let pattern = pattern.map(|pattern| shorten(&sanitize::line(pattern), 24)).unwrap_or_default();
    let timed = !offers.exact.is_empty();
    let always = !offers.always.is_empty();
    let all: [(bool, &'static str, String, &str); 8] = [
        (true, "y", "[y] allow once".into(), "allow this text, here, this once"),
        (timed, "s", "[s] for this session".into(), "allow exactly this until the session ends"),
        (timed, "m", "[m] for minutes".into(), "allow exactly this for some minutes"),
        (always, "a", format!("[a] always \"{pattern}\""), "choose a pattern to keep as a rule"),
        (true, "n", "[n] or [Esc] deny".into(), "deny, with a reason if you like; ^C denies at once"),
        (
            offers.denial,
            "d",
            "[d] deny for this session".into(),
            "deny, and not be asked again in this session",
        ),
        (true, "Tab", "[Tab] details".into(), "every request, rule, path and program"),
        (true, "?", "[?] keys".into(), "this list; [j] and [k] turn the pages"),
    ];
    let kept = all.into_iter().filter(|(is_offered, ..)| *is_offered);
    kept.map(|(_, letter, key, meaning)| (letter, key, meaning.to_owned())).collect()
}

fn keys_explained(dialog: &Dialog<'_>) -> Vec<Line> {
    let lines = offered(dialog).into_iter();
    let mut lines: Vec<Line> =
        lines.map(|(letter, _, meaning)| Line::plain(format!("{letter}: {meaning}"))).collect();
    lines.push(Line::plain(
        "Enter and space answer nothing; keys that come together, as in a paste, answer nothing",
    ));
    lines
}

fn kept(head: &str, all: &[Kept]) -> Vec<Line> {
    let mut lines = vec![Line::plain(head)];
    lines.extend(
        all.iter().map(|kept| Line::new(Mark::Asks, format!("  {}", sanitize::line(&kept.to_string())))),
    );
    lines
}

fn minutes(dialog: &Dialog<'_>, digits: &str) -> Content {
    let head = match chosen_minutes(digits) {
        Some(1) => "for 1 minute, allowed without a question:".to_owned(),
        Some(minutes) => format!("for {minutes} minutes, allowed without a question:"),
        None => format!("{digits:?} minutes: type a number from 1 to 1440"),
    };
    let body = kept(&head, &dialog.panel.offers.exact);
    let keys = ["[y] keep", "[0-9] [Backspace] other number", "[n] back"];
    simple("allow for minutes?", body, &keys, "y=keep 0-9 n=back")
}

fn always(dialog: &Dialog<'_>, always: &Always) -> Content {
    let offers = &dialog.panel.offers;
    let parts = offers.always.len();
    let pattern = dialog.pattern(always);
    let mut body = Vec::new();
    let part = offers.always.get(always.part);
    if parts > 1 {
        let subject = part.map(|part| sanitize::line(&part.subject)).unwrap_or_default();
        body.push(Line::plain(format!("part {} of {parts}: {subject}", always.part + 1)));
        body.extend(kept_before(always));
    }
    body.extend(kept(
        "from now on, allowed without a question:",
        &part.map(|part| part.kept(&pattern)).unwrap_or_default(),
    ));
    let place = sanitize::line(offers.keeps.place(always.scope).unwrap_or_default());
    let whose = if always.scope == Scope::Project { "for this project" } else { "for all your projects" };
    body.push(Line::plain(format!("kept {whose}, in {place}")));
    body.extend(reach(dialog, &pattern));
    let mut keys = vec![if always.part + 1 < parts { "[y] take it, next part" } else { "[y] keep" }];
    keys.extend((part.map_or(0, |part| part.patterns.len()) > 1).then_some("[a] other pattern"));
    keys.push("[e] edit");
    let both = offers.keeps.project.is_some() && offers.keeps.user.is_some();
    keys.extend(both.then_some(if always.scope == Scope::Project {
        "[p] for all projects"
    } else {
        "[p] for this project"
    }));
    keys.push("[n] back");
    simple("allow always?", body, &keys, "y=keep a e p n=back")
}

fn kept_before(always: &Always) -> Vec<Line> {
    let taken =
        always.chosen.iter().map(|kept| Line::plain(format!("taken: {}", sanitize::line(&kept.to_string()))));
    taken.collect()
}

/// What the pattern would have covered.
fn reach(dialog: &Dialog<'_>, pattern: &str) -> Vec<Line> {
    let mut lines = Vec::new();
    if Pattern::new(pattern).is_bare() {
        lines.push(Line::new(Mark::Risk, "! it covers every command"));
    }
    let covered = (dialog.help.covered)(pattern);
    lines.push(Line::plain(match covered.len() {
        0 => "it would have covered nothing in the record".to_owned(),
        1 => "it would have covered 1 command of the record:".to_owned(),
        many => format!("it would have covered {many} commands of the record:"),
    }));
    let named = covered
        .iter()
        .take(COVERED)
        .map(|text| Line::plain(format!("  {}", shorten(&sanitize::line(text), 200))));
    lines.extend(named);
    if let Some(more) = covered.len().checked_sub(COVERED).filter(|more| *more > 0) {
        lines.push(Line::plain(format!("  and {more} more")));
    }
    lines
}

fn edit(dialog: &Dialog<'_>, always: &Always, input: &Input) -> Content {
    let pattern = input.text();
    let mut body = vec![Line::new(Mark::Asks, format!("pattern: {}", input.shown()))];
    if !dialog.covers(always, &pattern) {
        body.push(Line::new(Mark::Risk, "! it does not cover what is asked about"));
    }
    body.extend(reach(dialog, &pattern));
    simple("edit the pattern", body, &["[Enter] take it", "[Esc] back"], "Enter=take Esc=back")
}

fn reason(input: &Input, session: bool) -> Content {
    let title = if session { "denied for this session" } else { "denied" };
    let body = vec![Line::plain(format!("Reason (Enter for none): {}", input.shown()))];
    simple(title, body, &["[Enter] send", "[Esc] no reason"], "Enter=send Esc=none")
}
