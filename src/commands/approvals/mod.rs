//! `gsh approvals`, `gsh approve` and `gsh refuse`: questions of commands that have no person's terminal of their own.

mod keys;
mod screen;
mod view;

use std::path::Path;

use serde_json::{Value, json};

pub use self::screen::{Listening, run};
use crate::ask::queue::Shown;
use crate::ask::sanitize;
use crate::store::pending::{Approver, Bytes, Entry, Lasting, NotAnswered, Queue, Reply, State};

/// The questions as data, the oldest first.
#[must_use]
pub fn json(queue: &Queue) -> String {
    let list: Vec<Value> = queue.list().iter().map(entry).collect();
    serde_json::to_string_pretty(&json!({ "schema": 1, "questions": list })).unwrap_or_default() + "\n"
}

fn entry(entry: &Entry) -> Value {
    let (pending, bound) = (&entry.pending, &entry.pending.bound);
    let shown = Shown::of(bound);
    let time = |milliseconds: i64| {
        jiff::Timestamp::from_millisecond(milliseconds).map(|time| time.to_string()).unwrap_or_default()
    };
    let Bytes(text) = &bound.text;
    json!({
        "id": pending.id,
        "state": state(&entry.state),
        "asked": time(pending.asked),
        "expires": time(pending.expires),
        "waits_until": pending.asker.waiter.as_ref().map(|waiter| time(waiter.until)),
        "agent": pending.asker.agent,
        "session": bound.session,
        "directory": bound.directory,
        "command": String::from_utf8_lossy(text),
        "title": shown.title,
        "lines": shown.lines,
        "details": shown.details,
        "keeps": shown.kept,
        "answers": answers(bound.lasting),
    })
}

/// The answers that a question takes, as the verbs say them.
fn answers(lasting: Lasting) -> Vec<&'static str> {
    let lists: [(bool, &[&str]); 4] = [
        (true, &["approve"]),
        (lasting.approval, &["approve --session", "approve --minutes"]),
        (true, &["refuse"]),
        (lasting.refusal, &["refuse --session"]),
    ];
    lists.iter().filter(|(is_taken, _)| *is_taken).flat_map(|(_, each)| each.iter().copied()).collect()
}

/// How a question stands, in a word.
pub(super) fn state(state: &State) -> &'static str {
    match state {
        State::Waiting => "waiting",
        State::Kept => "kept",
        State::Answered(reply) => reply.word(),
    }
}

/// Answers one question from the command line: what is said of it then.
///
/// # Errors
/// When there is no such question, it does not offer this answer, or somebody was first.
pub fn answer(queue: &Queue, id: &str, reply: Reply, terminal: &Path) -> Result<String, NotAnswered> {
    let shown = queue.find(id).ok_or_else(|| NotAnswered::NoQuestion(sanitize::line(id)))?;
    let approver = Approver::new(terminal).map_err(|source| {
        let path = terminal.to_owned();
        NotAnswered::Queue(crate::store::pending::QueueError::Io { path, source })
    })?;
    let word = reply.word();
    queue.answer(&shown.pending, reply.clone(), &approver)?;
    let Bytes(text) = &shown.pending.bound.text;
    let (command, directory) = (sanitize::lines(text).join("\n  "), &shown.pending.bound.directory);
    let later = match shown.state {
        State::Kept if matches!(reply, Reply::Minutes(_)) => {
            "nobody waits for it now; it holds from the next such call on, and its minutes run already\n"
        }
        State::Kept => "nobody waits for it now; it holds for the next such call\n",
        _ => "",
    };
    Ok(format!("{word}, in {}:\n  {command}\n{later}", sanitize::line(directory)))
}
