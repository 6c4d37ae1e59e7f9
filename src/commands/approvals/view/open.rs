//! The open question: its sheets, their pages, and what each key does there.

use super::super::keys::Key;
use super::{LONGEST_REASON, left};
use crate::ask::dialog::MINUTES;
use crate::ask::layout::{fill, wrap};
use crate::ask::queue::Shown;
use crate::ask::sanitize;
use crate::store::pending::{Pending, Reply};

/// What a key comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pressed {
    /// Nothing, or something that shows.
    Nothing,
    /// Back to the list.
    Close,
    /// What is to be said to the person.
    Said(&'static str),
    /// The answer.
    Answered(Reply),
}

/// What of the question is in front.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Sheet {
    Question,
    Details,
    /// What this answer would keep.
    Keep(Reply),
}

/// A refusal that is being put into words.
#[derive(Debug)]
struct Reason {
    text: String,
    session: bool,
}

/// A question that is being looked at, as it was when it was opened.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) pending: Pending,
    sheet: Sheet,
    page: usize,
    /// The last page of this sheet was shown, in a window of this size.
    seen: bool,
    /// The question itself was, in a window of this size.
    read: bool,
    reason: Option<Reason>,
    size: (usize, usize),
}

impl Open {
    pub(super) fn new(pending: Pending, size: (usize, usize)) -> Self {
        let (sheet, page, seen, read) = (Sheet::Question, 0, false, false);
        let mut open = Self { pending, sheet, page, seen, read, reason: None, size };
        open.look();
        open
    }

    /// Another window cuts other pages: all has to be seen anew.
    pub(super) fn resize(&mut self, size: (usize, usize)) {
        (self.size, self.read) = (size, false);
        self.show(self.sheet.clone());
    }

    /// Whether a line is being typed.
    pub(super) fn types(&self) -> bool {
        self.reason.is_some()
    }

    fn show(&mut self, sheet: Sheet) {
        self.seen = sheet == Sheet::Question && self.read;
        (self.sheet, self.page) = (sheet, 0);
        self.look();
    }

    /// Notes that the page in front is seen.
    fn look(&mut self) {
        self.seen |= self.page + 1 >= self.pages();
        self.read |= self.seen && self.sheet == Sheet::Question;
    }

    /// What a key does. What came with others at once approves nothing.
    pub(super) fn press(&mut self, key: Key, alone: bool) -> Pressed {
        if self.reason.is_some() {
            return self.press_in_reason(key);
        }
        let pages = self.pages();
        match key {
            Key::Next | Key::Down | Key::Letter('j' | 'J') => self.page = (self.page + 1) % pages,
            Key::Back | Key::Up | Key::Letter('k' | 'K') => self.page = (self.page + pages - 1) % pages,
            Key::Letter('q' | 'Q') => return Pressed::Close,
            Key::Interrupt if alone => return Pressed::Answered(Reply::Refused { reason: None }),
            key => return self.press_on_sheet(key, alone),
        }
        self.look();
        Pressed::Nothing
    }

    fn press_on_sheet(&mut self, key: Key, alone: bool) -> Pressed {
        let key = if let Key::Letter(letter) = key { Key::Letter(letter.to_ascii_lowercase()) } else { key };
        match (&self.sheet, key) {
            (Sheet::Question, key) => return self.press_in_question(key, alone),
            (Sheet::Keep(reply), Key::Letter('y')) if alone && self.seen => {
                return Pressed::Answered(reply.clone());
            }
            (Sheet::Keep(_), Key::Letter('y')) if alone => return Pressed::Said(NOT_SEEN),
            (_, Key::Tab | Key::Escape | Key::Letter('n')) => self.show(Sheet::Question),
            _ => {}
        }
        Pressed::Nothing
    }

    fn press_in_question(&mut self, key: Key, alone: bool) -> Pressed {
        let lasting = self.pending.bound.lasting;
        let keeps = match key {
            Key::Letter('s') => Some(Reply::Session),
            Key::Letter('m') => Some(Reply::Minutes(MINUTES)),
            _ => None,
        };
        match key {
            Key::Letter('y' | 's' | 'm') if !alone => {}
            Key::Letter('s' | 'm') if !lasting.approval => {
                return Pressed::Said("this can be allowed once only");
            }
            Key::Letter('y' | 's' | 'm') if !self.seen => return Pressed::Said(NOT_SEEN),
            Key::Letter('y') => return Pressed::Answered(Reply::Once),
            Key::Escape if alone => return Pressed::Answered(Reply::Refused { reason: None }),
            Key::Letter('n') => self.reason = Some(Reason { text: String::new(), session: false }),
            Key::Letter('d') if lasting.refusal => {
                self.reason = Some(Reason { text: String::new(), session: true });
            }
            Key::Tab => self.show(Sheet::Details),
            _ => {}
        }
        if let Some(reply) = keeps.filter(|_| alone) {
            self.show(Sheet::Keep(reply));
        }
        Pressed::Nothing
    }

    fn press_in_reason(&mut self, key: Key) -> Pressed {
        let Some(reason) = &mut self.reason else { return Pressed::Nothing };
        match key {
            Key::Letter(letter) if reason.text.chars().count() < LONGEST_REASON => reason.text.push(letter),
            Key::Rubout => drop(reason.text.pop()),
            Key::Escape | Key::Interrupt => self.reason = None,
            Key::Enter => {
                let said = Some(reason.text.trim().to_owned()).filter(|said| !said.is_empty());
                return Pressed::Answered(match reason.session {
                    true => Reply::RefusedSession { reason: said },
                    false => Reply::Refused { reason: said },
                });
            }
            _ => {}
        }
        Pressed::Nothing
    }

    fn pages(&self) -> usize {
        self.body().len().div_ceil(self.page_length()).max(1)
    }

    /// What is left for the body: a line above it, who asks, the most lines that keys take and what was said
    /// below.
    fn page_length(&self) -> usize {
        let keys = self.keys(true).len().max(self.keys(false).len());
        self.size.1.saturating_sub(1 + 1 + keys + 2).max(1)
    }

    fn body(&self) -> Vec<String> {
        let width = self.size.0.saturating_sub(2).max(1);
        let shown = Shown::of(&self.pending.bound);
        let lines = match &self.sheet {
            Sheet::Question => shown.lines,
            Sheet::Details => shown.details,
            Sheet::Keep(_) => shown.kept.iter().map(|kept| format!("  {kept}")).collect(),
        };
        lines.iter().flat_map(|line| wrap(line, width)).collect()
    }

    fn title(&self) -> String {
        match &self.sheet {
            Sheet::Question => Shown::of(&self.pending.bound).title,
            Sheet::Details => "details".to_owned(),
            Sheet::Keep(Reply::Minutes(minutes)) => {
                format!("for {minutes} minutes, allowed without a question:")
            }
            Sheet::Keep(_) => "until that session ends, allowed without a question:".to_owned(),
        }
    }

    /// The keys that this sheet has, once all of it was seen and before.
    fn keys(&self, seen: bool) -> Vec<String> {
        let lasting = self.pending.bound.lasting;
        let (approval, refusal) = (lasting.approval && seen, lasting.refusal);
        let all: &[(bool, &str, &str)] = match &self.sheet {
            Sheet::Question => &[
                (seen, "y", "[y] allow once"),
                (approval, "s", "[s] for this session"),
                (approval, "m", "[m] for 15 minutes"),
                (!seen, "j then y", "[j] next page   [y] after the last page"),
                (true, "n", "[n] or [Esc] deny"),
                (refusal, "d", "[d] deny for this session"),
                (true, "Tab", "[Tab] details"),
                (true, "q", "[q] the list"),
            ],
            Sheet::Details => &[(true, "j", "[j] next page"), (true, "Tab=back", "[Tab] back")],
            Sheet::Keep(_) => &[
                (seen, "y=keep", "[y] keep"),
                (!seen, "j then y", "[j] next page   [y] after the last page"),
                (true, "n=back", "[n] back"),
            ],
        };
        let offered = || all.iter().filter(|(is_offered, ..)| *is_offered);
        let columns = self.size.0.max(1);
        let full: Vec<String> = offered().map(|(_, _, key)| (*key).to_owned()).collect();
        let full = fill(&full, columns);
        if full.len() * 2 <= self.size.1.max(1) {
            return full;
        }
        wrap(&offered().map(|(_, letter, _)| *letter).collect::<Vec<_>>().join("/"), columns)
    }

    /// The lines of the whole screen. `now` is in milliseconds since 1970.
    pub(super) fn lines(&self, said: &str, now: i64) -> Vec<String> {
        let columns = self.size.0.max(1);
        let (body, length, pages) = (self.body(), self.page_length(), self.pages());
        let page = self.page.min(pages - 1);
        let mut lines = vec![format!("+-- {}", self.title())];
        lines.extend(body.iter().skip(page * length).take(length).map(|line| format!("| {line}")));
        let place = if pages > 1 { format!("page {}/{pages}, ", page + 1) } else { String::new() };
        lines.push(format!("+-- {place}{}", who(&self.pending, now)));
        match &self.reason {
            Some(Reason { text, session }) => {
                let head = if *session { "Denied for this session. Reason" } else { "Reason" };
                // The end of a long line is what is being typed.
                let typed =
                    wrap(&sanitize::line(&format!("{head}: {text}")), columns.saturating_sub(1).max(1));
                lines.extend(typed.last().map(|line| format!("{line}_")));
                lines.extend(wrap(REASON_KEYS, columns));
            }
            None => {
                lines.extend(self.keys(self.seen));
                lines.extend(wrap(said, columns));
            }
        }
        lines
    }
}

const REASON_KEYS: &str = "[Enter] deny, with this reason if there is one   [Esc] back";
const NOT_SEEN: &str = "[y] counts only after the last page; [j] shows the next";

fn who(pending: &Pending, now: i64) -> String {
    let agent = pending.asker.agent.as_deref().map_or_else(|| "a program".to_owned(), sanitize::line);
    let waits =
        left(pending, now).unwrap_or_else(|| "nobody waits: the answer holds for the next such call".into());
    format!("{} of {agent}, session {}, {waits}", pending.id, sanitize::line(&pending.bound.session))
}
