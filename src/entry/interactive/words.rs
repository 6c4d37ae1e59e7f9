//! What the word before the cursor may become: a command, a variable, a subcommand or an option that a table
//! knows. Paths are another's matter.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;

use crate::facts::programs::claims;

/// bash's own words that begin a command.
const BUILTINS: &str = "alias bg cd command declare dirs disown echo eval exec exit export fg hash help history jobs kill let \
                        local popd printf pushd pwd read readonly return set shift shopt source test times trap type \
                        ulimit umask unalias unset wait if for while until case function";

/// Where the word begins, and what it may become; None where it is no word of this kind.
pub(super) fn candidates(before: &str) -> Option<(usize, Vec<String>)> {
    let start = before.rfind([' ', '\t', '\n', ';', '|', '&', '(', '`']).map_or(0, |at| at + 1);
    let word = before.get(start..)?;
    if let Some(at) = word.rfind('$') {
        let name = word.get(at + 1..)?;
        let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
        return Some((start + at + 1, beginning(name, names)));
    }
    let simple = before.rfind([';', '|', '&', '(', '`', '\n']).map_or(0, |at| at + 1);
    let mut typed: Vec<&str> = before.get(simple..start)?.split_whitespace().collect();
    if typed.is_empty() {
        return (!word.contains('/') && !word.is_empty()).then(|| (start, beginning(word, commands())));
    }
    typed.retain(|word| !word.starts_with('-'));
    let found = if word.starts_with('-') {
        options(&typed)
    } else {
        let below = claims::names().into_iter();
        let below = below.filter(|path| path.len() == typed.len() + 1 && path.starts_with(&typed));
        below.filter_map(|path| path.last().map(|word| (*word).to_owned())).collect()
    };
    Some((start, beginning(word, found.into_iter())))
}

/// How the home is written where the word at the end is a path below it, and the line with that home spelt out.
pub(super) fn below_home<'b>(before: &'b str, home: &str) -> Option<(&'b str, String)> {
    let start =
        before.rfind([' ', '\t', '\n', ';', '|', '&', '(', '`', '=', '>', '<']).map_or(0, |at| at + 1);
    let (head, word) = before.split_at_checked(start)?;
    let (written, _) = word.split_once('/').filter(|(first, _)| ["~", "$HOME", "${HOME}"].contains(first))?;
    let rest = word.strip_prefix(written)?;
    (!home.is_empty()).then(|| (written, format!("{head}{home}{rest}")))
}

/// Those of the longest line of words that is a table's.
fn options(typed: &[&str]) -> Vec<String> {
    let lengths = (1..=typed.len()).rev();
    let mut found = lengths.filter_map(|length| claims::options(typed.get(..length)?));
    found.next().unwrap_or_default().into_iter().map(str::to_owned).collect()
}

fn beginning(word: &str, all: impl Iterator<Item = String>) -> Vec<String> {
    all.filter(|each| each.starts_with(word)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// What `PATH` holds, and bash itself.
fn commands() -> impl Iterator<Item = String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let entries = folders.into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let programs = entries.filter_map(|entry| {
        let runs = std::fs::metadata(entry.path()).is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
        runs.then(|| entry.file_name().into_string().ok()).flatten()
    });
    programs.chain(BUILTINS.split_whitespace().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_what_their_place_allows() {
        let table: [(&str, usize, &str); 6] = [
            ("ech", 0, "echo"),
            ("true && ech", 8, "echo"),
            ("echo $HO", 6, "HOME"),
            ("git sta", 4, "status"),
            ("git --no-pager sta", 15, "status"),
            ("git status --sho", 11, "--short"),
        ];
        for (before, start, expected) in table {
            let (found_start, found) = candidates(before).unwrap_or_default();
            assert!(found_start == start && found.iter().any(|word| word == expected), "{before}: {found:?}");
        }
        assert_eq!(candidates("./x"), None, "a path");
    }

    #[test]
    fn a_path_below_the_home_is_known_by_how_that_is_written() {
        let table = [
            ("ls ~/do", Some(("~", "ls /h/do"))),
            ("ls -l $HOME/", Some(("$HOME", "ls -l /h/"))),
            ("x=${HOME}/a", Some(("${HOME}", "x=/h/a"))),
            ("ls ~", None),
            ("ls ~dev/x", None),
            ("ls a~/x", None),
            ("ls $HOMES/x", None),
        ];
        for (before, expected) in table {
            let found = below_home(before, "/h");
            assert_eq!(found.as_ref().map(|(written, line)| (*written, line.as_str())), expected, "{before}");
        }
        assert_eq!(below_home("ls ~/x", ""), None, "there is none");
    }
}
