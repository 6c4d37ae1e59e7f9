//! Layers to one policy.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::defaults::{self, Places};
use super::evaluate::damaged;
use super::knobs::{Knobs, Settings};
use super::pattern::{Pattern, escape};
use super::protected::{Protected, is_within};
use super::rules::{Bounds, Reach, RuleSet};
use super::{Layer, Mode, Rule, Verdict};
use crate::report::Report;

/// A rule of a file, with the form it was written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRule {
    /// The rule.
    pub rule: Rule,
    /// It was written as `capability = action`: an allow or ask then gives way to every more particular
    /// rule of any file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shorthand: bool,
}

/// What one layer says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LayerRules {
    /// Which layer it is.
    pub layer: Layer,
    /// Its file.
    pub path: Option<Arc<str>>,
    /// Whether the file is there.
    pub present: bool,
    /// Whether a person trusts its content; what nobody trusts may only tighten.
    pub trusted: bool,
    /// What is wrong with it.
    #[serde(skip)]
    pub damage: Vec<Report>,
    /// Its rules in source order.
    pub rules: Vec<LayerRule>,
    /// What it says of the knobs.
    pub settings: Settings,
    /// The mode it asks for.
    pub mode: Option<Mode>,
}

impl LayerRules {
    /// A layer that says nothing.
    #[must_use]
    pub fn empty(layer: Layer) -> Self {
        Self {
            layer,
            path: None,
            present: false,
            trusted: true,
            damage: vec![],
            rules: vec![],
            settings: Settings::default(),
            mode: None,
        }
    }

    /// A layer of rules without a file: the command line, a session's grants.
    #[must_use]
    pub fn of_rules(layer: Layer, rules: Vec<Rule>) -> Self {
        let rules = rules.into_iter().map(|rule| LayerRule { rule, shorthand: false }).collect();
        Self { present: true, rules, ..Self::empty(layer) }
    }

    /// Whether it may only raise verdicts.
    #[must_use]
    pub fn only_tightens(&self) -> bool {
        self.layer == Layer::Managed || !self.trusted
    }

    /// Its state, the worst first.
    #[must_use]
    pub fn state(&self) -> LayerState {
        match self {
            Self { damage, .. } if !damage.is_empty() => LayerState::Damaged,
            Self { present: false, .. } => LayerState::Missing,
            Self { trusted: false, .. } => LayerState::Untrusted,
            _ => LayerState::Ok,
        }
    }
}

/// How a layer stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LayerState {
    /// It holds as written.
    Ok,
    /// There is no such file.
    Missing,
    /// It only tightens, since nobody trusted its content.
    Untrusted,
    /// Parts of it could not be read: what refuses holds, what allows asks.
    Damaged,
}

/// A layer as a person is told of it.
#[derive(Debug, Clone)]
pub struct LayerInfo {
    /// Which layer.
    pub layer: Layer,
    /// Its file.
    pub path: Option<Arc<str>>,
    /// How it stands.
    pub state: LayerState,
    /// How many rules it holds.
    pub rules: usize,
    /// What is wrong with it.
    pub damage: Vec<Report>,
    /// What it asked for and, since it may only tighten, did not get.
    pub ignored: Vec<String>,
}

/// All that is wanted, ready to judge requests.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The composed list.
    pub rules: RuleSet,
    /// What is folded in by strictness: managed rules, those of an untrusted project.
    pub tighten: Vec<RuleSet>,
    /// Where the first damaged layer is damaged.
    pub damage: Option<String>,
    /// The knobs.
    pub knobs: Knobs,
    /// The mode.
    pub mode: Mode,
    /// Where the mode comes from.
    pub mode_origin: String,
    /// The layers, lowest first.
    pub layers: Vec<LayerInfo>,
    /// The places it was composed for.
    pub places: Places,
    /// Paths that ask in every mode.
    pub protected: Protected,
    /// The day it is judged on, `YYYY-MM-DD`.
    pub today: String,
}

/// What layers are composed with.
pub struct Composition<'a> {
    /// Where things are.
    pub places: Places,
    /// The day, `YYYY-MM-DD`.
    pub today: String,
    /// A mode given with the call, and where it was given.
    pub mode: Option<(Mode, String)>,
    /// The real path of a folder, for the literal heads of patterns.
    pub resolve: &'a dyn Fn(&str) -> Option<String>,
}

/// Composes the layers. They may come in any order; they apply in theirs.
#[must_use]
pub fn compose(mut layers: Vec<LayerRules>, with: Composition<'_>) -> Policy {
    layers.sort_by_key(|layer| layer.layer);
    let damage = layers.iter().find_map(|layer| layer.damage.first().map(Report::place));
    let mut compiler = Compiler { places: &with.places, resolve: with.resolve, heads: HashMap::new() };
    let mut rules = RuleSet::default();
    for builtin in defaults::rules(&with.places) {
        let Effective { rule, matches_as, .. } = Effective::new(builtin.rule, false, damage.as_deref());
        compiler.push(&mut rules, rule, Bounds { reach: builtin.reach, matches_as });
    }
    let ordinary: Vec<&LayerRules> = layers.iter().filter(|layer| !layer.only_tightens()).collect();
    for mut found in ordinary.iter().flat_map(|layer| effective(layer)).filter(Effective::is_override) {
        found.rule.layer = Layer::Overrides;
        compiler.add(&mut rules, found);
    }
    for rule in baseline(&ordinary) {
        compiler.add(&mut rules, Effective::new(rule, false, None));
    }
    for found in ordinary.iter().flat_map(|layer| effective(layer)).filter(|found| !found.is_override()) {
        compiler.add(&mut rules, found);
    }
    let tighten = layers.iter().filter(|layer| layer.only_tightens()).map(|layer| compiler.tightening(layer));
    let tighten: Vec<RuleSet> = tighten.filter(|set| !set.is_empty()).collect();
    let mut ignored = HashMap::new();
    let (knobs, mode, mode_origin) = settle(&layers, with.mode, &mut ignored);
    let layers = layers.into_iter().map(|layer| info(layer, &mut ignored)).collect();
    let protected = Protected::new(&with.places);
    let (places, today) = (with.places, with.today);
    Policy { rules, tighten, damage, knobs, mode, mode_origin, layers, places, protected, today }
}

/// A rule as it counts.
struct Effective {
    rule: Rule,
    shorthand: bool,
    /// See [`Bounds::matches_as`].
    matches_as: Verdict,
}

impl Effective {
    /// Where something is damaged, nothing is allowed.
    fn new(mut rule: Rule, shorthand: bool, damage: Option<&str>) -> Self {
        let matches_as = rule.action;
        if let (Some(place), Verdict::Allow) = (damage, matches_as) {
            rule.action = Verdict::Ask;
            rule.reason = Some(damaged(place).into());
        }
        Self { rule, shorthand, matches_as }
    }

    /// Whether it lies below the particular rules of all files.
    fn is_override(&self) -> bool {
        self.shorthand && self.rule.action != Verdict::Deny
    }
}

/// A layer's rules as they count.
fn effective(layer: &LayerRules) -> impl Iterator<Item = Effective> + '_ {
    let damage = layer.damage.first().map(Report::place);
    let rules = layer.rules.iter().cloned();
    rules.map(move |LayerRule { rule, shorthand }| Effective::new(rule, shorthand, damage.as_deref()))
}

/// What an agent asks an MCP server before it uses it; allowed once any of that server's tools is.
const DISCOVERY: &[&str] =
    &["list", "list_tools", "list_resources", "list_prompts", "search", "describe", "status", "connect"];

fn baseline(layers: &[&LayerRules]) -> Vec<Rule> {
    let mut servers: Vec<String> = vec![];
    for rule in layers.iter().flat_map(|layer| effective(layer)).filter(|r| r.rule.action == Verdict::Allow) {
        let named = rule.rule.pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let server = named.map(|(server, _)| server).filter(|server| !server.contains(['*', '?']));
        if let Some(server) = server.filter(|_| Pattern::new(&rule.rule.capability).matches("tool.use"))
            && !servers.iter().any(|known| known == server)
        {
            servers.push(server.to_owned());
        }
    }
    let tools =
        servers.iter().flat_map(|server| DISCOVERY.iter().map(move |tool| format!("mcp__{server}__{tool}")));
    tools.map(|tool| Rule::new(Layer::Baseline, "tool.use", &tool, Verdict::Allow)).collect()
}

/// Turns the patterns of rules into what subjects are matched with.
struct Compiler<'a> {
    places: &'a Places,
    resolve: &'a dyn Fn(&str) -> Option<String>,
    /// Folders already resolved: many rules begin with the same few.
    heads: HashMap<String, Option<String>>,
}

impl Compiler<'_> {
    fn add(&mut self, set: &mut RuleSet, found: Effective) {
        let bounds = Bounds { reach: Reach::Any, matches_as: found.matches_as };
        self.push(set, found.rule, bounds);
    }

    fn push(&mut self, set: &mut RuleSet, rule: Rule, bounds: Bounds) {
        let (rule, allows) = (Arc::new(rule), bounds.matches_as == Verdict::Allow);
        set.push(&rule, bounds, |files| match files {
            true => self.path_forms(&rule, allows),
            false => vec![Pattern::new(&rule.pattern)],
        });
    }

    /// The rules of a layer that may only tighten. Managed ones may make exceptions to themselves;
    /// what nobody trusts may not even do that.
    fn tightening(&mut self, layer: &LayerRules) -> RuleSet {
        let mut set = RuleSet::default();
        let managed = layer.layer == Layer::Managed;
        for found in effective(layer).filter(|found| managed || found.matches_as != Verdict::Allow) {
            self.add(&mut set, found);
        }
        set
    }

    /// A path pattern with the home put in, as spelled and with its literal folders resolved.
    fn path_forms(&mut self, rule: &Rule, allows: bool) -> Vec<Pattern> {
        let Some(spelled) = with_home(&rule.pattern, self.places.home.as_deref()) else { return vec![] };
        let compiled = Pattern::new(&spelled);
        // The builtin rules name real places.
        if rule.layer == Layer::Builtin {
            return vec![compiled];
        }
        let real = self.real_head(&spelled, &compiled, allows).map(|real| Pattern::new(&real));
        [compiled].into_iter().chain(real).collect()
    }

    /// The pattern with what stands before its first wildcard resolved, when that changes it. What
    /// refuses a path refuses what is behind it; what allows one does not follow its last link.
    fn real_head(&mut self, spelled: &str, compiled: &Pattern, allows: bool) -> Option<String> {
        let head = compiled.head();
        let folder = match compiled.exact() {
            Some(path) if !allows => path,
            _ => head.rsplit_once('/').map(|(folder, _)| folder)?,
        };
        if !folder.starts_with('/') {
            return None;
        }
        let resolve = self.resolve;
        let real = self.heads.entry(folder.to_owned()).or_insert_with(|| resolve(folder)).clone()?;
        if real == folder || (allows && self.leads_out(folder, &real)) {
            return None;
        }
        let rest = spelled.strip_prefix(escape(folder).as_str())?;
        Some(format!("{}{rest}", escape(real.trim_end_matches('/'))))
    }

    /// Whether a folder where commands write silently is a link to somewhere else. An allow for it must
    /// not follow, or whoever makes the link chooses what is allowed.
    fn leads_out(&self, folder: &str, real: &str) -> bool {
        let holds = |place: &str| is_within(real, place);
        let mut places = self.places.project.iter().chain(&self.places.temporaries);
        places.any(|place| {
            let stays = holds(place) || (self.resolve)(place).is_some_and(|place| holds(&place));
            is_within(folder, place) && !stays
        })
    }
}

/// A path pattern with the home put in for `~` or `$HOME`. None when it means a home and there is none:
/// it matches nothing then.
#[must_use]
pub fn with_home(pattern: &str, home: Option<&str>) -> Option<String> {
    match (below_home(pattern), home) {
        (None, _) => Some(pattern.to_owned()),
        (Some(rest), Some(home)) => Some(format!("{}{rest}", escape(home))),
        (Some(_), None) => None,
    }
}

/// What follows `~` or `$HOME` where a path or pattern begins with it.
#[must_use]
pub fn below_home(path: &str) -> Option<&str> {
    ["~", "$HOME"].iter().find_map(|name| {
        let rest = path.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    })
}

/// The knobs and the mode, and what layers asked for in vain.
fn settle(
    layers: &[LayerRules],
    given: Option<(Mode, String)>,
    ignored: &mut HashMap<Layer, Vec<String>>,
) -> (Knobs, Mode, String) {
    let (mut knobs, mut mode, mut origin) = (Knobs::default(), Mode::Default, "default".to_owned());
    // With a layer damaged much asks that was meant to be silent: a reviewer that fails too must not
    // turn that into refusing everything.
    if layers.iter().any(|layer| !layer.damage.is_empty()) {
        knobs.on_review_unavailable = Verdict::Ask;
    }
    for layer in layers.iter().filter(|layer| layer.layer < Layer::CommandLine) {
        if layer.layer == Layer::User && layer.trusted && layer.damage.is_empty() {
            knobs.set(&layer.settings);
            if let Some(wanted) = layer.mode {
                (mode, origin) = (wanted, origin_of(layer));
            }
        } else {
            tighten(layer, &mut knobs, (&mut mode, &mut origin), ignored);
        }
    }
    if let Some(given) = given {
        (mode, origin) = given;
    }
    for layer in layers.iter().filter(|layer| layer.layer == Layer::Managed) {
        // Which folders are the project is not a matter of strictness alone: the machine's owner may say.
        knobs.allow_roots.extend(layer.settings.allow_roots.iter().flatten().cloned());
        tighten(layer, &mut knobs, (&mut mode, &mut origin), ignored);
    }
    (knobs, mode, origin)
}

fn tighten(
    layer: &LayerRules,
    knobs: &mut Knobs,
    (mode, origin): (&mut Mode, &mut String),
    ignored: &mut HashMap<Layer, Vec<String>>,
) {
    let refused = ignored.entry(layer.layer).or_default();
    let roots_count = layer.layer == Layer::Managed;
    let unheard =
        knobs.tighten(&layer.settings).into_iter().filter(|name| !(roots_count && *name == "allow_roots"));
    refused.extend(unheard.map(str::to_owned));
    match layer.mode.filter(|_| layer.damage.is_empty()) {
        Some(wanted) if wanted.tightens(*mode) => (*mode, *origin) = (wanted, origin_of(layer)),
        Some(wanted) => refused.push(format!("mode = \"{}\"", wanted.word())),
        None => {}
    }
}

fn origin_of(layer: &LayerRules) -> String {
    layer.path.as_ref().map_or_else(|| layer.layer.word().to_owned(), ToString::to_string)
}

fn info(layer: LayerRules, ignored: &mut HashMap<Layer, Vec<String>>) -> LayerInfo {
    let state = layer.state();
    let mut ignored = ignored.remove(&layer.layer).unwrap_or_default();
    if !layer.trusted {
        let allows = layer.rules.iter().map(|rule| &rule.rule).filter(|rule| rule.action == Verdict::Allow);
        ignored.extend(
            allows.map(|rule| format!("allow {} \"{}\" (line {})", rule.capability, rule.pattern, rule.line)),
        );
    }
    let LayerRules { layer, path, rules, damage, .. } = layer;
    LayerInfo { layer, path, state, rules: rules.len(), damage, ignored }
}
