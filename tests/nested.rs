//! gsh beneath gsh, whatever the environment in between; rules of the command line; the plan of plan mode.

use std::os::unix::fs::PermissionsExt;

use gsh::policy::{Refused, Verdict};

use crate::common::machine::{Gsh, Run};
use crate::common::{fixture, policy::builtin_policy};

const GSH: &str = env!("CARGO_BIN_EXE_gsh");

/// A script that no table explains and a rule allows; what it starts is beneath gsh.
fn beneath(mode: &str, script: &str) -> Run {
    let script = script.replace("GSH", GSH);
    let gsh = Gsh::new(GSH)
        .config("[permissions.'process.execute']\n'./s.sh' = 'allow'\n'gsh-test-denied *' = 'deny'\n")
        .project_file("s.sh", &format!("#!/bin/bash\n{script}\n"))
        .args(["--mode", mode, "-c", "./s.sh"]);
    std::fs::set_permissions(gsh.at("project/s.sh"), PermissionsExt::from_mode(0o755)).expect("executable");
    gsh.run()
}

#[test]
fn nothing_in_between_loosens_what_is_above() {
    // The mode, the call beneath, what standard error must say.
    for (mode, call, said) in [
        ("default", "GSH -c 'gsh-test-denied x'", "refused by policy"),
        ("dont-ask", "env -u GSH_MODE GSH -c 'gsh-test-unknown x'", "dont-ask refuses"),
        ("dont-ask", "env -i PATH=\"$PATH\" GSH --yolo -c 'gsh-test-unknown x'", "dont-ask refuses"),
        ("dont-ask", "(exec env -i GSH --mode default -c 'gsh-test-unknown x')", "dont-ask refuses"),
        ("default", "HOME=/nonexistent GSH -c 'gsh-test-denied x'", "refused by policy"),
        ("default", "env -i GSH -c 'gsh-test-denied x'", "config.toml:3"),
        ("default", "GSH --allow 'gsh-test-denied *' -c 'gsh-test-denied x'", "not taken here"),
        ("default", "GSH --config /dev/null -c 'gsh-test-denied x'", "not taken here"),
        ("default", "GSH --yolo -c 'gsh-test-unknown x'", "nobody could be asked"),
    ] {
        let run = beneath(mode, &format!("{call}; echo \"status $?\""));
        assert!(run.stderr().contains(said), "{call}: {}{}", run.stdout(), run.stderr());
        assert!(!run.stdout().contains("status 0"), "{call}: {}", run.stdout());
    }
    let stricter = beneath("default", "GSH --deny 'echo *' -c 'echo x'; echo \"status $?\"");
    assert!(stricter.stdout().contains("status 126"), "{}", stricter.stderr());
    let same = beneath("bypass", "env -i PATH=\"$PATH\" GSH -c 'sleep 0; ./none.sh'; echo \"status $?\"");
    assert!(same.stdout().contains("status 127"), "the mode is inherited: {}", same.stderr());
}

#[test]
fn nothing_beneath_gsh_changes_gsh() {
    for verb in ["trust --yes", "untrust"] {
        let run = beneath(
            "bypass",
            &format!("env -i PATH=\"$PATH\" HOME=\"$HOME\" GSH {verb}; echo \"status $?\""),
        );
        assert!(run.stderr().contains("nothing that gsh runs may do that"), "{verb}: {}", run.stderr());
        assert!(run.stdout().contains("status 2"), "{verb}: {}", run.stdout());
    }
    for verb in ["status", "brief", "rules list", "check -c ls"] {
        let run = beneath("bypass", &format!("GSH {verb} >/dev/null; echo \"status $?\""));
        assert!(run.stdout().contains("status 0"), "{verb}: {}", run.stderr());
    }
}

#[test]
fn rules_of_the_command_line_stand_above_those_of_files() {
    let config = "[permissions.'process.execute']\n'gsh-test-denied *' = 'deny'\n'ls *' = 'deny'\n";
    for (args, status) in [
        (&["--allow", "gsh-test-denied *", "-c", "gsh-test-denied"][..], 127),
        (&["--allow=ls *", "-c", "ls /dev/null"], 0),
        (&["-c", "ls /dev/null"], 126),
        (&["--deny", "echo *", "-c", "echo x"], 126),
        (&["--allow", "*", "-c", "gsh-canary-deny"], 126),
        (&["--deny", "Read(*/notes)", "-c", "cat notes"], 126),
    ] {
        let run = Gsh::new(GSH).config(config).args(args.iter().copied()).run();
        assert_eq!(run.status, Some(status), "{args:?}: {}", run.stderr());
    }
    let refused = Gsh::new(GSH).args(["--deny", "echo *", "-c", "echo x"]).run();
    assert!(refused.stderr().contains("command-line"), "{}", refused.stderr());
    let check = Gsh::new(GSH).args(["check", "--deny", "ls *", "-c", "ls"]).run();
    assert_eq!(check.status, Some(12), "{}", check.stdout());
}

#[test]
fn plan_mode_writes_its_plan_and_nothing_else() {
    let start = || Gsh::new(GSH).env("GSH_SESSION", "mine");
    let plan = |gsh: &Gsh| gsh.at("home/.local/state/gsh/plans/plan-mine.md").display().to_string();
    for (text, status) in [
        ("cat > PLAN <<'EOF'\n1. look\nEOF", 0),
        ("echo more >> PLAN; cat PLAN", 0),
        ("echo x > PLAN.other", 126),
        ("echo x > notes.md", 126),
        ("ln -s ../x PLAN", 126),
        ("rm PLAN", 126),
        ("echo x > PLAN; touch y", 126),
    ] {
        let gsh = start();
        let text = text.replace("PLAN", &plan(&gsh));
        let run = gsh.args(["--plan", "-c", &text]).run();
        assert_eq!(run.status, Some(status), "{text}: {}", run.stderr());
        let written = run.at("home/.local/state/gsh/plans/plan-mine.md").exists();
        assert_eq!(written, status == 0, "{text}");
        if status != 0 && text.contains("notes") {
            assert!(run.stderr().contains("plan-mine.md"), "where a plan may be: {}", run.stderr());
        }
    }
    // Another session's plan is one of gsh's own files.
    let gsh = start();
    let other = gsh.at("home/.local/state/gsh/plans/plan-other.md").display().to_string();
    let run = gsh.args(["--plan", "-c", &format!("echo x > {other}")]).run();
    assert!(run.stderr().contains("disarm"), "{}", run.stderr());
    let brief = start().env("GSH_MODE", "plan").args(["brief"]).run();
    assert!(brief.stdout().contains("plan-mine.md"), "{}", brief.stdout());
}

#[test]
fn folders_that_count_as_the_project() {
    let lib = "allow_roots = [\"~/lib\", \"/usr/lib\", \"~/\"]\n";
    // The machine's home lies below the temporary folder, so that the verdict alone tells nothing.
    let capability = |gsh: Gsh, text: &str| {
        std::fs::create_dir_all(gsh.at("home/lib")).expect("made");
        let run = gsh.args(["check", "--json", "-c", text]).run();
        let answer: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
        answer["requests"][0]["capability"].as_str().map(str::to_owned)
    };
    let (project, outside) = ("file.write.project", "file.write.outsideProject");
    for (config, text, expected) in [
        (lib, "echo x > ~/lib/new", project),
        ("", "echo x > ~/lib/new", outside),
        (lib, "echo x > ~/lib/../new", outside),
        (lib, "echo x > ~/new", outside),
        (lib, "rm -rf ~/lib/x", project),
    ] {
        let found = capability(Gsh::new(GSH).config(config), text);
        assert_eq!(found.as_deref(), Some(expected), "{config}{text}");
    }
    let status = Gsh::new(GSH).config(lib).args(["status"]).run().stdout();
    for refused in ["allow_roots \"/usr/lib\": no project", "allow_roots \"~/\": no project"] {
        assert!(status.contains(refused), "{status}");
    }
    // A project's file does not widen itself, trusted or not.
    let widened = Gsh::new(GSH).project_file(".gsh/config.toml", lib);
    assert_eq!(capability(widened, "echo x > ~/lib/new").as_deref(), Some(outside));
}

#[test]
fn a_session_that_is_refused_too_often_is_stopped() {
    let decide = |in_all, interactive, text: &str| {
        let (host, mut policy) = (fixture::host(), builtin_policy());
        policy.refused = Refused { in_a_row: 0, in_all };
        policy.caller.interactive = interactive;
        fixture::decide_on(&host, &policy, text)
    };
    for (in_all, interactive, text, verdict) in [
        (19, true, "touch new.txt", Verdict::Allow),
        (20, true, "touch new.txt", Verdict::Deny),
        (20, true, "ls -la src", Verdict::Allow),
        (20, true, "", Verdict::Allow),
        (20, false, "touch new.txt", Verdict::Allow),
        (20, false, "make", Verdict::Ask),
    ] {
        let decision = decide(in_all, interactive, text);
        assert_eq!(decision.verdict, verdict, "{in_all} {text}: {}", decision.reason);
    }
    let decision = decide(20, true, "make");
    assert!(decision.reason.contains("gsh mode reset"), "{}", decision.reason);
    assert_eq!(decision.knob, Some("refusals.in_all"));

    // Counted from call to call, by session.
    let refuse = |gsh: Gsh| gsh.again().args(["-c", "gsh-canary-deny"]).run().machine;
    let gsh = refuse(refuse(Gsh::new(GSH).env("GSH_SESSION", "mine")));
    let told = gsh.again().args(["mode"]).run();
    assert!(told.stdout().contains("in a row: 2 of 3; in all: 2 of 20"), "{}", told.stdout());
    let other = told.machine.again().env("GSH_SESSION", "other").args(["mode"]).run();
    assert!(other.stdout().contains("in a row: 0 of 3"), "{}", other.stdout());
    let allowed = other.machine.again().env("GSH_SESSION", "mine").args(["-c", "true"]).run();
    let told = allowed.machine.again().args(["mode"]).run();
    assert!(told.stdout().contains("in a row: 0 of 3; in all: 2 of 20"), "{}", told.stdout());
}

#[test]
fn an_agent_beneath_gsh_has_a_session_of_its_own() {
    let script =
        "printf '#!/bin/bash\\nGSH status --json\\nexit\\n' > claude; chmod +x claude; ./claude; exit";
    let run = beneath("bypass", script);
    let status: serde_json::Value = serde_json::from_str(&run.stdout()).expect("JSON");
    let session = &status["session"];
    assert!(session["id"].as_str().is_some_and(|id| id.starts_with("claude-")), "{session}");
    assert_eq!(session["found"], "an agent beneath gsh");
    assert_eq!(session["beneath"], true);
    let plain = beneath("bypass", "GSH status --json; exit");
    let status: serde_json::Value = serde_json::from_str(&plain.stdout()).expect("JSON");
    assert_eq!(status["session"]["found"], "the gsh above");
}

#[test]
fn agents_beneath_gsh_are_held_by_their_own_default() {
    let decide = |nested, default, text: &str| {
        let (host, mut policy) = (fixture::host(), builtin_policy());
        policy.caller.nested = nested;
        policy.knobs.subagents.default = default;
        let decision = fixture::decide_on(&host, &policy, text);
        (decision.verdict, decision.lasting)
    };
    for (nested, default, text, expected) in [
        (false, Verdict::Deny, "frob x", (Verdict::Ask, true)),
        (true, Verdict::Ask, "frob x", (Verdict::Ask, false)),
        (true, Verdict::Deny, "frob x", (Verdict::Deny, false)),
        (true, Verdict::Deny, "ls src", (Verdict::Allow, false)),
    ] {
        assert_eq!(decide(nested, default, text), expected, "{nested} {text}");
    }
}

#[test]
fn a_check_tells_what_would_hold_here() {
    for (variable, args, status) in [
        ("plan", &["check", "-c", "echo x > new.txt"][..], 12),
        ("default", &["check", "-c", "echo x > new.txt"], 0),
        ("plan", &["check", "--mode", "default", "-c", "echo x > new.txt"], 0),
        ("bypass", &["check", "-c", "gsh-test-unknown"], 0),
    ] {
        let run = Gsh::new(GSH).env("GSH_MODE", variable).args(args.iter().copied()).run();
        assert_eq!(run.status, Some(status), "{variable} {args:?}: {}", run.stdout());
    }
    let run = beneath("dont-ask", "env -i GSH check -c 'gsh-test-unknown'; echo \"status $?\"");
    assert!(run.stdout().contains("status 12"), "{}", run.stdout());
}
