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
        reason: "no positional parameters: \"$@\" is no word, not an empty one",
        script: "ls m1 \"$@\"",
        fits: |done| done.text.contains("\"$@\""),
    },
    Known {
        reason: "after set -f patterns, after set +B braces are not expanded",
        script: "set -f; ls *.txt",
        fits: |done| done.text.contains("set -f") || done.text.contains("set +B"),
    },
    Known {
        reason: "the operands of [[ -eq ]] are arithmetic, and so is what a variable holds",
        script: "v='a[$(ls m1)]'; [[ v -eq 0 ]]",
        fits: |done| done.text.contains("'a[$(") && done.text.contains("[[ "),
    },
    Known {
        reason: "the operands of let are arithmetic, and so is what a variable holds",
        script: "v='a[$(ls m1)]'; let v",
        fits: |done| done.text.contains("'a[$(") && done.text.contains("let "),
    },
    Known {
        reason: "a subscript is arithmetic, and so is what a variable holds",
        script: "v='a[$(ls m1)]'; x[v]=1",
        fits: |done| done.text.contains("'a[$(") && done.text.contains("[v]"),
    },
    Known {
        reason: "a function may be another one in a loop's next round",
        script: "f() { ls m1; }; for i in 1 2; do f; f() { rm m2; }; done",
        fits: |done| done.text.contains("do ") && done.text.matches("f() {").count() > 1,
    },
    Known {
        reason: "only the first and the last word of a substitution touch the text beside it",
        script: "tee /tmp/$(ls src) < a.txt",
        fits: |done| {
            let changes = done.missing.iter().all(|each| each.starts_with("changed"));
            changes && done.text.contains("$(")
        },
    },
    Known {
        reason: "an array's element may stand for several words",
        script: "> new; v=(*.txt); ls m1 \"${v[@]}\"",
        fits: |done| done.text.contains("[@]}\""),
    },
    Known {
        reason: "\"${@:2}\" is as many words as there are",
        script: "set -- a b c; ls \"${@:2}\"",
        fits: |done| done.text.contains("${@:2}"),
    },
    Known {
        reason: "local does nothing outside a function",
        script: "local v=b\nls m1 $v",
        fits: |done| done.text.contains("local "),
    },
    Known {
        reason: "a substitution may print nothing, and its neighbours make another word",
        script: "tar --test-label $(ls m1)-f a.tar",
        fits: |done| done.lenient,
    },
    Known {
        reason: "a substitution may print nothing, and a redirection goes elsewhere",
        script: "ls > `ls m4`2",
        fits: |done| done.missing.iter().all(|each| each.starts_with("changed")) && done.text.contains(">`"),
    },
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
        reason: "arithmetic in a word assigns",
        script: "v=a; : $((v=3)); ls $v",
        fits: |done| done.text.contains("$((v=3))"),
    },
    Known {
        reason: "each of several values of a variable is a pattern, too",
        script: "v=a; true && v='*.txt'; ls $v",
        fits: |done| done.text.contains("v=*.txt") || done.text.contains("v='*.txt'"),
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
