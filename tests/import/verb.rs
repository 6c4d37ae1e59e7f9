//! `gsh rules import` as a person types it.

use crate::common::machine::Gsh;

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

fn machine() -> Gsh {
    let machine = Gsh::new(GSH).project_file(
        ".claude/settings.json",
        "{\n\"permissions\": {\n\"allow\": [\n\"Bash(npm test:*)\",\n\"Bash(ls *.?)\"],\n\"deny\": [\"Bash(echo $X)\"]}}\n",
    );
    std::fs::create_dir_all(machine.at("home/.claude")).expect("a folder");
    let own = "{\"permissions\": {\"deny\": [\"Bash(npm test deploy)\"]}}";
    std::fs::write(machine.at("home/.claude/settings.json"), own).expect("a file");
    machine
}

#[test]
fn it_lists_what_the_rules_become() {
    let run = machine().args(["rules", "import", "claude", "--dry-run"]).run();
    assert_eq!(run.status, Some(0), "{}", run.stderr());
    let listed = run.stdout();
    let lines: Vec<&str> = listed.lines().collect();
    let project = run.at("project/.claude/settings.json").display().to_string();
    assert!(lines[0].starts_with(&format!("{project}:5  allow Bash(ls *.?)  not carried: ")), "{listed}");
    assert!(lines[1].starts_with(&format!("{project}:6  deny Bash(echo $X)  not carried: ")), "{listed}");
    let carried = "allow Bash(npm test:*)  carried  => allow \"npm test *\" (process.execute, network.access, git.modify)";
    assert_eq!(lines[3], format!("{project}:4  {carried}"), "{listed}");
    assert!(listed.contains("2 carried, 0 tightened, 2 not carried."), "{listed}");
    // There a refusal in one's own settings holds over what the project allows.
    assert!(listed.contains("rules are for your own file for this project."), "{listed}");
    assert!(!run.at("home/.config/gsh/config.toml").exists() && !run.at("project/.gsh").exists());
}

#[test]
fn the_same_as_data() {
    let run = machine().args(["rules", "import", "claude", "--dry-run", "--only-agent", "--json"]).run();
    let data: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    let rules = data["rules"].as_array().expect("a list");
    assert_eq!((rules.len(), &data["agent"]), (4, &"claude".into()));
    assert_eq!(rules[0]["rules"][0]["agent"], serde_json::json!(["claude"]));
    let layers: Vec<_> =
        data["files"].as_array().into_iter().flatten().map(|file| file["layer"].clone()).collect();
    assert_eq!(layers, ["user", "project", "user-project"]);
}

#[test]
fn files_that_are_named() {
    let machine =
        machine().project_file("x.rules", "prefix_rule(pattern=[\"rm\"], decision=\"forbidden\")\n");
    let file = machine.at("project/x.rules");
    let run = machine.args(["rules", "import", "codex", "--dry-run", "--from"]).args([file]).run();
    assert!(run.stdout().contains("deny \"rm *\" (process.execute)"), "{} {}", run.stdout(), run.stderr());
    assert!(run.stdout().contains("1 rules are for the project's file."), "{}", run.stdout());
}

#[test]
fn what_cannot_be() {
    for (args, word) in [
        (&["rules", "import", "aider", "--dry-run"][..], "not one of claude"),
        (&["rules", "import", "gemini", "--dry-run"], "no rules of gemini are found here"),
        (&["rules", "import", "claude", "--dry-run", "--from", "/nowhere"], "/nowhere does not exist"),
        (&["rules", "import", "claude"], "terminal"),
    ] {
        let run = machine().args(args.iter().copied()).run();
        assert_eq!(run.status, Some(2), "{args:?}");
        assert!(run.stderr().contains(word), "{args:?}: {}", run.stderr());
    }
    let broken = machine().project_file(".claude/settings.local.json", "{\n\"permissions\": [}");
    let run = broken.args(["rules", "import", "claude", "--dry-run"]).run();
    assert_eq!(run.status, Some(2));
    assert!(run.stderr().contains("settings.local.json:2: "), "{}", run.stderr());
    assert!(run.stdout().is_empty());
}
