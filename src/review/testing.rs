//! A matter for this room's tests: a small project, and no rules but the built-in ones.

use std::path::{Path, PathBuf};

use super::Matter;
use crate::decision::{Case, decide};
use crate::facts::gather;
use crate::host::table::TableHost;
use crate::host::{Node, Program};
use crate::policy::compose::{Composition, compose};
use crate::policy::{Places, plain};
use crate::request::{Entry, ReadingOptions, Request, Setting};

/// Decides a text and shows it to `look`.
pub(super) fn with_matter<T>(text: &str, look: impl FnOnce(&Matter<'_>) -> T) -> T {
    let mut host = TableHost::default().with_files(&["/usr/bin/", "/tmp/"]);
    host.add(Path::new("/home/dev/proj/a.txt"), Node::File);
    host.vars.insert("HOME".to_owned(), "/home/dev".to_owned());
    host.project = Some("/home/dev/proj".into());
    for name in ["frob", "cat"] {
        let program = Program { path: PathBuf::from(format!("/usr/bin/{name}")), trusted: true };
        host.programs.insert(name.to_owned(), program);
    }
    let policy = compose(Vec::new(), Composition::new(Places::default(), "2026-01-01"));
    let request = Request {
        setting: Setting::default(),
        tool: None,
        text: text.as_bytes().to_vec(),
        cwd: "/home/dev/proj".into(),
        name: None,
        args: vec![],
        options: ReadingOptions::default(),
        entry: Entry::Check,
    };
    let script = crate::syntax::parse(&request.text, &policy.knobs.limits.of_reading());
    let facts = gather(&script, &request, &host, &policy.programs);
    let plain = plain::hits(&request, &script, &host);
    let decision = decide(Case { text, facts: &facts, plain: &plain, policy: &policy }, &host);
    look(&Matter { request: &request, decision: &decision, facts: &facts, record: "r" })
}
