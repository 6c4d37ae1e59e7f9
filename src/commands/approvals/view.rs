//! The list of questions and the open one, as text and as keys: pure, so that both can be tested.

mod open;

use self::open::{Open, Pressed};
use super::keys::Key;
use crate::ask::layout::wrap;
use crate::ask::sanitize;
use crate::store::pending::{Bytes, Entry, Pending, Reply, State};

const LIST_KEYS: &str = "[arrows] choose   [Enter] look at it   [q] leave";
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
                open.resize(size);
            }
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
        self.open.as_ref().is_some_and(Open::types)
    }

    fn open_chosen(&mut self) {
        let chosen = self.entries.iter().find(|entry| Some(&entry.pending.id) == self.chosen.as_ref());
        if let Some(entry) = chosen.filter(|entry| is_open(entry)) {
            let pending = entry.pending.clone();
            self.open = Some(Open::new(pending, self.size));
            self.said = String::new();
        }
    }

    /// What a key does.
    pub(super) fn press(&mut self, key: Key, alone: bool) -> Act {
        let Some(open) = &mut self.open else { return self.press_in_list(key) };
        match open.press(key, alone) {
            Pressed::Nothing => Act::Nothing,
            Pressed::Close => self.close(),
            Pressed::Said(said) => {
                said.clone_into(&mut self.said);
                Act::Nothing
            }
            Pressed::Answered(reply) => Act::Answer(Box::new(open.pending.clone()), reply),
        }
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
            Key::Enter | Key::Tab | Key::Next => self.open_chosen(),
            _ => {}
        }
        Act::Nothing
    }

    /// The lines of the whole screen, none wider than it. `now` is in milliseconds since 1970.
    pub(super) fn lines(&self, now: i64) -> Vec<String> {
        let (columns, rows) = self.size;
        let mut lines = match &self.open {
            Some(open) => open.lines(&self.said, now),
            None => self.list(now),
        };
        lines.truncate(rows);
        lines.iter().map(|line| fit(line, columns)).collect()
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

fn fit(line: &str, columns: usize) -> String {
    wrap(line, columns.max(1)).into_iter().next().unwrap_or_default()
}

#[cfg(test)]
mod tests;
