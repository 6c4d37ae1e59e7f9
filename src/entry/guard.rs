//! Who may change what gsh holds: its configuration, trust, grants, records. A person at a terminal of
//! their own, and nobody beneath a command that gsh let through.

use std::path::PathBuf;

use super::world::{Surrounds, here};
use crate::ask::{Unavailable, sanitize, terminal};
use crate::store::session::is_shell;
use crate::sys::agents;
use crate::sys::proc::Lineage;
use crate::sys::tty;

/// Nothing when the caller may change gsh's own things; else why not and what to do.
///
/// # Errors
/// When this process runs beneath a call of gsh, or its terminal is not known to be a person's.
pub fn may_change() -> Result<(), String> {
    persons_terminal().map(drop)
}

/// Nothing when the caller may point programs at gsh: a person at a terminal of their own, as for [`may_change`], or
/// anybody that no agent started, since this opens nothing.
///
/// # Errors
/// When this process runs beneath a call of gsh, or an agent started it.
pub fn may_set_up() -> Result<(), String> {
    let Err(why) = may_change() else { return Ok(()) };
    not_beneath(&Surrounds::of_process())?;
    match Lineage::own() {
        Some(lineage) => match lineage.above.iter().find_map(agents::agent) {
            None => Ok(()),
            Some(agent) => Err(format!("{} started this, and {why}", agent.title)),
        },
        None => Err(why),
    }
}

/// Nothing when no gsh is above.
///
/// # Errors
/// When this process runs beneath a call of gsh.
pub fn not_beneath(surrounds: &Surrounds) -> Result<(), String> {
    if surrounds.above.is_none() {
        return Ok(());
    }
    Err("this changes gsh itself, and nothing that gsh runs may do that: a person can, in a terminal of their own"
        .to_owned())
}

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// By the words of a command line: whoever started the process has said all.
    Words,
    /// By keys, pressed at the terminal.
    Keys,
}

/// The terminal of a person who may answer questions. Beyond [`may_change`] the process has to belong to that
/// terminal: it stands in front, its ancestors lead to the terminal's first process, and no agent is among them.
///
/// # Errors
/// As [`may_change`], and when the process may be an agent's.
pub fn may_answer(by: By) -> Result<PathBuf, String> {
    let terminal = persons_terminal()?;
    let lineage = Lineage::own().ok_or("answering takes /proc, to see who asks")?;
    seated(&lineage, by)?;
    let in_front = tty::open(&terminal).is_ok_and(|open| tty::in_front(std::os::fd::AsFd::as_fd(&open)));
    if in_front {
        return Ok(terminal);
    }
    Err("answering takes a person in front of a terminal, and gsh runs in the background of this one"
        .to_owned())
}

/// Whether the process was started from its terminal: what left its ancestors (a daemon) may be anybody's.
fn seated(lineage: &Lineage, by: By) -> Result<(), String> {
    let leader = lineage.own.leader;
    for process in lineage.all() {
        if let Some(agent) = agents::agent(process) {
            return Err(format!("a person answers, and the agent {} started this", agent.name));
        }
        let own = process.pid == lineage.own.pid;
        if by == By::Words && !own && !is_shell(process) {
            let name = sanitize::line(&process.name);
            return Err(format!(
                "a person answers from a shell, and {name} started this: use the list of `gsh approvals`"
            ));
        }
        if process.pid == leader {
            return Ok(());
        }
    }
    Err("a person answers from a terminal, and this process left the one it was started at".to_owned())
}

fn persons_terminal() -> Result<PathBuf, String> {
    let (surrounds, _, policy) = here();
    not_beneath(&surrounds)?;
    terminal::persons(&policy.knobs.terminals).map_err(|why| {
        let help = match &why {
            Unavailable::NotAPersons(kind) => format!(
                ". If only people sit behind that terminal, say so in ~/.config/gsh/config.toml: [ask] \
                 terminals = [\"{}\"]",
                sanitize::line(kind)
            ),
            _ => String::new(),
        };
        format!("this changes gsh itself, which takes a person at a terminal: {why}{help}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::proc::Process;

    #[test]
    fn who_is_seated_at_a_terminal() {
        // Names from gsh upwards; the place of the session's leader among them; by words, by keys.
        let table: [(&[&str], i32, bool, bool); 8] = [
            (&["gsh"], 0, true, true),
            (&["gsh", "bash", "xterm"], 1, true, true),
            (&["gsh", "sh", "-zsh", "tmux: server"], 2, true, true),
            (&["gsh", "python3", "bash", "xterm"], 2, false, true),
            (&["gsh", "claude", "bash", "xterm"], 2, false, false),
            (&["gsh", "bash", "codex", "bash"], 3, false, false),
            // Reparented: the leader is none of its ancestors.
            (&["gsh", "bash", "systemd"], 9, false, false),
            (&["gsh", "systemd"], 9, false, false),
        ];
        for (names, leader, words, keys) in table {
            let process = |(index, name): (i32, &&str)| Process {
                pid: 100 - index,
                parent: 99 - index,
                name: (*name).to_owned(),
                leader: 100 - leader,
                started: 1,
                terminal: 34817,
                state: 'S',
                computed: 0,
            };
            let mut all: Vec<_> = (0..).zip(names).map(process).collect();
            let lineage = Lineage { own: all.remove(0), above: all };
            assert_eq!(seated(&lineage, By::Words).is_ok(), words, "{names:?}");
            assert_eq!(seated(&lineage, By::Keys).is_ok(), keys, "{names:?}");
        }
    }
}
