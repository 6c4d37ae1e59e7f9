//! The list of questions and the open one, as text and as keys: pure, so that both can be tested.

use super::keys::Key;
use crate::ask::layout::wrap;
use crate::ask::queue::Shown;
use crate::ask::sanitize;
use crate::store::pending::{Bytes, Entry, Pending, Reply, State};

const LIST_KEYS: &str = "[arrows] choose   [Enter] look at it   [q] leave";
const OPEN_KEYS: &str =
    "[y] allow once   [n] or [Esc] deny   [d] deny with a reason   [Tab] next page   [q] the list";
const KEYS_BEFORE: &str =
    "[Tab] next page   [y] after the last page   [n] or [Esc] deny   [d] deny with a reason   [q] the list";
const REASON_KEYS: &str = "[Enter] deny with this reason   [Esc] back";
/// The longest reason that is taken.
const LONGEST_REASON: usize = 500;

/// What a key asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Nothing beyond what is shown.
    Nothing,
    /// To end.
    Leave,
    /// To answer this question as it was shown.
    Answer(Box<Pending>, Reply),
}

/// What is on the screen.
#[derive(Debug, Default)]
pub(super) struct View {
    entries: Vec<Entry>,
    /// The chosen question's name.
    chosen: Option<String>,
    open: Option<Open>,
    /// The last thing that happened.
    said: String,
    /// Only this question is shown, and its end is ours.
    only: Option<String>,
    size: (usize, usize),
}

/// A question that is being looked at, as it was when it was opened.
#[derive(Debug)]
struct Open {
    pending: Pending,
    page: usize,
    /// The last page was shown, in a window of this size.
    seen: bool,
    /// A reason that is being typed.
    reason: Option<String>,
}

impl View {
    pub(super) fn new(only: Option<String>) -> Self {
        Self { only, size: (80, 24), ..Self::default() }
    }

    /// Another window cuts other pages: all has to be seen anew. Whether it is another.
    pub(super) fn resize(&mut self, size: (usize, usize)) -> bool {
        let another = self.size != size;
        if another {
            self.size = size;
            if let Some(open) = &mut self.open {
                (open.page, open.seen) = (0, false);
            }
            self.look();
        }
        another
    }

    /// Takes over how the questions stand now; whether there is one that was not there before, and whether all
    /// is over.
    pub(super) fn update(&mut self, mut entries: Vec<Entry>) -> (bool, bool) {
        if let Some(only) = &self.only {
            entries.retain(|entry| entry.pending.id == *only);
        }
        let known = |id: &str| self.entries.iter().any(|entry| entry.pending.id == id);
        let news = entries.iter().any(|entry| is_open(entry) && !known(&entry.pending.id));
        self.entries = entries;
        if let Some(open) = &self.open {
            let id = open.pending.id.clone();
            let now = self.entries.iter().find(|entry| entry.pending.id == id);
            let over = match now {
                None => Some(format!("{id} is over: it was answered elsewhere, or expired")),
                Some(entry) if entry.pending.bound != open.pending.bound => {
                    Some(format!("{id} changed: look at it again"))
                }
                Some(Entry { state: State::Answered(reply), .. }) => {
                    Some(format!("{id} was answered elsewhere: {}", reply.word()))
                }
                Some(_) => None,
            };
            if let Some(over) = over {
                (self.open, self.said) = (None, over);
            }
        }
        self.choose_open();
        let first_look = self.only.is_some() && self.open.is_none() && news;
        if first_look {
            self.open_chosen();
        }
        let over = self.only.is_some() && !self.entries.iter().any(is_open);
        (news, over)
    }

    /// What is answered or gone is not chosen while another question is open: the next one is.
    fn choose_open(&mut self) {
        let at = self.entries.iter().position(|entry| Some(&entry.pending.id) == self.chosen.as_ref());
        if at.and_then(|at| self.entries.get(at)).is_some_and(is_open) {
            return;
        }
        let from = at.unwrap_or(0);
        let open = |(_, entry): &(usize, &Entry)| is_open(entry);
        let next = self.entries.iter().enumerate().filter(open).find(|(index, _)| *index >= from);
        let next = next.or_else(|| self.entries.iter().enumerate().rfind(open));
        let chosen = next.map(|(_, entry)| entry).or_else(|| self.entries.first());
        self.chosen = chosen.map(|entry| entry.pending.id.clone());
    }

    /// The question in front was answered, or could not be: what to say of that.
    pub(super) fn answered(&mut self, said: String) {
        (self.open, self.said) = (None, said);
    }

    /// What was said last.
    pub(super) fn said(&self) -> &str {
        &self.said
    }

    /// A name that changes when another question is shown: keys meant for one must not answer the next.
    pub(super) fn shown(&self) -> Option<&str> {
        self.open.as_ref().map(|open| open.pending.id.as_str())
    }

    /// Whether a line is being typed.
    pub(super) fn types(&self) -> bool {
        self.open.as_ref().is_some_and(|open| open.reason.is_some())
    }

    fn open_chosen(&mut self) {
        let chosen = self.entries.iter().find(|entry| Some(&entry.pending.id) == self.chosen.as_ref());
        if let Some(entry) = chosen.filter(|entry| is_open(entry)) {
            let pending = entry.pending.clone();
            self.open = Some(Open { pending, page: 0, seen: false, reason: None });
            self.said = String::new();
            self.look();
        }
    }

    /// Notes that the page in front is seen.
    fn look(&mut self) {
        let pages = self.pages();
        if let Some(open) = &mut self.open {
            open.seen |= open.page + 1 >= pages;
        }
    }

    /// What a key does. What came with others at once answers nothing.
    pub(super) fn press(&mut self, key: Key, alone: bool) -> Act {
        if self.types() {
            return self.press_in_reason(key);
        }
        let pages = self.pages();
        let Some(open) = &mut self.open else { return self.press_in_list(key) };
        let refused =
            |open: &Open, reason| Act::Answer(Box::new(open.pending.clone()), Reply::Refused { reason });
        match key {
            Key::Letter('y' | 'Y') if !alone => {}
            Key::Letter('y' | 'Y') if open.seen => {
                return Act::Answer(Box::new(open.pending.clone()), Reply::Once);
            }
            Key::Letter('y' | 'Y') => {
                "y counts only after the last page; Tab shows the next".clone_into(&mut self.said)
            }
            Key::Letter('n' | 'N') | Key::Escape | Key::Interrupt if alone => return refused(open, None),
            Key::Letter('d' | 'D') => open.reason = Some(String::new()),
            Key::Letter('q' | 'Q') => return self.close(),
            Key::Next | Key::Down => open.page = (open.page + 1) % pages,
            Key::Back | Key::Up => open.page = (open.page + pages - 1) % pages,
            _ => {}
        }
        self.look();
        Act::Nothing
    }

    fn close(&mut self) -> Act {
        self.open = None;
        if self.only.is_some() { Act::Leave } else { Act::Nothing }
    }

    fn press_in_list(&mut self, key: Key) -> Act {
        let at = self.entries.iter().position(|entry| Some(&entry.pending.id) == self.chosen.as_ref());
        let at = at.unwrap_or(0);
        let choose = |at: usize| self.entries.get(at).map(|entry| entry.pending.id.clone());
        match key {
            Key::Letter('q' | 'Q') | Key::Escape | Key::Interrupt => return Act::Leave,
            Key::Up | Key::Letter('k') => self.chosen = choose(at.saturating_sub(1)),
            Key::Down | Key::Letter('j') => self.chosen = choose(at + 1).or_else(|| choose(at)),
            Key::Enter | Key::Next => self.open_chosen(),
            _ => {}
        }
        Act::Nothing
    }

    fn press_in_reason(&mut self, key: Key) -> Act {
        let Some(open) = &mut self.open else { return Act::Nothing };
        let Some(reason) = &mut open.reason else { return Act::Nothing };
        match key {
            Key::Letter(letter) if reason.chars().count() < LONGEST_REASON => reason.push(letter),
            Key::Rubout => drop(reason.pop()),
            Key::Escape | Key::Interrupt => open.reason = None,
            Key::Enter => {
                let reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
                return Act::Answer(Box::new(open.pending.clone()), Reply::Refused { reason });
            }
            _ => {}
        }
        Act::Nothing
    }

    fn pages(&self) -> usize {
        let Some(open) = &self.open else { return 1 };
        self.body(open).len().div_ceil(self.page_length()).max(1)
    }

    /// What is left for the body: a line above it, who asks, the longest keys and what was said below.
    fn page_length(&self) -> usize {
        let (columns, rows) = self.size;
        let around = 1 + 1 + wrap(KEYS_BEFORE, columns.max(1)).len() + 2;
        rows.saturating_sub(around).max(1)
    }

    fn body(&self, open: &Open) -> Vec<String> {
        let width = self.size.0.saturating_sub(2).max(1);
        let shown = Shown::of(&open.pending.bound);
        shown.lines.iter().flat_map(|line| wrap(line, width)).collect()
    }

    /// The lines of the whole screen, none wider than it. `now` is in milliseconds since 1970.
    pub(super) fn lines(&self, now: i64) -> Vec<String> {
        let (columns, rows) = self.size;
        let mut lines = match &self.open {
            Some(open) => self.question(open, now),
            None => self.list(now),
        };
        lines.truncate(rows);
        lines.iter().map(|line| fit(line, columns)).collect()
    }

    fn question(&self, open: &Open, now: i64) -> Vec<String> {
        let columns = self.size.0.max(1);
        let (body, length, pages) = (self.body(open), self.page_length(), self.pages());
        let page = open.page.min(pages - 1);
        let mut lines = vec![format!("+-- {}", Shown::of(&open.pending.bound).title)];
        lines.extend(body.iter().skip(page * length).take(length).map(|line| format!("| {line}")));
        let place = if pages > 1 { format!("page {}/{pages}, ", page + 1) } else { String::new() };
        lines.push(format!("+-- {place}{}", who(&open.pending, now)));
        match &open.reason {
            Some(reason) => {
                // The end of a long line is what is being typed.
                let typed =
                    wrap(&sanitize::line(&format!("Reason: {reason}")), columns.saturating_sub(1).max(1));
                lines.extend(typed.last().map(|line| format!("{line}_")));
                lines.extend(wrap(REASON_KEYS, columns));
            }
            None => {
                lines.extend(wrap(if open.seen { OPEN_KEYS } else { KEYS_BEFORE }, columns));
                lines.extend(wrap(&self.said, columns));
            }
        }
        lines
    }

    fn list(&self, now: i64) -> Vec<String> {
        let (columns, rows) = self.size;
        let below: Vec<String> =
            [LIST_KEYS, &self.said].into_iter().flat_map(|text| wrap(text, columns.max(1))).collect();
        let room = rows.saturating_sub(1 + below.len()).max(1);
        let at = self.entries.iter().position(|entry| Some(&entry.pending.id) == self.chosen.as_ref());
        let at = at.unwrap_or(0);
        let first = (at + 1).saturating_sub(room);
        let open = self.entries.iter().filter(|entry| is_open(entry)).count();
        let mut lines = vec![match open {
            0 => "gsh: no question is open".to_owned(),
            1 => "gsh: 1 question".to_owned(),
            more => format!("gsh: {more} questions"),
        }];
        for (index, entry) in self.entries.iter().enumerate().skip(first).take(room) {
            let mark = if index == at { '>' } else { ' ' };
            let Bytes(text) = &entry.pending.bound.text;
            let command = sanitize::lines(text).join("\\n");
            lines.push(format!("{mark} {}  {}  {command}", entry.pending.id, how(entry, now)));
        }
        lines.extend(below);
        lines
    }
}

fn is_open(entry: &Entry) -> bool {
    !matches!(entry.state, State::Answered(_))
}

/// How a question stands, short.
fn how(entry: &Entry, now: i64) -> String {
    match &entry.state {
        State::Answered(reply) => reply.word().to_owned(),
        State::Kept => "nobody waits".to_owned(),
        State::Waiting => left(&entry.pending, now).unwrap_or_else(|| "waits".to_owned()),
    }
}

fn left(pending: &Pending, now: i64) -> Option<String> {
    let until = pending.asker.waiter.as_ref()?.until;
    (until > now).then(|| format!("{} s left", (until - now) / 1000))
}

fn who(pending: &Pending, now: i64) -> String {
    let agent = pending.asker.agent.as_deref().map_or_else(|| "a program".to_owned(), sanitize::line);
    let waits =
        left(pending, now).unwrap_or_else(|| "nobody waits: the answer holds for the next such call".into());
    format!("{} of {agent}, session {}, {waits}", pending.id, sanitize::line(&pending.bound.session))
}

fn fit(line: &str, columns: usize) -> String {
    wrap(line, columns.max(1)).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
