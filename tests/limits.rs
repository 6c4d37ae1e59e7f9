//! Bad and huge input: a clear answer, never a panic, a hang or an allow that nothing explains.

use crate::common::fixture;
use gsh::policy::Verdict;
use gsh::syntax::Cause;

/// `head` n times, then `middle`, then `tail` n times.
fn nested(head: &str, middle: &str, tail: &str, depth: usize) -> String {
    format!("{}{middle}{}", head.repeat(depth), tail.repeat(depth))
}

#[test]
fn deep_nesting_is_a_limit_and_not_a_crash() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    for depth in [10, 40, 63, 64, 65, 100, 1000, 10_000] {
        for (head, middle, tail) in [
            ("$(echo ", "x", ")"),
            ("\"$(echo ", "x", ")\""),
            ("(", "ls", ")"),
            ("{ ", "ls", "; }"),
            ("if true; then ", "ls", "; fi"),
            ("${x:-", "y", "}"),
            ("<(cat ", "x", ")"),
            ("! ", "ls", ""),
            ("sudo ", "ls", ""),
            ("f() { ", "ls", "; }"),
            ("eval ", "ls", ""),
            ("((", "1", "))"),
        ] {
            let text = format!("echo {}", nested(head, middle, tail, depth));
            let verdict = fixture::decide_on(&host, &policy, &text).verdict;
            assert!(
                depth < 65 || verdict >= Verdict::Ask || !head.contains(['(', '{', 'i']),
                "{head} {depth}"
            );
        }
    }
}

#[test]
fn texts_nested_in_texts_end() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let mut text = "ls".to_owned();
    for _ in 0..40 {
        text = format!("eval {}", gsh::syntax::quote(&text));
        if text.len() > 60_000 {
            break;
        }
        let _ = fixture::decide_on(&host, &policy, &text);
    }
}

#[test]
fn functions_that_call_functions_end() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    for (count, nesting) in [(40, 1), (20, 1), (20, 55), (40, 55)] {
        let mut text = "f0() { ls; }\n".to_owned();
        for index in 1..=count {
            let call = nested("{ ", &format!("f{}", index - 1), "; }", nesting);
            text.push_str(&format!("f{index}() {{ {call}; }}\n"));
        }
        text.push_str(&format!("f{count}"));
        let decision = fixture::decide_on(&host, &policy, &text);
        assert!(count < 24 || decision.verdict >= Verdict::Ask, "{count} {nesting}: {}", decision.reason);
    }
}

/// Each of these once cost the square of its length, or more. What it costs is measured in `benches/`; here
/// that it is told that a limit was reached.
#[test]
fn costly_shapes_reach_a_limit() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let copies: String = (0..2_400).map(|index| format!("v{index}=1&&(a);")).collect();
    let arms: String = (0..2_000).map(|index| format!("a) v{index}=1;; ")).collect();
    let branches: String = (0..1_500).map(|index| format!("elif v{index}=1; then b; ")).collect();
    for text in [
        copies,
        format!("case $x in {arms} esac"),
        format!("if a; then b; {branches} fi"),
        "cat *;".repeat(5_000),
        "rm *;".repeat(5_000),
        "grep -r x /usr ;".repeat(2_000),
        "find . ;".repeat(3_500),
        "> a ".repeat(9_000),
        "mv a b;".repeat(4_500),
        "x=$x$x;".repeat(4_500),
        "a+=(b);".repeat(4_500),
        format!("set -- a b c d e f g h;{}", "set -- $@ $@;".repeat(40)),
        "set -- \"$@\" a;".repeat(2_000),
        format!("for i in {{1..250}}; do {} done", "rm $i $i;".repeat(1_000)),
        ")".repeat(8_000),
        "[a] ".repeat(4_000),
        "a|".repeat(2_000),
        "cat <<A;".repeat(2_800),
    ] {
        let decision = fixture::decide_on(&host, &policy, &text);
        let is_told = decision.not_understood.iter().any(|problem| problem.cause == Cause::Limit);
        let start = text.get(..20).unwrap_or(&text);
        assert!(decision.verdict >= Verdict::Ask && is_told, "{start:?}: {}", decision.reason);
    }
}

#[test]
fn huge_and_odd_texts_have_an_answer() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let mut request = fixture::request("");
    for (bytes, least) in [
        (Vec::new(), Verdict::Allow),
        (b"   \n\t\n# only a comment\n".to_vec(), Verdict::Allow),
        (b"ls \xff\xfe".to_vec(), Verdict::Ask),
        (b"ls\0rm".to_vec(), Verdict::Ask),
        (b"ls \r\n".to_vec(), Verdict::Ask),
        (vec![b'a'; 1 << 20], Verdict::Ask),
        ("echo a ".repeat(150_000).into_bytes(), Verdict::Ask),
        ("ls\n".repeat(30_000).into_bytes(), Verdict::Ask),
        ("a|".repeat(8_000).into_bytes(), Verdict::Ask),
        ("((a".repeat(5_000).into_bytes(), Verdict::Ask),
        (format!("echo {}", "{a,b}".repeat(30)).into_bytes(), Verdict::Ask),
        ("@(a|b)".repeat(3_000).into_bytes(), Verdict::Ask),
        (b"for i in a; do ".repeat(2_000), Verdict::Ask),
    ] {
        request.text = bytes;
        let decision = gsh::pipeline::check(&request, &policy, &host).decision;
        let start = String::from_utf8_lossy(request.text.get(..20).unwrap_or(&request.text)).into_owned();
        assert!(decision.verdict >= least, "{start:?}: {:?} {}", decision.verdict, decision.reason);
        assert!(
            least > Verdict::Allow || decision.verdict == Verdict::Allow,
            "{start:?}: {}",
            decision.reason
        );
    }
}
