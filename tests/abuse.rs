//! Programs that mostly read, abused: by an option, a variable or an operand they run, load, write, send or
//! show something. The lines are decided in process on a machine that is a table; nothing is ever executed.

use crate::common::cases::rows;
use crate::common::fixture;
use gsh::policy::{Capability, Verdict};

/// Lines that are silent for a reason.
const HARMLESS: &[(&str, &str)] = &[
    ("git remote show evil", "the name of a configured remote, or of nothing"),
    ("terraform validate", "asks where there is a .terraform, whose providers it runs; here is none"),
    ("disown -ah; kill %1", "a shell's jobs are its own, and here it has none"),
    ("go list -m -versions evil.example/x", "a question to the user's own module proxy"),
];

#[test]
fn no_abuse_is_silent() {
    let (mut host, policy) = (fixture::host(), crate::common::builtin_policy());
    host.add(std::path::Path::new("/proc/1/environ"), gsh::host::Node::File);
    let rows = rows(include_str!("cases/abuse.txt"));
    let (mut silent, mut known) = (Vec::new(), 0);
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        // A write in the project is allowed, and seen.
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        if decision.verdict >= Verdict::Ask || writes {
            continue;
        }
        if HARMLESS.iter().any(|(text, _)| *text == row.command) {
            known += 1;
        } else {
            silent.push(format!("{}\t{}", row.kind, row.command));
        }
    }
    println!("abuse: {} rows, {known} known to be silent, {} silent", rows.len(), silent.len());
    assert_eq!(known, HARMLESS.len(), "a listed line asks by now: take it off the list");
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

/// A secret of the environment is printed by its name alone.
#[test]
fn printing_a_secret_of_the_environment_asks() {
    let (mut host, policy) = (fixture::host(), crate::common::builtin_policy());
    host.vars.insert("DEPLOY_TOKEN".to_owned(), "t0p".to_owned());
    host.vars.insert("STAGE".to_owned(), "test".to_owned());
    for (text, expected) in [
        ("echo \"$DEPLOY_TOKEN\"", Verdict::Ask),
        ("echo ${DEPLOY_TOKEN:0:2} x", Verdict::Ask),
        ("printf '%s' \"${DEPLOY_TOKEN:-none}\"", Verdict::Ask),
        ("echo a && echo b=$DEPLOY_TOKEN", Verdict::Ask),
        ("printenv DEPLOY_TOKEN", Verdict::Ask),
        ("echo \"${DEPLOY_TOKEN:+set}\" ${#DEPLOY_TOKEN}", Verdict::Allow),
        ("[ -n \"$DEPLOY_TOKEN\" ] && echo set", Verdict::Allow),
        ("DEPLOY_TOKEN=; echo \"$DEPLOY_TOKEN\"", Verdict::Allow),
        ("echo '$DEPLOY_TOKEN' \"$STAGE\" \"$OTHER_TOKEN\"", Verdict::Allow),
        ("printenv STAGE", Verdict::Allow),
    ] {
        assert_eq!(fixture::decide_on(&host, &policy, text).verdict, expected, "{text}");
    }
}
