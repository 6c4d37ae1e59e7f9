//! A machine that is asked through us, so that what it answered can be put on record.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{GitState, Host, Node, OwnFile, Program, Starter};

/// So many bytes of answers are kept. What was asked beyond makes the record one that cannot be replayed.
const MOST: usize = 64 * 1024;

/// What a machine answered, each question once: every answer is about the same moment. Paths are keys as
/// they were written: `a` and `a/` are different questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Answers {
    /// Variables.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vars: BTreeMap<String, Option<String>>,
    /// Homes by user.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub users: BTreeMap<String, Option<PathBuf>>,
    /// Every known home.
    pub homes: Vec<PathBuf>,
    /// The project root.
    pub project: Option<PathBuf>,
    /// Folders for temporary files.
    pub temporary: Vec<PathBuf>,
    /// What is where.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub nodes: BTreeMap<String, Node>,
    /// Which paths are links.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, bool>,
    /// Real paths, where they differ from the path asked about.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub real: BTreeMap<String, Real>,
    /// Names in directories.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub lists: BTreeMap<String, Option<Vec<String>>>,
    /// Programs that `PATH` finds.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Option<Program>>,
    /// Repositories.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub git: BTreeMap<String, Option<GitState>>,
    /// Which paths are gsh's own.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub ours: BTreeMap<String, bool>,
}

/// The real path of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Real {
    /// The path itself (`true`), or none (`false`).
    Same(bool),
    /// Another one.
    Other(PathBuf),
}

/// A machine with a memory of what it was asked.
pub struct Witness<'a> {
    host: &'a dyn Host,
    answers: RefCell<Answers>,
    bytes: Cell<usize>,
    is_whole: Cell<bool>,
}

impl<'a> Witness<'a> {
    /// Nothing was asked yet.
    #[must_use]
    pub fn new(host: &'a dyn Host) -> Self {
        Self { host, answers: RefCell::default(), bytes: Cell::new(0), is_whole: Cell::new(true) }
    }

    /// What was answered, with what every replay needs to place the rules. None when it was too much, or
    /// a path was no text.
    #[must_use]
    pub fn into_answers(self) -> Option<Answers> {
        let (home, path) = (self.host.var("HOME"), self.host.var("PATH"));
        let mut answers = self.answers.into_inner();
        answers.vars.insert("HOME".to_owned(), home);
        answers.vars.insert("PATH".to_owned(), path);
        answers.homes = self.host.homes();
        answers.project = self.host.project();
        answers.temporary = self.host.temporary();
        let mut all = answers.homes.iter().chain(&answers.project).chain(&answers.temporary);
        let is_text = all.all(|path| path.to_str().is_some());
        (is_text && self.is_whole.get()).then_some(answers)
    }

    /// Keeps an answer, whose length is told with it, unless it is known or there are too many already.
    fn keep<T>(&self, of: Map<T>, key: &str, answer: impl FnOnce() -> (usize, T)) {
        let mut answers = self.answers.borrow_mut();
        let known = of(&mut answers);
        if known.contains_key(key) {
            return;
        }
        let (length, answer) = answer();
        let all = self.bytes.get().saturating_add(key.len() + length);
        self.bytes.set(all);
        if all > MOST {
            self.is_whole.set(false);
        } else {
            known.insert(key.to_owned(), answer);
        }
    }

    /// The same for what is asked about a path.
    fn keep_at<T>(&self, of: Map<T>, path: &Path, answer: impl FnOnce() -> (usize, T)) {
        match path.to_str() {
            Some(key) => self.keep(of, key, answer),
            None => self.is_whole.set(false),
        }
    }

    /// How long an answer that is a path is; one that is no text cannot be kept.
    fn length(&self, path: Option<&PathBuf>) -> usize {
        if path.is_some_and(|path| path.to_str().is_none()) {
            self.is_whole.set(false);
        }
        path.map_or(4, |path| path.as_os_str().len())
    }
}

/// One of the maps of the answers.
type Map<T> = fn(&mut Answers) -> &mut BTreeMap<String, T>;

impl Host for Witness<'_> {
    fn var(&self, name: &str) -> Option<String> {
        let answer = self.host.var(name);
        let length = answer.as_ref().map_or(4, String::len);
        self.keep(|answers| &mut answers.vars, name, || (length, answer.clone()));
        answer
    }

    fn home_of(&self, user: &str) -> Option<PathBuf> {
        let answer = self.host.home_of(user);
        let length = self.length(answer.as_ref());
        self.keep(|answers| &mut answers.users, user, || (length, answer.clone()));
        answer
    }

    fn homes(&self) -> Vec<PathBuf> {
        self.host.homes()
    }

    fn project(&self) -> Option<PathBuf> {
        self.host.project()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        self.host.temporary()
    }

    fn node(&self, path: &Path) -> Node {
        let answer = self.host.node(path);
        self.keep_at(|answers| &mut answers.nodes, path, || (12, answer));
        answer
    }

    fn is_link(&self, path: &Path) -> bool {
        let answer = self.host.is_link(path);
        self.keep_at(|answers| &mut answers.links, path, || (8, answer));
        answer
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        let answer = self.host.real(path);
        self.keep_at(
            |answers| &mut answers.real,
            path,
            || match &answer {
                Some(real) if real.as_os_str() == path.as_os_str() => (6, Real::Same(true)),
                Some(real) => (self.length(Some(real)), Real::Other(real.clone())),
                None => (6, Real::Same(false)),
            },
        );
        answer
    }

    fn list(&self, dir: &Path) -> Option<Vec<String>> {
        let answer = self.host.list(dir);
        let length = answer.iter().flatten().map(|name| name.len() + 3).sum();
        self.keep_at(|answers| &mut answers.lists, dir, || (length, answer.clone()));
        answer
    }

    fn program(&self, name: &str) -> Option<Program> {
        let answer = self.host.program(name);
        let length = 30 + self.length(answer.as_ref().map(|program| &program.path));
        self.keep(|answers| &mut answers.programs, name, || (length, answer.clone()));
        answer
    }

    fn git(&self, dir: &Path) -> Option<GitState> {
        let answer = self.host.git(dir);
        self.keep_at(
            |answers| &mut answers.git,
            dir,
            || {
                let settings = answer.iter().flat_map(|state| &state.settings);
                let length = settings.map(|(key, value)| key.len() + value.len() + 7).sum::<usize>();
                (80 + length, answer.clone())
            },
        );
        answer
    }

    // What an envelope is opened with is not kept: a record holds what was found in it.
    fn starter(&self) -> Option<Starter> {
        self.host.starter()
    }

    fn own_file(&self, path: &Path) -> Option<OwnFile> {
        self.host.own_file(path)
    }

    fn is_ours(&self, real: &Path) -> bool {
        let answer = self.host.is_ours(real);
        self.keep_at(|answers| &mut answers.ours, real, || (8, answer));
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::super::recorded::Recorded;
    use super::super::table::TableHost;
    use super::*;

    fn machine() -> TableHost {
        let mut host = TableHost::default().with_files(&["/p/a", "/p/folder/"]);
        host.links.insert("/p/link".into(), "/p/a".into());
        host.vars.insert("HOME".into(), "/h".into());
        host.project = Some("/p".into());
        host.git = Some(GitState { head: Some("main".into()), ..GitState::default() });
        host
    }

    #[test]
    fn what_was_asked_is_answered_again_from_the_record() {
        let host = machine();
        let witness = Witness::new(&host);
        let ask = |host: &dyn Host| {
            let path = Path::new;
            (
                (host.var("HOME"), host.var("NONE"), host.homes(), host.project(), host.home_of("x")),
                (host.node(path("/p/a")), host.node(path("/p/none")), host.is_link(path("/p/link"))),
                (host.real(path("/p/link")), host.real(path("/p/a")), host.list(path("/p"))),
                (host.program("ls"), host.git(path("/p")), host.is_ours(path("/p/a"))),
            )
        };
        let first = ask(&witness);
        let answers = witness.into_answers().expect("few");
        let text = serde_json::to_string(&answers).expect("text");
        let recorded = Recorded::new(serde_json::from_str(&text).expect("read"));
        assert_eq!(ask(&recorded), first);
        assert!(!recorded.was_asked_more());
        assert_eq!(recorded.node(Path::new("/p/else")), Node::Unknown);
        assert!(recorded.was_asked_more());
    }

    #[test]
    fn too_much_is_not_kept() {
        let host = machine();
        let witness = Witness::new(&host);
        for index in 0..2000 {
            witness.node(Path::new(&format!("/p/a-rather-long-name-for-a-file-{index}")));
        }
        assert_eq!(witness.into_answers(), None);
    }
}
