//! Bad and huge input: a clear answer, never a panic, a hang or an allow that nothing explains.

use crate::common::fixture;
use gsh::policy::Verdict;

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
