//! Files as people write them, right and wrong.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::cache::{self, Cached, Stamp};
use super::find::PROJECT;
use super::load::{Options, load};
use super::read::{Origin, Reading, read};
use super::trust;
use crate::policy::knobs::{Pty, Way, WithoutTerminal};
use crate::policy::{
    Capability, CapabilityRequest, Forbidden, Layer, LayerInfo, LayerRules, LayerState, Mode, Places, Policy,
    Subject, Verdict,
};
use crate::report::Span;
use crate::request::Entry;
use crate::store::places::Folders;

fn reading(text: &str) -> Reading {
    let path = Path::new("config.toml");
    read(text, &Origin { layer: Layer::Project, path, root: Some("/p"), home: Some("/home/u") })
}

/// `action capability pattern` of each rule, with its line, and `!` for a shorthand.
fn rules(reading: &Reading) -> Vec<String> {
    let shown = reading.layer.rules.iter().map(|entry| {
        let (rule, mark) = (&entry.rule, if entry.shorthand { " !" } else { "" });
        format!("{}: {} {} {}{mark}", rule.line, rule.action.word(), rule.capability, rule.pattern)
    });
    shown.collect()
}

#[test]
fn three_forms_in_order() {
    let found = reading(
        r#"
[[permissions.rules]]
capability = "file.write.outsideProject"
pattern = "/srv/notes/*"
action = "allow"
reason = "notes are shared"
match = ["/srv/notes/a.md"]
not_match = ["/srv/other"]
expires = 2030-12-31

[permissions]
"file.read" = "allow"
"Bash(git push:*)" = "deny"
"Edit" = "ask"

[permissions."process.execute"]
"*" = "ask"
"npm test *" = "allow"
"Bash(make:*)" = { action = "allow", reason = "ours" }

[permissions."file.*"]
"./secrets/**" = "deny"
"~/x" = { action = "allow", destroys = true, lifts = "ask" }
"#,
    );
    assert_eq!(
        found.layer.damage,
        vec![],
        "{}",
        found.layer.damage.first().map(ToString::to_string).unwrap_or_default()
    );
    let expected = [
        "12: allow file.read * !",
        "13: deny process.execute git push *",
        "13: deny network.access git push *",
        "13: deny git.modify git push *",
        "13: deny process.background git push *",
        "14: ask file.write.* * !",
        "17: ask process.execute *",
        "18: allow process.execute npm test *",
        "19: allow process.execute make *",
        "22: deny file.* /p/secrets/**",
        "23: allow file.* ~/x",
        "4: allow file.write.outsideProject /srv/notes/*",
    ];
    assert_eq!(rules(&found), expected);
    let (last, home) = (&found.layer.rules[11].rule, &found.layer.rules[10].rule);
    assert_eq!(last.reason.as_deref(), Some("notes are shared"));
    assert_eq!(last.expires.as_deref(), Some("2030-12-31"));
    assert_eq!((home.destroys, home.lifts), (true, true));
}

#[test]
fn conditions_and_floors() {
    let text = r#"
forbid = ["bypass", "trust"]
[permissions."process.execute"]
"make *" = { action = "allow", modes = ["plan"], entry = ["hook", "script"], agent = ["codex"], interactive = false }
[[floor]]
name = "no-prod"
capability = "process.execute"
pattern = "kubectl * prod *"
reason = "ask the operators"
match = ["kubectl delete -n prod x"]
"#;
    let path = Path::new("config.toml");
    let read_for = |layer| read(text, &Origin { layer, path, root: Some("/p"), home: None });
    let found = read_for(Layer::User);
    assert_eq!(found.layer.damage, vec![]);
    assert_eq!(found.layer.forbids, [Forbidden::Bypass, Forbidden::Trust]);
    let [make, floor] = &found.layer.rules[..] else { panic!("{:?}", found.layer.rules) };
    let when = make.rule.when.as_deref().expect("conditions");
    assert_eq!((&when.modes[..], &when.entries[..]), (&[Mode::Plan][..], &[Entry::Hook, Entry::Script][..]));
    assert_eq!((&when.agents[..], when.interactive), (&["codex".to_owned()][..], Some(false)));
    assert_eq!((floor.rule.floor.as_deref(), floor.rule.action), (Some("no-prod"), Verdict::Deny));
    let mistaken = |text: &str| {
        let found = read(text, &Origin { layer: Layer::Managed, path, root: None, home: None });
        (found.layer.damage[0].place(), found.layer.damage[0].title.clone(), found.layer.rules.len())
    };
    let place = |place: &str| format!("config.toml:{place}");
    let unknown = "`yolo` is not one of bypass, trust, review".to_owned();
    assert_eq!(mistaken("forbid = ['yolo']"), (place("1:11"), unknown, 0));
    let nameless = "this rule has no `name`".to_owned();
    assert_eq!(mistaken("[[floor]]\ncapability = '*'"), (place("1:1"), nameless, 0));
    let project = read_for(Layer::Project);
    let titles: Vec<_> = project.layer.damage.iter().map(|report| report.title.as_str()).collect();
    assert!(
        matches!(titles[..], [one, two] if one.contains("`forbid` counts only") && two.contains("`floor`"))
    );
}

#[test]
fn settings() {
    let found = reading(
        r#"
mode = "accept-edits"
on_unresolved = "deny"
on_ask_without_terminal = "queue"
on_review_unavailable = "allow"
on_mixed = "review"
allow_roots = ["~/lib", "/srv/lib"]
[ask]
terminals = ["tmux", "/usr/bin/kitty"]
plain = true
[audit]
required = true
[shell]
path = "/bin/bash"
[run]
pty = "always"
timeout = "1.5m"
timeout_status = 99
way = "pipes"
[limits]
bytes = 65_536
depth = 0x20
"#,
    );
    assert_eq!(found.layer.damage, vec![]);
    let settings = &found.layer.settings;
    assert_eq!(found.layer.mode, Some(Mode::AcceptEdits));
    assert_eq!(settings.on_unresolved, Some(Verdict::Deny));
    assert_eq!(settings.on_ask_without_terminal, Some(WithoutTerminal::Queue));
    assert_eq!(settings.on_review_unavailable, Some(Verdict::Allow));
    assert_eq!(settings.on_mixed, Some(Verdict::Review));
    assert_eq!(settings.allow_roots.as_deref(), Some(&["~/lib".to_owned(), "/srv/lib".to_owned()][..]));
    assert_eq!(settings.terminals.as_ref().map(Vec::len), Some(2));
    assert_eq!((settings.audit_required, settings.plain), (Some(true), Some(true)));
    assert_eq!(settings.pty, Some(Pty::Always));
    let run = (settings.timeout, settings.timeout_status, settings.way);
    assert_eq!(run, (Some(Duration::from_secs(90)), Some(99), Some(Way::Pipes)));
    assert_eq!((settings.limits.bytes, settings.limits.depth), (Some(65_536), Some(32)));
}

#[test]
fn mistakes_have_a_place_and_a_help() {
    for (text, place, title, help) in [
        ("mod = 'plan'", "1:1", "unknown key `mod`", "did you mean `mode`?"),
        ("mode = 'plam'", "1:8", "`plam` is not one of", "did you mean `plan`?"),
        ("mode = 3", "1:8", "a string is expected here, not integer", ""),
        ("on_mixed = 'allow'", "1:12", "`allow` is not one of review, ask, deny", ""),
        ("[audit]\nrequire = true", "2:1", "unknown key `require`", "did you mean `required`?"),
        ("[limits]\nbytes = -1", "2:9", "a number above 0 is expected here", ""),
        ("[shell]\npath = 'bash'", "2:8", "`bash` is not an absolute path", ""),
        ("allow_roots = ['x']", "1:16", "`x` is not an absolute path", ""),
        ("forbid = ['yolo']", "1:1", "`forbid` counts only in the user's file", ""),
        (
            "[permissions.'file.read']\n'/a' = { action = 'ask', modes = ['plann'] }",
            "2:35",
            "`plann` is not one of",
            "did you mean `plan`?",
        ),
        ("permissions = 1", "1:15", "a table is expected here", ""),
        (
            "[permissions]\n'file.reed' = 'ask'",
            "2:1",
            "unknown capability `file.reed`",
            "did you mean `file.read`?",
        ),
        ("[permissions]\n'file.read' = 'maybe'", "2:15", "`maybe` is not one of", ""),
        ("[permissions.'file.read']\n'a/../b' = 'ask'", "2:1", "no path is ever spelled", "resolved"),
        ("[permissions.'file.read']\n'/etc/' = 'deny'", "2:1", "no path is ever spelled `/etc/`", "`/etc/*`"),
        (
            "[permissions.'file.read']\n'Bash(x)' = 'deny'",
            "2:1",
            "`Bash(x)` is no rule for this capability",
            "",
        ),
        ("[permissions.'file.read']\n'/a' = { acton = 'ask' }", "2:10", "unknown key `acton`", "`action`"),
        ("[[permissions.rules]]\naction = 'ask'", "1:1", "this rule has no `capability`", ""),
        ("[[permissions.rules]]\ncapability = '*'", "2:14", "this rule has no `action`", ""),
        ("[permissions]\nrules = 1", "2:9", "an array of rules is expected here", ""),
        ("mode = 'plan", "1:13", "invalid literal string", ""),
        ("= 1", "1:1", "", ""),
        ("mode = 'plan'\nmode = 'plan'", "2:1", "duplicate key", ""),
    ] {
        let found = reading(text);
        let report = found.layer.damage.first().unwrap_or_else(|| panic!("{text:?} is no mistake"));
        assert_eq!(report.place(), format!("config.toml:{place}"), "{text:?}: {report}");
        assert!(report.title.contains(title), "{text:?}: {report}");
        let shown = report.to_string();
        assert!(shown.contains(help) && shown.contains('^'), "{text:?}: {shown}");
    }
}

#[test]
fn mistakes_in_rules_leave_the_others() {
    let rule = |body: &str| format!("[[permissions.rules]]\ncapability = 'process.execute'\n{body}\n");
    for (body, title) in [
        ("pattern = 'x *'\naction = 'ask'\nmatch = ['y']", "does not match its example `y`"),
        ("pattern = 'x *'\naction = 'ask'\nnot_match = ['x']", "the rule matches `x`, which it should not"),
        ("pattern = 'x'\naction = 'ask'\nreasn = 'r'", "unknown key `reasn`"),
        ("pattern = 'x'\naction = 'ask'\nexpires = '2030-02-30'", "is not a day"),
        ("pattern = 'x'\naction = 'ask'\nexpires = 2030-01-01T00:00:00Z", "is not a day"),
        ("pattern = 'x'\naction = 'ask'\nlifts = 'deny'", "`deny` is not one of ask"),
    ] {
        let text = rule(body) + &rule("pattern = 'curl *'\naction = 'deny'");
        let found = reading(&text);
        let titles: Vec<_> = found.layer.damage.iter().map(|report| report.title.as_str()).collect();
        assert!(matches!(titles[..], [only] if only.contains(title)), "{body}: {titles:?}");
        assert!(rules(&found).iter().any(|rule| rule.ends_with("deny process.execute curl *")), "{body}");
        // A rule with a wrong key or value is not half loaded; one with a wrong example says what it says.
        let whole = title.contains("match");
        assert_eq!(found.layer.rules.len(), if whole { 2 } else { 1 }, "{body}");
    }
}

#[test]
fn a_syntax_error_leaves_what_refuses() {
    let curl = "2: deny process.execute curl *";
    for (text, expected) in [
        ("'make = 'allow'\n'rm *' = 'ask'", &[curl, "4: ask process.execute rm *"][..]),
        ("make * = 'allow'\n= 3\n'rm *' = 'ask'", &[curl, "5: ask process.execute rm *"]),
        // What follows a broken header is not taken for what precedes it.
        ("[permissions.'file.read'\n'/a' = 'deny'\n\n[run]\npty = 'never'", &[curl]),
        ("[permissions.'process.execute']\n'/a' = 'deny'", &[curl]),
        ("'rm *' = 'ask'\nx = \"\"\"", &[curl, "3: ask process.execute rm *"]),
        ("\0", &[curl]),
    ] {
        let found = reading(&format!("[permissions.'process.execute']\n'curl *' = 'deny'\n{text}\n"));
        assert!(!found.layer.damage.is_empty(), "{text:?}");
        assert_eq!(rules(&found), expected, "{text:?}");
    }
}

#[test]
fn relative_patterns_belong_to_projects() {
    let text = "[permissions.'file.read']\n'secrets/*' = 'deny'";
    assert_eq!(rules(&reading(text)), ["2: deny file.read /p/secrets/*"]);
    let path = Path::new("config.toml");
    let user = read(text, &Origin { layer: Layer::User, path, root: None, home: None });
    assert!(user.layer.rules.is_empty());
    assert!(user.layer.damage[0].to_string().contains("this file belongs to no project"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read(text in "([\\[\\]'\"=#{}, \n.*a-c]|permissions|mode|allow|deny|file\\.read|rules|ä){0,40}") {
        for report in reading(&text).layer.damage {
            assert!(report.render(true).contains("error"));
        }
    }
}

/// A home with a project in it.
struct Machine {
    home: PathBuf,
    folders: Folders,
    _folder: tempfile::TempDir,
}

impl Machine {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("real");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.clone().into())).expect("a home");
        let machine = Self { home, folders, _folder: folder };
        fs::create_dir_all(machine.project().join(".git")).expect("made");
        machine
    }

    fn project(&self) -> PathBuf {
        self.home.join("p")
    }

    fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o644)).expect("mode");
    }

    fn load(&self, options: Options) -> Policy {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let (home, project) = (Some(text(self.home.clone())), Some(text(self.project())));
        let named = options.managed == Path::new(super::find::MANAGED);
        let managed = if named { self.home.join("managed.toml") } else { options.managed };
        let options = Options { managed, ..options };
        load(Some(&self.folders), Places { home, project, ..Places::default() }, options)
    }

    fn managed(&self, managed: PathBuf) -> Policy {
        self.load(Options { managed, ..Options::new() })
    }

    fn policy(&self) -> Policy {
        self.load(Options::new())
    }
}

fn judge(policy: &Policy, command: &str) -> Verdict {
    let subject = Subject::Command { written: command.to_owned(), inner: vec![], allow_needs_all: false };
    let request = CapabilityRequest::new(Capability::ProcessExecute, subject, String::new(), Span::default());
    policy.evaluate(&request).verdict
}

fn info(policy: &Policy, layer: Layer) -> &LayerInfo {
    policy.layers.iter().find(|info| info.layer == layer).expect("listed")
}

const ALLOW_MAKE: &str = "[permissions.'process.execute']\n'make *' = 'allow'\n'curl *' = 'deny'\n";

#[test]
fn nothing_written_is_the_builtin_policy() {
    let policy = Machine::new().policy();
    assert_eq!(judge(&policy, "make"), Verdict::Ask);
    assert!(policy.layers.iter().all(|info| info.state == LayerState::Missing));
    assert_eq!(policy.layers.len(), 4);
}

#[test]
fn a_project_file_allows_only_when_trusted() {
    let machine = Machine::new();
    let file = machine.project().join(PROJECT);
    machine.write(&file, ALLOW_MAKE);
    let policy = machine.policy();
    assert_eq!((judge(&policy, "make"), judge(&policy, "curl x")), (Verdict::Ask, Verdict::Deny));
    assert_eq!(info(&policy, Layer::Project).state, LayerState::Untrusted);

    trust::trust(&machine.folders, &file, ALLOW_MAKE.as_bytes()).expect("trusted");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Allow);
    machine.write(&file, &format!("{ALLOW_MAKE}'rm *' = 'allow'\n"));
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Ask, "an edit ends the trust");
}

#[test]
fn a_file_that_others_can_write_only_refuses() {
    let machine = Machine::new();
    let file = machine.folders.user_file();
    machine.write(&file, ALLOW_MAKE);
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Allow);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("mode");
    let policy = machine.policy();
    assert_eq!((judge(&policy, "make"), judge(&policy, "curl x")), (Verdict::Ask, Verdict::Deny));
    let damage = &info(&policy, Layer::User).damage;
    assert!(damage[0].title.contains("can be written by others"), "{}", damage[0]);
}

#[test]
fn a_damaged_file_asks_and_says_where() {
    let machine = Machine::new();
    machine.write(&machine.folders.user_file(), &format!("mode = 'bypass'\nmod = 1\n{ALLOW_MAKE}"));
    let policy = machine.policy();
    assert_eq!((judge(&policy, "make"), judge(&policy, "curl x")), (Verdict::Ask, Verdict::Deny));
    assert_eq!(policy.mode, Mode::Default);
    assert!(
        policy.damage.as_deref().is_some_and(|place| place.ends_with("config.toml:2:1")),
        "{:?}",
        policy.damage
    );
    machine.write(&machine.folders.user_file(), ALLOW_MAKE);
    fs::write(machine.folders.user_file(), b"mode = 'plan'\n\xff").expect("written");
    assert!(machine.policy().damage.is_some(), "no UTF-8");
}

#[test]
fn a_given_file_takes_the_place_of_the_users() {
    let machine = Machine::new();
    machine.write(&machine.folders.user_file(), "mode = 'plan'\n");
    let given = machine.project().join("given.toml");
    machine.write(&given, ALLOW_MAKE);
    let policy = machine.load(Options { config: Some(given.clone()), ..Options::new() });
    assert_eq!((judge(&policy, "make"), policy.mode), (Verdict::Allow, Mode::Default));
    let policy = machine.load(Options { config: Some(given.with_extension("none")), ..Options::new() });
    assert!(policy.damage.is_some(), "a file named by hand must be there");
}

#[test]
fn a_kept_reading_is_used_in_the_place_of_the_file() {
    let machine = Machine::new();
    let file = machine.folders.user_file();
    machine.write(&file, ALLOW_MAKE);
    let other = reading("[permissions.'process.execute']\n'make *' = 'deny'\n").layer;
    let other = LayerRules { layer: Layer::User, ..other };
    let stamp = Stamp::of(&fs::metadata(&file).expect("there"));
    let later = SystemTime::now() + Duration::from_secs(60);
    cache::keep(&machine.folders, &Cached::new(&file, stamp, "h", &other), later).expect("kept");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Deny);
    machine.write(&file, ALLOW_MAKE);
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Allow, "the file has changed since");
}

#[test]
fn the_users_own_rules_for_a_project() {
    let machine = Machine::new();
    let file = machine.folders.user_project_file(&machine.project());
    machine.write(
        &file,
        "[permissions.'file.read']\n'secrets/*' = 'deny'\n[permissions.'process.execute']\n'make' = 'allow'",
    );
    let policy = machine.policy();
    assert_eq!(judge(&policy, "make"), Verdict::Allow);
    assert_eq!(info(&policy, Layer::UserProject).rules, 2);
}

/// The cache holds what a file says, not whether anybody trusts it.
#[test]
fn a_kept_reading_of_an_untrusted_file_is_untrusted() {
    let machine = Machine::new();
    let file = machine.project().join(PROJECT);
    machine.write(&file, ALLOW_MAKE);
    let text = fs::read(&file).expect("read");
    let root = machine.project().to_string_lossy().into_owned();
    let origin = Origin { layer: Layer::Project, path: &file, root: Some(&root), home: None };
    let layer = read(ALLOW_MAKE, &origin).layer;
    assert!(layer.trusted, "a reading by itself knows of no trust");
    let stamp = Stamp::of(&fs::metadata(&file).expect("there"));
    let later = SystemTime::now() + Duration::from_secs(60);
    let hash = crate::store::hash(&text);
    cache::keep(&machine.folders, &Cached::new(&file, stamp, &hash, &layer), later).expect("kept");
    let policy = machine.policy();
    assert_eq!(info(&policy, Layer::Project).state, LayerState::Untrusted);
    assert_eq!((judge(&policy, "make"), judge(&policy, "curl x")), (Verdict::Ask, Verdict::Deny));
    trust::trust(&machine.folders, &file, &text).expect("trusted");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Allow, "the kept reading's hash is trusted");
}

/// A file given with `--config` is read as the user's; as the project's it must not keep that standing.
#[test]
fn a_reading_for_one_layer_is_none_for_another() {
    let machine = Machine::new();
    let file = machine.project().join(PROJECT);
    machine.write(&file, ALLOW_MAKE);
    let origin = Origin { layer: Layer::User, path: &file, root: None, home: None };
    let layer = read("[permissions.'process.execute']\n'make' = 'deny'\n", &origin).layer;
    let stamp = Stamp::of(&fs::metadata(&file).expect("there"));
    let later = SystemTime::now() + Duration::from_secs(60);
    cache::keep(&machine.folders, &Cached::new(&file, stamp, "h", &layer), later).expect("kept");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Ask, "the kept reading would refuse");
}

/// The machine owner's file, as it stands in each state: what it refuses holds in all of them but the last two,
/// and in none of the bad ones anything is silent by default.
#[test]
fn the_machine_owners_file() {
    let is_root = nix::unistd::geteuid().is_root();
    let refuses = "[permissions.'process.execute']\n'curl *' = 'deny'\n";
    type Change = fn(&Path);
    let table: &[(&str, Change, Option<&str>)] = &[
        ("sound", |_| (), (!is_root).then_some("belongs to another user")),
        (
            "a link to it",
            |path| {
                let real = path.with_extension("real");
                fs::rename(path, &real).expect("moved");
                std::os::unix::fs::symlink(real, path).expect("linked");
            },
            (!is_root).then_some("belongs to another user"),
        ),
        (
            "others can write it",
            |path| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o666)).expect("mode");
            },
            Some(if is_root { "can be written by others (mode 666)" } else { "belongs to another user" }),
        ),
        (
            "others can write its folder",
            |path| {
                let folder = path.parent().expect("a folder");
                fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("mode");
            },
            Some(if is_root { "can be written by others (mode 777)" } else { "belongs to another user" }),
        ),
        (
            "broken",
            |path| {
                fs::write(path, "[permissions.'process.execute']\n'curl *' = 'deny'\n'touch *' = = 'deny'\n")
                    .expect("written");
            },
            Some(if is_root { "" } else { "belongs to another user" }),
        ),
        (
            "a folder",
            |path| {
                fs::remove_file(path).expect("removed");
                fs::create_dir(path).expect("made");
            },
            Some("is not a regular file"),
        ),
        (
            "a link to nothing",
            |path| {
                fs::remove_file(path).expect("removed");
                std::os::unix::fs::symlink("/nowhere/at/all", path).expect("linked");
            },
            Some("is not a regular file"),
        ),
    ];
    for (index, (what, change, damage)) in table.iter().enumerate() {
        let machine = Machine::new();
        let path = machine.home.join("managed/managed.toml");
        machine.write(&path, refuses);
        machine.write(&machine.folders.user_file(), ALLOW_MAKE);
        change(&path);
        let policy = machine.managed(path);
        let found = info(&policy, Layer::Managed);
        let title = found.damage.first().map(|report| report.title.as_str());
        assert_eq!(title.is_some(), damage.is_some(), "{what}: {title:?}");
        assert!(
            damage.is_none_or(|part| title.is_some_and(|title| title.contains(part))),
            "{what}: {title:?}"
        );
        if index < table.len() - 2 {
            assert_eq!(judge(&policy, "curl x"), Verdict::Deny, "{what}");
        }
        // What the user allows by a rule of their own stays theirs to allow.
        assert_eq!(judge(&policy, "make"), Verdict::Allow, "{what}");
        let silent = CapabilityRequest::new(
            Capability::FileRead,
            Subject::Path(vec!["/srv/a".to_owned()]),
            String::new(),
            Span::default(),
        );
        let expected = if damage.is_some() { Verdict::Ask } else { Verdict::Allow };
        assert_eq!(policy.evaluate(&silent).verdict, expected, "{what}");
    }
}

/// A file that somebody else wrote may refuse, but not say which folders are the project.
#[test]
fn a_suspect_managed_file_adds_no_roots() {
    for (mode, roots) in [(0o644, usize::from(nix::unistd::geteuid().is_root())), (0o666, 0)] {
        let machine = Machine::new();
        let path = machine.home.join("managed.toml");
        machine.write(&path, "allow_roots = ['/srv']\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("mode");
        let policy = machine.managed(path);
        assert_eq!(policy.knobs.allow_roots.len(), roots, "{mode:o}");
    }
}

/// A user's file in a repository counts once it is trusted, and no longer where trust is forbidden.
#[test]
fn a_users_file_in_a_repository_is_trusted_like_a_projects() {
    let machine = Machine::new();
    let real = machine.home.join("dotfiles/gsh.toml");
    machine.write(&real, ALLOW_MAKE);
    fs::create_dir_all(machine.home.join("dotfiles/.git")).expect("made");
    fs::create_dir_all(&machine.folders.config).expect("made");
    std::os::unix::fs::symlink(&real, machine.folders.user_file()).expect("linked");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Ask);
    trust::trust(&machine.folders, &real, ALLOW_MAKE.as_bytes()).expect("trusted");
    assert_eq!(judge(&machine.policy(), "make"), Verdict::Allow);
    let managed = machine.home.join("managed.toml");
    machine.write(&managed, "forbid = ['trust']\n");
    assert_eq!(judge(&machine.managed(managed), "make"), Verdict::Ask);
}

/// A file of no bytes is one that was cut: what it refused is lost, so nothing is silent by default.
#[test]
fn an_empty_file_is_damage() {
    let machine = Machine::new();
    machine.write(&machine.folders.user_file(), "");
    let policy = machine.policy();
    assert_eq!(info(&policy, Layer::User).state, LayerState::Damaged);
    assert!(policy.damage.as_deref().is_some_and(|place| place.ends_with("config.toml")));
    machine.write(&machine.folders.user_file(), "# nothing yet\n");
    assert_eq!(info(&machine.policy(), Layer::User).state, LayerState::Ok);
    assert_eq!(fs::read_to_string(machine.folders.user_file()).expect("read"), "# nothing yet\n");
}
