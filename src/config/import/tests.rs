//! What single rules of each agent become; that they mean the same is shown by `tests/import`.

use super::targets::targets;
use super::*;

fn file(path: &str, level: Level, text: &str) -> AgentFile {
    AgentFile { path: path.to_owned(), text: text.to_owned(), level }
}

fn imported(client: Client, files: &[AgentFile]) -> Imported {
    let around = Around { home: Some("/home/u".into()), root: Some("/p".into()), only_agent: false };
    import(client, files, &around).expect("it can be read")
}

/// Each rule on a line: what became of it, and its patterns.
fn told(client: Client, level: Level, text: &str) -> Vec<String> {
    let found = imported(client, &[file("f", level, text)]);
    found.rules.iter().map(line).collect()
}

fn line(rule: &SourceRule) -> String {
    let fate = match rule.fate {
        Fate::Carried => "carried",
        Fate::Tightened(_) => "tightened",
        Fate::NotCarried(_) => "lost",
    };
    let made = rule.rules.iter().map(|rule| format!("{} {}", rule.capability, rule.pattern));
    let made: Vec<_> = made.collect();
    format!("{}: {fate}: {}", rule.line, made.join(", "))
}

#[test]
fn files_of_claude() {
    for (level, rule, allow, deny) in [
        (
            Level::Project,
            "Read(//etc/x)",
            "carried: file.read /etc/x, file.read /etc/x/*",
            "carried: file.read /etc/x, file.read /etc/x/*",
        ),
        (Level::Project, "Read(/a/**)", "carried: file.read ./a/*", "carried: file.read ./a/*"),
        (
            Level::Project,
            "Read(a/b)",
            "carried: file.read ./a/b, file.read ./a/b/*",
            "carried: file.read ./a/b, file.read ./a/b/*",
        ),
        (
            Level::Project,
            "Read(x)",
            "carried: file.read ./x, file.read ./x/*, file.read ./*/x, file.read ./*/x/*",
            "tightened: file.read */x, file.read */x/*",
        ),
        (
            Level::Project,
            "Read(*.md)",
            "carried: file.read ./*.md, file.read ./*.md/*",
            "tightened: file.read *.md, file.read *.md/*",
        ),
        (Level::Project, "Read(a/*.md)", "lost: ", "tightened: file.read ./a/*.md, file.read ./a/*.md/*"),
        (
            Level::Project,
            "Read(a/**/b)",
            "carried: file.read ./a/b, file.read ./a/b/*, file.read ./a/*/b, file.read ./a/*/b/*",
            "carried: file.read ./a/b, file.read ./a/b/*, file.read ./a/*/b, file.read ./a/*/b/*",
        ),
        (Level::Project, "Read(a?)", "lost: ", "tightened: file.read */a?, file.read */a?/*"),
        (Level::Project, "Read(a[b-c])", "lost: ", "tightened: file.read */a?, file.read */a?/*"),
        (Level::Project, "Read(../x)", "lost: ", "lost: "),
        (Level::Project, "Read(!x)", "lost: ", "lost: "),
        (Level::User, "Read(~/x/**)", "carried: file.read ~/x/*", "carried: file.read ~/x/*"),
        (Level::User, "Read(./x)", "lost: ", "tightened: file.read */x, file.read */x/*"),
        (Level::User, "Edit", "tightened: file.write.project *", "carried: file.write.* *"),
        (Level::Project, "Edit(/a/**)", "tightened: file.write.* ./a/*", "carried: file.write.* ./a/*"),
        (Level::Project, "Write(/a/**)", "lost: ", "tightened: file.write.* ./a/*"),
        (
            Level::User,
            "mcp__s",
            "carried: tool.use mcp__s, tool.use mcp__s__*",
            "carried: tool.use mcp__s, tool.use mcp__s__*",
        ),
        (Level::User, "mcp__*", "lost: ", "carried: tool.use mcp__*"),
        (Level::User, "WebFetch(domain:x)", "lost: ", "lost: "),
        (Level::User, "WebSearch", "carried: tool.use WebSearch", "carried: tool.use WebSearch"),
    ] {
        for (key, expected) in [("allow", allow), ("deny", deny)] {
            let text = format!("{{\"permissions\": {{\"{key}\": [\"{rule}\"]}}}}");
            assert_eq!(told(Client::Claude, level, &text), [format!("1: {expected}")], "{key} {rule}");
        }
    }
}

#[test]
fn a_refusal_that_is_lost_takes_allows_with_it() {
    let text = r#"{"permissions": {
        "allow": ["Bash(frob x)", "Bash(npm test)", "Bash(f*)", "Read(//a)"],
        "deny": ["Bash(frob $X)"]}}"#;
    let found = told(Client::Claude, Level::User, text);
    let fates: Vec<_> = found.iter().map(|line| line.split(": ").nth(1).unwrap_or_default()).collect();
    assert_eq!(fates, ["lost", "carried", "lost", "carried", "lost"]);
}

#[test]
fn a_file_that_cannot_be_read_stops_all() {
    for (client, text, line) in [
        (Client::Claude, "{\n\"permissions\": [}", 2),
        (Client::Gemini, "[[rule]]\nx = = 1", 2),
        (Client::Opencode, "{\n\n'", 3),
    ] {
        let error = import(client, &[file("f", Level::User, text)], &Around::default()).expect_err("broken");
        assert!(error.to_string().starts_with(&format!("f:{line}: ")), "{error}");
    }
}

#[test]
fn conditions_of_gemini() {
    let text = r#"
[[rule]]
toolName = ["run_shell_command", "read_file"]
decision = "deny"
priority = 5
modes = ["plan", "yolo"]
interactive = false
denyMessage = "no"
[[rule]]
commandPrefix = "npm"
decision = "allow"
priority = 1
toolAnnotations = { x = 1 }
"#;
    let found = imported(Client::Gemini, &[file("f", Level::User, text)]);
    let lines: Vec<_> = found.rules.iter().map(line).collect();
    assert_eq!(lines, ["9: lost: ", "2: tightened: process.execute ?*", "2: tightened: file.read *"]);
    let rule = &found.rules[1].rules[0];
    assert_eq!((&*rule.when.modes, rule.when.interactive), (&[Mode::Plan, Mode::Bypass][..], Some(false)));
    assert_eq!(rule.reason.as_deref(), Some("no"));
}

#[test]
fn examples_of_codex_come_along() {
    let text = r#"prefix_rule(pattern=["git", ["push", "fetch"]], match=["git push x", ["git", "fetch"]], not_match=["git x"])"#;
    let found = imported(Client::Codex, &[file("f", Level::User, text)]);
    let made: Vec<_> = found.rules[0].rules.iter().filter(|rule| rule.capability == "git.modify").collect();
    assert_eq!(
        made.iter().map(|rule| rule.matches.join(",")).collect::<Vec<_>>(),
        ["git push x", "git fetch"]
    );
    assert!(made.iter().all(|rule| rule.not_matches == ["git x"]));
}

#[test]
fn which_file_gets_what() {
    let user = |key: &str, rule: &str| {
        file("u", Level::User, &format!("{{\"permissions\": {{\"{key}\": [\"{rule}\"]}}}}"))
    };
    let project =
        |key: &str, rule: &str| AgentFile { level: Level::Project, path: "p".into(), ..user(key, rule) };
    for (low, high, expected) in [
        (user("allow", "Bash(a)"), project("deny", "Bash(b)"), &[(Level::User, 3), (Level::Project, 2)][..]),
        // There a refusal holds whatever a later file allows; here the later file would win.
        (
            user("deny", "Bash(a)"),
            project("allow", "Bash(a:*)"),
            &[(Level::User, 2), (Level::Project, 3), (Level::Local, 5)],
        ),
    ] {
        let found = targets(&imported(Client::Claude, &[low, high]));
        let counts: Vec<_> = found.iter().map(|target| (target.level, target.rules.len())).collect();
        assert_eq!(counts, expected);
        let last = found.last().and_then(|target| target.rules.last()).map(|rule| rule.action);
        assert_eq!(last, Some(Verdict::Deny));
    }
}

#[test]
fn for_one_agent_alone() {
    let around = Around { only_agent: true, ..Around::default() };
    let files = [file("f", Level::User, r#"{"permissions": {"deny": ["Bash(x)"]}}"#)];
    let found = import(Client::Claude, &files, &around).expect("sound");
    assert!(found.rules[0].rules.iter().all(|rule| rule.when.agents == ["claude"]));
}
