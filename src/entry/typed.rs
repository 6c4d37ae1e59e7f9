//! A line that a person typed at their own bash, zsh or fish: decided, asked about and recorded here, run there.
//!
//! The shell hands over what it knows of the line (`shell-integration/`): its words that are aliases, functions or
//! variables there. What it cannot tell, or what its language reads otherwise than bash, is a doubt and asks.

mod foreign;
mod told;

use std::os::unix::ffi::OsStringExt;
use std::process::ExitCode;

use self::foreign::otherwise;
use self::told::Told;
use super::guard::{self, By};
use super::moment::{self, Moment};
use super::shell::Asked;
use super::steer::{FAILED, REFUSED};
use super::world::Surrounds;
use crate::ask::{Manner, Refusal, Unavailable, deceit, hosts, sanitize};
use crate::decision::Decision;
use crate::pipeline;
use crate::request::{Entry, ReadingOptions, Request, Setting};
use crate::run::{Ending, Means, Runner, Source};
use crate::store::session::is_shell;
use crate::sys::signal::{end_after, no_end};
use crate::sys::tty::in_group_of_parent;

/// The exit status where the shell must look first: at whether the text is whole, at where its cursor is.
const LOOK: u8 = 3;

/// So many seconds gsh has for a line, before a person is asked: whoever typed it waits.
const PATIENCE: u32 = 10;

/// The variables in which a shell hands a line over: what is on a command line other users can read.
const HANDED: [&str; 3] = ["GSH_LINE", "GSH_DEFINED", "GSH_UNSURE"];

/// How everything begins that the integration puts into a shell. Other ways to take a line out of gsh's sight
/// (`bind`, `zle`, a new shell) are programs that the builtin rules ask about.
const OURS: &str = "__gsh";

/// The shell that a line was typed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typist {
    /// bash.
    Bash,
    /// zsh.
    Zsh,
    /// fish.
    Fish,
}

impl Typist {
    /// By its name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Some(match word {
            "bash" => Self::Bash,
            "zsh" => Self::Zsh,
            "fish" => Self::Fish,
            _ => return None,
        })
    }

    /// Its name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Bash => "bash",
            Self::Zsh => "zsh",
            Self::Fish => "fish",
        }
    }
}

/// Whether a person may take gsh out of this shell: says `off`, or why not.
#[must_use]
pub fn off() -> ExitCode {
    match guard::may_answer(By::Words) {
        Ok(_) => answer("off", 0),
        Err(why) => {
            eprintln!("gsh: not switched off: {why}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Decides the line that the shell handed over and says what it may do with it: `run` (status 0) or `no` (126).
/// Without `whole` nothing is shown or recorded but of a line that simply runs: `unclear` (3) says that the text may
/// not be whole, `look` (3) that there is something to show. Every other answer, and none, is gsh's failure.
#[must_use]
pub fn run(typist: Typist, whole: bool) -> ExitCode {
    // The shell cannot give up on us without a process more; a gsh that hangs gives no answer.
    end_after(PATIENCE);
    let mut surrounds = Surrounds::of_process();
    let handed = |name: &str| surrounds.environment.iter().find(|(known, _)| known == name);
    let [line, defined, unsure] = HANDED.map(|name| handed(name).map(|(_, value)| value.clone()));
    let unsure = unsure.map(|why| why.to_string_lossy().into_owned()).filter(|why| !why.is_empty());
    let Some(line) = line else {
        eprintln!("gsh: typed: no line was handed over in GSH_LINE");
        return ExitCode::from(FAILED);
    };
    surrounds.environment.retain(|(name, _)| !HANDED.iter().any(|handed| *name == *handed));
    // A person is not locked out by their own refusals, which are no agent's attempts.
    (surrounds.memory.streak, surrounds.memory.refusals) = (0, 0);
    let text = line.clone().into_vec();
    let told = Told::of(&defined.unwrap_or_default().to_string_lossy());
    let doubt = doubt(typist, &String::from_utf8_lossy(&text), unsure.or(told.doubt));
    let cwd = std::env::current_dir().unwrap_or_default();
    let setting = Setting { prelude: told.text, doubt: doubt.unwrap_or_default(), ..Setting::default() };
    let (name, args, options) = (None, Vec::new(), ReadingOptions::default());
    let request = Request { text, cwd, name, args, options, entry: Entry::Typed, setting, tool: None };
    decided(request, Asked::text(line), surrounds, whole)
}

fn decided(request: Request, asked: Asked, surrounds: Surrounds, whole: bool) -> ExitCode {
    let machine = surrounds.machine(&request.cwd);
    let mut options = moment::options(&asked, &surrounds, false);
    options.caller.entry = Entry::Typed;
    let policy = surrounds.policy(&machine, options);
    if !policy.knobs.person.enabled {
        return answer("run", 0);
    }
    let notes = hosts::notes(request.as_text());
    let runner = if whole { Runner::Caller } else { Runner::CallerIfPlain };
    // What has a note is shown below the line, so the shell must have looked first.
    if !whole && !notes.is_empty() {
        let understood = pipeline::check(&request, &policy, &machine).script.problems.is_empty();
        return answer(if understood { "look" } else { "unclear" }, LOOK);
    }
    let behind_editor = whole && is_behind_editor(&surrounds);
    let moment = match Moment::elsewhere(asked, request, surrounds, (machine, policy)) {
        Ok(moment) => moment,
        Err(error) => {
            eprintln!("gsh: {error}");
            return ExitCode::from(FAILED);
        }
    };
    if whole {
        no_end();
    }
    let request = moment.request();
    match pipeline::run(request, &moment.policy, moment.machine(), means(&moment, behind_editor, runner)) {
        Ending::Left => {
            notes.iter().for_each(|note| eprintln!("gsh: note: {}", sanitize::line(note)));
            answer("run", 0)
        }
        Ending::Unclear => answer("unclear", LOOK),
        Ending::Unsaid => answer("look", LOOK),
        Ending::Refused(decision, by) => {
            eprintln!("{}", not_run(&decision, &by));
            answer("no", REFUSED)
        }
        Ending::Failed(failure) => {
            eprintln!("gsh: {failure}");
            ExitCode::from(FAILED)
        }
        Ending::Ran(_) => ExitCode::from(FAILED),
    }
}

/// Why the shell may do something else with the text than what bash would make of it.
fn doubt(typist: Typist, text: &str, unsure: Option<String>) -> Option<String> {
    let ours = || text.contains(OURS).then(|| "it names what gsh has put into this shell".to_owned());
    let hides = || deceit::of(text);
    unsure.or_else(ours).or_else(hides).or_else(|| otherwise(typist, text).map(str::to_owned))
}

/// Whether the shell that asks waits behind its line editor.
fn is_behind_editor(surrounds: &Surrounds) -> bool {
    in_group_of_parent()
        && surrounds.lineage.as_ref().and_then(|lineage| lineage.above.first()).is_some_and(is_shell)
}

fn means(moment: &Moment, behind_editor: bool, runner: Runner) -> Means {
    let means = moment.means(Source::Command { name: None });
    // Whoever typed it sits here or nowhere.
    let asks = means.asks.map(|manner| Manner { behind_editor, elsewhere: None, quiet: false, ..manner });
    // What is typed goes to the person, not to a model, unless they said so.
    let auto = moment.policy.knobs.person.auto_review;
    let asks = asks.map(|manner| Manner { reviewer: manner.reviewer.filter(|_| auto), ..manner });
    Means { asks, runner, ..means }
}

fn answer(word: &str, status: u8) -> ExitCode {
    println!("{word}");
    ExitCode::from(status)
}

/// Why a line does not run, for whoever typed it.
fn not_run(decision: &Decision, by: &Refusal) -> String {
    let reason = sanitize::line(&decision.reason);
    match by {
        _ if decision.floor.is_some() => {
            format!("gsh: not run: {reason}. No rule and no answer allows this.")
        }
        Refusal::Person(_) => "gsh: not run".to_owned(),
        Refusal::Policy => format!("gsh: not run: {reason}"),
        Refusal::Reviewer(words) => format!("gsh: not run: {reason}: {}", sanitize::line(words)),
        Refusal::Unreviewed(failed) => {
            format!("gsh: not run: {reason}: {}", sanitize::line(failed.cause.word()))
        }
        Refusal::NobodyToAsk(why) => {
            let help = match why {
                Unavailable::NotAPersons(_) => ". If only people sit here: gsh init terminal",
                _ => "",
            };
            format!(
                "gsh: not run: {reason}, and nobody can be asked: {}{help}",
                sanitize::line(&why.to_string())
            )
        }
    }
}
