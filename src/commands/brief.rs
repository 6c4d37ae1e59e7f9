//! `gsh brief`: what an agent should know before it begins.

use crate::policy::{Mode, Policy, Verdict};

/// The text for the agent.
#[must_use]
pub fn text(policy: &Policy) -> String {
    let mut out = String::from(
        "Commands run through gsh, a guarded shell. Reading is silent; what changes things outside the project, \
         destroys, runs unknown programs, uses the network or changes git asks a person.\n\
         A refused command ends with status 126 and says why on standard error: do something else, or ask the \
         user; the same effect by another way is refused too.\n\
         Where the agent's hook asks gsh as well, its other tools are judged by the same rules: reading, writing, \
         fetching, servers' tools. A refusal begins with `gsh:`.\n\
         Prefer one plain command at a time, with literal paths: what gsh cannot read, it asks about.\n",
    );
    out.push_str(&format!("Mode: {}.\n", policy.mode.word()));
    if let (Mode::Plan, Some(plan)) = (policy.mode, &policy.plan) {
        out.push_str(&format!("Only reading runs. A plan may be written to {plan}, and to no other file.\n"));
    }
    let denied: Vec<String> = policy
        .rules
        .iter()
        .chain(policy.tighten.iter().flat_map(|set| set.iter()))
        .filter(|compiled| compiled.rule.action == Verdict::Deny)
        .map(|compiled| {
            let reason =
                compiled.rule.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("- {} {}{reason}\n", compiled.rule.capability, compiled.rule.pattern)
        })
        .collect();
    if !denied.is_empty() {
        out.push_str("Never allowed here:\n");
        out.extend(denied);
    }
    out
}
