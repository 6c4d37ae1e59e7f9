//! The question as lines to be read aloud, answered by typed words.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use super::answer::{Answer, Kept, Scope};
use super::dialog::chosen_minutes;
use super::keys::Keys;
use super::layout::Line;
use super::turn::{Turn, in_front, turn};
use super::{Help, Panel, Unavailable, sanitize, screen};
use crate::policy::pattern;

/// Reads the question out and takes an answer of words.
///
/// # Errors
/// When the terminal is gone or is none, or somebody else is in front of it.
pub(super) fn ask(terminal: &File, panel: &Panel, help: &Help<'_>) -> Result<Answer, Unavailable> {
    let keys = Keys::of(terminal.as_fd())?;
    let _turn = match turn(terminal, &keys, help)? {
        Turn::Ours(held) => held,
        Turn::Over(answer) => return Ok(answer),
    };
    let asking = Plain { terminal, keys: &keys, panel, help };
    asking.say(&[Line::plain(format!("{} ({})", panel.title(), panel.capability))])?;
    asking.say(&panel.body)?;
    keys.drop_early()?;
    let answer = asking.answer()?;
    in_front(terminal)?;
    (help.answered)(&answer);
    asking.say(&[Line::plain(format!("gsh: {}", screen::word(&answer)))])?;
    Ok(answer)
}

/// What a typed line means.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Once,
    Session,
    Minutes(u32),
    Always,
    Details,
    Denied(Option<String>),
    DeniedSession,
}

/// Only the whole word approves; anything else denies and is the reason.
fn word(line: &str, panel: &Panel) -> Word {
    let offers = &panel.offers;
    let timed = !offers.exact.is_empty();
    let minutes = || chosen_minutes(line.strip_suffix(" minutes")?);
    match line.trim() {
        "yes" => Word::Once,
        "session" if timed => Word::Session,
        "always" if !offers.always.is_empty() => Word::Always,
        "never" if offers.denial => Word::DeniedSession,
        "details" => Word::Details,
        "" | "no" | "n" | "y" => Word::Denied(None),
        reason => match minutes().filter(|_| timed) {
            Some(minutes) => Word::Minutes(minutes),
            None => Word::Denied(Some(reason.to_owned())),
        },
    }
}

struct Plain<'a> {
    terminal: &'a File,
    keys: &'a Keys<'a>,
    panel: &'a Panel,
    help: &'a Help<'a>,
}

impl Plain<'_> {
    fn say(&self, lines: &[Line]) -> io::Result<()> {
        let mut out = self.terminal;
        lines.iter().try_for_each(|line| out.write_all(format!("{}\n", line.text).as_bytes()))
    }

    /// A typed line; None at the end of input and at `^C`, which deny.
    fn typed(&self, prompt: &str) -> Result<Option<String>, Unavailable> {
        let mut out = self.terminal;
        out.write_all(format!("{prompt}: ").as_bytes())?;
        let line = self.keys.line()?;
        if line.is_none() {
            // The end of input is shown as nothing: what follows would stand on the same line.
            out.write_all(b"\n")?;
        }
        Ok(line)
    }

    fn answer(&self) -> Result<Answer, Unavailable> {
        loop {
            let Some(line) = self.typed(&self.prompt())? else { return Ok(Answer::Denied { reason: None }) };
            match word(&line, self.panel) {
                Word::Once => return Ok(Answer::Once),
                Word::Denied(reason) => return Ok(Answer::Denied { reason }),
                Word::DeniedSession => return Ok(Answer::DeniedSession { reason: None }),
                Word::Details => self.say(&self.panel.details)?,
                Word::Session => {
                    let head = "Until this session ends, allowed without a question:";
                    if self.agreed(head, &self.panel.offers.exact)? {
                        return Ok(Answer::Session);
                    }
                }
                Word::Minutes(minutes) => {
                    let head = format!("For {minutes} minutes, allowed without a question:");
                    if self.agreed(&head, &self.panel.offers.exact)? {
                        return Ok(Answer::Minutes(minutes));
                    }
                }
                Word::Always => {
                    if let Some(answer) = self.always()? {
                        return Ok(answer);
                    }
                }
            }
        }
    }

    fn prompt(&self) -> String {
        let offers = &self.panel.offers;
        let mut words = vec!["yes to allow once"];
        if !offers.exact.is_empty() {
            words.extend(["session", "15 minutes"]);
        }
        words.extend((!offers.always.is_empty()).then_some("always"));
        words.push("details");
        words.extend(offers.denial.then_some("never to deny for this session"));
        format!("Type {}, or a reason to deny", words.join(", "))
    }

    /// What will be kept is said, and needs a word of its own.
    fn agreed(&self, head: &str, kept: &[Kept]) -> Result<bool, Unavailable> {
        self.say(&[Line::plain(head)])?;
        for each in kept {
            self.say(&[Line::plain(format!("  {}", sanitize::line(&each.to_string())))])?;
        }
        Ok(self.typed("Type yes to keep this")?.as_deref() == Some("yes"))
    }

    fn always(&self) -> Result<Option<Answer>, Unavailable> {
        let offers = &self.panel.offers;
        let mut patterns = Vec::new();
        for part in &offers.always {
            self.say(&[Line::plain(format!("A pattern for {}:", sanitize::line(&part.subject)))])?;
            for (index, pattern) in part.patterns.iter().enumerate() {
                self.say(&[Line::plain(format!("  {}: {}", index + 1, sanitize::line(pattern)))])?;
            }
            let Some(line) = self.typed("Type a number, or a pattern of your own")? else { return Ok(None) };
            let chosen =
                line.parse::<usize>().ok().and_then(|number| part.patterns.get(number.checked_sub(1)?));
            let pattern = chosen.cloned().unwrap_or(line);
            if !pattern::matches(&pattern, &part.subject) {
                self.say(&[Line::plain("That does not cover what is asked about.")])?;
                return Ok(None);
            }
            let covered = (self.help.covered)(&pattern).len();
            self.say(&[Line::plain(format!("It would have covered {covered} commands of the record."))])?;
            patterns.extend(part.kept(&pattern));
        }
        let scope = if offers.keeps.project.is_some() { Scope::Project } else { Scope::User };
        let place = sanitize::line(offers.keeps.place(scope).unwrap_or_default());
        let head = format!("From now on, allowed without a question, kept in {place}:");
        Ok(self.agreed(&head, &patterns)?.then_some(Answer::Always { patterns, scope }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, shown};
    use super::*;

    #[test]
    fn only_the_whole_word_approves() {
        let of =
            |text: &str, keeps| shown(text, |question| Panel::new(question, &Help { keeps, ..Help::none() }));
        let (offering, bare) = (of("npm run dev", keeps()), of("npm run dev", crate::ask::Keeps::default()));
        let denied = |reason: Option<&str>| Word::Denied(reason.map(str::to_owned));
        let table = [
            (&bare, "yes", Word::Once),
            (&bare, " yes ", Word::Once),
            (&bare, "y", denied(None)),
            (&bare, "", denied(None)),
            (&bare, "Yes", denied(Some("Yes"))),
            (&bare, "use pnpm", denied(Some("use pnpm"))),
            (&bare, "session", denied(Some("session"))),
            (&bare, "always", denied(Some("always"))),
            (&bare, "details", Word::Details),
            (&offering, "session", Word::Session),
            (&offering, "15 minutes", Word::Minutes(15)),
            (&offering, "0 minutes", denied(Some("0 minutes"))),
            (&offering, "always", Word::Always),
            (&offering, "never", Word::DeniedSession),
        ];
        for (panel, line, expected) in table {
            assert_eq!(word(line, panel), expected, "{line}");
        }
    }
}
