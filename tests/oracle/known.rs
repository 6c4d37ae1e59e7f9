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
pub(crate) const KNOWN: &[Known] = &[
    Known {
        reason: "a pattern beside a substitution is expanded when it runs",
        script: "ls *$(ls m3)/",
        fits: |done| done.listed.iter().any(|each| each.contains("*…") || each.contains("…*")),
    },
    Known {
        reason: "sed -i with a suffix keeps the old file under another name",
        script: "sed -i.old s/a/b/ a.txt",
        fits: |done| done.text.contains("sed -i"),
    },
    Known {
        reason: "flock -c starts a shell",
        script: "flock a.txt -c 'ls m1'",
        fits: |done| done.missing.iter().all(|each| each.starts_with("started [\"/bin/sh\", \"-c\"")),
    },
    Known {
        reason: "xargs without a command runs echo",
        script: "ls src | xargs",
        fits: |done| {
            done.text.contains("xargs")
                && done.missing.iter().all(|each| each.starts_with("started [\"echo\""))
        },
    },
];
