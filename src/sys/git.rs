//! What git itself would find in and around a directory.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::gitconfig::{self, Setting};
use crate::host::GitState;

/// The environment's answers, as far as git asks.
pub(super) trait Environment {
    fn var(&self, name: &str) -> Option<String>;
}

/// The key under which everything stands that could hide settings: an include, a file that cannot
/// be read, parameters in a variable.
const HIDDEN: &str = "include.path";

/// The state of the repository that `dir` is in; None when it is in none.
pub(super) fn state(dir: &Path, environment: &impl Environment) -> Option<GitState> {
    let place = Place::find(dir, environment)?;
    let settings = settings(&place, environment);
    Some(GitState {
        head: head(&place.folder),
        default_branch: default_branch(&place.common),
        hooks: hooks(&place, &settings, environment),
        settings,
    })
}

struct Place {
    /// `.git`, or the folder a `.git` file names.
    folder: PathBuf,
    /// Where all worktrees of the repository keep what they share.
    common: PathBuf,
    /// The top of the work tree.
    top: PathBuf,
}

impl Place {
    fn find(dir: &Path, environment: &impl Environment) -> Option<Self> {
        if let Some(given) = environment.var("GIT_DIR") {
            return Some(Self::at(dir.join(given), dir));
        }
        dir.ancestors().find_map(|top| {
            let marker = top.join(".git");
            if marker.is_dir() {
                return Some(Self::at(marker, top));
            }
            if let Some(target) = fs::read_to_string(&marker).ok().as_deref().and_then(git_file) {
                return Some(Self::at(top.join(target), top));
            }
            let bare =
                top.join("HEAD").is_file() && top.join("objects").is_dir() && top.join("refs").is_dir();
            bare.then(|| Self::at(top.to_owned(), top))
        })
    }

    fn at(folder: PathBuf, top: &Path) -> Self {
        let common = fs::read_to_string(folder.join("commondir"))
            .map_or_else(|_| folder.clone(), |text| folder.join(text.trim_end_matches(['\n', '\r'])));
        Self { folder, common, top: top.to_owned() }
    }
}

fn git_file(text: &str) -> Option<&str> {
    text.strip_prefix("gitdir:").map(|rest| rest.trim_start_matches(' ').trim_end_matches(['\n', '\r']))
}

fn head(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("HEAD")).ok()?;
    Some(text.trim().strip_prefix("ref:")?.trim().strip_prefix("refs/heads/")?.to_owned())
}

fn default_branch(common: &Path) -> Option<String> {
    let remotes = common.join("refs/remotes");
    let mut names: Vec<PathBuf> =
        fs::read_dir(&remotes).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // `origin` speaks first; the others in a fixed order.
    names.sort_by_key(|path| (!path.ends_with("origin"), path.clone()));
    names.iter().find_map(|remote| {
        let text = fs::read_to_string(remote.join("HEAD")).ok()?;
        let name = remote.file_name()?.to_str()?;
        let target = text.trim().strip_prefix("ref:")?.trim().strip_prefix("refs/remotes/")?;
        Some(target.strip_prefix(name)?.strip_prefix('/')?.to_owned())
    })
}

fn settings(place: &Place, environment: &impl Environment) -> Vec<Setting> {
    let mut settings = Vec::new();
    for path in files(place, environment) {
        match fs::read(&path) {
            Ok(bytes) => match gitconfig::parse(&String::from_utf8_lossy(&bytes)) {
                Some(found) => settings.extend(found.into_iter().map(mark_include)),
                None => settings.push(hidden(&path)),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => {}
            Err(_) => settings.push(hidden(&path)),
        }
    }
    settings.extend(from_variables(environment));
    settings
}

fn hidden(path: &Path) -> Setting {
    (HIDDEN.to_owned(), path.display().to_string())
}

/// A conditional include hides settings as much as a plain one.
fn mark_include((key, value): Setting) -> Setting {
    if key.starts_with("includeif.") { (HIDDEN.to_owned(), value) } else { (key, value) }
}

/// The files git reads, least binding first.
fn files(place: &Place, environment: &impl Environment) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some(system) = environment.var("GIT_CONFIG_SYSTEM") {
        files.push(system.into());
    } else if environment.var("GIT_CONFIG_NOSYSTEM").is_none_or(|value| value == "0" || value == "false") {
        files.push("/etc/gitconfig".into());
    }
    let home = environment.var("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    if let Some(global) = environment.var("GIT_CONFIG_GLOBAL") {
        files.push(global.into());
    } else {
        let set = environment.var("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
        let config = set.map(PathBuf::from).or_else(|| Some(home.as_ref()?.join(".config")));
        files.extend(config.map(|folder| folder.join("git/config")));
        files.extend(home.map(|home| home.join(".gitconfig")));
    }
    files.push(place.common.join("config"));
    files.push(place.folder.join("config.worktree"));
    files
}

fn from_variables(environment: &impl Environment) -> Vec<Setting> {
    let mut settings = Vec::new();
    if environment.var("GIT_CONFIG_PARAMETERS").is_some() {
        settings.push((HIDDEN.to_owned(), "GIT_CONFIG_PARAMETERS".to_owned()));
    }
    let count = environment.var("GIT_CONFIG_COUNT").and_then(|text| text.parse::<u32>().ok()).unwrap_or(0);
    // A count nobody writes by hand is not read out; what it may hide is marked.
    if count > 1000 {
        settings.push((HIDDEN.to_owned(), "GIT_CONFIG_COUNT".to_owned()));
        return settings;
    }
    for number in 0..count {
        let key = environment.var(&format!("GIT_CONFIG_KEY_{number}"));
        let value = environment.var(&format!("GIT_CONFIG_VALUE_{number}"));
        if let (Some(key), Some(value)) = (key, value) {
            settings.push(mark_include((key.to_lowercase(), value)));
        }
    }
    settings
}

fn hooks(place: &Place, settings: &[Setting], environment: &impl Environment) -> Vec<String> {
    let set = settings.iter().rev().find(|(key, _)| key == "core.hookspath").map(|(_, value)| value);
    let folder = match set {
        None => place.common.join("hooks"),
        Some(path) => match (path.strip_prefix("~/"), environment.var("HOME")) {
            (Some(rest), Some(home)) => Path::new(&home).join(rest),
            _ => place.top.join(path),
        },
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| !entry.file_name().as_encoded_bytes().ends_with(b".sample"))
        .filter(|entry| {
            fs::metadata(entry.path())
                .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    struct Table(HashMap<String, String>);
    impl Environment for Table {
        fn var(&self, name: &str) -> Option<String> {
            self.0.get(name).cloned()
        }
    }

    fn environment(home: &Path, more: &[(&str, &str)]) -> Table {
        let mut table = HashMap::from([
            ("HOME".to_owned(), home.display().to_string()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ]);
        table.extend(more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        Table(table)
    }

    fn repository(root: &Path) -> std::io::Result<()> {
        let git = root.join("repo/.git");
        fs::create_dir_all(git.join("hooks"))?;
        fs::create_dir_all(git.join("refs/remotes/origin"))?;
        fs::create_dir_all(git.join("worktrees/w"))?;
        fs::create_dir_all(root.join("repo/src"))?;
        fs::create_dir_all(root.join("tree"))?;
        fs::create_dir_all(root.join("home"))?;
        fs::write(git.join("HEAD"), "ref: refs/heads/feature/x\n")?;
        fs::write(git.join("refs/remotes/origin/HEAD"), "ref: refs/remotes/origin/trunk\n")?;
        fs::write(git.join("config"), "[core]\n\tfsmonitor = spy\n[alias]\n\tst = status\n")?;
        for (name, mode) in [("pre-commit", 0o755), ("pre-push.sample", 0o755), ("commit-msg", 0o644)] {
            fs::write(git.join("hooks").join(name), "")?;
            fs::set_permissions(git.join("hooks").join(name), fs::Permissions::from_mode(mode))?;
        }
        fs::write(git.join("worktrees/w/HEAD"), "0123456789\n")?;
        fs::write(git.join("worktrees/w/commondir"), "../..\n")?;
        fs::write(root.join("tree/.git"), format!("gitdir: {}\n", git.join("worktrees/w").display()))?;
        fs::write(root.join("home/.gitconfig"), "[user]\n\tname = A\n[includeIf \"gitdir:x\"]\n\tpath = p\n")
    }

    #[test]
    fn a_repository_is_read() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let root = folder.path();
        assert!(repository(root).is_ok());
        let table = environment(&root.join("home"), &[]);
        let Some(found) = state(&root.join("repo/src"), &table) else { panic!("no repository") };
        assert_eq!(found.head.as_deref(), Some("feature/x"));
        assert_eq!(found.default_branch.as_deref(), Some("trunk"));
        assert_eq!(found.hooks, ["pre-commit"]);
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            found.settings,
            [
                pair("user.name", "A"),
                pair("include.path", "p"),
                pair("core.fsmonitor", "spy"),
                pair("alias.st", "status")
            ]
        );
        let Some(tree) = state(&root.join("tree"), &table) else { panic!("no worktree") };
        assert_eq!((tree.head, tree.default_branch.as_deref()), (None, Some("trunk")));
        assert!(tree.settings.contains(&pair("alias.st", "status")));
        assert_eq!(state(&root.join("home"), &table), None);
    }

    #[test]
    fn variables_add_settings_and_hide_some() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let root = folder.path();
        assert!(repository(root).is_ok());
        let more = [
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.hooksPath"),
            ("GIT_CONFIG_VALUE_0", "elsewhere"),
            ("GIT_CONFIG_PARAMETERS", "'a.b=c'"),
        ];
        let found = state(&root.join("repo"), &environment(&root.join("home"), &more)).unwrap_or_default();
        assert!(found.hooks.is_empty());
        let has = |key: &str, value: &str| found.settings.contains(&(key.to_owned(), value.to_owned()));
        assert!(has("core.hookspath", "elsewhere") && has("include.path", "GIT_CONFIG_PARAMETERS"));
        assert!(!found.settings.iter().any(|(key, _)| key == "user.name"));
    }

    #[test]
    fn a_damaged_file_hides_settings() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let root = folder.path();
        assert!(repository(root).is_ok());
        assert!(fs::write(root.join("repo/.git/config"), "[core\n").is_ok());
        let found = state(&root.join("repo"), &environment(root, &[])).unwrap_or_default();
        assert!(found.settings.iter().any(|(key, value)| key == "include.path" && value.ends_with("config")));
    }
}
