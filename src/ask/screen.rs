//! The panel on a terminal: paints the dialogue, hands it the keys, and undoes all on every way out.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use super::answer::{Answer, Scope};
use super::dialog::{Dialog, Step};
use super::keys::{Event, Keys};
use super::layout::{Line, Mark, Window};
use super::turn::{Turn, in_front, turn};
use super::{Help, Panel, Rival, Style, Unavailable};
use crate::sys::tty::{self, RawMode};

/// Shows the panel and waits for an answer: one at a time per terminal, with every key as it is
/// pressed.
///
/// # Errors
/// When the terminal is gone or is none, or somebody else is in front of it.
pub(super) fn ask(
    terminal: &File,
    panel: &Panel,
    help: &Help<'_>,
    style: Style,
) -> Result<Answer, Unavailable> {
    let mut keys = Keys::of(terminal.as_fd())?.against(help.rival);
    let _turn = match turn(terminal, &keys, help)? {
        Turn::Ours(held) => held,
        Turn::Over(answer) => return Ok(answer),
    };
    let mode = RawMode::keys_only(terminal.as_fd())?;
    let mut painter = Painter { terminal, style, painted: 0 };
    let mut dialog = Dialog::new(panel, help, window(terminal));
    painter.paint(&dialog.lines())?;
    keys.drop_early()?;
    let answer = match answered(&mut dialog, &mut keys, &mut painter, mode) {
        Err(Unavailable::Overtaken) => {
            // A key that was meant for the question is none for the command.
            tty::forget_typed(terminal.as_fd());
            painter.say("the reviewer answered first".to_owned())?;
            return Err(Unavailable::Overtaken);
        }
        answered => answered?,
    };
    (help.answered)(&answer);
    painter.say(word(&answer))?;
    Ok(answer)
}

fn answered(
    dialog: &mut Dialog<'_>,
    keys: &mut Keys<'_>,
    painter: &mut Painter<'_>,
    mode: RawMode<'_>,
) -> Result<Answer, Unavailable> {
    let terminal = painter.terminal;
    let mut mode = Some(mode);
    loop {
        let step = match keys.next()? {
            Event::Key { key, alone } => {
                let changed = dialog.touch();
                // Without a signal, too, another window cuts other pages.
                let resized = resized(dialog, keys, painter)?;
                let step = if resized { Step::Same } else { dialog.press(key, alone) };
                if changed && step == Step::Same { Step::Paint } else { step }
            }
            Event::Rival => answered_beside(dialog, keys, painter)?,
            Event::Resized if resized(dialog, keys, painter)? => Step::Same,
            Event::Resized => Step::Paint,
            Event::Continued => {
                in_front(terminal)?;
                // The shell gave the terminal its own settings meanwhile, and wrote to it.
                drop(mode.take());
                mode = Some(RawMode::keys_only(terminal.as_fd())?);
                painter.painted = 0;
                Step::Paint
            }
        };
        match step {
            Step::Same => {}
            Step::Paint => painter.paint(&dialog.lines())?,
            Step::Answered(answer) => {
                // A stray answer to another program's question is none to ours.
                in_front(terminal)?;
                drop(mode);
                return Ok(answer);
            }
        }
    }
}

/// The reviewer that is asked at the same time has answered: the question is over, or the person's alone.
fn answered_beside(
    dialog: &mut Dialog<'_>,
    keys: &Keys<'_>,
    painter: &mut Painter<'_>,
) -> Result<Step, Unavailable> {
    if dialog.help.rival.is_some_and(Rival::settles) {
        return Err(Unavailable::Overtaken);
    }
    dialog.hear();
    painter.paint(&dialog.lines())?;
    // What it says was not there to be read a moment ago.
    keys.drop_early()?;
    Ok(Step::Same)
}

/// Whether the window has another size. Then all is shown anew, and keys that were pressed before anybody could
/// read it are none: a page that was not there a moment ago may be the last one now.
fn resized(dialog: &mut Dialog<'_>, keys: &Keys<'_>, painter: &mut Painter<'_>) -> Result<bool, Unavailable> {
    let (before, now) = (dialog.window(), window(painter.terminal));
    if before == now {
        return Ok(false);
    }
    dialog.resize(now);
    painter.paint(&dialog.lines())?;
    keys.drop_early()?;
    Ok(true)
}

fn window(terminal: &File) -> Window {
    let (columns, rows) = tty::size(terminal.as_fd()).unwrap_or((80, 24));
    Window { columns: columns.into(), rows: rows.into() }
}

/// What was answered, as the last line.
pub(super) fn word(answer: &Answer) -> String {
    match answer {
        Answer::Once => "allowed once".to_owned(),
        Answer::Minutes(minutes) => format!("allowed for {minutes} minutes"),
        Answer::Session => "allowed for this session".to_owned(),
        Answer::Always { scope: Scope::Project, .. } => "allowed always in this project".to_owned(),
        Answer::Always { scope: Scope::User, .. } => "allowed always".to_owned(),
        Answer::Denied { .. } => "denied".to_owned(),
        Answer::DeniedSession { .. } => "denied for this session".to_owned(),
    }
}

struct Painter<'a> {
    terminal: &'a File,
    style: Style,
    /// The lines of ours that stand above the cursor.
    painted: usize,
}

impl Painter<'_> {
    fn paint(&mut self, lines: &[Line]) -> io::Result<()> {
        let mut text = String::new();
        match self.painted {
            // Up to where the last painting began, and away with it.
            painted if painted > 0 && self.style.repaints => {
                text.push_str(&format!("\r\u{1b}[{painted}A\u{1b}[J"))
            }
            _ => text.push('\n'),
        }
        for line in lines {
            text.push_str(&self.dressed(line));
            text.push('\n');
        }
        self.painted = lines.len();
        let mut out = self.terminal;
        out.write_all(text.as_bytes())
    }

    /// The line's colour: its words say the same.
    fn dressed(&self, line: &Line) -> String {
        let code = match line.mark {
            Mark::Plain => return line.text.clone(),
            Mark::Command => "1",
            Mark::Asks => "1;33",
            Mark::Risk => "1;31",
            Mark::Added => "32",
            Mark::Removed => "31",
        };
        if self.style.colours { format!("\u{1b}[{code}m{}\u{1b}[0m", line.text) } else { line.text.clone() }
    }

    fn say(&self, word: String) -> io::Result<()> {
        let mut out = self.terminal;
        out.write_all(format!("gsh: {word}\n").as_bytes())
    }
}
