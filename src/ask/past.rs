//! The commands of the record that a pattern would have covered.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::audit::query::{Filter, openings};
use crate::policy::pattern::Pattern;

/// So far back is looked.
const DAYS: i64 = 7;

/// What was run here lately, looked up when it is first asked for.
#[derive(Debug)]
pub(super) struct Past {
    folder: Option<PathBuf>,
    texts: OnceCell<Vec<String>>,
}

impl Past {
    /// That of the records below a state folder.
    pub(super) fn below(state: Option<&Path>) -> Self {
        Self { folder: state.map(|state| state.join("audit")), texts: OnceCell::new() }
    }

    /// The past commands that a pattern would have covered, newest first, each once.
    pub(super) fn covered(&self, pattern: &str) -> Vec<String> {
        let pattern = Pattern::new(pattern);
        let mut found: Vec<String> = vec![];
        for text in self.texts.get_or_init(|| self.texts()).iter().filter(|text| pattern.matches(text)) {
            if !found.contains(text) {
                found.push(text.clone());
            }
        }
        found
    }

    fn texts(&self) -> Vec<String> {
        let Some(folder) = &self.folder else { return vec![] };
        let since = Timestamp::now() - jiff::SignedDuration::from_hours(24 * DAYS);
        let filter = Filter { since: Some(since.to_string()), ..Filter::default() };
        let entries = openings(folder, &filter).unwrap_or_default();
        // Rules match what a command asked for, not the text it stood in.
        let subjects = entries.iter().rev().flat_map(|entry| &entry.requests);
        subjects.filter_map(|asked| asked.subject.as_str().map(str::to_owned)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_come_first_and_each_once() {
        let state = tempfile::tempdir().expect("a folder");
        let folder = state.path().join("audit");
        std::fs::create_dir(&folder).expect("made");
        let now = Timestamp::now();
        let line = |(index, subject): (usize, &str)| {
            let asked = serde_json::json!([{ "capability": "process.execute", "subject": subject, "verdict": "ask" }]);
            let id = format!("id{index}");
            let value = serde_json::json!({ "event": "opened", "id": id, "time": now.to_string(), "requests": asked });
            format!("{value}\n")
        };
        let lines: String =
            ["npm run a", "make", "npm run b", "npm run a"].into_iter().enumerate().map(line).collect();
        std::fs::write(folder.join(format!("{}.jsonl", now.strftime("%Y-%m-%d"))), lines).expect("written");
        let past = Past::below(Some(state.path()));
        assert_eq!(past.covered("npm run *"), ["npm run a", "npm run b"]);
        assert_eq!(past.covered("cargo *"), [""; 0]);
        assert_eq!(Past::below(None).covered("*"), [""; 0]);
    }
}
