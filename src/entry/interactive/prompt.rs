//! What stands before a line: the folder, git's branch, the mode, the last status.

use std::fs;
use std::path::Path;

use crate::ask::sanitize;
use crate::policy::{Mode, Policy};

/// `~/project (main) [plan] 1> `: the mode where it is not the default, the status where it is not 0.
pub(super) fn text(policy: &Policy, status: Option<u8>) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut parts = vec![shown(&folder, policy.places.home.as_deref())];
    parts.extend(branch(&folder).map(|branch| format!("({})", sanitize::line(&branch))));
    if policy.mode != Mode::Default {
        parts.push(format!("[{}]", policy.mode.word()));
    }
    parts.extend(status.filter(|status| *status != 0).map(|status| status.to_string()));
    format!("{}> ", parts.join(" "))
}

/// A prompt of bash's, with the mode where it is not the default: what only readline is told by (`\\[`, `\\]`) is
/// taken out.
pub(super) fn marked(own: &str, mode: Mode) -> String {
    let own: String = own.chars().filter(|letter| !matches!(letter, '\u{1}' | '\u{2}')).collect();
    match mode {
        Mode::Default => own,
        mode => format!("[{}] {own}", mode.word()),
    }
}

fn shown(folder: &Path, home: Option<&str>) -> String {
    let below = home.and_then(|home| folder.strip_prefix(home).ok());
    let path = match below {
        Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
        Some(below) => format!("~/{}", below.display()),
        None => folder.display().to_string(),
    };
    sanitize::line(&path)
}

/// The branch of the repository that the folder is in, or the first of its commit's hash.
fn branch(folder: &Path) -> Option<String> {
    let git = folder.ancestors().map(|folder| folder.join(".git")).find(|git| git.exists())?;
    let git = match fs::read_to_string(&git) {
        Ok(pointer) => folder.join(pointer.strip_prefix("gitdir: ")?.trim_end()),
        Err(_) => git,
    };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let head = head.trim_end();
    Some(match head.strip_prefix("ref: refs/heads/") {
        Some(branch) => branch.to_owned(),
        None => head.chars().take(8).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_its_branch_are_shown() {
        let home = tempfile::tempdir().expect("a folder");
        let project = home.path().join("p");
        fs::create_dir_all(project.join(".git")).expect("made");
        fs::create_dir_all(project.join("src")).expect("made");
        assert_eq!(branch(&project), None);
        fs::write(project.join(".git/HEAD"), "ref: refs/heads/a/b\n").expect("written");
        assert_eq!(branch(&project.join("src")).as_deref(), Some("a/b"));
        fs::write(project.join(".git/HEAD"), "0123456789abcdef\n").expect("written");
        assert_eq!(branch(&project).as_deref(), Some("01234567"));
        let home = home.path().to_str();
        assert_eq!(shown(&project.join("src"), home), "~/p/src");
        assert_eq!(shown(home.map(Path::new).expect("text"), home), "~");
        assert_eq!(shown(Path::new("/usr"), home), "/usr");
    }
}
