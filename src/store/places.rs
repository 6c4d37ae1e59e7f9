//! Where gsh's own files lie, by the XDG conventions.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The folders of one user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folders {
    /// The user's home.
    pub home: PathBuf,
    /// Where the user's configuration lies.
    pub config: PathBuf,
    /// What must outlive a reboot: records, trust, grants.
    pub state: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
    /// What others are pointed at: links to gsh that are named as shells.
    #[serde(default)]
    pub data: PathBuf,
    /// What ends with the login; None where the system gives no such folder.
    pub runtime: Option<PathBuf>,
}

impl Folders {
    /// The folders an environment means; None without a home. A relative value counts as unset, as the
    /// conventions say.
    #[must_use]
    pub fn new(var: &dyn Fn(&str) -> Option<OsString>) -> Option<Self> {
        let absolute = |name: &str| var(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = absolute("HOME")?;
        let folder = |name: &str, below: &str| absolute(name).unwrap_or_else(|| home.join(below)).join("gsh");
        Some(Self {
            config: folder("XDG_CONFIG_HOME", ".config"),
            state: folder("XDG_STATE_HOME", ".local/state"),
            cache: folder("XDG_CACHE_HOME", ".cache"),
            data: folder("XDG_DATA_HOME", ".local/share"),
            runtime: absolute("XDG_RUNTIME_DIR").map(|folder| folder.join("gsh")),
            home,
        })
    }

    /// The user's rules and knobs.
    #[must_use]
    pub fn user_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// The content of project files that the user trusts.
    #[must_use]
    pub fn trusted_file(&self) -> PathBuf {
        self.state.join("trusted.json")
    }

    /// Held by whoever changes one of our files.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.state.join("lock")
    }

    /// Where the trusted content itself lies, each by its hash: what a later edit is compared with.
    #[must_use]
    pub fn trusted_contents(&self) -> PathBuf {
        self.state.join("trusted")
    }

    /// Where layers lie as they were read last.
    #[must_use]
    pub fn layers(&self) -> PathBuf {
        self.state.join("layers")
    }

    /// What is remembered of sessions. It ends with the login where the system has a folder for that.
    #[must_use]
    pub fn sessions(&self) -> PathBuf {
        self.runtime.as_ref().unwrap_or(&self.state).join("sessions")
    }

    /// The one file that may be written in plan mode, of a session.
    #[must_use]
    pub fn plan_file(&self, session: &str) -> PathBuf {
        self.state.join("plans").join(format!("plan-{session}.md"))
    }

    /// The key that seals them. By its name it is a secret: a command that reads it asks.
    #[must_use]
    pub fn layers_key(&self) -> PathBuf {
        self.state.join("layers.key")
    }

    /// The link to gsh that is named as a shell.
    #[must_use]
    pub fn shell_link(&self) -> PathBuf {
        self.data.join("bin").join("bash")
    }

    /// What was set up for an agent, and how it was before.
    #[must_use]
    pub fn setup_file(&self, agent: &str) -> PathBuf {
        self.state.join("setup").join(format!("{agent}.json"))
    }

    /// The user's own rules for one project.
    #[must_use]
    pub fn user_project_file(&self, root: &Path) -> PathBuf {
        let name = root.file_name().unwrap_or_default().to_string_lossy();
        let hash = super::hash(root.as_os_str().as_encoded_bytes());
        // Names are short on every file system; the hash tells projects of one name apart.
        let name: String = name.chars().take(32).chain(['-']).chain(hash.chars().take(16)).collect();
        self.state.join("projects").join(name).join("config.toml")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(vars: &[(&str, &str)]) -> Option<Folders> {
        Folders::new(&|name| vars.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn xdg() {
        let found = folders(&[("HOME", "/home/u"), ("XDG_STATE_HOME", "relative"), ("XDG_CACHE_HOME", "/c")]);
        let expected = Folders {
            home: "/home/u".into(),
            config: "/home/u/.config/gsh".into(),
            state: "/home/u/.local/state/gsh".into(),
            cache: "/c/gsh".into(),
            data: "/home/u/.local/share/gsh".into(),
            runtime: None,
        };
        assert_eq!(found, Some(expected));
        let runtime = folders(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/run/user/1")]).and_then(|f| f.runtime);
        assert_eq!(runtime, Some("/run/user/1/gsh".into()));
        for vars in [&[][..], &[("HOME", "")], &[("HOME", "h")], &[("XDG_CONFIG_HOME", "/x")]] {
            assert_eq!(folders(vars), None, "{vars:?}");
        }
    }

    #[test]
    fn projects_have_files_of_their_own() {
        let folders = folders(&[("HOME", "/h")]).expect("there is a home");
        let (one, other) =
            (folders.user_project_file("/a/b".as_ref()), folders.user_project_file("/c/b".as_ref()));
        assert_ne!(one, other);
    }
}
