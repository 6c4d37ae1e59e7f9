//! The floor: what no rule, mode, grant or trust can allow. Judged by effect, whatever the program.

use crate::facts::arg::{Arg, Part};
use crate::facts::path::{Located, Target, is_below, name, normal, parent};
use crate::facts::programs::Push;
use crate::facts::{Change, Effect, EffectKind, Facts, Found, glob};
use crate::host::{Host, Node};
use crate::report::Span;

/// Every entry of the floor, with the sentence that refusals use.
pub const ENTRIES: &[(&str, &str)] = &[
    ("delete-root", "it would delete, empty or move away the system, a home, or all that is in one"),
    ("wipe-device", "it would write over a device or its table"),
    ("system-file", "it would destroy a file that the system needs to start or to log in"),
    ("open-root", "it would change owners or modes of the system or of a whole home"),
    ("fork-bomb", "it starts copies of itself without end"),
    ("power", "it turns the machine off or restarts it"),
    ("force-push-main", "it rewrites or deletes the main branch of a remote"),
    ("kill-all", "it ends every process"),
    ("canary", "it is the inert word that is always refused, so that a guard can be tested"),
    ("disarm", "it changes gsh itself: its configuration, state, records or approvals"),
];

/// What the floor says of a command.
#[derive(Debug, Clone, Default)]
pub struct Ruling {
    /// Entries that the text plainly hits.
    pub hits: Vec<Hit>,
    /// What may be one, if an unknown word has the wrong value.
    pub suspects: Vec<Suspect>,
}

/// An entry that is hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its name in [`ENTRIES`].
    pub entry: &'static str,
    /// What hits it, for a person.
    pub detail: String,
    /// Where.
    pub span: Span,
}

/// An effect whose worst case is an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suspect {
    /// The worst case, for a person.
    pub detail: String,
    /// Where.
    pub span: Span,
}

/// Top-level folders without which the machine does not work, and the second level of `/usr`.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "/usr/bin",
    "/usr/sbin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share",
    "/usr/local",
    "/System",
    "/Library",
    "/Applications",
    "/Users",
    "/private",
];

/// Files whose loss locks everybody out or stops the machine; patterns of one path.
const SYSTEM_FILES: &[&str] = &[
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/gshadow",
    "/etc/sudoers",
    "/etc/sudoers.d/*",
    "/etc/fstab",
    "/boot/*",
    "/bin/sh",
    "/bin/bash",
    "/bin/dash",
    "/usr/bin/sh",
    "/usr/bin/bash",
    "/usr/bin/dash",
    "/sbin/init",
    "/usr/sbin/init",
    "/lib/*libc.so*",
    "/lib64/*libc.so*",
    "/usr/lib/*libc.so*",
    "/usr/lib64/*libc.so*",
    "/lib/*ld-linux*",
    "/lib64/*ld-linux*",
    "/usr/lib/*ld-linux*",
    "/usr/lib64/*ld-linux*",
    "/etc/ssh/ssh_host_*",
];

/// Devices, also where this machine does not have them. Patterns of one path.
const DEVICES: &[&str] = &[
    "/dev/sd[a-z]*",
    "/dev/hd[a-z]*",
    "/dev/vd[a-z]*",
    "/dev/xvd[a-z]*",
    "/dev/nvme[0-9]*",
    "/dev/mmcblk[0-9]*",
    "/dev/md[0-9]*",
    "/dev/md/*",
    "/dev/dm-[0-9]*",
    "/dev/mapper/*",
    "/dev/disk/*",
    "/dev/loop[0-9]*",
    "/dev/sr[0-9]*",
    "/dev/nbd[0-9]*",
    "/dev/zd[0-9]*",
    "/dev/zvol/*",
    "/dev/ram[0-9]*",
    "/dev/mtd*",
    "/dev/block/*",
    "/dev/rdisk[0-9]*",
    "/dev/disk[0-9]*",
    "/dev/mem",
    "/dev/kmem",
    "/dev/port",
    "/proc/sysrq-trigger",
    "/proc/kcore",
];

/// Holds the facts against every entry.
#[must_use]
pub fn judge(facts: &Facts, host: &dyn Host) -> Ruling {
    let mut ruling = Ruling::default();
    for effect in &facts.effects {
        if let Some((entry, detail)) = hit(effect, host) {
            let where_else = match effect.found {
                Found::Read | Found::Glimpsed => None,
                Found::Guessed => Some("a program that gsh does not know may run this"),
                Found::Elsewhere => Some("on another machine or in a container this would be"),
            };
            if let Some(what) = where_else {
                let detail = format!("{what}: {entry} ({detail})");
                ruling.suspects.push(Suspect { detail, span: effect.span });
                continue;
            }
            ruling.hits.push(Hit { entry, detail, span: effect.span });
        } else if let Some(detail) = suspect(effect, host) {
            ruling.suspects.push(Suspect { detail, span: effect.span });
        }
    }
    ruling
}

/// The sentence of an entry.
#[must_use]
pub fn sentence(entry: &str) -> &'static str {
    ENTRIES.iter().find(|(name, _)| *name == entry).map_or("it is on the floor", |(_, text)| text)
}

fn hit(effect: &Effect, host: &dyn Host) -> Option<(&'static str, String)> {
    match &effect.kind {
        EffectKind::Write { target: Target::Known(place), change } => path_hit(place, *change, host),
        EffectKind::Write { target: Target::Below { root, name }, change } => {
            tree_hit(root, name.as_deref(), *change, host)
        }
        // A pattern whose finds are not known: what it names is.
        EffectKind::Write { target: Target::Unknown { worst: Some(place), .. }, change }
            if place.pattern.is_some() =>
        {
            path_hit(place, *change, host)
        }
        EffectKind::Push { push, directory } => push_hit(push, directory.as_deref(), host),
        EffectKind::Power => Some(("power", "it turns the machine off".to_owned())),
        EffectKind::KillAll => Some(("kill-all", "it signals every process".to_owned())),
        EffectKind::ForkBomb => Some(("fork-bomb", "a function that starts itself beside itself".to_owned())),
        EffectKind::DeleteUser => Some(("system-file", "it deletes an account with its files".to_owned())),
        EffectKind::Canary => Some(("canary", "gsh-canary-deny".to_owned())),
        EffectKind::Disarm => Some(("disarm", "a verb that changes gsh".to_owned())),
        _ => None,
    }
}

/// One known place.
fn path_hit(place: &Located, change: Change, host: &dyn Host) -> Option<(&'static str, String)> {
    let shown = place.lexical.clone();
    if is_device(place) && change != Change::Mode && change != Change::ModeTree {
        return Some(("wipe-device", shown));
    }
    if change >= Change::Write && !matches!(change, Change::Mode | Change::ModeTree) && is_system_file(place)
    {
        return Some(("system-file", shown));
    }
    let vital = || forms(place, change).any(|path| is_vital(path, host)) || pattern_is_vital(place, host);
    let entry = match change {
        Change::DeleteTree | Change::Move if vital() => Some("delete-root"),
        Change::ModeTree if vital() => Some("open-root"),
        Change::Delete if swept(place) => Some("delete-root"),
        _ => None,
    };
    if let Some(entry) = entry {
        return Some((entry, place.pattern.clone().unwrap_or(shown)));
    }
    let ours = host.is_ours(std::path::Path::new(&place.real)) && !is_ancestor_only(place, change);
    ours.then_some(("disarm", shown))
}

/// Writing a folder above gsh's own (making a file in `~`) is not writing gsh; deleting it is.
fn is_ancestor_only(place: &Located, change: Change) -> bool {
    let takes_all = matches!(change, Change::DeleteTree | Change::Move | Change::ModeTree);
    !takes_all && place.node == Node::Directory
}

/// Paths at or below a place.
fn tree_hit(
    root: &Located,
    name: Option<&str>,
    change: Change,
    host: &dyn Host,
) -> Option<(&'static str, String)> {
    if name.is_some_and(|name| !glob::is_broad(name)) {
        return None;
    }
    let whole = [&root.lexical, &root.real].into_iter().any(|path| is_vital(path, host));
    let entry = match change {
        Change::Delete | Change::DeleteTree | Change::Move => "delete-root",
        Change::Mode | Change::ModeTree => "open-root",
        Change::Write | Change::Edit | Change::Patch | Change::Put => "system-file",
        _ => return None,
    };
    whole.then(|| (entry, format!("everything below {}", root.lexical)))
}

/// The spellings of a place that a change reaches: deleting and moving do not follow a last link.
fn forms(place: &Located, change: Change) -> impl Iterator<Item = &str> {
    let link_itself = place.entry != place.real && matches!(change, Change::DeleteTree | Change::Move);
    let lexical = (!link_itself).then_some(place.lexical.as_str());
    let real = if link_itself { place.entry.as_str() } else { place.real.as_str() };
    lexical.into_iter().chain(std::iter::once(real))
}

/// The root, a system folder, a home, or a folder that holds a home.
fn is_vital(path: &str, host: &dyn Host) -> bool {
    path == "/" || SYSTEM.contains(&path) || is_home(path, host)
}

fn is_home(path: &str, host: &dyn Host) -> bool {
    let folder = parent(path);
    let usual = (folder == "/home" || folder == "/Users") && !name(path).is_empty();
    usual
        || host.homes().iter().any(|home| {
            let home = home.to_string_lossy();
            home != "/" && is_below(&normal(&home), path)
        })
}

/// A pattern that names a vital folder, or everything in one.
fn pattern_is_vital(place: &Located, host: &dyn Host) -> bool {
    let Some(pattern) = &place.pattern else { return false };
    if glob::is_broad(name(pattern)) {
        let folder = parent(pattern);
        if is_vital(&glob::plain(&folder), host) || vital_matches(&folder, host) {
            return true;
        }
    }
    vital_matches(pattern, host)
}

/// Whether a pattern, component by component, matches a vital folder.
fn vital_matches(pattern: &str, host: &dyn Host) -> bool {
    let homes = host.homes();
    let homes = homes.iter().filter_map(|home| home.to_str());
    let mut vital = SYSTEM.iter().copied().chain(homes);
    // What is in the folder of homes is a home, also where this machine has none of that name.
    let home = ["/home", "/Users"].iter().any(|folder| same_components(&parent(pattern), folder));
    glob::is_pattern(pattern) && (home || vital.any(|path| same_components(pattern, path)))
}

fn same_components(pattern: &str, path: &str) -> bool {
    let (mut left, mut right) = (pattern.split('/'), path.split('/'));
    loop {
        match (left.next(), right.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if glob::matches(pattern, part) => {}
            _ => return false,
        }
    }
}

/// `rm /bin/*`: no tree, but every file of a system folder.
fn swept(place: &Located) -> bool {
    place.pattern.as_ref().is_some_and(|pattern| {
        let folder = parent(pattern);
        glob::is_broad(name(pattern)) && (folder == "/" || SYSTEM.contains(&folder.as_str()))
    })
}

fn is_device(place: &Located) -> bool {
    place.node == Node::BlockDevice
        || [&place.lexical, &place.real]
            .into_iter()
            .any(|path| DEVICES.iter().any(|each| glob::matches(each, path)))
}

fn is_system_file(place: &Located) -> bool {
    [&place.lexical, &place.entry]
        .into_iter()
        .any(|path| SYSTEM_FILES.iter().any(|each| glob::matches(each, path)))
}

/// A push that loses commits of the main branch.
fn push_hit(push: &Push, directory: Option<&str>, host: &dyn Host) -> Option<(&'static str, String)> {
    let git = directory.and_then(|directory| host.git(std::path::Path::new(directory)));
    let default = git.as_ref().and_then(|git| git.default_branch.clone());
    let is_main = |branch: &str| matches!(branch, "main" | "master") || default.as_deref() == Some(branch);
    let head = git.and_then(|git| git.head);
    let head_may_be_main = head.as_deref().is_none_or(is_main);
    let say = |what: &str| Some(("force-push-main", what.to_owned()));
    let loses = push.force || push.delete;
    if push.all && loses {
        return say("every branch of the remote");
    }
    if push.refspecs.is_empty() {
        return (push.force && head_may_be_main)
            .then(|| say("the current branch is or may be the main one"))?;
    }
    for refspec in &push.refspecs {
        // A refspec with a wildcard that could be a path pattern is most likely taken as it stands.
        let as_written = || refspec.glob.as_ref().map(|pattern| vec![glob::plain(pattern)]);
        let Some(texts) = refspec.alternatives(64).or_else(as_written) else { continue };
        for text in texts {
            if !(loses || text.starts_with('+') || text.starts_with(':')) {
                continue;
            }
            let text = text.trim_start_matches('+');
            let (source, target) = text.split_once(':').unwrap_or((text, text));
            let branch = target.strip_prefix("refs/heads/").unwrap_or(target);
            let hit = match branch {
                "" => source.is_empty() && push.force || source == "HEAD" && head_may_be_main,
                "HEAD" | "@" => head_may_be_main,
                _ if branch.contains('*') => {
                    ["main", "master"].iter().any(|main| glob::matches(branch, main))
                }
                _ => is_main(branch),
            };
            if hit {
                return say(&format!("the remote's branch {branch}"));
            }
        }
    }
    None
}

fn is_glimpsed(effect: &Effect) -> bool {
    matches!(effect.found, Found::Glimpsed | Found::Guessed)
}

/// What the worst value of an unknown word would do.
fn suspect(effect: &Effect, host: &dyn Host) -> Option<String> {
    match &effect.kind {
        EffectKind::Write { target: Target::Unknown { worst, shown, .. }, change }
            if *change >= Change::Write =>
        {
            let worst_hit = worst.as_ref().and_then(|place| {
                let wild = glob::is_pattern(&place.lexical).then(|| place.lexical.clone());
                path_hit(&Located { pattern: wild, ..place.clone() }, *change, host)
            });
            // What was only glimpsed may be no such thing at all.
            if worst_hit.is_none() && is_glimpsed(effect) {
                return None;
            }
            Some(match (worst_hit, worst) {
                (Some((entry, path)), _) => {
                    format!("if the unknown part of {shown} is empty this is {path} ({entry})")
                }
                (None, Some(place)) => format!("{shown} may be any path, such as {}", place.lexical),
                (None, None) => format!("{shown} may be any path, such as / or a home"),
            })
        }
        EffectKind::Write { target: Target::Known(place) | Target::Below { root: place, .. }, .. }
            if place.stale && !is_glimpsed(effect) =>
        {
            Some(format!("an earlier part may make {} lead to anything", place.lexical))
        }
        EffectKind::Push { push, .. } => {
            let opaque = |arg: &Arg| arg.parts.iter().any(|part| matches!(part, Part::Hole(_)));
            let mut unknown =
                push.refspecs.iter().filter(|each| each.alternatives(64).is_none() && opaque(each));
            let loses = |each: &Arg| push.force || push.delete || each.head().starts_with(['+', ':']);
            unknown.any(loses).then(|| "the branch may be the main one".to_owned())
        }
        _ => None,
    }
}
