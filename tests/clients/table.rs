//! The table of agents, and the doors by which each is tried.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

/// One agent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Client {
    /// Its name, as gsh knows it.
    pub(crate) name: String,
    /// The package, and the version that is tried.
    pub(crate) package: String,
    pub(crate) version: String,
    /// Its program, below the folder of its package.
    pub(crate) program: String,
    /// The name under which it is found on `PATH`.
    pub(crate) link: String,
    /// What is run once beforehand.
    #[serde(default)]
    pub(crate) before: Vec<String>,
    /// Its words.
    pub(crate) args: Vec<String>,
    /// More of them, where its hook is the door.
    #[serde(default)]
    pub(crate) with_hook: Vec<String>,
    /// Its variables.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Its files, below the home.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// A file of its own can name the shell.
    #[serde(default)]
    shell: bool,
    /// Its hook ends the whole run where the floor refuses.
    #[serde(default)]
    pub(crate) floor_ends: bool,
    /// It puts a text around its commands, which gsh knows.
    #[serde(default)]
    pub(crate) encloses: bool,
    /// It does so with every command.
    #[serde(default)]
    pub(crate) wraps: bool,
    /// Its hook as a person would write it, below the home: `gsh init` does not, since the agent never asks it.
    #[serde(default)]
    pub(crate) unasked: BTreeMap<String, String>,
    /// What it keeps from working.
    #[serde(default)]
    pub(crate) fails: Vec<Fails>,
    /// What a reader of the table should know of cells that hold.
    #[serde(default)]
    pub(crate) notes: Vec<Note>,
}

/// A note to a cell of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    /// By which door.
    pub(crate) door: Door,
    /// The column.
    pub(crate) case: String,
    /// The note.
    pub(crate) says: String,
}

/// A cell of the table that is known to fail, and by the agent's own doing.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fails {
    /// By which door.
    pub(crate) door: Door,
    /// The case.
    pub(crate) case: String,
    /// What the failure says: another one is no known one.
    pub(crate) says: String,
    /// Why.
    pub(crate) cause: String,
}

/// The table.
#[derive(Debug, Deserialize)]
struct Table {
    client: Vec<Client>,
}

/// Every agent.
pub(crate) fn clients() -> Vec<Client> {
    let table: Table = toml::from_str(include_str!("clients.toml")).expect("the table of clients");
    table.client
}

/// Their names.
pub(crate) fn names() -> Vec<String> {
    clients().into_iter().map(|client| client.name).collect()
}

impl Client {
    /// Where its package is on this machine.
    pub(crate) fn folder(&self) -> PathBuf {
        cache().join(format!("{}-{}", self.name, self.version))
    }

    /// Its name as people write it.
    pub(crate) fn title(&self) -> &'static str {
        gsh::policy::agents::named(&self.name).map_or("", |known| known.title)
    }

    /// Its version without the platform of its package.
    pub(crate) fn shown_version(&self) -> &str {
        self.version.split('-').next().unwrap_or_default()
    }

    /// Why this cell is known to fail.
    pub(crate) fn fails(&self, door: Door, case: &str) -> Option<&Fails> {
        self.fails.iter().find(|fails| fails.door == door && fails.case == case)
    }

    pub(crate) fn is_here(&self) -> bool {
        self.folder().join(&self.program).exists()
    }
}

fn cache() -> PathBuf {
    let at = |name: &str| std::env::var_os(name).map(PathBuf::from);
    at("GSH_CLIENTS_CACHE")
        .or_else(|| at("XDG_CACHE_HOME").map(|cache| cache.join("gsh-clients")))
        .or_else(|| at("HOME").map(|home| home.join(".cache/gsh-clients")))
        .expect("a home, or GSH_CLIENTS_CACHE")
}

/// A way by which an agent's commands come to gsh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Door {
    /// `gsh wrap` starts it.
    Wrap,
    /// `gsh init --door shell` changed its file.
    Shell,
    /// `gsh init --door hook` did.
    Hook,
}

impl Door {
    pub(crate) const ALL: [Self; 3] = [Self::Wrap, Self::Shell, Self::Hook];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Shell => "shell",
            Self::Hook => "hook",
        }
    }

    /// What a person does, as the table has it.
    pub(crate) fn way(self) -> &'static str {
        match self {
            Self::Wrap => "`gsh wrap`",
            Self::Shell => "`init --door shell`",
            Self::Hook => "`init --door hook`",
        }
    }

    /// The same where `gsh init` refuses to write a hook.
    pub(crate) fn way_by_hand(self) -> &'static str {
        if self == Self::Hook { "hook, by hand" } else { self.way() }
    }

    pub(crate) fn words() -> Vec<String> {
        Self::ALL.iter().map(|door| door.word().to_owned()).collect()
    }

    pub(crate) fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|door| door.word() == word)
    }

    /// Whether an agent has it.
    pub(crate) fn is_of(self, client: &Client) -> bool {
        self != Self::Shell || client.shell
    }
}
