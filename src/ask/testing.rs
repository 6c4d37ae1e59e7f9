//! Questions for this room's tests: a small project, and no rules but the built-in ones.

use std::path::{Path, PathBuf};

use super::{Keeps, Question};
use crate::decision::{Case, decide};
use crate::facts::gather;
use crate::host::table::TableHost;
use crate::host::{Node, Program};
use crate::policy::compose::{Composition, Policy, compose};
use crate::policy::{Places, plain};
use crate::request::{Entry, ReadingOptions, Request, Setting};

/// The project's folder.
pub(super) const PROJECT: &str = "/home/dev/proj";

fn host() -> TableHost {
    let mut host = TableHost::default().with_files(&["/bin/", "/usr/bin/", "/tmp/", "/dev/null"]);
    for file in ["a.txt", "b.txt", "package.json", "build/x.o", ".git/HEAD", ".env"] {
        host.add(Path::new(&format!("{PROJECT}/{file}")), Node::File);
    }
    host.vars.insert("HOME".to_owned(), "/home/dev".to_owned());
    host.project = Some(PROJECT.into());
    host.temporary = vec!["/tmp".into()];
    for name in ["ls", "cat", "wc", "rm", "git", "npm", "tee", "sed", "bash", "curl", "touch"] {
        let program = Program { path: PathBuf::from(format!("/usr/bin/{name}")), trusted: true };
        host.programs.insert(name.to_owned(), program);
    }
    host
}

fn policy() -> Policy {
    let places = Places {
        home: Some("/home/dev".to_owned()),
        project: Some(PROJECT.to_owned()),
        temporaries: vec!["/tmp".to_owned()],
        path_folders: vec!["/usr/bin".to_owned(), "/bin".to_owned()],
        homes: vec!["/home/dev".to_owned()],
    };
    compose(Vec::new(), Composition::new(places, "2026-01-01"))
}

/// Decides a text and shows the question to `look`.
pub(super) fn shown<T>(text: &str, look: impl FnOnce(&Question<'_>) -> T) -> T {
    let (host, policy) = (host(), policy());
    let request = Request {
        setting: Setting::default(),
        text: text.as_bytes().to_vec(),
        cwd: PROJECT.into(),
        name: None,
        args: vec![],
        options: ReadingOptions::default(),
        entry: Entry::Check,
        tool: None,
    };
    let script = crate::syntax::parse(&request.text, &policy.knobs.limits.of_reading());
    let facts = gather(&script, &request, &host, &policy.programs);
    let plain = plain::hits(&request, &script, &host);
    let decision = decide(Case { text, facts: &facts, plain: &plain, policy: &policy }, &host);
    look(&Question { request: &request, decision: &decision, script: &script, facts: &facts, record: "" })
}

/// Answers are kept everywhere.
pub(super) fn keeps() -> Keeps {
    Keeps {
        session: true,
        project: Some("/p/.gsh/config.toml".to_owned()),
        user: Some("~/.config/gsh/config.toml".to_owned()),
    }
}
