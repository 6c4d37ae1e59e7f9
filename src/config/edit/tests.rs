//! Texts before and after.

use std::path::Path;

use super::check::Draft;
use super::*;
use crate::config::read::Origin;
use crate::policy::{Layer, Mode, Verdict, When};
use crate::request::Entry;

fn rule(capability: &str, pattern: &str, action: Verdict) -> NewRule {
    NewRule::new(capability, pattern, action)
}

fn make() -> NewRule {
    rule("process.execute", "make *", Verdict::Allow)
}

fn says(pattern: &str) -> Which {
    Which::Says { capability: None, pattern: pattern.to_owned() }
}

fn draft(text: &str) -> Result<Draft<'_>, EditError> {
    let path = Path::new("c.toml");
    Draft::new(text.to_owned(), Origin { layer: Layer::Project, path, root: Some("/p"), home: Some("/h") })
}

/// The text after a change, or the word for why there is none.
fn changed(text: &str, change: Change<'_>) -> String {
    match draft(text).and_then(|draft| draft.changed(change)) {
        Ok((after, _)) => after.text,
        Err(error) => format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

const BLOCK: &str =
    "[[permissions.rules]]\ncapability = \"process.execute\"\npattern = \"make *\"\naction = \"allow\"\n";

#[test]
fn a_rule_is_added_where_it_comes_last() {
    let table = "# ours\n[permissions.\"process.execute\"]   # head\n'npm *'   =  'ask' # why\n\n[audit]\nrequired = true\n";
    let two = "[permissions.'process.execute']\n'x' = 'ask'\n[permissions.'git.modify']\n'y' = 'ask'\n";
    for (before, after) in [
        ("", BLOCK.to_owned()),
        ("mode = 'plan'", format!("mode = 'plan'\n\n{BLOCK}")),
        ("mode = 'plan'\n\n\n", format!("mode = 'plan'\n\n\n{BLOCK}")),
        // In the table, since nothing that applies later could decide in its place.
        (table, table.replace("# why\n", "# why\n\"make *\" = \"allow\"\n")),
        (two, two.replace("'x' = 'ask'\n", "'x' = 'ask'\n\"make *\" = \"allow\"\n")),
        // Not there: a later table, an explicit rule, or the same key stands in the way.
        (&two.replace("git.modify", "*.execute"), format!("{}\n{BLOCK}", two.replace("git.modify", "*.execute"))),
        (&table.replace("npm *", "make *"), format!("{}\n{BLOCK}", table.replace("npm *", "make *"))),
        (
            "[[permissions.rules]] # one\ncapability = '*'\naction = 'ask'\n# of the rule\n\n# of the next\n[audit]\n",
            format!(
                "[[permissions.rules]] # one\ncapability = '*'\naction = 'ask'\n# of the rule\n\n{BLOCK}\n# of the next\n[audit]\n"
            ),
        ),
        ("permissions.'file.read' = 'ask'\n", format!("permissions.'file.read' = 'ask'\n\n{BLOCK}")),
        // What cannot take a line gets a block.
        ("[permissions]\n'process.execute' = { 'x' = 'ask' }\n", format!("[permissions]\n'process.execute' = {{ 'x' = 'ask' }}\n\n{BLOCK}")),
        ("[permissions]\n'process.execute'.'x' = 'ask'\n", format!("[permissions]\n'process.execute'.'x' = 'ask'\n\n{BLOCK}")),
        (
            "[permissions]\nrules = []\n",
            "[permissions]\nrules = [{ capability = \"process.execute\", pattern = \"make *\", action = \"allow\" }]\n".to_owned(),
        ),
        (
            "[permissions]\nrules = [\n  { capability = '*', action = 'ask' } # a\n]\n",
            "[permissions]\nrules = [\n  { capability = '*', action = 'ask' }, # a\n  { capability = \"process.execute\", pattern = \"make *\", action = \"allow\" },\n]\n".to_owned(),
        ),
        (
            "[permissions]\nrules = [{ capability = '*', action = 'ask' }]",
            "[permissions]\nrules = [{ capability = '*', action = 'ask' }, { capability = \"process.execute\", pattern = \"make *\", action = \"allow\" }]".to_owned(),
        ),
        ("mode = 'plan'\r\n", format!("mode = 'plan'\r\n\r\n{}", BLOCK.replace('\n', "\r\n"))),
        // A file with a mistake elsewhere is no worse for it.
        ("mod = 1\n", format!("mod = 1\n\n{BLOCK}")),
        // It is never made of what is no TOML, nor of forms that are left to a person.
        ("mode = 'plan", "Malformed".to_owned()),
        ("permissions = { 'file.read' = 'ask' }\n", "Form".to_owned()),
        ("permissions = 3\n", "Form".to_owned()),
    ] {
        assert_eq!(changed(before, Change::Add(&[make()])), after, "{before}");
    }
}

#[test]
fn a_whole_rule_is_written() {
    let when = When {
        modes: vec![Mode::Plan, Mode::Default],
        entries: vec![Entry::Hook],
        agents: vec!["codex".into()],
        interactive: Some(false),
    };
    let whole = NewRule {
        destroys: true,
        lifts: true,
        reason: Some("it's \"ours\"".into()),
        matches: vec!["/p/a".into(), "/p/b".into()],
        not_matches: vec!["/q".into()],
        expires: Some("2031-01-31".into()),
        when: when.clone(),
        ..rule("file.write.*", "/p/*", Verdict::Allow)
    };
    let text = changed("", Change::Add(std::slice::from_ref(&whole)));
    assert_eq!(
        text,
        r#"[[permissions.rules]]
capability = "file.write.*"
pattern = "/p/*"
action = "allow"
destroys = true
lifts = "ask"
reason = "it's \"ours\""
match = ["/p/a", "/p/b"]
not_match = ["/q"]
expires = "2031-01-31"
modes = ["plan", "default"]
entry = ["hook"]
agent = ["codex"]
interactive = false
"#
    );
    let again = draft(&text).expect("sound").layer.rules.remove(0).rule;
    assert_eq!((again.destroys, again.lifts, again.when.as_deref()), (true, true, Some(&when)));
    let agents = changed("", Change::Add(&[rule("Bash(npm test:*)", "*", Verdict::Deny)]));
    assert_eq!(agents, "[[permissions.rules]]\ncapability = \"Bash(npm test:*)\"\naction = \"deny\"\n");
    for (bad, why) in [
        (rule("file.reed", "/x", Verdict::Allow), "unknown capability"),
        (rule("file.read", "/x/", Verdict::Allow), "no path is ever spelled"),
        (NewRule { matches: vec!["y".into()], ..make() }, "does not match its example"),
        (NewRule { expires: Some("soon".into()), ..make() }, "is not a day"),
    ] {
        let found = draft("mode = 'plan'\n").and_then(|draft| draft.changed(Change::Add(&[bad])));
        let Err(EditError::Rule(report)) = found.map(|(_, rules)| rules) else { panic!("{why}") };
        assert!(report.title.contains(why), "{report}");
    }
}

#[test]
fn odd_texts_stay_what_they_are() {
    for pattern in [
        "echo 'a'",
        "echo \"a\" \\\\ 'b'",
        "cat <<'E'\n[permissions.\"process.execute\"]\n\"*\" = \"allow\"\nE\n",
        "a\r\nb\tc\u{0}\u{1b}[2J\u{7f}",
        "'''x\"\"\"",
        "\u{202e}txt.exe\u{feff}",
        "ä 日本 🦀",
        "# no comment",
        "",
        " ",
    ] {
        let new = [rule("process.execute", pattern, Verdict::Allow), rule("tool.use", pattern, Verdict::Ask)];
        for before in ["", "[permissions.'process.execute']\n'x' = 'ask'\n"] {
            let (after, rules) =
                draft(before).and_then(|draft| draft.changed(Change::Add(&new))).expect("written");
            let found: Vec<_> = rules.iter().map(|rule| rule.pattern.as_str()).collect();
            assert_eq!(found, [pattern, pattern]);
            assert!(
                after.text.starts_with(before)
                    && after.text.is_ascii() == pattern.replace(['\u{202e}', '\u{feff}'], "").is_ascii()
            );
            let hidden = |c: char| c != '\n' && c.is_control() || c == '\u{202e}';
            assert!(!after.text.contains(hidden), "{pattern:?}");
            let gone = Which::Says { capability: Some("tool.use".into()), pattern: pattern.into() };
            let (after, _) = after.changed(Change::Remove(&gone)).expect("removed");
            assert_eq!(after.layer.rules.len(), 1 + usize::from(!before.is_empty()), "{pattern:?}");
        }
    }
}

proptest::proptest! {
    /// Whatever file and whatever rule: either the rule is added and nothing else changes, or nothing is.
    #[test]
    fn nothing_but_the_rule_changes(
        text in "(\\[permissions\\]\n|\\[permissions\\.'process\\.execute'\\]\n|\\[\\[permissions\\.rules\\]\\]\n|capability = '\\*'\n|action = 'ask'\n|'[a-c] \\*' = 'deny'\n|rules = \\[\\]\n|# c\n|\n|mode = 'plan'\n|\"\"\"|x = ){0,12}",
        pattern in "[a-c *\n\"'\\\\#\\[\\]]{0,12}",
    ) {
        let new = [rule("process.execute", &pattern, Verdict::Allow)];
        if let Ok((after, rules)) = draft(&text).and_then(|draft| draft.changed(Change::Add(&new))) {
            proptest::prop_assert_eq!(&rules[0].pattern, &pattern);
            let line = Which::Line(rules[0].line);
            let kept: Vec<_> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
            let before_rules = draft(&text).expect("sound").layer.rules.len();
            let all: Vec<_> = after.text.lines().map(str::to_owned).collect();
            if !text.contains("rules = []") {
                let mut lines = all.iter();
                proptest::prop_assert!(kept.iter().all(|line| lines.any(|each| each == line)), "{}", after.text);
            }
            let (without, _) = after.changed(Change::Remove(&line)).expect("it can be taken away again");
            proptest::prop_assert_eq!(without.layer.rules.len(), before_rules);
        }
    }
}

const FILE: &str = "\
mode = 'plan'  # as is

[permissions]
'file.read' = 'allow'
# all of them
[permissions.'process.execute']
# our tests
'npm *' = 'ask'

'npm test' = { action = 'allow', reason = 'r' }  # quick
'npm publish' = 'deny'
[permissions.'git.modify']
'git push' = 'ask'

# shared
[[permissions.rules]]
capability = 'file.write.*'
pattern = '/srv/*'
action = 'allow'

[[permissions.rules]]
capability = 'process.execute'
pattern = 'make'
action = 'allow' # why
# still of it

[audit]
required = true
";

#[test]
fn a_rule_is_removed_with_what_is_its_own() {
    let without = |part: &str| {
        assert!(FILE.contains(part), "{part}");
        FILE.replacen(part, "", 1)
    };
    for (which, after) in [
        (says("npm *"), without("# our tests\n'npm *' = 'ask'\n")),
        (says("npm test"), without("'npm test' = { action = 'allow', reason = 'r' }  # quick\n")),
        (Which::Line(11), without("'npm publish' = 'deny'\n")),
        (Which::Line(4), without("'file.read' = 'allow'\n")),
        (
            says("/srv/*"),
            without(
                "# shared\n[[permissions.rules]]\ncapability = 'file.write.*'\npattern = '/srv/*'\naction = 'allow'\n\n",
            ),
        ),
        (
            says("make"),
            without(
                "[[permissions.rules]]\ncapability = 'process.execute'\npattern = 'make'\naction = 'allow' # why\n# still of it\n\n",
            ),
        ),
        (
            Which::Says { capability: Some("file.read".into()), pattern: "*".into() },
            without("'file.read' = 'allow'\n"),
        ),
        (says("cargo"), "NoSuchRule".to_owned()),
        (Which::Line(1), "NoSuchRule".to_owned()),
    ] {
        assert_eq!(changed(FILE, Change::Remove(&which)), after, "{which:?}");
    }
    for (before, which, after) in [
        (
            "[permissions]\nrules = [{capability='*', action='ask'}]\n",
            says("*"),
            "[permissions]\nrules = []\n",
        ),
        (
            "[permissions]\nrules = [\n {capability='*', action='ask'}, # a\n {capability='tool.use', action='deny'}, # b\n]\n",
            Which::Line(3),
            "[permissions]\nrules = [\n  # a\n {capability='tool.use', action='deny'}, # b\n]\n",
        ),
        (
            "[permissions]\nrules = [{capability='*', action='ask'}, {capability='*', action='deny'}]\n",
            Which::Line(2),
            "Several",
        ),
        ("[permissions]\n'Bash(npm:*)' = 'deny'\nx = 1\n", says("Bash(npm:*)"), "[permissions]\nx = 1\n"),
        ("[permissions.'file.read'.'/x']\naction = 'ask'\n", says("/x"), "Form"),
        ("[permissions.'file.read']\n'./s' = 'ask'\n", says("/p/s"), "[permissions.'file.read']\n"),
        // One that does not load can still be taken away.
        ("[[permissions.rules]]\ncapability = '*'\nacton = 'ask'\n", Which::Line(2), ""),
        // A comment within a text is none.
        (
            "[permissions.'file.read']\n'/a' = { action = 'ask', reason = \"\"\"\n# not a comment\"\"\" }\n'/b' = 'ask'\n",
            says("/b"),
            "[permissions.'file.read']\n'/a' = { action = 'ask', reason = \"\"\"\n# not a comment\"\"\" }\n",
        ),
    ] {
        assert_eq!(changed(before, Change::Remove(&which)), after, "{before}");
    }
}

/// The patterns in the order in which they apply, after a move.
fn order(text: &str, which: &str, place: &Place) -> String {
    match draft(text).and_then(|draft| draft.changed(Change::Move(&says(which), place))) {
        Ok((after, rules)) => {
            assert_eq!(rules.len(), 1);
            let comments = |text: &str| text.matches('#').count();
            assert_eq!(comments(&after.text), comments(text), "{}", after.text);
            let patterns = after.layer.rules.iter().filter(|rule| !rule.shorthand);
            patterns.map(|rule| rule.rule.pattern.clone()).collect::<Vec<_>>().join(" < ")
        }
        Err(error) => format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned(),
    }
}

#[test]
fn a_rule_is_moved() {
    let (before, behind) = (|p: &str| Place::Before(says(p)), |p: &str| Place::Behind(says(p)));
    for (which, place, expected) in [
        ("npm publish", before("npm *"), "npm publish < npm * < npm test < git push < /srv/* < make"),
        ("npm *", behind("npm publish"), "npm test < npm publish < npm * < git push < /srv/* < make"),
        ("npm *", Place::Bottom, "npm test < npm publish < git push < /srv/* < make < npm *"),
        ("npm test", behind("make"), "npm * < npm publish < git push < /srv/* < make < npm test"),
        ("make", Place::Top, "make < npm * < npm test < npm publish < git push < /srv/*"),
        ("make", before("npm publish"), "npm * < npm test < make < npm publish < git push < /srv/*"),
        ("make", before("/srv/*"), "npm * < npm test < npm publish < git push < make < /srv/*"),
        ("/srv/*", behind("make"), "npm * < npm test < npm publish < git push < make < /srv/*"),
        ("git push", before("make"), "npm * < npm test < npm publish < /srv/* < git push < make"),
        // There already, or nothing else is for the same requests.
        ("npm *", before("npm test"), "npm * < npm test < npm publish < git push < /srv/* < make"),
        ("npm *", Place::Top, "npm * < npm test < npm publish < git push < /srv/* < make"),
        ("git push", Place::Bottom, "npm * < npm test < npm publish < git push < /srv/* < make"),
        ("git push", before("npm *"), "Apart"),
        ("/srv/*", before("npm *"), "Apart"),
        ("cargo", Place::Top, "NoSuchRule"),
    ] {
        assert_eq!(order(FILE, which, &place), expected, "{which} {place:?}");
    }
    let moved = changed(FILE, Change::Move(&says("npm test"), &behind("npm publish")));
    let line = "'npm test' = { action = 'allow', reason = 'r' }  # quick\n";
    assert_eq!(moved, FILE.replace(line, "").replace("= 'deny'\n", &format!("= 'deny'\n{line}")));
    let whole = "[permissions.'file.read']\n'/a' = 'ask'\n'/b' = 'deny'";
    let moved = changed(whole, Change::Move(&says("/b"), &Place::Top));
    assert_eq!(moved, "[permissions.'file.read']\n'/b' = 'deny'\n'/a' = 'ask'\n");
    let made = changed(FILE, Change::Move(&says("npm test"), &behind("make")));
    assert!(made.contains("# still of it\n\n# quick\n[[permissions.rules]]\ncapability = \"process.execute\"\npattern = \"npm test\"\naction = 'allow'\nreason = 'r'\n\n[audit]"), "{made}");
}
