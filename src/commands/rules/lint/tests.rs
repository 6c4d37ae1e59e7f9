//! Tables: a file's text, what is found in it.

use std::path::Path;

use super::*;
use crate::config::read::{Origin, read};
use crate::host::table::TableHost;
use crate::policy::Places;
use crate::policy::compose::{Composition, compose};

fn host() -> TableHost {
    let mut host = TableHost::default().with_files(&["/home/u/p/src/main.rs", "/tmp/"]);
    host.vars.insert("HOME".into(), "/home/u".into());
    host.project = Some("/home/u/p".into());
    host
}

fn found(layer: Layer, text: &str) -> Vec<Finding> {
    let root = (layer == Layer::Project).then_some("/home/u/p");
    let origin = Origin { layer, path: Path::new("c.toml"), root, home: Some("/home/u") };
    let readings = [read(text, &origin)];
    let (home, project) = (Some("/home/u".to_owned()), Some("/home/u/p".to_owned()));
    let places = Places { home, project, ..Places::default() };
    let layers = readings.iter().map(|reading| reading.layer.clone()).collect();
    let policy = compose(layers, Composition::new(places, "2030-06-15"));
    findings(&Given { readings: &readings, policy: &policy, host: &host() })
}

/// `line code` of each, with `!` for a warning and `!!` for an error.
fn marks(found: &[Finding]) -> Vec<String> {
    let mark = |finding: &Finding| match finding.severity {
        Severity::Note => "",
        Severity::Warning => "!",
        Severity::Error => "!!",
    };
    found.iter().map(|finding| format!("{} {}{}", finding.line, finding.code, mark(finding))).collect()
}

#[track_caller]
fn check(layer: Layer, table: &[(&str, &str, &[&str])]) {
    for (capability, rules, expected) in table {
        let text = format!("[permissions.'{capability}']\n{rules}");
        let found = found(layer, &text);
        assert_eq!(marks(&found), *expected, "{text}\n{}", super::text(&found, 0));
    }
}

#[test]
fn among_rules() {
    check(
        Layer::User,
        &[
            ("process.execute", "'npm test *' = 'allow'\n'npm publish *' = 'deny'", &[]),
            ("process.execute", "'npm publish *' = 'deny'\n'npm p* x' = 'allow'", &[]),
            ("process.execute", "'npm publish x' = 'deny'\n'npm publish *' = 'allow'", &["2 reopened!"]),
            ("process.execute", "'npm run x' = 'ask'\n'npm run *' = 'allow'", &["2 shadowed!"]),
            ("process.execute", "'npm run x *' = 'allow'\n'npm run *' = 'allow'", &["2 shadowed"]),
            ("process.execute", "'npm run *' = 'ask'\n'*' = 'ask'", &["2 shadowed"]),
            ("file.read", "'/a' = 'ask'\n'*' = 'deny'", &["2 shadowed!"]),
            (
                "file.read",
                "'/a' = 'ask'\n[[permissions.rules]]\ncapability = 'file.read'\npattern = '/a'\naction = 'ask'",
                &["2 duplicate!"],
            ),
        ],
    );
}

#[test]
fn what_never_counts() {
    check(
        Layer::User,
        &[
            ("process.execute", "'A=1 make *' = 'allow'", &["2 never!"]),
            ("process.execute", "'make > log' = 'deny'", &["2 never!"]),
            ("process.execute", "'make  all' = 'ask'", &["2 never!"]),
            ("process.execute", "' make' = 'ask'", &["2 never!"]),
            ("process.execute", "'make \"a' = 'ask'", &["2 never!"]),
            ("process.execute", "'make \"a b\"' = 'ask'", &["2 never!"]),
            ("process.execute", "\"make 'a b'\" = 'ask'", &[]),
            ("process.execute", "'~/bin/x *' = 'ask'", &["2 never!"]),
            ("process.execute", "'make *' = 'ask'\n'./ci/*.sh' = 'allow'\n'/opt/x/y *' = 'ask'", &[]),
            ("process.execute", "'curl * | *sh' = 'deny'\n'git add * && git push *' = 'ask'", &[]),
            ("process.execute", "'*rm -rf*' = 'ask'\n'* --force' = 'ask'\n\"echo '*\" = 'ask'", &[]),
            (
                "process.execute",
                "'ls -la' = 'allow'\n'make | tee x' = 'allow'",
                &["2 needless", "3 needless"],
            ),
            ("process.execute", "'ls *' = 'ask'", &[]),
            (
                "git.modify",
                "'git push *' = 'ask'\n'git commit -m *' = 'allow'\n'git config --global *' = 'ask'",
                &[],
            ),
            ("git.modify", "'ls *' = 'ask'\n'git log *' = 'ask'", &["2 never!", "3 never!"]),
            ("network.access", "'curl *' = 'ask'\n'npm install *' = 'ask'", &[]),
            ("process.background", "'make *' = 'deny'\n'sleep *' = 'allow'", &[]),
            ("tool.use", "'mcp__a__b' = 'allow'\n'skill:x' = 'ask'\n'ls -la' = 'ask'", &["4 never!"]),
            (
                "file.read",
                "'/a//b' = 'ask'\n'*.{js,ts}' = 'ask'\n'/x/[ab]' = 'ask'",
                &["2 never!", "3 literal-glob!", "4 literal-glob!"],
            ),
            ("process.execute", "'make' = { action = 'ask', expires = '2030-01-01' }", &["2 expired!"]),
            ("process.execute", "'make' = { action = 'allow', modes = ['plan'] }", &["2 never!"]),
            ("process.execute", "'make' = { action = 'deny', modes = ['plan'] }", &[]),
            (
                "process.execute",
                "'make' = { action = 'ask', entry = ['interactive'], interactive = false }",
                &["2 never!"],
            ),
            ("process.execute", "'make' = { action = 'ask', agent = ['claude'] }", &[]),
            (
                "process.execute",
                "'make' = { action = 'ask', agent = ['claud', 'codx'] }",
                &["2 unknown-agent!", "2 unknown-agent!"],
            ),
        ],
    );
    check(
        Layer::Project,
        &[
            ("file.write.project", "'dist/*' = 'ask'\n'~/x/*' = 'ask'", &["3 never!"]),
            ("file.write.outsideProject", "'dist/*' = 'ask'\n'~/x/*' = 'ask'", &["2 never!"]),
            ("file.read", "'cat *.env' = 'deny'\n'$TMPDIR/x' = 'deny'", &["2 never!", "3 never!"]),
        ],
    );
    let agents =
        found(Layer::User, "[permissions]\n'Bash(npm test:*)' = 'allow'\n'Bash(A=1 npm test:*)' = 'ask'");
    assert_eq!(marks(&agents), ["3 never!"], "{}", text(&agents, 0));
}

#[test]
fn too_much() {
    let broad = ["2 too-broad!"];
    check(
        Layer::User,
        &[
            ("process.execute", "'*' = 'allow'", &broad),
            ("process.execute", "'sudo *' = 'allow'", &broad),
            ("process.execute", "'bash *' = 'allow'", &broad),
            ("process.execute", "'python3 *' = 'allow'", &broad),
            ("process.execute", "'sh -c *' = 'allow'", &broad),
            ("process.execute", "'xargs *' = 'allow'", &broad),
            ("process.execute", "'env *' = 'allow'", &broad),
            ("process.execute", "'find *' = 'allow'", &broad),
            ("process.execute", "'npm *' = 'allow'", &broad),
            ("git.modify", "'*' = 'allow'", &broad),
            ("file.write.outsideProject", "'~/*' = 'allow'", &broad),
            ("file.read", "'*' = 'allow'", &["2 too-broad"]),
            ("tool.use", "'*' = 'allow'", &broad),
            ("process.execute", "'p*' = 'allow'", &["2 no-boundary!", "2 too-broad!"]),
            ("process.execute", "'python3 tools/x.py *' = 'allow'\n'python3 -m pytest *' = 'allow'", &[]),
            ("process.execute", "'bash ci/x.sh *' = 'allow'\n'npm run *' = 'allow'\n'make *' = 'allow'", &[]),
            ("process.execute", "'bash *' = 'deny'\n'*' = 'ask'", &["2 shadowed!"]),
            (
                "process.execute",
                "'frob*' = 'allow'\n'npm test*' = 'allow'",
                &["2 no-boundary!", "3 no-boundary!"],
            ),
            ("process.execute", "'lsof*' = 'deny'\n'frob --x*' = 'allow'", &["2 no-boundary"]),
        ],
    );
}

#[test]
fn characters() {
    check(
        Layer::User,
        &[
            ("process.execute", "'m\u{430}ke *' = 'deny'", &["2 odd-character!"]),
            ("process.execute", "'make\u{200b} *' = 'deny'", &["2 never!", "2 odd-character!"]),
            ("file.read", "'~/\u{434}\u{43e}\u{43a}/*' = 'ask'\n'~/f\u{e4}hre/*' = 'ask'", &[]),
        ],
    );
}

#[test]
fn files_and_their_state() {
    let damaged = found(Layer::User, "mod = 1\n[permissions]\n'file.reed' = 'ask'");
    assert_eq!(marks(&damaged), ["1 damaged!!", "3 damaged!!"]);
    assert_eq!(status(&damaged), 2);
    let shown = text(&damaged, 0);
    assert!(
        shown.contains("c.toml:1:1") && shown.contains("^^^") && shown.contains("did you mean `mode`?"),
        "{shown}"
    );
    let data: serde_json::Value = serde_json::from_str(&json(&damaged)).expect("JSON");
    assert_eq!(data[1]["severity"], "error");
    assert_eq!((&data[1]["line"], &data[1]["code"]), (&3.into(), &"damaged".into()));

    let path = Path::new("/home/u/p/.gsh/config.toml");
    let origin = Origin { layer: Layer::Project, path, root: Some("/home/u/p"), home: None };
    let mut reading = read("[permissions.'process.execute']\n'make *' = 'allow'\n'npm *' = 'ask'", &origin);
    reading.layer.trusted = false;
    let policy = compose(vec![reading.layer.clone()], Composition::new(Places::default(), "2030-06-15"));
    let found = findings(&Given { readings: &[reading], policy: &policy, host: &host() });
    assert_eq!(marks(&found), ["2 untrusted"]);
    assert_eq!((status(&found), status(&[])), (0, 0));

    let floor = "[[floor]]\nname = 'x'\ncapability = '*'\npattern = 'git push *'\n[permissions.'git.modify']\n'git push *' = 'allow'";
    let found = self::found(Layer::User, floor);
    assert_eq!(marks(&found), ["6 shadowed!"]);
    assert!(found[0].message.contains("the floor's own entry"), "{}", found[0].message);
    assert_eq!(status(&found), 1);
}
