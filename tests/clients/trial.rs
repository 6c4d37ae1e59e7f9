//! One case with one agent, and what the records say of all of them.

use std::fs;

use serde_json::Value;

use super::cases::{Asks, Case, config, is_one};
use super::inside::{DRIVER, Stage};
use super::machine::records;
use super::table::Door;

/// Runs the agent once: the model asks for the case's command, and a person answers where one has to.
pub(crate) fn case(stage: &Stage, case: &Case) -> Result<(), String> {
    let settings = stage.machine.at("home/.config/gsh/config.toml");
    fs::write(settings, config(DRIVER, Some(case))).map_err(|error| error.to_string())?;
    let again = case.asks == Asks::Later;
    stage.model.script(&vec![case.command; if again { 2 } else { 1 }]);
    if again {
        stage.model.hold();
    }
    let mut asked = case.asks == Asks::Never;
    let said = stage.ended(&mut stage.agent(), &mut || {
        if !asked {
            asked = answered(stage, case)?;
        }
        Ok(())
    })?;
    if case.name == "refused" && stage.client.floor_ends && stage.door == Door::Hook {
        // It ended the run, and then nothing is answered.
        return if stage.model.results().is_empty() { Ok(()) } else { heard(stage, case, &said) };
    }
    if !asked {
        let results = stage.model.results();
        return Err(format!("nobody was asked; the model heard: {results:?}; it said: {said}"));
    }
    heard(stage, case, &said)?;
    if case.job { job(stage, case) } else { Ok(()) }
}

/// What the model heard is what the case says.
fn heard(stage: &Stage, case: &Case, said: &str) -> Result<(), String> {
    let again = case.asks == Asks::Later;
    let results = stage.model.results();
    let result = match results.as_slice() {
        [result] if !again => result,
        [refused, result] if again && !refused.contains(case.shows[0]) => result,
        _ => {
            let (count, told) = (results.len(), stage.model.told());
            return Err(format!("{count} answers of a tool; {told}; it said: {said}"));
        }
    };
    let shown = case.shows.iter().find(|text| !result.contains(*text)).map(|text| format!("no {text:?}"));
    let hidden = case.hides.iter().find(|text| result.contains(*text)).map(|text| format!("a {text:?}"));
    match shown.or(hidden) {
        Some(what) => Err(format!("{what} in what the model heard: {result}")),
        None => Ok(()),
    }
}

/// A person looks whether something waits for them, and says yes to what the case asks; whether they did.
fn answered(stage: &Stage, case: &Case) -> Result<bool, String> {
    if case.asks == Asks::Later && stage.model.results().is_empty() {
        return Ok(false);
    }
    let untold = |first: &&String| case.asks == Asks::Later && !first.contains("gsh approve");
    if let Some(first) = stage.model.results().first().filter(untold) {
        return Err(format!("the model was not told of a question that waits: {first}"));
    }
    let list = stage.json(&["approvals", "--json"]).unwrap_or_default();
    let question = &list["questions"][0];
    let (Some(id), Some(command)) = (question["id"].as_str(), question["command"].as_str()) else {
        return Ok(false);
    };
    if !is_one(command) {
        return Err(format!("a person is asked about something else: {command}"));
    }
    stage.person(&["approve", id])?;
    stage.model.go_on();
    Ok(true)
}

/// The case's command must be a job that runs, and end when it is told to.
fn job(stage: &Stage, case: &Case) -> Result<(), String> {
    let list = stage.json(&["jobs", "--json"]).ok_or("no list of jobs")?;
    let jobs = list.as_array().or_else(|| list["jobs"].as_array()).ok_or(format!("no jobs: {list}"))?;
    let of_case = |job: &&Value| job.to_string().contains(&case.command[..8]) && job["state"] == "running";
    let job = jobs.iter().find(of_case).ok_or(format!("no such job that runs: {list}"))?;
    stage.person(&["jobs", "stop", "--grace", "0", &job["id"].to_string()])
}

/// What is on record is what the model asked for, and nothing of the agent's own text around it; what the agent
/// runs for itself raised no question.
pub(crate) fn texts(stage: &Stage) -> Result<(), String> {
    let records = records(&stage.machine.at("home/.local/state/gsh/audit"));
    let of_doctor =
        |record: &Value| record["session"].as_str().is_some_and(|session| session.starts_with("doctor-"));
    let mut records =
        records.iter().filter(|record| record["event"] == "opened" && !of_doctor(record)).peekable();
    if records.peek().is_none() {
        return Err("nothing is on record".to_owned());
    }
    for record in records {
        let (part, command) = (&record["envelope"]["part"], record["command"].as_str().unwrap_or_default());
        let bare = record["entry"] == "command" && part != "command";
        let fault = match part.as_str() {
            Some("unrecognised") => "a text that gsh does not know",
            Some("start") if record["verdict"] != "allow" => "asked about what the agent runs when it starts",
            Some("start") => continue,
            _ if !is_one(command) => "nothing that the model asked for",
            _ if bare && stage.client.wraps => "no text of the agent's around it",
            _ => continue,
        };
        return Err(format!("{fault}: {} {command}", record["envelope"]));
    }
    Ok(())
}
