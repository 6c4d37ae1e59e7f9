//! One line that is typed and edited.

/// A line with a place where the next letter goes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Input {
    letters: Vec<char>,
    at: usize,
}

/// The longest line that is taken.
const LONGEST: usize = 500;

impl Input {
    /// A line that begins as this text, with the end as its place.
    #[must_use]
    pub(super) fn of(text: &str) -> Self {
        let letters: Vec<char> = text.chars().collect();
        Self { at: letters.len(), letters }
    }

    /// What was typed.
    #[must_use]
    pub(super) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// Types a letter. What is no letter, or is too much, is not taken.
    pub(super) fn put(&mut self, letter: char) {
        if !letter.is_control() && self.letters.len() < LONGEST {
            self.letters.insert(self.at, letter);
            self.at += 1;
        }
    }

    /// Takes away the letter before the place.
    pub(super) fn back(&mut self) {
        if self.at > 0 {
            self.at -= 1;
            self.letters.remove(self.at);
        }
    }

    /// Takes away the letter at the place.
    pub(super) fn delete(&mut self) {
        if self.at < self.letters.len() {
            self.letters.remove(self.at);
        }
    }

    /// Takes away all before the place.
    pub(super) fn clear_before(&mut self) {
        self.letters.drain(..self.at);
        self.at = 0;
    }

    /// Takes away the word before the place.
    pub(super) fn word_back(&mut self) {
        let before = self.letters.get(..self.at).unwrap_or_default();
        let end = before.iter().rposition(|letter| *letter != ' ').map_or(0, |at| at + 1);
        let start = before.iter().take(end).rposition(|letter| *letter == ' ').map_or(0, |at| at + 1);
        self.letters.drain(start..self.at);
        self.at = start;
    }

    /// One letter to the left.
    pub(super) fn left(&mut self) {
        self.at = self.at.saturating_sub(1);
    }

    /// One letter to the right.
    pub(super) fn right(&mut self) {
        self.at = (self.at + 1).min(self.letters.len());
    }

    /// To the beginning.
    pub(super) fn home(&mut self) {
        self.at = 0;
    }

    /// To the end.
    pub(super) fn end(&mut self) {
        self.at = self.letters.len();
    }

    /// The line made visible, `_` at the place where the next letter goes.
    #[must_use]
    pub(super) fn shown(&self) -> String {
        let (before, after) = self.letters.split_at(self.at.min(self.letters.len()));
        let made = |letters: &[char]| super::sanitize::line(&letters.iter().collect::<String>());
        format!("{}_{}", made(before), made(after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_where_the_place_is() {
        type Step = fn(&mut Input);
        let table: [(&str, &[Step], &str); 10] = [
            ("ab", &[], "ab_"),
            ("ab", &[Input::left, |line| line.put('x')], "ax_b"),
            ("ab", &[Input::home, Input::delete], "_b"),
            ("ab", &[Input::back, Input::back, Input::back], "_"),
            ("npm run dev", &[Input::word_back], "npm run _"),
            ("npm run  ", &[Input::word_back], "npm _"),
            ("abc", &[Input::left, Input::clear_before], "_c"),
            ("abc", &[Input::home, Input::left, Input::right, Input::end, Input::right], "abc_"),
            ("a", &[|line| line.put('\u{1b}'), |line| line.put('\n')], "a_"),
            ("a", &[|line| line.put('\u{202e}')], "a<U+202E>_"),
        ];
        for (text, steps, expected) in table {
            let mut line = Input::of(text);
            steps.iter().for_each(|step| step(&mut line));
            assert_eq!(line.shown(), expected, "{text}");
        }
    }

    #[test]
    fn a_line_has_an_end() {
        let mut line = Input::default();
        (0..LONGEST + 10).for_each(|_| line.put('a'));
        assert_eq!(line.text().len(), LONGEST);
    }
}
