//! Paths: a word and a directory to the place the kernel would find.

use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::arg::{Arg, Below, Hole, HoleKind, Part};
use crate::host::{Host, Node};
use crate::syntax::Cause;

/// The most files a word with holes is enumerated into.
pub const ENUMERATED: usize = 512;

/// A place on the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Located {
    /// Absolute, `.` `..` and doubled slashes removed by text alone.
    pub lexical: String,
    /// Absolute, links resolved; equals `lexical` where that could not be told.
    pub real: String,
    /// The directory entry itself: links resolved but for the last component, which deleting and
    /// moving do not follow. Equals `real` when the path ends in a slash.
    pub entry: String,
    /// What is there now.
    #[serde(skip)]
    pub node: Node,
    /// Inside the project root, by the real path.
    pub in_project: bool,
    /// The pattern that the word came from, made absolute.
    pub pattern: Option<String>,
    /// An earlier part of the text may have changed where the path leads.
    #[serde(skip)]
    pub stale: bool,
}

/// Where a word points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A known place.
    Known(Located),
    /// Any path at or below a known place; with the pattern of their last components.
    Below {
        /// The place.
        root: Located,
        /// The pattern of the last component.
        name: Option<String>,
    },
    /// It cannot be told.
    Unknown {
        /// What it is if every unknown text is empty.
        worst: Option<Located>,
        /// The word for a person.
        shown: String,
        /// Why.
        cause: Cause,
    },
}

/// Every place a word can mean, resolved in `cwd`.
#[must_use]
pub fn targets(host: &dyn Host, cwd: Option<&str>, arg: &Arg) -> Vec<Target> {
    if let Some(texts) = arg.alternatives(ENUMERATED) {
        return texts
            .iter()
            .map(|text| {
                known(host, cwd, text, arg.glob.as_deref()).unwrap_or_else(|| unknown(host, cwd, arg))
            })
            .collect();
    }
    if let Some(found) = below(host, cwd, arg) {
        return found;
    }
    vec![unknown(host, cwd, arg)]
}

/// A path as written, made a place.
#[must_use]
pub fn locate(host: &dyn Host, cwd: Option<&str>, text: &str) -> Option<Located> {
    let absolute = if text.starts_with('/') {
        text.to_owned()
    } else {
        let cwd = cwd?;
        if text.is_empty() { cwd.to_owned() } else { format!("{}/{text}", cwd.trim_end_matches('/')) }
    };
    let lexical = normal(&absolute);
    // What these names lead to is the command's own output, wherever that goes.
    let own = super::is_device(&lexical) || lexical == "/dev/stdin";
    let resolved = |path: &str| host.real(Path::new(path)).and_then(|path| path.to_str().map(str::to_owned));
    let real = if own { None } else { resolved(&absolute) }.unwrap_or_else(|| lexical.clone());
    // What a process holds is not for everyone to resolve; at worst it is the root.
    let real = match through_process(&real) {
        Some(path) => resolved(&path).unwrap_or(path),
        None => real,
    };
    let mut node = if own { Node::Special } else { host.node(Path::new(&absolute)) };
    if node == Node::Missing && absolute.contains("/..") {
        // A folder on the way may be made before; then the path leads here.
        node = host.node(Path::new(&lexical));
    }
    let in_project = host.in_project(Path::new(&real));
    let follows = text.ends_with('/') || text.ends_with("/.") || text == ".";
    let entry = if own || follows || !host.is_link(Path::new(&absolute)) {
        real.clone()
    } else {
        let folder = parent(&lexical);
        let folder =
            host.real(Path::new(&folder)).and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(folder);
        format!("{}/{}", folder.trim_end_matches('/'), name(&lexical))
    };
    Some(Located { lexical, real, entry, node, in_project, pattern: None, stale: false })
}

/// Where a path through the root, the directory or a descriptor of a process leads at worst.
fn through_process(path: &str) -> Option<String> {
    let mut parts = path.strip_prefix("/proc/")?.split('/').skip(1).peekable();
    if parts.next_if_eq(&"task").is_some() {
        parts.next();
    }
    match parts.next()? {
        "root" | "cwd" => {}
        "fd" => drop(parts.next().filter(|_| parts.peek().is_some())?),
        _ => return None,
    }
    Some(normal(&parts.collect::<Vec<_>>().join("/")))
}

/// Whether a path is a place or below it, component by component. Both absolute and normal.
#[must_use]
pub fn is_below(path: &str, root: &str) -> bool {
    let root = root.trim_end_matches('/');
    path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The path without `.`, `..` and doubled slashes, by text alone.
#[must_use]
pub fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    format!("/{}", parts.join("/"))
}

/// The last component of a path; empty for the root.
#[must_use]
pub fn name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or("")
}

/// The path without its last component.
#[must_use]
pub fn parent(path: &str) -> String {
    let mut path = PathBuf::from(path);
    if !matches!(path.components().next_back(), Some(Component::RootDir) | None) {
        path.pop();
    }
    path.to_string_lossy().into_owned()
}

fn known(host: &dyn Host, cwd: Option<&str>, text: &str, glob: Option<&str>) -> Option<Target> {
    let mut place = locate(host, cwd, text)?;
    place.pattern = glob.and_then(|pattern| absolute_pattern(cwd, pattern));
    Some(Target::Known(place))
}

/// A pattern made absolute and normal; its wildcards stay as they are.
fn absolute_pattern(cwd: Option<&str>, pattern: &str) -> Option<String> {
    if pattern.starts_with('/') {
        return Some(normal(pattern));
    }
    Some(normal(&format!("{}/{pattern}", cwd?)))
}

fn below(host: &dyn Host, cwd: Option<&str>, arg: &Arg) -> Option<Vec<Target>> {
    let [Part::Hole(Hole { kind: HoleKind::Below(places), .. })] = arg.parts.as_slice() else {
        return None;
    };
    let mut found = Vec::new();
    for Below { root, name } in places.iter() {
        found.push(Target::Below { root: locate(host, cwd, root)?, name: name.clone() });
    }
    Some(found)
}

fn unknown(host: &dyn Host, cwd: Option<&str>, arg: &Arg) -> Target {
    let mut text = String::new();
    let mut cause = Cause::DynamicPath;
    for part in &arg.parts {
        match part {
            Part::Text(known) => text.push_str(known),
            Part::Hole(Hole { kind: HoleKind::Any(why), .. }) => cause = *why,
            Part::Hole(_) => {}
        }
    }
    if cause == Cause::DynamicWord {
        cause = Cause::DynamicPath;
    }
    let worst = match &arg.glob {
        // What a pattern finds later is not known, but what it names is.
        Some(pattern) => locate(host, cwd, &super::glob::plain(pattern)).map(|mut place| {
            place.pattern = absolute_pattern(cwd, pattern);
            place
        }),
        None if text.is_empty() => None,
        None => locate(host, cwd, &text),
    };
    Target::Unknown { worst, shown: arg.display(), cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_forms() {
        for (path, expected) in
            [("/", "/"), ("//a//b/", "/a/b"), ("/a/./b/../c", "/a/c"), ("/../..", "/"), ("/a/b/..", "/a")]
        {
            assert_eq!(normal(path), expected, "{path}");
        }
    }

    #[test]
    fn below_is_by_component() {
        for (path, root, expected) in [
            ("/home/dev", "/home/dev", true),
            ("/home/dev/x", "/home/dev", true),
            ("/home/developer", "/home/dev", false),
            ("/x", "/", true),
        ] {
            assert_eq!(is_below(path, root), expected, "{path} {root}");
        }
    }
}
