//! `gsh brief`: what an agent should know before it begins, for its file of instructions.

use std::fmt::Write as _;

use crate::policy::agents::{Known, named};
use crate::policy::knobs::WithoutTerminal;
use crate::policy::{Mode, Policy, Verdict};

/// More refusals than these are not listed: nobody reads on.
const MOST: usize = 40;

/// The text for the agent.
///
/// # Errors
/// When there is no agent of this name.
pub fn text(policy: &Policy, agent: Option<&str>) -> Result<String, String> {
    let agent = match agent {
        Some(word) => {
            Some(named(word).ok_or_else(|| format!("gsh knows no agent `{word}`; `gsh init` lists them"))?)
        }
        None => None,
    };
    let mut out = String::from(
        "# Commands\n\n\
         Commands run through gsh, a guarded shell. Reading is silent, but for secrets. A person is asked about \
         what destroys, writes outside the project, runs a program that gsh does not know, uses the network, changes \
         git, or stays in the background.\n\n\
         - A refused command has not run. It ends with status 126 and says on standard error what was refused and \
         what to do instead. Do that, or ask the user; the same effect by another way is refused too.\n\
         - Write one plain command at a time, with literal paths: what gsh cannot read, it asks about. Prefer \
         `--dry-run`, a narrow path and a named file to a pattern.\n\
         - `gsh check -c 'COMMAND'` says beforehand whether a command would run (0), be asked about (11) or be \
         refused (12); `gsh explain -c 'COMMAND'` says why. Both run nothing.\n\
         - Where the agent's hook asks gsh as well, its other tools are judged by the same rules: reading, writing, \
         fetching, servers' tools. A refusal begins with `gsh:`.\n\
         - Never change gsh's own files or settings, or those that point to it: that is refused in every mode.\n\
         - Status 125 is a fault of gsh itself; nothing has run then.\n",
    );
    out.push_str(waiting(policy));
    let _ = writeln!(out, "- The mode is `{}`{}", policy.mode.word(), meaning(policy.mode));
    if let (Mode::Plan, Some(plan)) = (policy.mode, &policy.plan) {
        let _ = writeln!(out, "- A plan may be written to {plan}, and to no other file.");
    }
    if let Some(agent) = agent {
        out.push_str(&of_agent(agent));
    }
    refused(policy, &mut out);
    Ok(out)
}

fn waiting(policy: &Policy) -> &'static str {
    match policy.knobs.on_ask_without_terminal {
        WithoutTerminal::Deny => "- Nobody can be asked here: what would be asked about is refused.\n",
        _ => {
            "- A question may take a while, and can end unanswered. It stays open then: when the refusal says so, \
             running exactly the same command again later passes once it was approved.\n"
        }
    }
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => ".",
        Mode::Plan => ": only reading runs.",
        Mode::AcceptEdits => ": edits and single deletes inside the project are not asked about.",
        Mode::Bypass => ": little is asked, and the floor still refuses.",
        Mode::DontAsk => ": what would be asked about is refused.",
    }
}

fn of_agent(agent: &Known) -> String {
    let mut text = String::new();
    if let Some(seconds) = agent.seconds {
        let _ =
            writeln!(text, "- A question waits up to {seconds} seconds here before it counts as unanswered.");
    }
    if let Some(file) = agent.instructions {
        let _ = writeln!(text, "\n<!-- For {}: this belongs into {file}. -->", agent.title);
    }
    text
}

/// What rules refuse here, and why.
fn refused(policy: &Policy, out: &mut String) {
    let all = policy.rules.iter().chain(policy.tighten.iter().flat_map(|set| set.iter()));
    let mut lines: Vec<String> = all
        .filter(|compiled| compiled.rule.action == Verdict::Deny)
        .map(|compiled| {
            let reason =
                compiled.rule.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("- {} `{}`{reason}\n", compiled.rule.capability, compiled.rule.pattern)
        })
        .collect();
    lines.dedup();
    if lines.is_empty() {
        return;
    }
    out.push_str("\nNever allowed here:\n\n");
    let left = lines.len().saturating_sub(MOST);
    out.extend(lines.into_iter().take(MOST));
    if left > 0 {
        let _ = writeln!(out, "- and {left} more: `gsh rules list`");
    }
}
