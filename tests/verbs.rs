//! The verbs, as a person or a program types them.

use crate::common::cases::rows;
use crate::common::fixture;
use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

#[test]
fn check_tells_by_its_status() {
    for (text, status, verdict) in [
        ("ls -la", 0, "allow"),
        ("rm -rf build", 11, "ask"),
        ("npm test", 11, "ask"),
        ("gsh-canary-deny", 12, "deny"),
        ("rm -rf ~", 12, "deny"),
        ("echo 'unterminated", 11, "ask"),
    ] {
        let run = Gsh::new(GSH).args(["check", "-c", text]).run();
        assert_eq!(run.status, Some(status), "{text}: {}", run.stdout());
        assert!(run.stdout().starts_with(verdict), "{text}: {}", run.stdout());
        assert!(run.records().is_empty(), "check runs nothing and records nothing");
    }
    let run = Gsh::new(GSH).args(["check"]).run();
    assert_eq!(run.status, Some(2));
    let run = Gsh::new(GSH).args(["check", "--mode", "bypass", "-c", "npm test"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stdout());
}

/// The batch contract: every key, in order, one line each, and no line stops it.
#[test]
fn a_batch_answers_every_line() {
    let big = "echo ".to_owned() + &"a".repeat(1 << 20);
    let input = [
        r#"{"id":"one","command":"git status"}"#.to_owned(),
        "not json".to_owned(),
        r#"{"id":3}"#.to_owned(),
        r#"{"id":"four","command":"git push *; rm -rf /","cwd":"/tmp"}"#.to_owned(),
        r#"{"id":"five","command":"cat > new.txt; some-tool $X"}"#.to_owned(),
        serde_json::json!({ "id": "six", "command": big }).to_string(),
        r#"{"id":"seven","command":""}"#.to_owned(),
    ]
    .join("\n");
    let run = Gsh::new(GSH).args(["check", "--batch"]).stdin(input).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let answers: Vec<serde_json::Value> =
        run.stdout().lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    let told: Vec<_> =
        answers.iter().map(|answer| (answer["id"].clone(), answer["verdict"].clone())).collect();
    let expected = serde_json::json!([
        ["one", "allow"],
        [null, "deny"],
        [3, "deny"],
        ["four", "deny"],
        ["five", "ask"],
        ["six", "ask"],
        ["seven", "allow"]
    ]);
    assert_eq!(serde_json::json!(told), expected);
    let keys = [
        "id",
        "verdict",
        "floor",
        "reason",
        "requests",
        "invocations",
        "not_understood",
        "suggestions",
        "micros",
    ];
    for answer in &answers {
        let found: Vec<&String> = answer.as_object().expect("an object").keys().collect();
        assert_eq!(found, keys);
    }
    assert_eq!(answers[0]["invocations"][0]["argv"], serde_json::json!(["git", "status"]));
    assert_eq!(answers[0]["invocations"][0]["certain"], true);
    assert_eq!(answers[3]["floor"], "delete-root");
    assert_eq!(answers[3]["invocations"][0]["cwd"], "/tmp");
    let requests = answers[4]["requests"].as_array().expect("a list");
    assert!(
        requests.iter().any(|each| each["capability"] == "file.write.project" && each["verdict"] == "allow")
    );
    let rule = &requests.iter().find(|each| each["capability"] == "process.execute").expect("one")["rule"];
    assert_eq!(rule["layer"], "builtin");
    assert_eq!(answers[4]["not_understood"].as_array().map(Vec::is_empty), Some(false));
    for entry in answers[4]["not_understood"].as_array().expect("a list") {
        assert!(entry["cause"].is_string() && entry["span"].as_array().map(Vec::len) == Some(2), "{entry}");
    }
}

/// The case files by the batch on a real machine: a home, a repository, a clean PATH.
#[test]
fn case_files_by_batch() {
    let files = [
        ("catastrophic", include_str!("cases/catastrophic.txt")),
        ("lookalike", include_str!("cases/lookalike.txt")),
        ("readonly", include_str!("cases/readonly.txt")),
    ];
    for (name, text) in files {
        let rows = rows(text);
        let lines: Vec<String> = rows
            .iter()
            .enumerate()
            .map(|(id, row)| serde_json::json!({ "id": id, "command": row.command }).to_string())
            .collect();
        let run = repository().args(["check", "--batch"]).stdin(lines.join("\n")).run();
        let answers: Vec<serde_json::Value> =
            run.stdout().lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
        assert_eq!(answers.len(), rows.len(), "{name}");
        let allowed = |answer: &&serde_json::Value| answer["verdict"] == "allow";
        let silent = answers.iter().filter(allowed).count();
        let denied = answers.iter().filter(|answer| answer["verdict"] == "deny").count();
        println!("{name}: {} rows, {silent} allowed, {denied} denied", rows.len());
        match name {
            "catastrophic" => {
                let bad: Vec<_> = answers.iter().zip(&rows).filter(|(answer, _)| allowed(answer)).collect();
                let bad: Vec<_> = bad.iter().map(|(_, row)| &row.command).collect();
                assert!(bad.is_empty(), "{bad:?}");
            }
            "lookalike" => {
                let unnoticed = answers.iter().filter(allowed).filter(|answer| {
                    let requests = answer["requests"].as_array().expect("a list");
                    !requests.iter().any(|each| each["capability"] == "file.write.project")
                });
                let unnoticed = unnoticed.count();
                assert!(unnoticed * 20 <= rows.len(), "{unnoticed} unnoticed");
            }
            _ => {
                let loud: Vec<_> = answers
                    .iter()
                    .zip(&rows)
                    .filter(|(answer, row)| !allowed(answer) && row.kind == "core")
                    .map(|(answer, row)| format!("{:?}: {}", row.command, answer["reason"]))
                    .collect();
                assert!(loud.is_empty(), "{}", loud.join("\n"));
                assert!(silent * 100 >= rows.len() * 60, "{silent} of {}", rows.len());
            }
        }
    }
}

/// A machine with the project that the cases think of.
fn repository() -> Gsh {
    let mut gsh = Gsh::new(GSH);
    for file in fixture::FILES.iter().filter(|file| !file.starts_with(".git/")) {
        gsh = gsh.project_file(file, "text\n");
    }
    gsh.project_file(".git/HEAD", "ref: refs/heads/feature\n")
        .project_file(".git/config", "[core]\n\tbare = false\n")
}

#[test]
fn explain_shows_the_reasoning() {
    let run =
        Gsh::new(GSH).args(["explain", "-c", "cd src 2>/dev/null; sudo rm -rf \"$X\" && npm test"]).run();
    assert_eq!(run.status, Some(0));
    let text = run.stdout();
    for part in
        ["ask: ", "it runs", "sudo rm -rf", "npm test", "could not be told", "what it asks for", "silent"]
    {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn rules_and_status_show_layers_and_lines() {
    let config = "[permissions.\"process.execute\"]\n\"npm test *\" = \"allow\"\n";
    let project = "[permissions.\"process.execute\"]\n\"make *\" = \"allow\"\n\"curl *\" = \"deny\"\n";
    let machine = || Gsh::new(GSH).config(config).project_file(".gsh/config.toml", project);
    let text = machine().args(["rules", "list"]).run().stdout();
    for part in ["npm test *", "config.toml:2", "curl *", ".gsh/config.toml:3"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
    let status = machine().args(["status"]).run().stdout();
    for part in ["untrusted", "mode", "audit.required", "enforced here"] {
        assert!(status.contains(part), "no {part:?} in\n{status}");
    }
    let json: serde_json::Value =
        serde_json::from_str(&machine().args(["status", "--json"]).run().stdout()).expect("JSON");
    assert!(json.is_object());
}

#[test]
fn a_damaged_file_is_shown_with_line_and_caret() {
    let run = Gsh::new(GSH)
        .config("mode = \"plan\"\n[permissions]\n\"file.reed\" = \"allow\"\n")
        .args(["status"])
        .run();
    let text = run.stdout() + &run.stderr();
    for part in ["config.toml:3", "file.reed", "^", "file.read"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn a_project_file_loosens_only_when_trusted() {
    let project = "[permissions.\"process.execute\"]\n\"npm test *\" = \"allow\"\n\"ls *\" = \"deny\"\n";
    let machine = Gsh::new(GSH).project_file(".gsh/config.toml", project);
    let check = |machine: Gsh, text: &str| {
        let run = machine.args(["check", "-c", text]).run();
        (run.status, run.machine.again())
    };
    let (status, machine) = check(machine, "npm test");
    assert_eq!(status, Some(11), "an allow of a file nobody trusted has no effect");
    let (status, machine) = check(machine, "ls src");
    assert_eq!(status, Some(12), "its deny holds");
    let run = machine.args(["trust", "--yes"]).run();
    assert_eq!(run.status, Some(2), "without a person's terminal nothing is trusted");
    let holder = std::env::current_exe().expect("this program").display().to_string();
    let machine = run.machine.again().config(&format!("[ask]\nterminals = [{holder:?}]\n"));
    let mut screen = machine.args(["trust", "--yes"]).pty(100, 30);
    assert_eq!(screen.wait(), 0, "{}", screen.text());
    screen.wait_for("npm test *");
    let machine = screen.into_machine().again();
    let (status, machine) = check(machine, "npm test");
    assert_eq!(status, Some(0));
    let machine = machine.project_file(".gsh/config.toml", &format!("{project}\n"));
    assert_eq!(check(machine, "npm test").0, Some(11), "an edit ends the trust");
}

#[test]
fn brief_tells_an_agent_what_is_denied() {
    let config = "[[permissions.rules]]\ncapability = \"network.access\"\npattern = \"curl *\"\naction = \"deny\"\nreason = \"use the mirror\"\n";
    let text = Gsh::new(GSH).config(config).args(["brief"]).run().stdout();
    assert!(text.contains("curl *") && text.contains("use the mirror"), "{text}");
    for (args, env, said) in [
        (&["brief", "cline"][..], "", "up to 20 seconds"),
        (&["brief", "claude"], "", "belongs into CLAUDE.md"),
        (&["brief"], "dont-ask", "`dont-ask`: what would be asked about is refused"),
        (&["brief", "nobody"], "", "knows no agent `nobody`; `gsh init` lists them"),
    ] {
        let run = Gsh::new(GSH).env("GSH_MODE", env).args(args.iter().copied()).run();
        assert!(format!("{}{}", run.stdout(), run.stderr()).contains(said), "{args:?}: {}", run.stdout());
    }
}

/// A refusal names the command line as the place of a rule that was given there.
#[test]
fn a_rule_of_the_call_is_named_as_such() {
    let run = Gsh::new(GSH).args(["--deny", "gsh-test-x *", "-c", "gsh-test-x y"]).run();
    assert_eq!(run.status, Some(126));
    assert!(run.stderr().contains("\"gsh-test-x *\" (command-line)."), "{}", run.stderr());
}

/// Tables of a configuration: the user's explain, a project's only once it is trusted, and the effects
/// that gsh knows of stay.
#[test]
fn programs_of_a_configuration() {
    let tables = "
        [programs.frob]
        options = '''
        --list
        -o --output=write
        '''
        operands = 'read*'
        prefer = 'use frob --list'
        [programs.rm]
        options = '--new-flag'
        operands = 'data*'
    ";
    let verdicts = |gsh: Gsh, lines: &[&str]| -> Vec<String> {
        let batch: Vec<String> =
            lines.iter().map(|line| serde_json::json!({ "id": 0, "command": line }).to_string()).collect();
        let run = gsh.args(["check", "--batch"]).stdin(batch.join("\n")).run();
        let answers = run.stdout();
        let verdict =
            |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["verdict"].clone();
        answers.lines().map(|line| verdict(line).as_str().expect("a word").to_owned()).collect()
    };
    let lines =
        ["frob --list a.txt", "frob --other", "frob -o a.txt", "rm --new-flag a.txt", "gsh-canary-deny"];
    let unknown = ["ask", "ask", "ask", "ask", "deny"];
    assert_eq!(verdicts(repository(), &lines), unknown);
    assert_eq!(verdicts(repository().config(tables), &lines), ["allow", "ask", "ask", "ask", "deny"]);
    let floor = "[programs.rm]\noperands = 'data*'\n";
    assert_eq!(verdicts(repository().config(floor), &["rm -rf ~"]), ["deny"], "the floor stays");
    let project = repository().project_file(".gsh/config.toml", tables);
    assert_eq!(verdicts(project, &lines), unknown, "nobody trusted it");
    let run = repository().config("[programs.frob]\noperands = 'everything'\n").args(["status"]).run();
    assert!(run.stdout().contains("table of frob: `everything` is no role"), "{}", run.stdout());
    let run = repository().config(tables).args(["explain", "--program", "frob"]).run();
    assert!(run.stdout().contains("--output write") && run.stdout().contains("yours"), "{}", run.stdout());
    let run = repository().args(["explain", "--program", "git"]).run();
    assert!(run.stdout().contains("force-with-lease"), "{}", run.stdout());
    let run = repository().args(["explain", "--program", "frob"]).run();
    assert_eq!(run.status, Some(2), "{}", run.stderr());
    let run = repository().config(tables).args(["explain", "-c", "frob -o a.txt"]).run();
    assert!(run.stdout().contains("use frob --list"), "{}", run.stdout());
}

#[test]
fn rules_are_looked_through() {
    let found = |config: &str, verb: &str| repository().config(config).args(["rules", verb]).run();
    let rules = |lines: &str| format!("[permissions.'process.execute']\n{lines}\n");
    for (text, status, words) in [
        (rules("'npm test *' = 'allow'"), 0, "1 rule: nothing to say."),
        (rules("'npm *' = 'allow'"), 1, "[too-broad]"),
        (rules("'npm publish *' = 'deny'\n'npm p*' = 'allow'"), 1, "[reopened]"),
        ("mod = 1".to_owned(), 2, "did you mean `mode`?"),
    ] {
        let run = found(&text, "lint");
        assert_eq!(run.status, Some(status), "{}", run.stdout());
        assert!(run.stdout().contains(words), "{words} in\n{}", run.stdout());
        assert!(run.records().is_empty());
    }
    let project = rules("'make *' = 'allow'");
    let run = repository().project_file(".gsh/config.toml", &project).args(["rules", "lint", "--json"]).run();
    let data: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    assert_eq!((run.status, &data[0]["code"]), (Some(0), &"untrusted".into()), "{}", run.stdout());

    let example =
        |matches: &str| rules(&format!("'npm test *' = {{ action = 'allow', match = ['{matches}'] }}"));
    for (text, status, words) in [
        (example("npm test x"), 0, "1 passed, 0 failed"),
        (example("npm run x"), 1, "FAIL"),
        (example("npm test x") + "'npm *' = 'deny'", 0, "but deny"),
    ] {
        let run = found(&text, "test");
        assert_eq!(run.status, Some(status), "{}", run.stdout());
        assert!(run.stdout().contains(words), "{words} in\n{}", run.stdout());
    }

    let named =
        repository().project_file("sub/managed.toml", "[[floor]]\nname = 'x'\ncapability = 'tool.use'\n");
    let run = named.args(["rules", "lint", "sub/managed.toml"]).run();
    assert_eq!(run.status, Some(0), "{}{}", run.stdout(), run.stderr());
    let run = repository().args(["rules", "lint", "none.toml"]).run();
    assert_eq!(run.status, Some(2));
    let run = repository().args(["rules", "schema"]).run();
    let schema: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    assert_eq!(schema["title"], "gsh configuration");
}

/// `GSH_BLESS=1` writes the page anew.
#[test]
fn the_page_of_programs_is_as_the_tables_are() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/programs.md");
    let made = gsh::facts::programs::overview();
    if std::env::var_os("GSH_BLESS").is_some() {
        std::fs::write(&page, &made).expect("written");
    }
    let kept = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(kept == made, "docs/programs.md is old: run the tests once with GSH_BLESS=1");
}
