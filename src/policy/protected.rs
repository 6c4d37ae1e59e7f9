//! Paths through which a write gains more than a write: what shells, git, editors, agents, schedulers
//! and CI run or obey later. Writing there asks in every mode.

use super::agents::AGENTS;
use super::{Destroys, Places};
use crate::facts::path::is_below;

/// Folders and files that are protected wherever they are: components of a path, from any place on.
const ANYWHERE: &[&str] = &[
    ".git",
    ".gsh",
    ".claude",
    ".claude.json",
    ".mcp.json",
    ".codex",
    ".gemini",
    ".qwen",
    ".cursor",
    ".opencode",
    "opencode.json",
    ".copilot",
    ".continue",
    ".cline",
    ".clinerules",
    ".roo",
    ".aider.conf.yml",
    ".ssh",
    "authorized_keys",
    ".envrc",
    ".vscode",
    ".idea",
    ".zed",
    ".devcontainer",
    ".husky",
    ".github/workflows",
    ".github/actions",
    ".gitlab-ci.yml",
    ".circleci",
    ".buildkite",
    ".travis.yml",
    ".drone.yml",
    ".woodpecker.yml",
    ".woodpecker",
    "Jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    "appveyor.yml",
];

/// What is protected in a home.
const IN_HOME: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".inputrc",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".xprofile",
    ".xsessionrc",
    ".xinitrc",
    ".tmux.conf",
    ".gitconfig",
    ".vimrc",
    ".exrc",
    ".emacs",
    ".emacs.d",
    ".npmrc",
    ".config",
    ".local/bin",
    ".local/share/applications",
    ".local/share/systemd",
    ".gnupg",
];

/// What is protected on the machine.
const ON_MACHINE: &[&str] = &[
    "/etc/profile",
    "/etc/profile.d",
    "/etc/bash.bashrc",
    "/etc/bashrc",
    "/etc/zsh",
    "/etc/zshrc",
    "/etc/zshenv",
    "/etc/environment",
    "/etc/crontab",
    "/etc/anacrontab",
    "/etc/cron.d",
    "/etc/cron.hourly",
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/var/spool/cron",
    "/etc/systemd",
    "/etc/ssh",
    "/etc/sudoers.d",
    "/etc/ld.so.preload",
    "/etc/ld.so.conf.d",
];

/// The protected paths of a machine, a user and a project.
#[derive(Debug, Clone, Copy)]
pub struct Protected<'a> {
    places: &'a Places,
}

impl<'a> Protected<'a> {
    /// The protected paths of these places.
    #[must_use]
    pub fn new(places: &'a Places) -> Self {
        Self { places }
    }

    /// Whether writing there asks in every mode.
    #[must_use]
    pub fn covers(&self, path: &str, destroys: Option<Destroys>) -> bool {
        let path = trimmed(path);
        anywhere(path)
            || is_of_agent(path)
            || ON_MACHINE.iter().any(|tree| is_below(path, tree))
            || self.homes().any(|home| {
                below(path, home).is_some_and(|rest| IN_HOME.iter().any(|name| is_below(rest, name)))
            })
            || self.folders().any(|folder| path == folder || parent(path) == Some(folder))
            || (destroys.is_some() && self.lies_below(path))
    }

    /// Whether losing this path as a whole loses a protected one, or the project.
    fn lies_below(&self, path: &str) -> bool {
        let mut whole =
            ON_MACHINE.iter().copied().chain(self.folders()).chain(self.places.project.as_deref());
        whole.any(|kept| is_below(kept, path))
            || self.homes().any(|home| {
                is_below(home, path)
                    || below(path, home).is_some_and(|rest| IN_HOME.iter().any(|name| is_below(name, rest)))
            })
    }

    fn homes(&self) -> impl Iterator<Item = &'a str> {
        self.places.all_homes().map(|home| home.trim_end_matches('/'))
    }

    /// The folders of programs: these and what lies directly in them.
    fn folders(&self) -> impl Iterator<Item = &'a str> {
        let folders = self.places.path_folders.iter().filter(|folder| folder.starts_with('/'));
        folders.map(|folder| trimmed(folder))
    }
}

/// What of a path follows a folder.
fn below<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    path.strip_prefix(folder)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

fn anywhere(path: &str) -> bool {
    let starts = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
    starts.into_iter().any(|rest| ANYWHERE.iter().any(|name| is_below(rest, name)))
}

/// A file that tells an agent which shell or hook to use, wherever it lies.
fn is_of_agent(path: &str) -> bool {
    let ends =
        |file: &str| path.strip_suffix(file.trim_start_matches("~/")).is_some_and(|rest| rest.ends_with('/'));
    AGENTS.iter().any(|agent| {
        let hooks = agent.hook.iter().flat_map(|hook| [hook.user, hook.project]).flatten();
        let settings = agent.settings.iter().map(|settings| settings.path);
        settings.chain(hooks).any(|file| file.starts_with('/') && path == file || ends(file))
    })
}

fn trimmed(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => "/",
        path => path,
    }
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| if parent.is_empty() { "/" } else { parent })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_protected() {
        let places = Places {
            home: Some("/home/u".into()),
            project: Some("/home/u/p".into()),
            path_folders: vec!["/opt/x/bin/".into(), "relative".into(), "/p2".into()],
            homes: vec!["/data/u".into()],
            ..Places::default()
        };
        let protected = Protected::new(&places);
        for path in [
            "/home/u/p/.git/hooks/pre-commit",
            "/home/u/p/.git",
            "/home/u/p/.gsh/config.toml",
            "/tmp/clone/.git/config",
            "/home/u/.bashrc",
            "/data/u/.bashrc",
            "/home/u/.config/anything/deep",
            "/home/u/.local/bin/tool",
            "/srv/home/.ssh/authorized_keys",
            "/opt/x/bin/tool",
            "/opt/x/bin",
            "/p2/tool",
            "/etc/cron.d/job",
            "/home/u/p/.github/workflows/ci.yml",
            "/home/u/p/.vscode/tasks.json",
            "/home/u/p/sub/.envrc",
            "/home/u/p/.claude/settings.json",
            "/home/u/p/crush.json",
            "/home/u/p/.github/hooks/gsh.json",
            "/home/u/.pi/agent/settings.json",
            "/etc/gemini-cli/settings.json",
        ] {
            assert!(protected.covers(path, None), "{path} should be protected");
        }
        for path in [
            "/home/u/p/src/main.rs",
            "/home/u/p/.gitignore",
            "/home/u/p/.github/README.md",
            "/home/u/p/x.git/y",
            "/home/u/p/xcrush.json",
            "/home/u/.bashrc2",
            "/opt/x/bin/sub/tool",
            "/p2/a/b",
            "/home/u/p",
            "/tmp/x",
        ] {
            assert!(!protected.covers(path, None), "{path} should not be protected");
        }
    }

    #[test]
    fn losing_a_tree_loses_what_is_in_it() {
        let places =
            Places { home: Some("/home/u".into()), project: Some("/srv/p".into()), ..Places::default() };
        let protected = Protected::new(&places);
        for (path, covered) in
            [("/home/u", true), ("/srv/p", true), ("/srv", true), ("/", true), ("/srv/p/src", false)]
        {
            assert_eq!(protected.covers(path, Some(Destroys::Recursive)), covered, "{path}");
        }
    }
}
