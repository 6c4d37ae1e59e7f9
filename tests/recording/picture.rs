//! A recording as a picture: the screen at its end.

use std::fmt::Write as _;
use std::num::NonZero;

const CELL: (f64, f64) = (8.4, 18.0);
const EDGE: f64 = 14.0;

/// The sixteen colours of a terminal, normal and bright.
const COLOURS: [&str; 16] = [
    "#3b4252", "#e5747f", "#97c97f", "#e3c078", "#7fa7dd", "#b891d0", "#76c0c8", "#d8dee9", "#6b7688",
    "#f08c95", "#aedd97", "#f0d08c", "#97bcf0", "#caa6e2", "#8dd5dc", "#ffffff",
];
const PAPER: &str = "#1d2129";
const INK: &str = "#d8dee9";

/// A recording in asciinema's second form.
pub(crate) struct Cast {
    pub(crate) columns: u16,
    pub(crate) rows: u16,
    pub(crate) events: Vec<(f64, String, String)>,
}

impl Cast {
    /// From its file; None where it is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        let head: serde_json::Value = serde_json::from_str(lines.next()?).ok()?;
        let size = |name: &str| u16::try_from(head.get(name)?.as_u64()?).ok();
        (head.get("version")? == 2).then_some(())?;
        let events = lines.map(|line| serde_json::from_str(line).ok()).collect::<Option<Vec<_>>>()?;
        Some(Self { columns: size("width")?, rows: size("height")?, events })
    }

    /// The screen at its end.
    pub(crate) fn screen(&self) -> vt100::Screen {
        let [rows, columns] = [self.rows, self.columns].map(|n| NonZero::new(n).expect("a size"));
        let mut parser = vt100::Parser::new(rows, columns, 0);
        let shown = self.events.iter().filter(|(_, kind, _)| kind == "o");
        shown.for_each(|(_, _, data)| parser.process(data.as_bytes()));
        parser.screen().clone()
    }

    /// The picture.
    pub(crate) fn picture(&self) -> String {
        let screen = self.screen();
        let rows = used(&screen);
        let wide = f64::from(self.columns) * CELL.0 + 2.0 * EDGE;
        let high = f64::from(rows) * CELL.1 + 2.0 * EDGE;
        let mut body = String::new();
        (0..rows).for_each(|row| line(&mut body, &screen, row));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.1} {high:.1}\" font-family=\"ui-monospace, \
             Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n<title>A session with gsh</title>\n\
             <rect width=\"{wide:.1}\" height=\"{high:.1}\" rx=\"8\" fill=\"{PAPER}\"/>\n{body}</svg>\n"
        )
    }
}

/// How many rows have something on them.
fn used(screen: &vt100::Screen) -> u16 {
    let (rows, columns) = screen.size();
    let is_used = |row: u16| {
        (0..columns.get())
            .filter_map(|column| screen.cell(row, column))
            .any(|cell| !cell.contents().trim().is_empty())
    };
    (0..rows.get()).rev().find(|row| is_used(*row)).map_or(1, |row| row + 1)
}

/// One row, a piece for each run of cells that look alike.
fn line(body: &mut String, screen: &vt100::Screen, row: u16) {
    let columns = screen.size().1.get();
    let mut runs: Vec<(u16, String, Look)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column) else { continue };
        let text = if cell.contents().is_empty() { " " } else { cell.contents() };
        let look = Look::of(cell);
        match runs.last_mut() {
            Some((_, run, last)) if *last == look => run.push_str(text),
            _ => runs.push((column, text.to_owned(), look)),
        }
    }
    let base = EDGE + f64::from(row) * CELL.1;
    for (column, text, look) in runs {
        let (left, length) = (EDGE + f64::from(column) * CELL.0, text.chars().count() as f64 * CELL.0);
        if look.back != PAPER {
            let (high, back) = (CELL.1, look.back);
            let _ = write!(
                body,
                "<rect x=\"{left:.1}\" y=\"{base:.1}\" width=\"{length:.1}\" height=\"{high}\" fill=\"{back}\"/>"
            );
        }
        let shown = text.trim_end();
        if shown.is_empty() {
            continue;
        }
        let (y, width) = (base + 13.5, shown.chars().count() as f64 * CELL.0);
        let bold = if look.bold { " font-weight=\"bold\"" } else { "" };
        let _ = writeln!(
            body,
            "<text x=\"{left:.1}\" y=\"{y:.1}\" fill=\"{}\"{bold} textLength=\"{width:.1}\" xml:space=\"preserve\">{}</text>",
            look.ink,
            escaped(shown)
        );
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Look {
    ink: &'static str,
    back: &'static str,
    bold: bool,
}

impl Look {
    fn of(cell: &vt100::Cell) -> Self {
        let (ink, back) = (colour(cell.fgcolor(), INK), colour(cell.bgcolor(), PAPER));
        let (ink, back) = if cell.inverse() { (back, ink) } else { (ink, back) };
        let ink = if cell.dim() && ink == INK { COLOURS[8] } else { ink };
        Self { ink, back, bold: cell.bold() }
    }
}

fn colour(of: vt100::Color, plain: &'static str) -> &'static str {
    match of {
        vt100::Color::Idx(index) => COLOURS.get(usize::from(index)).copied().unwrap_or(plain),
        vt100::Color::Default | vt100::Color::Rgb(..) => plain,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
