//! The case files, decided in process on a machine that is a table. Nothing is ever executed.

use crate::common::cases::rows;
use crate::common::fixture;
use gsh::policy::{Capability, Verdict};

#[test]
fn no_catastrophe_is_allowed() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let (mut denied, mut floor, mut allowed) = (0, 0, Vec::new());
    let rows = rows(include_str!("cases/catastrophic.txt"));
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        denied += usize::from(decision.verdict == Verdict::Deny);
        floor += usize::from(decision.floor.is_some());
        if decision.verdict < Verdict::Ask {
            allowed.push(format!("{}: {:?}: {}", row.kind, row.command, decision.reason));
        }
    }
    println!(
        "catastrophic: {} rows, {denied} denied ({floor} by the floor), {} allowed",
        rows.len(),
        allowed.len()
    );
    assert!(allowed.is_empty(), "{}", allowed.join("\n"));
}

#[test]
fn no_lookalike_goes_unnoticed() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let (mut asked, mut seen, mut unnoticed) = (0, 0, Vec::new());
    let rows = rows(include_str!("cases/lookalike.txt"));
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        match decision.verdict {
            // What a row does under cover (`touch x` behind odd quotes) is often a plain write inside the
            // project; silent is right when the answer holds exactly that write.
            Verdict::Allow if writes => seen += 1,
            Verdict::Allow => unnoticed.push(format!("{}: {:?}: {}", row.kind, row.command, decision.reason)),
            _ => asked += 1,
        }
    }
    let (all, missed) = (rows.len(), unnoticed.len());
    println!("lookalike: {all} rows, {asked} asked or denied, {seen} allowed as a write, {missed} unnoticed");
    assert!(unnoticed.is_empty(), "{}", unnoticed.join("\n"));
}

#[test]
fn everyday_reading_is_silent() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let (mut silent, mut loud, mut core) = (0, Vec::new(), Vec::new());
    let rows = rows(include_str!("cases/readonly.txt"));
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        if decision.verdict == Verdict::Allow {
            silent += 1;
            continue;
        }
        let line = format!("{}: {:?}: {}", row.kind, row.command, decision.reason);
        if row.kind == "core" {
            core.push(line.clone());
        }
        loud.push(line);
    }
    println!("readonly: {silent} of {} silent\n{}", rows.len(), loud.join("\n"));
    assert!(core.is_empty(), "core programs that ask:\n{}", core.join("\n"));
    assert!(silent * 100 >= rows.len() * 90, "only {silent} of {} are silent", rows.len());
}

/// A marker such as `touch pwned` stands for what must be seen: silent is right when the answer holds that
/// write. An ask or a deny is never wrong where an ask is right.
#[test]
fn reported_faults_have_the_right_answer() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let mut rows = rows(include_str!("cases/reported.txt"));
    rows.extend(crate::common::cases::rows(include_str!("cases/sneaky.txt")));
    let mut wrong = Vec::new();
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        let right = match row.kind.as_str() {
            "allow" => decision.verdict == Verdict::Allow,
            "ask" => decision.verdict >= Verdict::Ask || writes,
            _ => decision.verdict == Verdict::Deny,
        };
        if !right {
            wrong.push(format!(
                "{} is right, {:?}: {:?}: {}",
                row.kind, decision.verdict, row.command, decision.reason
            ));
        }
    }
    println!("reported: {} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What settings of a repository make of commands that only look.
#[test]
fn settings_that_run_programs_are_asked_about() {
    type Settings = &'static [(&'static str, &'static str)];
    let policy = crate::common::builtin_policy();
    let rows: &[(Settings, &str, bool)] = &[
        (&[("log.showsignature", "true"), ("gpg.program", "./x")], "git log", false),
        (&[("log.showsignature", "false"), ("gpg.program", "gpg2")], "git log -3", true),
        (&[("gpg.program", "gpg2")], "git log --format=%h", true),
        (&[("gpg.program", "./x")], "git log --format='%h %G?'", false),
        (&[("gpg.ssh.program", "./x")], "git show --pretty=%GK HEAD", false),
        (&[("gpg.program", "./x")], "git branch --format='%(signature:key)'", false),
        (&[("gpg.program", "./x")], "git for-each-ref --format='%(refname)'", true),
        (&[("format.pretty", "%h %G?")], "git log", false),
        (&[("format.pretty", "fuller")], "git log", true),
        (&[("pretty.mine", "%G?")], "git rev-list --pretty=mine HEAD", false),
        (&[("pager.log", "./x")], "git log", false),
        (&[("pager.log", "./x")], "git --no-pager log", true),
        (&[("core.pager", "./x")], "git --no-pager status", true),
        (&[("pager.diff", "./x")], "git status", true),
        (&[("filter.x.clean", "./x")], "git status", false),
        (&[("diff.x.textconv", "./x")], "git log -p", false),
        (&[("diff.x.textconv", "./x")], "git stash list -p", false),
        (&[("diff.x.textconv", "./x")], "git reflog -p", false),
        (&[("diff.x.textconv", "./x")], "git reflog show -p", false),
        (&[("diff.x.textconv", "./x")], "git reflog show -p --no-textconv", true),
        (&[("diff.x.command", "./x")], "git stash list -p --ext-diff", false),
        (&[("diff.external", "./x")], "git reflog -p --ext-diff", false),
        (&[("diff.x.command", "./x")], "git status -v", false),
        (&[("diff.x.command", "./x")], "git status", true),
        (&[("trailer.x.cmd", "./x")], "git interpret-trailers --parse a.txt", false),
        (&[("merge.x.driver", "./x")], "git merge-tree main feature", false),
        (&[("protocol.ext.allow", "always")], "git ls-remote origin", false),
        (&[("protocol.version", "2")], "git ls-remote origin", true),
        (&[("tar.x.command", "./x")], "git archive HEAD", false),
        (&[("gc.recentobjectshook", "./x")], "git prune -n", false),
    ];
    for (settings, command, silent) in rows {
        let mut host = fixture::host();
        let own = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        host.git.as_mut().expect("a repository").settings.extend(own);
        let decision = fixture::decide_on(&host, &policy, command);
        assert_eq!(
            decision.verdict == Verdict::Allow,
            *silent,
            "{settings:?} {command}: {}",
            decision.reason
        );
    }
}

/// Texts that show a danger in a roundabout way, and texts that only look so.
#[test]
fn dangers_are_seen_where_they_are_and_nowhere_else() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let bypass = gsh::policy::Policy { mode: gsh::policy::Mode::Bypass, ..crate::common::builtin_policy() };
    let mut wrong = Vec::new();
    let rows = rows(include_str!("cases/raised.txt"));
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        let loose = fixture::decide_on(&host, &bypass, &row.command);
        let right = match row.kind.as_str() {
            "floor" => decision.floor.is_some() && loose.verdict == Verdict::Deny,
            "held" => decision.floor.is_none() && loose.verdict == Verdict::Ask,
            "ask" => decision.verdict == Verdict::Ask,
            "data" => decision.floor.is_none(),
            other => panic!("no such kind: {other}"),
        };
        if !right {
            wrong.push(format!(
                "{} is right, {:?} (bypass {:?}): {:?}: {}",
                row.kind, decision.verdict, loose.verdict, row.command, decision.reason
            ));
        }
    }
    println!("raised: {} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a program obeys may stand in a folder above, as far as the project goes.
#[test]
fn what_is_obeyed_is_looked_for_above() {
    let policy = crate::common::builtin_policy();
    let verdict = |file: &str, text: &str| {
        let mut host = fixture::host();
        if !file.is_empty() {
            host.add(std::path::Path::new(file), gsh::host::Node::File);
        }
        fixture::decide_on(&host, &policy, text).verdict
    };
    for (file, text, expected) in [
        ("", "cd src && cargo tree", Verdict::Allow),
        ("/home/dev/proj/.cargo/config.toml", "cargo tree", Verdict::Ask),
        ("/home/dev/proj/.cargo/config.toml", "cd src && cargo tree", Verdict::Ask),
        ("/home/dev/proj/rust-toolchain", "cd src && cargo --version", Verdict::Ask),
        ("/home/dev/.cargo/config.toml", "cd src && cargo tree", Verdict::Allow),
    ] {
        assert_eq!(verdict(file, text), expected, "{file}: {text}");
    }
}

/// Commands that nobody wrote with the tables at hand.
#[test]
fn commands_out_of_manuals() {
    let (host, policy) = (fixture::host(), crate::common::builtin_policy());
    let rows = rows(include_str!("cases/manuals.txt"));
    let mut wrong = Vec::new();
    for row in &rows {
        let decision = fixture::decide_on(&host, &policy, &row.command);
        let writes =
            decision.requests.iter().any(|each| each.request.capability == Capability::FileWriteProject);
        let right = match (row.kind.as_str(), decision.verdict) {
            ("silent", Verdict::Allow) => !writes,
            ("shown", Verdict::Allow) => writes,
            ("ask" | "shown", verdict) => verdict >= Verdict::Ask,
            _ => false,
        };
        if !right {
            wrong.push(format!(
                "{} is right for {:?}, not {:?}: {}",
                row.kind, row.command, decision.verdict, decision.reason
            ));
        }
    }
    println!("manuals: {} rows, {} wrong", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
