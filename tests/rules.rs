//! The rule files of `examples/` hold, and mean what their examples say.

use std::path::{Path, PathBuf};

use gsh::config::read::{Example, Origin, Reading, read};
use gsh::policy::compose::{Composition, compose};
use gsh::policy::{Capability, CapabilityRequest, Destroys, Layer, Places, Policy, Subject, Verdict};
use gsh::report::Span;

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
    let layer = if path.ends_with("ci.toml") { Layer::User } else { Layer::Project };
    let root = (layer == Layer::Project).then_some(ROOT);
    read(&text, &Origin { layer, path, root, home: Some("/home/u") })
}

fn policy(reading: &Reading) -> Policy {
    let (home, project) = (Some("/home/u".to_owned()), Some(ROOT.to_owned()));
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
    assert!(files().len() >= 3);
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
    use Verdict::{Allow, Ask, Deny};
    for (file, capability, subject, expected) in [
        ("web-project.toml", Capability::ProcessExecute, "npm test", Allow),
        ("web-project.toml", Capability::ProcessExecute, "npm publish", Deny),
        ("web-project.toml", Capability::ProcessExecute, "npm testify", Ask),
        ("web-project.toml", Capability::GitModify, "git push origin", Ask),
        ("rust-project.toml", Capability::ProcessExecute, "cargo check --all", Allow),
        ("rust-project.toml", Capability::FileWriteProject, "/home/u/project/build.rs", Ask),
        ("ci.toml", Capability::ProcessExecute, "make deploy now", Deny),
        ("ci.toml", Capability::NetworkAccess, "wget x", Deny),
        ("ci.toml", Capability::FileRead, "/home/u/project/.env", Deny),
        ("ci.toml", Capability::FileRead, "/home/u/project/a.txt", Allow),
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(file);
        let found = policy(&reading(&path)).evaluate(&request(capability, subject));
        assert_eq!(found.verdict, expected, "{file}: {} {subject}: {found:?}", capability.word());
    }
}
