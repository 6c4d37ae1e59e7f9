//! A machine that answers from a record, and knows when it was asked for more than that.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use super::witness::{Answers, Real};
use super::{GitState, Host, Node, Program};

/// The machine of a record.
#[derive(Debug)]
pub struct Recorded {
    answers: Answers,
    asked_more: Cell<bool>,
}

impl Recorded {
    /// From what was answered then.
    #[must_use]
    pub fn new(answers: Answers) -> Self {
        Self { answers, asked_more: Cell::new(false) }
    }

    /// Whether a question came that the record does not answer: what follows from it is a guess.
    #[must_use]
    pub fn was_asked_more(&self) -> bool {
        self.asked_more.get()
    }

    fn at<'a, T>(map: &'a std::collections::BTreeMap<String, T>, path: &Path) -> Option<&'a T> {
        map.get(path.to_str()?)
    }

    fn known<T: Clone>(&self, found: Option<&T>, unknown: T) -> T {
        found.cloned().unwrap_or_else(|| {
            self.asked_more.set(true);
            unknown
        })
    }
}

impl Host for Recorded {
    fn var(&self, name: &str) -> Option<String> {
        self.known(self.answers.vars.get(name), None)
    }

    fn home_of(&self, user: &str) -> Option<PathBuf> {
        self.known(self.answers.users.get(user), None)
    }

    fn homes(&self) -> Vec<PathBuf> {
        self.answers.homes.clone()
    }

    fn project(&self) -> Option<PathBuf> {
        self.answers.project.clone()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        self.answers.temporary.clone()
    }

    fn node(&self, path: &Path) -> Node {
        self.known(Self::at(&self.answers.nodes, path), Node::Unknown)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.known(Self::at(&self.answers.links, path), false)
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        match self.known(Self::at(&self.answers.real, path), Real::Same(false)) {
            Real::Same(true) => Some(path.to_owned()),
            Real::Same(false) => None,
            Real::Other(real) => Some(real),
        }
    }

    fn list(&self, dir: &Path) -> Option<Vec<String>> {
        self.known(Self::at(&self.answers.lists, dir), None)
    }

    fn program(&self, name: &str) -> Option<Program> {
        self.known(self.answers.programs.get(name), None)
    }

    fn git(&self, dir: &Path) -> Option<GitState> {
        self.known(Self::at(&self.answers.git, dir), None)
    }

    fn is_ours(&self, real: &Path) -> bool {
        self.known(Self::at(&self.answers.ours, real), false)
    }
}
