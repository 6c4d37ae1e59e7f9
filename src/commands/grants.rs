//! `gsh grants`: what a person answered that still holds; `gsh mode`: the mode, and the count of refusals.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::json;

use super::rules::list::visible;
use crate::policy::Policy;
use crate::store::safe::SafeError;
use crate::store::sessions::{Grant, Memory, Sessions};

/// The grants for a person, oldest first.
#[must_use]
pub fn text(session: &str, memory: &Memory) -> String {
    if memory.grants.is_empty() {
        return format!("nothing was granted or refused for the session {session}\n");
    }
    let mut text = String::new();
    for grant in &memory.grants {
        let until = grant
            .until
            .map_or("until the session ends".to_owned(), |until| format!("until {}", moment(until)));
        let place = grant.project.as_deref().map_or("outside any project".to_owned(), visible);
        // Writing to a string cannot fail, here and below.
        let _ =
            writeln!(text, "{}  {until}, in {place}, given {}{}", grant.id, moment(grant.made), given(grant));
        for rule in &grant.rules {
            let destroys = if rule.destroys { "  [destroys]" } else { "" };
            let (action, pattern) = (rule.action.word(), visible(&rule.pattern));
            let _ = writeln!(text, "    {action:<6} {}  {pattern}{destroys}", rule.capability);
        }
        if grant.rules.iter().any(|rule| memory.is_resting(rule, Timestamp::now())) {
            text.push_str("    rests: its program was refused in this turn; `gsh mode reset` wakes it\n");
        }
        // Where there was no file, an argument that is no name is meant.
        for (file, _) in grant.code.iter().filter(|(_, state)| !state.is_empty()) {
            let _ = writeln!(text, "    only while {} is as it was", visible(&file.to_string_lossy()));
        }
    }
    text
}

fn moment(time: Timestamp) -> String {
    super::moment::shown(time, &TimeZone::system())
}

/// Who gave it, where, in which panel, and about which record.
fn given(grant: &Grant) -> String {
    let parts = [("by", &grant.who), ("at", &grant.terminal), ("in", &grant.panel), ("about", &grant.record)];
    let told = parts.into_iter().filter_map(|(word, value)| Some((word, value.as_deref()?)));
    told.map(|(word, value)| format!(" {word} {}", visible(value))).collect()
}

/// The same as data.
#[must_use]
pub fn json(session: &str, memory: &Memory) -> String {
    serde_json::to_string_pretty(&json!({ "session": session, "grants": memory.grants })).unwrap_or_default()
}

/// Takes back one grant, or all.
///
/// # Errors
/// When there is none of this name, or the session's file cannot be written.
pub fn revoke(sessions: &Sessions, session: &str, id: Option<&str>) -> Result<String, String> {
    let keeps = |grant: &Grant| id.is_some_and(|id| grant.id != id);
    let revoked = sessions.change(session, |memory| {
        let before = memory.grants.len();
        memory.grants.retain(keeps);
        before - memory.grants.len()
    });
    match (revoked.map_err(|error| error.to_string())?, id) {
        (0, Some(id)) => Err(format!("no grant {id} in the session {session}: `gsh grants` lists them")),
        (1, _) => Ok("1 grant taken back\n".to_owned()),
        (count, _) => Ok(format!("{count} grants taken back\n")),
    }
}

/// The mode and the counts.
#[must_use]
pub fn mode_text(policy: &Policy) -> String {
    let (refused, knobs) = (policy.refused, policy.knobs.refusals);
    format!(
        "{} (from {})\nrefusals in a row: {} of {}; in all: {} of {}\n",
        policy.mode.word(),
        visible(&policy.mode_origin),
        refused.in_a_row,
        knobs.in_a_row,
        refused.in_all,
        knobs.in_all
    )
}

/// Forgets how often the session was refused, and what rests because of it.
///
/// # Errors
/// When the session's file cannot be written.
pub fn reset(sessions: &Sessions, session: &str) -> Result<String, SafeError> {
    sessions.change(session, |memory| {
        (memory.streak, memory.refusals) = (0, 0);
        memory.resting.clear();
    })?;
    Ok(format!("the refusals of the session {session} are forgotten\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Layer, Rule, Verdict};
    use crate::store::places::Folders;

    fn grant(rule: Rule) -> Grant {
        Grant {
            id: String::new(),
            rules: vec![rule],
            made: Timestamp::UNIX_EPOCH,
            until: None,
            who: Some("ada".into()),
            terminal: Some("/dev/pts/3".into()),
            panel: None,
            record: None,
            project: Some("/p".into()),
            code: vec![("/p/s.sh".into(), "0".into())],
        }
    }

    #[test]
    fn a_grant_that_rests_says_so() {
        let rule = Rule::new(Layer::Session, "process.execute", "./build.sh", Verdict::Allow);
        let mut memory = Memory::default();
        memory.keep(grant(rule));
        let now = Timestamp::now();
        memory.resting.insert("./build.sh".into(), now);
        assert!(text("s", &memory).contains("rests: "), "{}", text("s", &memory));
        memory.last_call = Some(Timestamp::UNIX_EPOCH);
        assert!(!text("s", &memory).contains("rests: "), "the turn is over");
    }

    #[test]
    fn grants_are_listed_and_taken_back() {
        let home = tempfile::tempdir().expect("a folder");
        let folders = Folders::new(&|name| (name == "HOME").then(|| home.path().into())).expect("a home");
        let sessions = Sessions::of(&folders);
        let rule = Rule::new(Layer::Session, "process.execute", "make \u{1b}x", Verdict::Allow);
        let grant = grant(rule);
        sessions.change("s", |memory| (memory.keep(grant.clone()), memory.keep(grant))).expect("kept");
        let listed = text("s", &sessions.read("s"));
        for part in
            ["g1 ", "g2 ", "until the session ends, in /p", "at /dev/pts/3", "allow", "/p/s.sh is as it was"]
        {
            assert!(listed.contains(part), "{part:?} in\n{listed}");
        }
        assert!(!listed.contains('\u{1b}') && !listed.contains("rests"));
        let now = Timestamp::now();
        let refused = |memory: &mut Memory| memory.resting.insert("make".into(), now);
        sessions.change("s", refused).expect("changed");
        assert!(text("s", &sessions.read("s")).contains("rests"), "the same program");
        assert!(json("s", &sessions.read("s")).contains("\"g2\""));
        assert!(revoke(&sessions, "s", Some("g9")).is_err_and(|why| why.contains("no grant g9")));
        assert_eq!(revoke(&sessions, "s", Some("g1")).as_deref(), Ok("1 grant taken back\n"));
        assert_eq!(revoke(&sessions, "s", None).as_deref(), Ok("1 grant taken back\n"));
        assert!(text("s", &sessions.read("s")).contains("nothing was granted"));
        sessions.change("s", |memory| (memory.streak, memory.refusals) = (3, 20)).expect("changed");
        reset(&sessions, "s").expect("reset");
        assert_eq!(sessions.read("s").refusals, 0);
    }
}
