//! What the second reading asks about that the first had understood: the texts of the case files, all known.

use crate::common::cases::rows;
use gsh::syntax::{Limits, cross_check_is_on, parse};

/// Where the two readings are known to differ, and why: the first is right in all of them. A text that is
/// no longer asked about must leave the table.
const KNOWN: &[(&str, &str, &str)] = &[];

/// The case files with the texts in them.
fn files() -> Vec<(&'static str, Vec<String>)> {
    let of_rows = |text| {
        let rows = rows(text).into_iter();
        rows.inspect(|row| assert!(!row.kind.is_empty(), "{}", row.command)).map(|row| row.command).collect()
    };
    let (_, shapes) =
        include_str!("cases/shapes.txt").split_once('\n').expect("a first line that explains it");
    let shapes = shapes.split("%%\n").filter(|text| !text.is_empty());
    vec![
        ("readonly", of_rows(include_str!("cases/readonly.txt"))),
        ("shapes", shapes.map(|text| text.strip_suffix('\n').unwrap_or(text).to_owned()).collect()),
        ("lookalike", of_rows(include_str!("cases/lookalike.txt"))),
        ("catastrophic", of_rows(include_str!("cases/catastrophic.txt"))),
    ]
}

#[test]
fn the_readings_differ_only_where_known() {
    let mut found = Vec::new();
    for (file, texts) in files() {
        let before = found.len();
        for text in &texts {
            let problems = parse(text.as_bytes(), &Limits::default()).problems;
            if let Some(problem) =
                problems.iter().find(|problem| problem.detail.starts_with("second-reading"))
            {
                assert_eq!(problems.len(), 1, "{text}: the second reading follows a first without problems");
                found.push((file, text.clone(), problem.detail.clone()));
            }
        }
        println!("{file}: {} texts, {} asked about", texts.len(), found.len() - before);
    }
    let unknown: Vec<_> = found
        .iter()
        .filter(|(file, text, _)| !KNOWN.iter().any(|known| known.0 == *file && known.1 == text))
        .collect();
    assert!(unknown.is_empty(), "{unknown:#?}");
    for (file, text, why) in KNOWN {
        assert!(
            found.iter().any(|(of, each, _)| of == file && each == text),
            "mended, take it out: {text} ({why})"
        );
    }
}

/// Everyday texts that the other parser would misread if it were given them as they are.
#[test]
fn what_it_is_helped_with_is_understood() {
    for text in [
        "git commit -m \"$(cat <<'EOF'\nFix: a) b, (c and don't \"quote\n\n\tx $( ` \\ }\nEOF\n)\" && git push",
        "gh pr create --title x --body \"$(cat <<EOF\n- 1) $(date) isn't \\$HOME :(\nEOF\n)\" | cat",
        "a=$(cat <<-'A'\n\tit's\n\tA\n) b=\"$(cat <<B\n\"\nB\n)\"; ls",
        "cat <<EOF > \"${x}\" && ls \"$(pwd)/${y:-z}\"\n$(date) \"${x}\nEOF",
        "x=\"$(cat <<A | tr \"${a}\" b\n$(ls)\nA\n)\"",
        "x=`echo \\`date\\` \\$HOME`; echo \"`echo \\\"a b\\\"`\"",
        "time -p ls | wc; time ls && ls; time -- ls | cat",
        "echo \"a\\\nb\" c \\\n  d; ls",
    ] {
        let script = parse(text.as_bytes(), &Limits::default());
        assert_eq!(script.problems, [], "{text}");
    }
}

/// Its own misreadings, each an ask that is not needed.
#[test]
fn its_misreadings_ask() {
    for text in [
        "( (cd a && ls) )",
        "select x in a b; do ls; done",
        "ls --f=<(cat x)",
        "cat <<E > x$(pwd)\nE",
        "cat <<E\na",
    ] {
        let script = parse(text.as_bytes(), &Limits::default());
        let details: Vec<_> = script.problems.iter().map(|problem| problem.detail.as_str()).collect();
        assert!(matches!(details[..], [only] if only.starts_with("second-reading: ")), "{text}: {details:?}");
    }
}

#[test]
fn it_is_said_to_be_on() {
    assert!(cross_check_is_on());
}
