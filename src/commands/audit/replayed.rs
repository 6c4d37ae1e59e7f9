//! `gsh audit replay`: the recorded requests under another configuration.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::look::{Look, cut, visible};
use super::tally::rate;
use super::{Manner, pretty, told};
use crate::audit::replay::{self, Played};
use crate::config::line;
use crate::config::load::{Options, load};
use crate::entry::world::{Surrounds, places};
use crate::pipeline::check;
use crate::policy::{Caller, Mode, Policy, Verdict};

/// One record, decided once more.
#[derive(Debug, Serialize)]
struct Changed<'a> {
    id: &'a str,
    command: &'a str,
    before: Verdict,
    after: Verdict,
    exact: bool,
    reason: String,
}

/// What changes the policy of a record: who asked, in which mode, where.
type Key = (Option<PathBuf>, String, Option<Mode>, Vec<(Verdict, String)>);

/// What another configuration would have said, and where that differs.
pub(super) fn run(
    (surrounds, folder): (&Surrounds, &Path),
    config: &Path,
    manner: &Manner,
    look: Look,
) -> Result<String, String> {
    if !config.is_file() {
        return Err(format!("--config: {}: no such file", config.display()));
    }
    let all = replay::read(folder, &manner.filter).map_err(|error| told(folder, &error))?;
    let mut policies: HashMap<Key, Policy> = HashMap::new();
    let (mut inexact, mut changed) = (0, Vec::new());
    for played in &all {
        let machine = played.machine();
        let caller = played.caller();
        let key = key(played, &caller, &machine);
        let policy = policies
            .entry(key)
            .or_insert_with(|| load(surrounds.folders.as_ref(), places(&machine), options(played, config)));
        let decision = check(&played.request(), policy, &machine).decision;
        // Grants of that day are not known any more.
        let exact = played.inexact.is_empty() && played.decided_by != "grant" && !machine.was_asked_more();
        inexact += usize::from(!exact);
        if decision.verdict != played.verdict {
            let (id, command, before) = (played.id.as_str(), played.command(), played.verdict);
            changed.push(Changed {
                id,
                command,
                before,
                after: decision.verdict,
                exact,
                reason: decision.reason,
            });
        }
    }
    let asked = |verdict: &Verdict| matches!(verdict, Verdict::Ask | Verdict::Review);
    let before = all.iter().filter(|played| asked(&played.verdict)).count();
    let fewer = changed.iter().filter(|each| asked(&each.before) && !asked(&each.after)).count();
    let more = changed.iter().filter(|each| !asked(&each.before) && asked(&each.after)).count();
    let after = before + more - fewer;
    if manner.json {
        return Ok(pretty(&serde_json::json!({
            "records": all.len(), "inexact": inexact, "asked_before": before, "asked_after": after, "changed": changed,
        })));
    }
    let mut text = format!(
        "{} records, {inexact} of them inexact; asked {before} ({}) → {after} ({})\n",
        all.len(),
        rate(before, all.len()),
        rate(after, all.len()),
    );
    for each in &changed {
        let (from, to) = (each.before.word(), each.after.word());
        let change = look.verdict(to, &format!("{from:>6} → {to:<6}"));
        let mark = if each.exact { " " } else { "~" };
        let room = look.width.saturating_sub(20).max(20);
        text.push_str(&format!("{mark}{change}  {}\n", cut(&visible(each.command), room)));
        text.push_str(&format!("{:>19}{}\n", "", look.faint(&cut(&visible(&each.reason), room))));
    }
    if changed.iter().any(|each| !each.exact) {
        text.push_str(
            "~ inexact: the record lacks a part (a secret, a long text, an answer of the machine)\n",
        );
    }
    Ok(text)
}

fn key(played: &Played, caller: &Caller, machine: &dyn crate::host::Host) -> Key {
    let mode = played.given_mode().map(|(mode, _)| mode);
    let who = format!("{caller:?} {:?} {:?}", machine.var("HOME"), machine.var("PATH"));
    (machine.project(), who, mode, played.rules.clone())
}

fn options(played: &Played, config: &Path) -> Options {
    let rules = played.rules.iter().map(|(action, text)| (*action, text.as_str()));
    Options {
        config: Some(config.to_owned()),
        mode: played.given_mode(),
        layers: line::layer(rules).into_iter().collect(),
        caller: played.caller(),
        session: played.session.clone(),
        ..Options::new()
    }
}
