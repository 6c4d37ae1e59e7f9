//! Script files, as bash finds them and tells them from programs.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// How much of a file bash looks at to tell a program from a script.
const SAMPLE: usize = 80;

/// The file of a script: the name itself, or else, for a name without a slash, the first file of that name on PATH
/// that can be read. Where there is none, the name.
#[must_use]
pub fn file_of(name: &OsStr, path: Option<&OsStr>) -> PathBuf {
    let own = Path::new(name);
    if name.is_empty() || name.as_bytes().contains(&b'/') || own.symlink_metadata().is_ok() {
        return own.to_owned();
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let here = |folder: PathBuf| if folder.as_os_str().is_empty() { ".".into() } else { folder };
    let readable =
        |file: &PathBuf| file.is_file() && nix::unistd::access(file, nix::unistd::AccessFlags::R_OK).is_ok();
    folders.map(|folder| here(folder).join(name)).find(readable).unwrap_or_else(|| own.to_owned())
}

/// Whether bash takes a file for a program, and runs nothing of it.
#[must_use]
pub fn is_binary(text: &[u8]) -> bool {
    let sample = text.get(..SAMPLE).unwrap_or(text);
    let line = sample.split(|byte| *byte == b'\n').next().unwrap_or_default();
    text.starts_with(b"\x7fELF") || line.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_a_slash_is_looked_for_on_path() {
        let Ok(folder) = tempfile::tempdir() else { return };
        let at = |name: &str| folder.path().join(name);
        assert!(
            std::fs::create_dir(at("script-folder")).is_ok() && std::fs::write(at("the-script"), "").is_ok()
        );
        let path = std::env::join_paths(["/nonexistent".into(), folder.path().to_owned()]).ok();
        let table = [
            ("the-script", at("the-script")),
            ("./the-script", "./the-script".into()),
            ("script-folder", "script-folder".into()),
            ("absent-script", "absent-script".into()),
            ("Cargo.toml", "Cargo.toml".into()),
            ("", "".into()),
        ];
        for (name, file) in table {
            assert_eq!(file_of(OsStr::new(name), path.as_deref()), file, "{name}");
        }
        assert_eq!(file_of(OsStr::new("the-script"), None), PathBuf::from("the-script"));
    }

    #[test]
    fn programs_are_told_from_scripts_by_their_first_line() {
        let long = [b"#".repeat(SAMPLE).as_slice(), b"\0"].concat();
        let table: [(&[u8], bool); 7] = [
            (b"", false),
            (b"echo\n", false),
            (b"ec\0ho\n", true),
            (b"echo\n\0", false),
            (b"\x7fELF\n", true),
            (b"\xff\xfe\n", false),
            (&long, false),
        ];
        for (text, binary) in table {
            assert_eq!(is_binary(text), binary, "{text:?}");
        }
    }
}
