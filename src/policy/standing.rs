//! What a policy says beside the verdict on one request.

use super::knobs::Knobs;
use super::rules::Compiled;
use super::{Caller, Capability, Forbidden, Layer, LayerState, Policy, Rule, Verdict};

/// How often a session was refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refused {
    /// In a row.
    pub in_a_row: u32,
    /// By a person or the floor, in all.
    pub in_all: u32,
}

impl Refused {
    /// Whether it was too often in a row. Where nobody could answer, it is only told.
    pub(super) fn is_in_a_row(self, knobs: &Knobs, caller: &Caller) -> bool {
        let most = knobs.refusals.in_a_row;
        caller.interactive && most > 0 && self.in_a_row >= most
    }
}

impl Policy {
    /// Whether the session was refused so often in all that nothing but reading may run.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let most = self.knobs.refusals.in_all;
        self.caller.interactive && most > 0 && self.refused.in_all >= most
    }
}

impl Policy {
    /// Whether a rule of the user or of the machine's owner allows exactly this whole text: the only
    /// kind of rule that vouches for what gsh could not understand.
    #[must_use]
    pub fn vouches_for(&self, text: &str) -> bool {
        let text = text.trim();
        let vouches = |compiled: &Compiled| {
            let rule = &compiled.rule;
            rule.action == Verdict::Allow
                && matches!(rule.layer, Layer::User | Layer::Managed)
                && !rule.lifts
                && rule.capability == Capability::ProcessExecute.word()
                && compiled.is_exactly(text)
        };
        let mut sets = std::iter::once(&self.rules).chain(&self.tighten);
        sets.any(|set| set.find_last(Capability::ProcessExecute, &[text], vouches).is_some())
    }

    /// Takes back folders that were to count as the project and cannot, and says so with their layer.
    pub fn refuse_roots(&mut self, refused: &[String]) {
        self.knobs.allow_roots.retain(|root| !refused.contains(root));
        let holders = [Layer::User, Layer::Managed];
        if let Some(layer) = self.layers.iter_mut().find(|info| holders.contains(&info.layer)) {
            let said = refused.iter().map(|root| format!("allow_roots \"{root}\": no project may be there"));
            layer.ignored.extend(said);
        }
    }

    /// The file that forbids something, or the name of its layer; None when nothing does.
    #[must_use]
    pub fn forbidden_by(&self, what: Forbidden) -> Option<&str> {
        let layer = self.layers.iter().find(|layer| layer.forbids.contains(&what))?;
        Some(layer.path.as_deref().unwrap_or(layer.layer.word()))
    }

    /// Whether the rule stands in a project file that nobody trusted.
    #[must_use]
    pub fn is_untrusted(&self, rule: &Rule) -> bool {
        self.layers.iter().any(|layer| {
            layer.state == LayerState::Untrusted && layer.layer == rule.layer && layer.path == rule.file
        })
    }
}
