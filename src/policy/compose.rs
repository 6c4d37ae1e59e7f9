//! Layers to one policy.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::defaults::{self, Builtin, Places};
use super::evaluate::damaged;
use super::forms::{Forms, Resolve};
use super::knobs::{Knobs, Settings};
use super::meaning::Said;
use super::pattern;
use super::rules::{Bounded, Bounds, Reach, RuleSet};
use super::settle::{info, settle};
use super::standing::Refused;
use super::{Caller, Forbidden, Idle, Layer, Mode, Rule, Verdict};
use crate::facts::programs::{OwnTable, Power, Programs};
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
    /// The hash of its content.
    #[serde(skip)]
    pub hash: Option<Arc<str>>,
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
    /// Its settings and mode as they stand in its file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<Said>,
    /// What it says of programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<OwnTable>,
    /// What nobody may do here, whatever other layers say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbids: Vec<Forbidden>,
}

impl LayerRules {
    /// A layer that says nothing.
    #[must_use]
    pub fn empty(layer: Layer) -> Self {
        Self {
            layer,
            path: None,
            present: false,
            hash: None,
            trusted: true,
            damage: vec![],
            rules: vec![],
            settings: Settings::default(),
            mode: None,
            said: vec![],
            programs: vec![],
            forbids: vec![],
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
    /// The hash of its content.
    pub hash: Option<Arc<str>>,
    /// How it stands.
    pub state: LayerState,
    /// How many rules it holds.
    pub rules: usize,
    /// What is wrong with it.
    pub damage: Vec<Report>,
    /// What it asked for and, since it may only tighten, did not get.
    pub ignored: Vec<String>,
    /// What it forbids.
    pub forbids: Vec<Forbidden>,
}

/// All that is wanted, ready to judge requests.
#[derive(Debug, Clone)]
pub struct Policy {
    /// The composed list above the builtin layer.
    pub rules: RuleSet,
    /// What is folded in by strictness: managed rules, those of an untrusted project.
    pub tighten: Vec<RuleSet>,
    /// What files allow that nobody trusted: it has no effect, and a person is told of it.
    pub unheard: RuleSet,
    /// Where the first damaged layer is damaged.
    pub damage: Option<String>,
    /// What is known of programs.
    pub programs: Programs,
    /// The knobs.
    pub knobs: Knobs,
    /// What nobody may do here.
    pub forbids: Vec<Forbidden>,
    /// Who asks.
    pub caller: Caller,
    /// The one file that may be written in plan mode.
    pub plan: Option<String>,
    /// How often the session was refused.
    pub refused: Refused,
    /// The mode.
    pub mode: Mode,
    /// Where the mode comes from.
    pub mode_origin: String,
    /// The layers, lowest first.
    pub layers: Vec<LayerInfo>,
    /// The places it was composed for.
    pub places: Places,
    /// The day it is judged on, `YYYY-MM-DD`.
    pub today: String,
}

/// What layers are composed with.
pub struct Composition {
    /// Where things are.
    pub places: Places,
    /// The day, `YYYY-MM-DD`.
    pub today: String,
    /// A mode given with the call, and where it was given.
    pub mode: Option<(Mode, String)>,
    /// Who asks.
    pub caller: Caller,
    /// The one file that may be written in plan mode.
    pub plan: Option<String>,
    /// How often the session was refused.
    pub refused: Refused,
    /// The real path of a folder, for the literal heads of patterns.
    pub resolve: Resolve,
}

impl Composition {
    /// For these places and this day, with nothing given with the call and no links.
    #[must_use]
    pub fn new(places: Places, today: &str) -> Self {
        let (today, caller) = (today.to_owned(), Caller::default());
        let refused = Refused::default();
        Self { places, today, mode: None, caller, plan: None, refused, resolve: &|_| None }
    }
}

/// Composes the layers. They may come in any order; they apply in theirs.
#[must_use]
pub fn compose(mut layers: Vec<LayerRules>, with: Composition) -> Policy {
    layers.sort_by_key(|layer| layer.layer);
    let forbids = forbids(&mut layers);
    let damage = layers.iter().find_map(|layer| layer.damage.first().map(Report::place));
    let mut ignored = HashMap::new();
    let (knobs, mode, mode_origin) = settle(&layers, with.mode, (&forbids, damage.as_deref()), &mut ignored);
    let tripped = with.refused.is_in_a_row(&knobs, &with.caller);
    let moment = Moment { today: &with.today, mode, caller: &with.caller, tripped };
    let programs = programs(&layers);
    let infos = layers.iter().map(|layer| info(layer, &mut ignored)).collect();
    let forms = Arc::new(Forms::new(&with.places, &knobs.allow_roots, with.resolve));
    let unheard =
        RuleSet::new(layers.iter().flat_map(|layer| unheard(layer, moment)).collect(), Arc::clone(&forms));
    let (tightening, ordinary): (Vec<_>, Vec<_>) = layers.into_iter().partition(LayerRules::only_tightens);
    let (ordinary, floors) = without_floors(ordinary);
    let (tightening, own_floors) = without_floors(tightening);
    let rules = RuleSet::new(in_order(ordinary, moment), Arc::clone(&forms));
    let tighten = tightening.into_iter().map(|layer| tightening_rules(layer, moment));
    let floors = floors.into_iter().chain(own_floors).map(|floor| moment.bounded(floor)).collect();
    let sets = tighten.chain([floors]).filter(|rules| !rules.is_empty());
    let tighten = sets.map(|rules| RuleSet::new(rules, Arc::clone(&forms))).collect();
    let (layers, places, today, caller) = (infos, with.places, with.today, with.caller);
    Policy {
        rules,
        tighten,
        unheard,
        damage,
        programs,
        knobs,
        forbids,
        caller,
        plan: with.plan,
        refused: with.refused,
        mode,
        mode_origin,
        layers,
        places,
        today,
    }
}

/// The built-in tables with those of the layers. Only the user, whose rules could allow the same, may say
/// that a built-in table leaves too much open.
fn programs(layers: &[LayerRules]) -> Programs {
    let mut programs = Programs::default();
    for layer in layers {
        let power = match layer.layer {
            _ if layer.only_tightens() || !layer.damage.is_empty() => Power::Tightens,
            Layer::User => Power::Loosens,
            _ => Power::Describes,
        };
        layer.programs.iter().for_each(|table| programs.add(table, power));
    }
    programs
}

/// The rules of layers that may loosen, lowest first: what gives way to every particular rule, what
/// follows from others, and the particular ones.
fn in_order(layers: Vec<LayerRules>, moment: Moment<'_>) -> Vec<Bounded> {
    let (mut lower, mut particular) = (vec![], vec![]);
    for mut found in layers.into_iter().flat_map(effective) {
        if found.is_override() {
            found.rule.layer = Layer::Overrides;
            lower.push(moment.bounded(found));
        } else {
            particular.push(moment.bounded(found));
        }
    }
    lower.extend(baseline(&particular, moment));
    lower.append(&mut particular);
    lower
}

/// The rules of a layer that may only tighten. Managed ones may make exceptions to themselves;
/// what nobody trusts may not even do that.
fn tightening_rules(layer: LayerRules, moment: Moment<'_>) -> Vec<Bounded> {
    let managed = layer.layer == Layer::Managed;
    let counts = |found: &Effective| managed || found.matches_as != Verdict::Allow;
    effective(layer).filter(counts).map(|found| moment.bounded(found)).collect()
}

/// What a layer that nobody trusted would allow.
fn unheard(layer: &LayerRules, moment: Moment<'_>) -> Vec<Bounded> {
    let allows = layer.rules.iter().filter(|each| !layer.trusted && each.rule.action == Verdict::Allow);
    allows.map(|each| moment.bounded(Effective::new(each.rule.clone(), each.shorthand, None))).collect()
}

/// The layers without the entries of floors of their own, and those: nothing comes after them.
fn without_floors(mut layers: Vec<LayerRules>) -> (Vec<LayerRules>, Vec<Effective>) {
    let mut floors = vec![];
    for layer in &mut layers {
        let found = layer.rules.extract_if(.., |found| found.rule.floor.is_some());
        floors.extend(found.map(|found| Effective::new(found.rule, false, None)));
    }
    (layers, floors)
}

/// What layers forbid, and, where they forbid trust, the loss of it.
fn forbids(layers: &mut [LayerRules]) -> Vec<Forbidden> {
    let mut found: Vec<Forbidden> = layers.iter().flat_map(|layer| layer.forbids.iter().copied()).collect();
    found.sort_unstable();
    found.dedup();
    if found.contains(&Forbidden::Trust) {
        for layer in layers.iter_mut().filter(|layer| layer.layer == Layer::Project) {
            layer.trusted = false;
        }
    }
    found
}

/// What rules are composed for.
#[derive(Clone, Copy)]
struct Moment<'a> {
    today: &'a str,
    mode: Mode,
    caller: &'a Caller,
    /// What answers left behind does not count.
    tripped: bool,
}

impl Moment<'_> {
    /// A rule, with the reason why it does not count now.
    fn bounded(self, found: Effective) -> Bounded {
        let rule = found.rule;
        let expired = rule.expires.as_deref().is_some_and(|last_day| last_day < self.today);
        let elsewhere = || rule.when.as_ref()?.idle(found.matches_as, self.mode, self.caller);
        let rests = self.tripped && rule.lifts && found.matches_as == Verdict::Allow;
        let idle = match (expired, rests) {
            (true, _) => Some(Idle::Expired),
            (_, true) => Some(Idle::Refused),
            _ => elsewhere(),
        };
        let bounds = Bounds { reach: Reach::Any, matches_as: found.matches_as };
        Bounded { rule: Arc::new(rule), bounds, idle }
    }
}

impl Policy {
    /// A builtin rule as it counts.
    #[must_use]
    pub fn builtin(&self, builtin: &Builtin<'_>) -> Bounded {
        let found = Effective::new(builtin.rule(), false, self.damage.as_deref());
        let bounds = Bounds { reach: builtin.reach, matches_as: found.matches_as };
        Bounded { rule: Arc::new(found.rule), bounds, idle: None }
    }

    /// The builtin layer as it counts.
    pub fn builtins(&self) -> impl Iterator<Item = Bounded> {
        defaults::rules(&self.places).map(|builtin| self.builtin(&builtin))
    }
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
fn effective(layer: LayerRules) -> impl Iterator<Item = Effective> {
    let damage = layer.damage.first().map(Report::place);
    let rules = layer.rules.into_iter();
    rules.map(move |LayerRule { rule, shorthand }| Effective::new(rule, shorthand, damage.as_deref()))
}

/// What an agent asks an MCP server before it uses it; allowed once any of that server's tools is.
const DISCOVERY: &[&str] =
    &["list", "list_tools", "list_resources", "list_prompts", "search", "describe", "status", "connect"];

fn baseline(particular: &[Bounded], moment: Moment<'_>) -> Vec<Bounded> {
    let mut servers: Vec<&str> = vec![];
    let allows = |each: &&Bounded| each.rule.action == Verdict::Allow && each.idle.is_none();
    for Bounded { rule, .. } in particular.iter().filter(allows) {
        let named = rule.pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let server = named.map(|(server, _)| server).filter(|server| !server.contains(['*', '?']));
        if let Some(server) = server.filter(|_| pattern::matches(&rule.capability, "tool.use"))
            && !servers.contains(&server)
        {
            servers.push(server);
        }
    }
    let tools =
        servers.iter().flat_map(|server| DISCOVERY.iter().map(move |tool| format!("mcp__{server}__{tool}")));
    let rules = tools.map(|tool| Rule::new(Layer::Baseline, "tool.use", &tool, Verdict::Allow));
    rules.map(|rule| moment.bounded(Effective::new(rule, false, None))).collect()
}
