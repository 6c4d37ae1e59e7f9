//! What is remembered of a session: what a person granted and refused in it, how often it was refused, and
//! the project it began in. One file each, private, changed under a lock.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::lock::{self, Lock};
use super::places::Folders;
use super::safe::{self, Owner, SafeError};
use crate::policy::{Layer, LayerRules, Rule, Verdict};

/// A remembered answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Its name, unique within the session.
    pub id: String,
    /// What it lets pass or refuses.
    pub rules: Vec<Rule>,
    /// When it was given.
    pub made: Timestamp,
    /// When it ends, unless with the session.
    pub until: Option<Timestamp>,
    /// Who gave it.
    #[serde(default)]
    pub who: Option<String>,
    /// The terminal it was given at.
    pub terminal: Option<String>,
    /// The panel it was given in: `terminal`, or `queue` with the question's name.
    #[serde(default)]
    pub panel: Option<String>,
    /// The record of the request that was asked about.
    pub record: Option<String>,
    /// The project it holds in; None for where there is none.
    pub project: Option<String>,
    /// Files whose content is what runs, with the state they had.
    pub code: Vec<(PathBuf, String)>,
}

/// What is remembered of one session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// The machine's start that it belongs to: process numbers begin anew after it.
    pub boot: String,
    /// The directory that the session's first call was made in.
    pub first: Option<PathBuf>,
    /// Its grants, oldest first.
    pub grants: Vec<Grant>,
    /// The number of the next grant.
    pub next: u32,
    /// Refusals in a row.
    pub streak: u32,
    /// Refusals by a person or the floor in all.
    pub refusals: u32,
    /// When a person refused last.
    pub refused: Option<Timestamp>,
    /// Programs that were refused in this turn: what was granted for them rests.
    pub resting: BTreeMap<String, Timestamp>,
    /// The last call while something rests.
    pub last_call: Option<Timestamp>,
}

/// A turn ends when nothing was called for so long.
const QUIET: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);

/// The memories of one user's sessions.
#[derive(Debug, Clone)]
pub struct Sessions {
    folder: PathBuf,
}

impl Sessions {
    /// Those in these folders.
    #[must_use]
    pub fn of(folders: &Folders) -> Self {
        Self { folder: folders.sessions() }
    }

    /// What is remembered of a session: nothing of one that is unknown, or whose file nobody can read.
    #[must_use]
    pub fn read(&self, id: &str) -> Memory {
        let content = safe::read(&self.file(id), Owner::User).map(|(content, _)| content);
        let memory: Option<Memory> = content.ok().and_then(|content| serde_json::from_slice(&content).ok());
        memory.filter(|memory| memory.boot == boot()).unwrap_or_default()
    }

    /// Changes what is remembered of a session, as the only one who does.
    ///
    /// # Errors
    /// When the folder or the file cannot be written.
    pub fn change<T>(&self, id: &str, change: impl FnOnce(&mut Memory) -> T) -> Result<T, SafeError> {
        safe::make_folder(&self.folder)?;
        let _turn = self.lock(id)?;
        let mut memory = self.read(id);
        memory.boot = boot();
        let outcome = change(&mut memory);
        let text = serde_json::to_vec_pretty(&memory).unwrap_or_default();
        // It holds for this start of the machine alone.
        safe::replace_until_restart(&self.file(id), &text).map(|()| outcome)
    }

    /// The sessions that something is remembered of.
    #[must_use]
    pub fn known(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut known: Vec<_> =
            names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned())).collect();
        known.sort();
        known
    }

    fn file(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn lock(&self, id: &str) -> Result<Lock, SafeError> {
        lock::at(&self.folder.join(format!("{id}.lock")), lock::PATIENCE)
    }
}

/// Which start of the machine this is.
pub(super) fn boot() -> String {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    id.trim().to_owned()
}

impl Memory {
    /// Keeps a grant, under the next name.
    pub fn keep(&mut self, grant: Grant) -> String {
        self.next += 1;
        let id = format!("g{}", self.next);
        self.grants.push(Grant { id: id.clone(), ..grant });
        id
    }

    /// The session's rules for a project at this moment.
    #[must_use]
    pub fn layer(&self, project: Option<&str>, now: Timestamp) -> Option<LayerRules> {
        let grants = self.grants.iter().filter(|grant| grant.holds(project, now));
        let rules = grants.flat_map(|grant| grant.rules.iter().map(|rule| grant.named(rule)));
        let rules: Vec<Rule> = rules.filter(|rule| !self.rests(rule)).collect();
        (!rules.is_empty()).then(|| LayerRules::of_rules(Layer::Session, rules))
    }

    /// Whether what was granted for the rule's program rests, since the program was refused in this turn.
    fn rests(&self, rule: &Rule) -> bool {
        let program = rule.pattern.split(' ').next().unwrap_or_default();
        rule.action < Verdict::Deny && self.resting.contains_key(program)
    }

    /// Whether a grant's rule rests at this moment, as the next call would find it.
    #[must_use]
    pub fn is_resting(&self, rule: &Rule, now: Timestamp) -> bool {
        let is_over = self.last_call.is_some_and(|last| now.duration_since(last) > QUIET);
        !is_over && self.rests(rule)
    }

    /// A new turn begins when nothing was called for a while: then nothing rests any more.
    pub fn notice_call(&mut self, now: Timestamp) {
        if self.last_call.is_some_and(|last| now.duration_since(last) > QUIET) {
            self.resting.clear();
        }
        self.last_call = Some(now);
    }
}

impl Grant {
    /// Whether it holds in a project at this moment: it has not ended, and the code it is bound to is the
    /// same.
    #[must_use]
    pub fn holds(&self, project: Option<&str>, now: Timestamp) -> bool {
        let same = |(path, state): &(PathBuf, String)| code_state(path).as_ref() == Some(state);
        self.until.is_none_or(|until| now < until)
            && self.project.as_deref() == project
            && self.code.iter().all(same)
    }

    /// How its rules name it where they decide.
    #[must_use]
    pub fn name(&self) -> String {
        format!("grant {}", self.id)
    }

    /// A rule of it, as it is named where it decides.
    fn named(&self, rule: &Rule) -> Rule {
        Rule { layer: Layer::Session, file: Some(self.name().into()), line: 0, ..rule.clone() }
    }
}

/// What an answer about code is bound to: the hash of the file's content, wherever it lies, or nothing where no
/// file is; None when it cannot be read.
#[must_use]
pub fn code_state(path: &std::path::Path) -> Option<String> {
    if !std::fs::metadata(path).is_ok_and(|data| data.is_file()) {
        return Some(String::new());
    }
    let real = std::fs::canonicalize(path).ok()?;
    safe::read(&real, Owner::Anyone).ok().map(|(content, _)| super::hash(&content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> (tempfile::TempDir, Sessions) {
        let folder = tempfile::tempdir().expect("a folder");
        let sessions = Sessions { folder: folder.path().join("sessions") };
        (folder, sessions)
    }

    fn grant(pattern: &str, action: Verdict) -> Grant {
        let rule = Rule::new(Layer::Session, "process.execute", pattern, action);
        Grant {
            id: String::new(),
            rules: vec![rule],
            made: Timestamp::UNIX_EPOCH,
            until: None,
            who: None,
            terminal: None,
            panel: None,
            record: None,
            project: Some("/p".into()),
            code: vec![],
        }
    }

    fn patterns(memory: &Memory, project: Option<&str>, second: i64) -> Vec<String> {
        let now = Timestamp::from_second(second).expect("a moment");
        let layer = memory.layer(project, now);
        layer.into_iter().flat_map(|layer| layer.rules).map(|found| found.rule.pattern).collect()
    }

    #[test]
    fn grants_hold_in_their_project_until_their_end_and_for_their_code() {
        let (folder, sessions) = sessions();
        let script = folder.path().join("s.sh");
        std::fs::write(&script, "one").expect("written");
        let code = vec![(script.clone(), code_state(&script).expect("a hash"))];
        let until = Timestamp::from_second(100).ok();
        sessions
            .change("s", |memory| {
                memory.keep(grant("make", Verdict::Allow));
                memory.keep(Grant { until, ..grant("npm test", Verdict::Allow) });
                memory.keep(Grant { code, ..grant("./s.sh", Verdict::Allow) });
            })
            .expect("kept");
        let memory = sessions.read("s");
        assert_eq!(patterns(&memory, Some("/p"), 99), ["make", "npm test", "./s.sh"]);
        assert_eq!(patterns(&memory, Some("/p"), 100), ["make", "./s.sh"], "its time is over");
        assert_eq!(patterns(&memory, Some("/other"), 0), [""; 0]);
        assert_eq!(patterns(&memory, None, 0), [""; 0]);
        std::fs::write(&script, "two").expect("written");
        assert_eq!(patterns(&memory, Some("/p"), 100), ["make"], "another script");
        assert_eq!(patterns(&sessions.read("other"), Some("/p"), 0), [""; 0]);
        assert_eq!(sessions.known(), ["s"]);
    }

    #[test]
    fn what_was_refused_rests_for_its_turn() {
        let mut memory = Memory::default();
        memory.keep(grant("make *", Verdict::Allow));
        memory.keep(grant("make x", Verdict::Deny));
        let at = |second| Timestamp::from_second(second).expect("a moment");
        memory.notice_call(at(0));
        memory.resting.insert("make".into(), at(0));
        memory.notice_call(at(500));
        assert_eq!(patterns(&memory, Some("/p"), 500), ["make x"]);
        memory.notice_call(at(1200));
        assert_eq!(patterns(&memory, Some("/p"), 1200), ["make *", "make x"]);
    }

    #[test]
    fn a_file_that_cannot_be_read_or_is_of_another_start_says_nothing() {
        let (_folder, sessions) = sessions();
        sessions.change("s", |memory| memory.keep(grant("make", Verdict::Allow))).expect("kept");
        let file = sessions.file("s");
        let text = std::fs::read_to_string(&file).expect("read");
        for broken in [text.replace(&boot(), "another"), text.replacen('{', "", 1), String::new()] {
            safe::replace(&file, broken.as_bytes()).expect("written");
            assert_eq!(sessions.read("s"), Memory::default(), "{broken}");
        }
    }

    #[test]
    fn changes_at_the_same_time_are_all_kept() {
        let (_folder, sessions) = sessions();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        sessions.change("s", |memory| memory.streak += 1).expect("changed");
                    }
                });
            }
        });
        assert_eq!(sessions.read("s").streak, 80);
    }
}
