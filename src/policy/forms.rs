//! What the patterns of rules become on this machine: those for paths with the home put in, as spelled
//! and with their links resolved.

use std::collections::HashMap;
use std::fmt;

use super::pattern::{Pattern, escape};
use super::rules::{Bounded, Compiled};
use super::{Places, Rule, Verdict};
use crate::facts::path::is_below;

/// Tells the real path of a folder.
pub type Resolve = &'static (dyn Fn(&str) -> Option<String> + Sync);

/// How patterns are read.
#[derive(Clone)]
pub struct Forms {
    home: Option<String>,
    /// Folders where commands write silently.
    silent: Vec<String>,
    resolve: Resolve,
}

/// Folders already resolved: many rules begin with the same few.
type Heads = HashMap<String, Option<String>>;

impl Forms {
    /// As they are in these places; `roots` count as the project too.
    #[must_use]
    pub fn new(places: &Places, roots: &[String], resolve: Resolve) -> Self {
        let home = places.home.clone();
        let roots = roots.iter().filter_map(|root| match (below_home(root), &home) {
            (Some(rest), Some(home)) => Some(format!("{home}{rest}")),
            (Some(_), None) => None,
            (None, _) => Some(root.clone()),
        });
        let silent = places.project.iter().chain(&places.temporaries).cloned().chain(roots).collect();
        Self { home, silent, resolve }
    }

    /// Rules ready to match, for paths (`true`) or for texts.
    pub(super) fn compile<'r>(&self, rules: impl Iterator<Item = &'r Bounded>, files: bool) -> Vec<Compiled> {
        let mut heads = Heads::new();
        let compiled = rules.map(|Bounded { rule, bounds, .. }| {
            let allows = bounds.matches_as == Verdict::Allow;
            let patterns = match files {
                true => self.of_path(rule, allows, &mut heads),
                false => vec![Pattern::new(&rule.pattern)],
            };
            Compiled { rule: rule.clone(), patterns, bounds: *bounds }
        });
        compiled.collect()
    }

    /// A path pattern with the home put in, as spelled and with its literal folders resolved.
    fn of_path(&self, rule: &Rule, allows: bool, heads: &mut Heads) -> Vec<Pattern> {
        let Some(spelled) = with_home(&rule.pattern, self.home.as_deref()) else { return vec![] };
        let compiled = Pattern::new(&spelled);
        match self.real_head(&spelled, &compiled, allows, heads) {
            Some(real) => vec![compiled, Pattern::new(&real)],
            None => vec![compiled],
        }
    }

    /// The pattern with what stands before its first wildcard resolved, when that changes it. What
    /// refuses a path refuses what is behind it; what allows one does not follow its last link.
    fn real_head(
        &self,
        spelled: &str,
        compiled: &Pattern,
        allows: bool,
        heads: &mut Heads,
    ) -> Option<String> {
        let head = compiled.head();
        let folder = match compiled.exact() {
            Some(path) if !allows => path,
            _ => head.rsplit_once('/').map(|(folder, _)| folder)?,
        };
        if !folder.starts_with('/') {
            return None;
        }
        let real = heads.entry(folder.to_owned()).or_insert_with(|| (self.resolve)(folder)).clone()?;
        if real == folder || (allows && self.leads_out(folder, &real)) {
            return None;
        }
        let rest = spelled.strip_prefix(escape(folder).as_str())?;
        Some(format!("{}{rest}", escape(real.trim_end_matches('/'))))
    }

    /// Whether a folder where commands write silently is a link to somewhere else. An allow for it must
    /// not follow, or whoever makes the link chooses what is allowed.
    fn leads_out(&self, folder: &str, real: &str) -> bool {
        let holds = |place: &str| is_below(real, place);
        self.silent.iter().any(|place| {
            let stays = holds(place) || (self.resolve)(place).is_some_and(|place| holds(&place));
            is_below(folder, place) && !stays
        })
    }
}

/// As they are where nothing is known.
impl Default for Forms {
    fn default() -> Self {
        Self { home: None, silent: vec![], resolve: &|_| None }
    }
}

impl fmt::Debug for Forms {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("Forms");
        shown.field("home", &self.home).field("silent", &self.silent).finish_non_exhaustive()
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
