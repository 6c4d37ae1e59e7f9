//! What a person tells gsh itself, at its own prompt: lines that begin with `:` and a letter.

use std::fmt::Write;

use super::Session;
use crate::ask::sanitize;
use crate::decision::answer::subject;
use crate::entry::world::Surrounds;
use crate::policy::{Mode, Verdict};
use crate::store::sessions::Sessions;

const HELP: &str = "\
:explain LINE   what would be decided of it, and why
:mode [MODE]    the mode, or from now on another: default, plan, accept-edits, bypass, dont-ask
:jobs           what runs in the background of this shell
:undo-grant     takes the last grant of this session back
:help           this
";

/// What a line of this kind asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Colon<'a> {
    Explain(&'a str),
    Mode(Option<&'a str>),
    Jobs,
    UndoGrant,
    Help,
    Unknown(&'a str),
}

/// None for a line that is the shell's.
pub(super) fn read(line: &str) -> Option<Colon<'_>> {
    let told = line.strip_prefix(':').filter(|told| told.starts_with(|c: char| c.is_ascii_alphabetic()))?;
    let (word, rest) = told.split_once(char::is_whitespace).unwrap_or((told, ""));
    let rest = rest.trim();
    Some(match word {
        "explain" => Colon::Explain(rest),
        "mode" => Colon::Mode(Some(rest).filter(|rest| !rest.is_empty())),
        "jobs" => Colon::Jobs,
        "undo-grant" => Colon::UndoGrant,
        "help" => Colon::Help,
        other => Colon::Unknown(other),
    })
}

impl Session {
    /// Does it, and what is told of it.
    pub(super) fn told(&mut self, asked: &Colon<'_>) -> String {
        match asked {
            Colon::Explain("") => "gsh: :explain LINE: which line?\n".to_owned(),
            Colon::Explain(line) => self.explained(line),
            Colon::Mode(None) => self.moment(b"").map_or_else(
                |_| String::new(),
                |moment| format!("{} (from {})\n", moment.policy.mode.word(), moment.policy.mode_origin),
            ),
            Colon::Mode(Some(word)) => match Mode::from_word(word) {
                Some(mode) => {
                    self.asked.mode = Some(mode);
                    self.told(&Colon::Mode(None))
                }
                None => format!("gsh: {}: no mode; :help lists them\n", sanitize::line(word)),
            },
            Colon::UndoGrant => self.undone(),
            Colon::Jobs | Colon::Help => HELP.to_owned(),
            Colon::Unknown(word) => {
                format!("gsh: :{}: no such word; :help lists them\n", sanitize::line(word))
            }
        }
    }

    fn explained(&self, line: &str) -> String {
        let Ok(moment) = self.moment(b"") else { return String::new() };
        let decision = moment.foreseen(line, &self.living.past()).decision;
        let mut out = format!("{}: {}\n", decision.verdict.word(), sanitize::line(&decision.reason));
        for judged in decision.requests.iter().filter(|judged| judged.verdict > Verdict::Allow) {
            // Writing to a String cannot fail.
            let subject = sanitize::line(subject(&judged.request.subject));
            let _ =
                writeln!(out, "  {} {subject}: {}", judged.request.capability.word(), judged.verdict.word());
        }
        out
    }

    fn undone(&self) -> String {
        let surrounds = Surrounds::of_shell(self.above.clone());
        let Some(folders) = &surrounds.folders else { return "gsh: there is no home folder\n".to_owned() };
        match Sessions::of(folders).change(&surrounds.session.id, |memory| memory.grants.pop()) {
            Ok(Some(grant)) => {
                let rules = grant.rules.iter().map(|rule| sanitize::line(&rule.pattern));
                format!("taken back: {}\n", rules.collect::<Vec<_>>().join(", "))
            }
            Ok(None) => "gsh: nothing was granted in this session\n".to_owned(),
            Err(error) => format!("gsh: {error}\n"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_for_gsh_are_told_from_the_shells() {
        let table = [
            (":mode plan", Some(Colon::Mode(Some("plan")))),
            (":mode", Some(Colon::Mode(None))),
            (":explain git push", Some(Colon::Explain("git push"))),
            (":undo-grant", Some(Colon::UndoGrant)),
            (":x", Some(Colon::Unknown("x"))),
            (":", None),
            (": > file", None),
            (":> file", None),
            ("echo :mode", None),
        ];
        for (line, expected) in table {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
