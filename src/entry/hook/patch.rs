//! The patches of `apply_patch`: which files one adds, changes, deletes and moves.

use crate::request::Act;

const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";

/// Lines that say nothing of a file.
const FRAME: [&str; 3] = ["*** Begin Patch", "*** End Patch", "*** End of File"];

/// What a patch does, by its headers; None when it has none, or one that is not known, so that nobody can tell.
#[must_use]
pub(super) fn acts(patch: &str) -> Option<Vec<Act>> {
    let mut acts: Vec<Act> = Vec::new();
    for line in patch.lines() {
        // A reader that is laxer about blanks must not find more than we do.
        let head = line.trim_start();
        if let Some(path) = after(head, ADD) {
            acts.push(Act::Write { path, content: String::new() });
        } else if let Some(path) = after(head, UPDATE) {
            acts.push(Act::Edit { path, parts: Vec::new() });
        } else if let Some(path) = after(head, DELETE) {
            acts.push(Act::Delete(path));
        } else if let Some(to) = after(head, MOVE) {
            let Some(Act::Edit { path, .. }) = acts.last() else { return None };
            acts.push(Act::Move { from: path.clone(), to });
        } else if line.starts_with("***") && !FRAME.contains(&line.trim_end()) {
            return None;
        } else {
            content(&mut acts, line);
        }
    }
    (!acts.is_empty()).then_some(acts)
}

fn after(line: &str, header: &str) -> Option<String> {
    line.strip_prefix(header).map(|path| path.trim().to_owned()).filter(|path| !path.is_empty())
}

/// A line of what the file before it gets.
fn content(acts: &mut [Act], line: &str) {
    match acts.last_mut() {
        Some(Act::Write { content, .. }) => {
            if let Some(added) = line.strip_prefix('+') {
                content.push_str(added);
                content.push('\n');
            }
        }
        Some(Act::Edit { parts, .. }) => changed(parts, line),
        _ => {}
    }
}

/// Lines that go and lines that come, as parts of the text: what stays stands in both.
fn changed(parts: &mut Vec<(String, String)>, line: &str) {
    let (sign, rest) = line.split_at_checked(1).unwrap_or(("", ""));
    if sign == "@" || parts.is_empty() {
        parts.push((String::new(), String::new()));
    }
    let Some((old, new)) = parts.last_mut() else { return };
    let add = |text: &mut String| {
        text.push_str(rest);
        text.push('\n');
    };
    match sign {
        "-" => add(old),
        "+" => add(new),
        " " => {
            add(old);
            add(new);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_what_a_patch_does() {
        let write = |path: &str, content: &str| Act::Write { path: path.into(), content: content.into() };
        let edit = |path: &str, parts: &[(&str, &str)]| Act::Edit {
            path: path.into(),
            parts: parts.iter().map(|(old, new)| ((*old).to_owned(), (*new).to_owned())).collect(),
        };
        let moved = |from: &str, to: &str| Act::Move { from: from.into(), to: to.into() };
        let table = [
            (
                "*** Begin Patch\n*** Add File: a b.txt\n+one\n+two\n*** End Patch",
                vec![write("a b.txt", "one\ntwo\n")],
            ),
            (
                "*** Update File: src/x.rs\n@@\n a\n-b\n+c\n@@ fn\n-d\n",
                vec![edit("src/x.rs", &[("a\nb\n", "a\nc\n"), ("d\n", "")])],
            ),
            (
                "*** Update File: a\n*** Move to: ../b\n@@\n+x\n*** Delete File: c\n",
                vec![edit("a", &[]), moved("a", "../b"), Act::Delete("c".into())],
            ),
            ("  *** Delete File:  .git/config  ", vec![Act::Delete(".git/config".into())]),
        ];
        for (patch, expected) in table {
            assert_eq!(acts(patch), Some(expected), "{patch}");
        }
        for patch in [
            "",
            "--- a\n+++ b\n",
            "*** Move to: x",
            "*** Add File: ",
            "*** Add File: a\n+x\n*** Add file: .git/x\n+y",
            "*** Add File: a\n+x\n***Delete File: b",
        ] {
            assert_eq!(acts(patch), None, "{patch}");
        }
    }
}
