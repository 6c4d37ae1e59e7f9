//! The machine as it really is, looked at once per decision and remembered for its length.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::git;
use super::own;
use super::passwd::{self, User};
use super::path::RealPaths;
use crate::host::{GitState, Host, Node, OwnFile, Program, Starter};

/// What bash searches when `PATH` is not set.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Folders that are the system's with all that is in them.
const SYSTEM_TREES: [&str; 11] =
    ["/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr"];

/// Folders that hold projects but are none themselves.
const SYSTEM_FOLDERS: [&str; 12] = [
    "/",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/srv",
    "/tmp",
    "/usr/local",
    "/usr/local/src",
    "/usr/src",
    "/var",
];

/// System folders below `/var`, whole.
const SYSTEM_STATE: [&str; 5] = ["/var/cache", "/var/lib", "/var/log", "/var/run", "/var/spool"];

/// A directory with more names is not listed: nobody could read the outcome.
const MOST_NAMES: usize = 100_000;

/// Where a [`Machine`] starts to look.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The environment the text would start with.
    pub environment: Vec<(OsString, OsString)>,
    /// The session's first directory, from which the project is found.
    pub start: PathBuf,
    /// gsh's own files and folders.
    pub ours: Vec<PathBuf>,
    /// The one file among them that is the session's to write.
    pub plan: Option<PathBuf>,
    /// Where the project is looked for instead of above `start`: a session keeps its first one.
    pub first: Option<PathBuf>,
    /// The user table.
    pub users: PathBuf,
    /// The agent that started us.
    pub starter: Option<Starter>,
}

impl Surroundings {
    /// Those of this machine.
    #[must_use]
    pub fn new(environment: Vec<(OsString, OsString)>, start: PathBuf, ours: Vec<PathBuf>) -> Self {
        Self { environment, start, ours, plan: None, first: None, users: "/etc/passwd".into(), starter: None }
    }
}

/// The real machine.
#[derive(Debug)]
pub struct Machine {
    environment: HashMap<String, String>,
    start: PathBuf,
    ours_as_given: Vec<PathBuf>,
    ours: OnceCell<Vec<PathBuf>>,
    plan: Option<PathBuf>,
    first: Option<PathBuf>,
    widened: RefCell<Vec<PathBuf>>,
    users_file: PathBuf,
    users: OnceCell<String>,
    homes: OnceCell<Vec<PathBuf>>,
    paths: RealPaths,
    project: OnceCell<Option<PathBuf>>,
    temporary: OnceCell<Vec<PathBuf>>,
    starter: Option<Starter>,
    programs: RefCell<HashMap<String, Option<Program>>>,
    repositories: RefCell<HashMap<PathBuf, Option<GitState>>>,
}

impl Machine {
    /// Looks at nothing yet.
    #[must_use]
    pub fn new(surroundings: Surroundings) -> Self {
        let environment = surroundings
            .environment
            .into_iter()
            .filter_map(|(name, value)| {
                Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))
            })
            .collect();
        Self {
            environment,
            ours_as_given: surroundings.ours,
            ours: OnceCell::new(),
            plan: surroundings.plan,
            first: surroundings.first,
            widened: RefCell::default(),
            start: surroundings.start,
            users_file: surroundings.users,
            starter: surroundings.starter,
            users: OnceCell::new(),
            homes: OnceCell::new(),
            paths: RealPaths::default(),
            project: OnceCell::new(),
            temporary: OnceCell::new(),
            programs: RefCell::default(),
            repositories: RefCell::default(),
        }
    }

    fn users(&self) -> impl Iterator<Item = User<'_>> {
        passwd::users(self.users.get_or_init(|| {
            let bytes = fs::read(&self.users_file).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        }))
    }

    fn known_homes(&self) -> &[PathBuf] {
        self.homes.get_or_init(|| {
            let set = self.environment.get("HOME").filter(|home| home.starts_with('/')).map(PathBuf::from);
            let listed = self.users().filter(User::is_person).map(|user| user.home.to_owned());
            let mut homes = Vec::new();
            for home in set.into_iter().chain(listed) {
                let real = self.paths.real(&home);
                for form in [Some(home), real].into_iter().flatten() {
                    if !homes.contains(&form) {
                        homes.push(form);
                    }
                }
            }
            homes
        })
    }

    fn temporary_folders(&self) -> &[PathBuf] {
        self.temporary.get_or_init(|| {
            let mut folders: Vec<PathBuf> = self.paths.real(Path::new("/tmp")).into_iter().collect();
            let set = self.environment.get("TMPDIR").and_then(|folder| self.paths.real(Path::new(folder)));
            let below = ["/tmp", "/var/tmp", "/run/user"];
            if let Some(set) = set.filter(|set| below.iter().any(|base| set.starts_with(base)))
                && !folders.contains(&set)
            {
                folders.push(set);
            }
            folders
        })
    }

    fn find_project(&self) -> Option<PathBuf> {
        let start = self.paths.real(self.first.as_ref().unwrap_or(&self.start))?;
        let marked = start
            .ancestors()
            .find(|dir| dir.join(".gsh").is_dir() || fs::symlink_metadata(dir.join(".git")).is_ok());
        let root = marked.unwrap_or(&start);
        (!self.never_project(root)).then(|| root.to_owned())
    }

    /// Counts these folders, absolute or below `~/`, as the project too. Those that no project may be, such
    /// as a home or a system folder, are not taken, and are handed back.
    pub fn widen(&self, folders: &[String]) -> Vec<String> {
        let home = self.environment.get("HOME");
        let mut refused = vec![];
        for folder in folders {
            let spelled = match folder.strip_prefix("~/") {
                Some(rest) => home.map(|home| Path::new(home).join(rest)),
                None => Some(folder.into()),
            };
            let real = spelled.and_then(|path| self.paths.real(&path));
            match real.filter(|real| !self.never_project(real)) {
                Some(real) => self.widened.borrow_mut().push(real),
                None => refused.push(folder.clone()),
            }
        }
        refused
    }

    fn never_project(&self, root: &Path) -> bool {
        let below_source = root.starts_with("/usr/src") || root.starts_with("/usr/local/src");
        let system = SYSTEM_FOLDERS.iter().any(|folder| root == Path::new(folder))
            || SYSTEM_STATE.iter().any(|folder| root.starts_with(folder))
            || (!below_source && SYSTEM_TREES.iter().any(|tree| root.starts_with(tree)));
        let temporary = self.temporary_folders().iter().any(|folder| folder.starts_with(root))
            || root == Path::new("/var/tmp");
        system || temporary || self.known_homes().iter().any(|home| home.starts_with(root))
    }

    fn find_program(&self, name: &str) -> Option<Program> {
        if name.is_empty() || name.contains('/') {
            return None;
        }
        let search = self.environment.get("PATH").map_or(DEFAULT_PATH, String::as_str);
        // What an earlier relative entry finds depends on where the text stands when it runs.
        let mut certain = true;
        for entry in search.split(':') {
            let folder = Path::new(entry);
            certain &= folder.is_absolute();
            let candidate =
                if folder.is_absolute() { folder.join(name) } else { self.start.join(folder).join(name) };
            if is_executable(&candidate) {
                let found = fs::canonicalize(&candidate).ok()?;
                let trusted = certain && self.is_trusted(&found);
                return Some(Program { path: found, trusted });
            }
        }
        None
    }

    fn is_trusted(&self, real: &Path) -> bool {
        let shared = |path: &Path| fs::metadata(path).map_or(true, |data| data.mode() & 0o022 != 0);
        let in_project = self.in_project(real);
        let temporary = self.temporary_folders().iter().any(|folder| real.starts_with(folder));
        !in_project && !temporary && !shared(real) && !real.parent().is_none_or(shared)
    }
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| data.is_file())
        && nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok()
}

impl git::Environment for Machine {
    fn var(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }
}

impl Host for Machine {
    fn var(&self, name: &str) -> Option<String> {
        self.environment.get(name).cloned()
    }

    fn starter(&self) -> Option<Starter> {
        self.starter.clone()
    }

    fn own_file(&self, path: &Path) -> Option<OwnFile> {
        own::read(path)
    }

    fn home_of(&self, user: &str) -> Option<PathBuf> {
        self.users().find(|entry| entry.name == user).map(|entry| entry.home.to_owned())
    }

    fn homes(&self) -> Vec<PathBuf> {
        self.known_homes().to_vec()
    }

    fn project(&self) -> Option<PathBuf> {
        self.project.get_or_init(|| self.find_project()).clone()
    }

    fn in_project(&self, real: &Path) -> bool {
        self.project().is_some_and(|root| real.starts_with(root))
            || self.widened.borrow().iter().any(|root| real.starts_with(root))
    }

    fn temporary(&self) -> Vec<PathBuf> {
        self.temporary_folders().to_vec()
    }

    fn node(&self, path: &Path) -> Node {
        match fs::metadata(path) {
            Ok(data) if data.is_file() => Node::File,
            Ok(data) if data.is_dir() => Node::Directory,
            Ok(data) if data.file_type().is_block_device() => Node::BlockDevice,
            Ok(_) => Node::Special,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Node::Missing
            }
            Err(_) => Node::Unknown,
        }
    }

    fn is_link(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|data| data.is_symlink())
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        self.paths.real(path)
    }

    fn list(&self, dir: &Path) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir).ok()? {
            if names.len() == MOST_NAMES {
                return None;
            }
            // A name that is no text cannot be compared with a pattern: nothing is better than a part.
            names.push(entry.ok()?.file_name().into_string().ok()?);
        }
        names.sort();
        Some(names)
    }

    fn program(&self, name: &str) -> Option<Program> {
        if let Some(known) = self.programs.borrow().get(name) {
            return known.clone();
        }
        let found = self.find_program(name);
        self.programs.borrow_mut().insert(name.to_owned(), found.clone());
        found
    }

    fn git(&self, dir: &Path) -> Option<GitState> {
        if let Some(known) = self.repositories.borrow().get(dir) {
            return known.clone();
        }
        let found = git::state(dir, self);
        self.repositories.borrow_mut().insert(dir.to_owned(), found.clone());
        found
    }

    fn is_ours(&self, real: &Path) -> bool {
        let ours = self.ours.get_or_init(|| {
            let forms = self.ours_as_given.iter().flat_map(|own| [Some(own.clone()), self.paths.real(own)]);
            forms.flatten().collect()
        });
        let is_plan =
            || self.plan.as_ref().is_some_and(|plan| self.paths.real(plan).as_deref() == Some(real));
        ours.iter().any(|own| own.starts_with(real) || real.starts_with(own)) && !is_plan()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::sys::path;

    fn machine(start: &Path, users: &Path, variables: &[(&str, String)]) -> Machine {
        let environment =
            variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect();
        let ours = vec![start.join("ours/state")];
        Machine::new(Surroundings {
            users: users.to_owned(),
            ..Surroundings::new(environment, start.to_owned(), ours)
        })
    }

    #[test]
    fn projects_are_found_and_homes_are_none() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let Some(root) = path::real(folder.path()) else { return };
        let users = root.join("passwd");
        let made = [
            fs::create_dir_all(root.join("home/ann/plain")),
            fs::create_dir_all(root.join("home/ann/repo/.git")),
            fs::create_dir_all(root.join("home/ann/repo/src/deep")),
            fs::create_dir_all(root.join("marked/.gsh")),
            fs::create_dir_all(root.join("marked/x")),
            fs::write(&users, format!("ann:x:1000:1000::{}:/bin/sh\n", root.join("home/ann").display())),
            symlink(root.join("home/ann/repo/src"), root.join("into")),
        ];
        assert!(made.iter().all(Result::is_ok));
        let table = [
            ("home/ann/repo/src/deep", Some("home/ann/repo")),
            ("into", Some("home/ann/repo")),
            ("marked/x", Some("marked")),
            ("home/ann/plain", Some("home/ann/plain")),
            ("home/ann", None),
            ("home", None),
        ];
        for (start, expected) in table {
            let found = machine(&root.join(start), &users, &[]).project();
            assert_eq!(found, expected.map(|path| root.join(path)), "{start}");
        }
        for start in ["/", "/tmp", "/etc", "/usr/bin", "/home", "/var/lib", "/nonexistent/../etc"] {
            assert_eq!(machine(Path::new(start), &users, &[]).project(), None, "{start}");
        }
    }

    #[test]
    fn homes_hold_both_forms() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let Some(root) = path::real(folder.path()) else { return };
        let users = root.join("passwd");
        let made = [
            fs::create_dir(root.join("real")),
            symlink("real", root.join("link")),
            fs::write(&users, "root:x:0:0::/root:/bin/sh\nwww:x:33:33::/var/www:/bin/false\n"),
        ];
        assert!(made.iter().all(Result::is_ok));
        let host = machine(&root, &users, &[("HOME", root.join("link").display().to_string())]);
        assert_eq!(host.homes(), [root.join("link"), root.join("real"), "/root".into()]);
        assert_eq!(host.home_of("www"), Some("/var/www".into()));
        assert_eq!(host.home_of("nobody-here"), None);
    }

    #[test]
    fn programs_are_found_as_bash_finds_them_and_trusted_by_place() {
        let Ok(folder) = tempfile::Builder::new().prefix("gsh-programs").tempdir_in("/var/tmp") else {
            return;
        };
        let Some(root) = path::real(folder.path()) else { return };
        let file = |path: &str, mode: u32| -> std::io::Result<()> {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path))?;
            fs::write(&path, "")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))
        };
        let made = [
            file("safe/tool", 0o755),
            file("safe/no-exec", 0o644),
            file("safe/shared", 0o775),
            file("open/loose", 0o755),
            fs::set_permissions(root.join("open"), fs::Permissions::from_mode(0o777)),
            file("project/.git/x", 0o644),
            file("project/bin/inner", 0o755),
            symlink(root.join("project/bin/inner"), root.join("safe/linked")),
        ];
        assert!(made.iter().all(Result::is_ok), "{made:?}");
        let at = |path: &str| root.join(path).display().to_string();
        let absolute = format!("{}:{}:{}", at("safe"), at("open"), at("project/bin"));
        let relative = format!(":{}", at("safe"));
        let table = [
            (&absolute, "tool", Some(("safe/tool", true))),
            (&absolute, "shared", Some(("safe/shared", false))),
            (&absolute, "loose", Some(("open/loose", false))),
            (&absolute, "inner", Some(("project/bin/inner", false))),
            (&absolute, "linked", Some(("project/bin/inner", false))),
            (&absolute, "no-exec", None),
            (&absolute, "absent", None),
            (&absolute, "safe/tool", None),
            (&relative, "tool", Some(("safe/tool", false))),
        ];
        for (search, name, expected) in table {
            let host = machine(&root.join("project"), Path::new("/dev/null"), &[("PATH", search.clone())]);
            let expected = expected.map(|(path, trusted)| Program { path: root.join(path), trusted });
            assert_eq!(host.program(name), expected, "{name} in {search}");
            assert_eq!(host.program(name), expected, "{name} remembered");
        }
    }

    #[test]
    fn nodes_names_and_own_files_are_told_apart() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let Some(root) = path::real(folder.path()) else { return };
        let made = [
            fs::write(root.join("file"), ""),
            symlink("file", root.join("link")),
            symlink("loop", root.join("loop")),
            fs::create_dir_all(root.join("ours/state")),
        ];
        assert!(made.iter().all(Result::is_ok));
        let host = machine(&root, Path::new("/dev/null"), &[("TMPDIR", "/etc".to_owned())]);
        let nodes = [
            ("file", Node::File),
            ("link", Node::File),
            ("ours", Node::Directory),
            ("absent", Node::Missing),
            ("file/below", Node::Missing),
            ("loop", Node::Unknown),
            ("/dev/null", Node::Special),
        ];
        for (path, expected) in nodes {
            assert_eq!(host.node(&root.join(path)), expected, "{path}");
        }
        assert!(host.is_link(&root.join("link")) && !host.is_link(&root.join("file")));
        assert_eq!(host.list(&root), Some(["file", "link", "loop", "ours"].map(String::from).to_vec()));
        assert_eq!(host.list(&root.join("file")), None);
        for (path, expected) in
            [("ours", true), ("ours/state/x", true), ("", true), ("other", false), ("oursx", false)]
        {
            assert_eq!(host.is_ours(&root.join(path)), expected, "{path}");
        }
        assert!(!host.temporary().contains(&PathBuf::from("/etc")));
    }
}
