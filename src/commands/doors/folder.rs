//! The folder of doors: `bash`, `sh` and `zsh` that lead to gsh, and the file that `BASH_ENV` can name.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::store::places::Folders;
use crate::store::safe::{self, SafeError};

/// The file for `BASH_ENV`, as it is without an installed gsh.
const BASH_ENV: &str = include_str!("../../../shell-integration/bash-env.sh");
/// The call of gsh in it.
const CALL: &str = "exec gsh ";
/// The names that agents look for.
const NAMES: [&str; 3] = ["bash", "sh", "zsh"];

/// Where it lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doors {
    /// The folder for `PATH`.
    pub bin: PathBuf,
    /// The file for `BASH_ENV`.
    pub bash_env: PathBuf,
}

impl Doors {
    /// That of the user. It is the same for every run, so nothing has to be taken away afterwards.
    #[must_use]
    pub fn of(folders: &Folders) -> Self {
        let folder = folders.data.join("doors");
        Self { bin: folder.join("bin"), bash_env: folder.join("bash-env.sh") }
    }

    /// The link that is named `bash`.
    #[must_use]
    pub fn bash(&self) -> PathBuf {
        self.bin.join("bash")
    }

    /// Makes it lead to this gsh.
    ///
    /// # Errors
    /// When it cannot be made, or is not the user's own.
    pub fn make(&self, program: &Path) -> Result<(), SafeError> {
        safe::make_folder(&self.bin)?;
        for name in NAMES {
            let path = self.bin.join(name);
            link(&path, program).map_err(|source| SafeError::Io { path, source })?;
        }
        let text = bash_env(program);
        if fs::read_to_string(&self.bash_env).is_ok_and(|old| old == text) {
            return Ok(());
        }
        safe::replace(&self.bash_env, text.as_bytes())
    }
}

/// Puts the link in place at once: a run that goes on at the same time always finds one.
fn link(path: &Path, program: &Path) -> io::Result<()> {
    if fs::read_link(path).is_ok_and(|to| to == program) {
        return Ok(());
    }
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    symlink(program, &beside)?;
    fs::rename(&beside, path)
}

/// The file for `BASH_ENV` that calls this gsh.
#[must_use]
pub fn bash_env(program: &Path) -> String {
    let path = program.to_string_lossy().replace('\'', r"'\''");
    BASH_ENV.replace(CALL, &format!("exec '{path}' "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_calls_this_gsh() {
        let text = bash_env(Path::new("/o'x/gsh"));
        assert!(text.contains(r"exec '/o'\''x/gsh' ${gsh_options"), "{text}");
        assert_eq!(BASH_ENV.matches(CALL).count(), 1);
    }
}
