//! What layers say beside rules: the knobs, the mode, and what was asked for in vain.

use std::collections::HashMap;

use super::compose::{LayerInfo, LayerRules};
use super::knobs::Knobs;
use super::{Forbidden, Layer, Mode, Verdict};

/// The knobs and the mode, and what layers asked for in vain, where these things are forbidden and this place is
/// damaged.
pub(super) fn settle(
    layers: &[LayerRules],
    given: Option<(Mode, String)>,
    (forbids, damage): (&[Forbidden], Option<&str>),
    ignored: &mut HashMap<Layer, Vec<String>>,
) -> (Knobs, Mode, String) {
    let (mut knobs, mut mode, mut origin) = (Knobs::default(), Mode::Default, "default".to_owned());
    // With a layer damaged much asks that was meant to be silent: a reviewer that fails too must not
    // turn that into refusing everything.
    if damage.is_some() {
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
        if layer.damage.is_empty() {
            knobs.allow_roots.extend(layer.settings.allow_roots.iter().flatten().cloned());
            // Nor is who judges.
            knobs.reviewer = layer.settings.reviewer.clone().unwrap_or(std::mem::take(&mut knobs.reviewer));
        }
        tighten(layer, &mut knobs, (&mut mode, &mut origin), ignored);
    }
    if mode == Mode::Bypass && forbids.contains(&Forbidden::Bypass) {
        (mode, origin) = (Mode::Default, format!("default, since bypass ({origin}) is forbidden here"));
    }
    // What cannot be read may refuse, or forbid the mode: no mode answers the questions left in its place.
    if let Some(place) = damage.filter(|_| matches!(mode, Mode::Bypass | Mode::AcceptEdits)) {
        let why =
            format!("default, since {} ({origin}) does not count while {place} is damaged", mode.word());
        (mode, origin) = (Mode::Default, why);
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
    let roots_count = layer.layer == Layer::Managed && layer.damage.is_empty();
    let counts = |name: &str| roots_count && matches!(name, "allow_roots" | "reviewer");
    let unheard = knobs.tighten(&layer.settings).into_iter().filter(|name| !counts(name));
    refused.extend(unheard.map(|name| layer.setting(name)));
    match layer.mode.filter(|_| layer.damage.is_empty()) {
        Some(wanted) if wanted.tightens(*mode) => (*mode, *origin) = (wanted, origin_of(layer)),
        Some(_) => refused.push(layer.setting("mode")),
        None => {}
    }
}

fn origin_of(layer: &LayerRules) -> String {
    layer.path.as_ref().map_or_else(|| layer.layer.word().to_owned(), ToString::to_string)
}

pub(super) fn info(layer: &LayerRules, ignored: &mut HashMap<Layer, Vec<String>>) -> LayerInfo {
    let mut ignored = ignored.remove(&layer.layer).unwrap_or_default();
    if !layer.trusted {
        ignored.extend(layer.rules_that_loosen());
        ignored.extend(layer.tables_that_loosen());
    }
    LayerInfo {
        layer: layer.layer,
        path: layer.path.clone(),
        hash: layer.hash.clone(),
        state: layer.state(),
        rules: layer.rules.len(),
        damage: layer.damage.clone(),
        ignored,
        forbids: layer.forbids.clone(),
    }
}
