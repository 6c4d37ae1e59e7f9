//! Paths through which a write gains more than a write: what shells, git, editors, agents, schedulers
//! and CI run or obey later. Writing there asks in every mode.

use super::{Destroys, Places};

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
#[derive(Debug, Clone, Default)]
pub struct Protected {
    /// These and all below them.
    trees: Vec<String>,
    /// These and what lies directly in them.
    folders: Vec<String>,
    /// A tree that holds protected ones: losing it as a whole loses them.
    project: Option<String>,
}

impl Protected {
    /// The protected paths of these places.
    #[must_use]
    pub fn new(places: &Places) -> Self {
        let mut trees: Vec<String> = ON_MACHINE.iter().map(|path| (*path).to_owned()).collect();
        for home in places.all_homes() {
            trees.extend(IN_HOME.iter().map(|name| format!("{}/{name}", home.trim_end_matches('/'))));
        }
        let folders = places.path_folders.iter().filter(|folder| folder.starts_with('/'));
        let folders = folders.map(|folder| trimmed(folder).to_owned()).collect();
        Self { trees, folders, project: places.project.clone() }
    }

    /// Whether writing there asks in every mode.
    #[must_use]
    pub fn covers(&self, path: &str, destroys: Option<Destroys>) -> bool {
        let path = trimmed(path);
        anywhere(path)
            || self.trees.iter().any(|tree| is_within(path, tree))
            || self.folders.iter().any(|folder| path == folder || parent(path) == Some(folder))
            || (destroys.is_some() && self.lies_below(path))
    }

    /// Whether losing this path as a whole loses a protected one.
    fn lies_below(&self, path: &str) -> bool {
        let all = self.trees.iter().chain(&self.folders).chain(&self.project);
        all.into_iter().any(|kept| is_within(kept, path))
    }
}

fn anywhere(path: &str) -> bool {
    let starts = path.match_indices('/').filter_map(|(at, _)| path.get(at + 1..));
    starts.into_iter().any(|rest| ANYWHERE.iter().any(|name| is_within(rest, name)))
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

/// Whether `path` is `tree` or lies below it.
pub(super) fn is_within(path: &str, tree: &str) -> bool {
    tree == "/" || path.strip_prefix(tree).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
        ] {
            assert!(protected.covers(path, None), "{path} should be protected");
        }
        for path in [
            "/home/u/p/src/main.rs",
            "/home/u/p/.gitignore",
            "/home/u/p/.github/README.md",
            "/home/u/p/x.git/y",
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
