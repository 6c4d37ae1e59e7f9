//! What an answer is bound to: the bytes, the place, and the state of what the text runs.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Elsewhere;
use crate::ask::{Panel, Question, sanitize};
use crate::decision::grant::asking;
use crate::facts::{self, Invocation};
use crate::request::Request;
use crate::store::hash;
use crate::store::pending::{Bound, BoundFile, Bytes, Lasting};

/// The content of a longer file is not hashed: its size and times stand for it.
const HASHED: u64 = 4 << 20;
/// So many files are bound. A text that names more is answered for its waiting process alone.
const MOST: usize = 500;
/// They change with every call, and change nothing that runs.
const PER_CALL: [&str; 3] = ["OLDPWD", "PWD", "SHLVL"];

/// A panel as it is kept and shown elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// What it is about, in one line.
    pub title: String,
    /// Everything that a person reads, a line each.
    pub lines: Vec<String>,
    /// Everything behind it, a line each.
    #[serde(default)]
    pub details: Vec<String>,
    /// What an approval that lasts keeps, a line each.
    #[serde(default)]
    pub kept: Vec<String>,
}

impl Shown {
    /// From a panel.
    #[must_use]
    pub fn new(panel: &Panel) -> Self {
        let mut lines = panel.plain_lines();
        let title = if lines.is_empty() { String::new() } else { lines.remove(0) };
        let details = panel.details.iter().map(|line| line.text.clone()).collect();
        let kept = panel.offers.exact.iter().map(ToString::to_string).collect();
        Self { title, lines, details, kept }
    }

    /// From a kept question. Whoever wrote that file, nothing in it moves the cursor or hides.
    #[must_use]
    pub fn of(bound: &Bound) -> Self {
        let kept: Self = serde_json::from_value(bound.panel.clone()).unwrap_or_default();
        let clean = |lines: &[String]| lines.iter().map(|line| sanitize::line(line)).collect();
        let (lines, details) = (clean(&kept.lines), clean(&kept.details));
        Self { title: sanitize::line(&kept.title), lines, details, kept: clean(&kept.kept) }
    }
}

/// All that the answer to this question is bound to, as it is now.
pub(super) fn bound(question: &Question<'_>, panel: &Panel, how: &Elsewhere) -> Bound {
    let request = question.request;
    let (files, complete) = files(question, &how.environment);
    Bound {
        text: Bytes(request.text.clone()),
        name: request.name.clone().filter(|name| !is_shells_own(name, question)),
        args: request.args.clone(),
        manner: manner(request),
        directory: request.cwd.to_string_lossy().into_owned(),
        session: how.session.clone(),
        mode: question.decision.mode,
        files,
        environment: environment(&request.text, &how.environment),
        panel: serde_json::to_value(Shown::new(panel)).unwrap_or_default(),
        only: (!complete).then(|| format!("{}", std::process::id())),
        lasting: Lasting { approval: !panel.offers.exact.is_empty(), refusal: panel.offers.denial },
    }
}

/// Where the bash of the system is.
const BASHES: [&str; 3] = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"];

/// Whether `$0` only says that a bash became gsh (by `BASH_ENV`), and the text cannot see it. An agent may send the same
/// command once by that bash and once without: the answer to the one is the answer to the other.
fn is_shells_own(name: &str, question: &Question<'_>) -> bool {
    let words = question.facts.invocations.iter().flat_map(|each| &each.words);
    BASHES.contains(&name)
        && question.request.args.is_empty()
        && !may_see_name(&question.request.text, words.map(|word| word.text()))
}

/// Whether a text with these words can find out its `$0`: it expands something, or has texts or files of bash run in
/// its place.
fn may_see_name<'w>(text: &[u8], words: impl Iterator<Item = Option<&'w str>>) -> bool {
    let within =
        |word: Option<&str>| word.is_none_or(|word| matches!(word, "." | "eval" | "source" | "trap"));
    text.iter().any(|byte| b"$`".contains(byte)) || words.into_iter().any(within)
}

/// How the text came, and what its shell was told before.
fn manner(request: &Request) -> String {
    let told = match request.setting.prelude.as_str() {
        "" => String::new(),
        prelude => format!(" {}", hash(prelude.as_bytes())),
    };
    format!("{} {:?}{told}", request.entry.word(), request.options)
}

/// The programs, every file that a word names and those whose content runs, once each, and whether that is all of them. A data file among
/// them does no harm: where it changed, the question is put again.
fn files(question: &Question<'_>, environment: &[(OsString, OsString)]) -> (Vec<BoundFile>, bool) {
    let invocations = &question.facts.invocations;
    let mut paths: Vec<PathBuf> = invocations.iter().flat_map(|each| named(each, environment)).collect();
    paths.extend(asking(question.decision).flat_map(|each| &each.request.code).map(PathBuf::from));
    paths.sort();
    paths.dedup();
    let complete = paths.len() <= MOST;
    let states = paths.into_iter().take(MOST).filter_map(|path| {
        let state = state(&path)?;
        Some(BoundFile { path: path.to_string_lossy().into_owned(), state })
    });
    (states.collect(), complete)
}

fn named(invocation: &Invocation, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let here = |word: &str| invocation.cwd.as_ref().map(|cwd| Path::new(cwd).join(word));
    let mut words = invocation.words.iter().map(|word| word.text());
    let program = match words.next().flatten() {
        Some(_) if invocation.builtin => None,
        Some(name) if name.contains('/') => here(name),
        Some(name) => on_path(name, environment),
        None => None,
    };
    // `--file=x` and `if=x` name x.
    let operands = words.flatten().flat_map(|word| {
        let value = word.split_once('=').map(|(_, value)| value);
        [Some(word), value].into_iter().flatten().filter(|word| !word.is_empty()).filter_map(here)
    });
    program.into_iter().chain(operands).collect()
}

fn on_path(name: &str, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(variable, _)| variable == "PATH")?;
    std::env::split_paths(path).map(|folder| folder.join(name)).find(|file| {
        fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    })
}

/// What changes when the file does; None for what is no file.
fn state(path: &Path) -> Option<String> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let stamp = format!("{} {} {} {}", data.ino(), data.len(), data.mtime(), data.ctime_nsec());
    if data.len() > HASHED {
        return Some(stamp);
    }
    let mut content = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(HASHED + 1).read_to_end(&mut content));
    // What cannot be read may be executable all the same.
    Some(if read.is_ok() { hash(&content) } else { stamp })
}

/// The variables that programs or the shell obey, and those that the text names, as one hash.
fn environment(text: &[u8], all: &[(OsString, OsString)]) -> String {
    let mentioned = |name: &[u8]| {
        let parts = text.split(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_');
        parts.into_iter().any(|part| part == name)
    };
    let counts = |name: &OsString| {
        let plain = name.to_str().is_some_and(|name| !PER_CALL.contains(&name) && facts::is_obeyed(name));
        plain || mentioned(name.as_bytes())
    };
    let mut kept: Vec<_> = all.iter().filter(|(name, _)| counts(name)).collect();
    kept.sort();
    let mut bytes = Vec::new();
    for (name, value) in kept {
        bytes.extend_from_slice(name.as_bytes());
        bytes.push(b'=');
        bytes.extend_from_slice(value.as_bytes());
        bytes.push(0);
    }
    hash(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    #[test]
    fn what_may_see_the_name_of_its_shell() {
        let sees = |text: &str| may_see_name(text.as_bytes(), text.split(' ').map(Some));
        for text in ["./greet", "npm test -- --watch=no", "cd x && make all"] {
            assert!(!sees(text), "{text}");
        }
        for text in ["echo $0", "echo \"${0}\"", "x=`basename a`", "eval x", ". ./lib.sh", "source lib.sh"] {
            assert!(sees(text), "{text}");
        }
        assert!(may_see_name(b"x", [None].into_iter()), "a word that is not known");
    }

    #[test]
    fn variables_that_matter_are_bound() {
        let of = |pairs| environment(b"make $target ${x}", &variables(pairs));
        let first = of(&[("PATH", "/bin"), ("target", "all"), ("CALL_ID", "1"), ("SHLVL", "1")]);
        let same = of(&[("target", "all"), ("CALL_ID", "2"), ("SHLVL", "2"), ("PATH", "/bin")]);
        assert_eq!(first, same);
        for other in [
            &[("PATH", "/tmp"), ("target", "all")][..],
            &[("PATH", "/bin"), ("target", "clean")],
            &[("PATH", "/bin"), ("target", "all"), ("LD_PRELOAD", "/x.so")],
            &[("PATH", "/bin"), ("target", "all"), ("x", "")],
        ] {
            assert_ne!(of(other), first, "{other:?}");
        }
    }

    #[test]
    fn a_files_state_changes_with_its_content() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.sh");
        fs::write(&path, "one").expect("written");
        let before = state(&path);
        fs::write(&path, "two").expect("written");
        assert!(before.is_some() && state(&path) != before);
        fs::write(&path, "one").expect("written");
        assert_eq!(state(&path), before, "the same again");
        assert_eq!(state(folder.path()), None);
    }

    #[test]
    fn what_is_kept_is_shown_without_anything_hidden() {
        let panel = serde_json::json!({ "title": "a\u{1b}[2J", "lines": ["b\u{202e}"] });
        let bound = Bound {
            text: Bytes(vec![]),
            name: None,
            args: vec![],
            manner: String::new(),
            directory: "/".into(),
            session: "s".into(),
            mode: crate::policy::Mode::Default,
            files: vec![],
            environment: String::new(),
            panel,
            only: None,
            lasting: Lasting::default(),
        };
        let shown = Shown::of(&bound);
        assert_eq!(
            (shown.title.as_str(), shown.lines.as_slice()),
            ("a\\e[2J", &["b<U+202E>".to_owned()][..])
        );
    }
}
