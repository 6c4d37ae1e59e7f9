//! Where the facts are known to be wrong, for as long as they are.

use crate::campaign::Done;

/// A kind of disagreement that is known.
pub(crate) struct Known {
    /// Why it stands here.
    pub(crate) reason: &'static str,
    /// The least script that shows it. It must still disagree; one that no longer does is to be taken out.
    pub(crate) script: &'static str,
    /// Whether a disagreement may be of the kind.
    pub(crate) fits: fn(&Done) -> bool,
}

/// All that are known.
pub(crate) const KNOWN: &[Known] = &[Known {
    reason: "before bash 5.2 a pattern such as `.?` matches `.` and `..`, which the facts hold",
    script: "ls .?",
    fits: |done| {
        let dots = ["\".?", "\".*", "\".[", "\"..*"];
        done.missing.iter().all(|each| dots.iter().any(|dot| each.contains(dot)))
    },
}];
