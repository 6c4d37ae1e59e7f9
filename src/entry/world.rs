//! The machine and the policy that one request is decided with.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::config::load::{Options, load};
use crate::host::Host;
use crate::policy::{Places, Policy};
use crate::store::places::Folders;
use crate::sys::machine::{Machine, Surroundings};

/// The environment a request comes from.
#[derive(Debug, Clone)]
pub struct Surrounds {
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// The folders of gsh's own files; None without a home.
    pub folders: Option<Folders>,
    /// gsh's own files and folders, which a gated command must not change.
    pub ours: Vec<PathBuf>,
}

impl Surrounds {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let environment: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let find =
            |name: &str| environment.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let folders = Folders::new(&find);
        let mut ours: Vec<PathBuf> = vec!["/etc/gsh".into()];
        if let Some(folders) = &folders {
            ours.extend([folders.config.clone(), folders.state.clone(), folders.cache.clone()]);
            ours.extend(folders.runtime.clone());
        }
        ours.extend(std::env::current_exe().ok());
        Self { environment, folders, ours }
    }

    /// The machine as seen from a directory.
    #[must_use]
    pub fn machine(&self, start: &Path) -> Machine {
        Machine::new(Surroundings::new(self.environment.clone(), start.to_owned(), self.ours.clone()))
    }

    /// The policy that holds there.
    #[must_use]
    pub fn policy(&self, machine: &Machine, options: Options) -> Policy {
        load(self.folders.as_ref(), places(machine), options)
    }
}

/// Where things are, for the rules.
fn places(machine: &Machine) -> Places {
    let text = |path: PathBuf| path.into_os_string().into_string().ok();
    let path = machine.var("PATH").unwrap_or_default();
    Places {
        home: machine.var("HOME").filter(|home| home.starts_with('/')).map(|home| without_slash(&home)),
        project: machine.project().and_then(text),
        temporaries: machine.temporary().into_iter().filter_map(text).collect(),
        path_folders: path.split(':').filter(|folder| folder.starts_with('/')).map(without_slash).collect(),
        homes: machine.homes().into_iter().filter_map(text).collect(),
    }
}

fn without_slash(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    if trimmed.is_empty() { "/".to_owned() } else { trimmed.to_owned() }
}
