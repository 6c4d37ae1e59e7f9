//! The real shell that an approved text is handed to.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Where bash is, in the order of trying. PATH alone never decides: it may lead back to gsh.
const PLACES: [&str; 4] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];

/// The file of a shell that is not gsh and that nobody else can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell(PathBuf);

impl Shell {
    /// Its file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The configured shell, or the first usable bash.
    ///
    /// # Errors
    /// When the configured one is not usable (there is no falling back from it), or none is found.
    pub fn find(configured: Option<&Path>) -> Result<Self, NoShell> {
        let own = fs::metadata("/proc/self/exe").ok();
        if let Some(path) = configured {
            return usable(path, own.as_ref())
                .map_err(|why| NoShell::Configured { path: path.to_owned(), why });
        }
        PLACES.iter().find_map(|place| usable(Path::new(place), own.as_ref()).ok()).ok_or(NoShell::Nowhere)
    }
}

/// Why there is no shell to run with.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NoShell {
    /// The configured one cannot be used.
    #[error("the shell of `[shell] path`, {}, {why}", path.display())]
    Configured {
        /// What was configured.
        path: PathBuf,
        /// What is wrong with it.
        why: Unusable,
    },
    /// None of the usual places has one.
    #[error("no usable bash in {}; set `[shell] path`", PLACES.join(", "))]
    Nowhere,
}

/// What is wrong with a file as a shell.
#[derive(Debug, Error, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// The path is relative.
    #[error("is not an absolute path")]
    Relative,
    /// It is not there, or cannot be executed.
    #[error("is no program that can be executed")]
    NoProgram,
    /// It is gsh.
    #[error("is gsh itself")]
    Own,
    /// Group or others can change it.
    #[error("can be changed by other users")]
    Writable,
}

fn usable(path: &Path, own: Option<&Metadata>) -> Result<Shell, Unusable> {
    if !path.is_absolute() {
        return Err(Unusable::Relative);
    }
    let data = fs::metadata(path).map_err(|_| Unusable::NoProgram)?;
    let executable = nix::unistd::access(path, nix::unistd::AccessFlags::X_OK).is_ok();
    if !data.is_file() || !executable {
        return Err(Unusable::NoProgram);
    }
    if own.is_some_and(|own| own.dev() == data.dev() && own.ino() == data.ino()) {
        return Err(Unusable::Own);
    }
    if data.mode() & 0o022 != 0 {
        return Err(Unusable::Writable);
    }
    Ok(Shell(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn unusable_shells_are_named_as_such() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let at = |name: &str| folder.path().join(name);
        let made = [
            fs::write(at("shared"), ""),
            fs::set_permissions(at("shared"), fs::Permissions::from_mode(0o777)),
            fs::write(at("plain"), ""),
            symlink("/proc/self/exe", at("own")),
        ];
        assert!(made.iter().all(Result::is_ok));
        let table = [
            (PathBuf::from("bash"), Unusable::Relative),
            (at("absent"), Unusable::NoProgram),
            (at("plain"), Unusable::NoProgram),
            (at("own"), Unusable::Own),
            (at("shared"), Unusable::Writable),
            (folder.path().to_owned(), Unusable::NoProgram),
        ];
        for (path, why) in table {
            assert_eq!(Shell::find(Some(&path)), Err(NoShell::Configured { path, why }));
        }
    }

    #[test]
    fn bash_is_found_without_a_path() {
        assert!(Shell::find(None).is_ok_and(|shell| shell.path().ends_with("bash")));
    }
}
