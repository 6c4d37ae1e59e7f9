//! Files under many hands, of many kinds, and in the way.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::*;
use crate::config::find::PROJECT;
use crate::config::trust;
use crate::policy::{Layer, Verdict};
use crate::store::hash;
use crate::store::places::Folders;

struct Home {
    folders: Folders,
    project: PathBuf,
    _folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("real");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.clone().into())).expect("a home");
        let project = home.join("p");
        fs::create_dir_all(project.join(".git")).expect("made");
        Self { folders, project, _folder: folder }
    }

    fn file(&self) -> PathBuf {
        self.project.join(PROJECT)
    }

    fn own(&self) -> PathBuf {
        self.folders.user_project_file(&self.project)
    }

    fn editor(&self, layer: Layer) -> Editor<'_> {
        Editor::new(&self.folders, Some(&self.project), layer).expect("an editor")
    }

    fn always(&self, pattern: &str, scope: Scope) -> Outcome {
        let setting = Setting { folders: &self.folders, project: Some(&self.project), forbids_trust: false };
        always(setting, &[rule(pattern)], scope)
    }

    fn is_trusted(&self) -> bool {
        let content = fs::read(self.file()).expect("read");
        trust::is_trusted(&self.folders, &self.file(), &hash(&content)).expect("a list")
    }
}

fn rule(pattern: &str) -> NewRule {
    NewRule::new("process.execute", pattern, Verdict::Allow)
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    fs::write(path, text).expect("written");
    fs::set_permissions(path, Permissions::from_mode(0o644)).expect("mode");
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").mode() & 0o7777
}

/// The file that an answer went to, and the word for what stood in the way.
fn written(answer: &Outcome) -> (Option<&Path>, String) {
    let word =
        |error: &EditError| format!("{error:?}").split(['(', ' ']).next().unwrap_or_default().to_owned();
    match answer {
        Outcome::Written { edited, instead } => {
            (Some(&edited.file), instead.as_ref().map(word).unwrap_or_default())
        }
        Outcome::Session(error) => (None, word(error)),
    }
}

#[test]
fn two_hundred_writers_lose_nothing() {
    let home = Home::new();
    write(&home.folders.user_file(), "# mine\nmode = 'plan'\n");
    let other = home.project.join("other.toml");
    std::thread::scope(|scope| {
        for number in 0..200 {
            let (home, other) = (&home, &other);
            scope.spawn(move || match number % 4 {
                // Each with the trust of its own file, which all keep in one list.
                0 => {
                    let answer = home.always(&format!("p{number}"), Scope::Project);
                    assert!(matches!(answer, Outcome::Written { instead: None, .. }), "{answer:?}");
                }
                1 => {
                    let file = other.with_extension(number.to_string());
                    write(&file, "x");
                    trust::trust(&home.folders, &file, b"x").expect("trusted");
                }
                _ => {
                    let new = [rule(&format!("u{number}"))];
                    home.editor(Layer::User).apply(Change::Add(&new)).expect("written");
                }
            });
        }
    });
    let (user, project) = (text(&home.folders.user_file()), text(&home.file()));
    assert!(user.starts_with("# mine\nmode = 'plan'\n"));
    for number in 0..200 {
        match number % 4 {
            0 => assert!(project.contains(&format!("\"p{number}\"")), "p{number}"),
            1 => assert!(
                trust::is_trusted(&home.folders, &other.with_extension(number.to_string()), &hash(b"x"))
                    .expect("a list")
            ),
            _ => assert!(user.contains(&format!("\"u{number}\"")), "u{number}"),
        }
    }
    assert!(home.is_trusted());
    let left = fs::read_dir(home.folders.config.as_path()).expect("read").count();
    assert_eq!(left, 1, "nothing is left beside it");
}

#[test]
fn modes_owners_and_links_stay() {
    let home = Home::new();
    let dotfiles = home.folders.home.join("dotfiles/gsh.toml");
    write(&dotfiles, "mode = 'plan'\n");
    fs::set_permissions(&dotfiles, Permissions::from_mode(0o640)).expect("mode");
    fs::create_dir_all(&home.folders.config).expect("made");
    symlink(&dotfiles, home.folders.user_file()).expect("linked");
    let before = fs::metadata(&dotfiles).expect("there");
    let edited = home.editor(Layer::User).apply(Change::Add(&[rule("make")])).expect("written");
    let after = fs::metadata(&dotfiles).expect("there");
    assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
    assert!(after.ino() != before.ino(), "replaced, not written over");
    assert_eq!((edited.file.as_path(), edited.rules[0].line), (dotfiles.as_path(), 5));
    assert!(fs::symlink_metadata(home.folders.user_file()).expect("there").is_symlink());
    assert!(text(&home.folders.user_file()).contains("\"make\""));

    home.editor(Layer::Project).apply(Change::Add(&[rule("make")])).expect("written");
    home.editor(Layer::UserProject).apply(Change::Add(&[rule("make")])).expect("written");
    assert_eq!((mode(&home.file()), mode(&home.own())), (0o644, 0o600));
    let root = nix::unistd::geteuid().is_root();
    if root {
        std::os::unix::fs::chown(home.file(), Some(12), Some(34)).expect("given away");
        home.editor(Layer::Project).apply(Change::Add(&[rule("cargo")])).expect("written");
        let data = fs::metadata(home.file()).expect("there");
        assert_eq!((data.uid(), data.gid()), (12, 34));
    }
}

#[test]
fn links_in_a_project_lead_nowhere() {
    for linked in ["config.toml", ".gsh"] {
        let home = Home::new();
        let elsewhere = home.folders.home.join("elsewhere");
        write(&elsewhere.join("config.toml"), "mode = 'plan'\n");
        if linked == ".gsh" {
            symlink(&elsewhere, home.project.join(".gsh")).expect("linked");
        } else {
            fs::create_dir_all(home.project.join(".gsh")).expect("made");
            symlink(elsewhere.join("config.toml"), home.file()).expect("linked");
        }
        let answer = home.always("make", Scope::Project);
        assert_eq!(written(&answer), (Some(home.own().as_path()), "Safe".to_owned()), "{linked}");
        assert_eq!(text(&elsewhere.join("config.toml")), "mode = 'plan'\n");
    }
}

#[test]
fn a_file_that_cannot_be_changed_is_left_as_it_is() {
    let broken = "mode = 'plan\n[permissions.'process.execute']\n'curl *' = 'deny'\n";
    let home = Home::new();
    for bytes in [broken.as_bytes(), b"mode = 'plan'\n\xff\n"] {
        write(&home.folders.user_file(), "");
        fs::write(home.folders.user_file(), bytes).expect("written");
        let editor = home.editor(Layer::User);
        for change in
            [Change::Add(&[rule("make")]), Change::Ensure(&[rule("x")]), Change::Remove(&Which::Line(3))]
        {
            let Err(EditError::Malformed(report)) = editor.apply(change) else { panic!("{change:?}") };
            assert!(report.file.ends_with("config.toml"), "{report}");
        }
        assert_eq!(fs::read(home.folders.user_file()).expect("read"), bytes);
    }
    // Writable by others it is not believed, so nothing is put into it.
    write(&home.folders.user_file(), "");
    fs::set_permissions(home.folders.user_file(), Permissions::from_mode(0o666)).expect("mode");
    assert!(matches!(home.editor(Layer::User).apply(Change::Add(&[rule("make")])), Err(EditError::Safe(_))));
    assert_eq!(text(&home.folders.user_file()), "");
}

#[test]
fn an_answer_goes_where_it_has_an_effect() {
    let home = Home::new();
    let file = home.file();
    let project = || (Some(home.file()), String::new());
    let found = |answer: Outcome| {
        let (path, why) = written(&answer);
        (path.map(Path::to_owned), why)
    };
    // A new file is trusted, stays so, and an edit by another hand ends it.
    assert_eq!(found(home.always("make", Scope::Project)), project());
    assert!(home.is_trusted() && text(&file).contains("lifts = \"ask\""));
    assert_eq!(found(home.always("cargo", Scope::Project)), project());
    assert!(home.is_trusted());
    let once = text(&file);
    assert_eq!(found(home.always("make", Scope::Project)), project());
    assert_eq!(text(&file), once, "it holds already");
    write(&file, &format!("{once}\n[permissions.'tool.use']\n'*' = 'allow'\n"));
    let edited = text(&file);
    assert_eq!(found(home.always("npm", Scope::Project)), (Some(home.own()), "Untrusted".to_owned()));
    assert!(text(&file) == edited && !home.is_trusted());
    assert_eq!(mode(&home.own()), 0o600);

    // What only tightens, or cannot be read or written, takes none.
    for (broken, why) in [("mode = 'plan", "Malformed"), ("mod = 1\n", "Damaged")] {
        write(&file, broken);
        trust::trust(&home.folders, &file, broken.as_bytes()).expect("trusted");
        assert_eq!(found(home.always("npm", Scope::Project)), (Some(home.own()), why.to_owned()));
        assert_eq!(text(&file), broken);
    }
    fs::remove_dir_all(home.project.join(".gsh")).expect("removed");
    fs::write(home.project.join(".gsh"), "").expect("in the way");
    assert_eq!(found(home.always("x", Scope::Project)), (Some(home.own()), "Safe".to_owned()));
    fs::remove_file(home.project.join(".gsh")).expect("removed");
    let setting = Setting { folders: &home.folders, project: Some(&home.project), forbids_trust: true };
    let answer = always(setting, &[rule("y")], Scope::Project);
    assert_eq!(found(answer), (Some(home.own()), "Untrusted".to_owned()));

    // Nowhere left: the session.
    write(&home.own(), "mode = 'plan");
    write(&file, "");
    assert_eq!(found(home.always("z", Scope::Project)), (None, "Malformed".to_owned()));
    assert_eq!((text(&home.own()), text(&file)), ("mode = 'plan".to_owned(), String::new()));
    assert_eq!(found(home.always("z", Scope::User)), (Some(home.folders.user_file()), String::new()));
    assert_eq!(mode(&home.folders.user_file()), 0o600);
    write(&home.folders.user_file(), "= 3\n");
    assert_eq!(found(home.always("y", Scope::User)), (None, "Malformed".to_owned()));
    let nowhere = Setting { project: None, ..setting };
    assert_eq!(found(always(nowhere, &[rule("y")], Scope::Project)), (None, "NoProject".to_owned()));
}

#[test]
fn a_folder_that_cannot_be_written_takes_nothing() {
    let home = Home::new();
    write(&home.file(), "");
    trust::trust(&home.folders, &home.file(), b"").expect("trusted");
    let folder = home.project.join(".gsh");
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).expect("mode");
    let answer = home.always("make", Scope::Project);
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("mode");
    // Root writes there all the same.
    let root = nix::unistd::geteuid().is_root();
    let expected = if root { (home.file(), "") } else { (home.own(), "Safe") };
    assert_eq!(written(&answer), (Some(expected.0.as_path()), expected.1.to_owned()));
    assert!(home.is_trusted(), "what was trusted stays so");
}

#[test]
fn a_users_file_in_a_repository_stays_trusted() {
    let home = Home::new();
    let file = home.folders.home.join("dotfiles/gsh.toml");
    write(&file, "");
    fs::create_dir_all(home.folders.home.join("dotfiles/.git")).expect("made");
    fs::create_dir_all(&home.folders.config).expect("made");
    symlink(&file, home.folders.user_file()).expect("linked");
    let trusted = || {
        let content = fs::read(&file).expect("read");
        trust::is_trusted(&home.folders, &file, &hash(&content)).expect("a list")
    };
    assert_eq!(written(&home.always("make", Scope::User)), (None, "Untrusted".to_owned()));
    let edited = home.editor(Layer::User).apply(Change::Add(&[rule("make")])).expect("written");
    assert!(!edited.trusted && !trusted(), "an edit makes no trust");
    trust::trust(&home.folders, &file, text(&file).as_bytes()).expect("trusted");
    assert_eq!(written(&home.always("cargo", Scope::User)), (Some(file.as_path()), String::new()));
    assert!(trusted(), "and takes none away");
}

#[test]
fn a_rule_is_promoted() {
    let home = Home::new();
    let said = "\
[permissions]
'tool.use' = 'allow'
'Bash(npm test:*)' = 'allow'
[permissions.'file.read']
'./notes/*' = { action = 'allow', reason = 'r', match = ['notes/a'], modes = ['plan'] }
'~/x' = 'deny'
";
    let go = |pattern: &str, dry_run| {
        let which = Which::Says { capability: None, pattern: pattern.to_owned() };
        promote(&home.folders, Some(&home.project), Layer::Project, &which, dry_run)
    };
    write(&home.file(), said);
    go("Bash(npm test:*)", true).expect("it could be");
    assert_eq!((text(&home.file()), text(&home.folders.user_file())), (said.to_owned(), String::new()));
    for pattern in ["Bash(npm test:*)", "./notes/*", "~/x"] {
        let done = go(pattern, false).expect("promoted");
        assert!(done.from.is_ok(), "{:?}", done.from);
    }
    let notes = home.project.join("notes").display().to_string();
    let expected = format!(
        "\
[[permissions.rules]]
capability = \"Bash(npm test:*)\"
action = \"allow\"
lifts = \"ask\"

[[permissions.rules]]
capability = \"file.read\"
pattern = \"{notes}/*\"
action = \"allow\"
lifts = \"ask\"
reason = \"r\"
match = [\"{notes}/a\"]
modes = [\"plan\"]

[[permissions.rules]]
capability = \"file.read\"
pattern = \"~/x\"
action = \"deny\"
lifts = \"ask\"
"
    );
    assert_eq!(text(&home.folders.user_file()), expected);
    assert_eq!(text(&home.file()), "[permissions]\n'tool.use' = 'allow'\n[permissions.'file.read']\n");
    assert!(matches!(go("tool.use", false), Err(EditError::CatchAll(_))));
    assert!(matches!(go("~/x", false), Err(EditError::NoSuchRule(_))));

    // Where the user's file takes nothing, it stays where it is.
    write(&home.file(), said);
    write(&home.folders.user_file(), "mode = 'plan");
    assert!(matches!(go("~/x", false), Err(EditError::Malformed(_))));
    assert_eq!(text(&home.file()), said);
}
