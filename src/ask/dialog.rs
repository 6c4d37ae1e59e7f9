//! The question as a dialogue: which key means what where. Pure; `screen` reads the keys and paints.
//!
//! Only a key that comes alone approves, and only where all that it approves was shown. Enter and
//! space approve nothing anywhere.

use super::answer::{Answer, Kept, Scope};
use super::layout::{Line, Window};
use super::line::Input;
use super::panel::Panel;
use super::{Help, Rival, views};
use crate::policy::pattern;

/// The minutes that are offered first.
pub const MINUTES: u32 = 15;
/// The most minutes: a day.
pub const MOST_MINUTES: u32 = 24 * 60;

/// A key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A letter, a digit, a sign or a space.
    Letter(char),
    /// Enter.
    Enter,
    /// Tab.
    Tab,
    /// The letter before goes.
    Backspace,
    /// The letter here goes.
    Delete,
    /// Escape, alone.
    Escape,
    /// `^C`, `^D` or `^\`.
    Interrupt,
    /// Arrow, or page up.
    Up,
    /// Arrow, or page down.
    Down,
    /// Arrow.
    Left,
    /// Arrow.
    Right,
    /// To the beginning.
    Home,
    /// To the end.
    End,
    /// `^U`.
    ClearBefore,
    /// `^W`.
    WordBack,
    /// Anything else.
    Other,
}

/// What is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum View {
    Question,
    Details,
    Keys,
    Session,
    /// The number that was typed; None while the offered one stands there.
    Minutes(Option<String>),
    Always(Always),
    Edit(Always, Input),
    Reason {
        input: Input,
        session: bool,
    },
}

/// An "always" that is being put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Always {
    /// Which of the asking parts.
    pub(super) part: usize,
    /// Which of its patterns.
    pub(super) choice: usize,
    /// A pattern of the person's own.
    pub(super) own: Option<String>,
    pub(super) scope: Scope,
    /// What was chosen for the parts before.
    pub(super) chosen: Vec<Kept>,
}

/// What a key came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Nothing to see.
    Same,
    /// Paint anew.
    Paint,
    /// The answer.
    Answered(Answer),
}

/// A question that is being answered.
pub struct Dialog<'a> {
    pub(super) panel: &'a Panel,
    pub(super) help: &'a Help<'a>,
    pub(super) view: View,
    pub(super) window: Window,
    pub(super) page: usize,
    /// The last page of this view was shown, and so all before it.
    pub(super) seen: bool,
    /// The window in which the question itself was shown to its end.
    read: Option<Window>,
    pub(super) note: &'static str,
    /// The view, cut to the window.
    cut: views::Cut,
}

impl<'a> Dialog<'a> {
    /// The question in a window, from its first page.
    #[must_use]
    pub fn new(panel: &'a Panel, help: &'a Help<'a>, window: Window) -> Self {
        let mut dialog = Self {
            panel,
            help,
            view: View::Question,
            window,
            page: 0,
            seen: false,
            read: None,
            note: "",
            cut: views::Cut::default(),
        };
        dialog.cut = views::cut(&dialog);
        dialog.look();
        dialog
    }

    /// The lines to show now.
    #[must_use]
    pub fn lines(&self) -> Vec<Line> {
        self.cut.page(self.page, self.note)
    }

    /// The window that the pages are cut for.
    #[must_use]
    pub fn window(&self) -> Window {
        self.window
    }

    /// Another window cuts other pages: all is shown anew, from the first.
    pub fn resize(&mut self, window: Window) {
        if self.window != window {
            (self.window, self.note) = (window, "");
            self.show(self.view.clone());
        }
    }

    /// A person is there: the reviewer that is asked at the same time is not waited for any more. Whether it was.
    pub fn touch(&mut self) -> bool {
        let left = self.help.rival.is_some_and(Rival::leave);
        if left {
            self.hear();
        }
        left
    }

    /// What is said of the reviewer has changed: it is shown, from the first page.
    pub fn hear(&mut self) {
        self.read = None;
        self.show(self.view.clone());
    }

    /// A key was pressed; `alone` when no other came with it.
    pub fn press(&mut self, key: Key, alone: bool) -> Step {
        self.note = "";
        if key == Key::Interrupt {
            return Step::Answered(self.denial(None));
        }
        match self.view.clone() {
            View::Edit(always, input) => self.edit(always, input, key),
            View::Reason { input, session } => self.reason(input, session, key),
            _ if !alone => Step::Same,
            _ if self.turned(key) => Step::Paint,
            View::Question => self.question(key),
            View::Details | View::Keys => match key {
                Key::Tab | Key::Escape | Key::Letter('n' | 'N' | '?') => self.show(View::Question),
                _ => Step::Same,
            },
            View::Session => self.session(key),
            View::Minutes(typed) => self.minutes(typed, key),
            View::Always(always) => self.always(always, key),
        }
    }

    fn show(&mut self, view: View) -> Step {
        self.seen = view == View::Question && self.read == Some(self.window);
        (self.view, self.page) = (view, 0);
        self.cut = views::cut(self);
        self.look();
        Step::Paint
    }

    fn look(&mut self) {
        self.seen |= self.page + 1 >= self.cut.pages();
        if self.seen && self.view == View::Question {
            self.read = Some(self.window);
        }
    }

    /// Whether the key turned the page.
    fn turned(&mut self, key: Key) -> bool {
        let before = self.page;
        match key {
            Key::Down | Key::Letter('j' | 'J') => {
                self.page = (self.page + 1).min(self.cut.pages().saturating_sub(1));
            }
            Key::Up | Key::Letter('k' | 'K') => self.page = self.page.saturating_sub(1),
            _ => return false,
        }
        self.look();
        self.page != before
    }

    /// What this answer approves was shown; else the note says what to do.
    fn was_seen(&mut self) -> bool {
        if !self.seen {
            self.note = "not all shown yet: [j]";
        }
        self.seen
    }

    fn question(&mut self, key: Key) -> Step {
        let offers = &self.panel.offers;
        let Key::Letter(letter) = key else {
            return match key {
                Key::Escape => self.show(View::Reason { input: Input::default(), session: false }),
                Key::Tab => self.show(View::Details),
                _ => Step::Same,
            };
        };
        match letter.to_ascii_lowercase() {
            'n' => self.show(View::Reason { input: Input::default(), session: false }),
            'd' if offers.denial => self.show(View::Reason { input: Input::default(), session: true }),
            '?' => self.show(View::Keys),
            'y' if self.was_seen() => Step::Answered(Answer::Once),
            's' if !offers.exact.is_empty() && self.was_seen() => self.show(View::Session),
            'm' if !offers.exact.is_empty() && self.was_seen() => self.show(View::Minutes(None)),
            'a' if !offers.always.is_empty() && self.was_seen() => {
                let scope = if offers.keeps.project.is_some() { Scope::Project } else { Scope::User };
                self.show(View::Always(Always { part: 0, choice: 0, own: None, scope, chosen: vec![] }))
            }
            _ if self.note.is_empty() => Step::Same,
            _ => Step::Paint,
        }
    }

    fn session(&mut self, key: Key) -> Step {
        match key {
            Key::Letter('y' | 'Y') if self.was_seen() => Step::Answered(Answer::Session),
            _ => self.back_or_note(key),
        }
    }

    fn minutes(&mut self, typed: Option<String>, key: Key) -> Step {
        let mut digits = match (typed, key) {
            // What is typed takes the place of what was offered.
            (None, Key::Letter(letter)) if letter.is_ascii_digit() => String::new(),
            (typed, _) => shown_minutes(typed.as_deref()),
        };
        match key {
            Key::Letter(digit) if digit.is_ascii_digit() && digits.len() < 4 => digits.push(digit),
            Key::Backspace => drop(digits.pop()),
            Key::ClearBefore => digits.clear(),
            Key::Letter('y' | 'Y') => {
                return match chosen_minutes(&digits) {
                    Some(minutes) if self.was_seen() => Step::Answered(Answer::Minutes(minutes)),
                    _ => Step::Paint,
                };
            }
            _ => return self.back_or_note(key),
        }
        self.show(View::Minutes(Some(digits)))
    }

    /// Back to the question, for the keys that say no.
    fn back_or_note(&mut self, key: Key) -> Step {
        match key {
            Key::Escape | Key::Letter('n' | 'N') => self.show(View::Question),
            _ if self.note.is_empty() => Step::Same,
            _ => Step::Paint,
        }
    }

    fn always(&mut self, mut always: Always, key: Key) -> Step {
        let Some(part) = self.panel.offers.always.get(always.part) else { return self.show(View::Question) };
        let Key::Letter(letter) = key else { return self.back_or_note(key) };
        match letter.to_ascii_lowercase() {
            'a' => {
                always.choice = if always.own.take().is_some() { 0 } else { always.choice + 1 };
                always.choice %= part.patterns.len().max(1);
            }
            'e' => {
                let input = Input::of(&self.pattern(&always));
                return self.show(View::Edit(always, input));
            }
            'p' => {
                let other = if always.scope == Scope::Project { Scope::User } else { Scope::Project };
                if self.panel.offers.keeps.place(other).is_some() {
                    always.scope = other;
                }
            }
            'y' if self.was_seen() => return self.take(always),
            _ => return self.back_or_note(key),
        }
        self.show(View::Always(always))
    }

    /// The pattern that stands there now.
    pub(super) fn pattern(&self, always: &Always) -> String {
        let offered = || self.panel.offers.always.get(always.part)?.patterns.get(always.choice).cloned();
        always.own.clone().or_else(offered).unwrap_or_default()
    }

    /// This part's pattern is chosen: the next part, or the answer.
    fn take(&mut self, always: Always) -> Step {
        let parts = &self.panel.offers.always;
        let pattern = self.pattern(&always);
        let mut chosen = always.chosen;
        chosen.extend(parts.get(always.part).map(|part| part.kept(&pattern)).unwrap_or_default());
        let part = always.part + 1;
        if part >= parts.len() {
            return Step::Answered(Answer::Always { patterns: chosen, scope: always.scope });
        }
        self.show(View::Always(Always { part, choice: 0, own: None, scope: always.scope, chosen }))
    }

    /// Whether a pattern covers the part that it is for.
    pub(super) fn covers(&self, always: &Always, text: &str) -> bool {
        let part = self.panel.offers.always.get(always.part);
        part.is_some_and(|part| pattern::matches(text, &part.subject))
    }

    fn edit(&mut self, mut always: Always, mut input: Input, key: Key) -> Step {
        match key {
            Key::Escape => return self.show(View::Always(always)),
            Key::Enter if self.covers(&always, &input.text()) => {
                always.own = Some(input.text());
                return self.show(View::Always(always));
            }
            Key::Enter => self.note = "it does not cover this",
            key => typed(&mut input, key),
        }
        self.show(View::Edit(always, input))
    }

    fn reason(&mut self, mut input: Input, session: bool, key: Key) -> Step {
        match key {
            Key::Escape => Step::Answered(self.denial(None)),
            Key::Enter => {
                let reason = input.text().trim().to_owned();
                Step::Answered(self.denial(Some(reason).filter(|reason| !reason.is_empty())))
            }
            key => {
                typed(&mut input, key);
                self.show(View::Reason { input, session })
            }
        }
    }

    /// A denial, for the session where that was said.
    fn denial(&self, reason: Option<String>) -> Answer {
        match self.view {
            View::Reason { session: true, .. } => Answer::DeniedSession { reason },
            _ => Answer::Denied { reason },
        }
    }
}

/// The minutes that stand there: those that were typed, else those that are offered.
pub(super) fn shown_minutes(typed: Option<&str>) -> String {
    typed.map_or_else(|| MINUTES.to_string(), str::to_owned)
}

/// The minutes that were typed, if they are a number that is taken.
pub(super) fn chosen_minutes(digits: &str) -> Option<u32> {
    digits.parse().ok().filter(|minutes| (1..=MOST_MINUTES).contains(minutes))
}

fn typed(input: &mut Input, key: Key) {
    match key {
        Key::Letter(letter) => input.put(letter),
        Key::Backspace => input.back(),
        Key::Delete => input.delete(),
        Key::Left => input.left(),
        Key::Right => input.right(),
        Key::Home => input.home(),
        Key::End => input.end(),
        Key::ClearBefore => input.clear_before(),
        Key::WordBack => input.word_back(),
        _ => {}
    }
}

#[cfg(test)]
#[path = "dialog_tests.rs"]
mod tests;
