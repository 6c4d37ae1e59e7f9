//! Laws that hold whatever the text: wrapping never weakens a verdict, a list is judged at least as
//! strictly as its parts, what is unknown is never silent where something known would ask, and the
//! same request has one answer.

use crate::common::cases::rows;
use crate::common::fixture;
use gsh::host::table::TableHost;
use gsh::policy::{Policy, Verdict};
use proptest::prelude::*;

/// Every command of the case files that parses by itself.
fn commands() -> Vec<String> {
    let files = [
        include_str!("cases/catastrophic.txt"),
        include_str!("cases/lookalike.txt"),
        include_str!("cases/readonly.txt"),
    ];
    let all = files.iter().flat_map(|text| rows(text)).map(|row| row.command);
    all.filter(|text| {
        gsh::syntax::parse(text.as_bytes(), &gsh::syntax::Limits::default()).problems.is_empty()
    })
    .collect()
}

fn verdict(host: &TableHost, policy: &Policy, text: &str) -> Verdict {
    fixture::decide_on(host, policy, text).verdict
}

/// Ways to put a text inside another that runs it.
fn wrappings(text: &str) -> Vec<(&'static str, String)> {
    let quoted = text.replace('\'', "'\\''");
    vec![
        ("subshell", format!("(\n{text}\n)")),
        ("group", format!("{{\n{text}\n}}")),
        ("if", format!("if true; then\n{text}\nfi")),
        ("and", format!("true && {{\n{text}\n}}")),
        ("eval", format!("eval '{quoted}'")),
        ("substitution", format!("echo \"$(\n{text}\n)\"")),
        ("pipeline", format!("{{\n{text}\n}} | cat")),
        ("function", format!("wrapping_function() {{\n{text}\n}}\nwrapping_function")),
    ]
}

#[test]
fn wrapping_never_weakens() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let mut weaker = Vec::new();
    for text in commands() {
        let plain = verdict(&host, &policy, &text);
        for (name, wrapped) in wrappings(&text) {
            let now = verdict(&host, &policy, &wrapped);
            if now < plain {
                weaker.push(format!("{name}: {text:?}: {plain:?} became {now:?}"));
            }
        }
    }
    assert!(weaker.is_empty(), "{}:\n{}", weaker.len(), weaker.join("\n"));
}

#[test]
fn one_request_has_one_answer() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    for text in commands() {
        let (one, two) =
            (fixture::decide_on(&host, &policy, &text), fixture::decide_on(&host, &policy, &text));
        assert_eq!((one.verdict, one.floor, one.reason), (two.verdict, two.floor, two.reason), "{text:?}");
    }
}

#[test]
fn what_is_unknown_is_not_milder_than_what_is_known() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    for text in [
        "cat X",
        "head -5 X",
        "rm X",
        "rm -rf X",
        "sed -i s/a/b/ X",
        "sort X",
        "find X -name a",
        "git diff X",
        "ls > X",
        "cp a.txt X",
        "mv a.txt X",
        "tee X",
        "X -rf a",
        "bash -c X",
        "eval X",
        "git push -f origin X",
        "dd of=X",
        "chmod X a.txt",
        "kill X",
        "git branch X",
        "sed X a.txt",
        "awk X a.txt",
        "git -c X log",
        "env X ls",
        "xargs X",
        "find . X",
    ] {
        let unknown = verdict(&host, &policy, &text.replace('X', "\"$(unknowable)\""));
        let strictest =
            ["/", "~", ".env", "-o", "--output=x", "main", "w x", "/dev/sda", "a;b", "PATH=x", "-D"]
                .iter()
                .map(|literal| verdict(&host, &policy, &text.replace('X', &format!("'{literal}'"))))
                .max()
                .expect("some literal");
        assert!(unknown >= strictest.min(Verdict::Ask), "{text}: {unknown:?} is milder than {strictest:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_list_is_as_strict_as_its_parts(left in any::<prop::sample::Index>(), right in any::<prop::sample::Index>()) {
        let all = commands();
        let (host, policy) = (fixture::host(), crate::common::builtin_policy());
        let (left, right) = (left.get(&all), right.get(&all));
        let list = verdict(&host, &policy, &format!("{left}\n{right}"));
        // The first part runs as it would alone; the second one may stand in another state.
        let alone = verdict(&host, &policy, left);
        prop_assert!(list >= alone, "{left:?} then {right:?}: {list:?}");
    }

    #[test]
    fn deciding_never_panics(text in "[ -~\n\t]{0,80}") {
        let (host, policy) = (fixture::host(), crate::common::builtin_policy());
        let _ = verdict(&host, &policy, &text);
    }

    #[test]
    fn deciding_fragments_never_panics(parts in prop::collection::vec(prop::sample::select(FRAGMENTS), 0..24)) {
        let (host, policy) = (fixture::host(), crate::common::builtin_policy());
        let _ = verdict(&host, &policy, &parts.concat());
    }
}

const FRAGMENTS: &[&str] = &[
    "ls",
    " ",
    "\n",
    ";",
    "&&",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$x",
    "${x:-",
    "}",
    "<<EOF\n",
    "EOF\n",
    "if ",
    "then ",
    "fi",
    "for i in ",
    "do ",
    "done",
    "case x in ",
    "esac",
    "[[ ",
    " ]]",
    "$((",
    "))",
    ">",
    "<",
    ">>",
    "2>&1",
    "*",
    "~",
    "eval ",
    "sh -c ",
    "xargs ",
    "find . ",
    "-exec ",
    "{}",
    "+",
    "a=1",
    "f() ",
    "rm -rf ",
    "/",
    "é",
    "\u{202e}",
    "=",
    "#",
    "!",
    "-",
    "git ",
];
