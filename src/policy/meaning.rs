//! What a file would mean if it counted in full, in words for a person who is to trust it.

use serde::{Deserialize, Serialize};

use super::compose::{LayerRule, LayerRules};
use super::{Knobs, Layer, Mode, Verdict};

/// One setting as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// Its name, `section.key` in a section.
    pub name: String,
    /// Its value as written.
    pub value: String,
    /// Its line, from 1.
    pub line: usize,
}

/// What a file does where it counts in full. Every entry names its line where it has one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Meaning {
    /// What becomes silent, or easier.
    pub loosens: Vec<String>,
    /// What is asked about: where the rules below it allow, that is stricter, and where they refuse, milder.
    pub asks: Vec<String>,
    /// What becomes stricter.
    pub tightens: Vec<String>,
    /// What such a file cannot say.
    pub idle: Vec<String>,
}

impl LayerRules {
    /// What it would mean if it counted in full.
    #[must_use]
    pub fn meaning(&self) -> Meaning {
        let mut meaning = Meaning { loosens: self.rules_that_loosen(), ..Meaning::default() };
        for each in self.rules.iter().filter(|each| each.rule.action != Verdict::Allow) {
            let refuses = each.rule.action == Verdict::Deny || each.rule.floor.is_some();
            let list = if refuses { &mut meaning.tightens } else { &mut meaning.asks };
            list.push(in_words(each));
        }
        self.settings(&mut meaning);
        meaning.loosens.extend(self.tables_that_loosen());
        meaning.tightens.extend(self.forbids.iter().map(|what| format!("forbids {}", what.word())));
        meaning
    }

    /// The rules that allow something.
    pub(super) fn rules_that_loosen(&self) -> Vec<String> {
        self.rules.iter().filter(|each| each.rule.action == Verdict::Allow).map(in_words).collect()
    }

    /// The tables of programs, whose word would explain what a program does.
    pub(super) fn tables_that_loosen(&self) -> Vec<String> {
        let tables = self.programs.iter();
        tables
            .map(|table| format!("takes its word for what {} does (line {})", table.names(), table.line()))
            .collect()
    }

    /// A setting with its value and line.
    pub(super) fn setting(&self, name: &str) -> String {
        match (self.said.iter().find(|said| said.name == name), self.mode) {
            (Some(said), _) => format!("{name} = {} (line {})", said.value, said.line),
            (None, Some(mode)) if name == "mode" => format!("mode = \"{}\"", mode.word()),
            (None, _) => name.to_owned(),
        }
    }

    /// Knobs and mode: of a project they only ever tighten.
    fn settings(&self, meaning: &mut Meaning) {
        let milder = Knobs::default().tighten(&self.settings);
        let mode = self.mode.filter(|mode| !mode.tightens(Mode::Default)).map(|_| "mode");
        let may_loosen = self.layer == Layer::User;
        for said in &self.said {
            let is_milder = milder.contains(&said.name.as_str()) || mode == Some(said.name.as_str());
            let list = match (is_milder, may_loosen) {
                (false, _) => &mut meaning.tightens,
                (true, true) => &mut meaning.loosens,
                (true, false) => &mut meaning.idle,
            };
            list.push(self.setting(&said.name));
        }
    }
}

/// A rule, its place, and what makes it wider or narrower than it looks.
fn in_words(each: &LayerRule) -> String {
    let rule = &each.rule;
    let mut text = format!("{} {} \"{}\"", rule.action.word(), rule.capability, rule.pattern);
    if rule.destroys {
        text.push_str(", also where it destroys");
    }
    if rule.when.is_some() || rule.expires.is_some() {
        text.push_str(", under conditions");
    }
    if rule.line > 0 {
        text.push_str(&format!(" (line {})", rule.line));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::knobs::Settings;
    use crate::policy::{Forbidden, Rule};

    fn file(layer: Layer) -> LayerRules {
        let rule =
            |action, pattern, line| Rule { line, ..Rule::new(layer, "process.execute", pattern, action) };
        let rules = vec![
            rule(Verdict::Allow, "make *", 3),
            rule(Verdict::Ask, "npm *", 4),
            Rule { destroys: true, ..rule(Verdict::Allow, "rm *", 5) },
            rule(Verdict::Deny, "curl *", 6),
        ];
        let said = |name: &str, value: &str, line| Said { name: name.into(), value: value.into(), line };
        LayerRules {
            mode: Some(Mode::Bypass),
            settings: Settings {
                on_unresolved: Some(Verdict::Deny),
                audit_required: Some(false),
                ..Settings::default()
            },
            said: vec![
                said("mode", "\"bypass\"", 1),
                said("on_unresolved", "\"deny\"", 2),
                said("audit.required", "false", 8),
            ],
            forbids: vec![Forbidden::Bypass],
            ..LayerRules::of_rules(layer, rules)
        }
    }

    #[test]
    fn what_trust_would_change() {
        let loosens = [
            "allow process.execute \"make *\" (line 3)",
            "allow process.execute \"rm *\", also where it destroys (line 5)",
        ];
        let milder = ["mode = \"bypass\" (line 1)", "audit.required = false (line 8)"];
        let tightens = [
            "deny process.execute \"curl *\" (line 6)",
            "on_unresolved = \"deny\" (line 2)",
            "forbids bypass",
        ];
        let project = file(Layer::Project).meaning();
        assert_eq!(project.loosens, loosens);
        assert_eq!(project.asks, ["ask process.execute \"npm *\" (line 4)"]);
        assert_eq!(project.tightens, tightens);
        assert_eq!(project.idle, milder, "a project's settings only tighten");
        let user = file(Layer::User).meaning();
        assert_eq!(user.loosens, [&loosens[..], &milder].concat());
        assert!(user.idle.is_empty());
    }
}
