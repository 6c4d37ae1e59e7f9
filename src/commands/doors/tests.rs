//! Which shell each agent would start.

use std::os::unix::fs::symlink;

use super::*;
use crate::policy::agents::named;

struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().expect("a folder"));
        for folder in ["home/.claude", "home/.config/opencode", "project/.claude", "bin", "g"] {
            fs::create_dir_all(home.at(folder)).expect("made");
        }
        fs::copy("/bin/true", home.at("g/gsh")).expect("copied");
        symlink(home.at("g/gsh"), home.at("g/bash")).expect("linked");
        symlink("/bin/true", home.at("bin/bash")).expect("linked");
        home
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn found(&self, agent: &str, vars: &[(&str, &str)], passwd: &str) -> Option<(String, Vec<String>)> {
        let (home, project) = (self.at("home"), self.at("project"));
        let bin = self.at("bin").display().to_string();
        let var = |name: &str| {
            let given = vars.iter().find(|(known, _)| *known == name).map(|(_, value)| self.filled(value));
            given.or_else(|| (name == "PATH").then(|| bin.clone()))
        };
        let view =
            View { var: &var, home: &home, project: Some(&project), passwd: Some(self.filled(passwd)) };
        let found = view.shell(named(agent).expect("known"))?;
        let short = |text: String| text.replace(&self.0.path().display().to_string(), "@");
        let passed = found.passed.into_iter().map(short).collect();
        Some((short(format!("{} by {}", found.path.display(), found.by)), passed))
    }

    fn filled(&self, text: &str) -> String {
        text.replace('@', &self.0.path().display().to_string())
    }
}

#[test]
fn agents_find_their_shell_as_they_do() {
    let home = Home::new();
    type Row<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);
    let table: [Row<'_>; 14] = [
        ("claude", &[("CLAUDE_CODE_SHELL", "@/g/bash")], "", "@/g/bash by $CLAUDE_CODE_SHELL"),
        ("claude", &[("CLAUDE_CODE_SHELL", "@/g/gsh")], "", "@/bin/bash by `bash` on PATH"),
        ("claude", &[("SHELL", "@/g/bash")], "", "@/g/bash by $SHELL"),
        ("codex", &[("SHELL", "@/g/bash")], "/bin/sh", "/bin/sh by the shell in /etc/passwd"),
        ("codex", &[("PATH", "@/g:@/bin")], "/usr/bin/fish", "@/g/bash by `bash` on PATH"),
        ("gemini", &[("PATH", "@/g:@/bin")], "", "@/g/bash by `bash` on PATH"),
        ("gemini", &[("PATH", "@/none:@/bin:@/g")], "", "@/bin/bash by `bash` on PATH"),
        ("opencode", &[("SHELL", "@/g/gsh")], "", "@/g/gsh by $SHELL"),
        (
            "copilot",
            &[("COPILOT_BASH_PATH", "@/g/gsh"), ("SHELL", "/bin/sh")],
            "",
            "@/g/gsh by $COPILOT_BASH_PATH",
        ),
        ("copilot", &[("COPILOT_BASH_PATH", "@/g/none")], "", "/bin/bash by built into it"),
        ("cline", &[("SHELL", "@/g/gsh")], "", "/bin/bash by built into it"),
        ("continue", &[("SHELL", "@/g/gsh")], "", "@/g/gsh by $SHELL"),
        ("aider", &[("SHELL", "@/g/gsh")], "", "@/g/gsh by $SHELL"),
        ("mini-swe-agent", &[("SHELL", "@/g/gsh")], "", "/bin/sh by built into it"),
    ];
    for (agent, vars, passwd, expected) in table {
        let found = home.found(agent, vars, passwd);
        assert_eq!(found.as_ref().map(|(found, _)| found.as_str()), Some(expected), "{agent} {vars:?}");
    }
    let (_, passed) = home.found("claude", &[("CLAUDE_CODE_SHELL", "@/g/gsh")], "").expect("found");
    assert_eq!(passed, ["$CLAUDE_CODE_SHELL is @/g/gsh, whose name Claude Code does not take for a shell"]);
    assert_eq!(home.found("crush", &[], ""), None);
}

#[test]
fn settings_hold_in_their_order() {
    let home = Home::new();
    let write = |path: &str, text: &str| fs::write(home.at(path), home.filled(text)).expect("written");
    write("home/.claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SHELL\": \"@/g/bash\"}} // mine");
    let found = || home.found("claude", &[], "").map(|(found, _)| found);
    assert_eq!(found().as_deref(), Some("@/g/bash by env.CLAUDE_CODE_SHELL of @/home/.claude/settings.json"));
    write("project/.claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SHELL\": \"@/bin/bash\"}}");
    assert_eq!(
        found().as_deref(),
        Some("@/bin/bash by env.CLAUDE_CODE_SHELL of @/project/.claude/settings.json")
    );
    write("home/.config/opencode/opencode.json", "{\"shell\": \"@/g/gsh\"}");
    let found = home.found("opencode", &[("SHELL", "/bin/sh")], "").map(|(found, _)| found);
    assert_eq!(found.as_deref(), Some("@/g/gsh by shell of @/home/.config/opencode/opencode.json"));
}

#[test]
fn which_files_are_gsh() {
    let home = Home::new();
    assert_eq!(leads_to_gsh(&home.at("g/bash"), &home.at("g/gsh")), Which::This);
    assert_eq!(leads_to_gsh(&home.at("g/bash"), Path::new("/bin/sh")), Which::Other);
    assert_eq!(leads_to_gsh(&home.at("bin/bash"), &home.at("g/gsh")), Which::No);
    assert_eq!(leads_to_gsh(&home.at("none"), &home.at("g/gsh")), Which::No);
}
