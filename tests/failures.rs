//! What holds when something fails: each kind of failure with the verdict, and the words that say why.
//!
//! What holds when a reviewer fails is in `tests/review/`; here `review` has none, and asks a person. A deny
//! through another shell's own entry, and a failing announcement beside other guards, have no place here: gsh has one way in for every caller, and announces nothing.

use std::path::{Path, PathBuf};

use gsh::config::read::{Origin, read};
use gsh::decision::{Decision, INTERNAL_ERROR};
use gsh::host::{GitState, Host, Node, Program};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Layer, LayerRules, Mode, Policy, Verdict};

use crate::common::fixture;
use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// One failure.
struct Row {
    /// What fails.
    what: &'static str,
    /// The user's file.
    config: &'static str,
    /// The command.
    command: &'static str,
    verdict: Verdict,
    /// What the reason must say.
    says: &'static [&'static str],
    /// The knob that decided.
    knob: Option<&'static str>,
    /// Where another answer is common: what it is, and why it is not given here.
    departs: &'static str,
}

const ROW: Row =
    Row { what: "", config: "", command: "", verdict: Verdict::Ask, says: &[], knob: None, departs: "" };

const ALLOW_DENY: &str = "[permissions]\n\"Bash(frob:*)\" = \"allow\"\n[permissions.\"process.execute\"]\n\
                          \"git push *\" = { action = \"deny\", reason = \"ask the release team\" }\n";

fn rows() -> Vec<Row> {
    use Verdict::{Allow, Ask, Deny, Review};
    vec![
        Row {
            what: "bash would not accept the text",
            command: "echo 'unterminated",
            verdict: Ask,
            says: &["not understood: "],
            knob: Some("on_unresolved"),
            departs: "review: a person is asked as long as no reviewer is configured",
            ..ROW
        },
        Row {
            what: "the same, where the knob refuses",
            config: "on_unresolved = \"deny\"\n",
            command: "echo 'unterminated",
            verdict: Deny,
            says: &["not understood: "],
            knob: Some("on_unresolved"),
            ..ROW
        },
        Row {
            what: "the same, where the knob says review",
            config: "on_unresolved = \"review\"\n",
            command: "echo 'unterminated",
            verdict: Review,
            says: &["not understood: "],
            knob: Some("on_unresolved"),
            ..ROW
        },
        Row {
            what: "a wrapper with a text that is not known",
            command: "bash -c \"$TEXT\"",
            verdict: Ask,
            says: &["not understood: ", "only known when it runs"],
            knob: Some("on_unresolved"),
            departs: "review: as above; and a wrapper with a known text is read through",
            ..ROW
        },
        Row {
            what: "a wrapper with a known text",
            command: "bash -c 'git status'",
            verdict: Allow,
            says: &["it only reads"],
            departs: "asked about, whatever stands in it: here the text inside is read like any other",
            ..ROW
        },
        Row {
            what: "a path that is not known",
            command: "cd \"$DIR\" && cat > out/new.txt",
            verdict: Ask,
            says: &["out/new.txt may be any path"],
            knob: Some("on_unresolved"),
            departs: "review: as above",
            ..ROW
        },
        Row {
            what: "a rule refuses, without words of its own",
            config: "[permissions]\n\"Bash(git push:*)\" = \"deny\"\n",
            command: "git push origin x",
            verdict: Deny,
            says: &["git push origin x", "the rule \"git push *\" (/u/config.toml:2) says deny"],
            ..ROW
        },
        Row {
            what: "a rule refuses, with words",
            config: ALLOW_DENY,
            command: "git push origin x",
            verdict: Deny,
            says: &["git push origin x", "ask the release team"],
            ..ROW
        },
        Row {
            what: "a part is not known, another is refused",
            config: ALLOW_DENY,
            command: "bash -c \"$TEXT\"; git push",
            verdict: Deny,
            says: &["git push", "ask the release team"],
            departs: "ask: here any refusal refuses; on_mixed = \"ask\" gives that reading",
            ..ROW
        },
        Row {
            what: "some commands are allowed, another is refused",
            config: ALLOW_DENY,
            command: "frob a && git push",
            verdict: Deny,
            says: &["git push", "ask the release team"],
            ..ROW
        },
        Row {
            what: "the same, where the knob asks",
            config: concat!(
                "on_mixed = \"ask\"\n",
                "[permissions]\n\"Bash(frob:*)\" = \"allow\"\n\"Bash(git push:*)\" = \"deny\"\n"
            ),
            command: "frob a && git push",
            verdict: Ask,
            says: &["git push", "the rule \"git push *\" (/u/config.toml:4) says deny"],
            knob: Some("on_mixed"),
            ..ROW
        },
        Row {
            what: "one refused command, where the knob asks about some",
            config: "on_mixed = \"ask\"\n[permissions]\n\"Bash(git push:*)\" = \"deny\"\n",
            command: "git -C . push",
            verdict: Deny,
            says: &["the rule \"git push *\" (/u/config.toml:3) says deny"],
            ..ROW
        },
        Row {
            what: "a file with a mistake: what it allowed",
            config: "[permissions]\n\"Bash(frob:*)\" = \"allow\"\nnonsense = = 1\n",
            command: "frob a",
            verdict: Ask,
            says: &["frob a", "/u/config.toml:3", "is damaged"],
            ..ROW
        },
        Row {
            what: "a file with a mistake: what it refused",
            config: "[permissions]\n\"Bash(frob:*)\" = \"deny\"\nnonsense = = 1\n",
            command: "frob a",
            verdict: Deny,
            says: &["the rule \"frob *\" (/u/config.toml:2) says deny"],
            ..ROW
        },
        Row {
            what: "a file with a mistake: what no rule of it names",
            config: "mod = 1\n",
            command: "cat a.txt",
            verdict: Ask,
            says: &["/u/config.toml:1:1 is damaged, so nothing is silent by default until it is put right"],
            departs: "a hint to load it again: here every command reads the files as they are",
            ..ROW
        },
        Row {
            what: "a file of the wrong types",
            config: "deny = \"touch *\"\n",
            command: "touch new.txt",
            verdict: Ask,
            says: &["/u/config.toml:1:1 is damaged"],
            ..ROW
        },
        Row {
            what: "a rule with a condition that means nothing, before one that allows",
            config: concat!(
                "[permissions.\"process.execute\"]\n\"frob *\" = { action = \"ask\", modes = [\"sometimes\"] }\n",
                "\"frob a *\" = \"allow\"\n"
            ),
            command: "frob a",
            verdict: Ask,
            says: &["/u/config.toml:2", "is damaged"],
            ..ROW
        },
        Row {
            what: "a file with a mistake that asks for bypass",
            config: "mode = \"bypass\"\nmod = 1\n",
            command: "frob a",
            verdict: Ask,
            says: &["Run frob a", "not fully explained"],
            ..ROW
        },
        Row {
            what: "review, with nobody who reviews",
            config: "[permissions]\n\"Bash(frob:*)\" = \"review\"\n",
            command: "frob a",
            verdict: Review,
            says: &["the rule \"frob *\" (/u/config.toml:2) says review"],
            departs: "deny where no model is configured: here `review` then asks a person (see the last test)",
            ..ROW
        },
    ]
}

fn layer(text: &str) -> LayerRules {
    let path = Path::new("/u/config.toml");
    read(text, &Origin { layer: Layer::User, path, root: None, home: Some("/home/dev") }).layer
}

fn policy(config: &str) -> Policy {
    // A row that speaks of no mistake must have none.
    let damage = layer(config).damage;
    let meant = ["nonsense", "mod = ", "deny = ", "sometimes"].iter().any(|word| config.contains(word));
    assert_eq!(!damage.is_empty(), meant, "{}", damage.iter().map(ToString::to_string).collect::<String>());
    let places = crate::common::builtin_policy().places;
    compose(vec![layer(config)], Composition::new(places, "2026-01-01"))
}

#[test]
fn each_failure_has_its_verdict_and_says_why() {
    let host = fixture::host();
    for row in rows() {
        let decision = fixture::decide_on(&host, &policy(row.config), row.command);
        let what = row.what;
        assert_eq!(decision.verdict, row.verdict, "{what}: {}", decision.reason);
        for part in row.says {
            assert!(decision.reason.contains(part), "{what}: {part:?} in {:?}", decision.reason);
        }
        assert_eq!(decision.knob, row.knob, "{what}");
        assert!(row.departs.is_empty() || row.departs.contains(':'), "{what}: what, and why");
    }
}

/// With a layer damaged, a reviewer that fails must not look like a refusal; who set the knob is heard.
#[test]
fn a_damaged_layer_and_a_reviewer_that_fails() {
    for (config, expected) in [
        ("", Verdict::Deny),
        ("mod = 1\n", Verdict::Ask),
        ("on_review_unavailable = \"deny\"\nmod = 1\n", Verdict::Deny),
        ("on_review_unavailable = \"allow\"\nmod = 1\n", Verdict::Ask),
        ("on_review_unavailable = \"allow\"\n", Verdict::Allow),
    ] {
        assert_eq!(policy(config).knobs.on_review_unavailable, expected, "{config}");
    }
}

#[test]
fn a_damaged_layer_gives_no_mode() {
    let policy = policy("mode = \"bypass\"\nmod = 1\n");
    assert_eq!((policy.mode, policy.layers[0].ignored.as_slice()), (Mode::Default, &[][..]));
}

/// A machine that gives way under the first question about a file.
struct Broken;

impl Host for Broken {
    fn var(&self, _: &str) -> Option<String> {
        None
    }
    fn home_of(&self, _: &str) -> Option<PathBuf> {
        None
    }
    fn homes(&self) -> Vec<PathBuf> {
        vec![]
    }
    fn project(&self) -> Option<PathBuf> {
        None
    }
    fn temporary(&self) -> Vec<PathBuf> {
        vec![]
    }
    fn node(&self, _: &Path) -> Node {
        panic!("the row's own failure")
    }
    fn is_link(&self, _: &Path) -> bool {
        false
    }
    fn real(&self, _: &Path) -> Option<PathBuf> {
        panic!("the row's own failure")
    }
    fn list(&self, _: &Path) -> Option<Vec<String>> {
        None
    }
    fn program(&self, _: &str) -> Option<Program> {
        panic!("the row's own failure")
    }
    fn git(&self, _: &Path) -> Option<GitState> {
        None
    }
    fn is_ours(&self, _: &Path) -> bool {
        false
    }
}

/// Whatever breaks while deciding, nothing runs, in no mode.
#[test]
fn a_panic_refuses() {
    for mode in Mode::ALL {
        let policy = Policy { mode, ..policy("") };
        let decision: Decision =
            gsh::pipeline::check(&fixture::request("cat a.txt"), &policy, &Broken).decision;
        assert_eq!((decision.verdict, decision.firm), (Verdict::Deny, true), "{mode:?}");
        assert_eq!(decision.reason, INTERNAL_ERROR);
    }
}

/// What the caller is told where no person can be asked, and that nothing ran.
#[test]
fn without_a_person_nothing_that_asks_runs() {
    let broken = "[permissions]\n\"Bash(touch:*)\" = \"allow\"\nnonsense = = 1\n";
    let review = "[permissions]\n\"Bash(touch:*)\" = \"review\"\n";
    let mild = "on_ask_without_terminal = \"deny\"\n";
    for (config, command, parts) in [
        (
            "",
            "gsh-test-no-such-program",
            &["needs the user's approval, and nobody could be asked", "Why nobody:"][..],
        ),
        (mild, "gsh-test-no-such-program", &["nobody could be asked"]),
        (broken, "touch made.txt", &["config.toml:3", "right first: it is damaged"]),
        (review, "touch made.txt", &["nobody could be asked", "says review"]),
        ("", "gsh-canary-deny", &["refused", "This is never done"]),
    ] {
        let run = Gsh::new(GSH).config(config).args(["-c", command]).run();
        assert_eq!(run.status, Some(126), "{command}: {}", run.stderr());
        for part in parts {
            assert!(run.stderr().contains(part), "{command}: {part:?} in\n{}", run.stderr());
        }
        assert!(!run.machine.at("project/made.txt").exists(), "{command} ran");
    }
}
