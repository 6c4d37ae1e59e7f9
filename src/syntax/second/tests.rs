//! What the second reading must catch, and that nothing stops it.

mod naive;

use proptest::prelude::*;

use super::super::{Cause, Limits, Script, parse};
use super::{differs, other};

/// The first reading alone.
fn first(text: &str) -> Script {
    let mut script = parse(text.as_bytes(), &Limits::default());
    script.problems.retain(|problem| !problem.detail.starts_with("second-reading"));
    script
}

/// A text, and another one whose script a wrong first reading might have given for it.
const WRONG: &[(&str, &str)] = &[
    ("ls; rm x", "ls"),
    ("ls", "ls; rm x"),
    ("ls\n\\rm x", "ls '\nrm' x"),
    ("ls | rm x", "ls"),
    ("ls && rm x", "ls || rm y"),
    ("! rm x", "! ls"),
    ("time rm x | a", "time ls | a"),
    ("echo `date` `rm x`", "echo `date` `date`"),
    ("echo $(rm x)", "echo $(ls x)"),
    ("echo $(rm x)", "echo '$(rm x)'"),
    ("echo \"$(rm x)\"", "echo \"$x\""),
    ("echo \"a $(rm $(ls))\"", "echo \"a $(rm $(cat))\""),
    ("echo ${x:-$(rm x)}", "echo ${x:-y}"),
    ("cat <(rm x)", "cat <(ls x)"),
    ("cat <(ls)", "cat >(ls)"),
    ("cat <<E\n$(rm x)\nE\n", "cat <<E\n$(ls x)\nE\n"),
    ("cat <<E\nx\nE\n", "cat <<E\ny\nE\n"),
    ("cat <<'E'\n$x\nE\nrm x\n", "cat <<'E'\n$x\nE\n"),
    ("cat <<E\nE\nrm x\n", "cat <<E\nE\n"),
    ("python3 - <<E\nx\nE\n", "python3 <<E\nx\nE\n"),
    ("find . 2>/dev/null -delete", "find . 2>/dev/null"),
    ("ls >x", "ls >y"),
    ("ls >x", "ls >>x"),
    ("ls 2>x", "ls >x"),
    ("ls <x", "ls <<<x"),
    ("ls &>x", "ls >x"),
    ("{ ls; } >x", "{ ls; }"),
    ("a=1 ls", "a=2 ls"),
    ("a=1 ls", "a=1; ls"),
    ("a=1", "a+=1"),
    ("a=(1 2); ls", "a=(1 3); ls"),
    ("a[1]=x; ls", "a[2]=x; ls"),
    ("f() { rm x; }; f", "f() { ls; }; f"),
    ("f() { ls; }; f", "g() { ls; }; f"),
    ("if a; then rm x; fi", "if a; then ls; fi"),
    ("if a; then ls; elif rm x; then ls; fi", "if a; then ls; elif ls; then ls; fi"),
    ("if a; then ls; else rm x; fi", "if a; then ls; fi"),
    ("while rm x; do ls; done", "while ls; do ls; done"),
    ("until a; do rm x; done", "until a; do ls; done"),
    ("for i in a; do rm $i; done", "for i in a; do ls $i; done"),
    ("for i in a; do rm $i; done", "for i in b; do rm $i; done"),
    ("for i; do ls; done", "for i in; do ls; done"),
    ("for ((i = 0; i < 3; i++)); do rm x; done", "for ((i = 0; i < 3; i++)); do ls; done"),
    ("case $x in a) rm x ;; esac", "case $x in a) ls ;; esac"),
    ("case $x in a) ls ;; esac", "case $x in b) ls ;; esac"),
    ("[[ -n $(rm x) ]]", "[[ -n $(ls) ]]"),
    ("(rm x)", "(ls)"),
    ("ls 'a b' c &", "ls a b c &"),
    ("ls \"a\" $b", "ls a b"),
    ("ls $'a\\tb' $c", "ls a\\tb $c"),
    ("ls a\\ b $c", "ls a b $c"),
    ("exec {v}>x", "exec {w}>x"),
    ("ls {v}>x a", "ls {v}>x b"),
    ("ls a # b $c\nls d", "ls a '#' b $c\nls d"),
];

#[test]
fn a_wrong_reading_is_caught() {
    for (text, wrong) in WRONG {
        let found = differs(text, &first(wrong));
        assert_eq!(
            found.map(|problem| problem.cause),
            Some(Cause::ParsersDiffer),
            "{text:?} read as {wrong:?}"
        );
    }
}

#[test]
fn a_right_reading_is_not() {
    let mut understood = 0;
    for (text, wrong) in WRONG {
        for text in [text, wrong] {
            let script = first(text);
            if script.problems.is_empty() {
                understood += 1;
                assert_eq!(differs(text, &script), None, "{text:?}");
            }
        }
    }
    assert!(understood + 3 > 2 * WRONG.len(), "{understood} of {}", 2 * WRONG.len());
}

#[test]
fn a_difference_is_shown_to_a_person() {
    for (text, wrong, shown) in [
        ("ls; rm \"a\nb\"", "ls", "only the other parser sees the command `rm a b`"),
        ("ls; ls >x", "ls; ls >x; rm $x", "the other parser does not see the command `rm $…`"),
        (
            "select x in a; do ls; done",
            "ls; ls",
            "the other parser does not read `select x in a; do ls; done`",
        ),
    ] {
        let found = differs(text, &first(wrong)).map(|problem| problem.detail);
        assert_eq!(found.as_deref(), Some(format!("second-reading: {shown}").as_str()));
    }
}

/// Told by reading a text as another one: only what is not read again gets away with that.
#[test]
fn one_literal_command_is_read_once() {
    for text in ["ls", "ls 'a b' \"c\" d-e=f", "git log --format='%h %s' -1"] {
        assert_eq!(differs(text, &first("rm x")), None, "{text:?}");
    }
    for text in [
        "ls; ls", "ls\nls", "ls $x", "ls *", "ls ~", "ls {a,b}", "ls >x", "ls &", "(ls)", "ls a\\ b",
        "ls '$x'",
    ] {
        assert!(differs(text, &first("rm x")).is_some(), "{text:?}");
    }
    for script in ["rm $x", "rm x &", "a=1 rm x", "rm >x", "(rm x)", "rm x; rm x"] {
        assert!(differs("ls", &first(script)).is_some(), "{script:?}");
    }
}

/// Texts that stop or overflow the other parser when it is asked without a bound.
#[test]
fn hostile_texts_end() {
    for (part, count) in [
        ("((a", 5_000),
        ("( ", 5_000),
        ("( (a; b) ", 300),
        ("case a in a) ", 3_000),
        ("case a in (a) ", 40),
        ("$(", 3_000),
        ("\"x$(", 300),
        ("\"x$(", 60),
        ("x$(a '", 60),
        ("${x:-", 300),
        ("${a[", 60),
        ("$((", 300),
        ("$[", 300),
        ("`", 301),
        ("{ ", 5_000),
        ("{ ", 199),
        ("if ", 5_000),
        ("if a; then ", 199),
        ("while a; do ", 199),
        ("f() { ", 66),
        ("for i in a; do ", 199),
        ("a <(", 199),
        ("[[ ( ", 199),
        ("a=( ", 199),
        ("[[ ! ", 99),
        ("! ", 199),
        ("[[ ! ", 5_000),
        ("coproc ", 199),
        ("${x:-", 399),
        ("$(", 399),
        ("$[", 399),
        ("\"$(", 399),
        ("! ", 5_000),
        ("a |", 5_000),
        ("<<A ", 200),
        ("(#)\n", 300),
        ("'(' ", 3_000),
        ("echo \"$(ls # don't\n) '( ", 30),
        ("x$(a '(' ", 40),
        ("x$(case a in a) ", 40),
        ("@(a|", 300),
    ] {
        let text = part.repeat(count);
        let _ = other::items(&text);
        let _ = other::items(&format!("echo \"y$(ls # don't\n echo '{text}')\""));
    }
}

const SOUP: [&str; 56] = [
    "ls ",
    "rm x",
    "\n",
    ";",
    "; ",
    " ",
    "&",
    "&& ",
    "|| ",
    "| ",
    "|& ",
    "(",
    ")",
    "{ ",
    "; }",
    "((",
    "))",
    "[[ ",
    " ]]",
    "'",
    "\"",
    "\\",
    "$",
    "$x",
    "${x",
    ":-",
    "}",
    "$(",
    "`",
    "$((",
    "<(",
    ">(",
    "<",
    ">",
    ">>",
    "<<",
    "<<EOF\n",
    "EOF\n",
    "<<'E' ",
    "E\n",
    "<<<",
    "2>&1 ",
    "{fd}",
    "=",
    "a=",
    "a=(",
    "[",
    "]",
    "#",
    " # ",
    "if a; then ",
    "; fi",
    "case a in a) ",
    ";; esac",
    "f() ",
    "time ",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    /// What the first reading understands the other parser must survive. It is never given what the first
    /// one refuses: some of that ends it, and some takes all memory (`<<'E' ls $(EOF`).
    #[test]
    fn no_soup_stops_it(parts in proptest::collection::vec(proptest::sample::select(&SOUP[..]), 0..40)) {
        let text = parts.concat();
        let script = first(&text);
        if script.problems.is_empty() {
            let _ = other::items(&text);
            let _ = differs(&text, &script);
        }
    }

    #[test]
    fn no_bytes_stop_it(text in "[ -~\n\t]{0,60}") {
        if first(&text).problems.is_empty() {
            let _ = other::items(&text);
        }
    }
}

/// A descriptor that the other parser cannot hold makes it panic; it is never given one.
#[test]
fn a_great_descriptor_is_a_limit() {
    let text = "ls 3000000000>x; ls";
    assert_eq!(differs(text, &first(text)).map(|problem| problem.cause), Some(Cause::Limit));
}

/// Of the texts that a gate misreads which walks the grammar's tree as it is, nearly all are caught.
#[test]
fn it_catches_what_the_naive_reading_gets_wrong() {
    let (mut wrong, mut caught, mut missed) = (0, 0, Vec::new());
    for case in naive::cases() {
        let naive = naive::commands(&case.text);
        if naive == case.runs && !case.error {
            continue;
        }
        wrong += 1;
        match other::items(&case.text) {
            Ok(items) if naive::shown(&items) == naive => missed.push(case.text),
            _ => caught += 1,
        }
    }

    println!("{wrong} misread by a naive gate, {caught} of them caught");
    assert!(wrong > 350 && caught * 10 >= wrong * 9, "{caught} of {wrong}; missed: {missed:#?}");
}
