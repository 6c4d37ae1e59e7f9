//! What gsh makes of the rules it carried over.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use gsh::config::import::{Level, targets};
use gsh::config::new_rule::NewRule;
use gsh::config::read::{Origin, read};
use gsh::decision::Decision;
use gsh::host::table::TableHost;
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Capability, CapabilityRequest, Layer, LayerRules, Places, Policy, Subject, Verdict};
use gsh::report::Span;

use super::second::Says;
use crate::common::fixture::{self, PROJECT};

/// A policy with these layers above the builtin one.
pub(crate) fn policy(layers: Vec<LayerRules>) -> Policy {
    let places = Places {
        home: Some("/home/dev".to_owned()),
        project: Some(PROJECT.to_owned()),
        temporaries: vec!["/tmp".to_owned()],
        path_folders: vec!["/usr/bin".to_owned(), "/bin".to_owned()],
        homes: vec!["/home/dev".to_owned(), "/root".to_owned()],
    };
    compose(layers, Composition::new(places, "2026-01-01"))
}

/// Rules as a file of gsh would hold them, read back.
pub(crate) fn layer(level: Level, rules: &[NewRule]) -> LayerRules {
    let (layer, root) = match level {
        Level::User => (Layer::User, None),
        Level::Project => (Layer::Project, Some(PROJECT)),
        Level::Local => (Layer::UserProject, Some(PROJECT)),
    };
    let mut text = String::new();
    for rule in rules {
        let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
        let list = |texts: &[String]| texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "[[permissions.rules]]\ncapability = {}", quoted(&rule.capability));
        let _ =
            writeln!(text, "pattern = {}\naction = {}", quoted(&rule.pattern), quoted(rule.action.word()));
        let _ =
            writeln!(text, "match = [{}]\nnot_match = [{}]", list(&rule.matches), list(&rule.not_matches));
        if let Some(reason) = &rule.reason {
            let _ = writeln!(text, "reason = {}", quoted(reason));
        }
        if !rule.when.modes.is_empty() {
            let modes: Vec<String> = rule.when.modes.iter().map(|mode| mode.word().to_owned()).collect();
            let _ = writeln!(text, "modes = [{}]", list(&modes));
        }
        if let Some(truth) = rule.when.interactive {
            let _ = writeln!(text, "interactive = {truth}");
        }
    }
    let origin = Origin { layer, path: Path::new("/imported.toml"), root, home: Some("/home/dev") };
    let layer = read(&text, &origin).layer;
    let damage: Vec<_> = layer.damage.iter().map(ToString::to_string).collect();
    assert!(damage.is_empty(), "{}\n{text}", damage.join("\n"));
    layer
}

/// The policy of all that was carried over, each rule in its file.
pub(crate) fn whole(targets: &[targets::Target]) -> Policy {
    policy(targets.iter().map(|target| layer(target.level, &target.rules)).collect())
}

/// The machine, and what its builtin rules say of a text.
pub(crate) struct Machine {
    host: TableHost,
    builtin: Policy,
    known: RefCell<HashMap<String, (Says, Says)>>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self { host: fixture::host(), builtin: policy(vec![]), known: RefCell::default() }
    }

    pub(crate) fn decide(&self, policy: &Policy, text: &str) -> Decision {
        fixture::decide_on(&self.host, policy, text)
    }

    /// The verdict without any rule: on the whole, and on running it.
    pub(crate) fn without_rules(&self, text: &str) -> (Says, Says) {
        if let Some(known) = self.known.borrow().get(text) {
            return *known;
        }
        let decision = self.decide(&self.builtin, text);
        let found = (says(decision.verdict), on_running(&decision));
        self.known.borrow_mut().insert(text.to_owned(), found);
        found
    }
}

pub(crate) fn says(verdict: Verdict) -> Says {
    match verdict {
        Verdict::Allow => Says::Allow,
        Verdict::Review | Verdict::Ask => Says::Ask,
        Verdict::Deny => Says::Deny,
    }
}

/// What is said of running the commands, apart from what they do to files and leave running.
pub(crate) fn on_running(decision: &Decision) -> Says {
    let of_commands = |capability| {
        matches!(capability, Capability::ProcessExecute | Capability::NetworkAccess | Capability::GitModify)
    };
    let judged = decision.requests.iter().filter(|each| of_commands(each.request.capability));
    judged.map(|each| says(each.verdict)).max().unwrap_or(Says::Allow)
}

/// What is said of the file; whether it is one that asks in every mode.
pub(crate) fn on_file(decision: &Decision, write: bool) -> (Says, bool) {
    let of_file = |capability: Capability| {
        if write { capability.is_write() } else { capability == Capability::FileRead }
    };
    let judged: Vec<_> = decision.requests.iter().filter(|each| of_file(each.request.capability)).collect();
    let said = judged.iter().map(|each| says(each.verdict)).max().unwrap_or(Says::Allow);
    (said, judged.iter().any(|each| each.matched.protected))
}

/// What is said of a tool.
pub(crate) fn on_tool(policy: &Policy, name: &str) -> Says {
    let subject = Subject::Command { written: name.to_owned(), inner: vec![], allow_needs_all: false };
    let request = CapabilityRequest::new(Capability::ToolUse, subject, String::new(), Span::default());
    says(policy.evaluate(&request).verdict)
}

/// Whether it has a command run another one than those of these texts, or one many times: gsh wants that one
/// allowed as well.
pub(crate) fn runs_others(decision: &Decision, texts: &[String]) -> bool {
    let others = |subject: &Subject| match subject {
        Subject::Command { inner, allow_needs_all, .. } => {
            *allow_needs_all || inner.last().is_some_and(|text| !texts.contains(text))
        }
        _ => false,
    };
    decision.requests.iter().any(|each| others(&each.request.subject))
}
