//! Command lines as they are typed, right and wrong.

use super::super::rules::Files;
use super::*;
use crate::cli::Text;
use crate::cli::jobs::JobsVerb;
use crate::policy::Layer;

fn parse(line: &str) -> Result<Call, Usage> {
    read(line.split_whitespace().map(OsString::from).collect())
}

#[test]
fn clap_accepts_its_own_definition() {
    Typed::command().debug_assert();
}

#[test]
fn first_words_choose_between_verb_and_shell() {
    let is_shell = |line: &str| match parse(line) {
        Ok(Call::Shell { shell, .. }) => Some(shell.text),
        _ => None,
    };
    let file = |name: &str| Some(Text::File(name.into()));
    let table = [
        ("gsh check -c ls", None),
        ("gsh -- check", file("check")),
        ("bash check", file("check")),
        ("/opt/gsh/bash status", file("status")),
        ("sh status", file("status")),
        ("-gsh status", file("status")),
        ("gsh checks", file("checks")),
        ("gsh ./check", file("./check")),
        ("gsh --yolo -c ls", Some(Text::Command("ls".into()))),
        ("gsh -- -c ls", Some(Text::Command("ls".into()))),
        ("gsh", Some(Text::Stdin)),
        ("gsh version", None),
        ("bash --version", Some(Text::Nothing)),
    ];
    for (line, expected) in table {
        assert_eq!(is_shell(line), expected, "{line}");
    }
}

#[test]
fn own_options_stand_first() {
    let table = [
        ("gsh --yolo -c x", Own { mode: Some(Mode::Bypass), ..Own::default() }),
        ("gsh --mode plan -c x", Own { mode: Some(Mode::Plan), ..Own::default() }),
        ("gsh --mode=dont-ask -c x", Own { mode: Some(Mode::DontAsk), ..Own::default() }),
        ("gsh --config F -c x", Own { config: Some("F".into()), ..Own::default() }),
        (
            "gsh --plan --non-interactive -c x",
            Own { mode: Some(Mode::Plan), non_interactive: true, ..Own::default() },
        ),
        (
            "gsh --deny Bash(git) --allow=make -c x",
            Own {
                rules: vec![(Verdict::Deny, "Bash(git)".into()), (Verdict::Allow, "make".into())],
                ..Own::default()
            },
        ),
        ("gsh --timeout 1.5s -c x", Own { timeout: Some(Duration::from_millis(1500)), ..Own::default() }),
        ("gsh -c x --yolo", Own::default()),
    ];
    for (line, expected) in table {
        let found = parse(line).ok().and_then(|call| match call {
            Call::Shell { own, .. } => Some(own),
            _ => None,
        });
        assert_eq!(found, Some(expected), "{line}");
    }
}

#[test]
fn verbs_mean_what_they_say() {
    let check = CheckCall {
        what: What::Command("ls".into()),
        cwd: None,
        mode: None,
        config: None,
        rules: vec![],
        why: false,
        json: false,
    };
    let table = [
        ("gsh check -c ls", Call::Check(check.clone())),
        ("gsh explain -c ls", Call::Explain(check.clone())),
        ("gsh explain --program ls", Call::ExplainProgram("ls".to_owned())),
        ("gsh check -c -x", Call::Check(CheckCall { what: What::Command("-x".into()), ..check.clone() })),
        ("gsh check --batch", Call::Check(CheckCall { what: What::Batch, ..check.clone() })),
        (
            "gsh check s --mode plan",
            Call::Check(CheckCall { what: What::File("s".into()), mode: Some(Mode::Plan), ..check }),
        ),
        ("gsh jobs", Call::Jobs(JobsCall { what: JobsVerb::List, json: false })),
        (
            "gsh jobs log -f 3 --json",
            Call::Jobs(JobsCall { what: JobsVerb::Log { id: "3".to_owned(), follow: true }, json: true }),
        ),
        (
            "gsh jobs stop 3 4 --grace 1m",
            Call::Jobs(JobsCall {
                what: JobsVerb::Stop {
                    ids: vec!["3".to_owned(), "4".to_owned()],
                    grace: Some(Duration::from_secs(60)),
                },
                json: false,
            }),
        ),
        ("gsh rules", Call::Rules(RulesCall::List { json: false })),
        ("gsh rules list --json", Call::Rules(RulesCall::List { json: true })),
        ("gsh grants", Call::Grants(GrantsCall::List { json: false })),
        ("gsh grants revoke g3", Call::Grants(GrantsCall::Revoke("g3".into()))),
        ("gsh mode", Call::Mode { reset: false }),
        ("gsh mode reset", Call::Mode { reset: true }),
        ("gsh rules schema", Call::Rules(RulesCall::Schema)),
        ("gsh rules test", Call::Rules(RulesCall::Test(Files::default()))),
        (
            "gsh rules lint --as managed m.toml --json",
            Call::Rules(RulesCall::Lint {
                json: true,
                files: Files { paths: vec!["m.toml".into()], layer: Some(Layer::Managed) },
            }),
        ),
        ("gsh status --json", Call::Status { json: true }),
        ("gsh trust", Call::Trust { file: None, yes: false }),
        ("gsh trust --yes f", Call::Trust { file: Some("f".into()), yes: true }),
        ("gsh trust --list --json", Call::TrustList { json: true }),
        ("gsh untrust", Call::Untrust { file: None }),
        ("gsh untrust f", Call::Untrust { file: Some("f".into()) }),
        ("gsh brief", Call::Setup(SetupCall::Brief(None))),
        ("gsh init terminal", Call::Setup(SetupCall::Terminal)),
        ("gsh approvals", Call::Approvals { json: false, only: None }),
        ("gsh approvals --json", Call::Approvals { json: true, only: None }),
        ("gsh approvals --only abc12", Call::Approvals { json: false, only: Some("abc12".into()) }),
        ("gsh approve abc12", Call::Answer { id: "abc12".into(), reply: Reply::Once }),
        (
            "gsh refuse abc12 --reason no",
            Call::Answer { id: "abc12".into(), reply: Reply::Refused { reason: Some("no".into()) } },
        ),
        ("gsh approve abc12 --session", Call::Answer { id: "abc12".into(), reply: Reply::Session }),
        ("gsh approve abc12 --minutes 5", Call::Answer { id: "abc12".into(), reply: Reply::Minutes(5) }),
        (
            "gsh refuse abc12 --session",
            Call::Answer { id: "abc12".into(), reply: Reply::RefusedSession { reason: None } },
        ),
    ];
    for (line, expected) in table {
        assert_eq!(parse(line), Ok(expected), "{line}");
    }
    for line in ["gsh help", "gsh --help", "gsh check --help", "gsh --version"] {
        assert!(matches!(parse(line), Ok(Call::Print(text)) if text.contains("gsh")), "{line}");
    }
}

#[test]
fn wrong_lines_are_refused_with_a_word() {
    let table = [
        ("gsh --timeout soon -c x", "soon"),
        ("gsh --mode loose -c x", "loose"),
        ("gsh --mode", "requires an argument"),
        ("gsh check", "required"),
        ("gsh check -c x y", "cannot be used"),
        ("gsh --yolo check -c x", "after the word"),
        ("gsh --nope", "--nope: invalid option"),
        ("gsh status --nope", "--nope"),
        ("gsh trust --json", "--list"),
        ("gsh trust --list f", "cannot be used"),
        ("gsh approve", "<ID>"),
        ("gsh approve abc12 --minutes 0", "--minutes"),
        ("gsh approve abc12 --minutes 1441", "1440"),
        ("gsh approve abc12 --minutes 5 --session", "cannot be used"),
    ];
    for (line, word) in table {
        let found = parse(line);
        assert!(matches!(&found, Err(Usage(text)) if text.contains(word)), "{line}: {found:?}");
    }
}

#[test]
fn every_verb_has_a_page_with_its_statuses() {
    let mut gsh = Typed::command();
    gsh.build();
    for verb in gsh.get_subcommands().map(|verb| verb.get_name().to_owned()).filter(|verb| verb != "help") {
        assert!(VERBS.contains(&verb.as_str()), "{verb}");
        let Ok(Call::Print(page)) = parse(&format!("gsh man {verb}")) else { panic!("no page of {verb}") };
        assert!(page.contains(&format!(".TH gsh-{verb} 1")), "{verb}: {page}");
        for part in [".SH NAME", ".SH SYNOPSIS", ".SH \"EXIT STATUS\"", "wrong"] {
            assert!(page.contains(part), "{verb}: no {part} in {page}");
        }
    }
    for (line, words) in [
        ("gsh man", &["126", "125", "yolo"][..]),
        ("gsh man check", &["review", "12"]),
        ("gsh man audit", &["chain is broken", "verify"]),
        ("gsh man jobs", &["124"]),
    ] {
        let Ok(Call::Print(page)) = parse(line) else { panic!("{line}") };
        words.iter().for_each(|word| assert!(page.contains(word), "{line}: no {word} in {page}"));
    }
    assert!(parse("gsh man nothing").is_err_and(|Usage(why)| why.contains("no such verb")));
}

#[test]
fn shells_complete_every_verb() {
    for shell in ["bash", "zsh", "fish"] {
        let Ok(Call::Print(text)) = parse(&format!("gsh completions {shell}")) else { panic!("{shell}") };
        for verb in ["audit", "simulate", "completions", "man"] {
            assert!(text.contains(verb), "{shell}: {verb}");
        }
    }
    assert!(parse("gsh completions tcsh").is_err());
}
