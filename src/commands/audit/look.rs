//! How the terminal is used: colours, columns, bars.

use crate::ask::sanitize;

/// What the output can show.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Colours: never alone in meaning.
    pub colour: bool,
    /// How many columns there are.
    pub width: usize,
    /// Whether a line of a list begins with its record's name.
    pub names: bool,
}

/// The eighths of a bar.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];
/// The heights of a time line.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

impl Look {
    /// That of standard output.
    #[must_use]
    pub fn of_stdout() -> Self {
        let terminal = console::Term::stdout();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let width = terminal.size_checked().map_or(120, |(_, columns)| usize::from(columns));
        Self { colour: terminal.is_term() && !plain, width: width.max(60), names: false }
    }

    /// Without any colour.
    #[must_use]
    pub fn plain(width: usize) -> Self {
        Self { colour: false, width, names: false }
    }

    /// A text in the colour of a verdict.
    #[must_use]
    pub fn verdict(self, verdict: &str, text: &str) -> String {
        let code = match verdict {
            "allow" => "32",
            "deny" => "31",
            _ => "33",
        };
        self.paint(code, text)
    }

    /// A heading.
    #[must_use]
    pub fn heading(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// What matters less.
    #[must_use]
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// Counts as bars, with their names in one column.
    #[must_use]
    pub fn bars(self, rows: &[(String, usize)]) -> String {
        let most = rows.iter().map(|(_, count)| *count).max().unwrap_or(1).max(1);
        let names = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0).min(self.width / 2);
        let room = self.width.saturating_sub(names + 12).clamp(8, 40);
        let mut text = String::new();
        for (name, count) in rows {
            let name = cut(&visible(name), names);
            let pad = " ".repeat(names.saturating_sub(width(&name)));
            text.push_str(&format!("  {name}{pad} {count:>7} {}\n", bar(*count, most, room)));
        }
        text
    }

    /// Counts in a row, as heights.
    #[must_use]
    pub fn time_line(self, counts: &[usize]) -> String {
        let most = counts.iter().copied().max().unwrap_or(0);
        let height = |count: usize| match (count * 7).checked_div(most) {
            None | Some(0) if count == 0 => ' ',
            None => ' ',
            Some(index) => HEIGHTS.get(index).copied().unwrap_or('█'),
        };
        counts.iter().map(|count| height(*count)).collect()
    }
}

fn bar(count: usize, most: usize, room: usize) -> String {
    let eighths = (count * room * 8).div_ceil(most);
    let mut bar: String = std::iter::repeat_n('█', eighths / 8).collect();
    if let Some(part) = (eighths % 8).checked_sub(1).and_then(|index| EIGHTHS.get(index)) {
        bar.push(*part);
    }
    bar
}

/// Hostile text made visible, on one line.
#[must_use]
pub fn visible(text: &str) -> String {
    sanitize::line(text)
}

/// How many columns a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    console::measure_text_width(text)
}

/// As much as fits, with a mark where something is left out.
#[must_use]
pub fn cut(text: &str, room: usize) -> String {
    console::truncate_str(text, room.max(1), "…").into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_lines() {
        let look = Look::plain(80);
        let rows = [("allow".to_owned(), 8), ("ask".to_owned(), 4), ("deny".to_owned(), 0)];
        let text = look.bars(&rows);
        let lengths: Vec<usize> = text.lines().map(|line| line.matches('█').count()).collect();
        assert_eq!(lengths, [40, 20, 0], "{text}");
        assert_eq!(look.time_line(&[0, 1, 7]), " ▂█");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert!(
            Look { colour: true, width: 80, names: false }.verdict("deny", "deny").contains("\u{1b}[31m")
        );
    }
}
