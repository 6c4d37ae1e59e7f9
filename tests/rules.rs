//! The rule files of `examples/` hold, and mean what their examples say.

use std::path::{Path, PathBuf};

use gsh::commands::rules::lint;
use gsh::config::read::{Example, Origin, Reading, read};
use gsh::config::schema::{FLOOR, LIMITS, RULE, TOP};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{
    Capability, CapabilityRequest, Destroys, Knobs, Layer, Mode, Places, Policy, Subject, Verdict,
};
use gsh::report::Span;

use crate::common::fixture;

const ROOT: &str = "/home/u/project";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let entries = std::fs::read_dir(folder).expect("examples");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn reading(path: &Path) -> Reading {
    let text = std::fs::read_to_string(path).expect("readable");
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let layer = match name {
        "managed.toml" => Layer::Managed,
        name if name.ends_with("-project.toml") => Layer::Project,
        _ => Layer::User,
    };
    let root = (layer == Layer::Project).then_some(ROOT);
    read(&text, &Origin { layer, path, root, home: Some("/home/u") })
}

fn policy(reading: &Reading) -> Policy {
    policy_in(reading, ROOT, "/home/u")
}

fn policy_in(reading: &Reading, project: &str, home: &str) -> Policy {
    let (home, project) = (Some(home.to_owned()), Some(project.to_owned()));
    let places = Places { home, project, ..Places::default() };
    let with = Composition::new(places, "2030-01-01");
    compose(vec![reading.layer.clone()], with)
}

fn request(capability: Capability, subject: &str) -> CapabilityRequest {
    let text = subject.to_owned();
    let subject = if capability.is_file() {
        Subject::Path(vec![text])
    } else {
        Subject::Command { written: text, inner: vec![], allow_needs_all: false }
    };
    CapabilityRequest::new(capability, subject, String::new(), Span::default())
}

fn requests(example: &Example, subject: &str) -> Vec<CapabilityRequest> {
    let destroys = example.rule.destroys.then_some(Destroys::Recursive);
    let named = Capability::ALL.into_iter().filter(|capability| example.rule.capability == capability.word());
    named.map(|capability| CapabilityRequest { destroys, ..request(capability, subject) }).collect()
}

#[test]
fn every_file_is_sound() {
    assert!(files().len() >= 7);
    for path in files() {
        let reading = reading(&path);
        let reports: Vec<_> = reading.layer.damage.iter().map(ToString::to_string).collect();
        assert!(reports.is_empty(), "{}", reports.join("\n"));
        assert!(!reading.examples.is_empty(), "{} shows no example", path.display());
    }
}

#[test]
fn examples_are_decided_by_their_rule() {
    for path in files() {
        let reading = reading(&path);
        let policy = policy(&reading);
        for example in &reading.examples {
            let decides = |subject: &String| {
                let requests = requests(example, subject);
                assert!(!requests.is_empty(), "{:?}", example.rule);
                requests
                    .iter()
                    .all(|request| policy.evaluate(request).rule.is_some_and(|rule| *rule == example.rule))
            };
            for subject in &example.matches {
                assert!(decides(subject), "{}: {subject} is not decided by it", example.rule.place());
            }
            for subject in &example.not_matches {
                assert!(!decides(subject), "{}: {subject} is decided by it", example.rule.place());
            }
        }
    }
}

#[test]
fn what_the_files_mean() {
    use Capability::{
        FileRead, FileWriteOutside, FileWriteProject, GitModify, NetworkAccess, ProcessBackground,
        ProcessExecute, ToolUse,
    };
    use Verdict::{Allow, Ask, Deny};
    for (file, capability, subject, expected) in [
        ("web-project.toml", ProcessExecute, "npm test", Allow),
        ("web-project.toml", ProcessExecute, "npm publish", Deny),
        ("web-project.toml", ProcessExecute, "npm testify", Ask),
        ("web-project.toml", GitModify, "git push origin", Ask),
        ("rust-project.toml", ProcessExecute, "cargo check --all", Allow),
        ("rust-project.toml", FileWriteProject, "/home/u/project/build.rs", Ask),
        ("ci.toml", ProcessExecute, "make deploy now", Deny),
        ("ci.toml", NetworkAccess, "wget x", Deny),
        ("ci.toml", FileRead, "/home/u/project/.env", Deny),
        ("ci.toml", FileRead, "/home/u/project/a.txt", Allow),
        ("reference.toml", ProcessExecute, "make check", Allow),
        ("reference.toml", ProcessExecute, "make publish", Deny),
        ("reference.toml", ProcessExecute, "make help", Allow),
        ("reference.toml", ProcessExecute, "kubectl get --context production pods", Deny),
        ("reference.toml", ToolUse, "mcp__x__y", Ask),
        ("reference.toml", GitModify, "git fetch", Allow),
        ("reference.toml", NetworkAccess, "curl x", Ask),
        ("strict.toml", FileWriteProject, "/home/u/project/a.txt", Ask),
        ("strict.toml", FileRead, "/home/u/project/.env", Deny),
        ("strict.toml", FileRead, "/home/u/project/.env.example", Allow),
        ("strict.toml", FileRead, "/home/u/project/a.txt", Allow),
        ("strict.toml", GitModify, "git push", Deny),
        ("strict.toml", GitModify, "git commit -m x", Ask),
        ("strict.toml", ProcessExecute, "npm publish", Deny),
        ("strict.toml", ProcessExecute, "npm test", Ask),
        ("relaxed.toml", ProcessExecute, "npm run build", Allow),
        ("relaxed.toml", GitModify, "git stash", Allow),
        ("relaxed.toml", GitModify, "git stash drop", Ask),
        ("relaxed.toml", GitModify, "git push", Ask),
        ("relaxed.toml", NetworkAccess, "curl x", Ask),
        ("relaxed.toml", ProcessBackground, "npm run dev", Allow),
        ("managed.toml", ProcessExecute, "npm publish", Deny),
        ("managed.toml", ProcessExecute, "npm publish --dry-run", Ask),
        ("managed.toml", ProcessExecute, "psql production", Deny),
        ("managed.toml", FileRead, "/srv/customers/a", Deny),
        ("managed.toml", FileWriteOutside, "/srv/customers/a", Deny),
        ("managed.toml", GitModify, "git push", Deny),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(file);
        let found = policy(&reading(&path)).evaluate(&request(capability, subject));
        assert_eq!(found.verdict, expected, "{file}: {} {subject}: {found:?}", capability.word());
    }
}

/// Whole commands, as they are decided where a file is in force.
#[test]
fn what_commands_become() {
    for (file, silent, asked, denied) in [
        (
            "relaxed.toml",
            &[
                "make all",
                "cargo test -q",
                "git add -A",
                "git commit -m x",
                "echo x > a.txt",
                "rm b.txt",
                "timeout 60 npm test",
            ][..],
            &["rm -rf src", "git push", "curl -d @a.txt example.org", "sudo make", "npm install left-pad"][..],
            &["rm -rf ~"][..],
        ),
        (
            "strict.toml",
            &["ls -la", "git status", "grep -rn main src | head"],
            &["echo x > a.txt", "git commit -m x", "npm test", "make", "curl example.org"],
            &["cat .env", "git push", "npm publish", "sudo make", "make &", "$X y"],
        ),
        ("ci.toml", &["make all", "cat a.txt"], &[], &["npm test", "rm -rf src", "make deploy", "$X y"]),
        (
            "reference.toml",
            &["make check", "cat a.txt", "frob -v a.txt"],
            &["make", "git push", "rm a.txt"],
            &["make publish"],
        ),
        ("managed.toml", &["cat a.txt"], &["make", "git commit -m x"], &["curl x | bash", "terraform apply"]),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(file);
        let policy = policy_in(&reading(&path), fixture::PROJECT, "/home/dev");
        let host = fixture::host();
        for (texts, expected) in [(silent, Verdict::Allow), (asked, Verdict::Ask), (denied, Verdict::Deny)] {
            for text in texts {
                let found = fixture::decide_on(&host, &policy, text);
                assert_eq!(found.verdict, expected, "{file}: {text}: {}", found.reason);
            }
        }
    }
}

/// The keys of the small sections.
const SECTIONS: [&str; 8] =
    ["terminals", "required", "path", "pty", "in_a_row", "in_all", "allow_grants", "default"];

/// The reference has every key, and what it sets is what holds without it.
#[test]
fn the_reference_is_whole_and_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/reference.toml");
    let text = std::fs::read_to_string(&path).expect("readable");
    for key in [TOP, RULE, FLOOR, LIMITS, &SECTIONS].concat() {
        let starts = |line: &str| {
            let line = line.trim_start_matches(['#', ' ']);
            let set = line.strip_prefix(key).is_some_and(|rest| rest.starts_with(" ="));
            set || line
                .trim_start_matches('[')
                .strip_prefix(key)
                .is_some_and(|rest| rest.starts_with([']', '.']))
        };
        assert!(text.lines().any(starts), "{key} is not in the reference");
    }
    let layer = reading(&path).layer;
    let mut knobs = Knobs::default();
    knobs.set(&layer.settings);
    let limits = knobs.limits.of_reading();
    knobs.limits = Knobs::default().limits;
    assert_eq!((knobs, layer.mode), (Knobs::default(), Some(Mode::Default)));
    assert_eq!(limits, gsh::syntax::Limits::default());
}

/// What `gsh rules lint` says of them.
#[test]
fn nothing_in_them_is_to_be_warned_of() {
    for path in files() {
        let readings = [reading(&path)];
        let policy = policy(&readings[0]);
        let found =
            lint::findings(&lint::Given { readings: &readings, policy: &policy, host: &fixture::host() });
        assert_eq!(lint::status(&found), 0, "{}\n{}", path.display(), lint::text(&found, 0));
        let outcome = gsh::commands::rules::test::run(&readings, &policy);
        assert_eq!((outcome.failed, outcome.overruled), (0, 0), "{}", outcome.text);
    }
}
