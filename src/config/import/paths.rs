//! Patterns for files as git's ignore files have them: `*` stays within a folder, `**` does not, a name
//! without a slash is meant at any depth, and a folder means what is in it. gsh's `*` crosses folders, so an
//! allow is carried only where that makes no difference.

use super::carry::{Lost, Meaning, Shadow};
use super::{Level, Page};
use crate::policy::Verdict;
use crate::policy::pattern::escape;

/// What is done with the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A rule for files, to be carried.
pub(super) struct FilePattern<'a> {
    pub(super) page: &'a Page<'a>,
    pub(super) access: Access,
    pub(super) action: Verdict,
}

/// Why a pattern is not carried.
const CROSSES: &str = "a star stays within a folder there and crosses folders here";

/// How many `/**/` are written out.
const MOST: u32 = 3;

/// Where a pattern starts.
enum Start {
    /// At this folder; empty for the root of all.
    At(String),
    /// Anywhere: at any depth, or where nobody can tell.
    Anywhere,
}

impl FilePattern<'_> {
    fn allows(&self) -> bool {
        self.action == Verdict::Allow
    }

    fn lost(why: &str) -> Lost {
        Lost::new(why, Shadow::Files)
    }

    /// What the pattern means; None is every file.
    pub(super) fn meaning(&self, pattern: Option<&str>) -> Result<Meaning, Lost> {
        let pattern = pattern.unwrap_or_default().trim();
        if matches!(pattern, "" | "*" | "**") {
            return Ok(self.every());
        }
        if pattern.starts_with('!') || pattern.split('/').any(|part| part == "..") {
            return Err(Self::lost("gsh has no pattern for it"));
        }
        let (start, rest) = self.start(pattern)?;
        let rest = rest.trim_end_matches('/');
        let mut patterns = vec![];
        let mut exact = true;
        for each in self.alternatives(rest)? {
            exact &= self.written(&start, &each, &mut patterns)?;
        }
        let meaning = Meaning::of(&[self.capability()], &patterns, self.action);
        let meaning =
            if exact { meaning } else { meaning.stricter("also deeper, or elsewhere, than the agent looks") };
        Ok(self.of_writes(meaning))
    }

    fn capability(&self) -> &'static str {
        if self.access == Access::Read { "file.read" } else { "file.write.*" }
    }

    fn of_writes(&self, meaning: Meaning) -> Meaning {
        if self.allows() && self.access == Access::Write {
            meaning.stricter("what overwrites or deletes still asks")
        } else {
            meaning
        }
    }

    /// Every file. Agents edit within the project only, whatever is allowed.
    fn every(&self) -> Meaning {
        let within = self.allows() && self.access == Access::Write;
        let capability = if within { "file.write.project" } else { self.capability() };
        self.of_writes(Meaning::of(&[capability], &["*".to_owned()], self.action))
    }

    /// Where it starts, and what follows.
    fn start<'p>(&self, pattern: &'p str) -> Result<(Start, &'p str), Lost> {
        if let Some(rest) = pattern.strip_prefix("//") {
            return Ok((Start::At(String::new()), rest));
        }
        if let Some(rest) = pattern.strip_prefix("~/") {
            return Ok((Start::At("~".to_owned()), rest));
        }
        if pattern.starts_with('~') {
            return Err(Self::lost("gsh does not know whose home that is"));
        }
        let unrooted = pattern.strip_prefix('/').or_else(|| pattern.strip_prefix("./")).unwrap_or(pattern);
        let inner = unrooted.trim_end_matches('/');
        let anywhere = unrooted == pattern && !inner.contains('/');
        let in_project = self.page.file.level != Level::User;
        if self.allows() && !in_project {
            return Err(Self::lost("which folder it starts at depends on the project"));
        }
        let start = if in_project && (self.allows() || !anywhere) {
            Start::At(".".to_owned())
        } else {
            Start::Anywhere
        };
        Ok((start, unrooted))
    }

    /// The pattern with each `**/` in it once as nothing and once as folders.
    fn alternatives(&self, rest: &str) -> Result<Vec<String>, Lost> {
        let mut found = vec![rest.replace("/**/**/", "/**/")];
        for _ in 0..=MOST {
            if !found.iter().any(|each| open_at(each).is_some()) {
                return Ok(found);
            }
            found = found.into_iter().flat_map(split_open).collect();
        }
        Err(Self::lost("it has too many `**`"))
    }

    /// Adds gsh's patterns for one; whether they say exactly the same.
    fn written(&self, start: &Start, rest: &str, patterns: &mut Vec<String>) -> Result<bool, Lost> {
        let (body, whole_folder) = match rest.strip_suffix("/**").or_else(|| rest.strip_suffix("/*")) {
            Some(folder) => (folder, true),
            None => (rest, false),
        };
        let bare = !rest.contains(['/', DEEP]);
        let (text, crosses) = self.glyphs(body, bare)?;
        let (at, anywhere) = match start {
            Start::At(folder) => (format!("{folder}/{text}"), false),
            Start::Anywhere if text.starts_with('*') => (text.clone(), true),
            Start::Anywhere => (format!("*/{text}"), true),
        };
        if whole_folder {
            patterns.push(format!("{at}/*"));
            return Ok(!crosses && !anywhere);
        }
        patterns.extend([at.clone(), format!("{at}/*")]);
        // A bare name is meant at any depth below.
        if self.allows() && bare && !text.starts_with('*') {
            patterns.extend([format!("./*/{text}"), format!("./*/{text}/*")]);
        }
        Ok(!crosses && !anywhere)
    }

    /// The characters of a pattern as gsh has them, and whether it says more than the agent's.
    fn glyphs(&self, body: &str, bare: bool) -> Result<(String, bool), Lost> {
        let (mut text, mut crosses) = (String::new(), false);
        let mut chars = body.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                DEEP => text.push('*'),
                '*' => {
                    while chars.next_if_eq(&'*').is_some() {}
                    crosses |=
                        !(bare && text.is_empty() && !chars.clone().any(|c| matches!(c, '*' | '?' | '[')));
                    text.push('*');
                }
                '?' => {
                    crosses = true;
                    text.push('?');
                }
                '[' => {
                    crosses = true;
                    // Of a set only that it is one character.
                    while chars.next().is_some_and(|c| c != ']') {}
                    text.push('?');
                }
                '\\' => text.push_str(&escape(chars.next().unwrap_or('\\').encode_utf8(&mut [0; 4]))),
                c => text.push_str(&escape(c.encode_utf8(&mut [0; 4]))),
            }
        }
        if crosses && self.allows() { Err(Self::lost(CROSSES)) } else { Ok((text, crosses)) }
    }
}

/// Stands for folders of any depth while a pattern is taken apart: no text of a pattern holds it.
const DEEP: char = '\u{1}';

/// Where the first `**/` stands.
fn open_at(pattern: &str) -> Option<usize> {
    if pattern.starts_with("**/") { Some(0) } else { pattern.find("/**/").map(|at| at + 1) }
}

/// The pattern without its first `**/`, and with folders in its place.
fn split_open(pattern: String) -> Vec<String> {
    let Some(at) = open_at(&pattern) else { return vec![pattern] };
    let (before, after) = (pattern.get(..at).unwrap_or_default(), pattern.get(at + 3..).unwrap_or_default());
    vec![format!("{before}{after}"), format!("{before}{DEEP}/{after}")]
}
